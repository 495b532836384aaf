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
    let effect = Effect::stalls([stall.reason]);
    let gain = launch.model.without(&effect).map_or(1.0, |estimate| estimate.factor);
    let large = 100.0 * cycles / all >= STALL_SHARE || cycles > 0.0 && gain >= LEAST_GAIN;
    if !(large && issue < STALL_ISSUE) {
        return None;
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
