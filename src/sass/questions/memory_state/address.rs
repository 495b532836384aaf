//! Where the accesses of a loop go, and how that moves from turn to turn.

use crate::sass::Instruction;
use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::OperandKind;
use crate::sass::parse::number::{signed, without_offset};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::ADDRESS_STEPS;

use super::is_in;

/// Where an access of a loop goes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Address {
    /// Everything but the offset, by what made it.
    base: String,
    /// Bytes from there at a turn's beginning.
    offset: i64,
    /// Bytes by which it moves from turn to turn.
    pub(super) step: i64,
}

impl Address {
    /// Where the access goes a turn later.
    pub(super) fn a_turn_on(&self) -> Self {
        Self { offset: self.offset.wrapping_add(self.step), ..self.clone() }
    }

    /// True for the elements that an inner loop runs through.
    pub(super) fn is_of_inner_loop(&self) -> bool {
        self.base.contains(STARTS)
    }

    /// What the addresses of one state have in common: they may differ by the offset along which they move.
    pub(super) fn line(&self) -> Line {
        let offset = if self.step == 0 { self.offset } else { 0 };
        Line(Self { offset, ..self.clone() })
    }
}

/// The places that one state moves along.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line(Address);

/// Where an access goes; `None` where turns go to places that have nothing simple in common.
pub(super) fn address(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    access: usize,
) -> Option<Address> {
    let instruction = Instruction::parse(listing.text(access))?;
    let text =
        instruction.operands.iter().find(|operand| operand.kind == OperandKind::Memory)?.text;
    let (text, mut offset) = without_offset(text)?;
    let mut base = String::from(text);
    let (mut step, mut is_moved) = (0, None);
    for each in listing.sass.uses(access).iter().filter(|each| each.role == Role::Address) {
        if let Some(value) = value(listing, reaching, of, access, *each, ADDRESS_STEPS.whole()) {
            base.push_str(&value);
        } else {
            // A register of a pair takes the carry of the other one.
            let by_turn = moves(listing, reaching, of, access, *each)?;
            match (by_turn.by, is_moved) {
                (Some(by), None) => {
                    step = by;
                    offset = offset.wrapping_add(if by_turn.is_behind { by } else { 0 });
                    is_moved = Some(by_turn.is_behind);
                }
                (None, Some(is_behind)) if is_behind == by_turn.is_behind => {}
                _ => return None,
            }
        }
    }
    Some(Address { base, offset, step })
}

/// What stands in front of the first value of a register that an inner loop moves on.
const STARTS: &str = "(from";

/// A value that is the same in every turn, by what makes it in the loop: two with the same text are the same. The values
/// that it takes one after another in an inner loop may be, too. `None` for any other.
fn value(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    at: usize,
    each: Use,
    steps: usize,
) -> Option<String> {
    let makers: Vec<usize> = reaching.definitions(at, each).map(|maker| maker as usize).collect();
    if !makers.iter().any(|&maker| is_in(listing, of, maker)) {
        return Some(format!(" {}", each.slot.index()));
    }
    let mut made = |maker, but| made(listing, reaching, of, Made { maker, each, but }, steps);
    match *makers {
        [maker] => made(maker, &[]),
        [one, other] => {
            let flow = &listing.sass.flow;
            // The one that is in a loop within, which the other is not in, moves on what that one starts with.
            let is_within = |inner: usize, outer: usize| {
                flow.innermost(inner).is_some_and(|at| {
                    let inner = &flow.loops[at];
                    inner.blocks.len() < of.blocks.len() && !is_in(listing, inner, outer)
                })
            };
            let (start, step) = if is_within(other, one) { (one, other) } else { (other, one) };
            let follows = is_in(listing, of, start) && is_within(step, start);
            let (start, step) = (made(start, &[]).filter(|_| follows)?, made(step, &makers)?);
            Some(format!(" {STARTS}{start} by{step})"))
        }
        _ => None,
    }
}

/// A register with one of the instructions that make it.
struct Made<'a> {
    maker: usize,
    each: Use,
    /// The instructions that make its old value, where it is made of that.
    but: &'a [usize],
}

/// What an instruction makes of values that are the same in every turn, as [`value`] says it.
fn made(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    Made { maker, each, but }: Made,
    steps: usize,
) -> Option<String> {
    let entry = &listing.sass.entries[maker];
    let is_alike = !entry.conditional && !entry.family.is_memory() && steps > 0;
    let is_number = !matches!(
        entry.family,
        Family::Shuffle | Family::Vote | Family::System | Family::Atomic(_) | Family::Other
    );
    let (opcode, operands) =
        listing.text(maker).split_once(' ').filter(|_| is_alike && is_number)?;
    let (_, sources) = operands.split_once(',').unwrap_or_default();
    // Which of a pair it is.
    let place = listing.sass.defs(maker).iter().position(|slot| *slot == each.slot)?;
    let mut text = format!(" ({opcode} {} {place}", sources.replace(".reuse", ""));
    for source in listing.sass.uses(maker) {
        let is_old = source.slot == each.slot
            && !but.is_empty()
            && reaching.definitions(maker, *source).all(|at| but.contains(&(at as usize)));
        if is_old {
            continue;
        }
        text.push_str(&value(listing, reaching, of, maker, *source, steps - 1)?);
    }
    text.push(')');
    Some(text)
}

/// How a register moves on from turn to turn.
struct Moves {
    /// Bytes; `None` for the upper half of a pair, which takes the carry.
    by: Option<i64>,
    /// True where it has moved already when it is read.
    is_behind: bool,
}

/// How a register moves that one instruction of the loop adds a constant to; `None` for any other.
fn moves(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    at: usize,
    each: Use,
) -> Option<Moves> {
    let makers: Vec<usize> = reaching.definitions(at, each).map(|maker| maker as usize).collect();
    let mut inside = makers.iter().copied().filter(|&maker| is_in(listing, of, maker));
    let (maker, another) = (inside.next()?, inside.next());
    let entry = &listing.sass.entries[maker];
    let is_innermost = listing.sass.flow.innermost(maker) == listing.sass.flow.innermost(of.head)
        && listing.sass.flow.innermost(at) == listing.sass.flow.innermost(of.head);
    if another.is_some() || entry.conditional || !is_innermost {
        return None;
    }
    // The register itself is what the last turn left or what it was before the loop.
    let own = listing.sass.uses(maker).iter().find(|own| own.slot == each.slot).copied()?;
    let own_makers: Vec<usize> =
        reaching.definitions(maker, own).map(|maker| maker as usize).collect();
    if own_makers.len() < 2 || own_makers.iter().filter(|&&at| is_in(listing, of, at)).count() != 1
    {
        return None;
    }
    let instruction = Instruction::parse(listing.text(maker))?;
    let is_behind = makers.len() == 1;
    if instruction.has("X") {
        return Some(Moves { by: None, is_behind });
    }
    if !matches!(instruction.base(), "IADD3" | "VIADD" | "UIADD3" | "IADD") {
        return None;
    }
    let registers = listing.sass.uses(maker).iter().filter(|each| !each.slot.is_predicate());
    let mut numbers = instruction.operands.iter().filter_map(|operand| signed(operand.text));
    let by = numbers.next().filter(|_| registers.count() == 1 && numbers.next().is_none())?;
    Some(Moves { by: Some(by), is_behind })
}
