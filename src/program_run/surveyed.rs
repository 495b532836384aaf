//! The launches of a step's program, as a survey records them.

use super::output::regex;
use super::{command, failed};
use crate::document::{Program, SurveyedProgram};
use crate::error::{Error, Result};
use crate::kernel_name;
use crate::ncu::{Invocations, Limits};
use crate::plan::ProgramPlan;
use crate::survey::choose::{Extent, choose, covered_of};
use crate::survey::group::{Group, groups};
use crate::survey::waits::waiting;
use crate::survey::{self, Survey};
use crate::text::{count_of, percent, printable};

/// How much of the step's time is explained: the same as of a program's.
const EXTENT: Extent = Extent { coverage: 0.9, top: 10 };

/// Names of kernels in a message at most.
const MOST_NAMES: usize = 8;
/// Columns of such a name.
const LONGEST_NAME: usize = 60;

/// The launches that count.
pub(crate) struct Launches {
    /// Their time together, ns.
    pub total_ns: f64,
    /// The device that they ran on and its compute capability, where known.
    pub device: Option<(String, [u32; 2])>,
    /// Which of them to profile.
    pub invocations: Invocations,
    /// What a saved profile keeps of them.
    pub surveyed: SurveyedProgram,
    /// How many there are and how many of them are profiled, in a sentence.
    pub extent: String,
}

/// Why there are no launches.
pub(super) enum Missing {
    /// The program launched some, but none that counts.
    NoMatch(String),
    /// Nothing could be recorded.
    NoSurvey(String),
}

/// What a survey of a step's program came to.
pub(super) struct Found {
    /// The end of what the program printed.
    pub output: String,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
    /// Its launches that count.
    pub launches: std::result::Result<Launches, Missing>,
}

/// Runs the program under the survey.
///
/// # Errors
/// [`Error::Kernel`] where it ends badly, and those of [`survey::run::run`].
pub(super) fn run(plan: &ProgramPlan, limits: Limits) -> Result<Found> {
    let (program, args) = command::resolved(plan, &plan.run)?;
    let program = survey::run::Program {
        program: &program,
        args: &args,
        folder: Some(&plan.folder),
        env: Vec::new(),
    };
    let surveyed = survey::run::run(&program, limits)?;
    if surveyed.ended_badly {
        let how = surveyed.survey.notices.last().cloned().unwrap_or_default();
        let problem = format!("the program failed: {how}");
        return Err(failed(plan, &problem, &surveyed.output));
    }
    let launches = match surveyed.failure {
        Some(why) => Err(Missing::NoSurvey(why)),
        None => of_survey(plan, &surveyed.survey)?,
    };
    Ok(Found { output: surveyed.output, notices: surveyed.survey.notices, launches })
}

/// What to fail with where the time needs a survey and there is none.
pub(super) fn no_time(plan: &ProgramPlan, why: &Missing) -> Error {
    match why {
        Missing::NoMatch(problem) => Error::Usage(problem.clone()),
        Missing::NoSurvey(why) => Error::Environment(format!(
            "{}/{} can't be timed by a survey: {why}; fix that, or let the program print its time and add \
             `time` to the manifest",
            plan.ladder, plan.step
        )),
    }
}

/// The launches of a survey that count, or why none does.
fn of_survey(
    plan: &ProgramPlan,
    survey: &Survey,
) -> Result<std::result::Result<Launches, Missing>> {
    let all = groups(survey);
    let mut counted = all.clone();
    if let Some(expression) = &plan.kernels {
        let expression = regex(expression)?;
        counted.retain(|group| {
            let name = kernel_name::demangled(&group.shape.kernel);
            expression.is_match(&kernel_name::base(&name)) || expression.is_match(&name)
        });
    }
    if counted.is_empty() {
        return Ok(Err(Missing::NoMatch(no_match(plan, &all))));
    }
    let total_ns: f64 = counted.iter().map(|group| group.total_ns).sum();
    for group in &mut counted {
        group.share = group.total_ns / total_ns.max(1.0);
    }
    // ncu would wait for ever with a kernel that waits for other ranks: it counts, and is not profiled.
    let waiting = waiting(survey, &counted);
    let may_be = |group: &Group| !waiting.contains_key(&group.shape.kernel);
    let choice = choose(survey, &counted, &covered_of(&counted, EXTENT, may_be));
    let share: f64 = choice.groups.iter().map(|&group| counted[group].share).sum();
    let launches: usize = counted.iter().map(|group| group.launches.len()).sum();
    let extent = format!(
        "{} of {} count, and {} of {} stand for {} of their time",
        count_of(launches as f64, "launch"),
        count_of(counted.len() as f64, "kind"),
        count_of(choice.launches.len() as f64, "profiled launch"),
        count_of(choice.groups.len() as f64, "kind"),
        percent(share)
    );
    let mut program = Program::new(plan.run.text(), survey, &counted);
    // What lies around the launches is no part of the step's time.
    program.findings.clear();
    program.lanes.clear();
    let invocations =
        Invocations { kernels: choice.kernels, are_demangled: false, numbers: choice.numbers };
    let chosen = choice.launches.iter().map(|chosen| chosen.group).collect();
    let surveyed = SurveyedProgram { program, chosen, ..SurveyedProgram::default() };
    Ok(Ok(Launches { total_ns, device: device(survey, &counted), invocations, surveyed, extent }))
}

/// The device of the group that takes most time.
fn device(survey: &Survey, groups: &[Group]) -> Option<(String, [u32; 2])> {
    let launch = groups.first()?.launches.first()?;
    let process = survey.processes.get(launch.process as usize)?;
    let kernel = process.kernels.get(launch.index as usize)?;
    let device = process.devices.get(&kernel.place.device)?;
    Some((device.name.clone(), device.capability))
}

fn no_match(plan: &ProgramPlan, all: &[Group]) -> String {
    format!(
        "{}/{}: no kernel's name matches `match`, `{}`; the program launches {}",
        plan.ladder,
        plan.step,
        printable(plan.kernels.as_deref().unwrap_or_default()),
        listed(all.iter().map(|group| group.shape.kernel.as_str()))
    )
}

/// The first names of kernels, each once and short, and how many others there are.
fn listed<'a>(kernels: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = Vec::new();
    for kernel in kernels {
        let name = kernel_name::short(kernel, LONGEST_NAME);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_names_are_listed_and_the_others_counted() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "a", "i"];
        assert_eq!(listed(names[..9].iter().copied()), "a, b, c, d, e, f, g, h");
        assert_eq!(listed(names.into_iter()), "a, b, c, d, e, f, g, h and 1 more");
    }

    #[test]
    fn a_name_takes_sixty_columns_at_most() {
        let (whole, long) = ("k".repeat(60), "k".repeat(61));
        assert_eq!(listed([whole.as_str()].into_iter()), whole);
        assert_eq!(listed([long.as_str()].into_iter()), "k".repeat(59) + "…");
    }
}
