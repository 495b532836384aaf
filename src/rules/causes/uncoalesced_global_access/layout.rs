//! How the lanes of the accesses with excess lie, by their instructions.

use super::LEAST_EXCESS;
use crate::evidence::ModeledLaunch;
use crate::export::SourceRow;
use crate::finding::Location;
use crate::sass::Listing;
use crate::sass::questions::sharing::gathers::{Sender, sent_by_values};

/// How the lanes of the access with most excess lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Apart, by a stride.
    Strided,
    /// Side by side, from the middle of a sector on.
    Shifted,
    /// Where values send them.
    Gathered(Sender),
}

pub(super) fn layout(launch: &ModeledLaunch, shifted: bool, gathers: &Gathers) -> Layout {
    if shifted {
        return Layout::Shifted;
    }
    let sender = most_excess(launch).and_then(|(listing, most)| gathers.sender(listing.row(most)));
    sender.map_or(Layout::Strided, Layout::Gathered)
}

/// Sectors beyond those that dense addresses would need.
fn excess(row: &SourceRow) -> f64 {
    (row.counters.l2_sectors_global - row.counters.l2_sectors_global_ideal).max(0.0)
}

/// The accesses with excess whose lanes go where values send them, by their addresses: no other order of the lanes
/// makes them dense.
pub(super) struct Gathers(Vec<(u64, Sender)>);

impl Gathers {
    pub(super) fn of(launch: &ModeledLaunch) -> Self {
        let Some(listing) = launch.profile.listing() else { return Self(Vec::new()) };
        let gathers = sent_by_values(
            &listing,
            |at| is_wide(listing.row(at)),
            |at| !is_apart(listing.row(at)),
        );
        let address = |(at, sender)| Some((listing.row(at).address?, sender));
        Self(gathers.into_iter().filter_map(address).collect())
    }

    pub(super) fn has(&self, row: &SourceRow) -> bool {
        self.sender(row).is_some()
    }

    /// What sends the lanes of an access.
    fn sender(&self, row: &SourceRow) -> Option<Sender> {
        let of_row = |(address, _): &&(u64, Sender)| row.address == Some(*address);
        self.0.iter().find(of_row).map(|(_, sender)| *sender)
    }
}

/// True where an access asks for more sectors than its addresses need.
pub(super) fn is_wide(row: &SourceRow) -> bool {
    let (sectors, ideal) = (row.counters.l2_sectors_global, row.counters.l2_sectors_global_ideal);
    sectors > ideal * (1.0 + LEAST_EXCESS)
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
