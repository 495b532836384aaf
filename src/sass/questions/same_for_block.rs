//! Values that every thread of a block works out for itself although they are the same in all of them.
//!
//! What differs from thread to thread follows from the thread's index, or from what other lanes give it or it keeps for
//! itself. All else (block indices, arguments, loop counters, and what is loaded by these, also from shared memory) is one for
//! the block.

use std::collections::BTreeMap;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::slice;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::system_register;
use crate::sass::questions::independence::steps_to_share;
use crate::sass::questions::made_of_data::made_of_data;
use crate::sass::questions::matrix_loops::members;

/// Work in loops that all threads of a block repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct SameForBlock {
    /// The arithmetic, ascending.
    pub repeated: Vec<usize>,
    /// Executions of what other work takes from it: values that would be handed on by shared memory.
    pub handed_on: f64,
    /// All instructions of loops that consist of nothing but such work and end in sums, with the steps that threads could share out.
    pub shared_out: BTreeMap<usize, f64>,
}

/// The arithmetic in loops whose results are the same in all threads of a block of this shape.
#[must_use]
pub fn same_for_block(listing: &Listing, block: [u32; 3]) -> SameForBlock {
    let sass = listing.sass;
    let count = sass.entries.len();
    let executed = Marks::of(count, |at| listing.executed(at) > 0.0);
    let mut own = Marks::of(count, |at| executed[at] && is_of_thread(listing, at, block));
    let mut reaching = Reaching::new(sass);
    own.spread(&executed, |at, own| {
        sass.uses(at).iter().any(|each| {
            let mut made_at = reaching.definitions(at, *each);
            // A function's argument is made by its callers.
            let is_given = made_at.len() == 0 && each.slot.is_general() && each.role != Role::Old;
            is_given || made_at.any(|by| own[by as usize])
        })
    });
    let work = slice::work(listing);
    let is_alike = |at: usize| {
        executed[at]
            && !own[at]
            && work[at]
            && !is_of_division(listing, at)
            && sass.flow.innermost(at).is_some()
    };
    let is_float = |family: Family| family.is_float() || family == Family::SpecialFunction;
    let mut repeated = Marks::of(count, |at| is_float(sass.entries[at].family) && is_alike(at));
    // Of integers, what is made of data: all else is counters, and what the compiler makes of them.
    let integers = Marks::of(count, |at| is_integer(sass.entries[at].family) && is_alike(at));
    if integers.iter().next().is_some() {
        let of_data = made_of_data(listing);
        integers.iter().filter(|&at| of_data[at]).for_each(|at| _ = repeated.insert(at));
    }
    // What is made of it, such as a copy in a uniform register, is handed on as well.
    let mut made_of_it = repeated.clone();
    let of_block =
        Marks::of(count, |at| executed[at] && !own[at] && !sass.entries[at].family.is_memory());
    made_of_it.spread(&of_block, |at, made_of_it| {
        let mut data = sass.uses(at).iter().filter(|each| each.role != Role::Guard);
        data.any(|each| reaching.definitions(at, *each).any(|by| made_of_it[by as usize]))
    });
    let mut taken = Marks::new(count);
    for at in executed.iter().filter(|&at| own[at]) {
        for each in sass.uses(at) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                if made_of_it[by] {
                    taken.insert(by);
                }
            }
        }
    }
    let handed_on = taken.iter().map(|at| listing.executed(at)).sum();
    let shared_out = whole_loops(listing, &repeated, &executed, &own);
    SameForBlock { repeated: repeated.iter().collect(), handed_on, shared_out }
}

/// The instructions of loops whose steps the threads of a block can share out, with these steps: all threads do the same in all of
/// them, and no turn needs more of another than a sum.
fn whole_loops(
    listing: &Listing,
    repeated: &Marks,
    executed: &Marks,
    own: &Marks,
) -> BTreeMap<usize, f64> {
    let sass = listing.sass;
    let mut found = BTreeMap::new();
    for of in 0..sass.flow.loops.len() {
        let all = members(listing, of);
        let of_all = || all.iter().copied().filter(|&at| executed[at]);
        let are_alike = of_all().all(|at| {
            let family = sass.entries[at].family;
            let is_read =
                matches!(family, Family::Load(Space::Global | Space::Shared) | Family::Constant);
            !own[at] && (!family.is_memory() || is_read)
        });
        // Of loops in one another the innermost one is asked: what it makes for an outer one is a sum there, too.
        let is_its_own = of_all().any(|at| repeated[at] && sass.flow.innermost(at) == Some(of));
        let steps = if are_alike && is_its_own { steps_to_share(listing, of) } else { 1.0 };
        if steps > 1.0 {
            found.extend(of_all().map(|at| (at, steps)));
        }
    }
    found
}

const fn is_integer(family: Family) -> bool {
    matches!(family, Family::Integer | Family::IntegerMultiply | Family::Uniform)
}

/// True for the reciprocal that a division of integers begins with: another rule is about those.
fn is_of_division(listing: &Listing, at: usize) -> bool {
    let mut makers = listing.sass.uses(at).iter().filter_map(|each| each.definition);
    listing.text(at).contains("MUFU.RCP")
        && makers.any(|by| {
            let text = listing.text(by as usize);
            text.contains("I2F") && text.contains(".RP")
        })
}

/// True for what may give each thread of a block something of its own, whatever it goes by.
fn is_of_thread(listing: &Listing, at: usize, block: [u32; 3]) -> bool {
    match listing.sass.entries[at].family {
        Family::System => {
            let text = listing.text(at);
            let indices = ["SR_TID.X", "SR_TID.Y", "SR_TID.Z"];
            let axis = indices.iter().position(|index| text.contains(index));
            // One thread along a direction has the index zero.
            axis.map_or(!system_register::is_of_block(text), |axis| block[axis] > 1)
        }
        Family::Load(Space::Global | Space::Shared) => false,
        Family::Shuffle | Family::Vote | Family::Tensor => true,
        family => family.is_memory(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn loops_that_are_alike_in_all_threads_are_shared_out_whole() {
        let of = |sum: &str, beside: &str| {
            let code = [
                ("S2R R1, SR_TID.X", 4.0),
                ("LDC.64 R2, c[0x0][0x210]", 4.0),
                ("MOV R7, RZ", 4.0),
                ("LDG.E R4, desc[UR4][R2.64]", 400.0), // 0x130
                (sum, 400.0),
                (beside, 400.0),
                ("IADD3 R2, R2, 0x4, RZ", 400.0),
                ("ISETP.NE.AND P0, PT, R2, c[0x0][0x170], PT", 400.0),
                ("@P0 BRA 0x130", 400.0),
                ("FADD R8, R7, R1", 4.0),
                ("STG.E desc[UR4][R2.64], R8", 4.0),
                ("EXIT", 4.0),
            ];
            same_for_block(&launch(&code).listing().unwrap(), [128, 1, 1])
        };
        let sum = of("FADD R7, R7, R4", "NOP");
        let all: Vec<(usize, f64)> = (3..9).map(|at| (at, 100.0)).collect();
        assert_eq!(sum.shared_out.into_iter().collect::<Vec<_>>(), all);
        let tile = of("LDS R4, [UR4+0x4]", "FADD R7, R7, R4").shared_out;
        assert_eq!(tile.into_values().fold(0.0, f64::max).to_bits(), 100.0_f64.to_bits());
        let apart = |sum, beside| of(sum, beside).shared_out.is_empty();
        assert!(apart("FMUL R7, R7, R4", "NOP"), "each turn needs the one before");
        assert!(apart("FADD R7, R7, R4", "FADD R11, R1, R4"), "work of each thread's own");
        assert!(apart("FADD R7, R7, R4", "STG.E desc[UR4][R2.64], R7"), "a store per turn");
    }

    fn found(index: &str, of: &str, block: [u32; 3]) -> SameForBlock {
        let code = [
            (index, 4.0),
            ("LDC.64 R2, c[0x0][0x210]", 4.0),
            ("MOV R7, RZ", 4.0),
            ("LDG.E R4, desc[UR4][R2.64]", 40.0), // 0x130
            (of, 40.0),
            ("MUFU.SIN R6, R5", 40.0),
            ("FFMA R7, R6, R1, R7", 40.0),
            ("IADD3 R2, R2, 0x4, RZ", 40.0),
            ("@P0 BRA 0x130", 40.0),
            ("STG.E desc[UR4][R2.64], R7", 4.0),
            ("EXIT", 4.0),
        ];
        same_for_block(&launch(&code).listing().unwrap(), block)
    }

    #[test]
    fn what_no_index_of_a_thread_goes_into_is_the_same_in_all() {
        let row = [128, 1, 1];
        let same = found("S2R R1, SR_TID.X", "FMUL R5, R4, R4", row);
        assert_eq!(same.repeated, [4, 5], "all but what the thread adds up");
        assert!((same.handed_on - 40.0).abs() < 1e-12, "the sine");
        assert!(found("S2R R1, SR_TID.X", "FMUL R5, R4, R1", row).repeated.is_empty());
        assert!(
            found("S2R R1, SR_TID.X", "FMUL R5, R4, R30", row).repeated.is_empty(),
            "an argument"
        );
        assert!(found("S2R R1, SR_TID.X", "LDS R5, [R1]", row).repeated.is_empty(), "a place each");
        assert_eq!(found("S2R R1, SR_TID.X", "LDS R5, [R4]", row).repeated, [5], "one place");
        let alone = found("S2R R1, SR_TID.Y", "FMUL R5, R4, R1", row);
        assert_eq!(alone.repeated.len(), 3, "one row of threads");
    }

    #[test]
    fn integers_count_where_they_are_made_of_data() {
        let code = [
            ("S2R R1, SR_TID.X", 4.0),
            ("LDC.64 R2, c[0x0][0x210]", 4.0),
            ("MOV R7, RZ", 4.0),
            ("LDG.E R4, desc[UR4][R2.64]", 40.0), // 0x130
            ("SHF.R.U32.HI R5, RZ, 0x4, R4", 40.0),
            ("LOP3.LUT R6, R5, R8, RZ, 0xc0, !PT", 40.0),
            ("IADD3 R8, R8, 0x1, RZ", 40.0),
            ("IMAD R7, R6, R1, R7", 40.0),
            ("@P0 BRA 0x130", 40.0),
            ("STG.E desc[UR4][R2.64], R7", 4.0),
            ("EXIT", 4.0),
        ];
        let same = same_for_block(&launch(&code).listing().unwrap(), [128, 1, 1]);
        assert_eq!(same.repeated, [4, 5], "a counter is no data");
    }

    #[test]
    fn a_copy_hands_a_value_on() {
        let code = [
            ("S2R R1, SR_TID.X", 4.0),
            ("LDC.64 R2, c[0x0][0x210]", 4.0),
            ("MOV R7, RZ", 4.0),
            ("LDG.E R4, desc[UR4][R2.64]", 40.0), // 0x130
            ("MUFU.SIN R6, R4", 40.0),
            ("R2UR UR8, R6", 40.0),
            ("FFMA R7, R1, UR8, R7", 40.0),
            ("@P0 BRA 0x130", 40.0),
            ("STG.E desc[UR4][R2.64], R7", 4.0),
            ("EXIT", 4.0),
        ];
        let same = same_for_block(&launch(&code).listing().unwrap(), [128, 1, 1]);
        assert_eq!(same.repeated, [4]);
        assert!((same.handed_on - 40.0).abs() < 1e-12, "{same:?}");
    }
}
