//! What a loop makes of the outcomes of its comparisons.

use crate::hardware::WARP_LANES;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// What goes by the outcomes of a loop's comparisons.
pub(super) struct Outcomes {
    /// The instructions that count, keep, or add up.
    pub are_kept: Marks,
    /// The share of the comparing lanes that find their entry, where something is added up for it.
    pub matched: Option<f64>,
}

impl Outcomes {
    /// `None` where the loop does anything else by its outcomes: whatever is no count, flag, or branch must be done for fewer than a
    /// lane per warp on average, so that those with a match are few.
    pub(super) fn find(
        listing: &Listing,
        reaching: &mut Reaching,
        all: &[usize],
        within: &Marks,
        compares: &Marks,
    ) -> Option<Self> {
        let sass = listing.sass;
        let mut of_these = compares.clone();
        of_these.spread(&within.clone(), |at, of_these| {
            sass.uses(at)
                .iter()
                .any(|each| reaching.definitions(at, *each).any(|by| of_these[by as usize]))
        });
        let passed_by = passed_by(listing, all, within, &of_these, compares)?;
        let mut are_kept = Marks::new(sass.entries.len());
        let mut added = Vec::new();
        for &at in all.iter().filter(|&&at| (of_these[at] || passed_by[at]) && !compares[at]) {
            let is_guarded = |reaching: &mut Reaching| {
                let mut guards = sass.uses(at).iter().filter(|each| each.role == Role::Guard);
                guards.any(|each| reaching.definitions(at, *each).any(|by| of_these[by as usize]))
            };
            match sass.entries[at].family {
                Family::Integer | Family::IntegerMultiply | Family::Move | Family::Uniform => {
                    are_kept.insert(at);
                }
                Family::Control | Family::Vote => {}
                // Lanes and warps add their counts up.
                Family::Shuffle | Family::Store(Space::Shared)
                    if passes_on(listing, reaching, at, &of_these) => {}
                _ if listing.executed(at) <= 0.0 => {}
                family if adds_up(family) && (passed_by[at] || is_guarded(reaching)) => {
                    are_kept.insert(at);
                    added.push(at);
                }
                _ => return None,
            }
        }
        if added.is_empty() {
            return Some(Self { are_kept, matched: None });
        }
        // Where nothing counted the lanes that guards let through, this is no number.
        let most = |lanes: &mut dyn Iterator<Item = usize>| {
            let let_through = |at| listing.row(at).counters.thread_inst_executed_pred_on;
            lanes.map(let_through).fold(0.0, f64::max)
        };
        let matched = most(&mut added.into_iter()) / most(&mut compares.iter());
        (matched < 1.0 / WARP_LANES).then_some(Self { are_kept, matched: Some(matched) })
    }
}

/// What branches pass by that go by the outcomes. `None` where one leads back, or around a loop.
fn passed_by(
    listing: &Listing,
    all: &[usize],
    within: &Marks,
    of_these: &Marks,
    compares: &Marks,
) -> Option<Marks> {
    let sass = listing.sass;
    let mut found = Marks::new(sass.entries.len());
    for &at in all.iter().filter(|&&at| of_these[at] && !compares[at]) {
        let entry = &sass.entries[at];
        // Who has found one may leave.
        let target = entry.target().filter(|&target| within[target] && target != all[0]);
        if let (Family::Control, Some(target)) = (entry.family, target) {
            let here = sass.flow.innermost(at);
            if target <= at || (at..target).any(|each| sass.flow.innermost(each) != here) {
                return None;
            }
            (at + 1..target).for_each(|each| _ = found.insert(each));
        }
    }
    Some(found)
}

/// True for what adds up values of entries: reads of these, arithmetic on them, and the sum's way to memory.
fn adds_up(family: Family) -> bool {
    matches!(
        family,
        Family::Load(_)
            | Family::Constant
            | Family::Store(Space::Global)
            | Family::Fp32Fma
            | Family::Fp32Mul
            | Family::Fp32Add
            | Family::Fp64
            | Family::HalfPacked
            | Family::HalfScalar
            | Family::HalfConvert
            | Family::Convert
    )
}

/// True where an instruction only hands on what some others made, and goes by it neither in its guard nor in its address.
fn passes_on(listing: &Listing, reaching: &mut Reaching, at: usize, others: &Marks) -> bool {
    let mut steers = listing.sass.uses(at).iter().filter(|each| each.role != Role::Data);
    !steers.any(|each| reaching.definitions(at, *each).any(|by| others[by as usize]))
}
