//! What the three occupancy rules share: they differ in the resource that holds the warps down.

use crate::evidence::modeled_launch::{GRID, SMS};
use crate::evidence::threshold::{ISSUE, ISSUE_LOW};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::{Evidence, LEAST_GAIN};
use crate::frame::Reads;
use crate::hardware::WARP_LANES;
use crate::model::Effect;
use crate::term::Term;
use crate::text::{count, count_of};

/// Warps that the launch leaves room for, percent of what an SM holds.
pub(crate) const THEORETICAL: &str = "sm__maximum_warps_per_active_cycle_pct";
/// Blocks that fit an SM by their registers.
pub(crate) const BY_REGISTERS: &str = "launch__occupancy_limit_registers";
/// Blocks that fit an SM by their shared memory.
pub(crate) const BY_SHARED: &str = "launch__occupancy_limit_shared_mem";
/// Blocks that fit an SM by its block slots.
pub(crate) const BY_BLOCKS: &str = "launch__occupancy_limit_blocks";
/// Blocks that fit an SM by its warp slots.
pub(crate) const BY_WARPS: &str = "launch__occupancy_limit_warps";

/// Theoretical occupancy, percent, from which it counts as high enough.
pub(crate) const HIGH_ENOUGH: f64 = 80.0;

/// [`HIGH_ENOUGH`] as `explain` prints it.
pub(crate) const HIGH_ENOUGH_LIMIT: Threshold = Threshold {
    what: "theoretical occupancy, less than",
    value: HIGH_ENOUGH,
    unit: "%",
    source: "ncu's TheoreticalOccupancy rule: 80%",
};

/// Threads of a block that replaces blocks which are too small.
pub(crate) const USUAL_BLOCK: f64 = 256.0;

/// [`USUAL_BLOCK`] as `explain` prints it.
pub(crate) const USUAL_BLOCK_LIMIT: Threshold = Threshold {
    what: "constant: threads of the blocks that take the place of blocks which are too small",
    value: USUAL_BLOCK,
    unit: "thread",
    source: "CUDA C++ Best Practices Guide: between 128 and 256 threads per block are a good start",
};

/// Warps that are few for an SM, which small blocks that share memory could have more of.
const FEW_WARPS: f64 = 8.0;

/// [`FEW_WARPS`] as `explain` prints it.
pub(crate) const FEW_WARPS_LIMIT: Threshold = Threshold {
    what: "warps that an SM holds of a grid that has just as many blocks as fit, for these to have more threads in the same \
           shared memory, less than",
    value: FEW_WARPS,
    unit: "warp",
    source: "derivation: two for each of an SM's four schedulers; with fewer, one has nothing to issue while a warp waits",
};

/// What more warps must be worth, as a speed-up.
pub(crate) const WORTH_LIMIT: Threshold = Threshold {
    what: "speed-up that the time model expects from more warps, at least",
    value: LEAST_GAIN,
    unit: "",
    source: "counters collected in different passes differ by about 5%. Where a unit is busy all \
             the time, more warps gain nothing; where it is busy most of the time, little",
};

/// True where more warps would give something. Without counters of any unit, where schedulers issue
/// in few cycles.
pub(crate) fn worth_warps(launch: &ModeledLaunch, effect: &Effect) -> bool {
    match launch.model.without(effect) {
        Some(estimate) => estimate.factor >= LEAST_GAIN,
        None => launch.need(ISSUE) < ISSUE_LOW,
    }
}

/// What every occupancy rule needs.
pub(crate) const NEEDS: &[&str] =
    &[THEORETICAL, BY_REGISTERS, BY_SHARED, BY_BLOCKS, BY_WARPS, ISSUE];

/// What tells how many blocks there are for an SM.
pub(crate) const GRID_SIZE: Reads = Reads::always(&[GRID, SMS]);

/// The symptoms of too few warps.
pub(crate) const EXPLAINS: &[&str] = &[
    "issue-slots-underused",
    "long-scoreboard-stalls",
    "short-scoreboard-stalls",
    "fixed-latency-stalls",
    "store-drain-stalls",
];

/// The resource of one rule.
pub(crate) struct Resource {
    /// The resource, after "because of".
    pub name: &'static str,
    /// The limits that belong to it; the fault is there when one of them is the smallest.
    pub limits: &'static [&'static str],
    /// What an SM's blocks take of it, in words.
    pub use_of: fn(&ModeledLaunch) -> String,
    /// Blocks that could fit an SM by this resource, where something is known of it.
    pub at_most: fn(&ModeledLaunch) -> Option<f64>,
    /// The advice; `{now}` and `{then}` stand for blocks per SM.
    pub hint: fn(&ModeledLaunch) -> String,
}

/// Fires where this resource is the smallest limit, occupancy is low, and latency shows for it.
pub(crate) fn check(launch: &ModeledLaunch, resource: &Resource) -> Option<Draft> {
    let occupancy = launch.need(THEORETICAL);
    if !(occupancy > 0.0 && occupancy < HIGH_ENOUGH) {
        return None;
    }
    let smallest = |names: &mut dyn Iterator<Item = &str>| {
        names.map(|name| launch.need(name)).fold(f64::INFINITY, f64::min)
    };
    let all = [BY_REGISTERS, BY_SHARED, BY_BLOCKS, BY_WARPS];
    let mine = smallest(&mut resource.limits.iter().copied());
    let is_other = |name: &&str| !resource.limits.contains(name);
    let others = smallest(&mut all.into_iter().filter(is_other));
    if !(mine >= 1.0 && mine <= others) {
        return None;
    }
    let slots_are_mine = resource.limits.contains(&BY_BLOCKS) && launch.need(BY_BLOCKS) <= mine;
    // Limits are cut off at the number of block slots: one that equals it says nothing of larger blocks.
    let cut_off = |name: &&str| !slots_are_mine || launch.need(name) > launch.need(BY_BLOCKS);
    let room = smallest(&mut all.into_iter().filter(is_other).filter(cut_off));
    let possible = (resource.at_most)(launch).map_or(room, |blocks| blocks.clamp(mine, room));
    // Blocks of another size can fill what the other resources leave: as many warps as blocks of the present size
    // would have without this limit, and at most one such block's more, which were too coarse to fit.
    let is_coarse = resource.limits.contains(&BY_WARPS) && launch.need(BY_WARPS) <= mine;
    let possible = if is_coarse { possible + 1.0 } else { possible };
    // On average, an SM holds no more than the grid has for it, however it is cut into blocks.
    let there = launch.get(GRID).zip(launch.get(SMS)).filter(|&(_, sms)| sms > 0.0);
    let threads: f64 = launch.profile.row.block.iter().map(|&side| f64::from(side)).product();
    // Small blocks could have more threads in the same shared memory, even where the grid has just as many blocks as fit.
    let wider =
        if resource.limits.contains(&BY_SHARED) { mine * USUAL_BLOCK / threads } else { 0.0 };
    let possible = there.map_or(possible, |(blocks, sms)| {
        let is_full = (blocks - mine * sms).abs() < 0.5;
        let grown = match is_full {
            // Whoever launches just as many blocks as fit deals the work out to as many threads as there are.
            true if slots_are_mine => possible,
            true if mine * threads < FEW_WARPS * WARP_LANES => wider,
            _ => 0.0,
        };
        possible.min((blocks / sms).max(grown))
    });
    let then = occupancy * possible / mine;
    let reached = then.min(100.0).max(occupancy);
    // Latency is covered in proportion to the warps (Little's law).
    let hidden = 1.0 - occupancy / reached;
    // Where block slots are the limit, as many more warps are as much larger blocks: those of the usual size, if that is
    // larger still.
    let usual = if threads > 0.0 { 1.0 - threads / USUAL_BLOCK } else { 0.0 };
    let fewer_blocks = if slots_are_mine { hidden.max(usual) } else { 0.0 };
    let removed = vec![(Term::BlockScheduler, fewer_blocks)];
    let effect = Effect { removed, hidden, ..Effect::default() };
    if reached <= occupancy || !worth_warps(launch, &effect) {
        return None;
    }
    // Where the grid has not two for each SM, some SMs get one more than the others.
    let on_an_sm = possible.min(mine * 100.0 / occupancy).floor().max(mine + 1.0);
    Some(Draft {
        message: format!(
            "Because of {}, at most {occupancy:.0}% of the warp slots can be filled: an SM holds \
             {}{}. Schedulers issue in only {:.0}% of their active cycles, so more warps would help.",
            resource.name,
            count_of(mine, "block"),
            (resource.use_of)(launch),
            launch.need(ISSUE),
        ),
        evidence: vec![
            Evidence::new(THEORETICAL, occupancy, "%"),
            Evidence::new(resource.limits[0], launch.need(resource.limits[0]), "block"),
            Evidence::new(ISSUE, launch.need(ISSUE), "%"),
        ],
        locations: Vec::new(),
        hint: (resource.hint)(launch)
            .replace("{now}", &count(mine))
            .replace("{then}", &count(on_an_sm)),
        effect,
    })
}
