//! The same report through a real `ncu --import` and through our own reader: one answer.
//!
//! Needs no GPU, but an ncu when the tests are built: `export ADOPROF_TEST_NCU=$(scripts/fetch-ncu
//! target/test-tools/ncu)`. Without it the test runner lists these tests as ignored.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use adoprof::diagnose::diagnose;
use adoprof::export::{Export, MetricRow, SourceRow, report};
use adoprof::frame::{Frames, Launch};
use adoprof::ncu::{self, Limits};

static NEVER: AtomicBool = AtomicBool::new(false);

/// The CSV has two decimals; the last of them is rounded.
const ROUNDING: f64 = 0.005_001;

/// The fixture as ncu's export gives it and as our reader does.
fn both() -> (Export, Export) {
    let program = std::env::var_os("ADOPROF_TEST_NCU").expect("ADOPROF_TEST_NCU names an ncu");
    let packed =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/report/ado-v4.ncu-repz");
    let packed = std::fs::read(packed).unwrap();
    // Older releases of ncu do not read the compressed form.
    let plain = zstd::decode_all(packed.as_slice()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v4.ncu-rep");
    std::fs::write(&path, &plain).unwrap();

    let ncu = ncu::locate(Some(Path::new(&program)), None).unwrap();
    let limits = Limits {
        timeout: Some(Duration::from_secs(300)),
        interrupted: &NEVER,
        write_up: Duration::ZERO,
    };
    let (exported, notices) = ncu::import_pages(&ncu, &path, limits).unwrap();
    assert_eq!(notices, [""; 0]);
    let csv = exported.export(folder.path()).unwrap();
    // And the compressed form gives what the plain one gives.
    let native = report::read(&packed, Path::new("v4.ncu-repz")).unwrap();
    assert_eq!(native, report::read(&plain, &path).unwrap());
    (csv, native)
}

fn by_name(export: &Export) -> BTreeMap<(u32, &str), &MetricRow> {
    export.metrics.iter().map(|row| ((row.launch, &*row.metric), row)).collect()
}

#[test]
#[cfg_attr(not(has_ncu), ignore = "needs ncu: set ADOPROF_TEST_NCU, see scripts/fetch-ncu")]
fn both_ways_give_the_same_launches_and_metrics() {
    let (csv, native) = both();
    assert_eq!(csv.launches, native.launches);
    let ours = by_name(&native);
    let mut compared = 0;
    for (key, theirs) in by_name(&csv) {
        let (Some(value), false) = (theirs.value, theirs.metric.contains(' ')) else { continue };
        let row = ours.get(&key).unwrap_or_else(|| panic!("{key:?} is not read from the report"));
        let own = row.value.unwrap_or_else(|| panic!("{key:?} has no value in the report"));
        let tolerance = ROUNDING + 1e-12 * value.abs();
        assert!((own - value).abs() <= tolerance, "{key:?}: {own} in the report, {value} exported");
        compared += 1;
    }
    assert!(compared > 200, "only {compared} metrics were compared");
}

/// An instruction's words, with addresses counted from the kernel's first. Releases of ncu differ in the
/// comma before a return's offset, and not all show which operands are reused.
fn words(text: &str, base: u64) -> Vec<String> {
    let text = text.replace(".reuse", "").replace(',', " ");
    let from_base = |word: &str| {
        let address = u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()?;
        Some(format!("{:#x}", address.checked_sub(base)?))
    };
    let words = text.split_whitespace();
    words.map(|word| from_base(word).unwrap_or_else(|| word.to_owned())).collect()
}

#[test]
#[cfg_attr(not(has_ncu), ignore = "needs ncu: set ADOPROF_TEST_NCU, see scripts/fetch-ncu")]
fn both_ways_give_the_same_counters_of_each_instruction() {
    let (csv, native) = both();
    let instructions = |export: &Export| -> BTreeMap<(u32, u64), SourceRow> {
        let rows = export.source.iter().filter_map(|row| Some((row, row.address?)));
        rows.map(|(row, address)| ((row.launch, address), row.clone())).collect()
    };
    let (theirs, ours) = (instructions(&csv), instructions(&native));
    // The export counts addresses from where the kernel was loaded.
    let base = |rows: &BTreeMap<(u32, u64), SourceRow>| rows.keys().next().unwrap().1;
    let (theirs_base, ours_base) = (base(&theirs), base(&ours));
    let mut compared = 0;
    for ((launch, address), row) in &theirs {
        let own = &ours[&(*launch, address - theirs_base + ours_base)];
        assert_eq!(words(&own.text, ours_base), words(&row.text, theirs_base));
        assert_eq!(own.line, row.line, "{address:#x} {}", row.text);
        assert_eq!(own.counters, row.counters, "{address:#x} {}", row.text);
        compared += 1;
    }
    assert!(compared > 300, "only {compared} instructions were compared");
    assert_eq!(compared, ours.len(), "the export has all instructions of the report");
}

#[test]
#[cfg_attr(not(has_ncu), ignore = "needs ncu: set ADOPROF_TEST_NCU, see scripts/fetch-ncu")]
fn both_ways_give_the_same_findings() {
    let (csv, native) = both();
    let rules = |export: &Export| -> Vec<Vec<String>> {
        Launch::all(&Frames::new(export.clone()).unwrap())
            .unwrap()
            .iter()
            .map(|launch| diagnose(launch).findings.into_iter().map(|f| f.rule).collect())
            .collect()
    };
    assert_eq!(rules(&csv), rules(&native));
}
