//! Values that are loaded only to be written back where they came from, except where a mask replaces them.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::SECTOR_BYTES;
use crate::model::Effect;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::written_back::{WrittenBack, written_back};
use crate::term::Term;
use crate::text::{count, percent};

const FROM_L1: &str = "lts__t_sectors_srcunit_tex.sum";
const READ: &str = "dram__bytes_read.sum";
const WRITTEN: &str = "dram__bytes_write.sum";

/// The part of the elements that a mask replaces.
const REPLACED: Threshold = Threshold {
    what: "constant: share of the elements that a mask replaces; those it leaves need no store",
    value: 0.5,
    unit: "share",
    source: "definition: half, since no counter tells; the lower end of the range assumes that all are replaced",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "values-written-back",
    kind: Kind::Cause,
    summary: "values are loaded only to be written back unchanged, except where a mask replaces them",
    explanation: "\
To fill an array's masked elements with a constant in place (x = where(mask, -inf, x)), no element has to be loaded: the constant can be \
stored under the mask, and nothing happens to the others. Written as a selection between the loaded value and the constant, each element is \
fetched and stored, twice the traffic or more, and often for a mask that leaves most of them alone. The rule looks for stores to the very addresses that \
their values were loaded from, where nothing but selections of constants has changed these, and nothing else reads them. The estimate takes all those loads away, and the stores of half of the elements: how many the mask leaves alone is not counted.",
    examples: &[Example {
        fault: "\
float v = logits[i];
logits[i] = allowed(i) ? v : -INFINITY;",
        repair: "\
if (!allowed(i)) logits[i] = -INFINITY;",
        note: "\
Where the mask is read as well, let a lane that has nothing to replace leave early.",
    }],
    section: "MemoryWorkloadAnalysis",
    thresholds: &[MATTERS_LIMIT, REPLACED],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[Reads::always(&[FROM_L1, READ, WRITTEN])],
    source_page: SourcePage::Needed,
    unrecorded: Some(
        "its answer is changed in place, while a ladder's outputs are poisoned before each checked run; seen on two kernels of other people",
    ),
    explains: &["long-scoreboard-stalls", "lg-throttle", "issue-slots-underused"],
    in_triton: "\
store the constant alone, under the mask (tl.store(ptrs, float('-inf'), mask=banned)), in place of tl.load, tl.where, and a store of all.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let found = written_back(&launch.profile.listing()?);
    if found.is_empty() {
        return None;
    }
    let least = effect(launch, &found, 0.0)?;
    let effect = Effect {
        at_least: Some(Box::new(least.clone())),
        ..effect(launch, &found, 1.0 - REPLACED.value)?
    };
    if !gains(launch, &effect) {
        return None;
    }
    let listing = launch.profile.listing()?;
    let is_store = |at: usize| found.iter().any(|each| each.store == at);
    let weight = |at: usize| if is_store(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "stores of what was loaded");
    let loads: f64 = found.iter().map(|each| listing.executed(each.load)).sum();
    let at = place(&locations, "the stores");
    let traffic = match least.share_of(Term::L2) {
        share if share > 0.0 => {
            format!(" {} of what L1 asks of L2 would go with the loads alone.", percent(share))
        }
        _ => String::new(),
    };
    Some(Draft {
        message: format!(
            "{} warp-wide loads bring values that {at} stores back to where they came from, except where a mask puts constants in \
             their place. No load is needed for that.{traffic}",
            count(loads),
        ),
        evidence: vec![Evidence::new("warp-wide loads of what is stored back", loads, "inst")],
        hint: format!(
            "Store the constant at {at} only where the mask asks for it, and load nothing: what stays the same need not be written."
        ),
        locations,
        effect,
    })
}

/// What goes with the loads, and with the share of the stores that change nothing (0 to 1).
fn effect(launch: &ModeledLaunch, found: &[WrittenBack], unchanged: f64) -> Option<Effect> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    for each in found {
        removal.remove(each.load, 1.0);
        removal.remove(each.store, unchanged);
    }
    let mut effect = removal.effect(launch);
    let sectors = |at: usize| listing.row(at).counters.l2_sectors_global;
    let read: f64 = found.iter().map(|each| sectors(each.load)).sum();
    let gone = read + unchanged * found.iter().map(|each| sectors(each.store)).sum::<f64>();
    if let Some(asked) = launch.get(FROM_L1).filter(|&asked| asked > 0.0) {
        let share = (gone / asked).min(1.0);
        effect.removed.extend([(Term::L2, share), (Term::L2Requests, share)]);
    }
    if let Some((fetched, written)) = launch.get(READ).zip(launch.get(WRITTEN)) {
        let stored = (gone - read) * SECTOR_BYTES;
        let gone = (read * SECTOR_BYTES).min(fetched) + stored.min(written);
        effect.removed.push((Term::Dram, (gone / (fetched + written).max(1.0)).min(1.0)));
    }
    Some(effect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};

    fn of(store: &'static str) -> Option<Draft> {
        let code = [
            ("LDC.64 R2, c[0x0][0x210]", 8.0),
            ("LDG.E R6, desc[UR4][R8.64]", 8.0),
            ("LDG.E R4, desc[UR4][R2.64]", 8.0),
            ("ISETP.NE.AND P0, PT, R6, RZ, PT", 8.0),
            ("SEL R4, R4, 0xff800000, P0", 8.0),
            (store, 8.0),
            ("EXIT", 8.0),
        ];
        let dram = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
        let bytes = [(READ, 32.0 * 36.0), (WRITTEN, 32.0 * 28.0)];
        let mut metrics = vec![(ISSUE_BUSY, 10.0), (dram, 85.0), (FROM_L1, 64.0)];
        metrics.extend(bytes);
        let mut launch = sass(&metrics, &code);
        for at in [2, 5] {
            launch.instructions[at].counters.l2_sectors_global = 32.0;
        }
        check(&RULE, &launch)
    }

    #[test]
    fn loads_go_and_half_of_the_stores() {
        let draft = of("STG.E desc[UR4][R2.64], R4").unwrap();
        // Of 64 sectors 32 are loaded and 16 are half of the stores; of 36 read and 28 written 32 and 16.
        assert!((draft.effect.share_of(Term::L2) - 0.75).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::Dram) - 0.75).abs() < 1e-12);
        let least = draft.effect.at_least.unwrap();
        assert!((least.share_of(Term::Dram) - 0.5).abs() < 1e-12, "where all are replaced");
        assert!(of("STG.E desc[UR4][R10.64], R4").is_none());
    }
}
