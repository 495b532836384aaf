//! What the rule says.

use super::found::{BuiltTable, Found, Main};
use super::home::{InShared, REGISTERS_HOLD};
use crate::evidence::modeled_launch::place;
use crate::finding::Location;
use crate::hardware::MOST_REGISTERS;
use crate::text::{bytes, count, count_of, percent};

/// What was seen.
pub(super) fn message(found: &Found, executed: f64) -> String {
    let accesses = format!(
        "{} of {} executed instructions ({})",
        count(found.accesses),
        count(executed),
        percent(found.accesses / executed),
    );
    let main = found.main.as_ref();
    if let Some(built) = main.and_then(|main| main.table.as_ref()) {
        return format!(
            "{accesses} build and read a table in local memory, because its index is known only at run time. \
             Every thread builds its own copy of the same constants, with {} of these instructions.",
            count(built.stores.min(found.accesses)),
        );
    }
    let size = main.map_or_else(String::new, |main| {
        format!(" of {} per thread", count_of(main.home.bytes, "byte"))
    });
    format!(
        "{accesses} access an array{size} in local memory, because its index is known only at run time."
    )
}

/// What to change.
pub(super) fn hint(found: &Found) -> String {
    let place = place(&found.locations, "the hottest spot");
    let Some(main) = &found.main else {
        return format!(
            "{}, or move the array to shared memory with the thread as the fastest index. That takes 4 bytes per \
             thread and element, which may limit the resident blocks.",
            known_index(&place, true),
        );
    };
    if let Some(built) = &main.table {
        return build_once(built);
    }
    match main.home.shared {
        Some(shared) if main.home.fits_registers() && !shared.fits() => format!(
            "{}. Shared memory has no room for the array: {}.",
            known_index(&place, main.in_loop),
            would_take(&shared),
        ),
        _ if main.home.fits_registers() => format!(
            "{}, or move the array to shared memory with the thread as the fastest index. {}",
            known_index(&place, main.in_loop),
            cost(main),
        ),
        Some(shared) if !shared.fits() => format!(
            "Make the array at {place} smaller: use a narrower element type, pack several entries into a word, or \
             keep fewer entries per thread. Or sort or group the work so that a thread finishes with one entry, in \
             a register, before it turns to the next. As it is, the array fits neither into registers nor into \
             shared memory ({}; {}), and what it costs is its traffic beyond L1.",
            no_register(main),
            would_take(&shared),
        ),
        _ => format!(
            "Move the array at {place} to shared memory with the thread as the fastest index. {} Registers can't \
             hold it: {}.",
            cost(main),
            no_register(main),
        ),
    }
}

fn known_index(place: &str, in_loop: bool) -> String {
    let how = if in_loop {
        "fully unroll the loop around it, or select by comparisons"
    } else {
        "select by comparisons"
    };
    format!("Make the index at {place} known at compile time ({how})")
}

/// What shared memory costs.
fn cost(main: &Main) -> String {
    let size = count_of(main.home.bytes, "byte");
    let Some(shared) = main.home.shared else {
        return format!("That takes {size} per thread, which may limit the resident blocks.");
    };
    let fit = |blocks: f64| if blocks > 1.0 { "fit" } else { "fits" };
    let room = match shared.blocks_now {
        Some(now) if shared.blocks >= now => {
            format!("{} {} on an SM, as now", count_of(now, "block"), fit(now))
        }
        Some(now) => {
            let blocks = count_of(shared.blocks, "block");
            format!("{blocks} {} on an SM instead of {}", fit(shared.blocks), count(now))
        }
        None => format!("{} {} on an SM", count_of(shared.blocks, "block"), fit(shared.blocks)),
    };
    format!(
        "That takes {} per block of {}; {room}.",
        bytes(shared.of_block),
        count_of(shared.threads, "thread"),
    )
}

/// Why the array can't live in registers.
fn no_register(main: &Main) -> String {
    if main.home.bytes <= REGISTERS_HOLD {
        return "data decide which of its elements is accessed, so that no unrolling makes the index known".to_owned();
    }
    format!("a thread has at most {MOST_REGISTERS} registers, {} bytes", count(REGISTERS_HOLD))
}

fn would_take(shared: &InShared) -> String {
    format!(
        "a block of {} would take {} of shared memory, of which an SM has {}",
        count_of(shared.threads, "thread"),
        bytes(shared.of_block),
        bytes(shared.of_sm),
    )
}

/// What to do about a table that every thread builds.
fn build_once(built: &BuiltTable) -> String {
    let at = |location: &Location| format!(" at {}", location.name());
    let at = built.built_at.as_ref().map_or_else(String::new, at);
    if built.table.lanes_differ {
        format!(
            "Don't build the table in every thread{at}: declare it at file scope as static __device__ const, copy it \
             to shared memory once per block, or compute the entries instead if a few comparisons do. Declare it \
             as __constant__ only if all lanes of a warp mostly look up the same entry, because different ones \
             are read there one after the other."
        )
    } else {
        format!(
            "Don't build the table in every thread{at}: declare it at file scope as static __constant__. All lanes \
             of a warp look up the same entry, which they read there at once."
        )
    }
}
