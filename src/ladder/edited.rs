//! Whether a step on disk is still the built-in one of its name, which the shipped recordings are of.

use toml::{Table, Value};

use super::{Ladder, Step};

/// What a manifest says of itself that changes nothing of what a step does. Steps are compared one by one.
const ABOUT_THE_LADDER: [&str; 6] =
    ["title", "description", "set", "first_judged", "cases", "steps"];

/// The same of a step. Its files are compared by their texts, since a copy has them under other paths; variants are
/// not run with it.
const ABOUT_THE_STEP: [&str; 12] = [
    "title",
    "changes",
    "side",
    "from",
    "file",
    "note",
    "answers",
    "plants",
    "innocent",
    "at_limit",
    "published",
    "variants",
];

impl Ladder {
    /// The file in which a step of a ladder on disk differs from the built-in one of the same name; `None` where it
    /// does not, or where no built-in ladder has such a step.
    #[must_use]
    pub fn edited_file(&self, step: &Step) -> Option<String> {
        let folder = self.folder_as_named()?;
        let shipped = Self::builtin(self.name()).ok()?;
        let other = shipped.step(step.name()).ok()?;
        let text = |step: &Step| step.source.as_ref().map(|source| source.text.clone());
        if text(step) != text(other) {
            let file = step.manifest.file.as_ref().map(|file| folder.join(file.get_ref()));
            return Some(file.unwrap_or_else(|| self.path.clone()).display().to_string());
        }
        let is_alike = self.words_of(step) == shipped.words_of(other);
        (!is_alike).then(|| self.path.display().to_string())
    }

    /// What the manifest says that changes what a step does: the ladder's keys and the step's.
    fn words_of(&self, step: &Step) -> Option<[Table; 2]> {
        let mut ladder: Table = toml::from_str(&self.text).ok()?;
        let steps = ladder.get("steps").and_then(Value::as_array)?;
        let is_it = |table: &&Table| table.get("name").and_then(Value::as_str) == Some(step.name());
        let mut step = steps.iter().filter_map(Value::as_table).find(is_it)?.clone();
        step.retain(|key, _| !ABOUT_THE_STEP.contains(&key));
        ladder.retain(|key, _| !ABOUT_THE_LADDER.contains(&key));
        Some([ladder, step])
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The end of the file's name in which `v3` of a copied `ado` differs after an edit of one of its files.
    fn edited(file: &str, edit: impl Fn(&str) -> String) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        Ladder::copy_builtin("ado", folder.path()).unwrap();
        let path = folder.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, edit(&text)).unwrap();
        let ladder = Ladder::load(folder.path()).unwrap();
        let found = ladder.edited_file(ladder.step("v3").unwrap())?;
        Some(Path::new(&found).file_name().unwrap().to_string_lossy().into_owned())
    }

    #[test]
    fn a_step_is_the_built_in_one_until_its_source_or_manifest_changes() {
        let same = |text: &str| text.to_owned();
        assert_eq!(edited("v3.cu", same), None);
        assert_eq!(edited("v3.cu", |text| format!("{text}\n")).as_deref(), Some("v3.cu"));
        assert_eq!(edited("v2.cu", |text| format!("{text}\n")), None, "another step's source");
        let replaced = |from: &'static str, to: &'static str| {
            move |text: &str| {
                assert!(text.contains(from), "{from}");
                text.replacen(from, to, 1)
            }
        };
        let manifest = "ladder.toml";
        assert_eq!(edited(manifest, replaced("title = \"", "title = \"my ")), None);
        let role = edited(manifest, replaced("N = ", "N = 1"));
        assert_eq!(role.as_deref(), Some(manifest));
    }

    #[test]
    fn copies_of_all_built_in_ladders_are_alike() {
        for name in Ladder::builtin_names() {
            let folder = tempfile::tempdir().unwrap();
            Ladder::copy_builtin(name, folder.path()).unwrap();
            let ladder = Ladder::load(folder.path()).unwrap();
            for step in ladder.steps() {
                assert_eq!(ladder.edited_file(step), None, "{name}/{}", step.name());
            }
        }
    }
}
