//! How far a product's loop goes along the depth between two of its barriers.

use std::collections::HashMap;

use super::products::{is_group_product, is_product, opcode};
use super::staged::StagedLoop;
use crate::hardware::{GROUP_ROW_BYTES, REGISTER_BYTES, WARP_LANES, WARP_ROWS};
use crate::sass::code::listing::Listing;
use crate::sass::flow::turns::turns;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::operands::Role;

/// One step of a loop along the depth of a product: what its warps multiply from one barrier to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DepthStep {
    /// Bytes of an operand's row that it goes along, at most.
    pub bytes: f64,
    /// Turns of the loop, for an average warp that comes to it.
    pub turns: f64,
}

/// The longest step of a loop along the depth; `None` where its products stand in no loop, or no barrier stands beside them.
#[must_use]
pub fn depth_step(listing: &Listing, each: &StagedLoop) -> Option<DepthStep> {
    let first = each.inside.iter().position(|&at| ends_step(listing, at))?;
    let around = each.inside[first..].iter().chain(&each.inside[..first]);
    let mut of_sum: HashMap<&str, f64> = HashMap::new();
    let mut bytes = 0.0_f64;
    for &at in around {
        if ends_step(listing, at) {
            of_sum.clear();
        } else if is_product(listing, at) {
            let sum = Instruction::parse(listing.text(at))?.operands.first()?.text;
            let sofar = of_sum.entry(sum).or_default();
            *sofar += row_bytes(listing, at);
            bytes = bytes.max(*sofar);
        }
    }
    let product = each.inside.iter().copied().find(|&at| is_product(listing, at))?;
    let flow = &listing.sass.flow;
    let of = &flow.loops[flow.innermost(product)?];
    Some(DepthStep { bytes, turns: turns(listing, of) })
}

/// True for a barrier of the block, and for a wait at one in shared memory.
fn ends_step(listing: &Listing, at: usize) -> bool {
    listing.is_block_barrier(at) || opcode(listing, at).starts_with("SYNCS.PHASECHK")
}

/// Bytes of a row of the first operand that a matrix instruction multiplies.
fn row_bytes(listing: &Listing, at: usize) -> f64 {
    if is_group_product(listing, at) {
        return GROUP_ROW_BYTES;
    }
    // The first operand has twice as many registers as the second, whose columns are half as many as the rows.
    let sass = listing.sass;
    let read = sass.uses(at).iter().filter(|each| each.role == Role::Data).count();
    let operands = read.saturating_sub(sass.defs(at).len()) as f64;
    operands * 2.0 / 3.0 * REGISTER_BYTES * WARP_LANES / WARP_ROWS
}

#[cfg(test)]
mod tests {
    use super::super::staged::staged;
    use super::*;
    use crate::sass::code::listing::tests::launch;

    const COPY: &str = "LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64]";
    const BARRIER: &str = "BAR.SYNC.DEFER_BLOCKING 0x0";
    const GROUP: &str = "HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8].tnspB, R24, gsb0";

    /// The step of the only loop of code whose turns run eight times for each warp.
    fn step(turn: &[&str]) -> Option<DepthStep> {
        let mut code: Vec<(&str, f64)> = vec![("MOV R20, R22", 10.0)];
        code.extend(turn.iter().map(|text| (*text, 80.0)));
        code.extend([("@P0 BRA 0x110", 80.0), ("EXIT", 10.0)]);
        let launch = launch(&code);
        let listing = launch.listing().unwrap();
        let found = staged(&listing);
        assert_eq!(found.len(), 1);
        depth_step(&listing, &found[0])
    }

    #[test]
    fn products_of_one_sum_between_barriers_make_a_step() {
        let one = step(&[BARRIER, GROUP, BARRIER, COPY]).unwrap();
        assert_eq!(one, DepthStep { bytes: 32.0, turns: 8.0 });
        assert!((step(&[BARRIER, GROUP, GROUP, GROUP, COPY]).unwrap().bytes - 96.0).abs() < 1e-12);
        let other = "HGMMA.64x128x16.F32.BF16 R88, gdesc[UR8].tnspB, R88, gsb0";
        let columns = step(&[BARRIER, GROUP, other, COPY]).unwrap();
        assert!((columns.bytes - 32.0).abs() < 1e-12, "another sum is another tile");
    }

    #[test]
    fn a_loop_that_is_unrolled_has_a_step_between_each_two_barriers() {
        let unrolled = step(&[GROUP, BARRIER, COPY, GROUP, BARRIER, COPY]).unwrap();
        assert!((unrolled.bytes - 32.0).abs() < 1e-12);
        // One that goes around the loop's end.
        let around = step(&[GROUP, BARRIER, COPY, GROUP]).unwrap();
        assert!((around.bytes - 64.0).abs() < 1e-12);
    }

    #[test]
    fn a_warp_multiplies_16_rows() {
        let product = |text| step(&[BARRIER, COPY, text]).unwrap().bytes;
        assert!((product("HMMA.16816.F32 R12, R8, R4, R12") - 32.0).abs() < 1e-12);
        assert!((product("HMMA.1688.F32 R12, R8, R4, R12") - 16.0).abs() < 1e-12);
    }

    #[test]
    fn without_a_barrier_there_is_no_step() {
        assert_eq!(step(&["WARPSYNC 0xffffffff", GROUP, COPY]), None);
    }
}
