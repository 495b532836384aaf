//! The step that a command line names.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use crate::cli::Origin;
use crate::error::{Error, Result};
use crate::ladder::{self, Ladder, Overrides, Step};
use crate::launch::Device;
use crate::text::{assignments, printable};

/// A step of a ladder, at a size.
#[derive(Clone, Copy)]
pub(crate) struct ChosenStep<'a> {
    /// The ladder.
    pub ladder: &'a Ladder,
    /// The ladder as `--ladder` names it.
    pub ladder_argument: &'a str,
    /// The step.
    pub step: &'a Step,
    /// `--size`.
    pub size: &'a Overrides,
}

impl ChosenStep<'_> {
    /// The arguments with which this program launches the step once inside the profiler's range.
    pub(crate) fn launcher_arguments(&self, device: usize, limit: Duration) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![
            "__launch".into(),
            "--ladder".into(),
            self.ladder_argument.into(),
            "--kernel".into(),
            self.step.name().into(),
            "--device".into(),
            device.to_string().into(),
            "--limit-s".into(),
            limit.as_secs().max(1).to_string().into(),
        ];
        if let Some(size) = size_argument(self.size) {
            words.extend(["--size".into(), size.into()]);
        }
        words
    }
}

/// `--size` as it would be typed; `None` for no override.
pub(crate) fn size_argument(size: &BTreeMap<String, u64>) -> Option<String> {
    (!size.is_empty()).then(|| assignments(size, ","))
}

/// The ladder and the step of `v2` or `ado/v2`, with what `--ladder` names.
///
/// # Errors
///
/// [`Error::Usage`] where both name a ladder, and not the same one. A directory may be called by its last name.
pub(crate) fn split<'a>(kernel: &'a str, ladder: &'a str) -> Result<(&'a str, &'a str)> {
    let Some((named, step)) = kernel.rsplit_once('/').filter(|(named, _)| !named.is_empty()) else {
        return Ok((ladder, kernel));
    };
    if ladder == ladder::DEFAULT || ladder == named {
        return Ok((named, step));
    }
    if Path::new(ladder).file_name().is_some_and(|last| last == named) {
        return Ok((ladder, step));
    }
    let (kernel, named, ladder) = (printable(kernel), printable(named), printable(ladder));
    Err(Error::Usage(format!(
        "`--kernel {kernel}` names the ladder {named}, and `--ladder {ladder}` another one; for a step of {ladder}, write `--kernel {}`",
        printable(step),
    )))
}

/// What leads to the next step of the ladder and the size that the user chose, where the step's name
/// alone does not: a directory, a size.
pub(crate) fn next_arguments(ladder: &str, size: Option<&str>) -> Option<String> {
    let is_builtin = Ladder::builtin_names().contains(&ladder);
    let names_itself = is_builtin && (size.is_none() || ladder == ladder::DEFAULT);
    let of_ladder = (!names_itself).then_some(["--ladder", ladder]);
    let of_size = size.map(|size| ["--size", size]);
    let words: Vec<&str> = of_ladder.into_iter().chain(of_size).flatten().collect();
    (!words.is_empty()).then(|| shell_words::join(words))
}

/// The command that runs and profiles a step at a size.
pub(crate) fn step_command(ladder: &Ladder, step: &str, size: &Overrides) -> String {
    let mut words = vec!["adoprof".to_owned(), "step".to_owned()];
    if let Some(folder) = ladder.folder_as_named() {
        words.extend(["--ladder".to_owned(), folder.display().to_string()]);
    }
    let is_elsewhere = ladder.folder().is_none() && ladder.name() != ladder::DEFAULT;
    let ladder = if is_elsewhere { format!("{}/", ladder.name()) } else { String::new() };
    words.extend(["--kernel".to_owned(), format!("{ladder}{step}")]);
    let quoted = shell_words::join(words);
    // What is in it is not for the shell, so it looks as typed.
    size_argument(size).map_or(quoted.clone(), |size| format!("{quoted} --size {size}"))
}

/// Live where the user insists, or where there is a device and nobody insists on the recording.
pub(crate) fn is_live(origin: &Origin) -> bool {
    origin.live || !origin.recorded && Device::is_present()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_its_step_as_it_can_be_typed() {
        let size = Overrides::from([("M".to_owned(), 4), ("N".to_owned(), 5)]);
        let of = |name: &str, step, size| step_command(&Ladder::builtin(name).unwrap(), step, size);
        assert_eq!(of("ado", "v3", &size), "adoprof step --kernel v3 --size M=4,N=5");
        assert_eq!(of("reduce", "r3", &Overrides::new()), "adoprof step --kernel reduce/r3");
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("my ladder");
        Ladder::copy_builtin("ado", &folder).unwrap();
        let command = step_command(&Ladder::load(&folder).unwrap(), "v3", &Overrides::new());
        assert_eq!(command, format!("adoprof step --ladder '{}' --kernel v3", folder.display()));
    }

    #[test]
    fn a_step_that_names_its_ladder_must_not_be_of_another() {
        for (kernel, ladder, chosen) in [
            ("v2", "ado", Some(("ado", "v2"))),
            ("v2", "./mine", Some(("./mine", "v2"))),
            ("reduce/r3", "ado", Some(("reduce", "r3"))),
            ("reduce/r3", "reduce", Some(("reduce", "r3"))),
            ("./mine/v2", "ado", Some(("./mine", "v2"))),
            ("mine/v2", "../mine", Some(("../mine", "v2"))),
            ("ado/v2", "./mine", None),
        ] {
            assert_eq!(split(kernel, ladder).ok(), chosen, "{kernel} {ladder}");
        }
        let said = split("ado/v2", "./mine").unwrap_err().to_string();
        assert!(said.ends_with("for a step of ./mine, write `--kernel v2`"), "{said}");
    }

    #[test]
    fn the_next_step_is_of_the_ladder_that_was_asked_for() {
        for (ladder, size, said) in [
            ("ado", None, None),
            ("reduce", None, None),
            ("ado", Some("N=512"), Some("--size 'N=512'")),
            ("reduce", Some("N=512"), Some("--ladder reduce --size 'N=512'")),
            ("./my ladder", None, Some("--ladder './my ladder'")),
            ("./ado", None, Some("--ladder ./ado")),
        ] {
            assert_eq!(next_arguments(ladder, size).as_deref(), said, "{ladder} {size:?}");
        }
    }
}
