//! ncu's messages: how to know each, what it means, and what to do.

use super::{Class, Level, NcuMessage, NcuMessageKind as Kind};
use crate::text::printable;

/// One known message.
pub(super) struct Entry {
    /// Parts that the line holds, all of them, in lower case.
    parts: &'static [&'static str],
    /// True where the line counts without `==ERROR==` before it.
    bare: bool,
    kind: Kind,
    class: Class,
    /// What happened; `{}` stands for the name that ncu gives in quotes, or its number in brackets.
    meaning: &'static str,
    remedy: &'static str,
}

const fn entry(
    parts: &'static [&'static str],
    kind: Kind,
    class: Class,
    meaning: &'static str,
    remedy: &'static str,
) -> Entry {
    Entry { parts, bare: false, kind, class, meaning, remedy }
}

/// A message that also comes from the program or the driver, without ncu's mark.
const fn bare(mut entry: Entry) -> Entry {
    entry.bare = true;
    entry
}

use Class::{Environment, Kernel, Notice, Usage};

const ALLOW_COUNTERS: &str = "allow them with the driver option \
    NVreg_RestrictProfilingToAdminUsers=0, run as root, or give the container CAP_SYS_ADMIN";
const FREE_COUNTERS: &str =
    "pause DCGM (`dcgmi profile --pause`) or end the other profiler, then try again";
const NEWER_NCU: &str = "use an ncu that knows this device (`ncu --list-chips`), with --ncu PATH";
const RECORDED: &str = "check `nvidia-smi`, or work from recordings with `adoprof step --recorded` or `adoprof analyze`";
const EXPORT_AGAIN: &str = "collect it again, or open it with the ncu version that wrote it";

/// All messages, causes before consequences: the order decides which one is reported.
#[rustfmt::skip]
pub(super) const TABLE: &[Entry] = &[
    bare(entry(&["err_nvgpuctrperm"], Kind::CountersForbidden, Environment, "this user may not read the GPU's performance counters", ALLOW_COUNTERS)),
    entry(&["permission to access nvidia gpu performance counters"], Kind::CountersForbidden, Environment, "this user may not read the GPU's performance counters", ALLOW_COUNTERS),
    entry(&["driver resource was unavailable"], Kind::CountersBusy, Environment, "another tool holds the GPU's performance counters", FREE_COUNTERS),
    entry(&["already under profiling"], Kind::CountersBusy, Environment, "another tool holds the GPU's performance counters", FREE_COUNTERS),
    entry(&["not supported on device", "windows subsystem for linux"], Kind::UnsupportedDevice, Environment, "this Windows or driver version does not let ncu profile under WSL", "profile on Windows 11 with a current driver, or on Linux"),
    entry(&["profiling is not supported on"], Kind::UnsupportedDevice, Environment, "this ncu can't profile this device", NEWER_NCU),
    entry(&["unsupported gpu"], Kind::UnsupportedDevice, Environment, "this ncu can't profile this device", NEWER_NCU),
    entry(&["cannot lock gpu clock"], Kind::ClocksNotLockable, Environment, "the GPU's clocks can't be locked here", "pass --ncu-args '--clock-control none', or lock the clocks with `nvidia-smi --lock-gpu-clocks`"),
    entry(&["driver is not compatible"], Kind::DriverTooOld, Environment, "the CUDA driver and this ncu do not fit together", "update the driver, or use an older ncu with --ncu PATH"),
    bare(entry(&["no cuda-capable device"], Kind::NoDevice, Environment, "no CUDA device was found", RECORDED)),
    bare(entry(&["cuda_error_no_device"], Kind::NoDevice, Environment, "no CUDA device was found", RECORDED)),
    bare(entry(&["cudaerrornodevice"], Kind::NoDevice, Environment, "no CUDA device was found", RECORDED)),
    bare(entry(&["cuda driver version is insufficient"], Kind::NoDevice, Environment, "the CUDA driver is missing or older than the program's CUDA version", RECORDED)),
    entry(&["cuda driver", "not found"], Kind::NoDevice, Environment, "no CUDA driver was found", RECORDED),
    entry(&["libcuda.so"], Kind::NoDevice, Environment, "no CUDA driver was found", RECORDED),
    entry(&["does not exist or is not an executable"], Kind::MissingProgram, Usage, "the program {} does not exist or can't be run", "check its path and its permissions"),
    entry(&["option '--section", "did not match any section"], Kind::UnknownSection, Usage, "ncu has no section for {}", "see `ncu --list-sections` for the names"),
    entry(&["no section files found"], Kind::NothingToCollect, Usage, "ncu found no section files", "pass the stock folder too, which `ncu --list-sections` shows: --section-folder replaces it"),
    entry(&["no metrics to collect"], Kind::NothingToCollect, Usage, "the chosen sections have no metrics for this device", "choose other sections, see `ncu --list-sections`"),
    entry(&["failed to find metric"], Kind::UnknownMetric, Usage, "this device has no such metric: {}", "see `ncu --query-metrics` for the names"),
    entry(&["unrecognised option"], Kind::BadOption, Usage, "this ncu does not know the option {}", "see `ncu --help`; options changed between versions"),
    entry(&["unrecognized option"], Kind::BadOption, Usage, "this ncu does not know the option {}", "see `ncu --help`; options changed between versions"),
    entry(&["the argument", "is invalid"], Kind::BadOption, Usage, "ncu does not take the option's value {}", "see `ncu --help` for the values"),
    entry(&["failed to parse options"], Kind::BadOption, Usage, "ncu can't read its options", "see `ncu --help`, and check that the current folder exists"),
    entry(&["already exists. use '-f'"], Kind::ReportExists, Usage, "the report exists already", "choose another file, or let ncu overwrite it with -f"),
    entry(&["unable to write to file"], Kind::ReportNotWritable, Usage, "the report can't be written", "choose a folder that is writable with -o"),
    entry(&["use --list-sections"], Kind::UnknownSection, Usage, "ncu does not have a section of that name", "see `ncu --list-sections` for the names"),
    entry(&["could not open report file"], Kind::ReportMissing, Usage, "the report {} can't be opened", "check that it exists and is a file"),
    entry(&["failed to load report file"], Kind::ReportDamaged, Usage, "the report {} can't be read: it is damaged, of another ncu version, or no report", EXPORT_AGAIN),
    entry(&["launchfailed"], Kind::KernelFault, Kernel, "the kernel failed while it ran", "run the program under compute-sanitizer to find the faulty access"),
    entry(&["does not exist or is not a regular file"], Kind::ReportMissing, Usage, "the report can't be opened", "check that it exists and is a file"),
    entry(&["not an nsight compute profiler report"], Kind::ReportDamaged, Usage, "the file is no ncu report", EXPORT_AGAIN),
    entry(&["unexpected incompatibility"], Kind::ReportDamaged, Usage, "the report is damaged or of another ncu version", EXPORT_AGAIN),
    bare(entry(&["an illegal memory access was encountered"], Kind::KernelFault, Kernel, "the kernel accessed memory that is not its own", "run the program under compute-sanitizer to find the faulty access")),
    bare(entry(&["unspecified launch failure"], Kind::KernelFault, Kernel, "the kernel failed while it ran", "run the program under compute-sanitizer to find the faulty access")),
    entry(&["unknown error on device"], Kind::ProfilingFailed, Environment, "the driver refused to profile", "run `adoprof doctor`; a restart of the driver or another ncu version often helps"),
    entry(&["unknownerror"], Kind::ProfilingFailed, Environment, "the driver refused to profile", "run `adoprof doctor`; profiling saves device memory between passes, so try a smaller problem"),
    entry(&["failed to prepare kernel for profiling"], Kind::ProfilingFailed, Environment, "ncu could not prepare a kernel for profiling", "run `adoprof doctor`, or collect fewer sections"),
    entry(&["failed to profile"], Kind::ProfilingFailed, Environment, "ncu could not profile the kernel {}", "run `adoprof doctor`, or collect fewer sections"),
    entry(&["an error was reported by the"], Kind::ProfilingFailed, Environment, "the driver refused to profile", "run `adoprof doctor`"),
    entry(&["an error occurred while trying to profile"], Kind::ProfilingFailed, Environment, "ncu could not profile a kernel", "run `adoprof doctor`, or collect fewer sections"),
    entry(&["returned an error code"], Kind::ProgramFailed, Kernel, "the program ended with code {}", "run it without ncu to see why"),
    entry(&["no kernels were profiled"], Kind::NoKernels, Usage, "no kernel was profiled", "check that the program launches one, and that the kernel filter and the profiled range include it"),
    entry(&["failed to access the following"], Kind::MetricsMissing, Notice, "some metrics do not exist on this device", ""),
    entry(&["unable to access the following"], Kind::MetricsMissing, Notice, "some metrics do not exist on this device", ""),
    entry(&["taking more time than expected"], Kind::SlowLaunch, Notice, "a launch took long under the profiler", ""),
    entry(&["unmodified gpu clocks"], Kind::ClocksNotControlled, Notice, "the GPU's clocks were not locked, so times may vary", ""),
    entry(&["backing up device memory"], Kind::SlowReplay, Notice, "device memory was saved to the host between passes, which is slow", ""),
];

impl Entry {
    /// True where a line of this origin can be this message.
    pub fn may_come_from(&self, level: Level) -> bool {
        match level {
            Level::Error | Level::Warning => true,
            // ncu 2019 said so among its progress; the other progress lines hold names of programs.
            Level::Progress => self.kind == Kind::NoKernels,
            Level::Program => self.bare,
        }
    }

    /// True where the line is this message.
    pub fn matches(&self, said: &str) -> bool {
        let said = said.to_lowercase();
        self.parts.iter().all(|part| said.contains(part))
    }

    /// The message of a line that matches.
    pub fn message(&self, said: &str) -> NcuMessage {
        let said = printable(said);
        let name = named(&said).unwrap_or_default();
        let meaning = self.meaning.replace("{}", name).trim_end_matches([' ', ':']).to_owned();
        NcuMessage { kind: self.kind, class: self.class, meaning, remedy: self.remedy, said }
    }
}

/// The name in quotes, or the number in brackets, that a message is about.
fn named(said: &str) -> Option<&str> {
    ['\'', '"']
        .into_iter()
        .find_map(|quote| said.split(quote).nth(1))
        .or_else(|| {
            let (_, rest) = said.rsplit_once('(')?;
            Some(rest.split_once(')')?.0)
        })
        .or_else(|| said.rsplit_once("metric ").map(|(_, name)| name.trim_end_matches('.')))
}
