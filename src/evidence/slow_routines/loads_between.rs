//! Loads that stand behind the slow paths of routines, one after another.
//!
//! Where a routine branches around a call, the compiler moves no load across it. A loop that is unrolled
//! four times and divides in each turn then loads, divides, and loads again; without the slow paths all four
//! loads are issued before the first value is used.

use std::collections::BTreeMap;

use crate::evidence::Threshold;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::operands::Role;
use crate::sass::{Family, Listing, Marks, Space};

/// The loads that are in flight together at most.
pub(super) const TOGETHER: Threshold = Threshold {
    what: "constant: loads in flight together once no slow path of a routine stands between them, at most",
    value: 8.0,
    unit: "load",
    source: "derivation: as for low-memory-parallelism: eight words take eight registers, an eighth of the 64 \
             with which two blocks of 512 threads fit on an SM",
};

/// The loads that are kept apart by slow paths, each with the share of the waits for it that goes with
/// them: of n groups of loads that are awaited in turn, n − 1 of n waits.
pub(super) fn kept_apart(listing: Listing, slow_paths: &[usize]) -> Vec<(usize, f64)> {
    let sass = listing.sass;
    let mut by_loop: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for &at in slow_paths {
        by_loop.entry(sass.flow.innermost(at)).or_default().push(at);
    }
    if by_loop.is_empty() {
        return Vec::new();
    }
    let mut reaching = Reaching::with_guards(sass);
    let mut found = Vec::new();
    for (around, mut paths) in by_loop {
        paths.sort_unstable();
        let loads: Vec<usize> = listing
            .entries()
            .filter(|(at, entry)| is_load(entry.family) && sass.flow.innermost(*at) == around)
            .map(|(at, _)| at)
            .filter(|&at| listing.executed(at) > 0.0)
            .filter(|&at| !needs_a_load(listing, &mut reaching, at, around))
            .collect();
        // The group of a load: how many slow paths stand before it.
        let mut groups: Vec<usize> =
            loads.iter().map(|&load| paths.partition_point(|&path| path < load)).collect();
        groups.dedup();
        let together = (groups.len() as f64).min(TOGETHER.value);
        if together > 1.0 {
            found.extend(loads.into_iter().map(|load| (load, 1.0 - 1.0 / together)));
        }
    }
    found
}

fn is_load(family: Family) -> bool {
    matches!(family, Family::Load(Space::Global | Space::Generic) | Family::Texture)
}

/// True where a load's address is made of what another load of the same loop brings.
fn needs_a_load(
    listing: Listing,
    reaching: &mut Reaching,
    load: usize,
    around: Option<usize>,
) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![load];
    while let Some(at) = open.pop() {
        let is_part = |role: Role| role == Role::Address || at != load && role == Role::Data;
        for each in sass.uses(at).iter().filter(|each| is_part(each.role)) {
            for before in reaching.definitions(at, *each) {
                let before = before as usize;
                if sass.flow.innermost(before) != around {
                    continue;
                }
                if sass.entries[before].family.is_memory() {
                    return true;
                }
                if seen.insert(before) {
                    open.push(before);
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::sass;

    const LOAD: &str = "LDG.E R4, desc[UR4][R2.64]";
    const NEXT: &str = "LDG.E R5, desc[UR4][R2.64+0x100]";
    const CHAINED: &str = "LDG.E R5, desc[UR4][R4.64]";

    fn shares(second: &str) -> Vec<(usize, f64)> {
        let launch = sass(
            &[],
            &[(LOAD, 10.0), ("FCHK P0, R4, R7", 10.0), (second, 10.0), ("@P1 BRA 0x100", 10.0)],
        );
        kept_apart(launch.listing().unwrap(), &[1])
    }

    #[test]
    fn of_two_loads_in_turn_one_wait_goes() {
        assert_eq!(shares(NEXT), [(0, 0.5), (2, 0.5)]);
    }

    #[test]
    fn a_load_that_needs_the_other_comes_after_it_anyway() {
        assert_eq!(shares(CHAINED), []);
    }

    #[test]
    fn loads_before_the_slow_path_are_together_as_they_are() {
        let launch = sass(
            &[],
            &[(LOAD, 10.0), (NEXT, 10.0), ("FCHK P0, R4, R7", 10.0), ("@P1 BRA 0x100", 10.0)],
        );
        assert_eq!(kept_apart(launch.listing().unwrap(), &[2]), []);
    }

    #[test]
    fn eight_loads_at_most_are_in_flight_together() {
        let share = |count: usize| {
            let texts: Vec<String> = (0..count)
                .flat_map(|at| {
                    let load = format!("LDG.E R{}, desc[UR4][R2.64+{:#x}]", 10 + at, 4 * at);
                    [load, format!("FCHK P0, R{}, R7", 10 + at)]
                })
                .chain(["@P1 BRA 0x100".to_owned()])
                .collect();
            let code: Vec<(&str, f64)> = texts.iter().map(|text| (text.as_str(), 10.0)).collect();
            let paths: Vec<usize> = (0..count).map(|at| 2 * at + 1).collect();
            let launch = sass(&[], &code);
            let found = kept_apart(launch.listing().unwrap(), &paths);
            assert_eq!(found.len(), count);
            found[0].1
        };
        // Six of seven waits go, seven of eight, and of nine no more.
        assert!((share(7) - 6.0 / 7.0).abs() < 1e-12);
        assert!((share(8) - 0.875).abs() < 1e-12 && (share(9) - 0.875).abs() < 1e-12);
    }
}
