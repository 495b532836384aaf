//! Loops whose counter moves on by the size of the grid: any number of blocks does the work.

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::opcode::Family;
use crate::sass::thresholds::ADDRESS_STEPS;

/// Where `gridDim` stands among the constants: up to compute capability 9.0, and from 10.0 on.
const GRID: [&str; 6] = [
    "c[0x0][0xc]",
    "c[0x0][0x10]",
    "c[0x0][0x14]",
    "c[0x0][0x370]",
    "c[0x0][0x374]",
    "c[0x0][0x378]",
];

/// True where something that a turn adds to itself is moved on by a number that is made of the grid's size.
pub(super) fn steps_by_grid(listing: &Listing, reaching: &mut Reaching, of: &Loop) -> bool {
    let sass = listing.sass;
    let mut is_asked_for = None;
    sass.flow.places(of).filter(|&at| adds(listing, at)).any(|at| {
        let mut is_carried = false;
        let mut others = Vec::new();
        for each in sass.uses(at) {
            let before = others.len();
            others.extend(reaching.definitions(at, *each).map(|maker| maker as usize));
            if others[before..].contains(&at) {
                is_carried = true;
                others.truncate(before);
            }
        }
        // Most kernels never ask for it.
        let mut may_be = || {
            let any = || (0..sass.entries.len()).any(|at| is_grid(listing.text(at)));
            *is_asked_for.get_or_insert_with(any)
        };
        is_carried
            && may_be()
            && (is_grid(listing.text(at)) || is_of_grid(listing, reaching, others))
    })
}

fn adds(listing: &Listing, at: usize) -> bool {
    let family = listing.sass.entries[at].family;
    matches!(family, Family::Integer | Family::IntegerMultiply | Family::Uniform)
        && listing.executed(at) > 0.0
}

fn is_grid(text: &str) -> bool {
    text.contains("c[0x0]") && GRID.iter().any(|constant| text.contains(constant))
}

/// True where the grid's size takes part in what these make, a few steps back.
fn is_of_grid(listing: &Listing, reaching: &mut Reaching, mut makers: Vec<usize>) -> bool {
    // Each is looked at on the shortest way to it: on a longer one fewer steps are left.
    let mut seen = Marks::new(listing.sass.entries.len());
    for _ in 0..ADDRESS_STEPS.whole() {
        let mut before = Vec::new();
        for at in makers {
            if is_grid(listing.text(at)) {
                return true;
            }
            if listing.sass.entries[at].family.is_memory() {
                continue;
            }
            for each in listing.sass.uses(at) {
                let made_by = reaching.definitions(at, *each).map(|maker| maker as usize);
                before.extend(made_by.filter(|&maker| seen.insert(maker)));
            }
        }
        makers = before;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(stride: &str, step: &str) -> bool {
        let launch = launch(&[
            (stride, 8.0),
            ("IMAD R22, R22, R7, RZ", 8.0),
            ("LDG.E R4, desc[UR4][R12.64]", 80.0), // 0x120
            (step, 80.0),
            ("@P0 BRA 0x120", 80.0),
            ("EXIT", 8.0),
        ]);
        let listing = launch.listing().unwrap();
        steps_by_grid(&listing, &mut Reaching::new(listing.sass), &listing.sass.flow.loops[0])
    }

    #[test]
    fn a_counter_that_moves_by_blocks_times_threads_is_one_and_others_are_not() {
        let step = "IADD3 R5, R22, R5, RZ";
        assert!(of("LDC R22, c[0x0][0xc]", step));
        assert!(of("LDC R22, c[0x0][0x370]", step));
        assert!(of("MOV R22, RZ", "IADD3 R5, R5, c[0x0][0x10], RZ"));
        assert!(!of("LDC R22, c[0x0][0x210]", step), "a parameter");
        assert!(!of("LDC R22, c[0x0][0xc]", "IADD3 R5, R5, 0x1, RZ"), "one by one");
        assert!(!of("LDC R22, c[0x0][0xc]", "IADD3 R6, R22, R5, RZ"), "an index beside it");
    }
}
