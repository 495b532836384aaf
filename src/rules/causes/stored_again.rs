//! Results that are stored after every step, although only the last value stays.

use crate::evidence::modeled_launch::place;
use crate::evidence::passed_on::{FROM_L1, Traffic, sectors};
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::metric::stall::StallReason;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::stored_again::stored_again;
use crate::term::Term;
use crate::text::{count_of, percent};

/// The rule.
pub const RULE: Rule = Rule {
    name: "stored-again",
    kind: Kind::Cause,
    summary: "a thread stores to one address step after step, and only the last value stays",
    explanation: "\
A result that is built up in an array, as by `out[i] += ...` in a loop that the compiler unrolls, is stored after each step. Each store goes to \
L2. Worse, the compiler must take it that a store may change whatever another pointer leads to: the loads of the next step stay behind it, so that \
steps wait for memory one after another, and what was loaded before is loaded again. Where the sum stays in a local variable until it is whole, all loads \
are issued first and wait together. The rule looks for stores to one address in code without branches, with \
nothing in between by which threads meet. The estimate takes away all these stores but the last, the loads of what the thread had loaded \
before, and of the waits for the other loads all but those of one step.",
    examples: &[Example {
        fault: "\
out[i] = 0.0f;
for (int k = 0; k < 8; ++k)            // unrolled
    out[i] += weight[k] * in[i + k];   // eight stores",
        repair: "\
float sum = 0.0f;
for (int k = 0; k < 8; ++k)
    sum += weight[k] * in[i + k];
out[i] = sum;",
        note: "\
The results are the same, to the last bit. Declaring the pointers __restrict__ lets the compiler move the loads ahead, \
but only where it may assume that no two of them lead to the same memory.",
    }],
    section: "MemoryWorkloadAnalysis",
    thresholds: &[MATTERS_LIMIT],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[Reads::always(&[FROM_L1])],
    source_page: SourcePage::Needed,
    explains: &["long-scoreboard-stalls", "lg-throttle", "issue-slots-underused"],
    in_triton: "\
keep the sum in a tensor, and tl.store it once, behind the loop.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let found = stored_again(&listing)?;
    for &at in found.overwritten.iter().chain(&found.repeated) {
        removal.remove(at, 1.0);
    }
    found.held_up.iter().for_each(|&(at, goes)| removal.remove_latency(at, goes));
    let mut effect = removal.effect(launch);
    if let Some(asked) = launch.get(FROM_L1).filter(|&asked| asked > 0.0) {
        let traffic = Traffic::new(&listing, asked);
        let stored: f64 = found.overwritten.iter().map(|&at| sectors(&listing, at)).sum();
        let gone = stored + traffic.delivered(&listing, &found.repeated);
        let share = (gone / asked).min(1.0);
        effect.removed.extend([(Term::L2, share), (Term::L2Requests, share)]);
    }
    if !gains(launch, &effect) {
        return None;
    }
    let executed = |places: &[usize]| places.iter().map(|&at| listing.executed(at)).sum::<f64>();
    let written_over = executed(&found.overwritten);
    let weight =
        |at: usize| if found.overwritten.contains(&at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "stores that are written over");
    let at = place(&locations, "its stores");
    let again = executed(&found.repeated);
    let again = if again > 0.0 {
        format!(
            ", and {} fetch what the thread had loaded before",
            count_of(again, "warp-wide load")
        )
    } else {
        String::new()
    };
    let waits = effect.share_of_stall(StallReason::LongScoreboard).max(0.0);
    Some(Draft {
        message: format!(
            "Threads store to one address step after step: {} at {at} are written over by the next one{again}. The loads of a step stay behind the \
             store of the step before, {} groups of them one after the other: {} of the time that warps wait for global memory goes to that.",
            count_of(written_over, "warp-wide store"),
            found.groups,
            percent(waits),
        ),
        evidence: vec![Evidence::new(
            "warp-wide stores that are written over",
            written_over,
            "inst",
        )],
        hint: format!(
            "Build the result up in a local variable, and store it once, behind the last step ({at}). Then no store stands between the \
             loads, and all of them can be issued before the first is waited for."
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};

    /// A sum of two products that is kept in memory; this stands in front of the second step.
    fn of(between: &'static str) -> Option<Draft> {
        let code = [
            ("LDC.64 R2, c[0x0][0x210]", 100.0),
            ("LDG.E R0, desc[UR4][R4.64]", 100.0),
            ("LDG.E R6, desc[UR4][R8.64]", 100.0),
            ("FMUL R10, R0, R6", 100.0),
            ("STG.E desc[UR4][R2.64], R10", 100.0), // 4
            (between, 100.0),
            ("LDG.E R0, desc[UR4][R4.64]", 100.0),
            ("LDG.E R7, desc[UR4][R8.64+0x4]", 100.0),
            ("FFMA R10, R0, R7, R10", 100.0),
            ("STG.E desc[UR4][R2.64], R10", 100.0),
            ("EXIT", 100.0),
        ];
        let mut launch = sass(&[(ISSUE_BUSY, 60.0), (FROM_L1, 1000.0)], &code);
        for at in [1, 2, 4, 6, 7, 9] {
            launch.instructions[at].counters.l2_sectors_global = 400.0;
        }
        check(&RULE, &launch)
    }

    #[test]
    fn stores_that_are_written_over_and_loads_of_the_same_go() {
        let draft = of("NOP").unwrap();
        assert!(draft.message.contains("100 warp-wide stores at"), "{}", draft.message);
        assert!(draft.message.contains("100 warp-wide loads fetch"), "{}", draft.message);
        let share = draft.effect.share_of(Term::Issue);
        assert!((share - 2.0 / 11.0).abs() < 1e-12, "{share}");
        // One store of 400 sectors, and a quarter of the 200 that loads miss L1 with.
        let share = draft.effect.share_of(Term::L2);
        assert!((share - 0.45).abs() < 1e-12, "{share}");
    }

    #[test]
    fn what_other_threads_may_see_in_between_is_wanted() {
        assert_eq!(of("BAR.SYNC.DEFER_BLOCKING 0x0"), None);
    }
}
