//! The experiment that says how often the gate is right, and its table.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::{Planted, Verdict};
use crate::error::{Error, Result};

/// Comparisons of kernels that are alike.
const ALIKE: usize = 200;
/// Comparisons with each slow-down.
const UNLIKE: usize = 50;
/// The slow-downs.
const PLANTED: [f64; 3] = [0.02, 0.05, 0.1];

/// Every comparison of the experiment, mixed so that any part has of all: the kernel, and the share of its work that
/// the candidate does twice.
pub(crate) fn experiments() -> Vec<(Planted, f64)> {
    let kinds = Planted::ALL.len();
    // A shift per turn, so that every second comparison is not always of the same kernels.
    let kernel = |at: usize| Planted::ALL[(at + at / kinds) % kinds];
    let alike = (0..ALIKE).map(|at| (kernel(at), 0.0));
    let unlike = PLANTED.iter().flat_map(|share| (0..UNLIKE).map(|at| (kernel(at), *share)));
    alike.chain(unlike).collect()
}

/// What the comparisons came to.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Experiment {
    /// One per kernel and slow-down.
    pub rows: Vec<Row>,
}

/// The comparisons of one kernel with one slow-down.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Row {
    #[serde(skip)]
    pub which: Planted,
    /// The kernel.
    pub kernel: &'static str,
    /// The share of its work that was done twice.
    pub planted: f64,
    /// The slow-down that this gave, measured by a long run.
    pub measured: f64,
    /// Comparisons, and how many of them ended how.
    pub comparisons: u32,
    pub slower: u32,
    pub faster: u32,
    pub same: u32,
    pub undecided: u32,
    /// Time of all comparisons together and of the longest, s.
    pub seconds: f64,
    pub longest_s: f64,
}

/// How the table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Csv,
    Json,
}

impl Form {
    /// The form of that name.
    ///
    /// # Errors
    /// [`Error::Usage`] for a form that has no place for the table.
    pub(crate) fn of(name: &str) -> Result<Self> {
        match name {
            "text" => Ok(Self::Text),
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            other => Err(Error::Usage(format!(
                "--format {other}: bench --gate prints a table; use text, csv, json"
            ))),
        }
    }
}

/// Columns of the table.
const COLUMNS: [&str; 10] = [
    "kernel",
    "planted",
    "measured",
    "comparisons",
    "slower",
    "faster",
    "same",
    "undecided",
    "seconds",
    "longest",
];

impl Experiment {
    /// Counts a comparison.
    pub(crate) fn add(&mut self, which: Planted, planted: f64, verdict: Verdict, spent: Duration) {
        let is_row = |row: &Row| row.which == which && row.planted.total_cmp(&planted).is_eq();
        let at = self.rows.iter().position(is_row).unwrap_or_else(|| {
            self.rows.push(Row {
                which,
                kernel: which.name(),
                planted,
                measured: 0.0,
                comparisons: 0,
                slower: 0,
                faster: 0,
                same: 0,
                undecided: 0,
                seconds: 0.0,
                longest_s: 0.0,
            });
            self.rows.len() - 1
        });
        let row = &mut self.rows[at];
        row.comparisons += 1;
        row.seconds += spent.as_secs_f64();
        row.longest_s = row.longest_s.max(spent.as_secs_f64());
        *match verdict {
            Verdict::Slower => &mut row.slower,
            Verdict::Faster => &mut row.faster,
            Verdict::Same => &mut row.same,
            Verdict::Undecided => &mut row.undecided,
        } += 1;
    }

    /// Writes the table.
    ///
    /// # Errors
    /// Whatever writing to `out` gives.
    pub(crate) fn write(&self, form: Form, device: &str, out: &mut dyn Write) -> io::Result<()> {
        match form {
            Form::Json => {
                serde_json::to_writer_pretty(&mut *out, self)?;
                writeln!(out)
            }
            Form::Csv => {
                writeln!(out, "{}", COLUMNS.join(","))?;
                self.rows.iter().try_for_each(|row| writeln!(out, "{}", row.cells(false).join(",")))
            }
            Form::Text => {
                writeln!(out, "the gate on {device}\n")?;
                let head = COLUMNS.map(str::to_owned);
                let lines =
                    std::iter::once(head).chain(self.rows.iter().map(|row| row.cells(true)));
                for line in lines {
                    let [kernel, others @ ..] = line;
                    write!(out, "{kernel:<10}")?;
                    others.iter().try_for_each(|cell| write!(out, " {cell:>11}"))?;
                    writeln!(out)?;
                }
                writeln!(out)?;
                self.totals().iter().try_for_each(|line| writeln!(out, "{line}"))
            }
        }
    }

    /// The rows of each slow-down together, in sentences.
    fn totals(&self) -> Vec<String> {
        let of = |planted: f64| {
            let rows = self.rows.iter().filter(move |row| row.planted.total_cmp(&planted).is_eq());
            rows.fold((0, 0, 0), |(all, slower, faster), row| {
                (all + row.comparisons, slower + row.slower, faster + row.faster)
            })
        };
        let (all, slower, faster) = of(0.0);
        let mut lines =
            vec![format!("alike: {} of {all} called SLOWER or FASTER", slower + faster)];
        for planted in PLANTED {
            let (all, slower, _) = of(planted);
            lines.push(format!("{}% slower: {slower} of {all} found", 100.0 * planted));
        }
        lines
    }
}

impl Row {
    fn cells(&self, is_for_people: bool) -> [String; 10] {
        let share = |value: f64| {
            if is_for_people { format!("{:.2}%", 100.0 * value) } else { format!("{value:.5}") }
        };
        [
            self.kernel.to_owned(),
            share(self.planted),
            share(self.measured),
            self.comparisons.to_string(),
            self.slower.to_string(),
            self.faster.to_string(),
            self.same.to_string(),
            self.undecided.to_string(),
            format!("{:.2}", self.seconds),
            format!("{:.2}", self.longest_s),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_of_all() {
        let all = experiments();
        assert_eq!(all.len(), 350);
        for part in 0..2 {
            let mine: Vec<_> = all.iter().skip(part).step_by(2).collect();
            for planted in Planted::ALL {
                for (extra, least) in [(0.0, 24), (0.02, 5), (0.05, 5), (0.1, 5)] {
                    let count = mine
                        .iter()
                        .filter(|one| one.0 == planted && one.1.total_cmp(&extra).is_eq())
                        .count();
                    assert!(count >= least, "part {part}, {planted:?}, {extra}: {count}");
                }
            }
        }
    }

    #[test]
    fn comparisons_are_counted_by_what_they_came_to() {
        let mut experiment = Experiment::default();
        let spent = Duration::from_millis(500);
        for verdict in [Verdict::Same, Verdict::Slower, Verdict::Same] {
            experiment.add(Planted::Short, 0.0, verdict, spent);
        }
        experiment.add(Planted::Short, 0.05, Verdict::Slower, 2 * spent);
        let [alike, slower] = experiment.rows.as_slice() else { panic!("two rows") };
        assert_eq!((alike.comparisons, alike.same, alike.slower), (3, 2, 1));
        assert_eq!((slower.comparisons, slower.slower), (1, 1));
        assert!((alike.seconds - 1.5).abs() < 1e-12 && (slower.longest_s - 1.0).abs() < 1e-12);
        let mut out = Vec::new();
        experiment.write(Form::Text, "a device", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("alike: 1 of 3 called SLOWER or FASTER"), "{text}");
        assert!(text.contains("5% slower: 1 of 1 found"), "{text}");
    }
}
