use super::*;
use crate::survey::Survey;
use crate::survey::choose::{Extent, choose, covered};
use crate::survey::group::groups;

/// A file of a header and records.
fn bytes(records: &[(u8, &[u8])]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([7_u32, 18].iter().flat_map(|field| field.to_le_bytes()));
    bytes.extend(42_u64.to_le_bytes());
    for (tag, payload) in records {
        bytes.extend((u32::from(*tag) | (payload.len() as u32) << 8).to_le_bytes());
        bytes.extend(*payload);
    }
    bytes
}

fn name(number: u64, text: &str) -> Vec<u8> {
    [&number.to_le_bytes()[..], text.as_bytes()].concat()
}

fn kernel(name: u64, correlation: u32) -> Vec<u8> {
    let times: Vec<u8> = [10_u64, 30, name].iter().flat_map(|field| field.to_le_bytes()).collect();
    let place = [0, 1, 7, correlation, 0];
    let rest = [4, 1, 1, 32, 1, 1, 16, 0, 0, 0];
    let fields = place.iter().chain(&rest).flat_map(|field: &u32| field.to_le_bytes());
    times.into_iter().chain(fields).collect()
}

#[test]
fn names_may_come_after_what_they_name() {
    let records = [(2, kernel(5, 9)), (2, kernel(6, 3)), (2, kernel(5, 4)), (1, name(5, "a"))];
    let records: Vec<(u8, &[u8])> = records.iter().map(|(tag, bytes)| (*tag, &bytes[..])).collect();
    let process = parse(&bytes(&records)[..]).unwrap();
    assert_eq!((process.id, process.cupti_version, process.start, process.end), (7, 18, 42, None));
    let names: Vec<&str> = process.shapes.iter().map(|shape| shape.kernel.as_str()).collect();
    assert_eq!(names, ["a", NAMELESS]);
    let order: Vec<(u32, u32)> =
        process.kernels.iter().map(|kernel| (kernel.place.correlation, kernel.shape)).collect();
    assert_eq!(order, [(3, 1), (4, 0), (9, 0)], "in the order of launches");
}

#[test]
fn work_that_was_under_way_starts_with_the_records() {
    let with_times = |times: [u64; 2]| {
        let mut kernel = kernel(5, 1);
        kernel[..16].copy_from_slice(&times.map(u64::to_le_bytes).concat());
        parse(&bytes(&[(1, &name(5, "a")), (2, &kernel)])[..]).unwrap().kernels[0].span
    };
    // The header says 42.
    assert_eq!(with_times([0, 50]), Span { start: 42, end: 50 });
    assert_eq!(with_times([45, 50]), Span { start: 45, end: 50 });
}

#[test]
fn work_that_crosses_an_edge_of_the_records_counts_within_them() {
    let with_times = |times: [u64; 2]| {
        let mut kernel = kernel(5, 1);
        kernel[..16].copy_from_slice(&times.map(u64::to_le_bytes).concat());
        kernel
    };
    // The third waited for its turn all the time, as a thousand launches may.
    let kernels =
        [[0, 50], [45, 0], [0, 0], [20, 50], [90, 120], [10, 41], [101, 102]].map(with_times);
    let mut records: Vec<(u8, &[u8])> = kernels.iter().map(|kernel| (2, &kernel[..])).collect();
    let end = [100_u64, 0].map(u64::to_le_bytes).concat();
    records.push((11, &end));
    let mut process = parse(&bytes(&records)[..]).unwrap();
    process.clip();
    let mut spans: Vec<_> = process.device_spans().map(|span| (span.start, span.end)).collect();
    spans.sort_unstable();
    assert_eq!(spans, [(42, 50), (42, 50), (45, 100), (90, 100)]);
    assert_eq!(process.unfinished, 1);
}

#[test]
fn a_file_that_breaks_off_keeps_what_is_whole() {
    let whole = bytes(&[(1, &name(5, "a")), (2, &kernel(5, 1)), (2, &kernel(5, 2))]);
    for length in 24..whole.len() {
        let process = parse(&whole[..length]).unwrap();
        // 84 bytes of fields and 4 of the head.
        let kernels = usize::from(length >= whole.len() - 88);
        assert_eq!(process.kernels.len(), kernels, "{length}");
    }
    assert_eq!(parse(&whole[..]).unwrap().kernels.len(), 2);
}

#[test]
fn other_files_are_refused() {
    let (early, foreign) = ("ended before", "not a survey of this version");
    for (bytes, why) in [
        (&b""[..], early),
        (b"ADOSRV01", early),
        (b"ADOSRV02................", foreign),
        (&[0; 64], foreign),
    ] {
        let error = parse(bytes).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn records_and_fields_that_are_unknown_or_missing_do_no_harm() {
    let process = parse(&bytes(&[(200, b"later"), (2, b"short"), (5, b""), (9, b"")])[..]).unwrap();
    assert_eq!((process.unfinished, process.calls.len()), (1, 1));
}

#[test]
fn functions_lose_what_cupti_appends() {
    for (name, plain) in [
        ("cudaMalloc_v3020", "cudaMalloc"),
        ("cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD"),
        ("cuLaunchKernel", "cuLaunchKernel"),
        ("my_view", "my_view"),
    ] {
        assert_eq!(plain_function(name), plain);
    }
}

#[test]
fn callers_are_stacks_of_frames() {
    let numbers = |fields: &[u64]| -> Vec<u8> {
        fields.iter().flat_map(|field| field.to_le_bytes()).collect()
    };
    let call = |correlation: u32, stack: u64| {
        [&correlation.to_le_bytes()[..], &16_u32.to_le_bytes(), &stack.to_le_bytes()].concat()
    };
    let records = [
        (15, call(4, 77)),
        (14, numbers(&[77, 5, 0x1234, 6, 0x40])),
        (15, call(5, 78)),
        (16, numbers(&[5])),
        (1, name(5, "/home/me/app")),
    ];
    let records: Vec<(u8, &[u8])> = records.iter().map(|(tag, bytes)| (*tag, &bytes[..])).collect();
    let callers = parse(&bytes(&records)[..]).unwrap().callers;
    let (stack, calls) = callers.of(4).unwrap();
    let frames: Vec<(&str, bool, u64)> =
        stack.iter().map(|frame| (&*frame.file, frame.is_executable, frame.address)).collect();
    assert_eq!(frames, [("/home/me/app", true, 0x1234), (NAMELESS, false, 0x40)]);
    assert_eq!(calls, 16);
    assert!(callers.of(5).is_none(), "its stack was not written");
}

proptest::proptest! {
    /// Whatever the records hold, they are read, grouped and chosen from, and rules look at them.
    #[test]
    fn hostile_records_do_no_harm(
        records in proptest::collection::vec(
            (0_u8..18, proptest::collection::vec(proptest::num::u8::ANY, 0..100)),
            0..40,
        ),
        wall_ns in 0.0..1e12_f64,
    ) {
        let records: Vec<(u8, &[u8])> =
            records.iter().map(|(tag, bytes)| (*tag, &bytes[..])).collect();
        let process = parse(&bytes(&records)[..]).unwrap();
        let survey = Survey { wall_ns, processes: vec![process], notices: Vec::new() };
        let groups = groups(&survey);
        let chosen = covered(&groups, Extent { coverage: 0.9, top: 10 });
        let choice = choose(&survey, &groups, &chosen);
        proptest::prop_assert!(choice.launches.len() >= chosen.len());
        for finding in crate::around::findings(&survey) {
            let estimate = finding.estimate;
            proptest::prop_assert!(estimate.low <= estimate.factor && estimate.factor <= estimate.high);
            proptest::prop_assert!(estimate.low >= 1.0 && estimate.high <= 51.0, "{finding:?}");
        }
        let (_, lanes) = crate::around::lanes::lanes(&survey);
        proptest::prop_assert!(lanes.len() <= 10);
    }
}
