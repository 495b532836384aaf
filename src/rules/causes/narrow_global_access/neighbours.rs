//! Neighbouring elements that a thread accesses one at a time.

use foldhash::{HashMap, HashMapExt};

use crate::evidence::vectors::{DENSE, NARROW, lanes};
use crate::hardware::SECTOR_BYTES;
use crate::sass::parse::access::address;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::register::Slot;
use crate::sass::{Family, Listing, Marks, Space};

/// Dense bytes that are not aligned touch so many sectors more per access.
pub(super) const UNALIGNED_SECTORS: f64 = 1.0;

/// Two accesses of a thread to elements side by side: one would do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    /// The accesses.
    pub(super) both: [usize; 2],
    /// Bytes of both.
    pub(super) bytes: u8,
}

/// The accesses of up to half of [`NARROW`] bytes whose neighbour the same thread accesses as well, from the same register in the same
/// run of instructions, where both together fill the sectors that they touch.
pub(super) fn pairs(listing: Listing, narrow: &Marks) -> Vec<Pair> {
    let mut found = Vec::new();
    // The last access by its register, kind and width.
    let mut open: HashMap<(Slot, Family, u8), (i64, usize)> = HashMap::new();
    let mut block = usize::MAX;
    for (at, entry) in listing.entries() {
        let own_block = listing.sass.flow.block_of[at] as usize;
        if own_block != block {
            open.clear();
            block = own_block;
        }
        let is_global =
            matches!(entry.family, Family::Load(Space::Global) | Family::Store(Space::Global));
        let is_small = is_global && !narrow[at] && (1..=NARROW / 2).contains(&entry.width);
        let instruction = is_small.then(|| Instruction::parse(listing.text(at))).flatten();
        if let Some((base, offset)) = instruction.and_then(|each| address(&each)) {
            let key = (base, entry.family, entry.width);
            let bytes = 2 * entry.width;
            match open.get(&key) {
                Some(&(before, other))
                    if offset.checked_sub(before) == Some(i64::from(entry.width))
                        && is_dense(listing, at, bytes)
                        && is_dense(listing, other, bytes) =>
                {
                    open.remove(&key);
                    found.push(Pair { both: [other, at], bytes });
                }
                _ => _ = open.insert(key, (offset, at)),
            }
        }
        // The register holds another address from here on.
        open.retain(|(base, ..), _| !listing.sass.defs(at).contains(base));
    }
    found
}

/// True where so many bytes per lane fill the sectors that an access touches, which its own bytes would not even where they are not
/// aligned: lanes that lie side by side with their own bytes, as in a stencil, share those of their neighbours.
fn is_dense(listing: Listing, at: usize, bytes: u8) -> bool {
    let counters = &listing.row(at).counters;
    let sectors_of = |bytes: u8| lanes(counters) * f64::from(bytes) / SECTOR_BYTES;
    let unaligned = UNALIGNED_SECTORS * counters.inst_executed;
    let filled = sectors_of(bytes);
    let touched = counters.l2_sectors_global;
    touched > sectors_of(bytes / 2) + unaligned && touched <= filled + unaligned.max(DENSE * filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::sass;

    /// Ten loads of a byte and another instruction between, then ten more; each touches so many sectors.
    fn found(second: &str, between: &str, sectors: f64) -> usize {
        let code = [
            ("LDG.E.S8 R6, desc[UR4][R2.64+0x2]", 10.0),
            (between, 10.0),
            (second, 10.0),
            ("EXIT", 10.0),
        ];
        let mut launch = sass(&[], &code);
        for at in [0, 2] {
            let counters = &mut launch.instructions[at].counters;
            counters.thread_inst_executed_pred_on = 320.0;
            counters.l2_sectors_global = 10.0 * sectors;
        }
        pairs(launch.listing().unwrap(), &Marks::new(code.len())).len()
    }

    #[test]
    fn the_next_byte_at_the_same_register_makes_a_pair() {
        let (next, other) = ("LDG.E.S8 R8, desc[UR4][R2.64+0x3]", "FADD R9, R9, R10");
        // 64 bytes fill 2 sectors, and lie in 3 where they begin in the middle of one; 32 such bytes lie in 2.
        assert_eq!((found(next, other, 3.0), found(next, other, 2.1)), (1, 1));
        assert_eq!(found(next, other, 3.1), 0, "apart");
        assert_eq!(found(next, other, 2.0), 0, "the lanes' bytes side by side");
        assert_eq!(found(next, "IADD3 R2, R2, 0x4, RZ", 3.0), 0, "from another address on");
        assert_eq!(found("LDG.E.S8 R8, desc[UR4][R2.64+0x4]", other, 3.0), 0, "the next but one");
        assert_eq!(found("LDG.E.S8 R8, desc[UR4][R4.64+0x3]", other, 3.0), 0, "another array");
        assert_eq!(found("LDG.E.U16 R8, desc[UR4][R2.64+0x3]", other, 3.0), 0, "wider");
    }
}
