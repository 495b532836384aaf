//! Indices of 64 bits that are a large part of what is fetched.

use crate::evidence::modeled_launch::place;
use crate::evidence::passed_on::{FROM_L1, READ, Traffic, WRITTEN, sectors};
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::model::Effect;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::Listing;
use crate::sass::questions::wide_indices::wide_indices;
use crate::term::Term;
use crate::text::{bytes, percent};

/// The part of a 64-bit index that goes.
const GONE: Threshold = Threshold {
    what: "constant: share of a 64-bit index that one of 32 bits spares",
    value: 0.5,
    unit: "share",
    source: "definition: 4 of 8 bytes",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "wide-indices",
    kind: Kind::Cause,
    summary: "indices of 64 bits are a large part of what the kernel fetches",
    explanation: "\
Sparse formats, gathers and look-ups load an index for each value, and where it has 64 bits it is often larger than the value: a \
CSR matrix of floats with 64-bit columns moves 12 bytes per entry, 8 of them index. Tensors of indices have 64 bits by default in \
PyTorch and NumPy. Indices of 32 bits reach two billion elements (four if unsigned). The rule looks for 64-bit values that are shifted or \
multiplied as one number and used in nothing but integer arithmetic. It counts half of their sectors, and half of their bytes from DRAM. Only the \
data tells whether all values fit in 32 bits.",
    examples: &[Example {
        fault: "\
const long long* column;                   // 8 bytes per entry, the value 4
for (int e = row[r]; e < row[r + 1]; ++e)
    sum += value[e] * x[column[e]];",
        repair: "\
const int* column;                         // converted once
for (int e = row[r]; e < row[r + 1]; ++e)
    sum += value[e] * x[column[e]];",
        note: "\
8 bytes per entry in place of 12. A conversion before each launch would cost more than it gives: store the \
indices so.",
    }],
    section: "MemoryWorkloadAnalysis",
    thresholds: &[MATTERS_LIMIT, GONE],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[Reads::always(&[FROM_L1, READ, WRITTEN])],
    source_page: SourcePage::Needed,
    explains: &["long-scoreboard-stalls", "lg-throttle"],
    in_triton: "\
convert the tensor of indices once, where it is made (indices.to(torch.int32)), and load that.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let listing = launch.profile.listing()?;
    let loads = wide_indices(&listing);
    let asked = launch.get(FROM_L1).filter(|&asked| asked > 0.0)?;
    if loads.is_empty() {
        return None;
    }
    let traffic = Traffic::new(&listing, asked);
    let effect = effect(launch, &traffic, &loads)?;
    if !gains(launch, &effect) {
        return None;
    }
    let weight = |at: usize| if loads.contains(&at) { sectors(&listing, at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "sectors of indices");
    let loaded = loaded(&listing, &loads);
    let of_all = traffic.delivered(&listing, &loads) / asked;
    Some(Draft {
        message: format!(
            "It loads {} of indices, 8 bytes each, that serve for addresses alone. They are {} of what L1 asks of L2.",
            bytes(loaded),
            percent(of_all.min(1.0)),
        ),
        evidence: vec![Evidence::new("bytes of 64-bit indices", loaded, "byte")],
        hint: format!(
            "Store the indices that {} loads in 32 bits, if their values fit: half of these bytes need not be fetched. Convert them once, \
             where they are made, and not before each launch.",
            place(&locations, "the kernel"),
        ),
        locations,
        effect,
    })
}

/// Bytes that the lanes of some loads ask for.
fn loaded(listing: &Listing, loads: &[usize]) -> f64 {
    let of = |&at: &usize| {
        let lanes = listing.row(at).counters.thread_inst_executed_pred_on;
        lanes * f64::from(listing.sass.entries[at].width)
    };
    loads.iter().map(of).sum()
}

fn effect(launch: &ModeledLaunch, traffic: &Traffic, loads: &[usize]) -> Option<Effect> {
    let mut removal = Removal::new(launch)?;
    for &at in loads {
        removal.remove_wavefronts(at, GONE.value);
    }
    let listing = removal.listing;
    let mut effect = removal.effect(launch);
    let delivered = traffic.delivered(&listing, loads);
    let share = (GONE.value * delivered / traffic.asked).min(1.0);
    effect.removed.extend([(Term::L2, share), (Term::L2Requests, share)]);
    if let (Some(read), Some(written)) = (launch.get(READ), launch.get(WRITTEN)) {
        // Indices that are loaded once come from DRAM in full; of such that L2 has from before, no more than their part does.
        let loaded = loaded(&listing, loads);
        let from_dram =
            if loaded <= read { loaded } else { read * traffic.part_of_loads(&listing, loads) };
        effect
            .removed
            .push((Term::Dram, (GONE.value * from_dram / (read + written).max(1.0)).min(1.0)));
    }
    Some(effect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::rules::testing::{check, sass};

    /// 64 sectors of indices, 32 of what they lead to.
    fn made(load: &'static str) -> Launch {
        let code = [
            ("S2R R9, SR_TID.X", 8.0),
            ("LDC.64 R2, c[0x0][0x210]", 8.0),
            ("IMAD.WIDE R2, R9, 0x8, R2", 8.0),
            (load, 8.0),
            ("LEA R6, P0, R4, UR4, 0x2", 8.0),
            ("LEA.HI.X R7, R4, UR5, R5, 0x2, P0", 8.0),
            ("LDG.E R8, desc[UR8][R6.64]", 8.0),
            ("EXIT", 8.0),
        ];
        let dram = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
        let values = [
            (ISSUE_BUSY, 10.0),
            (dram, 85.0),
            (FROM_L1, 96.0),
            (READ, 96.0 * 32.0),
            (WRITTEN, 0.0),
        ];
        let mut launch = sass(&values, &code);
        launch.instructions[3].counters.l2_sectors_global = 64.0;
        launch.instructions[3].counters.thread_inst_executed_pred_on = 256.0;
        launch.instructions[6].counters.l2_sectors_global = 32.0;
        launch
    }

    #[test]
    fn half_of_the_indices_go() {
        let draft = check(&RULE, &made("LDG.E.64 R4, desc[UR8][R2.64]")).unwrap();
        for term in [Term::L2, Term::Dram] {
            assert!((draft.effect.share_of(term) - 1.0 / 3.0).abs() < 1e-12);
        }
        assert!(draft.message.starts_with("It loads 2.05 kB of indices"), "{}", draft.message);
    }

    #[test]
    fn indices_that_l2_has_from_before_cost_no_dram() {
        let mut again = made("LDG.E.64 R4, desc[UR8][R2.64]");
        again.set(READ, Some(1000.0));
        let draft = check(&RULE, &again).unwrap();
        let part = 0.5 * 64.0 / 96.0;
        assert!(
            (draft.effect.share_of(Term::Dram) - part).abs() < 1e-12,
            "their part of the loads"
        );
        assert!(check(&RULE, &made("LDG.E R4, desc[UR8][R2.64]")).is_none(), "of 32 bits");
    }
}
