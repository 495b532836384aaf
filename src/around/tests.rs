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
    // 5 ms of copies and 4 ms of kernels: the shorter can be hidden.
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
    let found = made.found(40_000 * US);
    let finding = of(&found, "pageable-host-memory");
    // 20 ms instead of 5.
    assert!((saved(finding.estimate.factor) - 15.0 / 40.0).abs() < 1e-9, "{finding:?}");
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
fn small_copies_are_all_overhead() {
    let mut made = Made::new(vec![shape("a", 1000)]);
    for _ in 0..1000 {
        made.copy(256, 2 * US, memory::PINNED, true);
    }
    let found = made.found(10_000 * US);
    assert_eq!(rules(&found), ["small-copies"]);
    assert!(found[0].message.starts_with("1,000 copies of 256 B"), "{}", found[0].message);
    // 2 ms of copies; between them the host takes 3 µs for a call, which leaves a pause of 1 µs: the
    // device's own. The bytes themselves, 256 KB at 50 GB/s, take 5 µs.
    let likely = 0.8 * (2000.0 - 5.12) / 10_000.0;
    assert!((saved(found[0].estimate.factor) - likely).abs() < 1e-6, "{:?}", found[0].estimate);
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
    assert!(found[0].message.contains("can't tell which of them wait"), "{}", found[0].message);
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
