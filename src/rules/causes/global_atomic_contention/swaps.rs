//! Loops of compare-and-swap that do what the hardware has an atomic for.

use crate::evidence::removal::Removal;
use crate::evidence::{ModeledLaunch, atomics};
use crate::export::SourceCounters;
use crate::model::Effect;
use crate::sass::questions::swap::{Replaceable, replaceable};

pub(super) const L1_WAVEFRONTS: &str = "l1tex__data_pipe_lsu_wavefronts.sum";

/// The compare-and-swaps that the hardware has atomics for, the most frequent first, where they make most of the launch's atomics on
/// global memory; none where they don't.
pub(super) fn swaps(launch: &ModeledLaunch) -> Vec<Replaceable> {
    let Some(listing) = launch.profile.listing() else { return Vec::new() };
    let is_global = |at: &usize| atomics::is_global(listing.row(*at));
    let places = listing.entries().map(|(at, _)| at).filter(is_global);
    let all: f64 = places.map(|at| listing.executed(at)).sum();
    let mut found = replaceable(&listing);
    let theirs: f64 = found.iter().map(|swap| listing.executed(swap.at)).sum();
    if theirs < MOST_OF_THEM * all {
        found.clear();
    }
    found
}

/// The share of a launch's atomics that compare-and-swaps must make for the finding to be about them.
pub(super) const MOST_OF_THEM: f64 = 0.5;

/// What to write in place of a loop of compare-and-swap.
pub(super) fn by_hardware(swap: &Replaceable, line: Option<u32>) -> String {
    let Replaceable { function, tries, of_halves, .. } = swap;
    let at = line.map_or_else(
        || "in place of the compare-and-swap".to_owned(),
        |line| format!("at line {line}"),
    );
    let often = format!("in {tries:.1} attempts of a warp on average");
    if *of_halves {
        return format!(
            "Add pairs of halves {at}: atomicAdd of a __half2 (or __nv_bfloat162) at the aligned word, with zero beside the \
             value, is one instruction of the hardware. Now a loop of compare-and-swap adds each half to its word, {often}, and lanes \
             that change either half of a word make each other's attempts fail."
        );
    }
    let cast = if *function == "atomicAdd" {
        " Cast signed 64-bit numbers to unsigned long long for it."
    } else {
        ""
    };
    format!(
        "Use {function} {at}: it does in one instruction what the loop around the compare-and-swap does {often}.{cast}"
    )
}

/// The effect of the loops without their attempts, of which so much goes, and without the waiting for what the first ones expect.
pub(super) fn without_loops(
    launch: &ModeledLaunch,
    swaps: &[Replaceable],
    goes: f64,
) -> Option<Effect> {
    let mut removal = Removal::new(launch).filter(|_| !swaps.is_empty())?;
    for swap in swaps {
        swap.inside.iter().for_each(|&at| removal.remove(at, goes));
        swap.expected.iter().for_each(|&at| removal.remove(at, 1.0));
    }
    Some(removal.effect(launch))
}

/// What stays of the work of compare-and-swaps, 0 to 1: one attempt, in which the lanes of a sector are served at once, while each
/// lane's compare-and-swap counts as a sector of its own.
pub(super) fn kept(launch: &ModeledLaunch, swap: &Replaceable) -> f64 {
    let counters = launch.profile.listing().map(|listing| &listing.row(swap.at).counters);
    let lanes_of = |counters: &SourceCounters| {
        let sectors = counters.l2_sectors_global_ideal;
        (sectors > 0.0).then(|| (counters.thread_inst_executed / sectors).max(1.0))
    };
    1.0 / (swap.tries * counters.and_then(lanes_of).unwrap_or(1.0))
}

/// What no other access explains of the wavefronts in L1's data pipe, 0 to 1: each lane's compare-and-swap passes it alone, and its
/// result once more.
pub(super) fn share_of_l1(launch: &ModeledLaunch, swaps: &[Replaceable]) -> f64 {
    let Some((listing, all)) =
        launch.profile.listing().zip(launch.get(L1_WAVEFRONTS).filter(|&all| all > 0.0))
    else {
        return 0.0;
    };
    let is_other = |at: usize| swaps.iter().all(|swap| swap.at != at);
    let others = listing.entries().map(|(at, _)| at).filter(|&at| is_other(at));
    (1.0 - others.map(|at| listing.wavefronts(at)).sum::<f64>() / all).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::{ATOMS, BLOCK, HOT, REDS, RULE};
    use super::*;
    use crate::rules::testing::{check, sass};
    use crate::term::Term;

    #[test]
    fn attempts_of_a_compare_and_swap_go_where_the_hardware_adds() {
        let draft = |tries: f64| {
            let launch = sass(
                &[(ATOMS, 100.0), (REDS, 0.0), (HOT, 30.0), (BLOCK, 128.0), (L1_WAVEFRONTS, 400.0)],
                &[
                    ("LDG.E R4, desc[UR4][R2.64]", 10.0),
                    ("HADD2 R6, R4, R9.H0_H0", 10.0 * tries),
                    ("PRMT R5, R4, R8, R6", 10.0 * tries),
                    ("ATOM.E.CAS.STRONG.GPU PT, R7, [R2], R4, R5", 10.0 * tries),
                    ("MOV R4, R7", 10.0 * tries),
                    ("@P0 BRA 0x110", 10.0 * tries),
                    ("EXIT", 10.0),
                ],
            );
            check(&RULE, &launch).unwrap()
        };
        let (many, few) = (draft(2.0), draft(1.0));
        assert!(many.hint.starts_with("Add pairs of halves"), "{}", many.hint);
        assert!(many.hint.contains("2.0 attempts"), "{}", many.hint);
        assert!((many.effect.share_of(Term::Atomic) - 0.5).abs() < 1e-12);
        // All that L1 moves but what the load asks for.
        let of_l1 = many.effect.share_of(Term::L1Data);
        assert!(of_l1 > 0.4 && of_l1 <= 0.5, "{of_l1}");
        assert!(few.effect.share_of(Term::Atomic).abs() < 1e-12, "as many, but nobody waits");
    }
}
