//! Who made a warp wait: from the instruction that waits back to those whose results it awaits.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::export::SourceRow;
use crate::metric::stall::StallReason;
use crate::sass::code::charge::{Charge, Link};
use crate::sass::code::listing::Listing;
use crate::sass::flow::barriers::Waits;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::{Class, Family};
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::PRODUCER_WITHIN;

/// Samples of a stall, charged to the instruction whose result was awaited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Blame<'a> {
    /// The instruction that makes others wait.
    pub producer: &'a SourceRow,
    /// The instruction that waits.
    pub waiting: &'a SourceRow,
    /// How they depend on each other.
    pub link: Link,
    /// The share of the waiting instruction's samples that goes to this producer, in samples.
    pub samples: f64,
}

impl<'a> Listing<'a> {
    /// The instructions whose results an instruction waits for in a stall, with the link; empty for
    /// stalls that wait for no result, such as full queues. Places are those of the listing.
    #[cfg(test)]
    pub(super) fn producers(&self, index: usize, reason: StallReason) -> Vec<(usize, Link)> {
        Class::of(reason).map_or_else(Vec::new, |class| {
            let mut reaching = Reaching::new(self.sass);
            self.producers_with(&mut reaching, &mut Waits::new(self.sass), index, class)
        })
    }

    fn producers_with(
        &self,
        reaching: &mut Reaching<'a>,
        waits: &mut Waits<'a>,
        index: usize,
        class: Class,
    ) -> Vec<(usize, Link)> {
        let of_class = |at: &u32| self.class(*at as usize) == class;
        let linked = |mut found: Vec<u32>, link| -> Vec<(usize, Link)> {
            found.sort_unstable();
            found.dedup();
            found.into_iter().map(|at| (at as usize, link)).collect()
        };
        let mut read = Vec::new();
        for each in self.sass.uses(index).iter().filter(|each| each.role != Role::Old) {
            read.extend(reaching.definitions(index, *each).filter(of_class));
        }
        let awaited = self.awaited(waits, index, class, &read);
        if !awaited.is_empty() {
            return awaited;
        }
        if !read.is_empty() {
            return linked(read, Link::Reads);
        }
        let overwritten = self.overwritten(index, class);
        if !overwritten.is_empty() {
            return linked(overwritten, Link::Overwrites);
        }
        let near = self.nearest(index, class);
        near.map(|at| (at, Link::Near)).into_iter().collect()
    }

    /// Instructions just before this one, of the class, that read or write a register it writes:
    /// accesses give their address and data registers free only when they have read them.
    fn overwritten(&self, index: usize, class: Class) -> Vec<u32> {
        let defs = self.sass.defs(index);
        if defs.is_empty() || class == Class::Fixed {
            return Vec::new();
        }
        let touches = |at: usize| self.class(at) == class && self.touches(at, defs);
        self.earlier(index)
            .find(|&at| touches(at))
            .and_then(|at| u32::try_from(at).ok())
            .into_iter()
            .collect()
    }

    /// The last instruction of the class before this one.
    fn nearest(&self, index: usize, class: Class) -> Option<usize> {
        let of_class = |at: &usize| {
            let family = self.sass.entries[*at].family;
            let result = !self.sass.defs(*at).is_empty() || family == Family::AsyncCopy;
            self.class(*at) == class && result && family != Family::Load(Space::Generic)
        };
        self.earlier(index).find(of_class)
    }

    /// The places before one, nearest first: back to the head of its loop, then from the loop's end.
    fn earlier(&self, index: usize) -> impl Iterator<Item = usize> + use<'a> {
        let flow = &self.sass.flow;
        let around = flow.innermost(index).map(|at| (flow.loops[at].head, flow.loops[at].back));
        let (head, back) = around.unwrap_or((0, index));
        let (head, back) = (head.min(index), back.max(index));
        (head..index).rev().chain((index..=back).rev()).take(PRODUCER_WITHIN.whole())
    }

    /// The samples of a stall, charged to the instructions that made the warps wait, most samples
    /// first. Samples of an instruction that waits for several go to each in proportion to how often
    /// it ran: to all that it waits for by the control codes, or, where those are not known, to those
    /// with the sharpest link only. Samples that no producer explains are left out.
    #[must_use]
    pub fn blame(&self, reason: StallReason) -> Vec<Blame<'a>> {
        let mut all: Vec<Blame> =
            self.charges(reason).iter().map(|charge| self.blamed(charge)).collect();
        all.sort_by(|a, b| b.samples.total_cmp(&a.samples));
        all
    }

    fn blamed(&self, charge: &Charge) -> Blame<'a> {
        Blame {
            producer: self.row(charge.producer),
            waiting: self.row(charge.waiting),
            link: charge.link,
            samples: charge.samples,
        }
    }

    /// [`Listing::blame`] by places in the listing, in the order of the waiting instructions. Of the
    /// stalls that wait for a scoreboard they are found once for a launch.
    #[must_use]
    pub fn charges(&self, reason: StallReason) -> Cow<'a, [Charge]> {
        self.known_charges(reason).map_or_else(|| Cow::Owned(self.all(reason)), Cow::Borrowed)
    }

    fn known_charges(&self, reason: StallReason) -> Option<&'a [Charge]> {
        self.facts.charges(reason, || self.all(reason).into())
    }

    fn all(&self, reason: StallReason) -> Vec<Charge> {
        let mut all = Vec::new();
        self.find_charges(reason, |charge| all.push(charge));
        all
    }

    fn find_charges(&self, reason: StallReason, mut charge: impl FnMut(Charge)) {
        let Some(class) = Class::of(reason) else { return };
        let (mut reaching, mut waits) = (Reaching::new(self.sass), Waits::new(self.sass));
        for waiting in self.sass.counts.sampled() {
            let samples = self.samples(waiting, reason);
            if samples <= 0.0 {
                continue;
            }
            let producers = self.producers_with(&mut reaching, &mut waits, waiting, class);
            let runs = |at: usize| self.executed(at).max(0.0);
            let sum: f64 = producers.iter().map(|&(at, _)| runs(at)).sum();
            let even = 1.0 / producers.len().max(1) as f64;
            for (producer, link) in producers {
                let share = if sum > 0.0 { runs(producer) / sum } else { even };
                if share > 0.0 {
                    charge(Charge { producer, waiting, link, samples: samples * share });
                }
            }
        }
    }

    /// The samples of a stall by the file and line of the producer and of the waiting instruction,
    /// most first: the form for reports. Lines that the export does not know are `None`.
    #[must_use]
    pub fn blame_by_line(&self, reason: StallReason) -> Vec<LineBlame<'a>> {
        // For each pair of lines the sum, and the charge with most samples, whose opcode stands for
        // the pair.
        let mut lines: HashMap<(usize, usize), (f64, Charge)> = HashMap::new();
        let line = |index: usize| self.sass.entries[index].line();
        let add = |charge: Charge| {
            let pair = (line(charge.producer), line(charge.waiting));
            let (sum, most) = lines.entry(pair).or_insert((0.0, charge));
            *sum += charge.samples;
            if charge.samples > most.samples {
                *most = charge;
            }
        };
        // Charges that are not kept are not put in a list either: nearly every instruction waits for
        // a fixed latency now and then.
        match self.known_charges(reason) {
            Some(known) => known.iter().copied().for_each(add),
            None => self.find_charges(reason, add),
        }
        let mut lines: Vec<LineBlame> = lines
            .into_iter()
            .map(|((producer, waiting), (samples, most))| {
                let opcode = Instruction::opcode_of(self.text(most.producer)).unwrap_or_default();
                let (producer, waiting) = (self.line(producer), self.line(waiting));
                LineBlame { producer, waiting, opcode, samples }
            })
            .collect();
        let places = |line: &LineBlame<'a>| (line.producer, line.waiting);
        lines.sort_by(|a, b| {
            b.samples.total_cmp(&a.samples).then_with(|| places(a).cmp(&places(b)))
        });
        lines
    }
}

/// A file and a line.
pub type Place<'a> = (Option<&'a str>, Option<u32>);

/// Samples of a stall between two source lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineBlame<'a> {
    /// Where the awaited value comes from.
    pub producer: Place<'a>,
    /// Where the warps wait.
    pub waiting: Place<'a>,
    /// The producing opcode with most samples (`LDG.E.64`).
    pub opcode: &'a str,
    /// Stall samples.
    pub samples: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::sass::code::listing::tests::launch;

    const LOOP: &[(&str, f64)] = &[
        ("LDG.E R4, desc[UR4][R2.64]", 1.0),      // 0
        ("LDS R6, [R8]", 1.0),                    // 1
        ("FFMA R5, R4, R6, R5", 9.0),             // 2: head
        ("LDG.E R4, desc[UR4][R2.64]", 9.0),      // 3
        ("IADD3 R2, P1, R2, 0x20, RZ", 9.0),      // 4
        ("ISETP.NE.AND P0, PT, R2, R9, PT", 9.0), // 5
        ("@P0 BRA 0x120", 9.0),                   // 6
        ("STG.E desc[UR4][R10.64], R5", 1.0),     // 7
    ];

    fn stalled(code: &[(&str, f64)], at: usize, reason: StallReason) -> Launch {
        let mut launch = launch(code);
        launch.instructions[at].counters.stall_samples[reason as usize] = 20.0;
        launch
    }

    #[test]
    fn a_value_comes_from_before_the_loop_and_around_it() {
        let launch = stalled(LOOP, 2, StallReason::LongScoreboard);
        let listing = launch.listing().unwrap();
        let of = |index, reason| listing.producers(index, reason);
        assert_eq!(of(2, StallReason::LongScoreboard), [(0, Link::Reads), (3, Link::Reads)]);
        assert_eq!(of(2, StallReason::ShortScoreboard), [(1, Link::Reads)]);
        assert_eq!(of(2, StallReason::Wait), [(2, Link::Reads)], "its own sum, around the loop");
        assert_eq!(of(6, StallReason::Wait), [(5, Link::Reads)], "the guard");
        assert_eq!(of(2, StallReason::LgThrottle), []);
        // 20 samples in the proportion 1 to 9.
        let blame = listing.blame(StallReason::LongScoreboard);
        let seen: Vec<(Option<u32>, f64)> =
            blame.iter().map(|each| (each.producer.line, each.samples)).collect();
        assert_eq!(seen, [(Some(4), 18.0), (Some(1), 2.0)]);
        let line = listing.blame_by_line(StallReason::LongScoreboard)[0];
        assert_eq!((line.opcode, line.waiting.1), ("LDG.E", Some(3)));
    }

    #[test]
    fn registers_in_use_make_the_next_writer_wait() {
        let launch = stalled(LOOP, 4, StallReason::LongScoreboard);
        let listing = launch.listing().unwrap();
        let blame = listing.blame(StallReason::LongScoreboard);
        assert_eq!((blame[0].producer.line, blame[0].link), (Some(4), Link::Overwrites));
    }

    #[test]
    fn without_a_connection_the_nearest_of_the_kind_is_taken() {
        let code = [("LDG.E R4, desc[UR4][R2.64]", 1.0), ("FADD R0, R1, R7", 1.0)];
        let launch = stalled(&code, 1, StallReason::LongScoreboard);
        let listing = launch.listing().unwrap();
        assert_eq!(listing.producers(1, StallReason::LongScoreboard), [(0, Link::Near)]);
        assert_eq!(listing.producers(1, StallReason::ShortScoreboard), []);
    }

    #[test]
    fn a_listing_of_nothing_but_guards_ends() {
        let mut code = vec![("LDG.E R4, desc[UR4][R2.64]", 1.0)];
        code.extend(std::iter::repeat_n(("@P0 LDG.E R4, desc[UR4][R6.64]", 1.0), 20_000));
        code.push(("FADD R0, R4, R7", 1.0));
        let launch = launch(&code);
        let listing = launch.listing().unwrap();
        let found = listing.producers(code.len() - 1, StallReason::LongScoreboard);
        assert_eq!(found.len(), crate::sass::thresholds::MOST_DEFINITIONS.whole());
    }

    #[test]
    fn a_guarded_definition_does_not_hide_the_one_before() {
        let code = [
            ("LDG.E R4, desc[UR4][R2.64]", 1.0),
            ("@P0 LDG.E R4, desc[UR4][R6.64]", 1.0),
            ("FADD R0, R4, R7", 1.0),
        ];
        let launch = launch(&code);
        let listing = launch.listing().unwrap();
        let found = listing.producers(2, StallReason::LongScoreboard);
        assert_eq!(found, [(0, Link::Reads), (1, Link::Reads)]);
    }
}
