//! Loads of what the same thread has loaded before, outside of loops or in one that steps through it.
//!
//! Compilers keep what is loaded in registers, unless a barrier or a store stands between that may have changed it, or the program
//! asks for it anew in a later loop. Two addresses are the same where the same operations on the same constants and registers make
//! them. What a kernel also writes may have changed, and is left out.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};

use crate::sass::code::blocks::Block;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::passes::{SecondReading, not_written, step};
use crate::sass::thresholds::{LANE_STEPS, SAME_READING};

/// What makes the registers of an address, by its number.
type Base = Vec<u32>;

/// The loads outside of loops from one base, the first from each place, and their sectors.
#[derive(Default)]
struct Known {
    places: BTreeMap<String, usize>,
    sectors: f64,
}

/// Finds them; `None` where no load is from where an earlier one was.
#[must_use]
pub fn rereadings(listing: &Listing) -> Option<SecondReading> {
    let sass = listing.sass;
    let loads: Vec<usize> = listing
        .entries()
        .filter(|(at, entry)| {
            let is_load = entry.family == Family::Load(Space::Global);
            is_load && listing.executed(*at) > 0.0 && !listing.text(*at).contains("STRONG")
        })
        .map(|(at, _)| at)
        .collect();
    let mut numbers = Numbers::new(listing);
    let mut ways = Ways::new(listing);
    let mut known: HashMap<Base, Known> = HashMap::new();
    let mut in_loops: BTreeMap<(usize, Base), Vec<usize>> = BTreeMap::new();
    let mut again: Vec<usize> = Vec::new();
    for at in loads {
        let Some(base) = numbers.base(at) else { continue };
        if let Some(around) = sass.flow.innermost(at) {
            in_loops.entry((around, base)).or_default().push(at);
            continue;
        }
        let of_base = known.entry(base).or_default();
        let width = sass.entries[at].width;
        match of_base.places.get(&step(listing.text(at))) {
            Some(&first) if sass.entries[first].width >= width && ways.go_through(first, at) => {
                again.push(at);
            }
            Some(_) => {}
            None => {
                of_base.places.insert(step(listing.text(at)), at);
                of_base.sectors += sectors(listing, at);
            }
        }
    }
    for ((_, base), loads) in in_loops {
        let Some(of_base) = known.get(&base) else { continue };
        let in_loop: f64 = loads.iter().map(|&at| sectors(listing, at)).sum();
        let alike = (in_loop / of_base.sectors - 1.0).abs() <= SAME_READING.value;
        let mut before = |first: &usize| loads.iter().all(|&at| ways.go_through(*first, at));
        if alike && of_base.places.values().all(&mut before) {
            again.extend(loads);
        }
    }
    again.sort_unstable();
    if again.is_empty() {
        return None;
    }
    let again = not_written(listing, &again);
    let sectors = again.iter().map(|&at| sectors(listing, at)).sum();
    (sectors > 0.0).then_some(SecondReading { loads: again, sectors, loops: Vec::new() })
}

fn sectors(listing: &Listing, at: usize) -> f64 {
    listing.row(at).counters.l2_sectors_global_ideal
}

/// Which blocks every way to others goes through.
struct Ways<'a> {
    blocks: &'a [Block],
    block_of: &'a [u32],
    known: HashMap<(u32, u32), bool>,
}

impl<'a> Ways<'a> {
    fn new(listing: &Listing<'a>) -> Self {
        let flow = &listing.sass.flow;
        Self { blocks: &flow.blocks, block_of: &flow.block_of, known: HashMap::new() }
    }

    /// True where every way to an instruction goes through another one.
    fn go_through(&mut self, first: usize, later: usize) -> bool {
        let (of_first, of_later) = (self.block_of[first], self.block_of[later]);
        if of_first == of_later {
            return first < later;
        }
        let blocks = self.blocks;
        let known = self.known.entry((of_first, of_later));
        *known.or_insert_with(|| {
            let mut seen = Marks::new(blocks.len());
            seen.insert(of_first as usize);
            let mut open = vec![of_later];
            while let Some(block) = open.pop() {
                if seen.insert(block as usize) {
                    let before = &blocks[block as usize].before;
                    // The kernel begins with the first block, even where something branches back to it.
                    if block == 0 || before.is_empty() {
                        return false;
                    }
                    open.extend(before);
                }
            }
            true
        })
    }
}

/// Numbers for values: those that are made alike have the same.
struct Numbers<'a> {
    listing: Listing<'a>,
    reaching: Reaching<'a>,
    of_texts: HashMap<String, u32>,
    of_makers: HashMap<(usize, Slot), Option<u32>>,
}

impl<'a> Numbers<'a> {
    fn new(listing: &Listing<'a>) -> Self {
        let reaching = Reaching::with_guards(listing.sass);
        let (of_texts, of_makers) = (HashMap::new(), HashMap::new());
        Self { listing: *listing, reaching, of_texts, of_makers }
    }

    /// What makes a load's address but for the constant behind it. In a loop, what it starts from.
    fn base(&mut self, access: usize) -> Option<Base> {
        let uses = self.listing.sass.uses(access);
        let address = uses.iter().filter(|each| each.role == Role::Address);
        let around = self.listing.sass.flow.innermost(access);
        address.map(|each| self.value(access, *each, around, LANE_STEPS.whole())).collect()
    }

    /// The number of what an instruction reads. Of what a loop moves on, that of what it was in front of the loop.
    fn value(&mut self, at: usize, each: Use, around: Option<usize>, steps: usize) -> Option<u32> {
        let flow = &self.listing.sass.flow;
        let makers: Vec<usize> =
            self.reaching.definitions(at, each).map(|maker| maker as usize).collect();
        let is_inside = |maker: &usize| around.is_some() && flow.innermost(*maker) == around;
        let (inside, outside): (Vec<usize>, Vec<usize>) = makers.into_iter().partition(is_inside);
        let makers = if outside.is_empty() { inside } else { outside };
        if makers.is_empty() {
            // Nothing writes it.
            return Some(self.number(format!("register {}", each.slot.index())));
        }
        let mut found = None;
        for maker in makers {
            let number = self.made(maker, each.slot, around, steps.checked_sub(1)?)?;
            if found.is_some_and(|found| found != number) {
                return None;
            }
            found = Some(number);
        }
        found
    }

    /// The number of what an instruction writes to a register.
    fn made(
        &mut self,
        maker: usize,
        slot: Slot,
        around: Option<usize>,
        steps: usize,
    ) -> Option<u32> {
        if let Some(&known) = self.of_makers.get(&(maker, slot)) {
            return known;
        }
        // A value that is made of itself has none.
        self.of_makers.insert((maker, slot), None);
        let number = self.make(maker, slot, around, steps);
        self.of_makers.insert((maker, slot), number);
        number
    }

    fn make(
        &mut self,
        maker: usize,
        slot: Slot,
        around: Option<usize>,
        steps: usize,
    ) -> Option<u32> {
        let sass = self.listing.sass;
        let entry = &sass.entries[maker];
        let uses = || sass.uses(maker).iter().filter(|each| each.role != Role::Old);
        let place = sass.defs(maker).iter().position(|def| *def == slot)?;
        let written = self.listing.text(maker);
        if entry.conditional {
            return None;
        }
        if is_move(written) && uses().count() == 1 {
            let only = *uses().next()?;
            return self.value(maker, only, around, steps);
        }
        let text = match entry.family {
            // Such a value is the same only where the instruction is.
            family if family.is_memory() => format!("made at {maker} {place}"),
            Family::Shuffle | Family::Vote | Family::Other => format!("made at {maker} {place}"),
            _ => {
                let (opcode, operands) = written.split_once(' ')?;
                let sources = operands.split_once(',').map_or("", |(_, sources)| sources);
                let made: Option<Vec<String>> = uses()
                    .map(|each| Some(self.value(maker, *each, around, steps)?.to_string()))
                    .collect();
                format!("{opcode} {place} {} {}", without_registers(sources), made?.join(" "))
            }
        };
        Some(self.number(text))
    }

    fn number(&mut self, text: String) -> u32 {
        let next = u32::try_from(self.of_texts.len()).unwrap_or(u32::MAX);
        *self.of_texts.entry(text).or_insert(next)
    }
}

/// True for a copy of a register, by whatever instruction.
fn is_move(text: &str) -> bool {
    let mut words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let opcode = words.next().unwrap_or_default();
    let is_copy = ["MOV", "UMOV", "R2UR"].contains(&opcode.split('.').next().unwrap_or_default());
    is_copy || opcode.starts_with("IMAD") && words.skip(1).take(2).all(|word| word == "RZ")
}

/// The operands with a mark in the place of each register, whose names say nothing.
fn without_registers(operands: &str) -> String {
    let is_register = |word: &str| {
        let name = word.trim_start_matches('U').trim_start_matches(['R', 'P']);
        name.len() < word.len() && !name.is_empty() && name.bytes().all(|one| one.is_ascii_digit())
    };
    let mut text = String::new();
    let words = operands.split_inclusive(|one: char| !one.is_ascii_alphanumeric());
    for word in words {
        let name = word.trim_end_matches(|one: char| !one.is_ascii_alphanumeric());
        text.push_str(if is_register(name) { "_" } else { name });
        text.push_str(&word[name.len()..]);
    }
    text.replace(".reuse", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A load, a barrier, and a load again; then a loop that steps through as much as both places in front of it.
    fn found(changes: &[(usize, &'static str)], in_loop: f64) -> Option<Vec<usize>> {
        let mut code = [
            ("S2R R0, SR_TID.X", 10.0),
            ("LDC.64 R2, c[0x0][0x210]", 10.0),
            ("IMAD.WIDE R4, R0, 0x4, R2", 10.0), // 2
            ("LDG.E R6, desc[UR8][R4.64]", 10.0),
            ("LDG.E R7, desc[UR8][R4.64+0x400]", 10.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 10.0), // 5
            ("S2R R10, SR_TID.X", 10.0),
            ("LDC.64 R12, c[0x0][0x210]", 10.0), // 7
            ("IMAD.WIDE R14, R10, 0x4, R12", 10.0),
            ("LDG.E R16, desc[UR8][R14.64]", 10.0), // 9
            ("MOV R18, R4", 10.0),
            ("MOV R19, R5", 10.0),
            ("LDG.E R20, desc[UR8][R18.64]", 20.0), // 12
            ("IADD3 R18, R18, 0x400, RZ", 20.0),
            ("@P0 BRA 0x1c0", 20.0),
            ("LDC.64 R30, c[0x0][0x220]", 10.0),
            ("STG.E desc[UR8][R30.64], R16", 10.0), // 16
            ("EXIT", 10.0),
        ];
        for (at, text) in changes {
            code[*at].0 = text;
        }
        let mut launch = launch(&code);
        for (at, sectors) in [(3, 40.0), (4, 40.0), (9, 40.0), (12, in_loop)] {
            launch.instructions[at].counters.l2_sectors_global_ideal = sectors;
        }
        rereadings(&launch.listing().unwrap()).map(|again| again.loads)
    }

    #[test]
    fn the_same_place_is_read_again() {
        assert_eq!(found(&[], 80.0), Some(vec![9, 12]));
        assert_eq!(found(&[], 83.0), Some(vec![9, 12]));
        assert_eq!(found(&[], 85.0), Some(vec![9]), "the loop reads more");
    }

    #[test]
    fn other_places_and_what_may_have_changed_are_not() {
        let only_loop = Some(vec![12]);
        assert_eq!(found(&[(7, "LDC.64 R12, c[0x0][0x218]")], 80.0), only_loop, "another array");
        assert_eq!(found(&[(8, "IMAD.WIDE R14, R10, 0x8, R12")], 80.0), only_loop, "strided");
        let gathers = [
            (0, "LDG.E.128 R24, desc[UR8][R22.64]"),
            (2, "IMAD.WIDE R4, R24, 0x4, R2"),
            (6, "NOP"),
            (8, "IMAD.WIDE R14, R26, 0x4, R12"),
        ];
        assert_eq!(found(&gathers, 80.0), only_loop, "another number of the same load");
        let strong = "LDG.E.STRONG.GPU R16, desc[UR8][R14.64]";
        assert_eq!(found(&[(9, strong)], 80.0), only_loop, "others write it");
        let passed_by = [(2, "@P1 BRA 0x150"), (8, "MOV R14, R2")];
        assert_eq!(found(&passed_by, 10.0), None, "the first may be left out");
        assert_eq!(found(&[(16, "STG.E desc[UR8][R4.64], R16")], 80.0), None, "written");
    }
}
