//! Loops of compare-and-swap that do what the hardware has an atomic for.

use std::collections::BTreeSet;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

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
}

/// The executed compare-and-swap on global memory that turns in a loop and writes a sum, an extreme or a
/// bitwise result of what was there.
#[must_use]
pub fn replaceable(listing: &Listing) -> Option<Replaceable> {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    listing.entries().find_map(|(at, entry)| {
        let swaps = matches!(entry.family, Family::Atomic(Space::Global | Space::Generic))
            && listing.text(at).contains(".CAS")
            && listing.executed(at) > 0.0;
        let around = sass.flow.loops.get(sass.flow.innermost(at).filter(|_| swaps)?)?;
        let inside = |at: usize| sass.flow.is_in(around, at);
        let mut seen = Marks::new(sass.entries.len());
        let mut open = vec![at];
        let mut expected = Vec::new();
        let mut found = None;
        while let Some(user) = open.pop() {
            let data = sass.uses(user).iter().filter(|each| each.role == Role::Data);
            for each in data {
                for made in reaching.definitions(user, *each).map(|made| made as usize) {
                    if !seen.insert(made) {
                        continue;
                    }
                    if !inside(made) {
                        let is_load = matches!(sass.entries[made].family, Family::Load(_));
                        expected.extend(is_load.then_some(made));
                        continue;
                    }
                    let text = listing.text(made);
                    let of_halves = Instruction::base_of(text) == Some("HADD2");
                    let function = function(text).filter(|_| user == at || of_halves);
                    if let Some(function) = function {
                        found = Some((function, of_halves));
                    } else if puts_together(listing, made) {
                        open.push(made);
                    }
                }
            }
        }
        let (function, of_halves) = found?;
        let tries = turns(listing, around);
        let inside = sass.flow.places(around).collect();
        Some(Replaceable { at, inside, expected, function, of_halves, tries })
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

/// True for what may put half of a word beside the other half, which stays.
fn puts_together(listing: &Listing, at: usize) -> bool {
    const NAMES: [&str; 6] = ["PRMT", "LOP3", "SEL", "SHF", "IMAD.SHL", "IMAD.U32"];
    let opcode = Instruction::opcode_of(listing.text(at)).unwrap_or_default();
    NAMES.iter().any(|name| opcode.starts_with(name))
}

/// The function whose atomic does what an instruction does.
fn function(text: &str) -> Option<&'static str> {
    let parsed = Instruction::parse(text)?;
    match parsed.base() {
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
            let found = replaceable(&code.listing().unwrap());
            found.map(|found| (found.at, found.function, found.tries))
        };
        let sum = of("IADD3 R5, R4, R9, RZ", "@P0 BRA 0x110");
        assert_eq!(sum, Some((2, "atomicAdd", 12.0 / 9.0)));
        assert_eq!(of("FMUL R5, R4, R9", "@P0 BRA 0x110"), None, "there is no atomic product");
        assert_eq!(of("IADD3 R5, R4, R9, RZ", "@P0 BRA 0x160"), None, "tried once");
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
            replaceable(&code.listing().unwrap())
        };
        let found = of("PRMT R5, R4, R8, R6").unwrap();
        assert!(found.of_halves && (found.tries - 10.0).abs() < 1e-12, "{found:?}");
        assert_eq!((found.expected, found.inside), (vec![0], vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(of("FMUL R5, R4, R6"), None, "a product");
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
