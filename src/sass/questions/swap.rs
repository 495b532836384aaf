//! Loops of compare-and-swap that do what the hardware has an atomic for.

use std::collections::BTreeSet;

use crate::sass::code::blocks::{Exit, Loop};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::MOST_FOLLOWED;

/// A compare-and-swap that turns in a loop to do what the hardware has an atomic for.
#[derive(Debug, Clone, PartialEq)]
pub struct Replaceable {
    /// The compare-and-swap.
    pub at: usize,
    /// The loop's instructions, ascending.
    pub inside: Vec<usize>,
    /// The loads of what the first attempt expects.
    pub expected: Vec<usize>,
    /// The function that does the same.
    pub function: &'static str,
    /// True where it adds floats of 16 bits, of which the hardware adds two neighbours at once.
    pub of_halves: bool,
    /// How often an average warp tries, at least 1.
    pub tries: f64,
    /// True where something behind the loop asks for the old value.
    pub has_result: bool,
}

/// The compare-and-swaps on global memory that turn in a loop, which they alone leave, and write the sum of what was
/// there and something else, or the larger or smaller of the two; the most frequent first, and of very many only those.
#[must_use]
pub fn replaceable(listing: &Listing) -> Vec<Replaceable> {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    let found = compare_and_swaps(listing).into_iter().filter_map(|at| {
        let around = sass.flow.loops.get(sass.flow.innermost(at)?)?;
        replaceable_at(listing, &mut reaching, around, at)
    });
    found.collect()
}

/// The executed compare-and-swaps on global memory, the most frequent first; of very many only those.
pub(super) fn compare_and_swaps(listing: &Listing) -> Vec<usize> {
    let mut swaps: Vec<usize> = listing
        .entries()
        .filter(|(at, entry)| {
            matches!(entry.family, Family::Atomic(Space::Global | Space::Generic))
                && listing.text(*at).contains(".CAS")
                && listing.executed(*at) > 0.0
        })
        .map(|(at, _)| at)
        .collect();
    swaps.sort_by(|&a, &b| listing.executed(b).total_cmp(&listing.executed(a)));
    swaps.truncate(MOST_FOLLOWED.whole());
    swaps
}

fn replaceable_at(
    listing: &Listing,
    reaching: &mut Reaching,
    around: &Loop,
    at: usize,
) -> Option<Replaceable> {
    let sass = listing.sass;
    let inside = |at: usize| sass.flow.is_in(around, at);
    let [expected, new] = operands(listing, at)?;
    let there: BTreeSet<usize> = makers(reaching, at, &expected);
    let mut seen = Marks::new(sass.entries.len());
    let direct = makers(reaching, at, &new);
    // With each, whether it was rounded to 16 bits on the way into the word.
    let mut open: Vec<(usize, bool)> = direct.iter().map(|&made| (made, false)).collect();
    let mut found = None;
    while let Some((made, is_rounded)) = open.pop() {
        if !inside(made) || !seen.insert(made) {
            continue;
        }
        let text = listing.text(made);
        let of_halves = is_rounded || Instruction::base_of(text) == Some("HADD2");
        let function = function(text).filter(|_| direct.contains(&made) || of_halves);
        if let Some(function) = function.filter(|_| is_made_of(listing, reaching, made, &there)) {
            found = Some((function, of_halves));
        } else if puts_together(listing, made) || rounds(text) {
            let is_rounded = is_rounded || rounds(text);
            let makers = data(listing, made).flat_map(|each| makers(reaching, made, &[*each]));
            open.extend(makers.map(|by| (by, is_rounded)));
        }
    }
    let (function, of_halves) = found.filter(|_| leaves_once(listing, around))?;
    let is_load = |&at: &usize| matches!(sass.entries[at].family, Family::Load(_));
    Some(Replaceable {
        at,
        inside: sass.flow.places(around).collect(),
        expected: there.into_iter().filter(|at| !inside(*at)).filter(is_load).collect(),
        function,
        of_halves,
        tries: turns(listing, around),
        has_result: has_result(listing, reaching, around, at),
    })
}

fn data<'a>(listing: &Listing<'a>, at: usize) -> impl Iterator<Item = &'a Use> + use<'a> {
    listing.sass.uses(at).iter().filter(|each| each.role == Role::Data)
}

fn makers(reaching: &mut Reaching, at: usize, uses: &[Use]) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    for each in uses {
        all.extend(reaching.definitions(at, *each).map(|maker| maker as usize));
    }
    all
}

/// The registers of what a compare-and-swap expects, and of what it writes: its last two operands.
fn operands(listing: &Listing, at: usize) -> Option<[Vec<Use>; 2]> {
    let instruction = Instruction::parse(listing.text(at))?;
    let [.., expected, new] = &instruction.operands[..] else { return None };
    let registers = |first: Option<crate::sass::parse::register::Slot>| {
        let both = [first, first.and_then(|slot| slot.after(1))];
        let is_wide = instruction.has("64");
        let slots = both.into_iter().take(if is_wide { 2 } else { 1 }).flatten();
        let slots: Vec<_> = slots.collect();
        data(listing, at).filter(|each| slots.contains(&each.slot)).copied().collect::<Vec<Use>>()
    };
    Some([registers(expected.slot()), registers(new.slot())])
}

/// True where what was there takes part in a result, as it is or taken out of its word.
fn is_made_of(
    listing: &Listing,
    reaching: &mut Reaching,
    made: usize,
    there: &BTreeSet<usize>,
) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![made];
    while let Some(at) = open.pop() {
        for each in data(listing, at) {
            for by in makers(reaching, at, &[*each]) {
                if there.contains(&by) {
                    return true;
                }
                if puts_together(listing, by) && seen.insert(by) {
                    open.push(by);
                }
            }
        }
    }
    false
}

/// True where a loop is left in one place alone: a second one is a condition of its own.
fn leaves_once(listing: &Listing, around: &Loop) -> bool {
    let sass = listing.sass;
    let leaves = |at: usize| {
        let goes_out = |to: usize| to >= sass.entries.len() || !sass.flow.is_in(around, to);
        match sass.entries[at].exit() {
            Exit::Branch(target) => goes_out(at + 1) || goes_out(target),
            Exit::Jump(target) => goes_out(target),
            Exit::Next => goes_out(at + 1),
            Exit::MaybeEnd | Exit::End => true,
        }
    };
    let last = |&block: &u32| sass.flow.blocks[block as usize].end - 1;
    around.blocks.iter().map(last).filter(|&at| listing.executed(at) > 0.0 && leaves(at)).count()
        <= 1
}

/// True where an instruction behind the loop reads what the compare-and-swap returned.
fn has_result(listing: &Listing, reaching: &mut Reaching, around: &Loop, at: usize) -> bool {
    let sass = listing.sass;
    let returned: BTreeSet<usize> = sass
        .flow
        .places(around)
        .filter(|&copy| {
            sass.entries[copy].family == Family::Move
                && data(listing, copy).any(|each| makers(reaching, copy, &[*each]).contains(&at))
        })
        .chain([at])
        .collect();
    let slots: BTreeSet<usize> = returned
        .iter()
        .flat_map(|&at| sass.defs(at))
        .filter(|slot| slot.is_general())
        .map(|slot| slot.index())
        .collect();
    (0..sass.entries.len()).filter(|&at| !sass.flow.is_in(around, at)).any(|reader| {
        let reads = sass.uses(reader).iter().filter(|each| slots.contains(&each.slot.index()));
        reads.into_iter().any(|each| {
            each.role != Role::Old
                && makers(reaching, reader, &[*each]).iter().any(|by| returned.contains(by))
        })
    })
}

/// The share of the wavefronts of shared memory that loops of a compare-and-swap on it make, which read, compute
/// and try again: 0 to 1, and 0 without such wavefronts.
#[must_use]
pub fn shared_retries(listing: &Listing) -> f64 {
    let sass = listing.sass;
    let wavefronts = |at: usize| listing.row(at).counters.wavefronts_shared;
    let swaps = listing.entries().filter(|(at, entry)| {
        entry.family == Family::Atomic(Space::Shared)
            && listing.text(*at).contains(".CAS")
            && listing.executed(*at) > 0.0
    });
    let loops: BTreeSet<usize> = swaps.filter_map(|(at, _)| sass.flow.innermost(at)).collect();
    if loops.is_empty() {
        return 0.0;
    }
    let inside = |at: usize| sass.flow.innermost(at).is_some_and(|each| loops.contains(&each));
    let sum = |pick: &dyn Fn(usize) -> bool| -> f64 {
        listing.entries().map(|(at, _)| at).filter(|&at| pick(at)).map(wavefronts).sum()
    };
    let all = sum(&|_| true);
    if all > 0.0 { sum(&inside) / all } else { 0.0 }
}

/// True for what rounds a float to 16 bits.
fn rounds(text: &str) -> bool {
    let opcode = Instruction::opcode_of(text).unwrap_or_default();
    opcode.starts_with("F2F") && [".F16", ".BF16"].iter().any(|half| opcode.contains(half))
}

/// True for what may put half of a word beside the other half, which stays, or takes a half out of its word.
fn puts_together(listing: &Listing, at: usize) -> bool {
    const NAMES: [&str; 7] = ["PRMT", "LOP3", "SEL", "SHF", "IMAD.SHL", "IMAD.U32", "HADD2.F32"];
    let opcode = Instruction::opcode_of(listing.text(at)).unwrap_or_default();
    NAMES.iter().any(|name| opcode.starts_with(name))
}

/// The function whose atomic does what an instruction does.
fn function(text: &str) -> Option<&'static str> {
    let parsed = Instruction::parse(text)?;
    match parsed.base() {
        // Only takes a half out of its word, as a float.
        "HADD2" if parsed.has("F32") && text.contains("-RZ") => None,
        "IADD3" | "VIADD" | "IADD" | "FADD" | "DADD" | "HADD2" => Some("atomicAdd"),
        "IMNMX" | "VIMNMX" if text.contains("!PT") => Some("atomicMax"),
        "IMNMX" | "VIMNMX" => Some("atomicMin"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn a_loop_that_adds_by_compare_and_swap_is_an_atomic_add() {
        let of = |made: &str, back: &str| {
            let code = launch(&[
                ("LDG.E R4, desc[UR4][R2.64]", 9.0),
                (made, 12.0), // 0x110
                ("ATOMG.E.CAS.STRONG.GPU PT, R7, [R2], R4, R5", 12.0),
                ("ISETP.NE.AND P0, PT, R7, R4, PT", 12.0),
                ("MOV R4, R7", 12.0),
                (back, 12.0),
                ("EXIT", 9.0),
            ]);
            let found = replaceable(&code.listing().unwrap()).pop();
            found.map(|found| (found.at, found.function, found.tries))
        };
        let sum = of("IADD3 R5, R4, R9, RZ", "@P0 BRA 0x110");
        assert_eq!(sum, Some((2, "atomicAdd", 12.0 / 9.0)));
        assert_eq!(of("FMUL R5, R4, R9", "@P0 BRA 0x110"), None, "there is no atomic product");
        assert_eq!(of("IADD3 R5, R4, R9, RZ", "@P0 BRA 0x160"), None, "tried once");
        assert_eq!(of("IADD3 R5, R8, R9, RZ", "@P0 BRA 0x110"), None, "of other values");
    }

    #[test]
    fn a_half_is_added_in_its_word() {
        let of = |beside: &str| {
            let code = launch(&[
                ("LDG.E R4, desc[UR4][R2.64]", 9.0),
                ("HADD2 R6, R4, R9.H0_H0", 90.0), // 0x110
                (beside, 90.0),
                ("ATOM.E.CAS.STRONG.GPU PT, R7, [R2], R4, R5", 90.0),
                ("ISETP.NE.AND P0, PT, R7, R4, PT", 90.0),
                ("MOV R4, R7", 90.0),
                ("@P0 BRA 0x110", 90.0),
                ("EXIT", 9.0),
            ]);
            replaceable(&code.listing().unwrap()).pop()
        };
        let found = of("PRMT R5, R4, R8, R6").unwrap();
        assert!(found.of_halves && (found.tries - 10.0).abs() < 1e-12, "{found:?}");
        assert_eq!((found.expected, found.inside), (vec![0], vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(of("FMUL R5, R4, R6"), None, "a product");
    }

    #[test]
    fn a_half_is_added_as_a_float() {
        let of = |made: &str| {
            let code = launch(&[
                ("LDG.E R4, desc[UR4][R2.64]", 9.0),
                ("HADD2.F32 R6, -RZ, R4.H0_H0", 18.0), // 0x110
                (made, 18.0),
                ("F2F.F16.F32 R6, R6", 18.0),
                ("PRMT R5, R6, 0x1054, R4", 18.0),
                ("ATOMG.E.CAS.STRONG.GPU PT, R7, [R2], R4, R5", 18.0),
                ("ISETP.NE.AND P0, PT, R7, R4, PT", 18.0),
                ("MOV R4, R7", 18.0),
                ("@P0 BRA 0x110", 18.0),
                ("EXIT", 9.0),
            ]);
            replaceable(&code.listing().unwrap()).pop()
        };
        let found = of("FADD R6, R6, R9").unwrap();
        assert!(found.of_halves && found.function == "atomicAdd", "{found:?}");
        assert_eq!(of("FMUL R6, R6, R9"), None, "a product");
        assert_eq!(of("FADD R6, R8, R9"), None, "of other values");
    }

    #[test]
    fn what_a_loop_reads_to_try_again_is_the_atomics() {
        let of = |swap: &str| {
            let mut code = launch(&[
                ("LDS R9, [R8]", 10.0),
                ("LDS R4, [R2]", 30.0), // 0x110
                ("FADD R5, R4, R9", 30.0),
                (swap, 30.0),
                ("@!P0 BRA 0x110", 30.0),
                ("EXIT", 10.0),
            ]);
            for (at, wavefronts) in [(0, 20.0), (1, 30.0), (3, 50.0)] {
                code.instructions[at].counters.wavefronts_shared = wavefronts;
            }
            shared_retries(&code.listing().unwrap())
        };
        assert!((of("ATOMS.CAST.SPIN P0, [R2], R4, R5") - 0.8).abs() < 1e-12);
        assert!(of("ATOMS.ADD R6, [R2], R5") < 1e-12, "the hardware tries once");
    }
}
