use crate::export::csv::details::*;

const MULTI: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/csv/multi.details.csv"));

/// The layout of 2022.3: 15 columns, metric rows of 13 cells, rules without estimates, and scaled
/// units; a rule that passed has no type.
const OLD: &str = "\
\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\",\"Context\",\"Stream\",\
\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\"
\"0\",\"9\",\"a\",\"host\",\"f(int)\",\"t\",\"1\",\"7\",\"GPU Speed Of Light Throughput\",\"Duration\",\"msecond\",\"1.500000\",\"\"
\"0\",\"9\",\"a\",\"host\",\"f(int)\",\"t\",\"1\",\"7\",\"Launch Statistics\",\"Grid Size\",\"\",\"4,096\",\"\"
\"0\",\"9\",\"a\",\"host\",\"f(int)\",\"t\",\"1\",\"7\",\"Launch Statistics\",\"Block Size\",\"\",\"256\",\"\"
\"0\",\"9\",\"a\",\"host\",\"f(int)\",\"t\",\"1\",\"1\",\"SpeedOfLight\",\"\",\"\",\"\",\"SOLBottleneck\",\"WRN\",\"some, text\"
\"0\",\"9\",\"a\",\"host\",\"f(int)\",\"t\",\"1\",\"1\",\"LaunchStats\",\"\",\"\",\"\",\"LaunchConfiguration\",\"\",\"\"
";

/// A live `ncu --metrics` of a newer version, as in a public log of a device without DRAM counters.
const LIVE: &str = "\
==PROF== Connected to process 1
\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\
\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"
\"0\",\"1\",\"a\",\"host\",\"f\",\"1\",\"7\",\"(128, 1, 1)\",\"(48, 2, 1)\",\"0\",\"12.1\",\"Command line profiler metrics\",\"dram__throughput.avg.pct_of_peak_sustained_elapsed\",\"\",\"n/a\"
\"0\",\"1\",\"a\",\"host\",\"f\",\"1\",\"7\",\"(128, 1, 1)\",\"(48, 2, 1)\",\"0\",\"12.1\",\"Command line profiler metrics\",\"gpu__time_duration.sum\",\"us\",\"1,205.00\"
";

fn ok(text: &str) -> Export {
    read(text, Path::new("x.details.csv")).unwrap()
}

fn value(export: &Export, launch: u32, metric: &str) -> Option<f64> {
    export.metrics.iter().find(|row| row.launch == launch && *row.metric == *metric)?.value
}

#[test]
fn labels_become_metrics_in_their_section() {
    let export = ok(MULTI);
    assert_eq!(export.launches.len(), 5);
    assert_eq!(export.launches[2].kernel, "ok(int *)");
    assert_eq!(export.launches[2].grid, [2, 1, 1]);
    assert_eq!(export.launches[2].compute_capability, Some((9, 0)));
    assert_eq!(value(&export, 2, "gpu__time_duration.sum"), Some(1920.0));
    let duration =
        export.metrics.iter().find(|row| *row.metric == *"gpu__time_duration.sum").unwrap();
    assert_eq!((&*duration.section, &*duration.unit), ("SpeedOfLight", "ns"));
    // Outside the catalogue the label itself is the name.
    let policy =
        export.metrics.iter().find(|row| *row.metric == *"Cluster Scheduling Policy").unwrap();
    assert_eq!(policy.text.as_deref(), Some("PolicySpread"));
}

#[test]
fn rules_carry_their_estimate_and_its_kind() {
    let export = ok(MULTI);
    let rule = |name: &str| {
        export.rules.iter().find(|rule| rule.launch == 0 && rule.rule == name).unwrap()
    };
    let configuration = rule("LaunchConfiguration");
    assert_eq!(configuration.section, "LaunchStats");
    assert_eq!(configuration.kind, NcuRuleKind::Optimization);
    assert_eq!((configuration.estimate_percent, configuration.global), (Some(99.24), true));
    assert_eq!(configuration.message, "What the rule says, \"quoted\", with a comma.");
    assert_eq!(
        (rule("AchievedOccupancy").estimate_percent, rule("AchievedOccupancy").global),
        (Some(96.89), false)
    );
    assert_eq!(rule("SOLBottleneck").estimate_percent, None);
}

#[test]
fn the_layout_of_2022_is_read() {
    let export = ok(OLD);
    assert_eq!(export.launches.len(), 1);
    assert_eq!(export.launches[0].grid, [4096, 1, 1]);
    assert_eq!(export.launches[0].block, [256, 1, 1]);
    assert_eq!(value(&export, 0, "gpu__time_duration.sum"), Some(1.5e6));
    let kinds: Vec<NcuRuleKind> = export.rules.iter().map(|rule| rule.kind).collect();
    assert_eq!(kinds, [NcuRuleKind::Warning, NcuRuleKind::Info]);
}

#[test]
fn the_long_form_of_a_live_run_is_read() {
    let export = ok(LIVE);
    assert_eq!(export.launches[0].compute_capability, Some((12, 1)));
    assert_eq!((export.launches[0].grid, export.launches[0].block), ([48, 2, 1], [128, 1, 1]));
    assert_eq!(value(&export, 0, "gpu__time_duration.sum"), Some(1_205_000.0));
    let dram = &export.metrics[0];
    assert_eq!((&*dram.section, dram.value, &dram.text), ("", None, &None));
}

#[test]
fn tables_of_the_body_keep_their_title_and_their_instances_aggregate() {
    let text = LIVE
        .replace("\"Section Name\",", "\"Section Name\",\"Body Item Label\",")
        .replace("\"Command line profiler metrics\",\"dram", "\"Occupancy\",\"Varying\",\"dram")
        .replace(
            "\"Command line profiler metrics\",\"gpu__time_duration.sum\",\"us\",\"1,205.00\"",
            "\"Occupancy\",\"Varying\",\"Warps\",\"\",\"3136 (64; 64; 32)\"",
        );
    assert_eq!(value(&ok(&text), 0, "Varying: Warps"), Some(3136.0));
}

#[test]
fn a_row_cut_short_is_left_out_and_named() {
    let cut = LIVE.trim_end().strip_suffix("05.00\"").unwrap();
    let export = ok(cut);
    assert_eq!(value(&export, 0, "gpu__time_duration.sum"), None);
    assert_eq!(export.notices.len(), 1);
    assert!(export.notices[0].contains("line 4"), "{:?}", export.notices);
}
