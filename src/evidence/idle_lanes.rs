//! What the two rules on idle lanes share: how many lanes work, and what the others cost.

use crate::evidence::ModeledLaunch;
use crate::evidence::stalls::FOR_OTHERS;
use crate::evidence::threshold::{LANES, LATENCY, NOISE};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::{SECTOR_BYTES, SECTORS_PER_LINE, WARP_LANES};
use crate::model::Effect;
use crate::sass::Listing;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::questions::idle;
use crate::sass::questions::idle::needed::needed_lanes;
use crate::term::Term;

/// Lanes of an executed instruction that have not left and are on its path.
pub(crate) const ACTIVE: &str = "smsp__thread_inst_executed_per_inst_executed.ratio";
/// The same without those that its guard switches off.
pub(crate) const AT_WORK: &str = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio";
/// Branches on which all lanes of a warp go the same way, percent.
pub(crate) const UNIFORM: &str = "smsp__sass_average_branch_targets_threads_uniform.pct";

const SHARED: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
const TAGS: &str = "memory_l1_tag_requests_global";
const IDEAL: &str = "memory_l2_theoretical_sectors_global_ideal";

const ASKED: &str = "lts__t_sectors_srcunit_tex.sum";
const REQUESTS: &str = "lts__t_requests_srcunit_tex.sum";
const READ: &str = "dram__bytes_read.sum";
const WRITTEN: &str = "dram__bytes_write.sum";

/// What [`effect`] reads.
pub(crate) const FEWER_WARPS: Reads = Reads::always(&[SHARED, TAGS]);
/// What [`effect_of_full_warps`] reads.
pub(crate) const FULL_WARPS: Reads =
    Reads::always(&[SHARED, TAGS, IDEAL, ASKED, REQUESTS, READ, WRITTEN]);

/// Uniform branch targets, percent, from which warps do not split.
pub(crate) const UNIFORM_ENOUGH: f64 = 100.0 - NOISE;

/// [`UNIFORM_ENOUGH`] as `explain` prints it.
pub(crate) const UNIFORM_LIMIT: crate::evidence::Threshold = crate::evidence::Threshold {
    what: "share of branches on which all lanes of a warp agree, which tells idle-threads (at least) from \
           thread-divergence (less)",
    value: UNIFORM_ENOUGH,
    unit: "%",
    source: "derivation: 100% less the 5% that is noise. Tree reductions whose warps idle as a \
             whole have 99.5 to 99.8%; lanes that diverge only where loops end, 94.6% (H200)",
};

/// Lanes of an average instruction: those active and those at work, per 32 of the lanes that the
/// block size gives a warp. Steps of maths routines that only some arguments need, such as the scaling of
/// denormal ones, leave no lane without work. Lanes that wait for others to succeed with an atomic count as active: that is
/// the atomics' fault.
pub(crate) fn lanes(launch: &ModeledLaunch) -> (f64, f64) {
    let scale = WARP_LANES / launch.full_lanes();
    let (active, at_work) = (launch.need(ACTIVE), launch.need(AT_WORK));
    // Only where they decide anything.
    let listing = launch.profile.listing().filter(|_| few(at_work * scale));
    let by_value = listing.map_or(0.0, |listing| idle::off_by_value(&listing));
    let retrying = listing.map_or(0.0, |listing| idle::off_in_retries(&listing));
    let active = (active + retrying).min(launch.full_lanes());
    (active * scale, (at_work + by_value + retrying).min(active) * scale)
}

/// The share of the missing lanes that have nothing to do at all, by the instructions: they left the
/// kernel early or skip a part that has no other side. 0 where the profile has no instructions.
pub(crate) fn resting(launch: &ModeledLaunch) -> f64 {
    launch.profile.listing().map_or(0.0, |listing| idle::idle_share(&listing))
}

/// Lanes of an average warp that leave anything behind, at most, per 32 of the lanes that the block size gives a warp:
/// what the others step through is for nothing. All where the profile has no instructions.
pub(crate) fn needed(launch: &ModeledLaunch) -> f64 {
    let lanes = launch.profile.listing().map_or(WARP_LANES, |listing| needed_lanes(&listing));
    (lanes * WARP_LANES / launch.full_lanes()).min(WARP_LANES)
}

/// The share of missing lanes that must have nothing to do for idle threads to be named.
pub(crate) const RESTING: f64 = 0.5;

/// [`RESTING`] as `explain` prints it.
pub(crate) const RESTING_LIMIT: crate::evidence::Threshold = crate::evidence::Threshold {
    what: "share of the missing lanes that have returned or skip a branch without an else, which tells \
           idle-threads (at least) from thread-divergence (less)",
    value: RESTING,
    unit: "share",
    source: "definition: more than half",
};

/// True where so many lanes of a warp count as few.
pub(crate) fn few(lanes: f64) -> bool {
    lanes < LANES
}

/// What the finding rests on.
pub(crate) fn evidence(launch: &ModeledLaunch) -> Vec<Evidence> {
    vec![
        Evidence::new(ACTIVE, launch.need(ACTIVE), "thread"),
        Evidence::new(AT_WORK, launch.need(AT_WORK), "thread"),
    ]
}

/// The same work by full warps takes fewer instructions, in proportion to the lanes at work.
pub(crate) fn effect(launch: &ModeledLaunch, lanes: f64) -> Effect {
    let wasted = (1.0 - lanes / WARP_LANES).clamp(0.0, 1.0);
    let terms = [Term::Issue, Term::Alu, Term::Fma, Term::Fp64, Term::Xu, Term::Lsu];
    let mut removed = terms.map(|term| (term, wasted)).to_vec();
    // Of the data pipe only the shared-memory part: global look-ups go by lines, not by lanes.
    let shared = launch.get(SHARED);
    let tags = launch.get(TAGS);
    if let (Some(shared), Some(tags)) = (shared, tags)
        && shared + tags > 0.0
    {
        removed.push((Term::L1Data, wasted * shared / (shared + tags)));
    }
    // Fewer warps do the same work, so fewer wait.
    Effect { removed, hidden: wasted, ..Effect::default() }
}

/// The same where whole lanes are never used: full warps would also find their sectors, four per line,
/// in fewer look-ups, and make fewer blocks.
pub(crate) fn effect_of_full_warps(launch: &ModeledLaunch, lanes: f64) -> Effect {
    let mut effect = effect(launch, lanes);
    let wasted = (1.0 - lanes / WARP_LANES).clamp(0.0, 1.0);
    effect.removed.push((Term::BlockScheduler, wasted));
    if launch.profile.listing().is_some_and(|listing| constants_are_of_warps(&listing)) {
        effect.removed.push((Term::Constant, wasted));
    }
    // Warps that are all resident run at once: of fewer, each takes as long, but for its turns behind others.
    if let (Some(waves), Some(all)) = (launch.waves(), launch.get(LATENCY))
        && all > 0.0
    {
        let stays = (waves * (1.0 - wasted)).max(1.0) / waves.max(1.0);
        let for_others: f64 = FOR_OTHERS.iter().map(|&reason| launch.stall(reason)).sum();
        effect.hidden = 1.0 - stays;
        effect.least = stays * (1.0 - (for_others / all).min(1.0));
    }
    let apart = launch.get(IDEAL).and_then(|ideal| look_ups(launch, ideal, wasted));
    let Some(shared) = shared_sectors(launch, wasted) else {
        effect.removed.extend(apart);
        return effect;
    };
    let mut merged = effect.clone();
    effect.removed.extend(apart);
    let l1 = look_ups(launch, shared.needed, wasted);
    merged.removed.extend(l1.into_iter().chain(shared.removed));
    merged.at_least = Some(Box::new(effect));
    merged
}

/// What goes of the L1 data pipe's work where full warps look up so many sectors, four per line.
fn look_ups(launch: &ModeledLaunch, sectors: f64, wasted: f64) -> Option<(Term, f64)> {
    let tags = launch.get(TAGS).filter(|&tags| tags > 0.0)?;
    let shared = launch.get(SHARED).unwrap_or(0.0);
    let merged = (1.0 - sectors / SECTORS_PER_LINE / tags).clamp(0.0, wasted);
    Some((Term::L1Data, merged * tags / (shared + tags)))
}

/// True where constants are asked for at addresses that all lanes share: once per warp, however many of them work.
fn constants_are_of_warps(listing: &Listing) -> bool {
    listing.entries().all(|(at, entry)| {
        entry.family != Family::Constant || !entry.computed_address || listing.executed(at) <= 0.0
    })
}

/// Sectors of which lonely lanes use a part each, and that their neighbours ask for again.
struct SharedSectors {
    /// The sectors that full warps would ask for.
    needed: f64,
    /// What goes of L2's work.
    removed: [(Term, f64); 2],
}

/// Where L2 is asked for more sectors than the lanes at work fill, and DRAM moves less than that, others use
/// the rest of these sectors: lanes that stand side by side share them. `None` where nothing is shared, or where the
/// counters do not tell.
fn shared_sectors(launch: &ModeledLaunch, wasted: f64) -> Option<SharedSectors> {
    let (filled, ideal) = filled_sectors(&launch.profile.listing()?)?;
    let (asked, requests) = (launch.get(ASKED)?, launch.get(REQUESTS)?);
    let moved = (launch.get(READ)? + launch.get(WRITTEN)?) / SECTOR_BYTES;
    let needed = filled.max(moved);
    if !(ideal > 0.0 && asked > 0.0 && requests > 0.0) {
        return None;
    }
    // Sectors beyond the ideal are the layout's fault, whoever works.
    let of_lanes = (1.0 - filled / ideal).clamp(0.0, wasted);
    let goes = (1.0 - needed / asked).clamp(0.0, of_lanes);
    if goes <= 0.0 {
        return None;
    }
    let of_requests = (1.0 - needed / SECTORS_PER_LINE / requests).clamp(goes, wasted);
    Some(SharedSectors { needed, removed: [(Term::L2, goes), (Term::L2Requests, of_requests)] })
}

/// The sectors that the bytes of all lanes at work fill, and those that their accesses need if the lanes of each are
/// dense; `None` where anything but plain loads and stores asks L2 for sectors.
fn filled_sectors(listing: &Listing) -> Option<(f64, f64)> {
    let (mut filled, mut all) = (0.0, 0.0);
    for (at, entry) in listing.entries().filter(|(at, _)| listing.executed(*at) > 0.0) {
        let counters = &listing.row(at).counters;
        match entry.family {
            Family::Load(Space::Global) | Family::Store(Space::Global) => {
                let ideal = counters.l2_sectors_global_ideal;
                let bytes = counters.thread_inst_executed_pred_on * f64::from(entry.width);
                // Lanes that ask for the same bytes fill no more than they touch.
                filled += ideal.min(bytes / SECTOR_BYTES);
                all += ideal;
            }
            Family::Load(Space::Local | Space::Generic)
            | Family::Store(Space::Local | Space::Generic)
            | Family::Atomic(Space::Global | Space::Generic)
            | Family::Reduction(_)
            | Family::AsyncCopy
            | Family::Texture
            | Family::Other => return None,
            _ => {}
        }
    }
    Some((filled, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::launch;
    use crate::model::Model;

    #[test]
    fn fewer_warps_that_all_run_at_once_take_as_long() {
        let waves = "launch__waves_per_multiprocessor";
        let not_selected = "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio";
        let of = |waves_now: f64| {
            let launch = launch(&[(waves, waves_now), (LATENCY, 10.0), (not_selected, 4.0)]);
            let effect = effect_of_full_warps(
                &ModeledLaunch { profile: &launch, model: &Model::new(&launch) },
                8.0,
            );
            (effect.hidden, effect.least)
        };
        let near =
            |(a, b): (f64, f64), (c, d): (f64, f64)| (a - c).abs() < 1e-12 && (b - d).abs() < 1e-12;
        // Of 10 cycles 4 are for a turn behind others.
        assert!(near(of(0.5), (0.0, 0.6)), "{:?}", of(0.5));
        // 8 waves become 2, and 2 waves one where half a wave would do.
        assert!(near(of(8.0), (0.75, 0.25 * 0.6)), "{:?}", of(8.0));
        assert!(near(of(2.0), (0.5, 0.5 * 0.6)), "{:?}", of(2.0));
    }

    #[test]
    fn lanes_that_a_value_switches_off_are_at_work() {
        let mut launch = crate::evidence::testing::sass(
            &[(ACTIVE, 30.0), (AT_WORK, 20.0)],
            &[
                ("FSETP.GEU.AND P0, PT, |R2|, 1.175494350822287508e-38, PT", 10.0),
                ("@!P0 FMUL R2, R2, 16777216", 10.0),
                ("EXIT", 10.0),
            ],
        );
        // 24 of 32 lanes of one of three instructions: eight of each.
        launch.instructions[1].counters.thread_inst_executed_pred_on = 80.0;
        let model = Model::new(&launch);
        assert_eq!(lanes(&ModeledLaunch { profile: &launch, model: &model }), (30.0, 28.0));
    }

    #[test]
    fn full_warps_merge_no_more_look_ups_than_they_save() {
        let launch = launch(&[(TAGS, 100.0), (IDEAL, 40.0), (SHARED, 0.0)]);
        let model = Model::new(&launch);
        let case = ModeledLaunch { profile: &launch, model: &model };
        // Ten look-ups would do for 40 sectors, but of 24 lanes a quarter goes.
        let effect = effect_of_full_warps(&case, 24.0);
        assert!((effect.share_of(Term::L1Data) - 0.25).abs() < 1e-12, "{effect:?}");
    }

    #[test]
    fn merged_look_ups_leave_the_shared_part_of_the_pipe() {
        let launch = launch(&[(TAGS, 100.0), (IDEAL, 320.0), (SHARED, 300.0)]);
        let model = Model::new(&launch);
        let case = ModeledLaunch { profile: &launch, model: &model };
        // Half of the lanes: half of the shared three quarters goes, and of the look-ups a fifth, since 80 would do
        // for 320 sectors.
        let share = effect_of_full_warps(&case, 16.0).share_of(Term::L1Data);
        assert!((share - (0.5 * 0.75 + 0.2 * 0.25)).abs() < 1e-12, "{share}");
    }

    #[test]
    fn full_warps_ask_for_the_constants_of_fewer() {
        let of = |constant: &str| {
            let launch = crate::evidence::testing::sass(&[], &[(constant, 10.0), ("EXIT", 10.0)]);
            let model = Model::new(&launch);
            let case = ModeledLaunch { profile: &launch, model: &model };
            effect_of_full_warps(&case, 8.0).share_of(Term::Constant)
        };
        assert!((of("LDC R13, c[0x0][0x220]") - 0.75).abs() < 1e-12);
        assert!(of("LDC R13, c[0x3][R4]").abs() < 1e-12, "each lane may ask for its own");
    }

    #[test]
    fn lonely_lanes_whose_neighbours_work_elsewhere_share_sectors() {
        let of = |moved: f64, sectors: f64, other: &str| {
            let mut launch = crate::evidence::testing::sass(
                &[
                    (ASKED, 1000.0),
                    (REQUESTS, 1000.0),
                    (READ, moved),
                    (WRITTEN, 0.0),
                    (TAGS, 1000.0),
                ],
                &[("LDG.E R0, desc[UR4][R2.64]", 1000.0), (other, 1000.0), ("EXIT", 1000.0)],
            );
            let counters = &mut launch.instructions[0].counters;
            counters.thread_inst_executed_pred_on = 1000.0;
            counters.l2_sectors_global = sectors;
            counters.l2_sectors_global_ideal = 1000.0;
            let model = Model::new(&launch);
            let case = ModeledLaunch { profile: &launch, model: &model };
            effect_of_full_warps(&case, 1.0)
        };
        // A float of a sector's eight in each access, and DRAM brings each float once.
        let shared = of(4000.0, 1000.0, "FADD R0, R1, R2");
        let goes = |term| shared.share_of(term);
        assert!((goes(Term::L2) - 0.875).abs() < 1e-12, "{shared:?}");
        // 125 sectors are 31.25 requests and look-ups, which is 1 of 32.
        assert!((goes(Term::L2Requests) - 0.96875).abs() < 1e-12);
        assert!((goes(Term::L1Data) - 0.96875).abs() < 1e-12);
        let least = shared.at_least.as_ref().unwrap();
        assert!(least.share_of(Term::L2).abs() < 1e-12, "neighbours may be elsewhere");
        // Nobody uses the rest of these sectors.
        assert!(of(32_000.0, 1000.0, "FADD R0, R1, R2").at_least.is_none());
        // Some of what is asked may be the atomics'.
        let atomics = of(4000.0, 1000.0, "RED.E.ADD.STRONG.GPU desc[UR4][R2.64], R5");
        assert!(atomics.at_least.is_none());
    }
}
