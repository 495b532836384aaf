//! Documents made up for the tests of reports: plausible shapes, no measurement.

mod check;
mod history;
mod sweep;

use std::collections::BTreeMap;

use crate::document::{
    CallSite, Compared, Diff, Document, LaunchReport, MetricChange, NcuAgreement, NcuOnly, NcuRule,
    Program, ProgramFinding, RankedFinding, RunDocument, SCHEMA, TimeOf, Utilization, Verdict,
};
use crate::finding::{Bound, Estimate, Evidence, Location, Skipped, Symptom};
use crate::timing::{CpuTime, Rate, StepInfo, Timing};

pub(crate) use check::check;
pub(crate) use history::history;
pub(crate) use sweep::sweep;

pub(crate) fn location() -> Location {
    Location {
        file: "kernels/ado/v2.cu".to_owned(),
        line: 23,
        offset: None,
        share: 0.89,
        share_of: "excess sectors".to_owned(),
        text: "sum += component[i];".to_owned(),
    }
}

pub(crate) fn finding(rank: usize, rule: &str, factor: f64) -> RankedFinding {
    RankedFinding {
        rank,
        rule: rule.to_owned(),
        section: "SourceCounters".to_owned(),
        estimated_speedup: Some(Estimate {
            factor,
            low: 1.0 + (factor - 1.0) * 0.625,
            high: 1.0 + (factor - 1.0) * 1.375,
        }),
        message: format!("Made up for a test of {rule}, with enough words to need a second line."),
        evidence: vec![Evidence::new("lts__t_sectors.sum", 1_209_008_128.0, "sector")],
        locations: vec![location()],
        hint: "Give a row to a warp and stride its lanes along it, or stage a tile through shared \
               memory."
            .to_owned(),
        explains: Vec::new(),
        symptoms: Vec::new(),
        answered_by: None,
        ncu: None,
    }
}

pub(crate) fn launch(
    kernel: &str,
    ms: f64,
    share: f64,
    findings: Vec<RankedFinding>,
) -> LaunchReport {
    LaunchReport {
        kernel: kernel.to_owned(),
        grid: [1024, 1, 1],
        block: [1024, 1, 1],
        device: Some("NVIDIA H200".to_owned()),
        rank: None,
        duration_ns: Some(ms * 1e6),
        time_share: share,
        bound: Bound::Memory,
        bottleneck: "The L1 data pipe is busy 84% of the time, for sectors that nobody uses."
            .to_owned(),
        utilization: [
            ("L1 data pipe", 0.84),
            ("L2", 0.31),
            ("issue slots", 0.034),
            ("XU pipe", 0.0),
        ]
        .map(|(unit, share)| Utilization { unit: unit.into(), share })
        .into(),
        findings,
        ranking: Vec::new(),
        skipped: Vec::new(),
        ncu_rules: Vec::new(),
        ncu_only: Vec::new(),
    }
}

pub(crate) fn step(name: &str, n: u64, ms: f64, rate: f64) -> StepInfo {
    StepInfo {
        ladder: "ado".to_owned(),
        name: name.to_owned(),
        title: format!("what {name} does"),
        size: BTreeMap::from([("L", 1024), ("M", 1024), ("N", n)].map(|(k, v)| (k.to_owned(), v))),
        verified: true,
        max_error: 0.0,
        time_ns: Timing { median: ms * 1e6, low: ms * 0.99e6, high: ms * 1.01e6, n: 20 },
        total_ns: None,
        samples_ns: Vec::new(),
        warm_ns: None,
        bytes: 4_303_355_904,
        flops: 3_222_274_048,
        rate: Some(Rate { value: rate, unit: "GB/s".to_owned() }),
        cpu: Vec::new(),
        copy_bytes_per_s: Some(4e12),
        library: None,
        program: None,
        recorded: Some("2026-11-20".to_owned()),
    }
}

pub(crate) fn of_launches(
    step: Option<StepInfo>,
    launches: Vec<LaunchReport>,
    at: usize,
) -> Document {
    let rule = launches[at].findings[0].rule.clone();
    let verdict = Some(Verdict { launch: Some(at), rule, program_gain: None });
    Document { schema: SCHEMA.to_owned(), step, launches, verdict, ..Document::default() }
}

pub(crate) fn recorded_step() -> Document {
    let mut first = finding(1, "uncoalesced-global-access", 1.8);
    first.explains = vec!["lg-throttle".to_owned()];
    first.symptoms = vec![Symptom {
        rule: "lg-throttle".to_owned(),
        message: "Warps wait 31 cycles per instruction for the queue of local and global accesses."
            .to_owned(),
    }];
    let mut second = finding(2, "shared-memory-pressure", 1.2);
    second.locations.clear();
    let mut launch = launch("average_then_sweep", 10.2, 1.0, vec![first, second]);
    launch.skipped = vec![Skipped {
        rule: "register-spilling".into(),
        missing: vec!["sass__inst_executed_register_spilling".into()],
    }];
    launch.ncu_rules = vec![NcuRule {
        section: "SpeedOfLight".to_owned(),
        rule: "SOLBottleneck".to_owned(),
        kind: "info".into(),
        message: "Made up: what ncu would say.".to_owned(),
        estimate_percent: Some(44.0),
        global: true,
    }];
    launch.findings[0].ncu = Some(NcuAgreement {
        rule: "UncoalescedGlobalAccess".to_owned(),
        estimate_percent: Some(40.9),
        global: true,
    });
    launch.ncu_only = vec![NcuOnly {
        rule: "ThreadDivergence".to_owned(),
        estimate_percent: 37.0,
        global: true,
        faults: vec!["thread-divergence".to_owned()],
        reason: "Made up: why that would not hold.".to_owned(),
    }];
    let mut step = step("v2", 1024, 10.0, 400.0);
    step.total_ns = Some(90e6);
    step.cpu = vec![
        CpuTime { name: "original".to_owned(), threads: 1, ns: 1.8e9 },
        CpuTime { name: "cache-friendly".to_owned(), threads: 12, ns: 225e6 },
    ];
    let mut document = of_launches(Some(step), vec![launch], 0);
    document.next_step = Some("v3".to_owned());
    document.saved = Some(".adoprof/ado/v2/2026-11-20T10-00-00".to_owned());
    document.notices = vec!["The clocks were not locked.".to_owned()];
    document
}

/// Half of the time in a launch with factor 2, and two smaller launches.
pub(crate) fn program() -> Document {
    let long = format!("void reduce<{}float>(float *)", "Policy<float, 4>, ".repeat(20));
    let launches = vec![
        launch("scale(float *, int)", 1.0, 0.05, vec![finding(1, "partial-wave", 1.1)]),
        launch(&long, 10.0, 0.5, vec![finding(1, "uncoalesced-global-access", 2.0)]),
        launch("gather(const int *, float *)", 9.0, 0.45, vec![finding(1, "barrier-stalls", 1.3)]),
    ];
    of_launches(None, launches, 1)
}

/// v1 at another size, v2, a branch of v2, and v3, which removes v2's fault.
pub(crate) fn run() -> RunDocument {
    let one = |step: StepInfo, rule: &str, factor: f64| {
        let ms = step.time_ns.median / 1e6;
        let launch = launch("average_then_sweep", ms, 1.0, vec![finding(1, rule, factor)]);
        of_launches(Some(step), vec![launch], 0)
    };
    let mut small = one(step("v1", 16, 26.0, 2.5), "grid-too-small", 60.0);
    small.launches[0].bound = Bound::Launch;
    small.launches[0].findings[0].answered_by = Some("v2".to_owned());
    let mut second = one(step("v2", 1024, 10.0, 400.0), "uncoalesced-global-access", 1.8);
    second.launches[0].findings[0].answered_by = Some("v3".to_owned());
    RunDocument {
        schema: SCHEMA.to_owned(),
        adoprof: crate::document::Version::default(),
        ladder: "ado".to_owned(),
        steps: vec![
            small,
            second,
            one(step("v2-shuffle", 1024, 8.0, 500.0), "uncoalesced-global-access", 1.6),
            one(step("v3", 1024, 5.0, 800.0), "at-memory-roof", 1.0),
        ],
        ..RunDocument::default()
    }
}

pub(crate) fn diff() -> Diff {
    let change =
        |metric: &str, title: &str, unit: &str, base, new, direction: &str, key| MetricChange {
            kernel: String::new(),
            metric: metric.to_owned(),
            title: title.to_owned(),
            unit: unit.to_owned(),
            base,
            new,
            direction: direction.to_owned(),
            key,
        };
    let sectors = ("lts__t_sectors.sum", "L2 sectors");
    Diff {
        schema: crate::document::SCHEMA.to_owned(),
        adoprof: crate::document::Version::default(),
        metrics_compared: 5,
        base: "ado/v2".to_owned(),
        new: "ado/v3".to_owned(),
        warnings: vec!["ncu differs: 2024.1.1 against 2025.3.1".to_owned()],
        speedup: Some(2.0),
        speedup_of: Some(TimeOf::Step),
        launches_compared: 1,
        metrics: vec![
            change(
                "gpu__time_duration.sum",
                "duration under the profiler",
                "ns",
                10.2e6,
                5.1e6,
                "better",
                true,
            ),
            change(sectors.0, sectors.1, "sector", 1.2e9, 1.5e8, "better", true),
            change(
                "launch__registers_per_thread",
                "registers per thread",
                "register/thread",
                32.0,
                32.0,
                "same",
                true,
            ),
            change("l1tex__t_sector_hit_rate.pct", "L1 hit rate", "%", 88.0, 12.5, "worse", false),
            change("idc__requests.sum", "", "", 10.0, 2000.0, "neither", false),
        ],
        gone: vec!["uncoalesced-global-access".to_owned()],
        come: vec!["at-memory-roof".to_owned()],
        kept: vec!["shared-memory-pressure".to_owned()],
    }
}

/// A program with a finding around its kernels, at a line.
pub(crate) fn around() -> Program {
    let site = CallSite {
        file: "main.cpp".to_owned(),
        line: Some(57),
        function: Some("step()".to_owned()),
        module: "app".to_owned(),
        library: false,
        address: None,
        share: 0.9,
        share_of: "copies".to_owned(),
    };
    let finding = ProgramFinding {
        rank: 1,
        rule: "small-copies".to_owned(),
        estimated_speedup: Estimate { factor: 1.2, low: 1.0, high: 1.2 },
        message: "Made up: most copies are small.".to_owned(),
        evidence: Vec::new(),
        hint: "Join them.".to_owned(),
        sites: vec![site],
    };
    Program { active_ns: 1e6, findings: vec![finding], ..Program::default() }
}

/// The same with what was found on either side.
pub(crate) fn compared() -> Compared {
    let of = |first: RankedFinding| {
        let kept = finding(2, "shared-memory-pressure", 1.3);
        of_launches(None, vec![launch("ado(float *)", 1.0, 1.0, vec![first, kept])], 0)
    };
    Compared {
        diff: diff(),
        base: of(finding(1, "uncoalesced-global-access", 1.8)),
        new: of(finding(1, "at-memory-roof", 1.0)),
    }
}
