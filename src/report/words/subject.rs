//! What was run, where, how well and how fast, whatever the form.

use crate::document::Document;
use crate::kernel_name;
use crate::text::{count_of, duration, percent, significant};
use crate::timing::{CheckedBy, StepInfo};

/// The most columns that a kernel's name takes in a sentence.
const LONGEST_NAME: usize = 80;

/// The device of the first launch that knows its own.
pub(crate) fn device(document: &Document) -> Option<&str> {
    document.launches.iter().find_map(|launch| launch.device.as_deref())
}

/// What the document is about, in a few words: the step, the kernel, or how many launches.
pub(crate) fn subject(document: &Document) -> String {
    if let Some(program) = &document.program {
        return crate::text::printable(&program.command);
    }
    match (&document.step, document.launches.as_slice()) {
        (Some(step), _) => format!("{}/{}", step.ladder, step.name),
        (None, [launch]) => kernel_name::short(&launch.kernel, LONGEST_NAME),
        (None, launches) => {
            let total: f64 = launches.iter().filter_map(|launch| launch.duration_ns).sum();
            let launches = count_of(launches.len() as f64, "launch");
            if total > 0.0 {
                format!("{launches}, {} under the profiler", duration(total))
            } else {
                launches
            }
        }
    }
}

/// The sentence that opens the report of a recording.
pub(crate) fn recorded(document: &Document) -> Option<String> {
    let date = document.step.as_ref()?.recorded.as_deref()?;
    let place = device(document).map(|device| format!(" on {device}")).unwrap_or_default();
    Some(format!("recorded {date}{place}, not run here"))
}

/// Whether the document's step gave the right answer.
pub(crate) fn answer(document: &Document, step: &StepInfo) -> String {
    if document.is_reference() {
        return "taken as correct: the other steps are checked against it".to_owned();
    }
    match step.program.as_ref().map(|program| program.checked_by) {
        Some(Some(CheckedBy::Output)) => return "verified against its output".to_owned(),
        Some(Some(CheckedBy::Command)) => return "verified by its own check".to_owned(),
        _ => {}
    }
    match (step.verified, step.max_error == 0.0) {
        (true, true) => "verified, no difference from the reference".to_owned(),
        (true, false) => {
            format!("verified, largest difference from the reference {:.1e}", step.max_error)
        }
        (false, _) => "not verified".to_owned(),
    }
}

/// The figure of merit and its share of what the device can copy; `None` where its unit does not say what is counted.
pub(crate) fn rate(step: &StepInfo) -> Option<String> {
    let rate = step.rate.as_ref().filter(|rate| names_something(&rate.unit))?;
    let mut text = format!("{} {}", significant(rate.value, 3), rate.unit);
    // Only a rate of bytes is a share of a rate of bytes.
    if let Some(copy) = step.copy_bytes_per_s
        && rate.unit == "GB/s"
        && copy > 0.0
    {
        let share = percent(rate.value * 1e9 / copy);
        let copy = significant(copy / 1e9, 3);
        text = format!("{text}, {share} of the device's copy rate of {copy} {}", rate.unit);
    }
    Some(text)
}

/// False for a unit that is only a prefix: `G/s`.
fn names_something(unit: &str) -> bool {
    let counted = unit.strip_suffix("/s").map(str::trim_end);
    counted.is_none_or(|counted| !matches!(counted, "" | "k" | "K" | "M" | "G" | "T" | "P"))
}

/// The library's routine and how much of its rate the step reaches.
pub(crate) fn library(step: &StepInfo) -> Option<String> {
    let library = step.library.as_ref()?;
    let mut text = format!("{} {}", library.name, duration(library.ns));
    if step.time_ns.median > 0.0 {
        let share = percent(library.ns / step.time_ns.median);
        text = format!("{text}, this step reaches {share} of its rate");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;
    use crate::timing::Rate;

    #[test]
    fn a_rate_of_nothing_in_particular_is_left_out() {
        let mut step = samples::recorded_step().step.unwrap();
        let mut of = |unit: &str| {
            step.rate = Some(Rate { value: 374.0, unit: unit.to_owned() });
            rate(&step)
        };
        assert!(of("Gstep/s").unwrap().starts_with("374 Gstep/s"));
        assert_eq!((of("G/s"), of("M/s")), (None, None));
        assert!(of("GB/s").is_some() && of("B/s").is_some() && of("frames").is_some());
    }
}
