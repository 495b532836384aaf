//! The rules' registry, from the lines that declare their modules.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The folders of rules under `src/rules`, in the registry's order.
const KINDS: [&str; 3] = ["causes", "symptoms", "limits"];

/// Writes the registry and the names of all rules where `src/` includes them.
pub fn write() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=src/rules");
    let rules = rules(Path::new("src/rules"))?;
    let out = std::env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("registry.rs"), registry(&rules)?)?;
    fs::write(Path::new(&out).join("rule_names.rs"), names(&rules))?;
    Ok(())
}

/// A rule's folder and module.
struct Declared {
    kind: &'static str,
    module: String,
}

/// Every `pub mod name;` of the folders' own files, in their order.
fn rules(folder: &Path) -> Result<Vec<Declared>, Box<dyn Error>> {
    let mut rules = Vec::new();
    for kind in KINDS {
        let text = fs::read_to_string(folder.join(kind).with_extension("rs"))?;
        let modules =
            text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
        rules.extend(modules.map(|module| Declared { kind, module: module.to_owned() }));
    }
    Ok(rules)
}

/// `RULES`, for `src/rules.rs`.
fn registry(rules: &[Declared]) -> Result<String, std::fmt::Error> {
    let mut text =
        "/// All rules: causes, symptoms, roofs.\npub const RULES: &[&Rule] = &[\n".to_owned();
    for Declared { kind, module } in rules {
        writeln!(text, "    &{kind}::{module}::RULE,")?;
    }
    text.push_str("];\n");
    Ok(text)
}

/// The names of all rules as a slice, for what stands below the rules and must know their names.
fn names(rules: &[Declared]) -> String {
    let names: Vec<String> = rules.iter().map(|rule| rule.module.replace('_', "-")).collect();
    format!("&{names:?}")
}
