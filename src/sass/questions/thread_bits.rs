//! Which bits of the thread's index the work goes by.
//!
//! Where a block has more threads than what it works on has elements, its index is cut down to fewer bits: several threads then
//! do the same work with the same result. Conditions may go by the other bits, so that only one of them stores.

use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::{Instruction, OperandKind};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// The bits of `threadIdx.x` that any value other than a condition is made of; `None` where the index is not read, or it
/// can't be told what threads have in common: they exchange values, take tickets by atomics, or do different things by the
/// other bits than to store or not.
#[must_use]
pub fn bits_of_work(listing: &Listing) -> Option<u32> {
    let sass = listing.sass;
    let count = sass.entries.len();
    let is_executed = |at: usize| listing.executed(at) > 0.0;
    let is_index = |at: usize| {
        is_executed(at)
            && sass.entries[at].family == Family::System
            && listing.text(at).contains("SR_TID.X")
    };
    let roots = Marks::of(count, is_index);
    let tells_apart = |at: usize| match sass.entries[at].family {
        Family::Atomic(_) | Family::Reduction(_) => is_executed(at),
        Family::Shuffle | Family::Vote => !listing.text(at).contains("ELECT"),
        Family::System => {
            let others = ["SR_TID.Y", "SR_TID.Z", "SR_LANEID", "SR_VIRTID"];
            others.iter().any(|name| listing.text(at).contains(name))
        }
        _ => false,
    };
    if roots.are_none() || (0..count).any(tells_apart) {
        return None;
    }
    let mut reaching = Reaching::new(sass);
    let mut bits = 0;
    let mut conditions = Marks::new(count);
    for at in (0..count).filter(|&at| is_executed(at)) {
        let data = sass.uses(at).iter().filter(|each| each.role != Role::Old);
        for each in data.filter(|each| each.slot.is_general()) {
            if reaching.definitions(at, *each).any(|by| roots[by as usize]) {
                if is_condition(listing, at) {
                    conditions.insert(at);
                } else {
                    bits |= used(listing, at)?;
                }
            }
        }
    }
    only_let_stores_through(listing, &mut reaching, conditions).then_some(bits)
}

/// True where an instruction makes a condition and nothing else.
fn is_condition(listing: &Listing, at: usize) -> bool {
    let defs = listing.sass.defs(at);
    !defs.is_empty() && defs.iter().all(|slot| slot.is_predicate())
}

/// True where nothing goes by these conditions but which threads store.
fn only_let_stores_through(
    listing: &Listing,
    reaching: &mut Reaching,
    mut conditions: Marks,
) -> bool {
    let sass = listing.sass;
    let stores = |at: usize| matches!(sass.entries[at].family, Family::Store(_));
    loop {
        let mut more = false;
        for at in (0..sass.entries.len()).filter(|&at| listing.executed(at) > 0.0) {
            let mut uses = sass.uses(at).iter().filter(|each| each.slot.is_predicate());
            let goes_by =
                uses.any(|each| reaching.definitions(at, *each).any(|by| conditions[by as usize]));
            if !goes_by || stores(at) {
                continue;
            }
            match sass.entries[at].exit() {
                Exit::Branch(target) if skips_stores_alone(listing, at, target) => {}
                // Some threads end early; what follows must be stores.
                Exit::MaybeEnd if skips_stores_alone(listing, at, sass.entries.len()) => {}
                _ if is_condition(listing, at) => more |= conditions.insert(at),
                _ => return false,
            }
        }
        if !more {
            return true;
        }
    }
}

/// True where a branch ahead jumps over stores and what makes their values or addresses, and over no other memory access.
fn skips_stores_alone(listing: &Listing, at: usize, target: usize) -> bool {
    let sass = listing.sass;
    let skipped = sass.entries.get(at + 1..target);
    skipped.is_some_and(|entries| {
        let is_of_stores = |family: Family| match family {
            Family::Store(_) => true,
            Family::Barrier => false,
            other => !other.is_memory(),
        };
        entries.iter().all(|entry| is_of_stores(entry.family))
            && entries.iter().any(|entry| matches!(entry.family, Family::Store(_)))
    })
}

/// The bits of the index that an instruction passes on.
fn used(listing: &Listing, at: usize) -> Option<u32> {
    let instruction = Instruction::parse(listing.text(at))?;
    if instruction.base() != "LOP3" {
        return Some(u32::MAX);
    }
    // An intersection with a constant: `LOP3.LUT R0, R14, 0x7f, RZ, 0xc0, !PT`.
    let numbers: Vec<u32> = instruction
        .operands
        .iter()
        .filter(|operand| operand.kind == OperandKind::Other)
        .filter_map(|operand| u32::from_str_radix(operand.text.trim_start_matches("0x"), 16).ok())
        .collect();
    match numbers[..] {
        [mask, 0xc0] => Some(mask),
        _ => Some(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    const HALF: &str = "LOP3.LUT R0, R14, 0x7f, RZ, 0xc0, !PT";

    fn of(index: &'static str, then: &[&'static str]) -> Option<u32> {
        let mut code = vec![
            ("S2R R14, SR_TID.X", 8.0),
            (index, 8.0),
            ("LOP3.LUT P0, RZ, R14, 0x80, RZ, 0xc0, !PT", 8.0),
            ("IMAD.WIDE R2, R0, 0x4, R4", 8.0),
        ];
        code.extend(then.iter().map(|text| (*text, 8.0)));
        code.push(("EXIT", 8.0));
        bits_of_work(&launch(&code).listing().unwrap())
    }

    #[test]
    fn work_goes_by_the_bits_that_are_kept() {
        let store = ["@!P0 STG.E desc[UR4][R2.64], R5"];
        assert_eq!(of(HALF, &store), Some(0x7f));
        assert_eq!(of("IMAD.SHL.U32 R0, R14, 0x4, RZ", &store), Some(u32::MAX));
        assert_eq!(of("LOP3.LUT R0, R14, 0x7f, RZ, 0xfc, !PT", &store), Some(u32::MAX), "a union");
        let exchange = "SHFL.BFLY PT, R0, R14, 0x1, 0x1f";
        assert_eq!(of(exchange, &store), None, "lanes exchange what they have");
    }

    #[test]
    fn the_other_bits_may_only_decide_who_stores() {
        let past_store = ["@P0 BRA 0x60", "STG.E desc[UR4][R2.64], R5"];
        assert_eq!(of(HALF, &past_store), Some(0x7f), "a branch past the store");
        assert_eq!(of(HALF, &["@P0 EXIT", "STG.E desc[UR4][R2.64], R5"]), Some(0x7f));
        let combined = ["PLOP3.LUT P1, PT, P0, P2, PT, 0x80, 0x0", "@P1 STG.E [R2.64], R5"];
        assert_eq!(of(HALF, &combined), Some(0x7f), "two conditions");
        assert_eq!(of(HALF, &["@P0 LDG.E R5, [R2.64]", "STG.E [R2.64], R5"]), None, "a load");
        let path = ["@P0 BRA 0x70", "LDG.E R6, [R2.64+0x400]", "STG.E [R2.64], R6"];
        assert_eq!(of(HALF, &path), None, "other threads take another path");
        assert_eq!(of(HALF, &["@P0 IADD3 R5, R5, 0x1, RZ", "STG.E [R2.64], R5"]), None);
        assert_eq!(of(HALF, &["ATOMG.ADD PT, R6, [R2.64], R5"]), None, "each gets its own ticket");
    }
}
