//! Loop control and addressing outweigh the work.

use crate::evidence::modeled_launch::place;
use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES};
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, matters};
use crate::evidence::rounds::one_after_another;
use crate::evidence::stalls::WAITS_FOR_OTHERS;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::{Launch, Reads};
use crate::model::Effect;
use crate::rules::{Example, Kind, Rule, SourcePage, Trial};
use crate::sass::flow::slice;
use crate::sass::parse::operands::Role;
use crate::sass::questions::bystanders;
use crate::sass::{Listing, Marks};
use crate::text::{count, percent};

/// Overhead of a loop's executed instructions, from which it counts.
const LEAST_OVERHEAD: f64 = 0.33;

/// Iterations that are taken to become one.
const UNROLL: f64 = 4.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "instruction-overhead",
    kind: Kind::Cause,
    summary: "loop control and addressing outweigh the work",
    explanation: "\
Each iteration of a loop counts, compares, branches and advances its addresses. Where an \
iteration does little else, these instructions take most of the issue slots. The rule follows \
values through the SASS: what ends up in memory and all floating-point arithmetic is work; \
instructions that only compute addresses, count or steer branches are overhead. It looks at loops \
in which more than a third of the executed instructions are overhead that does not depend on \
loaded data. Unroll the loop (#pragma unroll 4, or a trip count known to the compiler): addresses \
then become constant offsets from one register, and loop control is paid once for several \
iterations. Or give each thread several elements, and advance pointers instead of recomputing \
indices.",
    examples: &[Example {
        fault: "\
#pragma unroll 1                      // one load and one XOR per iteration
for (int k = 0; k < words; ++k)
    sum ^= word[k * n + i];",
        repair: "\
#pragma unroll 8                          // eight of each per iteration
for (int k = 0; k < words; ++k)
    sum ^= word[k * n + i];",
        note: "\
Counting, comparing and branching are paid for once every eight elements; the loop body grows, and its loads \
overlap.",
    }],
    section: "InstructionStats",
    thresholds: &[
        Threshold {
            what: "overhead, share of a loop's executed instructions, more than",
            value: LEAST_OVERHEAD,
            unit: "share",
            source: "derivation: unrolling by 4 then removes three quarters of a third, a quarter \
                     of the loop's instructions",
        },
        Threshold {
            what: "constant: iterations that unrolling merges into one",
            value: UNROLL,
            unit: "iteration",
            source: "derivation: 4 remove three quarters of the overhead; more gain little and \
                     cost registers and instruction cache",
        },
        MATTERS_LIMIT,
    ],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[
        Reads::only_where(most_have_no_work, BLOCKS_AT_ONCE.metrics),
        Reads::only_where(most_have_no_work, WAITS_FOR_OTHERS.metrics),
        WAVES,
    ],
    source_page: SourcePage::Needed,
    explains: &["fixed-latency-stalls", "math-pipe-throttle", "issue-slots-underused"],
    trials: &[Trial::Tunables],
    check,
    ..Rule::DEFAULT
};

/// True where most warps have nothing to do.
fn most_have_no_work(launch: &Launch) -> bool {
    launch.listing().is_some_and(|listing| bystanders::find(&listing).is_some())
}

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    // There can't be enough overhead where even all that may be overhead is too little.
    if !heavy_loops(listing, &slice::not_work_in_itself(listing.sass)).contains(&true) {
        return None;
    }
    let work = slice::work_without_conditions(&listing);
    let mut overhead = Marks::of(work.count(), |index| !work[index]);
    // What depends on the work is looked for only where there is enough without it.
    if !heavy_loops(listing, &overhead).contains(&true) {
        return None;
    }
    keep_removable(listing, &mut overhead);
    let heavy = heavy_loops(listing, &overhead);
    let mut spent = 0.0;
    for index in overhead.iter() {
        if listing.sass.flow.innermost(index).is_some_and(|at| heavy[at]) {
            spent += listing.executed(index);
            removal.remove(index, 1.0 - 1.0 / UNROLL);
        }
    }
    if spent <= 0.0 {
        return None;
    }
    let effect = Effect {
        least: warps_at_work(launch, listing, |index| {
            overhead[index] && listing.sass.flow.innermost(index).is_some_and(|at| heavy[at])
        }),
        ..removal.effect(launch)
    };
    if !matters(launch, &effect) {
        return None;
    }
    let locations = removal.locations(launch, "overhead instructions");
    let total = removal.mix.total;
    Some(Draft {
        message: format!(
            "{} of {} executed warp instructions ({}) only count, compare, branch and compute \
             addresses, in loops that do little else.",
            count(spent),
            count(total),
            percent(spent / total),
        ),
        evidence: vec![
            Evidence::new("executed overhead of short loops", spent, "inst"),
            Evidence::new("smsp__inst_executed.sum", total, "inst"),
        ],
        hint: format!(
            "Unroll the loop at {} by 4 or more (#pragma unroll, or a trip count known to the \
             compiler), or let each iteration handle several elements. More values are then live at once, so \
             watch the registers per thread.",
            place(&locations, "the hottest spot"),
        ),
        locations,
        effect,
    })
}

/// The share of the time that stays where most warps have nothing to do and all run at once: warps at work step through
/// the same loop as the others and through the work besides, so that they end last, and unrolling shortens the launch as
/// far as it shortens what they execute. 0 elsewhere.
fn warps_at_work(
    launch: &ModeledLaunch,
    listing: Listing,
    is_overhead: impl Fn(usize) -> bool,
) -> f64 {
    let Some(others) = bystanders::find(&listing) else { return 0.0 };
    let stays = one_after_another(launch, 0.0);
    if launch.waves().is_none_or(|waves| waves > 1.0) {
        return 0.0;
    }
    let (mut all, mut gone) = (0.0, 0.0);
    for (index, share) in others.of_executions.iter().enumerate() {
        let own = listing.executed(index) * (1.0 - share);
        all += own;
        gone += if is_overhead(index) { own * (1.0 - 1.0 / UNROLL) } else { 0.0 };
    }
    if all > 0.0 { (1.0 - gone / all) * stays } else { 0.0 }
}

/// For each loop whether so much of what it executes itself is overhead that it counts.
fn heavy_loops(listing: Listing, overhead: &Marks) -> Vec<bool> {
    let flow = &listing.sass.flow;
    let mut sums = vec![(0.0, 0.0); flow.loops.len()];
    for (index, _) in listing.entries() {
        let Some(at) = flow.innermost(index) else { continue };
        let executed = listing.executed(index);
        sums[at].0 += if overhead[index] { executed } else { 0.0 };
        sums[at].1 += executed;
    }
    sums.iter().map(|(overhead, all)| *overhead > LEAST_OVERHEAD * all).collect()
}

/// Keeps the overhead that does not depend on the work: a branch or an address that follows from loaded
/// data stays, however often the loop is unrolled. Divisions have a rule of their own.
fn keep_removable(listing: Listing, overhead: &mut Marks) {
    let sass = listing.sass;
    let mut values = slice::Values::new(sass);
    loop {
        let mut changed = false;
        for (index, entry) in listing.entries() {
            if !overhead[index] {
                continue;
            }
            let hangs =
                entry.routine.is_some()
                    || sass.uses(index).iter().filter(|each| each.role != Role::Old).any(|each| {
                        values.definitions(index, *each).any(|at| !overhead[at as usize])
                    });
            if hangs {
                overhead.remove(index);
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, check, sass};
    use crate::term::Term;

    /// A loop of `work` additions and four instructions of overhead, an eighth busy with issuing.
    fn short_loop(work: usize, test: &str) -> Launch {
        busy_loop(work, test, 11.7)
    }

    fn busy_loop(work: usize, test: &str, issue_percent: f64) -> Launch {
        let mut code = vec![("MOV R9, RZ", 1.0), ("LDG.E R0, desc[UR6][R4.64]", 100.0)];
        code.extend(std::iter::repeat_n(("FADD R2, R2, R0", 100.0), work));
        code.extend([
            ("IADD3 R4, P1, R4, 0x4, RZ", 100.0),
            ("IADD3 R9, R9, 0x1, RZ", 100.0),
            (test, 100.0),
            ("@P0 BRA 0x110", 100.0),
        ]);
        sass(&[(ISSUE_BUSY, issue_percent)], &code)
    }

    const TEST: &str = "ISETP.NE.AND P0, PT, R9, 0x40, PT";

    #[test]
    fn overhead_counts_from_a_twentieth_of_the_time_and_a_third_of_its_loop() {
        let draft = assert_sides(&RULE, &short_loop(2, TEST), &[&[(ISSUE_BUSY, 11.6)]]);
        // Three quarters of 400 of 701 instructions: of 11.7% busy a twentieth of the time.
        assert!((draft.effect.share_of(Term::Issue) - 300.0 / 701.0).abs() < 1e-12);
        assert!(draft.message.contains("400 of 701"), "{}", draft.message);
        assert!(check(&RULE, &busy_loop(7, TEST, 90.0)).is_some(), "4 of 12");
        assert_eq!(check(&RULE, &busy_loop(8, TEST, 90.0)), None, "4 of 13 are less than a third");
    }

    #[test]
    fn a_loop_that_data_end_cannot_be_unrolled() {
        // The counter and the address still can, and are no half of the loop.
        let test = "ISETP.NE.AND P0, PT, R0, 0x40, PT";
        assert_eq!(check(&RULE, &short_loop(0, test)), None);
    }

    #[test]
    fn warps_without_work_shorten_nothing_where_all_run_at_once() {
        let least = |waves: f64| {
            let mut code = vec![
                ("MOV R9, RZ", 80.0),
                ("IADD3 R9, R9, 0x1, RZ", 8000.0), // 0x110
                ("ISETP.NE.AND P0, PT, R9, R11, PT", 8000.0),
                ("@P1 BRA 0x190", 8000.0),
            ];
            code.push(("LDG.E R0, desc[UR6][R4.64]", 800.0));
            code.extend([("FADD R2, R2, R0", 800.0); 4]);
            code.extend([("@P0 BRA 0x110", 8000.0), ("STG.E desc[UR6][R4.64], R2", 8.0)]);
            let mut launch = sass(
                &[(ISSUE_BUSY, 50.0), ("launch__waves_per_multiprocessor", waves)],
                &[&code[..], &[("EXIT", 80.0)]].concat(),
            );
            launch.set(crate::evidence::threshold::LATENCY, Some(10.0));
            for row in &mut launch.instructions {
                row.counters.thread_inst_executed_pred_on = 32.0 * row.counters.inst_executed;
            }
            check(&RULE, &launch).map(|draft| draft.effect.least)
        };
        // A tenth of 32,000 instructions of overhead, of which three quarters go, and 4,000 of work.
        let of_one = least(0.9).unwrap();
        assert!((of_one - (1.0 - 2400.0 / 7225.6)).abs() < 1e-3, "{of_one}");
        assert!(least(1.1).unwrap().abs() < 1e-12, "another round begins sooner");
    }
}
