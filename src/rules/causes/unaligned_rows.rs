//! Rows whose pitch blocks wide and asynchronous copies.

use crate::evidence::modeled_launch::place;
use crate::evidence::products::{begin_ahead, sectors_gone};
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::{SECTOR_BYTES, WIDEST_ACCESS_BYTES};
use crate::model::thresholds::TENSOR_FULL;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::Listing;
use crate::sass::questions::matrix_loops::{StagedLoop, Way, staged};
use crate::term::Term;
use crate::text::{count, count_of, percent};

/// Sectors that a copy touches beyond those that its bytes fill, at least.
const BETWEEN: f64 = 0.5;

/// The same, at most.
const BETWEEN_MOST: f64 = 2.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "unaligned-rows",
    kind: Kind::Cause,
    summary: "rows do not begin at multiples of 16 bytes, so operands are copied a few bytes at a time",
    explanation: "\
A copy of 16 bytes needs an address that is a multiple of 16. Where the pitch of a matrix's rows is not such a \
multiple (an odd number of halves, for example), rows begin anywhere, and the compiler or the library falls \
back to 2 or 4 bytes per lane: eight or four times the instructions, and with 2 bytes no asynchronous \
copy at all, so that the products wait for the loads. The rule looks at copies of operands for matrix \
instructions that move at most 8 bytes per lane, from addresses that are dense but begin between \
sectors: on average they touch half a sector or more beyond those that their bytes fill. Allocate \
rows with a pitch of a multiple of 16 bytes (cudaMallocPitch, a padded leading dimension), or copy \
the matrix once into such rows; what is added are zeros or is never read.",
    examples: &[Example {
        fault: "\
// pitch = 1025 halves: every other row is not even a multiple of 4 bytes
for (int k = threadIdx.x; k < 32; k += 32)
    tile[row][k] = matrix[row * 1025 + first + k];   // 2 bytes per lane",
        repair: "\
// pitch = 1032 halves: each row begins at a multiple of 16 bytes
__pipeline_memcpy_async(&tile[row][8 * part],
                        &matrix[row * 1032 + first + 8 * part], 16);
__pipeline_commit();",
        note: "\
An eighth of the instructions moves the same bytes past the registers, and several copies can be on \
their way; a row takes up to 14 bytes more.",
    }],
    section: "SourceCounters",
    thresholds: &[
        Threshold {
            what: "sectors that a copy touches beyond those that its bytes fill, on average, at least",
            value: BETWEEN,
            unit: "sector",
            source: "derivation: a row that begins anywhere at multiples of 2, 4 or 8 bytes begins between \
                     sectors in 15 of 16, 7 of 8 or 3 of 4 cases, each of which adds a sector; half of that \
                     allows for warps that copy pieces of several rows",
        },
        Threshold {
            what: "sectors that a copy touches beyond those that its bytes fill, on average, at most",
            value: BETWEEN_MOST,
            unit: "sector",
            source: "derivation: a warp copies from two rows at most with dense accesses of 2 to 8 \
                     bytes and pieces of 32 bytes or more; beyond that, the lanes lie apart, which is another \
                     fault",
        },
        MATTERS_LIMIT,
        TENSOR_FULL,
    ],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "long-scoreboard-stalls",
        "barrier-stalls",
        "lg-throttle",
        "mio-throttle",
        "short-scoreboard-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
the compiler must know that the row stride is a multiple of 16 bytes: pass one that is \
divisible by 16 elements, or state it with tl.multiple_of.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let loops: Vec<StagedLoop> = staged(&listing);
    let narrow: Vec<usize> = loops
        .iter()
        .flat_map(|each| each.copies.iter().copied())
        .filter(|&at| is_between(listing, at))
        .collect();
    let executed: f64 = narrow.iter().map(|&at| listing.executed(at)).sum();
    let widest = narrow.iter().map(|&at| listing.sass.entries[at].width).max()?;
    let is_narrow = |index: usize| narrow.binary_search(&index).is_ok();
    let theirs: Vec<&StagedLoop> =
        loops.iter().filter(|each| each.copies.iter().any(|&at| is_narrow(at))).collect();
    let beside = removal.beside(is_narrow);
    let of_beside = removal.addressing(&beside, is_narrow);
    let work = crate::sass::flow::slice::work(&listing);
    let merged =
        |index: usize| 1.0 - f64::from(listing.sass.entries[index].width) / WIDEST_ACCESS_BYTES;
    for (index, _) in listing.entries() {
        if is_narrow(index) {
            removal.remove(index, merged(index));
        } else if theirs.iter().any(|each| each.stores.contains(&index)) {
            removal.remove(index, 1.0);
        } else if beside[index] && !work[index] {
            removal
                .remove_but_l1(index, of_beside * (1.0 - f64::from(widest) / WIDEST_ACCESS_BYTES));
        }
    }
    let mut effect = removal.effect(launch);
    begin_ahead(&mut effect, launch, listing, &theirs, is_narrow);
    let beyond = |index: usize| {
        if is_narrow(index) { 1.0 - filled(listing, index) / sectors(listing, index) } else { 0.0 }
    };
    let gone = sectors_gone(listing, beyond);
    effect.removed.extend([(Term::L2, gone), (Term::L2Requests, gone)]);
    if !gains(launch, &effect) {
        return None;
    }
    let weight = |index: usize| if is_narrow(index) { listing.executed(index) } else { 0.0 };
    let locations = locations(launch, listing, weight, "narrow copies of operands");
    let registers = theirs.iter().any(|each| each.way == Way::Registers);
    let each: f64 = narrow.iter().map(|&at| sectors(listing, at)).sum::<f64>() / executed;
    let needed: f64 = narrow.iter().map(|&at| filled(listing, at)).sum::<f64>() / executed;
    Some(Draft {
        message: format!(
            "{} copies of operands move {} per lane{}. Their addresses are dense, yet each touches \
             {each:.1} sectors where its bytes fill {needed:.1}: rows do not begin at multiples of 16 bytes. \
             If they did, one 16-byte copy would do the work of {}.",
            count(executed),
            count_of(f64::from(widest), "byte"),
            if registers { " through registers" } else { "" },
            count(WIDEST_ACCESS_BYTES / f64::from(widest)),
        ),
        evidence: vec![
            Evidence::new("executed narrow copies", executed, "inst"),
            Evidence::new("sectors each", each, "sector"),
            Evidence::new("sectors that their bytes fill", needed, "sector"),
        ],
        hint: format!(
            "Give the rows a pitch of a multiple of 16 bytes (a padded leading dimension, or one copy \
             of the matrix into such rows), and copy 16 bytes per lane asynchronously (cp.async) at \
             {}. {} of the sectors of these copies go as well.",
            place(&locations, "the loop with the products"),
            percent(1.0 - needed / each),
        ),
        locations,
        effect,
    })
}

/// Sectors that all executions of an access touch.
fn sectors(listing: Listing, index: usize) -> f64 {
    listing.row(index).counters.l2_sectors_global
}

/// Sectors that their bytes would fill.
fn filled(listing: Listing, index: usize) -> f64 {
    let lanes = listing.row(index).counters.thread_inst_executed_pred_on;
    lanes * f64::from(listing.sass.entries[index].width) / SECTOR_BYTES
}

/// True for a narrow copy from addresses that are dense and begin between sectors.
fn is_between(listing: Listing, index: usize) -> bool {
    let width = f64::from(listing.sass.entries[index].width);
    let beyond = (sectors(listing, index) - filled(listing, index)) / listing.executed(index);
    width > 0.0 && width < WIDEST_ACCESS_BYTES && (BETWEEN..=BETWEEN_MOST).contains(&beyond)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::metric::stall::StallReason;
    use crate::rules::testing::{assert_sides, check, sass};

    const LSU: &str = "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed";
    const TENSOR: &str = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";

    /// A loop that copies four bytes per lane and touches so many sectors each time.
    fn copied(sectors: f64) -> Launch {
        let mut code = vec![("LDGSTS.E [R20], desc[UR4][R2.64]", 10.0); 6];
        code.extend([
            ("LDSM.16.M88.4 R8, [R21]", 10.0),
            ("LDSM.16.M88.4 R12, [R21]", 10.0),
            ("HMMA.16816.F32 R24, R8, R12, R24", 10.0),
            ("@P0 BRA 0x100", 10.0),
            ("EXIT", 1.0),
        ]);
        let mut launch = sass(&[(ISSUE_BUSY, 20.0), (LSU, 80.0), (TENSOR, 20.0)], &code);
        for instruction in &mut launch.instructions[..6] {
            instruction.counters.l2_sectors_global = 10.0 * sectors;
        }
        launch
    }

    #[test]
    fn words_that_begin_between_sectors_are_copied_four_at_a_time_instead() {
        // Six of eight instructions of the load/store unit shrink to a quarter.
        let draft = assert_sides(&RULE, &copied(4.875), &[&[(LSU, 4.0), (TENSOR, 90.0)]]);
        assert!((draft.effect.share_of(Term::Lsu) - 0.5625).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::L2) - 0.875 / 4.875).abs() < 1e-12);
        // The products take 20%, at 75% of the pipe's peak.
        assert!((draft.effect.least - 0.2 / 0.75).abs() < 1e-12);
        assert!(
            draft.message.contains("4.9 sectors where its bytes fill 4.0"),
            "{}",
            draft.message
        );
        assert!(draft.hint.contains("16 bytes"), "{}", draft.hint);
    }

    #[test]
    fn aligned_rows_and_lanes_apart_are_other_faults() {
        assert_eq!(check(&RULE, &copied(4.0)), None);
        assert_eq!(check(&RULE, &copied(32.0)), None);
    }

    #[test]
    fn copies_of_sixteen_bytes_can_be_no_wider() {
        let of = |width: &str, sectors: f64| {
            let copy = format!("LDGSTS.E{width} [R20], desc[UR4][R2.64]");
            let code = [
                (copy.as_str(), 10.0),
                ("LDSM.16.M88.4 R8, [R21]", 10.0),
                ("HMMA.16816.F32 R24, R8, R10, R24", 10.0),
                ("@P0 BRA 0x100", 10.0),
                ("EXIT", 1.0),
            ];
            let l2 = "lts__t_sectors.avg.pct_of_peak_sustained_elapsed";
            let mut launch = sass(&[(ISSUE_BUSY, 20.0), (l2, 90.0)], &code);
            launch.instructions[0].counters.l2_sectors_global = 10.0 * sectors;
            check(&RULE, &launch).is_some()
        };
        // 32 lanes fill 8 sectors with 8 bytes each, 16 with 16.
        assert!(of(".64", 9.5) && !of(".128", 17.5));
    }

    #[test]
    fn copies_that_run_ahead_leave_the_waits() {
        let mut launch = copied(4.875);
        launch.instructions[6].counters.stall_samples[StallReason::Barrier as usize] = 9.0;
        let effect = check(&RULE, &launch).unwrap().effect;
        assert!(effect.share_of_stall(StallReason::Barrier).abs() < 1e-12);
    }

    #[test]
    fn loads_of_two_bytes_can_not_run_ahead() {
        let code = [
            ("LDG.E.U16 R4, desc[UR4][R2.64]", 10.0),
            ("STS.U16 [R20], R4", 10.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 10.0),
            ("LDSM.16.M88.4 R8, [R21]", 10.0),
            ("HMMA.16816.F32 R24, R8, R10, R24", 10.0),
            ("@P0 BRA 0x100", 10.0),
            ("EXIT", 1.0),
        ];
        let long = StallReason::LongScoreboard;
        let waits = long.ratio_metric();
        let metrics = [(ISSUE_BUSY, 20.0), (LSU, 40.0), (waits.as_str(), 50.0)];
        let mut launch = sass(&metrics, &code);
        launch.instructions[0].counters.l2_sectors_global = 29.375;
        launch.instructions[1].counters.stall_samples[long as usize] = 9.0;
        let draft = check(&RULE, &launch).unwrap();
        assert!((draft.effect.share_of_stall(long) - 1.0).abs() < 1e-12);
        // Of load, store and ldmatrix seven eighths of the first, for one of 16 bytes, and the second.
        assert!((draft.effect.share_of(Term::Lsu) - (0.875 + 1.0) / 3.0).abs() < 1e-12);
        assert!(draft.message.contains("through registers"), "{}", draft.message);
    }

    #[test]
    fn rows_that_begin_between_sectors_touch_half_a_sector_to_two_more() {
        // 32 lanes of four bytes fill four sectors.
        let fires = |sectors: f64| check(&RULE, &copied(sectors)).is_some();
        assert!(fires(4.5) && !fires(4.45));
        assert!(fires(6.0) && !fires(6.1));
    }

    #[test]
    fn four_instructions_for_each_address_go_with_the_copies() {
        let mut code = vec![("LDGSTS.E [R20], desc[UR4][R2.64]", 10.0)];
        code.extend(vec![("IADD3 R40, R41, 0x1, RZ", 10.0); 7]);
        code.extend([
            ("LDSM.16.M88.4 R8, [R21]", 10.0),
            ("HMMA.16816.F32 R24, R8, R10, R24", 10.0),
            ("@P0 BRA 0x100", 10.0),
            ("EXIT", 1.0),
        ]);
        let mut launch = sass(&[(ISSUE_BUSY, 60.0), (LSU, 80.0), (TENSOR, 20.0)], &code);
        launch.instructions[0].counters.l2_sectors_global = 48.75;
        let effect = check(&RULE, &launch).unwrap().effect;
        // Of seven additions and the branch four are the copy's, and of these three quarters go.
        let share = effect.share_of(Term::Alu);
        assert!((share - 0.5 * 0.75).abs() < 1e-12, "{share}");
    }
}
