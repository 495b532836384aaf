//! The rules' registry, from the lines that declare their modules, and the revision of each rule.
//!
//! A rule's revision is a hash of all the code that its estimate comes from: its own file, and what all
//! rules share, which is [`SHARED`]. Only the part that decides is hashed ([`arithmetic`]), so that a hint
//! that was measured outlives an edit of prose and never one of the arithmetic.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

use fnv::FnvHasher;

#[path = "arithmetic.rs"]
mod arithmetic;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The folders of rules under `src/rules`, in the registry's order.
const KINDS: [&str; 3] = ["causes", "symptoms", "limits"];

/// Files and folders that the estimates of all rules come from.
const SHARED: [&str; 15] = [
    "devices",
    "src/device.rs",
    "src/device",
    "src/diagnose.rs",
    "src/diagnose",
    "src/evidence",
    "src/frame/launch.rs",
    "src/hardware.rs",
    "src/metric.rs",
    "src/metric",
    "src/model.rs",
    "src/model",
    "src/sass",
    "src/term.rs",
    "src/finding.rs",
];

/// Writes the registry and the names of all rules where `src/` includes them.
pub(crate) fn write() -> Result<()> {
    for path in ["src/rules"].iter().chain(&SHARED) {
        println!("cargo::rerun-if-changed={path}");
    }
    let rules = rules(Path::new("src/rules"))?;
    let out = std::env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("registry.rs"), registry(&rules)?)?;
    fs::write(Path::new(&out).join("rule_names.rs"), names(&rules))?;
    fs::write(Path::new(&out).join("around_revision.rs"), around()?)?;
    Ok(())
}

/// The revision that the rules on what lies around kernels share, as a literal for `src/around.rs`.
fn around() -> Result<String> {
    println!("cargo::rerun-if-changed=src/around.rs");
    println!("cargo::rerun-if-changed=src/around");
    let files = ["src/around.rs", "src/around"].map(PathBuf::from);
    Ok(literal(hash(&[&code_of(files.into_iter())?])))
}

/// A rule's folder and module.
struct Declared {
    kind: &'static str,
    module: String,
}

/// Every `pub mod name;` of the folders' own files, in their order.
fn rules(folder: &Path) -> Result<Vec<Declared>> {
    let mut rules = Vec::new();
    for kind in KINDS {
        let text = fs::read_to_string(folder.join(kind).with_extension("rs"))?;
        let modules =
            text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
        rules.extend(modules.map(|module| Declared { kind, module: module.to_owned() }));
    }
    Ok(rules)
}

/// `RULES` and `REVISIONS`, for `src/rules.rs`.
fn registry(rules: &[Declared]) -> Result<String> {
    let shared = code_of(SHARED.iter().map(PathBuf::from))?;
    let mut slice = String::new();
    let mut revisions = String::new();
    for Declared { kind, module } in rules {
        writeln!(slice, "    &{kind}::{module}::RULE,")?;
        let file = Path::new("src/rules").join(kind).join(module);
        let own = [file.with_extension("rs"), file];
        let own = code_of(own.into_iter().filter(|path| path.exists()))?;
        let hash = hash(&[&shared, &own]);
        writeln!(revisions, "    {},", literal(hash))?;
    }
    Ok(format!(
        "/// All rules: causes, symptoms, roofs.\n\
         pub const RULES: &[&Rule] = &[\n{slice}];\n\
         /// The revision of each rule, in their order.\n\
         const REVISIONS: &[u64] = &[\n{revisions}];\n"
    ))
}

/// A hash as a number in code.
fn literal(hash: u64) -> String {
    let part = |shift: u32| format!("{:04x}", hash >> shift & 0xffff);
    format!("0x{}_{}_{}_{}", part(48), part(32), part(16), part(0))
}

/// The names of all rules as a slice, for what stands below the rules and must know their names.
fn names(rules: &[Declared]) -> String {
    let names: Vec<String> = rules.iter().map(|rule| rule.module.replace('_', "-")).collect();
    format!("&{names:?}")
}

/// What decides in these files and folders, in whichever of them an item stands.
fn code_of(paths: impl Iterator<Item = PathBuf>) -> Result<String> {
    let mut items = Vec::new();
    for path in paths {
        add(&path, &mut items).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    items.sort_unstable();
    Ok(items.concat())
}

/// Adds what decides in a file, or in all files of a folder but its tests.
fn add(path: &Path, items: &mut Vec<String>) -> Result<()> {
    if path.is_dir() {
        let module = fs::read_to_string(path.with_extension("rs")).unwrap_or_default();
        let tests = arithmetic::test_modules(&module)?;
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            if !tests.iter().any(|test| path.file_stem().is_some_and(|stem| stem == test.as_str()))
            {
                add(&path, items)?;
            }
        }
        return Ok(());
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => items.extend(arithmetic::of_rust(&fs::read_to_string(path)?)?),
        Some("toml") => items.push(arithmetic::of_toml(&fs::read_to_string(path)?)),
        _ => {}
    }
    Ok(())
}

/// A hash that stays the same over releases of the compiler.
fn hash(parts: &[&str]) -> u64 {
    let mut hasher = FnvHasher::default();
    for part in parts {
        hasher.write(part.as_bytes());
        hasher.write_u8(0);
    }
    hasher.finish()
}
