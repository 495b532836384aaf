//! The registry of report formats, from the lines that declare their modules.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The file with the lines.
const DECLARED_IN: &str = "src/report.rs";
/// The comment before them.
const MARK: &str = "// The formats.";

/// Writes `FORMATS` where `src/report.rs` includes it.
pub(crate) fn write() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={DECLARED_IN}");
    let text = fs::read_to_string(DECLARED_IN)?;
    let mut slice = String::new();
    for module in declared(&text) {
        writeln!(slice, "    Format(&{module}::Form),")?;
    }
    if slice.is_empty() {
        return Err(format!("{DECLARED_IN}: no `mod` lines follow `{MARK}`").into());
    }
    let out = std::env::var("OUT_DIR")?;
    let registry = format!(
        "/// All formats, in the order in which `--help` lists them.\n\
         const FORMATS: &[Format] = &[\n{slice}];\n"
    );
    fs::write(Path::new(&out).join("formats.rs"), registry)?;
    Ok(())
}

/// The modules of the `mod name;` lines that follow the mark and its comment.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .skip_while(|line| !line.starts_with(MARK))
        .skip_while(|line| line.starts_with("//"))
        .map_while(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
}
