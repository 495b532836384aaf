//! Lanes of a warp read different constants, one at a time.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::CYCLES;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::WARP_LANES;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::model::counts::{self, SM_CYCLES};
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::parse::access::is_indexed_constant;
use crate::term::Term;
use crate::text::{count, percent};

const BUSY: &str = "idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed";
const SMS: &str = "launch__sm_count";

/// Share of the time, percent, from which the constant cache counts.
const LEAST_BUSY: f64 = 20.0;

/// Cycles that an indexed constant takes on average from which lanes must differ.
const DIVERGENT: f64 = 4.0;

/// Cycles that the cache takes for each address.
const CYCLES_EACH: f64 = 2.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "constant-cache-divergence",
    kind: Kind::Cause,
    summary: "lanes of a warp read different constants, one at a time",
    explanation: "\
The constant cache serves one address at a time for a whole warp: all lanes that ask for the same \
address are served together, and every further address takes a turn of its own, of about two cycles. A table in \
__constant__ memory that each lane indexes by its own data takes up to 32 turns. The rule looks \
at how long the cache is busy with indexed constants and, from the executed LDC instructions with \
a register in their address, at how many cycles each takes. Read such a table through L1 (const \
__restrict__ in global memory, __ldg) or keep a copy in shared memory, which serves words from \
different banks at once.",
    examples: &[Example {
        fault: "\
// __constant__ float level[256]: a word at a time, up to 32 turns per warp
out[i] = level[code[i]];",
        repair: "\
// const float *__restrict__ level, in global memory: L1 serves all lanes
out[i] = __ldg(&level[code[i]]);",
        note: "\
The table moves from constant to global memory, where L1 serves the different words of a warp \
together; constant memory stays right for what all lanes read alike.",
    }],
    section: "SpeedOfLight",
    thresholds: &[
        Threshold {
            what: "time for which the indexed-constant cache is busy, at least",
            value: LEAST_BUSY,
            unit: "%",
            source: "derivation: the time that a unit takes bounds the gain from relieving it, here at 1/0.8 = 1.25",
        },
        Threshold {
            what: "cycles per indexed constant, at least",
            value: DIVERGENT,
            unit: "cycle",
            source: "definition: uniform lanes ask for one address; two, at two cycles each, are the least \
                     divergence that there is",
        },
        Threshold {
            what: "constant: cycles that the constant cache takes for each address of an indexed constant",
            value: CYCLES_EACH,
            unit: "cycle",
            source: "measured (H200): 28.0 and 28.4 cycles where 32 lanes pick from 16 words at random, which are 14 \
                     different ones on average",
        },
    ],
    needs: &[BUSY, SMS],
    sharpened_by: &[Reads::always(&[SM_CYCLES]), CYCLES],
    source_page: SourcePage::Needed,
    explains: &[
        "short-scoreboard-stalls",
        "mio-throttle",
        "constant-cache-misses",
        "long-scoreboard-stalls",
        "issue-slots-underused",
    ],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let busy = launch.need(BUSY);
    if busy.is_nan() || busy < LEAST_BUSY {
        return None;
    }
    let loads: f64 = launch
        .profile
        .instructions
        .iter()
        .filter(|row| is_indexed_constant(&row.text))
        .map(|row| row.counters.inst_executed)
        .sum();
    // The counter is an average over the SMs.
    let elapsed = counts::sm_cycles(launch.profile)?;
    let cycles_each = busy / 100.0 * elapsed * launch.need(SMS) / loads;
    if !(loads > 0.0 && cycles_each >= DIVERGENT) {
        return None;
    }
    let locations = launch.places_of("indexed constants", |row| {
        if is_indexed_constant(&row.text) { row.counters.inst_executed } else { 0.0 }
    });
    let goes = 1.0 - 1.0 / cycles_each;
    let misses =
        if cycles_each > CYCLES_EACH * WARP_LANES { "; the cache misses some of them" } else { "" };
    Some(Draft {
        message: format!(
            "The constant cache is busy {busy:.0}% of the time with {} indexed constants. Each \
             takes {cycles_each:.1} cycles, about two for each of the different addresses that the lanes of a warp ask \
             for{misses}.",
            count(loads),
        ),
        evidence: vec![
            Evidence::new(BUSY, busy, "%"),
            Evidence::new("cycles_per_indexed_constant", cycles_each, "cycle"),
        ],
        hint: format!(
            "Move the table that {} indexes out of constant memory: pass it as const __restrict__ \
             so that L1 serves it, or copy it to shared memory at the start of the block. That \
             saves {} of these cycles.",
            place(&locations, "the kernel"),
            percent(goes),
        ),
        locations,
        effect: Effect {
            removed: vec![(Term::Constant, goes)],
            added: loads_instead(launch, loads),
            stalls: [StallReason::ShortScoreboard, StallReason::MioThrottle, StallReason::ImcMiss]
                .into_iter()
                .map(|reason| (reason, goes))
                .collect(),
            ..Effect::default()
        },
    })
}

/// The loads that come instead, of the same width: an instruction each for the load/store unit, and a wavefront
/// for each word of four bytes, as different words of a small table lie in different banks.
fn loads_instead(launch: &ModeledLaunch, loads: f64) -> Vec<(Term, f64)> {
    let words: f64 = launch
        .profile
        .instructions
        .iter()
        .filter(|row| is_indexed_constant(&row.text))
        .map(|row| row.counters.inst_executed * if row.text.contains(".64") { 2.0 } else { 1.0 })
        .sum();
    [(Term::Lsu, loads), (Term::L1Data, words)]
        .into_iter()
        .filter_map(|(term, work)| Some((term, counts::of_work(launch.profile, term, work)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{SourceCounters, SourceRow};
    use crate::rules::testing::{assert_sides, launch};

    fn row(text: &str, executed: f64) -> SourceRow {
        let counters = SourceCounters { inst_executed: executed, ..SourceCounters::default() };
        SourceRow { text: text.to_owned(), line: Some(9), counters, ..SourceRow::default() }
    }

    #[test]
    fn cycles_of_each_are_busy_cycles_over_indexed_loads() {
        let mut table = launch(&[(BUSY, 20.0), (SM_CYCLES, 1000.0), (SMS, 100.0)]);
        // 20% of 1000 cycles on 100 SMs are 20,000.
        table.instructions =
            vec![row("LDC R4, c[0x3][R2]", 5_000.0), row("LDC R1, c[0x0][0x28]", 9e9)];
        let draft = assert_sides(&RULE, &table, &[&[(BUSY, 19.9)]]);
        assert!(
            draft.message.contains("takes 4.0 cycles, about two for each"),
            "{}",
            draft.message
        );
        assert!((draft.effect.share_of(Term::Constant) - 0.75).abs() < 1e-12);
        assert_eq!(draft.locations[0].line, 9);
        // As many loads take a twentieth of the 100,000 cycles of all SMs; 64 bits two wavefronts.
        assert!((draft.effect.added_to(Term::Lsu) - 0.05).abs() < 1e-12);
        assert!((draft.effect.added_to(Term::L1Data) - 0.05).abs() < 1e-12);
        table.instructions = vec![row("LDC.64 R4, c[0x3][R2]", 5_000.0)];
        let wide = crate::rules::testing::check(&RULE, &table).unwrap();
        assert!((wide.effect.added_to(Term::L1Data) - 0.1).abs() < 1e-12);
        let mut table = launch(&[(BUSY, 20.0), (SM_CYCLES, 1000.0), (SMS, 100.0)]);
        table.instructions = vec![row("LDC R4, c[0x3][R2]", 5_001.0)];
        assert!(crate::rules::testing::check(&RULE, &table).is_none());
    }

    #[test]
    fn the_cache_counts_from_a_fifth_of_the_time() {
        let fires = |busy: f64| {
            let mut table = launch(&[(BUSY, busy), (SM_CYCLES, 1000.0), (SMS, 100.0)]);
            // Four cycles each at a fifth of the time.
            table.instructions = vec![row("LDC R4, c[0x3][R2]", 5_000.0)];
            crate::rules::testing::check(&RULE, &table).is_some()
        };
        assert!(fires(20.0) && !fires(19.9));
    }
}
