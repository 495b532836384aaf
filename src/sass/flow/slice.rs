//! Work and overhead: which instructions make the values that a kernel is about.

use crate::sass::code::listed_instruction::ListedInstruction;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::{Sass, Use};
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::thresholds::{ADDRESS_STEPS, READER_WITHIN};

/// The instructions that are work, found once for a launch: they move data, or a value that they make ends up
/// in what is stored, exchanged between lanes or combined by an atomic. What only makes addresses, counts
/// loops and steers branches is overhead, and so is what moves registers about.
///
/// Arithmetic on floats is always work, also where it only decides a branch: nobody counts loops or
/// addresses with it.
#[must_use]
pub fn work<'a>(listing: &Listing<'a>) -> &'a Marks {
    listing.facts.work(|| find(listing, true))
}

/// As [`work`], but what only decides whether arithmetic happens is none: conditions that counters make are
/// worked out by the compiler once it unrolls the loop.
#[must_use]
pub fn work_without_conditions(listing: &Listing) -> Marks {
    find(listing, false)
}

fn find(listing: &Listing, with_conditions: bool) -> Marks {
    let sass = listing.sass;
    let mut work = Marks::new(sass.entries.len());
    let mut values = Values::new(sass);
    let mut open: Vec<u32> = Vec::new();
    for (root, entry) in (0_u32..).zip(&sass.entries) {
        if is_root(entry) && work.insert(root as usize) {
            open.push(root);
        }
        // Each root is followed at once, so that few are open at a time.
        while let Some(index) = open.pop() {
            let index = index as usize;
            // A guard of arithmetic chooses its value; one of an access or a branch only bounds it.
            let chooses = with_conditions && !sass.entries[index].family.is_memory();
            let follows = |role: Role| match role {
                Role::Data | Role::Old => true,
                Role::Guard => chooses,
                Role::Address => false,
            };
            for each in sass.uses(index).iter().filter(|each| follows(each.role)) {
                if each.role == Role::Old && !old_is_read(listing, index, each.slot) {
                    continue;
                }
                for definition in values.definitions(index, *each) {
                    if work.insert(definition as usize) {
                        open.push(definition);
                    }
                }
            }
        }
    }
    work
}

/// True for what is work in itself.
fn is_root(entry: &ListedInstruction) -> bool {
    entry.family.is_memory()
        || entry.family.is_float()
        || matches!(entry.family, Family::Shuffle | Family::Vote | Family::Fence | Family::Barrier)
}

/// The instructions that may be overhead: those that are not work in themselves. Which of them are, the flow of data
/// tells.
#[must_use]
pub fn not_work_in_itself(sass: &Sass) -> Marks {
    Marks::of(sass.entries.len(), |index| !is_root(&sass.entries[index]))
}

/// The instructions that make addresses and guards of the picked accesses, in the last steps before them,
/// and nothing else, so that they go where those go.
#[must_use]
pub fn addresses_only_of(listing: &Listing, picked: &Marks) -> Marks {
    let sass = listing.sass;
    let mut theirs = Marks::new(sass.entries.len());
    if picked.are_none() {
        return theirs;
    }
    let mut values = Values::new(sass);
    // Opens what an instruction needs and `is_new` takes. What roots need is followed from them.
    let mut open_makers =
        |index: usize, open: &mut Vec<u32>, is_new: &mut dyn FnMut(usize) -> bool| {
            for each in sass.uses(index) {
                if each.role != Role::Old || old_is_read(listing, index, each.slot) {
                    open.extend(values.definitions(index, *each).filter(|&maker| {
                        !is_root(&sass.entries[maker as usize]) && is_new(maker as usize)
                    }));
                }
            }
        };
    let mut elsewhere = Marks::new(sass.entries.len());
    let mut open: Vec<u32> = Vec::new();
    for (root, entry) in (0_u32..).zip(&sass.entries) {
        let index = root as usize;
        if picked[index] || !(is_root(entry) || sass.defs(index).is_empty()) {
            continue;
        }
        open.push(root);
        while let Some(index) = open.pop() {
            open_makers(index as usize, &mut open, &mut |at| elsewhere.insert(at));
        }
    }
    let mut last: Vec<u32> = Vec::new();
    for index in picked.iter() {
        open_makers(index, &mut last, &mut |at| !elsewhere[at] && theirs.insert(at));
    }
    for _ in 1..ADDRESS_STEPS.whole() {
        for index in std::mem::take(&mut last) {
            open_makers(index as usize, &mut last, &mut |at| !elsewhere[at] && theirs.insert(at));
        }
    }
    theirs
}

/// From a use back to what made the value. A guarded instruction is taken to use what was made under its own
/// guard, so that the last one counts; any other may see what a guard left as it was.
pub struct Values<'a> {
    sass: &'a Sass,
    all: Reaching<'a>,
    last: Reaching<'a>,
}

impl<'a> Values<'a> {
    /// Nothing found yet.
    #[must_use]
    pub fn new(sass: &'a Sass) -> Self {
        Self { sass, all: Reaching::new(sass), last: Reaching::with_guards(sass) }
    }

    /// The instructions whose results a use may see.
    pub fn definitions(&mut self, index: usize, each: Use) -> impl Iterator<Item = u32> {
        let is_guarded = self.sass.entries[index].conditional;
        if is_guarded { &mut self.last } else { &mut self.all }.definitions(index, each)
    }
}

/// False where the value that a guarded instruction may leave in its destination is never read: what reads
/// the destination next has the same guard.
pub(in crate::sass) fn old_is_read(listing: &Listing, index: usize, slot: Slot) -> bool {
    let sass = listing.sass;
    let guard =
        |at: usize| listing.text(at).trim_start().strip_prefix('@')?.split_whitespace().next();
    let Some(block) = sass.flow.block_of.get(index) else { return true };
    let of_guard = sass.uses(index).iter().find(|each| each.role == Role::Guard);
    let end = sass.flow.blocks[*block as usize].end;
    for at in (index + 1..end).take(READER_WITHIN.whole()) {
        let mut reads = sass.uses(at).iter().filter(|each| each.role != Role::Old);
        if reads.any(|each| each.slot == slot) {
            return guard(at) != guard(index);
        }
        let defs = sass.defs(at);
        if of_guard.is_some_and(|each| defs.contains(&each.slot)) {
            return true;
        }
        if defs.contains(&slot) && guard(at).is_none() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn addresses_and_counters_are_overhead_and_what_is_stored_is_work() {
        let code = launch(&[
            ("IMAD.WIDE R2, R5, 0x4, R10", 1.0),          // address
            ("LDG.E R4, desc[UR4][R2.64]", 1.0),          // data
            ("LOP3.LUT R6, R4, 0x7, RZ, 0xc0, !PT", 1.0), // stored below
            ("IADD3 R5, R5, 0x1, RZ", 1.0),               // counter
            ("ISETP.NE.AND P0, PT, R5, R9, PT", 1.0),     // its test
            ("STG.E desc[UR4][R2.64], R6", 1.0),
            ("@P0 BRA 0x100", 1.0),
            ("EXIT", 1.0),
        ]);
        let work = work(&code.listing().unwrap());
        assert_eq!(work.iter().collect::<Vec<_>>(), [1, 2, 5]);
    }

    #[test]
    fn a_guard_that_chooses_a_value_is_work_and_one_that_bounds_an_access_is_not() {
        let code = launch(&[
            ("ISETP.NE.AND P0, PT, R5, R9, PT", 1.0),
            ("ISETP.NE.AND P1, PT, R5, R8, PT", 1.0),
            ("@P0 IADD3 R6, R6, 0x1, RZ", 1.0),
            ("@P1 STG.E desc[UR4][R2.64], R6", 1.0),
        ]);
        let listing = code.listing().unwrap();
        assert_eq!(work(&listing).iter().collect::<Vec<_>>(), [0, 2, 3]);
    }

    #[test]
    fn a_counter_that_is_stored_is_work() {
        let code = launch(&[
            ("IADD3 R5, R5, 0x1, RZ", 1.0),
            ("I2FP.F32.S32 R6, R5", 1.0),
            ("STG.E desc[UR4][R2.64], R6", 1.0),
            ("BRA 0x100", 1.0),
        ]);
        let listing = code.listing().unwrap();
        assert_eq!(work(&listing).iter().collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn a_condition_is_no_work_where_only_values_count() {
        let code = launch(&[
            ("ISETP.NE.AND P0, PT, R5, R9, PT", 1.0),
            ("@P0 IADD3 R6, R6, 0x1, RZ", 1.0),
            ("STG.E desc[UR4][R2.64], R6", 1.0),
        ]);
        let work = work_without_conditions(&code.listing().unwrap());
        assert_eq!(work.iter().collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn what_lay_in_a_register_before_a_guarded_load_is_no_work_where_nobody_reads_it() {
        let old = |last: &str| {
            let code = launch(&[
                ("IADD3 R4, R5, R10, RZ", 1.0), // an address, in a register that is used again
                ("LDG.E R8, desc[UR4][R4.64]", 1.0),
                ("@P3 LDG.E R4, desc[UR4][R2.64]", 1.0),
                (last, 1.0),
                ("STG.E desc[UR4][R2.64], R6", 1.0),
            ]);
            work(&code.listing().unwrap())[0]
        };
        assert!(!old("@P3 IADD3 R6, R4, 0x1, RZ"));
        assert!(old("@!P3 IADD3 R6, R4, 0x1, RZ"));
        assert!(old("IADD3 R6, R4, 0x1, RZ"));
    }
}
