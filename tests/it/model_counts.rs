//! A unit's own counter and the counted work over the device's rate tell the same, on the recordings.

use crate::shipped::{LAUNCHES, Shipped};
use adoprof::model::counts;
use adoprof::sass::Family;
use adoprof::term::Term;

/// Below this share of the time a difference is of no matter: a kernel of a few dozen instructions a
/// warp shows what the page does not count for it, such as reads of special registers.
const LEAST_BUSY: f64 = 0.15;

/// Where they differ by more, and why: a fence goes through the load/store unit several times.
const APART: &[(&str, &str)] = &[
    ("fault-flood-routing/", "fences"),
    ("fault-fence-journal/", "fences"),
    ("fault-innocent-fences/", "fences"),
    ("fault-toll-booths/", "fences"),
    ("fault-seed-traits/", "fences in front of the matrix instructions"),
    ("fault-herd-kinship/", "fences in front of the matrix instructions"),
    ("fault-tea-blends/", "fences in front of the matrix instructions"),
];

#[test]
fn counters_and_counts_agree_within_a_tenth() {
    let mut apart = Vec::new();
    let mut compared = 0;
    // Other devices' rates are published, not held against their counters.
    let known = LAUNCHES.iter().filter(|one| one.launch.row.compute_capability == Some((9, 0)));
    for Shipped { name, launch } in known {
        let measured = |term: Term| {
            let percent = term.counters().iter().filter_map(|name| launch.get(name));
            percent.reduce(f64::max).map(|percent| percent / 100.0)
        };
        let counted = |term| counts::utilization(launch, term);
        let mut check = |what: String, measured: Option<f64>, counted: Option<f64>| {
            let (Some(measured), Some(counted)) = (measured, counted) else { return };
            let larger = measured.max(counted);
            compared += usize::from(larger >= LEAST_BUSY);
            let known = APART.iter().any(|(start, _)| name.starts_with(start));
            if !known && larger >= LEAST_BUSY && (measured - counted).abs() > 0.1 * larger {
                let kernel = &launch.row.kernel;
                apart.push(format!("{name} {kernel} {what}: {measured:.3}, counted {counted:.3}"));
            }
        };
        for term in [Term::Dram, Term::Issue, Term::L1Data, Term::Fp64, Term::Xu] {
            check(format!("{term:?}"), measured(term), counted(term));
        }
        // Some reads of special registers go through the load/store unit as well, which ones the
        // page does not say: the counter lies between the accesses and both.
        let reads = launch.get("sm__cycles_elapsed.avg").zip(launch.get("launch__sm_count"));
        let reads = reads
            .zip(launch.mix())
            .map_or(0.0, |((cycles, sms), mix)| mix.family(Family::System) / (cycles * sms));
        let accesses = counted(Term::Lsu);
        let nearest = measured(Term::Lsu).zip(accesses);
        let nearest = nearest.map(|(busy, least)| busy.clamp(least, least + reads));
        check("Lsu".to_owned(), measured(Term::Lsu), nearest);
        // In warp instructions: four per cycle on the multiply-add pipe, two on the other (H200).
        let both = |share: &dyn Fn(Term) -> Option<f64>| {
            Some((4.0 * share(Term::Fma)? + 2.0 * share(Term::Alu)?) / 6.0)
        };
        check("Fma + Alu".to_owned(), both(&measured), both(&counted));
    }
    assert!(compared > 200, "{compared}");
    assert!(apart.is_empty(), "{} of {compared}:\n{}", apart.len(), apart.join("\n"));
}
