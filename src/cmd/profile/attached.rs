//! `--pid`: a process that runs already, and what leads to its diagnosis.

use std::path::Path;

use crate::error::{Error, Result};
use crate::ncu::{self, Version};
use crate::text;

/// The first ncu that attaches to a process by its number.
const ATTACHES: Version = Version::new(2026, 2, 1);

/// A process that the user names.
struct Process {
    id: u32,
    /// Its command line as a shell takes it.
    command: String,
    /// The driver's library is loaded.
    uses_cuda: bool,
}

impl Process {
    fn of(id: u32) -> Option<Self> {
        let folder = Path::new("/proc").join(id.to_string());
        let command = std::fs::read(folder.join("cmdline")).ok()?;
        let words = command.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        let words: Vec<String> =
            words.map(|word| text::printable(&String::from_utf8_lossy(word))).collect();
        // Another user's maps can't be read: the benefit of the doubt.
        let maps = std::fs::read_to_string(folder.join("maps"));
        let uses_cuda = maps.map_or(true, |maps| maps.contains("/libcuda.so"));
        Some(Self { id, command: shell_words::join(words), uses_cuda })
    }
}

/// Why a running process is not profiled, and what to do instead.
pub(super) fn refused(id: u32, ncu: Result<ncu::Ncu>) -> Error {
    let Some(process) = Process::of(id) else {
        return Error::Usage(format!("there is no process {id}"));
    };
    match ncu {
        Err(error) => error,
        Ok(ncu) => why(&process, ncu.version),
    }
}

fn why(process: &Process, version: Version) -> Error {
    let Process { id, command, uses_cuda } = process;
    if !uses_cuda {
        return Error::Usage(format!(
            "process {id} ({command}) does not use CUDA, or does not yet; name the one that does"
        ));
    }
    let instead = format!(
        "start it under the survey, which costs little: adoprof profile --survey -- {command}"
    );
    Error::Environment(if version < ATTACHES {
        format!(
            "ncu {version} can't attach to a running process, which takes {ATTACHES} or later; {instead}"
        )
    } else {
        format!(
            "adoprof does not attach by itself. If process {id} was started with ncu's library inside, \
             `ncu --mode attach --process-id {id} -o report` collects from it, and `adoprof analyze report.ncu-rep` \
             diagnoses that; else {instead}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(uses_cuda: bool) -> Process {
        Process { id: 77, command: "python serve.py --port 80".into(), uses_cuda }
    }

    #[test]
    fn an_older_ncu_is_named_with_what_to_do_instead() {
        let text = why(&process(true), Version::new(2026, 2, 0)).to_string();
        assert!(text.starts_with("ncu 2026.2.0 can't attach to a running process"), "{text}");
        assert!(text.ends_with("adoprof profile --survey -- python serve.py --port 80"), "{text}");
        let text = why(&process(true), Version::new(2026, 2, 1)).to_string();
        assert!(text.contains("ncu --mode attach --process-id 77"), "{text}");
        assert!(why(&process(false), ATTACHES).to_string().contains("does not use CUDA"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_is_known_by_its_number() {
        let own = Process::of(std::process::id()).unwrap();
        assert!(!own.command.is_empty() && !own.uses_cuda, "{}", own.command);
        // No kernel gives out such a number.
        assert!(Process::of(u32::MAX).is_none());
    }
}
