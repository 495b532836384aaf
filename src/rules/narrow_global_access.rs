//! Many small global accesses where few wide ones would do.

use super::case::place;
use super::opcodes::{ISSUE_BUSY, MATTERS_LIMIT, Removal, locations, matters};
use super::{Case, Draft, Kind, Rule, Threshold};
use crate::export::SourceCounters;
use crate::finding::Evidence;
use crate::sass::{Family, Listing, Space, slice};
use crate::text::{count, percent};

/// Bytes that one instruction can move for a lane.
const WIDEST: f64 = 16.0;

/// Bytes a lane up to which an access counts as narrow.
const NARROW: u8 = 4;

/// Sectors that an access touches, over those that its bytes fill: at most so far apart.
const DENSE: f64 = 0.25;

/// Bytes that a warp moves in one wavefront for each lane.
const WAVEFRONT_BYTES_PER_LANE: f64 = 4.0;

const SECTOR_BYTES: f64 = 32.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "narrow-global-access",
    kind: Kind::Cause,
    summary: "many small accesses where few wide ones would do",
    explanation: "\
A load or store instruction costs a slot of the scheduler and of the load/store unit whether its \
lanes move 1 byte or 16, and index arithmetic and loop control come on top for each. Where the \
lanes of a warp read neighbouring elements, a thread can take several at once as uchar4, float4 or \
int4: as few as a 16th of the instructions for the same bytes, and more bytes in flight for each. \
The rule looks at instructions that move 1, 2 or 4 bytes a lane and touch just the sectors that \
their bytes fill. DRAM and L2 move the same bytes as before, so a kernel at their limit gains \
nothing. The address must be a multiple of the width.",
    section: "SourceCounters",
    thresholds: &[
        Threshold {
            what: "bytes a lane, at most",
            value: NARROW as f64,
            unit: "byte",
            source: "derivation: 4 bytes a lane fill one wavefront; the widest instruction moves 16 \
                     in four",
        },
        Threshold {
            what: "sectors touched, within this share of those that the bytes fill",
            value: DENSE,
            unit: "",
            source: "derivation: 128 dense bytes that are not aligned touch 5 sectors instead of 4",
        },
        MATTERS_LIMIT,
    ],
    needs: &[ISSUE_BUSY],
    explains: &["lg-throttle", "long-scoreboard-stalls", "mio-throttle", "issue-slots-underused"],
    check,
};

fn check(case: &Case) -> Option<Draft> {
    let mut removal = Removal::new(case)?;
    let listing = removal.listing;
    let narrow: Vec<bool> = listing.entries().map(|(index, _)| is_narrow(listing, index)).collect();
    let executed: f64 =
        (0..narrow.len()).filter(|&at| narrow[at]).map(|at| listing.executed(at)).sum();
    if executed <= 0.0 {
        return None;
    }
    // Elements a thread can take at once: the widest of the narrow accesses decides.
    let width = |index: usize| listing.sass.entries[index].width;
    let widest = (0..narrow.len()).filter(|&at| narrow[at]).map(width).max().unwrap_or(NARROW);
    let merged = 1.0 - f64::from(widest) / WIDEST;
    let beside = removal.beside(|index| narrow[index]);
    let work = slice::work(&listing);
    for (index, entry) in listing.entries() {
        if narrow[index] {
            removal.remove_but_l1(index, merged);
            let full = f64::from(entry.width) / WAVEFRONT_BYTES_PER_LANE;
            removal.remove_wavefronts(index, (1.0 - full).max(0.0));
        } else if beside[index] && !work[index] {
            removal.remove_but_l1(index, merged);
        }
    }
    let effect = removal.effect(case);
    if !matters(case, &effect) {
        return None;
    }
    let weight = |index: usize| if narrow[index] { listing.executed(index) } else { 0.0 };
    let locations = locations(case, listing, weight, "narrow accesses");
    let is_global =
        |family| matches!(family, Family::Load(Space::Global) | Family::Store(Space::Global));
    let all = removal.mix.warp(is_global);
    let elements = WIDEST / f64::from(widest);
    Some(Draft {
        message: format!(
            "{} of {} global access instructions ({}) move {} or less a lane, densely: {} of them \
             would fit into one of 16 bytes.",
            count(executed),
            count(all),
            percent(executed / all),
            crate::text::count_of(f64::from(widest), "byte"),
            count(elements),
        ),
        evidence: vec![
            Evidence::new("executed narrow global accesses", executed, "inst"),
            Evidence::new("executed global accesses", all, "inst"),
            Evidence::new("bytes a lane, widest of them", f64::from(widest), "byte"),
        ],
        hint: format!(
            "Let each thread take {} neighbouring elements in one access in {} (float4, uint4, \
             uchar4 through reinterpret_cast or a vector type). Addresses must be multiples of the \
             width, the end of the array needs code of its own, and a thread needs more registers.",
            count(elements),
            place(&locations, "the loop that reads and writes the arrays"),
        ),
        locations,
        effect,
    })
}

fn is_narrow(listing: Listing, index: usize) -> bool {
    let entry = &listing.sass.entries[index];
    let is_global =
        matches!(entry.family, Family::Load(Space::Global) | Family::Store(Space::Global));
    if !(is_global && (1..=NARROW).contains(&entry.width)) {
        return false;
    }
    let counters = &listing.row(index).counters;
    let bytes = lanes(counters) * f64::from(entry.width);
    let filled = bytes / SECTOR_BYTES;
    filled > 0.0 && (counters.l2_sectors_global / filled - 1.0).abs() <= DENSE
}

/// Lanes that took part, over all executions.
fn lanes(counters: &SourceCounters) -> f64 {
    if counters.thread_inst_executed_pred_on > 0.0 {
        counters.thread_inst_executed_pred_on
    } else {
        counters.thread_inst_executed
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_sides, check, sass};
    use super::*;
    use crate::frame::Launch;
    use crate::model::Term;

    const LSU: &str = "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed";

    /// Ten loads of `width` bytes a lane that touch so many sectors each; 30 shared loads.
    fn loads(opcode: &str, sectors: f64) -> Launch {
        let load = format!("{opcode} R0, desc[UR6][R4.64]");
        let code = [(load.as_str(), 10.0), ("LDS R6, [R7]", 30.0), ("FADD R8, R0, R6", 60.0)];
        let mut launch = sass(&[(ISSUE_BUSY, 20.0), (LSU, 40.0)], &code);
        let counters = &mut launch.instructions[0].counters;
        counters.l2_sectors_global = 10.0 * sectors;
        counters.l1_tag_requests_global = 10.0;
        launch
    }

    #[test]
    fn floats_count_from_a_twentieth_of_the_time() {
        // 3 of 4 loads go: 7.5 of 40 requests. At 26.7% busy that is a twentieth.
        let draft = assert_sides(&RULE, &loads("LDG.E", 4.0), &[&[(LSU, 26.6)]]);
        assert!((draft.effect.share_of(Term::Lsu) - 0.1875).abs() < 1e-12);
        assert!(draft.effect.share_of(Term::L1Data).abs() < 1e-12, "the same bytes");
        assert!(draft.message.contains("4 bytes or less"), "{}", draft.message);
        assert_eq!(draft.locations[0].line, 1);
    }

    #[test]
    fn bytes_fill_a_quarter_of_their_wavefronts() {
        let draft = check(&RULE, &loads("LDG.E.U8", 1.0)).unwrap();
        assert!((draft.effect.share_of(Term::L1Data) - 0.75).abs() < 1e-12);
        assert!(draft.hint.contains("16 neighbouring elements"), "{}", draft.hint);
    }

    #[test]
    fn wide_scattered_and_broadcast_accesses_are_not_meant() {
        assert!(check(&RULE, &loads("LDG.E", 5.0)).is_some(), "dense but not aligned");
        assert_eq!(check(&RULE, &loads("LDG.E", 5.1)), None, "not dense");
        assert_eq!(check(&RULE, &loads("LDG.E", 1.0)), None, "all lanes the same");
        assert_eq!(check(&RULE, &loads("LDG.E.64", 8.0)), None, "wide");
    }
}
