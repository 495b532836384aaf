//! Hints in the words of the language that a kernel is written in.

use crate::evidence::language::{BEGIN, begun, is_of_triton};
use crate::finding::Finding;
use crate::frame::Launch;
use crate::rules;

/// Begins each hint for a kernel of Triton with what the change is there, unless the rule has done so.
pub(super) fn translate(launch: &Launch, findings: &mut [Finding]) {
    if !is_of_triton(launch) {
        return;
    }
    for finding in findings {
        let change = rules::find(&finding.rule).map_or("", |rule| rule.in_triton);
        if !change.is_empty() && !finding.hint.starts_with(BEGIN) {
            finding.hint = begun(change, &finding.hint);
        }
    }
}
