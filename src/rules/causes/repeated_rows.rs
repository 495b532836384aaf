//! Rows that serve a group of values along the depth of a product, fetched again for each of these values.

use crate::evidence::modeled_launch::place;
use crate::evidence::products::{least, sectors_gone};
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::model::thresholds::TENSOR_FULL;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::Marks;
use crate::sass::flow::slice::addresses_only_of;
use crate::sass::questions::matrix_loops::{Fetch, repeated_rows};
use crate::term::Term;
use crate::text::{count, percent};

/// The rule.
pub const RULE: Rule = Rule {
    name: "repeated-rows",
    kind: Kind::Cause,
    summary: "a loop with matrix instructions fetches the row of a group again for each value of the depth in it",
    explanation: "\
A quantized product has scales and zero points for groups of values along its depth, 128 for example: one row of scales serves \
them all. A kernel that works out the row's number for each value of the depth, and loads a whole tile of rows by it, fetches the \
same row for each value: from L1, or by cp.async into every row of a tile, which is read back, shifted, and converted as often. \
The rule follows the addresses in loops that multiply on the tensor units back to a shift to the right of what the loop counts \
plus a part of the thread's index, looks that these parts of the index lead to the address in no other way, and \
counts the values of the depth that share a row. One row for each turn of the loop is enough, if a turn covers no more than a \
group: the threads broadcast it. Where no such number is found, asynchronous copies of a thread that come from one address in a \
turn count alone.",
    examples: &[Example {
        fault: "\
for (int k0 = 0; k0 < K; k0 += 64) {
    // 64 rows of a tile; k / 128 is the same for all of them
    for (int k = threadIdx.x / 16; k < 64; k += 8)
        copy_16_bytes(&tile[k][n], &scale[(k0 + k) / 128 * N + n]);",
        repair: "\
for (int k0 = 0; k0 < K; k0 += 64) {
    // one row, and each thread reads its columns of it once
    if (threadIdx.x < 16)
        copy_16_bytes(&row[n], &scale[k0 / 128 * N + n]);",
        note: "\
The group must be a multiple of what a turn covers. The results are the same.",
    }],
    section: "MemoryWorkloadAnalysis",
    thresholds: &[MATTERS_LIMIT, TENSOR_FULL],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "long-scoreboard-stalls",
        "short-scoreboard-stalls",
        "lg-throttle",
        "mio-throttle",
        "issue-slots-underused",
    ],
    in_triton: "\
make the group's number from the loop's counter alone (g = k0 // GROUP, with GROUP % BLOCK_K == 0), load one row \
(tl.load(s_ptr + g * stride + offs_n)), unpack it, and broadcast it by [None, :].",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    // The bits of one index tell threads apart.
    let [x, y, z] = launch.profile.row.block;
    if y.max(z) > 1 {
        return None;
    }
    let found = repeated_rows(&listing, x);
    let entries = listing.sass.entries.len();
    let fetches: Vec<Fetch> = found.iter().flat_map(|each| each.fetches.clone()).collect();
    let repeats = |at: usize| {
        let fetch = fetches.iter().find(|fetch| fetch.at == at);
        fetch.map_or(0.0, Fetch::repeats)
    };
    let fewest = fetches.iter().map(Fetch::repeats).reduce(f64::min)?;
    let most = fetches.iter().map(|fetch| fetch.times).fold(0.0, f64::max);
    let addresses = addresses_only_of(&listing, &Marks::of(entries, |at| repeats(at) > 0.0));
    for at in addresses.iter() {
        removal.remove(at, fewest);
    }
    for &(at, share) in found.iter().flat_map(|each| each.reads.iter().chain(&each.made)) {
        removal.remove(at, share);
    }
    for fetch in &fetches {
        removal.remove(fetch.at, fetch.repeats());
    }
    let mut effect = removal.effect(launch);
    effect.removed.push((Term::L2, sectors_gone(listing, repeats)));
    effect.least = effect.least.max(least(launch));
    if !gains(launch, &effect) {
        return None;
    }
    let executed =
        |list: &[(usize, f64)]| list.iter().map(|(at, _)| listing.executed(*at)).sum::<f64>();
    let all: f64 = fetches.iter().map(|fetch| listing.executed(fetch.at)).sum();
    let others: f64 = found.iter().map(|each| executed(&each.reads) + executed(&each.made)).sum();
    let weight = |at: usize| repeats(at) * listing.executed(at);
    let locations = locations(launch, listing, weight, "fetches of rows");
    let at = place(&locations, "its loads");
    let group = found.iter().map(|each| each.group).fold(0.0, f64::max);
    let depth = found.iter().map(|each| each.depth).fold(0.0, f64::max);
    let message = if group > 0.0 {
        format!(
            "Every {} values of the depth share a row, and an iteration of the loop covers {}, but the loads at {at} fetch the row for \
             each value: {} times the same. They and what is made of the copies are {} of all executed instructions.",
            count(group),
            count(depth),
            count(most),
            percent((all + others) / removal.mix.total),
        )
    } else {
        format!(
            "Copies at {at} bring the same bytes {} times in each iteration of the loop with the products: {} of all \
             executed instructions.",
            count(most),
            percent(all / removal.mix.total),
        )
    };
    let hint = if group > 0.0 {
        format!(
            "Fetch one row per iteration at {at}, by the group of the loop's counter alone, and convert it before it is broadcast to \
             the values of the depth. The group must be a multiple of the values in an iteration, or the iteration must end where the group does. Each thread \
             then keeps the part of the row that it needs, a few registers."
        )
    } else {
        format!(
            "Copy what {at} fetches once, without its repetitions, and let the threads that need it read the same place, or broadcast \
             it from registers. Where it is a row of a group's scales or zero points and neighbouring values of the depth belong to \
             the same group, one row for each turn is enough."
        )
    };
    let mut evidence = vec![
        Evidence::new("executed fetches of the same bytes", all, "inst"),
        Evidence::new("fetches of the same bytes in a turn, at most", most, ""),
    ];
    if group > 0.0 {
        evidence.extend([
            Evidence::new("executed instructions that read or convert the copies", others, "inst"),
            Evidence::new("values of the depth that share a row", group, ""),
        ]);
    }
    Some(Draft { message, evidence, locations, hint, effect })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, sass};

    const LSU: &str = "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed";
    const TENSOR: &str = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";

    /// A loop with eight copies of rows whose number this makes.
    fn of(number: &'static str, block: [u32; 3]) -> Launch {
        let mut code = vec![
            ("S2R R0, SR_TID.X", 4.0),
            ("LDC.64 R30, c[0x0][0x210]", 4.0),
            ("LOP3.LUT R2, R0, 0x1f, RZ, 0xc0, !PT", 4.0),
            ("IMAD.WIDE.U32 R32, R2, 0x10, R30", 4.0),
            ("SHF.R.U32.HI R3, RZ, 0x5, R0", 4.0),
            ("MOV R8, RZ", 4.0),
            ("IMAD.IADD R4, R3, 0x1, R8", 40.0), // 0x160
            (number, 40.0),
            ("IMAD R5, R5, UR4, RZ", 40.0),
            ("IMAD.WIDE R6, R5, 0x4, R32", 40.0),
        ];
        code.extend([("LDGSTS.E.BYPASS.128 [R20], desc[UR6][R6.64]", 40.0); 8]);
        code.extend([
            ("LDSM.16.M88.4 R12, [R21]", 40.0),
            ("HMMA.16816.F32 R24, R16, R12, R24", 40.0),
            ("IADD3 R8, R8, 0x20, RZ", 40.0),
            ("@P0 BRA 0x160", 40.0),
            ("EXIT", 4.0),
        ]);
        let mut launch = sass(&[(ISSUE_BUSY, 20.0), (LSU, 80.0), (TENSOR, 20.0)], &code);
        launch.row.block = block;
        launch
    }

    #[test]
    fn one_row_is_fetched_for_each_turn() {
        let launch = of("SHF.R.S32.HI R5, RZ, 0x7, R4", [128, 1, 1]);
        let draft = assert_sides(&RULE, &launch, &[&[(LSU, 1.0), (TENSOR, 90.0)]]);
        // 32 values of the depth in a turn; eight copies of nine accesses to memory.
        let gone = 8.0 * (1.0 - 1.0 / 32.0) / 9.0;
        assert!((draft.effect.share_of(Term::Lsu) - gone).abs() < 0.1, "{:?}", draft.effect);
        assert!(
            draft.message.starts_with("Every 128 values of the depth share"),
            "{}",
            draft.message
        );
        assert!(draft.hint.contains("Fetch one row per iteration"), "{}", draft.hint);
    }

    #[test]
    fn copies_of_one_address_need_no_number() {
        let draft = check(&RULE, &of("SHF.R.S32.HI R5, RZ, 0x7, R8", [128, 1, 1])).unwrap();
        assert!(draft.message.contains("the same bytes 32 times"), "{}", draft.message);
        assert!(draft.hint.contains("neighbouring values of the depth belong"), "{}", draft.hint);
    }

    #[test]
    fn blocks_in_several_rows_are_left_alone() {
        assert_eq!(check(&RULE, &of("SHF.R.S32.HI R5, RZ, 0x7, R4", [32, 4, 1])), None);
    }
}
