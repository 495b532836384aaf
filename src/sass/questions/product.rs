//! Multiply-adds of matrix products.

use crate::sass::code::listed_instruction::{Operation, place};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::{Sass, Use};
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// The element types that a tensor unit multiplies. It keeps what the plain pipes keep but for
/// [`Element::Single`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// 16-bit floats, summed in 16 or 32 bits.
    Half,
    /// Doubles.
    Double,
    /// 8-bit integers, four a register.
    Byte,
    /// 32-bit floats, which a tensor unit rounds to TF32: 10 bits behind the leading one.
    Single,
}

/// The instructions that do a multiply-add of a product, or a part of one. Its factors are two loads of its
/// loop, not scaled before and not constant, and what it makes ends up in a sum that the loop carries around:
/// at once, through further multiply-adds, or through an addition. Nothing else is marked, single-precision
/// factors included: a tensor unit would round them to 10 bits. [`element`] tells what is multiplied.
#[must_use]
pub fn products(listing: &Listing) -> Marks {
    summed(listing, false)
}

/// As [`products`], with single-precision factors as well, which a tensor unit rounds, and where a tile's loop over its
/// whole depth is unrolled.
#[must_use]
pub fn products_to_be_rounded(listing: &Listing) -> Marks {
    summed(listing, true)
}

fn summed(listing: &Listing, takes_floats: bool) -> Marks {
    let sass = listing.sass;
    let mut reaching = Reaching::new(sass);
    let taken = if takes_floats {
        Floats::All
    } else if shared_memory_holds_widened(listing, &mut reaching) {
        Floats::Widened
    } else {
        Floats::None
    };
    let multiplied =
        Marks::of(sass.entries.len(), |index| multiplies(listing, &mut reaching, index, taken));
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
    // Outside of loops, too, where those multiplications count.
    for around in (0..sass.flow.loops.len()).map(Some).chain([None]) {
        let inside = |index: &usize| sass.flow.innermost(*index) == around;
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
/// doubles or TF32 numbers.
fn fragment_depth(element: Element) -> u32 {
    match element {
        Element::Half => 8,
        Element::Byte | Element::Double | Element::Single => 4,
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
pub(super) fn is_around(sass: &Sass, index: usize, definition: usize) -> bool {
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

/// Which loaded floats count as factors, besides those that the loop widens from 16 bits itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Floats {
    None,
    /// Those in shared memory, which holds nothing but widened ones.
    Widened,
    /// All in shared memory.
    All,
}

/// True for a multiplication in a loop whose factors are two different loads.
fn multiplies(listing: &Listing, reaching: &mut Reaching, index: usize, taken: Floats) -> bool {
    let sass = listing.sass;
    let entry = &sass.entries[index];
    let multiplies = matches!(entry.operation, Some(Operation::Fused | Operation::Multiply));
    let Some(element) = element(sass, index).filter(|_| multiplies) else { return false };
    let has_place = |at: usize| taken == Floats::All || sass.flow.innermost(at).is_some();
    if !has_place(index) {
        return false;
    }
    let is_single = matches!(entry.family, Family::Fp32Fma | Family::Fp32Mul);
    let mut factors = data(sass, index).step_by(width(element));
    let Some((first, second)) = factors.next().zip(factors.next()) else { return false };
    let mut load = |each| {
        let (load, converted) = source(listing, reaching, index, each)?;
        if !has_place(load) {
            return None;
        }
        let is_shared = sass.entries[load].family == Family::Load(Space::Shared);
        (!is_single || converted || taken != Floats::None && is_shared).then_some(load)
    };
    let Some((first_load, second_load)) = load(first).zip(load(second)) else { return false };
    // One wide load can bring both.
    first_load != second_load || is_single && first.slot != second.slot
}

/// True where what the kernel stores to shared memory was widened from 16 bits: what it loads from there is as good
/// as loaded in 16 bits. What was computed beside that, such as scores that are multiplied once more, may be rounded
/// to 16 bits as its factors were; floats from memory may not.
fn shared_memory_holds_widened(listing: &Listing, reaching: &mut Reaching) -> bool {
    let sass = listing.sass;
    let stores = listing.entries().filter(|(index, entry)| {
        entry.family == Family::Store(Space::Shared) && listing.executed(*index) > 0.0
    });
    let mut widened = stores.filter_map(|(index, _)| {
        let data = sass.uses(index).iter().find(|each| each.role == Role::Data).copied();
        let (load, widened) = data.and_then(|each| source(listing, reaching, index, each))?;
        sass.flow.innermost(load).map(|_| widened)
    });
    widened.next() == Some(true) && widened.all(|widened| widened)
}

/// The load that a factor comes from, and whether it was widened from 16 bits on the way.
pub(super) fn source(
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
            Family::Load(_) => return Some((at, converted)),
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
mod tests;
