//! The survey that a saved profile began with.

use std::path::Path;

use crate::document::SurveyedProgram;
use crate::error::{Error, Result};

/// The file beside the pages.
const FILE: &str = "program.json";

/// Writes it into a profile that is being made.
///
/// # Errors
/// [`Error::Input`] where it can't be written.
pub fn write(folder: &Path, program: &SurveyedProgram) -> Result<()> {
    let path = folder.join(FILE);
    let text = serde_json::to_string(program)
        .map_err(|error| Error::input(&path, format!("cannot be written: {error}")))?;
    std::fs::write(&path, text + "\n").map_err(|error| Error::io(&path, "write", &error))
}

/// The largest that is read, bytes: that of a program with 100,000 groups of launches has some 100 MiB.
const MOST_BYTES: u64 = 256 << 20;

/// Reads it; `None` where the profile began without a survey.
///
/// # Errors
/// [`Error::Input`] where it is damaged.
pub fn read(folder: &Path) -> Result<Option<SurveyedProgram>> {
    let path = folder.join(FILE);
    let bytes = match crate::files::read(&path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(&path, "read", &error)),
    };
    let problem = |error| Error::input(&path, format!("is not a survey of adoprof's: {error}"));
    let surveyed: SurveyedProgram = serde_json::from_slice(&bytes).map_err(problem)?;
    let program = &surveyed.program;
    let of_program =
        [program.wall_ns, program.gpu_busy_ns, program.kernel_busy_ns, program.active_ns];
    let of_groups = program.groups.iter().flat_map(|group| [group.total_ns, group.median_ns]);
    if let Some(time) = of_program.into_iter().chain(of_groups).find(|time| *time < 0.0) {
        return Err(Error::input(
            &path,
            format!(
                "is damaged: it has a time of {time} ns; copy the profile again, or survey the program again with \
             `adoprof profile -- PROGRAM`"
            ),
        ));
    }
    Ok(Some(surveyed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Program;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        let command = "./a 'b c'".to_owned();
        let program = Program { command, wall_ns: 1.5e9, ..Program::default() };
        let program = SurveyedProgram { program, chosen: vec![2, 0], ..SurveyedProgram::default() };
        write(folder.path(), &program).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(program));
        let backwards = Program { kernel_busy_ns: -1.0, ..Program::default() };
        write(folder.path(), &SurveyedProgram { program: backwards, ..SurveyedProgram::default() })
            .unwrap();
        let said = read(folder.path()).unwrap_err().to_string();
        assert!(said.contains("a time of -1 ns; copy the profile again"), "{said}");
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("program.json"));
    }
}
