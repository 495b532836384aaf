//! `limiter` where there is no device: what it needs, said once.

use super::bench::Bench;

#[test]
fn limiter_needs_a_device() {
    let bench = Bench::new();
    bench.run(&["limiter", "--kernel", "v2"]).fails(3, &["limiter needs a device"]);
    bench.run(&["limiter", "--kernel", "matmul/m8", "--live"]).fails(3, &["CUDA"]);
}

#[test]
fn senseless_requests_are_refused_before_a_device_is_looked_for() {
    let bench = Bench::new();
    for (args, parts) in [
        (&["--kernel", "v99"][..], &["no step `v99`"][..]),
        (&["--kernel", "v1"], &["ado/v1 declares no variants", "v2, v3, v4"]),
        (&["--kernel", "v2", "--size", "K=1"], &["no parameter `K`"]),
        (&["--kernel", "v2", "--live", "--recorded"], &["cannot be used with"]),
    ] {
        let ran = bench.run(&[&["limiter"], args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        for part in parts {
            assert!(ran.err.contains(part), "no `{part}`: {ran:?}");
        }
    }
}

#[test]
fn show_lists_variants() {
    let ran = Bench::new().run(&["ladder", "show", "padding"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("no-conflicts") && ran.out.contains("what-if"), "{}", ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{}", ran.out);
}
