//! Registers that a function saves for its caller: stored in its frame at the beginning, loaded again at the end.
//!
//! Only functions that are called save registers. Those of other translation units can't be inlined (`nvcc -dc`), so that
//! each call pays for it, whatever the function needs.

use crate::sass::Instruction;
use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// The accesses to local memory that save registers and bring them back, ascending.
#[must_use]
pub fn saved(listing: &Listing) -> Vec<usize> {
    let sass = listing.sass;
    let of = |family: Family| {
        let all = listing.entries().filter(move |(at, entry)| {
            entry.family == family && !entry.computed_address && listing.executed(*at) > 0.0
        });
        all.map(|(at, _)| at)
    };
    let mut stores: Vec<usize> = of(Family::Store(Space::Local)).collect();
    if stores.is_empty() {
        return stores;
    }
    let functions = listing.calls();
    let mut reaching = Reaching::new(sass);
    stores.retain(|&store| {
        let inside =
            functions.iter().map(|(_, function)| function).find(|each| each.contains(&store));
        let mut data = sass.uses(store).iter().filter(|each| each.role == Role::Data);
        data.all(|each| {
            let mut made_at = reaching.definitions(store, *each).map(|at| at as usize);
            match inside {
                Some(function) => made_at.all(|at| !function.contains(&at)),
                None => made_at.next().is_none(),
            }
        })
    });
    let kept: Vec<(&str, &str)> = stores
        .iter()
        .filter_map(|&at| operands(listing.text(at)))
        .map(|(to, from)| (from, to))
        .collect();
    let loads = of(Family::Load(Space::Local))
        .filter(|&at| operands(listing.text(at)).is_some_and(|each| kept.contains(&each)));
    // What nothing brings back was an argument.
    let back: Vec<usize> = loads.collect();
    let brought: Vec<(&str, &str)> =
        back.iter().filter_map(|&at| operands(listing.text(at))).collect();
    stores.retain(|&at| {
        operands(listing.text(at)).is_some_and(|(to, from)| brought.contains(&(from, to)))
    });
    stores.extend(back);
    stores.sort_unstable();
    stores
}

/// The two operands of an access to local memory, in the order of its text.
fn operands(text: &str) -> Option<(&str, &str)> {
    let instruction = Instruction::parse(text)?;
    let mut operands = instruction.operands.iter().map(|operand| operand.text);
    operands.next().zip(operands.next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn what_comes_from_the_caller_and_goes_back_to_it_is_saved() {
        let of = |made: &'static str, back: &'static str| {
            saved(
                &launch(&[
                    ("CALL.REL.NOINC 0x120", 9.0),
                    ("EXIT", 9.0),
                    (made, 9.0),
                    ("STL [R1+0x4], R16", 9.0),
                    ("FMUL R16, R2, R3", 9.0),
                    (back, 9.0),
                    ("RET.REL.NODEC R20 0x100", 9.0),
                ])
                .listing()
                .unwrap(),
            )
        };
        assert_eq!(of("NOP", "LDL R16, [R1+0x4]"), [3, 5]);
        assert!(of("FADD R16, R4, R5", "LDL R16, [R1+0x4]").is_empty(), "the function's own value");
        assert!(of("NOP", "LDL R17, [R1+0x4]").is_empty(), "an argument");
        assert!(of("NOP", "LDL R16, [R1+0x8]").is_empty(), "another place");
    }
}
