//! A sweep.

use crate::sweep::{AxisValues, Identity, PointResult, SweepDocument};
use crate::timing::{Rate, Timing};

/// A sweep of four points: 120 µs, 150 µs, 100 µs, and one that does not compile.
pub(crate) fn sweep() -> SweepDocument {
    let point = |block: &str, flags: &str, time: Option<[f64; 3]>| PointResult {
        settings: [("BLOCK", block), ("flags", flags)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        size: [("N".to_owned(), 1024)].into(),
        verified: time.is_some(),
        max_error: time.map(|_| 0.0),
        time_ns: time.map(|[low, median, high]| Timing { median, low, high, n: 20 }),
        rate: time.map(|[_, median, _]| Rate { value: 5e8 / median, unit: "GB/s".to_owned() }),
        error: time.is_none().then(|| "i5.cu does not compile:\nline 7 is wrong".to_owned()),
        exit_code: time.is_none().then_some(4),
        ..PointResult::default()
    };
    let points = vec![
        point("64", "", Some([118e3, 120e3, 121e3])),
        point("64", "-ftz=true", Some([149e3, 150e3, 151e3])),
        point("128", "", Some([99e3, 100e3, 103e3])),
        point("128", "-ftz=true", None),
    ];
    let identity = Identity {
        device: "NVIDIA H200".to_owned(),
        ladder: "increment".to_owned(),
        step: "i5".to_owned(),
        ..Identity::default()
    };
    let mut document = SweepDocument::new(&identity, &[], points);
    let values = |values: [&str; 2]| values.map(str::to_owned).into();
    document.axes = vec![
        AxisValues { name: "BLOCK".to_owned(), values: values(["64", "128"]) },
        AxisValues { name: "flags".to_owned(), values: values(["", "-ftz=true"]) },
    ];
    document.file = Some(".adoprof/increment/i5/sweep-01234567.jsonl".to_owned());
    document
}
