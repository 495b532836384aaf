//! Values that a loop rounds or puts together before its matrix instructions take them.

use super::products::{is_product, opcode};
use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::REARRANGING_STEPS;

/// Values that a loop turns into the operands of its matrix instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversions {
    /// The instructions that convert or put together what was loaded.
    pub conversions: Vec<usize>,
    /// Those of them whose results are operands: a register each.
    pub last: Vec<usize>,
    /// The loads of what is converted.
    pub loads: Vec<usize>,
    /// True where floats are rounded; else halves or bytes are put together.
    pub rounds: bool,
}

/// Operands of a warp's matrix instructions that the same loop rounds from floats, or puts together from
/// narrower loads; `None` where none are. Narrow numbers that are widened, and values that the loop itself
/// works out, need their conversions and are left out.
#[must_use]
pub fn conversions(listing: &Listing) -> Option<Conversions> {
    let sass = listing.sass;
    let mut reaching = Reaching::new(sass);
    let mut found =
        Conversions { conversions: Vec::new(), last: Vec::new(), loads: Vec::new(), rounds: false };
    for product in (0..sass.entries.len()).filter(|&at| is_product(listing, at)) {
        let Some(around) = sass.flow.innermost(product) else { continue };
        let uses: Vec<_> =
            sass.uses(product).iter().filter(|each| each.role == Role::Data).copied().collect();
        for each in uses {
            let made: Vec<usize> =
                reaching.definitions(product, each).map(|from| from as usize).collect();
            for last in made {
                if found.last.contains(&last) || sass.flow.innermost(last) != Some(around) {
                    continue;
                }
                let Some((chain, loads)) = narrowed(listing, &mut reaching, last) else { continue };
                found.rounds |= rounds(listing, last);
                found.last.push(last);
                found.conversions.extend(chain);
                found.loads.extend(loads);
            }
        }
    }
    for list in [&mut found.conversions, &mut found.last, &mut found.loads] {
        list.sort_unstable();
        list.dedup();
    }
    (!found.last.is_empty()).then_some(found)
}

/// True for a rounding of floats to something narrower.
fn rounds(listing: &Listing, index: usize) -> bool {
    let opcode = opcode(listing, index);
    opcode.starts_with("F2FP") && opcode.contains(".F32")
}

/// A rounding of loaded floats, or a permutation that puts narrow loads together, with what stands before it
/// back to the loads.
fn narrowed(
    listing: &Listing,
    reaching: &mut Reaching,
    last: usize,
) -> Option<(Vec<usize>, Vec<usize>)> {
    let sass = listing.sass;
    let rounds = rounds(listing, last);
    if !rounds && !opcode(listing, last).starts_with("PRMT") {
        return None;
    }
    let (mut chain, mut loads) = (vec![last], Vec::new());
    let mut open = vec![(last, 0_u32)];
    while let Some((at, steps)) = open.pop() {
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            let made: Vec<usize> =
                reaching.definitions(at, *each).map(|from| from as usize).collect();
            for from in made {
                let entry = &sass.entries[from];
                match entry.family {
                    Family::Load(_) if rounds == (entry.width >= 4) => loads.push(from),
                    Family::Move | Family::Integer | Family::IntegerMultiply
                        if f64::from(steps) < REARRANGING_STEPS.value && from != at =>
                    {
                        if !chain.contains(&from) {
                            chain.push(from);
                            open.push((from, steps + 1));
                        }
                    }
                    _ => return None,
                }
            }
        }
    }
    (!loads.is_empty()).then_some((chain, loads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn converted(code: &[&str]) -> Option<Conversions> {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 1.0)).collect();
        conversions(&launch(&code).listing().unwrap())
    }

    const BACK: &str = "@P0 BRA 0x100";

    #[test]
    fn what_is_as_wide_as_it_is_multiplied_needs_no_conversion() {
        let product = "HMMA.16816.F32 R24, R8, R12, R24";
        let put = |load| converted(&[load, "PRMT R12, R4, 0x5410, R4", product, BACK]).is_some();
        assert!(put("LDS.U16 R4, [R20]") && !put("LDS R4, [R20]"));
        let unpacked = ["LDS R4, [R20]", "F2FP.F16.E4M3.UNPACK_B R12, R4", product, BACK];
        assert_eq!(converted(&unpacked), None, "bytes that become halves");
        let rounded = "F2FP.F16.F32.PACK_AB R12, R5, R4";
        assert!(converted(&["LDS.64 R4, [R20]", rounded, product, BACK]).is_some());
        let once = ["LDS.64 R4, [R20]", rounded, product, "@P0 BRA 0x120"];
        assert_eq!(converted(&once), None, "rounded before the loop");
    }

    #[test]
    fn three_steps_may_stand_between_a_load_and_its_rounding() {
        let rounded = |steps: usize| {
            let mut code = vec!["LDS R4, [R20]"];
            code.extend_from_slice(&["MOV R5, R4", "MOV R4, R5"].repeat(2)[..steps]);
            let last = if steps.is_multiple_of(2) { "R4" } else { "R5" };
            let rounding = format!("F2FP.F16.F32.PACK_AB R8, {last}, {last}");
            code.extend([&*rounding, "HMMA.16816.F32 R24, R8, R12, R24", BACK]);
            converted(&code).map(|found| found.conversions.len())
        };
        // The moves and the rounding itself.
        assert_eq!((rounded(3), rounded(4)), (Some(4), None));
    }
}
