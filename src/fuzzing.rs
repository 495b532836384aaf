//! Everything that reads what others wrote, as functions of bytes: what the fuzz targets under `fuzz/` and
//! the mutation tests call. Whatever the bytes hold, each returns: true where it could read them.

use std::path::{Path, PathBuf};

use crate::diagnose::{diagnose, diagnose_with};
use crate::export::csv::pages;
use crate::export::{SourceCounters, SourceRow, report};
use crate::frame::Launch;
use crate::history;
use crate::isa::Isa;
use crate::isa::architecture::Architecture;
use crate::isa::encoding::{Encoding, SIZE};
use crate::ladder::{Ladder, Overrides};
use crate::ledger::{self, LedgerDocument};
use crate::profile::Profile;
use crate::report::{Content, Format, Style, render};
use crate::store;
use crate::tables::TableFile;
use crate::user_rules;

/// What stands between the parts of an input that has several.
const BETWEEN: u8 = 0xff;

/// ncu's pages, one behind the other.
#[must_use]
pub fn csv_pages(bytes: &[u8]) -> bool {
    let pages: Vec<(PathBuf, &[u8])> = bytes
        .split(|&byte| byte == BETWEEN)
        .enumerate()
        .map(|(at, page)| (PathBuf::from(format!("{at}.csv")), page))
        .collect();
    let profile = pages::read(&pages).and_then(|export| Profile::from_export("fuzz", export));
    shown(profile.ok().as_ref())
}

/// A report, compressed or not.
#[must_use]
pub fn binary_report(bytes: &[u8]) -> bool {
    let _ = report::session(bytes);
    let export = report::read(bytes, Path::new("fuzz.ncu-rep"));
    let profile = export.and_then(|export| Profile::from_export("fuzz", export));
    shown(profile.ok().as_ref())
}

/// A saved profile: `profile.json`, then its pages as they lie in its folder.
#[must_use]
pub fn saved_profile(bytes: &[u8]) -> bool {
    let mut parts = bytes.split(|&byte| byte == BETWEEN);
    let meta = parts.next().unwrap_or_default();
    let pages: Vec<&[u8]> = parts.collect();
    let saved = store::of_parts(meta, &pages);
    let profile = saved.and_then(|saved| Profile::from_saved("fuzz", saved, None));
    let is_read = shown(profile.ok().as_ref());
    // A packed page has any bytes.
    let is_unpacked = store::unpacked(bytes).is_ok();
    is_read || is_unpacked
}

/// A ladder's manifest, and the plans of its steps.
#[must_use]
pub fn manifest(bytes: &[u8]) -> bool {
    let Ok(ladder) = Ladder::of_text(&String::from_utf8_lossy(bytes)) else { return false };
    for step in ladder.steps() {
        let _ = ladder.plan(step.name(), &Overrides::new(), 132);
    }
    true
}

/// A file of a user's rules, and what its rules make of a launch.
#[must_use]
pub fn user_rules(bytes: &[u8]) -> bool {
    let contents = user_rules::read::read(Path::new("fuzz.toml"), &String::from_utf8_lossy(bytes));
    let mut launch = Launch::default();
    for (name, value) in [
        ("gpu__time_duration.sum", 1e6),
        ("dram__bytes_read.sum", 4e9),
        ("lts__t_sectors.sum", 0.0),
    ] {
        launch.set(name, Some(value));
    }
    let _ = diagnose_with(&launch, &contents.rules);
    contents.mistakes.is_empty()
}

/// A table of a store.
#[must_use]
pub fn table_file(bytes: &[u8]) -> bool {
    let path = Path::new("fuzz.parquet");
    let Ok(mut file) = TableFile::of_bytes(bytes.to_vec(), path) else { return false };
    let names: Vec<String> = file.names().map(str::to_owned).collect();
    for name in &names {
        let _ = file.column(name);
    }
    let _ = history::migrated(bytes, path);
    true
}

/// A ledger.
#[must_use]
pub fn ledger_file(bytes: &[u8]) -> bool {
    let contents = ledger::file::parse(bytes);
    let is_read = !contents.lines.is_empty();
    let document = LedgerDocument::new(ledger::records(contents.lines, false), Vec::new());
    written(&document);
    is_read
}

/// Machine code: the architecture, then instructions.
#[must_use]
pub fn machine_code(bytes: &[u8]) -> bool {
    let Some((&first, code)) = bytes.split_first() else { return false };
    let known = Architecture::KNOWN;
    let Some(isa) = Isa::of(known[usize::from(first) % known.len()]) else { return false };
    let mut launch = Launch::default();
    for (address, bytes) in (0_u64..).step_by(SIZE).zip(code.chunks_exact(SIZE)) {
        let Ok(encoding) = bytes.try_into().map(Encoding::of) else { continue };
        let mut text = String::new();
        isa.write(encoding, address, &mut text);
        let count = f64::from(bytes[0]);
        launch.instructions.push(SourceRow {
            address: Some(address),
            text,
            counters: SourceCounters {
                samples: count,
                inst_executed: count,
                thread_inst_executed: 32.0 * count,
                ..SourceCounters::default()
            },
            ..SourceRow::default()
        });
    }
    launch.set("gpu__time_duration.sum", Some(1e6));
    let _ = diagnose(&launch);
    !launch.instructions.is_empty()
}

/// Diagnoses a profile and writes it in every format.
fn shown(profile: Option<&Profile>) -> bool {
    let document = profile.and_then(|profile| profile.diagnose(None).ok());
    if let Some(document) = &document {
        written(document);
    }
    document.is_some()
}

fn written<'a, T>(document: &'a T)
where
    &'a T: Into<Content<'a>>,
{
    for name in ["text", "json", "markdown", "csv", "sarif"] {
        let format = <Format as clap::ValueEnum>::from_str(name, false).unwrap_or(Format::TEXT);
        let _ = render(document, format, Style::default(), &mut std::io::sink());
    }
}
