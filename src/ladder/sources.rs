//! The files that a step is made of, as far as they lie on disk.

use std::path::{Path, PathBuf};

use super::flag::Flag;
use super::{Ladder, Step};
use crate::includes;

impl Ladder {
    /// The ladder's directory; `None` for a built-in one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The same as it was named, for commands that a user may type.
    #[must_use]
    pub fn folder_as_named(&self) -> Option<&Path> {
        self.folder.as_ref().and(self.path.parent())
    }

    /// The files whose change may change what a step does: the manifest, the source of the step and of the step
    /// that it is checked against, the headers that these include, and the files that a program's commands name.
    /// None for a built-in ladder.
    #[must_use]
    pub fn sources(&self, step: &Step) -> Vec<PathBuf> {
        if self.folder.is_none() {
            return Vec::new();
        }
        let mut all = vec![self.path.clone()];
        let mut add = |path: PathBuf| {
            let known = all.iter().any(|known| is_same(known, &path));
            if !known {
                all.push(path);
            }
        };
        for step in [Some(step), self.checked_against(step)].into_iter().flatten() {
            let folders = includes::folders(step.flags().iter().map(String::as_str));
            let source = step.source().and_then(|source| source.path.clone());
            for path in source.into_iter().chain(self.command_files(step)) {
                let text = crate::files::read_text(&path).unwrap_or_default();
                let headers = includes::headers(&path, &text, &folders);
                add(path);
                headers.into_iter().for_each(&mut add);
            }
        }
        all
    }

    /// The step whose answer is right by the manifest's word.
    pub(super) fn checked_against(&self, step: &Step) -> Option<&Step> {
        let reference = self.manifest.reference.as_ref()?.get_ref();
        self.steps.iter().find(|other| other.name() == reference && other.name() != step.name())
    }

    /// The files that a program's commands name. What is built is left out: its sources tell.
    pub(super) fn command_files(&self, step: &Step) -> Vec<PathBuf> {
        let (Some(folder), Some(run)) = (&self.folder, &step.manifest.run) else {
            return Vec::new();
        };
        let words = |command: &toml::Spanned<Flag>| {
            shell_words::split(&command.get_ref().sketch()).unwrap_or_default()
        };
        let built = step.manifest.build.as_ref().map(words);
        let mut run = words(run);
        let program = run.first().map(|word| folder.join(word)).filter(|_| built.is_some());
        let built = built.unwrap_or_default();
        let outputs: Vec<&String> =
            built.windows(2).filter(|pair| pair[0] == "-o").map(|pair| &pair[1]).collect();
        run.extend(built.iter().filter(|word| !outputs.contains(word)).cloned());
        let paths = run.iter().map(|word| folder.join(word));
        paths.filter(|path| path.is_file() && Some(path) != program.as_ref()).collect()
    }
}

impl Step {
    /// The compiler's flags, those of the program's build among them, with a number in the place of each
    /// expression.
    fn flags(&self) -> Vec<String> {
        let mut flags: Vec<String> =
            self.manifest.flags.iter().map(|flag| flag.get_ref().sketch()).collect();
        let build = self.manifest.build.as_ref().map(|build| build.get_ref().sketch());
        flags.extend(build.and_then(|build| shell_words::split(&build).ok()).unwrap_or_default());
        flags
    }
}

/// True where two paths lead to one file.
fn is_same(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "name = \"mine\"\ntitle = \"t\"\n[parameters]\nN = 100\n";

    /// The names of a step's files, from a ladder with these files beside its manifest.
    fn names(steps: &str, step: &str, files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        for (name, text) in files {
            std::fs::write(at.join(name), text).unwrap();
        }
        std::fs::write(at.join("ladder.toml"), format!("{HEAD}{steps}")).unwrap();
        let ladder = Ladder::load(&at).unwrap();
        let sources = ladder.sources(ladder.step(step).unwrap());
        sources.iter().map(|path| path.strip_prefix(&at).unwrap().display().to_string()).collect()
    }

    #[test]
    fn a_program_is_made_of_what_its_commands_name() {
        let steps = "[[steps]]\nname = \"a\"\ntitle = \"a\"\nbuild = \"nvcc -I . -o prog main.cu -DN={N}\"\n\
                     run = \"./prog settings.txt\"\nfile = \"main.cu\"\n";
        let files = [
            ("main.cu", "#include \"tile.h\"\n#include <other.h>\n"),
            ("tile.h", ""),
            ("other.h", ""),
            ("prog", "built"),
            ("settings.txt", "1"),
            ("notes.txt", "no command names it"),
        ];
        let found = names(steps, "a", &files);
        assert_eq!(found, ["ladder.toml", "main.cu", "tile.h", "settings.txt"]);
    }

    #[test]
    fn a_built_in_ladder_has_no_files() {
        let ladder = Ladder::builtin("ado").unwrap();
        assert!(ladder.sources(ladder.step("v2").unwrap()).is_empty());
    }
}
