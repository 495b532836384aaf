//! Statements in a row that need nothing of one another: straight-line code that blocks could divide.

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::thresholds::{EVERY_TURN, FEW_TURNS, MANY_STATEMENTS, STATEMENT_STEPS};

/// Statements that could be divided among blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pieces {
    /// How many times shorter a warp's code could become: the statements, or as often as what the longest
    /// of them is worked out from fits the code, where that is less.
    pub most: f64,
    /// The first one's store.
    pub first: usize,
}

/// The stores of a kernel, each with what its value, address and guard are worked out from, as pieces of
/// its code; `None` where they are few or one of them takes most of it. What several need each of them
/// works out for itself. Memory is taken to hold nothing that one leaves for another.
pub(super) fn pieces(listing: &Listing, reaching: &mut Reaching) -> Option<Pieces> {
    let sass = listing.sass;
    let comes = listing.executed(0);
    let is_store = |at: &usize| {
        sass.entries[*at].family == Family::Store(Space::Global)
            && listing.executed(*at) >= EVERY_TURN.value * comes
    };
    let stores: Vec<usize> = (0..sass.entries.len()).filter(is_store).collect();
    let count = stores.len() as f64;
    if comes <= 0.0 || count < MANY_STATEMENTS.value {
        return None;
    }
    let total = listing.total();
    let mut left = STATEMENT_STEPS.value * sass.entries.len() as f64;
    let mut longest = 0.0_f64;
    for &store in &stores {
        let mut seen = Marks::new(sass.entries.len());
        let mut open = vec![store];
        let mut takes = 0.0;
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            left -= 1.0;
            takes += listing.executed(at);
            if left < 0.0 || takes * FEW_TURNS.value > total {
                return None;
            }
            for each in sass.uses(at) {
                open.extend(reaching.definitions(at, *each).map(|at| at as usize));
            }
        }
        longest = longest.max(takes);
    }
    Some(Pieces { most: (total / longest).min(count), first: stores[0] })
}

#[cfg(test)]
mod tests {
    use crate::sass::code::listing::tests::launch;
    use crate::sass::questions::independence::{Shape, Shareable, What, shareable};

    /// What could be shared out of so many statements, each of which is worked out from what `chained` says.
    fn of(count: usize, chained: bool) -> Shareable {
        let mut code = vec!["MOV R0, 0x1".to_owned()];
        for at in 0..count {
            code.push(format!("LDG.E R4, desc[UR4][R2.64+{:#x}]", 4 * at));
            let from = if chained { 0 } else { 5 };
            code.push(format!("FMUL R0, R{from}, R4"));
            code.push(format!("STG.E desc[UR4][R6.64+{:#x}], R0", 4 * at));
        }
        code.push("EXIT".to_owned());
        let code: Vec<(&str, f64)> = code.iter().map(|text| (text.as_str(), 10.0)).collect();
        shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap()
    }

    #[test]
    fn statements_of_their_own_are_pieces() {
        let found = of(40, false);
        assert_eq!(found.what, What::Statements(3));
        // Of 1 + 40 x 3 + 1 instructions a statement takes 3; more than 40 there are not.
        assert!((found.turns - 40.0).abs() < 1e-12, "{}", found.turns);
        assert!((found.share - 1.0).abs() < 1e-12);
    }

    #[test]
    fn few_statements_and_those_that_need_one_another_are_none() {
        assert_eq!(of(31, false).what, What::Nothing);
        assert_eq!(of(40, true).what, What::Nothing, "the last one needs all others");
    }

    #[test]
    fn what_all_statements_need_each_works_out_anew() {
        let mut code = vec!["FADD R5, R5, R8".to_owned(); 20];
        for at in 0..40 {
            code.push(format!("LDG.E R4, desc[UR4][R2.64+{:#x}]", 4 * at));
            code.push("FMUL R0, R5, R4".to_owned());
            code.push(format!("STG.E desc[UR4][R6.64+{:#x}], R0", 4 * at));
        }
        code.push("EXIT".to_owned());
        let of = |rare: usize| {
            // So many of the stores run once where the others run ten times.
            let runs = |at: usize| if at >= 20 && at < 20 + 3 * rare { 1.0 } else { 10.0 };
            let code: Vec<(&str, f64)> =
                code.iter().enumerate().map(|(at, text)| (text.as_str(), runs(at))).collect();
            shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap()
        };
        // A statement takes 23 of 20 + 40 x 3 + 1 instructions.
        assert!((of(0).turns - 141.0 / 23.0).abs() < 1e-12, "{}", of(0).turns);
        assert_ne!(of(8).what, What::Nothing);
        assert_eq!(of(9).what, What::Nothing, "31 statements that all warps come to");
    }

    #[test]
    fn what_statements_need_is_followed_for_64_steps_per_instruction() {
        // A chain of n - 1 additions that n statements need: each takes n steps, and the code has 2n
        // instructions, so that n² steps are 64 per instruction where n is 128.
        let found = |count: usize| {
            let mut code = vec!["FADD R5, R5, R8".to_owned(); count - 1];
            code.extend((0..count).map(|at| format!("STG.E desc[UR4][R6.64+{:#x}], R5", 4 * at)));
            code.push("EXIT".to_owned());
            let code: Vec<(&str, f64)> = code.iter().map(|text| (text.as_str(), 10.0)).collect();
            shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap().what
        };
        assert_eq!((found(128), found(129)), (What::Statements(127), What::Nothing));
    }
}
