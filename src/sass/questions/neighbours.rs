//! How values of neighbouring threads differ, and what a thread that took several neighbours' elements would do but once.
//!
//! A thread's place in its block is one more than its neighbour's, and what is made of it by sums and multiples differs by a
//! constant from thread to thread. A quotient is the same for neighbours up to the next multiple of the divisor, and so is a
//! comparison with a bound. Whatever is the same for as many neighbours as a vector has elements, or differs by a constant, is
//! worked out once for the vector; what was loaded for each thread, and what is made of that, is worked out for each element.

mod differs;
mod made;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::MOST_PER_ACCESS;
use differs::Differs;
use made::Made;

/// What threads with vectors of so many elements would share of what neighbours do now.
#[derive(Debug, Clone, PartialEq)]
pub struct OncePerVector {
    /// The accesses whose addresses are one element apart from thread to thread, or some other constant.
    pub accesses: Marks,
    /// The instructions that one thread would execute for all elements of its vector, loads of the same values among them.
    pub shared: Marks,
    /// The executed instructions that make the same for all elements of a vector, whether they go or not.
    pub common: Marks,
}

/// What goes with the picked accesses of blocks of this shape, once a thread takes so many elements that lie side by side; `None`
/// where functions are called, whose results are not followed.
///
/// What loops do that neither hold one of these accesses nor anything that each element needs goes as well: they work out where
/// the accesses go. Loops that work on elements without such an access are another matter, and what each element's
/// arithmetic takes from memory is one of reuse.
#[must_use]
pub fn once_per_vector(
    listing: &Listing,
    picked: &Marks,
    block: [u32; 3],
    elements: f64,
) -> Option<OncePerVector> {
    let sass = listing.sass;
    let count = sass.entries.len();
    let executed = Marks::of(count, |at| listing.executed(at) > 0.0);
    if executed.iter().any(|at| sass.entries[at].callee().is_some()) {
        return None;
    }
    let made = Made::find(listing, &executed, block, elements);
    let steps = |at: usize| picked[at] && executed[at] && made.address_steps(at);
    let accesses = Marks::of(count, steps);
    let stays = for_each_element(listing, &executed, &made);
    // How often the accesses of each loop are executed: what its turns do more often belongs to none of them.
    let mut of_access = vec![0.0_f64; sass.flow.loops.len() + 1];
    let mut has_elements = vec![false; of_access.len()];
    // Outside all loops comes last.
    let place = |at: usize| sass.flow.innermost(at).unwrap_or(sass.flow.loops.len());
    for at in executed.iter() {
        if accesses[at] {
            of_access[place(at)] = of_access[place(at)].max(listing.executed(at));
        }
        has_elements[place(at)] |= made.of(at) == Differs::Freely;
    }
    // Warps without an element leave before the access.
    let is_as_often = |at: usize, accesses: f64| {
        accesses > 0.0 && listing.executed(at) < MOST_PER_ACCESS.value * accesses
    };
    let is_shared = |at: usize| {
        let family = sass.entries[at].family;
        let may_go = !family.is_memory() || matches!(family, Family::Load(_) | Family::Constant);
        let place = place(at);
        executed[at]
            && may_go
            && !matches!(family, Family::Barrier | Family::Fence)
            && made.of(at) != Differs::Freely
            && !stays[at]
            && (!has_elements[place] || is_as_often(at, of_access[place]))
    };
    let shared = Marks::of(count, is_shared);
    let common = Marks::of(count, |at| executed[at] && made.of(at) == Differs::Same);
    Some(OncePerVector { accesses, shared, common })
}

/// Of what neighbours have in common, what stays for each element: what its arithmetic is given from memory, and steps that it is
/// made of.
fn for_each_element(listing: &Listing, executed: &Marks, made: &Made) -> Marks {
    let sass = listing.sass;
    let count = sass.entries.len();
    let mut reaching = Reaching::new(sass);
    let is_load = |at: usize| matches!(sass.entries[at].family, Family::Load(_));
    let mut of_memory = Marks::of(count, |at| executed[at] && is_load(at));
    of_memory.spread(executed, |at, of_memory| {
        let mut data = sass.uses(at).iter().filter(|each| each.role == Role::Data);
        data.any(|each| reaching.definitions(at, *each).any(|by| of_memory[by as usize]))
    });
    let mut stays = Marks::new(count);
    let is_its_own = |at: usize| made.of(at) == Differs::Freely && !is_store(listing, at);
    let mut open: Vec<usize> = executed.iter().filter(|&at| is_its_own(at)).collect();
    while let Some(at) = open.pop() {
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                let is_common = made.of(by) == Differs::Same && !of_memory[by];
                if executed[by] && !is_common && stays.insert(by) {
                    open.push(by);
                }
            }
        }
    }
    stays
}

/// True for what writes to memory: its value is followed from what makes it.
fn is_store(listing: &Listing, at: usize) -> bool {
    matches!(listing.sass.entries[at].family, Family::Store(Space::Global | Space::Generic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// The places that go, with the global accesses picked, for vectors of four.
    fn shared(code: &[(&str, f64)]) -> Vec<usize> {
        let launch = launch(code);
        let listing = launch.listing().unwrap();
        let picked =
            Marks::of(code.len(), |at| code[at].0.contains("LDG") || code[at].0.contains("STG"));
        let found = once_per_vector(&listing, &picked, [128, 1, 1], 4.0);
        found.map_or(Vec::new(), |found| {
            (0..code.len()).filter(|&at| found.shared[at] && !found.accesses[at]).collect()
        })
    }

    /// An index, what is made of it, and a load, an addition and a store there.
    fn of_index<'a>(between: &[(&'a str, f64)]) -> Vec<(&'a str, f64)> {
        let mut code = vec![("S2R R0, SR_TID.X", 10.0), ("IMAD R5, R0, 0x1, RZ", 10.0)];
        code.extend(between);
        code.extend([
            ("LDC.64 R2, c[0x0][0x210]", 10.0),
            ("IMAD.WIDE R2, R5, 0x4, R2", 10.0),
            ("LDG.E R6, desc[UR4][R2.64]", 10.0),
            ("FADD R6, R6, 1", 10.0),
            ("STG.E desc[UR4][R2.64], R6", 10.0),
            ("EXIT", 10.0),
        ]);
        code
    }

    #[test]
    fn an_address_is_made_once_and_the_sum_for_each_element() {
        assert_eq!(shared(&of_index(&[])), [0, 1, 2, 3, 7]);
    }

    #[test]
    fn a_quotient_by_what_a_launch_gives_and_its_remainder_go() {
        let code = of_index(&[
            ("LDC R9, c[0x0][0x218]", 10.0),
            ("I2F.RP R10, R9", 10.0),
            ("IMAD.HI.U32 R11, R10, R5, RZ", 10.0),
            ("IMAD.MOV R12, RZ, RZ, -R11", 10.0),
            ("IMAD R12, R9, R12, R5", 10.0),
            ("ISETP.GT.U32.AND P1, PT, R9, R12, PT", 10.0),
            ("@!P1 IADD3 R12, R12, -R9, RZ", 10.0),
            ("IMAD R5, R11, R9, R12", 10.0),
        ]);
        let all: Vec<usize> = (0..12).chain([15]).collect();
        assert_eq!(shared(&code), all);
    }

    #[test]
    fn a_coordinate_in_a_value_is_worked_out_once_where_neighbours_have_it_in_common() {
        let with = |index: &'static str, value: &'static str| {
            let mut code = of_index(&[(index, 10.0), ("I2FP.F32.S32 R8, R7", 10.0)]);
            for each in &mut code {
                if each.0.starts_with("FADD") {
                    each.0 = value;
                }
            }
            let found = shared(&code);
            (found.contains(&2), found.contains(&3))
        };
        let sum = "FADD R6, R6, R8";
        assert_eq!(with("SHF.R.U32.HI R7, RZ, 0x2, R5", sum), (true, true));
        assert_eq!(with("SHF.R.U32.HI R7, RZ, 0x1, R5", sum), (false, false), "pairs");
        assert_eq!(with("IADD3 R7, R5, 0x1, RZ", sum), (false, false), "each element's own");
        // By the reciprocals of 3 and of 96.
        let third = of_index(&[
            ("IMAD.HI.U32 R7, R5, 0xaaaaaaab, RZ", 10.0),
            ("SHF.R.U32.HI R7, RZ, 0x1, R7", 10.0),
            ("IMAD R5, R7, -0x3, R5", 10.0),
        ]);
        assert_eq!(shared(&third), [] as [usize; 0], "no four neighbours in a row of 3");
        let more = of_index(&[
            ("IMAD.HI.U32 R7, R5, 0xaaaaaaab, RZ", 10.0),
            ("SHF.R.U32.HI R7, RZ, 0x6, R7", 10.0),
            ("IMAD R5, R7, -0x60, R5", 10.0),
        ]);
        assert_eq!(shared(&more), [0, 1, 2, 3, 4, 5, 6, 10]);
    }

    #[test]
    fn what_goes_by_loaded_indices_or_data_stays() {
        let gather = of_index(&[
            ("LDC.64 R8, c[0x0][0x218]", 10.0),
            ("IMAD.WIDE R8, R5, 0x4, R8", 10.0),
            ("LDG.E R5, desc[UR4][R8.64]", 10.0),
        ]);
        assert_eq!(shared(&gather), [0, 1, 2, 3, 5, 10], "but the index's own address");
        let branch = of_index(&[
            ("LDC.64 R8, c[0x0][0x218]", 10.0),
            ("IMAD.WIDE R8, R5, 0x4, R8", 10.0),
            ("LDG.E R7, desc[UR4][R8.64]", 10.0),
            ("ISETP.NE.AND P0, PT, R7, RZ, PT", 10.0),
            ("@P0 BRA 0x1b0", 10.0),
        ]);
        assert_eq!(shared(&branch), [2, 3, 12], "but what leads to a branch on data");
        let first = of_index(&[("ISETP.NE.AND P0, PT, R5, RZ, PT", 10.0), ("@P0 BRA 0x180", 10.0)]);
        assert!(!shared(&first).contains(&5), "what the first thread alone does");
        let bound = of_index(&[
            ("ISETP.GE.AND P0, PT, R5, c[0x0][0x170], PT", 10.0),
            ("@P0 BRA 0x190", 10.0),
        ]);
        assert!(shared(&bound).contains(&5), "within the bounds");
    }

    #[test]
    fn a_loop_over_dimensions_goes_and_one_over_elements_does_not() {
        let with = |turn: &'static str, value: &'static str| {
            let code = of_index(&[
                ("MOV R7, RZ", 10.0),
                ("LDC.64 R8, c[0x0][0x218]", 10.0),
                ("LDG.E.64 R10, desc[UR4][R8.64]", 20.0), // 0x140
                (turn, 20.0),
                ("IADD3 R8, R8, 0x8, RZ", 20.0),
                ("ISETP.NE.AND P0, PT, R8, R10, PT", 20.0),
                ("@P0 BRA 0x140", 20.0),
                (value, 10.0),
            ]);
            shared(&code)
        };
        let dimensions = with("IMAD R7, R10, R7, RZ", "IADD3 R5, R5, R7, RZ");
        assert_eq!(dimensions, (0..12).chain([15]).collect::<Vec<_>>());
        let elements = with("FFMA R7, R10, R10, R7", "FMUL R6, R6, R7");
        assert!(elements.contains(&6), "the loop has nothing of each element: {elements:?}");
        let own = with("IMAD R7, R10, R0, R7", "FMUL R6, R6, R7");
        assert!(!own.contains(&4), "what each element's sum takes from memory: {own:?}");
    }

    #[test]
    fn turns_without_the_access_are_not_the_accesss() {
        let executed = |each: f64| {
            let code = of_index(&[
                ("IADD3 R5, R5, UR5, RZ", 32.0), // 0x120
                ("LDC.64 R2, c[0x0][0x210]", 32.0),
                ("IMAD.WIDE R2, R5, 0x4, R2", each),
                ("LDG.E R6, desc[UR4][R2.64]", each),
                ("FADD R6, R6, 1", 32.0),
                ("ISETP.LT.AND P0, PT, R5, c[0x0][0x170], PT", 32.0),
                ("@P0 BRA 0x120", 32.0),
            ]);
            shared(&code)
        };
        assert!(executed(32.0).contains(&3) && !executed(2.0).contains(&3), "once in 16 turns");
    }

    #[test]
    fn what_a_function_works_out_is_not_followed() {
        let call = of_index(&[("CALL.REL.NOINC 0x180", 10.0)]);
        assert_eq!(shared(&call), Vec::<usize>::new());
    }
}
