//! What an instruction waits for by its control codes, which no listing shows.

use crate::sass::code::sass::Sass;
use crate::sass::thresholds::SETTER_WITHIN;

/// What a barrier guards until it is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Guarded {
    /// The result, until it is written.
    Result,
    /// The operands, until they are read.
    Operands,
}

/// An instruction that another one waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Awaited {
    /// Its place in the listing.
    pub at: u32,
    /// What of it is awaited; the result where both are.
    pub guarded: Guarded,
}

/// The waits of a listing.
pub struct Waits<'a> {
    sass: &'a Sass,
    // Room that is used again. Of each block the barriers that were looked for from its end.
    seen: Vec<u8>,
    open: Vec<(usize, usize, u8)>,
    found: Vec<Awaited>,
}

impl<'a> Waits<'a> {
    /// Nothing looked for yet.
    #[must_use]
    pub fn new(sass: &'a Sass) -> Self {
        Self { sass, seen: Vec::new(), open: Vec::new(), found: Vec::new() }
    }

    /// The instructions that one waits for, ascending: for each barrier in its wait mask, those that set the barrier
    /// since the last wait for it, on every way that leads there. One wait is for all of them, since a barrier counts
    /// those that have set it. Calls are passed over. None where it waits for none, where the codes are not known, or
    /// where the search would be too long.
    pub fn of(&mut self, waiting: usize) -> &[Awaited] {
        self.found.clear();
        let waits = self.sass.controls.get(waiting).map_or(0, |codes| codes.waits);
        if waits != 0 && self.search(waiting, waits).is_none() {
            self.found.clear();
        }
        self.found.sort_unstable();
        self.found.dedup_by_key(|awaited| awaited.at);
        &self.found
    }

    /// `None` where it is given up.
    fn search(&mut self, waiting: usize, waits: u8) -> Option<()> {
        let blocks = &self.sass.flow.blocks;
        self.seen.clear();
        self.seen.resize(blocks.len(), 0);
        self.open.clear();
        self.open.push((self.sass.flow.block_of[waiting] as usize, waiting, waits));
        let mut left = SETTER_WITHIN.whole();
        while let Some((block, end, mut waits)) = self.open.pop() {
            for at in (blocks[block].start..end).rev() {
                left = left.checked_sub(1)?;
                waits = self.pass(at, waits);
                if waits == 0 {
                    break;
                }
            }
            for &before in &blocks[block].before {
                let before = before as usize;
                let new = waits & !self.seen[before];
                if new != 0 {
                    self.seen[before] |= new;
                    self.open.push((before, blocks[before].end, new));
                }
            }
        }
        Some(())
    }

    /// Notes an instruction if it sets one of these barriers, and returns those to look for before it: it waits before
    /// it sets one.
    fn pass(&mut self, at: usize, waits: u8) -> u8 {
        let codes = self.sass.controls[at];
        let sets = |barrier: Option<u8>| barrier.is_some_and(|one| waits >> one & 1 == 1);
        let guarded = if sets(codes.write_barrier) {
            Some(Guarded::Result)
        } else {
            sets(codes.read_barrier).then_some(Guarded::Operands)
        };
        self.found.extend(guarded.map(|guarded| Awaited { at: at as u32, guarded }));
        waits & !codes.waits
    }
}

#[cfg(test)]
pub(in crate::sass) mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::isa::control::Control;
    use crate::sass::code::listing::tests::launch;

    /// A launch of instructions with the barrier that each sets when its result is written, the one that it sets when
    /// its operands are read, and those that it waits for.
    pub(in crate::sass) type Coded<'a> = (&'a str, Option<u8>, Option<u8>, u8);

    pub(in crate::sass) fn coded(code: &[Coded]) -> Launch {
        let texts: Vec<_> = code.iter().map(|&(text, ..)| (text, 1.0)).collect();
        let mut launch = launch(&texts);
        for (row, &(_, write_barrier, read_barrier, waits)) in
            launch.instructions.iter_mut().zip(code)
        {
            let (stall_cycles, yields) = (1, false);
            row.control =
                Some(Control { stall_cycles, yields, write_barrier, read_barrier, waits });
        }
        launch
    }

    fn awaited(code: &[Coded], waiting: usize) -> Vec<(u32, Guarded)> {
        let launch = coded(code);
        let mut waits = Waits::new(launch.listing().unwrap().sass);
        waits.of(waiting).iter().map(|one| (one.at, one.guarded)).collect()
    }

    const LOAD: &str = "LDG.E R4, desc[UR4][R2.64]";

    #[test]
    fn a_wait_is_for_the_barriers_in_its_mask_alone() {
        let code = [
            (LOAD, Some(0), None, 0),
            ("LDG.E R5, desc[UR4][R8.64]", Some(1), None, 0),
            ("FADD R0, R0, R5", None, None, 0b10),
            ("FADD R0, R0, R4", None, None, 0b01),
            ("FADD R0, R0, R4", None, None, 0b11),
        ];
        assert_eq!(awaited(&code, 2), [(1, Guarded::Result)]);
        assert_eq!(awaited(&code, 3), [(0, Guarded::Result)]);
        // Both have been awaited.
        assert_eq!(awaited(&code, 4), []);
        assert_eq!(awaited(&code, 1), []);
    }

    #[test]
    fn a_wait_is_for_all_that_set_its_barrier_since_the_last_one() {
        let code = [
            (LOAD, Some(2), None, 0),
            // It waits before it sets the barrier.
            ("LDG.E R4, desc[UR4][R4.64]", Some(2), None, 0b100),
            ("LDG.E R5, desc[UR4][R8.64]", Some(2), None, 0),
            ("FADD R0, R0, R4", None, None, 0b100),
        ];
        assert_eq!(awaited(&code, 1), [(0, Guarded::Result)]);
        assert_eq!(awaited(&code, 3), [(1, Guarded::Result), (2, Guarded::Result)]);
    }

    #[test]
    fn results_and_operands_are_guarded_apart() {
        let code = [
            (LOAD, Some(0), Some(1), 0),
            ("STG.E desc[UR4][R8.64], R6", None, Some(1), 0),
            ("MOV R6, R7", None, None, 0b10),
            ("FADD R0, R0, R4", None, None, 0b01),
            (LOAD, Some(0), Some(0), 0),
            ("MOV R2, R7", None, None, 0b01),
        ];
        assert_eq!(awaited(&code, 2), [(0, Guarded::Operands), (1, Guarded::Operands)]);
        assert_eq!(awaited(&code, 3), [(0, Guarded::Result)]);
        assert_eq!(awaited(&code, 5), [(4, Guarded::Result)], "its result comes later");
    }

    #[test]
    fn a_wait_sees_all_ways_that_lead_to_it() {
        let code = [
            (LOAD, Some(0), None, 0),                              // 0
            ("@P0 BRA 0x150", None, None, 0),                      // 1: to 5
            ("FADD R0, R0, R4", None, None, 0b01),                 // 2
            ("LDG.E R5, desc[UR4][R8.64]", Some(0), None, 0),      // 3
            ("BRA 0x160", None, None, 0),                          // 4: to 6
            ("LDG.E R5, desc[UR4][R8.64+0x10]", Some(1), None, 0), // 5
            ("FADD R0, R0, R5", None, None, 0b11),                 // 6
            ("EXIT", None, None, 0),
        ];
        // One way has waited for barrier 0 and set it anew; the other one has not, and has set barrier 1.
        let all = [0, 3, 5].map(|at| (at, Guarded::Result));
        assert_eq!(awaited(&code, 6), all);
    }

    #[test]
    fn a_wait_sees_around_a_loop_and_past_no_other_wait() {
        let code = [
            (LOAD, Some(0), None, 0),                         // 0
            ("LDG.E R5, desc[UR4][R2.64]", Some(1), None, 0), // 1
            ("FADD R6, R6, R5", None, None, 0b10),            // 2: head
            ("FADD R0, R0, R4", None, None, 0b01),            // 3
            (LOAD, Some(0), None, 0),                         // 4
            ("@P0 BRA 0x120", None, None, 0),                 // 5
            ("STG.E desc[UR4][R8.64], R0", None, None, 0b11), // 6
            ("EXIT", None, None, 0),
        ];
        assert_eq!(awaited(&code, 2), [(1, Guarded::Result)]);
        assert_eq!(awaited(&code, 3), [(0, Guarded::Result), (4, Guarded::Result)]);
        assert_eq!(awaited(&code, 6), [(4, Guarded::Result)], "barrier 1 was awaited in each turn");
    }

    #[test]
    fn without_the_codes_of_all_nothing_is_known() {
        let mut part = coded(&[(LOAD, Some(0), None, 0), ("FADD R0, R0, R4", None, None, 1)]);
        part.instructions[0].control = None;
        assert_eq!(Waits::new(part.listing().unwrap().sass).of(1), []);
    }

    #[test]
    fn a_search_that_is_too_long_finds_nothing() {
        let between = |count: usize| {
            let mut code = vec![(LOAD, Some(0), None, 0)];
            code.extend(std::iter::repeat_n(("FADD R0, R0, R1", None, None, 0), count));
            code.push(("FADD R0, R0, R4", None, None, 1));
            awaited(&code, count + 1)
        };
        let most = SETTER_WITHIN.whole();
        assert_eq!(between(most - 1), [(0, Guarded::Result)]);
        assert_eq!(between(most), []);
    }
}
