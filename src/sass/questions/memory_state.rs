//! State that a loop keeps in global memory: a thread loads what it stored itself a statement or a turn before.
//!
//! An address is the same in every turn where nothing in the loop makes its registers, or makes them anew from such that
//! nothing makes. One that a constant is added to in every turn is followed as well: the element before the one that is
//! stored is what the last turn stored. And so is one that an inner loop moves on and that starts over in every turn: each
//! turn comes to the same elements again, as the steps of a simulation do.

use crate::sass::Instruction;
use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::OperandKind;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::ADDRESS_STEPS;

/// A value of a thread that a loop keeps in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryState {
    /// The loads that see a store of the same thread, ascending.
    pub loads: Vec<usize>,
    /// The stores of what is worked out from it, ascending.
    pub stores: Vec<usize>,
    /// True where each turn stores to another place, as a running sum does: the stores are results.
    pub moves: bool,
    /// Bytes per lane.
    pub bytes: u8,
    /// True where a turn loads what an earlier one stored, and not only what it stored itself.
    pub is_carried: bool,
    /// True where an inner loop runs through it: an element for each of its turns.
    pub is_array: bool,
}

/// What a loop keeps in memory.
#[must_use]
pub fn kept(listing: &Listing, reaching: &mut Reaching, of: &Loop) -> Vec<MemoryState> {
    let flow = &listing.sass.flow;
    let blocks = of.blocks.iter().map(|&block| &flow.blocks[block as usize]);
    let places = blocks.flat_map(|block| block.start..block.end);
    let (mut loads, mut stores): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for at in places.filter(|&at| listing.executed(at) > 0.0) {
        match listing.sass.entries[at].family {
            Family::Load(Space::Global | Space::Generic) => loads.push(at),
            Family::Store(Space::Global | Space::Generic) => stores.push(at),
            _ => {}
        }
    }
    if loads.is_empty() || stores.is_empty() {
        return Vec::new();
    }
    let addresses = |reaching: &mut Reaching, of_accesses: &[usize]| -> Vec<(usize, Address)> {
        let accesses = of_accesses.iter().filter(|&&at| is_of_one_thread(listing.text(at)));
        accesses.filter_map(|&at| Some((at, address(listing, reaching, of, at)?))).collect()
    };
    let stores = addresses(reaching, &stores);
    let loads = if stores.is_empty() { Vec::new() } else { addresses(reaching, &loads) };
    let mut found: Vec<(&Address, MemoryState)> = Vec::new();
    for (load, from) in &loads {
        let of_load = |(store, to): &&(usize, Address)| from.sees(*load, to, *store);
        let seen: Vec<usize> = stores.iter().filter(of_load).map(|(store, _)| *store).collect();
        let bytes = listing.sass.entries[*load].width;
        let is_same = |at: &usize| listing.sass.entries[*at].width == bytes;
        if seen.is_empty() || !seen.iter().all(is_same) {
            continue;
        }
        let known = found.iter().position(|(address, _)| address.is_along(from));
        let place = known.unwrap_or_else(|| {
            let (loads, stores, moves) = (Vec::new(), Vec::new(), from.step != 0);
            let is_array = from.base.contains(STARTS);
            let state = MemoryState { loads, stores, moves, bytes, is_carried: moves, is_array };
            found.push((from, state));
            found.len() - 1
        });
        let state = &mut found[place].1;
        state.loads.push(*load);
        state.stores.extend(seen);
        state.stores.sort_unstable();
        state.stores.dedup();
    }
    let mut states: Vec<MemoryState> = found.into_iter().map(|(_, state)| state).collect();
    // One value of a state may be made of another one.
    let of_states = Marks::of(listing.sass.entries.len(), |at| {
        states.iter().any(|state| state.loads.contains(&at))
    });
    states.retain_mut(|state| {
        let first = state.loads[0];
        state.is_carried |= state.stores.first().is_some_and(|&store| first < store);
        state.stores.retain(|&store| is_made_of(listing, reaching, of, store, &of_states));
        !state.stores.is_empty()
    });
    states
}

/// The other loads of the loop that are issued only behind the first use of the state, in the same turn: instructions issue
/// in order, and loads can't be moved ahead of stores that may change what they load. Those behind other stores are left
/// out, as these stay.
#[must_use]
pub fn behind(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    states: &[MemoryState],
) -> Vec<usize> {
    let sass = listing.sass;
    let count = sass.entries.len();
    let of_state = Marks::of(count, |at| states.iter().any(|state| state.loads.contains(&at)));
    let goes = |at: usize| states.iter().any(|state| !state.moves && state.stores.contains(&at));
    let blocks = of.blocks.iter().map(|&block| &sass.flow.blocks[block as usize]);
    let places = blocks.flat_map(|block| block.start..block.end);
    let mut has_waited = false;
    let mut found = Vec::new();
    for at in places.filter(|&at| listing.executed(at) > 0.0) {
        match sass.entries[at].family {
            Family::Load(Space::Global | Space::Generic) if has_waited && !of_state[at] => {
                found.push(at);
            }
            Family::Store(Space::Global | Space::Generic) if !goes(at) => break,
            _ => {}
        }
        has_waited |= sass
            .uses(at)
            .iter()
            .any(|each| reaching.definitions(at, *each).any(|maker| of_state[maker as usize]));
    }
    found
}

/// False for accesses that are meant for other threads to see, or that nothing in the kernel writes.
fn is_of_one_thread(text: &str) -> bool {
    !["STRONG", "CONSTANT", "MMIO"].iter().any(|mark| text.contains(mark))
}

/// Where an access of a loop goes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Address {
    /// Everything but the offset, by what made it.
    base: String,
    /// Bytes from there at a turn's beginning.
    offset: i64,
    /// Bytes by which it moves from turn to turn.
    step: i64,
}

impl Address {
    /// True for one that differs by the offset alone, along which it moves.
    fn is_along(&self, other: &Self) -> bool {
        self.base == other.base
            && self.step == other.step
            && (self.step != 0 || self.offset == other.offset)
    }

    /// True where a load from here sees what a store wrote there: in its own turn, or in the one before.
    fn sees(&self, load: usize, other: &Self, store: usize) -> bool {
        let ahead = other.offset.wrapping_sub(self.offset);
        let is_turn_before = ahead == self.step;
        self.is_along(other) && (is_turn_before || ahead == 0 && store < load)
    }
}

/// Where an access goes; `None` where turns go to places that have nothing simple in common.
fn address(
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

/// An address in brackets in two: the registers, and the number of bytes added to them.
fn without_offset(text: &str) -> Option<(&str, i64)> {
    let inside = text.strip_suffix(']')?;
    match inside
        .rsplit_once("+0x")
        .map(|(base, digits)| (base, digits, 1))
        .or_else(|| inside.rsplit_once("+-0x").map(|(base, digits)| (base, digits, -1)))
    {
        Some((base, digits, sign)) => Some((base, sign * i64::from_str_radix(digits, 16).ok()?)),
        None => Some((inside, 0)),
    }
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
    let mut numbers = instruction.operands.iter().filter_map(|operand| number(operand.text));
    let by = numbers.next().filter(|_| registers.count() == 1 && numbers.next().is_none())?;
    Some(Moves { by: Some(by), is_behind })
}

/// A number as it stands in the code: `0x10`, `-0x4`.
fn number(text: &str) -> Option<i64> {
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
    let value = i64::from_str_radix(digits.strip_prefix("0x")?, 16).ok()?;
    // Additions wrap around at 32 bits.
    let wrapped = i32::try_from(value).or_else(|_| u32::try_from(value).map(u32::cast_signed));
    Some(sign * i64::from(wrapped.ok()?))
}

/// True where what is stored is worked out, through registers, from what some of these load in the loop.
fn is_made_of(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    store: usize,
    loads: &Marks,
) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![store];
    while let Some(at) = open.pop() {
        for each in sass.uses(at).iter().filter(|each| each.role != Role::Address) {
            for maker in reaching.definitions(at, *each).map(|maker| maker as usize) {
                if loads[maker] {
                    return true;
                }
                let goes_on = is_in(listing, of, maker) && !sass.entries[maker].family.is_memory();
                if goes_on && seen.insert(maker) {
                    open.push(maker);
                }
            }
        }
    }
    false
}

fn is_in(listing: &Listing, of: &Loop, at: usize) -> bool {
    of.blocks.binary_search(&listing.sass.flow.block_of[at]).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// What a loop with this body keeps in memory.
    fn of(body: &[&str]) -> Vec<MemoryState> {
        let mut code = vec![("LDC.64 R2, c[0x0][0x210]", 8.0)];
        code.extend(body.iter().map(|text| (*text, 80.0)));
        code.extend([("@P0 BRA 0x110", 80.0), ("EXIT", 8.0)]);
        let launch = launch(&code);
        let listing = launch.listing().unwrap();
        kept(&listing, &mut Reaching::new(listing.sass), &listing.sass.flow.loops[0])
    }

    #[test]
    fn a_value_that_is_loaded_changed_and_stored_in_place_is_state() {
        let load = "LDG.E R4, desc[UR4][R2.64]";
        let found = of(&[load, "FFMA R5, R4, R8, R9", "STG.E desc[UR4][R2.64], R5"]);
        let expected = MemoryState {
            loads: vec![1],
            stores: vec![3],
            moves: false,
            bytes: 4,
            is_carried: true,
            is_array: false,
        };
        assert_eq!(found, [expected]);
        // The address is made in every turn, of what stays the same.
        let address = "IMAD.WIDE R2, R0, R7, UR6";
        let made =
            of(&[address, load, address, "FFMA R5, R4, R8, R9", "STG.E desc[UR4][R2.64], R5"]);
        assert_eq!((&made[0].loads, &made[0].stores), (&vec![2], &vec![5]));
        let other = of(&[load, "FFMA R5, R4, R8, R9", "STG.E desc[UR4][R2.64+0x4], R5"]);
        assert!(other.is_empty(), "another place");
        let apart = of(&[load, "FFMA R5, R6, R8, R9", "STG.E desc[UR4][R2.64], R5"]);
        assert!(apart.is_empty(), "what is stored is made of something else");
        let flag = of(&[
            "LDG.E.STRONG.GPU R4, desc[UR4][R2.64]",
            "IADD3 R5, R4, 0x1, RZ",
            "STG.E.STRONG.GPU desc[UR4][R2.64], R5",
        ]);
        assert!(flag.is_empty(), "for others to see");
    }

    #[test]
    fn an_array_that_every_turn_runs_through_is_state() {
        let steps = |start: &'static str, load: &'static str, step: &'static str| {
            let launch = launch(&[
                ("LDC.64 R2, c[0x0][0x210]", 8.0),
                (start, 80.0),                        // 0x110
                ("IMAD.WIDE R6, R9, 0x4, R2", 800.0), // 0x120
                (load, 800.0),
                ("FFMA R5, R4, R8, R10", 800.0),
                ("STG.E desc[UR4][R6.64], R5", 800.0),
                (step, 800.0),
                ("@P1 BRA 0x120", 800.0),
                ("@P0 BRA 0x110", 80.0),
                ("EXIT", 8.0),
            ]);
            let listing = launch.listing().unwrap();
            let loops = &listing.sass.flow.loops;
            let outer = loops.iter().max_by_key(|each| each.blocks.len()).unwrap();
            kept(&listing, &mut Reaching::new(listing.sass), outer)
        };
        let (start, load, step) =
            ("MOV R9, R0", "LDG.E R4, desc[UR4][R6.64]", "IADD3 R9, R12, R9, RZ");
        let found = steps(start, load, step);
        assert!(found.len() == 1 && found[0].is_array && found[0].is_carried, "{found:?}");
        assert!(steps(start, "LDG.E R4, desc[UR4][R14.64]", step).is_empty(), "another array");
        assert!(steps("NOP", load, step).is_empty(), "goes on where the last turn ended");
        assert!(steps(start, load, "IADD3 R9, R5, R9, RZ").is_empty(), "data choose the step");
        assert!(steps("LDG.E R9, desc[UR4][R16.64]", load, step).is_empty(), "and the start");
    }

    #[test]
    fn values_may_be_made_of_each_other() {
        let found = of(&[
            "LDG.E R4, desc[UR4][R2.64]",
            "LDG.E R5, desc[UR4][R6.64]",
            "FADD R5, R5, R8",
            "STG.E desc[UR4][R2.64], R5",
            "STG.E desc[UR4][R6.64], R4",
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn elements_that_are_changed_in_place_are_none() {
        let next = ["IADD3 R2, P1, R2, 0x4, RZ", "IADD3.X R3, RZ, R3, RZ, P1, !PT"];
        let change = |load, store| of(&[&[load, "FFMA R5, R4, R8, R9", store], &next[..]].concat());
        let here = "LDG.E R4, desc[UR4][R2.64]";
        assert!(change(here, "STG.E desc[UR4][R2.64], R5").is_empty());
        // Made of the one before, which the last turn stored.
        let before = change("LDG.E R4, desc[UR4][R2.64+-0x4]", "STG.E desc[UR4][R2.64], R5");
        assert!(before.len() == 1 && before[0].moves && before[0].is_carried, "{before:?}");
        let ahead = change(here, "STG.E desc[UR4][R2.64+0x4], R5");
        assert_eq!(ahead.len(), 1);
        let after = change(here, "STG.E desc[UR4][R2.64+-0x4], R5");
        assert!(after.is_empty(), "what is stored is behind");
        let chosen = of(&[
            "LDG.E R2, desc[UR4][R10.64]",
            here,
            "FFMA R5, R4, R8, R9",
            "STG.E desc[UR4][R2.64], R5",
        ]);
        assert!(chosen.is_empty(), "data chooses the place");
    }

    #[test]
    fn loads_behind_the_use_of_the_state_are_held_up() {
        let code = [
            ("LDC.64 R2, c[0x0][0x210]", 8.0),
            ("LDG.E R4, desc[UR4][R2.64]", 80.0), // 0x110
            ("LDG.E R6, desc[UR4][R12.64]", 80.0),
            ("FFMA R5, R4, R8, R6", 80.0),
            ("STG.E desc[UR4][R2.64], R5", 80.0),
            ("LDG.E R7, desc[UR4][R14.64]", 80.0), // 5
            ("STG.E desc[UR4][R16.64], R7", 80.0),
            ("LDG.E R9, desc[UR4][R18.64]", 80.0), // may be what was stored before it
            ("@P0 BRA 0x110", 80.0),
            ("EXIT", 8.0),
        ];
        let launch = launch(&code);
        let listing = launch.listing().unwrap();
        let (of, mut reaching) = (&listing.sass.flow.loops[0], Reaching::new(listing.sass));
        let states = kept(&listing, &mut reaching, of);
        assert_eq!(behind(&listing, &mut reaching, of, &states), [5]);
    }

    #[test]
    fn what_a_turn_stores_before_it_loads_is_not_carried() {
        let found = of(&[
            "STG.E desc[UR4][R2.64], R7",
            "LDG.E R4, desc[UR4][R2.64]",
            "FFMA R5, R4, R8, R9",
            "STG.E desc[UR4][R2.64], R5",
        ]);
        assert_eq!(found.len(), 1);
        assert!(!found[0].is_carried && found[0].stores == [4], "{found:?}");
    }
}
