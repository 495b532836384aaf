//! The source page's columns, under every label that they have had.

use crate::export::SourceCounters;
use crate::export::csv::number;
use crate::export::csv::number::Style;
use crate::isa::control::Control;
use crate::metric::stall::StallReason;

/// The counter that a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counter {
    Samples,
    InstExecuted,
    ThreadInstExecuted,
    ThreadInstExecutedPredOn,
    L1TagRequestsGlobal,
    WavefrontsShared,
    WavefrontsSharedIdeal,
    L2SectorsGlobal,
    L2SectorsGlobalIdeal,
    L2SectorsLocal,
    Stall(StallReason),
}

use Counter as C;

/// Label or metric name, in lower case. Of several columns with one counter the one that stands
/// earlier here is read: `# Samples` counts, while a sampling column may hold a list.
const LABELS: &[(&str, Counter)] = &[
    ("# samples", C::Samples),
    ("smsp__pcsamp_sample_count", C::Samples),
    ("warp stall sampling (all samples)", C::Samples),
    ("warp stall sampling (all cycles)", C::Samples),
    ("sampling data (all)", C::Samples),
    ("instructions executed", C::InstExecuted),
    ("inst_executed", C::InstExecuted),
    ("thread instructions executed", C::ThreadInstExecuted),
    ("thread_inst_executed", C::ThreadInstExecuted),
    ("predicated-on thread instructions executed", C::ThreadInstExecutedPredOn),
    ("thread_inst_executed_true", C::ThreadInstExecutedPredOn),
    ("l1 tag requests global", C::L1TagRequestsGlobal),
    ("memory_l1_tag_requests_global", C::L1TagRequestsGlobal),
    ("l1 wavefronts shared", C::WavefrontsShared),
    ("memory_l1_wavefronts_shared", C::WavefrontsShared),
    ("memory l1 transactions shared", C::WavefrontsShared),
    ("memory_l1_transactions_shared", C::WavefrontsShared),
    ("l1 wavefronts shared ideal", C::WavefrontsSharedIdeal),
    ("memory_l1_wavefronts_shared_ideal", C::WavefrontsSharedIdeal),
    ("memory ideal l1 transactions shared", C::WavefrontsSharedIdeal),
    ("memory_ideal_l1_transactions_shared", C::WavefrontsSharedIdeal),
    ("l2 theoretical sectors global", C::L2SectorsGlobal),
    ("memory_l2_theoretical_sectors_global", C::L2SectorsGlobal),
    ("memory l2 transactions global", C::L2SectorsGlobal),
    ("memory_l2_transactions_global", C::L2SectorsGlobal),
    ("l2 theoretical sectors global ideal", C::L2SectorsGlobalIdeal),
    ("memory_l2_theoretical_sectors_global_ideal", C::L2SectorsGlobalIdeal),
    ("memory ideal l2 transactions global", C::L2SectorsGlobalIdeal),
    ("memory_ideal_l2_transactions_global", C::L2SectorsGlobalIdeal),
    ("l2 theoretical sectors local", C::L2SectorsLocal),
    ("memory_l2_theoretical_sectors_local", C::L2SectorsLocal),
    ("memory l2 transactions local", C::L2SectorsLocal),
    ("memory_l2_transactions_local", C::L2SectorsLocal),
];

/// Text stands where a row's counters belong: the row was taken apart at the wrong places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotCounters;

/// A header of the source page.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    has_lines: bool,
    /// Columns right of the source text: all of them in the sass view; in cuda,sass the address and
    /// the SASS text too.
    right: usize,
    /// The counters' places among them.
    counters: Vec<(usize, Counter)>,
    /// The control codes' place among them, on a page that adoprof wrote.
    control: Option<usize>,
}

/// The label of the control codes, which ncu's page does not have.
pub(in crate::export::csv) const CONTROL: &str = "Control";

impl Columns {
    /// The columns of a header; `None` for a view without addresses, which has no counters.
    pub(super) fn new(header: &[&str]) -> Option<Self> {
        let address = header.iter().position(|label| label.trim() == "Address")?;
        // `Address, Source, …` or `Line No, Source, Address, Source, …`.
        if !(address == 0 || address == 2) || header.get(address + 1)?.trim() != "Source" {
            return None;
        }
        let mut counters: Vec<(usize, usize, Counter)> = Vec::new();
        for (index, label) in header.iter().enumerate().skip(address + 2) {
            let Some((rank, counter)) = counter(label) else { continue };
            match counters.iter_mut().find(|(.., known)| *known == counter) {
                Some(known) if rank < known.1 => *known = (index - 2, rank, counter),
                Some(_) => {}
                None => counters.push((index - 2, rank, counter)),
            }
        }
        let control = header.iter().skip(address + 2).position(|label| *label == CONTROL);
        Some(Self {
            control: control.map(|behind| behind + address),
            has_lines: address == 2,
            right: header.len() - 2,
            counters: counters.into_iter().map(|(index, _, counter)| (index, counter)).collect(),
        })
    }

    /// True for the cuda,sass view.
    pub(super) fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// How many cells stand right of the source text.
    pub(super) fn right(&self) -> usize {
        self.right
    }

    /// The control codes of a row; `None` where it has none.
    pub(super) fn control(&self, right: &[&str]) -> Option<Control> {
        let digits = right.get(self.control?)?.strip_prefix("0x")?;
        u32::from_str_radix(digits, 16).ok().map(Control::of_bits)
    }

    /// The counters of a row; `None` where none applies to it (a line without code).
    ///
    /// # Errors
    /// [`NotCounters`] where a counter's cell is neither a number nor a mark for none.
    pub(super) fn counters(
        &self,
        right: &[&str],
        style: Style,
    ) -> Result<Option<SourceCounters>, NotCounters> {
        let mut counters = SourceCounters::default();
        let mut any = self.counters.is_empty();
        for (index, counter) in &self.counters {
            let cell = *right.get(*index).ok_or(NotCounters)?;
            // Numbers first: nearly every cell is one.
            let Some(value) = style.parse(cell) else {
                if is_none(cell) {
                    continue;
                }
                return Err(NotCounters);
            };
            any = true;
            *match counter {
                C::Samples => &mut counters.samples,
                C::InstExecuted => &mut counters.inst_executed,
                C::ThreadInstExecuted => &mut counters.thread_inst_executed,
                C::ThreadInstExecutedPredOn => &mut counters.thread_inst_executed_pred_on,
                C::L1TagRequestsGlobal => &mut counters.l1_tag_requests_global,
                C::WavefrontsShared => &mut counters.wavefronts_shared,
                C::WavefrontsSharedIdeal => &mut counters.wavefronts_shared_ideal,
                C::L2SectorsGlobal => &mut counters.l2_sectors_global,
                C::L2SectorsGlobalIdeal => &mut counters.l2_sectors_global_ideal,
                C::L2SectorsLocal => &mut counters.l2_sectors_local,
                C::Stall(reason) => &mut counters.stall_samples[*reason as usize],
            } = value;
        }
        Ok(any.then_some(counters))
    }
}

/// True for a cell of a counter that is none: ncu's marks, and numbers that are not in the page's style.
fn is_none(cell: &str) -> bool {
    number::is_missing(cell)
        || cell == "..."
        || Style::Point.parse(cell).is_some()
        || Style::Comma.parse(cell).is_some()
}

/// The counter of a label and its rank among labels of the same counter.
fn counter(label: &str) -> Option<(usize, Counter)> {
    let label = label.trim().to_lowercase();
    if let Some(rank) = LABELS.iter().position(|(known, _)| *known == label) {
        return Some((rank, LABELS[rank].1));
    }
    let word = label.strip_prefix("smsp__pcsamp_warps_issue_stalled_");
    let column = word.map_or_else(|| label.clone(), |word| format!("stall_{word}"));
    StallReason::from_column(&column).map(|reason| (0, C::Stall(reason)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_labels_name_the_same_counter() {
        let counter = |label| counter(label).map(|(_, counter)| counter);
        for label in [
            "L2 Theoretical Sectors Global",
            "Memory L2 Transactions Global",
            "memory_l2_transactions_global",
        ] {
            assert_eq!(counter(label), Some(C::L2SectorsGlobal), "{label}");
        }
        assert_eq!(counter("Memory Ideal L2 Transactions Global"), Some(C::L2SectorsGlobalIdeal));
        assert_eq!(counter("stall_long_sb  "), Some(C::Stall(StallReason::LongScoreboard)));
        assert_eq!(
            counter("smsp__pcsamp_warps_issue_stalled_no_instructions"),
            Some(C::Stall(StallReason::NoInstruction))
        );
        assert_eq!(counter("stall_long_sb (Not Issued)"), None);
        assert_eq!(counter("smsp__pcsamp_warps_issue_stalled_wait_not_issued"), None);
        assert_eq!(counter("L2 Theoretical Sectors Global Excessive"), None);
    }

    #[test]
    fn the_count_of_samples_wins_over_the_sampling_column() {
        let header =
            ["Address", "Source", "Warp Stall Sampling (All Cycles)", "smsp__pcsamp_sample_count"];
        let columns = Columns::new(&header).unwrap();
        let counters = columns.counters(&["7", "9"], Style::Point).unwrap().unwrap();
        assert!((counters.samples - 9.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_view_without_addresses_has_no_columns() {
        assert!(Columns::new(&["Line No", "Source"]).is_none());
        assert!(Columns::new(&["Address"]).is_none());
    }
}
