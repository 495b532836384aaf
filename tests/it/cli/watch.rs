//! `adoprof watch` on a step that is a program, with stand-ins for CUPTI, the program and ncu.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::bench::{Bench, stand_in};
use crate::survey::STAND_INS;

const PAGE: &str = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\"\n\
                    \"\",\"\",\"\",\"\",\"ns\"\n\
                    \"0\",\"add(float *, int)\",\"(128, 1, 1)\",\"(32, 2, 1)\",\"120\"\n";

const MANIFEST: &str = "name = \"mine\"\ntitle = \"t\"\n[parameters]\nN = 100\n[[steps]]\nname = \"a\"\n\
                        title = \"a\"\nrun = \"sh run.sh\"\nruns = 2\ntime = { output = \"took ([0-9]+) (us)\" }\n";

/// A watch under way; killed with the test.
struct Watch {
    bench: Bench,
    process: Child,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Watch {
    /// Starts one on a program that takes so long.
    fn start(us: u32, more: &[&str]) -> Self {
        let bench = Bench::new();
        bench.write("mine/ladder.toml", MANIFEST);
        bench.write("raw.csv", PAGE);
        bench.write("none.csv", "");
        takes(&bench, us);
        let file = |name: &str| std::fs::File::create(bench.path(name)).unwrap();
        let process = bench
            .command(&["watch", "--ladder", "./mine", "--kernel", "a"])
            .args(more)
            .env("ADOPROF_NCU", stand_in())
            .env("ADOPROF_CUPTI", STAND_INS.cupti())
            .env("STAND_IN_CUPTI_PATH", STAND_INS.cupti())
            .env("STAND_IN_CASE", "success")
            .env("STAND_IN_ARGV", bench.path("argv"))
            .env("STAND_IN_RAW", bench.path("raw.csv"))
            .env("STAND_IN_DETAILS", bench.path("none.csv"))
            .env("STAND_IN_SOURCE", bench.path("none.csv"))
            .stdin(Stdio::null())
            .stdout(file("out"))
            .stderr(file("err"))
            .spawn()
            .unwrap();
        Self { bench, process }
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.bench.path(name)).unwrap_or_default()
    }

    /// The runs so far.
    fn runs(&self) -> Vec<Value> {
        let text = self.text(".adoprof/mine/a/watch.jsonl");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn wait_for(&self, what: &str, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(Instant::now() < deadline, "{what}: {}{}", self.text("out"), self.text("err"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the next run: the number of runs so far and the last of them.
    fn run(&self, number: usize) -> Value {
        self.wait_for(&format!("no run {number}"), || self.runs().len() >= number);
        let runs = self.runs();
        assert_eq!(runs.len(), number, "{runs:?}");
        runs[number - 1].clone()
    }

    /// Ctrl-C, and the exit code.
    fn interrupt(&mut self) -> Option<i32> {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let since = Instant::now();
        let code = self.process.wait().unwrap().code();
        assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
        code
    }
}

fn takes(bench: &Bench, us: u32) {
    let program = STAND_INS.program().display().to_string();
    bench.write("mine/run.sh", format!("echo took {us} us\nexec {program}\n"));
}

#[test]
fn every_edit_is_run_and_compared_with_the_last_good_run() {
    let mut watch = Watch::start(300, &[]);
    let first = watch.run(1);
    assert_eq!((&first["time_ns"]["median"], &first["base_ns"]), (&300_000.0.into(), &Value::Null));
    assert!(watch.bench.path(first["saved"].as_str().unwrap()).join("profile.json").is_file());

    takes(&watch.bench, 100);
    let second = watch.run(2);
    assert_eq!(second["changed"], serde_json::json!(["run.sh"]));
    assert_eq!(second["base_ns"]["median"], 300_000.0);
    assert!(watch.text("out").contains("3.00× faster"), "{}", watch.text("out"));

    // An edit that fails, and a manifest that can't be read, show their error.
    watch.bench.write("mine/run.sh", "echo it broke\nexit 3\n");
    let failed = watch.run(3);
    assert_eq!((&failed["exit_code"], &failed["time_ns"]), (&4.into(), &Value::Null));
    assert!(watch.text("err").contains("| it broke"), "{}", watch.text("err"));
    watch.bench.write("mine/ladder.toml", format!("{MANIFEST}rum = \"x\"\n"));
    assert_eq!(watch.run(4)["exit_code"], 2);
    assert!(watch.text("err").contains("unknown key `rum`: write `run`"), "{}", watch.text("err"));

    // Mended, both at once: compared with the last run that was good.
    takes(&watch.bench, 200);
    watch.bench.write("mine/ladder.toml", MANIFEST);
    watch.wait_for("no good run", || watch.runs().last().unwrap()["time_ns"].is_object());
    let mended = watch.runs().pop().unwrap();
    assert_eq!(mended["base_ns"]["median"], 100_000.0);
    assert_eq!(mended["time_ns"]["median"], 200_000.0);

    assert_eq!(watch.interrupt(), Some(0));
    let err = watch.text("err");
    assert!(err.contains("of them good: 300 µs → 200 µs, 1.50× faster"), "{err}");
    assert!(err.contains("run.sh changed: 100 µs, 3.00× faster"), "{err}");
}

#[test]
fn an_edit_during_a_run_starts_it_anew_and_ctrl_c_leaves_nothing() {
    let mut watch = Watch::start(300, &["--time-only"]);
    watch.run(1);
    let hangs = "echo $$ > pid\nexec sleep 600\n";
    watch.bench.write("mine/run.sh", hangs);
    watch.wait_for("it does not hang", || watch.bench.path("mine/pid").is_file());
    takes(&watch.bench, 250);
    let second = watch.run(2);
    assert_eq!(second["time_ns"]["median"], 250_000.0);
    std::fs::remove_file(watch.bench.path("mine/pid")).unwrap();
    watch.bench.write("mine/run.sh", hangs);
    let pid = watch.bench.path("mine/pid");
    watch.wait_for("it does not hang again", || {
        std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'))
    });
    assert_eq!(watch.interrupt(), Some(0));
    let pid = std::fs::read_to_string(&pid).unwrap();
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "the program still runs");
    let left = watch.bench.left(".adoprof/mine/a");
    let names = left.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
    let kept = |name: &str| matches!(name, "profile.json" | "watch.jsonl");
    assert!(names.clone().all(|name| kept(&name)), "{left:?}");
    assert_eq!(names.count(), 3, "two good runs and the history");
}

#[test]
fn what_a_watch_lacks_is_said_at_once() {
    let bench = Bench::new();
    bench.run(&["watch", "--kernel", "v3"]).fails(2, &["inside adoprof", "ladder copy ado DIR"]);
    assert_eq!(bench.run(&["ladder", "copy", "ado", "mine"]).code, Some(0));
    let watched = bench.run(&["watch", "--kernel", "v3", "--ladder", "./mine"]);
    watched.fails(3, &["needs a CUDA device", "adoprof doctor"]);
    for (words, part) in [
        (&["--dry-run"][..], "--dry-run applies to a single run"),
        (&["-o", "x"], "-o applies to a single run"),
        (&["--also", "none.h"], "none.h: is not a file"),
        (&["--size", "Q=1"], "Q"),
    ] {
        let words = [&["watch", "--kernel", "v3", "--ladder", "./mine"], words].concat();
        bench.run(&words).fails(2, &[part]);
    }
}

#[test]
fn a_copied_ladder_is_the_ladder() {
    let bench = Bench::new();
    for name in ["ado", "reduce-int"] {
        let ran = bench.run(&["ladder", "copy", name, name]);
        assert!(ran.out.contains(&format!("--ladder ./{name}")), "{ran:?}");
        let checked = bench.run(&["ladder", "check", &format!("./{name}")]);
        assert_eq!(checked.code, Some(0), "{checked:?}");
    }
    let of = |path: &str| {
        let builtin = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels").join(path);
        std::fs::read_to_string(builtin).unwrap()
    };
    assert_eq!(std::fs::read_to_string(bench.path("ado/v2.cu")).unwrap(), of("ado/v2.cu"));
    // Sources of a ladder beside it come along.
    assert_eq!(
        std::fs::read_to_string(bench.path("reduce-int/r0.cu")).unwrap(),
        of("reduce/r0.cu")
    );
    bench.run(&["ladder", "copy", "ado", "ado"]).fails(2, &["is not empty"]);
    bench.run(&["ladder", "copy", "aod", "x"]).fails(2, &["no built-in ladder"]);
}
