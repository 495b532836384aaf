//! Work that touches shared memory so densely that its pipe is full.

use crate::evidence::Threshold;
use crate::evidence::removal::Removal;
use crate::evidence::shared_pipe::{SharedPipe, executed_on, stalls_on, uses_shared_alone};
use crate::evidence::threshold::REGISTER_TILE;
use crate::hardware::MOST_REGISTERS;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::sass::flow::slice;
use crate::sass::questions::shared_windows::windows;
use crate::sass::questions::sharing::gathers::sent_by_values;
use crate::sass::{Family, Space};
use crate::term::Term;

/// Registers of a thread, which bound a tile.
pub(super) const REGISTERS: &str = "launch__registers_per_thread";

/// The accesses go but for those that a register tile needs, with their own instructions and stalls and with
/// what waits for them. The loop's arithmetic is the work itself and stays. The time model knows that warps at
/// barriers wait for warps that do.
pub(super) fn effect(pipe: &SharedPipe) -> Effect {
    let tile = tile(pipe);
    let goes = goes(pipe, tile);
    let instructions = &pipe.launch.profile.instructions;
    let mut removed: Vec<(Term, f64)> =
        pipe.units().into_iter().map(|(term, share)| (term, share * goes)).collect();
    if !instructions.is_empty() {
        let accesses = executed_on(instructions, uses_shared_alone);
        removed.extend(accesses.map(|share| (Term::Issue, share * goes)));
    }
    let on_shared = stalls_on(instructions);
    let stalls = StallReason::all().map(|reason| {
        let share = match reason {
            StallReason::LongScoreboard | StallReason::LgThrottle | StallReason::Barrier => 0.0,
            StallReason::ShortScoreboard | StallReason::MioThrottle => 1.0,
            _ => on_shared[reason as usize],
        };
        (reason, share * goes)
    });
    let accesses = Effect { removed, stalls: stalls.collect(), ..Effect::default() };
    match fewer_threads(pipe, tile) {
        Some(threads) => accesses.and(&threads),
        None => accesses,
    }
}

/// The share of the accesses' wavefronts, 0 to 1, that goes with a tile of results. Of what is read around a place of the
/// thread's own, that at which the results' windows overlap; its values are stored once whatever the tile. Of everything
/// else, what all results but one read, but for look-ups by data.
fn goes(pipe: &SharedPipe, tile: f64) -> f64 {
    let of_tile = 1.0 - 1.0 / tile;
    let others = of_tile * (1.0 - looked_up(pipe));
    let Some(listing) = pipe.launch.profile.listing() else { return others };
    let windows = windows(&listing);
    let wavefronts = |at: usize| listing.wavefronts(at);
    let of = |family: Family| -> f64 {
        let theirs = listing.entries().filter(|(_, entry)| entry.family == family);
        theirs.map(|(at, _)| wavefronts(at)).sum()
    };
    let (loads, stores) = (of(Family::Load(Space::Shared)), of(Family::Store(Space::Shared)));
    if windows.is_empty() || loads <= 0.0 {
        return others;
    }
    let (mut read, mut shared) = (0.0, 0.0);
    for window in &windows {
        let theirs: f64 = window.loads.iter().map(|&at| wavefronts(at)).sum();
        read += theirs;
        shared += theirs * (1.0 - window.stays(tile));
    }
    // Stores feed windows as far as loads are of windows.
    let rest = (loads + stores) * (1.0 - read / loads).max(0.0);
    (shared + rest * others) / (loads + stores)
}

/// The share of the accesses' wavefronts, 0 to 1, that look values up by data: each lane reads where a value that it loaded
/// sends it, so that no other result can use what it finds.
fn looked_up(pipe: &SharedPipe) -> f64 {
    let Some(listing) = pipe.launch.profile.listing() else { return 0.0 };
    let is_access = |at: usize| {
        let family = listing.sass.entries[at].family;
        matches!(family, Family::Load(Space::Shared) | Family::Store(Space::Shared))
    };
    let is_load = |at: usize| listing.sass.entries[at].family == Family::Load(Space::Shared);
    let by_data = sent_by_values(&listing, is_load, |_| true);
    let wavefronts = |at: usize| listing.wavefronts(at);
    let all: f64 =
        (0..listing.sass.entries.len()).filter(|&at| is_access(at)).map(wavefronts).sum();
    let theirs: f64 = by_data.into_iter().map(|(at, _)| wavefronts(at)).sum();
    if all > 0.0 { theirs / all } else { 0.0 }
}

/// Results that use a value from a register: at most as many as threads of that many registers can hold, if
/// each result takes the registers that one takes now.
fn tile(pipe: &SharedPipe) -> f64 {
    let registers = pipe.launch.get(REGISTERS).filter(|&registers| registers > 0.0);
    registers.map_or(REGISTER_TILE, |each| (MOST_REGISTERS / each).clamp(1.0, REGISTER_TILE))
}

/// How often values of shared memory must be read for a thread with several results to use each for two.
pub(super) const SERVES_SEVERAL: Threshold = Threshold {
    what: "bytes that threads read from shared memory, over those that they store there, for a tile of results \
           to spare threads, at least",
    value: 2.0,
    unit: "",
    source: "definition: a value serves two results",
};

/// What a thread does once whatever it computes, and what it loads outside of loops, which it then has in
/// flight for all of its results: as many times less as it has results. `None` where values are only handed
/// from thread to thread, where so much fewer blocks would not fill the device, or without machine code.
fn fewer_threads(pipe: &SharedPipe, tile: f64) -> Option<Effect> {
    if pipe.launch.waves().is_some_and(|waves| waves < tile) {
        return None;
    }
    let mut removal = Removal::new(pipe.launch)?;
    let listing = removal.listing;
    let moved = |family: Family| -> f64 {
        let theirs = listing.entries().filter(|(_, entry)| entry.family == family);
        let lanes = |at: usize| listing.row(at).counters.thread_inst_executed_pred_on;
        theirs.map(|(at, entry)| lanes(at) * f64::from(entry.width)).sum()
    };
    let (read, stored) = (moved(Family::Load(Space::Shared)), moved(Family::Store(Space::Shared)));
    if read < SERVES_SEVERAL.value * stored {
        return None;
    }
    let work = slice::work(&listing);
    let goes = 1.0 - 1.0 / tile;
    for (index, entry) in listing.entries() {
        if listing.sass.flow.innermost(index).is_some() {
            continue;
        }
        if matches!(entry.family, Family::Load(Space::Global | Space::Generic)) {
            removal.remove_latency(index, goes);
        } else if !work[index] {
            removal.remove(index, goes);
        }
    }
    let mut effect = removal.effect(pipe.launch);
    effect.removed.push((Term::BlockScheduler, goes));
    Some(effect)
}

/// The advice for the accesses at a place.
pub(super) fn hint(at: &str) -> String {
    format!(
        "Access shared memory less often at {at}: let each thread keep a tile of results in registers, \
         move a float4 at a time, or exchange values within a warp by shuffles."
    )
}
