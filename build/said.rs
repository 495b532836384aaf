//! What rules promise of changes to other people's programs, joined with what those changes gained.
//!
//! Every estimate's range needs both, and reading the two files was a fifth of the instructions that `analyze` takes for a
//! report of one launch.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SAID: &str = "src/outside/said.toml";
const PROGRAMS: &str = "src/outside/programs.toml";

/// Writes the rows as a slice of `Said` where `src/outside/said.rs` includes them. A row whose change is no
/// longer in the table is left out, so that the file can be written anew.
pub(crate) fn write() -> Result<()> {
    let programs = read(PROGRAMS)?;
    let mut slice = String::from("&[\n");
    for row in list(&read(SAID)?, "said") {
        let [program, kernel, rule] = ["program", "kernel", "rule"].map(|key| text(row, key));
        let Some(gained) = gain(&programs, program, kernel, rule) else {
            println!(
                "cargo::warning={SAID}: {program}, {kernel}: no change for {rule} was measured"
            );
            continue;
        };
        let rank = row.get("rank").and_then(Value::as_integer).ok_or("a row has no rank")?;
        let estimate = row.get("estimate").ok_or("a row has no estimate")?;
        let [factor, low, high] = ["factor", "low", "high"].map(|end| number(estimate, end));
        writeln!(
            slice,
            "Said {{ program: {program:?}, kernel: {kernel:?}, rule: {rule:?}, rank: {rank}, \
             estimate: Estimate {{ factor: {:?}, low: {:?}, high: {:?} }}, \
             gained: {gained:?}, time_ns: {:?} }},",
            factor?,
            low?,
            high?,
            number(row, "time_ns")?,
        )?;
    }
    slice.push(']');
    let out = std::env::var("OUT_DIR")?;
    Ok(fs::write(Path::new(&out).join("said.rs"), slice)?)
}

/// Time before over time after of the change that a rule asked for, in programs that were not kept back.
fn gain(programs: &Table, program: &str, kernel: &str, rule: &str) -> Option<f64> {
    let is_kept_back = |one: &Value| one.get("kept_back").and_then(Value::as_bool) == Some(true);
    let program = list(programs, "programs")
        .iter()
        .find(|one| text(one, "name") == program && !is_kept_back(one))?;
    let kernels = program.get("kernels")?.as_array()?;
    let kernel = kernels.iter().find(|one| text(one, "kernel") == kernel)?;
    let changes = kernel.get("changes")?.as_array()?;
    number(changes.iter().find(|one| text(one, "rule") == rule)?, "gained").ok()
}

fn read(file: &str) -> Result<Table> {
    println!("cargo::rerun-if-changed={file}");
    Ok(fs::read_to_string(file)?.parse().map_err(|error| format!("{file}: {error}"))?)
}

fn list<'a>(table: &'a Table, key: &str) -> &'a [Value] {
    table.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A number, which the file may have without a decimal point.
fn number(of: &Value, key: &str) -> Result<f64> {
    let value = of.get(key).ok_or_else(|| format!("{key} is missing"))?;
    let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    Ok(number.ok_or_else(|| format!("{key} is no number"))?)
}
