//! A made-up profile of three launches: `a`, `b`, `a`.

use super::*;
use crate::export::{LaunchRow, MetricRow, NcuRuleKind, NcuRuleRow, SourceCounters, SourceRow};
use crate::isa::control::Control;
use crate::metric::stall::StallReason;

const DURATION: &str = "gpu__time_duration.sum";

fn launch(id: u32, kernel: &str, grid: u32) -> LaunchRow {
    LaunchRow {
        id,
        kernel: kernel.to_owned(),
        grid: [grid, 1, 1],
        block: [64, 2, 1],
        device: (id == 7).then(|| "NVIDIA H200".to_owned()),
        compute_capability: (id == 7).then_some((9, 0)),
    }
}

fn source(launch: u32, address: Option<u64>, samples: f64) -> SourceRow {
    let mut counters = SourceCounters { samples, ..SourceCounters::default() };
    counters.stall_samples[StallReason::Wait as usize] = samples / 2.0;
    SourceRow {
        launch,
        file: Some("k.cu".into()),
        line: Some(3),
        address,
        text: "text".to_owned(),
        control: address.map(|_| Control::of_bits(0x3f2)),
        counters,
    }
}

fn export() -> Export {
    let metric = |launch, ns| MetricRow {
        launch,
        metric: DURATION.into(),
        value: Some(ns),
        ..MetricRow::default()
    };
    let rule = NcuRuleRow {
        launch: 8,
        section: "SpeedOfLight".to_owned(),
        rule: "SOLBottleneck".to_owned(),
        kind: NcuRuleKind::Optimization,
        message: "words".to_owned(),
        estimate_percent: Some(12.5),
        global: true,
    };
    Export {
        launches: vec![launch(7, "a", 10), launch(8, "b", 10), launch(9, "a", 10)],
        metrics: vec![metric(7, 70.0), metric(8, 80.0), metric(9, 90.0)],
        rules: vec![rule],
        source: vec![
            source(7, Some(32), 1.0),
            source(7, Some(16), 2.0),
            source(7, None, 3.0),
            source(8, Some(16), 4.0),
        ],
        ..Export::default()
    }
}

fn launches(frames: &Frames) -> Vec<Launch> {
    Launch::all(frames).unwrap()
}

#[test]
fn a_launch_is_what_the_export_held_of_it() {
    let all = launches(&Frames::new(export()).unwrap());
    let rows: Vec<LaunchRow> = all.iter().map(|launch| launch.row.clone()).collect();
    assert_eq!(rows, export().launches);
    assert_eq!(
        all.iter().map(Launch::duration_ns).collect::<Vec<_>>(),
        [70.0, 80.0, 90.0].map(Some)
    );
    assert_eq!(all[1].ncu_rules, export().rules);
    assert!(all[0].ncu_rules.is_empty());
    // Instructions go by address, whatever the page's order.
    assert_eq!(all[0].instructions, [source(7, Some(16), 2.0), source(7, Some(32), 1.0)]);
    assert_eq!(all[0].lines, [source(7, None, 3.0)]);
    assert_eq!(all[1].instructions, [source(8, Some(16), 4.0)]);
    assert!(!all[2].has_source());
}

#[test]
fn launches_of_one_kernel_grid_and_block_are_alike() {
    let alike = |export: Export| -> Vec<usize> {
        launches(&Frames::new(export).unwrap()).iter().map(|launch| launch.alike).collect()
    };
    assert_eq!(alike(export()), [2, 1, 2]);
    let mut other_grid = export();
    other_grid.launches[2].grid = [11, 1, 1];
    assert_eq!(alike(other_grid), [1, 1, 1]);
    let mut alone = export();
    alone.launches.truncate(1);
    assert_eq!(alike(alone), [1]);
    assert_eq!(alike(Export::default()), [0; 0]);
}

#[test]
fn a_filter_of_kernels_filters_every_frame() {
    let frames = Frames::new(export()).unwrap();
    let heights = |frames: &Frames| {
        [&frames.launches, &frames.metrics, &frames.ncu_rules, &frames.lines, &frames.instructions]
            .map(DataFrame::height)
    };
    assert_eq!(heights(&frames), [3, 3, 1, 1, 3]);
    let only = frames.of_kernels(|kernel| kernel == "a").unwrap();
    assert_eq!(heights(&only), [2, 2, 0, 1, 2]);
    assert_eq!(only.kernels().unwrap(), ["a", "a"]);
    let times: Vec<_> = launches(&only).iter().map(Launch::duration_ns).collect();
    assert_eq!(times, [70.0, 90.0].map(Some));
    let none = frames.of_kernels(|_| false).unwrap();
    assert_eq!(heights(&none), [0; 5]);
    assert!(launches(&none).is_empty());
}

#[test]
fn a_join_pairs_the_rows_that_agree() {
    let left = df!("k" => [2_u32, 1, 2, 3], "x" => ["a", "b", "c", "d"]).unwrap();
    let right = df!("y" => [10.0, 20.0, 30.0], "k" => [2_u32, 1, 2]).unwrap();
    let joined = join(&left, &right, ["k"]).unwrap();
    let expected = df!(
        "k" => [2_u32, 2, 1, 2, 2],
        "x" => ["a", "a", "b", "c", "c"],
        "y" => [10.0, 30.0, 20.0, 10.0, 30.0]
    );
    assert!(joined.equals(&expected.unwrap()), "{joined:?}");
    let none = join(&left, &right.clear(), ["k"]).unwrap();
    assert_eq!((none.height(), none.width()), (0, 3));
    // Both columns must agree.
    let right = df!("k" => [1_u32, 1], "x" => ["b", "x"], "z" => [1_u32, 2]).unwrap();
    let joined = join(&left, &right, ["k", "x"]).unwrap();
    assert!(joined.equals(&df!("k" => [1_u32], "x" => ["b"], "z" => [1_u32]).unwrap()));
}

#[test]
fn forgotten_sass_keeps_its_counts() {
    let mut frames = Frames::new(export()).unwrap();
    frames.forget_sass().unwrap();
    let all = launches(&frames);
    assert!(all.iter().flat_map(|launch| &launch.instructions).all(|row| row.text.is_empty()));
    assert_eq!(all[0].instructions[0].counters, source(7, Some(16), 2.0).counters);
    assert_eq!(all[0].lines[0].text, "text");
}
