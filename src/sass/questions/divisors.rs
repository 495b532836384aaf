//! What integer divisions divide by.

use std::ops::RangeInclusive;

use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::cycles::cycles;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::{Instruction, OperandKind};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// What a division divides by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Divisor {
    /// A number that stands in the machine code, although the compiler divides as if it did not know it. That
    /// is what becomes of `warpSize`: only the assembler knows its value.
    Constant(u64),
    /// Something that is there before the division's loop, is loaded, or doubles and halves from turn to turn.
    /// A reciprocal can be kept of it, or it is a power of two.
    Given,
    /// A value that each turn of the loop works out from the last one, or each thread from its own index. No
    /// constant and no reciprocal can stand for it.
    WorkedOut,
}

/// Finds divisors, with room that is used again.
pub struct Divisors<'a> {
    listing: Listing<'a>,
    reaching: Reaching<'a>,
    /// The called functions.
    functions: Vec<RangeInclusive<usize>>,
}

impl<'a> Divisors<'a> {
    /// Nothing looked for yet.
    #[must_use]
    pub fn new(listing: Listing<'a>) -> Self {
        let functions = listing.calls().into_iter().map(|(_, function)| function).collect();
        Self { listing, reaching: Reaching::new(listing.sass), functions }
    }

    /// What the division with this mark divides by.
    pub fn of(&mut self, mark: usize) -> Divisor {
        if let Some(number) = number(self.listing.text(mark)) {
            return Divisor::Constant(number);
        }
        let sass = self.listing.sass;
        let divisor: Vec<Use> =
            sass.uses(mark).iter().filter(|each| each.role == Role::Data).copied().collect();
        let Some(function) = self.function_of(mark) else {
            return self.judged(mark, mark, None, &divisor);
        };
        let calls = self.calls(&function);
        let mut is_given =
            |call: &usize| self.judged(*call, mark, Some(&function), &divisor) == Divisor::Given;
        let given = calls.is_empty() || calls.iter().any(&mut is_given);
        if given { Divisor::Given } else { Divisor::WorkedOut }
    }

    /// The called function that an instruction stands in.
    fn function_of(&self, index: usize) -> Option<RangeInclusive<usize>> {
        self.functions.iter().find(|function| function.contains(&index)).cloned()
    }

    /// The executed calls of a function.
    fn calls(&self, function: &RangeInclusive<usize>) -> Vec<usize> {
        let calls = self.listing.entries().filter(|(call, entry)| {
            entry.callee().is_some_and(|first| function.contains(&first))
                && self.listing.executed(*call) > 0.0
        });
        calls.map(|(call, _)| call).collect()
    }

    /// What a division divides by that is made at a place: at its mark, or where its function is called.
    fn judged(
        &mut self,
        place: usize,
        mark: usize,
        function: Option<&RangeInclusive<usize>>,
        divisor: &[Use],
    ) -> Divisor {
        let (listing, sass) = (self.listing, self.listing.sass);
        let blocks = sass.flow.innermost(place).map(|at| &sass.flow.loops[at].blocks);
        let is_here = |at: usize| {
            blocks.is_none_or(|blocks| blocks.binary_search(&sass.flow.block_of[at]).is_ok())
        };
        let is_inside = |at: usize| function.is_some_and(|function| function.contains(&at));
        let reaching = &mut self.reaching;
        let mut definitions = |at: usize, each: Use, found: &mut Vec<u32>| {
            let before = found.len();
            found.extend(reaching.definitions(at, each));
            if is_inside(at) && found.len() == before {
                // What a function is given comes from where it is called.
                found.extend(handed_over(listing, reaching, place, each));
            } else if let Some(function) = function.filter(|_| !is_inside(at)) {
                // What it returns, the flow of control does not tell.
                let last = function.clone().rev().find(|&of| sass.defs(of).contains(&each.slot));
                let last = last.filter(|_| each.definition.is_none());
                found.extend(last.and_then(|last| u32::try_from(last).ok()));
            }
        };
        let mut own = false;
        let turning = cycles(sass.entries.len(), [mark].into_iter(), |at, found| {
            let own_index = sass.entries[at].family == Family::System
                && ["SR_TID", "SR_LANEID"].iter().any(|name| listing.text(at).contains(name));
            own |= own_index && blocks.is_none();
            let begin = found.len();
            let uses = if at == mark { divisor } else { sass.uses(at) };
            for each in uses.iter().filter(|each| each.role == Role::Data) {
                definitions(at, *each, found);
            }
            // What memory brings and what was there before are not worked out here.
            let is_made = |source: usize| {
                !sass.entries[source].family.is_memory() && (is_here(source) || is_inside(source))
            };
            let made: Vec<u32> =
                found.drain(begin..).filter(|&source| is_made(source as usize)).collect();
            found.extend(made);
        });
        let worked_out = own || turning.iter().any(|at| !moves_by_two(listing, at));
        if worked_out { Divisor::WorkedOut } else { Divisor::Given }
    }
}

/// The definitions of a slot that a call hands over.
fn handed_over(listing: Listing, reaching: &mut Reaching, call: usize, each: Use) -> Vec<u32> {
    let sass = listing.sass;
    let block = &sass.flow.blocks[sass.flow.block_of[call] as usize];
    let last = (block.start..call).rev().find(|&at| sass.defs(at).contains(&each.slot));
    match last.and_then(|at| u32::try_from(at).ok()) {
        Some(last) => vec![last],
        None => reaching.definitions(call, Use { definition: None, ..each }).collect(),
    }
}

/// True for shifts and moves: what a loop carries by them alone stays a power of two if it begins as one.
fn moves_by_two(listing: Listing, at: usize) -> bool {
    let opcode = Instruction::opcode_of(listing.text(at)).unwrap_or_default();
    listing.sass.entries[at].family == Family::Move
        || ["SHF.", "USHF.", "SHL", "SHR", "MOV", "UMOV"]
            .iter()
            .any(|name| opcode.starts_with(name))
        || opcode.contains(".SHL")
        || opcode.contains(".MOV")
}

/// The number that a mark converts, where it is no register's and no parameter's.
fn number(mark: &str) -> Option<u64> {
    let instruction = Instruction::parse(mark)?;
    let source = instruction.operands.get(1).filter(|source| source.kind == OperandKind::Other)?;
    u64::from_str_radix(source.text.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// What the instruction at a place divides by; all of them are executed as often.
    fn of(code: &[&str], mark: usize) -> Divisor {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 8.0)).collect();
        Divisors::new(launch(&code).listing().unwrap()).of(mark)
    }

    #[test]
    fn a_number_in_the_code_is_a_constant() {
        assert_eq!(of(&["I2F.U32.RP R0, 0x20", "EXIT"], 0), Divisor::Constant(32));
        assert_eq!(of(&["I2F.U32.RP R0, UR4", "EXIT"], 0), Divisor::Given);
        assert_eq!(of(&["I2F.U32.RP R0, c[0x0][0x168]", "EXIT"], 0), Divisor::Given);
    }

    /// A loop of a division by R4, before which R4 is a parameter, with this in each turn.
    fn in_a_loop(turn: &str) -> Divisor {
        let code = [
            "LDC R4, c[0x0][0x218]",
            "S2R R8, SR_TID.X",
            "IABS R11, R4",
            "I2F.RP R8, R11",
            "IMAD.HI.U32 R7, R8, R9, RZ",
            "IMAD R9, R4, R7, R9",
            turn,
            "ISETP.NE.AND P0, PT, R9, R10, PT",
            "@P0 BRA 0x120",
            "EXIT",
        ];
        of(&code, 3)
    }

    #[test]
    fn what_a_turn_makes_of_the_last_ones_remainder_is_worked_out() {
        // Euclid's algorithm.
        assert_eq!(in_a_loop("MOV R4, R9"), Divisor::WorkedOut);
        assert_eq!(in_a_loop("IADD3 R4, R4, 0x1, RZ"), Divisor::WorkedOut);
        // A divisor of each turn's own, brought from memory.
        assert_eq!(in_a_loop("LDG.E R4, desc[UR4][R2.64]"), Divisor::Given);
        assert_eq!(in_a_loop("NOP"), Divisor::Given);
    }

    #[test]
    fn what_doubles_from_turn_to_turn_is_a_power_of_two() {
        assert_eq!(in_a_loop("SHF.L.U32 R4, R4, 0x1, RZ"), Divisor::Given);
        assert_eq!(in_a_loop("IMAD.SHL.U32 R4, R4, 0x2, RZ"), Divisor::Given);
    }

    #[test]
    fn outside_of_loops_a_threads_own_index_makes_its_own_divisor() {
        let code = |source| {
            [source, "IADD3 R4, R4, 0x1, RZ", "I2F.U32.RP R8, R4", "EXIT"].map(str::to_owned)
        };
        let divisor = |source| of(&code(source).each_ref().map(String::as_str), 2);
        assert_eq!(divisor("S2R R4, SR_TID.X"), Divisor::WorkedOut);
        assert_eq!(divisor("S2R R4, SR_CTAID.X"), Divisor::Given);
        assert_eq!(divisor("LDC R4, c[0x0][0x218]"), Divisor::Given);
    }

    #[test]
    fn a_function_divides_by_what_its_calls_hand_over() {
        let code = |turn| {
            [
                "ULDC UR4, c[0x0][0x218]",
                "MOV R12, UR4",
                "CALL.REL.NOINC 0x170",
                turn,
                "ISETP.NE.AND P0, PT, R9, R10, PT",
                "@P0 BRA 0x120",
                "EXIT",
                "I2F.U64.RP R8, R12",
                "IMAD R9, R8, R9, R12",
                "RET.REL.NODEC R6 0x0",
            ]
        };
        assert_eq!(of(&code("MOV R12, R9"), 7), Divisor::WorkedOut);
        assert_eq!(of(&code("MOV R15, R9"), 7), Divisor::Given);
    }
}
