//! What the stall rules share: they differ in the reason, what it waits for, and the advice.

use crate::evidence::threshold::{
    ISSUE, LATENCY, STALL_GAIN_LIMIT, STALL_ISSUE, STALL_ISSUE_LIMIT, STALL_SHARE,
    STALL_SHARE_LIMIT,
};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::{Evidence, LEAST_GAIN};
use crate::frame::Reads;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::sass::Listing;
use crate::sass::questions::chains_apart::chains_apart;
use crate::text::percent;

/// The limits of every stall rule.
pub(crate) const THRESHOLDS: &[Threshold] =
    &[STALL_SHARE_LIMIT, STALL_GAIN_LIMIT, STALL_ISSUE_LIMIT];

/// What tells how much of its time a warp waits at barriers.
pub(crate) const AT_BARRIERS: Reads =
    Reads::always(&["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", LATENCY]);

/// Waits for other warps of the same SM: for an issue slot, or a place in a queue.
pub(crate) const FOR_OTHERS: [StallReason; 6] = [
    StallReason::NotSelected,
    StallReason::MathPipeThrottle,
    StallReason::MioThrottle,
    StallReason::LgThrottle,
    StallReason::TexThrottle,
    StallReason::Dispatch,
];

/// What tells how much of its time a warp waits [for others](FOR_OTHERS).
pub(crate) const WAITS_FOR_OTHERS: Reads = Reads::always(&[
    LATENCY,
    "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio",
]);

/// One row of the table: a reason and its words.
pub(crate) struct Stall {
    /// The reason.
    pub reason: StallReason,
    /// What a warp does meanwhile, after "spends … cycles".
    pub waiting: &'static str,
    /// The advice; `{place}` stands for the line, or for `otherwise`.
    pub hint: &'static str,
    /// Where to look in a profile without source counters.
    pub otherwise: &'static str,
}

/// Fires where the stall makes up a large part of the cycles between two instructions, or where
/// the kernel would gain without it, and the schedulers have slots to spare.
pub(crate) fn check(launch: &ModeledLaunch, stall: &Stall) -> Option<Draft> {
    let metric = stall.reason.ratio_metric();
    let (cycles, all, issue) = (launch.need(&metric), launch.need(LATENCY), launch.need(ISSUE));
    let counts = |effect: &Effect| {
        let gain = launch.model.without(effect).map_or(1.0, |estimate| estimate.factor);
        let large = 100.0 * cycles / all >= STALL_SHARE || cycles > 0.0 && gain >= LEAST_GAIN;
        large && issue < STALL_ISSUE
    };
    let mut effect = Effect::stalls([stall.reason]);
    if !counts(&effect) {
        return None;
    }
    if stall.reason == StallReason::Wait {
        effect.stalls = vec![(stall.reason, on_chains(launch))];
        if !counts(&effect) {
            return None;
        }
    }
    let locations = launch.stalled_places(&[stall.reason], "stall samples");
    let at = locations.first().map_or_else(String::new, |location| {
        format!(" {} of these samples are on {}.", percent(location.share), location.name())
    });
    // Counters of different passes: a wait can come out longer than the whole.
    let (shown, share) = (cycles.min(all), (cycles / all).min(1.0));
    let awaited = awaited(launch, stall.reason).unwrap_or_default();
    let place = crate::evidence::modeled_launch::place(&locations, stall.otherwise);
    Some(Draft {
        message: format!(
            "A warp spends {shown:.1} of {all:.1} cycles between two instructions ({}) {}.{at}{awaited}",
            percent(share),
            stall.waiting,
        ),
        evidence: vec![
            Evidence::new(metric, cycles, "cycle"),
            Evidence::new(LATENCY, all, "cycle"),
        ],
        locations,
        hint: stall.hint.replace("{place}", &place),
        effect,
    })
}

/// The share (0 to 1) of the waits for fixed latency that are on chains of which
/// [several could run side by side](chains_apart): those that more independence within a warp hides. 1 in a profile
/// without instructions.
pub(crate) fn on_chains(launch: &ModeledLaunch) -> f64 {
    let Some(listing) = launch.profile.listing().filter(Listing::is_whole) else { return 1.0 };
    let chains = chains_apart(&listing);
    let places = || 0..listing.sass.entries.len();
    let waits = |at: usize| listing.samples(at, StallReason::Wait);
    // A warp that waits behind a branch back is sampled at the instruction that follows it in the listing.
    let turns_back = |at: usize| listing.sass.flow.loops.iter().any(|each| each.back == at);
    let is_on_chain = |&at: &usize| chains[at] || at > 0 && chains[at - 1] && turns_back(at - 1);
    let all: f64 = places().map(waits).sum();
    let on_chains: f64 = places().filter(is_on_chain).map(waits).sum();
    if all > 0.0 { on_chains / all } else { 1.0 }
}

/// What the line with most samples waits for: the line and the opcode that make the awaited value.
/// `None` for stalls that wait for no value, and in a profile without instructions or lines.
fn awaited(launch: &ModeledLaunch, reason: StallReason) -> Option<String> {
    let listing = launch.profile.listing()?;
    let blame = listing.blame_by_line(reason);
    // A store makes no value: what comes after it waits until it has read its registers.
    let first = blame.first().filter(|first| !first.opcode.starts_with("ST"))?;
    let (producer, waiting) = (first.producer.1?, first.waiting.1?);
    Some(if producer == waiting {
        format!(" Line {waiting} waits for the {} on the same line.", first.opcode)
    } else {
        format!(" Line {waiting} waits for the {} on line {producer}.", first.opcode)
    })
}
