//! A launch's instructions in address order, taken apart, with what each defines and uses.

use std::collections::HashMap;

use super::counts::Counts;
use super::entry::{Entry, NOWHERE, place};
use super::facts::Facts;
use super::flow::Flow;
use super::instruction::Instruction;
use super::mix::Mix;
use super::operands::{Role, collect};
use super::register::Slot;
use crate::export::SourceRow;
use crate::export::stall::StallReason;
use crate::frame::Launch;

/// A use of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// What is read.
    pub slot: Slot,
    /// What for.
    pub role: Role,
    /// How far back in the block the definition stands that it sees, in instructions: [`OUTSIDE`]
    /// where the value comes from outside the block, [`FAR`] where the distance does not fit.
    back: u8,
}

/// [`Use::back`] of a value that comes from outside the block.
const OUTSIDE: u8 = 0;

/// [`Use::back`] of a definition in the block that is as far away as this or farther.
const FAR: u8 = u8::MAX;

/// A launch's SASS taken apart, some 67 bytes an instruction in all. Owns nothing of the launch; see
/// [`Listing`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sass {
    /// The instructions in address order.
    pub entries: Vec<Entry>,
    /// Blocks and loops.
    pub flow: Flow,
    /// The counters that are asked of all.
    pub counts: Counts,
    /// Of each source line the first row that is of it, as a place in the launch's `instructions`.
    lines: Vec<u32>,
    defs: Vec<Slot>,
    uses: Vec<Use>,
    written: Written,
}

/// Where each slot is defined.
#[derive(Debug, Clone, Default, PartialEq)]
struct Written {
    /// The places of the definitions, ascending, of one slot after the other.
    places: Vec<u32>,
    /// For each slot where its places end; they begin where the slot's before it end.
    ends: Vec<u32>,
}

impl Written {
    /// The last definition of a slot before a place.
    fn last_before(&self, slot: Slot, place: usize) -> Option<u32> {
        let end = *self.ends.get(slot.index())? as usize;
        let start = slot.index().checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let places = &self.places[start..end];
        let earlier = places.partition_point(|&at| (at as usize) < place);
        earlier.checked_sub(1).map(|last| places[last])
    }
}

/// A launch's SASS together with the counts of its instructions.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// The instructions.
    pub sass: &'a Sass,
    pub(super) facts: &'a Facts,
    rows: &'a [SourceRow],
}

impl<'a> Listing<'a> {
    /// The launch's listing; `None` where the export has no instructions or not their text (a report
    /// file holds machine code, not SASS).
    #[must_use]
    pub fn of(launch: &'a Launch) -> Option<Self> {
        let sass = launch.sass();
        let (facts, rows) = (launch.facts(), launch.instructions.as_slice());
        (!sass.entries.is_empty()).then_some(Self { sass, facts, rows })
    }

    /// What its executed instructions are, worked out once for a launch.
    #[must_use]
    pub fn mix(&self) -> &'a Mix {
        self.facts.mix(|| Mix::new(self))
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
    pub fn function(&self, first: usize) -> Option<std::ops::RangeInclusive<usize>> {
        let last = (first..self.sass.entries.len()).find(|&index| {
            let entry = &self.sass.entries[index];
            !entry.conditional && self.text(index).trim_start().starts_with("RET")
        })?;
        Some(first..=last)
    }

    /// The instructions with their places.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &'a Entry)> + use<'a> {
        self.sass.entries.iter().enumerate()
    }

    /// Warp instructions executed in all.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.sass.counts.executed.iter().sum()
    }
}

impl Sass {
    /// Takes the instructions apart. Rows without text are left out.
    #[must_use]
    pub fn new(rows: &[SourceRow]) -> Self {
        let (lines, line_of_row) = lines(rows);
        let mut order: Vec<usize> =
            (0..rows.len()).filter(|&row| !rows[row].text.is_empty()).collect();
        order.sort_by_key(|&row| rows[row].address);
        let mut sass = Self { lines, ..Self::default() };
        sass.entries.reserve_exact(order.len());
        let mut reads: Vec<(Slot, Role)> = Vec::new();
        // What follows from the addresses of all waits until they are known.
        let mut addresses: Vec<u64> = Vec::with_capacity(order.len());
        let mut targets: Vec<(usize, u64)> = Vec::new();
        for row in order {
            let Some(instruction) = Instruction::parse(&rows[row].text) else { continue };
            let starts = (sass.defs.len(), sass.uses.len());
            let entry = Entry::new(&instruction, (row, line_of_row[row]), starts);
            if entry.goes() {
                targets.extend(instruction.target().map(|target| (sass.entries.len(), target)));
            }
            addresses.push(rows[row].address.unwrap_or_default());
            sass.entries.push(entry);
            if !instruction.never {
                collect(&instruction, entry.family, &mut sass.defs, &mut reads);
                let uses = reads.drain(..).map(|(slot, role)| Use { slot, role, back: OUTSIDE });
                sass.uses.extend(uses);
            }
        }
        let places = Places(addresses);
        for (index, target) in targets {
            sass.entries[index].to = places.find(target).map_or(NOWHERE, place);
        }
        sass.counts = Counts::new(sass.entries.iter().map(|entry| &rows[entry.row as usize]));
        sass.defs.shrink_to_fit();
        sass.uses.shrink_to_fit();
        sass.flow = Flow::new(sass.entries.len(), |index| sass.entries[index].exit());
        sass.link();
        sass
    }

    /// How many source lines the instructions come from, those of unknown files or lines among them.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// What an instruction writes.
    #[must_use]
    pub fn defs(&self, index: usize) -> &[Slot] {
        &self.defs[self.defs_of(index)]
    }

    /// What an instruction reads.
    #[must_use]
    pub fn uses(&self, index: usize) -> &[Use] {
        &self.uses[self.uses_of(index)]
    }

    fn defs_of(&self, index: usize) -> std::ops::Range<usize> {
        let end = self.entries.get(index + 1).map_or(self.defs.len(), |next| next.defs as usize);
        self.entries[index].defs as usize..end
    }

    fn uses_of(&self, index: usize) -> std::ops::Range<usize> {
        let end = self.entries.get(index + 1).map_or(self.uses.len(), |next| next.uses as usize);
        self.entries[index].uses as usize..end
    }

    /// The last definition of a slot in a block.
    pub(super) fn last_def(&self, block: u32, slot: Slot) -> Option<u32> {
        let block = &self.flow.blocks[block as usize];
        self.written.last_before(slot, block.end).filter(|&at| at as usize >= block.start)
    }

    /// The definition in the same block that a use of this instruction sees; `None` where the value
    /// comes from outside.
    pub(super) fn local(&self, index: usize, each: Use) -> Option<u32> {
        match each.back {
            OUTSIDE => None,
            FAR => self.written.last_before(each.slot, index),
            back => Some(place(index) - u32::from(back)),
        }
    }

    /// Notes where each slot is defined, and connects uses with the definitions before them in their
    /// block.
    fn link(&mut self) {
        let mut ends = vec![0_u32; Slot::COUNT];
        for slot in &self.defs {
            ends[slot.index()] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut places = vec![0; self.defs.len()];
        let mut last: Vec<Option<u32>> = vec![None; Slot::COUNT];
        for block in 0..self.flow.blocks.len() {
            let (start, end) = (self.flow.blocks[block].start, self.flow.blocks[block].end);
            for index in start..end {
                let (uses, defs) = (self.uses_of(index), self.defs_of(index));
                for each in &mut self.uses[uses] {
                    each.back = last[each.slot.index()]
                        .filter(|&at| at as usize >= start)
                        .map_or(OUTSIDE, |at| u8::try_from(index - at as usize).unwrap_or(FAR));
                }
                for slot in &self.defs[defs] {
                    last[slot.index()] = Some(place(index));
                    let end = &mut ends[slot.index()];
                    places[*end as usize] = place(index);
                    *end += 1;
                }
            }
        }
        self.written = Written { places, ends };
    }
}

/// The first row of each source line, and the line of each row as a place in that list.
fn lines(rows: &[SourceRow]) -> (Vec<u32>, Vec<u32>) {
    let mut first = Vec::new();
    let mut known = HashMap::new();
    let mut of_rows: Vec<u32> = Vec::with_capacity(rows.len());
    let mut last = None;
    for (row, line) in rows.iter().map(line_of).enumerate() {
        // Most rows are of the line of the row before.
        let at = match last {
            Some((before, at)) if before == line => at,
            _ => *known.entry(line).or_insert_with(|| {
                first.push(place(row));
                place(first.len() - 1)
            }),
        };
        last = Some((line, at));
        of_rows.push(at);
    }
    (first, of_rows)
}

/// The file and number of a row's source line.
fn line_of(row: &SourceRow) -> (Option<&str>, Option<u32>) {
    (row.file.as_deref(), row.line)
}

/// The addresses of the listing, ascending.
struct Places(Vec<u64>);

impl Places {
    /// Branch targets are absolute on the source page; some disassemblies count from the function.
    fn find(&self, target: u64) -> Option<usize> {
        let relative = || self.0.binary_search(&self.0.first()?.checked_add(target)?).ok();
        self.0.binary_search(&target).ok().or_else(relative)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::export::SourceCounters;

    /// A launch with these instructions, 16 bytes apart from address 0x100, each executed so often.
    pub fn launch(code: &[(&str, f64)]) -> Launch {
        let mut launch = Launch::default();
        launch.instructions = (0_u64..)
            .zip(code)
            .map(|(index, (text, executed))| SourceRow {
                file: Some("k.cu".to_owned()),
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
    fn instructions_stay_small() {
        use crate::sass::producer::Charge;
        // What the documentation promises: large kernels have thousands of each.
        let sizes = [size_of::<Entry>(), size_of::<Use>(), size_of::<Charge>()];
        assert_eq!(sizes, [32, 4, 24]);
    }

    #[test]
    fn uses_see_definitions_that_are_far_away() {
        // 255 is the first distance that an octet does not hold beside its marks.
        for between in [253, 254, 255, 300] {
            let mut code = vec![("MOV R0, 0x1", 1.0)];
            code.extend(std::iter::repeat_n(("NOP", 1.0), between));
            code.push(("FADD R1, R0, R2", 1.0));
            let code = launch(&code);
            let sass = Listing::of(&code).unwrap().sass;
            let at = between + 1;
            let seen: Vec<_> = sass.uses(at).iter().map(|each| sass.local(at, *each)).collect();
            assert_eq!(seen, [Some(0), None], "{between}");
        }
    }

    #[test]
    fn rows_are_taken_in_address_order() {
        let mut scattered = launch(&[("MOV R0, R1", 1.0), ("", 1.0), ("EXIT", 1.0)]);
        scattered.instructions.reverse();
        let listing = Listing::of(&scattered).unwrap();
        assert_eq!(listing.sass.entries.len(), 2, "a row without text is left out");
        assert_eq!((listing.text(0), listing.text(1)), ("MOV R0, R1", "EXIT"));
        assert!((listing.total() - 2.0).abs() < f64::EPSILON);
        assert!(Listing::of(&launch(&[("", 1.0)])).is_none());
    }

    #[test]
    fn branches_find_their_targets_absolute_or_from_the_start() {
        for target in ["0x110", "0x10"] {
            let branch = format!("@P0 BRA {target}");
            let code = launch(&[("NOP", 1.0), ("NOP", 9.0), (&branch, 9.0), ("EXIT", 1.0)]);
            let listing = Listing::of(&code).unwrap();
            assert_eq!(listing.sass.flow.loops.len(), 1, "{target}");
            assert_eq!(listing.sass.flow.loops[0].head, 1, "{target}");
        }
    }

    #[test]
    fn uses_see_the_last_definition_in_their_block() {
        let code = launch(&[("MOV R0, 0x1", 1.0), ("MOV R0, 0x2", 1.0), ("FADD R1, R0, R2", 1.0)]);
        let sass = Listing::of(&code).unwrap().sass;
        let seen: Vec<Option<u32>> = sass.uses(2).iter().map(|each| sass.local(2, *each)).collect();
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
        let computed = Listing::of(&code).unwrap().sass.entries.clone();
        let computed: Vec<bool> = computed.iter().map(|entry| entry.computed_address).collect();
        assert_eq!(computed, [false, true, true, false]);
    }
}
