//! The names that a manifest's `answers` can hold.

/// Names of faults that the program's public interface fixes. A manifest is checked against these
/// and against the registry, so a ladder does not break where a rule is left out of a build.
pub const RULE_NAMES: &[&str] = &[
    "grid-too-small",
    "partial-wave",
    "block-size-not-warp-multiple",
    "occupancy-limited-by-registers",
    "occupancy-limited-by-shared-memory",
    "occupancy-limited-by-block-size",
    "achieved-occupancy-below-theoretical",
    "workload-imbalance",
    "uncoalesced-global-access",
    "narrow-global-access",
    "low-memory-parallelism",
    "missing-data-reuse",
    "shared-bank-conflicts",
    "shared-memory-pressure",
    "register-spilling",
    "local-memory-array",
    "global-atomic-contention",
    "shared-atomic-contention",
    "host-memory-access",
    "peer-memory-access",
    "constant-cache-divergence",
    "thread-divergence",
    "idle-threads",
    "unexpected-fp64",
    "slow-math-functions",
    "integer-arithmetic-bound",
    "unfused-multiply-add",
    "unpacked-half-precision",
    "tensor-cores-unused",
    "instruction-overhead",
    "low-instruction-parallelism",
    "barrier-stalls",
    "memory-fence-stalls",
    "lg-throttle",
    "mio-throttle",
    "tex-throttle",
    "long-scoreboard-stalls",
    "short-scoreboard-stalls",
    "fixed-latency-stalls",
    "math-pipe-throttle",
    "instruction-cache-misses",
    "constant-cache-misses",
    "store-drain-stalls",
    "issue-slots-underused",
    "launch-overhead-bound",
    "at-memory-roof",
    "at-compute-roof",
];

/// True for the name of a fault: a fixed one, or one of a rule in this build.
#[must_use]
pub fn known_rule(name: &str) -> bool {
    RULE_NAMES.contains(&name) || crate::rules::find(name).is_some()
}
