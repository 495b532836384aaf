//! Lanes of a warp take different paths.

mod leaving;

use crate::evidence::idle_lanes::{
    ACTIVE, AT_WORK, FEWER_WARPS, RESTING, RESTING_LIMIT, UNIFORM, UNIFORM_ENOUGH, UNIFORM_LIMIT,
    effect, evidence, few, lanes, resting,
};
use crate::evidence::locations::locations;
use crate::evidence::modeled_launch::{BLOCK_SIZE, place};
use crate::evidence::threshold::LANES_LIMIT;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::export::SourceCounters;
use crate::finding::Location;
use crate::frame::Reads;
use crate::hardware::WARP_LANES;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule};
use crate::sass::Listing;
use crate::sass::questions::idle::regrouped::{Unfilled, unfilled};
use crate::text::percent;
use leaving::{Leaving, leaving};

/// So much of all lanes that are off must be off whatever the threads are grouped with.
const MOST_UNFILLED: f64 = 0.5;

/// How full warps are once the change is made.
const REACHED: Threshold = Threshold {
    what: "constant: lanes that are active per instruction once the threads are regrouped",
    value: 28.0,
    unit: "lane",
    source: "measured: 26 changes that this rule asked for in other people's programs gained 0.87 of what full warps would in the \
             median; 28 of 32",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "thread-divergence",
    kind: Kind::Cause,
    summary: "lanes of a warp take different paths",
    explanation: "\
A warp executes one instruction for all its lanes. Where lanes take different branches, the paths \
run one after another, each with some lanes masked off, and every instruction costs as much as \
with all 32. The rule fires if few lanes of a warp are active, or if few do work and branches split warps. If \
whole warps idle, idle-threads fires instead. Sort or regroup the work \
so that the lanes of a warp agree, let the branch depend on the warp instead of the lane, or \
compute both sides and select.",
    examples: &[Example {
        fault: "\
int pair = t / 2;                         // even and odd lanes part
if (t % 2 == 0)
    prey_next[pair] = grow(prey[pair], hunter[pair]);
else
    hunter_next[pair] = hunt(prey[pair], hunter[pair]);",
        repair: "\
int pair = t < pairs ? t : t - pairs;     // the lanes of a warp agree
if (t < pairs)
    prey_next[pair] = grow(prey[pair], hunter[pair]);
else
    hunter_next[pair] = hunt(prey[pair], hunter[pair]);",
        note: "\
The first half of the threads takes one side of the branch and the second half the other, so \
that no warp has to run both; at most one warp, in the middle, still does.",
    }],
    section: "WarpStateStats",
    thresholds: &[
        LANES_LIMIT,
        REACHED,
        UNIFORM_LIMIT,
        RESTING_LIMIT,
        Threshold {
            what: "lanes that have left a loop, of all that are off, for the loop to be divided otherwise, at least",
            value: leaving::MOST_OF_IT,
            unit: "share",
            source: "definition: most of them",
        },
        Threshold {
            what: "lanes that no other grouping of the threads would fill, of all that are off, for the advice to say so, more than",
            value: MOST_UNFILLED,
            unit: "share",
            source: "definition: most of them",
        },
    ],
    needs: &[ACTIVE, AT_WORK],
    sharpened_by: &[BLOCK_SIZE, FEWER_WARPS, Reads::always(&[UNIFORM])],
    said_by_ncu: &[SaidByNcu::any("ThreadDivergence", Acts::INSTRUCTIONS)],
    explains: &["issue-slots-underused", "fixed-latency-stalls", "instruction-cache-misses"],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (active, at_work) = lanes(launch);
    let splits = launch.get(UNIFORM).is_some_and(|uniform| uniform < UNIFORM_ENOUGH);
    if !(few(active) || few(at_work) && splits) || resting(launch) >= RESTING {
        return None;
    }
    let least = active.min(at_work);
    let leaving = launch.profile.listing().and_then(leaving);
    // What lanes then execute one after another is no less than it is now.
    let refilled =
        leaving.filter(|found| found.is_serial).map_or(0.0, |found| WARP_LANES * found.refilled);
    let unfilled = launch.profile.listing().map_or_else(Unfilled::default, |it| unfilled(&it));
    // Lines whose instructions miss most lanes, weighted by how often they run.
    let off = |counters: &SourceCounters| {
        WARP_LANES * counters.inst_executed - counters.thread_inst_executed
    };
    let share_of = "all masked-off lanes";
    let locations = match launch.profile.listing() {
        Some(listing) => locations(launch, listing, |at| off(&listing.row(at).counters), share_of),
        None => launch.profile.top_places(3, share_of, off),
    };
    let uniform = launch.get(UNIFORM).map_or_else(String::new, |uniform| {
        format!(" {} of the branches are uniform.", percent(uniform / 100.0))
    });
    Some(Draft {
        message: format!(
            "On average, {:.1} of a warp's 32 lanes are active per instruction and {:.1} do work; the others \
             are on another path.{uniform}",
            launch.need(ACTIVE),
            launch.need(AT_WORK),
        ),
        evidence: evidence(launch),
        hint: hint(launch, &locations, unfilled, leaving),
        locations,
        effect: effect(
            launch,
            ((least + unfilled.lanes).max(refilled) * WARP_LANES / REACHED.value).min(WARP_LANES),
        ),
    })
}

fn hint(
    launch: &ModeledLaunch,
    locations: &[Location],
    unfilled: Unfilled,
    leaving: Option<Leaving>,
) -> String {
    if let Some(hint) = launch.profile.listing().and_then(|it| of_each_turn(it, unfilled)) {
        return hint;
    }
    let loop_left = launch.profile.listing().and_then(|listing| {
        let found = leaving?;
        Some((listing.row(found.back).line?, found))
    });
    if let Some((line, found)) = loop_left.filter(|(_, found)| found.is_serial) {
        let around = found.around.and_then(|back| launch.profile.listing()?.row(back).line);
        let change = match around {
            Some(around) => format!(
                "Make one loop of the loop at line {line} and the one around it at line {around}, in which a lane that is through goes on \
                 with its next item while the others still turn. Or sort the items, so that those of a warp take about equally long."
            ),
            None => "Let a lane that is done fetch the next item, or sort the items, so that those of a warp take about equally long."
                .to_owned(),
        };
        return format!(
            "{change} Now lanes leave the loop at line {line} one after another and wait for the last: of the {:.1} that come, {:.1} are \
             in it on average. Its iterations need one another, so that lanes can't share them.",
            found.come, found.stay,
        );
    }
    if let Some((line, found)) = loop_left {
        return format!(
            "Give each item to a whole warp: its lanes share the iterations of the loop at line {line}, and combine their results by \
             shuffles or a ballot. Now lanes leave the loop one after another and wait for the last: of the {:.1} that come, \
             {:.1} are in it on average. Or sort the items, so that those of a warp take about equally long, or let a lane that is \
             done fetch the next one.",
            found.come, found.stay,
        );
    }
    format!(
        "Make the lanes of a warp agree at {}: group the work by branch, let the condition depend on threadIdx.x / 32, or \
         replace the branch by a selection. Lanes that idle because a row has fewer values than the warp has lanes can take \
         another row's.",
        place(locations, "the branch whose condition varies from lane to lane"),
    )
}

/// What remains to be done where each iteration decides anew which lanes pass a test.
fn of_each_turn(listing: Listing, unfilled: Unfilled) -> Option<String> {
    let line = listing.row(unfilled.decided_anew?).line?;
    let change = if unfilled.share > MOST_UNFILLED {
        format!(
            "Do less behind the test at line {line}, for instance by working out ahead of it what all lanes need: collecting the \
             items that pass it, until they fill a warp, would cost about as much as it saves."
        )
    } else {
        format!(
            "Collect the items that pass the test at line {line} in a list in shared memory (a ballot gives each its place), and work \
             on the list once it fills a warp."
        )
    };
    Some(format!(
        "{change} Each iteration of the loop decides anew which lanes pass, so that sorting the threads once does not help, and computing \
         both sides to select one would save nothing."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, check, launch};
    use crate::term::Term;

    #[test]
    fn fewer_than_24_active_lanes_count() {
        let split = launch(&[(ACTIVE, 16.0), (AT_WORK, 16.0), (UNIFORM, 50.0)]);
        let draft = assert_sides(&RULE, &split, &[&[(ACTIVE, 24.0), (AT_WORK, 24.0)]]);
        assert!((draft.effect.share_of(Term::Issue) - 3.0 / 7.0).abs() < 1e-12, "16 of 28");
    }

    #[test]
    fn predication_counts_only_where_branches_split_warps() {
        let masked = launch(&[(ACTIVE, 31.0), (AT_WORK, 16.0), (UNIFORM, 94.9)]);
        assert!(check(&RULE, &masked).is_some());
        let idle = launch(&[(ACTIVE, 31.0), (AT_WORK, 16.0), (UNIFORM, 95.0)]);
        assert!(check(&RULE, &idle).is_none());
    }

    #[test]
    fn half_a_warp_in_a_block_of_16_is_no_divergence() {
        let small = launch(&[(ACTIVE, 16.0), (AT_WORK, 16.0), ("launch__block_size", 16.0)]);
        assert!(check(&RULE, &small).is_none());
    }
}
