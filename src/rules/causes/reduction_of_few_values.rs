//! Lanes that are combined after each has loaded a value or two.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::shared_pipe::{self, SharedPipe};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::{WARP_LANES, WIDEST_ACCESS_BYTES};
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::few_values::{MOST_BYTES, small_shared_trees, small_trees};
use crate::term::Term;
use crate::text::{count, count_of, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";
const BLOCK: &str = "launch__block_size";

/// The rule.
pub const RULE: Rule = Rule {
    name: "reduction-of-few-values",
    kind: Kind::Cause,
    summary: "lanes are combined after each has loaded only a value or two",
    explanation: "\
A sum or a maximum over a row takes five shuffles per warp, each followed by arithmetic that waits for it, and over the warps of \
a block also shared memory and barriers, whether a thread brings one value or the total of many. With a thread per \
element, that costs more than the elements' own work. If fewer threads share a row, each loads several elements by one wide access, \
adds them up in registers, and there are as many fewer shuffles, barriers, and indices to compute. The rule looks for trees of shuffles, or in shared memory, \
for which each lane has loaded at most half of what one access can move. The estimate gives each thread as many \
elements as 16 bytes hold: what a thread executes once goes with the threads, what is done for each element stays.",
    examples: &[Example {
        fault: "\
// a block of 1024 threads per row of 1024
float v = x[row * 1024 + threadIdx.x];
float sum = block_sum(v);             // 32 warps, 10 shuffles, 2 barriers
y[row * 1024 + threadIdx.x] = v / sum;",
        repair: "\
// a warp per row; 8 loads of 16 bytes per lane
float sum = 0;
for (int i = 0; i < 8; i++) {
    v[i] = x4[row * 256 + i * 32 + lane];
    sum += v[i].x + v[i].y + v[i].z + v[i].w;
}
sum = warp_sum(sum);                      // 5 shuffles, no barrier",
        note: "\
The elements stay in registers between the sum and the division. It costs registers, and sums of floats are rounded in another order.",
    }],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "bytes that a lane loads before it is combined with others, at most",
            value: MOST_BYTES,
            unit: "byte",
            source: "definition: half of the widest access, so that half of the threads could load the same",
        },
    ],
    needs: &[EXECUTED, ISSUE_BUSY, BLOCK],
    sharpened_by: &[
        Reads::always(&[shared_pipe::BUSY]),
        shared_pipe::WAVEFRONTS,
        shared_pipe::QUEUED,
    ],
    source_page: SourcePage::Needed,
    explains: &[
        "short-scoreboard-stalls",
        "barrier-stalls",
        "fixed-latency-stalls",
        "mio-throttle",
        "issue-slots-underused",
    ],
    in_triton: "\
pass a smaller num_warps: a warp then holds more of the row, and tl.sum or tl.max first combines what each lane has. Several rows \
per program help where a row is short.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let threads = launch.need(BLOCK);
    let mut places = small_trees(&listing);
    // Trees whose idle warps keep the pipe of shared memory busy are another rule's.
    if SharedPipe::busy(launch).is_none_or(|pipe| pipe.idle_sweep().is_none()) {
        places.extend(small_shared_trees(&listing, threads));
    }
    let exchanged = |at: &usize| listing.executed(*at);
    let main = places.iter().max_by(|a, b| {
        let executed = |exchanges: &[usize]| exchanges.iter().map(exchanged).sum::<f64>();
        executed(&a.exchanges).total_cmp(&executed(&b.exchanges))
    })?;
    for each in &places {
        let gone = 1.0 - 1.0 / each.room();
        each.of_threads.iter().for_each(|&at| removal.remove(at, gone));
        // One thread awaits its values together, however many it has.
        each.loads.iter().for_each(|&at| removal.remove_latency(at, gone));
        // Values of one lane are combined with each other in as many operations as one step of a tree takes.
        each.combines.iter().for_each(|&at| removal.remove(at, gone * (1.0 - 1.0 / each.steps)));
    }
    let mut effect = removal.effect(launch);
    // As many threads per block as now take the rows of several.
    effect.removed.push((Term::BlockScheduler, 1.0 - 1.0 / main.room()));
    if !gains(launch, &effect) {
        return None;
    }
    // Trees stand in libraries; the loads are the author's.
    let is_load = |at: usize| places.iter().any(|each| each.loads.binary_search(&at).is_ok());
    let weight = |at: usize| if is_load(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "loads of what is combined");
    let executed = launch.need(EXECUTED);
    let going = removal.instructions();
    let fewer = (threads / main.room()).ceil();
    let with_barriers = match main.barriers {
        0 => String::new(),
        barriers => format!(" and {}", count_of(barriers as f64, "barrier")),
    };
    let sharing = if main.barriers > 0 && fewer >= WARP_LANES {
        format!("{} threads per block in place of {}", count(fewer), count(threads))
    } else {
        "a part of a warp for each row".to_owned()
    };
    let at = place(&locations, "the loads of the row");
    let tree = if main.is_in_shared_memory {
        format!("a tree of {} in shared memory", count_of(main.steps.round(), "step"))
    } else {
        count_of(main.exchanges.len() as f64, "shuffle")
    };
    let by_shuffles = if main.is_in_shared_memory {
        " Within a warp, shuffles need no barriers between the steps."
    } else {
        ""
    };
    Some(Draft {
        message: format!(
            "Lanes are combined by {tree}{with_barriers} after each lane has loaded only {} at {at}. What a thread executes once costs \
             the same for one element as for many: with {} bytes per thread, {} of the executed instructions would go.",
            count_of(main.bytes.round(), "byte"),
            WIDEST_ACCESS_BYTES,
            percent(going / executed),
        ),
        evidence: vec![
            Evidence::new("executed instructions that go with the threads", going, "inst"),
            Evidence::new("bytes per lane and reduction", main.bytes, "byte"),
            Evidence::new(EXECUTED, executed, "inst"),
        ],
        hint: format!(
            "Give each thread {} times as many elements of a row at {at}, by one access of 16 bytes, and add them up in registers before \
             lanes exchange anything: {sharing}.{by_shuffles}{}",
            count(main.room().round()),
            starts(launch, main.room()),
        ),
        locations,
        effect,
    })
}

/// What else to do where starting blocks takes longer than anything else: smaller blocks alone would be as many.
fn starts(launch: &ModeledLaunch, room: f64) -> String {
    let longest = launch.model.busiest().filter(|(term, _)| *term == Term::BlockScheduler);
    longest.map_or_else(String::new, |(_, share)| {
        format!(
            " Then give each block the rows of {} blocks: starting them one after another takes {} of the time now.",
            count(room.round()),
            percent(share),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};

    fn of(load: &'static str) -> Option<Draft> {
        let code = [
            ("S2R R0, SR_TID.X", 100.0),
            ("IMAD.WIDE.U32 R2, R0, 0x4, R2", 100.0),
            (load, 100.0),
            ("SHFL.BFLY PT, R5, R4, 0x4, 0x1f", 100.0),
            ("FADD R5, R4, R5", 100.0),
            ("SHFL.BFLY PT, R6, R5, 0x2, 0x1f", 100.0),
            ("FADD R6, R5, R6", 100.0),
            ("SHFL.BFLY PT, R7, R6, 0x1, 0x1f", 100.0),
            ("FADD R7, R6, R7", 100.0),
            ("FMUL R9, R4, R7", 100.0),
            ("STG.E desc[UR4][R2.64], R9", 100.0),
            ("EXIT", 100.0),
        ];
        let metrics = [(EXECUTED, 1200.0), (ISSUE_BUSY, 60.0), (BLOCK, 256.0)];
        check(&RULE, &sass(&metrics, &code))
    }

    #[test]
    fn a_thread_per_element_is_named_and_wide_loads_are_not() {
        let draft = of("LDG.E R4, desc[UR4][R2.64]").unwrap();
        assert!(
            draft.message.contains("3 shuffles after each lane has loaded only 4 bytes"),
            "{}",
            draft.message
        );
        assert!(draft.hint.contains("4 times as many elements"), "{}", draft.hint);
        // Nine of twelve are no access and no product of the value; three quarters of them go. Three more values of a lane
        // take an addition each, in a quarter of the threads.
        let share = draft.effect.share_of(Term::Issue);
        assert!((share - 0.75 * (9.0 - 1.0) / 12.0).abs() < 1e-12, "{share}");
        assert!(of("LDG.E.64 R4, desc[UR4][R2.64]").is_some(), "8 bytes");
        assert!(of("LDG.E.128 R4, desc[UR4][R2.64]").is_none());
    }
}
