//! Sorts over the lanes of a warp, of which few values are stored.
//!
//! A sorting network goes through runs of growing length: to merge runs of 2, 4, 8, … values, lanes compare theirs over half that
//! distance, a quarter, and so on down to neighbours. So each distance is gone over once more than the next larger one, while
//! a tree or a transposition goes over each as often as over any other.

use std::collections::{BTreeMap, BTreeSet};

use crate::sass::code::listed_instruction::ListedInstruction;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::{SAME_READING, TREE_STEPS};

use super::few_values::distance;

/// A sort over the lanes of a warp.
#[derive(Debug, Clone, PartialEq)]
pub struct Sort {
    /// The shuffles, the comparisons and selections between them, and what says which lane keeps the larger value, ascending.
    pub steps: Vec<usize>,
    /// The loads of what is sorted, ascending.
    pub loads: Vec<usize>,
    /// Times that the length of the sorted runs is doubled, at most: a thread's values count as of one row.
    pub doublings: f64,
    /// The largest share of the sorted bytes that one source line stores.
    pub kept: f64,
}

impl Sort {
    /// Comparisons of each value with another.
    #[must_use]
    pub fn comparisons(&self) -> f64 {
        self.doublings * (self.doublings + 1.0) / 2.0
    }

    /// The same where runs grow only to the length of what is kept. From there on two runs become one, of the larger value of each
    /// pair, which is put in order again: half as many values each time.
    #[must_use]
    pub fn comparisons_for_kept(&self) -> f64 {
        let ordered = (self.doublings + self.kept.log2()).clamp(0.0, self.doublings);
        let needed = ordered * (ordered + 1.0) / 2.0 + ordered + 2.0;
        needed.min(self.comparisons())
    }
}

/// The sort that a kernel's shuffles make; `None` where they make none, or where nothing that is loaded is sorted.
#[must_use]
pub fn sort_of_lanes(listing: &Listing) -> Option<Sort> {
    let sass = listing.sass;
    let compared = compared(listing);
    let mut exchanges: Vec<usize> = Vec::new();
    let mut by_distance: BTreeMap<u32, (f64, usize)> = BTreeMap::new();
    for (at, _) in listing.entries().filter(|(_, entry)| entry.family == Family::Shuffle) {
        let far = Some(listing.text(at)).filter(|text| text.contains("BFLY")).and_then(distance);
        let far = far.and_then(|far| u32::from_str_radix(far.trim_start_matches("0x"), 16).ok());
        if let Some(far) = far.filter(|_| compared[at]) {
            let (executed, places) = by_distance.entry(far).or_default();
            *executed += listing.executed(at);
            *places += 1;
            exchanges.push(at);
        }
    }
    // A sum along what was sorted needs all of it in order.
    let scans = |(at, entry): (usize, &ListedInstruction)| {
        entry.family == Family::Shuffle && listing.text(at).contains("SHFL.UP")
    };
    if listing.entries().any(scans) {
        return None;
    }
    let more = once_more(&by_distance)?;
    let between = between(listing, &exchanges);
    let moved = |at: &usize| {
        listing.row(*at).counters.thread_inst_executed_pred_on * f64::from(sass.entries[*at].width)
    };
    let sorted: f64 = between.loads.iter().map(moved).sum();
    let is_store = |at: &usize| sass.entries[*at].family == Family::Store(Space::Global);
    let mut stored: BTreeMap<usize, f64> = BTreeMap::new();
    for at in (0..sass.entries.len()).filter(is_store) {
        *stored.entry(sass.entries[at].line()).or_default() += moved(&at);
    }
    let most = stored.values().copied().fold(0.0, f64::max);
    let all: f64 = stored.values().sum();
    if sorted <= 0.0 || most <= 0.0 || all > MOST_KEPT * sorted {
        return None;
    }
    let doublings = by_distance.len() as f64 + more.log2();
    let Between { steps, loads } = between;
    Some(Sort { steps, loads: loads.into_iter().collect(), doublings, kept: most / sorted })
}

/// Bytes that are stored in all, of those that are sorted, at most: values and their places, of a quarter.
pub const MOST_KEPT: f64 = 0.5;

/// The executed exchanges that a comparison reads: those of sums are no part of a sort.
fn compared(listing: &Listing) -> Marks {
    let sass = listing.sass;
    let mut found = Marks::new(sass.entries.len());
    let mut reaching = Reaching::new(sass);
    let compares = |at: &usize| {
        let text = listing.text(*at);
        listing.executed(*at) > 0.0 && (text.contains("SETP") || text.contains("MNMX"))
    };
    for at in (0..sass.entries.len()).filter(compares) {
        for each in sass.uses(at).iter().filter(|each| each.slot.is_general()) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                if sass.entries[by].family == Family::Shuffle && listing.executed(by) > 0.0 {
                    found.insert(by);
                }
            }
        }
    }
    found
}

/// How many places more there are for each distance than for the next larger one: the values of a lane. `None` where it is not the
/// same number for all.
fn once_more(by_distance: &BTreeMap<u32, (f64, usize)>) -> Option<f64> {
    if (by_distance.len() as f64) < TREE_STEPS.value {
        return None;
    }
    let executed: Vec<f64> = by_distance.values().map(|(executed, _)| *executed).collect();
    let more: Vec<f64> = executed.windows(2).map(|pair| pair[0] - pair[1]).collect();
    let (least, most) = more
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), &each| (low.min(each), high.max(each)));
    if least <= 0.0 || most - least > SAME_READING.value * most {
        return None;
    }
    // A loop goes through the same places for each of its values.
    let nearest = by_distance.values().next()?;
    let per_place = nearest.0 / nearest.1 as f64;
    Some((most / per_place).max(1.0))
}

/// What stands between the exchanges.
struct Between {
    /// The exchanges, what is worked out from one for another, and what that goes by, ascending.
    steps: Vec<usize>,
    /// The loads of what is exchanged.
    loads: BTreeSet<usize>,
}

fn between(listing: &Listing, exchanges: &[usize]) -> Between {
    let sass = listing.sass;
    let count = sass.entries.len();
    let mut reaching = Reaching::new(sass);
    let mut before = Marks::new(count);
    let mut loads = BTreeSet::new();
    let mut open = exchanges.to_vec();
    while let Some(at) = open.pop() {
        for each in sass.uses(at).iter().filter(|each| each.role != Role::Address) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                match sass.entries[by].family {
                    Family::Load(Space::Global) if listing.executed(by) > 0.0 => {
                        loads.insert(by);
                    }
                    family if family.is_memory() => {}
                    _ if listing.executed(by) > 0.0 && before.insert(by) => open.push(by),
                    _ => {}
                }
            }
        }
    }
    let mut steps = Marks::of(count, |at| exchanges.binary_search(&at).is_ok());
    let mut spread = |marks: &mut Marks| {
        marks.spread(&before, |at, marks| {
            let mut data = sass.uses(at).iter().filter(|each| each.role != Role::Address);
            data.any(|each| reaching.definitions(at, *each).any(|by| marks[by as usize]))
        });
    };
    spread(&mut steps);
    // What is worked out of lanes' numbers alone says who keeps the larger value.
    let mut of_loads = Marks::of(count, |at| loads.contains(&at));
    spread(&mut of_loads);
    for at in before.iter().filter(|&at| !of_loads[at]) {
        steps.insert(at);
    }
    Between { steps: steps.iter().collect(), loads }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A network over lanes of one value each, or a tree of as many exchanges.
    fn code(distances: &[&'static str], lanes_that_store: f64) -> Option<Sort> {
        let mut texts = vec![("LDG.E R4, desc[UR4][R2.64]".to_owned(), 8.0)];
        for far in distances {
            texts.push((format!("SHFL.BFLY PT, R5, R4, {far}, 0x1f"), 8.0));
            texts.push(("ISETP.GT.XOR P0, PT, R4, R5, P1".to_owned(), 8.0));
            texts.push(("SEL R4, R5, R4, P0".to_owned(), 8.0));
        }
        texts.push(("STG.E desc[UR4][R6.64], R4".to_owned(), 8.0));
        texts.push(("EXIT".to_owned(), 8.0));
        let texts: Vec<(&str, f64)> = texts.iter().map(|(text, n)| (text.as_str(), *n)).collect();
        let mut launch = launch(&texts);
        launch.instructions[0].counters.thread_inst_executed_pred_on = 256.0;
        let store = texts.len() - 2;
        launch.instructions[store].counters.thread_inst_executed_pred_on = 8.0 * lanes_that_store;
        sort_of_lanes(&launch.listing().unwrap())
    }

    const NETWORK: [&str; 15] = [
        "0x1", "0x2", "0x1", "0x4", "0x2", "0x1", "0x8", "0x4", "0x2", "0x1", "0x10", "0x8", "0x4",
        "0x2", "0x1",
    ];

    #[test]
    fn a_network_goes_over_near_lanes_more_often_than_over_far_ones() {
        let sort = code(&NETWORK, 4.0).unwrap();
        // The last comparison and selection lead to no exchange.
        assert_eq!((sort.steps.len(), sort.loads), (43, vec![0]));
        assert!((sort.doublings - 5.0).abs() < 1e-12, "{}", sort.doublings);
        assert!((sort.kept - 0.125).abs() < 1e-12, "{}", sort.kept);
        assert!(code(&["0x10", "0x8", "0x4", "0x2", "0x1"], 4.0).is_none(), "a tree");
        let trees = ["0x4", "0x2", "0x1", "0x4", "0x2", "0x1", "0x4", "0x2", "0x1"];
        assert!(code(&trees, 4.0).is_none(), "three trees");
        assert!(code(&NETWORK, 17.0).is_none(), "more than half is stored");
    }

    #[test]
    fn few_values_need_fewer_comparisons() {
        let sort = |kept| Sort { steps: Vec::new(), loads: Vec::new(), doublings: 5.0, kept };
        assert!((sort(1.0).comparisons() - 15.0).abs() < 1e-12);
        // Runs of four values: 1 and 2 comparisons; then three times one to choose and two to order, of all, half, a quarter.
        assert!((sort(0.125).comparisons_for_kept() - 7.0).abs() < 1e-12);
        assert!((sort(1.0).comparisons_for_kept() - 15.0).abs() < 1e-12, "all are kept");
    }
}
