//! Options of ncu and Nsight Systems, and what stands for them here.

/// What stands for an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Here {
    /// An option of `profile` with the same value.
    Option(&'static str),
    /// Nothing: adoprof does so by itself, or has no use for it.
    Nothing,
    /// ncu itself, by way of `--ncu-args`.
    Ncu,
    /// `--collect full` if the value is `full`, else nothing: adoprof knows what its rules need.
    Level,
    /// A report to read, which `analyze` does.
    Report,
}

/// An option: its spellings, whether a value follows it, and what stands for it.
struct Known(&'static [&'static str], bool, Here);

const KNOWN: &[Known] = &[
    Known(&["-c", "--launch-count"], true, Here::Option("--launch-count")),
    Known(&["-s", "--launch-skip"], true, Here::Option("--launch-skip")),
    Known(&["--kernel-name", "--kernel-regex"], true, Here::Option("-k")),
    Known(&["--export"], true, Here::Option("-o")),
    Known(&["--nvtx-include"], true, Here::Option("--nvtx")),
    Known(&["--devices"], true, Here::Option("--device")),
    Known(&["-i", "--import"], true, Here::Report),
    Known(&["--set"], true, Here::Level),
    Known(&["-f", "--force-overwrite", "--nvtx"], false, Here::Nothing),
    Known(
        &["--kernel-name-base", "--target-processes", "--apply-rules", "--page"],
        true,
        Here::Nothing,
    ),
    Known(&["-t", "--trace", "--stats", "--sample"], true, Here::Nothing),
    Known(&["--import-source", "--print-summary"], true, Here::Nothing),
    Known(&["--csv", "--call-stack"], false, Here::Nothing),
    Known(&["--replay-mode", "--cache-control", "--clock-control"], true, Here::Ncu),
    Known(&["--section-folder", "--profile-from-start", "--graph-profiling"], true, Here::Ncu),
];

/// What stands for an option of another tool, and whether a value follows it.
pub(super) fn find(option: &str) -> Option<(Here, bool)> {
    let known = KNOWN.iter().find(|Known(spellings, ..)| spellings.contains(&option))?;
    Some((known.2, known.1))
}
