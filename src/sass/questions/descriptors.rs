//! Descriptors of tensors that a loop writes: what the unit that copies tiles knows of a tensor's place and shape.
//!
//! A descriptor is 128 bytes, written to shared memory field by field, copied to global memory, and then the unit's
//! copy of what was there before is invalidated, for which everything that was written must have arrived.

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;

/// A descriptor that is written in a loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Descriptor {
    /// The invalidation.
    pub invalidates: usize,
    /// What writes it and makes others wait until it is written, ascending: from the barrier before it to the one behind it.
    pub writes: Vec<usize>,
    /// The barrier behind it, where the block waits; `None` without one.
    pub barrier: Option<usize>,
    /// Turns of the loop.
    pub turns: f64,
}

/// The descriptors that loops write in more than one turn.
#[must_use]
pub fn in_loops(listing: &Listing) -> Vec<Descriptor> {
    let flow = &listing.sass.flow;
    let invalidates = listing.entries().filter(|(at, _)| {
        // Most instructions are none, and taking them apart takes time.
        let text = listing.text(*at);
        let is_whole = text.contains("UTMACCTL") && text.contains(".IV");
        is_whole && listing.executed(*at) > 0.0
    });
    let found = invalidates.filter_map(|(at, _)| {
        let of = &flow.loops[flow.innermost(at)?];
        let turns = turns(listing, of);
        (turns > 1.0).then(|| written(listing, of, at, turns))
    });
    found.collect()
}

fn written(listing: &Listing, of: &Loop, invalidates: usize, turns: f64) -> Descriptor {
    let sass = listing.sass;
    let is_in = |at: usize| sass.flow.is_in(of, at);
    let mut before = (0..invalidates).rev().take_while(|&at| is_in(at));
    let first = before.find(|&at| listing.is_block_barrier(at)).map_or_else(
        || (0..invalidates).rev().take_while(|&at| is_in(at)).last().unwrap_or(invalidates),
        |at| at + 1,
    );
    let mut behind = (invalidates + 1..sass.entries.len()).take_while(|&at| is_in(at));
    let barrier = behind.find(|&at| listing.is_block_barrier(at));
    let writes = |at: &usize| {
        let is_of_tile = ["LDSM", "STSM"].iter().any(|name| listing.text(*at).contains(name));
        let family = sass.entries[*at].family;
        let is_access = matches!(
            family,
            Family::Load(Space::Shared)
                | Family::Store(Space::Shared)
                | Family::Atomic(Space::Global | Space::Generic)
                | Family::Barrier
                | Family::Fence
        );
        *at == invalidates || is_access && !is_of_tile && listing.executed(*at) > 0.0
    };
    let last = barrier.unwrap_or(invalidates);
    Descriptor { invalidates, writes: (first..=last).filter(writes).collect(), barrier, turns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn found(head: &str, cache: &str) -> Vec<Descriptor> {
        let back = format!("@P0 BRA {head}");
        let launch = launch(&[
            ("S2R R0, SR_TID.X", 8.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 80.0), // 0x110
            ("STS.64 [UR8], R30", 80.0),           // 2
            ("LDS R31, [R30+UR8]", 80.0),
            ("ATOMG.E.EXCH.STRONG.GPU PT, RZ, [R28], R31", 80.0),
            ("IADD3 R4, R4, 0x1, RZ", 80.0),
            (cache, 80.0), // 6
            ("UTMACMDFLUSH", 80.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 80.0), // 8
            ("LDS R9, [R30]", 80.0),               // 0x190
            (&back, 80.0),
            ("EXIT", 8.0),
        ]);
        in_loops(&launch.listing().unwrap())
    }

    #[test]
    fn what_stands_between_two_barriers_writes_the_descriptor() {
        let found = found("0x110", "UTMACCTL.IV [UR12]");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].invalidates, found[0].barrier), (6, Some(8)));
        assert_eq!(found[0].writes, [2, 3, 4, 6, 7, 8]);
        assert!((found[0].turns - 10.0).abs() < 1e-12);
    }

    #[test]
    fn one_that_is_written_before_the_loop_or_only_fetched_is_none() {
        assert!(found("0x190", "UTMACCTL.IV [UR12]").is_empty());
        assert!(found("0x110", "UTMACCTL.PF [UR12]").is_empty());
    }
}
