//! More sectors move between L1 and L2 than the warps' addresses need.

use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, GRID, SMS, place};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::export::SourceRow;
use crate::finding::{Evidence, LEAST_GAIN, Location};
use crate::frame::{Launch, Reads};
use crate::hardware::{SECTOR_BYTES, SECTORS_PER_LINE, WARP_LANES};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, Trial};
use crate::sass::Listing;
use crate::sass::questions::independence::turns_for_lanes;
use crate::sass::questions::sharing::sent_by_values;
use crate::term::Term;
use crate::text::{count, percent};

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
tile through shared memory, or change the layout.",
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
            what: "sectors touched over sectors needed by dense lanes that begin in the middle of a sector, \
                   for the advice to be padding, less than",
            value: SHIFTED,
            unit: "",
            source: "derivation: 32 lanes of 4 bytes that begin in the middle of a sector touch 5 \
                 sectors for 4, and with every other element 8 for 4; 1.5 lies between",
        },
    ],
    needs: &[SECTORS, IDEAL],
    sharpened_by: &[
        Reads::only_where(has_excess, &[REQUESTS, SHARED, FROM_L1, READ, WRITTEN]),
        BLOCKS_AT_ONCE,
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
    if !(sectors > 0.0 && excess / sectors >= LEAST_EXCESS) {
        return None;
    }
    let locations = launch.profile.top_lines(3, "excess sectors", |line| {
        line.l2_sectors_global - line.l2_sectors_global_ideal
    });
    let at_line = locations.first().and_then(|location| launch.row(location)).map(|row| {
        let (sectors, ideal) =
            (row.counters.l2_sectors_global, row.counters.l2_sectors_global_ideal);
        format!(
            " Line {} alone asks for {} sectors where {} would do ({}).",
            row.line.unwrap_or_default(),
            count(sectors),
            count(ideal),
            ratio(sectors, ideal),
        )
    });
    let first = locations.first().and_then(|location| launch.row(location));
    let shifted = first.is_some_and(|row| {
        row.counters.l2_sectors_global < SHIFTED * row.counters.l2_sectors_global_ideal
    });
    let gathers = Gathers::of(launch);
    let layout = layout(launch, shifted, &gathers);
    let (mut effect, payer) = cost(launch, sectors, ideal, &gathers);
    let lanes = if layout == Layout::Strided { lanes_for_a_thread(launch) } else { Some(1.0) };
    let both = spread(launch, lanes.unwrap_or(1.0), &effect);
    let fills = both.is_some();
    if let Some(both) = both {
        effect = both;
    }
    Some(Draft {
        message: format!(
            "Global accesses ask for {} sectors where their addresses need {} ({}): {} ({}) are \
             excess.{} {payer}",
            count(sectors),
            count(ideal),
            ratio(sectors, ideal),
            count(excess),
            percent(excess / sectors),
            at_line.unwrap_or_default(),
        ),
        evidence: vec![
            Evidence::new(SECTORS, sectors, "sector"),
            Evidence::new(IDEAL, ideal, "sector"),
        ],
        hint: hint(&locations, layout, lanes, fills),
        locations,
        effect,
    })
}

fn has_excess(launch: &Launch) -> bool {
    launch.get(SECTORS).zip(launch.get(IDEAL)).is_some_and(|(sectors, ideal)| sectors > ideal)
}

/// How the lanes of the access with most excess lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Apart, by a stride.
    Strided,
    /// Side by side, from the middle of a sector on.
    Shifted,
    /// Where loaded values send them.
    Gathered,
}

fn layout(launch: &ModeledLaunch, shifted: bool, gathers: &Gathers) -> Layout {
    if shifted {
        return Layout::Shifted;
    }
    let gathered =
        most_excess(launch).is_some_and(|(listing, most)| gathers.has(listing.row(most)));
    if gathered { Layout::Gathered } else { Layout::Strided }
}

/// Sectors beyond those that dense addresses would need.
fn excess(row: &SourceRow) -> f64 {
    (row.counters.l2_sectors_global - row.counters.l2_sectors_global_ideal).max(0.0)
}

/// The accesses with excess whose lanes go where loaded values send them, by their addresses: no other order
/// of the lanes makes them dense.
struct Gathers(Vec<u64>);

impl Gathers {
    fn of(launch: &ModeledLaunch) -> Self {
        let Some(listing) = launch.profile.listing() else { return Self(Vec::new()) };
        let gathers = sent_by_values(
            &listing,
            |at| is_wide(listing.row(at)),
            |at| !is_apart(listing.row(at)),
        );
        Self(gathers.into_iter().filter_map(|at| listing.row(at).address).collect())
    }

    fn has(&self, row: &SourceRow) -> bool {
        row.address.is_some_and(|address| self.0.contains(&address))
    }
}

/// True where an access asks for more sectors than its addresses need.
fn is_wide(row: &SourceRow) -> bool {
    let (sectors, ideal) = (row.counters.l2_sectors_global, row.counters.l2_sectors_global_ideal);
    sectors > ideal * (1.0 + LEAST_EXCESS)
}

/// True where each lane of an access has a sector of its own: lanes are a row apart.
fn is_apart(row: &SourceRow) -> bool {
    let lanes = row.counters.thread_inst_executed_pred_on;
    row.counters.l2_sectors_global >= lanes * (1.0 - LEAST_EXCESS)
}

/// The access with most excess sectors, in its listing; `None` without SASS.
fn most_excess<'a>(launch: &ModeledLaunch<'a>) -> Option<(Listing<'a>, usize)> {
    let listing = launch.profile.listing()?;
    let places = listing.entries().map(|(at, _)| at);
    let most = places.max_by(|&a, &b| excess(listing.row(a)).total_cmp(&excess(listing.row(b))))?;
    Some((listing, most))
}

/// How many lanes could share what one thread does now at the access with most excess, at most a warp's: the
/// turns of its loop, where none needs another's value. `None` where the code is not known.
fn lanes_for_a_thread(launch: &ModeledLaunch) -> Option<f64> {
    let (listing, most) = most_excess(launch)?;
    Some(turns_for_lanes(&listing, most).min(WARP_LANES))
}

/// Rows that are given to several lanes each bring as many times the warps into play: SMs that have none now
/// get work, and below one wave the others get more to hide latency with. `None` where that alone is worth more
/// than dense accesses: then the grid is the fault, which has a rule of its own.
fn spread(launch: &ModeledLaunch, lanes: f64, dense: &Effect) -> Option<Effect> {
    if lanes <= 1.0 {
        return None;
    }
    let at_work = 1.0 - launch.model.idle();
    let each = launch.blocks_per_sm().unwrap_or(1.0).max(1.0);
    let on_an_sm = launch.get(GRID)? / launch.get(SMS)?;
    let now = on_an_sm.clamp(1.0, each);
    let then = (on_an_sm * lanes).clamp(now, each);
    let warps = Effect {
        idle: (at_work * lanes).min(1.0) - at_work,
        hidden: 1.0 - now / then,
        ..Effect::default()
    };
    let gain = |effect: &Effect| launch.model.without(effect).map_or(1.0, |gain| gain.factor);
    let byproduct = gain(&warps) >= LEAST_GAIN && gain(dense) > gain(&warps);
    byproduct.then(|| Effect {
        idle: warps.idle,
        hidden: warps.hidden,
        at_least: Some(Box::new(dense.clone())),
        ..dense.clone()
    })
}

/// The change: of rows that start in the middle of a sector and of gathers another one than of strides.
fn hint(locations: &[Location], layout: Layout, lanes: Option<f64>, fills: bool) -> String {
    if layout == Layout::Gathered {
        return format!(
            "At {} each lane's address comes from a value that it loaded, so reordering the threads changes \
             nothing: sort or group the work by these values, gather whole elements of 16 or 32 bytes and use \
             each for several results, or store the data in the order in which it is read.",
            place(locations, "the hottest access"),
        );
    }
    if layout == Layout::Shifted {
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
    let how = if lanes <= 1.0 {
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
        "Let neighbouring lanes of a warp access neighbouring addresses at {at}: {how}. The ideal is one \
         sector per 8 lanes of 4 bytes."
    )
}

/// `8:1`, with a decimal where it is not whole.
fn ratio(actual: f64, ideal: f64) -> String {
    let ratio = actual / ideal.max(1.0);
    let whole = (ratio - ratio.round()).abs() < 0.05;
    if whole { format!("{ratio:.0}:1") } else { format!("{ratio:.1}:1") }
}

/// What goes with the excess, and a sentence on who pays for it now.
fn cost(launch: &ModeledLaunch, sectors: f64, ideal: f64, gathers: &Gathers) -> (Effect, String) {
    let of_gathers = |counter: fn(&SourceRow) -> f64| -> f64 {
        let rows = launch.profile.instructions.iter().filter(|row| gathers.has(row));
        rows.map(counter).sum()
    };
    // No other order of the lanes makes a gather dense.
    let gathered = of_gathers(|row| row.counters.l2_sectors_global);
    let dense = (ideal - of_gathers(|row| row.counters.l2_sectors_global_ideal)).max(0.0);
    let ideal = (dense + gathered).min(sectors).max(ideal);
    let mut removed = Vec::new();
    let mut payers = Vec::new();
    let mut tag_share = 0.0_f64;
    if let Some((share, tags, needed)) = l1_share(launch, ideal, gathers) {
        tag_share = (1.0 - needed / tags.max(1.0)).clamp(0.0, 1.0);
        removed.push((Term::L1Data, share));
        if share > 0.0 {
            payers.push(format!(
                "L1 looks up {} lines instead of {}, and the excess is {} of its data pipe's work",
                count(tags),
                count(needed),
                percent(share),
            ));
        }
    }
    // Excess that L1 serves from its own lines never reaches L2, nor DRAM behind it.
    let from_l1 = launch.get(FROM_L1);
    let l2_share = from_l1.map_or(1.0 - ideal / sectors, |seen| (1.0 - ideal / seen).max(0.0));
    if l2_share > 0.0 {
        // Sectors that cross between the halves of L2 go with those that L1 asks for.
        removed.push((Term::L2, l2_share));
        // DRAM moves excess at least where it moves more than all addresses need; what lies below
        // that may as well be data fetched once, its excess hits in L2.
        let moved = launch.get(READ).zip(launch.get(WRITTEN));
        let dram_share = moved
            .map(|(read, written)| read + written)
            .filter(|&moved| moved > 0.0)
            .map_or(l2_share, |moved| (1.0 - SECTOR_BYTES * ideal / moved).clamp(0.0, l2_share));
        removed.push((Term::Dram, dram_share));
    }
    // A dense request brings its sectors four at a time.
    let requests = launch.get(REQUESTS).filter(|&requests| requests > 0.0);
    let request_share = requests
        .map(|requests| (1.0 - (dense / SECTORS_PER_LINE + gathered) / requests).clamp(0.0, 1.0))
        .filter(|_| l2_share >= LEAST_EXCESS)
        .unwrap_or(l2_share);
    if request_share > 0.0 {
        removed.push((Term::L2Requests, request_share));
    }
    let l2_pays = l2_share >= LEAST_EXCESS;
    if l2_pays {
        payers.push(format!("{} of what L1 asks of L2 is excess", percent(l2_share)));
    }
    let payer = match (payers.is_empty(), l2_pays) {
        (true, _) => "L1 holds the excess: it costs little.".to_owned(),
        (false, true) => format!("The cost: {}.", payers.join("; ")),
        (false, false) => format!("The cost is in L1, not L2: {}.", payers.join("; ")),
    };
    (
        Effect {
            removed,
            stalls: stalls(launch, request_share.max(tag_share), gathers),
            ..Effect::default()
        },
        payer,
    )
}

/// A load returns with its last sector, and the lines that it touches are asked for one after another,
/// so waits shrink with the look-ups in L1 and the requests that L2 no longer sees: those for loads with
/// excess, those for a place in the queue that such accesses fill, and those of dense loads that find L1
/// busy with the look-ups of others, through which all of them go in turn.
fn stalls(launch: &ModeledLaunch, goes: f64, gathers: &Gathers) -> Vec<(StallReason, f64)> {
    if goes <= 0.0 {
        return Vec::new();
    }
    let excess = |row: &SourceRow| is_wide(row) && !gathers.has(row);
    let waits = match launch.profile.listing() {
        Some(listing) => {
            let waits = listing.blame(StallReason::LongScoreboard);
            let all: f64 = waits.iter().map(|wait| wait.samples).sum();
            let theirs = waits.iter().filter(|wait| excess(wait.producer));
            let theirs: f64 = theirs.map(|wait| wait.samples).sum();
            if all > 0.0 { theirs / all } else { 0.0 }
        }
        None => launch.stall_on(StallReason::LongScoreboard, excess),
    };
    let queue = launch.model.utilization(Term::L1Data).unwrap_or(0.0);
    vec![
        (StallReason::LongScoreboard, goes * (waits + (1.0 - waits) * queue)),
        (StallReason::LgThrottle, goes),
        (StallReason::Drain, goes),
    ]
}

/// The share of the L1 data pipe's wavefronts that dense addresses would not need, the tag look-ups
/// now, and those needed. The pipe takes a wavefront for every line that a request touches, and
/// every shared-memory wavefront.
fn l1_share(
    launch: &ModeledLaunch,
    ideal_sectors: f64,
    gathers: &Gathers,
) -> Option<(f64, f64, f64)> {
    let launch = launch.profile;
    let rows: &[SourceRow] =
        if launch.instructions.is_empty() { &launch.lines } else { &launch.instructions };
    let by_row: f64 = rows.iter().map(|row| row.counters.l1_tag_requests_global).sum();
    let (tags, needed) = if by_row > 0.0 {
        let needed = |row: &SourceRow| {
            if gathers.has(row) { row.counters.l1_tag_requests_global } else { needed_tags(row) }
        };
        (by_row, rows.iter().map(needed).sum::<f64>())
    } else {
        let tags = launch.get(TAGS)?;
        (tags, (ideal_sectors / SECTORS_PER_LINE).min(tags))
    };
    let all = tags + launch.get(SHARED).unwrap_or(0.0);
    (all > 0.0).then(|| (((tags - needed) / all).clamp(0.0, 1.0), tags, needed))
}

/// Look-ups that a row's requests need at least: one per request, and one per four dense sectors.
fn needed_tags(row: &SourceRow) -> f64 {
    let counters = &row.counters;
    let dense = counters.l2_sectors_global_ideal / SECTORS_PER_LINE;
    // A line's instruction count includes arithmetic; only an instruction's own is its requests.
    let requests = if row.is_instruction() { counters.inst_executed } else { 0.0 };
    dense.max(requests).min(counters.l1_tag_requests_global)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::SourceCounters;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, launch, line, samples, sass};

    /// Two thirds of the pipe's wavefronts are tags, one third shared memory.
    const STRIDED: &[(&str, f64)] =
        &[(SECTORS, 800.0), (IDEAL, 100.0), (TAGS, 800.0), (SHARED, 400.0)];

    #[test]
    fn excess_counts_from_a_twentieth() {
        let strided = launch(STRIDED);
        let draft =
            assert_sides(&RULE, &strided, &[&[(IDEAL, 761.0)], &[(SECTORS, 0.0), (IDEAL, 0.0)]]);
        assert!(draft.message.contains("(8:1)") && draft.message.contains("700 (88%)"));
        // 800 tags where 25 would do, of 1200 wavefronts.
        assert!((draft.effect.share_of(Term::L1Data) - 775.0 / 1200.0).abs() < 1e-12);
        assert!(
            (draft.effect.share_of(Term::L2) - 0.875).abs() < 1e-12,
            "no L1 counts: L2 pays too"
        );
    }

    #[test]
    fn excess_that_l1_holds_costs_l2_nothing() {
        let mut strided = launch(STRIDED);
        strided.set("lts__t_sectors_srcunit_tex.sum", Some(90.0));
        let draft = check(&RULE, &strided).unwrap();
        assert!(draft.effect.share_of(Term::L2).abs() < 1e-12);
        assert!(draft.message.contains("in L1, not L2"), "{}", draft.message);
    }

    #[test]
    fn the_line_with_most_excess_is_named_and_its_tags_counted() {
        let mut strided = launch(STRIDED);
        let counters = |sectors, ideal, tags| SourceCounters {
            l2_sectors_global: sectors,
            l2_sectors_global_ideal: ideal,
            l1_tag_requests_global: tags,
            ..SourceCounters::default()
        };
        strided.lines = vec![
            line(4, "s = a[i];", counters(40.0, 40.0, 10.0)),
            line(9, "v += in[k];", counters(760.0, 60.0, 760.0)),
        ];
        let draft = check(&RULE, &strided).unwrap();
        assert_eq!((draft.locations.len(), draft.locations[0].line), (1, 9));
        assert!(draft.hint.contains("line 9"), "{}", draft.hint);
        // 770 tags, 10 + 15 needed, 400 shared wavefronts.
        assert!((draft.effect.share_of(Term::L1Data) - 745.0 / 1170.0).abs() < 1e-12);
    }

    #[test]
    fn dense_loads_queue_behind_those_with_excess() {
        let mut strided = launch(STRIDED);
        strided
            .set("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", Some(60.0));
        let counters = |sectors, tags| SourceCounters {
            l2_sectors_global: sectors,
            l2_sectors_global_ideal: 40.0,
            l1_tag_requests_global: tags,
            ..samples(&[(StallReason::LongScoreboard, 5.0)])
        };
        strided.lines = vec![
            line(4, "s = a[i];", counters(40.0, 10.0)),
            line(9, "v += in[k];", counters(760.0, 760.0)),
        ];
        let effect = check(&RULE, &strided).unwrap().effect;
        // Half of the waits are the strided load's own; the other half finds L1 busy 60% of the time.
        let share = effect.share_of_stall(StallReason::LongScoreboard)
            / effect.share_of_stall(StallReason::LgThrottle);
        assert!((share - (0.5 + 0.5 * 0.6)).abs() < 1e-12, "{share}");
    }

    #[test]
    fn dense_lanes_that_begin_within_a_sector_are_told_so() {
        let mut shifted = launch(STRIDED);
        let counters = |sectors| SourceCounters {
            l2_sectors_global: sectors,
            l2_sectors_global_ideal: 400.0,
            ..SourceCounters::default()
        };
        shifted.lines = vec![line(9, "v += in[k];", counters(599.0))];
        assert!(check(&RULE, &shifted).unwrap().hint.contains("in the middle of a sector"));
        shifted.lines = vec![line(9, "v += in[k];", counters(600.0))];
        assert!(check(&RULE, &shifted).unwrap().hint.contains("give each warp a row"));
    }

    /// A thread per row: of each access 32 lanes of 4 bytes touch so many sectors. The first quarter of the
    /// SMs' time is all that they have warps for.
    fn rows(body: [(&str, f64); 2], sectors: [f64; 2]) -> Launch {
        let next = [
            ("IADD3 R2, R2, 0x4, RZ", 40.0),
            ("ISETP.NE.AND P0, PT, R2, R9, PT", 40.0),
            ("@P0 BRA 0x110", 40.0),
            ("EXIT", 1.0),
        ];
        let code: Vec<_> =
            [("S2R R2, SR_TID.X", 1.0)].into_iter().chain(body).chain(next).collect();
        let metrics = [
            (SECTORS, 40.0 * (sectors[0] + sectors[1])),
            (IDEAL, 40.0 * 8.0),
            (GRID, 33.0),
            (SMS, 132.0),
            ("sm__cycles_active.avg", 25.0),
            ("sm__cycles_elapsed.max", 100.0),
            ("lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed", 25.0),
        ];
        let mut launch = sass(&metrics, &code);
        for (at, sectors) in [1, 2].into_iter().zip(sectors) {
            let counters = &mut launch.instructions[at].counters;
            counters.l2_sectors_global = 40.0 * sectors;
            counters.l2_sectors_global_ideal = 40.0 * 4.0;
            counters.l1_tag_requests_global = 40.0 * if sectors > 4.0 { sectors } else { 1.0 };
            counters.thread_inst_executed_pred_on = 40.0 * 32.0;
        }
        launch
    }

    const LOAD: (&str, f64) = ("LDG.E R4, desc[UR4][R2.64]", 40.0);
    const GATHER: (&str, f64) = ("LDG.E R6, desc[UR4][R4.64]", 40.0);

    #[test]
    fn rows_for_warps_fill_a_device_that_rows_for_threads_leave_idle() {
        let sums = check(&RULE, &rows([LOAD, ("FADD R0, R0, R4", 40.0)], [32.0, 4.0])).unwrap();
        assert!((sums.effect.idle - 0.75).abs() < 1e-12);
        assert!(sums.hint.contains("32 times as many warps"), "{}", sums.hint);
        let dense = sums.effect.at_least.unwrap();
        assert!(dense.idle.abs() < 1e-12 && dense.removed == sums.effect.removed);
        let walk = check(&RULE, &rows([LOAD, ("FMUL R0, R0, R4", 40.0)], [32.0, 4.0])).unwrap();
        assert!(walk.effect.idle.abs() < 1e-12, "each turn needs the one before");
        assert!(!walk.hint.contains("give each warp a row"), "{}", walk.hint);
    }

    #[test]
    fn no_order_of_the_lanes_makes_a_gather_dense() {
        let by_values = rows([LOAD, GATHER], [4.0, 32.0]);
        let draft = check(&RULE, &by_values).unwrap();
        assert!(draft.hint.contains("address comes from a value that it loaded"), "{}", draft.hint);
        assert!(draft.effect.removed.iter().all(|(_, share)| *share < 1e-12), "{draft:?}");
        // Where the values themselves are a row apart, other lanes go elsewhere.
        let draft = check(&RULE, &rows([LOAD, GATHER], [32.0, 32.0])).unwrap();
        assert!((draft.effect.share_of(Term::L2) - 0.875).abs() < 1e-12, "{draft:?}");
    }
}
