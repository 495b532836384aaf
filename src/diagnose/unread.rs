//! Launches whose machine code is not there or can't be read: rules that look at it stay silent, and what
//! they would have said is unknown.

use crate::export::SourceRow;
use crate::finding::Estimate;
use crate::frame::Launch;
use crate::isa::UNKNOWN;

use super::thresholds::{UNREAD_CODE, UNREAD_RANGE};

/// What mends it, where the profile was collected with source counters and where it was not.
const REMEDY: &str = "give adoprof the .ncu-rep itself, or ncu's source page beside its raw page (`ncu \
    --import REPORT --csv --page source --print-source cuda,sass > NAME.source.csv`); where that page \
    has no instructions, collect again with `--section SourceCounters`";

/// True where so much of what a launch executed can't be read that a fault may hide in it.
#[must_use]
pub(super) fn is_unread(launch: &Launch) -> bool {
    unread_share(launch) >= UNREAD_CODE.value
}

/// True where there are instructions among the rows of a launch, and too many of them can't be read.
#[must_use]
pub fn has_unread_code(rows: &[SourceRow]) -> bool {
    let instructions = rows.iter().filter(|row| row.is_instruction());
    instructions.clone().next().is_some() && share_unread(&instructions) >= UNREAD_CODE.value
}

/// True where instructions are listed, but nothing counted how often they ran.
#[must_use]
pub(super) fn is_uncounted(launch: &Launch) -> bool {
    launch.mix().is_none_or(|mix| mix.total <= 0.0)
}

/// An estimate of which the instructions could tell more.
#[must_use]
pub(super) fn widened(estimate: Estimate) -> Estimate {
    let Estimate { factor, low, high } = estimate;
    // No fault makes its kernel faster.
    let low = (low / UNREAD_RANGE.value).max(low.min(1.0));
    Estimate { factor, low, high: high * UNREAD_RANGE.value }
}

fn unread_share(launch: &Launch) -> f64 {
    share_unread(&launch.instructions.iter())
}

/// The share of the executed instructions whose text is not there or of which only the opcode is known; 1
/// where none is listed. Where nothing counted them, each counts once.
fn share_unread<'a>(instructions: &(impl Iterator<Item = &'a SourceRow> + Clone)) -> f64 {
    let executed = |counted: bool| {
        let (mut all, mut unread) = (0.0, 0.0);
        for row in instructions.clone() {
            let count = if counted { row.counters.inst_executed } else { 1.0 };
            all += count;
            if count > 0.0 && (row.text.is_empty() || row.text.contains(UNKNOWN)) {
                unread += count;
            }
        }
        (all, unread)
    };
    let counted = executed(true);
    let (all, unread) = if counted.0 > 0.0 { counted } else { executed(false) };
    if all > 0.0 { unread / all } else { 1.0 }
}

/// How many launches there are, how many of them have no machine code or too little of it, and the largest share of
/// what one of these executed that can't be read. A profile by which less than half of the rules can be checked
/// says so elsewhere.
#[derive(Debug, Default)]
pub(super) struct Unread {
    all: usize,
    without: usize,
    share: f64,
    uncounted: usize,
}

impl Unread {
    /// Counts a launch.
    pub(super) fn note(&mut self, launch: &Launch) {
        self.all += 1;
        if is_unread(launch) {
            self.without += 1;
            self.share = self.share.max(unread_share(launch));
        } else if is_uncounted(launch) {
            self.uncounted += 1;
        }
    }

    /// Which of all launches so many are.
    fn of(&self, some: usize) -> String {
        match (some, self.all) {
            (1, 1) => "the kernel".to_owned(),
            (some, all) if some == all => format!("all {all} launches"),
            (some, all) => format!("{some} of {all} launches"),
        }
    }

    /// What a user should know where nothing counted how often instructions ran; `None` where all were counted.
    pub(super) fn uncounted_remark(&self) -> Option<String> {
        (self.uncounted > 0).then(|| {
            format!(
                "nothing counted the instructions of {}, so adoprof misses faults that only these counts show \
                 and calls nothing at its limit: collect again with `--section SourceCounters`",
                self.of(self.uncounted)
            )
        })
    }

    /// What a user should know first where machine code is missing, in one sentence; `None` where all have it.
    pub(super) fn remark(&self) -> Option<String> {
        if self.without == 0 {
            return None;
        }
        let of = self.of(self.without);
        let what = if self.share < 1.0 {
            let percent = 100.0 * self.share;
            format!(
                "adoprof can't read {percent:.0}% of the machine code that was executed in {of}"
            )
        } else if self.without == self.all && self.all > 1 {
            format!("the profile has no machine code (SASS) for any of its {} launches", self.all)
        } else {
            format!("the profile has no machine code (SASS) for {of}")
        };
        Some(format!(
            "{what}, so adoprof misses faults that only instructions show, calls nothing at its limit, and gives \
             wider ranges: {REMEDY}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::diagnose;
    use crate::diagnose::lacking::is_thin;
    use crate::export::{SourceCounters, SourceRow};

    fn unread_remark(launches: &[&Launch]) -> Option<String> {
        let mut counted = Unread::default();
        launches.iter().filter(|launch| !is_thin(launch)).for_each(|launch| counted.note(launch));
        counted.remark()
    }

    const BUSY: &str = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";
    const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";

    fn instruction(text: &str, executed: f64) -> SourceRow {
        SourceRow {
            address: Some(0),
            text: text.to_owned(),
            counters: SourceCounters { inst_executed: executed, ..SourceCounters::default() },
            ..SourceRow::default()
        }
    }

    /// A launch that fills a math pipe.
    fn full(instructions: Vec<SourceRow>) -> Launch {
        let mut launch = Launch::default();
        launch.instructions = instructions;
        for (name, value) in [("gpu__time_duration.sum", 1e6), (BUSY, 50.0), (FMA, 97.0)] {
            launch.set(name, Some(value));
        }
        launch
    }

    fn is_at_roof(launch: &Launch) -> bool {
        diagnose(launch).findings.first().is_some_and(|first| first.rule == "at-compute-roof")
    }

    #[test]
    fn a_launch_without_machine_code_is_at_no_roof() {
        assert!(is_at_roof(&full(vec![instruction("FFMA R0, R1, R2, R3", 1.0)])));
        assert!(!is_at_roof(&full(vec![instruction("", 1.0)])));
        assert!(!is_at_roof(&full(Vec::new())));
    }

    #[test]
    fn a_little_that_can_not_be_read_hides_no_fault() {
        // 5% of what is executed is the limit: 4 and 5 of 100.
        let with = |unread: f64| {
            full(vec![instruction("NOP", 100.0 - unread), instruction("@P0 UNKNOWN 0x1", unread)])
        };
        assert!(is_at_roof(&with(4.0)) && !is_at_roof(&with(5.0)));
        // Where nothing was counted, every instruction counts once.
        assert!(!is_unread(&full(vec![instruction("NOP", 0.0)])));
        assert!(is_unread(&full(vec![instruction("NOP", 0.0), instruction("", 0.0)])));
    }

    #[test]
    fn a_launch_whose_instructions_nothing_counted_is_at_no_roof_and_is_told_so() {
        let uncounted = full(vec![instruction("NOP", 0.0)]);
        assert!(!is_at_roof(&uncounted));
        let remark = |launches: &[&Launch]| {
            let mut counted = Unread::default();
            for launch in launches {
                counted.note(launch);
            }
            (counted.remark(), counted.uncounted_remark())
        };
        let read = full(vec![instruction("NOP", 1.0)]);
        assert_eq!(remark(&[&read]), (None, None));
        let (unread, said) = remark(&[&read, &uncounted]);
        assert_eq!(unread, None);
        let said = said.unwrap();
        assert!(said.starts_with("nothing counted the instructions of 1 of 2 launches,"), "{said}");
        assert!(said.contains("--section SourceCounters"), "{said}");
    }

    #[test]
    fn ranges_are_wider_on_both_sides() {
        let known = Estimate { factor: 2.0, low: 1.56, high: 3.0 };
        let wide = widened(known);
        assert!((wide.low - 1.2).abs() < 1e-9 && (wide.high - 3.9).abs() < 1e-9, "{wide:?}");
        assert!((widened(Estimate::NONE).low - 1.0).abs() < 1e-9);
    }

    #[test]
    fn estimates_without_machine_code_reach_further() {
        let high = |instructions| {
            let mut launch = full(instructions);
            for (name, value) in [
                (FMA, 20.0),
                ("smsp__issue_active.avg.pct_of_peak_sustained_active", 50.0),
                ("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 5.0),
                ("smsp__average_warp_latency_per_inst_issued.ratio", 10.0),
            ] {
                launch.set(name, Some(value));
            }
            let findings = diagnose(&launch).findings;
            let found = findings.into_iter().find(|finding| finding.rule == "barrier-stalls");
            found.unwrap().estimate.unwrap().high
        };
        let ratio = high(Vec::new()) / high(vec![instruction("NOP", 1.0)]);
        assert!((ratio - 1.3).abs() < 1e-9, "{ratio}");
    }

    #[test]
    fn the_remark_says_how_much_is_missing_and_what_mends_it() {
        let whole = |instructions| {
            let mut launch = full(instructions);
            for metric in crate::metric::CATALOGUE {
                launch.set(metric.name, Some(1.0));
            }
            launch
        };
        let read = whole(vec![instruction("NOP", 1.0)]);
        let none = whole(Vec::new());
        let part = whole(vec![instruction("NOP", 60.0), instruction("UNKNOWN 0x1", 40.0)]);
        assert_eq!(unread_remark(&[&read]), None);
        assert_eq!(unread_remark(&[&full(Vec::new())]), None, "a profile with hardly anything");
        let remark = unread_remark(&[&read, &none]).unwrap();
        assert!(remark.starts_with("the profile has no machine code (SASS) for 1 of 2 launches"));
        assert!(remark.contains("--page source --print-source cuda,sass"), "{remark}");
        let remark = unread_remark(&[&part]).unwrap();
        assert!(remark.starts_with("adoprof can't read 40% of the machine code"), "{remark}");
    }
}
