//! The hottest lines of a launch, in the order of the source.

use std::collections::BTreeMap;

use super::line;
use crate::text::percent;

/// A line of the source page.
struct Row {
    file: String,
    line: u32,
    text: String,
    samples: f64,
    executed: f64,
    /// The stall with most samples, and how many.
    stall: Option<(String, f64)>,
}

/// The rows of the table `lines` of one launch, as text.
pub(super) fn blocks(
    out: &[u8],
    launch: Option<usize>,
    most: usize,
) -> Result<Vec<String>, String> {
    let wrong = |error: csv::Error| format!("the result can't be read: {error}");
    let mut reader = csv::Reader::from_reader(out);
    let titles: Vec<String> = reader.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
    let mut launches: BTreeMap<usize, Vec<Row>> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        let cells: BTreeMap<&str, &str> =
            titles.iter().map(String::as_str).zip(record.iter()).collect();
        let count = |name: &str| {
            cells.get(name).and_then(|cell| cell.parse::<f64>().ok()).unwrap_or_default()
        };
        let stalls = titles.iter().filter(|title| {
            title.starts_with("stall_")
                && !matches!(title.as_str(), "stall_selected" | "stall_not_selected")
        });
        let stall =
            stalls.map(|title| (title.clone(), count(title))).max_by(|a, b| a.1.total_cmp(&b.1));
        launches.entry(count("launch") as usize).or_default().push(Row {
            file: line(cells.get("file").copied().unwrap_or_default()),
            line: count("line") as u32,
            text: crate::text::layout::fit(
                &line(cells.get("text").copied().unwrap_or_default()),
                100,
            ),
            samples: count("samples"),
            executed: count("inst_executed"),
            stall: stall.filter(|(_, samples)| *samples > 0.0),
        });
    }
    let known: Vec<String> = launches.keys().map(ToString::to_string).collect();
    let at = launch.or_else(|| launches.keys().next().copied());
    let rows = at.and_then(|at| launches.remove(&at));
    let (Some(at), Some(mut rows)) = (at, rows) else {
        return Err(match launch.filter(|_| !known.is_empty()) {
            Some(at) => format!(
                "launch {at} has no source lines; launches with them are {}",
                known.join(", ")
            ),
            None => {
                "the profile has no source lines; build with -lineinfo and collect the source page"
                    .to_owned()
            }
        });
    };
    let samples: f64 = rows.iter().map(|row| row.samples).sum();
    let executed: f64 = rows.iter().map(|row| row.executed).sum();
    // Where nothing was sampled, instructions tell.
    let heat = |row: &Row| {
        if samples > 0.0 { row.samples / samples } else { row.executed / executed.max(1.0) }
    };
    let of = if samples > 0.0 { "warp samples" } else { "executed warp instructions" };
    rows.sort_by(|a, b| heat(b).total_cmp(&heat(a)));
    let count = rows.len();
    rows.truncate(most);
    let shown: f64 = rows.iter().map(heat).sum();
    let mut blocks = vec![format!(
        "launch {at}: {} of {count} lines with {} of the {of} [launch {at}, source counters]; others: launches {}",
        rows.len(),
        percent(shown),
        known.join(", ")
    )];
    rows.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    blocks.extend(rows.iter().map(|row| {
        let stall = row.stall.as_ref().map(|(name, samples)| {
            format!(", {} of them {name}", percent(samples / row.samples.max(1.0)))
        });
        let stall = stall.filter(|_| row.samples > 0.0).unwrap_or_default();
        format!("{}:{}  {} of {of}{stall} | {}", row.file, row.line, percent(heat(row)), row.text)
    }));
    Ok(blocks)
}
