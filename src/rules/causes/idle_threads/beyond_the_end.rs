//! The finding where a tile is longer than what it holds.

use crate::evidence::modeled_launch::{BLOCK, place};
use crate::evidence::removal::{Removal, gains, locations};
use crate::evidence::shared_pipe::SharedPipe;
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::hardware::WARP_LANES;
use crate::sass::questions::empty_turns::in_empty_turns;
use crate::sass::questions::sharing::beyond_the_end::{Shorter, beyond_the_end};
use crate::term::Term;
use crate::text::{count, percent};

/// Elements that lie beyond the end of a row in every block: loads are switched off for them, and everything else is done with a
/// constant in their place.
pub(super) fn elements_beyond_the_end(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let threads = launch.get(BLOCK).unwrap_or(WARP_LANES);
    let found = beyond_the_end(&listing, threads, || in_empty_turns(&listing))?;
    for (at, &share) in found.wasted.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        removal.remove(at, share);
    }
    let mut effect = removal.effect(launch);
    effect.removed.extend(switched_off(launch));
    if !gains(launch, &effect) {
        return None;
    }
    let is_load = |at: usize| found.loads.binary_search(&at).is_ok();
    let weight = |at: usize| if is_load(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "loads with a bound");
    let at = place(&locations, "the loads with a bound");
    let of_all = removal.instructions() / removal.mix.total;
    Some(Draft {
        message: format!(
            "The bound at {at} switches off {} of the elements that a block has room for, {}, and {} of the executed instructions only \
             compute with what stands in for them.",
            percent(1.0 - found.filled),
            match found.shorter {
                None => "in all blocks alike".to_owned(),
                Some(tile) => format!(
                    "since blocks load their own bounds and fill {} of {} on average",
                    count(tile.filled),
                    count(tile.now),
                ),
            },
            percent(of_all),
        ),
        evidence: vec![
            Evidence::new("elements beyond the end", 100.0 * (1.0 - found.filled), "%"),
            Evidence::new("executed instructions for them", removal.instructions(), "inst"),
        ],
        hint: hint(&at, found.shorter),
        locations,
        effect,
    })
}

/// What to do about it at a place.
fn hint(at: &str, shorter: Option<Shorter>) -> String {
    match shorter {
        None => format!(
            "Make the tile at {at} no longer than what it holds, such as the next power of two of the row's length, with as many fewer \
             threads or elements per thread. Where the length is not known before the launch, compile the kernel for a few lengths, \
             or loop over a shorter tile."
        ),
        Some(tile) => format!(
            "Make the tile at {at} {} elements long, which holds an average row, and loop over it for the longer ones, with as many \
             fewer threads: a row that fits into a warp then needs no exchange between warps either. Where a few rows are much longer \
             than the others, give them to blocks of their own.",
            count(tile.then),
        ),
    }
}

/// What goes of L1's data pipe: an access that a bound switches off in all lanes of a warp still takes a wavefront there.
fn switched_off(launch: &ModeledLaunch) -> Option<(Term, f64)> {
    let pipe = SharedPipe::busy(launch)?;
    Some((Term::L1Data, pipe.share_of_pipe()? * pipe.idle_sweep()?.share))
}

#[cfg(test)]
mod tests {
    use super::super::{ACTIVE, AT_WORK, RULE, UNIFORM};
    use crate::rules::testing::{check, sass};
    use crate::term::Term;

    #[test]
    fn a_tile_longer_than_the_row_is_named_and_a_full_one_is_not() {
        let issue = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";
        let of = |on: f64| {
            let mut launch = sass(
                &[(ACTIVE, 32.0), (AT_WORK, 31.0), (UNIFORM, 100.0), (issue, 80.0)],
                &[
                    ("S2R R0, SR_TID.X", 100.0),
                    ("LDC R9, c[0x0][0x218]", 100.0),
                    ("ISETP.GE.AND P0, PT, R0, R9, PT", 100.0),
                    ("@!P0 LDG.E R4, desc[UR4][R2.64]", 100.0),
                    ("FMUL R5, R4, R4", 100.0),
                    ("FADD R6, R5, 1", 100.0),
                    ("MUFU.EX2 R7, R6", 100.0),
                    ("@!P0 STG.E desc[UR4][R8.64], R7", 100.0),
                ],
            );
            for (at, row) in launch.instructions.iter_mut().enumerate() {
                row.counters.thread_inst_executed = 3200.0;
                let is_guarded = [3, 7].contains(&at);
                row.counters.thread_inst_executed_pred_on =
                    if is_guarded { 100.0 * on } else { 3200.0 };
            }
            check(&RULE, &launch)
        };
        let draft = of(8.0).unwrap();
        assert!(draft.message.contains("switches off 75% of the elements"), "{}", draft.message);
        // So many threads do nothing at all.
        assert!((draft.effect.share_of(Term::Issue) - 0.75).abs() < 1e-12);
        assert!(of(31.0).is_none());
    }
}
