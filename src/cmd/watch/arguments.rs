//! The command line of the step that a watch runs.

use std::ffi::OsString;
use std::path::Path;

use clap::ValueEnum;

use crate::cli::WatchArgs;

/// `adoprof step` as a watch runs it: compared with the baseline that the user named, else with the last good run,
/// and saved in this folder.
pub(super) fn of_step(
    args: &WatchArgs,
    ladder: &str,
    step: &str,
    last_good: Option<&Path>,
    folder: &Path,
) -> Vec<OsString> {
    let profiling = &args.profiling;
    let mut words: Vec<OsString> =
        ["step", "--live", "--ladder", ladder, "--kernel", step].map(Into::into).into();
    let mut add = |name: &str, value: OsString| {
        // With a sign of equality a value may begin with a dash.
        let mut word = OsString::from(format!("{name}="));
        word.push(value);
        words.push(word);
    };
    if let Some(size) = &args.problem.size {
        add("--size", size.into());
    }
    // A path of the current folder, so that it is not taken for a step.
    let last_good = last_good.map(|folder| Path::new(".").join(folder).into_os_string());
    if let Some(base) = args.baseline.as_ref().map(OsString::from).or(last_good) {
        add("--baseline", base);
    }
    add("--output", folder.into());
    add("--device", profiling.device.to_string().into());
    add("--timeout", format!("{}s", profiling.timeout.as_secs_f64()).into());
    add("--collect", profiling.collect.name().into());
    if let Some(via) = profiling.via.to_possible_value() {
        add("--via", via.get_name().into());
    }
    add("--format", args.output.format.name().into());
    for (name, value) in [
        ("--ncu", profiling.ncu.as_ref().map(OsString::from)),
        ("--ncu-args", profiling.ncu_args.as_ref().map(OsString::from)),
    ] {
        if let Some(value) = value {
            add(name, value);
        }
    }
    for section in &profiling.section {
        add("--section", section.into());
    }
    for metric in &profiling.metrics {
        add("--metrics", metric.into());
    }
    for (name, given) in
        [("--time-only", args.time_only), ("--explain-ranking", args.output.explain_ranking)]
    {
        if given {
            words.push(name.into());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command, StepArgs};

    fn step(words: &[&str], last_good: Option<&str>) -> StepArgs {
        let words = [&["adoprof", "watch", "--kernel", "v3"], words].concat();
        let Command::Watch(watch) = Cli::try_parse_from(words).unwrap().command else { panic!() };
        let last_good = last_good.map(Path::new);
        let step = of_step(&watch, "./mine", "v3", last_good, Path::new(".adoprof/mine/v3/now"));
        let words = std::iter::once(OsString::from("adoprof")).chain(step);
        match Cli::try_parse_from(words).unwrap().command {
            Command::Step(args) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_option_reaches_the_step() {
        let plain = step(&[], None);
        assert_eq!((plain.kernel.as_str(), plain.problem.ladder.as_str()), ("v3", "./mine"));
        assert!(plain.origin.live && plain.baseline.is_none() && !plain.time_only);
        assert_eq!(plain.profiling.output.unwrap(), Path::new(".adoprof/mine/v3/now"));
        let full = step(
            &[
                "--size",
                "N=64",
                "--time-only",
                "--device",
                "1",
                "--ncu",
                "my ncu",
                "--ncu-args=-a 'b c'",
                "--collect",
                "quick",
                "--section",
                "A,B",
                "--metrics",
                "m1",
                "--via",
                "csv",
                "--timeout",
                "1.5m",
                "--format",
                "json",
                "--explain-ranking",
            ],
            Some(".adoprof/mine/v3/before"),
        );
        assert_eq!(full.problem.size.as_deref(), Some("N=64"));
        assert_eq!(full.baseline.as_deref(), Some("./.adoprof/mine/v3/before"));
        let profiling = &full.profiling;
        assert_eq!((profiling.device, profiling.timeout.as_secs()), (1, 90));
        assert_eq!(profiling.ncu.as_deref(), Some(Path::new("my ncu")));
        assert_eq!(profiling.ncu_args.as_deref(), Some("-a 'b c'"));
        assert_eq!((profiling.collect.name(), profiling.via), ("quick", crate::ncu::Via::Csv));
        assert_eq!((profiling.section.len(), profiling.metrics.len()), (2, 1));
        assert!(full.time_only && full.output.explain_ranking);
        assert_eq!(full.output.format.name(), "json");
        let chosen = step(&["--baseline", "v1"], Some("x/y"));
        assert_eq!(chosen.baseline.as_deref(), Some("v1"));
    }
}
