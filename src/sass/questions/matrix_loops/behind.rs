//! The loads behind a value that is stored, whatever changes its form on the way.

use crate::sass::code::sass::Sass;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::REARRANGING_STEPS;

/// The loads from global memory whose values a store takes, whether or not something rearranges or converts
/// them on the way.
pub(super) fn loads_behind(sass: &Sass, reaching: &mut Reaching, index: usize) -> Vec<usize> {
    let is_load = |family| matches!(family, Family::Load(Space::Global | Space::Generic));
    let mut loads = Vec::new();
    let mut open = vec![(index, 0_u32)];
    while let Some((at, steps)) = open.pop() {
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            for from in
                reaching.definitions(at, *each).map(|from| from as usize).collect::<Vec<_>>()
            {
                let family = sass.entries[from].family;
                if is_load(family) {
                    loads.push(from);
                } else if f64::from(steps) < REARRANGING_STEPS.value && rearranges(family) {
                    open.push((from, steps + 1));
                }
            }
        }
    }
    loads
}

/// True for what changes the form of a value.
fn rearranges(family: Family) -> bool {
    matches!(
        family,
        Family::HalfConvert
            | Family::Convert
            | Family::Move
            | Family::Integer
            | Family::IntegerMultiply
    )
}
