//! ncu's messages: how to know each, what it means, and what to do.

use crate::export::csv::ncu_message::{Class, Level, NcuMessage, NcuMessageKind as Kind};
use crate::text::printable;

/// One known message.
pub(super) struct KnownMessage {
    /// Parts that the line holds, all of them, in lower case.
    parts: &'static [&'static str],
    /// True where the line counts without `==ERROR==` before it.
    bare: bool,
    kind: Kind,
    class: Class,
    /// What happened; `{}` stands for the name that ncu gives in quotes, or its number in brackets,
    /// `{said}` for all that it says.
    meaning: &'static str,
    remedy: &'static str,
}

const fn known(
    parts: &'static [&'static str],
    kind: Kind,
    class: Class,
    meaning: &'static str,
    remedy: &'static str,
) -> KnownMessage {
    KnownMessage { parts, bare: false, kind, class, meaning, remedy }
}

/// A message that also comes from the program or the driver, without ncu's mark.
const fn bare(mut entry: KnownMessage) -> KnownMessage {
    entry.bare = true;
    entry
}

use Class::{Environment, Kernel, Notice, Usage};

const FORBIDDEN: &str = "this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM)";
const ALLOW_COUNTERS: &str = "run as root, load the nvidia module with \
    NVreg_RestrictProfilingToAdminUsers=0, or give the container the capability SYS_ADMIN; timing \
    works without counters";
const FREE_COUNTERS: &str = "pause DCGM (`dcgmi profile --pause`, and `--resume` afterwards) or end the other \
                             profiler, then try again";
const SANITIZE: &str = "run the program under compute-sanitizer, which names the faulty access";
const SECTIONS: &str = "see `ncu --list-sections` for the names; where that has none, NVIDIA's \
    section files are not installed";
const OPTIONS: &str = "see `ncu --help`; options changed between versions";
const NEWER_NCU: &str = "use an ncu that knows this device (`ncu --list-chips`), with --ncu PATH";
const RECORDED: &str = "check `nvidia-smi`, or work from recordings with `adoprof step --recorded` or `adoprof analyze`";
const EXPORT_AGAIN: &str = "collect it again, or open it with the ncu version that wrote it";

/// All messages, causes before consequences: the order decides which one is reported.
#[rustfmt::skip]
pub(super) const TABLE: &[KnownMessage] = &[
    bare(known(&["err_nvgpuctrperm"], Kind::CountersForbidden, Environment, FORBIDDEN, ALLOW_COUNTERS)),
    known(&["permission to access nvidia gpu performance counters"], Kind::CountersForbidden, Environment, FORBIDDEN, ALLOW_COUNTERS),
    known(&["driver resource unavailable"], Kind::CountersBusy, Environment, "another tool holds the GPU's performance counters", FREE_COUNTERS),
    known(&["driver resource was unavailable"], Kind::CountersBusy, Environment, "another tool holds the GPU's performance counters", FREE_COUNTERS),
    known(&["already under profiling"], Kind::CountersBusy, Environment, "another tool holds the GPU's performance counters", FREE_COUNTERS),
    known(&["not supported on device", "windows subsystem for linux"], Kind::UnsupportedDevice, Environment, "this Windows or driver version does not let ncu profile under WSL", "profile on Windows 11 with a current driver, or on Linux"),
    known(&["profiling is not supported on"], Kind::UnsupportedDevice, Environment, "this ncu can't profile this device", NEWER_NCU),
    known(&["unsupported gpu"], Kind::UnsupportedDevice, Environment, "this ncu can't profile this device", NEWER_NCU),
    known(&["cannot lock gpu clock"], Kind::ClocksNotLockable, Environment, "the GPU's clocks can't be locked here", "pass --ncu-args '--clock-control none', or lock the clocks with `nvidia-smi --lock-gpu-clocks`"),
    known(&["driver is not compatible"], Kind::DriverTooOld, Environment, "the CUDA driver and this ncu are not compatible", "update the driver, or use an older ncu with --ncu PATH"),
    bare(known(&["no cuda-capable device"], Kind::NoDevice, Environment, "no CUDA device was found", RECORDED)),
    bare(known(&["cuda_error_no_device"], Kind::NoDevice, Environment, "no CUDA device was found", RECORDED)),
    bare(known(&["cudaerrornodevice"], Kind::NoDevice, Environment, "no CUDA device was found", RECORDED)),
    bare(known(&["cuda driver version is insufficient"], Kind::NoDevice, Environment, "the CUDA driver is missing or older than the program's CUDA version", RECORDED)),
    known(&["failed to connect to the cuda driver"], Kind::NoDevice, Environment, "ncu finds no CUDA driver", RECORDED),
    known(&["cuda driver", "not found"], Kind::NoDevice, Environment, "no CUDA driver was found", RECORDED),
    known(&["libcuda.so"], Kind::NoDevice, Environment, "no CUDA driver was found", RECORDED),
    known(&["does not exist or is not an executable"], Kind::MissingProgram, Usage, "the program {} does not exist or can't be run", "give its path, ./ included, and check its permissions"),
    known(&["option '--section", "did not match any section"], Kind::UnknownSection, Usage, "ncu has no section for {}", SECTIONS),
    known(&["no section files found"], Kind::NothingToCollect, Usage, "ncu found no section files", "pass the stock folder too, which `ncu --list-sections` shows: --section-folder replaces it"),
    known(&["no metrics to collect"], Kind::NothingToCollect, Usage, "the chosen sections have no metrics for this device", "choose other sections, see `ncu --list-sections`"),
    known(&["failed to find metric"], Kind::UnknownMetric, Usage, "this device has no such metric: {}", "see `ncu --query-metrics` for the names"),
    known(&["unrecognised option"], Kind::BadOption, Usage, "this ncu does not know the option {}", OPTIONS),
    known(&["unrecognized option"], Kind::BadOption, Usage, "this ncu does not know the option {}", OPTIONS),
    known(&["the argument", "is invalid"], Kind::BadOption, Usage, "ncu does not take the option's value {}", "see `ncu --help` for the values"),
    known(&["invalid regex"], Kind::BadOption, Usage, "ncu can't read the kernel filter: {said}", "give -k a regular expression"),
    known(&["cannot be specified more than once"], Kind::BadOption, Usage, "ncu was given the option {} twice", OPTIONS),
    known(&["the required argument"], Kind::BadOption, Usage, "ncu refuses its options: {said}", OPTIONS),
    known(&["is ambiguous"], Kind::BadOption, Usage, "ncu refuses its options: {said}", OPTIONS),
    known(&["the argument"], Kind::BadOption, Usage, "ncu refuses its options: {said}", OPTIONS),
    known(&["failed to parse options"], Kind::BadOption, Usage, "ncu can't read its options", "see `ncu --help`, and check that the current folder exists"),
    known(&["already exists. use '-f'"], Kind::ReportExists, Usage, "the report exists already", "choose another file, or let ncu overwrite it with -f"),
    known(&["unable to write to file"], Kind::ReportNotWritable, Usage, "the report can't be written", "check whether the disk is full, or choose another folder with -o"),
    known(&["use --list-sections"], Kind::UnknownSection, Usage, "ncu does not have a section of that name", SECTIONS),
    known(&["not an nsight compute profiler report"], Kind::ReportForeign, Usage, "the file that ncu was asked to read is not an ncu report", "a report comes from `ncu -o`"),
    known(&["could not open report file"], Kind::ReportMissing, Usage, "the report {} can't be opened", "check that it exists and is a file"),
    known(&["failed to load report file"], Kind::ReportDamaged, Usage, "the report {} can't be read: it is cut short, damaged, or of a newer ncu", EXPORT_AGAIN),
    known(&["launchfailed"], Kind::KernelFault, Kernel, "the kernel failed while it ran", SANITIZE),
    known(&["does not exist or is not a regular file"], Kind::ReportMissing, Usage, "the report can't be opened", "check that it exists and is a file"),
    known(&["unexpected incompatibility"], Kind::ReportDamaged, Usage, "the report is damaged or of another ncu version", EXPORT_AGAIN),
    bare(known(&["an illegal memory access was encountered"], Kind::KernelFault, Kernel, "the kernel accessed memory outside its allocations", SANITIZE)),
    bare(known(&["unspecified launch failure"], Kind::KernelFault, Kernel, "the kernel failed while it ran", SANITIZE)),
    known(&["unknown error on device"], Kind::ProfilingFailed, Environment, "the driver refused to profile", "run `adoprof doctor`; a restart of the driver or another ncu version often helps"),
    known(&["unknownerror"], Kind::ProfilingFailed, Environment, "the driver refused to profile", "run `adoprof doctor`; profiling saves device memory between passes, so try a smaller problem"),
    known(&["failed to save memory for replay"], Kind::ProfilingFailed, Environment, "ncu could not save the program's memory between passes", "set NCCL_NVLS_ENABLE=0 if it is a kernel of NCCL over NVLink, whose shared memory ncu can't save"),
    known(&["failed to prepare kernel for profiling"], Kind::ProfilingFailed, Environment, "ncu could not prepare a kernel for profiling", "run `adoprof doctor`, or collect fewer sections"),
    known(&["failed to profile"], Kind::ProfilingFailed, Environment, "ncu could not profile the kernel {}", "run `adoprof doctor`, or collect fewer sections"),
    known(&["an error was reported by the"], Kind::ProfilingFailed, Environment, "the driver refused to profile", "run `adoprof doctor`"),
    known(&["an error occurred while trying to profile"], Kind::ProfilingFailed, Environment, "ncu could not profile a kernel", "run `adoprof doctor`, or collect fewer sections"),
    known(&["returned an error code"], Kind::ProgramFailed, Kernel, "the program ended with code {}", "run it alone to see why"),
    known(&["no kernels were profiled"], Kind::NoKernels, Usage, "the program launched no kernel that ncu could profile", "check its arguments, -k, and the launches to skip"),
    known(&["failed to access the following"], Kind::MetricsMissing, Notice, "some metrics do not exist on this device", ""),
    known(&["unable to access the following"], Kind::MetricsMissing, Notice, "some metrics do not exist on this device", ""),
    known(&["taking more time than expected"], Kind::SlowLaunch, Notice, "a launch took long under the profiler", ""),
    known(&["unmodified gpu clocks"], Kind::ClocksNotControlled, Notice, "the GPU's clocks were not locked, so times may vary", ""),
    known(&["backing up device memory"], Kind::SlowReplay, Notice, "device memory was saved to the host between passes, which is slow", ""),
];

impl KnownMessage {
    /// True where a line of this origin can be this message.
    pub(super) fn may_come_from(&self, level: Level) -> bool {
        match level {
            Level::Error | Level::Warning => true,
            // ncu 2019 said so among its progress; the other progress lines hold names of programs.
            Level::Progress => self.kind == Kind::NoKernels,
            Level::Program => self.bare,
        }
    }

    /// True where the line is this message.
    pub(super) fn matches(&self, said: &str) -> bool {
        let said = said.to_lowercase();
        self.parts.iter().all(|part| said.contains(part))
    }

    /// The message of a line that matches.
    pub(super) fn message(&self, level: Level, said: &str) -> NcuMessage {
        let said = printable(said);
        let name = named(&said).unwrap_or_default();
        let meaning =
            self.meaning.replace("{}", name).replace("{said}", said.trim_end_matches('.'));
        NcuMessage {
            kind: self.kind,
            class: self.class,
            is_error: level == Level::Error,
            meaning: meaning.trim_end_matches([' ', ':']).to_owned(),
            remedy: self.remedy,
            said,
        }
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
