//! The change where loaded values decide which bank a lane uses.

use super::tile::{SAME_WAVEFRONTS, wavefronts};
use crate::evidence::ModeledLaunch;
use crate::sass::questions::lanes::{Lanes, without_data};
use crate::sass::{Family, Listing};

/// What to do about an access whose index is made of loaded values; `None` where it is not, or where the lanes'
/// places without these values tell the conflicts already.
pub(super) fn change(launch: &ModeledLaunch, listing: &Listing, access: usize) -> Option<String> {
    let row = &launch.profile.row;
    let width = u32::from(listing.sass.entries[access].width);
    let begins = without_data(listing, access, row.block, row.grid)?;
    let measured = listing.row(access).counters.wavefronts_shared / listing.executed(access);
    let explained = f64::from(wavefronts(&begins, width.max(4)));
    match distance(&begins)? {
        0 if matches!(listing.sass.entries[access].family, Family::Store(_)) => Some(
            ". Values that each lane loaded decide where it writes, so that padding or XOR would change nothing: \
             give neighbouring lanes values that go to neighbouring words, such as by sorting them within the warp."
                .to_owned(),
        ),
        0 => Some(
            ". Values that each lane loaded decide where it reads, so that padding or XOR would change nothing: keep \
             several copies of the table side by side, as far as shared memory has room (table[value * copies + \
             thread % copies]), or give neighbouring lanes values that lie together."
                .to_owned(),
        ),
        apart if width >= 4
            && apart > width
            && apart.is_multiple_of(width)
            && (measured - explained).abs() >= SAME_WAVEFRONTS.value =>
        {
            let elements = apart / width;
            Some(format!(
                ". Each thread has {elements} elements of its own there, one after another, and loaded values decide \
                 which of them it uses, so that padding or XOR would change nothing: let the thread's index vary \
                 fastest (element * threads + thread instead of thread * {elements} + element), which keeps each \
                 lane to its own bank."
            ))
        }
        _ => None,
    }
}

/// How far lanes lie from their neighbours, where that is the same for all: 0 where all lie at one place.
fn distance(lanes: &Lanes) -> Option<u32> {
    let apart = lanes[1].checked_sub(lanes[0])?;
    lanes.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == apart).then_some(apart)
}
