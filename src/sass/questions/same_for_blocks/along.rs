//! Arithmetic in which one direction of the grid takes no part: all blocks along it work out the same.

use super::places::places;
use crate::sass::code::listing::Listing;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;

/// An instruction that does the same in several blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alike {
    /// The instruction.
    pub at: usize,
    /// The direction of the grid that takes no part in it (0 for x); the longest of several.
    pub axis: usize,
    /// True for a load, false for arithmetic on floats or a conversion.
    pub is_load: bool,
}

/// Such arithmetic and loads of a kernel whose grid, in blocks, has more than one direction, in the order of their places; those
/// that no direction takes part in are left out.
#[must_use]
pub fn alike_along_grid(listing: &Listing, grid: [u32; 3]) -> Vec<Alike> {
    let directions = grid.iter().filter(|&&extent| extent > 1).count();
    if directions < 2 || !listing.is_whole() {
        return Vec::new();
    }
    let Some(places) = places(listing, grid) else { return Vec::new() };
    let mut found = Vec::new();
    for (at, entry) in listing.entries().filter(|(at, _)| listing.executed(*at) > 0.0) {
        let is_load = entry.family == Family::Load(Space::Global);
        // What a matrix instruction finds in shared memory is not known.
        let is_work = entry.family.is_float() && entry.family != Family::Tensor
            || matches!(entry.family, Family::Convert | Family::ConvertFp64);
        let place = &places[at];
        if !(is_load || is_work) || place.unknown {
            continue;
        }
        let takes_part = |axis: usize| place.goes_by(axis);
        let free = (0..3).filter(|&axis| grid[axis] > 1 && !takes_part(axis));
        let axis = free.max_by_key(|&axis| grid[axis]);
        if let Some(axis) = axis.filter(|_| (0..3).any(takes_part)) {
            found.push(Alike { at, axis, is_load });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A weight by blockIdx.x, converted and multiplied by an input by this index of the block.
    fn of(index: &'static str, grid: [u32; 3]) -> Vec<Alike> {
        let code = [
            ("S2R R1, SR_TID.X", 64.0),
            ("S2R R5, SR_CTAID.X", 64.0),
            (index, 64.0),
            ("LDC.64 R10, c[0x0][0x210]", 64.0),
            ("LDC.64 R12, c[0x0][0x218]", 64.0),
            ("IMAD R2, R5, 0x80, R1", 64.0),
            ("IMAD.WIDE R10, R2, 0x4, R10", 64.0),
            ("LDG.E R4, desc[UR4][R10.64]", 64.0), // 7
            ("I2FP.F32.S32 R4, R4", 64.0),
            ("IMAD R3, R6, 0x80, R1", 64.0),
            ("IMAD.WIDE R8, R3, 0x4, R12", 64.0),
            ("LDG.E R7, desc[UR4][R8.64]", 64.0), // 11
            ("FMUL R4, R4, R7", 64.0),
            ("STG.E desc[UR4][R8.64], R4", 64.0),
            ("EXIT", 64.0),
        ];
        alike_along_grid(&launch(&code).listing().unwrap(), grid)
    }

    #[test]
    fn what_follows_from_one_direction_is_alike_along_the_other() {
        let found = of("S2R R6, SR_CTAID.Y", [16, 4, 1]);
        let inputs = [7, 8].map(|at| Alike { at, axis: 1, is_load: at == 7 });
        let weights = [Alike { at: 11, axis: 0, is_load: true }];
        assert_eq!(found, [&inputs[..], &weights].concat());
        assert!(of("S2R R6, SR_CTAID.Y", [64, 1, 1]).is_empty(), "one direction");
        assert!(of("MOV R6, RZ", [16, 4, 1]).iter().all(|each| each.at != 11), "in no block's own");
        assert!(of("S2R R6, SR_CLOCKLO", [16, 4, 1]).iter().all(|each| each.at < 9), "unknown");
    }
}
