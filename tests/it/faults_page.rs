//! The page of planted faults: each kernel with what was planted into it, and what came of it.

use std::fmt::Write as _;

use adoprof::bench::PlantedFault;
use adoprof::ladder::Ladder;
use adoprof::rules::RULES;

use crate::bench_figures::BENCH;
use crate::pages::{assert_page, times};

const HEAD: &str = "\
# Planted faults

Every kernel below has a fault that was put into it on purpose, and beside it the same kernel without the fault; both were
timed on a device and profiled. The table of a rule shows each kernel with its fault, the place that the fault has among
adoprof's findings, the estimate, and the gain that was measured once the fault was gone; a gain outside the
estimate's range is marked. [bench.md](bench.md) has the figures over all of them, and kernels that only look faulty.

All are recorded, so you can look at any of them without a GPU:

```sh
adoprof step --ladder fault-soil-columns --kernel fault --recorded
adoprof ladder show fault-soil-columns          # the problem, and what changes from step to step
adoprof ladder copy fault-soil-columns          # the sources
```

Rules and model were not tuned on the kernels of the sets SETS. What adoprof says of each of these stands only in
`adoprof bench --set N`: whoever changes a rule should not have read it here. The page is generated:
`ADOPROF_BLESS=1 cargo test faults_page` writes it again.
";

#[test]
fn the_page_of_planted_faults_has_every_case() {
    let unseen: Vec<String> = BENCH
        .sets
        .iter()
        .filter(|one| !one.set.tuning)
        .map(|one| one.set.number.to_string())
        .collect();
    let (last, others) = unseen.split_last().unwrap();
    let mut page = HEAD.replace("SETS", &format!("{} and {last}", others.join(", ")));
    let mut shown = 0;
    for rule in RULES {
        let cases: Vec<&PlantedFault> =
            BENCH.cases.iter().filter(|case| case.fault == rule.name).collect();
        if cases.is_empty() {
            continue;
        }
        shown += cases.len();
        let name = rule.name;
        write!(page, "\n## {name}\n\nThe rule: [{name}](rules.md#{name}), {}.\n\n", rule.summary)
            .unwrap();
        page.push_str("| kernel | what was planted | place | estimate | measured |\n|---|---|---|---:|---:|\n");
        for case in cases {
            page.push_str(&row(case));
        }
    }
    assert_eq!(shown, BENCH.cases.len(), "a fault has no rule");
    assert_page("docs/faults.md", &page);
}

fn row(case: &PlantedFault) -> String {
    let ladder = Ladder::builtin(&case.ladder).unwrap();
    let planted = ladder.step(&case.step).unwrap();
    let planted = match planted.changes() {
        "" => planted.title(),
        changes => changes,
    };
    let planted = planted.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    let kernel = format!("{}: `{}/{}`", ladder.title(), case.ladder, case.step);
    let is_seen = BENCH.sets.iter().any(|one| one.set.number == case.set && one.set.tuning);
    let (place, estimate, measured) = if is_seen {
        let said = &case.adoprof;
        let place = said.rank.map_or("not found".to_owned(), |rank| rank.to_string());
        let estimate = said.estimate.map_or("none".to_owned(), |one| {
            format!("{} ({} to {})", times(one.factor), times(one.low), times(one.high))
        });
        let outside = if said.held == Some(false) { ", outside" } else { "" };
        (place, estimate, format!("{}{outside}", times(case.gain)))
    } else {
        (format!("set {}", case.set), String::new(), times(case.gain))
    };
    format!("| {kernel} | {planted} | {place} | {estimate} | {measured} |\n")
}
