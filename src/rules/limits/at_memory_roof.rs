//! The memory's limit is reached.

use crate::evidence::threshold::ROOF_LIMIT;
use crate::finding::Bound;
use crate::rules::{Example, Kind, Rule};

const DRAM: &str = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";

/// The rule.
pub const RULE: Rule = Rule {
    name: "at-memory-roof",
    kind: Kind::Roof,
    summary: "DRAM, L2 or L1 works at its limit, on bytes that are needed",
    explanation: "\
The busiest unit belongs to the memory system, it reaches at least 85% of what this device was \
measured to achieve (or of its peak where there is no measurement), and no finding inflates its \
work: a kernel that fills DRAM with bytes nobody uses is not at the roof. This finding then comes \
first, whatever else was found; what other findings could give fits into the remaining 15%, and \
they follow with their own estimates. Without machine code whose instructions were counted (SourceCounters) a launch \
is never said to be at the roof: a fault that only these show may be what fills the unit.",
    examples: &[Example {
        fault: "\
// two launches, each at the full rate of DRAM: neither has a fault
scaled[i] = gain * raw[i];                // first kernel
out[i] = sqrtf(scaled[i]);                // second kernel",
        repair: "\
out[i] = sqrtf(gain * raw[i]);            // one kernel, half of the bytes",
        note: "\
No change inside either kernel helps any more, but fewer bytes do: merged, they never write and \
read the intermediate array. A narrower type would do the same.",
    }],
    section: "SpeedOfLight",
    thresholds: &[ROOF_LIMIT],
    needs: &[DRAM],
    bound: Some(Bound::Memory),
    explains: &["long-scoreboard-stalls", "lg-throttle", "issue-slots-underused"],
    check: |launch| crate::evidence::roof::check(launch, Bound::Memory),
    ..Rule::DEFAULT
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, launch};

    #[test]
    fn dram_at_85_percent_of_the_reachable_is_at_the_roof() {
        // The reachable share of an unmeasured device is 4.55/4.811 = 94.57%; 85% of it is 80.38%.
        let full = launch(&[(DRAM, 80.5), ("dram__bytes.sum.per_second", 3.7e12)]);
        let fma = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
        let draft = assert_sides(&RULE, &full, &[&[(DRAM, 80.3)], &[(fma, 90.0)]]);
        assert!(draft.message.contains("at 3.70 TB/s"), "{}", draft.message);
    }

    #[test]
    fn blocks_that_are_slow_to_start_hide_no_roof() {
        let mut full = launch(&[
            (DRAM, 85.0),
            ("launch__grid_size", 1e5),
            ("gpc__cycles_elapsed.max", 120_300.0 / 0.95),
        ]);
        full.row.compute_capability = Some((9, 0));
        let draft = crate::rules::testing::check(&RULE, &full).expect("at the roof");
        assert!(draft.message.contains("DRAM, works at 90%"), "{}", draft.message);
    }
}
