#![expect(clippy::float_cmp, reason = "counts are whole numbers, which f64 holds exactly")]

use std::path::Path;

use super::messages::*;
use super::sample::{self, Block, G, K, double, kernel, metric};
use super::{is_report, read, read_stored, session};
use crate::error::{Error, Result};
use crate::export::{Export, MetricRow, NcuRuleKind, SourceRow};
use crate::metric::stall::StallReason;

mod damage;

fn open(bytes: &[u8]) -> Result<Export> {
    read(bytes, Path::new("a.ncu-rep"))
}

fn problem(bytes: &[u8]) -> String {
    match open(bytes) {
        Err(Error::Input { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

fn find<'a>(export: &'a Export, name: &str) -> &'a MetricRow {
    export.metrics.iter().find(|row| *row.metric == *name).unwrap()
}

fn line<'a>(export: &'a Export, file: &str, line: u32) -> Option<&'a SourceRow> {
    let wanted = (Some(file), Some(line));
    export.source.iter().find(|r| !r.is_instruction() && (r.file.as_deref(), r.line) == wanted)
}

#[test]
fn launches_and_metrics_come_with_their_names() {
    let export = open(&sample::report()).unwrap();
    assert_eq!(export.notices, Vec::<String>::new());
    let [first, second] = export.launches.as_slice() else { panic!("two launches") };
    assert_eq!((first.id, first.kernel.as_str()), (0, "k(float *)"));
    assert_eq!((first.grid, first.block), ([6, 2, 1], [32, 4, 1]));
    assert_eq!(first.device.as_deref(), Some("NVIDIA H200"));
    assert_eq!((second.id, second.kernel.as_str()), (1, "g(int)"));
    // Not among the launch's metrics: taken from the session.
    assert_eq!(second.compute_capability, Some((9, 0)));

    let time = find(&export, "gpu__time_duration.sum");
    assert_eq!((time.value, &*time.unit), (Some(1_353_888.0), "ns"));
    let name = find(&export, "device__attribute_display_name");
    assert_eq!((name.value, name.text.as_deref()), (None, Some("NVIDIA H200")));
    // No value, and a value that is no number.
    assert_eq!(find(&export, "sass__inst_executed_register_spilling_mem_local").value, None);
    assert_eq!(find(&export, "some__ratio.pct").value, None);
    // Its name stands in a later block than its value.
    let late = find(&export, "smsp__inst_executed.avg.per_cycle_active");
    assert_eq!((late.launch, late.value), (1, Some(0.25)));
}

#[test]
fn rules_that_fired_come_with_their_estimate() {
    let export = open(&sample::report()).unwrap();
    let [rule] = export.rules.as_slice() else { panic!("one rule fired") };
    assert_eq!((rule.rule.as_str(), &*rule.section), ("SOLBottleneck", "SpeedOfLight"));
    assert_eq!(rule.message, "Look at the A.");
    assert_eq!(rule.kind, NcuRuleKind::Optimization);
    assert_eq!((rule.estimate_percent, rule.global), (Some(12.5), true));
}

#[test]
fn instructions_find_their_lines() {
    let export = open(&sample::report()).unwrap();
    let places: Vec<_> = export
        .source
        .iter()
        .filter_map(|row| Some((row.address?, row.file.as_deref(), row.line)))
        .collect();
    // The first address lies in no function; the third is of h.cuh:5, inlined at k.cu:12. Those that no
    // counter names are there too.
    assert_eq!(
        places,
        [
            (0x10, None, None),
            (K, Some("src/k.cu"), Some(10)),
            (K + 0x10, Some("src/k.cu"), Some(12)),
            (K + 0x20, Some("src/k.cu"), Some(13)),
            (K + 0x30, Some("src/k.cu"), Some(13)),
            (G, Some("src/k.cu"), Some(2)),
            (G + 0x10, Some("src/k.cu"), Some(2)),
            (G + 0x20, Some("src/k.cu"), Some(2)),
            (G + 0x30, Some("src/k.cu"), Some(2)),
        ]
    );
}

#[test]
fn instructions_have_the_text_that_the_source_page_shows() {
    let export = open(&sample::report()).unwrap();
    let texts: Vec<_> = export
        .source
        .iter()
        .filter_map(|row| Some((row.address?, row.text.as_str(), row.counters.inst_executed)))
        .collect();
    let target = format!("BRA {:#x}", K + 0x10);
    assert_eq!(
        texts[..5],
        [
            (0x10, "", 1.0),
            (K, "NOP", 4.0),
            (K + 0x10, target.as_str(), 8.0),
            (K + 0x20, "NOP", 2.0),
            (K + 0x30, "NOP", 0.0),
        ]
    );
}

#[test]
fn lines_sum_their_instructions_and_the_code_inlined_there() {
    let export = open(&sample::report()).unwrap();
    let executed = |file, number| line(&export, file, number).map(|row| row.counters.inst_executed);
    assert_eq!(executed("src/k.cu", 2), Some(3.0));
    assert_eq!(executed("src/k.cu", 10), Some(4.0));
    assert_eq!(executed("src/h.cuh", 5), Some(8.0));
    // The line that calls h.cuh:5.
    assert_eq!(executed("src/k.cu", 12), Some(8.0));
    assert_eq!(executed("src/k.cu", 13), Some(2.0));
    assert_eq!(executed("src/k.cu", 11), None);
    let call = line(&export, "src/k.cu", 12).unwrap();
    // All samples, not the part that was not issued.
    assert_eq!(call.counters.stall_samples[StallReason::NoInstruction as usize], 7.0);
    // Even lines of the imported source read "one".
    assert_eq!(call.text, "one");
}

#[test]
fn how_a_report_was_collected_is_told() {
    let export = open(&sample::report()).unwrap();
    assert_eq!(export.collected.ncu.as_deref(), Some("2025.3.1"));
    assert_eq!(export.collected.clock_control, None);
    let clock_control = |requested| {
        let mut result = kernel("k(float *)", vec![]);
        result.result.clocks = Some(ClockStatus { requested });
        let export = open(&sample::file(vec![Block::default().result(&result)])).unwrap();
        export.collected.clock_control
    };
    assert_eq!(clock_control(0).as_deref(), Some("none"));
    assert_eq!(clock_control(1).as_deref(), Some("base"));
    assert!(clock_control(2).is_some_and(|words| words.contains("kind 2")));
}

#[test]
fn launches_of_several_processes_are_told() {
    let of = |process| {
        let mut block = Block::default().result(&kernel("k(float *)", vec![]));
        block.header.process = Some(Process { id: process });
        block
    };
    let notices = |processes: &[u64]| {
        open(&sample::file(processes.iter().map(|&id| of(id)).collect())).unwrap().notices
    };
    assert_eq!(notices(&[7, 7]), [""; 0]);
    assert!(notices(&[7, 8, 7])[0].contains("launches of 2 processes"));
}

#[test]
fn processes_that_number_their_modules_alike_keep_their_code_apart() {
    // Two processes with a module 9 each, at the same address: `k` of `one.cu` and `k` of `two.cu`.
    let of = |process: Option<u64>, file: &[u8]| {
        let symbol = b"k".to_vec();
        let module = SourceData {
            key: 9,
            cubin: Some(sample::cubin()),
            files: Some(SourceFiles {
                files: vec![SourceFile { name: b"src/k.cu".to_vec(), content: file.repeat(12) }],
            }),
            relocation: Some(Relocation {
                functions: vec![RelocatedFunction { symbol, address: K }],
            }),
        };
        let mut block = Block::default().source(&module);
        block.header.process = process.map(|id| Process { id });
        block
    };
    let launched = |process: Option<u64>| {
        let launch = kernel("k(float *)", vec![sample::instanced(0, &[(K, 4.0), (K + 0x10, 8.0)])]);
        let mut block = Block::default().result(&launch);
        block.header.process = process.map(|id| Process { id });
        block
    };
    let texts = |blocks: Vec<Block>| -> Vec<Option<String>> {
        let names = Block::strings(&["inst_executed"]);
        let export = open(&sample::file(std::iter::once(names).chain(blocks).collect())).unwrap();
        let of_launch = |launch: u32| {
            let mut rows = export.source.iter().filter(|row| row.launch == launch);
            rows.find(|row| !row.is_instruction() && row.line == Some(10))
                .map(|row| row.text.clone())
        };
        export.launches.iter().map(|launch| of_launch(launch.id)).collect()
    };
    let (one, two) = (Some("one".to_owned()), Some("two".to_owned()));
    let both = || vec![of(Some(1), b"one\n"), of(Some(2), b"two\n")];
    let with = |more: Vec<Block>| both().into_iter().chain(more).collect();
    let apart = texts(with(vec![launched(Some(1)), launched(Some(2)), launched(Some(1))]));
    assert_eq!(apart, [one.clone(), two, one.clone()]);
    // Whose the launch is is not said: nobody can tell which of the two it is.
    assert_eq!(texts(with(vec![launched(None)])), [None]);
    assert_eq!(texts(vec![of(Some(1), b"one\n"), launched(None)]), std::slice::from_ref(&one));
    assert_eq!(texts(vec![of(None, b"one\n"), launched(Some(3))]), [one]);
    assert_eq!(texts(vec![of(Some(1), b"one\n"), launched(Some(3))]), [None]);
}

#[test]
fn session_tells_versions() {
    let session = session(&sample::report());
    assert_eq!(session.ncu.as_deref(), Some("2025.3.1.0"));
    assert_eq!((session.cuda, session.driver), (None, None));
}

#[test]
fn a_report_reads_the_same_from_its_file() {
    use std::io::Write;
    let whole = sample::report();
    for end in (0..whole.len()).step_by(7).chain([whole.len()]) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&whole[..end]).unwrap();
        let stored = read_stored(&file, end as u64, Path::new("a.ncu-rep"));
        match (stored, open(&whole[..end])) {
            (Ok(stored), Ok(held)) => assert_eq!(stored, held, "{end}"),
            (Err(stored), Err(held)) => assert_eq!(stored.to_string(), held.to_string(), "{end}"),
            (stored, held) => panic!("{end}: {stored:?}, {held:?}"),
        }
    }
}

#[test]
fn compressed_reports_read_the_same() {
    let plain = sample::report();
    let packed = zstd::encode_all(plain.as_slice(), 3).unwrap();
    assert!(is_report(&plain) && is_report(&packed));
    assert_eq!(open(&packed).unwrap(), open(&plain).unwrap());
    let other = zstd::encode_all(b"something else".as_slice(), 3).unwrap();
    assert!(!is_report(&other));
    assert!(!is_report(b"\"ID\",\"Process ID\""));
}

/// Values and lines as ncu's own CSV export of the same report has them, on a real one of an H200
/// (`ado` step v4) from which rules, sections, paths and the session were taken out.
#[test]
fn a_real_report_agrees_with_its_csv_export() {
    let bytes = include_bytes!("../../../tests/fixtures/report/ado-v4.ncu-repz");
    let export = open(bytes).unwrap();
    assert_eq!(export.notices, Vec::<String>::new());
    let [launch] = export.launches.as_slice() else { panic!("one launch") };
    assert_eq!(launch.kernel, "gpu_version4(const float *, float *, const float *, int, int, int)");
    assert_eq!((launch.grid, launch.block), ([1024, 1, 1], [32, 32, 1]));
    assert_eq!(launch.compute_capability, Some((9, 0)));
    let value = |name| find(&export, name).value.unwrap();
    assert_eq!(value("gpu__time_duration.sum"), 1_353_888.0);
    assert_eq!(value("inst_executed"), 464_748_544.0);
    assert_eq!(value("memory_l2_theoretical_sectors_global"), 269_484_032.0);
    // Two decimals of the CSV: 3188931338485.90 and 0.34.
    assert!((value("dram__bytes.sum.per_second") - 3_188_931_338_485.90).abs() < 0.005);
    assert!((value("smsp__issue_active.avg.per_cycle_active") - 0.34).abs() < 0.005);
    let own = |number| line(&export, "kernels/ado/ladder/ado.cu", number).unwrap().counters;
    // The shuffles of lines 51 and 57 are inlined from a header.
    assert_eq!((own(51).samples, own(51).inst_executed), (2331.0, 38_895_616.0));
    assert_eq!(own(51).thread_inst_executed_pred_on, 1_211_105_280.0);
    assert_eq!(
        (own(56).wavefronts_shared, own(56).l2_sectors_global),
        (33_554_432.0, 134_217_728.0)
    );
    let header = "cuda/targets/x86_64-linux/include/sm_30_intrinsics.hpp";
    assert_eq!(line(&export, header, 440).unwrap().counters.inst_executed, 20_971_520.0);
}

#[test]
fn what_is_no_report_is_refused_in_a_sentence() {
    assert!(problem(b"").contains("empty"));
    assert!(problem(b"PK\x03\x04").contains("not an ncu report"));
    assert!(problem(b"NVR\0").contains("damaged"));
    assert!(problem(&sample::file(vec![])).contains("no kernel launch"));
}

#[test]
fn ranges_graphs_and_lists_of_commands_are_results_of_their_own() {
    let message = sample::several(&[metric(1, Some(double(2.5e6)))]);
    for (header, name) in [
        (BlockHeader { range_results: 1, ..BlockHeader::default() }, "range"),
        (BlockHeader { cmdlist_results: 1, ..BlockHeader::default() }, "cmdlist"),
        (BlockHeader { graph_results: 1, ..BlockHeader::default() }, "graph"),
    ] {
        // Kernels stand before all others in a block.
        let mut block = Block { header, entries: Vec::new() }.result(&kernel("k(int)", Vec::new()));
        block.entries.push(message.clone());
        let export =
            open(&sample::file(vec![Block::strings(&["", "gpu__time_duration.sum"]), block]))
                .unwrap();
        let [one, several] = export.launches.as_slice() else { panic!("{:?}", export.launches) };
        assert!(!one.is_of_several_kernels() && several.is_of_several_kernels());
        assert_eq!((several.kernel.as_str(), several.grid, several.block), (name, [0; 3], [0; 3]));
        let time = find(&export, "gpu__time_duration.sum");
        assert_eq!((time.launch, time.value), (1, Some(2.5e6)));
        assert_eq!(export.notices, [""; 0]);
    }
    // One entry more than all counts together is of a kind of the future.
    let mut block = Block::default().result(&kernel("k(int)", Vec::new()));
    block.entries.push(message.clone());
    let export = open(&sample::file(vec![block])).unwrap();
    assert_eq!(export.launches.len(), 1);
    assert!(export.notices[0].contains("1 result of a kind that adoprof does not know"));
    let unknown = Block { entries: vec![message.clone()], ..Block::default() };
    assert!(problem(&sample::file(vec![unknown])).contains("--replay-mode kernel"));
}

/// Puts into a cubin where its functions lay, as the driver leaves it in memory.
fn load(cubin: &mut [u8], functions: &[(u64, String)]) {
    use object::{Object, ObjectSection, ObjectSymbol};
    const ENTRY_BYTES: u64 = 24;
    const VALUE_AT: u64 = 8;
    let patches: Vec<(usize, u64)> = {
        let elf = object::File::parse(&*cubin).unwrap();
        let (table, _) = elf.section_by_name(".symtab").unwrap().file_range().unwrap();
        let place = |symbol: &object::Symbol<'_, '_>| {
            let name = symbol.name().ok()?;
            let (address, _) = functions.iter().find(|(_, function)| function == name)?;
            let entry = table + ENTRY_BYTES * symbol.index().0 as u64 + VALUE_AT;
            Some((usize::try_from(entry).unwrap(), *address))
        };
        elf.symbols().filter_map(|symbol| place(&symbol)).collect()
    };
    assert!(!patches.is_empty());
    for (at, address) in patches {
        cubin[at..at + 8].copy_from_slice(&address.to_le_bytes());
    }
}

#[test]
fn cubins_of_older_reports_say_themselves_where_their_functions_lay() {
    let packed = include_bytes!("../../../tests/fixtures/report/ado-v4.ncu-repz");
    let (bytes, _) = super::plain(packed);
    let name = Path::new("v4.ncu-repz");
    let stored = super::Stored::Held(&bytes);
    let mut container = super::open(stored, None, name).unwrap();
    let read = |container: &super::Container| {
        let mut rows = Vec::new();
        super::reading(container, stored, name, true, usize::MAX, &mut |part| {
            rows.extend(part.source);
            Ok(())
        })
        .unwrap();
        rows
    };
    let as_newer = read(&container);
    assert!(as_newer.iter().any(|row| row.text.starts_with("LDG")));
    let mut functions = Vec::new();
    for source in &mut container.sources {
        let relocation = source.data.relocation.take();
        functions.extend(
            relocation
                .into_iter()
                .flat_map(|one| one.functions)
                .map(|one| (one.address, text(&one.symbol))),
        );
    }
    // Without either, nothing says whose the counters are.
    assert!(read(&container).iter().all(|row| row.text.is_empty()));
    for source in &mut container.sources {
        if let Some(cubin) = source.data.cubin.as_mut().filter(|cubin| !cubin.is_empty()) {
            load(cubin, &functions);
        }
    }
    assert_eq!(read(&container), as_newer);
}
