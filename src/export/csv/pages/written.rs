//! Pages made of an export, in the form in which ncu writes them: what a saved profile keeps of a report.
//!
//! They hold all that adoprof reads, and every value in full where ncu prints two decimals.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};

use super::Pages;
use crate::error::Result;
use crate::export::csv::page;
use crate::export::csv::source::CONTROL;
use crate::export::{
    Export, LaunchRow, MetricRow, NcuRuleKind, NcuRuleRow, SourceCounters, SourceRow,
};

/// The attribute with the device's name: the raw page's own column has its number.
const DEVICE: &str = "device__attribute_display_name";

/// What describes a launch on the raw and the details page.
const LAUNCH: [&str; 5] = ["ID", "Kernel Name", "Block Size", "Grid Size", "CC"];

/// The details page's columns behind these.
const DETAILS: [&str; 9] = [
    "Section Name",
    "Metric Name",
    "Metric Unit",
    "Metric Value",
    "Rule Name",
    "Rule Type",
    "Rule Description",
    "Estimated Speedup Type",
    "Estimated Speedup",
];

impl Pages {
    /// The pages of an export. Its notices are not part of them.
    ///
    /// # Errors
    /// Where the lines can't be written, which memory does not refuse.
    pub fn of(export: &Export) -> Result<Self> {
        Ok(Self {
            raw: raw(export)?,
            details: details(export)?,
            source: source(export),
            sass: String::new(),
        })
    }
}

fn raw(export: &Export) -> Result<String> {
    let mut columns: Vec<&str> = Vec::new();
    let mut units: Vec<String> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut of_launch: HashMap<u32, Vec<&MetricRow>> = HashMap::new();
    for row in &export.metrics {
        places.entry(&row.metric).or_insert_with(|| {
            columns.push(&row.metric);
            units.push(row.unit.to_string());
            columns.len() - 1
        });
        of_launch.entry(row.launch).or_default().push(row);
    }
    let device = *places.entry(DEVICE).or_insert_with(|| {
        columns.push(DEVICE);
        units.push(String::new());
        columns.len() - 1
    });
    let names = LAUNCH.iter().chain(&columns).map(|&name| name.to_owned());
    let units = LAUNCH.iter().map(|_| String::new()).chain(units);
    let rows = export.launches.iter().map(|launch| {
        let mut cells = vec![String::new(); columns.len()];
        if let Some(name) = &launch.device {
            name.clone_into(&mut cells[device]);
        }
        for row in of_launch.get(&launch.id).into_iter().flatten() {
            if let Some(&place) = places.get(&*row.metric) {
                cells[place] = value(row);
            }
        }
        described(launch).into_iter().chain(cells).collect()
    });
    page::write([names.collect(), units.collect()].into_iter().chain(rows))
}

fn described(launch: &LaunchRow) -> [String; LAUNCH.len()] {
    let extents = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    [
        launch.id.to_string(),
        launch.kernel.clone(),
        extents(launch.block),
        extents(launch.grid),
        launch
            .compute_capability
            .map_or_else(String::new, |(major, minor)| format!("{major}.{minor}")),
    ]
}

fn value(row: &MetricRow) -> String {
    match (row.value, &row.text) {
        (Some(value), _) => number(value),
        (None, Some(text)) => text.clone(),
        (None, None) => "n/a".to_owned(),
    }
}

/// A number in full. Three decimals are what a group of digits would look like: they get a fourth.
fn number(value: f64) -> String {
    let mut text = value.to_string();
    if text.split_once('.').is_some_and(|(_, places)| places.len() == 3) {
        text.push('0');
    }
    text
}

/// The details page with the results of ncu's rules; empty where none said anything.
fn details(export: &Export) -> Result<String> {
    if export.rules.is_empty() {
        return Ok(String::new());
    }
    let launches: HashMap<u32, &LaunchRow> =
        export.launches.iter().map(|launch| (launch.id, launch)).collect();
    let header = LAUNCH.iter().chain(&DETAILS).map(|&name| name.to_owned()).collect();
    let rows = export.rules.iter().filter_map(|row| {
        let launch = launches.get(&row.launch)?;
        Some(described(launch).into_iter().chain(rule(row)).collect())
    });
    page::write(std::iter::once(header).chain(rows))
}

fn rule(row: &NcuRuleRow) -> [String; DETAILS.len()] {
    let kind = match row.kind {
        NcuRuleKind::Info => "INF",
        NcuRuleKind::Optimization => "OPT",
        NcuRuleKind::Warning => "WRN",
        NcuRuleKind::Error => "ERR",
    };
    let scope = match (row.estimate_percent, row.global) {
        (None, _) => "",
        (_, true) => "global",
        (_, false) => "local",
    };
    [
        row.section.clone(),
        String::new(),
        String::new(),
        String::new(),
        row.rule.clone(),
        kind.to_owned(),
        row.message.clone(),
        scope.to_owned(),
        row.estimate_percent.map(number).unwrap_or_default(),
    ]
}

/// The source page's view with lines and their instructions; empty where no launch has either.
///
/// Every launch begins with the part of what has no line, be it empty: that tells the reader where a launch
/// begins, since the page has no launch ids.
fn source(export: &Export) -> String {
    let mut page = String::new();
    if export.source.is_empty() {
        return page;
    }
    let mut of_launch: HashMap<u32, Vec<&SourceRow>> = HashMap::new();
    for row in &export.source {
        of_launch.entry(row.launch).or_default().push(row);
    }
    let mut header = vec!["Line No", "Source", "Address", "Source"];
    header.extend(SourceCounters::names().map(label));
    let with_control = export.source.iter().any(|row| row.control.is_some());
    header.extend(with_control.then_some(CONTROL));
    for launch in &export.launches {
        let mut files: Vec<&str> = vec![""];
        let mut parts: HashMap<&str, Part> = HashMap::new();
        for row in of_launch.get(&launch.id).into_iter().flatten() {
            let file = row.file.as_deref().filter(|_| row.line.is_some()).unwrap_or_default();
            let part = parts.entry(file).or_default();
            if !files.contains(&file) {
                files.push(file);
            }
            let line = part.entry(row.line.unwrap_or_default()).or_default();
            if row.is_instruction() { line.1.push(row) } else { line.0 = Some(row) }
        }
        for file in files {
            titled(&mut page, "File Path", file);
            titled(&mut page, "Function Name", &launch.kernel);
            cells(&mut page, header.iter().copied());
            for (number, (line, instructions)) in parts.remove(file).unwrap_or_default() {
                if line.is_some() || number > 0 {
                    line_row(&mut page, number, line, with_control);
                }
                for row in instructions {
                    let address = format!("{:#x}", row.address.unwrap_or_default());
                    let mut numbers = counts(&row.counters);
                    let control = || {
                        row.control.map_or("-".to_owned(), |codes| format!("{:#x}", codes.bits()))
                    };
                    numbers.extend(with_control.then(control));
                    let texts = ["", "", &address, &row.text];
                    cells(&mut page, texts.into_iter().chain(numbers.iter().map(String::as_str)));
                }
            }
        }
    }
    page
}

/// Lines by number, each with its own row and its instructions.
type Part<'a> = BTreeMap<u32, (Option<&'a SourceRow>, Vec<&'a SourceRow>)>;

/// A line's row; without counters where only its instructions are known.
fn line_row(page: &mut String, number: u32, row: Option<&SourceRow>, with_control: bool) {
    let number = number.to_string();
    let text = row.map_or("", |row| row.text.as_str());
    let counters = row
        .map_or_else(|| vec!["-".to_owned(); SourceCounters::COUNT], |row| counts(&row.counters));
    let texts = [number.as_str(), text, "-", "-"];
    let control = with_control.then_some("-");
    cells(page, texts.into_iter().chain(counters.iter().map(String::as_str)).chain(control));
}

fn counts(counters: &SourceCounters) -> Vec<String> {
    let mut counters = *counters;
    (0..SourceCounters::COUNT).map(|place| number(*counters.counter(place))).collect()
}

/// The label of a counter on the page; those of the stalls are their names.
fn label(name: &'static str) -> &'static str {
    match name {
        "samples" => "# Samples",
        "inst_executed" => "Instructions Executed",
        "thread_inst_executed" => "Thread Instructions Executed",
        "thread_inst_executed_pred_on" => "Predicated-On Thread Instructions Executed",
        "l1_tag_requests_global" => "L1 Tag Requests Global",
        "wavefronts_shared" => "L1 Wavefronts Shared",
        "wavefronts_shared_ideal" => "L1 Wavefronts Shared Ideal",
        "l2_sectors_global" => "L2 Theoretical Sectors Global",
        "l2_sectors_global_ideal" => "L2 Theoretical Sectors Global Ideal",
        "l2_sectors_local" => "L2 Theoretical Sectors Local",
        stall => stall,
    }
}

fn titled(page: &mut String, title: &str, value: &str) {
    cells(page, [title, value].into_iter());
}

/// A line of the source page, which unlike the others quotes no quotes.
fn cells<'a>(page: &mut String, cells: impl Iterator<Item = &'a str>) {
    let mut separator = "\"";
    for cell in cells {
        page.push_str(separator);
        page.extend(cell.chars().map(|c| if c.is_control() { ' ' } else { c }));
        separator = "\",\"";
    }
    page.push_str("\"\n");
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::isa::control::Control;

    fn again(export: &Export) -> Export {
        Pages::of(export).unwrap().export(Path::new("profile")).unwrap()
    }

    fn launch(id: u32, kernel: &str) -> LaunchRow {
        LaunchRow {
            id,
            kernel: kernel.to_owned(),
            grid: [4, 2, 1],
            block: [32, 1, 1],
            device: Some("NVIDIA H200".to_owned()),
            compute_capability: Some((9, 0)),
        }
    }

    fn metric(launch: u32, name: &str, value: Option<f64>) -> MetricRow {
        MetricRow { launch, metric: name.into(), value, ..MetricRow::default() }
    }

    fn row(launch: u32, line: Option<u32>, address: Option<u64>, executed: f64) -> SourceRow {
        let counters = SourceCounters { inst_executed: executed, ..SourceCounters::default() };
        let text = if address.is_some() { "NOP" } else { "f(\"a\", b); // \"c\",\"d\"" };
        SourceRow {
            launch,
            file: line.map(|_| "a b.cu".into()),
            line,
            address,
            text: text.to_owned(),
            control: address.filter(|address| address % 32 == 0).map(|_| Control::of_bits(0x3f2)),
            counters,
        }
    }

    #[test]
    fn values_come_back_in_full_whatever_they_look_like() {
        let values = [0.0, 1.125, 4.096, 1e-9, 1.0 / 3.0, 3_188_931_338_485.901, 1.5e300, 1e15];
        for alone in values {
            let export = Export {
                launches: vec![launch(7, "k<1, \"x\">(int)")],
                metrics: vec![metric(7, "some__metric.sum", Some(alone))],
                ..Export::default()
            };
            let read = again(&export);
            assert_eq!(read.launches, export.launches);
            let found = read.metrics.iter().find(|row| *row.metric == *"some__metric.sum");
            assert_eq!(found.and_then(|row| row.value), Some(alone));
        }
    }

    #[test]
    fn a_metric_that_a_launch_lacks_and_one_without_value_stay_apart() {
        let mut words = metric(1, "some__words", None);
        words.text = Some("one, two".to_owned());
        let export = Export {
            launches: vec![launch(0, "f"), launch(1, "f")],
            metrics: vec![metric(0, "some__metric.sum", None), words],
            ..Export::default()
        };
        let read = again(&export).metrics;
        let of = |id, name: &str| {
            let found = read.iter().find(|row| row.launch == id && *row.metric == *name);
            found.map(|row| (row.value, row.text.clone()))
        };
        assert_eq!(of(0, "some__metric.sum"), Some((None, None)));
        assert_eq!(of(1, "some__metric.sum"), None);
        assert_eq!(of(1, "some__words"), Some((None, Some("one, two".to_owned()))));
    }

    #[test]
    fn what_ncus_rules_said_comes_back() {
        let rule = |estimate_percent, global, kind| NcuRuleRow {
            launch: 3,
            section: "SpeedOfLight".to_owned(),
            rule: "SOLBottleneck".to_owned(),
            kind,
            message: "Look at \"x\", then y.".to_owned(),
            estimate_percent,
            global,
        };
        let export = Export {
            launches: vec![launch(3, "f")],
            rules: vec![
                rule(Some(12.125), true, NcuRuleKind::Optimization),
                rule(Some(3.5), false, NcuRuleKind::Warning),
                rule(None, false, NcuRuleKind::Info),
                rule(None, false, NcuRuleKind::Error),
            ],
            ..Export::default()
        };
        assert_eq!(again(&export).rules, export.rules);
    }

    #[test]
    fn lines_and_instructions_find_their_launch() {
        // Two launches of one kernel, the first without code; an instruction without a line, one of a line
        // that has no row.
        let source = vec![
            row(1, Some(3), None, 5.0),
            row(1, Some(3), Some(0x20), 2.5),
            row(1, Some(9), Some(0x30), 1.0),
            row(1, None, Some(0x10), 4.0),
            row(2, Some(3), None, 7.0),
        ];
        let export = Export {
            launches: vec![launch(0, "f"), launch(1, "f"), launch(2, "f")],
            source,
            ..Export::default()
        };
        let by_place = |rows: &[SourceRow]| {
            let mut rows = rows.to_vec();
            rows.sort_by_key(|row| (row.launch, row.address, row.line));
            rows
        };
        let read = again(&export);
        assert_eq!(read.notices, [""; 0]);
        assert_eq!(by_place(&read.source), by_place(&export.source));
    }
}
