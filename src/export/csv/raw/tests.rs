use proptest::prelude::*;

use crate::export::csv::raw::*;

const MULTI: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/csv/multi.raw.csv"));

/// The layout of 2022.3: no grid and block, a kernel time, scaled units in 2022's words.
const OLD: &str = "\
\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\",\"Context\",\"Stream\",\
\"dram__bytes.sum.per_second\",\"gpc__cycles_elapsed.avg.per_second\",\"gpu__time_duration.sum\",\
\"launch__block_dim_x\",\"launch__block_dim_y\",\"launch__block_dim_z\",\"launch__grid_dim_x\",\
\"launch__grid_dim_y\",\"launch__grid_dim_z\"
\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Gbyte/second\",\"cycle/nsecond\",\"usecond\",\"\",\"\",\"\",\"\",\"\",\"\"
\"0\",\"9\",\"a\",\"host\",\"f(int)\",\"2022-Nov-20\",\"1\",\"7\",\"1.500000\",\"1.250000\",\"12.500000\",\
\"64\",\"2\",\"1\",\"1,024\",\"3\",\"1\"
";

fn ok(text: &str) -> Export {
    read(text, Path::new("x.raw.csv")).unwrap()
}

fn value(export: &Export, launch: u32, metric: &str) -> Option<f64> {
    export.metrics.iter().find(|row| row.launch == launch && *row.metric == *metric)?.value
}

#[test]
fn every_launch_has_its_kernel_device_and_metrics() {
    let export = ok(MULTI);
    let ids: Vec<u32> = export.launches.iter().map(|launch| launch.id).collect();
    assert_eq!(ids, [0, 1, 2, 3, 4]);
    let launch = &export.launches[1];
    assert_eq!(launch.kernel, "void templ<double>(T1 *)");
    assert_eq!((launch.grid, launch.block), ([1, 1, 1], [32, 1, 1]));
    assert_eq!(launch.device.as_deref(), Some("NVIDIA H200"));
    assert_eq!(launch.compute_capability, Some((9, 0)));
    assert_eq!(value(&export, 3, "gpu__time_duration.sum"), Some(1760.0));
    let policy = export
        .metrics
        .iter()
        .find(|row| *row.metric == *"launch__cluster_scheduling_policy")
        .unwrap();
    assert_eq!((policy.value, policy.text.as_deref()), (None, Some("PolicySpread")));
    assert_eq!(export.notices, Vec::<String>::new());
}

#[test]
fn the_layout_and_units_of_2022_are_read() {
    let export = ok(OLD);
    let launch = &export.launches[0];
    assert_eq!((launch.grid, launch.block), ([1024, 3, 1], [64, 2, 1]));
    assert_eq!(value(&export, 0, "dram__bytes.sum.per_second"), Some(1.5e9));
    assert_eq!(value(&export, 0, "gpc__cycles_elapsed.avg.per_second"), Some(1.25e9));
    assert_eq!(value(&export, 0, "gpu__time_duration.sum"), Some(12_500.0));
    let unit = |metric: &str| {
        export.metrics.iter().find(|row| *row.metric == *metric).map(|row| &*row.unit)
    };
    assert_eq!(unit("gpu__time_duration.sum"), Some("ns"));
    assert_eq!(unit("gpc__cycles_elapsed.avg.per_second"), Some("hz"));
    assert_eq!(unit("dram__bytes.sum.per_second"), Some("byte/s"));
}

#[test]
fn noise_around_the_table_changes_nothing() {
    let noisy = format!(
        "\u{feff}==PROF== Connected to process 1\nresult: 1, 2, 3\n\n{}done\n\
         ==PROF== Disconnected from process 1\n",
        MULTI.replace('\n', "\r\n")
    );
    assert_eq!(ok(&noisy), ok(MULTI));
}

#[test]
fn a_row_cut_short_loses_its_last_value_and_is_named() {
    let cut = MULTI.trim_end().strip_suffix("73\",\"3.11\"").unwrap();
    let export = ok(cut);
    assert_eq!(export.launches.len(), 5);
    // `4.` of 4.73 must not pass for a value.
    assert_eq!(value(&export, 4, "sm__cycles_active.avg"), None);
    assert_eq!(value(&export, 4, "gpu__time_duration.sum"), Some(1792.0));
    assert_eq!(export.notices.len(), 1);
    assert!(export.notices[0].contains("line 7"), "{:?}", export.notices);
    // Cut within the last cell, the number of cells is right and only the quote is missing.
    let export = ok(MULTI.trim_end().strip_suffix("1\"").unwrap());
    assert_eq!(value(&export, 4, "sm__warps_active.avg.pct_of_peak_sustained_active"), None);
    assert_eq!(export.notices.len(), 1);
}

#[test]
fn unavailable_values_are_none_and_never_text() {
    let export = ok(&MULTI.replace("\"1.01\"", "\"n/a\"").replace("\"2.23\"", "\"no data\""));
    for metric in ["lts__throughput.avg.pct_of_peak_sustained_elapsed", "sm__cycles_active.avg"] {
        let row = export.metrics.iter().find(|row| *row.metric == *metric).unwrap();
        assert_eq!((row.value, &row.text), (None, &None), "{metric}");
    }
}

#[test]
fn ids_that_several_processes_share_become_unique() {
    let export = ok(&MULTI.replace("\"1\",\"2246\"", "\"0\",\"2247\""));
    let ids: Vec<u32> = export.launches.iter().map(|launch| launch.id).collect();
    assert_eq!(ids, [0, 1, 2, 3, 4]);
    assert_eq!(value(&export, 1, "gpu__time_duration.sum"), Some(1824.0));
}

#[test]
fn exports_behind_each_other_are_read_as_one() {
    let export = ok(&format!("{OLD}{MULTI}"));
    assert_eq!(export.launches.len(), 6);
    assert_eq!(value(&export, 0, "gpu__time_duration.sum"), Some(12_500.0));
    assert_eq!(value(&export, 1, "gpu__time_duration.sum"), Some(1728.0));
}

#[test]
fn a_header_alone_and_mixed_numbers_are_refused() {
    let error = |text: &str| read(text, Path::new("x.raw.csv")).unwrap_err().to_string();
    let header = MULTI.lines().take(2).collect::<Vec<_>>().join("\n");
    assert!(error(&header).contains("no launch"));
    let mixed = error(&MULTI.replace("\"1.01\"", "\"1,5\""));
    assert!(mixed.starts_with("x.raw.csv: ") && mixed.contains("LC_ALL=C"), "{mixed}");
}

#[test]
fn german_pages_are_read() {
    let german = MULTI
        .replace("\"1.01\"", "\"1,01\"")
        .replace("\"1728\"", "\"1.728\"")
        .lines()
        .take(3)
        .map(|line| line.replace("\"2.23\"", "\"2,23\"").replace("\"1.56\"", "\"1,56\""))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(value(&ok(&german), 0, "gpu__time_duration.sum"), Some(1728.0));
}

/// A page with a duration, a metric that adoprof does not know, and 998 more of those.
fn wide(launches: usize) -> String {
    let cells = |cell: fn(usize) -> String| (0..999).map(cell).collect::<Vec<_>>().concat();
    let unknown = cells(|at| format!(",\"own__{at}.sum\""));
    let mut lines = vec![format!("\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"{unknown}\n")];
    let values = cells(|at| format!(",\"{at}\""));
    lines.extend((0..launches).map(|id| format!("\"{id}\",\"f\",\"{}\"{values}\n", 100 + id)));
    lines.concat()
}

#[test]
fn of_many_launches_only_what_is_known_is_kept() {
    // A million values, and a thousand more.
    let whole = ok(&wide(1000));
    assert_eq!((whole.metrics.len(), whole.notices.len()), (1_000_000, 0));
    assert_eq!(value(&whole, 999, "own__998.sum"), Some(998.0));
    let page = wide(1002);
    let known = ok(&page);
    assert_eq!((known.launches.len(), known.metrics.len()), (1002, 1002));
    assert_eq!(value(&known, 1001, "gpu__time_duration.sum"), Some(1101.0));
    assert!(known.notices[0].contains("only the metrics that it knows"), "{:?}", known.notices);
    // What is left out is not held while the page is read either.
    let name = Path::new("x");
    let (tables, _) =
        page::thinned_tables(&page, name, PageKind::Raw, &|header| Some(needed(header))).unwrap();
    let cells = |row: usize, column| tables[0].rows[row].cells.get(column).unwrap();
    assert_eq!((cells(1000, 2), cells(1000, 1001)), ("1100", "998"));
    assert_eq!((cells(1001, 1), cells(1001, 2), cells(1001, 1001)), ("f", "1101", ""));
    let (tables, _) = page::tables(&page, name, PageKind::Raw).unwrap();
    assert_eq!(tables[0].rows[1001].cells.get(1001), Some("998"), "where the page is rewritten");
}

proptest! {
    /// What a raw page says of any kernel name and values comes back as it was written.
    #[test]
    fn rows_written_are_rows_read(
        launches in prop::collection::vec(("[ -~]{1,30}", prop::collection::vec(0_u64..1_u64 << 50, 3)), 1..5)
    ) {
        let metrics = ["a__b.sum", "c__d.avg", "e__f.ratio"];
        let mut writer = csv::WriterBuilder::new()
            .quote_style(csv::QuoteStyle::Always)
            .from_writer(Vec::new());
        let head = ["ID", "Kernel Name"].into_iter().chain(metrics);
        writer.write_record(head).unwrap();
        writer.write_record(["", "", "", "", ""]).unwrap();
        for (id, (kernel, values)) in launches.iter().enumerate() {
            let mut row = vec![id.to_string(), kernel.clone()];
            row.extend(values.iter().map(|cents| format!("{}.{:02}", cents / 100, cents % 100)));
            writer.write_record(row).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let export = ok(&text);
        prop_assert_eq!(export.launches.len(), launches.len());
        for (launch, (kernel, values)) in export.launches.iter().zip(&launches) {
            prop_assert_eq!(&launch.kernel, kernel);
            for (metric, cents) in metrics.iter().zip(values) {
                let expected = format!("{}.{:02}", cents / 100, cents % 100).parse().ok();
                prop_assert_eq!(value(&export, launch.id, metric), expected);
            }
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}", cut in 0_usize..2000) {
        let _ = read(&text, Path::new("x"));
        let _ = read(MULTI.get(..cut).unwrap_or_default(), Path::new("x"));
    }
}
