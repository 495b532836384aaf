//! Launches that took another time under the profiler than without it.

use crate::document::program::is_another_run;
use crate::document::{Document, LaunchReport, Program, ProgramGroup};
use crate::kernel_name::short;
use crate::text::duration;

/// Below this the launch's own cost makes the difference, ns.
const SHORT_NS: f64 = 10_000.0;
/// What an empty launch takes longer by ncu's counter than by CUPTI's record, at most, ns: 1.2 µs in a launch of 2.1 µs
/// on an H200, and as much again.
const OF_THE_LAUNCH_NS: f64 = 2_400.0;

/// The most kernels that a notice names.
const MOST_NAMED: usize = 3;

/// The most columns that a kernel's name takes.
const LONGEST_NAME: usize = 40;

/// What to know where launches took another time under the profiler than without.
pub(super) fn notices(document: &Document) -> Vec<String> {
    match &document.program {
        Some(program) => of_program(program, &document.launches),
        None => of_step(document).into_iter().collect(),
    }
}

fn of_step(document: &Document) -> Option<String> {
    let [launch] = document.launches.as_slice() else { return None };
    // A program's time is that of all its launches.
    let step = document.step.as_ref().filter(|step| step.program.is_none())?;
    let (profiled, alone) = (launch.duration_ns?, step.time_ns.median);
    (is_another_run(profiled, alone) && alone.max(profiled) >= SHORT_NS).then(|| {
        format!(
            "the kernel took {} under the profiler and {} without it (idle links and clocks, other \
             work on the device); the findings and their estimates describe the profiled run",
            duration(profiled),
            duration(alone)
        )
    })
}

/// Of a program the survey has the time of each launch without the profiler.
fn of_program(program: &Program, launches: &[LaunchReport]) -> Vec<String> {
    let pair = |group: &ProgramGroup| {
        let profiled = launches.get(group.launch?)?.duration_ns?;
        let alone = group.median_ns;
        let counts = is_another_run(profiled, alone) && (profiled - alone).abs() > OF_THE_LAUNCH_NS;
        counts.then(|| (short(&group.kernel, LONGEST_NAME), profiled, alone))
    };
    let (longer, shorter): (Vec<_>, Vec<_>) =
        program.groups.iter().filter_map(pair).partition(|(_, profiled, alone)| profiled > alone);
    let times = |found: &[(String, f64, f64)]| {
        let each = found.iter().map(|(kernel, profiled, alone)| {
            format!(
                "{kernel} takes {} in the program and {} under ncu",
                duration(*alone),
                duration(*profiled)
            )
        });
        let more = match found.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" (and {more} more kernels likewise)"),
        };
        each.take(MOST_NAMED).collect::<Vec<_>>().join(", ") + &more
    };
    let mut notices = Vec::new();
    if !longer.is_empty() {
        notices.push(format!(
            "{}, which empties the caches before each pass, while in the program earlier work left its data there. The \
             findings describe the run with empty caches; --ncu-args '--cache-control none' profiles it as it runs",
            times(&longer)
        ));
    }
    if !shorter.is_empty() {
        notices.push(format!(
            "{}, which runs it alone with its data in place. What takes the rest of the time in the program, such as managed \
             memory on its way or other work on the device, is in no counter, and the findings do not know of it",
            times(&shorter)
        ));
    }
    notices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::Ladder;
    use crate::profile::Profile;
    use crate::report::samples;

    #[test]
    fn a_profiled_run_unlike_the_timed_one_is_told() {
        let notice = |name: &str| {
            let ladder = Ladder::open("fault-nowcast-blend").unwrap();
            let step = ladder.step(name).unwrap();
            let size = ladder.size(step, &crate::ladder::Overrides::new()).unwrap();
            let saved = crate::store::recording(ladder.name(), name, &size).unwrap().unwrap();
            let profile = Profile::from_saved(name.to_owned(), saved, None).unwrap();
            profile
                .diagnose(None)
                .unwrap()
                .notices
                .into_iter()
                .find(|text| text.contains("profiled run"))
        };
        // 349 µs and 188 µs; 60 µs and 68 µs.
        assert!(notice("fault").is_some_and(|text| text.contains("349 µs under the profiler")));
        assert_eq!(notice("clean"), None);
    }

    #[test]
    fn launches_that_find_their_data_in_caches_are_told_from_those_that_wait_for_more() {
        let said = |profiled_ns: f64, in_program_ns: f64| {
            let group = ProgramGroup {
                kernel: "merge".to_owned(),
                median_ns: in_program_ns,
                launch: Some(0),
                ..ProgramGroup::default()
            };
            let program = Program { groups: vec![group], ..Program::default() };
            of_program(&program, &[samples::launch("merge", profiled_ns / 1e6, 1.0, Vec::new())])
                .join("")
        };
        assert_eq!(said(7_300.0, 4_900.0), "", "within 1.5");
        assert!(
            said(8_770.0, 4_900.0).contains("takes 4.90 µs in the program and 8.77 µs under ncu")
        );
        assert!(said(8_770.0, 4_900.0).contains("--cache-control none"));
        assert_eq!(said(3_300.0, 2_000.0), "", "an empty launch's");
        let waits = said(28.1e6, 1.06e9);
        assert!(waits.contains("managed memory") && !waits.contains("cache"), "{waits}");
    }
}
