//! Our own section files, carried in the program and written out for a run.
//!
//! The data needs none: `--metrics` and NVIDIA's sections bring every counter. `Adoprof.section`
//! is for people who open the kept report in Nsight Compute: the model's terms on one page.

use std::path::Path;

use include_dir::{Dir, include_dir};
use tempfile::TempDir;

use super::watcher;
use crate::error::{Error, Result};

/// The section that shows the time model.
pub const IDENTIFIER: &str = "Adoprof";

static SECTIONS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/sections");

/// Writes the section files into a temporary folder, which lives as long as the value.
///
/// # Errors
/// [`Error::Input`] where the folder can't be written.
pub fn deploy() -> Result<TempDir> {
    let dir = tempfile::Builder::new()
        .prefix("adoprof-sections-")
        .tempdir()
        .map_err(|error| Error::io(std::env::temp_dir(), "create a folder in it", &error))?;
    watcher::remove_if_killed(dir.path());
    write(dir.path())?;
    Ok(dir)
}

/// Writes every `.section` file into a folder.
fn write(folder: &Path) -> Result<()> {
    for file in SECTIONS.files() {
        let Some(name) = file.path().file_name() else { continue };
        if file.path().extension().is_some_and(|extension| extension == "section") {
            let path = folder.join(name);
            std::fs::write(&path, file.contents())
                .map_err(|error| Error::io(&path, "write it", &error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ncu::level::Level;
    use crate::term::Term;

    /// The metric names in the section's text.
    fn metrics() -> HashSet<&'static str> {
        let file = SECTIONS.get_file("Adoprof.section").unwrap();
        let text = file.contents_utf8().unwrap();
        text.split("Name: \"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .filter(|name| name.contains("__"))
            .collect()
    }

    #[test]
    fn the_page_shows_every_term() {
        for name in Term::ALL.iter().flat_map(|term| term.counters()) {
            assert!(metrics().contains(name), "{name}");
        }
    }

    #[test]
    fn the_page_costs_no_pass_of_its_own() {
        let counters: HashSet<&str> = Level::Auto.counters().collect();
        for name in metrics() {
            assert!(
                counters.contains(name) || name.starts_with("smsp__average_warps_issue_stalled_"),
                "{name}"
            );
        }
    }

    #[test]
    fn braces_balance() {
        let text = SECTIONS.get_file("Adoprof.section").unwrap().contents_utf8().unwrap();
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(text.contains(&format!("Identifier: \"{IDENTIFIER}\"")));
    }

    #[test]
    fn only_section_files_are_written() {
        let dir = deploy().unwrap();
        let names: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["Adoprof.section"]);
    }
}
