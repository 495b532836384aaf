//! Data that a thread reads in one loop and reads again in a later one: two passes over the same rows.
//!
//! Loads of two loops read the same where their addresses are made of the same pointers, sizes and indices, with
//! the same steps from them, and where they fetched as many sectors. What a kernel also writes may have changed
//! between the passes, and is left out.

mod worked_out_again;

use std::collections::BTreeSet;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::SAME_READING;

pub use worked_out_again::worked_out_again;

/// Loads of a later loop that read what an earlier one has read.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondReading {
    /// The loads of the later loops, by their places.
    pub loads: Vec<usize>,
    /// The sectors that their addresses need.
    pub sectors: f64,
    /// The loops that read the same; none where they are no loops.
    pub loops: Vec<Repetition>,
}

/// Two loops that read the same rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repetition {
    /// The loop that reads them first, and its loads of them.
    pub earlier: (usize, Vec<usize>),
    /// The loop that reads them again, and its loads of them.
    pub later: (usize, Vec<usize>),
}

/// The loads of one loop that have their addresses from the same place.
struct Pass {
    around: usize,
    origin: BTreeSet<String>,
    steps: BTreeSet<String>,
    loads: Vec<usize>,
    sectors: f64,
}

/// Finds them; `None` where no loop reads again what another has read.
#[must_use]
pub fn second_reading(listing: &Listing) -> Option<SecondReading> {
    let sass = listing.sass;
    // Two loops that load are needed before any address is followed.
    let loads: Vec<(usize, usize)> = listing
        .entries()
        .filter(|(at, entry)| {
            entry.family == Family::Load(Space::Global) && listing.executed(*at) > 0.0
        })
        .filter_map(|(at, _)| Some((at, sass.flow.innermost(at)?)))
        .collect();
    let first = loads.first()?.1;
    if loads.iter().all(|(_, around)| *around == first) {
        return None;
    }
    let mut reaching = Reaching::with_guards(sass);
    let mut passes: Vec<Pass> = Vec::new();
    for (at, around) in loads {
        let Some(origin) = origin(listing, &mut reaching, at) else { continue };
        let sectors = listing.row(at).counters.l2_sectors_global_ideal;
        let known = passes.iter_mut().find(|pass| pass.around == around && pass.origin == origin);
        let step = step(listing.text(at));
        match known {
            Some(pass) => {
                pass.sectors += sectors;
                pass.loads.push(at);
                pass.steps.insert(step);
            }
            None => passes.push(Pass {
                around,
                origin,
                steps: BTreeSet::from([step]),
                loads: vec![at],
                sectors,
            }),
        }
    }
    let written: Vec<(usize, BTreeSet<String>)> = listing
        .entries()
        .filter(|(at, entry)| {
            entry.family == Family::Store(Space::Global) && listing.executed(*at) > 0.0
        })
        .filter_map(|(at, _)| Some((at, origin(listing, &mut reaching, at)?)))
        .collect();
    let mut again = SecondReading { loads: Vec::new(), sectors: 0.0, loops: Vec::new() };
    for (place, later) in passes.iter().enumerate() {
        let before = passes[..place].iter().find(|earlier| is_same(listing, earlier, later));
        let Some(before) = before else { continue };
        let ahead = ahead_of(listing, &later.loads);
        let changes = |(at, store): &(usize, BTreeSet<String>)| {
            ahead[sass.flow.block_of[*at] as usize] && later.origin.is_subset(store)
        };
        if !written.iter().any(changes) {
            again.loops.push(Repetition {
                earlier: (before.around, before.loads.clone()),
                later: (later.around, later.loads.clone()),
            });
            again.loads.extend(&later.loads);
            again.sectors += later.sectors;
        }
    }
    (again.sectors > 0.0).then_some(again)
}

/// The blocks of code from which control can come to some loads: what is stored elsewhere is stored behind them.
fn ahead_of(listing: &Listing, loads: &[usize]) -> Marks {
    let flow = &listing.sass.flow;
    let mut seen = Marks::new(flow.blocks.len());
    let mut open: Vec<usize> = loads.iter().map(|&load| flow.block_of[load] as usize).collect();
    while let Some(block) = open.pop() {
        if seen.insert(block) {
            open.extend(flow.blocks[block].before.iter().map(|&before| before as usize));
        }
    }
    seen
}

/// Those of some loads from where the kernel does not write, as far as is known.
pub(super) fn not_written(listing: &Listing, loads: &[usize]) -> Vec<usize> {
    let mut reaching = Reaching::with_guards(listing.sass);
    let writes = listing.entries().filter(|(at, entry)| {
        let is_write = matches!(
            entry.family,
            Family::Store(Space::Global | Space::Generic)
                | Family::Atomic(Space::Global | Space::Generic)
                | Family::Reduction(Space::Global | Space::Generic)
        );
        is_write && listing.executed(*at) > 0.0
    });
    let mut written: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (at, _) in writes {
        let Some(origin) = origin(listing, &mut reaching, at) else { return Vec::new() };
        written.insert(origin);
    }
    let mut stays = |load: &&usize| {
        let read = origin(listing, &mut reaching, **load);
        read.is_some_and(|read| !written.iter().any(|written| read.is_subset(written)))
    };
    loads.iter().filter(|load| stays(load)).copied().collect()
}

/// True where a pass reads what an earlier one has read: neither loop is in the other.
fn is_same(listing: &Listing, earlier: &Pass, later: &Pass) -> bool {
    let loops = &listing.sass.flow.loops;
    let (one, other) = (&loops[earlier.around].blocks, &loops[later.around].blocks);
    let apart = earlier.around != later.around && !one.iter().any(|block| other.contains(block));
    let alike = (earlier.sectors / later.sectors - 1.0).abs() <= SAME_READING.value;
    let steps = earlier.loads.len() != later.loads.len() || earlier.steps == later.steps;
    apart && alike && steps && earlier.origin == later.origin
}

/// What an address is made of: constants of the launch by their places, special registers, and loaded numbers by
/// the instructions that load them; `None` where something in it is not known.
fn origin(listing: &Listing, reaching: &mut Reaching, access: usize) -> Option<BTreeSet<String>> {
    let sass = listing.sass;
    let mut origin = BTreeSet::new();
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![access];
    while let Some(at) = open.pop() {
        let of_access = at == access;
        if !of_access {
            origin.extend(constants(listing.text(at)));
            match sass.entries[at].family {
                Family::System => {
                    let special = listing.text(at).split_whitespace().last()?;
                    origin.insert(special.to_owned());
                    continue;
                }
                Family::Constant => {}
                family if family.is_memory() => {
                    origin.insert(format!("load at {at}"));
                    continue;
                }
                Family::Shuffle | Family::Vote => return None,
                _ => {}
            }
        }
        for each in sass.uses(at).iter().filter(|each| match each.role {
            Role::Address => true,
            Role::Data => !of_access,
            Role::Guard | Role::Old => false,
        }) {
            let definitions = reaching.definitions(at, *each);
            if definitions.len() == 0 && each.slot.is_general() {
                return None;
            }
            open.extend(definitions.map(|at| at as usize).filter(|&at| seen.insert(at)));
        }
    }
    Some(origin)
}

/// The constants of the launch that an instruction reads: `c[0x0][0x218]`.
pub(super) fn constants(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split("c[").skip(1).map(|rest| {
        let end = rest.match_indices(']').nth(1).map_or(rest.len(), |(at, _)| at);
        rest[..end].replace("RZ", "0x0")
    })
}

/// How far from its base a load reads: `+0x10` of `[R2.64+0x10]`.
pub(super) fn step(text: &str) -> String {
    let place = text.rsplit('[').next().and_then(|rest| rest.split(']').next()).unwrap_or_default();
    place.find(['+', '-']).map_or_else(String::new, |at| place[at..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::sass::code::listing::tests::launch;

    /// Two loops over a row: a maximum, then a sum; the second reads by the given instruction from the given
    /// pointer.
    fn two_loops(pointer: &str, load: &str, store: &str, sectors: f64) -> Launch {
        let mut launch = launch(&[
            ("S2R R0, SR_TID.X", 10.0),
            ("LDC.64 R2, c[0x0][0x210]", 10.0),
            ("IMAD.WIDE R4, R0, 0x4, R2", 10.0), // 2
            ("LDG.E R6, desc[UR8][R4.64]", 50.0),
            ("FMNMX R7, R6, R7, !PT", 50.0),
            ("IADD3 R4, R4, 0x400, RZ", 50.0),
            ("@P0 BRA 0x130", 50.0),
            (pointer, 10.0), // 7
            ("IMAD.WIDE R12, R0, 0x4, R10", 10.0),
            (load, 50.0), // 9
            ("FADD R14, R14, R13", 50.0),
            ("IADD3 R12, R12, 0x400, RZ", 50.0),
            ("@P0 BRA 0x190", 50.0),
            (store, 10.0), // 13
            ("EXIT", 10.0),
        ]);
        launch.instructions[3].counters.l2_sectors_global_ideal = 200.0;
        launch.instructions[9].counters.l2_sectors_global_ideal = sectors;
        launch
    }

    fn found(pointer: &str, load: &str, store: &str, sectors: f64) -> Option<SecondReading> {
        second_reading(&two_loops(pointer, load, store, sectors).listing().unwrap())
    }

    const SAME: &str = "LDC.64 R10, c[0x0][0x210]";
    const LOAD: &str = "LDG.E R13, desc[UR8][R12.64]";
    const STORE: &str = "STG.E desc[UR8][R20.64], R14";

    #[test]
    fn a_later_loop_reads_the_row_again() {
        let again = found(SAME, LOAD, STORE, 200.0);
        assert_eq!(
            again,
            Some(SecondReading {
                loads: vec![9],
                sectors: 200.0,
                loops: vec![Repetition { earlier: (0, vec![3]), later: (1, vec![9]) }],
            })
        );
    }

    #[test]
    fn other_data_is_no_second_reading() {
        assert_eq!(found("LDC.64 R10, c[0x0][0x218]", LOAD, STORE, 200.0), None, "another array");
        assert_eq!(found(SAME, LOAD, STORE, 100.0), None, "half of the row");
        let behind = "LDG.E R13, desc[UR8][R12.64+0x400]";
        assert_eq!(found(SAME, behind, STORE, 200.0), None, "what lies behind it");
        let written = "STG.E desc[UR8][R12.64], R14";
        assert!(found(SAME, LOAD, written, 200.0).is_some(), "it changes behind both");
        let mut between = two_loops(SAME, LOAD, STORE, 200.0);
        "STG.E desc[UR8][R4.64], R7".clone_into(&mut between.instructions[5].text);
        assert_eq!(second_reading(&between.listing().unwrap()), None, "it may have changed");
    }
}
