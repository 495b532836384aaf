//! The arithmetic's limit is reached.

use crate::evidence::Threshold;
use crate::evidence::roof::BY_GROUPS;
use crate::evidence::threshold::ROOF_LIMIT;
use crate::finding::Bound;
use crate::model::thresholds::PIPE_FULL;
use crate::rules::{Example, Kind, Rule};

const BUSY: &str = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";

/// The rule.
pub const RULE: Rule = Rule {
    name: "at-compute-roof",
    kind: Kind::Roof,
    summary: "a math pipe or the issue slots work at their limit, on work that is needed",
    explanation: "\
The busiest unit is a math pipe or the schedulers' issue slots, it reaches at least 85% of what \
this device was measured to achieve (or of its peak where there is no measurement; 75% of the FMA pipe, as \
tuned products of floats do), and no \
finding inflates its work: warps with idle lanes fill issue slots but are not at the roof. This \
finding then comes first, whatever else was found. What remains is another algorithm, or a unit \
that does the same work faster (tensor cores, a narrower type). Without machine code whose instructions were \
counted (SourceCounters) a launch is never said to be at the roof: a fault that only these show may be what fills \
the unit.",
    examples: &[Example {
        fault: "\
// 961 multiply-adds per pixel, at the full rate of the FMA pipe: no fault
for (int dy = 0; dy < 31; ++dy)
    for (int dx = 0; dx < 31; ++dx)
        sum = fmaf(weight[dy * 31 + dx],
                   in[(y + dy) * pitch + x + dx], sum);",
        repair: "\
for (int d = 0; d < 31; ++d)              // first kernel: along the rows
    sum = fmaf(g[d], in[y * pitch + x + d], sum);
rows[y * pitch + x] = sum;

for (int d = 0; d < 31; ++d)              // second: along the columns
    sum = fmaf(g[d], rows[(y + d) * pitch + x], sum);",
        note: "\
No change inside the kernel helps any more, but another algorithm does: where weight[dy * 31 + \
dx] = g[dy] * g[dx], two passes take 62 multiply-adds per pixel. Sums are rounded in another \
order.",
    }],
    section: "ComputeWorkloadAnalysis",
    thresholds: &[
        ROOF_LIMIT,
        Threshold {
            what: "the FMA pipe's rate, share of what the device achieves, at least",
            value: PIPE_FULL.value,
            unit: "share",
            source: PIPE_FULL.source,
        },
        BY_GROUPS,
    ],
    needs: &[BUSY],
    bound: Some(Bound::Compute),
    explains: &[
        "math-pipe-throttle",
        "fixed-latency-stalls",
        "instruction-cache-misses",
        "issue-slots-underused",
    ],
    check: |launch| crate::evidence::roof::check(launch, Bound::Compute),
    ..Rule::DEFAULT
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, launch};

    const ALU: &str = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed";
    const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";

    #[test]
    fn a_math_pipe_at_85_percent_is_at_the_roof() {
        let full = launch(&[(BUSY, 50.0), (ALU, 85.0)]);
        let dram = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
        let draft = assert_sides(&RULE, &full, &[&[(ALU, 84.9)], &[(dram, 90.0)]]);
        assert!(draft.message.contains("ALU pipe, works at 85%"), "{}", draft.message);
    }

    #[test]
    fn the_fma_pipe_is_there_at_75_percent() {
        let full = launch(&[(BUSY, 50.0), (FMA, 75.0)]);
        assert_sides(&RULE, &full, &[&[(FMA, 74.9)]]);
    }

    #[test]
    fn a_fuller_pipe_is_the_roof_even_beside_a_full_fma_pipe() {
        let message = |alu: f64| {
            let full = launch(&[(BUSY, 50.0), (ALU, alu), (FMA, 80.0)]);
            crate::rules::testing::check(&RULE, &full).unwrap().message
        };
        assert!(message(85.0).starts_with("The busiest unit, ALU pipe,"), "{}", message(85.0));
        assert!(message(84.0).starts_with("The FMA pipe works at 80%"), "{}", message(84.0));
    }
}
