//! A history over commits.

use crate::history::{HistoryDocument, Jump, Point, Series};

/// Eight commits, the last three 20% slower.
pub(crate) fn history() -> HistoryDocument {
    let point = |at: usize| Point {
        commit: Some(format!("c{at}")),
        committed: Some(1_795_132_800 + at as u64),
        date: "2026-11-20".to_owned(),
        value: if at < 5 { 100_000.0 } else { 120_000.0 },
        low: 99_000.0,
        high: 121_000.0,
        profiles: 1,
    };
    let jump = Jump {
        at: 5,
        commit: Some("c5".to_owned()),
        after: Some("c4".to_owned()),
        from: 100_000.0,
        to: 120_000.0,
        p_value: 1e-6,
        noise: 0.005,
        worse: Some(true),
        also: vec!["CUDA 12.9 → 13.0".to_owned()],
    };
    let series = Series {
        device: "NVIDIA H200".to_owned(),
        program: "app".to_owned(),
        size: String::new(),
        kernel: Some("gemm(float const*, float*)".to_owned()),
        points: (0..8).map(point).collect(),
        jumps: vec![jump],
    };
    HistoryDocument {
        store: ".adoprof/history".to_owned(),
        quantity: "time".to_owned(),
        unit: "ns".to_owned(),
        profiles: 8,
        launches: 8,
        series: vec![series],
        ..HistoryDocument::default()
    }
}
