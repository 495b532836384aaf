//! How the lanes of the accesses with excess lie, by their instructions.

use super::LEAST_EXCESS;
use crate::evidence::ModeledLaunch;
use crate::export::SourceRow;
use crate::finding::Location;
use crate::hardware::{SECTOR_BYTES, WIDEST_ACCESS_BYTES};
use crate::sass::questions::lanes::bytes_to_next_block;
use crate::sass::questions::runs::runs_of_lanes;
use crate::sass::questions::same_index::elements_of_an_index;
use crate::sass::questions::sharing::gathers::{Sender, sent_by_values};
use crate::sass::{Family, Listing};

/// How the lanes of the access with most excess lie.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Layout {
    /// Apart, by a stride.
    Strided,
    /// Apart, by a stride, and between them lies what the neighbouring blocks access.
    AcrossBlocks,
    /// Apart by as much as each lane moves there, piece by piece.
    InPieces(Pieces),
    /// Side by side, from the middle of a sector on.
    Shifted,
    /// Each in a run of neighbouring elements that it goes through by itself, wherever that begins.
    InRuns,
    /// Where values send them, and what else one index leads to there.
    Gathered(Sender, Option<Apart>),
}

impl Layout {
    /// True where a stride sets the lanes apart.
    pub(super) fn is_strided(&self) -> bool {
        matches!(self, Self::Strided | Self::AcrossBlocks | Self::InRuns)
    }
}

pub(super) fn layout(launch: &ModeledLaunch, shifted: bool, gathers: &Gathers) -> Layout {
    if shifted {
        return Layout::Shifted;
    }
    let Some((listing, most)) = most_excess(launch) else { return Layout::Strided };
    if gathers.is_in_runs(listing.row(most)) {
        return Layout::InRuns;
    }
    if let Some(sender) = gathers.sender(listing.row(most)) {
        return Layout::Gathered(sender, gathers.apart(listing.row(most)));
    }
    if begins_within(&listing, most) {
        return Layout::Shifted;
    }
    if let Some(pieces) = Pieces::of(&listing, most) {
        return Layout::InPieces(pieces);
    }
    if next_block_is_beside(launch, &listing, most) {
        Layout::AcrossBlocks
    } else {
        Layout::Strided
    }
}

/// True where the next block along some direction accesses the next element.
fn next_block_is_beside(launch: &ModeledLaunch, listing: &Listing, at: usize) -> bool {
    let (row, width) = (&launch.profile.row, u32::from(listing.sass.entries[at].width));
    (0..3).any(|direction| {
        bytes_to_next_block(listing, at, row.block, row.grid, direction)
            .is_some_and(|bytes| bytes > 0 && bytes == width)
    })
}

/// True where an access touches less than one sector more than its lanes' bytes fill: bytes and halves side by side, some of
/// which begin in the middle of a sector. Every other byte would touch two sectors for one each time.
fn begins_within(listing: &Listing, at: usize) -> bool {
    let counters = &listing.row(at).counters;
    let filled = counters.thread_inst_executed_pred_on * f64::from(listing.sass.entries[at].width)
        / SECTOR_BYTES;
    filled > 0.0 && counters.l2_sectors_global < filled + counters.inst_executed
}

/// Accesses by which each lane moves neighbouring elements one by one, where a wider one would move them together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pieces {
    /// The accesses.
    pub accesses: Vec<usize>,
    /// How many of them one access replaces.
    pub of_one: u32,
    /// Bytes of that access.
    pub bytes: u32,
}

impl Pieces {
    /// Those that an access is one of. Lanes that lie S bytes apart, less than a sector, touch S sectors of 32 lanes; if S is
    /// that of several accesses of one line together, these are neighbours, each a piece of what a lane moves.
    fn of(listing: &Listing, most: usize) -> Option<Self> {
        let (row, entry) = (listing.row(most), &listing.sass.entries[most]);
        let lanes = row.counters.thread_inst_executed_pred_on;
        let apart = (SECTOR_BYTES * row.counters.l2_sectors_global / lanes).round();
        let width = f64::from(entry.width);
        let of_one = apart / width;
        let fits = (2.0 * width..=WIDEST_ACCESS_BYTES).contains(&apart)
            && (apart as u32).is_power_of_two()
            && (SECTOR_BYTES * row.counters.l2_sectors_global - apart * lanes).abs()
                <= LEAST_EXCESS * apart * lanes;
        if !fits || row.line.is_none() {
            return None;
        }
        let is_alike = |at: usize| {
            let (other, it) = (listing.row(at), &listing.sass.entries[at]);
            (it.family, it.width) == (entry.family, entry.width)
                && (other.line, &other.file) == (row.line, &row.file)
                && other.counters.inst_executed.to_bits() == row.counters.inst_executed.to_bits()
        };
        let accesses: Vec<usize> =
            (0..listing.sass.entries.len()).filter(|&at| is_alike(at)).collect();
        let of_one = of_one as u32;
        let are_whole = accesses.len().is_multiple_of(of_one as usize);
        are_whole.then_some(Self { accesses, of_one, bytes: apart as u32 })
    }
}

/// Sectors beyond those that dense addresses would need.
pub(super) fn excess(row: &SourceRow) -> f64 {
    (row.counters.l2_sectors_global - row.counters.l2_sectors_global_ideal).max(0.0)
}

/// Elements that one index leads to, each in an array or a plane of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Apart {
    /// How many.
    pub elements: f64,
    /// Bytes of each.
    pub bytes: f64,
}

impl Apart {
    /// The sectors that they touch side by side, of those that they touch now.
    pub(super) fn sectors_left(self) -> f64 {
        (self.bytes / SECTOR_BYTES).max(1.0 / self.elements)
    }

    /// The look-ups of lines that accesses of [`WIDEST_ACCESS_BYTES`] make of those now.
    pub(super) fn look_ups_left(self) -> f64 {
        (self.bytes / WIDEST_ACCESS_BYTES).max(1.0 / self.elements)
    }
}

/// The accesses with excess whose lanes go where values send them, by their addresses: no other order of the lanes
/// makes them dense. Not those that only begin there: lanes that share a run of elements go side by side.
pub(super) struct Gathers {
    sent: Vec<(u64, Sender)>,
    /// Those whose index leads to elements in several arrays or planes, with how many these are and the bytes of each.
    apart: Vec<(u64, Apart)>,
    /// Those that go through runs, with the runs that they begin.
    in_runs: Vec<(u64, f64)>,
}

impl Gathers {
    pub(super) fn of(launch: &ModeledLaunch) -> Self {
        let Some(listing) = launch.profile.listing() else {
            return Self { sent: Vec::new(), apart: Vec::new(), in_runs: Vec::new() };
        };
        let gathers = sent_by_values(
            &listing,
            |at| is_wide(listing.row(at)),
            |at| !is_apart(listing.row(at)),
        );
        let sent: Vec<usize> = gathers.iter().map(|(at, _)| *at).collect();
        let runs = runs_of_lanes(&listing, &sent);
        let address = |at: usize| listing.row(at).address;
        let shape = [launch.profile.row.block, launch.profile.row.grid];
        let apart =
            elements_of_an_index(&listing, &sent, shape).into_iter().map(|(at, elements)| {
                (at, Apart { elements, bytes: f64::from(listing.sass.entries[at].width) })
            });
        let apart = apart.filter_map(|(at, apart)| Some((address(at)?, apart))).collect();
        let sent = gathers.into_iter().filter(|(at, _)| !runs.contains_key(at));
        Self {
            sent: sent.filter_map(|(at, sender)| Some((address(at)?, sender))).collect(),
            apart,
            in_runs: runs.iter().filter_map(|(&at, &runs)| Some((address(at)?, runs))).collect(),
        }
    }

    pub(super) fn has(&self, row: &SourceRow) -> bool {
        self.sender(row).is_some()
    }

    /// What the index of an access leads to besides.
    pub(super) fn apart(&self, row: &SourceRow) -> Option<Apart> {
        let of_row = |(address, _): &&(u64, Apart)| row.address == Some(*address);
        self.apart.iter().find(of_row).map(|(_, apart)| *apart)
    }

    fn is_in_runs(&self, row: &SourceRow) -> bool {
        self.in_runs.iter().any(|(address, _)| row.address == Some(*address))
    }

    /// Sectors that lanes side by side touch beyond those that their bytes fill, since runs begin in the middle of one.
    pub(super) fn begin_within(&self) -> f64 {
        self.in_runs.iter().map(|(_, runs)| runs).sum()
    }

    /// What sends the lanes of an access.
    fn sender(&self, row: &SourceRow) -> Option<Sender> {
        let of_row = |(address, _): &&(u64, Sender)| row.address == Some(*address);
        self.sent.iter().find(of_row).map(|(_, sender)| *sender)
    }
}

/// True where an access asks for more sectors than its addresses need.
pub(super) fn is_wide(row: &SourceRow) -> bool {
    let (sectors, ideal) = (row.counters.l2_sectors_global, row.counters.l2_sectors_global_ideal);
    sectors > ideal * (1.0 + LEAST_EXCESS)
}

/// True where the access with most excess copies to shared memory and fetches a sector for each lane. It does so for lanes whose
/// addresses share a sector, too, if they write to different lines of 128 bytes there. (Measured on an H100: copies of 16 bytes per
/// lane, four lanes to 64 bytes of a row, asked for 32 sectors where 16 hold them, and for 16 once the four went to one line.)
pub(super) fn copies_a_sector_for_each_lane(launch: &ModeledLaunch) -> bool {
    most_excess(launch).is_some_and(|(listing, most)| {
        listing.sass.entries[most].family == Family::AsyncCopy && is_apart(listing.row(most))
    })
}

/// True where each lane of an access has a sector of its own: lanes are a row apart.
fn is_apart(row: &SourceRow) -> bool {
    let lanes = row.counters.thread_inst_executed_pred_on;
    row.counters.l2_sectors_global >= lanes * (1.0 - LEAST_EXCESS)
}

/// Bytes that each lane moves in the access with most excess sectors, of a place where one is known; `None` without
/// SASS.
pub(super) fn width_at(launch: &ModeledLaunch, place: Option<&Location>) -> Option<u8> {
    let listing = launch.profile.listing()?;
    let is_there = |row: &SourceRow| place.is_none_or(|at| launch.profile.is_at(row, at));
    let there = listing.entries().filter(|(at, _)| is_there(listing.row(*at)));
    let (_, most) = there
        .filter(|(_, entry)| entry.width > 0)
        .max_by(|(a, _), (b, _)| excess(listing.row(*a)).total_cmp(&excess(listing.row(*b))))?;
    Some(most.width)
}

/// The access with most excess sectors, in its listing; `None` without SASS.
pub(super) fn most_excess<'a>(launch: &ModeledLaunch<'a>) -> Option<(Listing<'a>, usize)> {
    let listing = launch.profile.listing()?;
    let places = listing.entries().map(|(at, _)| at);
    let most = places.max_by(|&a, &b| excess(listing.row(a)).total_cmp(&excess(listing.row(b))))?;
    Some((listing, most))
}
