//! What the two rules on atomics share: which instructions they are, and what waits at them.

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::ModeledLaunch;
use crate::evidence::modeled_launch::opcode;
use crate::export::SourceRow;
use crate::finding::Location;
use crate::metric::stall::StallReason;
use crate::sass::code::charge::{Charge, Link};
use crate::sass::parse::opcode::Family;
use crate::sass::questions::fences::fenced_atomics;

/// Atomics and reductions on global memory, by any architecture's name for them.
pub(crate) fn is_global(row: &SourceRow) -> bool {
    let opcode = opcode(&row.text);
    ["ATOM.", "ATOMG", "RED.", "REDG"].iter().any(|start| opcode.starts_with(start))
        || matches!(opcode, "ATOM" | "RED")
}

/// Atomics on shared memory.
pub(crate) fn is_shared(row: &SourceRow) -> bool {
    opcode(&row.text).starts_with("ATOMS")
}

/// True for what holds up the instruction that has it, whatever ran before.
fn is_of_issue(reason: StallReason) -> bool {
    use StallReason as R;
    matches!(
        reason,
        R::BranchResolving
            | R::Dispatch
            | R::ImcMiss
            | R::MathPipeThrottle
            | R::NoInstruction
            | R::Wait
    )
}

/// Every stall but those that are none.
fn stalls() -> impl Iterator<Item = StallReason> {
    let is_none = |reason| matches!(reason, StallReason::Selected | StallReason::NotSelected);
    StallReason::all().filter(move |reason| !is_none(*reason))
}

/// Samples of a reason at the picked instructions, and what else on their lines waits for something: a line may hold a whole
/// function that was inlined there.
fn samples_at(there: &[&SourceRow], pick: fn(&SourceRow) -> bool, reason: StallReason) -> f64 {
    let counts = |row: &&&SourceRow| !is_of_issue(reason) || pick(row);
    let samples = |row: &&SourceRow| row.counters.stall_samples[reason as usize];
    there.iter().filter(counts).map(samples).sum()
}

/// The instructions that are picked and those on their source lines: a stall is counted where the
/// result is awaited, which is the next use, most often on the same line.
fn on_their_lines<'a>(
    launch: &ModeledLaunch<'a>,
    pick: fn(&SourceRow) -> bool,
) -> Vec<&'a SourceRow> {
    // Numbers before files: they differ sooner.
    let line = |row: &'a SourceRow| Some((row.line?, row.file.as_deref()));
    let rows = &launch.profile.instructions;
    let mut lines: Vec<_> = rows.iter().filter(|row| pick(row)).filter_map(line).collect();
    lines.sort_unstable();
    lines.dedup();
    // What waits for fences that an atomic need not have does not wait in its queue.
    let fences = fence_rows(launch);
    let is_fence = |row: &SourceRow| fences.contains(&std::ptr::from_ref(row));
    let is_there = |row: &&'a SourceRow| {
        let on_line = || line(row).is_some_and(|line| lines.binary_search(&line).is_ok());
        pick(row) || on_line() && !is_fence(row)
    };
    rows.iter().filter(is_there).collect()
}

/// The fences around atomics that need none.
fn fence_rows(launch: &ModeledLaunch) -> BTreeSet<*const SourceRow> {
    launch.profile.listing().map_or_else(BTreeSet::new, |listing| {
        let fences = fenced_atomics(&listing).into_iter().flat_map(|each| each.fences);
        fences.map(|at| std::ptr::from_ref(listing.row(at))).collect()
    })
}

/// The share of each stall reason, 0 to 1, that is sampled at fences around atomics: with an atomic go its fences.
pub(crate) fn stalls_at_fences(launch: &ModeledLaunch) -> Vec<(StallReason, f64)> {
    let fences = fence_rows(launch);
    let rows = &launch.profile.instructions;
    let share = |reason: StallReason| {
        let samples = |row: &SourceRow| row.counters.stall_samples[reason as usize];
        let all: f64 = rows.iter().map(samples).sum();
        let is_fence = |row: &&SourceRow| fences.contains(&std::ptr::from_ref(*row));
        let at: f64 = rows.iter().filter(is_fence).map(samples).sum();
        if all > 0.0 { at / all } else { 0.0 }
    };
    let all = StallReason::all().map(|reason| (reason, share(reason)));
    if fences.is_empty() { Vec::new() } else { all.filter(|(_, share)| *share > 0.0).collect() }
}

/// The share of all stall samples, 0 to 1, at such instructions, on their lines, and wherever their results are awaited, without
/// waits for loads; 0 in a profile without instructions.
pub(crate) fn share_of_stalls(launch: &ModeledLaunch, pick: fn(&SourceRow) -> bool) -> f64 {
    let there = on_their_lines(launch, pick);
    let rows: Vec<&SourceRow> = launch.profile.instructions.iter().collect();
    let all: f64 = stalls().map(|reason| samples_at(&rows, |_| true, reason)).sum();
    let at: f64 = stalls().map(|reason| samples_at(&there, pick, reason)).sum();
    let more: f64 = stalls().map(|reason| by_charges(launch, pick, &there, reason)).sum();
    if all > 0.0 { (at + more).max(0.0) / all } else { 0.0 }
}

/// Samples of a reason that charges tell more exactly than lines do. What lines further on wait for the picked instructions'
/// results comes in addition, as where a loop compares them on the line that ends it; what is waited for loads at the picked
/// instructions themselves and on their lines goes: what an atomic adds has to come first.
fn by_charges(
    launch: &ModeledLaunch,
    pick: fn(&SourceRow) -> bool,
    there: &[&SourceRow],
    reason: StallReason,
) -> f64 {
    if !matches!(reason, StallReason::LongScoreboard | StallReason::ShortScoreboard) {
        return 0.0;
    }
    let Some(listing) = launch.profile.listing() else { return 0.0 };
    let there: BTreeSet<*const SourceRow> =
        there.iter().map(|&row| std::ptr::from_ref(row)).collect();
    let fences = fence_rows(launch);
    let signed = |charge: &Charge| {
        let waiting = std::ptr::from_ref(listing.row(charge.waiting));
        if fences.contains(&waiting) {
            return 0.0;
        }
        let is_there = there.contains(&waiting);
        let is_picked = pick(listing.row(charge.producer));
        let is_load =
            matches!(listing.sass.entries[charge.producer].family, Family::Load(_)) && !is_picked;
        match (is_there, is_picked) {
            (false, true) if charge.link == Link::Reads => charge.samples,
            (true, false) if is_load && reason == StallReason::LongScoreboard => -charge.samples,
            _ => 0.0,
        }
    };
    listing.charges(reason).iter().map(signed).sum()
}

/// The stalls at such instructions, on their lines, and wherever their results are awaited, as shares of each reason, times the
/// share of the atomics that goes.
pub(crate) fn stalls_at(
    launch: &ModeledLaunch,
    pick: fn(&SourceRow) -> bool,
    goes: f64,
) -> Vec<(StallReason, f64)> {
    let there = on_their_lines(launch, pick);
    let rows = &launch.profile.instructions;
    StallReason::all()
        .filter_map(|reason| {
            let samples = |row: &SourceRow| row.counters.stall_samples[reason as usize];
            let all: f64 = rows.iter().map(samples).sum();
            let at = samples_at(&there, pick, reason);
            let at = (at + by_charges(launch, pick, &there, reason)).max(0.0);
            (all > 0.0 && at > 0.0).then(|| (reason, goes * at / all))
        })
        .collect()
}

/// The lines with most atomics of the kind.
pub(crate) fn locations(launch: &ModeledLaunch, pick: fn(&SourceRow) -> bool) -> Vec<Location> {
    launch.places_of(
        "executed atomics",
        |row| if pick(row) { row.counters.inst_executed } else { 0.0 },
    )
}

/// Compare-and-swaps on shared memory that are tried again until nobody came between.
pub(crate) struct Retries {
    /// The share of executed instructions that repeat one: on the lines of the atomics, what ran more often than the
    /// line's least frequent instruction.
    pub share: f64,
    /// How often an average one is tried, at least 1.
    pub tries: f64,
}

/// The retries of a launch.
pub(crate) fn retries(launch: &ModeledLaunch) -> Retries {
    let rows = &launch.profile.instructions;
    let all: f64 = rows.iter().map(|row| row.counters.inst_executed).sum();
    let line = |row: &'_ SourceRow| Some((row.line?, row.file.clone()));
    let swaps = rows.iter().filter(|row| opcode(&row.text).starts_with("ATOMS.CAS"));
    let mut lines: BTreeMap<_, Vec<f64>> =
        swaps.filter_map(line).map(|line| (line, Vec::new())).collect();
    for row in rows.iter().filter(|row| row.counters.inst_executed > 0.0) {
        if let Some(counts) = line(row).and_then(|line| lines.get_mut(&line)) {
            counts.push(row.counters.inst_executed);
        }
    }
    let (mut repeated, mut runs, mut needed) = (0.0, 0.0, 0.0);
    for counts in lines.values() {
        let least = counts.iter().copied().fold(f64::INFINITY, f64::min);
        repeated += counts.iter().map(|count| count - least).sum::<f64>();
        runs += counts.iter().copied().fold(0.0, f64::max);
        needed += if least.is_finite() { least } else { 0.0 };
    }
    let share = if all > 0.0 { (repeated / all).clamp(0.0, 1.0) } else { 0.0 };
    let tries = if needed > 0.0 { (runs / needed).max(1.0) } else { 1.0 };
    Retries { share, tries }
}

#[cfg(test)]
/// Listings for the tests of both rules.
pub(crate) mod testing {
    use super::*;
    use crate::evidence::testing::samples;

    /// Two instructions on two lines, with so many samples each.
    pub(crate) fn listing(text: &str, at: f64, elsewhere: f64) -> Vec<SourceRow> {
        let row = |address, line, text: &str, count| SourceRow {
            file: Some("k.cu".into()),
            line: Some(line),
            address: Some(address),
            text: text.to_owned(),
            counters: samples(&[(StallReason::LongScoreboard, count)]),
            ..SourceRow::default()
        };
        vec![row(0, 5, text, at), row(16, 6, "FADD R1, R2, R9", elsewhere)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> SourceRow {
        SourceRow { text: text.to_owned(), ..SourceRow::default() }
    }

    #[test]
    fn atomics_are_told_apart_by_their_memory() {
        for text in [
            "@P0 RED.E.ADD.STRONG.GPU [R2.64], R5",
            "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5",
            "ATOMG.E.CAS.STRONG.GPU PT, R3, [R4], R5, R6",
            "ATOM.E.ADD.F32 R1, [R2], R3",
        ] {
            assert!(is_global(&row(text)) && !is_shared(&row(text)), "{text}");
        }
        assert!(is_shared(&row("ATOMS.POPC.INC.32 RZ, [R1+URZ]")));
        for text in ["REDUX.SUM UR5, R3", "LDG.E R1, [R2.64]", "", "@!P0"] {
            assert!(!is_global(&row(text)) && !is_shared(&row(text)), "{text}");
        }
    }

    #[test]
    fn what_waits_at_atomics_goes_as_far_as_they_do() {
        let mut launch = crate::frame::Launch::default();
        launch.instructions = testing::listing("REDG.E.ADD.STRONG.GPU [R2.64], R5", 30.0, 10.0);
        let model = crate::model::Model::new(&launch);
        let launch = ModeledLaunch { profile: &launch, model: &model };
        // Half of 30 samples of 40.
        assert_eq!(stalls_at(&launch, is_global, 0.5), [(StallReason::LongScoreboard, 0.375)]);
        assert!((share_of_stalls(&launch, is_global) - 0.75).abs() < 1e-12);
    }

    #[test]
    fn what_a_line_waits_for_counts_but_not_what_holds_its_own_instructions_up() {
        let share = |reason| {
            let mut launch = crate::frame::Launch::default();
            launch.instructions = testing::listing("REDG.E.ADD.STRONG.GPU [R2.64], R5", 30.0, 10.0);
            launch.instructions[1].line = launch.instructions[0].line;
            launch.instructions[1].counters = crate::evidence::testing::samples(&[(reason, 10.0)]);
            let model = crate::model::Model::new(&launch);
            share_of_stalls(&ModeledLaunch { profile: &launch, model: &model }, is_global)
        };
        assert!((share(StallReason::Barrier) - 1.0).abs() < 1e-12);
        assert!((share(StallReason::Wait) - 0.75).abs() < 1e-12, "as a function's that is inlined");
    }

    #[test]
    fn what_another_line_waits_for_counts_where_it_reads_the_atomics_result() {
        let share = |reader: &str| {
            let text = "ATOMG.E.CAS.STRONG.GPU PT, R7, [R2], R4, R5";
            let mut launch = crate::frame::Launch::default();
            launch.instructions = testing::listing(text, 10.0, 30.0);
            launch.instructions[1].text = reader.to_owned();
            for row in &mut launch.instructions {
                row.counters.inst_executed = 1.0;
            }
            let model = crate::model::Model::new(&launch);
            share_of_stalls(&ModeledLaunch { profile: &launch, model: &model }, is_global)
        };
        assert!((share("ISETP.NE.AND P0, PT, R7, R4, PT") - 1.0).abs() < 1e-12);
        assert!((share("ISETP.NE.AND P0, PT, R8, R4, PT") - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_swap_is_repeated_as_often_as_its_line_runs_again() {
        let at = |line, text: &str, count| {
            let mut row = SourceRow { line: Some(line), ..row(text) };
            row.counters.inst_executed = count;
            row
        };
        let mut launch = crate::frame::Launch::default();
        launch.instructions =
            vec![at(5, "LDS R4, [R1]", 10.0), at(5, "ATOMS.CAS R5, [R1], R4, R6", 30.0)];
        launch.instructions.push(at(6, "FADD R1, R2, R3", 60.0));
        let model = crate::model::Model::new(&launch);
        // Twenty more than the line's first time, of a hundred.
        let found = retries(&ModeledLaunch { profile: &launch, model: &model });
        assert!((found.share - 0.2).abs() < 1e-12, "{}", found.share);
        assert!((found.tries - 3.0).abs() < 1e-12, "{}", found.tries);
    }
}
