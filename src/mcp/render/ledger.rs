//! How promises have held.

use serde_json::Value;

/// A line for each rule, or for one.
pub(super) fn blocks(value: &Value, only: Option<&str>) -> Result<Vec<String>, String> {
    let rules = value.get("rules").and_then(Value::as_array).ok_or("the result has no rules")?;
    let share = |row: &Value, name: &str| {
        row[name].as_f64().map_or_else(|| "unknown".to_owned(), |share| format!("{share:.2}"))
    };
    let rows: Vec<String> = rules
        .iter()
        .filter(|row| only.is_none_or(|only| row["rule"] == only))
        .map(|row| {
            format!(
                "{}: {} promises, {} measured; ranges held in a share of {}; measured over promised gain {} (geometric mean), \
                 scattered by a factor of {} [ledger: step times without the profiler]",
                row["rule"].as_str().unwrap_or_default(),
                row["hints"],
                row["measured"],
                share(row, "hit_rate"),
                share(row, "bias"),
                share(row, "spread"),
            )
        })
        .collect();
    match only {
        Some(rule) if rows.is_empty() => {
            Err(format!("the ledger has no rule `{}`", super::line(rule)))
        }
        _ => Ok(rows),
    }
}
