//! What findings promised at first sight of other people's kernels, and what that gained.
//!
//! Every estimate's range needs it, and reading a file at each start would take longer than an analysis.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const FILE: &str = "src/outside/first_sight.toml";

/// Writes the rows as a slice of `Judged` where `src/outside/first_sight.rs` includes them.
pub(crate) fn write() -> Result<()> {
    println!("cargo::rerun-if-changed={FILE}");
    let file: Table =
        fs::read_to_string(FILE)?.parse().map_err(|error| format!("{FILE}: {error}"))?;
    let mut slice = String::from("&[\n");
    for set in list(file.get("sets")) {
        let [page, heading] = ["page", "heading"].map(|key| text(set, key).unwrap_or_default());
        for row in list(set.get("judged")) {
            let case = text(row, "case").unwrap_or_default();
            let [factor, low, high] =
                promised(row).ok_or_else(|| format!("{FILE}: {case} promises nothing"))?;
            let gained = row
                .get("gained")
                .and_then(Value::as_float)
                .ok_or_else(|| format!("{FILE}: {case} has no gain"))?;
            writeln!(
                slice,
                "Judged {{ page: {page:?}, heading: {heading:?}, case: {case:?}, rule: {:?}, \
                 estimate: Estimate {{ factor: {factor:?}, low: {low:?}, high: {high:?} }}, gained: {gained:?} }},",
                text(row, "rule"),
            )?;
        }
    }
    slice.push(']');
    let out = std::env::var("OUT_DIR")?;
    Ok(fs::write(Path::new(&out).join("first_sight.rs"), slice)?)
}

fn promised(row: &Value) -> Option<[f64; 3]> {
    let ends: Vec<f64> = list(row.get("promised")).iter().filter_map(Value::as_float).collect();
    ends.try_into().ok()
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(of: &'a Value, key: &str) -> Option<&'a str> {
    of.get(key).and_then(Value::as_str)
}
