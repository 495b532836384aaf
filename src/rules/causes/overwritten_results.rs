//! What one kernel stores, and a later one overwrites.

use crate::evidence::modeled_launch::place;
use crate::evidence::passed_on::{FROM_L1, READ, Traffic, WRITTEN, effect, passed, sectors};
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::{SECTOR_BYTES, first_parameter};
use crate::kernel_name::short;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::text::{bytes, percent};

/// How much of it must be overwritten.
const LEAST: Threshold = Threshold {
    what: "share of what a kernel stores that a later one must overwrite, at least",
    value: 0.5,
    unit: "share",
    source: "derivation: where less is overwritten, the later kernel would have more to fill than the fill is worth",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "overwritten-results",
    kind: Kind::Cause,
    summary: "the kernel stores what a later one overwrites, before anything loads it",
    explanation: "\
An array is often filled, with zeros for padding or because an allocation does so by default, and the next kernel then stores to most of it. \
What the fill stored there nobody has read. A survey of the program tells which pointers each launch was given; the instructions tell what \
goes through these pointers. Counted are stores to memory to which the next launch that is given it stores as well, and does not load from.",
    examples: &[Example {
        fault: "\
zero<<<grid, 256>>>(padded, rows * width);
copy<<<grid, 256>>>(padded, packed, starts, rows, width);",
        repair: "\
// in copy, for all elements of the padded row:
padded[row * width + i] = i < length ? packed[start + i] : 0;",
        note: "\
The kernel that knows what belongs there stores the padding, too, and each element is stored once.",
    }],
    section: "MemoryWorkloadAnalysis",
    thresholds: &[MATTERS_LIMIT, LEAST],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[Reads::always(&[FROM_L1, READ, WRITTEN])],
    source_page: SourcePage::Needed,
    unrecorded: Some(
        "only the survey of a program tells which memory its launches share, and a ladder's steps are not surveyed; seen on a \
         program of other people",
    ),
    explains: &["long-scoreboard-stalls", "lg-throttle", "mio-throttle", "issue-slots-underused"],
    in_triton: "\
allocate with torch.empty, not torch.zeros, and store the padding with the values: tl.where(mask, value, 0), and a mask that holds for the \
whole row.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let with = launch.profile.neighbours.overwritten.as_ref()?;
    let listing = launch.profile.listing()?;
    let asked = launch.get(FROM_L1).filter(|&asked| asked > 0.0)?;
    let traffic = Traffic::new(&listing, asked);
    let begin = first_parameter(launch.profile.row.compute_capability?);
    let stored = passed(&listing, &traffic, with, begin, true)?;
    let share = (with.bytes() / (SECTOR_BYTES * stored.sectors)).min(1.0);
    if share < LEAST.value {
        return None;
    }
    let stored = stored.in_some(share);
    let effect = effect(launch, &traffic, None, Some(&stored), None)?;
    if !gains(launch, &effect) {
        return None;
    }
    let weight =
        |at: usize| if stored.accesses.contains(&at) { sectors(&listing, at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "sectors of what is overwritten");
    let kernel = short(&with.kernel, 40);
    Some(Draft {
        message: format!(
            "It stores {} that {kernel} overwrites before anything loads it: {} of what this kernel stores there.",
            bytes(with.bytes()),
            percent(share),
        ),
        evidence: vec![Evidence::new("sectors that are overwritten", stored.sectors, "sector")],
        hint: format!(
            "Leave out what {kernel} overwrites at {}{}, and allocate without filling (torch.empty, not torch.zeros).",
            place(&locations, "its stores"),
            if share < 1.0 {
                format!(": let {kernel} store the remaining {}, too", percent(1.0 - share))
            } else {
                String::new()
            },
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::passed_on::testing::made;
    use crate::handed_on::{HandedOn, Neighbours, Pointers};
    use crate::rules::testing::check;
    use crate::term::Term;

    /// What is said where so many of the 32 sectors that it stores are overwritten.
    fn of(sectors: u64) -> Option<Draft> {
        let mut launch = made();
        // A fill loads nothing.
        launch.instructions[3].counters.l2_sectors_global = 0.0;
        let pointers = vec![Pointers { own: 8, other: 0, bytes: 32 * sectors }];
        let overwritten = Some(HandedOn { kernel: "pad(float*)".to_owned(), pointers });
        launch.neighbours = Neighbours { overwritten, ..Neighbours::default() };
        check(&RULE, &launch)
    }

    #[test]
    fn stores_that_are_overwritten_go() {
        let draft = of(24).unwrap();
        assert!(
            (draft.effect.share_of(Term::L2) - 0.25).abs() < 1e-12,
            "24 of 96 sectors asked for"
        );
        assert!(
            draft.message.starts_with("It stores 768 B that pad overwrites"),
            "{}",
            draft.message
        );
        assert!(draft.hint.contains("let pad store the remaining 25%, too"), "{}", draft.hint);
        assert!(!of(32).unwrap().hint.contains("remaining"));
        assert_eq!(of(15), None, "less than half");
    }
}
