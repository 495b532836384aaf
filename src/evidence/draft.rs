//! A finding before it is ranked.

use crate::finding::{Evidence, Location};
use crate::model::Effect;

/// What a rule found, before the gain is worked out and the findings are ranked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// What was seen, in numbers, and why it matters.
    pub message: String,
    /// The metrics behind the message.
    pub evidence: Vec<Evidence>,
    /// The lines that cause it, largest share first.
    pub locations: Vec<Location>,
    /// What to change, for this kernel.
    pub hint: String,
    /// What taking the fault away does to the model's terms.
    pub effect: Effect,
}
