#![expect(clippy::float_cmp, reason = "counts are whole numbers, read exactly")]

use proptest::prelude::*;

use crate::export::csv::source::*;
use crate::metric::stall::StallReason;

const LINES: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/csv/inlined.source.cuda-sass.csv"
));
const SASS: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/csv/inlined.source.sass.csv"
));
const KERNEL: &str = "gpu_version3(const float *, float *, const float *, int, int, int)";

fn launches(kernels: &[&str]) -> Vec<LaunchRow> {
    kernels
        .iter()
        .zip(4..)
        .map(|(kernel, id)| LaunchRow { id, kernel: (*kernel).to_owned(), ..LaunchRow::default() })
        .collect()
}

fn ok(text: &str, kernels: &[&str]) -> SourcePage {
    read(text, Path::new("x.source.csv"), &launches(kernels)).unwrap()
}

fn error(text: &str) -> String {
    read(text, Path::new("x.source.csv"), &launches(&["f(int)"])).unwrap_err().to_string()
}

#[test]
fn instructions_get_the_line_above_them() {
    let page = ok(LINES, &[KERNEL]);
    assert!(page.rows.iter().all(|row| row.launch == 4));
    let fadd = page.rows.iter().find(|row| row.text == "FADD R0, R7, R0").unwrap();
    assert_eq!(fadd.address, Some(0x7fc5_d77a_0660));
    assert_eq!((fadd.file.as_deref(), fadd.line), (Some("kernels/ado.cu"), Some(37)));
    assert_eq!(fadd.counters.samples, 1426.0);
    assert_eq!(fadd.counters.inst_executed, 5_242_880.0);
    assert_eq!(fadd.counters.thread_inst_executed, 167_772_160.0);
    let line = page.rows.iter().find(|row| !row.is_instruction() && row.line == Some(37)).unwrap();
    assert_eq!(line.counters.samples, 2853.0);
    assert!(line.text.starts_with("for (int o = warpSize>>1;"));
}

#[test]
fn a_line_is_the_sum_of_its_instructions() {
    let page = ok(LINES, &[KERNEL]);
    for line in page.rows.iter().filter(|row| !row.is_instruction() && row.line != Some(440)) {
        let samples: f64 = page
            .rows
            .iter()
            .filter(|row| row.is_instruction() && row.line == line.line)
            .map(|row| row.counters.samples)
            .sum();
        assert_eq!(samples, line.counters.samples, "line {:?}", line.line);
        let stalls: f64 = line.counters.stall_samples.iter().sum();
        assert_eq!(stalls, line.counters.samples, "line {:?}", line.line);
    }
}

#[test]
fn an_inlined_instruction_stands_once_where_the_user_can_change_it() {
    let page = ok(LINES, &[KERNEL]);
    let shuffles: Vec<&SourceRow> =
        page.rows.iter().filter(|row| row.text.starts_with("SHFL.DOWN")).collect();
    assert_eq!(shuffles.len(), 1);
    assert_eq!(shuffles[0].file.as_deref(), Some("kernels/ado.cu"));
    // The header's own line stays, with the page's sum.
    let header = page.rows.iter().find(|row| row.line == Some(440)).unwrap();
    assert_eq!(header.counters.samples, 41.0 + 270.0);
}

#[test]
fn the_sass_view_has_instructions_without_lines() {
    let page = ok(SASS, &[KERNEL]);
    assert!(page.rows.iter().all(|row| row.is_instruction() && row.line.is_none()));
    assert!(page.rows.iter().all(|row| row.file.is_none()));
    let lined = ok(LINES, &[KERNEL]);
    let shuffle = |page: &SourcePage| {
        page.rows.iter().find(|row| row.text.starts_with("SHFL")).map(|row| row.counters)
    };
    assert_eq!(shuffle(&page), shuffle(&lined));
}

#[test]
fn labels_of_2020_and_text_that_breaks_csv_are_read() {
    let text = "\"File Path\",\"a.cu\"\n\"Function Name\",\"f(int)\"\n\
        \"Line No\",\"Source\",\"Address\",\"Source\",\"Sampling Data (All)\",\"Instructions Executed\",\
        \"Memory L2 Transactions Global\",\"Memory Ideal L2 Transactions Global\",\"stall_lg\"\n\
        \"1\",\"extern \"C\" __global__ void f(int a,\n int \"b\",\"c\")\",\"-\",\"-\",\"7\",\"2\",\"64\",\"8\",\"5\"\n\
        \"\",\"\",\"0x10\",\"      LDG.E R2, [R2]\",\"7\",\"2\",\"64\",\"8\",\"5\"\n\
        \"\",\"\",\"...\",\"...\",\"-\",\"-\",\"-\",\"-\",\"-\"\n\
        \"2\",\"// nothing\",\"-\",\"-\",\"-\",\"-\",\"-\",\"-\",\"-\"\n";
    let page = ok(text, &["f(int)"]);
    assert_eq!(page.rows.len(), 2);
    assert_eq!(page.rows[0].text, "extern \"C\" __global__ void f(int a,  int \"b\",\"c\")");
    assert_eq!(page.rows[1].text, "LDG.E R2, [R2]");
    assert_eq!(page.rows[1].line, Some(1));
    let counters = page.rows[1].counters;
    assert_eq!(counters.samples, 7.0);
    assert_eq!((counters.l2_sectors_global, counters.l2_sectors_global_ideal), (64.0, 8.0));
    assert_eq!(counters.stall_samples[StallReason::LgThrottle as usize], 5.0);
}

#[test]
fn launches_of_one_kernel_get_their_own_parts() {
    let part = |samples: u32| {
        format!(
            "\"Kernel Name\",\"f(int)\",\n\"Address\",\"Source\",\"# Samples\"\n\
             \"0x10\",\"NOP\",\"{samples}\"\n"
        )
    };
    let page = ok(&(part(1) + &part(2)), &["f(int)", "g(int)", "f(int)"]);
    let seen: Vec<(u32, f64)> =
        page.rows.iter().map(|row| (row.launch, row.counters.samples)).collect();
    assert_eq!(seen, [(4, 1.0), (6, 2.0)]);
}

#[test]
fn parts_whose_titles_or_header_are_damaged_are_left_out_aloud() {
    let whole = ok(LINES, &[KERNEL]);
    assert!(whole.notices.is_empty());
    let parts = LINES.matches("\"File Path\"").count();
    assert!(parts > 1, "the other parts stay");
    let header = LINES.lines().find(|line| cells::is_header(line)).unwrap();
    for damaged in [
        LINES.replacen("\"File Path\",\"", "\"File Path\"\"", 1),
        LINES.replacen("\"File Path\"", "\"File Path", 1),
        LINES.replacen(header, "", 1),
    ] {
        let page = ok(&damaged, &[KERNEL]);
        let [notice] = &page.notices[..] else { panic!("{:?}", page.notices) };
        assert!(notice.contains("can't be read"), "{notice}");
        assert!(!page.rows.is_empty() && page.rows.len() < whole.rows.len());
        let all_known = page.rows.iter().all(|row| {
            whole.rows.iter().any(|one| (one.address, one.counters) == (row.address, row.counters))
        });
        assert!(all_known, "what is left is right");
    }
}

#[test]
fn a_kernel_that_was_not_profiled_is_named() {
    let other = SASS.replace("gpu_version3", "elsewhere");
    let page = ok(&format!("{SASS}{other}"), &[KERNEL, "g(int)"]);
    assert_eq!(page.rows, ok(SASS, &[KERNEL]).rows);
    assert!(page.notices[0].contains("elsewhere"), "{:?}", page.notices);
}

#[test]
fn pages_without_counters_are_refused_with_the_fix() {
    let text = "\"File Path\",\"a.cu\"\n\"Line No\",\"Source\"\n\"1\",\"int a;\"\n";
    assert!(error(text).contains("--print-source cuda,sass"));
    assert!(error("").contains("empty"));
    assert!(error("\"File Path\",\"a.cu\"\n").contains("SourceCounters"));
    let alone = read(SASS, Path::new("x.source.csv"), &[]).unwrap_err().to_string();
    assert!(alone.contains("--page raw"), "{alone}");
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}", from in 0_usize..3000, to in 0_usize..30_000) {
        let _ = read(&text, Path::new("x"), &launches(&["f(int)"]));
        if let Some(part) = LINES.get(from.min(to)..from.max(to)) {
            let _ = read(part, Path::new("x"), &launches(&[KERNEL]));
        }
    }
}
