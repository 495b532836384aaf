//! Descriptors of tensors that are written anew for each tile.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::metric::stall::StallReason;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::flow::slice::addresses_only_of;
use crate::sass::questions::descriptors::{Descriptor, in_loops};
use crate::sass::{Listing, Marks};
use crate::text::{count, count_of, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";

/// The rule.
pub const RULE: Rule = Rule {
    name: "descriptors-in-loop",
    kind: Kind::Cause,
    summary: "a loop writes the descriptors of its copies anew for each tile",
    explanation: "\
The unit that copies tiles between global and shared memory (TMA) is told by a descriptor of 128 bytes where a tensor lies and how \
large it is. To write one on the device, a thread puts it together in shared memory field by field, a warp copies it to global memory, \
waits until it has arrived there, and invalidates what the unit keeps of it; the block waits at a barrier meanwhile, and no copy \
can begin. In a loop over tiles that is repeated for each tile, while only the tile's place changes, which a copy takes as \
coordinates. The rule looks for such invalidations in loops. The estimate takes the writes, and the waits for them, away except for \
the first iteration.",
    examples: &[Example {
        fault: "\
for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    // a descriptor for the batch that the tile is in
    set_address(descriptor, a + batch_of(tile) * m * k);
    publish(descriptor);                  // copy, fence, barrier
    load_tile(descriptor, row_of(tile), 0);",
        repair: "\
// one descriptor of three dimensions, made by the host:
// cuTensorMapEncodeTiled(&descriptor, …, 3, a, {k, m, batches}, …)
for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
    load_tile(descriptor, batch_of(tile), row_of(tile), 0);",
        note: "\
Matrices that lie anywhere in memory can have a descriptor each: make all of them on the host, or in a kernel before this one, and \
let the loop choose one.",
    }],
    section: "WarpStateStats",
    thresholds: &[MATTERS_LIMIT],
    needs: &[EXECUTED, ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "barrier-stalls",
        "long-scoreboard-stalls",
        "short-scoreboard-stalls",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
call tl.make_tensor_descriptor before the loop, over all batches ([batches * M, K], where M is a multiple of the block), and \
add the batch's rows to the coordinates; or pass a TensorDescriptor from the host.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let descriptors = in_loops(&listing);
    let main = descriptors.iter().max_by(|a, b| a.turns.total_cmp(&b.turns))?;
    let mut waits = 0.0;
    for each in &descriptors {
        let gone = 1.0 - 1.0 / each.turns;
        let writes =
            Marks::of(listing.sass.entries.len(), |at| each.writes.binary_search(&at).is_ok());
        each.writes.iter().for_each(|&at| removal.remove(at, gone));
        addresses_only_of(&listing, &writes).iter().for_each(|at| removal.remove(at, gone));
        waits += gone * waits_at_barrier(&listing, each);
    }
    let mut effect = removal.effect(launch);
    let all = listing.sass.counts.stall_samples(StallReason::Barrier);
    if all > 0.0 && waits > 0.0 {
        effect.stalls.push((StallReason::Barrier, (waits / all).min(1.0)));
    }
    if !gains(launch, &effect) {
        return None;
    }
    let is_of = |at: usize| descriptors.iter().any(|each| each.invalidates == at);
    let weight = |at: usize| if is_of(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "descriptors that are written");
    let executed: f64 = descriptors.iter().map(|each| listing.executed(each.invalidates)).sum();
    let going = removal.instructions();
    let at = place(&locations, "the descriptors");
    let at_barriers = if all > 0.0 {
        format!(" and {} of the waits at barriers", percent(waits / all))
    } else {
        String::new()
    };
    Some(Draft {
        message: format!(
            "Loops of up to {} write {} anew in each of them ({} warp-wide writes in all, most at {at}): {} of the executed \
             instructions{at_barriers} are for that. No copy can begin before its descriptor has arrived in memory.",
            count_of(main.turns.round(), "iteration"),
            count_of(descriptors.len() as f64, "descriptor"),
            count(executed),
            percent(going / launch.need(EXECUTED)),
        ),
        evidence: vec![
            Evidence::new("descriptors that are written in loops", executed, "descriptor"),
            Evidence::new("executed instructions for them", going, "inst"),
        ],
        hint: format!(
            "Make each descriptor at {at} once: on the host (cuTensorMapEncodeTiled), or before the loop. Give the tensor a further \
             dimension, or its rows one after another, for what changes with each iteration, and say in the copy's coordinates \
             which part is meant."
        ),
        locations,
        effect,
    })
}

/// Samples of warps that wait at the barrier behind a descriptor.
fn waits_at_barrier(listing: &Listing, descriptor: &Descriptor) -> f64 {
    let waits = descriptor.barrier.map(|barrier| listing.waits_of_barrier(barrier));
    waits.into_iter().flatten().map(|at| listing.samples(at, StallReason::Barrier)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::threshold::{ISSUE, LATENCY};
    use crate::rules::testing::{check, sass};
    use crate::term::Term;

    fn of(cache: &'static str) -> Option<Draft> {
        let code = [
            ("S2R R0, SR_TID.X", 10.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 100.0), // 0x110
            ("STS.64 [UR8], R30", 100.0),
            ("LDS R31, [R30+UR8]", 100.0),
            ("ATOMG.E.EXCH.STRONG.GPU PT, RZ, [R28], R31", 100.0),
            (cache, 100.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 100.0),
            ("FADD R4, R4, R5", 100.0),
            ("@P0 BRA 0x110", 100.0),
            ("EXIT", 10.0),
        ];
        let barrier = StallReason::Barrier.ratio_metric();
        let metrics = [
            (EXECUTED, 820.0),
            (ISSUE_BUSY, 60.0),
            (barrier.as_str(), 40.0),
            (LATENCY, 100.0),
            (ISSUE, 60.0),
        ];
        let mut launch = sass(&metrics, &code);
        launch.instructions[1].counters.stall_samples[StallReason::Barrier as usize] = 10.0;
        launch.instructions[7].counters.stall_samples[StallReason::Barrier as usize] = 30.0;
        check(&RULE, &launch)
    }

    #[test]
    fn writes_go_except_for_the_first_and_so_do_waits_for_them() {
        let draft = of("UTMACCTL.IV [UR12]").unwrap();
        assert!(
            draft.message.contains("Loops of up to 10 iterations write 1 descriptor anew"),
            "{}",
            draft.message
        );
        let barrier = draft.effect.share_of_stall(StallReason::Barrier);
        assert!((barrier - 0.9 * 30.0 / 40.0).abs() < 1e-12, "{barrier}");
        let issued = draft.effect.share_of(Term::Issue);
        assert!((issued - 0.9 * 500.0 / 820.0).abs() < 1e-12, "{issued}");
        assert!(of("UTMACCTL.PF [UR12]").is_none(), "fetched ahead");
    }
}
