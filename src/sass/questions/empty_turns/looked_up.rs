//! Loops that load in each turn whether there is anything to do.
//!
//! A table says for each turn whether the block has anything to do in it: which experts a token goes to, which tiles of a matrix
//! are not zero. A loop through the whole table loads one entry per turn, waits for it, and mostly goes on. A list of the turns
//! with work, or a look at 32 entries at once, one per lane, leaves only those.
//!
//! A search that ends when it has found something, a largest value so far, a count, and a walk along pointers look alike, but need
//! all of their turns.

mod turn;

use std::collections::BTreeSet;

use super::{EmptyTurns, How};
use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::cycles::cycles;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::alike::of_threads_own;
use turn::Turn;

/// The part of its turns in which such a loop has something to do, at most.
pub const WITH_WORK: f64 = 0.5;

/// The loops most of whose turns only load that there is nothing to do.
pub(super) fn looked_up_turns(listing: &Listing) -> Vec<EmptyTurns> {
    let flow = &listing.sass.flow;
    let loops = (0..flow.loops.len()).map(|of| Turn::new(listing, of));
    let candidates: Vec<Turn> = loops.filter(|turn| !turn.tests.is_empty()).collect();
    // Most kernels have none, and to know whose values are a thread's own takes time.
    if candidates.is_empty() {
        return Vec::new();
    }
    let own = of_threads_own(listing);
    let found = candidates.into_iter().filter_map(|turn| turn.looks_up(&own));
    found.collect()
}

impl Turn<'_> {
    /// The loop, if all that it does in each turn is to look up what to do.
    fn looks_up(self, own: &Marks) -> Option<EmptyTurns> {
        let listing = &self.listing;
        let sass = listing.sass;
        let executed = |at: usize| listing.executed(at);
        let mut reaching = Reaching::with_guards(sass);
        let asked = self.asked(&mut reaching, own)?;
        let nothing_else = self.always.iter().all(|at| match sass.entries[*at].family {
            Family::Load(_) => asked.contains(at),
            Family::Shuffle | Family::Vote => false,
            family => !family.is_memory(),
        });
        let works = |at: &usize| sass.entries[*at].family.is_memory() && !self.is_always(*at);
        let stays = self.seldom_stays();
        if !nothing_else
            || !stays
            || !self.inside.iter().any(works)
            || self.keeps(&mut reaching, &asked)
        {
            return None;
        }
        let all: f64 = self.tests.iter().map(|test| executed(test.at)).sum();
        let with_work: f64 = self.tests.iter().map(|test| test.with_work).sum();
        let empty = 1.0 - with_work / all;
        let each = &sass.flow.loops[self.of];
        // An unrolled loop looks up several entries per turn.
        let turns = turns(listing, each) * all / executed(each.head);
        let going = self.issued.iter().map(|&at| (at, empty)).collect();
        let loads = asked.into_iter().collect();
        Some(EmptyTurns { going, loads, turns, empty, how: How::LookedUp })
    }

    /// The loads that the conditions are made of; `None` where a condition is made of anything but what these bring, what counts
    /// turns, and what stays the same, or where it may differ among the lanes of a warp.
    fn asked(&self, reaching: &mut Reaching, own: &Marks) -> Option<BTreeSet<usize>> {
        let sass = self.listing.sass;
        let mut asked = BTreeSet::new();
        for test in &self.tests {
            let mut of_test = false;
            let mut seen = BTreeSet::from([test.at]);
            let mut open = vec![test.at];
            while let Some(at) = open.pop() {
                let is_load = matches!(sass.entries[at].family, Family::Load(_));
                if is_load && at != test.at {
                    // Where the entry lies, only the counter says.
                    if self.goes_by_data(reaching, at) {
                        return None;
                    }
                    asked.insert(at);
                    of_test = true;
                    continue;
                }
                let condition = |each: &&Use| match each.role {
                    Role::Guard => true,
                    Role::Data | Role::Address => at != test.at,
                    Role::Old => false,
                };
                for each in sass.uses(at).iter().filter(condition) {
                    for by in reaching.definitions(at, *each).map(|by| by as usize) {
                        if own[by] && !test.together {
                            return None;
                        }
                        if !self.is_inside(by) || !seen.insert(by) {
                            continue;
                        }
                        // Goes by what an earlier turn did.
                        if !self.is_always(by) {
                            return None;
                        }
                        open.push(by);
                    }
                }
            }
            if !of_test {
                return None;
            }
        }
        Some(asked)
    }

    /// True where a load's address is made of what the loop loads or what its work leaves behind.
    fn goes_by_data(&self, reaching: &mut Reaching, load: usize) -> bool {
        let sass = self.listing.sass;
        let mut seen = BTreeSet::new();
        let mut open = vec![load];
        while let Some(at) = open.pop() {
            for each in sass.uses(at).iter().filter(|each| each.role != Role::Old) {
                for by in reaching.definitions(at, *each).map(|by| by as usize) {
                    if self.is_inside(by) && seen.insert(by) {
                        if sass.entries[by].family.is_memory() || !self.is_always(by) {
                            return true;
                        }
                        open.push(by);
                    }
                }
            }
        }
        false
    }

    /// True where the loop keeps something of the looked-up entries from turn to turn or for later, or ends by them.
    fn keeps(&self, reaching: &mut Reaching, asked: &BTreeSet<usize>) -> bool {
        let sass = self.listing.sass;
        let entries = sass.entries.len();
        let uses_any = |reaching: &mut Reaching, at: usize, of: &Marks| {
            let mut uses = sass.uses(at).iter();
            uses.any(|each| reaching.definitions(at, *each).any(|by| of[by as usize]))
        };
        let mut of_entries = Marks::of(entries, |at| asked.contains(&at));
        let always = Marks::of(entries, |at| self.is_always(at));
        of_entries.spread(&always, |at, of_entries| uses_any(reaching, at, of_entries));
        let is_test = |at: &usize| self.tests.iter().any(|test| test.at == *at);
        let ends = |at: &usize| sass.entries[*at].exit() != Exit::Next && !is_test(at);
        if of_entries.iter().any(|at| ends(&at)) {
            return true;
        }
        let turning = cycles(entries, of_entries.iter(), |at, open| {
            for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
                let made = reaching.definitions(at, *each);
                open.extend(made.filter(|by| of_entries[*by as usize]));
            }
        });
        if of_entries.iter().any(|at| turning[at]) {
            return true;
        }
        let outside = (0..sass.entries.len()).filter(|at| !self.is_inside(*at));
        let mut outside = outside.filter(|&at| self.listing.executed(at) > 0.0);
        outside.any(|at| uses_any(reaching, at, &of_entries))
    }

    /// True where the work goes on with the next turn whenever it is done.
    fn seldom_stays(&self) -> bool {
        let flow = &self.listing.sass.flow;
        let blocks = &flow.loops[self.of].blocks;
        let in_loop = |at: usize| flow.block_of.get(at).is_some_and(|it| blocks.contains(it));
        self.inside.iter().filter(|at| !self.is_always(**at)).all(|&at| {
            match self.listing.sass.entries[at].exit() {
                Exit::Next => true,
                Exit::Branch(target) => in_loop(target) && in_loop(at + 1),
                Exit::Jump(target) => in_loop(target),
                Exit::End | Exit::MaybeEnd => false,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A loop of 40 turns that loads an entry and mostly passes four instructions by.
    fn of(changes: &[(usize, &'static str)], with_work: f64) -> Vec<EmptyTurns> {
        of_lanes(changes, with_work, 4.0)
    }

    /// Likewise, with so many lanes that have work where any has.
    fn of_lanes(changes: &[(usize, &'static str)], with_work: f64, lanes: f64) -> Vec<EmptyTurns> {
        let mut code = [
            ("S2UR UR6, SR_CTAID.X", 8.0),
            ("S2R R9, SR_TID.X", 8.0),
            ("LDC.64 R10, c[0x0][0x210]", 8.0),
            ("MOV R2, RZ", 8.0),
            ("MOV R8, RZ", 8.0),
            ("IMAD.WIDE R12, R2, 0x4, R10", 320.0), // 5
            ("IADD3 R2, R2, 0x1, RZ", 320.0),
            ("LDG.E R4, desc[UR4][R12.64]", 320.0),
            ("ISETP.GE.AND P1, PT, R4, RZ, PT", 320.0),
            ("NOP", 320.0), // 9
            ("@!P1 BRA 0x1e0", 320.0),
            ("IMAD R14, R4, 0x100, R9", with_work), // 11
            ("STG.E desc[UR4][R14.64], R9", with_work),
            ("NOP", with_work), // 13
            ("ISETP.GE.AND P0, PT, R2, c[0x0][0x220], PT", 320.0),
            ("@!P0 BRA 0x150", 320.0), // 15
            ("STG.E desc[UR4][R10.64], R8", 8.0),
            ("EXIT", 8.0),
        ];
        for (at, text) in changes {
            code[*at].0 = text;
        }
        let mut launch = launch(&code);
        launch.instructions[11].counters.thread_inst_executed_pred_on = with_work * lanes;
        looked_up_turns(&launch.listing().unwrap())
    }

    #[test]
    fn turns_that_only_look_up_are_empty() {
        let found = of(&[], 32.0);
        assert_eq!(found.len(), 1);
        assert!((found[0].empty - 0.9).abs() < 1e-12 && (found[0].turns - 40.0).abs() < 1e-12);
        assert_eq!(found[0].loads, [7]);
        let going: Vec<usize> = found[0].going.iter().map(|(at, _)| *at).collect();
        assert_eq!(going, [5, 6, 7, 8, 9, 10, 14, 15]);
        assert_eq!(of(&[], 160.0).len(), 1);
        assert!(of(&[], 161.0).is_empty(), "work in more than half of the turns");
    }

    #[test]
    fn work_may_be_switched_off_in_place_of_passed_by() {
        let of = |on: f64, last: &str| {
            let mut launch = launch(&[
                ("S2R R9, SR_TID.X", 8.0),
                ("IMAD.WIDE R12, R2, 0x4, c[0x0][0x210]", 80.0), // 1
                ("LDG.E R4, desc[UR4][R12.64]", 80.0),
                ("LDG.E R5, desc[UR4][R12.64+0x4]", 80.0),
                ("IADD3 R2, R2, 0x2, RZ", 80.0),
                ("ISETP.GE.AND P1, PT, R4, RZ, PT", 80.0),
                ("@P1 IMAD R14, R4, 0x100, R9", 80.0), // 6
                ("@P1 STG.E desc[UR4][R14.64], R9", 80.0),
                ("@P1 STG.E desc[UR4][R14.64+0x100], R9", 80.0),
                ("ISETP.GE.AND P2, PT, R5, RZ, PT", 80.0),
                ("@P2 IMAD R14, R5, 0x100, R9", 80.0), // 10
                (last, 80.0),
                ("ISETP.GE.AND P0, PT, R2, c[0x0][0x220], PT", 80.0),
                ("@!P0 BRA 0x110", 80.0),
                ("EXIT", 8.0),
            ]);
            for at in [6, 7, 8, 10, 11] {
                launch.instructions[at].counters.thread_inst_executed_pred_on = 32.0 * on;
            }
            looked_up_turns(&launch.listing().unwrap())
        };
        let last = "@P2 STG.E desc[UR4][R14.64], R9";
        let found = of(8.0, last);
        assert!((found[0].empty - 0.9).abs() < 1e-12 && (found[0].turns - 20.0).abs() < 1e-12);
        assert_eq!((found[0].loads.as_slice(), found[0].going.len()), (&[2, 3][..], 13));
        assert!(of(41.0, last).is_empty(), "work in more than half of the turns");
        assert!(of(8.0, "STG.E desc[UR4][R14.64], R9").is_empty(), "one entry in two has work");
    }

    #[test]
    fn a_warp_may_have_entries_of_its_own() {
        let own = [(5, "IMAD.WIDE R12, R9, 0x4, R10")];
        assert_eq!(of_lanes(&own, 32.0, 32.0).len(), 1);
        assert_eq!(of_lanes(&own, 32.0, 29.0).len(), 1);
        assert!(of_lanes(&own, 32.0, 28.0).is_empty(), "each lane has its own");
    }

    #[test]
    fn searches_and_sums_need_all_turns() {
        let none = |changes: &[(usize, &'static str)], why: &str| {
            assert!(of(changes, 32.0).is_empty(), "{why}");
        };
        none(&[(5, "IMAD.WIDE R12, R9, 0x4, R10")], "each thread has entries of its own");
        none(&[(9, "IADD3 R8, R8, R4, RZ")], "a sum of all entries");
        none(&[(9, "MOV R8, R4")], "the last entry is used later");
        none(&[(13, "BRA 0x200")], "ends when something is found");
        none(&[(9, "@!P1 BRA 0x200")], "ends when nothing is found");
        none(&[(6, "MOV R2, R4")], "a chain of pointers");
        none(&[(7, "NOP"), (8, "ISETP.GE.AND P1, PT, R2, UR6, PT")], "nothing is looked up");
        none(&[(9, "LDG.E R16, desc[UR4][R12.64]")], "each turn loads something else");
        none(&[(12, "MOV R8, R14")], "the work is a move");
        let largest = [(8, "ISETP.GE.AND P1, PT, R4, R8, PT"), (13, "MOV R8, R4")];
        none(&largest, "the largest so far");
    }
}
