//! Launched warps that do nothing, as they are kept beside a launch.

/// Launched warps that do nothing, and what they execute.
#[derive(Debug, Clone, PartialEq)]
pub struct Bystanders {
    /// Their share of the launched warps, 0 to 1.
    pub share: f64,
    /// For each instruction the share of its executions that is theirs, 0 to 1.
    pub of_executions: Vec<f64>,
    /// The largest share of the other warps' lanes that is on at any of their accesses, 0 to 1.
    pub lanes: f64,
    /// The instruction that parts them from the others: where it was executed, most of them turned away.
    pub guard: Option<usize>,
    /// The first shuffle or store to shared memory in which they take part with a constant.
    pub exchange: Option<usize>,
}
