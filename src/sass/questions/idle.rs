//! Lanes that have nothing to do, told from lanes that are on another path.
//!
//! Lanes are missing from an instruction because they left the kernel early (`if (i >= n) return`),
//! because they skip a part that only some of the threads are for (`if (lane < 8) { … }`), or because
//! they are on the other side of a branch, or out of a loop before the others. The first two do
//! nothing meanwhile and never will: such threads need not have been launched.

use std::collections::BTreeSet;

use crate::hardware::WARP_LANES;
use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::THREADS_MEET;

pub mod needed;
pub mod regrouped;

/// The share of the missing lanes, weighted by how often each instruction ran, that have nothing to
/// do, found once for a launch; 0 where no lanes are missing.
#[must_use]
pub fn idle_share(listing: &Listing) -> f64 {
    listing.facts.idle_share(|| find(listing))
}

fn find(listing: &Listing) -> f64 {
    let regions = regions(listing);
    let (mut missing, mut idle) = (0.0, 0.0);
    for (index, _) in listing.entries() {
        let runs = listing.executed(index);
        if runs <= 0.0 {
            continue;
        }
        let absent = (WARP_LANES - lanes(listing, index)).clamp(0.0, WARP_LANES);
        let here = regions.iter().filter(|region| region.first <= index && index < region.end);
        let resting: f64 = here.map(|region| region.lanes).sum();
        missing += runs * absent;
        idle += runs * absent.min(resting);
    }
    if missing > 0.0 { idle / missing } else { 0.0 }
}

/// Lanes of an average instruction that a comparison of floats switches off in the arithmetic of floats: a step
/// that their own value does not need. Found from the executed instructions; 0 where none is counted.
#[must_use]
pub fn off_by_value(listing: &Listing) -> f64 {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    let (mut executed, mut off) = (0.0, 0.0);
    for (index, entry) in listing.entries() {
        let counters = &listing.row(index).counters;
        executed += counters.inst_executed;
        let here = counters.thread_inst_executed - counters.thread_inst_executed_pred_on;
        if entry.conditional
            && entry.family.is_float()
            && here > 0.0
            && is_by_value(listing, &mut reaching, index)
        {
            off += here;
        }
    }
    if executed > 0.0 { off / executed } else { 0.0 }
}

/// Lanes of an average instruction that are missing because they have done their part of an atomic that is tried again until it
/// succeeds: lanes of one address succeed one after another. 0 without such loops.
#[must_use]
pub fn off_in_retries(listing: &Listing) -> f64 {
    let sass = listing.sass;
    let tries = |at: &usize| {
        matches!(sass.entries[*at].family, Family::Atomic(_)) && listing.text(*at).contains(".CAS")
    };
    let all = (0..sass.entries.len()).filter(tries);
    let loops: BTreeSet<usize> = all.filter_map(|at| sass.flow.innermost(at)).collect();
    if loops.is_empty() {
        return 0.0;
    }
    let (mut executed, mut off) = (0.0, 0.0);
    for (at, _) in listing.entries() {
        let counters = &listing.row(at).counters;
        executed += counters.inst_executed;
        if sass.flow.innermost(at).is_some_and(|of| loops.contains(&of)) {
            off += WARP_LANES * counters.inst_executed - counters.thread_inst_executed_pred_on;
        }
    }
    if executed > 0.0 { off / executed } else { 0.0 }
}

/// True where comparisons of floats alone make the guard of an instruction.
fn is_by_value(listing: &Listing, reaching: &mut Reaching, index: usize) -> bool {
    let sass = listing.sass;
    let mut any = false;
    for each in sass.uses(index).iter().filter(|each| each.role == Role::Guard) {
        for definition in reaching.definitions(index, *each) {
            any = true;
            if !sass.entries[definition as usize].family.is_float() {
                return false;
            }
        }
    }
    any
}

/// Code that some lanes of an average warp sit out.
struct Region {
    /// The branch or exit by which they leave.
    branch: usize,
    first: usize,
    end: usize,
    lanes: f64,
}

/// What follows an early exit, and what a branch skips that has nothing on its other side. A branch
/// that is decided by data sends each element its own way, which is divergence; one by the thread's
/// index is for the same threads every time.
fn regions(listing: &Listing) -> Vec<Region> {
    let sass = listing.sass;
    let mut regions = Vec::new();
    let mut reaching = Reaching::with_guards(sass);
    for (index, entry) in listing.entries() {
        let next = index + 1;
        let forward = match entry.exit() {
            Exit::MaybeEnd => true,
            Exit::Branch(target) => target > next,
            _ => false,
        };
        if !forward || next >= sass.entries.len() || listing.executed(index) <= 0.0 {
            continue;
        }
        let in_loop = sass.flow.innermost(index).is_some();
        let leaves_loop = sass.flow.innermost(index).is_some_and(|at| match entry.exit() {
            Exit::Branch(target) => {
                let block = sass.flow.block_of.get(target).copied();
                !block.is_some_and(|block| sass.flow.loops[at].holds(block))
            }
            _ => true,
        });
        // Lanes that are out of a loop before the others wait for them, and data sends others away each time: that is
        // divergence.
        if in_loop && leaves_loop || by_data(listing, &mut reaching, index) {
            continue;
        }
        let left = (lanes(listing, index) - lanes(listing, next)).max(0.0);
        match entry.exit() {
            Exit::MaybeEnd => {
                let end = sass.entries.len();
                regions.push(Region { branch: index, first: next, end, lanes: left });
            }
            Exit::Branch(target) if target > next && !has_other_side(listing, index, target) => {
                regions.push(Region { branch: index, first: next, end: target, lanes: left });
            }
            _ => {}
        }
    }
    regions
}

/// True where loaded data takes part in the condition of a branch.
pub(super) fn by_data(listing: &Listing, reaching: &mut Reaching, branch: usize) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![branch];
    while let Some(at) = open.pop() {
        let family = sass.entries[at].family;
        if at != branch && (family.is_memory() || family.is_float()) {
            return true;
        }
        for each in sass.uses(at).iter().filter(|each| each.role != Role::Old) {
            for definition in reaching.definitions(at, *each) {
                if seen.insert(definition as usize) {
                    open.push(definition as usize);
                }
            }
        }
    }
    false
}

/// True where the lanes that skip have code of their own: the skipped code ends in a jump over it, or
/// the lanes do not meet again at the target.
fn has_other_side(listing: &Listing, branch: usize, target: usize) -> bool {
    let jumps_over = (branch + 1..target).any(|at| match listing.sass.entries[at].exit() {
        Exit::Jump(to) => to > target && listing.executed(at) > 0.0,
        _ => false,
    });
    // Threads, not lanes of a warp: each part of a split warp arrives on its own.
    let threads = |index: usize| listing.row(index).counters.thread_inst_executed;
    jumps_over || threads(target) < THREADS_MEET.value * threads(branch)
}

/// Active lanes of an average execution, guards aside.
fn lanes(listing: &Listing, index: usize) -> f64 {
    let counters = &listing.row(index).counters;
    if counters.inst_executed > 0.0 {
        counters.thread_inst_executed / counters.inst_executed
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::sass::code::listing::tests::launch;

    /// Each instruction with the lanes of its 10 executions.
    fn code(lines: &[(&str, f64)]) -> Launch {
        let counted: Vec<(&str, f64)> = lines.iter().map(|(text, _)| (*text, 10.0)).collect();
        let mut launch = launch(&counted);
        for (row, (_, lanes)) in launch.instructions.iter_mut().zip(lines) {
            row.counters.thread_inst_executed = 10.0 * lanes;
        }
        launch
    }

    #[test]
    fn a_step_for_denormal_values_leaves_no_lane_idle() {
        let of = |comparison: &str, step: &str| {
            let mut launch = code(&[(comparison, 32.0), (step, 32.0), ("EXIT", 32.0)]);
            // 24 of 32 lanes in each of 10 executions.
            launch.instructions[1].counters.thread_inst_executed_pred_on = 80.0;
            for at in [0, 2] {
                launch.instructions[at].counters.thread_inst_executed_pred_on = 320.0;
            }
            off_by_value(&launch.listing().unwrap())
        };
        let floats = "FSETP.GEU.AND P0, PT, |R2|, 1.175494350822287508e-38, PT";
        // 24 lanes of one of three instructions.
        assert!((of(floats, "@!P0 FMUL R2, R2, 16777216") - 8.0).abs() < 1e-12);
        assert!(of("ISETP.GE.AND P0, PT, R0, UR4, PT", "@!P0 FMUL R2, R2, 16777216") < 1e-12);
        assert!(of(floats, "@!P0 IADD3 R2, R2, 0x1, RZ") < 1e-12);
    }

    fn share(lines: &[(&str, f64)]) -> f64 {
        let launch = code(lines);
        idle_share(&launch.listing().unwrap())
    }

    #[test]
    fn lanes_that_returned_rest() {
        let early = [("@P0 EXIT", 32.0), ("FADD R0, R1, R2", 8.0), ("EXIT", 8.0)];
        assert!((share(&early) - 1.0).abs() < 1e-12);
        // Where 12 lanes are missing no more than those rest.
        let fewer = [("@P0 EXIT", 32.0), ("FADD R0, R1, R2", 8.0), ("EXIT", 20.0)];
        assert!((share(&fewer) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn lanes_with_code_of_their_own_do_not_rest() {
        // Addresses are 16 apart: the branch goes to the other side, the jump past it.
        let sides = [
            ("@P0 BRA 0x30", 32.0),
            ("FADD R0, R1, R2", 16.0),
            ("BRA 0x40", 16.0),
            ("FMUL R0, R1, R2", 16.0),
            ("EXIT", 32.0),
        ];
        assert!(share(&sides).abs() < 1e-12);
        let skipped = [
            ("@P0 BRA 0x30", 32.0),
            ("FADD R0, R1, R2", 8.0),
            ("FMUL R0, R1, R2", 8.0),
            ("EXIT", 32.0),
        ];
        assert!((share(&skipped) - 1.0).abs() < 1e-12);
        // The sides meet before the other one begins anew for all.
        let jumps = [
            ("@P0 BRA 0x130", 32.0),
            ("FADD R0, R1, R2", 16.0),
            ("BRA 0x140", 16.0),
            ("FMUL R0, R1, R2", 32.0),
            ("EXIT", 32.0),
        ];
        assert!(share(&jumps).abs() < 1e-12);
    }

    #[test]
    fn lanes_out_of_a_loop_are_on_another_path() {
        let walk = [("FADD R0, R1, R2", 16.0), ("@P0 BRA 0x0", 16.0), ("EXIT", 32.0)];
        assert!(share(&walk).abs() < 1e-12);
        let left = [
            ("FADD R0, R1, R2", 16.0),
            ("@P1 BRA 0x140", 16.0),
            ("FMUL R0, R1, R2", 8.0),
            ("BRA 0x100", 8.0),
            ("EXIT", 32.0),
        ];
        assert!(share(&left).abs() < 1e-12);
    }

    #[test]
    fn lanes_that_data_turns_away_in_a_loop_do_not_rest() {
        let turned = |condition| {
            share(&[
                ("LDG.E R4, desc[UR4][R2.64]", 32.0),
                (condition, 32.0),
                ("@P1 BRA 0x140", 32.0),
                ("FADD R0, R1, R2", 8.0),
                ("@P0 BRA 0x100", 32.0),
                ("EXIT", 32.0),
            ])
        };
        assert!(turned("ISETP.NE.AND P1, PT, R4, RZ, PT").abs() < 1e-12);
        assert!((turned("ISETP.NE.AND P1, PT, R9, RZ, PT") - 1.0).abs() < 1e-12);
    }

    #[test]
    fn lanes_meet_where_nine_in_ten_of_their_threads_arrive() {
        let skipped = |target: f64| {
            share(&[
                ("@P0 BRA 0x130", 32.0),
                ("FADD R0, R1, R2", 8.0),
                ("FMUL R0, R1, R2", 8.0),
                ("EXIT", target),
            ])
        };
        // 24 lanes rest at two instructions, and 3.2 are missing at the last one.
        assert!((skipped(28.8) - 48.0 / 51.2).abs() < 1e-12);
        assert!(skipped(28.7).abs() < 1e-12);
    }
}
