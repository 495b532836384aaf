//! Multiply-adds of matrix products.

use super::access::Space;
use super::entry::Operation;
use super::listing::Listing;
use super::opcode::Family;
use super::operands::Role;
use super::reaching::Reaching;

/// The element types that a tensor unit multiplies without losing what the plain pipes keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// 16-bit floats, summed in 16 or 32 bits.
    Half,
    /// Doubles.
    Double,
    /// 8-bit integers, four a register.
    Byte,
}

/// For each instruction the elements of the product that it is a multiply-add of: it adds to a sum
/// that its loop carries around, or is the multiplication that such a one begins with, and both factors are
/// loaded in that loop, not scaled before and not constant. `None` for everything else, single-precision
/// factors included: a tensor unit would round them to 10 bits.
#[must_use]
pub fn products(listing: &Listing) -> Vec<Option<Element>> {
    let sass = listing.sass;
    let mut reaching = Reaching::new(sass);
    let widened_on_the_way = shared_memory_holds_widened(listing, &mut reaching);
    let of = |index: usize, reaching: &mut Reaching| -> Option<Element> {
        let entry = &sass.entries[index];
        let multiplies = matches!(entry.operation, Some(Operation::Fused | Operation::Multiply));
        if !multiplies || sass.flow.innermost(index).is_none() {
            return None;
        }
        let sum = *sass.defs(index).first()?;
        let data: Vec<_> =
            sass.uses(index).iter().filter(|each| each.role == Role::Data).copied().collect();
        let adds = data.iter().any(|each| each.slot == sum);
        let mut loads: Vec<usize> = Vec::new();
        let mut halves = true;
        for each in data.iter().filter(|each| !sass.defs(index).contains(&each.slot)) {
            let (load, converted) = source(listing, reaching, index, *each)?;
            let from_shared = sass.entries[load].family == Family::Load(Space::Shared);
            halves &= converted || from_shared && widened_on_the_way;
            loads.push(load);
        }
        loads.sort_unstable();
        loads.dedup();
        // A sum that unrolling renames goes through several registers, none of them loaded.
        if !adds && entry.operation == Some(Operation::Fused) || loads.len() < 2 {
            return None;
        }
        match entry.family {
            Family::Fp32Fma | Family::Fp32Mul if halves => Some(Element::Half),
            Family::HalfPacked | Family::HalfScalar => Some(Element::Half),
            Family::Fp64 => Some(Element::Double),
            Family::IntegerMultiply => Some(Element::Byte),
            _ => None,
        }
    };
    let mut products: Vec<Option<Element>> =
        (0..sass.entries.len()).map(|index| of(index, &mut reaching)).collect();
    for index in 0..products.len() {
        if sass.entries[index].operation == Some(Operation::Multiply)
            && !is_added_to(listing, index, &products)
        {
            products[index] = None;
        }
    }
    products
}

/// True where a multiply-add of the product takes the result of a multiplication as its summand.
fn is_added_to(listing: &Listing, index: usize, products: &[Option<Element>]) -> bool {
    let sass = listing.sass;
    let Some(&result) = sass.defs(index).first() else { return false };
    let end = sass.flow.blocks[sass.flow.block_of[index] as usize].end;
    let next = (index + 1..end).find(|&at| {
        sass.uses(at).iter().any(|each| each.slot == result && each.role == Role::Data)
    });
    next.is_some_and(|at| {
        sass.entries[at].operation == Some(Operation::Fused) && products[at].is_some()
    })
}

/// True where all that the kernel stores to shared memory was widened from 16 bits: what it loads from
/// there is as good as loaded in 16 bits.
fn shared_memory_holds_widened(listing: &Listing, reaching: &mut Reaching) -> bool {
    let sass = listing.sass;
    let stores = listing.entries().filter(|(index, entry)| {
        entry.family == Family::Store(Space::Shared) && listing.executed(*index) > 0.0
    });
    let mut widened = stores.map(|(index, _)| {
        let data = sass.uses(index).iter().find(|each| each.role == Role::Data).copied();
        data.and_then(|each| source(listing, reaching, index, each)).map(|(_, widened)| widened)
    });
    // None at all: nothing is loaded from there either.
    widened.all(|widened| widened == Some(true))
}

/// The load that a factor comes from, and whether it was widened from 16 bits on the way.
fn source(
    listing: &Listing,
    reaching: &mut Reaching,
    index: usize,
    each: super::listing::Use,
) -> Option<(usize, bool)> {
    let (mut at, mut each, mut converted) = (index, each, false);
    // A conversion, and copies or shifts between it and the load.
    for _ in 0..6 {
        at = reaching.definitions(at, each).next_back()? as usize;
        let entry = &listing.sass.entries[at];
        match entry.family {
            Family::Load(_) => {
                let inside = listing.sass.flow.innermost(at).is_some();
                return inside.then_some((at, converted));
            }
            Family::HalfConvert | Family::Integer | Family::IntegerMultiply => converted = true,
            // bfloat16 is widened by a shift or by a permutation of bytes; other copies keep the value.
            Family::Move => converted |= listing.text(at).contains("PRMT"),
            _ => return None,
        }
        each = *listing.sass.uses(at).iter().find(|each| each.role == Role::Data)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::listing::tests::launch;
    use super::*;

    fn of(code: &[&str]) -> Vec<Option<Element>> {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 1.0)).collect();
        products(&Listing::of(&launch(&code)).unwrap())
    }

    #[test]
    fn half_factors_widened_to_float_are_a_product() {
        let code = [
            "LDG.E.U16 R0, desc[UR4][R20.64]",
            "LDG.E.U16 R2, desc[UR4][R22.64]",
            "HADD2.F32 R4, -RZ, R0.H0_H0",
            "HADD2.F32 R5, -RZ, R2.H0_H0",
            "FFMA R6, R4, R5, R6",
            "@P0 BRA 0x100",
        ];
        assert_eq!(of(&code)[4], Some(Element::Half));
        assert_eq!(of(&code[..5])[4], None, "no loop");
    }

    #[test]
    fn floats_constants_and_scaled_factors_are_none() {
        let loads = ["LDS R0, [R20]", "LDS R2, [R22]"];
        let ends = "@P0 BRA 0x100";
        for (line, expected) in [
            ("FFMA R6, R0, R2, R6", None),
            ("HFMA2 R6, R0, R2, R6", Some(Element::Half)),
            ("HFMA2 R6, R0, R0, R6", None),
            ("HFMA2 R6, R0, c[0x0][0x160], R6", None),
            ("HFMA2 R6, R0, R2, R8", None),
            ("IDP.4A.S8.S8 R6, R0, R2, R6", Some(Element::Byte)),
        ] {
            assert_eq!(of(&[loads[0], loads[1], line, ends])[2], expected, "{line}");
        }
        let copied = ["LDS R0, [R20]", "LDS R2, [R22]", "MOV R8, R0", "FFMA R6, R8, R2, R6", ends];
        assert_eq!(of(&copied)[3], None, "a copy is no conversion");
        let doubles = ["LDS.64 R0, [R20]", "LDS.64 R2, [R22]", "DFMA R6, R0, R2, R6", ends];
        assert_eq!(of(&doubles)[2], Some(Element::Double));
    }
}
