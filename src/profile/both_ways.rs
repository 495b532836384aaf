//! Every recording as a bare report: its counters beside the machine code that its kernels compile to.
//!
//! The recordings ship as ncu's pages without their reports. A report is made of each here, from the
//! numbers of its pages and from a cubin; what is said of both must agree. What a cubin has in common with
//! the recorded code depends on the compiler: a launch whose code is another is left out. Of NVRTC 13.0,
//! which the recordings were compiled by, nearly none is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use object::{Object, ObjectSymbol, SymbolKind};
use rayon::prelude::*;

use crate::diagnose::{Diagnosis, diagnose};
use crate::export::report::{self, sample};
use crate::export::{Export, SourceRow};
use crate::finding::Finding;
use crate::frame::{Frames, Launch};
use crate::kernel_name;
use crate::ladder::Ladder;
use crate::launch::nvrtc::{self, Unit};
use crate::store;
use crate::timing::StepInfo;

/// Estimates may differ by this part.
const SAME_ESTIMATE: f64 = 0.02;
/// Of so many launches one may name another line first: where functions are inlined within their file, ncu's
/// page now and then shows the call.
const LEAST_SAME_LINES: usize = 100;
/// Some compiler gives the recorded code of at least so many launches, or there is nothing to compare.
const LEAST_COMPARED: usize = 200;

/// The cubin of a step.
fn cubin(step: &StepInfo) -> Vec<u8> {
    let ladder = Ladder::builtin(&step.ladder).unwrap();
    let plan = ladder.plan(&step.name, &step.size, 132).unwrap();
    let unit = Unit {
        text: &plan.source.text,
        path: Path::new(&plan.source.name),
        shown_as: &step.name,
        flags: &plan.flags,
        compute_capability: (9, 0),
    };
    nvrtc::compile(&unit).unwrap()
}

/// The linker name of a kernel in a cubin.
fn symbol(cubin: &[u8], kernel: &str) -> Option<String> {
    let elf = object::File::parse(cubin).unwrap();
    let base = kernel_name::base(kernel);
    let functions = elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
    let names: Vec<String> =
        functions.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect();
    let exact = names.iter().find(|name| **name == base);
    exact
        .or_else(|| names.iter().find(|name| name.starts_with("_Z") && name.contains(&base)))
        .cloned()
}

fn instructions(export: &Export, launch: u32) -> BTreeMap<u64, &SourceRow> {
    let of_launch = export.source.iter().filter(|row| row.launch == launch);
    of_launch.filter_map(|row| Some((row.address?, row))).collect()
}

/// Gives a report's lines the text that the pages have, as an imported source would, and its files the
/// names there: the compiler puts the folder before them in which it ran.
fn give_texts(report: &mut Export, pages: &Export) {
    let lines = pages.source.iter().filter(|row| !row.is_instruction());
    let texts: BTreeMap<(&str, u32), &SourceRow> =
        lines.filter_map(|row| Some(((row.file.as_deref()?, row.line?), row))).collect();
    let files: BTreeSet<&Arc<str>> =
        pages.source.iter().filter_map(|row| row.file.as_ref()).collect();
    for row in &mut report.source {
        let named = row.file.as_deref().unwrap_or_default();
        let file = files.iter().find(|file| Path::new(named).ends_with(&****file));
        row.file = file.map(|file| (*file).clone()).or_else(|| row.file.take());
        let place = row.file.as_deref().zip(row.line);
        if let Some(known) = place.and_then(|place| texts.get(&place))
            && !row.is_instruction()
        {
            row.text.clone_from(&known.text);
        }
    }
}

/// Words of an instruction without the blanks that ncu aligns them by, and without the marks of operands
/// that stay in the operand cache, which its pages leave out.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(|word| word.replace(".reuse", "")).collect()
}

fn diagnoses(export: Export) -> Vec<(Launch, Diagnosis)> {
    let launches = Launch::all(&Frames::new(export).unwrap()).unwrap();
    launches.into_iter().map(|launch| (launch.clone(), diagnose(&launch))).collect()
}

/// What differs between what is said of a launch and of the same as a report: findings and estimates, then
/// lines. Below the first, findings of nearly the same estimate may change places: the report's control codes say
/// exactly which load a wait is for, and the pages have none.
fn differences(pages: &[Finding], report: &[Finding]) -> (Vec<String>, Vec<String>) {
    let rules = |findings: &[Finding]| -> BTreeSet<String> {
        findings.iter().map(|finding| finding.rule.clone()).collect()
    };
    let (mut found, mut lines) = (Vec::new(), Vec::new());
    let first = |findings: &[Finding]| findings.first().map(|finding| finding.rule.clone());
    if first(pages) != first(report) || rules(pages) != rules(report) {
        found.push(format!("{:?} and {:?}", rules(pages), rules(report)));
    }
    for one in pages {
        let Some(other) = report.iter().find(|other| other.rule == one.rule) else { continue };
        let factors = one.estimate.zip(other.estimate).map(|(a, b)| (a.factor, b.factor));
        if let Some((one_factor, other_factor)) = factors
            && (one_factor / other_factor - 1.0).abs() > SAME_ESTIMATE
        {
            found.push(format!("{}: {one_factor} and {other_factor}", one.rule));
        }
        let line = |finding: &Finding| finding.locations.first().map(|at| at.line);
        if line(one) != line(other) {
            lines.push(format!("{}: line {:?} and {:?}", one.rule, line(one), line(other)));
        }
    }
    (found, lines)
}

#[test]
#[cfg_attr(not(has_nvrtc), ignore = "needs NVRTC: set ADOPROF_NVRTC, see scripts/fetch-nvrtc")]
fn every_recording_gives_the_same_findings_as_a_report() {
    let of = |(folder, meta): (String, store::Meta)| {
        let step = meta.step.unwrap();
        let saved = store::recording(&step.ladder, &step.name, &step.size).unwrap().unwrap();
        let pages = saved.pages.export(Path::new(&folder)).unwrap();
        let cubin = cubin(&step);
        let mut left_out = 0;
        let mut modules = BTreeMap::new();
        for launch in &pages.launches {
            let first = instructions(&pages, launch.id).keys().next().copied();
            if let Some((address, symbol)) = first.zip(symbol(&cubin, &launch.kernel)) {
                modules.insert(launch.id, (address, symbol));
            }
        }
        let bytes = sample::of_pages(&pages, &modules, &cubin);
        let mut report = report::read(&bytes, Path::new(&folder)).unwrap();
        give_texts(&mut report, &pages);
        // The report counts its launches from 0.
        let same_code = |place: usize, id: u32| {
            let (theirs, ours) = (instructions(&pages, id), instructions(&report, place as u32));
            !theirs.is_empty()
                && theirs.len() == ours.len()
                && theirs.values().zip(ours.values()).all(|(a, b)| words(&a.text) == words(&b.text))
        };
        let same: Vec<bool> = pages
            .launches
            .iter()
            .enumerate()
            .map(|(place, launch)| same_code(place, launch.id))
            .collect();
        let (pages, report) = (diagnoses(pages), diagnoses(report));
        assert_eq!(pages.len(), report.len());
        let (mut found, mut lines) = (Vec::new(), Vec::new());
        for ((place, (_, one)), (_, other)) in pages.iter().enumerate().zip(&report) {
            if !same[place] {
                left_out += 1;
                continue;
            }
            let (findings, others) = differences(&one.findings, &other.findings);
            let at = |difference: String| format!("{folder} {place}: {difference}");
            found.extend(findings.into_iter().map(at));
            lines.extend(others.into_iter().map(at));
        }
        (pages.len() - left_out, left_out, found, lines)
    };
    let results: Vec<_> = store::recordings().unwrap().into_par_iter().map(of).collect();
    let compared: usize = results.iter().map(|(compared, ..)| compared).sum();
    let left_out: usize = results.iter().map(|(_, left_out, ..)| left_out).sum();
    let differences: Vec<&String> = results.iter().flat_map(|(.., found, _)| found).collect();
    let lines: Vec<&String> = results.iter().flat_map(|(.., lines)| lines).collect();
    println!("{compared} launches compared, {left_out} of other code; other lines: {lines:#?}");
    assert!(differences.is_empty(), "{} of {compared}: {differences:#?}", differences.len());
    assert!(
        LEAST_SAME_LINES * lines.len() <= compared,
        "{} of {compared}: {lines:#?}",
        lines.len()
    );
    assert!(compared >= LEAST_COMPARED, "{compared} launches compared, {left_out} of other code");
}
