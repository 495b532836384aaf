use crate::report::samples;

use super::*;

fn group(kernel: &str, share: f64) -> ProgramGroup {
    ProgramGroup {
        kernel: kernel.to_owned(),
        grid: [1024, 1, 1],
        block: [1024, 1, 1],
        launches: 10,
        total_ns: share * 1e6,
        share,
        median_ns: share * 1e5,
        range_ns: [0.0, 1e6],
        launch: None,
        residency: None,
        reachable_bytes: None,
        in_a_row: None,
        turn: None,
        if_only_read: Vec::new(),
        pause_ns: None,
        before: None,
        after: None,
        read: None,
    }
}

fn program(shares: &[f64]) -> Program {
    let groups = shares.iter().map(|&share| group("k", share)).collect();
    // Kernels run for half of the time.
    Program { wall_ns: 2e6, kernel_busy_ns: 1e6, groups, ..Program::default() }
}

#[test]
fn launches_stand_for_their_groups() {
    let finding = |rule: &str, factor| vec![samples::finding(1, rule, factor)];
    let launch =
        |name, factor| samples::launch(name, 1.0, 1.0 / 3.0, finding("partial-wave", factor));
    let mut document = Document {
        launches: vec![launch("slow", 1.1), launch("fast", 4.0), launch("fast again", 4.0)],
        ..Document::default()
    };
    document.attach(program(&[0.6, 0.3, 0.1]), &[Some(1), Some(0), Some(0)]);
    let names: Vec<&str> = document.launches.iter().map(|l| l.kernel.as_str()).collect();
    assert_eq!(names, ["fast", "slow"], "the second launch of a group says nothing new");
    assert!((document.launches[0].time_share - 0.6).abs() < 1e-12);
    let places: Vec<Option<usize>> =
        document.program.as_ref().unwrap().groups.iter().map(|group| group.launch).collect();
    assert_eq!(places, [Some(0), Some(1), None]);
    // Kernels run for half of the time and `fast` has 60% of theirs: 0.3 of the program's time becomes a
    // quarter of it; `slow` has the same fault in half as much.
    let verdict = document.verdict.clone().unwrap();
    assert_eq!(verdict.launch, Some(0));
    let both = 0.3 * 0.75 + 0.15 * (1.0 - 1.0 / 1.1);
    let gain = verdict.program_gain.unwrap();
    assert!((gain - 1.0 / (1.0 - both)).abs() < 1e-12, "{gain}");
    let ranked = document.ranked();
    assert_eq!(ranked.len(), 1);
    let factor = ranked[0].estimate.unwrap().factor;
    assert!((factor - 1.0 / (1.0 - both)).abs() < 1e-12, "{factor}");
}

#[test]
fn what_lies_around_the_kernels_is_the_verdict_where_it_gives_more() {
    let finding = samples::finding(1, "partial-wave", 4.0);
    let launch = samples::launch("k", 1.0, 1.0, vec![finding]);
    for (factor, expected) in [(1.2, Some(0)), (1.5, None)] {
        let mut document = Document { launches: vec![launch.clone()], ..Document::default() };
        let around = ProgramFinding {
            rank: 1,
            rule: "small-copies".to_owned(),
            estimated_speedup: Estimate { factor, low: 1.0, high: factor },
            message: String::new(),
            evidence: Vec::new(),
            hint: String::new(),
            sites: Vec::new(),
        };
        // The kernel has 60% of half of the time: four times as fast it gives 1.29.
        let program = Program { findings: vec![around], ..program(&[0.6]) };
        document.attach(program, &[Some(0)]);
        let verdict = document.verdict.clone().unwrap();
        assert_eq!(verdict.launch, expected);
        assert_eq!(document.ranked().len(), 2);
        assert_eq!(document.ranked()[0].rule, verdict.rule);
    }
}

#[test]
fn a_program_without_its_time_has_only_its_kernels() {
    let share = |wall_ns| Program { wall_ns, ..program(&[1.0]) }.kernel_share();
    assert!((share(0.0) - 1.0).abs() < 1e-12);
    assert!((share(2e6) - 0.5).abs() < 1e-12);
}

#[test]
fn of_instances_of_a_template_the_one_that_was_launched_counts() {
    let with = |kernel: &str, launches: u64| ProgramGroup {
        in_a_row: Some(launches),
        ..group(kernel, 0.5)
    };
    let groups = vec![
        with("void each<Square>(unsigned long, Square)", 2),
        with("void each<Add>(unsigned long, Add)", 3),
    ];
    let program = Program { groups, ..Program::default() };
    let surveyed = SurveyedProgram { program, chosen: vec![0, 1], ..SurveyedProgram::default() };
    let row = |kernel: &str| LaunchRow {
        kernel: kernel.to_owned(),
        grid: [1024, 1, 1],
        block: [1024, 1, 1],
        ..LaunchRow::default()
    };
    let launches = |kernel: &str| surveyed.in_a_row(&row(kernel)).launches;
    assert_eq!(launches("void each<Add>(unsigned long, T1)"), 3);
    assert_eq!(launches("void each<Square>(unsigned long, T1)"), 2);
    assert_eq!(launches("each"), 2, "where the name does not tell, what holds for all");
    assert_eq!(launches("another"), 1);
    let reports = ["void each<Add>(unsigned long, T1)", "void each<Square>(unsigned long, T1)"];
    let reports = reports.map(|kernel| {
        let mut report = samples::launch(kernel, 1.0, 1.0, Vec::new());
        (report.grid, report.block) = ([1024, 1, 1], [1024, 1, 1]);
        report
    });
    assert_eq!(surveyed.groups_of(&reports), [Some(1), Some(0)], "in another order than chosen");
}
