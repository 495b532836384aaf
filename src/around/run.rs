//! A surveyed run as the rules see it: when the device worked, when it did not, and why not.

use std::collections::HashMap;

use crate::survey::Survey;
use crate::survey::record::{Call, Process, Span};

/// What a function of CUDA does, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Puts a kernel or a graph on a stream.
    Launch,
    /// Waits for the device.
    Wait,
    /// Copies or fills.
    Copy,
    /// Takes memory or gives it back.
    Allocation,
    /// Loads or compiles code, or makes a context.
    Load,
}

/// Why the device had nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Cause {
    /// The next launch came too late, without a wait before it: launches take the host longer than their
    /// kernels take the device.
    Launch,
    /// The host waited until the device had finished, and only then gave it more to do.
    Wait,
    /// The host took memory or gave it back.
    Allocation,
    /// The host prepared a copy.
    Copy,
    /// Code was loaded or compiled.
    Load,
    /// The host did something of its own.
    Host,
}

/// A time in which the device had nothing to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gap {
    /// When.
    pub span: Span,
    /// Why.
    pub cause: Cause,
}

/// The device's waiting times between its first work and its last that are this short are its own, ns: two
/// kernels of one stream follow one another with 1 to 2 µs between them.
const OWN_GAP_NS: f64 = 1_500.0;

/// After a wait the host needs some time to launch again, ns; where it takes longer it does something of its
/// own, which would have to be moved before the wait or onto another thread.
const RELAUNCH_NS: f64 = 100_000.0;

/// Without a wait the host is busy with launching where the gap is no longer than this, ns: a launch takes
/// 2 to 10 µs.
const LAUNCH_NS: f64 = 50_000.0;

/// The process with the most work for the device, and its times.
pub(crate) struct Run<'a> {
    /// The program's time, ns.
    pub wall_ns: f64,
    /// The process.
    pub process: &'a Process,
    /// Calls that no other call made, in the order in which they began.
    pub calls: Vec<(Kind, Call)>,
    /// When at least one kernel, copy or fill was under way.
    pub busy: Vec<Span>,
    /// When at least one kernel was.
    pub kernels: Vec<Span>,
    /// When at least one copy between host and device was.
    pub copies: Vec<Span>,
    /// When nothing was, between the first work and the last.
    pub gaps: Vec<Gap>,
}

impl<'a> Run<'a> {
    /// `None` where no process gave a device anything to do.
    pub(crate) fn new(survey: &'a Survey) -> Option<Self> {
        let work = |process: &Process| process.device_spans().map(|span| span.ns()).sum::<f64>();
        let process =
            survey.processes.iter().max_by(|a, b| work(a).total_cmp(&work(b))).filter(
                |process| survey.wall_ns > 0.0 && process.device_spans().next().is_some(),
            )?;
        let calls = outermost(process);
        let busy = merged(process.device_spans().collect());
        let gaps = gaps(&busy, &calls);
        let between =
            |copy: &&crate::survey::record::Copy| copy.direction == 1 || copy.direction == 2;
        Some(Self {
            wall_ns: survey.wall_ns,
            process,
            calls,
            kernels: merged(process.kernels.iter().map(|kernel| kernel.span).collect()),
            copies: merged(process.copies.iter().filter(between).map(|copy| copy.span).collect()),
            busy,
            gaps,
        })
    }

    /// Time without work for one reason, beyond what the device needs itself, ns; and how often.
    pub(crate) fn idle(&self, cause: Cause) -> (f64, usize) {
        let of_cause = self.gaps.iter().filter(|gap| gap.cause == cause);
        let ns = |gap: &Gap| (gap.span.ns() - OWN_GAP_NS).max(0.0);
        (of_cause.clone().map(ns).sum(), of_cause.count())
    }

    /// The calls that ended the idle times of one reason, by correlation, each with the time beyond what the device needs
    /// itself, ns.
    pub(super) fn after_gaps(&self, cause: Cause) -> impl Iterator<Item = (u32, f64)> {
        let process = self.process;
        let kernels = process.kernels.iter().map(|kernel| (kernel.span, kernel.place));
        let copies = process.copies.iter().map(|copy| (copy.span, copy.place));
        let fills = process.fills.iter().map(|fill| (fill.span, fill.place));
        let work = kernels.chain(copies).chain(fills);
        let by_start: HashMap<u64, u32> =
            work.map(|(span, place)| (span.start, place.correlation)).collect();
        let of_cause = self.gaps.iter().filter(move |gap| gap.cause == cause);
        of_cause.filter_map(move |gap| {
            let correlation = by_start.get(&gap.span.end)?;
            Some((*correlation, (gap.span.ns() - OWN_GAP_NS).max(0.0)))
        })
    }

    /// From the first work to the last, ns.
    pub(crate) fn active_ns(&self) -> f64 {
        match (self.busy.first(), self.busy.last()) {
            (Some(first), Some(last)) => Span { start: first.start, end: last.end }.ns(),
            _ => 0.0,
        }
    }

    /// Calls of a kind after the device's first work: what comes before is preparation.
    pub(crate) fn calls_in_progress(&self, kind: Kind) -> impl Iterator<Item = &Call> {
        let start = self.busy.first().map_or(0, |span| span.start);
        let end = self.busy.last().map_or(0, |span| span.end);
        let of_kind = self.calls.iter().filter(move |(of, _)| *of == kind);
        of_kind.map(|(_, call)| call).filter(move |call| (start..end).contains(&call.span.start))
    }

    /// The name of a call's function.
    pub(crate) fn name(&self, call: &Call) -> &str {
        self.process.functions.get(call.function as usize).map_or("", String::as_str)
    }

    /// Functions among calls with how often each was called, the most frequent first, in words.
    pub(crate) fn names<'b>(&'b self, calls: impl Iterator<Item = &'b Call>) -> String {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for call in calls {
            *counts.entry(self.name(call)).or_default() += 1;
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let words: Vec<String> = counts
            .iter()
            .take(3)
            .map(|(name, count)| {
                let times = crate::text::count_of(*count as f64, "time");
                format!("{name} {times}")
            })
            .collect();
        words.join(", ")
    }

    /// The rate of copies to and from page-locked memory, bytes per second: that of the fastest large one of
    /// the run, otherwise what a link of the device's generation reaches.
    pub(crate) fn link_rate(&self) -> f64 {
        use crate::survey::record::memory::PINNED;
        const LARGE: u64 = 4 << 20;
        let copies = self.process.copies.iter().filter(|copy| {
            copy.bytes >= LARGE && (copy.source == PINNED || copy.destination == PINNED)
        });
        let measured = copies
            .filter(|copy| copy.direction == 1 || copy.direction == 2)
            .map(|copy| copy.bytes as f64 / (copy.span.ns() * 1e-9).max(1e-12))
            .fold(0.0, f64::max);
        if measured > 0.0 {
            return measured;
        }
        let capability = self.process.devices.values().map(|device| device.capability[0]).max();
        match capability.unwrap_or(0) {
            // 16 lanes of PCIe 5, 4 and 3, less what protocol takes.
            9.. => 50e9,
            8 => 24e9,
            _ => 12e9,
        }
    }
}

/// The time that two lists of merged spans have in common, ns.
pub(crate) fn overlap_ns(a: &[Span], b: &[Span]) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        sum += x.end.min(y.end).saturating_sub(x.start.max(y.start));
        if x.end < y.end {
            i += 1;
        } else {
            j += 1;
        }
    }
    sum as f64
}

/// The time of merged spans, ns.
pub(crate) fn sum_ns(spans: &[Span]) -> f64 {
    spans.iter().map(Span::ns).sum()
}

/// Spans put together where they meet or overlap, in order.
pub(crate) fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| span.start);
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// What a function does; `None` for one that no rule asks about.
fn kind(function: &str) -> Option<Kind> {
    let has = |part: &str| function.contains(part);
    if has("Synchronize") {
        Some(Kind::Wait)
    } else if has("Launch") {
        Some(Kind::Launch)
    } else if has("Memcpy") || has("Memset") {
        Some(Kind::Copy)
    } else if has("Load") || has("Link") || has("CtxCreate") || has("PrimaryCtxRetain") {
        Some(Kind::Load)
    } else if has("Malloc") || has("Alloc") || has("Free") {
        Some(Kind::Allocation)
    } else {
        None
    }
}

/// The calls that the program made itself: the runtime's functions call the driver's.
fn outermost(process: &Process) -> Vec<(Kind, Call)> {
    let kinds: Vec<Option<Kind>> = process.functions.iter().map(|name| kind(name)).collect();
    let mut until: HashMap<u32, u64> = HashMap::new();
    let mut calls = Vec::new();
    for call in &process.calls {
        let until = until.entry(call.thread).or_default();
        if call.span.start < *until {
            continue;
        }
        *until = call.span.end;
        if let Some(Some(kind)) = kinds.get(call.function as usize) {
            calls.push((*kind, *call));
        }
    }
    calls
}

fn gaps(busy: &[Span], calls: &[(Kind, Call)]) -> Vec<Gap> {
    // Calls in the order of their ends: those that touch a gap end in it or after it.
    let mut by_end: Vec<&(Kind, Call)> = calls.iter().collect();
    by_end.sort_by_key(|(_, call)| call.span.end);
    busy.windows(2)
        .map(|pair| {
            let span = Span { start: pair[0].end, end: pair[1].start };
            let first = by_end.partition_point(|(_, call)| call.span.end <= span.start);
            // Those that end long after the gap began before it or are another thread's; a few are enough.
            let touching = by_end[first..]
                .iter()
                .take_while(|(_, call)| call.span.end <= span.end || call.span.start < span.end)
                .take(1000);
            Gap { span, cause: cause(span, touching.map(|(kind, call)| (*kind, call.span))) }
        })
        .collect()
}

/// Why nothing was under way, from the calls that touch the gap.
fn cause(gap: Span, calls: impl Iterator<Item = (Kind, Span)>) -> Cause {
    let mut within: HashMap<Kind, f64> = HashMap::new();
    let mut has_waited = false;
    for (kind, span) in calls {
        let common = span.end.min(gap.end).saturating_sub(span.start.max(gap.start)) as f64;
        *within.entry(kind).or_default() += common;
        // It waited for the work before the gap: for its kernels, or for its copy.
        let is_wait = kind == Kind::Wait || kind == Kind::Copy;
        has_waited |= is_wait && span.start < gap.start && span.end <= gap.end;
    }
    let takes_half = |kind: Kind| within.get(&kind).is_some_and(|ns| *ns >= 0.5 * gap.ns());
    if takes_half(Kind::Load) {
        Cause::Load
    } else if takes_half(Kind::Allocation) {
        Cause::Allocation
    } else if takes_half(Kind::Copy) {
        Cause::Copy
    } else if has_waited {
        if gap.ns() <= RELAUNCH_NS { Cause::Wait } else { Cause::Host }
    } else if gap.ns() <= LAUNCH_NS || takes_half(Kind::Launch) {
        Cause::Launch
    } else {
        Cause::Host
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::around::testing::{Made, US};
    use crate::survey::record::{Kernel, Place, Span, memory};
    use crate::survey::samples::shape;

    /// Why nothing runs for so many µs after a kernel of 100 µs, given calls from when to when.
    fn cause(gap: u64, calls: &[(&str, u64, u64)]) -> Cause {
        let mut made = Made::new(vec![shape("a", 1000)]);
        let place = Place { device: 0, context: 1, stream: 7, correlation: 0, graph: 0 };
        let start = 1000 * US;
        for (from, to) in [(0, 100), (100 + gap, 200 + gap)] {
            let span = Span { start: start + from * US, end: start + to * US };
            made.process.kernels.push(Kernel { span, place, shape: 0 });
        }
        for (name, from, to) in calls {
            made.host = start + from * US;
            made.call(name, (to - from) * US);
        }
        let survey = Survey { wall_ns: 1e6, processes: vec![made.process], notices: Vec::new() };
        Run::new(&survey).unwrap().gaps[0].cause
    }

    #[test]
    fn a_pause_has_the_cause_that_takes_half_of_it() {
        assert_eq!(cause(40, &[("cudaMalloc", 100, 120)]), Cause::Allocation);
        assert_eq!(cause(40, &[("cudaMalloc", 100, 119)]), Cause::Launch);
        assert_eq!(cause(60, &[("cudaLaunchKernel", 110, 140)]), Cause::Launch);
        assert_eq!(cause(60, &[("cudaLaunchKernel", 110, 139)]), Cause::Host);
        // Without any call, launches take no longer than 50 µs.
        assert_eq!(cause(50, &[]), Cause::Launch);
        assert_eq!(cause(51, &[]), Cause::Host);
    }

    #[test]
    fn a_pause_behind_a_wait_is_the_waits_up_to_a_tenth_of_a_millisecond() {
        let wait = "cudaDeviceSynchronize";
        assert_eq!(cause(100, &[(wait, 50, 101)]), Cause::Wait);
        assert_eq!(cause(101, &[(wait, 50, 101)]), Cause::Host);
        assert_eq!(cause(40, &[("cudaMemcpy", 50, 101)]), Cause::Wait);
        // One that begins in the pause did not wait for the kernel, and one that goes on is another thread's.
        assert_eq!(cause(40, &[(wait, 110, 115)]), Cause::Launch);
        assert_eq!(cause(40, &[(wait, 50, 200)]), Cause::Launch);
    }

    #[test]
    fn spans_that_meet_or_lie_within_one_another_are_one() {
        let span = |start, end| Span { start, end };
        let merged = merged(vec![span(20, 25), span(0, 10), span(10, 30), span(31, 40)]);
        assert_eq!(merged, [span(0, 30), span(31, 40)]);
    }

    #[test]
    fn a_run_is_the_busiest_process_and_its_outermost_calls() {
        let process = |id: u32, ns: u64| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            made.process.id = id;
            made.launch(0, ns);
            // The runtime calls the driver.
            made.host -= 4 * US;
            made.call("cuLaunchKernel", US);
            made.process
        };
        let processes = vec![process(1, 10), process(2, 30), process(3, 20)];
        let survey = Survey { wall_ns: 1e6, processes, notices: Vec::new() };
        let run = Run::new(&survey).unwrap();
        assert_eq!((run.process.id, run.calls.len()), (2, 1));
    }

    #[test]
    fn the_link_is_as_fast_as_a_copy_of_four_mebibytes() {
        let rate = |bytes: u64| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            made.copy(bytes, 1000 * US, memory::PINNED, true);
            let survey =
                Survey { wall_ns: 1e7, processes: vec![made.process], notices: Vec::new() };
            Run::new(&survey).unwrap().link_rate()
        };
        // 4,194,304 bytes in a millisecond; of smaller ones nothing is known but the device's generation.
        assert!((rate(4 << 20) / 4.194_304e9 - 1.0).abs() < 1e-12);
        assert!((rate((4 << 20) - 1) / 50e9 - 1.0).abs() < 1e-12);
    }
}
