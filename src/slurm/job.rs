//! A job's folder.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::script;
use crate::error::{Error, Result};
use crate::text::hex;

/// Where jobs are kept until they are over: below the folder of saved profiles, which is on a file system that all
/// machines see.
const JOBS: &str = ".adoprof/slurm";

/// Exit codes from here on are those of a shell whose command was ended by a signal.
const FIRST_SIGNAL: i32 = 128;

/// Commands that run as tasks.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// Its folder.
    pub folder: PathBuf,
    /// Its name in Slurm's queue, the same for the same commands in the same folder.
    pub name: String,
    /// Each task's command, as words.
    tasks: Vec<Vec<String>>,
    /// The command that puts the results together; none where each task is one for itself.
    merge: Option<Vec<String>>,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// With this exit code.
    Code(i32),
    /// It left no end so many times, or was ended by a signal.
    Lost(u32),
}

impl Job {
    /// The job of a command line; the same one again finds what an earlier run of it left.
    ///
    /// # Errors
    /// [`Error::Input`] where the present folder is not known.
    pub(crate) fn of(words: &[String]) -> Result<Self> {
        let here = std::env::current_dir()
            .map_err(|error| Error::io(".", "find the present folder", &error))?;
        let mut hash = Sha256::new();
        for part in words.iter().map(String::as_str).chain([here.to_string_lossy().as_ref()]) {
            hash.update(part);
            hash.update([0]);
        }
        let digits = hex(&hash.finalize()[..6]);
        let folder = here.join(JOBS).join(&digits);
        Ok(Self { folder, name: format!("adoprof-{digits}"), tasks: Vec::new(), merge: None })
    }

    /// The same with its commands, written down for the tasks.
    ///
    /// # Errors
    /// [`Error::Input`] where its folder can't be written.
    pub(crate) fn with(
        mut self,
        tasks: Vec<Vec<String>>,
        merge: Option<Vec<String>>,
    ) -> Result<Self> {
        std::fs::create_dir_all(&self.folder)
            .map_err(|error| Error::io(&self.folder, "make the folder", &error))?;
        let lines: Vec<String> = tasks.iter().map(shell_words::join).collect();
        self.write("commands", &(lines.join("\n") + "\n"))?;
        self.write("task.sh", script::TASK)?;
        if let Some(words) = &merge {
            self.write("merge", &shell_words::join(words))?;
            self.write("merge.sh", script::MERGE)?;
        }
        (self.tasks, self.merge) = (tasks, merge);
        Ok(self)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        std::fs::write(&path, text).map_err(|error| Error::io(&path, "write", &error))
    }

    pub(super) fn count(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn merges(&self) -> bool {
        self.merge.is_some()
    }

    /// A file of the folder, such as a task's output.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The code with which a task ended; `None` where it did not, or by a signal.
    pub(super) fn code(&self, task: usize) -> Option<i32> {
        let text = std::fs::read_to_string(self.file(&format!("end-{task}"))).ok()?;
        text.trim().parse().ok().filter(|code| *code < FIRST_SIGNAL)
    }

    /// How often a task began.
    pub(super) fn begun(&self, task: usize) -> u32 {
        let text = std::fs::read_to_string(self.file(&format!("begun-{task}"))).unwrap_or_default();
        text.lines().count() as u32
    }

    /// What a task said on standard error last.
    pub(crate) fn said(&self, task: usize) -> String {
        let bytes = std::fs::read(self.file(&format!("err-{task}"))).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    /// Forgets the job.
    ///
    /// # Errors
    /// [`Error::Input`] where its folder can't be removed.
    pub(crate) fn remove(&self) -> Result<()> {
        let removed = std::fs::remove_dir_all(&self.folder);
        removed.map_err(|error| Error::io(&self.folder, "remove the folder", &error))
    }

    /// True where an earlier run of the same command left something.
    pub(crate) fn is_under_way(&self) -> bool {
        Path::exists(&self.folder.join("commands"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_same_command_is_the_same_job() {
        let name = |line: &str| Job::of(&words(line)).unwrap().name;
        assert_eq!(name("sweep a"), name("sweep a"));
        assert_ne!(name("sweep a"), name("sweep b"));
        assert_ne!(name("sweep a"), name("sweepa"));
    }

    #[test]
    fn a_task_has_ended_once_its_code_is_there() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("j");
        let job = Job { folder, ..Job::of(&words("x")).unwrap() };
        let job = job.with(vec![words("echo it's"), words("b")], None).unwrap();
        let commands = std::fs::read_to_string(job.file("commands")).unwrap();
        assert_eq!(commands, "echo 'it'\\''s'\nb\n");
        assert_eq!((job.code(0), job.begun(0)), (None, 0));
        for (text, code) in [("4\n", Some(4)), ("0", Some(0)), ("137\n", None), ("", None)] {
            job.write("end-0", text).unwrap();
            assert_eq!(job.code(0), code, "{text:?}");
        }
        job.write("begun-0", "12\n14\n").unwrap();
        assert_eq!(job.begun(0), 2);
        assert!(job.is_under_way());
        job.remove().unwrap();
        assert!(!job.is_under_way());
    }
}
