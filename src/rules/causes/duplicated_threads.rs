//! Threads that do what others do.

use std::collections::BTreeSet;

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::MOST_THREADS;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::thread_bits::bits_of_work;
use crate::sass::{Family, Space};
use crate::text::{count, percent};

const BLOCK: &str = "launch__block_size";

/// The rule.
pub const RULE: Rule = Rule {
    name: "duplicated-threads",
    kind: Kind::Cause,
    summary: "several threads of a block do the same work, and one of them stores the result",
    explanation: "\
Where a block has more threads than what it works on has elements, a compiler that lays elements out over threads (Triton's) \
lets the remaining threads repeat the work of the first ones: they load the same data, compute the same values, and only \
one of each set stores. That costs issue slots, look-ups, and places on the SM for nothing. The rule looks for a thread index \
that is cut down to fewer bits than the block has threads, while the other bits only decide who stores. With fewer threads per \
block, each of them does its work once.",
    examples: &[Example {
        fault: "\
// 256 threads per block, 128 elements
int e = threadIdx.x & 127;
float y = f(x[blockIdx.x * 128 + e]);
if (threadIdx.x < 128) out[blockIdx.x * 128 + e] = y;",
        repair: "\
// 128 threads per block, or 64 with two elements each
float y = f(x[blockIdx.x * 128 + threadIdx.x]);
out[blockIdx.x * 128 + threadIdx.x] = y;",
        note: "\
Fewer threads still, with several elements each, also make accesses wider.",
    }],
    section: "LaunchStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "constant: threads of a block, at most",
            value: MOST_THREADS,
            unit: "thread",
            source: "definition: of every CUDA device so far",
        },
    ],
    needs: &[BLOCK, ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &["lg-throttle", "mio-throttle", "math-pipe-throttle", "issue-slots-underused"],
    in_triton: "\
the block has fewer elements than num_warps has threads: pass a smaller num_warps, or let a program take a larger BLOCK.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let bits = bits_of_work(&listing)?;
    let threads = launch.need(BLOCK);
    // No device launches more; a damaged profile may say so.
    if !(1.0..=MOST_THREADS).contains(&threads) {
        return None;
    }
    let apart: BTreeSet<u32> = (0..threads as u32).map(|thread| thread & bits).collect();
    let needed = apart.len() as f64;
    let copies = threads / needed;
    if copies <= 1.0 {
        return None;
    }
    let stores = |family| matches!(family, Family::Store(Space::Global | Space::Generic));
    for (at, entry) in listing.entries() {
        if listing.executed(at) > 0.0 && !stores(entry.family) {
            removal.remove(at, 1.0 - 1.0 / copies);
        }
    }
    let effect = removal.effect(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let is_store = |at: usize| stores(listing.sass.entries[at].family);
    let weight = |at: usize| if is_store(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "stores");
    let at = place(&locations, "its stores");
    Some(Draft {
        message: format!(
            "The {} threads of a block have only {} different indices: {} of them repeat what others load and compute, and \
             drop it before the stores at {at}.",
            count(threads),
            count(needed),
            percent(1.0 - needed / threads),
        ),
        evidence: vec![
            Evidence::new(BLOCK, threads, "thread"),
            Evidence::new("threads that do the same work", copies, "thread"),
        ],
        hint: format!(
            "Launch blocks of {} threads, or give a block so many elements that each thread has one of its own.",
            count(needed),
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, sass};
    use crate::term::Term;

    #[test]
    fn a_block_of_twice_as_many_threads_as_indices_does_all_twice() {
        let code = [
            ("S2R R14, SR_TID.X", 100.0),
            ("LOP3.LUT R0, R14, 0x7f, RZ, 0xc0, !PT", 100.0),
            ("IMAD.WIDE R2, R0, 0x4, R4", 100.0),
            ("STG.E desc[UR4][R2.64], R5", 100.0),
            ("EXIT", 100.0),
        ];
        let launch = sass(&[(BLOCK, 256.0), (ISSUE_BUSY, 90.0)], &code);
        let draft = assert_sides(&RULE, &launch, &[&[(BLOCK, 128.0)]]);
        // Half of all but the store.
        assert!((draft.effect.share_of(Term::Issue) - 0.5 * 4.0 / 5.0).abs() < 1e-12);
        assert!(draft.hint.contains("blocks of 128 threads"), "{}", draft.hint);
        // Of 192 threads, the last 64 do what the first 64 do.
        let launch = sass(&[(BLOCK, 192.0), (ISSUE_BUSY, 90.0)], &code);
        let draft = assert_sides(&RULE, &launch, &[]);
        assert!(draft.message.contains("192 threads") && draft.message.contains("128 different"));
    }
}
