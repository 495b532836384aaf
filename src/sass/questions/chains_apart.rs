//! Chains of dependent arithmetic of which several could run side by side in one thread.
//!
//! A sum in one accumulator is such a chain, since sums of parts can be added up at the end. So is a recurrence that is gone
//! through once for each element of an outer loop, as elements can be taken side by side (all that a step of it does counts),
//! and a long row of additions or fused multiplications, as Horner's rule makes: even and odd terms can be summed apart. What
//! else a turn works out for itself is none: two turns at once need the registers of two, and leave room for half of the warps that would hide its latency.

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::cycles::cycles;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::independence::turns_need_one_another;
use crate::sass::thresholds::{FEW_TURNS, LONG_ROW};

/// The instructions on such chains.
#[must_use]
pub fn chains_apart(listing: &Listing) -> Marks {
    let sass = listing.sass;
    let flow = &sass.flow;
    let apart: Vec<bool> = flow
        .loops
        .iter()
        .map(|each| {
            turns(listing, each) >= FEW_TURNS.value && !turns_need_one_another(listing, each)
        })
        .collect();
    let around_are_apart = |at: usize| {
        flow.loops.iter().zip(&apart).any(|(each, apart)| *apart && flow.is_in(each, at))
    };
    let own_is_apart = |at: usize| flow.innermost(at).is_some_and(|own| apart[own]);
    let mut reaching = Reaching::new(sass);
    let mut chains = long_rows(listing, &mut reaching);
    let executed = |at: &usize| listing.executed(*at) > 0.0;
    let sums = (0..sass.entries.len()).filter(executed).filter(|&at| own_is_apart(at));
    let turning = cycles(sass.entries.len(), sums, |at, open| {
        let of_load = matches!(sass.entries[at].family, Family::Load(_));
        for each in sass.uses(at) {
            if each.role == Role::Address || each.role == Role::Data && !of_load {
                open.extend(reaching.definitions(at, *each));
            }
        }
    });
    let in_steps = |at: usize| around_are_apart(at) && !own_is_apart(at);
    for at in (0..sass.entries.len()).filter(executed) {
        if turning[at] && own_is_apart(at) || in_steps(at) {
            chains.insert(at);
        }
    }
    chains
}

/// The instructions in rows of at least [`LONG_ROW`] additions or fused multiplications, each of what the one before made.
fn long_rows(listing: &Listing, reaching: &mut Reaching) -> Marks {
    let sass = listing.sass;
    let flow = &sass.flow;
    let adds = |at: usize| {
        let family = sass.entries[at].family;
        listing.executed(at) > 0.0
            && (matches!(family, Family::Fp32Fma | Family::Fp32Add | Family::HalfPacked)
                || family == Family::Fp64 && !listing.text(at).contains("MUL"))
    };
    // Of each the one before it in the longest row that it ends, and how many the row has.
    let mut rows: Vec<(Option<usize>, usize)> = vec![(None, 0); sass.entries.len()];
    for at in (0..sass.entries.len()).filter(|&at| adds(at)) {
        let mut before = None;
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            for made in reaching.definitions(at, *each).map(|made| made as usize) {
                let continues = made < at && adds(made) && flow.block_of[made] == flow.block_of[at];
                if continues && before.is_none_or(|before: usize| rows[before].1 < rows[made].1) {
                    before = Some(made);
                }
            }
        }
        rows[at] = (before, 1 + before.map_or(0, |before| rows[before].1));
    }
    let mut found = Marks::new(rows.len());
    for end in (0..rows.len()).rev().filter(|&at| rows[at].1 >= LONG_ROW.value as usize) {
        let mut next = Some(end);
        while let Some(at) = next.filter(|&at| found.insert(at)) {
            next = rows[at].0;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn found(body: &[(&str, f64)]) -> Vec<usize> {
        chains_apart(&launch(body).listing().unwrap()).iter().collect()
    }

    #[test]
    fn a_sum_is_a_chain_and_what_a_turn_works_out_for_it_is_none() {
        let sum = [
            ("MOV R0, RZ", 1.0),
            ("LDG.E R1, desc[UR8][R6.64]", 64.0),
            ("FMUL R2, R1, R1", 64.0),
            ("FMUL R3, R2, R1", 64.0),
            ("FADD R0, R0, R3", 64.0),
            ("IADD3 R6, P1, R6, 0x4, RZ", 64.0),
            ("ISETP.NE.AND P0, PT, R6, R9, PT", 64.0),
            ("@P0 BRA 0x10", 64.0),
            ("STG.E desc[UR8][R4.64], R0", 1.0),
            ("EXIT", 1.0),
        ];
        assert_eq!(found(&sum), [4, 5]);
    }

    #[test]
    fn a_long_row_of_additions_is_a_chain_and_the_polynomial_of_a_function_is_none() {
        let row = |terms: usize| {
            let mut body = vec![("LDG.E R0, desc[UR8][R6.64]", 1.0)];
            body.extend(vec![("FFMA R2, R2, R0, R5", 1.0); terms]);
            body.extend([("STG.E desc[UR8][R6.64], R2", 1.0), ("EXIT", 1.0)]);
            found(&body).len()
        };
        assert_eq!([row(15), row(16)], [0, 16]);
    }

    #[test]
    fn a_recurrence_runs_beside_others_only_where_a_loop_around_it_has_more() {
        let steps = |outer: f64| {
            [
                ("MOV R8, RZ", 1.0),
                ("LDG.E R0, desc[UR8][R6.64]", outer),
                ("MOV R1, RZ", outer),
                ("FMUL R2, R0, R0", 64.0 * outer),
                ("FFMA R0, R2, R0, R5", 64.0 * outer),
                ("IADD3 R1, R1, 0x1, RZ", 64.0 * outer),
                ("ISETP.NE.AND P0, PT, R1, 0x40, PT", 64.0 * outer),
                ("@P0 BRA 0x30", 64.0 * outer),
                ("STG.E desc[UR8][R6.64], R0", outer),
                ("IADD3 R6, R6, 0x4, RZ", outer),
                ("IADD3 R8, R8, 0x1, RZ", outer),
                ("ISETP.NE.AND P1, PT, R8, R9, PT", outer),
                ("@P1 BRA 0x10", outer),
                ("EXIT", 1.0),
            ]
        };
        let steps_of = |outer: f64| {
            found(&steps(outer)).into_iter().filter(|at| (3..8).contains(at)).collect::<Vec<_>>()
        };
        assert_eq!(steps_of(1.0), [] as [usize; 0]);
        assert_eq!(steps_of(16.0), [3, 4, 5, 6, 7]);
    }
}
