//! Values that the lanes of a group work out, each for itself.

use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES, place};
use crate::evidence::removal::{
    CYCLES, ISSUE_BUSY, MATTERS_LIMIT, RATES, Removal, gains, locations,
};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::same_for_lanes::same_for_lanes;
use crate::term::Term;
use crate::text::{count, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";

/// Instructions that lanes repeat for each value that is handed on, at least.
const LEAST: Threshold = Threshold {
    what: "repeated instructions for each value that a lane's own work takes from them, at least",
    value: 4.0,
    unit: "instruction",
    source: "derivation: a value that is handed over takes a shuffle and the lane it comes from, which counts items; \
             an address or two are worked out as fast, a hash or a division is not",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "repeated-in-lanes",
    kind: Kind::Cause,
    summary: "several lanes serve one item, and each works out the same for it",
    explanation: "\
Where a group of 2 to 32 neighbouring lanes serves one item (a key's block in a filter, a row with a few values per lane), the item's \
number is the thread's index divided by the size of the group, and what follows from it alone is the same in all lanes of the group: a hash, a \
remainder, a scale. Each lane works it out, and the warp is as busy as if it were different. In place of that, each lane of a warp can take an \
item of its own, so that a warp works it out for 32 items at once; then the groups go through these items, and a shuffle hands each group its \
item's values. The rule follows the thread's index through shifts and masks that take its lowest bits away, and looks at the \
arithmetic that only such values go into. The estimate leaves one part in the size of the group of that, with its waits, and puts a shuffle \
for each value in its place that a lane's own work takes.",
    examples: &[Example {
        fault: "\
int item = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
unsigned hash = mix(keys[item]);               // the same in 8 lanes
words[hash % blocks * 8 + lane % 8] |= bit_of(hash, lane % 8);",
        repair: "\
unsigned mine = mix(keys[warp * 32 + lane]);   // one key per lane
unsigned my_block = mine % blocks;
for (int turn = 0; turn < 8; turn++) {
    unsigned hash = __shfl_sync(~0u, mine, turn * 4 + lane / 8);
    unsigned block = __shfl_sync(~0u, my_block, turn * 4 + lane / 8);
    words[block * 8 + lane % 8] |= bit_of(hash, lane % 8);
}",
        note: "\
A warp then has 32 items in place of 4: launch fewer threads, or let each warp go through several parts.",
    }],
    section: "InstructionStats",
    thresholds: &[MATTERS_LIMIT, LEAST],
    needs: &[EXECUTED, ISSUE_BUSY],
    sharpened_by: &[RATES, CYCLES, BLOCKS_AT_ONCE, WAVES],
    source_page: SourcePage::Needed,
    explains: &["math-pipe-throttle", "fixed-latency-stalls", "issue-slots-underused"],
    in_triton: "\
compute such values in a block of items before they are broadcast ([:, None]) over the values of each.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let same = same_for_lanes(&listing, launch.profile.row.block);
    let executed =
        |of: &[(usize, f64)]| of.iter().map(|(at, _)| listing.executed(*at)).sum::<f64>();
    let repeated = executed(&same.repeated);
    if repeated <= 0.0 || repeated < LEAST.value * same.handed_on {
        return None;
    }
    same.repeated.iter().for_each(|&(at, lanes)| removal.remove(at, 1.0 - 1.0 / lanes));
    // One load serves as many items as it has lanes, but is as long under way.
    same.loads.iter().for_each(|&(at, lanes)| removal.remove_but_l1(at, 1.0 - 1.0 / lanes));
    removal.add(Term::Lsu, same.handed_on);
    let executed_at = |(at, _): &(usize, f64)| listing.executed(*at);
    let most = same.repeated.iter().max_by(|a, b| executed_at(a).total_cmp(&executed_at(b)));
    let lanes = most.map_or(1.0, |(_, lanes)| *lanes);
    // Of fewer warps enough must be left to fill the device.
    if launch.waves().is_some_and(|waves| waves < lanes) {
        return None;
    }
    let mut effect = removal.effect(launch);
    // A warp then takes as many items as it has lanes.
    effect.removed.push((Term::BlockScheduler, 1.0 - 1.0 / lanes));
    if !gains(launch, &effect) {
        return None;
    }
    let lanes_at = |at: usize| {
        let found = same.repeated.binary_search_by_key(&at, |(at, _)| *at).ok();
        found.map(|place| same.repeated[place].1)
    };
    let weight = |at: usize| lanes_at(at).map_or(0.0, |_| listing.executed(at));
    let locations = locations(launch, listing, weight, "repeated work");
    let at = place(&locations, "the item's work");
    Some(Draft {
        message: format!(
            "{} of the executed instructions work out values that are the same in {} neighbouring lanes, most of them at {at}: they \
             depend on the item's number, but not on the lane within its group.",
            percent(repeated / launch.need(EXECUTED)),
            count(lanes),
        ),
        evidence: vec![
            Evidence::new("executed instructions that lanes repeat", repeated, "inst"),
            Evidence::new("lanes that do the same", lanes, "lane"),
            Evidence::new(EXECUTED, launch.need(EXECUTED), "inst"),
        ],
        hint: format!(
            "Let each lane of a warp do the work at {at} for an item of its own, 32 items at once. Then let the groups of {} lanes go \
             through these items, and hand each group its item's values by __shfl_sync.",
            count(lanes),
        ),
        locations,
        effect,
    })
}
