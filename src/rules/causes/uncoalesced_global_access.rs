//! More sectors move between L1 and L2 than the warps' addresses need.

mod cost;
mod hint;
mod layout;
mod spread;
#[cfg(test)]
mod tests;

use crate::evidence::kept_state::{self, KeptState};
use crate::evidence::language::{begun, is_of_triton};
use crate::evidence::loads_in_flight::LONG;
use crate::evidence::modeled_launch::{BLOCK, BLOCKS_AT_ONCE, GRID};
use crate::evidence::removal::Removal;
use crate::evidence::{Draft, ModeledLaunch, Threshold, local_memory};
use crate::finding::Evidence;
use crate::frame::{Launch, Reads};
use crate::hardware::L1_BYTES;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, Trial};
use crate::sass::questions::swap::replaceable;
use crate::term::Term;
use crate::text::{count, count_of, percent};
use cost::cost;
use hint::{hint, in_triton};
use layout::{
    Gathers, Layout, Pieces, copies_a_sector_for_each_lane, layout, most_excess, width_at,
};
use spread::{lanes_for_a_thread, spread};

const SECTORS: &str = "memory_l2_theoretical_sectors_global";
const IDEAL: &str = "memory_l2_theoretical_sectors_global_ideal";
const TAGS: &str = "memory_l1_tag_requests_global";
const REQUESTS: &str = "lts__t_requests_srcunit_tex.sum";
const SHARED: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
const FROM_L1: &str = "lts__t_sectors_srcunit_tex.sum";
const READ: &str = "dram__bytes_read.sum";
const WRITTEN: &str = "dram__bytes_write.sum";

/// Below this share of excess sectors the boundary effects of any array (a first or last sector
/// partly used) look the same as a fault.
const LEAST_EXCESS: f64 = 0.05;

/// The share of excess sectors beyond which L2 and DRAM are at no roof, whether or not a change of the layout spares them.
const MOSTLY_EXCESS: f64 = 0.5;

/// Sectors over needed ones below which lanes are dense and only begin in the middle of a sector: 32
/// lanes of 4 bytes touch 5 sectors for 4, of 1 byte 2 for 1; every other element takes 2 for 1 too.
const SHIFTED: f64 = 1.5;

/// The rule.
pub const RULE: Rule = Rule {
    name: "uncoalesced-global-access",
    kind: Kind::Cause,
    summary: "more sectors move than the warp's addresses need",
    explanation: "\
Lanes of a warp that read or write neighbouring addresses share 32-byte sectors: 32 lanes with 4 \
bytes each need 4 sectors. Lanes that are a stride apart touch one sector each, up to 32 per \
instruction, and the L1 tags, the L1 data pipe, L2 and DRAM all carry bytes that nobody uses. The \
rule compares, line by line, the sectors that each instruction asked for with those that its \
addresses would need if they were dense. L1 pays one look-up for each 128-byte line that a \
request touches, hit or miss; L2 and DRAM pay only for excess sectors that L1 does not hold. Let \
neighbouring lanes access neighbouring elements: swap the roles of loop and thread index, stage a \
tile through shared memory, or change the layout. Where loaded indices send the lanes anywhere, no order of them helps; but if one \
index leads to elements in several arrays or planes, these can lie side by side.",
    examples: &[Example {
        fault: "\
// one station per thread, stored station by station: the lanes of a warp
// read a row apart, 32 sectors for 32 values
for (int day = 0; day < days; ++day)
    sum += rain[station * days + day];",
        repair: "\
// stored day by day: the lanes read 32 neighbours, 4 sectors
for (int day = 0; day < days; ++day)
    sum += rain[day * stations + station];",
        note: "\
The table is transposed, so that neighbouring threads read neighbouring values and an eighth of \
the sectors moves.",
    }],
    section: "SourceCounters",
    thresholds: &[
        Threshold {
            what: "excess sectors, share of all sectors, at least",
            value: LEAST_EXCESS,
            unit: "share",
            source: "a misaligned but dense 128-byte access needs 5 sectors instead of 4 only at the \
                 ends of an array; ncu's own rule fires at any excess",
        },
        Threshold {
            what: "excess sectors, share of all sectors, for L2 and DRAM to be at no roof although another order of the \
                   threads spares none of them, more than",
            value: MOSTLY_EXCESS,
            unit: "share",
            source: "definition: most of what they move is needed by nobody",
        },
        Threshold {
            what: "constant: bytes of an SM's L1 and shared memory together; where threads stand at more lines, L1 can't hold them",
            value: L1_BYTES,
            unit: "byte",
            source: "NVIDIA, Hopper Tuning Guide, 2023: 256 KB, the most of all architectures so far",
        },
        Threshold {
            what: "constant: elements of a tile in shared memory that each thread takes, so that a part of the blocks is enough where \
                   starting them takes longest",
            value: OF_A_TILE,
            unit: "",
            source: "Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA, 2009: tiles of 32 x 32 by 32 x 8 threads",
        },
        Threshold {
            what: "sectors touched over sectors needed, for the lanes to count as dense but beginning in the \
                   middle of a sector, so that the hint is padding, less than",
            value: SHIFTED,
            unit: "",
            source: "derivation: 32 lanes of 4 bytes that begin in the middle of a sector touch 5 sectors where 4 \
                 would do, and lanes that take every other element touch 8; 1.5 lies between 5/4 and 8/4",
        },
    ],
    needs: &[SECTORS, IDEAL],
    sharpened_by: &[
        Reads::only_where(has_excess, &[REQUESTS, SHARED, FROM_L1, READ, WRITTEN, BLOCK]),
        Reads::only_where(has_excess, &[LONG]),
        Reads::only_where(has_excess_beside_local, &local_memory::BEYOND_L1),
        local_memory::BY_HIT_RATE,
        BLOCKS_AT_ONCE,
        Reads::only_where(has_excess, &[kept_state::REGISTERS]),
        // Where the source page doesn't tell.
        Reads::only_where(|launch| !launch.has_source(), &[TAGS]),
    ],
    trials: &[Trial::LoadCaching("cg")],
    said_by_ncu: &[
        // Bytes of a sector that nobody uses.
        SaidByNcu::any("MemoryCacheAccessPattern", Acts::MEMORY).unless(&["for local"]),
        SaidByNcu::any("UncoalescedGlobalAccess", Acts::MEMORY),
    ],
    explains: &[
        "lg-throttle",
        "long-scoreboard-stalls",
        "mio-throttle",
        "store-drain-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
make a tile of several rows and columns per program, with the dimension that is contiguous \
in memory last (rows[:, None] * stride + columns[None, :]): lanes then go along it. Where \
load and store need different orders, tl.trans on a square tile converts between them.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (sectors, ideal) = (launch.need(SECTORS), launch.need(IDEAL));
    let excess = sectors - ideal;
    let is_much = |excess: f64| sectors > 0.0 && excess / sectors >= LEAST_EXCESS;
    if !is_much(excess) || !is_much(excess - spared(launch)) || is_of_swaps(launch, excess) {
        return None;
    }
    let locations = launch.profile.top_places(3, "excess sectors", |line| {
        line.l2_sectors_global - line.l2_sectors_global_ideal
    });
    let first = locations.first().and_then(|location| Some((location, launch.row(location)?)));
    let at_first = first.map(|(location, row)| {
        let (sectors, ideal) =
            (row.counters.l2_sectors_global, row.counters.l2_sectors_global_ideal);
        format!(
            " {} alone asks for {} sectors where {} would do ({}).",
            location.title(),
            count(sectors),
            count(ideal),
            ratio(sectors, ideal),
        )
    });
    let shifted = first.is_some_and(|(_, row)| {
        row.counters.l2_sectors_global < SHIFTED * row.counters.l2_sectors_global_ideal
    });
    let gathers = Gathers::of(launch);
    let layout = layout(launch, shifted, &gathers);
    let (mut effect, payer) = cost(launch, sectors, ideal, &gathers);
    let lanes = if layout.is_strided() { lanes_for_a_thread(launch) } else { Some(1.0) };
    let both = spread(launch, lanes.unwrap_or(1.0), &effect);
    let fills = both.is_some();
    let width = width_at(launch, locations.first());
    if let Some(both) = both {
        effect = both;
    }
    if let Layout::InPieces(pieces) = &layout {
        effect.removed.extend(merged(launch, pieces));
    }
    let starts = starts_of_a_tile(launch, &layout, lanes);
    if starts.is_some() {
        effect.removed.push((Term::BlockScheduler, 1.0 - 1.0 / OF_A_TILE));
    }
    if excess > MOSTLY_EXCESS * sectors {
        effect.wasted = vec![Term::L2, Term::L2Requests, Term::Dram];
    }
    let hint = hint(&locations, &layout, lanes, fills, width, sets_pace(launch))
        + if copies_a_sector_for_each_lane(launch) { TO_ONE_LINE } else { "" }
        + &starts.unwrap_or_default();
    Some(Draft {
        message: format!(
            "Global accesses ask for {} sectors where their addresses need {} ({}): {} ({}) are \
             excess.{} {payer}",
            count(sectors),
            count(ideal),
            ratio(sectors, ideal),
            count(excess),
            percent(excess / sectors),
            at_first.unwrap_or_default(),
        ),
        evidence: vec![
            Evidence::new(SECTORS, sectors, "sector"),
            Evidence::new(IDEAL, ideal, "sector"),
        ],
        hint: match in_triton(&layout).filter(|_| is_of_triton(launch.profile)) {
            Some(change) => begun(change, &hint),
            None => hint,
        },
        locations,
        effect,
    })
}

/// What a tile in shared memory also spares where lanes lie a sector apart or more, and starting blocks takes longer than anything
/// else: its threads take several elements.
fn starts_of_a_tile(launch: &ModeledLaunch, layout: &Layout, lanes: Option<f64>) -> Option<String> {
    let longest = launch.model.busiest().filter(|(term, _)| *term == Term::BlockScheduler);
    let is_strided = layout.is_strided() && lanes.is_none_or(|lanes| lanes <= 1.0);
    let (_, share) = longest.filter(|_| is_strided)?;
    // Lanes that lie closer together fetch for their neighbours as well.
    let (listing, most) = most_excess(launch)?;
    let counters = &listing.row(most).counters;
    if counters.l2_sectors_global < counters.thread_inst_executed {
        return None;
    }
    Some(format!(
        " Let each thread of a tile take {OF_A_TILE} elements or more: starting {} one after another takes {} of the time now, which dense \
         accesses alone would not change.",
        count_of(launch.get(GRID)?, "block"),
        percent(share),
    ))
}

/// Elements that a thread of a tile takes.
const OF_A_TILE: f64 = 4.0;

/// Excess sectors of accesses that need not happen at all: they load and store what a register could hold, which is another
/// rule's.
fn spared(launch: &ModeledLaunch) -> f64 {
    let Some((state, listing)) = KeptState::of(launch).zip(launch.profile.listing()) else {
        return 0.0;
    };
    let accesses = state.loads.iter().chain(&state.stores);
    accesses.map(|(&at, &gone)| gone * layout::excess(listing.row(at))).sum()
}

/// True where most of the excess belongs to loops that try a compare-and-swap in place of an atomic, which is another rule's: each
/// lane's attempt counts as a sector of its own, and lanes that try again drift apart.
fn is_of_swaps(launch: &ModeledLaunch, excess: f64) -> bool {
    let Some(listing) = launch.profile.listing() else { return false };
    let swaps = replaceable(&listing);
    let tried = swaps.iter().flat_map(|swap| swap.expected.iter().chain([&swap.at]));
    tried.map(|&at| layout::excess(listing.row(at))).sum::<f64>() > MOSTLY_EXCESS * excess
}

/// What goes of issue slots and load/store unit where one access takes the place of several pieces.
fn merged(launch: &ModeledLaunch, pieces: &Pieces) -> Vec<(Term, f64)> {
    let Some(mut removal) = Removal::new(launch) else { return Vec::new() };
    let gone = 1.0 - 1.0 / f64::from(pieces.of_one);
    pieces.accesses.iter().for_each(|&at| removal.remove(at, gone));
    let effect = removal.effect(launch);
    [Term::Issue, Term::Lsu].map(|term| (term, effect.share_of(term))).to_vec()
}

/// What else an asynchronous copy needs, so that lanes share sectors.
const TO_ONE_LINE: &str = " \
This is a copy to shared memory: lanes fetch a sector together only if they also write to the same line of 128 bytes there. If \
their addresses lie side by side already, let the pieces of a row change places within 64 or 128 bytes (swizzling), not lie rows apart.";

/// True where DRAM sets the pace.
fn sets_pace(launch: &ModeledLaunch) -> bool {
    launch.model.busiest().is_some_and(|(term, _)| term == Term::Dram)
}

fn has_excess(launch: &Launch) -> bool {
    launch.get(SECTORS).zip(launch.get(IDEAL)).is_some_and(|(sectors, ideal)| sectors > ideal)
}

fn has_excess_beside_local(launch: &Launch) -> bool {
    has_excess(launch) && local_memory::has_local(launch)
}

/// `8:1`, with a decimal where it is not whole.
fn ratio(actual: f64, ideal: f64) -> String {
    let ratio = actual / ideal.max(1.0);
    let whole = (ratio - ratio.round()).abs() < 0.05;
    if whole { format!("{ratio:.0}:1") } else { format!("{ratio:.1}:1") }
}
