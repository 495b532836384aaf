//! Loops through all positions, of which each lane has work in a window around its own.
//!
//! A transposed convolution that goes through all inputs for each output works where an input's window covers the output, and skips
//! all other turns. The condition compares a place of the lane's own, from both sides, with what only the counter says. So the
//! windows of all lanes are equally long, and only begin elsewhere: if each lane begins with its first turn, all have work at once.
//!
//! A comparison from one side is no window: the lanes of a warp then have rows of unequal length, and the longest is needed. So it
//! is with bounds that are loaded.

use std::collections::BTreeSet;

use super::{Around, EmptyTurns, How, condition, is_order};
use crate::hardware::WARP_LANES;
use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::turns::turns;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::alike::of_threads_own;
use crate::sass::questions::matrix_loops::members;

/// The loops in whose turns lanes mostly find out that they are outside their window.
pub(super) fn window_turns(listing: &Listing) -> Vec<EmptyTurns> {
    let flow = &listing.sass.flow;
    let candidates: Vec<Candidate> =
        (0..flow.loops.len()).filter_map(|of| Candidate::new(listing, of)).collect();
    // Most kernels have none, and to know whose values are a thread's own takes time.
    if candidates.is_empty() {
        return Vec::new();
    }
    let own = of_threads_own(listing);
    let found = candidates.into_iter().filter_map(|each| {
        let mut around = Around::new(listing, &each.inside, &own);
        each.empty(listing, &mut around)
    });
    found.collect()
}

/// A loop none of whose accesses is on in all lanes of all turns.
struct Candidate {
    of: usize,
    inside: Vec<usize>,
    accesses: Vec<usize>,
}

impl Candidate {
    fn new(listing: &Listing, of: usize) -> Option<Self> {
        let sass = listing.sass;
        let inside = members(listing, of);
        let family = |at: &usize| sass.entries[*at].family;
        let accesses: Vec<usize> =
            inside.iter().copied().filter(|at| family(at).is_memory()).collect();
        let all = WARP_LANES * listing.executed(sass.flow.loops[of].head);
        let on = |at: &usize| listing.row(*at).counters.thread_inst_executed_pred_on;
        // Where lanes or warps meet, all of them must be there.
        let meets = |at: &usize| {
            matches!(family(at), Family::Shuffle | Family::Vote | Family::Barrier | Family::Tensor)
        };
        let compares = inside.iter().filter(|at| is_order(listing.text(**at))).count();
        let is_innermost = |at: &usize| sass.flow.innermost(*at) == Some(of);
        let is_one = !accesses.is_empty()
            && inside.iter().all(is_innermost)
            && compares > 1
            && accesses.iter().all(|at| on(at) < all)
            && !inside.iter().any(meets);
        is_one.then_some(Self { of, inside, accesses })
    }

    fn empty(&self, listing: &Listing, around: &mut Around) -> Option<EmptyTurns> {
        let each = &listing.sass.flow.loops[self.of];
        let windows: Vec<Window> =
            self.accesses.iter().map(|&at| around.window(at)).collect::<Option<_>>()?;
        let place = &windows[0].place;
        if windows.iter().any(|window| window.place != *place) || around.goes_on(&windows) {
            return None;
        }
        let in_turns = listing.executed(each.head);
        // Of an unrolled loop, each copy of the body has comparisons of its own.
        let copies: BTreeSet<&BTreeSet<usize>> = windows.iter().map(|it| &it.compares).collect();
        let on_in = |copy: &&BTreeSet<usize>| {
            let of_copy =
                windows.iter().zip(&self.accesses).filter(|(it, _)| it.compares == **copy);
            let on = of_copy.map(|(_, &at)| listing.row(at).counters.thread_inst_executed_pred_on);
            on.fold(0.0, f64::max) / WARP_LANES / in_turns
        };
        let on = copies.iter().map(on_in).sum::<f64>() / copies.len() as f64;
        let turns = turns(listing, each);
        // A window that begins between two positions may hold one more.
        let needed = on + 1.0 / turns;
        let share = |at: usize| (1.0 - needed * in_turns / listing.executed(at)).max(0.0);
        let executed = |at: &usize| listing.executed(*at) > 0.0;
        let going = self.inside.iter().copied().filter(executed).map(|at| (at, share(at)));
        let going = going.filter(|(_, share)| *share > 0.0).collect();
        let (loads, empty) = (self.accesses.clone(), 1.0 - needed);
        (empty > 0.0).then_some(EmptyTurns { going, loads, turns, empty, how: How::Window })
    }
}

/// Where a lane has work.
struct Window {
    /// The access that is on there.
    access: usize,
    /// The comparisons that say so.
    compares: BTreeSet<usize>,
    /// What makes the lane's place.
    place: BTreeSet<usize>,
}

impl Around<'_, '_> {
    /// The window in which an access is on; `None` where anything else switches it, or nothing.
    fn window(&mut self, access: usize) -> Option<Window> {
        let sass = self.listing.sass;
        // The conditions, with whether a lane works where they are not true.
        let is_not = |at: usize| self.listing.text(at).trim_start().starts_with("@!");
        let mut open: Vec<(usize, Use, bool)> =
            condition(&self.listing, access).map(|each| (access, *each, is_not(access))).collect();
        for &branch in self.inside.iter().filter(|branch| **branch < access) {
            if let Exit::Branch(target) = sass.entries[branch].exit()
                && target > access
                && self.inside.binary_search(&target).is_ok()
            {
                // A branch that is taken passes the work by.
                let guards = condition(&self.listing, branch);
                open.extend(guards.map(|each| (branch, *each, !is_not(branch))));
            }
        }
        let (mut compares, mut place) = (BTreeSet::new(), None);
        let (mut above, mut below) = (false, false);
        while let Some((at, each, is_not)) = open.pop() {
            let made = self.made_inside(at, each);
            // The same in all turns.
            if made.is_empty() {
                return None;
            }
            for by in made {
                // Copies and joints of conditions make nothing but conditions.
                if !sass.defs(by).iter().all(|slot| slot.is_predicate()) {
                    return None;
                }
                let text = self.listing.text(by);
                if !is_order(text) {
                    return None;
                }
                let (its_place, is_above) = self.compares_place(by)?;
                if place.get_or_insert_with(|| its_place.clone()) != &its_place {
                    return None;
                }
                above |= is_above != is_not;
                below |= is_above == is_not;
                let joined: Vec<Use> =
                    sass.uses(by).iter().filter(|each| each.slot.is_predicate()).copied().collect();
                // Both bounds hold at once: neither is passed where a lane works only if they are not.
                let joins = if is_not { ".OR" } else { ".AND" };
                let is_turned = text.rsplit(',').next().is_some_and(|last| last.contains('!'));
                if !joined.is_empty() && (is_turned || !text.contains(joins)) {
                    return None;
                }
                if compares.insert(by) {
                    open.extend(joined.into_iter().map(|each| (by, each, is_not)));
                }
            }
        }
        let place = place?;
        (above && below).then_some(Window { access, compares, place })
    }

    /// What makes the thread's own place that a comparison takes, if the other side counts turns and is the same for the block; and
    /// whether it asks for a place above.
    fn compares_place(&mut self, at: usize) -> Option<(BTreeSet<usize>, bool)> {
        let uses: Vec<Use> = self.listing.sass.uses(at).to_vec();
        let instruction = Instruction::parse(self.listing.text(at))?;
        let first = instruction.operands.get(2)?.slot();
        let (mut place, mut counts) = (None, false);
        for each in uses.iter().filter(|each| !each.slot.is_predicate()) {
            let made: BTreeSet<usize> =
                self.reaching.definitions(at, *each).map(|by| by as usize).collect();
            if made.iter().any(|by| self.own[*by]) {
                let stays = self.made_inside(at, *each).is_empty();
                let is_first = first == Some(each.slot);
                if !stays || place.replace((made, is_first)).is_some() {
                    return None;
                }
            } else {
                counts |= self.counted(at, *each)?;
            }
        }
        let (made, is_first) = place.filter(|_| counts)?;
        let is_greater = instruction.has("GE") || instruction.has("GT");
        Some((made, is_greater == is_first))
    }

    /// True where the loop does anything in turns outside the windows that it may need: arithmetic of floats, or values chosen by
    /// the windows' conditions.
    fn goes_on(&mut self, windows: &[Window]) -> bool {
        let sass = self.listing.sass;
        let in_turns = self.inside.iter().map(|&at| self.listing.executed(at)).fold(0.0, f64::max);
        let always = |at: &&usize| {
            !sass.entries[**at].conditional && self.listing.executed(**at) >= in_turns
        };
        let always: Vec<usize> = self.inside.iter().filter(always).copied().collect();
        let of_window = |by: usize| windows.iter().any(|window| window.compares.contains(&by));
        always.into_iter().any(|at| {
            let chooses = !of_window(at)
                && sass.uses(at).iter().any(|each| {
                    let by_condition = each.slot.is_predicate() && each.role != Role::Guard;
                    by_condition && self.made_inside(at, *each).into_iter().any(of_window)
                });
            chooses || sass.entries[at].family.is_float()
        }) || self.works_beside(windows)
    }

    /// True where arithmetic of floats happens in lanes that no window lets through.
    fn works_beside(&self, windows: &[Window]) -> bool {
        let lanes = |at: usize| self.listing.row(at).counters.thread_inst_executed_pred_on;
        let let_through = windows.iter().map(|window| lanes(window.access)).fold(0.0, f64::max);
        let is_float = |at: usize| self.listing.sass.entries[at].family.is_float();
        self.inside.iter().any(|&at| is_float(at) && lanes(at) > let_through)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;
    use crate::sass::questions::empty_turns::empty_turns;

    /// A loop of 40 turns that works where the counter is in a window around the thread's place, in lanes on average.
    fn of(changes: &[(usize, &'static str)], lanes: f64) -> Vec<EmptyTurns> {
        let mut code = [
            ("S2R R3, SR_TID.X", 8.0),
            ("LDC.64 R10, c[0x0][0x210]", 8.0),
            ("LDG.E R7, desc[UR4][R10.64]", 8.0),
            ("MOV R2, RZ", 8.0),
            ("IADD3 R6, R2, 0x3, RZ", 320.0), // 4
            ("ISETP.GE.AND P0, PT, R3, R6, PT", 320.0),
            ("ISETP.LT.OR P0, PT, R3, R2, P0", 320.0),
            ("@!P0 LDG.E R4, desc[UR4][R12.64]", 320.0), // 7
            ("@!P0 FADD R5, R5, R4", 320.0),
            ("NOP", 320.0), // 9
            ("IADD3 R2, R2, 0x2, RZ", 320.0),
            ("ISETP.GE.AND P1, PT, R2, c[0x0][0x220], PT", 320.0),
            ("@!P1 BRA 0x140", 320.0),
            ("STG.E desc[UR4][R10.64], R5", 8.0),
            ("EXIT", 8.0),
        ];
        for (at, text) in changes {
            code[*at].0 = text;
        }
        let mut launch = launch(&code);
        launch.instructions[7].counters.thread_inst_executed_pred_on = 320.0 * lanes;
        empty_turns(&launch.listing().unwrap())
    }

    #[test]
    fn turns_outside_a_lanes_window_are_empty() {
        let found = of(&[], 1.6);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].how, &found[0].loads[..]), (How::Window, &[7][..]));
        // Two turns of 40 have work in a lane, and one more may.
        assert!((found[0].empty - (1.0 - 3.0 / 40.0)).abs() < 1e-12, "{}", found[0].empty);
        assert!(of(&[], 31.5).is_empty(), "all turns may have work");
    }

    #[test]
    fn a_branch_may_pass_the_work_by() {
        let mut launch = launch(&[
            ("S2R R3, SR_TID.X", 8.0),
            ("IADD3 R6, R2, 0x3, RZ", 320.0), // 1
            ("ISETP.GE.AND P0, PT, R3, R6, PT", 320.0),
            ("ISETP.LT.OR P0, PT, R3, R2, P0", 320.0),
            ("@P0 BRA 0x170", 320.0),
            ("LDG.E R4, desc[UR4][R12.64]", 64.0), // 5
            ("FADD R5, R5, R4", 64.0),
            ("IADD3 R2, R2, 0x2, RZ", 320.0),
            ("ISETP.GE.AND P1, PT, R2, c[0x0][0x220], PT", 320.0),
            ("@!P1 BRA 0x110", 320.0),
            ("EXIT", 8.0),
        ]);
        launch.instructions[5].counters.thread_inst_executed_pred_on = 16.0 * WARP_LANES;
        let found = empty_turns(&launch.listing().unwrap());
        assert!((found[0].empty - (1.0 - 3.0 / 40.0)).abs() < 1e-12, "{}", found[0].empty);
        let of_load = found[0].going.iter().find(|(at, _)| *at == 5).unwrap().1;
        // In 64 turns some lane of the warp has work; together they need three of 40.
        assert!((of_load - (1.0 - 24.0 / 64.0)).abs() < 1e-12, "{of_load}");
    }

    #[test]
    fn other_conditions_are_no_windows() {
        let none = |changes: &[(usize, &'static str)], why: &str| {
            assert!(of(changes, 1.6).is_empty(), "{why}");
        };
        none(&[(5, "NOP"), (6, "ISETP.LT.AND P0, PT, R3, R2, PT")], "from one side");
        none(&[(5, "ISETP.LT.AND P0, PT, R3, R6, PT")], "twice from the same side");
        none(&[(5, "ISETP.GE.AND P0, PT, R7, R6, PT")], "bounds of their own");
        none(&[(4, "IMAD R6, R3, 0x4, R2")], "no place stays");
        none(&[(4, "LDG.E R6, desc[UR4][R10.64]")], "bounds that are loaded");
        none(&[(9, "FADD R8, R8, R9")], "each turn adds something");
        none(&[(9, "SEL R8, R8, R9, P0")], "each turn chooses something");
        none(&[(9, "SHFL.IDX PT, R8, R9, 0x0, 0x1f")], "lanes exchange values");
        none(&[(9, "LDG.E R8, desc[UR4][R12.64+0x4]")], "each turn loads something");
    }
}
