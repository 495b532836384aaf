//! Random numbers that are made and thrown away.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::philox::philox;
use crate::text::{count, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";

/// Random numbers that each call of Philox makes.
const MADE: f64 = 4.0;

/// Of which so many are used, at most.
const MOST_USED: f64 = 2.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "discarded-random-numbers",
    kind: Kind::Cause,
    summary: "each call of the random generator makes four numbers, of which most are thrown away",
    explanation: "\
Philox, the generator of Triton and PyTorch, makes four random words per call, in ten rounds with two wide products each. A kernel \
that takes one of them pays for four: the compiler can drop only a part of the last two rounds. If one call serves four \
elements, three of four calls go. Other elements then get other numbers, which are as good. The rule knows the generator by the \
constants of its products, and counts the results that no further round takes.",
    examples: &[Example {
        fault: "\
curandStatePhilox4_32_10_t state;         // per element
curand_init(seed, i, 0, &state);
float u = curand_uniform4(&state).x;      // one of four",
        repair: "\
curand_init(seed, i / 4, 0, &state);      // per four elements
float4 u = curand_uniform4(&state);       // all of them",
        note: "\
A thread then takes four neighbouring elements, which also makes its accesses wide.",
    }],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "results that are used of each call's four, at most",
            value: MOST_USED,
            unit: "word",
            source: "definition: half, so that one call could serve twice as many elements",
        },
        Threshold {
            what: "constant: results that a call makes",
            value: MADE,
            unit: "word",
            source: "definition of Philox-4x32 (Salmon et al., 2011)",
        },
    ],
    needs: &[EXECUTED, ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &["math-pipe-throttle", "fixed-latency-stalls", "issue-slots-underused"],
    in_triton: "\
call tl.rand4x (or tl.randint4x, tl.randn4x) on a quarter of the offsets and use all four results, for instance on four parts of the \
block, or joined by tl.join; tl.rand makes four and returns one.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    // A first round in front of the loop, whose results all turns take, counts for a fraction.
    let calls = philox(&listing).filter(|calls| calls.used.round() <= MOST_USED)?;
    let gone = 1.0 - calls.used / MADE;
    calls.rounds.iter().for_each(|&at| removal.remove(at, gone));
    let effect = removal.effect(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let locations = removal.locations(launch, "the generator's instructions");
    let executed = launch.need(EXECUTED);
    let going = removal.instructions();
    let at = place(&locations, "the generator");
    Some(Draft {
        message: format!(
            "{} warp-wide calls of the random generator Philox make four numbers each, but the kernel uses only {} per call. The \
             rounds at {at} that could go are {} of the executed instructions.",
            count(calls.calls),
            count(calls.used.round()),
            percent(going / executed),
        ),
        evidence: vec![
            Evidence::new("random numbers that are used per call", calls.used, ""),
            Evidence::new("executed instructions that go", going, "inst"),
            Evidence::new(EXECUTED, executed, "inst"),
        ],
        hint: "Let one call of the generator serve four elements: give a thread four of them and use all four numbers of a call.".to_owned(),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, check, sass};
    use crate::term::Term;

    fn of(results: usize) -> crate::frame::Launch {
        let mut code = vec![
            ("IMAD.WIDE.U32 R4, R0, -0x2daee0ad, RZ", 100.0),
            ("IMAD.WIDE.U32 R6, R2, -0x326172a9, RZ", 100.0),
            ("LOP3.LUT R8, R1, UR4, R7, 0x96, !PT", 100.0),
            ("LOP3.LUT R10, R3, UR5, R5, 0x96, !PT", 100.0),
        ];
        let stores = [
            ("STG.E desc[UR8][R20.64], R8", 100.0),
            ("STG.E desc[UR8][R20.64+0x4], R6", 100.0),
            ("STG.E desc[UR8][R20.64+0x8], R10", 100.0),
        ];
        code.extend(&stores[..results]);
        code.push(("EXIT", 100.0));
        sass(&[(EXECUTED, 800.0), (ISSUE_BUSY, 80.0)], &code)
    }

    #[test]
    fn one_or_two_of_four_are_few_and_three_are_not() {
        let draft = assert_sides(&RULE, &of(1), &[]);
        // Three quarters of four of six instructions.
        assert!((draft.effect.share_of(Term::Issue) - 0.75 * 4.0 / 6.0).abs() < 1e-12);
        assert!(draft.message.contains("uses only 1 per call"), "{}", draft.message);
        assert!(check(&RULE, &of(2)).is_some());
        let mut before_the_loop = of(3);
        before_the_loop.instructions[0].counters.inst_executed = 1.0;
        assert!(check(&RULE, &before_the_loop).is_some());
        assert!(check(&RULE, &of(3)).is_none());
    }
}
