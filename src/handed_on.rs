//! Memory that one kernel hands on to the next on its stream, as a survey saw it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a launch and one beside it on its stream are both given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandedOn {
    /// The other launch's kernel, its name in C++.
    pub kernel: String,
    /// Where the pointers to it stand among the bytes of this launch's parameters.
    pub offsets: Vec<u32>,
    /// How much memory that is, bytes.
    pub bytes: u64,
}

/// What the launches before and after a launch have to do with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// What the launch before it may have written to memory that this one is given as well.
    pub before: Option<HandedOn>,
    /// What this one may write, and the launch after it, but no later one, is given.
    pub after: Option<HandedOn>,
}
