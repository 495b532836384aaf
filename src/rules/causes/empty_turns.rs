//! Loops that make turns in which there is nothing to do.

use std::collections::BTreeSet;

use crate::evidence::modeled_launch::place;
use crate::evidence::products::sectors_gone;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::metric::stall::StallReason;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::Family;
use crate::sass::parse::access::Space;
use crate::sass::questions::empty_turns::{
    BEHIND_THE_END, EmptyTurns, How, LAST_TURN, OF_A_TILE, WITH_WORK, empty_turns,
};
use crate::term::Term;
use crate::text::{count, percent};

/// The rule.
pub const RULE: Rule = Rule {
    name: "empty-turns",
    kind: Kind::Cause,
    summary: "a loop runs iterations in which the block has nothing to do",
    explanation: "\
Rows of unequal length are often walked by one loop for all blocks, up to the longest row, with a condition on each load that \
asks whether the block's own row goes so far. Behind the row's end the loads bring nothing, but everything else is done as before: \
products of zeros, exponentials, reductions, barriers. If the loop ends where the row does, these iterations go. The rule looks for \
loops all of whose loads are switched off by a comparison of the loop's counter with a number that the block shares, \
and counts how many are. Half an iteration for the row's ragged end stays. Of a tile, columns beyond the matrix may be off in all iterations: \
there only those iterations count that would be empty even if half of the tile were such columns, and only where the number of rows is \
loaded and the loop's end is not. It also names loops that ask in each iteration whether there is anything to do, \
where the whole block passes all loads by in most: the first and the last iteration with work can be worked out before. \
Where a table says it, of which all lanes of a warp load one entry in each iteration, such as the experts that a token goes to, a list of the \
entries that have something is shorter; each look at the table else costs the whole latency of a load. And it names loops through all \
positions in which each thread works only in a window around its own: the condition compares the thread's position from both sides with \
what only the counter says. One iteration more than a thread works in stays. Where loads are not switched off at all, but what lies behind a loaded end is \
multiplied by zero or replaced, nothing in a profile says how many iterations that concerns; the estimate takes lengths to be spread \
evenly up to the longest.",
    examples: &[
        Example {
            fault: "\
for (int k = 0; k < longest; k += 64) {   // the same for all rows
    float x = k + t < length[row] ? data[first + k + t] : 0.0f;
    sum += warp_sum(x * x);
}",
            repair: "\
for (int k = 0; k < length[row]; k += 64) {
    float x = k + t < length[row] ? data[first + k + t] : 0.0f;
    sum += warp_sum(x * x);
}",
            note: "\
The condition stays for the last iteration. Blocks then take unequal time: let the longest rows come first.",
        },
        Example {
            fault: "\
for (int expert = 0; expert < experts; ++expert) {
    int row = row_of[expert * tokens + token];   // mostly -1
    if (row >= 0)
        out[row * width + i] = value;
}",
            repair: "\
for (int k = 0; k < chosen; ++k)                 // a list per token
    out[rows[token * chosen + k] * width + i] = value;",
            note: "\
The list is made where the table is. Without one, let each lane of a warp load an entry, and go through the bits of __ballot_sync.",
        },
    ],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "constant: part of the last iteration with data whose loads are off and that is needed all the same",
            value: LAST_TURN,
            unit: "iteration",
            source: "derivation: a row ends anywhere in an iteration",
        },
        Threshold {
            what: "constant: part of a tile that lies in the matrix along an edge that is the same in all iterations, at least",
            value: OF_A_TILE,
            unit: "share",
            source: "derivation: of less, a tile of half the size would have done",
        },
        Threshold {
            what: "constant: part of the iterations that lie behind a loaded end, where loads go on regardless",
            value: BEHIND_THE_END,
            unit: "share",
            source: "derivation: lengths that are spread evenly from nothing to the longest",
        },
        Threshold {
            what: "share of the entries of a table that lead to work, at most",
            value: WITH_WORK,
            unit: "share",
            source: "definition: most do not",
        },
    ],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "math-pipe-throttle",
        "short-scoreboard-stalls",
        "long-scoreboard-stalls",
        "fixed-latency-stalls",
        "barrier-stalls",
        "mio-throttle",
        "issue-slots-underused",
    ],
    in_triton: "\
give range() the program's own length, loaded before the loop, in place of the maximum over all programs. There are no votes of a \
warp: make the list of entries before the launch.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let loops = empty_turns(&listing);
    let goes = |each: &EmptyTurns| -> f64 {
        each.going.iter().map(|&(at, share)| share * listing.executed(at)).sum()
    };
    let main = loops.iter().max_by(|a, b| goes(a).total_cmp(&goes(b)))?;
    let (mut products, mut theirs) = (0.0, 0.0);
    let (mut at_barriers, mut all_at_barriers) = (0.0, 0.0);
    let mut going = vec![0.0_f64; listing.sass.entries.len()];
    let of = |how: How| -> BTreeSet<usize> {
        let such = loops.iter().filter(|each| each.how == how);
        such.flat_map(|each| &each.going).map(|it| it.0).collect()
    };
    let (of_tiles, of_windows) = (of(How::MaskedTile), of(How::Window));
    for (at, share) in loops.iter().flat_map(|each| &each.going) {
        going[*at] = going[*at].max(*share);
    }
    for (at, entry) in listing.entries() {
        let gone = going[at];
        let moves =
            matches!(entry.family, Family::Load(Space::Global) | Family::Store(Space::Global));
        let of_window = of_windows.contains(&at) && entry.family.is_memory();
        let off = entry.conditional && (moves && of_tiles.contains(&at) || of_window);
        if gone > 0.0 && off {
            // What is off moves no bytes and is not waited for.
            removal.remove_but_latency(at, gone);
            if of_window {
                // But it takes its turn on the way to L1.
                let turns = listing.executed(at);
                removal.remove_wavefronts(at, gone * turns / listing.wavefronts(at).max(turns));
            }
        } else if gone > 0.0 && of_window {
            // Lanes that work at once have the same to load.
            removal.remove_but_l1(at, gone);
        } else if gone > 0.0 {
            removal.remove(at, gone);
        }
        if entry.family == Family::Tensor {
            products += listing.executed(at);
            theirs += gone * listing.executed(at);
        }
        let waits = listing.samples(at, StallReason::Barrier);
        at_barriers += gone * waits;
        all_at_barriers += waits;
    }
    let mut effect = removal.effect(launch);
    if products > 0.0 {
        effect.removed.retain(|(term, _)| *term != Term::Tensor);
        effect.removed.push((Term::Tensor, theirs / products));
    }
    // Loads that are on fetch something for nothing.
    let of_zeroed = of(How::Zeroed);
    if !of_zeroed.is_empty() {
        let goes = |at: usize| if of_zeroed.contains(&at) { going[at] } else { 0.0 };
        let of_l2 = sectors_gone(listing, goes);
        effect.removed.extend([Term::L2, Term::L2Requests, Term::Dram].map(|term| (term, of_l2)));
    }
    // All warps of a block make the turn that goes.
    if all_at_barriers > 0.0 {
        effect.stalls.push((StallReason::Barrier, at_barriers / all_at_barriers));
    }
    if !gains(launch, &effect) {
        return None;
    }
    let is_load = |at: usize| main.loads.binary_search(&at).is_ok();
    let of_load = |at: usize| if is_load(at) { listing.executed(at) } else { 0.0 };
    let locations = match main.how {
        How::Masked | How::MaskedTile => {
            locations(launch, listing, of_load, "loads under a condition")
        }
        How::Zeroed => locations(launch, listing, of_load, "loads without a condition"),
        How::Tested | How::Window => {
            let mut of_main = vec![0.0; going.len()];
            main.going.iter().for_each(|&(at, share)| of_main[at] = share * listing.executed(at));
            locations(
                launch,
                listing,
                |at| of_main[at],
                "executed instructions of empty iterations",
            )
        }
        How::LookedUp => locations(launch, listing, of_load, "loads of what to do"),
    };
    let at = place(&locations, "the loads");
    Some(Draft {
        message: message(main, &at),
        evidence: vec![
            Evidence::new("iterations that do nothing", 100.0 * main.empty, "%"),
            Evidence::new("iterations of the loop", main.turns, ""),
        ],
        hint: hint(main, &at),
        locations,
        effect,
    })
}

fn message(of: &EmptyTurns, at: &str) -> String {
    let (share, turns) = (percent(of.empty), count(of.turns.round()));
    let at_least = if of.how == How::MaskedTile { "at least " } else { "" };
    match of.how {
        How::Masked | How::MaskedTile => format!(
            "In {at_least}{share} of its {turns} iterations, the loop around {at} loads nothing: the loop's counter has passed the \
             end by which the loads are masked, but the loop goes on and works on zeros."
        ),
        How::Zeroed => format!(
            "The loop around {at} loads in all of its {turns} iterations, but takes only what lies on one side of a position that \
             was loaded before it, such as a row's length: the rest is multiplied by zero or replaced. The profile can't tell how much that is; if lengths are spread \
             evenly, it is half."
        ),
        How::Tested => format!(
            "In {share} of its {turns} iterations, the loop around {at} only finds out that there is nothing to do: the whole block \
             branches past all of its loads."
        ),
        How::LookedUp => format!(
            "In {share} of its {turns} iterations, the loop around {at} only loads an entry which says that there is nothing to do: \
             all lanes wait for it and go on to the next."
        ),
        How::Window => format!(
            "In {share} of its {turns} iterations, the loop around {at} has nothing to do for a thread: each thread works only where \
             the loop's counter is in a window around the thread's own position, and skips all other iterations."
        ),
    }
}

fn hint(of: &EmptyTurns, at: &str) -> String {
    match of.how {
        How::Masked | How::MaskedTile => format!(
            "Let the loop around {at} end where the block's own data ends, by the same number that masks the loads. Start the \
             blocks with the most iterations first, because blocks then take unequal time."
        ),
        How::Zeroed => format!(
            "Let the loop around {at} end (or begin) at the position by which its values are selected. Keep the selection for the \
             iteration that the position lies in. Start the longest blocks first, because blocks then take unequal time."
        ),
        How::Tested => format!(
            "Work out before the loop around {at} which iterations have something to do (the first and last from the block's index, \
             or a list), and run only these. Without the branch, the loads of the next iteration can start early."
        ),
        How::LookedUp => format!(
            "Go through a list of the entries that have something to do in place of the whole table at {at}. Make it where the \
             table is made; or let each lane of a warp load one entry, so that __ballot_sync finds those of 32 at once. A list \
             that a kernel of its own has to make costs that kernel's time."
        ),
        How::Window => format!(
            "Work out the first and last iteration of each thread's window before the loop around {at}, from the thread's position \
             by a division, and run only these. All windows are equally long, so that the lanes of a warp work at once. What the \
             iterations load then differs between lanes in the same iteration."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, check, sass};

    fn of(lanes: f64) -> crate::frame::Launch {
        let code = [
            ("LDC.64 R10, c[0x0][0x210]", 8.0),
            ("LDG.E R6, desc[UR4][R10.64]", 8.0),
            ("IADD3 R2, R2, 0x80, RZ", 320.0),
            ("ISETP.GE.AND P1, PT, R2, R6, PT", 320.0),
            ("@!P1 LDG.E R4, desc[UR4][R12.64]", 320.0),
            ("FADD R5, R5, R4", 320.0),
            ("ISETP.GE.AND P0, PT, R2, c[0x0][0x220], PT", 320.0),
            ("@!P0 BRA 0x120", 320.0),
            ("EXIT", 8.0),
        ];
        let mut launch = sass(&[(ISSUE_BUSY, 80.0)], &code);
        launch.instructions[4].counters.thread_inst_executed_pred_on = 320.0 * lanes;
        launch
    }

    #[test]
    fn what_is_done_in_empty_turns_goes() {
        let draft = assert_sides(&RULE, &of(16.0), &[]);
        let empty = 0.5 - 1.5 / 40.0;
        let share = draft.effect.share_of(Term::Issue);
        assert!((share - empty * 1920.0 / 1944.0).abs() < 1e-12, "{share}");
        assert!(draft.message.contains("line 5") && draft.message.contains("40 iterations"));
        assert!(check(&RULE, &of(31.0)).is_none());
    }

    #[test]
    fn of_tiles_loads_that_are_off_are_not_awaited() {
        let of = |load: &str| {
            let code = [
                ("S2R R3, SR_TID.X", 8.0),
                ("LDC.64 R10, c[0x0][0x210]", 8.0),
                ("LDG.E R6, desc[UR4][R10.64]", 8.0),
                ("ISETP.GE.AND P6, PT, R3, c[0x0][0x224], PT", 8.0),
                ("IADD3 R2, R2, 0x80, RZ", 320.0),
                ("ISETP.LT.AND P1, PT, R2, R6, !P6", 320.0),
                (load, 320.0), // 6
                ("FADD R5, R5, R4", 320.0),
                ("ISETP.GE.AND P0, PT, R2, c[0x0][0x220], PT", 320.0),
                ("@!P0 BRA 0x140", 320.0),
                ("EXIT", 8.0),
            ];
            let mut launch = sass(&[(ISSUE_BUSY, 80.0)], &code);
            launch.instructions[6].counters.thread_inst_executed_pred_on = 320.0 * 4.0;
            let long = StallReason::LongScoreboard as usize;
            launch.instructions[7].counters.stall_samples[long] = 100.0;
            check(&RULE, &launch)
        };
        let draft = of("@P1 LDG.E R4, desc[UR4][R12.64]").unwrap();
        assert!(draft.message.contains("In at least 71% of its 40 iterations"));
        assert!(
            draft.effect.stalls.iter().all(|(reason, _)| *reason != StallReason::LongScoreboard)
        );
        assert!(of("LDG.E R4, desc[UR4][R12.64]").is_none());
    }
}
