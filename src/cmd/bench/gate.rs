//! `adoprof bench --gate`: the gate on a device, with kernels that are alike and with slow-downs of known size.

use std::time::{Duration, Instant};

use crate::cli::BenchArgs;
use crate::cmd::shared::in_turn::{InTurn, Request, compare};
use crate::cmd::shared::printer::Printer;
use crate::error::{ExitCode, Result};
use crate::gate::{self, Experiment, Planted, Row, Verdict};
use crate::launch::{Candidate, Device, Prepared};
use crate::progress::Progress;

/// A run of a planted kernel takes less than a millisecond.
const LIMIT: Duration = Duration::from_secs(20);
/// How long a slow-down is measured to know how large it is.
const TRUTH: Duration = Duration::from_millis(700);

pub(super) fn run(args: &BenchArgs, printer: &Printer) -> Result<ExitCode> {
    let form = gate::Form::of(args.format.name())?;
    let device = Device::open(args.device)?;
    let progress = printer.progress();
    let (part, of) = args.part;
    let request = Request { max_slowdown: gate::MAX_SLOWDOWN, max_time: args.max_time };
    let clock = Prepared::new(&device, gate::clock_reader(), LIMIT)?;
    let bench = Bench { device: &device, clock: &clock };
    let mut experiment = Experiment::default();
    let all = gate::experiments();
    let mine: Vec<_> =
        all.iter().enumerate().filter(|(at, _)| at % of as usize + 1 == part as usize).collect();
    for (done, &(_, &(planted, extra))) in mine.iter().enumerate() {
        progress.stage(format!(
            "{} with {}% planted, comparison {} of {}",
            planted.name(),
            100.0 * extra,
            done + 1,
            mine.len()
        ));
        let start = Instant::now();
        let found = bench.compare(planted, extra, request)?;
        let verdict = found.comparison.map_or(Verdict::Undecided, |found| found.verdict);
        experiment.add(planted, extra, verdict, start.elapsed());
    }
    for row in &mut experiment.rows {
        row.measured = bench.truth(row, &progress)?;
    }
    drop(progress);
    printer.result(|_, out| experiment.write(form, &device.name, out))?;
    Ok(ExitCode::Success)
}

struct Bench<'a> {
    device: &'a Device,
    clock: &'a Prepared,
}

impl Bench<'_> {
    /// Compares a kernel with itself with more work. Both are compiled, loaded, and given memory anew.
    fn compare(&self, planted: Planted, extra: f64, request: Request) -> Result<InTurn> {
        let sms = self.device.sm_count;
        let base = Prepared::new(self.device, planted.plan(0.0, sms), LIMIT)?;
        let new = base.companion(self.device, planted.plan(extra, sms))?;
        compare(self.device, &base, Candidate::Companion(&new), Some(self.clock), request, |_| ())
    }

    /// How much slower the kernel of a row truly is: all runs of several comparisons, by their sums.
    fn truth(&self, row: &Row, progress: &Progress) -> Result<f64> {
        progress.stage(format!("measuring {} with {}% planted", row.kernel, 100.0 * row.planted));
        let request = Request { max_slowdown: gate::MAX_SLOWDOWN, max_time: TRUTH };
        let (mut base_ns, mut new_ns) = (Vec::new(), Vec::new());
        let start = Instant::now();
        while start.elapsed() < TRUTH {
            let found = self.compare(row.which, row.planted, request)?;
            base_ns.extend(found.base_ns);
            new_ns.extend(found.new_ns);
        }
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64;
        Ok(mean(&new_ns) / mean(&base_ns) - 1.0)
    }
}
