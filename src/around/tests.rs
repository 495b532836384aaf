use super::*;
use crate::survey::record::{
    Call, Compilation, Copy, Device, Kernel, Migration, Place, Process, Shape, Span, memory,
};
use crate::survey::samples::shape;

/// A microsecond in ns.
const US: u64 = 1_000;

/// A process that is put together call by call.
#[derive(Default)]
struct Made {
    process: Process,
    /// The host's time, ns.
    host: u64,
    /// When the device's stream is free, ns.
    device: u64,
}

impl Made {
    fn new(shapes: Vec<Shape>) -> Self {
        let mut made = Self { host: 1000 * US, ..Self::default() };
        made.process.shapes = shapes;
        let name = "NVIDIA Stand-in".to_owned();
        let device = Device { name, multiprocessors: 100, capability: [9, 0], uuid: None };
        made.process.devices.insert(0, device);
        made
    }

    /// A call that takes the host so long; gives its correlation.
    fn call(&mut self, name: &str, ns: u64) -> u32 {
        let functions = &mut self.process.functions;
        let function = functions.iter().position(|known| known == name).unwrap_or_else(|| {
            functions.push(name.to_owned());
            functions.len() - 1
        });
        let span = Span { start: self.host, end: self.host + ns };
        let correlation = self.process.calls.len() as u32 + 1;
        let (function, is_driver) = (function as u32, false);
        let call = Call { span, function, is_driver, thread: 1, correlation, result: 0 };
        self.process.calls.push(call);
        self.host += ns;
        correlation
    }

    /// The device works for so long, not before the host asked for it nor before it is free.
    fn work(&mut self, ns: u64, correlation: u32) -> (Span, Place) {
        let start = self.device.max(self.host);
        self.device = start + ns;
        let place = Place { device: 0, context: 1, stream: 7, correlation, graph: 0 };
        (Span { start, end: start + ns }, place)
    }

    /// A launch, 5 µs of the host's time.
    fn launch(&mut self, shape: u32, ns: u64) {
        let correlation = self.call("cudaLaunchKernel", 5 * US);
        let (span, place) = self.work(ns, correlation);
        self.process.kernels.push(Kernel { span, place, shape });
    }

    /// A copy to the device, for which the host waits where it is not asynchronous.
    fn copy(&mut self, bytes: u64, ns: u64, source: u8, is_asynchronous: bool) {
        let name = if is_asynchronous { "cudaMemcpyAsync" } else { "cudaMemcpy" };
        let correlation = self.call(name, 3 * US);
        let (span, place) = self.work(ns, correlation);
        let (direction, destination) = (1, memory::DEVICE);
        let copy = Copy { span, place, bytes, direction, source, destination, is_asynchronous };
        self.process.copies.push(copy);
        if !is_asynchronous {
            let call = self.process.calls.last_mut().unwrap();
            call.span.end = self.device;
            self.host = self.device;
        }
    }

    /// The host waits until the device is done.
    fn wait(&mut self) {
        let ns = self.device.saturating_sub(self.host) + US;
        self.call("cudaDeviceSynchronize", ns);
    }

    /// The findings where the program takes so long.
    fn found(self, wall_ns: u64) -> Vec<Finding> {
        let wall_ns = wall_ns as f64;
        findings(&Survey { wall_ns, processes: vec![self.process], notices: Vec::new() })
    }
}

fn rules(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.rule).collect()
}

fn of<'a>(findings: &'a [Finding], rule: &str) -> &'a Finding {
    findings.iter().find(|finding| finding.rule == rule).unwrap_or_else(|| panic!("{findings:?}"))
}

/// The share of the time that an estimate takes away.
fn saved(factor: f64) -> f64 {
    1.0 - 1.0 / factor
}

#[test]
fn a_busy_device_is_no_finding() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..500 {
        made.launch(0, 100 * US);
    }
    made.wait();
    assert_eq!(made.found(60_000 * US), []);
}

#[test]
fn launches_set_the_pace() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    // Every 5 µs a kernel of 2 µs: 3 µs of waiting, of which 1.5 are the device's own.
    for _ in 0..1001 {
        made.launch(0, 2 * US);
    }
    made.wait();
    let found = made.found(10_000 * US);
    assert_eq!(rules(&found), ["many-short-launches"]);
    // 1000 pauses of 1.5 µs are 15% of 10 ms.
    let estimate = found[0].estimate;
    assert!((saved(estimate.high) - 0.15).abs() < 1e-9, "{estimate:?}");
    assert!((saved(estimate.factor) - 0.85 * 0.15).abs() < 1e-9, "{estimate:?}");
    assert!((saved(estimate.low) - 0.5 * 0.15).abs() < 1e-9, "{estimate:?}");
    assert!(found[0].message.contains("1,001 launches of 2.00 µs"), "{}", found[0].message);
}

#[test]
fn graphs_have_no_short_launches() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..1001 {
        made.launch(0, 2 * US);
    }
    for kernel in &mut made.process.kernels {
        kernel.place.graph = 1;
    }
    assert!(!rules(&made.found(10_000 * US)).contains(&"many-short-launches"));
}

#[test]
fn waits_in_a_loop_let_the_device_run_empty() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..101 {
        made.launch(0, 20 * US);
        made.wait();
    }
    let found = made.found(5_000 * US);
    assert_eq!(rules(&found), ["synchronization-in-loop"]);
    // Each wait returns 1 µs after the kernel's end and the next launch takes 5: 100 pauses of 6 µs less 1.5.
    assert!((saved(found[0].estimate.high) - 0.45 / 5.0).abs() < 1e-9, "{:?}", found[0]);
    assert!((saved(found[0].estimate.factor) - 0.85 * 0.45 / 5.0).abs() < 1e-9, "{:?}", found[0]);
    assert!((saved(found[0].estimate.low) - 0.4 * 0.45 / 5.0).abs() < 1e-9, "{:?}", found[0]);
    let names = "cudaDeviceSynchronize 101 times";
    assert!(found[0].message.contains(names), "{}", found[0].message);
}

#[test]
fn the_host_works_while_the_device_waits() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..11 {
        made.launch(0, 1000 * US);
        made.wait();
        // Half a millisecond of its own.
        made.host += 500 * US;
    }
    let found = made.found(20_000 * US);
    assert_eq!(rules(&found), ["gpu-idle-between-launches"]);
    // Ten pauses of 506 µs less 1.5.
    let most = 10.0 * 504.5 / 20_000.0;
    assert!((saved(found[0].estimate.high) - most).abs() < 1e-9, "{:?}", found[0].estimate);
    assert!((saved(found[0].estimate.factor) - 0.7 * most).abs() < 1e-9);
    // Kernels of 100 µs can hide no more than 1.1 ms of it.
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..11 {
        made.launch(0, 100 * US);
        made.wait();
        made.host += 500 * US;
    }
    let estimate = made.found(20_000 * US)[0].estimate;
    assert!((saved(estimate.high) - most).abs() < 1e-9, "{estimate:?}");
    assert!((saved(estimate.factor) - 0.7 * 1.1 / 20.0).abs() < 1e-9, "{estimate:?}");
    assert!((saved(estimate.low) - 0.3 * 1.1 / 20.0).abs() < 1e-9, "{estimate:?}");
}

#[test]
fn memory_is_taken_in_the_loop() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..50 {
        made.call("cudaMalloc", 200 * US);
        made.launch(0, 20 * US);
        let until = made.device;
        made.call("cudaFree", until.saturating_sub(made.host) + 100 * US);
    }
    let found = made.found(20_000 * US);
    assert_eq!(rules(&found), ["allocation-in-loop"]);
    // Between kernels: 100 µs of cudaFree, 200 of cudaMalloc, 5 of the launch, less 1.5, 49 times.
    let idle = 49.0 * 303.5 / 20_000.0;
    assert!((saved(found[0].estimate.factor) - 0.9 * idle).abs() < 1e-9, "{:?}", found[0]);
    assert!((saved(found[0].estimate.low) - 0.5 * idle).abs() < 1e-9, "{:?}", found[0]);
    // At best the calls themselves: 49 times 200 µs and 50 times 120, with the kernel that cudaFree waits for.
    let calls = (49.0 * 200.0 + 50.0 * 120.0) / 20_000.0;
    assert!((saved(found[0].estimate.high) - calls).abs() < 1e-9, "{:?}", found[0]);
    // What comes from a pool costs little and is no fault.
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..50 {
        made.call("cudaMallocAsync", 2 * US);
        made.launch(0, 20 * US);
        made.call("cudaFreeAsync", 2 * US);
    }
    assert_eq!(made.found(2_000 * US), []);
}

#[test]
fn copies_stand_alone() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..10 {
        made.copy(25 << 20, 500 * US, memory::PINNED, true);
        made.launch(0, 400 * US);
    }
    let found = made.found(10_000 * US);
    assert_eq!(rules(&found), ["copies-not-overlapped"]);
    // 5 ms of copies and 4 ms of kernels: the shorter can be hidden, to 60% as a rule.
    assert!((saved(found[0].estimate.factor) - 0.24).abs() < 1e-9, "{:?}", found[0]);
    assert!((saved(found[0].estimate.high) - 0.4).abs() < 1e-9, "{:?}", found[0]);
    assert!(found[0].estimate.low < 1.0 + 1e-9, "the data may all be needed at first");
}

#[test]
fn pageable_memory_is_slow() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..10 {
        // 10 MB in 2 ms are 5 GB/s.
        made.copy(10_000_000, 2000 * US, memory::PAGEABLE, false);
    }
    // A large page-locked copy tells what the link can do: 20 GB/s.
    made.copy(20_000_000, 1000 * US, memory::PINNED, true);
    // A faster one that stays on the device, and one that never comes near it, do not count.
    for (ns, direction, source) in [(10 * US, 8, memory::PINNED), (900 * US, 9, memory::PAGEABLE)] {
        made.copy(20_000_000, ns, source, true);
        made.process.copies.last_mut().unwrap().direction = direction;
    }
    let found = made.found(40_000 * US);
    let finding = of(&found, "pageable-host-memory");
    // 20 ms instead of 5.
    assert!((saved(finding.estimate.factor) - 15.0 / 40.0).abs() < 1e-9, "{finding:?}");
    assert!((saved(finding.estimate.low) - 0.6 * 15.0 / 40.0).abs() < 1e-9, "{finding:?}");
    assert!((saved(finding.estimate.high) - 1.2 * 15.0 / 40.0).abs() < 1e-9, "{finding:?}");
    assert!(finding.message.contains("10 copies"), "{}", finding.message);
    assert!(!rules(&found).contains(&"copies-not-overlapped"), "there are no kernels to hide them");
}

#[test]
fn new_pages_cost_time_locked_or_not() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    // 15 MB in 15 ms are 1 GB/s: the host's pages are new.
    made.copy(15_000_000, 15_000 * US, memory::PAGEABLE, false);
    let copy = made.process.copies.last_mut().unwrap();
    (copy.direction, copy.source, copy.destination) = (2, memory::DEVICE, memory::PAGEABLE);
    made.copy(20_000_000, 1000 * US, memory::PINNED, true);
    let found = made.found(40_000 * US);
    let finding = of(&found, "pageable-host-memory");
    // Locked anew at 1.5 GB/s they take 10 ms, used again at 20 GB/s 0.75 ms.
    assert!((saved(finding.estimate.low) - 5.0 / 40.0).abs() < 1e-9, "{finding:?}");
    assert!((saved(finding.estimate.high) - 14.25 / 40.0).abs() < 1e-9, "{finding:?}");
    assert!((saved(finding.estimate.factor) - 9.625 / 40.0).abs() < 1e-9, "{finding:?}");
    assert!(finding.message.contains("1 of them is so slow"), "{}", finding.message);
}

#[test]
fn new_pages_are_the_hosts_and_come_no_faster_than_the_link() {
    let estimate = |is_to_host: bool, pinned_ns: u64| {
        let mut made = Made::new(vec![shape("a", 1000)]);
        made.copy(15_000_000, 15_000 * US, memory::PAGEABLE, false);
        let copy = made.process.copies.last_mut().unwrap();
        if is_to_host {
            (copy.direction, copy.source, copy.destination) = (2, memory::DEVICE, memory::PAGEABLE);
        }
        made.copy(12_000_000, pinned_ns, memory::PINNED, true);
        of(&made.found(40_000 * US), "pageable-host-memory").estimate
    };
    // However slow, a copy to the device finds its pages: 15 MB at 12 GB/s take 1.25 ms of 15.
    let up = estimate(false, 1000 * US);
    assert!((saved(up.factor) - 13.75 / 40.0).abs() < 1e-9, "{up:?}");
    // Over a link of 1.2 GB/s 12.5 ms, more than the 10 that new pages take.
    let slow = estimate(true, 10_000 * US);
    assert!((saved(slow.low) - 2.5 / 40.0).abs() < 1e-9, "{slow:?}");
    assert!((saved(slow.high) - 2.5 / 40.0).abs() < 1e-9, "{slow:?}");
}

#[test]
fn small_copies_are_all_overhead() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..1000 {
        made.copy(256, 2 * US, memory::PINNED, true);
    }
    let found = made.found(10_000 * US);
    assert_eq!(rules(&found), ["small-copies"]);
    assert!(found[0].message.starts_with("1,000 copies, of 256 B"), "{}", found[0].message);
    // 2 ms of copies; between them the host takes 3 µs for a call, which leaves a pause of 1 µs: the
    // device's own. The bytes themselves, 256 KB at 50 GB/s, take 5 µs.
    let likely = 0.8 * (2000.0 - 5.12) / 10_000.0;
    assert!((saved(found[0].estimate.factor) - likely).abs() < 1e-6, "{:?}", found[0].estimate);
    assert!((saved(found[0].estimate.low) - 0.5 * likely).abs() < 1e-6, "{:?}", found[0].estimate);
}

#[test]
fn small_copies_beside_a_kernel_cost_nothing() {
    let found = |count: usize, beside: usize| {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..count {
            made.copy(256, 2 * US, memory::PINNED, true);
        }
        if beside > 0 {
            let copies = &made.process.copies;
            let span = Span { start: copies[0].span.start, end: copies[beside - 1].span.end };
            let place = Place { device: 0, context: 1, stream: 8, correlation: 0, graph: 0 };
            made.process.kernels.push(Kernel { span, place, shape: 0 });
        }
        made.found(10_000 * US)
    };
    // A kernel runs beside the first half of a thousand: 1 ms of copies is left.
    let half = found(1000, 500);
    let likely = 0.8 * (1000.0 - 5.12) / 10_000.0;
    let finding = of(&half, "small-copies");
    assert!((saved(finding.estimate.factor) - likely).abs() < 1e-6, "{:?}", finding.estimate);
    // Two hundred are a pattern.
    assert_eq!(rules(&found(200, 0)), ["small-copies"]);
    assert_eq!(found(199, 0), []);
}

#[test]
fn small_kernels_leave_room() {
    // 10 blocks on 100 multiprocessors.
    let mut made = Made::new(vec![shape("a", 10)]);
    for _ in 0..100 {
        made.launch(0, 50 * US);
    }
    let found = made.found(10_000 * US);
    assert_eq!(rules(&found), ["kernels-not-concurrent"]);
    assert!((saved(found[0].estimate.factor) - 0.25).abs() < 1e-9, "{:?}", found[0].estimate);
    assert!((saved(found[0].estimate.high) - 0.375).abs() < 1e-9, "{:?}", found[0].estimate);
    assert!(found[0].message.contains("can't tell which of them depend"), "{}", found[0].message);
    // Where two run side by side already nothing is said.
    let mut made = Made::new(vec![shape("a", 10)]);
    for _ in 0..100 {
        made.launch(0, 50 * US);
        let twin = *made.process.kernels.last().unwrap();
        made.process.kernels.push(twin);
    }
    assert_eq!(made.found(10_000 * US), []);
}

#[test]
fn managed_memory_moves_in_pieces() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    made.launch(0, 1000 * US);
    for piece in 0..100 {
        let start = 1000 * US + piece * 10 * US;
        let span = Span { start, end: start + 10 * US };
        // 25,000 bytes in 10 µs; at 50 GB/s half a microsecond.
        made.process.migrations.push(Migration { span, value: 25_000, counter: 1 });
    }
    let span = Span { start: 1000 * US, end: 1100 * US };
    made.process.migrations.push(Migration { span, value: 40, counter: 4 });
    let found = made.found(2_000 * US);
    assert_eq!(rules(&found), ["unified-memory-migration"]);
    assert!((saved(found[0].estimate.high) - 950.0 / 2000.0).abs() < 1e-9, "{:?}", found[0]);
    assert!((saved(found[0].estimate.factor) - 0.8 * 0.475).abs() < 1e-9, "{:?}", found[0]);
    assert!((saved(found[0].estimate.low) - 0.4 * 0.475).abs() < 1e-9, "{:?}", found[0]);
    assert!(found[0].message.contains("40 GPU page faults"), "{}", found[0].message);
}

#[test]
fn code_is_compiled_once() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    made.launch(0, 1000 * US);
    let span = |start, end| Span { start, end };
    made.process.compilations = vec![
        Compilation { span: span(0, 400 * US), operation: 3 },
        Compilation { span: span(0, 900 * US), operation: 1 },
    ];
    let found = made.found(2_000 * US);
    assert_eq!(rules(&found), ["compiled-at-start-up"]);
    assert!((saved(found[0].estimate.factor) - 0.2).abs() < 1e-9, "{:?}", found[0].estimate);
    assert!(saved(found[0].estimate.low).abs() < 1e-9, "the cache may have it by the next run");
}

#[test]
fn rules_are_named_and_documented() {
    let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), RULES.len());
    for rule in RULES {
        assert!(rule.checks.ends_with('.') && !rule.hint.ends_with('.'), "{}", rule.name);
    }
}

#[test]
fn lanes_show_who_works_when() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    made.launch(0, 30 * US);
    made.wait();
    made.host += 40 * US - 6 * US;
    made.launch(0, 30 * US);
    let survey = Survey { wall_ns: 1e6, processes: vec![made.process], notices: Vec::new() };
    let (ns, lanes) = lanes::lanes(&survey);
    // 30 µs of work, 1 + 34 + 5 of pause, 30 of work.
    assert!((ns - 100_000.0).abs() < 1e-9, "{ns}");
    assert_eq!(lanes[0].name, "stream 7");
    let busy: Vec<f64> = lanes[0].busy.iter().map(|share| share.round()).collect();
    assert_eq!(busy.iter().filter(|share| **share > 0.5).count(), 60);
    assert_eq!((busy[29], busy[30], busy[69], busy[70]), (1.0, 0.0, 0.0, 1.0));
    assert!(lanes.iter().any(|lane| lane.name == "the host waits"));
}

#[test]
fn a_pattern_has_its_least_number() {
    // A hundred launches leave 99 pauses.
    let short = |count: usize| {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..count {
            made.launch(0, 2 * US);
        }
        made.found(1000 * US)
    };
    assert_eq!(rules(&short(101)), ["many-short-launches"]);
    assert_eq!(short(100), []);
    // Twenty waits, each with a pause behind it, the last one without.
    let waits = |pauses: usize, more: usize| {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..pauses {
            made.launch(0, 20 * US);
            made.wait();
        }
        made.launch(0, 2000 * US);
        for _ in 0..more {
            made.wait();
        }
        rules(&made.found(2_500 * US)).contains(&"synchronization-in-loop")
    };
    assert!(waits(20, 0) && !waits(19, 5));
    // Twenty kernels of 5 µs with few blocks.
    let small_of = |blocks: u32, count: usize, ns: u64| {
        let mut made = Made::new(vec![shape("a", blocks)]);
        for _ in 0..count {
            made.launch(0, ns);
        }
        rules(&made.found(110 * US)).contains(&"kernels-not-concurrent")
    };
    // Half as many as there are multiprocessors leave room.
    assert!(small_of(50, 20, 5 * US) && !small_of(51, 20, 5 * US));
    assert!(!small_of(50, 19, 5 * US) && !small_of(50, 20, 4999));
    // Twenty calls, ten of each kind.
    let allocations = |count: usize, name: &str| {
        let mut made = Made::new(vec![shape("a", 1000)]);
        made.launch(0, 20 * US);
        for _ in 0..count {
            made.call(name, 100 * US);
        }
        made.launch(0, 20 * US);
        rules(&made.found(2_500 * US)).contains(&"allocation-in-loop")
    };
    assert!(allocations(20, "cudaMalloc") && !allocations(19, "cudaMalloc"));
    assert!(!allocations(20, "cudaMallocAsync"), "it comes from a pool");
}

#[test]
fn memory_that_is_taken_before_the_work_or_given_back_after_it_is_in_no_loop() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..50 {
        made.call("cudaMalloc", 100 * US);
    }
    made.launch(0, 1000 * US);
    made.wait();
    for _ in 0..50 {
        made.call("cudaFree", 100 * US);
    }
    assert_eq!(made.found(12_000 * US), []);
}

#[test]
fn pauses_between_calls_can_cost_more_than_the_calls() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..50 {
        made.call("cudaMalloc", 200 * US);
        made.launch(0, 20 * US);
        made.host += 20 * US + 50 * US;
    }
    // 49 times 200 µs of calls; 50 of the host's own, 200, and 5 of the launch, less 1.5.
    let found = made.found(20_000 * US);
    let idle = 49.0 * 253.5 / 20_000.0;
    assert_eq!(rules(&found), ["allocation-in-loop"]);
    assert!((saved(found[0].estimate.high) - idle).abs() < 1e-9, "{:?}", found[0]);
}

#[test]
fn a_copy_for_which_the_host_waits_is_a_wait() {
    let found = |name: &str| {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..25 {
            made.launch(0, 20 * US);
            let until = made.device - made.host + US;
            made.call(name, until);
        }
        made.found(1000 * US)
    };
    let blocking = found("cudaMemcpy");
    assert_eq!(rules(&blocking), ["synchronization-in-loop"]);
    assert!(blocking[0].message.contains("cudaMemcpy 25 times"), "{}", blocking[0].message);
    assert_eq!(found("cudaMemcpyAsync"), [], "nothing that waits by its name");
}

#[test]
fn of_copies_and_kernels_side_by_side_the_rest_can_be_hidden() {
    // A copy from 0 to 500 µs, and a kernel from 300 µs on.
    let hidden = |until: u64| {
        let mut made = Made::new(vec![shape("a", 1000)]);
        made.copy(25 << 20, 500 * US, memory::PINNED, true);
        let start = made.process.copies[0].span.start;
        let place = Place { device: 0, context: 1, stream: 8, correlation: 0, graph: 0 };
        let span = Span { start: start + 300 * US, end: start + until * US };
        made.process.kernels.push(Kernel { span, place, shape: 0 });
        let found = made.found(1000 * US);
        saved(of(&found, "copies-not-overlapped").estimate.high)
    };
    // 300 µs of the copy alone, and 200 or 600 of the kernel.
    assert!((hidden(700) - 0.2).abs() < 1e-9 && (hidden(1100) - 0.3).abs() < 1e-9);
}

/// Why nothing runs for so many µs after a kernel of 100 µs, given calls from when to when.
fn cause(gap: u64, calls: &[(&str, u64, u64)]) -> run::Cause {
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
    run::Run::new(&survey).unwrap().gaps[0].cause
}

#[test]
fn a_pause_has_the_cause_that_takes_half_of_it() {
    use run::Cause;
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
    use run::Cause;
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
    let merged = run::merged(vec![span(20, 25), span(0, 10), span(10, 30), span(31, 40)]);
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
    let run = run::Run::new(&survey).unwrap();
    assert_eq!((run.process.id, run.calls.len()), (2, 1));
}

#[test]
fn short_kernels_take_a_fiftieth_of_a_millisecond_or_less() {
    let found = |ns: u64| {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..101 {
            made.launch(0, ns);
            made.host = made.device + 5 * US;
        }
        rules(&made.found(4_000 * US)).contains(&"many-short-launches")
    };
    assert!(found(20 * US) && !found(20 * US + 1));
}

#[test]
fn sizes_decide_what_a_copy_is() {
    // Small below 64 KiB, and ruled by its rate from there on.
    let copies = |bytes: u64, source: u8| {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..200 {
            made.copy(bytes, 100 * US, source, true);
        }
        made.found(25_000 * US)
    };
    let limit = 64 << 10;
    assert!(rules(&copies(limit - 1, memory::PINNED)).contains(&"small-copies"));
    assert!(!rules(&copies(limit, memory::PINNED)).contains(&"small-copies"));
    assert!(!rules(&copies(limit - 1, memory::PAGEABLE)).contains(&"pageable-host-memory"));
    assert!(rules(&copies(limit, memory::PAGEABLE)).contains(&"pageable-host-memory"));
}

#[test]
fn the_link_is_as_fast_as_a_copy_of_four_mebibytes() {
    let rate = |bytes: u64| {
        let mut made = Made::new(vec![shape("a", 1000)]);
        made.copy(bytes, 1000 * US, memory::PINNED, true);
        let survey = Survey { wall_ns: 1e7, processes: vec![made.process], notices: Vec::new() };
        run::Run::new(&survey).unwrap().link_rate()
    };
    // 4,194,304 bytes in a millisecond; of smaller ones nothing is known but the device's generation.
    assert!((rate(4 << 20) / 4.194_304e9 - 1.0).abs() < 1e-12);
    assert!((rate((4 << 20) - 1) / 50e9 - 1.0).abs() < 1e-12);
}

#[test]
fn pages_are_new_where_a_copy_to_the_host_is_slower_than_what_pages_in_use_allow() {
    let is_new = |gb_per_s: f64| {
        let mut made = Made::new(vec![shape("a", 1000)]);
        made.copy((gb_per_s * 1e6) as u64, 1000 * US, memory::PAGEABLE, false);
        let copy = made.process.copies.last_mut().unwrap();
        (copy.direction, copy.source, copy.destination) = (2, memory::DEVICE, memory::PAGEABLE);
        of(&made.found(2_000 * US), "pageable-host-memory").message.contains("so slow")
    };
    assert!(is_new(3.7) && !is_new(3.9));
}

#[test]
fn a_fault_takes_no_more_than_all_but_a_fiftieth_of_a_program() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    made.launch(0, 1000 * US);
    made.process.compilations =
        vec![Compilation { span: Span { start: 0, end: 990 * US }, operation: 3 }];
    let found = made.found(1000 * US);
    assert!((saved(found[0].estimate.factor) - 0.98).abs() < 1e-9, "{:?}", found[0]);
}

#[test]
fn the_ten_busiest_lanes_are_shown() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for stream in 1..=11 {
        made.launch(0, 10 * US * u64::from(stream));
        made.process.kernels.last_mut().unwrap().place.stream = stream;
    }
    let survey = Survey { wall_ns: 1e6, processes: vec![made.process], notices: Vec::new() };
    let (_, lanes) = lanes::lanes(&survey);
    assert_eq!((lanes.len(), lanes[0].name.as_str()), (10, "stream 11"));
    assert!(lanes.iter().all(|lane| lane.name != "stream 1"));
}
