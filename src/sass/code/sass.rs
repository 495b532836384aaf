//! A launch's instructions in address order, taken apart, with what each defines and uses.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::blocks::Flow;
use super::counts::Counts;
use super::incoming::Incoming;
use super::listed_instruction::{ListedInstruction, NOWHERE, place};
use super::written::Written;
use crate::export::SourceRow;
use crate::isa::control::Control;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::library::{Routine, is_of_remainders};
use crate::sass::parse::opcode::{Family, Turns};
use crate::sass::parse::operands::{Role, collect};
use crate::sass::parse::register::Slot;

/// A use of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// What is read.
    pub slot: Slot,
    /// What for.
    pub role: Role,
    /// The place of the definition in the same block that it sees; `None` where the value comes from
    /// outside the block.
    pub(in crate::sass) definition: Option<u32>,
}

/// A launch's SASS taken apart. Owns nothing of the launch; see [`Listing`](super::listing::Listing).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sass {
    /// The instructions in address order.
    pub entries: Vec<ListedInstruction>,
    /// Blocks and loops.
    pub flow: Flow,
    /// The counters that are asked of all.
    pub counts: Counts,
    /// Of each source line the first row that is of it, as a place in the launch's `instructions`.
    pub(super) lines: Vec<u32>,
    /// The control codes of all instructions; empty where some have none.
    pub(in crate::sass) controls: Vec<Control>,
    defs: Vec<Slot>,
    uses: Vec<Use>,
    written: Written,
    incoming: OnceLock<Incoming>,
}

impl Sass {
    /// Takes the instructions apart. Rows without text are left out. `turns` are those of the device that
    /// ran them.
    #[must_use]
    pub fn new(rows: &[SourceRow], turns: Turns) -> Self {
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
            let entry =
                ListedInstruction::new(&instruction, (row, line_of_row[row]), starts, turns);
            if entry.goes() {
                targets.extend(instruction.target().map(|target| (sass.entries.len(), target)));
            }
            addresses.push(rows[row].address.unwrap_or_default());
            sass.controls.extend(rows[row].control);
            sass.entries.push(entry);
            if !instruction.never {
                collect(&instruction, entry.family, &mut sass.defs, &mut reads);
                let uses = reads.drain(..).map(|(slot, role)| Use { slot, role, definition: None });
                sass.uses.extend(uses);
            }
        }
        sass.mark_logarithms();
        sass.mark_tangents();
        sass.mark_remainders(rows);
        let places = Places(addresses);
        for (index, target) in targets {
            sass.entries[index].to = places.find(target).map_or(NOWHERE, place);
        }
        sass.counts = Counts::new(
            sass.entries.iter().map(|entry| (&rows[entry.row as usize], entry.width, entry.family)),
        );
        if sass.controls.len() < sass.entries.len() {
            sass.controls = Vec::new();
        }
        sass.defs.shrink_to_fit();
        sass.uses.shrink_to_fit();
        let exit = |index: usize| sass.entries[index].exit();
        sass.flow = Flow::with_choices(sass.entries.len(), exit, &sass.choices());
        sass.link();
        sass
    }

    /// The indirect branches, each with the place at which its ways meet again.
    fn choices(&self) -> Vec<(usize, usize)> {
        let entries = self.entries.iter().enumerate();
        let chosen = entries.filter(|(_, entry)| entry.chooses()).map(|(at, _)| at);
        let meet = |at: usize| {
            let before = self.entries[..at].iter().rev();
            before.filter_map(ListedInstruction::meets).find(|&meet| meet > at)
        };
        chosen.filter_map(|at| Some((at, meet(at)?))).collect()
    }

    /// A logarithm of a double begins with a comparison of bits and goes on with a reciprocal, which is no division of its
    /// own: the reciprocal is its mark, as it serves arithmetic of doubles. A power has a coefficient, then such a logarithm, and
    /// then an exponential: the reciprocal is the mark of all three.
    fn mark_logarithms(&mut self) {
        let (mut begun, mut powers, mut exponentials) = (0, 0, 0);
        for entry in &mut self.entries {
            match entry.routine {
                Some(Routine::DoublePower) => {
                    entry.routine = None;
                    powers += 1;
                }
                Some(Routine::DoubleLogarithm) => {
                    entry.routine = None;
                    begun += 1;
                }
                Some(Routine::DoubleDivision) if begun > 0 && powers > 0 => {
                    entry.routine = Some(Routine::DoublePower);
                    begun -= 1;
                    powers -= 1;
                    exponentials += 1;
                }
                Some(Routine::DoubleDivision) if begun > 0 => {
                    entry.routine = Some(Routine::DoubleLogarithm);
                    begun -= 1;
                }
                Some(Routine::DoubleExponential) if exponentials > 0 => {
                    entry.routine = None;
                    exponentials -= 1;
                }
                _ => {}
            }
        }
    }

    /// `truncf` rounds as `fmodf` does, which alone has a slow path.
    fn mark_remainders(&mut self, rows: &[SourceRow]) {
        let is_mark = |entry: &ListedInstruction| entry.routine == Some(Routine::Remainder);
        let text = |entry: &ListedInstruction| &rows[entry.row as usize].text;
        if self.entries.iter().any(is_mark)
            && !self.entries.iter().any(|entry| is_of_remainders(text(entry)))
        {
            self.entries.iter_mut().filter(|entry| is_mark(entry)).for_each(|it| it.routine = None);
        }
    }

    /// Where `tanhf` has no branch, its polynomial is worked out beside the exponential, which marks both.
    fn mark_tangents(&mut self) {
        let straight = self.entries.split_mut(|entry| entry.family == Family::Control);
        for entries in straight {
            let of = |routine| move |entry: &&mut ListedInstruction| entry.routine == Some(routine);
            let whole = entries.iter_mut().filter(of(Routine::Tanh)).count();
            let small = entries.iter_mut().filter(of(Routine::SmallTanh)).take(whole);
            small.for_each(|entry| entry.routine = None);
        }
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

    /// Where each slot is defined.
    pub(in crate::sass) fn written(&self) -> &Written {
        &self.written
    }

    /// The definitions that come into blocks, found when they are first asked for.
    pub(in crate::sass) fn incoming(&self) -> &Incoming {
        self.incoming.get_or_init(|| {
            let blocks = (0_u32..).zip(&self.flow.blocks);
            let used = blocks.flat_map(|(number, block)| {
                let uses = (block.start..block.end).flat_map(|at| self.uses(at));
                uses.filter(|each| each.definition.is_none()).map(move |each| (number, each.slot))
            });
            Incoming::of(&self.flow.blocks, &self.written, used)
        })
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
                    each.definition = last[each.slot.index()].filter(|&at| at as usize >= start);
                }
                for slot in &self.defs[defs] {
                    last[slot.index()] = Some(place(index));
                    let end = &mut ends[slot.index()];
                    places[*end as usize] = place(index);
                    *end += 1;
                }
            }
        }
        self.written = Written::new(places, ends);
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
pub(super) fn line_of(row: &SourceRow) -> (Option<&str>, Option<u32>) {
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
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn a_loop_with_a_switch_in_it_is_a_loop() {
        let loops = |opens: &'static str| {
            let launch = launch(&[
                ("MOV R0, RZ", 1.0),
                (opens, 8.0), // 0x110
                ("BRX R8 -0x120", 8.0),
                ("FADD R4, R4, R5", 4.0),
                ("BRA 0x160", 4.0),
                ("FMUL R4, R4, R5", 4.0),
                ("BSYNC B0", 8.0), // 0x160
                ("@P0 BRA 0x110", 8.0),
                ("EXIT", 1.0),
            ]);
            launch.listing().unwrap().sass.flow.loops.len()
        };
        assert_eq!(loops("BSSY B0, 0x160"), 1);
        assert_eq!(loops("NOP"), 0, "nothing says where its ways meet");
    }

    #[test]
    fn a_tangents_polynomial_is_its_own_run_only_behind_a_branch() {
        let routines = |between: &'static str| {
            let launch = launch(&[
                ("FMUL R0, R122.reuse, 2.8853900432586669922", 1.0),
                (between, 1.0),
                ("FFMA.FTZ R0, R121, R0, -0.052303962409496307373", 1.0),
                ("EXIT", 1.0),
            ]);
            let listing = launch.listing().unwrap();
            let of: Vec<_> = listing.sass.entries.iter().map(|entry| entry.routine).collect();
            of
        };
        let (whole, small) = (Some(Routine::Tanh), Some(Routine::SmallTanh));
        assert_eq!(routines("MUFU.EX2 R0, R0"), [whole, None, None, None]);
        assert_eq!(routines("BRA 0x120"), [whole, None, small, None]);
    }

    #[test]
    fn a_logarithms_reciprocal_is_no_division() {
        let launch = launch(&[
            ("ISETP.GE.U32.AND P0, PT, R17, 0x3ff6a09f, PT", 1.0),
            ("MUFU.RCP64H R21, R31", 1.0),
            ("MUFU.RCP64H R9, R11", 1.0),
        ]);
        let sass = launch.listing().unwrap().sass;
        let routines: Vec<_> = sass.entries.iter().map(|entry| entry.routine).collect();
        let (log, division) = (Routine::DoubleLogarithm, Routine::DoubleDivision);
        assert_eq!(routines, [None, Some(log), Some(division)]);
    }
}
