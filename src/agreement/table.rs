//! Which of our faults each of ncu's rules means, and on what its promise would act.
//!
//! ncu's rules are known by their identifier; several say different things under one identifier, and
//! then words of the message tell which. An entry names the faults that the message speaks of,
//! generously: where its text offers two causes, either counts as named. A rule whose text names no
//! fault that could be taken away has an empty list and a sentence that says why.

use crate::metric::stall::StallReason;
use crate::term::Term;

/// What taking away all that a rule speaks of would act on: the most that its promise could mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Acts {
    /// The work of these units.
    Units(&'static [Term]),
    /// These waits.
    Waits(&'static [StallReason]),
    /// Latency, which more warps would hide.
    Latency,
    /// SMs without work.
    Idle,
    /// Nothing that the time model knows.
    Unknown,
}

/// One thing that ncu can say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// ncu's identifier of the rule.
    pub rule: &'static str,
    /// Words of the message that tell it from the rule's other messages, in lower case; all must be
    /// there.
    pub says: &'static [&'static str],
    /// The faults that it names.
    pub faults: &'static [&'static str],
    /// What its promise would act on.
    pub acts: Acts,
    /// For a rule that names no fault: why that is none.
    pub why_none: &'static str,
}

const fn names(
    rule: &'static str,
    says: &'static [&'static str],
    faults: &'static [&'static str],
    acts: Acts,
) -> Entry {
    Entry { rule, says, faults, acts, why_none: "" }
}

const fn no_fault(rule: &'static str, says: &'static [&'static str], why: &'static str) -> Entry {
    Entry { rule, says, faults: &[], acts: Acts::Unknown, why_none: why }
}

const MEMORY: Acts =
    Acts::Units(&[Term::L1Data, Term::Lsu, Term::L2, Term::L2Requests, Term::Dram]);
const SHARED: Acts = Acts::Units(&[Term::L1Data, Term::Lsu]);
const INSTRUCTIONS: Acts = Acts::Units(&[
    Term::Issue,
    Term::Fma,
    Term::Alu,
    Term::Fp64,
    Term::Xu,
    Term::Lsu,
    Term::L1Data,
]);

/// All of them; the first whose words fit counts.
pub const TABLE: &[Entry] = &[
    // The six titles of the bottleneck rule; none has an estimate. Only the small grid is a fault,
    // the others say which unit to look at.
    names("SOLBottleneck", &["grid is too small"], &["grid-too-small"], Acts::Idle),
    no_fault("SOLBottleneck", &[], "it says which section to read, not what to change"),
    // Threads of the last warp of a block.
    names(
        "LaunchConfiguration",
        &["multiple of 32"],
        &["block-size-not-warp-multiple"],
        INSTRUCTIONS,
    ),
    names(
        "LaunchConfiguration",
        &["not a multiple"],
        &["block-size-not-warp-multiple"],
        INSTRUCTIONS,
    ),
    // The tail: whole waves and a partial one.
    names("LaunchConfiguration", &["partial wave"], &["partial-wave"], Acts::Idle),
    // Fewer blocks than SMs.
    names(
        "LaunchConfiguration",
        &["multiprocessors", "less than"],
        &["grid-too-small"],
        Acts::Idle,
    ),
    // Fewer than two blocks an SM, where the kernel has barriers: advice without an estimate.
    names("LaunchConfiguration", &["__syncthreads"], &["grid-too-small"], Acts::Idle),
    // The message lists the resources that are short; both are named where both are. The words for
    // registers and for shared memory are those of 2023 to 2025; for the block's size ncu speaks of
    // warps within a block or of blocks that an SM holds.
    names(
        "TheoreticalOccupancy",
        &["registers", "shared memory"],
        &["occupancy-limited-by-registers", "occupancy-limited-by-shared-memory"],
        Acts::Latency,
    ),
    names(
        "TheoreticalOccupancy",
        &["registers"],
        &["occupancy-limited-by-registers"],
        Acts::Latency,
    ),
    names(
        "TheoreticalOccupancy",
        &["shared memory"],
        &["occupancy-limited-by-shared-memory"],
        Acts::Latency,
    ),
    names("TheoreticalOccupancy", &["block"], &["occupancy-limited-by-block-size"], Acts::Latency),
    // Its text also offers imbalance as a cause, which has a rule of its own.
    names("AchievedOccupancy", &[], &["achieved-occupancy-below-theoretical"], Acts::Latency),
    // Idle schedulers: a symptom of whatever the warps wait for.
    names("IssueSlotUtilization", &[], &["issue-slots-underused"], Acts::Latency),
    // A stall counts as naming the fault where the stall is the fault. Fixed latency is what a
    // dependent chain shows as, and its text advises to unroll and restructure.
    names("CPIStall", &["cta barrier"], &["barrier-stalls"], Acts::Waits(&[StallReason::Barrier])),
    names(
        "CPIStall",
        &["scoreboard", "l1tex", "not to l1tex"],
        &["short-scoreboard-stalls"],
        Acts::Waits(&[StallReason::ShortScoreboard]),
    ),
    names(
        "CPIStall",
        &["scoreboard", "l1tex"],
        &["long-scoreboard-stalls"],
        Acts::Waits(&[StallReason::LongScoreboard]),
    ),
    names(
        "CPIStall",
        &["immediate constant"],
        &["constant-cache-misses"],
        Acts::Waits(&[StallReason::ImcMiss]),
    ),
    names(
        "CPIStall",
        &["local and global", "queue"],
        &["lg-throttle"],
        Acts::Waits(&[StallReason::LgThrottle]),
    ),
    names(
        "CPIStall",
        &["mio", "instruction queue"],
        &["mio-throttle"],
        Acts::Waits(&[StallReason::MioThrottle]),
    ),
    names(
        "CPIStall",
        &["texture", "queue"],
        &["tex-throttle"],
        Acts::Waits(&[StallReason::TexThrottle]),
    ),
    names(
        "CPIStall",
        &["fixed latency"],
        &["fixed-latency-stalls", "low-instruction-parallelism"],
        Acts::Waits(&[StallReason::Wait]),
    ),
    names(
        "CPIStall",
        &["fetch an instruction"],
        &["instruction-cache-misses"],
        Acts::Waits(&[StallReason::NoInstruction]),
    ),
    names(
        "CPIStall",
        &["execution pipe"],
        &["math-pipe-throttle"],
        Acts::Waits(&[StallReason::MathPipeThrottle]),
    ),
    names(
        "CPIStall",
        &["memory barrier"],
        &["memory-fence-stalls"],
        Acts::Waits(&[StallReason::Membar]),
    ),
    names("CPIStall", &["after exit"], &["store-drain-stalls"], Acts::Waits(&[StallReason::Drain])),
    no_fault(
        "CPIStall",
        &["micro scheduler to select"],
        "a warp that waits for its turn costs no time: another one issues meanwhile",
    ),
    no_fault("CPIStall", &[], "it names a wait and not what the warps wait for"),
    // Its text offers early exits and predication beside divergent paths.
    names("ThreadDivergence", &[], &["thread-divergence", "idle-threads"], INSTRUCTIONS),
    // A full pipe is a fault only where its work could be done by another one.
    names(
        "HighPipeUtilization",
        &["fp64 is the highest"],
        &["unexpected-fp64"],
        Acts::Units(&[Term::Fp64]),
    ),
    names(
        "HighPipeUtilization",
        &["xu is the highest"],
        &["slow-math-functions"],
        Acts::Units(&[Term::Xu]),
    ),
    names(
        "HighPipeUtilization",
        &["alu is the highest"],
        &["integer-arithmetic-bound"],
        Acts::Units(&[Term::Alu]),
    ),
    no_fault(
        "HighPipeUtilization",
        &["under-utilized"],
        "math pipes that have little to do cost no time",
    ),
    no_fault("HighPipeUtilization", &[], "it names the busiest math pipe and no fault"),
    names(
        "SlowPipeLimiter",
        &[],
        &["math-pipe-throttle"],
        Acts::Waits(&[StallReason::MathPipeThrottle]),
    ),
    // Separate additions and multiplications, in either precision.
    names(
        "FPInstructions",
        &["fp64"],
        &["unfused-multiply-add"],
        Acts::Units(&[Term::Fp64, Term::Issue]),
    ),
    names("FPInstructions", &[], &["unfused-multiply-add"], Acts::Units(&[Term::Fma, Term::Issue])),
    names("SOLFPRoofline", &["fp64"], &["unexpected-fp64"], Acts::Units(&[Term::Fp64])),
    no_fault("SOLFPRoofline", &[], "it compares rates and names no fault"),
    // Misses of L2 that go over a link.
    names("MemoryApertureUsage", &["peer"], &["peer-memory-access"], Acts::Unknown),
    names("MemoryApertureUsage", &["system"], &["host-memory-access"], Acts::Unknown),
    // Bytes of a sector that nobody uses, by space. Local memory is laid out by thread: a partly used
    // sector there means that there is local traffic at all.
    names(
        "MemoryCacheAccessPattern",
        &["for local"],
        &["register-spilling", "local-memory-array"],
        MEMORY,
    ),
    names("MemoryCacheAccessPattern", &[], &["uncoalesced-global-access"], MEMORY),
    no_fault(
        "MemoryL2Compression",
        &[],
        "compression of L2 is asked for when memory is allocated and is no fault of the kernel",
    ),
    names("SharedMemoryConflicts", &[], &["shared-bank-conflicts"], SHARED),
    names("UncoalescedGlobalAccess", &[], &["uncoalesced-global-access"], MEMORY),
    names("UncoalescedSharedAccess", &[], &["shared-bank-conflicts"], SHARED),
    names(
        "LocalMemoryUsage",
        &[],
        &["register-spilling", "local-memory-array"],
        Acts::Units(&[Term::L1Data, Term::Lsu, Term::L2, Term::L2Requests, Term::Issue]),
    ),
    // Slices of L2 and memory channels are the addresses' doing, not that of blocks or SMs.
    no_fault(
        "WorkloadImbalance",
        &["l2 slices"],
        "which slices of L2 are busy follows from the addresses; adoprof has no rule for that",
    ),
    no_fault(
        "WorkloadImbalance",
        &["dram"],
        "which memory channels are busy follows from the addresses; adoprof has no rule for that",
    ),
    names("WorkloadImbalance", &[], &["workload-imbalance"], Acts::Idle),
    names(
        "TileAnalysis",
        &["tensor core"],
        &["tensor-cores-unused"],
        Acts::Units(&[Term::Fma, Term::Issue]),
    ),
    no_fault("TileAnalysis", &[], "it speaks of the mapping of tiles, which plain kernels lack"),
];

/// What a message of ncu's means; `None` for a rule that this table does not know.
#[must_use]
pub fn meaning(rule: &str, message: &str) -> Option<&'static Entry> {
    let message = message.to_lowercase();
    TABLE
        .iter()
        .find(|entry| entry.rule == rule && entry.says.iter().all(|words| message.contains(words)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ladder::rule_names::RULE_NAMES;

    #[test]
    fn every_fault_has_a_name_of_the_contract() {
        for entry in TABLE {
            for fault in entry.faults {
                assert!(RULE_NAMES.contains(fault), "{}: {fault}", entry.rule);
            }
            assert_eq!(entry.faults.is_empty(), !entry.why_none.is_empty(), "{}", entry.rule);
        }
    }

    #[test]
    fn no_entry_hides_behind_an_earlier_one() {
        for (place, entry) in TABLE.iter().enumerate() {
            let hidden = TABLE[..place].iter().find(|earlier| {
                earlier.rule == entry.rule
                    && earlier.says.iter().all(|words| entry.says.contains(words))
            });
            assert_eq!(hidden, None, "{} {:?}", entry.rule, entry.says);
        }
    }

    #[test]
    fn words_are_in_lower_case() {
        let words: BTreeSet<&str> = TABLE.iter().flat_map(|entry| entry.says).copied().collect();
        assert!(words.iter().all(|words| *words == words.to_lowercase()));
    }

    #[test]
    fn one_rule_means_different_faults_by_its_words() {
        let faults = |rule, message| meaning(rule, message).map(|entry| entry.faults);
        let occupancy = "is limited by the number of required registers.";
        assert_eq!(
            faults("TheoreticalOccupancy", occupancy),
            Some(&["occupancy-limited-by-registers"][..])
        );
        let mio = "a scoreboard dependency on a MIO operation (not to L1TEX)";
        assert_eq!(faults("CPIStall", mio), Some(&["short-scoreboard-stalls"][..]));
        let tex = "a scoreboard dependency on a L1TEX (local, global) operation";
        assert_eq!(faults("CPIStall", tex), Some(&["long-scoreboard-stalls"][..]));
        let slices = "One or more L2 Slices have a much higher number of active cycles";
        assert_eq!(faults("WorkloadImbalance", slices), Some(&[][..]));
        let sms = "One or more SMs have a much higher number of active cycles";
        assert_eq!(faults("WorkloadImbalance", sms), Some(&["workload-imbalance"][..]));
        assert_eq!(faults("ARuleOfTheFuture", ""), None);
    }
}
