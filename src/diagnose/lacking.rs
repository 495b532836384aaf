//! What a profile lacks of the metrics that its diagnosis reads.

use crate::frame::{Launch, Reads};
use crate::model;
use crate::rules::{RULES, Rule, SourcePage};

/// A metric that a launch lacks although it may be judged by it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Lacking {
    metric: &'static str,
    /// Who would have read it: the time model, or rules by name.
    readers: Vec<&'static str>,
}

/// How the sentence calls the model.
const MODEL: &str = "the time model";

/// How many metrics the sentence names.
const MOST_NAMED: usize = 4;

/// The metrics that launches lack, without which the model and the rules judge less sharply. Rules that can't be
/// checked at all are not meant: they stand under `skipped`, and so does nearly all of a profile by which less
/// than half of the rules can be checked.
#[derive(Debug, Default)]
pub(super) struct Lacks {
    all: Vec<Lacking>,
}

impl Lacks {
    /// Adds what a launch lacks.
    pub(super) fn note(&mut self, launch: &Launch) {
        for (metric, reader) in lacking(launch) {
            let known = self.all.iter().position(|one| one.metric == metric);
            let at = known.unwrap_or_else(|| {
                self.all.push(Lacking { metric, readers: Vec::new() });
                self.all.len() - 1
            });
            if !self.all[at].readers.contains(&reader) {
                self.all[at].readers.push(reader);
            }
        }
    }

    /// What a user should know, in one sentence; `None` where nothing is lacking.
    pub(super) fn remark(mut self) -> Option<String> {
        // What most depends on is named first.
        let weight = |one: &Lacking| (one.readers.contains(&MODEL), one.readers.len());
        self.all.sort_by_key(|one| std::cmp::Reverse(weight(one)));
        let named: Vec<String> = self.all.iter().take(MOST_NAMED).map(Lacking::words).collect();
        let rest = self.all.len().saturating_sub(MOST_NAMED);
        let rest = if rest > 0 { format!("; and {rest} more") } else { String::new() };
        (!named.is_empty()).then(|| {
            format!(
                "the profile lacks metrics that findings and their ranking need, so a fault may be missed or its \
                 gain may be wrong: {}{rest}",
                named.join("; "),
            )
        })
    }
}

/// The remark on these launches alone.
#[cfg(test)]
pub(crate) fn lacking_remark<'a>(launches: impl IntoIterator<Item = &'a Launch>) -> Option<String> {
    let mut lacks = Lacks::default();
    launches.into_iter().filter(|launch| !is_thin(launch)).for_each(|launch| lacks.note(launch));
    lacks.remark()
}

impl Lacking {
    fn words(&self) -> String {
        match self.readers.as_slice() {
            [] => self.metric.to_owned(),
            [first] => format!("{} ({first})", self.metric),
            [first, rest @ ..] => format!("{} ({first} and {} more)", self.metric, rest.len()),
        }
    }
}

/// True where most rules can't be checked, those that ask the machine code left out where there is none.
pub(super) fn is_thin(launch: &Launch) -> bool {
    let asks_code =
        |rule: &Rule| matches!(rule.source_page, SourcePage::Needed) && !launch.has_source();
    let rules = || RULES.iter().filter(|rule| !asks_code(rule));
    let checked = rules().filter(|rule| rule.missing(launch).is_empty());
    2 * checked.count() < rules().count()
}

/// The metrics that a launch lacks, each with who reads it.
fn lacking(launch: &Launch) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_model = missing(model::reads(), launch, MODEL);
    let checked = RULES.iter().filter(|rule| rule.missing(launch).is_empty());
    let of_rules =
        checked.flat_map(|rule| missing(rule.sharpened_by.iter().copied(), launch, rule.name));
    of_model.chain(of_rules)
}

fn missing(
    reads: impl IntoIterator<Item = Reads>,
    launch: &Launch,
    reader: &'static str,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    reads.into_iter().flat_map(|reads| reads.missing(launch)).map(move |metric| (metric, reader))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launch that has all that the model and the rules can read.
    fn whole() -> Launch {
        let mut launch = Launch::default();
        launch.row.compute_capability = Some((9, 0));
        for metric in crate::metric::CATALOGUE {
            launch.set(metric.name, Some(1.0));
        }
        // Half of the sectors are excess.
        launch.set("memory_l2_theoretical_sectors_global", Some(2.0));
        launch
    }

    #[test]
    fn a_whole_profile_needs_no_remark() {
        assert_eq!(lacking_remark([&whole()]), None);
        assert_eq!(lacking_remark([]), None);
    }

    #[test]
    fn what_one_launch_lacks_is_named_with_its_readers() {
        let mut launch = whole();
        launch.set("dram__bytes_write.sum", None);
        let remark = lacking_remark([&whole(), &launch]).unwrap();
        assert!(
            remark.ends_with(": dram__bytes_write.sum (the time model and 6 more)"),
            "{remark}"
        );
    }

    #[test]
    fn a_profile_with_hardly_anything_says_so_elsewhere() {
        let mut launch = Launch::default();
        launch.set("gpu__time_duration.sum", Some(1e6));
        assert_eq!(lacking_remark([&launch]), None);
    }

    #[test]
    fn of_many_the_models_come_first() {
        let mut launch = whole();
        for name in [
            "lts__t_sectors_srcunit_tex_op_red.sum",
            "lts__t_requests_srcunit_tex.sum",
            "lts__t_sectors_srcunit_tex_lookup_miss.sum",
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
            "sm__cycles_active.avg",
        ] {
            launch.set(name, None);
        }
        let remark = lacking_remark([&launch]).unwrap();
        assert!(remark.contains(": sm__cycles_active.avg (the time model"), "{remark}");
        assert!(remark.ends_with("; and 1 more"), "{remark}");
    }

    #[test]
    fn rules_that_are_skipped_need_no_second_word() {
        let mut launch = whole();
        launch.set("smsp__inst_executed.sum", None);
        launch.set("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", None);
        // Of register-spilling, which lacks the executed instructions altogether.
        assert_eq!(lacking_remark([&launch]).filter(|remark| remark.contains("local_op_ld")), None);
    }
}
