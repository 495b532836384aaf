//! adoprof killed without a chance to look after what it started.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::bench::{Bench, stand_in};

/// Waits until something is so; fails where it does not come.
fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// True while a process runs; one that ended and that nobody asked about does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, state)| !state.starts_with(" Z"))
}

/// ncu in PATH is often a script that starts the real one; the program may leave its group and its parent.
#[test]
fn a_killed_adoprof_leaves_neither_ncu_nor_the_program_behind() {
    let bench = Bench::new();
    bench.v2("pages/v2");
    bench.write("wrapper", format!("#!/bin/sh\n\"{}\" \"$@\"\nexit $?\n", stand_in()));
    let wrapper = bench.path("wrapper");
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_adoprof"))
        .args(["profile", "--no-survey", "-o", "out/here", "--ncu"])
        .arg(&wrapper)
        .args(["--", "./program"])
        .current_dir(bench.path(""))
        .env("TMPDIR", bench.path(""))
        .env("STAND_IN_CASE", "hang_stubborn")
        .env("STAND_IN_PIDS", bench.path("pids"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pids = || std::fs::read_to_string(bench.path("pids")).unwrap_or_default();
    wait_for("the stand-in did not start", || pids().ends_with('\n'));
    let pids: Vec<String> = pids().split_whitespace().map(str::to_owned).collect();
    assert_eq!(pids.len(), 4, "ncu, a child, one in a session of its own, a daemon");
    assert!(pids.iter().all(|pid| runs(pid)), "{pids:?}");
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for("something outlived adoprof", || !pids.iter().any(|pid| runs(pid)));
    // What ncu had begun to write is gone; the next run is not kept from its folder.
    wait_for("a folder outlived adoprof", || {
        !bench.left("out").iter().any(|path| path.to_string_lossy().contains(".ncu-rep"))
    });
    let left = || -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(bench.path("out")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| !path.ends_with("here") && !path.ends_with("next")).collect()
    };
    assert_eq!(left().len(), 2, "a lock and a folder that nobody holds: {:?}", left());
    assert_eq!(bench.profile("success", &["-o", "out/here"]).code, Some(0));
    // The lock went with the run that took it. A folder that may have been made this moment stays for a minute, and the
    // next run clears it without a word.
    let folder = left();
    assert!(matches!(&folder[..], [one] if one.is_dir()), "{folder:?}");
    let before = std::time::SystemTime::now() - Duration::from_secs(120);
    std::fs::File::open(&folder[0]).unwrap().set_modified(before).unwrap();
    let next = bench.profile("success", &["-o", "out/next"]);
    assert!(next.code == Some(0) && !next.err.contains("adoprof-writing"), "{next:?}");
    assert!(left().is_empty(), "{:?}", left());
}

/// The server's run is an adoprof of its own, with an ncu that heeds no polite signal.
#[test]
fn a_killed_server_for_agents_leaves_no_run_behind() {
    let bench = Bench::new();
    let allowed = "[mcp]\nallow = [\"profile\"]\n";
    bench.write("config/adoprof/adoprof.toml", allowed);
    bench.write("program", "#!/bin/sh\nexit 0\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.path("program"), executable).unwrap();
    let mut server = bench
        .command(&["mcp", "--root", "."])
        .env("XDG_CONFIG_HOME", bench.path("config"))
        .env("TMPDIR", bench.path(""))
        .env("ADOPROF_NCU", stand_in())
        .env("STAND_IN_CASE", "hang_stubborn")
        .env("STAND_IN_PIDS", bench.path("pids"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let call = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "profile", "arguments": { "command": ["./program"], "kernel": "add" } },
    });
    let mut input = server.stdin.take().unwrap();
    writeln!(input, "{call}").unwrap();
    let written = || std::fs::read_to_string(bench.path("pids")).unwrap_or_default();
    wait_for("the stand-in did not start", || written().ends_with('\n'));
    let mut pids: Vec<String> = written().split_whitespace().map(str::to_owned).collect();
    let children = format!("/proc/{0}/task", server.id());
    let of_thread = |thread: std::fs::DirEntry| {
        std::fs::read_to_string(thread.path().join("children")).unwrap_or_default()
    };
    let children: Vec<String> =
        std::fs::read_dir(children).unwrap().map(|thread| of_thread(thread.unwrap())).collect();
    pids.extend(children.iter().flat_map(|line| line.split_whitespace()).map(str::to_owned));
    assert!(pids.len() > 4 && pids.iter().all(|pid| runs(pid)), "with the run: {pids:?}");
    server.kill().unwrap();
    server.wait().unwrap();
    // Held until here: the end of its input would have been the polite way to end it.
    drop(input);
    wait_for("something outlived the server", || !pids.iter().any(|pid| runs(pid)));
}

#[test]
fn commands_that_only_read_leave_at_the_first_ctrl_c() {
    let bench = Bench::new();
    // Two minutes of reading in this build.
    let raw = std::fs::read_to_string(crate::cli::bench::file("fixtures/rules/ado_v2.raw.csv"));
    let raw = raw.unwrap();
    let (head, row) = raw.trim_end().split_at(raw.find("\n\"0\"").unwrap() + 1);
    let rows: String = (0..20_000)
        .flat_map(|at| [row.replacen("\"0\"", &format!("\"{at}\""), 1), "\n".to_owned()])
        .collect();
    bench.write("long.raw.csv", format!("{head}{rows}"));
    let mut run =
        bench.command(&["analyze", "long.raw.csv"]).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(run.try_wait().unwrap().is_none(), "it is still reading");
    let start = Instant::now();
    let signalled = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    run.wait().unwrap();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
