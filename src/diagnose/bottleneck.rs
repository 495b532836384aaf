//! The bottleneck of a launch in one sentence.

use super::Diagnosis;
use super::thresholds::{FEW_IDLE, LOW_THROUGHPUT};
use crate::finding::Bound;
use crate::frame::Launch;
use crate::metric::stall::StallReason;
use crate::model::Model;
use crate::rules::Kind;
use crate::term::Term;
use crate::text::{count, count_of, percent, percent_left};

/// What holds the launch back, in one sentence: which class of bottleneck, which unit, how busy it
/// is, and how much of the time no unit covers. The chain then goes on in each finding: its section,
/// its rule, its lines, its change.
#[must_use]
pub fn bottleneck_sentence(launch: &Launch, model: &Model, diagnosis: &Diagnosis) -> String {
    let roof = diagnosis
        .findings
        .first()
        .and_then(|first| crate::rules::find(&first.rule))
        .is_some_and(|rule| rule.kind == Kind::Roof);
    let busiest = if roof { model.busiest_at_work() } else { model.busiest() };
    let known = busiest.filter(|_| tells(launch, model));
    let Some((term, share)) = known else {
        let too_short = diagnosis.bound == Bound::Launch && model.launch_share() > model.idle();
        return if too_short { small_launch(launch, model) } else { without_units(launch) };
    };
    let (unit, busy) = (term.title(), percent(share));
    let uncovered = percent_left(share);
    if roof {
        return format!(
            "At the roof: the busiest unit, {unit}, works at {busy} of what this device achieves, \
             and its work is needed."
        );
    }
    let next = model.by_share().get(1).map_or_else(String::new, |&(next, share)| {
        format!(" (next: {}, {})", next.title(), percent(share))
    });
    match diagnosis.bound {
        Bound::Launch if term == Term::BlockScheduler && share > model.idle() => format!(
            "Block starts: starting {} one after another takes {busy} of the time{next}.",
            launch
                .get("launch__grid_size")
                .map_or_else(|| "blocks".to_owned(), |blocks| count_of(blocks, "block")),
        ),
        Bound::Launch => small_launch(launch, model),
        Bound::Latency => {
            let waits = longest_wait(launch).map_or_else(String::new, |(word, share)| {
                format!(", mostly for {word} ({} of the stall cycles)", percent(share))
            });
            format!(
                "Latency: the busiest unit, {unit}, is busy only {busy} of the time{next}; for the remaining \
                 {uncovered} warps wait{waits}."
            )
        }
        Bound::Memory | Bound::Compute | Bound::None => {
            let class = if term.bound() == Bound::Memory { "Memory" } else { "Compute" };
            // All of it: nothing remains.
            let rest = match uncovered.trim_start_matches('-') {
                "0%" => String::new(),
                rest => format!("; for the remaining {rest} warps wait or SMs idle"),
            };
            format!("{class}: the busiest unit, {unit}, is busy {busy} of the time{next}{rest}.")
        }
    }
}

/// True where the profile has what the model needs to tell what bounds a launch. That some unit is busy
/// is seen from its own counter, as far as ncu's throughputs show no busier one that was not counted; that none
/// is, and warps wait, only where the units of the SM are known too: ncu's details page has DRAM and L2, which
/// rest while an SM works out of its L1.
#[must_use]
pub(super) fn tells(launch: &Launch, model: &Model) -> bool {
    let of_the_sm = [Term::L1Data, Term::Lsu, Term::Issue];
    let knows_the_sm = of_the_sm.iter().any(|&term| model.utilization(term).is_some());
    match model.bound() {
        Bound::None => false,
        Bound::Latency => knows_the_sm,
        Bound::Memory | Bound::Compute => knows_the_sm || !has_a_busier_unit(launch, model),
        Bound::Launch => true,
    }
}

/// True where ncu's throughput, which is that of the busiest unit, is more than that of all units which were counted.
fn has_a_busier_unit(launch: &Launch, model: &Model) -> bool {
    let known = model.busiest().map_or(0.0, |(_, share)| share);
    let throughput = throughputs(launch).map(|(compute, memory)| compute.max(memory));
    throughput.is_some_and(|most| most.round() > (100.0 * known).round())
}

/// ncu's compute and memory throughput, in percent.
fn throughputs(launch: &Launch) -> Option<(f64, f64)> {
    let compute = launch.get("sm__throughput.avg.pct_of_peak_sustained_elapsed")?;
    let memory = launch.get("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed")?;
    Some((compute, memory))
}

/// The sentence for a launch that does not fill the device or is too short.
fn small_launch(launch: &Launch, model: &Model) -> String {
    let grid = launch.get("launch__grid_size").zip(launch.get("launch__sm_count"));
    let blocks = grid.map_or_else(String::new, |(blocks, sms)| {
        format!(" ({} on {} SMs)", count_of(blocks, "block"), count(sms))
    });
    if model.launch_share() > model.idle() {
        return format!(
            "Short kernel{blocks}: launching an empty kernel would take {} of this time.",
            percent(model.launch_share())
        );
    }
    let (unit, busy) = model.busiest().map_or(("unit", 0.0), |(term, busy)| (term.title(), busy));
    if launch.row.is_of_several_kernels() {
        return format!(
            "Idle: an average SM has no warp for {} of the time, between the kernels or beside grids that do \
             not fill the device; the busiest unit, {unit}, is busy {} of the time.",
            percent(model.idle()),
            percent(busy)
        );
    }
    if model.idle() < FEW_IDLE.value {
        return format!(
            "Small grid{blocks}: too few warps are resident to cover the waits; the busiest unit, \
             {unit}, is busy {} of the time.",
            percent(busy)
        );
    }
    format!(
        "Small grid{blocks}: an average SM has no warp for {} of the time; the busiest unit, \
         {unit}, is busy {} of the time.",
        percent(model.idle()),
        percent(busy)
    )
}

/// The sentence where no utilization counter of a unit was collected: ncu's two throughputs and the
/// schedulers tell what they can. Empty where they were not collected either.
fn without_units(launch: &Launch) -> String {
    let issue = launch
        .get("smsp__issue_active.avg.pct_of_peak_sustained_active")
        .filter(|&issue| issue > 0.0)
        .map(|issue| {
            format!("a scheduler issues one instruction every {:.1} cycles", 100.0 / issue)
        });
    match (throughputs(launch), issue) {
        (Some((compute, memory)), issue) => {
            let class = match class(compute, memory) {
                Bound::Latency => "Latency",
                Bound::Compute => "Compute",
                _ => "Memory",
            };
            let issue = issue.map_or_else(String::new, |issue| format!("; {issue}"));
            format!(
                "{class}: compute throughput {compute:.0}%, memory throughput {memory:.0}%{issue}."
            )
        }
        (None, Some(issue)) => {
            let waits = longest_wait(launch).map_or_else(String::new, |(word, share)| {
                format!("; warps wait mostly for {word} ({} of the stall cycles)", percent(share))
            });
            let mut issue = issue;
            issue[..1].make_ascii_uppercase();
            format!("{issue}{waits}. The profile does not say how busy the units are.")
        }
        (None, None) => String::new(),
    }
}

/// What bounds a launch whose profile has no unit's own counter: by the two composite throughputs, as
/// ncu's SOLBottleneck rule reads them. `None` without them.
#[must_use]
pub(super) fn bound_by_throughputs(launch: &Launch) -> Option<Bound> {
    throughputs(launch).map(|(compute, memory)| class(compute, memory))
}

fn class(compute_percent: f64, memory_percent: f64) -> Bound {
    if compute_percent.max(memory_percent) < LOW_THROUGHPUT.value {
        Bound::Latency
    } else if compute_percent > memory_percent {
        Bound::Compute
    } else {
        Bound::Memory
    }
}

/// The largest stall in words, and its share of all stall cycles.
fn longest_wait(launch: &Launch) -> Option<(&'static str, f64)> {
    let stalls = || {
        StallReason::all()
            .filter(|reason| !matches!(reason, StallReason::Selected | StallReason::NotSelected))
            .filter_map(|reason| Some((reason, launch.stall(reason).filter(|&c| c > 0.0)?)))
    };
    let all: f64 = stalls().map(|(_, cycles)| cycles).sum();
    let (reason, most) = stalls().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((wait_words(reason), most / all))
}

fn wait_words(reason: StallReason) -> &'static str {
    match reason {
        StallReason::Barrier => "other warps at barriers",
        StallReason::LongScoreboard => "data from global memory",
        StallReason::ShortScoreboard => "shared memory or special functions",
        StallReason::LgThrottle => "a slot in the queue for global memory",
        StallReason::MioThrottle => "a slot in the queue for shared memory",
        StallReason::TexThrottle => "a slot in the texture queue",
        StallReason::MathPipeThrottle => "a busy math pipe",
        StallReason::Wait => "their own previous instruction",
        StallReason::Membar => "memory fences",
        StallReason::NoInstruction => "instructions",
        StallReason::ImcMiss => "constants",
        StallReason::Drain => "their stores to leave",
        StallReason::BranchResolving => "branch targets",
        StallReason::WarpgroupArrive => "their warp group",
        StallReason::Sleeping => "the end of a sleep",
        StallReason::Dispatch
        | StallReason::Misc
        | StallReason::NotSelected
        | StallReason::Selected => "other things",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_was_not_counted_may_be_the_busiest() {
        let mut launch = Launch::default();
        launch.set(Term::Dram.counters()[0], Some(60.0));
        launch.set("sm__throughput.avg.pct_of_peak_sustained_elapsed", Some(30.0));
        let memory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
        launch.set(memory, Some(60.0));
        assert_eq!(Model::new(&launch).bound(), Bound::Memory);
        assert!(tells(&launch, &Model::new(&launch)));
        launch.set(memory, Some(90.0));
        assert!(!tells(&launch, &Model::new(&launch)));
        // With the units of the SM counted, ncu's throughput may be that of some queue.
        launch.set("sm__issue_active.avg.pct_of_peak_sustained_elapsed", Some(20.0));
        assert!(tells(&launch, &Model::new(&launch)));
    }

    #[test]
    fn a_small_grid_leaves_sms_without_warps_or_with_too_few() {
        let sentence = |active: f64| {
            let mut launch = Launch::default();
            launch.set("sm__cycles_active.avg", Some(active));
            launch.set("gpc__cycles_elapsed.max", Some(100.0));
            launch.set("sm__issue_active.avg.pct_of_peak_sustained_elapsed", Some(20.0));
            small_launch(&launch, &Model::new(&launch))
        };
        // A twentieth of the time is the limit.
        assert!(sentence(95.0).contains("no warp for 5% of the time"), "{}", sentence(95.0));
        assert!(sentence(95.1).contains("too few warps"), "{}", sentence(95.1));
    }
}
