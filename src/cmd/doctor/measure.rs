//! `adoprof doctor --measure`: runs the probes and writes the device's file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::DoctorArgs;
use crate::cmd::shared::facts::show;
use crate::cmd::shared::printer::Printer;
use crate::device::{self, DeviceFacts, Quantity, four_digits, slug, user_folder};
use crate::doctor::{self, driver_release};
use crate::document::{DoctorDocument, MeasuredQuantity};
use crate::error::{Error, ExitCode, Result};
use crate::files::write_atomically;
use crate::launch::{Device, Prepared, Repetitions, median_and_range};
use crate::probe::{
    Longer, Measured, Probe, Sizes, WARM_UP_RUNS, comparison, fma_share, latency_cycles, per_extra,
};
use crate::progress::Progress;

/// No probe runs longer than some hundredths of a second.
const LIMIT: Duration = Duration::from_secs(20);
/// Times that each probe runs; the median counts, for rates the fastest kernel's.
const RUNS: usize = 11;
/// Times that an empty launch runs: one of them is soon disturbed.
const EMPTY_RUNS: usize = 201;

pub(super) fn run(args: &DoctorArgs, printer: &Printer) -> Result<ExitCode> {
    // Known before the device is kept busy for nothing.
    let path = match (&args.output, args.dry_run) {
        (Some(path), _) => Some(path.clone()),
        (None, true) => None,
        (None, false) => Some(user_folder().ok_or_else(no_folder)?),
    };
    let device = Device::open(args.device)?;
    let path = path.map(|path| place(path, args.output.is_some(), &device));
    let progress = printer.progress();
    let (measured, failures) = measure(&device, &progress)?;
    drop(progress);
    for failure in failures {
        printer.warning(&failure);
    }
    let shipped = DeviceFacts::shipped(Some(&device.name), Some(device.compute_capability));
    let document = document(&measured, &shipped);
    show(args.result, printer, || comparison(&measured, &shipped), &document)?;
    if let (Some(path), false) = (path, args.dry_run) {
        write_atomically(&path, file(&device, &measured, &path).as_bytes())?;
        printer.notice(&format!("written to {}", path.display()));
    }
    Ok(ExitCode::Success)
}

/// What was measured as a document.
fn document(measured: &[Measured], shipped: &DeviceFacts) -> DoctorDocument {
    let quantity = |one: &Measured| {
        let definition = one.quantity.definition();
        MeasuredQuantity {
            quantity: definition.key,
            value: one.value,
            unit: definition.unit,
            how: one.how.clone(),
            shipped: shipped.get(one.quantity),
        }
    };
    DoctorDocument { measured: measured.iter().map(quantity).collect(), ..doctor::document(&[]) }
}

fn no_folder() -> Error {
    Error::Usage(
        "there is no folder for your configuration (HOME is not set): name a file with -o"
            .to_owned(),
    )
}

/// The file itself: what the user named, or the device's name in the folder.
fn place(path: PathBuf, is_named: bool, device: &Device) -> PathBuf {
    if is_named { path } else { path.join(format!("{}.toml", slug(&device.name))) }
}

/// The file's text: what was measured now, and what a file of an earlier day has beside it.
fn file(device: &Device, measured: &[Measured], path: &Path) -> String {
    let date = jiff::Zoned::now().strftime("%Y-%m-%d");
    let driver = driver_release().map_or_else(String::new, |release| format!("driver {release}, "));
    let by = format!(
        "measured by adoprof doctor --measure on {date}, {driver}CUDA {}",
        device.cuda_version
    );
    let mut facts: Vec<(Quantity, f64, String)> = measured
        .iter()
        .map(|one| (one.quantity, one.value, format!("{by}: {}", one.how)))
        .collect();
    for old in device::written(path) {
        if facts.iter().all(|(quantity, ..)| *quantity != old.0) {
            facts.push(old);
        }
    }
    facts.sort_by_key(|(quantity, ..)| *quantity as usize);
    let architecture = device::architecture(device.compute_capability);
    device::text(&device.name, architecture.as_deref(), &facts)
}

/// Runs all probes. What one of them can't do is told, and the others go on.
///
/// # Errors
/// [`Error::Interrupted`] on Ctrl-C, or where a probe does not end.
fn measure<'a>(device: &'a Device, progress: &Progress) -> Result<(Vec<Measured>, Vec<String>)> {
    let bench = Bench {
        device,
        sizes: Sizes {
            sm_count: device.sm_count,
            l2_bytes: device.l2_bytes,
            free_bytes: device.free_bytes,
        },
    };
    let probes: [(&str, Run<'a>); 7] = [
        ("multiply-adds", Bench::multiply_adds),
        ("reads of device memory", Bench::dram_reads),
        ("copies", Bench::copies),
        ("reads of L2", Bench::l2_reads),
        ("launches and blocks", Bench::launches),
        ("atomics", Bench::atomics),
        ("latencies", Bench::latencies),
    ];
    let (mut measured, mut failures) = (Vec::new(), Vec::new());
    for (at, (what, probe)) in probes.iter().enumerate() {
        progress.stage(format!("measuring {what} ({} of {})", at + 1, probes.len()));
        match probe(&bench) {
            Ok(values) => measured.extend(values),
            Err(error @ Error::Interrupted(_)) => return Err(error),
            Err(error) => failures.push(format!("{what} could not be measured: {error}")),
        }
    }
    if measured.is_empty() {
        return Err(Error::Environment(failures.join("\n")));
    }
    measured.sort_by_key(|one| one.quantity as usize);
    Ok((measured, failures))
}

/// What measures one or several quantities.
type Run<'a> = fn(&Bench<'a>) -> Result<Vec<Measured>>;

/// The device under test.
struct Bench<'a> {
    device: &'a Device,
    sizes: Sizes,
}

impl Bench<'_> {
    fn prepare(&self, probe: &Probe) -> Result<Prepared> {
        Prepared::new(self.device, probe.plan.clone(), LIMIT)
    }

    /// The median time of a probe, ns, after two runs that don't count.
    fn median_ns(&self, probe: &Probe, runs: usize) -> Result<f64> {
        let prepared = self.prepare(probe)?;
        let times = (0..runs + 2).map(|_| prepared.run()).collect::<Result<Vec<f64>>>()?;
        Ok(median_and_range(&times[2..]).median.max(1.0))
    }

    fn bytes_per_s(&self, probe: &Probe) -> Result<f64> {
        Ok(probe.work / self.median_ns(probe, RUNS)? * 1e9)
    }

    /// Nanoseconds per unit of work that the long probe has more than the short one.
    fn per_extra(&self, short: &Probe, long: &Probe) -> Result<f64> {
        let time = |probe: &Probe| {
            Result::Ok(Longer { work: probe.work, ns: self.median_ns(probe, RUNS)? })
        };
        per_extra(time(short)?, time(long)?).ok_or_else(|| odd(&long.plan.step))
    }

    /// The words that a probe's last run left.
    fn answer(&self, probe: &Probe) -> Result<Vec<f64>> {
        let prepared = self.prepare(probe)?;
        for _ in 0..3 {
            prepared.run()?;
        }
        let (bytes, _) = prepared.download(probe.answer)?;
        let words = bytes.chunks_exact(8).filter_map(|word| <[u8; 8]>::try_from(word).ok());
        Ok(words.map(|word| u64::from_le_bytes(word) as f64).collect())
    }

    /// Comes first: its work brings the clocks up.
    fn multiply_adds(&self) -> Result<Vec<Measured>> {
        let probe = Probe::multiply_adds(self.sizes);
        let prepared = self.prepare(&probe)?;
        for _ in 0..WARM_UP_RUNS {
            prepared.run()?;
        }
        let slowest = self.answer(&probe)?.into_iter().fold(0.0, f64::max);
        let facts =
            DeviceFacts::shipped(Some(&self.device.name), Some(self.device.compute_capability));
        let lanes = facts.get(Quantity::FmaRate).ok_or_else(|| {
            let (major, minor) = self.device.compute_capability;
            Error::Environment(format!(
                "no file says how many lanes the FMA pipes of compute capability {major}.{minor} have"
            ))
        })?;
        let threads = f64::from(Probe::MULTIPLYING_THREADS_PER_SM);
        let share =
            fma_share(threads, probe.work, slowest, lanes).ok_or_else(|| odd("multiply_add"))?;
        let how = format!(
            "independent multiply-adds from registers, {} per thread, by the SMs' own clock",
            four_digits(probe.work)
        );
        Ok(vec![Measured { quantity: Quantity::FmaShare, value: share, how }])
    }

    fn dram_reads(&self) -> Result<Vec<Measured>> {
        let probes = Probe::dram_reads(self.sizes);
        let [looped, tiled] = &probes;
        let of_each = [self.bytes_per_s(looped)?, self.bytes_per_s(tiled)?];
        let (probe, value, shape) = if of_each[0] >= of_each[1] {
            (looped, of_each[0], "a loop of as many threads as fit")
        } else {
            (tiled, of_each[1], "eight loads per thread")
        };
        let how = format!(
            "16-byte loads that bypass L1, of {} bytes, {shape}; the median of {RUNS} runs",
            four_digits(probe.work)
        );
        Ok(vec![Measured { quantity: Quantity::DramReadRate, value, how }])
    }

    fn copies(&self) -> Result<Vec<Measured>> {
        let value = self.device.copy_rate()?;
        let how = "device-to-device copy, bytes read plus bytes written; the median of 10 runs"
            .to_owned();
        Ok(vec![Measured { quantity: Quantity::DramCopyRate, value, how }])
    }

    fn l2_reads(&self) -> Result<Vec<Measured>> {
        let probe = Probe::l2_reads(self.sizes);
        let value = self.bytes_per_s(&probe)?;
        let bytes = probe.plan.buffers[0].bytes() as f64;
        let how = format!(
            "16-byte loads that bypass L1, all SMs over the same {} bytes again and again",
            four_digits(bytes)
        );
        Ok(vec![Measured { quantity: Quantity::L2ReadRate, value, how }])
    }

    fn launches(&self) -> Result<Vec<Measured>> {
        // Timed as steps are, behind the overwriting of L2: a device that idles would wait for the host.
        let repetitions =
            Repetitions { least: EMPTY_RUNS, most: EMPTY_RUNS, budget: LIMIT, precision: 0.0 };
        let empty = self.prepare(&Probe::nothing(1, 32))?;
        let empty = median_and_range(&empty.time(self.device, &repetitions, |_| ())?).median;
        let (short, long) = (1 << 18, 1 << 20);
        let each_ns = self.per_extra(&Probe::nothing(short, 128), &Probe::nothing(long, 128))?;
        let clock = self.answer(&Probe::spin())?;
        let [cycles, ns] = clock.as_slice() else { return Err(odd("spin")) };
        let cycles_per_ns = cycles / ns;
        if !(cycles_per_ns.is_finite() && cycles_per_ns > 0.0) {
            return Err(odd("spin"));
        }
        Ok(vec![
            Measured {
                quantity: Quantity::EmptyBlockEvents,
                value: empty,
                how: format!(
                    "one block of 32 threads that does nothing, queued behind other work; the median of {EMPTY_RUNS} runs"
                ),
            },
            Measured {
                quantity: Quantity::BlockStart,
                value: each_ns * cycles_per_ns,
                how: format!(
                    "empty blocks of 128 threads, {long} less {short} of them: {} ns each at {} GHz",
                    four_digits(each_ns),
                    four_digits(cycles_per_ns)
                ),
            },
        ])
    }

    fn atomics(&self) -> Result<Vec<Measured>> {
        let kinds = [(Quantity::AtomicFloatRate, true), (Quantity::AtomicIntegerRate, false)];
        kinds
            .into_iter()
            .map(|(quantity, is_float)| {
                let probe = |times| Probe::atomics(self.sizes, is_float, times);
                let each_ns = self.per_extra(&probe(128), &probe(512))?;
                let how = "additions by one lane of each warp, all to one address".to_owned();
                Ok(Measured { quantity, value: 1e9 / each_ns, how })
            })
            .collect()
    }

    fn latencies(&self) -> Result<Vec<Measured>> {
        let chains = [
            (Quantity::L1Latency, Probe::l1_chain(), "8 KiB, read before"),
            (Quantity::SharedLatency, Probe::shared_chain(), "4 KiB"),
            (Quantity::L2Latency, Probe::l2_chain(), "4 MiB past L1, read before"),
            (
                Quantity::DramLatency,
                Probe::dram_chain(self.sizes),
                "16 MiB past L1, each place once, after L2 was overwritten",
            ),
        ];
        chains
            .into_iter()
            .map(|(quantity, probe, what)| {
                let cycles = self.answer(&probe)?.first().copied().unwrap_or_default();
                let value =
                    latency_cycles(cycles, probe.work).ok_or_else(|| odd(&probe.plan.step))?;
                let how = format!("one thread follows a chain of loads over {what}");
                Ok(Measured { quantity, value, how })
            })
            .collect()
    }
}

/// What to fail with where a probe's figures make no sense.
fn odd(kernel: &str) -> Error {
    Error::Environment(format!(
        "the times of `{kernel}` make no sense; is something else using the device?"
    ))
}
