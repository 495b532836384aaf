//! Bad input: one clear sentence and the contract's exit code each.

use crate::cli::bench::{Bench, file};

#[test]
fn what_ncu_printed_instead_of_a_profile_is_told_apart() {
    let bench = Bench::new();
    for (case, code, parts) in [
        ("app_abort", 2, &["code 6", "x6.ncu-rep"][..]),
        ("app_exit_7", 2, &["code 7", "x4.ncu-rep"]),
        ("import_junk_report", 2, &["is not an ncu report"]),
        ("import_missing_report", 2, &["none.ncu-rep", "exists"]),
        ("import_truncated_report", 2, &["trunc.ncu-rep", "cut short"]),
        ("kernel_filter_no_match", 2, &["the filter matches none", "which are ok"]),
        ("kernel_illegal_address", 4, &["bad(int *)", "compute-sanitizer"]),
        ("missing_binary", 2, &["./nope"]),
        ("no_gpu", 2, &["x11.ncu-rep"]),
        ("no_kernels", 2, &["launched no kernel"]),
        ("output_exists_no_force", 2, &["exists already"]),
        ("readonly_output", 2, &["can't be written"]),
        ("unknown_metric", 2, &["x8.ncu-rep"]),
        ("unknown_section", 2, &["NoSuchSection", "--list-sections"]),
    ] {
        let path = file(&format!("fixtures/faults/{case}.txt")).display().to_string();
        let ran = bench.run(&["analyze", &path]);
        ran.fails(code, parts);
        assert!(ran.err.contains(&path), "{case} is named: {ran:?}");
    }
    let cases = std::fs::read_dir(file("fixtures/faults")).unwrap().count();
    assert_eq!(cases, 14, "every capture is among the cases");
}

#[test]
fn files_that_are_no_profile() {
    let bench = Bench::new();
    let raw = std::fs::read_to_string(file("fixtures/rules/ado_v2.raw.csv")).unwrap();
    let lines: Vec<&str> = raw.lines().collect();
    assert!(lines.len() >= 2 && lines[0].starts_with("\"ID\""));
    let report = std::fs::read(file("fixtures/report/ado-v4.ncu-repz")).unwrap();
    let junk: Vec<u8> =
        (0..4000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    bench.write("empty.csv", "");
    bench.write("blank.csv", "\n\n  \n");
    bench.write("header.csv", format!("{}\n", lines[0]));
    bench.write("cut-in-header.csv", &lines[0][..lines[0].len() / 2]);
    bench.write("cut-in-units.csv", &raw[..lines[0].len() + 40]);
    bench.write("prices.csv", "date,price\n2026-01-01,3\n");
    bench.write("nsys.csv", "Time (%),Total Time (ns),Instances,Name\n100,5,1,k\n");
    bench.write(
        "summary.csv",
        "\"Process ID\",\"Kernel Name\",\"Invocations\"\n\"1\",\"k\",\"2\"\n",
    );
    bench.write("session.csv", "\"Session Attribute\",\"Value\"\n");
    bench.write("kernel.cu", "__global__ void k() {}\n");
    bench.write("junk.bin", &junk);
    bench.write("junk.ncu-rep", &junk);
    bench.write("empty.ncu-rep", "");
    bench.write("cut.ncu-rep", &report[..report.len() / 2]);
    bench.write("cut.ncu-repz", &report[..40]);
    bench.copy("rules/ado_v2.source.cuda-sass.csv", "lone.source.csv");
    std::fs::create_dir(bench.path("folder")).unwrap();
    bench.write("damaged/profile.json", "{ \"schema\": ");
    bench.write(
        "newer/profile.json",
        "{ \"schema\": \"adoprof-profile/99\", \"step\": null, \
        \"environment\": { \"device\": \"\", \"compute_capability\": \"\", \"cuda\": \"\", \
        \"ncu\": \"\", \"clock_control\": \"\", \"cache_control\": \"\", \"collected\": \"\", \
        \"passes\": null, \"command\": \"\", \"date\": \"\", \"adoprof\": \"\" } }",
    );
    for (name, parts) in [
        ("empty.csv", &["empty"][..]),
        ("blank.csv", &["empty"]),
        ("header.csv", &["no launch"]),
        ("cut-in-header.csv", &["cut short"]),
        ("cut-in-units.csv", &["cut short"]),
        ("prices.csv", &["no header of an ncu page", "date,price", "--page raw --csv"]),
        ("nsys.csv", &["no header of an ncu page", "Time (%)"]),
        ("summary.csv", &["--print-summary"]),
        ("session.csv", &["session page"]),
        ("kernel.cu", &["is a source, not a profile", "adoprof init kernel.cu"]),
        ("junk.bin", &["no header of an ncu page"]),
        ("junk.ncu-rep", &["junk.ncu-rep"]),
        ("empty.ncu-rep", &["empty"]),
        ("cut.ncu-rep", &["cut.ncu-rep"]),
        ("cut.ncu-repz", &["cut.ncu-repz"]),
        ("lone.source.csv", &["source page alone"]),
        (
            "./folder",
            &["no report (.ncu-rep), no export (.csv) and no saved profile in this folder"],
        ),
        ("./damaged", &["is damaged"]),
        ("./newer", &["adoprof-profile/99"]),
        ("./missing.csv", &["no such file"]),
        ("folder", &["no saved profile in this folder"]),
        ("v9", &["no step `v9`", "did you mean"]),
        ("nosuch/v2", &["no such file"]),
    ] {
        bench.run(&["analyze", name]).fails(2, parts);
        bench.run(&["diff", name, name]).fails(2, parts);
    }
}

#[test]
fn a_raw_page_cut_in_its_last_row_is_used_with_a_notice() {
    let bench = Bench::new();
    let multi = std::fs::read_to_string(file("fixtures/csv/multi.raw.csv")).unwrap();
    bench.write("multi.raw.csv", &multi[..multi.trim_end().len() - 30]);
    let ran = bench.run(&["analyze", "multi.raw.csv", "--format", "json"]);
    let document = ran.json();
    assert_eq!(document["launches"].as_array().unwrap().len(), 5);
    assert!(document["notices"].to_string().contains("columns"), "{}", document["notices"]);
}

#[test]
fn a_damaged_page_of_a_saved_profile_is_named() {
    let bench = Bench::new();
    assert_eq!(bench.profile("success", &["-o", "saved"]).code, Some(0));
    assert_eq!(bench.run(&["analyze", "./saved"]).code, Some(0));
    bench.write("saved/raw.csv.zst", "no zstd");
    bench.run(&["analyze", "./saved"]).fails(2, &["raw.csv.zst"]);
}

#[test]
fn steps_ladders_and_sizes_that_do_not_exist() {
    let bench = Bench::new();
    for (args, parts) in [
        (&["--kernel", "v9"][..], &["no step `v9`", "did you mean"][..]),
        (&["--kernel", "v2", "--ladder", "nosuch"], &["nosuch", "`ado`"]),
        (&["--kernel", "nosuch/v2"], &["nosuch", "`ado`"]),
        (&["--kernel", "v2", "--ladder", "./nowhere"], &["nowhere", "ladder.toml"]),
        (&["--kernel", "v2", "--size", "N=0"], &["N=0", "from 1"]),
        (&["--kernel", "v2", "--size", "N=-1"], &["N=-1", "from 1"]),
        (&["--kernel", "v2", "--size", "N=x"], &["N=x"]),
        (&["--kernel", "v2", "--size", "N"], &["NAME=VALUE"]),
        (&["--kernel", "v2", "--size", "N=1,N=2"], &["twice"]),
        (&["--kernel", "v2", "--size", "Q=3"], &["no parameter `Q`", "`N`"]),
        (&["--kernel", "v2", "--size", "N=18446744073709551616"], &["too large"]),
        (&["--kernel", "v2", "--size", "N=99999999999,M=99999999"], &["N = 99999999999"]),
        (&["--kernel", "v2", "--recorded", "--size", "N=7"], &["no recording", "N=7"]),
        (&["--kernel", "v2", "--baseline", "v99", "--recorded"], &[]),
    ] {
        bench.run(&[&["step"], args].concat()).fails(2, parts);
    }
    bench.run(&["run", "--ladder", "nosuch"]).fails(2, &["nosuch"]);
    bench.run(&["run", "--size", "Q=3"]).fails(2, &["no parameter `Q`"]);
}

#[test]
fn a_device_that_is_insisted_on_is_missed() {
    let bench = Bench::new();
    bench.run(&["step", "--kernel", "v2", "--live"]).fails(3, &["--recorded"]);
    bench.run(&["run", "--live"]).fails(3, &["--recorded"]);
}

#[test]
fn typos_in_a_manifest_have_their_line() {
    let bench = Bench::new();
    let manifest = std::fs::read_to_string(file("fixtures/ladder/scan/ladder.toml")).unwrap();
    bench.copy("ladder/scan/scan.cu", "scan/scan.cu");
    for (right, wrong, parts) in [
        ("title = \"prefix", "tilte = \"prefix", &["unknown key `tilte`", "`title`"][..]),
        ("dtype = \"f32\"", "dtype = \"f23\"", &["`f23`", "`f32`"]),
        ("role = \"input\"", "role = \"inputt\"", &["`inputt`", "`input`"]),
        ("reference = \"plain\"", "reference = \"plane\"", &["`plane`"]),
        ("\"ceil(N / 256)\"", "\"ceil(N / \"", &["ceil(N / "]),
        ("\"ceil(N / 256)\"", "\"ceil(Q / 256)\"", &["Q"]),
        ("file = \"scan.cu\"", "file = \"nope.cu\"", &["`nope.cu`"]),
        ("\"low-instruction-parallelism\"", "\"low-instruction\"", &["`low-instruction`"]),
        ("N = 4096", "N = 0", &["N"]),
        ("N = 4096", "N == 4096", &["="]),
        ("args = [\"values\"", "args = [\"valeus\"", &["`valeus`", "`values`"]),
    ] {
        assert!(manifest.contains(right), "{right}");
        let line = manifest[..manifest.find(right).unwrap()].matches('\n').count() + 1;
        bench.write("scan/ladder.toml", manifest.replacen(right, wrong, 1));
        let place = format!("ladder.toml:{line}: ");
        let parts = [parts, &[place.as_str()]].concat();
        let ran = bench.run(&["step", "--ladder", "./scan", "--kernel", "log"]);
        ran.fails(2, &parts);
    }
}
