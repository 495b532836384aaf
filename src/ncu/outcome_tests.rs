use super::*;

const PLACE: &str = "out/report.ncu-rep";

fn failure(log: &str) -> Error {
    judge(log, Some(1), false, Path::new(PLACE)).unwrap_err()
}

#[test]
fn forbidden_counters_say_how_to_allow_them() {
    let log = "==PROF== Connected to process 7 (/x)\n==ERROR== ERR_NVGPUCTRPERM - The user does not \
               have permission to access NVIDIA GPU Performance Counters on the target device 0.\n";
    let error = failure(log);
    assert!(matches!(error, Error::Environment(_)));
    for part in ["root", "NVreg_RestrictProfilingToAdminUsers=0", "SYS_ADMIN"] {
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn a_filter_without_match_lists_the_kernels() {
    let log = "hello\n==PROF== Disconnected from process 2055\n\
               ==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. ok\n2. sum_rows\n";
    let error = judge(log, Some(0), false, Path::new(PLACE)).unwrap_err();
    assert!(matches!(error, Error::Usage(_)));
    assert!(error.to_string().ends_with("which are ok, sum_rows"), "{error}");
}

#[test]
fn no_kernel_at_all_is_the_programs_doing() {
    let quiet = judge("==WARNING== No kernels were profiled.\n", Some(0), false, Path::new(PLACE));
    assert!(matches!(quiet, Err(Error::Usage(_))));
    let failed = failure(
        "==ERROR== The application returned an error code (3).\n\
         ==WARNING== No kernels were profiled.\n",
    );
    assert!(matches!(&failed, Error::Kernel(text) if text.contains("code 3")), "{failed}");
}

#[test]
fn a_good_report_outweighs_the_programs_exit_code() {
    let log = "==PROF== Profiling \"ok(int *)\" - 0: 0%....50%....100% - 10 passes\n\
               ==ERROR== The application returned an error code (7).\n";
    let outcome = judge(log, Some(7), true, Path::new(PLACE)).unwrap();
    assert_eq!(outcome.program_exit, Some(7));
    assert_eq!(outcome.notices.len(), 1);
    assert!(outcome.notices[0].contains("code 7"));
}

#[test]
fn a_faulting_kernel_fails_although_there_is_a_report() {
    let log = "==PROF== Profiling \"bad(int *)\" - 0: 0%....50%....100% - 1 pass\n\n\
               ==ERROR== LaunchFailed\n==PROF== Trying to shutdown target application\n\
               ==ERROR== The application returned an error code (9).\n";
    let error = judge(log, Some(9), true, Path::new(PLACE)).unwrap_err();
    assert!(matches!(&error, Error::Kernel(text) if text.contains("bad(int *)")), "{error}");
}

#[test]
fn slow_launches_are_worth_a_word_only_where_the_run_did_not_end() {
    let log = "==WARNING== Launching the workload is taking more time than expected. If this \
               continues to hang, terminate the profile.\n";
    assert_eq!(judge(log, Some(0), true, Path::new(PLACE)).unwrap(), Outcome::default());
    let hint = hang_hint(log).unwrap();
    for part in ["--replay-mode range", "--replay-mode application"] {
        assert!(hint.contains(part), "{hint}");
    }
    assert_eq!(hang_hint("50%....100% - 34 passes\n"), None);
}

#[test]
fn unknown_errors_beside_a_good_report_are_notices() {
    let log = "==PROF== Profiling \"k\" - 0: 0%....100% - 1 pass\n==ERROR== Something new.\n";
    let outcome = judge(log, Some(0), true, Path::new(PLACE)).unwrap();
    assert_eq!(outcome.notices, ["ncu said: Something new."]);
}

#[test]
fn the_programs_own_words_do_not_spoil_a_good_report() {
    let log = "caught: an illegal memory access was encountered\n\
               ==PROF== Profiling \"k\" - 0: 0%....100% - 1 pass\n";
    assert_eq!(judge(log, Some(0), true, Path::new(PLACE)).unwrap(), Outcome::default());
    assert!(matches!(judge(log, Some(1), false, Path::new(PLACE)), Err(Error::Kernel(_))));
}

#[test]
fn what_ncu_does_not_know_is_a_usage_error() {
    for (log, part) in [
        ("==ERROR== '/tmp/nope' does not exist or is not an executable. Please …", "/tmp/nope"),
        ("==ERROR== Option '--section Nope' did not match any section.", "--section Nope"),
        ("==ERROR== unrecognised option '--foo'. Use --help for further details.", "--foo"),
        ("==ERROR== option '--metrics' cannot be specified more than once.", "--metrics"),
        ("==ERROR== Invalid regex provided to --kernel option. Unmatched (", "Unmatched ("),
    ] {
        let error = failure(log);
        assert!(matches!(error, Error::Usage(_)), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn other_failures_keep_ncus_words() {
    let write = failure("==ERROR== Unable to write to file x.ncu-rep. Please verify …");
    assert!(matches!(&write, Error::Input { path, .. } if path == Path::new(PLACE)));
    let driver = failure("==ERROR== Nsight Compute failed to connect to the CUDA driver (stub …).");
    assert!(matches!(driver, Error::Environment(_)));
    let taken = failure("==ERROR== Profiling failed because a driver resource was unavailable.");
    assert!(taken.to_string().contains("dcgmi profile --pause"));
    let strange = failure("==ERROR== Something new.\n==ERROR== And more.\n");
    assert!(strange.to_string().contains("it said: Something new. And more."), "{strange}");
    let dead = judge("", None, false, Path::new(PLACE)).unwrap_err();
    assert!(dead.to_string().contains("a signal"), "{dead}");
}

#[test]
fn imports_tell_missing_foreign_and_damaged_reports_apart() {
    let path = Path::new("a.ncu-rep");
    assert_eq!(import_failure("\"ID\",\"Kernel Name\"\n", path).map(|e| e.to_string()), None);
    for (log, part) in [
        (
            "==ERROR== Could not open report file 'a'.\n==ERROR== The file does not exist or is not \
          a regular file.\n",
            "there is no such report",
        ),
        (
            "==ERROR== Failed to load report file 'a'.\n==ERROR== The file is not an Nsight Compute \
          profiler report.\n",
            "is not an ncu report",
        ),
        (
            "==ERROR== Failed to load report file 'a'.\n==ERROR== An unexpected incompatibility with \
          this Nsight Compute version occurred.\n",
            "cut short",
        ),
    ] {
        let error = import_failure(log, path).unwrap();
        assert!(matches!(error, Error::Input { .. }));
        assert!(error.to_string().contains(part), "{error}");
    }
}
