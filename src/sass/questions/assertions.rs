//! Checks that stop the program: branches into code that reports a failed assertion or traps, and what only they need.

use std::collections::BTreeSet;

use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;

/// Pointers to constant strings that `__assertfail` is given: the condition, the file, the function. `printf` has one.
pub const STRINGS: usize = 3;

/// The bank of constants in which addresses of strings and functions stand.
const ADDRESSES: &str = "c[0x4][0x";

/// The checks of a launch that never failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assertions {
    /// The executed branches into code that reports a failure.
    pub checks: Vec<usize>,
    /// What else is executed for their sake alone: what makes their conditions, and what marks where lanes meet again.
    pub for_checks: Vec<usize>,
    /// Barriers that only stand where a check has passed.
    pub barriers: Vec<usize>,
}

/// The executed checks; `None` where there are none.
#[must_use]
pub fn assertions(listing: &Listing) -> Option<Assertions> {
    let sass = listing.sass;
    let blocks = &sass.flow.blocks;
    let failing = failing(listing)?;
    let leads_there = |at: usize| match sass.entries[at].exit() {
        Exit::Branch(target) => [target, at + 1]
            .iter()
            .any(|&to| sass.flow.block_of.get(to).is_some_and(|&block| failing[block as usize])),
        _ => false,
    };
    let checks: Vec<usize> = blocks
        .iter()
        .map(|block| block.end - 1)
        .filter(|&at| listing.executed(at) > 0.0 && leads_there(at))
        .collect();
    if checks.is_empty() {
        return None;
    }
    let is_failing = |at: usize| failing[sass.flow.block_of[at] as usize];
    let mut reaching = Reaching::new(sass);
    // What is needed with the checks and no longer without: what our reading of the code misses is missing from both.
    let with = needed(listing, &mut reaching, |_| true);
    let without =
        needed(listing, &mut reaching, |at| !is_failing(at) && checks.binary_search(&at).is_err());
    let is_executed = |at: &usize| listing.executed(*at) > 0.0;
    let only = |at: &usize| !without[*at] && checks.binary_search(at).is_err() && !is_failing(*at);
    let mut for_checks: BTreeSet<usize> = with.iter().filter(only).filter(is_executed).collect();
    let stays = |at: usize| is_executed(&at) && !for_checks.contains(&at);
    let exchanges = sass.entries.iter().enumerate().any(|(at, entry)| {
        let is_shared = matches!(
            entry.family,
            Family::Load(Space::Shared | Space::Generic)
                | Family::Store(Space::Shared | Space::Generic)
                | Family::Atomic(Space::Shared)
                | Family::Reduction(Space::Shared)
                | Family::AsyncCopy
        );
        is_shared && stays(at)
    });
    let mut barriers = Vec::new();
    for block in joins(listing, &failing) {
        let block = &blocks[block];
        let here = block.start..block.end;
        if !exchanges {
            let is_barrier = |at: &usize| listing.is_block_barrier(*at);
            barriers.extend(here.filter(is_barrier).filter(is_executed));
        }
        for_checks.extend(meeting(listing, &failing, block.start).into_iter().flatten());
    }
    Some(Assertions { checks, for_checks: for_checks.into_iter().collect(), barriers })
}

/// The never executed blocks that report a failure, and those that lead nowhere else; `None` where there are none.
fn failing(listing: &Listing) -> Option<Marks> {
    let blocks = &listing.sass.flow.blocks;
    let is_cold = |block: usize| listing.executed(blocks[block].start) <= 0.0;
    let mut failing = Marks::of(blocks.len(), |block| is_cold(block) && reports(listing, block));
    if failing.are_none() {
        return None;
    }
    // How many of the blocks that may come next are not known to fail.
    let mut others = vec![0_usize; blocks.len()];
    for block in blocks {
        block.before.iter().for_each(|&from| others[from as usize] += 1);
    }
    let mut open: Vec<usize> = failing.iter().collect();
    while let Some(block) = open.pop() {
        for &from in &blocks[block].before {
            let from = from as usize;
            others[from] -= 1;
            if others[from] == 0 && is_cold(from) && failing.insert(from) {
                open.push(from);
            }
        }
    }
    Some(failing)
}

/// True for a block with a trap, or with a call through a register of a function that is given as many strings as
/// `__assertfail`.
fn reports(listing: &Listing, block: usize) -> bool {
    let block = &listing.sass.flow.blocks[block];
    let mut addresses: BTreeSet<u64> = BTreeSet::new();
    (block.start..block.end).any(|at| {
        let text = listing.text(at);
        let calls = text.contains("CALL.ABS") && addresses.len() >= STRINGS;
        addresses.extend(address(text));
        calls || text.contains("BPT.TRAP")
    })
}

/// The place of an address that an instruction takes from the bank of addresses, whole or one half.
fn address(text: &str) -> Option<u64> {
    let (_, offset) = text.split_once(ADDRESSES)?;
    let (offset, _) = offset.split_once(']')?;
    u64::from_str_radix(offset, 16).ok().map(|offset| offset / 8)
}

/// The instructions that are needed for their effect, or for another one that is, among those that count.
fn needed(listing: &Listing, reaching: &mut Reaching, counts: impl Fn(usize) -> bool) -> Marks {
    let sass = listing.sass;
    let mut needed = Marks::new(sass.entries.len());
    let mut open: Vec<usize> = Vec::new();
    // Everything up to the last call of a block is needed already.
    let mut called = 0;
    for (at, entry) in listing.entries() {
        let goes_on = entry.exit() == Exit::Next;
        let writes_memory = matches!(
            entry.family,
            Family::Store(_) | Family::Atomic(_) | Family::Reduction(_) | Family::AsyncCopy
        );
        let is_effect = sass.defs(at).is_empty() || writes_memory || !goes_on;
        if is_effect && counts(at) && needed.insert(at) {
            open.push(at);
        }
        // A called function reads registers that the call doesn't name: all that were written before it.
        if counts(at) && listing.text(at).contains("CALL") {
            let start = sass.flow.blocks[sass.flow.block_of[at] as usize].start;
            open.extend((start.max(called)..at).filter(|&before| needed.insert(before)));
            called = at;
        }
    }
    while let Some(at) = open.pop() {
        for each in sass.uses(at) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                if counts(by) && needed.insert(by) {
                    open.push(by);
                }
            }
        }
    }
    needed
}

/// The executed blocks in which a check goes on.
fn joins(listing: &Listing, failing: &Marks) -> Vec<usize> {
    let blocks = &listing.sass.flow.blocks;
    let joins = (0..blocks.len()).filter(|&block| {
        let is_behind = blocks[block].before.iter().any(|&before| failing[before as usize]);
        is_behind && !failing[block] && listing.executed(blocks[block].start) > 0.0
    });
    joins.collect()
}

/// The instruction at which the lanes meet behind a check, and the one that says so before it: nothing else parts them, where only the
/// check leads there.
fn meeting(listing: &Listing, failing: &Marks, join: usize) -> Option<[usize; 2]> {
    let sass = listing.sass;
    let blocks = &sass.flow.blocks;
    let barrier = |at: usize, name: &str| {
        let operands = listing.text(at).trim_start().strip_prefix(name)?;
        operands.split([',', ';']).next().map(|name| name.trim().to_owned())
    };
    let name = barrier(join, "BSYNC ")?;
    let before = &blocks[sass.flow.block_of[join] as usize].before;
    let mut passing = before.iter().map(|&block| block as usize).filter(|&block| !failing[block]);
    let check = &blocks[passing.next()?];
    if passing.next().is_some() {
        return None;
    }
    let set =
        (check.start..check.end).rev().find(|&at| barrier(at, "BSSY ").as_ref() == Some(&name))?;
    Some([set, join])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::sass::code::listing::tests::launch;

    /// A check behind which the lanes meet, as nvcc translates it; the cold block has `cold` in the place of three strings.
    fn code(strings: [&str; 3], call: &str, failed: f64, barrier: &str) -> Launch {
        launch(&[
            ("IMAD R0, R3, R4, RZ", 8.0),              // 0: for both
            ("IMAD R5, R0, R6, RZ", 8.0),              // 1: for the check alone
            ("BSSY B6, 0x1b0", 8.0),                   // 2
            ("ISETP.GE.AND P0, PT, R5, UR4, PT", 8.0), // 3
            ("@!P0 BRA 0x1b0", 8.0),                   // 4
            ("MOV R14, 0x0", failed),                  // 5
            (strings[0], failed),                      // 6
            (strings[1], failed),                      // 7
            ("LDC.64 R14, c[0x4][R14]", failed),       // 8
            (strings[2], failed),                      // 9
            (call, failed),                            // 10: 0x1a0
            ("BSYNC B6", 8.0),                         // 11: 0x1b0
            (barrier, 8.0),                            // 12
            ("STG.E desc[UR8][R8.64], R0", 8.0),       // 13
            ("EXIT", 8.0),
        ])
    }

    const STRINGS_OF_ASSERT: [&str; 3] =
        ["ULDC.64 UR4, c[0x4][0x10]", "ULDC.64 UR6, c[0x4][0x8]", "ULDC.64 UR4, c[0x4][0x18]"];
    const CALL: &str = "CALL.ABS.NOINC R14 0x0";
    const BARRIER: &str = "BAR.SYNC.DEFER_BLOCKING 0x0";

    fn found(code: &Launch) -> Option<Assertions> {
        assertions(&code.listing().unwrap())
    }

    #[test]
    fn an_assertion_and_what_it_alone_needs_are_found() {
        let expected =
            Assertions { checks: vec![4], for_checks: vec![1, 2, 3, 11], barriers: vec![12] };
        assert_eq!(found(&code(STRINGS_OF_ASSERT, CALL, 0.0, BARRIER)), Some(expected));
        let by_halves = [
            "MOV R4, c[0x4][0x8]",
            "MOV R6, c[0x4][0x10]",
            "IMAD.MOV.U32 R10, RZ, RZ, c[0x4][0x1c]",
        ];
        assert!(found(&code(by_halves, CALL, 0.0, "NOP")).is_some());
        assert!(found(&code(["NOP"; 3], "BPT.TRAP 0x1", 0.0, "NOP")).is_some());
    }

    #[test]
    fn other_rare_calls_and_failures_that_happen_are_none() {
        let of = |strings, call, failed| found(&code(strings, call, failed, "NOP"));
        let [first, second, _] = STRINGS_OF_ASSERT;
        assert_eq!(of([first, second, second], CALL, 0.0), None, "printf with a string");
        assert_eq!(of(["NOP"; 3], "CALL.REL.NOINC 0x1b0", 0.0), None, "a division's rare way");
        assert_eq!(of(STRINGS_OF_ASSERT, CALL, 1.0), None, "it fails");
    }

    #[test]
    fn barriers_stay_where_shared_memory_is_used() {
        let mut shared = code(STRINGS_OF_ASSERT, CALL, 0.0, BARRIER);
        shared.instructions[13].text = "STS [R8], R0".into();
        assert!(found(&shared).unwrap().barriers.is_empty());
    }
}
