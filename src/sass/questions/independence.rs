//! Whether the turns of a kernel's outer loops could be shared out among more threads.
//!
//! What a loop carries from turn to turn is followed through its registers. A counter, a pointer that is
//! moved on, and a sum do not tie the turns together: each thread can start at its own place and the sums
//! are added up at the end. A value from which the next one is worked out in another way does, and so does
//! one that is kept or replaced by a condition, such as the best match so far. Where blocks fetch their turns
//! from a queue, chance decides which block gets which, so that no turn can need another.

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::live::carried;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::{queue, statements};
use crate::sass::thresholds::{EVERY_TURN, FEW_TURNS, LONG_SUM};

/// What could be shared out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shareable {
    /// The share of all executed instructions that such loops make up, 0 to 1.
    pub share: f64,
    /// The turns of the largest of these loops, which its work could be divided into; 1 without one.
    pub turns: f64,
    /// What it is.
    pub what: What,
}

/// What is shared out, with the instruction to show for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Nothing.
    Nothing,
    /// The turns of a loop, by its branch back.
    Turns(usize),
    /// Pieces of work that blocks fetch by an atomic, which is this one.
    Queue(usize),
    /// Statements in a row, of which this is the first one's store.
    Statements(usize),
}

/// What of a kernel could be shared out among more threads; `None` where the listing is only a part of
/// its code.
#[must_use]
pub fn shareable(listing: &Listing) -> Option<Shareable> {
    if !listing.is_whole() {
        return None;
    }
    let flow = &listing.sass.flow;
    let total = listing.total();
    let executed = |each: &Loop| -> f64 {
        let blocks = each.blocks.iter().map(|&block| &flow.blocks[block as usize]);
        blocks.flat_map(|block| block.start..block.end).map(|at| listing.executed(at)).sum()
    };
    let mut found = Shareable { share: 0.0, turns: 1.0, what: What::Nothing };
    let mut largest = 0.0;
    let mut turning = false;
    let mut reaching = Reaching::new(listing.sass);
    let mut open: Vec<usize> = outermost(listing, None);
    while let Some(at) = open.pop() {
        let each = &flow.loops[at];
        let of_loop = turns(listing, each);
        if of_loop < FEW_TURNS.value || total <= 0.0 {
            open.extend(outermost(listing, Some(at)));
            continue;
        }
        turning = true;
        let what = if let Some(fetch) = queue::fetch(listing, &mut reaching, each) {
            What::Queue(fetch)
        } else if least_turns(listing, &mut reaching, each).is_some_and(|least| of_loop >= least) {
            What::Turns(each.back)
        } else {
            continue;
        };
        let share = executed(each) / total;
        found.share += share;
        if share > largest {
            (largest, found.turns, found.what) = (share, of_loop, what);
        }
    }
    found.share = found.share.min(1.0);
    if !turning && let Some(pieces) = statements::pieces(listing, &mut reaching) {
        found = Shareable { share: 1.0, turns: pieces.most, what: What::Statements(pieces.first) };
    }
    Some(found)
}

/// The turns of the loop around an access that neighbouring lanes could share out among themselves: those of
/// the innermost one, where no turn needs another's values but a sum's; 1 where there is none, or they do.
#[must_use]
pub fn turns_for_lanes(listing: &Listing, access: usize) -> f64 {
    let Some(around) = listing.sass.flow.innermost(access) else { return 1.0 };
    let around = &listing.sass.flow.loops[around];
    let turns = turns(listing, around);
    let apart = turns >= FEW_TURNS.value
        && least_turns(listing, &mut Reaching::new(listing.sass), around).is_some();
    if apart { turns } else { 1.0 }
}

/// The loops in a loop, or in the kernel, that are in no smaller one.
fn outermost(listing: &Listing, around: Option<usize>) -> Vec<usize> {
    let loops = &listing.sass.flow.loops;
    let within = |inner: &Loop, outer: &Loop| {
        inner.head != outer.head
            && inner.blocks.len() < outer.blocks.len()
            && inner.blocks.iter().all(|block| outer.blocks.binary_search(block).is_ok())
    };
    let inside = |at: &usize| around.is_none_or(|around| within(&loops[*at], &loops[around]));
    let all: Vec<usize> = (0..loops.len()).filter(inside).collect();
    let is_outer = |at: &usize| !all.iter().any(|&other| within(&loops[*at], &loops[other]));
    all.iter().copied().filter(is_outer).collect()
}

/// The turns from which a loop can be shared out, more where sums must be added up afterwards; `None`
/// where a turn needs what an earlier one found.
fn least_turns(listing: &Listing, reaching: &mut Reaching, of: &Loop) -> Option<f64> {
    if reads_shared_before_writing(listing, of) {
        return None;
    }
    let mut least = FEW_TURNS.value;
    let mut walk = Walk { listing, of, carried: Vec::new() };
    let head = of.head;
    let mut holding = Reaching::with_guards(listing.sass);
    for slot in carried(listing.sass, of) {
        let at_head = Use { slot, role: Role::Data, definition: None };
        let definitions = reaching.definitions(head, at_head);
        let happens = |at: &usize| walk.contains(*at) && listing.executed(*at) > 0.0;
        let inside: Vec<usize> = definitions.map(|at| at as usize).filter(happens).collect();
        if walk.reads_across_turns(&mut holding, slot) {
            walk.carried.push((slot, inside));
        }
    }
    // From each carried value the others that it is worked out from.
    let mut needs: Vec<Vec<usize>> = Vec::new();
    for (own, (_, definitions)) in walk.carried.iter().enumerate() {
        let mut of_slot = Vec::new();
        for &definition in definitions {
            let from = walk.from(reaching, definition);
            // The registers of a wide value are one value.
            let is_own = |other: usize| walk.carried[other].1.contains(&definition);
            if from.iter().any(|&(other, adds)| is_own(other) && !adds) {
                return None;
            }
            let sums = from.contains(&(own, true));
            if !sums && walk.is_a_choice(definition) {
                return None;
            }
            if sums && walk.is_of_data(reaching, definition) {
                least = least.max(LONG_SUM.value);
            }
            let others = from.iter().map(|(other, _)| *other).filter(|&other| !is_own(other));
            of_slot.extend(others);
        }
        needs.push(of_slot);
    }
    (0..needs.len()).all(|start| !leads_back(&needs, start)).then_some(least)
}

/// True where a value is worked out from others that are worked out from it.
fn leads_back(needs: &[Vec<usize>], start: usize) -> bool {
    let mut seen = vec![false; needs.len()];
    let mut open = needs[start].clone();
    while let Some(at) = open.pop() {
        if at == start {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(&needs[at]);
        }
    }
    false
}

/// A turn's way back through its registers.
struct Walk<'a> {
    listing: &'a Listing<'a>,
    of: &'a Loop,
    /// What the loop carries: each slot with its definitions in the loop that reach the next turn.
    carried: Vec<(Slot, Vec<usize>)>,
}

impl Walk<'_> {
    fn contains(&self, at: usize) -> bool {
        self.of.blocks.binary_search(&self.listing.sass.flow.block_of[at]).is_ok()
    }

    /// True where some instruction of a turn reads what an earlier turn left in a slot. A write with a guard
    /// counts as one: two with opposite guards leave nothing of what was there before.
    fn reads_across_turns(&self, holding: &mut Reaching, slot: Slot) -> bool {
        let sass = self.listing.sass;
        let blocks = self.of.blocks.iter().map(|&block| &sass.flow.blocks[block as usize]);
        let mut places = blocks.flat_map(|block| block.start..block.end);
        places.any(|at| {
            let reads = |each: &&Use| each.slot == slot && each.role != Role::Old;
            self.listing.executed(at) > 0.0
                && sass.uses(at).iter().filter(reads).any(|each| {
                    holding.definitions(at, *each).any(|before| {
                        let before = before as usize;
                        before >= at && self.contains(before)
                    })
                })
        })
    }

    /// The carried values, by their places, that a definition is worked out from, each with whether it is
    /// only added to on the way.
    fn from(&self, reaching: &mut Reaching, definition: usize) -> Vec<(usize, bool)> {
        let sass = self.listing.sass;
        let mut found = Vec::new();
        let mut seen = [Marks::new(sass.entries.len()), Marks::new(sass.entries.len())];
        let mut open = vec![(definition, true)];
        while let Some((at, adds)) = open.pop() {
            if !seen[usize::from(adds)].insert(at) {
                continue;
            }
            for (place, each) in sass.uses(at).iter().enumerate() {
                let adds = adds && self.adds(at, place, each);
                let definitions: Vec<usize> =
                    reaching.definitions(at, *each).map(|at| at as usize).collect();
                for before in definitions.into_iter().filter(|&before| self.contains(before)) {
                    let carried = self.carried.iter().position(|(slot, definitions)| {
                        *slot == each.slot && before >= at && definitions.contains(&before)
                    });
                    match carried {
                        Some(own) if !found.contains(&(own, adds)) => found.push((own, adds)),
                        Some(_) => {}
                        None => open.push((before, adds)),
                    }
                }
            }
        }
        found
    }

    /// True where an instruction only adds to what it uses there, or copies it.
    fn adds(&self, at: usize, place: usize, each: &Use) -> bool {
        let sass = self.listing.sass;
        if each.role == Role::Old {
            return true;
        }
        if each.role != Role::Data {
            return false;
        }
        let text = self.listing.text(at);
        let base = crate::sass::parse::instruction::Instruction::parse(text)
            .map(|instruction| instruction.base().to_owned())
            .unwrap_or_default();
        match sass.entries[at].family {
            Family::Move | Family::Tensor => true,
            _ => match base.as_str() {
                "IADD3" | "VIADD" | "IADD" | "UIADD3" | "FADD" | "DADD" | "HADD2" => true,
                // The first operand is shifted, the second added.
                "LEA" | "ULEA" => {
                    let data = sass.uses(at).iter().filter(|each| each.role == Role::Data);
                    let added = text.split(',').nth(2).unwrap_or_default().trim();
                    added.starts_with(['R', 'U'])
                        && data.count() > 1
                        && sass.uses(at)[..place].iter().any(|each| each.role == Role::Data)
                }
                // What is added is the last operand: neither of the two that are multiplied.
                "IMAD" | "UIMAD" | "FFMA" | "DFMA" | "HFMA2" => {
                    let data = |each: &&Use| each.role == Role::Data;
                    let behind = sass.uses(at)[place + 1..].iter().filter(data).count();
                    let width = usize::from(base == "DFMA" || text.contains(".WIDE")) + 1;
                    let last = text.rsplit(',').next().unwrap_or_default();
                    let last = last.trim().trim_start_matches(['-', '|']);
                    behind < width && last.starts_with('R') && !last.starts_with("RZ")
                }
                _ => false,
            },
        }
    }

    /// True where something is added that each turn works out anew, and not the step of a counter.
    fn is_of_data(&self, reaching: &mut Reaching, definition: usize) -> bool {
        let sass = self.listing.sass;
        let mut seen = Marks::new(sass.entries.len());
        let mut open = vec![definition];
        while let Some(at) = open.pop() {
            for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
                if self.carried.iter().any(|(slot, _)| *slot == each.slot) {
                    continue;
                }
                let before: Vec<usize> =
                    reaching.definitions(at, *each).map(|at| at as usize).collect();
                for at in before.into_iter().filter(|&at| self.contains(at)) {
                    let family = sass.entries[at].family;
                    if family.is_memory() || family.is_float() {
                        return true;
                    }
                    if seen.insert(at) {
                        open.push(at);
                    }
                }
            }
        }
        false
    }

    /// True where not every turn makes the value anew: it is kept or replaced by a condition.
    fn is_a_choice(&self, definition: usize) -> bool {
        let entry = &self.listing.sass.entries[definition];
        let turns = self.listing.executed(self.of.head);
        entry.conditional || self.listing.executed(definition) < EVERY_TURN.value * turns
    }
}

/// True where a turn reads shared memory before it writes it, and does write it: it reads what earlier
/// turns wrote. One that writes first fills it anew for itself.
fn reads_shared_before_writing(listing: &Listing, of: &Loop) -> bool {
    let sass = listing.sass;
    let at = of.blocks.iter().map(|&block| &sass.flow.blocks[block as usize]);
    let places = at.flat_map(|block| block.start..block.end);
    let mut reads_first = None;
    let mut writes = false;
    for at in places.filter(|&at| listing.executed(at) > 0.0) {
        match sass.entries[at].family {
            Family::Load(Space::Shared) => {
                reads_first.get_or_insert(true);
            }
            Family::Store(Space::Shared) | Family::Atomic(Space::Shared) => {
                reads_first.get_or_insert(false);
                writes = true;
            }
            _ => {}
        }
    }
    writes && reads_first == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// What could be shared out of a loop of 40 turns with this in it; its head is at 0x110.
    fn of_loop(body: &[&str]) -> Shareable {
        turning(40.0, body)
    }

    fn turning(turns: f64, body: &[&str]) -> Shareable {
        let executed = 10.0 * turns;
        let back = format!("@P0 BRA {:#x}", 0x110);
        let mut code = vec![("MOV R0, RZ", 10.0)];
        code.extend(body.iter().map(|text| (*text, executed)));
        code.extend([("ISETP.NE.AND P0, PT, R2, R9, PT", executed), (back.as_str(), executed)]);
        code.extend([("STG.E desc[UR4][R6.64], R0", 10.0), ("EXIT", 10.0)]);
        shareable(&launch(&code).listing().unwrap()).unwrap()
    }

    const NEXT: &str = "IADD3 R2, R2, 0x1, RZ";

    #[test]
    fn counters_and_sums_leave_turns_independent() {
        let body = ["LDG.E R4, desc[UR4][R2.64]", "FFMA R0, R4, R5, R0", NEXT];
        let found = of_loop(&body);
        assert!((found.turns - 40.0).abs() < 1e-12);
        // The loop's five instructions, 400 times each, and three of 10.
        assert!((found.share - 2000.0 / 2030.0).abs() < 1e-12, "{}", found.share);
        let shifted = ["LEA R2, R8, R2, 0x8", "FADD R0, R0, R4"];
        assert!(of_loop(&shifted).turns > 1.0, "a counter that a shifted number is added to");
        let opposite = ["@P1 FMUL R3, R4, R5", "@!P1 FMUL R3, R4, R7", "FADD R0, R0, R3", NEXT];
        assert!(of_loop(&opposite).turns > 1.0, "one of two writes happens in every turn");
        let pointer = ["LDG.E R4, desc[UR4][R12.64]", "IMAD.WIDE R12, R8, 0x4, R12", NEXT];
        assert!(of_loop(&pointer).turns > 1.0, "a pointer of two registers");
        let copied = ["FADD R3, R0, R4", "IADD3 R2, R2, 0x1, RZ", "MOV R0, R3"];
        assert!(of_loop(&copied).turns > 1.0, "a sum by way of another register");
    }

    #[test]
    fn a_value_that_the_next_is_worked_out_from_ties_turns_together() {
        for recurrence in [
            &["FFMA R0, R0, R5, R4", NEXT][..],            // multiplied
            &["FMUL R0, R0, R5", NEXT],                    // multiplied
            &["FFMA R0, R4, R0, c[0x0][0x160]", NEXT],     // multiplied, and a constant added
            &["FFMA R0, R4, R0, RZ", NEXT],                // multiplied, and nothing added
            &["LEA R0, R0, R5, 0x2", NEXT],                // shifted
            &["FMNMX R0, R0, R4, PT", NEXT],               // the least so far
            &["LDG.E R0, desc[UR4][R0.64]", NEXT],         // a walk
            &["FADD R3, R0, R4", "FMUL R0, R3, R5", NEXT], // in two steps
            &["FMUL R0, R1, R5", "FMUL R1, R0, R4", NEXT], // by turns
        ] {
            let none = Shareable { share: 0.0, turns: 1.0, what: What::Nothing };
            assert_eq!(of_loop(recurrence), none, "{recurrence:?}");
        }
    }

    #[test]
    fn a_value_that_is_kept_by_a_condition_ties_turns_together() {
        let kept = ["FSETP.LT.AND P1, PT, R4, R0, PT", "@P1 MOV R0, R4", NEXT];
        assert!((of_loop(&kept).turns - 1.0).abs() < 1e-12);
        let sum = ["FSETP.LT.AND P1, PT, R4, R5, PT", "@P1 FADD R0, R0, R4", NEXT];
        assert!(of_loop(&sum).turns > 1.0, "some are added, whatever the sum");
    }

    #[test]
    fn a_part_of_the_code_tells_nothing() {
        let loads = launch(&[("LDG.E R4, desc[UR4][R2.64]", 9.0)]);
        assert_eq!(shareable(&loads.listing().unwrap()), None);
    }

    #[test]
    fn a_short_sum_is_not_worth_adding_up_afterwards() {
        let sum = ["LDG.E R4, desc[UR4][R2.64]", "FADD R0, R0, R4", NEXT];
        assert!((turning(32.0, &sum).turns - 32.0).abs() < 1e-12);
        assert!((turning(31.0, &sum).turns - 1.0).abs() < 1e-12);
        let stride = ["LDC R8, c[0x0][0x10]", "IMAD R2, R8, R9, R2", "FMUL R0, R4, R5"];
        assert!((turning(2.0, &stride).turns - 2.0).abs() < 1e-12, "a step read in every turn");
        let elements = ["LDG.E R4, desc[UR4][R2.64]", "STG.E desc[UR4][R8.64], R4", NEXT];
        assert!((turning(2.0, &elements).turns - 2.0).abs() < 1e-12, "there is nothing to add up");
    }

    #[test]
    fn shared_memory_that_is_read_first_holds_what_earlier_turns_wrote() {
        let row = ["LDS R4, [R7]", "FADD R4, R4, R5", "STS [R7], R4", NEXT];
        assert!((of_loop(&row).turns - 1.0).abs() < 1e-12);
        let tile = ["STS [R7], R5", "BAR.SYNC 0x0", "LDS R4, [R8]", "FADD R0, R0, R4", NEXT];
        assert!(of_loop(&tile).turns > 1.0);
        let table = ["LDS R4, [R7]", "FADD R0, R0, R4", NEXT];
        assert!(of_loop(&table).turns > 1.0, "filled before the loop");
    }

    #[test]
    fn of_several_loops_the_largest_tells_the_turns() {
        let of = |first: f64, second: f64| {
            let code = [
                ("MOV R0, RZ", 10.0),
                ("FADD R0, R0, R4", 10.0 * first), // 0x110
                ("IADD3 R2, R2, 0x1, RZ", 10.0 * first),
                ("ISETP.NE.AND P0, PT, R2, R9, PT", 10.0 * first),
                ("@P0 BRA 0x110", 10.0 * first),
                ("MOV R3, RZ", 10.0),
                ("FADD R1, R1, R4", 10.0 * second), // 0x160
                ("IADD3 R3, R3, 0x1, RZ", 10.0 * second),
                ("ISETP.NE.AND P0, PT, R3, R9, PT", 10.0 * second),
                ("@P0 BRA 0x160", 10.0 * second),
                ("STG.E desc[UR4][R6.64], R0", 10.0),
                ("EXIT", 10.0),
            ];
            shareable(&launch(&code).listing().unwrap()).unwrap()
        };
        for found in [of(40.0, 80.0), of(80.0, 40.0)] {
            assert!((found.turns - 80.0).abs() < 1e-12, "{found:?}");
            // 120 turns of four instructions, and four more.
            assert!((found.share - 480.0 / 484.0).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn a_loop_of_one_turn_leaves_it_to_those_in_it() {
        let nested = |inner: &str| {
            let code = [
                ("MOV R3, RZ", 10.0), // 0x100
                ("MOV R0, R3", 10.0), // 0x110: the outer head
                (inner, 400.0),       // 0x120: the inner one
                ("IADD3 R2, R2, 0x1, RZ", 400.0),
                ("ISETP.NE.AND P0, PT, R2, R9, PT", 400.0),
                ("@P0 BRA 0x120", 400.0),
                ("STG.E desc[UR4][R6.64], R0", 10.0),
                ("IADD3 R3, R3, 0x1, RZ", 10.0),
                ("ISETP.NE.AND P0, PT, R3, R8, PT", 10.0),
                ("@P0 BRA 0x110", 10.0),
                ("EXIT", 10.0),
            ];
            shareable(&launch(&code).listing().unwrap()).unwrap().turns
        };
        assert!((nested("FADD R0, R0, R4") - 40.0).abs() < 1e-12);
        assert!((nested("FMUL R0, R0, R4") - 1.0).abs() < 1e-12);
    }
}
