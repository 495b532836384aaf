//! Where in a launch's code something is: source lines, or instructions where the code has no line information.

use foldhash::{HashMap, HashMapExt};

use super::Launch;
use crate::export::csv::source::is_toolkit;
use crate::export::{SourceCounters, SourceRow};
use crate::finding::{Location, Place, Weighted};

impl Launch {
    /// The places with the largest shares of a counter, largest first: at most `most`, each with at
    /// least 5% of the sum. Lines, or instructions where the profile has no lines; empty where it has
    /// neither or the counter is 0 everywhere.
    #[must_use]
    pub fn top_places(
        &self,
        most: usize,
        share_of: &str,
        counter: impl Fn(&SourceCounters) -> f64,
    ) -> Vec<Location> {
        // Inlined code counts on its own line and on every line that calls it, so shares come out a
        // little low there. Summing over instructions would do for plain counts, but not for a
        // counter that looks at what else its row does.
        let count = |row: &SourceRow| counter(&row.counters).max(0.0);
        if self.lines.is_empty() {
            let weighted = self.instructions.iter().map(|row| (row, count(row)));
            return self.top_instructions(most, share_of, weighted);
        }
        // What comes from CUDA's headers counts on the lines that call it, which the user can change.
        let mut asked: HashMap<&str, bool> = HashMap::new();
        let mut comes_with_cuda = |file| *asked.entry(file).or_insert_with(|| is_toolkit(file));
        let (toolkit, own): (Vec<&SourceRow>, Vec<&SourceRow>) = self
            .lines
            .iter()
            .partition(|row| row.file.as_deref().is_some_and(&mut comes_with_cuda));
        let sum = |rows: &[&SourceRow]| -> f64 { rows.iter().copied().map(count).sum() };
        let listed = if sum(&own) > 0.0 { own } else { toolkit };
        let total = sum(&listed);
        let lines = listed.into_iter().map(|row| Weighted {
            place: Place::Line {
                file: row.file.as_deref().unwrap_or_default(),
                line: row.line.unwrap_or_default(),
            },
            weight: count(row),
        });
        Location::heaviest(lines, total, most, share_of, |file, line| self.text_of(file, line))
    }

    /// The instructions with the largest weights, as [`top_places`](Self::top_places) has them. Empty where any
    /// instruction has a line, which tells people more.
    pub(crate) fn top_instructions<'a>(
        &'a self,
        most: usize,
        share_of: &str,
        weighted: impl IntoIterator<Item = (&'a SourceRow, f64)>,
    ) -> Vec<Location> {
        if self.instructions.iter().any(|row| row.line.is_some()) {
            return Vec::new();
        }
        let mut total = 0.0;
        let places: Vec<Weighted> = weighted
            .into_iter()
            .filter(|(_, weight)| *weight > 0.0)
            .inspect(|(_, weight)| total += weight)
            .filter_map(|(row, weight)| {
                let place = Place::Instruction { offset: self.offset_of(row)?, text: &row.text };
                Some(Weighted { place, weight })
            })
            .collect();
        Location::heaviest(places, total, most, share_of, |_, _| "")
    }

    /// The text of a source line as the profile has it; empty where it has none.
    pub(crate) fn text_of(&self, file: &str, line: u32) -> &str {
        let named = |row: &&SourceRow| {
            row.line.unwrap_or_default() == line && row.file.as_deref().unwrap_or_default() == file
        };
        self.lines.iter().find(named).map_or("", |row| &row.text)
    }

    /// The row of the line or instruction that a location names.
    #[must_use]
    pub fn row_at(&self, location: &Location) -> Option<&SourceRow> {
        let rows = if location.offset.is_some() { &self.instructions } else { &self.lines };
        rows.iter().find(|row| self.is_at(row, location))
    }

    /// True for the rows of a location: itself, and for a line the instructions that it was compiled to.
    #[must_use]
    pub fn is_at(&self, row: &SourceRow, location: &Location) -> bool {
        match location.offset {
            Some(_) => self.offset_of(row) == location.offset,
            None => row.line == Some(location.line) && row.file.as_deref() == Some(&location.file),
        }
    }

    /// How many bytes an instruction lies behind the kernel's first; `None` for a line.
    pub(crate) fn offset_of(&self, row: &SourceRow) -> Option<u64> {
        let first = self.instructions.first()?.address?;
        row.address?.checked_sub(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cudas_headers_give_way_to_those_that_call_them() {
        let row = |file: &str, line, count| SourceRow {
            file: Some(file.into()),
            line: Some(line),
            counters: SourceCounters { inst_executed: count, ..SourceCounters::default() },
            ..SourceRow::default()
        };
        let header = row("/tmp/__nv_nvrtc_builtin_header.h", 4785, 60.0);
        let mut launch = Launch::default();
        launch.lines = vec![header.clone()];
        let lines = |launch: &Launch| {
            let found = launch.top_places(3, "instructions", |counters| counters.inst_executed);
            found.iter().map(|at| (at.line, at.share)).collect::<Vec<_>>()
        };
        assert_eq!(lines(&launch), [(4785, 1.0)], "nothing else is known");
        launch.lines = vec![header, row("k.cu", 5, 60.0), row("k.cu", 9, 20.0)];
        assert_eq!(lines(&launch), [(5, 0.75), (9, 0.25)]);
    }

    #[test]
    fn lines_with_a_twentieth_are_listed() {
        let listed = |small: f64| {
            let row = |line, count| SourceRow {
                file: Some("k.cu".into()),
                line: Some(line),
                counters: SourceCounters { inst_executed: count, ..SourceCounters::default() },
                ..SourceRow::default()
            };
            let mut launch = Launch::default();
            launch.lines = vec![row(5, 1000.0 - small), row(9, small)];
            launch.top_places(3, "instructions", |counters| counters.inst_executed).len()
        };
        assert_eq!((listed(50.0), listed(49.0)), (2, 1));
    }

    #[test]
    fn without_lines_instructions_are_named_by_how_far_they_lie_behind_the_first() {
        let row = |address, count| SourceRow {
            address: Some(address),
            text: format!("LDS R4, [R{count}]"),
            counters: SourceCounters { inst_executed: count, ..SourceCounters::default() },
            ..SourceRow::default()
        };
        let mut launch = Launch::default();
        launch.instructions = vec![row(0x7000, 0.0), row(0x7010, 60.0), row(0x7020, 20.0)];
        let found = launch.top_places(3, "instructions", |counters| counters.inst_executed);
        let named: Vec<_> =
            found.iter().map(|at| (at.name(), at.share, at.text.as_str())).collect();
        let expected = [
            ("instruction 0x10", 0.75, "LDS R4, [R60]"),
            ("instruction 0x20", 0.25, "LDS R4, [R20]"),
        ];
        assert_eq!(named, expected.map(|(name, share, text)| (name.to_owned(), share, text)));
        let rows: Vec<_> = found.iter().map(|at| launch.row_at(at).unwrap().address).collect();
        assert_eq!(rows, [Some(0x7010), Some(0x7020)]);
        launch.instructions[0].line = Some(7);
        assert!(launch.top_places(3, "instructions", |counters| counters.inst_executed).is_empty());
    }
}
