//! A launch's machine code beside the counts of its instructions.

use std::ops::{Range, RangeInclusive};

use foldhash::{HashMap, HashMapExt};

use super::blocks::Exit;
use super::counts::l1_wavefronts;
use super::facts::Facts;
use super::listed_instruction::ListedInstruction;
use super::mix::Mix;
use super::sass::{Sass, line_of};
use crate::export::SourceRow;
use crate::metric::stall::StallReason;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;

/// A launch's SASS together with the counts of its instructions.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// The instructions.
    pub sass: &'a Sass,
    pub(in crate::sass) facts: &'a Facts,
    rows: &'a [SourceRow],
}

impl<'a> Listing<'a> {
    /// The listing of these rows; `None` where they have no text (a CSV page without SASS, or
    /// machine code of an unknown architecture).
    #[must_use]
    pub fn new(rows: &'a [SourceRow], sass: &'a Sass, facts: &'a Facts) -> Option<Self> {
        (!sass.entries.is_empty()).then_some(Self { sass, facts, rows })
    }

    /// What its executed instructions are, worked out once for a launch.
    #[must_use]
    pub fn mix(&self) -> &'a Mix {
        self.facts.mix(|| Mix::new(self.sass))
    }

    /// The source row of an instruction by its place in the listing.
    #[must_use]
    pub fn row(&self, index: usize) -> &'a SourceRow {
        &self.rows[self.sass.entries[index].row as usize]
    }

    /// The instruction's text.
    #[must_use]
    pub fn text(&self, index: usize) -> &'a str {
        &self.row(index).text
    }

    /// Warp instructions executed at this place, those with their guard off included.
    #[must_use]
    pub fn executed(&self, index: usize) -> f64 {
        self.sass.counts.executed[index]
    }

    /// Wavefronts of L1's data pipe for the instruction at this place.
    #[must_use]
    pub fn wavefronts(&self, index: usize) -> f64 {
        let entry = &self.sass.entries[index];
        l1_wavefronts(&self.row(index).counters, entry.width, entry.family)
    }

    /// Samples of a stall at this place.
    #[must_use]
    pub fn samples(&self, index: usize, reason: StallReason) -> f64 {
        // Most instructions have none, and rows are far apart.
        if self.sass.counts.is_sampled(index) {
            self.row(index).counters.stall_samples[reason as usize]
        } else {
            0.0
        }
    }

    /// File and number of the source line at a place below [`Sass::line_count`]; `None` what the export
    /// does not know.
    #[must_use]
    pub fn line(&self, line: usize) -> (Option<&'a str>, Option<u32>) {
        line_of(&self.rows[self.sass.lines[line] as usize])
    }

    /// The instructions of a called function: from its first to its first return. `None` for a
    /// function without one.
    #[must_use]
    pub fn function(&self, first: usize) -> Option<RangeInclusive<usize>> {
        let last = (first..self.sass.entries.len()).find(|&index| {
            let entry = &self.sass.entries[index];
            let ends = matches!(entry.exit(), Exit::End | Exit::MaybeEnd);
            ends && !entry.conditional && self.text(index).trim_start().starts_with("RET")
        })?;
        Some(first..=last)
    }

    /// The calls by their places, in order, each with the instructions of the called function.
    #[must_use]
    pub fn calls(&self) -> Vec<(usize, RangeInclusive<usize>)> {
        // Most calls are of the same few functions.
        let mut functions: HashMap<usize, Option<RangeInclusive<usize>>> = HashMap::new();
        let mut function =
            |first| functions.entry(first).or_insert_with(|| self.function(first)).clone();
        let calls = self.entries().filter_map(|(call, entry)| Some((call, entry.callee()?)));
        calls.filter_map(|(call, first)| Some((call, function(first)?))).collect()
    }

    /// The instructions with their places.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &'a ListedInstruction)> + use<'a> {
        self.sass.entries.iter().enumerate()
    }

    /// True where the code ends somewhere: a part of it, such as its memory instructions alone, tells
    /// nothing of its flow.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.sass.entries.iter().any(|entry| matches!(entry.exit(), Exit::End | Exit::MaybeEnd))
    }

    /// True for a barrier at which a block's warps wait for each other. Waits of one warp for copies or for what another
    /// signals are of the same family.
    #[must_use]
    pub fn is_block_barrier(&self, index: usize) -> bool {
        if self.sass.entries[index].family != Family::Barrier {
            return false;
        }
        let opcode = Instruction::opcode_of(self.text(index)).unwrap_or_default();
        opcode.split('.').next() == Some("BAR") && !opcode.starts_with("BAR.ARV")
    }

    /// True where other threads may see what a thread stored before: they meet there, or the order of accesses is kept.
    #[must_use]
    pub fn meets_others(&self, index: usize) -> bool {
        let family = self.sass.entries[index].family;
        matches!(family, Family::Barrier | Family::Fence | Family::Atomic(_) | Family::Reduction(_))
            || self.text(index).contains("WARPSYNC")
    }

    /// Where waits at a block's barrier are sampled: there, or where their end is needed, up to the next barrier.
    #[must_use]
    pub fn waits_of_barrier(&self, barrier: usize) -> Range<usize> {
        let mut behind = barrier + 1..self.sass.entries.len();
        let end = behind.end;
        barrier..behind.find(|&at| self.is_block_barrier(at)).unwrap_or(end)
    }

    /// Warp instructions executed in all.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.sass.counts.executed.iter().sum()
    }
}

#[cfg(test)]
pub(crate) mod tests {

    use super::*;
    use crate::export::SourceCounters;
    use crate::frame::Launch;

    /// A launch with these instructions, 16 bytes apart from address 0x100, each executed so often.
    pub(crate) fn launch(code: &[(&str, f64)]) -> Launch {
        let mut launch = Launch::default();
        launch.instructions = (0_u64..)
            .zip(code)
            .map(|(index, (text, executed))| SourceRow {
                file: Some("k.cu".into()),
                line: u32::try_from(index + 1).ok(),
                address: Some(0x100 + 16 * index),
                text: (*text).to_owned(),
                counters: SourceCounters { inst_executed: *executed, ..SourceCounters::default() },
                ..SourceRow::default()
            })
            .collect();
        launch
    }

    #[test]
    fn rows_are_taken_in_address_order() {
        let mut scattered = launch(&[("MOV R0, R1", 1.0), ("", 1.0), ("EXIT", 1.0)]);
        scattered.instructions.reverse();
        let listing = scattered.listing().unwrap();
        assert_eq!(listing.sass.entries.len(), 2, "a row without text is left out");
        assert_eq!((listing.text(0), listing.text(1)), ("MOV R0, R1", "EXIT"));
        assert!((listing.total() - 2.0).abs() < f64::EPSILON);
        assert!(launch(&[("", 1.0)]).listing().is_none());
    }

    #[test]
    fn branches_find_their_targets_absolute_or_from_the_start() {
        for target in ["0x110", "0x10"] {
            let branch = format!("@P0 BRA {target}");
            let code = launch(&[("NOP", 1.0), ("NOP", 9.0), (&branch, 9.0), ("EXIT", 1.0)]);
            let listing = code.listing().unwrap();
            assert_eq!(listing.sass.flow.loops.len(), 1, "{target}");
            assert_eq!(listing.sass.flow.loops[0].head, 1, "{target}");
        }
    }

    #[test]
    fn uses_see_the_last_definition_in_their_block() {
        let code = launch(&[("MOV R0, 0x1", 1.0), ("MOV R0, 0x2", 1.0), ("FADD R1, R0, R2", 1.0)]);
        let sass = code.listing().unwrap().sass;
        let seen: Vec<Option<u32>> = sass.uses(2).iter().map(|each| each.definition).collect();
        assert_eq!(seen, [Some(1), None]);
    }

    #[test]
    fn an_address_is_computed_where_it_holds_more_than_the_stack_pointer() {
        let code = launch(&[
            ("STL [R1+0x1c], R28", 1.0),
            ("LDL R0, [R5]", 1.0),
            ("LDC R7, c[0x3][R7]", 1.0),
            ("LDC R1, c[0x0][0x28]", 1.0),
        ]);
        let computed = code.listing().unwrap().sass.entries.clone();
        let computed: Vec<bool> = computed.iter().map(|entry| entry.computed_address).collect();
        assert_eq!(computed, [false, true, true, false]);
    }
}
