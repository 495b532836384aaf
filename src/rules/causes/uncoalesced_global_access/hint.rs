//! The change: of rows that start in the middle of a sector and of gathers another one than of strides.

use super::layout::{Apart, Layout};
use crate::evidence::modeled_launch::place;
use crate::finding::Location;
use crate::hardware::{SECTOR_BYTES, WARP_LANES, WIDEST_ACCESS_BYTES};
use crate::sass::questions::sharing::gathers::Sender;
use crate::text::count;

/// What to do at the hottest of these places, whose lanes move so many bytes each, and whether DRAM sets the pace.
pub(super) fn hint(
    locations: &[Location],
    layout: &Layout,
    lanes: Option<f64>,
    fills: bool,
    width: Option<u8>,
    dram_sets_pace: bool,
) -> String {
    if let Layout::InPieces(pieces) = layout {
        return format!(
            "Let each thread move its {} neighbouring elements at {} by one access of {} bytes: put them side by side in a register \
             or a vector first (uchar4, uint2, uint4), or in an array that is aligned to as many bytes and copied as one. Addresses must \
             be multiples of that.",
            pieces.of_one,
            place(locations, "the access with the widest stride between lanes"),
            pieces.bytes,
        );
    }
    if let Layout::Gathered(sender, Some(apart)) = layout {
        return of_planes(&place(locations, "the hottest access"), *sender, *apart);
    }
    if let Layout::Gathered(sender, None) = layout {
        let at = place(locations, "the hottest access");
        return match sender {
            Sender::Loaded => format!(
                "At {at} each lane's address comes from a value that it loaded, so reordering the threads changes \
                 nothing: sort or group the work by these values, gather whole elements of 16 or 32 bytes and use \
                 each for several results, or store the data in the order in which it is read."
            ),
            Sender::Mixed => format!(
                "At {at} each lane's address comes from a number that it mixed by exclusive or (a hash, or a random \
                 number), so reordering the threads changes nothing: sort or group the accesses by address, so that \
                 each pass stays within a part that L2 holds, and keep more of them in flight."
            ),
            Sender::Position => format!(
                "At {at} each lane's address comes from a position that it computes in floating point and rounds, \
                 so swapping the thread's indices changes nothing: sort or group the points by position, pack what \
                 is read together into one wider element, or gather less often."
            ),
        };
    }
    if *layout == Layout::InRuns {
        return format!(
            "Let neighbouring lanes of a warp access neighbouring addresses at {}: each lane goes through a run of elements of its \
             own there, from where it has loaded that the run begins. Give each run to a warp and let its lanes stride along it; \
             where runs are short, to 8 or 16 lanes.",
            place(locations, "the hottest access"),
        );
    }
    if *layout == Layout::Shifted {
        return format!(
            "The lanes at {} already access neighbouring addresses but begin in the middle of a \
             sector: pad rows so that they begin at a multiple of 32 bytes, or load each value \
             once for the several results that need it (registers, shuffles, a tile with its \
             border in shared memory).",
            place(locations, "the hottest access"),
        );
    }
    let at = place(locations, "the access with the widest stride between lanes");
    let lanes = lanes.unwrap_or(WARP_LANES);
    let how = if *layout == Layout::AcrossBlocks {
        "let each block take 32 neighbouring results in place of one, its lanes side by side along them, since what lies \
         between two lanes now is what the blocks beside it access; threadIdx.y then counts the parts of a result that \
         threads share"
            .to_owned()
    } else if lanes <= 1.0 && dram_sets_pace {
        // A tile fetches the same sectors.
        "change the layout (an array for each member in place of an array of structures) or swap the roles of the \
         thread's indices, so that DRAM, which sets the pace, delivers only what is used; a tile in shared memory \
         would fetch the same sectors"
            .to_owned()
    } else if lanes <= 1.0 {
        // Nothing here that lanes could take turns at.
        "swap the roles of the thread's indices, change the layout, or stage a tile through shared memory that \
         all lanes load together"
            .to_owned()
    } else if fills {
        format!(
            "give each warp a row and let its lanes stride along it, which also gives {} times as many warps \
             work; another layout or a tile in shared memory alone would leave most of the device idle",
            count(lanes)
        )
    } else {
        "give each warp a row and let its lanes stride along it, or stage a tile through shared memory"
            .to_owned()
    };
    format!(
        "Let neighbouring lanes of a warp access neighbouring addresses at {at}: {how}. The ideal is {}.",
        ideal(width.unwrap_or(4))
    )
}

/// What the change is in Triton, where it is not the tile's shape.
pub(super) fn in_triton(layout: &Layout) -> Option<&'static str> {
    match layout {
        Layout::Gathered(_, Some(_)) => Some(
            "keep what one index leads to in one tensor with the members last, and load them together: a last dimension of the tile that \
             goes over the members (index[:, None] * MEMBERS + members[None, :], with MEMBERS a power of two).",
        ),
        Layout::Gathered(_, None) => Some(
            "no shape of the tile makes a gather dense. Sort or group the elements by the index beforehand, or gather fewer and \
             narrower values (a narrower type, less often).",
        ),
        Layout::Shifted => Some(
            "make strides and first elements multiples of 32 bytes: pad rows, and tell the compiler by tl.multiple_of where it can't see it.",
        ),
        _ => None,
    }
}

/// What to do where an index leads to several arrays or planes.
fn of_planes(at: &str, sender: Sender, apart: Apart) -> String {
    let index = match sender {
        Sender::Loaded => "an index that it loaded",
        Sender::Mixed => "a number that it mixed by exclusive or (a hash, or a random number)",
        Sender::Position => "a position that it computes in floating point and rounds",
    };
    format!(
        "Store what one index leads to side by side: at {at} each lane goes by {index}, and the same index leads to {} elements, each in \
         an array or plane of its own, so that every one of them costs a sector. With the members of an element, or the channels of a \
         pixel, innermost in memory, a lane gets {} of them by one access of {} bytes. What writes the arrays must lay them out so, or \
         a pass before this kernel. Where the work can be sorted by that index, lanes share sectors as well.",
        count(apart.elements),
        count((WIDEST_ACCESS_BYTES / apart.bytes).min(apart.elements)),
        count(WIDEST_ACCESS_BYTES.min(apart.elements * apart.bytes)),
    )
}

/// How many lanes share a sector where each moves so many bytes.
fn ideal(width: u8) -> String {
    let lanes = (SECTOR_BYTES / f64::from(width.max(1))).min(WARP_LANES);
    let each = if width == 1 { "1 byte".to_owned() } else { format!("{width} bytes") };
    if lanes > 1.0 {
        format!("one sector per {} lanes of {each}", count(lanes))
    } else {
        format!("one sector per lane of {each}")
    }
}
