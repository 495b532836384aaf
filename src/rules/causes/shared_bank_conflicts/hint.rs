//! The change: which index, and by how much, as far as the lanes' addresses can be worked out.

use super::by_data;
use super::tile::{SAME_WAVEFRONTS, Tile, at_once, wavefronts};
use crate::evidence::ModeledLaunch;
use crate::evidence::modeled_launch::place;
use crate::export::SourceRow;
use crate::finding::Location;
use crate::hardware::{REGISTER_BYTES, WARP_LANES};
use crate::sass::questions::index_parts::distance_changes;
use crate::sass::questions::lanes::addresses;
use crate::sass::{Family, Listing, Space};

/// What to do where a product of the thread's index and a number that changes gives the place.
const OTHER_DISTANCE: &str = "\
. The thread's index is multiplied there by a number that changes from iteration to iteration, so no padding fits all of \
them: let neighbouring lanes take neighbouring words in every iteration. To add up a block's values, for example, add \
value[t + s] to value[t] for t < s, with s half the block size at first and halved each time.";

/// The change at the first of these places.
///
/// Where blocks are narrower than a warp and the addresses can't be worked out, its lanes are taken to lie in several
/// rows, and what keeps a column's elements apart does not keep these apart: with lanes along the rows of the tile, a
/// row must be longer than a multiple of 32 words by the width of the block.
pub(super) fn hint(launch: &ModeledLaunch, locations: &[Location]) -> String {
    let at = place(locations, "the access with the most excess wavefronts");
    let access = launch
        .profile
        .listing()
        .and_then(|listing| Some((listing, worst(launch, &listing, locations.first())?)));
    let width = access.map_or(4, |(listing, at)| listing.sass.entries[at].width.max(4));
    let start = match width {
        8 | 16 => format!(
            "Change the shared-memory index at {at}, where each lane moves {width} bytes and {} lanes are served \
             at a time, so that these {0} fall on 32 banks",
            at_once(u32::from(width)),
        ),
        _ => {
            format!("Change the shared-memory index at {at} so that the 32 lanes fall on 32 banks")
        }
    };
    let tile = access.and_then(|(listing, at)| tile(launch, &listing, at));
    let how = match tile {
        Some((tile, counted)) => of_tile(tile, counted, width),
        None => access
            .and_then(|(listing, at)| {
                by_data::change(launch, &listing, at)
                    .or_else(|| distance_changes(&listing, at).then(|| OTHER_DISTANCE.to_owned()))
            })
            .or_else(|| narrow(launch, width))
            .unwrap_or_else(|| unknown(width)),
    };
    format!("{start}{how}")
}

/// The access with most excess wavefronts, of a place where one is known.
fn worst(launch: &ModeledLaunch, listing: &Listing, place: Option<&Location>) -> Option<usize> {
    let excess =
        |row: &SourceRow| row.counters.wavefronts_shared - row.counters.wavefronts_shared_ideal;
    let is_there = |row: &SourceRow| place.is_none_or(|at| launch.profile.is_at(row, at));
    let there = listing.entries().filter(|(at, entry)| {
        matches!(entry.family, Family::Load(Space::Shared) | Family::Store(Space::Shared))
            && is_there(listing.row(*at))
            && excess(listing.row(*at)) > 0.0
    });
    let most =
        there.max_by(|(a, _), (b, _)| excess(listing.row(*a)).total_cmp(&excess(listing.row(*b))));
    most.map(|(at, _)| at)
}

/// The rows on which the lanes of an access fall, where its wavefronts are those of such rows, and whether a number
/// that is not known was taken to count them.
fn tile(launch: &ModeledLaunch, listing: &Listing, access: usize) -> Option<(Tile, bool)> {
    let row = &launch.profile.row;
    let width = u32::from(listing.sass.entries[access].width).max(4);
    let text = listing.text(access);
    let is_plain = ["LDSM", "STSM", "STAS"].iter().all(|other| !text.contains(other));
    let found = addresses(listing, access, row.block, row.grid).filter(|_| is_plain)?;
    let measured = listing.row(access).counters.wavefronts_shared / listing.executed(access);
    let off = measured - f64::from(wavefronts(&found.bytes, width));
    let tile = Tile::of(&found.bytes, width).filter(|_| off.abs() < SAME_WAVEFRONTS.value)?;
    (tile.padding.is_some() || tile.swizzle.is_some()).then_some((tile, found.counted))
}

fn of_tile(tile: Tile, counted: bool, width: u8) -> String {
    let Tile { rows, lanes, pitch, padding, swizzle } = tile;
    let who = if counted { "Lanes whose values follow one another" } else { "The lanes of a warp" };
    let lie = match lanes {
        1 => format!("{who} go down a column whose rows are {pitch} bytes apart"),
        _ => format!("{who} fall on {rows} rows of {lanes}, {pitch} bytes apart"),
    };
    let units = u32::from(width) * lanes;
    let row = |by: u32| match by {
        0 => "the row".to_owned(),
        _ => format!("row / {}", 1_u32 << by),
    };
    let xor =
        swizzle.map(|by| format!("XOR the column, in units of {units} bytes, with {}", row(by)));
    // The compiler joins or splits accesses by what it knows of their addresses.
    let kept = if f64::from(width) > REGISTER_BYTES {
        format!(
            " Access each {width} bytes as one vector, such as {}, so that the accesses stay as wide as they are.",
            if width == 8 { "an int2" } else { "an int4" }
        )
    } else {
        String::new()
    };
    match (padding, xor) {
        (Some(by), xor) => {
            let multiple = if f64::from(width) > REGISTER_BYTES {
                format!(" (any padding must be a multiple of the {width} bytes that a lane moves)")
            } else {
                String::new()
            };
            let or =
                xor.map(|xor| format!(", or {xor}, which needs no padding")).unwrap_or_default();
            format!(". {lie}: make each row {by} bytes longer{multiple}{or}.{kept}")
        }
        (None, Some(xor)) => {
            format!(". {lie}, in an order that no padding spreads over the banks: {xor}.{kept}")
        }
        (None, None) => unknown(width),
    }
}

/// What to do in blocks that are narrower than a warp; `None` in others.
fn narrow(launch: &ModeledLaunch, bytes: u8) -> Option<String> {
    let [width, height, depth] = launch.profile.row.block;
    let lanes = WARP_LANES as u32;
    if width == 0 || width >= lanes || !lanes.is_multiple_of(width) || height * depth < 2 {
        return None;
    }
    let words = width * u32::from(bytes) / 4;
    Some(format!(
        ". Blocks are {width} threads wide, so a warp has {} rows of {width} lanes: if the lanes go along the rows of \
         the tile, make a row {words} words longer than a multiple of 32; if they go down its columns, choose the padding \
         by both, and check all 32 banks.",
        lanes / width
    ))
}

/// What to do where the lanes' addresses are not known.
fn unknown(width: u8) -> String {
    if f64::from(width) > REGISTER_BYTES {
        return format!(
            ": where the lanes go down a column, pad each row of the tile by {width} bytes or a multiple of that, since \
             any other padding would break the accesses up into narrower ones; or XOR the column, in units of \
             {width} bytes, with the row."
        );
    }
    ": where the lanes go down a column, pad each row of the tile by one element; where several lanes \
     fall on each row, by as many words as there are such lanes; or XOR the column with the row."
        .to_owned()
}
