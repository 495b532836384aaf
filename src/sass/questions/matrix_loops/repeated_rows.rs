//! Rows that a loop with products fetches again for each value of the depth, although one row serves a whole group of them.
//!
//! The row's number is the place along the depth, shifted right: a group's scales in a quantized product. Threads whose
//! indices differ only in what the shift drops fetch the same bytes, as do copies of one thread from one address.

#[cfg(test)]
mod tests;

use foldhash::{HashMap, HashMapExt};

use super::products::{is_product, members};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, Operand, OperandKind};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::goes_by::{By, Sources, TURN, UNKNOWN, made_by};
use crate::sass::thresholds::{LANE_STEPS, MOST_DEFINITIONS, MOST_FOLLOWED, PACKED_NUMBERS};

/// A loop that fetches rows again and again.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedRows {
    /// Loads and copies of rows, ascending.
    pub fetches: Vec<Fetch>,
    /// Loads of these rows from shared memory, each with the share of them that repeats.
    pub reads: Vec<(usize, f64)>,
    /// What is made of rows alone, each with the share of it that repeats.
    pub made: Vec<(usize, f64)>,
    /// Values of the depth in a turn; 0 where no row's number was found.
    pub depth: f64,
    /// Values of the depth that a row serves; 0 likewise.
    pub group: f64,
}

/// A load or a copy that brings the same bytes as others do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fetch {
    /// Where it stands.
    pub at: usize,
    /// How often the same bytes are fetched in a turn.
    pub times: f64,
    /// True where its address goes by a row's number; false where only the copies of one address are known to be the same.
    pub of_row: bool,
}

impl Fetch {
    /// The share of its executions that repeats.
    #[must_use]
    pub fn repeats(&self) -> f64 {
        1.0 - 1.0 / self.times
    }
}

/// The innermost loops with matrix instructions in which rows are fetched for each value of the depth, in blocks of so many
/// threads in a row.
#[must_use]
pub fn repeated_rows(listing: &Listing, threads: u32) -> Vec<RepeatedRows> {
    let sass = listing.sass;
    let products = (0..sass.entries.len()).filter(|&at| is_product(listing, at));
    let mut around: Vec<usize> = products.filter_map(|at| sass.flow.innermost(at)).collect();
    around.sort_unstable();
    around.dedup();
    let followed = around.into_iter().take(MOST_FOLLOWED.whole());
    // CUDA's own limit of threads per block; a damaged profile may say anything.
    let threads = threads.clamp(1, 1024);
    followed.filter_map(|of| RepeatedRows::of(listing, of, threads)).collect()
}

impl RepeatedRows {
    fn of(listing: &Listing, of: usize, threads: u32) -> Option<Self> {
        let sass = listing.sass;
        let inside = members(listing, of);
        let shifts: Vec<(usize, f64)> =
            inside.iter().filter_map(|&at| Some((at, group(listing.text(at))?))).collect();
        let fetches: Vec<usize> =
            inside.iter().copied().filter(|&at| is_fetch(sass.entries[at].family)).collect();
        // Every fetch is compared with every other one.
        if fetches.is_empty() || fetches.len() > MOST_DEFINITIONS.whole() {
            return None;
        }
        let mut reaching = Reaching::new(sass);
        let places: Vec<Place> =
            fetches.iter().filter_map(|&at| Place::of(listing, &mut reaching, at)).collect();
        let is_repeated =
            |place: &Place| places.iter().any(|other| place.at != other.at && other.is_as(place));
        let repeats = places.iter().any(is_repeated);
        if shifts.is_empty() && !repeats {
            return None;
        }
        let count = sass.entries.len();
        let sources = Sources::new(listing, &sass.flow.loops[of]);
        let values = sources.values(threads, &Marks::new(count))?;
        // The numbers of rows: what a thread's place and the turn make together, without its lowest bits.
        let is_row = |&&(at, _): &&(usize, f64)| {
            values[at] & TURN > 0 && values[at] & UNKNOWN == 0 && values[at] & !TURN > 0
        };
        let rows: Vec<Row> = shifts
            .iter()
            .filter(is_row)
            .filter_map(|&(at, group)| {
                let depth = depth(&sources, &inside, at)?;
                Some(Row { at, group, depth, by: values[at] & !TURN })
            })
            .collect();
        if rows.is_empty() && !repeats {
            return None;
        }
        let is_number = Marks::of(count, |at| rows.iter().any(|row| row.at == at));
        let beside = sources.values(threads, &is_number)?;
        let mut found = Self {
            fetches: Vec::new(),
            reads: Vec::new(),
            made: Vec::new(),
            depth: 0.0,
            group: 0.0,
        };
        let by_row: Vec<Option<(&Row, Beside)>> =
            places.iter().map(|place| place.row(&sources, &inside, &rows)).collect();
        for (place, row) in places.iter().zip(&by_row) {
            let rest = place.makers.iter().fold(0, |all, &by| all | beside[by as usize]);
            let alike = places.iter().filter(|other| other.is_as(place)).count() as f64;
            // Where the place along the depth takes part in other ways as well, each value of it has its own bytes.
            let is_shared = |row: &Row| {
                rest & (row.by | TURN | UNKNOWN) == 0 && row.group > PACKED_NUMBERS.value
            };
            let row = row.as_ref().filter(|(row, _)| is_shared(row));
            let is_of_row = |(_, beside): &(&Row, Beside)| {
                let others = by_row.iter().flatten().filter(|(_, other)| other == beside);
                others.count() as f64
            };
            let alike = row.map_or(alike, is_of_row);
            let row = row.map(|(row, _)| *row);
            let times = match row {
                // One number for all threads, such as a table's entry, is no row.
                _ if rest == 0 => 1.0,
                Some(row) => {
                    // A register of its own each thread fills itself.
                    let is_copied = sass.entries[place.at].family == Family::AsyncCopy;
                    let of_threads = if is_copied { threads_of(row.by) } else { 1.0 };
                    row.group.min(row.depth).min(alike * of_threads)
                }
                // All copies of a thread from one address are the same, whatever leads to it, and so are those of threads that
                // it does not go by.
                // A word of packed numbers may be copied to each place where one of them is unpacked.
                None if alike > 1.0 && sass.entries[place.at].family == Family::AsyncCopy => {
                    let others = (threads.next_power_of_two() - 1) & !rest;
                    let all = rest & UNKNOWN == 0 && !sass.entries[place.at].conditional;
                    let times = alike * if all { threads_of(others) } else { 1.0 };
                    if times > PACKED_NUMBERS.value { times } else { 1.0 }
                }
                None => 1.0,
            };
            if times > 1.0 {
                found.fetches.push(Fetch { at: place.at, times, of_row: row.is_some() });
                found.depth = row.map_or(found.depth, |row| found.depth.max(row.depth));
                found.group = row.map_or(found.group, |row| found.group.max(row.group));
            }
        }
        if found.fetches.is_empty() {
            return None;
        }
        found.follow(listing, &sources, &inside);
        Some(found)
    }

    /// Finds what else is done with the rows as often as they are fetched.
    fn follow(&mut self, listing: &Listing, sources: &Sources, inside: &[usize]) {
        let sass = listing.sass;
        let line = |at: usize| sass.entries[at].line();
        let of = |family: Family| {
            inside.iter().copied().filter(move |&at| sass.entries[at].family == family)
        };
        let of_rows: HashMap<usize, f64> = (self.fetches.iter())
            .filter(|fetch| fetch.of_row)
            .map(|fetch| (fetch.at, fetch.times))
            .collect();
        // By line the fewest repetitions of what is copied there; none where anything else is.
        let mut fewest: HashMap<usize, Option<f64>> = HashMap::new();
        for copy in of(Family::AsyncCopy) {
            let times = of_rows.get(&copy).copied();
            let known = fewest.entry(line(copy)).or_insert(times);
            *known = known.zip(times).map(|(known, times)| known.min(times));
        }
        let mut beside: HashMap<usize, f64> = HashMap::new();
        of(Family::Load(Space::Shared))
            .for_each(|read| *beside.entry(line(read)).or_default() += 1.0);
        // A tile is read on the line that copies it, if nothing else is copied there.
        for read in of(Family::Load(Space::Shared)) {
            if let Some(&Some(times)) = fewest.get(&line(read)) {
                // A thread reads what it needs of a row once.
                self.reads.push((read, 1.0 - 1.0 / times.min(beside[&line(read)])));
            }
        }
        let loads =
            self.fetches.iter().filter(|fetch| sass.entries[fetch.at].family != Family::AsyncCopy);
        let loads: Vec<(usize, f64)> = loads.map(|fetch| (fetch.at, fetch.repeats())).collect();
        let begins: Vec<(usize, f64)> = self.reads.iter().copied().chain(loads).collect();
        let Some(share) = begins.iter().map(|(_, share)| *share).reduce(f64::min) else { return };
        let count = sass.entries.len();
        let is_inside = Marks::of(count, |at| inside.binary_search(&at).is_ok());
        let begin = Marks::of(count, |at| begins.iter().any(|(by, _)| *by == at));
        let may = Marks::of(count, |at| {
            let family = sass.entries[at].family;
            is_inside[at]
                && !family.is_memory()
                && family != Family::Tensor
                && !sass.defs(at).is_empty()
        });
        let mut of_rows = begin.clone();
        of_rows.spread(&may, |at, of_rows| {
            let is_repeated = |by: usize| of_rows[by] || !is_inside[by];
            sources.makers(at).all(is_repeated) && sources.makers(at).any(|by| of_rows[by])
        });
        self.made = of_rows.iter().filter(|&at| !begin[at]).map(|at| (at, share)).collect();
    }
}

/// How many threads differ in these bits of their index.
fn threads_of(bits: By) -> f64 {
    f64::from(1_u32 << bits.count_ones().min(31))
}

/// The number of a row.
struct Row {
    at: usize,
    group: f64,
    depth: f64,
    /// The bits of the thread's index that it goes by.
    by: By,
}

/// Where in global memory something is fetched.
struct Place<'a> {
    at: usize,
    text: &'a str,
    makers: Vec<u32>,
}

impl<'a> Place<'a> {
    fn of(listing: &Listing<'a>, reaching: &mut Reaching, at: usize) -> Option<Self> {
        let parsed = Instruction::parse(listing.text(at))?;
        let is_memory = |operand: &&Operand| operand.kind == OperandKind::Memory;
        let operand = parsed.operands.iter().rfind(is_memory)?;
        let mut slots: Vec<Slot> = Vec::new();
        for (slot, suffix) in operand.slots() {
            slots.push(slot);
            slots.extend(slot.after(1).filter(|_| suffix == "64"));
        }
        let uses: Vec<_> = listing
            .sass
            .uses(at)
            .iter()
            .filter(|each| each.role == Role::Address)
            .copied()
            .collect();
        let makers = slots.iter().flat_map(|&slot| made_by(&uses, reaching, at, slot)).collect();
        Some(Self { at, text: operand.text, makers })
    }

    /// True for the same address, so far as it is the same sum of the same values.
    fn is_as(&self, other: &Self) -> bool {
        self.makers == other.makers && self.distance() == other.distance()
    }

    /// The row that the address goes by: of several, the one that serves the fewest values. With it, what else the address is
    /// made of, before the loop and by which numbers: copies that agree in this differ at most in the row.
    fn row<'r>(
        &self,
        sources: &Sources,
        inside: &[usize],
        rows: &'r [Row],
    ) -> Option<(&'r Row, Beside<'a>)> {
        let begin = self.makers.iter().map(|&by| by as usize).collect();
        let is_row = |at: usize| rows.iter().any(|row| row.at == at);
        let behind = behind(sources, inside, begin, is_row);
        let theirs = rows.iter().filter(|row| behind.contains(&row.at));
        let row = theirs.min_by(|one, other| one.group.total_cmp(&other.group))?;
        let between = || behind.iter().copied().filter(|&at| !is_row(at));
        let is_before = |at: &usize| inside.binary_search(at).is_err();
        let all = between().flat_map(|at| sources.makers(at));
        let mut makers: Vec<usize> = all.filter(is_before).collect();
        makers.sort_unstable();
        makers.dedup();
        let mut numbers: Vec<u32> = between().flat_map(|at| sources.numbers(at)).collect();
        numbers.sort_unstable();
        Some((row, Beside { makers, numbers, distance: self.distance() }))
    }

    /// The distance from the address's registers, as it is written.
    fn distance(&self) -> &'a str {
        self.text.split_once(".64").map_or(self.text, |(_, rest)| rest)
    }
}

/// What an address is made of beside a row's number.
#[derive(PartialEq)]
struct Beside<'a> {
    makers: Vec<usize>,
    numbers: Vec<u32>,
    distance: &'a str,
}

/// The instructions of a loop that these follow from, themselves included, up to some.
fn behind(
    sources: &Sources,
    inside: &[usize],
    begin: Vec<usize>,
    is_end: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut open = begin;
    while let Some(at) = open.pop() {
        let is_new = inside.binary_search(&at).is_ok() && !found.contains(&at);
        if !is_new || found.len() >= LANE_STEPS.whole() {
            continue;
        }
        found.push(at);
        if !is_end(at) {
            open.extend(sources.makers(at));
        }
    }
    found
}

/// The values of the depth in a turn: the step of the only counter that a row's number follows from.
fn depth(sources: &Sources, inside: &[usize], row: usize) -> Option<f64> {
    let behind = behind(sources, inside, vec![row], |_| false);
    let mut steps = behind.into_iter().filter_map(|at| sources.step(at));
    let step = steps.next()?;
    steps.all(|other| other == step).then_some(f64::from(step))
}

/// How many numbers a shift to the right makes one of: `0x7` of `SHF.R.S32.HI R2, RZ, 0x7, R4`. A shift that leaves the sign
/// alone makes none.
fn group(text: &str) -> Option<f64> {
    let parsed = Instruction::parse(text)?;
    let [_, low, by, _] = &parsed.operands[..] else { return None };
    let is_shift = parsed.base() == "SHF" && parsed.has("R") && parsed.has("HI");
    let by = u32::from_str_radix(by.text.strip_prefix("0x")?, 16).ok()?;
    (is_shift && low.text == "RZ" && (1..31).contains(&by)).then(|| f64::from(1_u32 << by))
}

/// True for what brings data from global memory.
fn is_fetch(family: Family) -> bool {
    matches!(family, Family::Load(Space::Global) | Family::AsyncCopy)
}
