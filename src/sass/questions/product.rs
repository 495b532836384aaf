//! Multiply-adds of matrix products.

use crate::sass::code::listed_instruction::{Operation, place};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::{Sass, Use};
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

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

/// The instructions that do a multiply-add of a product, or a part of one. Its factors are two loads of its
/// loop, not scaled before and not constant, and what it makes ends up in a sum that the loop carries around:
/// at once, through further multiply-adds, or through an addition. Nothing else is marked, single-precision
/// factors included: a tensor unit would round them to 10 bits. [`element`] tells what is multiplied.
#[must_use]
pub fn products(listing: &Listing) -> Marks {
    let sass = listing.sass;
    let mut reaching = Reaching::new(sass);
    let widened = shared_memory_holds_widened(listing, &mut reaching);
    let multiplied =
        Marks::of(sass.entries.len(), |index| multiplies(listing, &mut reaching, index, widened));
    let mut products = Marks::new(sass.entries.len());
    if multiplied.are_none() {
        return products;
    }
    for index in 0..sass.entries.len() {
        if multiplied[index] {
            let carries = summand(sass, index).is_some_and(|summand| {
                reaching
                    .definitions(index, summand)
                    .any(|from| is_around(sass, index, from as usize) || products[from as usize])
            });
            if carries {
                products.insert(index);
            }
        } else if sass.entries[index].operation == Some(Operation::Add) {
            add_up(listing, &mut reaching, index, &multiplied, &mut products);
        }
    }
    unrolled(listing, &mut reaching, &multiplied, &mut products);
    products
}

/// Marks products whose sums no loop carries, since the loop over their terms is unrolled: chains of
/// multiply-adds as deep as a fragment, in a loop around them that loads fewer words than it multiplies. A
/// product of tiles does so, where a product of two vectors loads two words for each multiply-add.
fn unrolled(listing: &Listing, reaching: &mut Reaching, multiplied: &Marks, products: &mut Marks) {
    let sass = listing.sass;
    // In the listing's order a summand is made before it is used; around a loop it is carried and marked
    // already.
    let mut links: Vec<Multiplication> = Vec::new();
    for index in multiplied.iter() {
        let before = summand(sass, index).filter(|_| !products[index]).and_then(|each| {
            let mut made = reaching.definitions(index, each).map(|at| at as usize);
            let first = made.next().filter(|_| made.next().is_none())?;
            let before = links.binary_search_by_key(&first, |link| link.index as usize).ok()?;
            (element(sass, first) == element(sass, index)).then_some(before)
        });
        let depth = before.map_or(0, |at| links[at].depth) + u32::from(!products[index]);
        links.push(Multiplication { index: place(index), before: before.map(place), depth });
    }
    let mut chained = Marks::new(sass.entries.len());
    for link in links.iter().rev() {
        let index = link.index as usize;
        let is_deep = element(sass, index).is_some_and(|each| link.depth >= fragment_depth(each));
        if is_deep || chained[index] {
            chained.insert(index);
            if let Some(at) = link.before {
                chained.insert(links[at as usize].index as usize);
            }
        }
    }
    if chained.are_none() {
        return;
    }
    for around in 0..sass.flow.loops.len() {
        let inside = |index: &usize| sass.flow.innermost(*index) == Some(around);
        let multiplications = chained.iter().filter(inside).count();
        let words: f64 = listing
            .entries()
            .filter(|(index, entry)| matches!(entry.family, Family::Load(_)) && inside(index))
            .map(|(_, entry)| f64::from(entry.width) / 4.0)
            .sum();
        if multiplications as f64 > words {
            for index in chained.iter().filter(inside) {
                products.insert(index);
            }
        }
    }
}

/// A multiplication of two loads, in a chain of such.
struct Multiplication {
    index: u32,
    /// The one that makes its summand, as a place in the list of all.
    before: Option<u32>,
    /// How many of the chain end with it that are not marked yet.
    depth: u32,
}

/// Multiply-adds over which the shallowest fragments sum: 8 halves, 16 bytes of four in a register, 4
/// doubles.
fn fragment_depth(element: Element) -> u32 {
    match element {
        Element::Half => 8,
        Element::Byte | Element::Double => 4,
    }
}

/// Marks what an addition to a carried sum takes from multiplications, and the addition.
fn add_up(
    listing: &Listing,
    reaching: &mut Reaching,
    index: usize,
    multiplied: &Marks,
    products: &mut Marks,
) {
    let sass = listing.sass;
    let data: Vec<Use> = data(sass, index).collect();
    let carries = data.iter().any(|each| {
        reaching.definitions(index, *each).any(|at| is_around(sass, index, at as usize))
    });
    let mut open: Vec<(usize, Use)> = data.into_iter().map(|each| (index, each)).collect();
    while let Some((at, each)) = open.pop().filter(|_| carries) {
        for from in reaching.definitions(at, each).map(|from| from as usize).collect::<Vec<_>>() {
            if multiplied[from] && products.insert(from) {
                products.insert(index);
                open.extend(summand(sass, from).map(|each| (from, each)));
            }
        }
    }
}

/// True where a definition reaches its use around the loop.
fn is_around(sass: &Sass, index: usize, definition: usize) -> bool {
    definition >= index && sass.flow.innermost(index) == sass.flow.innermost(definition)
}

fn data(sass: &Sass, index: usize) -> impl Iterator<Item = Use> {
    sass.uses(index).iter().filter(|each| each.role == Role::Data).copied()
}

/// Registers of an operand.
fn width(element: Element) -> usize {
    if element == Element::Double { 2 } else { 1 }
}

/// What a multiply-add adds its product to.
fn summand(sass: &Sass, index: usize) -> Option<Use> {
    data(sass, index).nth(2 * width(element(sass, index)?))
}

/// The elements that an instruction multiplies where its factors are loads, or adds up where they are
/// products of such; `None` for other arithmetic.
#[must_use]
pub fn element(sass: &Sass, index: usize) -> Option<Element> {
    Some(match sass.entries[index].family {
        Family::Fp32Fma
        | Family::Fp32Mul
        | Family::Fp32Add
        | Family::HalfPacked
        | Family::HalfScalar => Element::Half,
        Family::Fp64 => Element::Double,
        Family::IntegerMultiply => Element::Byte,
        _ => return None,
    })
}

/// True for a multiplication in a loop whose factors are two different loads.
fn multiplies(
    listing: &Listing,
    reaching: &mut Reaching,
    index: usize,
    widened_in_shared: bool,
) -> bool {
    let sass = listing.sass;
    let entry = &sass.entries[index];
    let multiplies = matches!(entry.operation, Some(Operation::Fused | Operation::Multiply));
    let Some(element) = element(sass, index).filter(|_| multiplies) else { return false };
    if sass.flow.innermost(index).is_none() {
        return false;
    }
    let is_single = matches!(entry.family, Family::Fp32Fma | Family::Fp32Mul);
    let mut factors = data(sass, index).step_by(width(element));
    let Some((first, second)) = factors.next().zip(factors.next()) else { return false };
    let mut load = |each| {
        let (load, converted) = source(listing, reaching, index, each)?;
        let is_shared = sass.entries[load].family == Family::Load(Space::Shared);
        (!is_single || converted || is_shared && widened_in_shared).then_some(load)
    };
    let Some((first_load, second_load)) = load(first).zip(load(second)) else { return false };
    // One wide load can bring both.
    first_load != second_load || is_single && first.slot != second.slot
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
    widened.next() == Some(Some(true)) && widened.all(|widened| widened == Some(true))
}

/// The load that a factor comes from, and whether it was widened from 16 bits on the way.
fn source(
    listing: &Listing,
    reaching: &mut Reaching,
    index: usize,
    each: Use,
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
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(code: &[&str]) -> Vec<Option<Element>> {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 1.0)).collect();
        let launch = launch(&code);
        let listing = launch.listing().unwrap();
        let products = products(&listing);
        let of = |index| element(listing.sass, index).filter(|_| products[index]);
        (0..code.len()).map(of).collect()
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

    #[test]
    fn sums_may_change_registers_and_gather_two_products() {
        let loads = ["LDS R0, [R20]", "LDS R2, [R22]"];
        // Unrolled by two: the sum goes from R6 to R7 and back.
        let renamed = ["HFMA2 R7, R0, R2, R6", "HFMA2 R6, R0, R2, R7", "@P0 BRA 0x100"];
        let found = of(&[&loads[..], &renamed[..]].concat());
        assert_eq!(found[2..4], [Some(Element::Half); 2]);
        let gathered =
            ["HMUL2 R7, R0, R2", "HFMA2 R8, R0, R2, R7", "HADD2 R6, R8, R6", "@P0 BRA 0x100"];
        let found = of(&[&loads[..], &gathered[..]].concat());
        assert_eq!(found[2..5], [Some(Element::Half); 3], "the addition is part of it");
        let stored = ["HMUL2 R7, R0, R2", "HFMA2 R8, R0, R2, R7", "STG.E desc[UR4][R2.64], R8"];
        let found = of(&[&loads[..], &stored[..], &["@P0 BRA 0x100"]].concat());
        assert_eq!(found[2..4], [None; 2], "a product of complex numbers sums nothing up");
    }

    #[test]
    fn an_unrolled_sum_is_a_product_where_its_factors_serve_a_tile() {
        // Two words are loaded for five multiply-adds of four bytes each: four of one sum, one of another.
        let chain = [
            "LDS R0, [R20]",
            "LDS R2, [R22]",
            "IDP.4A.S8.S8 R6, R0, R2, RZ",
            "IDP.4A.S8.S8 R6, R0, R2, R6",
            "IDP.4A.S8.S8 R6, R0, R2, R6",
            "IDP.4A.S8.S8 R6, R0, R2, R6",
            "IDP.4A.S8.S8 R9, R0, R2, RZ",
            "STS [R24], R6",
            "@P0 BRA 0x100",
        ];
        let found = of(&chain);
        assert_eq!(found[2..6], [Some(Element::Byte); 4]);
        assert_eq!(found[6], None, "a chain of one");
        let shallow: Vec<&str> =
            chain.iter().enumerate().filter(|(at, _)| *at != 3).map(|(_, line)| *line).collect();
        assert_eq!(of(&shallow)[2..5], [None; 3], "not as deep as a fragment");
        let vectors = [&["LDS.128 R28, [R20]", "LDS.128 R32, [R22]"][..], &chain[..]].concat();
        assert_eq!(of(&vectors)[4..8], [None; 4], "ten words for four multiply-adds");
    }

    #[test]
    fn what_was_widened_before_it_was_shared_is_a_half() {
        let product = |stored: &'static str| {
            of(&[
                "LDG.E.U16 R0, desc[UR4][R20.64]",
                "HADD2.F32 R4, -RZ, R0.H0_H0",
                stored,
                "LDS R2, [R22]",
                "LDS R3, [R23]",
                "FFMA R6, R2, R3, R6",
                "@P0 BRA 0x100",
            ])[5]
        };
        assert_eq!(product("STS [R24], R4"), Some(Element::Half));
        assert_eq!(product("STS [R24], R0"), None);
    }

    #[test]
    fn halves_are_summed_over_eight() {
        let chain = |count: usize| {
            let mut code = vec!["LDS R0, [R20]", "LDS R2, [R22]", "HFMA2 R6, R0, R2, RZ"];
            code.extend(vec!["HFMA2 R6, R0, R2, R6"; count - 1]);
            code.extend(["STS [R24], R6", "@P0 BRA 0x100"]);
            of(&code)[2]
        };
        assert_eq!((chain(7), chain(8)), (None, Some(Element::Half)));
    }

    #[test]
    fn one_load_can_bring_both_factors() {
        let of = |second: &'static str| {
            of(&[
                "LDG.E R0, desc[UR4][R20.64]",
                "HADD2.F32 R4, -RZ, R0.H0_H0",
                "HADD2.F32 R5, -RZ, R0.H1_H1",
                second,
                "@P0 BRA 0x100",
            ])[3]
        };
        assert_eq!(of("FFMA R6, R4, R5, R6"), Some(Element::Half));
        assert_eq!(of("FFMA R6, R4, R4, R6"), None, "a square");
    }

    #[test]
    fn factors_are_loaded_in_a_loop_and_near() {
        let outside = ["LDS R0, [R20]", "LDS R2, [R22]", "HFMA2 R6, R0, R2, R6", "@P0 BRA 0x120"];
        assert_eq!(of(&outside)[2], None);
        // A conversion and so many copies stand between the load and the product.
        let copied = |count: usize| {
            let mut code = vec!["LDS R2, [R22]", "LDS R0, [R20]"];
            code.extend(vec!["MOV R0, R0"; count]);
            code.extend(["HFMA2 R6, R0, R2, R6", "@P0 BRA 0x100"]);
            of(&code)[count + 2]
        };
        assert_eq!((copied(5), copied(6)), (Some(Element::Half), None));
    }

    #[test]
    fn what_a_loop_around_carries_is_no_sum_of_the_inner_one() {
        let inner = |summand: &'static str| {
            of(&[
                "LDS R0, [R20]", // 0x100: the heads of both loops, an instruction apart
                "LDS R0, [R20]", // 0x110
                "LDS R2, [R22]",
                summand,
                "@P0 BRA 0x110",
                "MOV R6, R8",
                "@P1 BRA 0x100",
            ])[3]
        };
        assert_eq!(inner("HFMA2 R6, R0, R2, R6"), Some(Element::Half));
        assert_eq!(inner("HFMA2 R7, R0, R2, R6"), None);
    }
}
