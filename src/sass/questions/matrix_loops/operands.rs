//! What a kernel loads for the matrix instructions of its warps.

use super::products::{is_warp_product, members};
use super::staged::staged;
use crate::sass::code::listing::Listing;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// What a kernel loads for its matrix instructions, over all its loops with such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operands {
    /// The matrix instructions.
    pub products: Vec<usize>,
    /// The loads that bring their operands to registers: from shared memory, or where there are none there,
    /// from global memory.
    pub loads: Vec<usize>,
    /// The executed instructions of their loops and of the loops around them that copy, ascending.
    pub inside: Vec<usize>,
}

/// What is loaded for a warp's matrix instructions; `None` where no loop has such.
#[must_use]
pub fn operand_loads(listing: &Listing) -> Option<Operands> {
    let sass = listing.sass;
    let mut products = Vec::new();
    let mut loops: Vec<usize> = Vec::new();
    for index in (0..sass.entries.len()).filter(|&at| is_warp_product(listing, at)) {
        if let Some(of) = sass.flow.innermost(index) {
            products.push(index);
            if !loops.contains(&of) {
                loops.push(of);
            }
        }
    }
    let mut around: Vec<usize> = loops.iter().flat_map(|&of| members(listing, of)).collect();
    let of = |space: Space| -> Vec<usize> {
        let is_load = |at: &usize| sass.entries[*at].family == Family::Load(space);
        around.iter().copied().filter(is_load).collect()
    };
    let mut loads = of(Space::Shared);
    if loads.is_empty() {
        loads = of(Space::Global);
    }
    if products.is_empty() || loads.is_empty() {
        return None;
    }
    around.extend(staged(listing).into_iter().flat_map(|each| each.inside));
    around.sort_unstable();
    around.dedup();
    Some(Operands { products, loads, inside: around })
}

impl Operands {
    /// Bytes per lane of what a matrix instruction multiplies, its sums left out.
    #[must_use]
    pub fn operand_bytes(&self, listing: &Listing, index: usize) -> f64 {
        let sass = listing.sass;
        let read = sass.uses(index).iter().filter(|each| each.role == Role::Data).count();
        4.0 * read.saturating_sub(sass.defs(index).len()) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn operands_may_come_from_global_memory_at_once() {
        let code = [
            ("LDG.E.128 R8, desc[UR4][R2.64]", 1.0),
            ("HMMA.16816.F32 R12, R8, R10, R12", 1.0),
            ("@P0 BRA 0x100", 1.0),
        ];
        let launch = launch(&code);
        let found = operand_loads(&launch.listing().unwrap()).unwrap();
        assert_eq!((found.products, found.loads), (vec![1], vec![0]));
    }
}
