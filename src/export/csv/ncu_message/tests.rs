use crate::error::ExitCode;
use crate::export::csv::ncu_message::*;

/// The outputs are those that ncu 2025.3 printed, program and paths made up.
fn code(output: &str) -> Option<ExitCode> {
    first_error(output).map(|error| error.exit_code())
}

fn kinds(output: &str) -> Vec<NcuMessageKind> {
    classify(output).into_iter().map(|message| message.kind).collect()
}

#[test]
fn forbidden_counters_come_before_their_consequences() {
    let output = "==PROF== Connected to process 7 (f)\n\
        ==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU \
        Performance Counters on the target device 0.\n\
        ==ERROR== The application returned an error code (9).\n\
        ==WARNING== No kernels were profiled.\n";
    assert_eq!(
        kinds(output),
        [
            NcuMessageKind::CountersForbidden,
            NcuMessageKind::ProgramFailed,
            NcuMessageKind::NoKernels
        ]
    );
    assert_eq!(code(output), Some(ExitCode::Environment));
    let message = first_error(output).map(|error| error.to_string()).unwrap_or_default();
    assert!(message.contains("NVreg_RestrictProfilingToAdminUsers=0"), "{message}");
}

#[test]
fn names_and_codes_are_passed_on() {
    for (said, part, exit) in [
        ("'./nope' does not exist or is not an executable. Please…", "./nope", ExitCode::Usage),
        ("Option '--section NoSuch' did not match any section.", "NoSuch", ExitCode::Usage),
        ("unrecognised option '--foo'. Use --help for further details.", "--foo", ExitCode::Usage),
        ("Could not open report file 'none.ncu-rep'.", "none.ncu-rep", ExitCode::Usage),
        ("Failed to load report file 'junk.ncu-rep'.", "junk.ncu-rep", ExitCode::Usage),
        ("The application returned an error code (7).", "code 7", ExitCode::Kernel),
        ("LaunchFailed", "compute-sanitizer", ExitCode::Kernel),
        (
            "Profiling failed because a driver resource was unavailable.",
            "dcgmi",
            ExitCode::Environment,
        ),
        ("Something never seen before.", "Something never seen before", ExitCode::Environment),
    ] {
        let output = format!("==ERROR== {said}\n");
        assert_eq!(code(&output), Some(exit), "{said}");
        let message = first_error(&output).map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains(part), "{said}: {message}");
    }
}

#[test]
fn a_fault_counts_more_than_the_exit_code_that_follows() {
    let output = "==ERROR== LaunchFailed\n==ERROR== The application returned an error code (9).\n";
    assert_eq!(kinds(output), [NcuMessageKind::KernelFault, NcuMessageKind::ProgramFailed]);
}

#[test]
fn notices_are_no_errors() {
    let output = "==WARNING== Note: Running with unmodified GPU clocks. If not controlled…\n\
        ==WARNING== Launching the workload is taking more time than expected. If…\n\
        ==WARNING== Unable to access the following 6 metrics: a, b.\n\
        ==WARNING== A new warning.\n\
        ....50%....100% - 34 passes\n==PROF== Report: x.ncu-rep\n";
    assert_eq!(code(output), None);
    assert_eq!(classify(output).len(), 4);
}

#[test]
fn the_programs_own_output_is_not_ncus() {
    assert_eq!(kinds("no error, \"quoted\"\nNo kernels were profiled, haha\n"), []);
    // But the driver's words count whoever prints them.
    assert_eq!(
        kinds("CUDA error: no CUDA-capable device is detected\n"),
        [NcuMessageKind::NoDevice]
    );
}

#[test]
fn available_kernels_are_listed() {
    let output =
        "==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. ok\n2. bad<int>\nrc=0\n";
    assert_eq!(available_kernels(output), ["ok", "bad<int>"]);
    assert!(available_kernels("").is_empty());
}

#[test]
fn control_characters_do_not_get_through() {
    let error = first_error("==ERROR== \u{1b}[31mred\n").map(|error| error.to_string());
    assert!(error.is_some_and(|text| !text.contains('\u{1b}')));
}
