//! What a second reading makes of its row that the first has made as well.

use std::hash::{Hash, Hasher};

use foldhash::{HashMap, HashMapExt, HashSet};

use super::SecondReading;
use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::matrix_loops::members;
use crate::sass::thresholds::MOST_FOLLOWED;

/// The arithmetic of later loops, ascending, that does with what they read again what an earlier loop did with it: the same
/// operations with the same constants, up to where the two part.
#[must_use]
pub fn worked_out_again(listing: &Listing, again: &SecondReading) -> Vec<usize> {
    let mut found = Vec::new();
    for pair in again.loops.iter().take(MOST_FOLLOWED.whole()) {
        let known: HashSet<u64> = signatures(listing, &pair.earlier).into_values().collect();
        let of_later = signatures(listing, &pair.later).into_iter();
        found.extend(of_later.filter(|(_, made)| known.contains(made)).map(|(at, _)| at));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What an instruction makes, in a number: the operation, its constants, and what its operands are made of.
#[derive(Debug, Clone, Copy)]
struct Made {
    of: u64,
    /// True where something of the row goes into it.
    of_row: bool,
}

/// Of the arithmetic in a loop that goes back to its loads, what tells one from another.
fn signatures(listing: &Listing, (of, rows): &(usize, Vec<usize>)) -> HashMap<usize, u64> {
    let sass = listing.sass;
    let all = members(listing, *of);
    let mut reaching = Reaching::new(sass);
    let mut known: HashMap<usize, Made> = HashMap::new();
    for &at in &all {
        let family = sass.entries[at].family;
        let made = if rows.contains(&at) {
            let of = hash_of(&("row", super::step(listing.text(at)), sass.entries[at].width));
            Some(Made { of, of_row: true })
        } else if is_arithmetic(family) {
            made_of(listing, &mut reaching, at, &all, &known)
        } else {
            None
        };
        if let Some(made) = made {
            known.insert(at, made);
        }
    }
    let is_counted =
        |(at, made): &(usize, Made)| made.of_row && is_arithmetic(sass.entries[*at].family);
    known.into_iter().filter(is_counted).map(|(at, made)| (at, made.of)).collect()
}

/// What an instruction makes; `None` where what it needs comes from the turn before, or from elsewhere than arithmetic.
fn made_of(
    listing: &Listing,
    reaching: &mut Reaching,
    at: usize,
    all: &[usize],
    known: &HashMap<usize, Made>,
) -> Option<Made> {
    let mut operands = Vec::new();
    let mut of_row = false;
    for each in listing.sass.uses(at).iter().filter(|each| each.role == Role::Data) {
        let by: Vec<usize> = definitions(reaching, at, each);
        let mut made: Vec<u64> = Vec::new();
        for by in by {
            if all.binary_search(&by).is_err() {
                made.push(made_before(listing, by));
                continue;
            }
            let inside = known.get(&by)?;
            of_row |= inside.of_row;
            made.push(inside.of);
        }
        operands.push(hash_of(&made));
    }
    Some(Made { of: hash_of(&(without_registers(listing.text(at)), operands)), of_row })
}

/// What a value from before the loop is: a constant of the launch wherever it is read, anything else by where it is made.
fn made_before(listing: &Listing, by: usize) -> u64 {
    let is_constant = listing.sass.uses(by).iter().all(|each| each.slot.is_predicate());
    if is_constant { hash_of(&without_registers(listing.text(by))) } else { hash_of(&by) }
}

fn definitions(reaching: &mut Reaching, at: usize, each: &Use) -> Vec<usize> {
    reaching.definitions(at, *each).map(|by| by as usize).collect()
}

/// An instruction's text without its guard and the numbers of its registers: signs and halves stay.
fn without_registers(text: &str) -> String {
    let is_guard = |word: &&str| word.starts_with('@');
    let words = text.split([' ', ',']).filter(|word| !word.is_empty()).skip_while(is_guard);
    let without = |word: &str| {
        let name = word.trim_start_matches(['-', '|', '!', '~']);
        let sign = &word[..word.len() - name.len()];
        let digits = name.trim_start_matches('U').trim_start_matches(['R', 'P']);
        let is_register =
            digits.len() < name.len() && digits.starts_with(|first: char| first.is_ascii_digit());
        let half = digits.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let half = half.trim_end_matches('|').replace(".reuse", "");
        if is_register { format!("{sign}R{half}") } else { word.to_owned() }
    };
    words.map(without).collect::<Vec<_>>().join(" ")
}

fn is_arithmetic(family: Family) -> bool {
    family.is_float()
        || matches!(
            family,
            Family::SpecialFunction
                | Family::Convert
                | Family::HalfConvert
                | Family::Integer
                | Family::IntegerMultiply
                | Family::Move
        )
}

fn hash_of(what: &impl Hash) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;
    use crate::sass::questions::passes::second_reading;

    /// Two loops over a row, the first with a tangent and a maximum, the second with what is given and a sum.
    fn again(second: [&'static str; 2]) -> Vec<usize> {
        let mut launch = launch(&[
            ("S2R R0, SR_TID.X", 10.0),
            ("LDC.64 R2, c[0x0][0x210]", 10.0),
            ("IMAD.WIDE R4, R0, 0x4, R2", 10.0),
            ("LDG.E R6, desc[UR8][R4.64]", 50.0), // 0x130
            ("FMUL R8, R6, 0.5", 50.0),
            ("MUFU.TANH R8, R8", 50.0),
            ("FMNMX R7, R8, R7, !PT", 50.0),
            ("IADD3 R4, R4, 0x400, RZ", 50.0),
            ("@P0 BRA 0x130", 50.0),
            ("IMAD.WIDE R12, R0, 0x4, R2", 10.0),
            ("LDG.E R13, desc[UR8][R12.64]", 50.0), // 10, 0x1a0
            (second[0], 50.0),
            (second[1], 50.0),
            ("FADD R14, R14, R16", 50.0),
            ("IADD3 R12, R12, 0x400, RZ", 50.0),
            ("@P0 BRA 0x1a0", 50.0),
            ("STG.E desc[UR8][R20.64], R14", 10.0),
            ("EXIT", 10.0),
        ]);
        for index in [3, 10] {
            launch.instructions[index].counters.l2_sectors_global_ideal = 200.0;
        }
        let listing = launch.listing().unwrap();
        worked_out_again(&listing, &second_reading(&listing).unwrap())
    }

    #[test]
    fn the_same_of_the_same_row_is_worked_out_again() {
        assert_eq!(again(["FMUL R15, R13, 0.5", "MUFU.TANH R16, R15"]), [11, 12]);
        assert_eq!(again(["FMUL R15, R13, 0.5", "MUFU.EX2 R16, R15"]), [11], "where they part");
        assert!(again(["FMUL R15, R13, 0.25", "MUFU.TANH R16, R15"]).is_empty(), "a constant");
    }
}
