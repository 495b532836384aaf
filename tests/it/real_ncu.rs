//! The same report through a real `ncu --import` and through our own reader: one answer.
//!
//! Needs no GPU, but an ncu when the tests are built: `export ADOPROF_TEST_NCU=$(scripts/fetch-ncu
//! target/test-tools/ncu)`. Without it the test runner lists these tests as ignored.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use adoprof::diagnose::diagnose;
use adoprof::export::{Export, LaunchRow, MetricRow, SourceRow, csv, report};
use adoprof::frame::{Frames, Launch};
use adoprof::ncu::{self, Limits};

static NEVER: AtomicBool = AtomicBool::new(false);

/// The CSV has two decimals; the last of them is rounded.
const ROUNDING: f64 = 0.005_001;

/// The fixture as ncu's export gives it and as our reader does.
fn both() -> (Export, Export) {
    let packed = fixture();
    // Older releases of ncu do not read the compressed form.
    let plain = zstd::decode_all(packed.as_slice()).unwrap();
    let csv = exported(&plain);
    // And the compressed form gives what the plain one gives.
    let native = report::read(&packed, Path::new("v4.ncu-repz")).unwrap();
    assert_eq!(native, report::read(&plain, Path::new("v4.ncu-rep")).unwrap());
    (csv, native)
}

fn fixture() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/report/ado-v4.ncu-repz");
    std::fs::read(path).unwrap()
}

/// A report as ncu exports it.
fn exported(report: &[u8]) -> Export {
    let program = std::env::var_os("ADOPROF_TEST_NCU").expect("ADOPROF_TEST_NCU names an ncu");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v4.ncu-rep");
    std::fs::write(&path, report).unwrap();

    let ncu = ncu::locate(Some(Path::new(&program)), None).unwrap();
    let limits = Limits {
        timeout: Some(Duration::from_secs(300).into()),
        interrupted: &NEVER,
        write_up: Duration::ZERO,
    };
    let (exported, notices) = ncu::import_pages(&ncu, &path, limits).unwrap();
    assert_eq!(notices, [""; 0]);
    exported.export(folder.path()).unwrap()
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

/// A message's fields: number, wire type, and their bytes with the length before them where they have one.
fn fields(message: &[u8]) -> Vec<(u64, u64, &[u8])> {
    let varint = |at: &mut usize| -> u64 {
        let start = *at;
        while message[*at] & 0x80 != 0 {
            *at += 1;
        }
        *at += 1;
        (start..*at).rev().fold(0, |value, at| value << 7 | u64::from(message[at] & 0x7f))
    };
    let (mut at, mut fields) = (0, Vec::new());
    while at < message.len() {
        let key = varint(&mut at);
        let start = at;
        match key & 7 {
            0 => _ = varint(&mut at),
            1 => at += 8,
            2 => at += varint(&mut at) as usize,
            5 => at += 4,
            other => panic!("wire type {other}"),
        }
        fields.push((key >> 3, key & 7, &message[start..at]));
    }
    fields
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// The message with its fields under other numbers; those without a new number are left out.
fn renumbered(message: &[u8], number: impl Fn(u64) -> Option<u64>) -> Vec<u8> {
    let fields = fields(message).into_iter();
    let of = |(field, kind, bytes): (u64, u64, &[u8])| {
        number(field).map(|field| [varint(field << 3 | kind), bytes.to_vec()].concat())
    };
    fields.filter_map(of).flatten().collect()
}

fn take<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let size = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let message = &bytes[4..4 + size];
    *bytes = &bytes[4 + size..];
    message
}

fn sized(message: &[u8]) -> Vec<u8> {
    [&u32::try_from(message.len()).unwrap().to_le_bytes(), message].concat()
}

/// The report with its kernels stored as another kind of result: `counted` is the field of a block's header that
/// counts them. Field numbers are those of the format's published description.
fn as_workload(report: &[u8], counted: u64) -> Vec<u8> {
    let mut rest = &report[4..];
    let mut out = [&report[..4], &sized(take(&mut rest))].concat();
    while !rest.is_empty() {
        let header = take(&mut rest);
        let number = |wanted: u64| -> usize {
            let of = fields(header).into_iter().find(|(field, ..)| *field == wanted);
            of.map_or(0, |(_, _, bytes)| {
                bytes.iter().rev().fold(0, |value, byte| value << 7 | usize::from(byte & 0x7f))
            })
        };
        let (sources, size) = (number(1), number(5));
        let (mut payload, after) = rest.split_at(size);
        rest = after;
        let mut entries = Vec::new();
        for at in 0.. {
            if payload.is_empty() {
                break;
            }
            let entry = take(&mut payload);
            // A thread, a call, metrics and sections; a range has no kernel, grid or code.
            let kept = |field| match field {
                1 | 2 => Some(field),
                13 => Some(4),
                17 => Some(7),
                _ => None,
            };
            let is_source = at < sources;
            entries.extend(sized(&if is_source {
                entry.to_vec()
            } else {
                renumbered(entry, kept)
            }));
        }
        let mut header = renumbered(header, |field| match field {
            2 => Some(counted),
            5 => None,
            field => Some(field),
        });
        header.extend([varint(5 << 3), varint(entries.len() as u64)].concat());
        out.extend(sized(&header));
        out.extend(entries);
    }
    out
}

#[test]
#[cfg_attr(not(has_ncu), ignore = "needs ncu: set ADOPROF_TEST_NCU, see scripts/fetch-ncu")]
fn both_ways_give_the_same_of_ranges_and_graphs() {
    let plain = zstd::decode_all(fixture().as_slice()).unwrap();
    for (counted, name) in [(7, "range"), (8, "cmdlist"), (9, "graph")] {
        let report = as_workload(&plain, counted);
        let (csv, native) =
            (exported(&report), report::read(&report, Path::new("a.ncu-rep")).unwrap());
        assert_eq!(csv.launches, native.launches);
        assert_eq!(native.launches[0].kernel, name);
        assert!(native.launches[0].is_of_several_kernels());
        let ours = by_name(&native);
        let mut compared = 0;
        for (key, theirs) in by_name(&csv) {
            let (Some(value), false) = (theirs.value, theirs.metric.contains(' ')) else {
                continue;
            };
            let own = ours[&key].value.unwrap();
            assert!(
                (own - value).abs() <= ROUNDING + 1e-12 * value.abs(),
                "{key:?}: {own}, {value}"
            );
            compared += 1;
        }
        assert!(compared > 200, "only {compared} metrics were compared");
    }
}

/// A page of the fixture as `ncu --import` writes it.
fn page(name: &str, more: &[&str]) -> String {
    let program = std::env::var_os("ADOPROF_TEST_NCU").expect("ADOPROF_TEST_NCU names an ncu");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v4.ncu-rep");
    std::fs::write(&path, zstd::decode_all(fixture().as_slice()).unwrap()).unwrap();
    let output = std::process::Command::new(program)
        .args(["--page", name, "--import"])
        .arg(&path)
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[cfg_attr(not(has_ncu), ignore = "needs ncu: set ADOPROF_TEST_NCU, see scripts/fetch-ncu")]
fn what_ncu_prints_for_people_is_what_it_exports() {
    for (name, more, least) in
        [("details", &[][..], 60), ("details", &["--print-details", "all"], 200), ("raw", &[], 700)]
    {
        let read = |text: String| {
            csv::pages::read(&[(PathBuf::from("page"), text)])
                .map(|export| (export.launches.clone(), values(&export)))
                .unwrap()
        };
        let printed = read(page(name, more));
        let exported = read(page(name, &[more, &["--csv"]].concat()));
        // The raw page has the device's name in a column of its own.
        let shape = |launches: &[LaunchRow]| -> Vec<(String, [u32; 3], [u32; 3])> {
            launches.iter().map(|row| (row.kernel.clone(), row.grid, row.block)).collect()
        };
        assert_eq!(shape(&printed.0), shape(&exported.0), "{name}");
        for (metric, value) in &printed.1 {
            let other = exported.1[metric];
            // Two decimals, of a number above 1 in whatever unit ncu chose.
            let tolerance = ROUNDING.max(0.005_1 * other.abs());
            assert!((value - other).abs() <= tolerance, "{name}: {metric}: {value} and {other}");
        }
        let compared = printed.1.len();
        assert!(compared >= least, "{name}: {compared}");
        let missing: Vec<&String> =
            exported.1.keys().filter(|metric| !printed.1.contains_key(*metric)).collect();
        assert!(missing.is_empty(), "{name}: exported and not printed: {missing:?}");
    }
}

/// The numbers of an export by metric.
fn values(export: &Export) -> BTreeMap<String, f64> {
    let value = |row: &MetricRow| Some((row.metric.to_string(), row.value?));
    export.metrics.iter().filter_map(value).collect()
}
