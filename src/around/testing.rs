//! A surveyed process that a test puts together call by call.

use super::{Finding, findings};
use crate::survey::Survey;
use crate::survey::record::{Call, Copy, Device, Kernel, Place, Process, Shape, Span, memory};

/// A microsecond in ns.
pub(super) const US: u64 = 1_000;

/// A process that is put together call by call.
#[derive(Default)]
pub(super) struct Made {
    pub process: Process,
    /// The host's time, ns.
    pub host: u64,
    /// When the device's stream is free, ns.
    pub device: u64,
}

impl Made {
    pub(super) fn new(shapes: Vec<Shape>) -> Self {
        let mut made = Self { host: 1000 * US, ..Self::default() };
        made.process.shapes = shapes;
        let name = "NVIDIA Stand-in".to_owned();
        let device = Device {
            name,
            multiprocessors: 100,
            capability: [9, 0],
            uuid: None,
            memory_bytes: 0,
            memory_bytes_per_s: 1_000_000_000_000,
        };
        made.process.devices.insert(0, device);
        made
    }

    /// A call that takes the host so long; gives its correlation.
    pub(super) fn call(&mut self, name: &str, ns: u64) -> u32 {
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
    pub(super) fn work(&mut self, ns: u64, correlation: u32) -> (Span, Place) {
        let start = self.device.max(self.host);
        self.device = start + ns;
        let place = Place { device: 0, context: 1, stream: 7, correlation, graph: 0 };
        (Span { start, end: start + ns }, place)
    }

    /// A launch, 5 µs of the host's time.
    pub(super) fn launch(&mut self, shape: u32, ns: u64) {
        let correlation = self.call("cudaLaunchKernel", 5 * US);
        let (span, place) = self.work(ns, correlation);
        self.process.kernels.push(Kernel { span, place, shape });
    }

    /// A copy to the device, for which the host waits where it is not asynchronous.
    pub(super) fn copy(&mut self, bytes: u64, ns: u64, source: u8, is_asynchronous: bool) {
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
    pub(super) fn wait(&mut self) {
        let ns = self.device.saturating_sub(self.host) + US;
        self.call("cudaDeviceSynchronize", ns);
    }

    /// The findings where the program takes so long.
    pub(super) fn found(self, wall_ns: u64) -> Vec<Finding> {
        let wall_ns = wall_ns as f64;
        findings(&Survey { wall_ns, processes: vec![self.process], notices: Vec::new() })
    }
}

pub(super) fn rules(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.rule).collect()
}

pub(super) fn of<'a>(findings: &'a [Finding], rule: &str) -> &'a Finding {
    findings.iter().find(|finding| finding.rule == rule).unwrap_or_else(|| panic!("{findings:?}"))
}

/// The share of the time that an estimate takes away.
pub(super) fn saved(factor: f64) -> f64 {
    1.0 - 1.0 / factor
}
