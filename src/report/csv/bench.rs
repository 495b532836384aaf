//! The fault bench as CSV.

use std::io::{self, Write};

use crate::bench::{
    BenchDocument, PlantedFault, ProgramKernel, Promise, QuietStep, Said, Transition,
};
use crate::report::csv::Table;
use crate::text::printable;

/// The columns; each kind of row fills those that apply to it.
const COLUMNS: [&str; 33] = [
    "kind",
    "set",
    "ladder",
    "step",
    "fault",
    "answered_by",
    "gain",
    "largest",
    "first_rule",
    "first_factor",
    "rank",
    "factor",
    "low",
    "high",
    "ratio",
    "held",
    "repaired_rank",
    "repaired_factor",
    "rank_without_sass",
    "line",
    "line_of_the_fault",
    "alarm",
    "ncu_first",
    "ncu_rank",
    "ncu_factor",
    "ncu_ratio",
    "ncu_alarm",
    "ncu_global_first",
    "ncu_global_rank",
    "ncu_global_factor",
    "ncu_global_ratio",
    "ncu_global_alarm",
    "findings",
];

/// One row a case, then the steps of which nothing should be said, then the transitions; empty where
/// a column does not apply.
pub(super) fn csv(document: &BenchDocument, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &COLUMNS)?;
    let transitions = document.ladders.iter().flat_map(|ladders| &ladders.transitions);
    let programs = document.programs.iter().flat_map(|programs| &programs.kernels);
    let rows = document
        .cases
        .iter()
        .map(case)
        .chain(document.quiet.iter().map(quiet))
        .chain(transitions.map(transition))
        .chain(programs.flat_map(tried));
    for cells in rows {
        let row: Vec<String> = COLUMNS
            .iter()
            .map(|column| {
                let cell = cells.iter().find(|(name, _)| name == column);
                cell.map(|(_, text)| printable(text)).unwrap_or_default()
            })
            .collect();
        table.row(&row)?;
    }
    table.end()
}

/// Cells by their column.
type Cells = Vec<(&'static str, String)>;

fn text(text: &str) -> String {
    text.to_owned()
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn place(rank: Option<usize>) -> String {
    rank.map(|rank| rank.to_string()).unwrap_or_default()
}

fn rule(promise: Option<&Promise>) -> String {
    promise.map(|promise| promise.rule.clone()).unwrap_or_default()
}

fn factor(promise: Option<&Promise>) -> String {
    number(promise.and_then(|promise| promise.estimate).map(|gain| gain.factor))
}

/// A kernel of a public program: its first findings, then the rules that were tried and stand further down.
fn tried(kernel: &ProgramKernel) -> Vec<Cells> {
    let first = &kernel.findings;
    let later = kernel.tried.iter().filter(|tried| first.iter().all(|one| one.rule != tried.rule));
    first
        .iter()
        .chain(later)
        .map(|finding| {
            vec![
                ("kind", text("program")),
                ("ladder", text(&kernel.program)),
                ("step", text(&kernel.kernel)),
                ("fault", finding.rule.clone()),
                ("gain", number(finding.gained)),
                ("rank", place(finding.rank)),
                ("factor", number(finding.estimate.map(|gain| gain.factor))),
                ("low", number(finding.estimate.map(|gain| gain.low))),
                ("high", number(finding.estimate.map(|gain| gain.high))),
            ]
        })
        .collect()
}

fn case(case: &PlantedFault) -> Cells {
    let ours = &case.adoprof;
    let of = |said: &Said| said.estimate.map(|gain| gain.factor);
    vec![
        ("kind", text("planted")),
        ("set", case.set.to_string()),
        ("ladder", text(&case.ladder)),
        ("step", text(&case.step)),
        ("fault", text(&case.fault)),
        ("answered_by", text(&case.answered_by)),
        ("gain", case.gain.to_string()),
        ("largest", case.largest.to_string()),
        ("first_rule", rule(ours.first.as_ref())),
        ("first_factor", factor(ours.first.as_ref())),
        ("rank", place(ours.rank)),
        ("factor", number(of(ours))),
        ("low", number(ours.estimate.map(|gain| gain.low))),
        ("high", number(ours.estimate.map(|gain| gain.high))),
        ("ratio", ours.ratio.to_string()),
        ("held", ours.held.map(|held| held.to_string()).unwrap_or_default()),
        ("repaired_rank", place(ours.rank_when_repaired)),
        ("repaired_factor", number(ours.estimate_when_repaired.map(|gain| gain.factor))),
        ("rank_without_sass", place(case.rank_without_sass)),
        ("line", case.line.as_ref().map(|at| at.line.to_string()).unwrap_or_default()),
        (
            "line_of_the_fault",
            case.line.as_ref().map(|at| at.of_the_fault.to_string()).unwrap_or_default(),
        ),
        ("ncu_first", rule(case.ncu.first.as_ref())),
        ("ncu_rank", place(case.ncu.rank)),
        ("ncu_factor", number(of(&case.ncu))),
        ("ncu_ratio", case.ncu.ratio.to_string()),
        ("ncu_global_first", rule(case.ncu_global.first.as_ref())),
        ("ncu_global_rank", place(case.ncu_global.rank)),
        ("ncu_global_factor", number(of(&case.ncu_global))),
        ("ncu_global_ratio", case.ncu_global.ratio.to_string()),
    ]
}

fn quiet(quiet: &QuietStep) -> Cells {
    let kind = if quiet.innocent_of.is_some() { "innocent" } else { "at-limit" };
    vec![
        ("kind", text(kind)),
        ("set", quiet.set.to_string()),
        ("ladder", text(&quiet.ladder)),
        ("step", text(&quiet.step)),
        ("fault", quiet.innocent_of.clone().unwrap_or_default()),
        ("first_rule", rule(quiet.adoprof.as_ref())),
        ("first_factor", factor(quiet.adoprof.as_ref())),
        ("alarm", quiet.adoprof_alarm.to_string()),
        ("ncu_first", rule(quiet.ncu.as_ref())),
        ("ncu_factor", factor(quiet.ncu.as_ref())),
        ("ncu_alarm", quiet.ncu_alarm.to_string()),
        ("ncu_global_first", rule(quiet.ncu_global.as_ref())),
        ("ncu_global_factor", factor(quiet.ncu_global.as_ref())),
        ("ncu_global_alarm", quiet.ncu_global_alarm.to_string()),
    ]
}

fn transition(step: &Transition) -> Cells {
    vec![
        ("kind", text("transition")),
        ("ladder", text(&step.ladder)),
        ("step", text(&step.from)),
        ("fault", text(&step.fault)),
        ("answered_by", text(&step.to)),
        ("gain", step.gain.to_string()),
        ("first_rule", step.first.clone().unwrap_or_default()),
        ("rank", place(step.rank)),
        ("findings", step.findings.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::bench::tests::document;

    #[test]
    fn every_row_of_the_csv_is_whole() {
        let mut out = Vec::new();
        csv(&document(), &mut out).unwrap();
        let mut reader = ::csv::Reader::from_reader(out.as_slice());
        let rows: Vec<::csv::StringRecord> = reader.records().map(|row| row.unwrap()).collect();
        let kinds: Vec<&str> = rows.iter().map(|row| &row[0]).collect();
        assert_eq!(kinds, ["planted", "at-limit", "transition"]);
        let head = ::csv::Reader::from_reader(out.as_slice()).headers().unwrap().clone();
        let at = |name: &str| head.iter().position(|column| column == name).unwrap();
        assert_eq!((&rows[0][at("rank")], &rows[0][at("held")]), ("2", "false"));
        assert_eq!((&rows[0][at("ncu_rank")], &rows[0][at("ncu_global_rank")]), ("", "1"));
        assert_eq!((&rows[1][at("alarm")], &rows[1][at("ncu_global_alarm")]), ("true", "false"));
        assert_eq!(&rows[1][at("first_rule")], "shared-bank-conflicts");
    }

    #[test]
    fn every_cell_has_a_column() {
        let document = document();
        let steps = document.ladders.as_ref().unwrap();
        let rows = [
            case(&document.cases[0]),
            quiet(&document.quiet[0]),
            transition(&steps.transitions[0]),
        ];
        for (name, _) in rows.iter().flatten() {
            assert!(COLUMNS.contains(name), "{name}");
        }
    }
}
