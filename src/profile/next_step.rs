//! Which step of a ladder takes the faults of a profile away.

use crate::document::Document;
use crate::finding::LEAST_GAIN;
use crate::ladder::Ladder;
use crate::store;
use crate::timing::StepInfo;

/// Findings past this rank are no reason to take a step.
const RANKS_ANSWERED: usize = 3;

/// Says which step of the ladder takes each fault away, and which one comes next. A ladder is climbed
/// in order: the next step is the nearest that answers one of the leading findings, even where a
/// later one answers the first of them.
pub fn find_next_step(document: &mut Document, ladder: &Ladder) {
    let Some(step) = document.step.as_ref().map(|step| step.name.clone()) else { return };
    let place = |name: &str| ladder.main_steps().position(|step| step.name() == name);
    let document_step = document.step.clone();
    let mut next: Option<(usize, String)> = None;
    for finding in document.launches.iter_mut().flat_map(|launch| &mut launch.findings) {
        finding.answered_by =
            ladder.next_for(&finding.rule, &step).map(|step| step.name().to_owned());
        let Some(answer) = &finding.answered_by else { continue };
        let gain = finding.estimated_speedup.map_or(1.0, |estimate| estimate.factor);
        let leads = finding.rank == 1 || finding.rank <= RANKS_ANSWERED && gain >= LEAST_GAIN;
        if let Some(at) = place(answer)
            && leads
            && !was_slower(document_step.as_ref(), answer)
            && next.as_ref().is_none_or(|(nearest, _)| at < *nearest)
        {
            next = Some((at, answer.clone()));
        }
    }
    document.next_step = next.map(|(_, name)| name);
}

/// True where both steps were recorded at this size on one device and the other one took longer, by more
/// than the recordings' own spread: what was measured outweighs what is promised.
fn was_slower(step: Option<&StepInfo>, other: &str) -> bool {
    let recorded = |name: &str| {
        let step = step?;
        let saved = store::recorded(&step.ladder, name, &step.size).ok()??;
        Some((saved.environment.device, saved.step?.time_ns))
    };
    let both = step.and_then(|step| recorded(&step.name)).zip(recorded(other));
    both.is_some_and(|(own, other)| own.0 == other.0 && other.1.low > own.1.high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_as_slower_is_not_next() {
        let size = store::recorded_sizes("reduce", "r-pairs").unwrap().remove(0);
        let step = store::recorded("reduce", "r-pairs", &size).unwrap().unwrap().step;
        // 24 short launches were faster than r0's few long ones, and slower than what became of these.
        assert!(was_slower(step.as_ref(), "r0"));
        assert!(!was_slower(step.as_ref(), "r6"));
        assert!(!was_slower(step.as_ref(), "no-such-step"), "nothing is known of it");
        assert!(!was_slower(None, "r0"));
    }
}
