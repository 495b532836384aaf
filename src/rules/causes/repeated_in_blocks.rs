//! Sums and other values that many blocks work out, each for itself.

mod along;

use crate::evidence::fetched_again::{DRAM_BYTES, of_dram};
use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES, place};
use crate::evidence::products::sectors_gone;
use crate::evidence::removal::{ADDRESSING, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::stalls::FOR_OTHERS;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::{SECTOR_BYTES, WARP_LANES};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::Listing;
use crate::sass::questions::same_for_blocks::{RepeatedLoop, same_for_blocks};
use crate::sass::questions::sharing;
use crate::term::Term;
use crate::text::{count, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";
const READ: &str = "dram__bytes_read.sum";
const L2_ASKED: &str = "lts__t_sectors_srcunit_tex.sum";

/// Instructions that a loop must spend on each value that it leaves behind, at least.
const LEAST: Threshold = Threshold {
    what: "repeated instructions for each value that the loop leaves in a thread, at least",
    value: 64.0,
    unit: "instruction",
    source: "derivation: the load that brings the value instead is awaited for some 260 cycles where it hits in L2, in which 64 \
             instructions of four cycles each can follow one another",
};

/// Blocks that must go through a loop alike.
const TWICE: Threshold = Threshold {
    what: "blocks that go through the loop alike, or bytes that its loads ask for over the bytes that DRAM delivers, at least",
    value: 2.0,
    unit: "",
    source: "definition: what is done once is not repeated",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "repeated-in-blocks",
    kind: Kind::Cause,
    summary: "many blocks work out the same sums or floats, each for itself",
    explanation: "\
A loop in which no index of a block takes part does the same in every block: it adds up the counts of all blocks before the block uses its \
own part, takes the mean of a whole array, or makes a table. With a quotient of the index, as many neighbouring blocks do the same as the \
divisor says. All of it is read and added up again in every block, so that the work grows with the square of the number of blocks. A kernel \
before this one can do it once, and each block loads the result. The rule looks at loops that store nothing and of which only final \
values are used: a sum, a largest value, a count. How many blocks repeat a loop, the grid tells, or the shift that makes the quotient; where \
the code has no divisor, the bytes that the loop's loads ask for over those that DRAM delivers. The estimate leaves one part in as many \
of the loop's instructions, waits, and traffic, puts one load in place of each value, and adds the time of one more \
launch, in which a warp goes through the loop without others in its way. In a grid of two or three directions, the rule also looks at \
conversions and arithmetic on floats in which one of them takes no part: a weight that is unpacked again for each token, a sine for each \
head. One block can do the work of several along that direction, with their results side by side.",
    examples: &[Example {
        fault: "\
int before = 0;                        // every block adds up all counts
for (int b = 0; b < blocks; b++)
    before += counts[b * 256 + threadIdx.x];
out[blockIdx.x * 256 + threadIdx.x] += before;",
        repair: "\
__global__ void add_up(const int *counts, int *sums, int blocks) {
    int sum = 0;                       // one block, launched before
    for (int b = 0; b < blocks; b++)
        sum += counts[b * 256 + threadIdx.x];
    sums[threadIdx.x] = sum;
}
// and in the kernel:
out[blockIdx.x * 256 + threadIdx.x] += sums[threadIdx.x];",
        note: "\
Several blocks can share the loop of the first kernel, each with a part of the iterations, and add their sums by atomics.",
    }],
    section: "InstructionStats",
    thresholds: &[MATTERS_LIMIT, LEAST, TWICE, ADDRESSING, along::KEPT],
    needs: &[EXECUTED],
    sharpened_by: &[BLOCKS_AT_ONCE, WAVES, DRAM_BYTES, Reads::always(&[L2_ASKED])],
    source_page: SourcePage::Needed,
    explains: &[
        "long-scoreboard-stalls",
        "lg-throttle",
        "math-pipe-throttle",
        "fixed-latency-stalls",
    ],
    in_triton: "\
compute what a loop ends with in a kernel of its own, with one program for each value. For what does not depend on one direction of the \
grid, loop over that direction inside the program, or make it a dimension of the tile.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    of_loops(launch).or_else(|| along::check(launch))
}

/// By loops whose whole work blocks repeat.
fn of_loops(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let found = repeated(launch, &listing);
    let most = found.iter().map(|(_, times)| *times).reduce(f64::max)?;
    let mut goes = vec![0.0; listing.sass.entries.len()];
    for (each, times) in &found {
        for &at in &each.members {
            goes[at] = 1.0 - 1.0 / times;
            removal.remove(at, goes[at]);
        }
        removal.add(Term::Lsu, each.values);
        removal.add(Term::Alu, ADDRESSING.value * each.values);
    }
    let mut effect = removal.effect(launch);
    let of_l2 = of_l2(launch, &listing, |at| goes[at]);
    effect.removed.extend([
        (Term::L2, of_l2),
        (Term::L2Requests, of_l2),
        (Term::Dram, of_dram(launch, of_l2)),
    ]);
    effect.least = effect.least.max(least(launch, &listing, &effect, |at| goes[at] > 0.0));
    if !gains(launch, &effect) {
        return None;
    }
    let weight = |at: usize| goes[at] * listing.executed(at);
    let repeated: f64 =
        found.iter().flat_map(|(each, _)| &each.members).map(|&at| listing.executed(at)).sum();
    let executed = listing.total();
    let locations = locations(launch, listing, weight, "repeated work");
    let at = place(&locations, "the loop");
    let main = found.iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let is_by_quotient = main.is_some_and(|(each, _)| each.has_quotient);
    Some(Draft {
        message: format!(
            "{} of the executed instructions are in loops that do the same in some {} blocks, most of them at {at}: {}, and only \
             what they end with is used.",
            percent(repeated / executed),
            count(most.round()),
            if is_by_quotient {
                "no block index goes into them but by a quotient, which neighbouring blocks share"
            } else {
                "the index of the block, or one direction of it, goes into nothing in them"
            },
        ),
        evidence: vec![
            Evidence::new("executed instructions that blocks repeat", repeated, "inst"),
            Evidence::new("blocks that repeat them", most, "block"),
            Evidence::new(EXECUTED, launch.need(EXECUTED), "inst"),
        ],
        hint: format!(
            "Work out once what the loop at {at} ends with: in a kernel of its own before this one, {}, which stores the values, so \
             that each block here only loads them. On the host, if they depend on arguments alone.",
            if is_by_quotient {
                "with a block for each value of the quotient"
            } else {
                "with one block for all that repeat it"
            }
        ),
        locations,
        effect,
    })
}

/// The loops that blocks repeat and that are worth a launch of their own, each with how many blocks do.
fn repeated(launch: &ModeledLaunch, listing: &Listing) -> Vec<(RepeatedLoop, f64)> {
    let row = &launch.profile.row;
    let all: f64 = row.grid.iter().map(|&extent| f64::from(extent.max(1))).product();
    let threads: f64 = row.block.iter().map(|&extent| f64::from(extent.max(1))).product();
    let warps = all * (threads / WARP_LANES).ceil();
    let mut found = Vec::new();
    for each in same_for_blocks(listing, row.grid) {
        let instructions: f64 = each.members.iter().map(|&at| listing.executed(at)).sum();
        if instructions < LEAST.value * each.values {
            continue;
        }
        let asked = if each.by_quotient { asked_over_read(launch, listing, &each) } else { 0.0 };
        let alike = each.blocks.max(asked.min(all));
        // A loop that only the last block reaches, or a few do, is repeated by as many.
        let times = alike * (each.comes / warps).min(1.0);
        if times >= TWICE.value {
            found.push((each, times));
        }
    }
    found
}

/// The bytes that a loop's loads ask for, what warps of a block share counted once, over those that DRAM delivers; 0 where loaded
/// numbers take part in the addresses, or nothing was counted.
fn asked_over_read(launch: &ModeledLaunch, listing: &Listing, of: &RepeatedLoop) -> f64 {
    let Some(read) = launch.get(READ).filter(|&read| read > 0.0) else { return 0.0 };
    let mut asked = 0.0;
    for (at, copies) in sharing::repetitions(*listing, [1; 3], launch.profile.row.block) {
        if of.members.binary_search(&at).is_ok() {
            let Some(copies) = copies else { return 0.0 };
            asked += listing.row(at).counters.l2_sectors_global_ideal / copies;
        }
    }
    // What threads of a block share in another way, L1 serves.
    let asked = launch.get(L2_ASKED).map_or(asked, |of_l2| asked.min(of_l2));
    SECTOR_BYTES * asked / read
}

/// The share of L2's sectors that goes: as much as of all sectors that instructions ask for, but no more than the other instructions
/// leave of what L2 was asked for.
fn of_l2(launch: &ModeledLaunch, listing: &Listing, goes: impl Fn(usize) -> f64) -> f64 {
    let share = sectors_gone(*listing, &goes);
    let stays = |at: usize| (1.0 - goes(at)) * listing.row(at).counters.l2_sectors_global;
    let stay: f64 = (0..listing.sass.entries.len()).map(stays).sum();
    let asked = launch.get(L2_ASKED).filter(|&asked| asked > 0.0);
    asked.map_or(share, |asked| share.min((1.0 - stay / asked).max(0.0)))
}

/// The share of the time that stays in any case: what warps do beside the loops takes as long as now, and a launch before does
/// the loops once. There a warp waits for its own results, but for no other warps.
fn least(
    launch: &ModeledLaunch,
    listing: &Listing,
    effect: &Effect,
    goes: impl Fn(usize) -> bool,
) -> f64 {
    let queue = Term::ALL
        .into_iter()
        .filter(|term| term.waits().contains(&StallReason::LongScoreboard))
        .filter_map(|term| Some(launch.model.utilization(term)? * effect.share_of(term)))
        .fold(0.0, f64::max);
    let (mut all, mut theirs, mut alone) = (0.0, 0.0, 0.0);
    for (at, _) in listing.entries() {
        for reason in StallReason::all() {
            let samples = listing.samples(at, reason);
            all += samples;
            if goes(at) {
                theirs += samples;
                alone += match reason {
                    StallReason::LongScoreboard => samples * (1.0 - queue),
                    reason if FOR_OTHERS.contains(&reason) => 0.0,
                    _ => samples,
                };
            }
        }
    }
    if all <= 0.0 {
        return launch.model.launch_share();
    }
    let waves = launch.waves().unwrap_or(1.0).max(1.0);
    1.0 - theirs / all + alone / all / waves + launch.model.launch_share()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, sass};

    const ISSUE_BUSY: &str = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";

    /// 64 blocks of 128 threads that each add up 100 rows of a part of an array, whose number these instructions make in R3.
    fn of(row: &[&'static str], turns: f64) -> Launch {
        let mut code = vec![
            ("S2R R1, SR_TID.X", 256.0),
            ("LDC.64 R10, c[0x0][0x210]", 256.0),
            ("LDC.64 R12, c[0x0][0x218]", 256.0),
            ("S2R R5, SR_CTAID.X", 256.0),
        ];
        code.extend(row.iter().map(|text| (*text, 256.0)));
        code.extend(vec![("NOP", 256.0); 12 - code.len()]);
        code.extend([
            ("IMAD R2, R3, 0x100, R1", 256.0),
            ("IMAD.WIDE R8, R2, 0x4, R10", 256.0),
            ("MOV R7, RZ", 256.0),
            ("MOV R6, RZ", 256.0),
            ("LDG.E R4, desc[UR4][R8.64]", 256.0 * turns), // 0x200
            ("FADD R7, R7, R4", 256.0 * turns),
            ("IADD3 R8, R8, 0x400, RZ", 256.0 * turns),
            ("IADD3 R6, R6, 0x1, RZ", 256.0 * turns),
            ("ISETP.NE.AND P0, PT, R6, c[0x0][0x220], PT", 256.0 * turns),
            ("@P0 BRA 0x200", 256.0 * turns),
            ("IMAD R5, R5, 0x80, R1", 256.0),
            ("IMAD.WIDE R12, R5, 0x4, R12", 256.0),
            ("STG.E desc[UR4][R12.64], R7", 256.0),
            ("EXIT", 256.0),
        ]);
        let executed = code.iter().map(|(_, executed)| executed).sum();
        let mut launch = sass(&[(EXECUTED, executed), (ISSUE_BUSY, 80.0)], &code);
        (launch.row.grid, launch.row.block) = ([64, 1, 1], [128, 1, 1]);
        launch.instructions[16].counters.l2_sectors_global_ideal = 256.0 * turns * 4.0;
        launch.instructions[16].counters.l2_sectors_global = 256.0 * turns * 4.0;
        launch
    }

    const ALL: &[&str] = &["MOV R3, RZ"];
    const EACH: &[&str] = &["MOV R3, R5"];
    const QUOTIENT: &[&str] = &["LDC R9, c[0x0][0x228]", "IMAD.HI.U32 R3, R5, R9, RZ"];

    #[test]
    fn a_sum_that_all_blocks_make_is_named() {
        let draft = assert_sides(&RULE, &of(ALL, 100.0), &[&[(ISSUE_BUSY, 0.1)]]);
        // A load and four instructions for its address come for 600 instructions, of which one part in 64 stays.
        let gone = 256.0 * (600.0 * 63.0 / 64.0 - 5.0) / (256.0 * (600.0 + 20.0));
        let share = draft.effect.share_of(Term::Issue);
        assert!((share - gone).abs() < 1e-12, "{share} {gone}");
        assert!((draft.effect.share_of(Term::L2) - 63.0 / 64.0).abs() < 1e-9, "{:?}", draft.effect);
        assert!(draft.message.contains("the same in some 64 blocks"), "{}", draft.message);
        assert!(check(&RULE, &of(EACH, 100.0)).is_none(), "a part of its own");
        assert!(check(&RULE, &of(ALL, 10.0)).is_none(), "too little for a load");
    }

    #[test]
    fn a_loop_that_few_blocks_reach_is_repeated_by_as_many() {
        let mut last = of(ALL, 100.0);
        last.row.grid = [16_384, 1, 1];
        assert!(check(&RULE, &last).is_some(), "64 of them");
        // One block of 64 has 128 threads, four warps: they come as often as one warp in 64.
        let mut one = of(ALL, 100.0);
        one.instructions[12..22].iter_mut().for_each(|row| row.counters.inst_executed /= 64.0);
        assert!(check(&RULE, &one).is_none(), "the last block alone");
    }

    #[test]
    fn by_an_unknown_quotient_loads_tell_how_many_blocks_share() {
        let asked = 256.0 * 100.0 * 4.0 * SECTOR_BYTES;
        let found = |read: f64, l2: f64| {
            let mut launch = of(QUOTIENT, 100.0);
            launch.set(READ, Some(read));
            launch.set(L2_ASKED, Some(l2));
            check(&RULE, &launch)
        };
        let of_l2 = asked / SECTOR_BYTES;
        let draft = found(asked / 8.0, of_l2).unwrap();
        assert!(draft.message.contains("the same in some 8 blocks"), "{}", draft.message);
        assert!(draft.message.contains("but by a quotient"), "{}", draft.message);
        assert!(draft.hint.contains("a block for each value of the quotient"), "{}", draft.hint);
        assert!(found(asked / 1.9, of_l2).is_none(), "not even twice");
        assert!(found(asked / 8.0, of_l2 / 8.0).is_none(), "L1 served what a block asks for again");
        assert!(check(&RULE, &of(QUOTIENT, 100.0)).is_none(), "nothing counted");
    }

    #[test]
    fn a_warp_goes_through_the_loop_once_more() {
        let mut launch = of(ALL, 100.0);
        let set = |launch: &mut Launch, at: usize, reason: StallReason, samples: f64| {
            launch.instructions[at].counters.stall_samples[reason as usize] = samples;
        };
        set(&mut launch, 17, StallReason::LongScoreboard, 40.0);
        set(&mut launch, 18, StallReason::NotSelected, 40.0);
        set(&mut launch, 24, StallReason::Wait, 20.0);
        launch.set("launch__waves_per_multiprocessor", Some(4.0));
        // A fifth is beside the loop, and of the rest a warp alone needs half, a quarter of that in the time of one wave.
        let draft = check(&RULE, &launch).unwrap();
        assert!((draft.effect.least - (0.2 + 0.4 / 4.0)).abs() < 1e-9, "{}", draft.effect.least);
    }
}
