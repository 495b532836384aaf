//! Values that all threads of a block work out, each for itself.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{
    CYCLES, ISSUE_BUSY, MATTERS_LIMIT, RATES, Removal, gains, locations,
};
use crate::evidence::threshold::{ISSUE_LOW, ISSUE_LOW_LIMIT};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::{REGISTER_BYTES, WIDEST_ACCESS_BYTES};
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::same_for_block::same_for_block;
use crate::term::Term;
use crate::text::{count, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";
const BLOCK: &str = "launch__block_size";

/// Instructions that all threads repeat for each value that they take from them, at least.
const LEAST: Threshold = Threshold {
    what: "repeated instructions for each value that other work takes from them, at least",
    value: 4.0,
    unit: "instruction",
    source: "derivation: a value that is shared is stored, awaited at a barrier, and loaded, with an address for both; a product or two \
             are worked out as fast, a division or a sine is not",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "repeated-in-threads",
    kind: Kind::Cause,
    summary: "all threads of a block work out the same values, each for itself",
    explanation: "\
What follows from arguments, block indices, loop counters, and data that these alone lead to is the same in all threads of a block: a weight with its \
phase, a coefficient of a filter, a decay per step. Written in the body of a loop, each thread works it out again. The block can share the work: each thread \
computes a part of the values, stores them in shared memory, and after a barrier all threads read them; or the host computes them, if they \
depend on nothing else. The rule follows everything in loops that is made of a thread's index, or of what a thread gets from other lanes or \
keeps for itself, and looks at the arithmetic on floats that is left. The estimate divides that among the threads of the block, and puts \
loads from shared memory in its place, of four values each. Loops that do nothing else, and end in sums, are divided whole, with their loads \
and counters.",
    examples: &[Example {
        fault: "\
for (int a = 0; a < antennas; a++) {
    float s, c;
    sincospif(delay[a] * channel, &s, &c);   // channel = blockIdx.y
    sum += c * sample[a * times + t];        // t = threadIdx.x
}",
        repair: "\
__shared__ float phase[ANTENNAS];
for (int a = threadIdx.x; a < antennas; a += blockDim.x)
    phase[a] = cospif(delay[a] * channel);
__syncthreads();
for (int a = 0; a < antennas; a++)
    sum += phase[a] * sample[a * times + t];",
        note: "\
Where there are more values than shared memory holds, take them a piece of the loop at a time, with a barrier before and behind it.",
    }],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold { what: "issue slots used, at least", ..ISSUE_LOW_LIMIT },
        LEAST,
    ],
    needs: &[EXECUTED, ISSUE_BUSY, BLOCK],
    sharpened_by: &[RATES, CYCLES],
    source_page: SourcePage::Needed,
    explains: &[
        "math-pipe-throttle",
        "fixed-latency-stalls",
        "mio-throttle",
        "short-scoreboard-stalls",
    ],
    in_triton: "\
compute such values once per program as a block of their own (a tensor over the loop's index) before the loop, or pass them in.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    if launch.need(ISSUE_BUSY) < ISSUE_LOW {
        return None;
    }
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let threads = launch.need(BLOCK);
    let same = same_for_block(&listing, launch.profile.row.block);
    let gone = 1.0 - 1.0 / threads.max(1.0);
    same.repeated.iter().for_each(|&at| removal.remove(at, gone));
    for (&at, &turns) in &same.shared_out {
        removal.remove(at, 1.0 - 1.0 / turns.min(threads).max(1.0));
    }
    removal.add(Term::Lsu, same.handed_on * REGISTER_BYTES / WIDEST_ACCESS_BYTES);
    let effect = removal.effect(launch);
    let is_repeated =
        |at: usize| same.repeated.binary_search(&at).is_ok() || same.shared_out.contains_key(&at);
    let of_these = listing.entries().filter(|(at, _)| is_repeated(*at));
    let repeated: f64 = of_these.map(|(at, _)| listing.executed(at)).sum();
    if repeated < LEAST.value * same.handed_on || repeated <= 0.0 || !gains(launch, &effect) {
        return None;
    }
    let weight = |at: usize| if is_repeated(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "repeated work");
    let executed = launch.need(EXECUTED);
    let at = place(&locations, "the loop");
    Some(Draft {
        message: format!(
            "{} of the executed instructions work out values that are the same in all {} threads of a block, most of them at {at}: \
             nothing in them depends on a thread's index or on what other lanes hand it.",
            percent(repeated / executed),
            count(threads),
        ),
        evidence: vec![
            Evidence::new("executed instructions on values of the whole block", repeated, "inst"),
            Evidence::new(EXECUTED, executed, "inst"),
        ],
        hint: format!(
            "Work out once per block what is the same in all threads at {at}: let each thread compute a part of it, for a piece of the loop \
             at a time, store it in shared memory, and let all threads read it after a barrier. On the host, if it depends on arguments alone.{}",
            if same.shared_out.is_empty() {
                ""
            } else {
                " Where the loop makes sums, let each thread take a part of its iterations, and add the parts up by shuffles and in \
                 shared memory."
            }
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, check, sass};

    /// A loop in which every thread works out so many instructions and a sine of what all load alike.
    fn of(products: usize) -> crate::frame::Launch {
        let mut code = vec![
            ("S2R R1, SR_TID.X", 4.0),
            ("MOV R3, RZ", 4.0),
            ("MOV R7, RZ", 4.0),
            ("LDC.64 R2, c[0x0][0x210]", 4.0),
            ("LDG.E R5, desc[UR4][R2.64]", 400.0), // 0x140
        ];
        code.extend(vec![("FMUL R5, R5, R5", 400.0); products]);
        code.extend([
            ("MUFU.SIN R6, R5", 400.0),
            ("FFMA R7, R6, R1, R7", 400.0),
            ("@P0 BRA 0x140", 400.0),
            ("STG.E desc[UR4][R2.64], R7", 4.0),
            ("EXIT", 4.0),
        ]);
        let executed = code.iter().map(|(_, executed)| executed).sum();
        let metrics = [(EXECUTED, executed), (ISSUE_BUSY, 80.0), (BLOCK, 128.0)];
        let mut launch = sass(&metrics, &code);
        launch.row.block = [128, 1, 1];
        launch
    }

    #[test]
    fn a_sine_that_all_threads_compute_is_named() {
        let draft = assert_sides(&RULE, &of(3), &[&[(ISSUE_BUSY, 59.9)]]);
        // Four of seven instructions in the loop go but for one part in 128, and a quarter of an access comes for the sine.
        let share = draft.effect.share_of(Term::Issue);
        let expected = (1600.0 * 127.0 / 128.0 - 100.0) / (7.0 * 400.0 + 24.0);
        assert!((share - expected).abs() < 1e-12, "{share}");
        assert!(check(&RULE, &of(2)).is_none(), "too little to share");
    }
}
