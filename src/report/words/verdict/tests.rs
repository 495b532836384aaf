use super::*;
use crate::diagnose::RankingStep;
use crate::finding::Estimate;
use crate::report::samples;

#[test]
fn the_change_names_its_place_in_full() {
    let mut finding = samples::finding(1, "shared-memory-pressure", 2.0);
    // The sample's place is line 23: line 230 is another.
    for (hint, said) in [
        (
            "Take the idle warps out of line 23: reduce.",
            "Take the idle warps out of kernels/ado/v2.cu:23",
        ),
        (
            "Unroll the loop at line 230 by 4 (#pragma).",
            "Unroll the loop at line 230 by 4, at kernels/ado/v2.cu:23",
        ),
        (
            "Launch at least 660 blocks; or fewer.",
            "Launch at least 660 blocks, at kernels/ado/v2.cu:23",
        ),
    ] {
        hint.clone_into(&mut finding.hint);
        assert_eq!(change(&finding).full(), said);
        let short = said.replace("kernels/ado/", "");
        assert_eq!(change(&finding).shortest(), short);
    }
    finding.locations.clear();
    assert_eq!(change(&finding).full(), "Launch at least 660 blocks");
}

#[test]
fn a_step_says_its_time_its_bound_and_what_to_do() {
    let answer = answer(&samples::recorded_step());
    assert_eq!(
        answer.headline.full(),
        "ado/v2 takes 10.00 ms, bound by memory: L1 data pipe 84% busy"
    );
    let labels: Vec<&str> = answer.rows.iter().map(|(label, _)| *label).collect();
    assert_eq!(labels, ["change", "worth", "next"]);
    assert_eq!(
        answer.rows[1].1.full(),
        "1.80× (1.50 to 2.10) for removing uncoalesced-global-access"
    );
    assert_eq!(answer.rows[1].1.shortest(), "1.80× (1.50 to 2.10)", "the range stays");
}

#[test]
fn the_reason_is_short() {
    let mut launch = samples::launch("k", 1.0, 1.0, Vec::new());
    // The sample's busiest unit is the L1 data pipe at 84%.
    let busiest = launch.bottleneck.clone();
    let small = "Small grid (64 blocks on 132 SMs): an SM has no warp for 52% of the time.";
    for (bound, said) in [
        (Bound::Memory, Some("L1 data pipe 84% busy")),
        (Bound::Latency, Some("no unit more than 84% busy")),
        (Bound::Launch, Some("small grid (64 blocks on 132 SMs)")),
        (Bound::None, None),
    ] {
        launch.bound = bound;
        let sentence = if bound == Bound::Launch { small } else { &busiest };
        sentence.clone_into(&mut launch.bottleneck);
        assert_eq!(because(&launch).as_deref(), said);
    }
    // Where ncu's throughputs tell alone, the busiest of the few units that were counted is not the reason.
    launch.bound = Bound::Memory;
    "Memory: compute throughput 39%, memory throughput 77%.".clone_into(&mut launch.bottleneck);
    assert_eq!(because(&launch), None);
    launch.utilization.clear();
    launch.bound = Bound::Compute;
    assert_eq!(because(&launch), None);
}

#[test]
fn one_of_several_launches_is_put_in_proportion() {
    let answer = answer(&samples::program());
    let headline = answer.headline.full();
    assert!(headline.contains("takes 50% of the kernels' time, bound by memory"), "{answer:?}");
    // Half of the time and factor 2: three quarters are left.
    assert!(answer.rows[1].1.full().starts_with("1.33× ("), "{answer:?}");
    assert!(answer.rows[2].1.full().starts_with("adoprof explain "), "{answer:?}");
}

#[test]
fn launches_that_are_alike_count_together() {
    let mut document = samples::program();
    let one = document.launches[0].clone();
    document.launches[2] = one.clone();
    // 5% and 25%.
    document.launches[2].time_share = 0.25;
    let said = most_of_the_time(&document, &one);
    assert!(said.starts_with("2 launches of ") && said.contains(" take 30% of"), "{said}");
    let mut other = one.clone();
    other.grid[0] += 1;
    let last = document.launches.len();
    document.launches.push(other.clone());
    let said = most_of_the_time(&document, &one);
    assert!(said.starts_with("launch 0 and 1 more like it ("), "{said}");
    let said = most_of_the_time(&document, &other);
    assert!(said.starts_with(&format!("launch {last} (")) && said.contains(" takes "), "{said}");
    document.launches = vec![one.clone(), one.clone()];
    assert!(most_of_the_time(&document, &one).starts_with("all 2 launches are of "));
}

#[test]
fn a_roof_and_a_small_gain_say_stop() {
    let mut document = samples::recorded_step();
    document.launches[0].findings[0].estimated_speedup =
        Some(Estimate { factor: 1.04, low: 1.0, high: 1.06 });
    assert!(answer(&document).rows[1].1.full().ends_with("; little to gain"));
    let finding = &mut document.launches[0].findings[0];
    "at-memory-roof".clone_into(&mut finding.rule);
    "Stop tuning this kernel: it is fast. Only less work helps.".clone_into(&mut finding.hint);
    document.verdict.as_mut().expect("a verdict").rule = "at-memory-roof".to_owned();
    assert_eq!(
        answer(&document).rows,
        [("result", "Stop tuning this kernel: it is fast".to_owned().into())]
    );
}

#[test]
fn why_a_gain_is_unknown_is_said() {
    let mut document = samples::recorded_step();
    document.launches[0].findings[0].estimated_speedup = None;
    document.launches[0].ranking.clear();
    let worth = |document: &Document| answer(document).rows[1].1.full().to_owned();
    assert!(worth(&document).contains("lacks the counters"), "{}", worth(&document));
    let (without, limited_by) = (None, "DRAM".to_owned());
    let now = RankingStep { without, time: 1.0, limited_by, share: 0.6 };
    document.launches[0].ranking.push(now);
    assert!(worth(&document).ends_with("how far the change can be taken"), "{}", worth(&document));
}

#[test]
fn nothing_to_say_is_said() {
    let mut document = samples::recorded_step();
    document.verdict = None;
    document.launches[0].findings.clear();
    document.launches[0].skipped.clear();
    assert_eq!(answer(&document).rows, [("result", "no rule found a fault".to_owned().into())]);
    document.launches.clear();
    assert!(answer(&document).rows[0].1.full().starts_with("not profiled"));
}

#[test]
fn a_long_command_loses_its_programs_folders_first() {
    assert_eq!(short_command("/opt/bin/train --fast", 40), "/opt/bin/train --fast");
    let long = "/home/builds/nightly/release/train --fast --epochs 3";
    assert_eq!(short_command(long, 40), "train --fast --epochs 3");
    assert_eq!(short_command(long, 12), fit("train --fast --epochs 3", 12));
    assert_eq!(
        short_command("/a/folder/that/ends/in/a/slash/", 12),
        fit("/a/folder/that/ends/in/a/slash/", 12)
    );
}
