//! `adoprof rules new`: a commented first rule.

use std::path::{Path, PathBuf};

use crate::cli::FactOutput;
use crate::cmd::shared::facts::show;
use crate::cmd::shared::printer::Printer;
use crate::document::WrittenDocument;
use crate::error::{Error, ExitCode, Result};
use crate::files::write_atomically;
use crate::settings::project_file;
use crate::user_rules::{FOLDER, read};

/// The example, with `NAME` where its name stands.
const EXAMPLE: &str = include_str!("example.toml");

pub(super) fn run(
    name: &str,
    output: Option<&Path>,
    result: FactOutput,
    printer: &Printer,
) -> Result<ExitCode> {
    let path = match output {
        Some(path) => path.to_owned(),
        None => default_folder()?.join(name).with_extension("toml"),
    };
    let text = EXAMPLE.replace("NAME", name);
    // A wrong name is a mistake of the file that it would make.
    if let Some(mistake) = read::read(&path, &text).mistakes.into_iter().next() {
        return Err(match mistake {
            Error::Manifest { problem, .. } => Error::Usage(problem),
            other => other,
        });
    }
    if path.exists() {
        return Err(Error::input(&path, "it is there already; name another file with -o"));
    }
    write_atomically(&path, text.as_bytes())?;
    let shown = path.display().to_string();
    let next = format!("adoprof rules check {}", shell_words::quote(&shown));
    let document = WrittenDocument::new(vec![shown.clone()], next.clone());
    show(result, printer, || format!("{shown}: change it, then `{next}`"), &document)?;
    Ok(ExitCode::Success)
}

/// The folder beside the project's file, or in the present folder.
fn default_folder() -> Result<PathBuf> {
    let beside = project_file()?.and_then(|file| file.parent().map(Path::to_owned));
    let here = std::env::current_dir().unwrap_or_default();
    let folder = beside.unwrap_or_else(|| here.clone()).join(FOLDER);
    Ok(folder.strip_prefix(&here).map(Path::to_owned).unwrap_or(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_without_fault() {
        let contents = read::read(Path::new("example.toml"), &EXAMPLE.replace("NAME", "my-rule"));
        assert!(contents.mistakes.is_empty(), "{:?}", contents.mistakes);
        assert!(contents.doubts.is_empty(), "{:?}", contents.doubts);
        assert_eq!((contents.rules.len(), contents.cases.len()), (1, 2));
    }
}
