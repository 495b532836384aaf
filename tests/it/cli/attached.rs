//! `profile --attachable` and `profile --pid` from end to end, with the stand-ins for a program and for CUPTI.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::bench::{Bench, Ran, ran};
use crate::survey::STAND_INS;

fn wait_for(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "it does not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A program that serves until it is told to end.
struct Service<'a> {
    bench: &'a Bench,
    process: Child,
}

impl<'a> Service<'a> {
    fn start(bench: &'a Bench, case: &str) -> Self {
        std::fs::create_dir_all(bench.path("tmp")).unwrap();
        let program = STAND_INS.program().display().to_string();
        let end = bench.path("end").display().to_string();
        let process = bench
            .command(&["profile", "-q", "--attachable", "--", &program, "serves", &end])
            .env("TMPDIR", bench.path("tmp"))
            .env("ADOPROF_CUPTI", STAND_INS.cupti())
            .env("STAND_IN_CUPTI_PATH", STAND_INS.cupti())
            .env("STAND_IN_CUPTI", case)
            .env("STAND_IN_CUPTI_LOG", bench.path("log"))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let service = Self { bench, process };
        let maps = format!("/proc/{}/maps", service.process.id());
        wait_for(|| std::fs::read_to_string(&maps).unwrap().contains("libcupti.so"));
        service
    }

    fn attach(&self, options: &[&str]) -> Ran {
        let id = self.process.id().to_string();
        let mut args = vec!["profile", "--pid", &id];
        args.extend(options);
        ran(self.bench.command(&args).env("TMPDIR", self.bench.path("tmp")))
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.bench.path("log")).unwrap_or_default()
    }

    fn end(mut self) -> Option<i32> {
        std::fs::write(self.bench.path("end"), "").unwrap();
        self.process.wait().unwrap().code()
    }
}

impl Drop for Service<'_> {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn launches(document: &Value) -> u64 {
    document["program"]["groups"][0]["launches"].as_u64().unwrap()
}

#[test]
fn a_running_program_is_surveyed_as_often_as_it_is_asked_for() {
    let bench = Bench::new();
    let service = Service::start(&bench, "clock");
    assert_eq!(service.log(), "", "until then nothing is asked of CUPTI");
    for _ in 0..2 {
        let ran = service.attach(&["--for", "0.4s", "--format", "json"]);
        let document = ran.json();
        let program = &document["program"];
        let wall_ns = program["wall_ns"].as_f64().unwrap();
        assert!((4e8..4e9).contains(&wall_ns), "{wall_ns}");
        // One launch each ms at most, and some even where the machine is busy.
        let most = (wall_ns / 1e6) as u64;
        assert!((1..=most).contains(&launches(&document)), "{} of {most}", launches(&document));
        assert_eq!(program["groups"][0]["kernel"], "add(float*, int)");
        assert!(program["command"].as_str().unwrap().contains("serves"), "{program}");
        assert!(document["notices"][0].as_str().unwrap().contains("without hardware counters"));
    }
    let log = service.log();
    let times = |line: &str| log.lines().filter(|&found| found == line).count();
    assert_eq!((times("kind 10"), times("no kind 10")), (2, 2), "{log}");
    let is_of_host = |line: &&str| {
        ["kind 4", "kind 5", "kind 38", "kind 49", "function", "callback"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let of_host: Vec<&str> = log.lines().filter(|line| is_of_host(line)).collect();
    assert_eq!(of_host, [""; 0], "a program in the midst of a call must not notice");
    let left = bench.left("tmp");
    let [library] = &left[..] else { panic!("{left:?}") };
    assert!(library.display().to_string().contains("/libadoprof_survey-"), "{left:?}");
    assert_eq!(service.end(), Some(0), "the program ends as it would have");
}

#[test]
fn a_process_that_does_not_answer_and_one_that_can_not_be_surveyed_are_told_apart() {
    let bench = Bench::new();
    let service = Service::start(&bench, "refuses");
    service.attach(&["--for", "0.2s"]).fails(3, &["CUPTI records no kernels here"]);
    drop(service);
    let bench = Bench::new();
    let service = Service::start(&bench, "clock");
    let stop = |signal: &str| {
        let id = service.process.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
    };
    stop("-STOP");
    service.attach(&["--for", "0.2s"]).fails(3, &["does not answer"]);
    stop("-CONT");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(service.log(), "", "a request that nobody took is withdrawn");
}

#[test]
fn a_process_that_ends_while_it_is_surveyed_is_said_to_have_ended() {
    let bench = Bench::new();
    let service = Service::start(&bench, "clock");
    let id = service.process.id().to_string();
    let killed = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        assert!(
            std::process::Command::new("kill").args(["-KILL", &id]).status().unwrap().success()
        );
    });
    let start = Instant::now();
    service.attach(&["--for", "60s"]).fails(3, &["ended while surveyed", "--for"]);
    assert!(start.elapsed() < Duration::from_secs(30), "nobody waits for the dead");
    killed.join().unwrap();
}

#[test]
fn two_can_not_ask_at_the_same_time() {
    let bench = Bench::new();
    let service = Service::start(&bench, "clock");
    let folder = std::fs::read_dir(bench.path("tmp"))
        .unwrap()
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with("adoprof-waiting-"));
    let id = service.process.id();
    let request = folder.unwrap().path().join(format!("{id}.request"));
    // A request that is not taken, as the process is stopped.
    let signal = |signal: &str| {
        let kill = std::process::Command::new("kill").args([signal, &id.to_string()]).status();
        assert!(kill.unwrap().success());
    };
    signal("-STOP");
    std::fs::write(&request, "200 /nowhere").unwrap();
    service.attach(&["--for", "0.2s"]).fails(3, &["about to be surveyed by another adoprof"]);
    assert_eq!(std::fs::read_to_string(&request).unwrap(), "200 /nowhere", "the first one stays");
    signal("-CONT");
}

#[test]
fn what_a_window_has_not_is_refused() {
    let bench = Bench::new();
    for option in ["--dry-run", "--kernel=x", "--nvtx=x", "--output=x", "--on=slurm"] {
        let ran = bench.run(&["profile", "--pid", "1", option]);
        assert_eq!(ran.code, Some(2), "{option}: {ran:?}");
        assert!(ran.err.contains("cannot be used with"), "{ran:?}");
    }
}

#[test]
fn a_process_that_was_started_otherwise_is_refused_with_what_to_do() {
    let bench = Bench::new();
    bench.run(&["profile", "--pid", "4294967295"]).fails(2, &["there is no process 4294967295"]);
    let ran = bench.run(&["profile", "--attachable", "--", "./nowhere"]);
    ran.fails(2, &["./nowhere does not exist or can't be run"]);
    let ran = bench.run(&["profile", "--attachable", "--dry-run", "--", "sh", "a b"]);
    assert!(ran.out.contains("CUDA_INJECTION64_PATH=") && ran.out.contains("'a b'"), "{ran:?}");
}
