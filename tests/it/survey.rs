//! The library that the driver loads into a program, with stand-ins for CUPTI and for the program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use adoprof::survey::run::{Surveyed, read};
use adoprof::survey::{group, library};

/// The stand-ins, compiled.
pub(crate) struct StandIns {
    folder: tempfile::TempDir,
}

impl StandIns {
    /// A path to the stand-in for CUPTI.
    pub(crate) fn cupti(&self) -> PathBuf {
        self.folder.path().join("libcupti.so")
    }

    /// A path to the stand-in for a program.
    pub(crate) fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }
}

/// The compiler of this build makes them: it is there wherever these tests are compiled.
pub(crate) static STAND_INS: LazyLock<StandIns> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    compile("cupti", &["--crate-type", "cdylib"], &folder.path().join("libcupti.so"));
    compile("program", &["-g"], &folder.path().join("program"));
    StandIns { folder }
});

/// Compiles a stand-in.
pub(crate) fn compile(source: &str, options: &[&str], to: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/stand_in/{source}.rs"));
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiled = Command::new(rustc)
        .args(["--edition", "2024", "-o"])
        .arg(to)
        .args(options)
        .arg(&source)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// A run of the stand-in with the library inside.
struct Ran {
    folder: tempfile::TempDir,
    surveyed: Surveyed,
    code: Option<i32>,
}

impl Ran {
    fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = names
            .map(|entry| entry.unwrap().path())
            .filter_map(|path| path.extension().map(|kind| kind.to_str().unwrap().to_owned()))
            .filter(|kind| ["survey", "part", "reason"].contains(&kind.as_str()))
            .collect();
        names.sort();
        names
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

/// Runs the stand-in; `case` tells that of CUPTI how to behave.
fn run(what: &str, case: &str, with_cupti: bool) -> Ran {
    run_program(&STAND_INS.program(), what, case, with_cupti)
}

/// The survey of a program compiled from the stand-in, or one like it.
pub(crate) fn surveyed(program: &Path, what: &str) -> Surveyed {
    run_program(program, what, "", true).surveyed
}

fn run_program(program: &Path, what: &str, case: &str, with_cupti: bool) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let library = library::deploy(folder.path()).unwrap();
    let mut command = Command::new(program);
    command
        .arg(what)
        .env("CUDA_INJECTION64_PATH", library)
        .env("ADOPROF_SURVEY_DIR", folder.path())
        .env("STAND_IN_CUPTI", case)
        .env("STAND_IN_CUPTI_LOG", folder.path().join("log"))
        .env_remove("ADOPROF_CUPTI");
    if with_cupti {
        command.env("STAND_IN_CUPTI_PATH", STAND_INS.cupti());
        let mut candidates = std::ffi::OsString::from("/nowhere/libcupti.so:");
        candidates.push(STAND_INS.cupti());
        command.env("ADOPROF_SURVEY_CUPTI", candidates);
    } else {
        command.env("ADOPROF_CUPTI", "/nowhere/libcupti.so");
    }
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "the program runs\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "the library prints nothing");
    let surveyed = read(folder.path()).unwrap();
    Ran { folder, surveyed, code: output.status.code() }
}

#[test]
fn what_cupti_records_is_read() {
    let ran = run("", "", true);
    assert_eq!((ran.code, ran.files()), (Some(0), vec!["survey".to_owned()]));
    let survey = &ran.surveyed.survey;
    let [process] = &survey.processes[..] else { panic!("{survey:?}") };
    assert_eq!((process.cupti_version, process.start), (130_001, 500));
    assert_eq!((process.end, process.dropped), (Some(500), 3));
    assert_eq!(process.command, [STAND_INS.program().display().to_string()]);

    assert_eq!(process.kernels.len(), 10);
    let first = process.kernels[0];
    assert_eq!((first.span.start, first.span.end), (2000, 2100));
    assert_eq!((first.place.context, first.place.stream, first.place.correlation), (1, 7, 2));
    let shape = &process.shapes[first.shape as usize];
    assert_eq!(
        (shape.kernel.as_str(), shape.grid, shape.block),
        ("_Z3addPfi", [64, 2, 1], [128, 1, 1])
    );
    assert_eq!((shape.registers, shape.local), (40, 16));
    assert_eq!((shape.static_shared, shape.dynamic_shared), (1024, 2048));

    let [copy] = process.copies[..] else { panic!("{:?}", process.copies) };
    assert_eq!((copy.bytes, copy.span.ns(), copy.place.stream), (4096, 500.0, 7));
    assert_eq!((copy.direction, copy.source, copy.destination), (1, 1, 3));
    assert!(copy.is_asynchronous);
    let device = &process.devices[&0];
    assert_eq!((device.name.as_str(), device.multiprocessors), ("NVIDIA Stand-in", 132));
    assert_eq!(device.memory_bytes, 16_000_000_000);
    let allocated = |time| process.memory.at(0, time).unwrap().device;
    assert_eq!([899, 900, 6500, 60_000].map(allocated), [0, 3, 9, 3].map(|n| n * 1_000_000_000));
    // Ten launches; what asks for the last error is left out.
    assert_eq!(
        (process.calls.len(), &process.functions[..]),
        (10, &["cudaLaunchKernel".to_owned()][..])
    );
    assert_eq!((process.calls[0].thread, process.calls[0].span.ns()), (99, 50.0));

    assert_eq!((survey.gpu_busy_ns(), survey.kernel_busy_ns()), (1500.0, 1000.0));
    assert!(survey.notices.iter().any(|notice| notice.contains("CUPTI lost 3 records")));
    // Two kernels, of which each came in two grids.
    let counts: Vec<(String, u32, usize)> = group::groups(survey)
        .iter()
        .map(|group| (group.shape.kernel.clone(), group.shape.grid[0], group.launches.len()))
        .collect();
    let of = |name: &str, grid, count| (name.to_owned(), grid, count);
    let add = [of("_Z3addPfi", 32, 4), of("_Z3addPfi", 64, 4)];
    let mul = [of("_Z3mulPf", 32, 1), of("_Z3mulPf", 64, 1)];
    assert_eq!(counts, [add, mul].concat());
}

#[test]
fn a_cupti_without_records_of_memory_gives_all_others() {
    let ran = run("", "no-memory-records", true);
    assert!(ran.log().contains("kind 49"), "{}", ran.log());
    let process = &ran.surveyed.survey.processes[0];
    assert_eq!((process.kernels.len(), process.memory.at(0, 9000)), (10, None));
}

#[test]
fn callers_of_calls_are_frames_of_the_program_and_its_libraries() {
    let ran = run("", "", true);
    let process = &ran.surveyed.survey.processes[0];
    for call in &process.calls {
        let (stack, calls) = process.callers.of(call.correlation).unwrap();
        assert_eq!(calls, 1);
        assert!(stack[0].is_executable, "{stack:?}");
        assert_eq!(Path::new(&*stack[0].file), STAND_INS.program().canonicalize().unwrap());
        assert!(stack.len() <= 16);
        // Neither CUPTI nor our own library; the C library called `main`.
        let has = |name: &str| stack.iter().any(|frame| frame.file.contains(name));
        assert!(!has("libcupti") && !has("libadoprof") && has("libc.so"), "{stack:?}");
    }
    // One place in a loop is one stack.
    let first = process.callers.of(2).unwrap().0;
    let last = process.callers.of(11).unwrap().0;
    assert!(std::sync::Arc::ptr_eq(first, last));
}

#[test]
fn of_a_million_calls_a_few_thousand_are_looked_at() {
    let ran = run("many-calls", "", true);
    let process = &ran.surveyed.survey.processes[0];
    let stands_for = |number: u32| process.callers.of(1000 + number).map(|(_, calls)| calls);
    assert_eq!(
        [0, 255, 256, 257, 272].map(stands_for),
        [Some(1), Some(1), Some(16), None, Some(16)]
    );
    assert_eq!(
        [16_368, 16_384, 16_400, 16_640].map(stands_for),
        [Some(16), Some(256), None, Some(256)]
    );
    let sum: u64 = (0..1_000_000).filter_map(stands_for).map(u64::from).sum();
    assert!((1_000_000..1_000_256).contains(&sum), "{sum}");
    // 256, 1,008 and 3,843 callers of 20 bytes, and one stack.
    let bytes: u64 = std::fs::read_dir(ran.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().extension().is_some_and(|kind| kind == "survey"))
        .map(|entry| entry.metadata().unwrap().len())
        .sum();
    assert!(bytes < 120_000, "{bytes}");
    let log = ran.log();
    let ns = log.lines().find_map(|line| line.strip_prefix("ns per call ")).unwrap();
    // Some 50 ns on an idle core; a test shares its cores with others.
    assert!(ns.parse::<u64>().unwrap() < 2000, "{ns} ns per call");
}

#[test]
fn only_what_matters_is_asked_for() {
    let log = run("", "", true).log();
    let asked: Vec<&str> = log.lines().collect();
    // Kernels that may run side by side, never the kind that serializes (3).
    assert!(asked.contains(&"kind 10") && !asked.contains(&"kind 3"), "{asked:?}");
    // cudaMalloc and cudaLaunchKernel, not cudaGetLastError.
    let functions = asked.iter().filter(|line| line.starts_with("function"));
    assert_eq!(functions.copied().collect::<Vec<_>>(), ["function 1", "function 3"]);
    assert!(asked.contains(&"callback 2 4"), "a reset loses records: {asked:?}");
    assert_eq!(asked.last(), Some(&"flush 1"));
}

#[test]
fn a_reset_is_preceded_by_a_flush() {
    let ran = run("reset", "", true);
    assert!(ran.log().contains("flush 0"), "{}", ran.log());
    assert_eq!(ran.surveyed.survey.launches(), 10);
}

#[test]
fn a_process_that_aborts_leaves_what_was_handed_over() {
    let ran = run("aborts", "", true);
    assert_eq!((ran.code, ran.files()), (None, vec!["part".to_owned()]));
    assert_eq!((ran.surveyed.survey.launches(), &ran.surveyed.failure), (10, &None));
    assert!(ran.surveyed.survey.notices[0].contains("did not end in an orderly way"));
}

#[test]
fn a_forks_child_writes_nothing() {
    let ran = run("forks", "", true);
    assert_eq!((ran.code, ran.files()), (Some(0), vec!["survey".to_owned()]));
    assert_eq!(ran.surveyed.survey.launches(), 10);
}

#[test]
fn where_cupti_can_not_serve_the_reason_stays_and_the_program_runs() {
    for (case, with_cupti, part) in [
        ("", false, "ADOPROF_CUPTI"),
        ("old", true, "older than CUDA 11.8"),
        ("refuses", true, "records no kernels"),
    ] {
        let ran = run("fails", case, with_cupti);
        let expected = if with_cupti { Some(3) } else { Some(0) };
        assert_eq!((ran.code, ran.files()), (expected, vec!["reason".to_owned()]), "{case}");
        let failure = ran.surveyed.failure.unwrap();
        assert!(failure.contains(part), "{failure}");
    }
    let ran = run("no-cuda", "", true);
    assert!(ran.files().is_empty());
    assert!(ran.surveyed.failure.unwrap().contains("no process of the program initialized CUDA"));
}
