//! The way back from an address to what it is made of.

use super::Origin;
use crate::sass::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// Instructions that take part in a value.
#[derive(Debug, Default)]
pub(super) struct Makers {
    /// Loads of global memory.
    pub(super) loads: Vec<usize>,
    /// Loads of what the thread itself has stored in local memory.
    pub(super) local: Vec<usize>,
    /// Loads of shared memory.
    pub(super) shared: Vec<usize>,
    /// Conversions of floats to integers.
    pub(super) rounded: Vec<usize>,
    /// A float was loaded, from whatever memory, or is a function of another, such as a sine or a root.
    pub(super) floats: bool,
    /// Something takes part that is neither an index nor such a load.
    pub(super) obscure: bool,
    /// Combinations of two values, bit by bit, by exclusive or.
    pub(super) mixed: usize,
}

/// What makes the registers of an address in the last steps, from which the rest follows.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Start {
    pub(super) made_at: Vec<u32>,
    /// The guard of the access. What it sees was made under the same guard, if under any; under another one, the register may have
    /// kept what it held.
    guard: Option<String>,
    /// A general register takes part that no instruction here writes.
    pub(super) given: bool,
}

impl Start {
    pub(super) fn of(listing: &Listing, reaching: &mut Reaching, load: usize) -> Self {
        Self::of_role(listing, reaching, load, Role::Address)
    }

    pub(super) fn of_role(
        listing: &Listing,
        reaching: &mut Reaching,
        load: usize,
        role: Role,
    ) -> Self {
        let guard = guard(listing, load).map(str::to_owned);
        let mut start = Self { made_at: Vec::new(), guard, given: false };
        let uses = listing.sass.uses(load).iter();
        for each in uses.filter(|each| each.role == role) {
            let definitions = reaching.definitions(load, *each);
            start.given |= definitions.len() == 0 && each.slot.is_general();
            start.made_at.extend(definitions);
        }
        start
    }

    /// The same of several instructions together, under whatever guards.
    pub(super) fn of_all(
        listing: &Listing,
        reaching: &mut Reaching,
        all: impl Iterator<Item = usize>,
        role: Role,
    ) -> Self {
        let mut together = Self { made_at: Vec::new(), guard: None, given: false };
        for at in all {
            let own = Self::of_role(listing, reaching, at, role);
            together.given |= own.given;
            together.made_at.extend(own.made_at);
        }
        together
    }
}

/// Follows everything that the address is made of back to where it comes from, with the makers among that, until enough
/// is known.
pub(super) fn trace_until(
    listing: &Listing,
    reaching: &mut Reaching,
    load: usize,
    is_enough: impl Fn(&Origin) -> bool,
) -> (Origin, Makers) {
    let start = Start::of(listing, reaching, load);
    trace_from(listing, reaching, &start, is_enough)
}

/// The same from its last steps on.
pub(super) fn trace_from(
    listing: &Listing,
    reaching: &mut Reaching,
    start: &Start,
    is_enough: impl Fn(&Origin) -> bool,
) -> (Origin, Makers) {
    let sass = listing.sass;
    let (mut origin, mut makers) =
        (Origin { given: start.given, ..Origin::default() }, Makers::default());
    let mut seen = Marks::new(sass.entries.len());
    let mut open: Vec<usize> = start.made_at.iter().map(|&at| at as usize).collect();
    while let Some(at) = open.pop() {
        if is_enough(&origin) {
            break;
        }
        if !seen.insert(at) {
            continue;
        }
        match sass.entries[at].family {
            Family::System => {
                let before = std::mem::take(&mut origin.unknown);
                add(&mut origin, listing.text(at));
                makers.obscure |= origin.unknown;
                origin.unknown |= before;
            }
            family if family.is_memory() => {
                origin.unknown = true;
                makers.floats = true;
                match family {
                    Family::Load(Space::Global | Space::Generic) => makers.loads.push(at),
                    Family::Load(Space::Local) => {
                        makers.obscure = true;
                        makers.local.push(at);
                    }
                    Family::Load(Space::Shared) => {
                        makers.obscure = true;
                        makers.shared.push(at);
                    }
                    _ => makers.obscure = true,
                }
            }
            Family::Shuffle | Family::Vote => {
                origin.unknown = true;
                makers.obscure = true;
            }
            family => {
                makers.floats |= family == Family::SpecialFunction && !is_reciprocal(listing, at);
                makers.mixed += usize::from(mixes(listing, at));
                if rounds(listing, at) {
                    makers.rounded.push(at);
                }
                let keeps_old = guard(listing, at) != start.guard.as_deref();
                for each in sass.uses(at).iter().filter(|each| match each.role {
                    Role::Data | Role::Address => true,
                    Role::Old => keeps_old,
                    Role::Guard => false,
                }) {
                    let definitions = reaching.definitions(at, *each);
                    origin.given |= definitions.len() == 0 && each.slot.is_general();
                    open.extend(definitions.map(|at| at as usize));
                }
            }
        }
    }
    (origin, makers)
}

/// The guard of an instruction, such as `@!P0`.
fn guard<'a>(listing: &Listing<'a>, at: usize) -> Option<&'a str> {
    listing.text(at).split_whitespace().next().filter(|word| word.starts_with('@'))
}

/// True for a conversion of a float to an integer.
fn rounds(listing: &Listing, at: usize) -> bool {
    matches!(listing.sass.entries[at].family, Family::Convert | Family::ConvertFp64)
        && Instruction::base_of(listing.text(at)).is_some_and(|base| matches!(base, "F2I" | "UF2I"))
}

/// True for a division's function: `(float)i / width` is an index still.
fn is_reciprocal(listing: &Listing, at: usize) -> bool {
    listing.text(at).contains("MUFU.RCP")
}

/// Notes what a read of a special register brings in.
fn add(origin: &mut Origin, text: &str) {
    let axis = |name: &str| ["X", "Y", "Z"].iter().position(|axis| name.ends_with(axis));
    let Some(register) = text.split_whitespace().find(|word| word.starts_with("SR_")) else {
        return;
    };
    let register = register.trim_end_matches(';');
    match axis(register) {
        Some(at) if register.starts_with("SR_CTAID.") => origin.block[at] = true,
        Some(at) if register.starts_with("SR_TID.") => origin.thread[at] = true,
        _ if register == "SR_LANEID" => origin.lane = true,
        // Which block of its cluster it is: shared memory is addressed by it.
        _ if register == "SR_CgaCtaId" => {}
        _ => origin.unknown = true,
    }
}

/// True for an exclusive or of two registers, or of one and what two others make: flipping one of its operands flips each bit of
/// the result.
fn mixes(listing: &Listing, at: usize) -> bool {
    let text = listing.text(at);
    let Some(table) = text.contains("LOP3.LUT").then(|| look_up(text)).flatten() else {
        return false;
    };
    let flips = [4, 2, 1].iter().any(|&bit| {
        (0..8)
            .filter(|row| row & bit == 0)
            .all(|row| (table >> row & 1) != (table >> (row | bit) & 1))
    });
    let is_mixed = |each: &&Use| each.slot.is_general() && each.role == Role::Data;
    let mut registers = listing.sass.uses(at).iter().filter(is_mixed);
    flips && registers.next().is_some() && registers.next().is_some()
}

/// The table of `LOP3.LUT R0, R1, R2, RZ, 0x3c, !PT`: a bit of the result for each combination of three bits.
fn look_up(text: &str) -> Option<u8> {
    let table = text.split(',').map(str::trim).rfind(|operand| operand.starts_with("0x"))?;
    u8::from_str_radix(table.trim_start_matches("0x"), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn an_exclusive_or_mixes() {
        let is = |text: &str| mixes(&launch(&[(text, 1.0)]).listing().unwrap(), 0);
        assert!(is("LOP3.LUT R0, R1, R2, RZ, 0x3c, !PT"));
        assert!(is("LOP3.LUT R0, R1, R2, R3, 0x96, !PT"));
        assert!(is("LOP3.LUT R14, R3, 0x7, R2, 0x78, !PT"), "one and a part of the other");
        assert!(!is("LOP3.LUT R0, R1, 0x1f, RZ, 0x3c, !PT"), "a constant");
        assert!(!is("LOP3.LUT R0, R1, R2, RZ, 0xc0, !PT"), "and");
        assert!(!is("IADD3 R0, R1, R2, RZ"));
        assert!(
            !is("@!P2 LOP3.LUT R3, RZ, R5, RZ, 0x33, !PT"),
            "a complement, as divisions have it"
        );
    }
}
