//! What each message of ncu's rules means: the faults of the rules that know it, or none.

use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Kind, RULES, Rule};

/// What a message of ncu's means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Meaning {
    /// A fault, or one of several.
    Faults {
        /// The rules that look for them: the symptom that the message names before the causes that its
        /// text offers.
        names: Vec<&'static str>,
        /// What its promise would act on.
        acts: Acts,
    },
    /// No fault that could be taken away, with the reason.
    None(&'static str),
}

impl Meaning {
    /// The faults that it names.
    #[must_use]
    pub(crate) fn faults(&self) -> &[&'static str] {
        match self {
            Self::Faults { names, .. } => names,
            Self::None(_) => &[],
        }
    }
}

/// What a message of ncu's means; `None` for a rule of ncu's that adoprof does not know.
#[must_use]
pub(crate) fn meaning(rule: &str, message: &str) -> Option<Meaning> {
    let message = message.to_lowercase();
    let means = |ours: &&'static Rule| -> Option<(&'static Rule, &'static SaidByNcu)> {
        ours.said_by_ncu.iter().find(|said| said.is(rule, &message)).map(|said| (*ours, said))
    };
    let mut found: Vec<_> = RULES.iter().filter_map(means).collect();
    found.sort_by_key(|(ours, _)| ours.kind != Kind::Symptom);
    if let Some((_, first)) = found.first() {
        let names = found.iter().map(|(ours, _)| ours.name).collect();
        return Some(Meaning::Faults { names, acts: first.acts });
    }
    NO_FAULT
        .iter()
        .find(|none| none.rule == rule && none.words.iter().all(|words| message.contains(words)))
        .map(|none| Meaning::None(none.why))
}

/// A message of ncu's that names no fault which could be taken away.
struct NoFault {
    /// ncu's identifier of the rule.
    rule: &'static str,
    /// Words of the message, all of which it has, in lower case.
    words: &'static [&'static str],
    /// Why that is no fault.
    why: &'static str,
}

/// All of them; the first whose words fit counts.
const NO_FAULT: &[NoFault] = &[
    NoFault {
        rule: "SOLBottleneck",
        words: &[],
        why: "it says which section to read, not what to change",
    },
    NoFault {
        rule: "CPIStall",
        words: &["micro scheduler to select"],
        why: "a warp that waits for its turn costs no time, since another one issues meanwhile",
    },
    NoFault {
        rule: "CPIStall",
        words: &[],
        why: "it names a stall but not what the warps wait for",
    },
    NoFault {
        rule: "HighPipeUtilization",
        words: &["under-utilized"],
        why: "math pipes that have little to do cost no time",
    },
    NoFault {
        rule: "HighPipeUtilization",
        words: &[],
        why: "it names the busiest math pipe, which is not a fault",
    },
    NoFault { rule: "SOLFPRoofline", words: &[], why: "it compares rates but names no fault" },
    NoFault {
        rule: "MemoryL2Compression",
        words: &[],
        why: "compression of L2 is requested when memory is allocated and is not a fault of the kernel",
    },
    NoFault {
        rule: "WorkloadImbalance",
        words: &["l2 slices"],
        why: "which slices of L2 are busy follows from the addresses; adoprof has no rule for that",
    },
    NoFault {
        rule: "WorkloadImbalance",
        words: &["dram"],
        why: "which memory channels are busy follows from the addresses; adoprof has no rule for that",
    },
    NoFault {
        rule: "TileAnalysis",
        words: &[],
        why: "it is about the mapping of tiles, which plain kernels do not use",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_lower_case() {
        let said = RULES.iter().flat_map(|rule| rule.said_by_ncu);
        let words = said.flat_map(|said| said.words.iter().chain(said.unless));
        let words = words.chain(NO_FAULT.iter().flat_map(|none| none.words));
        for words in words {
            assert_eq!(*words, words.to_lowercase());
        }
    }

    #[test]
    fn rules_that_share_a_message_agree_on_what_it_acts_on() {
        for ours in RULES {
            for said in ours.said_by_ncu {
                for other in RULES.iter().flat_map(|rule| rule.said_by_ncu) {
                    if (other.rule, other.words, other.unless)
                        == (said.rule, said.words, said.unless)
                    {
                        assert_eq!(other.acts, said.acts, "{}", ours.name);
                    }
                }
            }
        }
    }

    fn faults(rule: &str, message: &str) -> Option<Vec<&'static str>> {
        meaning(rule, message).map(|meaning| meaning.faults().to_vec())
    }

    #[test]
    fn one_rule_means_different_faults_by_its_words() {
        let occupancy = "is limited by the number of required registers.";
        assert_eq!(
            faults("TheoreticalOccupancy", occupancy).unwrap(),
            ["occupancy-limited-by-registers"]
        );
        let mio = "a scoreboard dependency on a MIO operation (not to L1TEX)";
        assert_eq!(faults("CPIStall", mio).unwrap(), ["short-scoreboard-stalls"]);
        let tex = "a scoreboard dependency on a L1TEX (local, global) operation";
        assert_eq!(faults("CPIStall", tex).unwrap(), ["long-scoreboard-stalls"]);
        let slices = "One or more L2 Slices have a much higher number of active cycles";
        assert_eq!(faults("WorkloadImbalance", slices), Some(Vec::new()));
        let sms = "One or more SMs have a much higher number of active cycles";
        assert_eq!(faults("WorkloadImbalance", sms).unwrap(), ["workload-imbalance"]);
        assert_eq!(faults("ARuleOfTheFuture", ""), None);
    }

    #[test]
    fn a_message_names_the_symptom_before_its_causes_and_every_resource_that_is_short() {
        assert_eq!(
            faults("CPIStall", "waiting on a fixed latency execution dependency").unwrap(),
            ["fixed-latency-stalls", "low-instruction-parallelism"]
        );
        let both = "limited by the number of required registers, and the required amount of shared \
                    memory of a block";
        assert_eq!(
            faults("TheoreticalOccupancy", both).unwrap(),
            ["occupancy-limited-by-registers", "occupancy-limited-by-shared-memory"]
        );
        let blocks = "limited by the number of blocks that can fit on the SM, and the required amount of \
                      shared memory.";
        assert_eq!(
            faults("TheoreticalOccupancy", blocks).unwrap(),
            ["occupancy-limited-by-shared-memory", "occupancy-limited-by-block-size"]
        );
        let warps = "limited by the number of required registers, and the number of warps within each block.";
        assert_eq!(
            faults("TheoreticalOccupancy", warps).unwrap(),
            ["occupancy-limited-by-registers", "occupancy-limited-by-block-size"]
        );
    }
}
