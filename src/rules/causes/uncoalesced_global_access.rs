//! More sectors move between L1 and L2 than the warps' addresses need.

use crate::evidence::modeled_launch::place;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::export::SourceRow;
use crate::finding::{Evidence, Location};
use crate::frame::{Launch, Reads};
use crate::hardware::{SECTOR_BYTES, SECTORS_PER_LINE};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, Trial};
use crate::sass::questions::sharing::goes_by_values;
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
            what: "sectors over needed ones of lanes that are dense and begin in the middle of a \
               sector, so that the advice is to pad, less than",
            value: SHIFTED,
            unit: "",
            source: "derivation: 32 lanes of 4 bytes that begin in the middle of a sector touch 5 \
                 sectors for 4, and with every other element 8 for 4; 1.5 lies between",
        },
    ],
    needs: &[SECTORS, IDEAL],
    sharpened_by: &[
        Reads::only_where(has_excess, &[REQUESTS, SHARED, FROM_L1, READ, WRITTEN]),
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
    let (effect, payer) = cost(launch, sectors, ideal);
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
        hint: hint(&locations, layout(launch, shifted)),
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

fn layout(launch: &ModeledLaunch, shifted: bool) -> Layout {
    if shifted {
        return Layout::Shifted;
    }
    let gathered = launch.profile.listing().is_some_and(|listing| {
        let excess = |at: usize| {
            let counters = &listing.row(at).counters;
            counters.l2_sectors_global - counters.l2_sectors_global_ideal
        };
        let places = listing.entries().map(|(at, _)| at);
        let most = places.max_by(|&a, &b| excess(a).total_cmp(&excess(b)));
        most.is_some_and(|at| goes_by_values(&listing, at))
    });
    if gathered { Layout::Gathered } else { Layout::Strided }
}

/// The change: of rows that start in the middle of a sector and of gathers another one than of strides.
fn hint(locations: &[Location], layout: Layout) -> String {
    if layout == Layout::Gathered {
        return format!(
            "At {} each lane goes where a value that it loaded sends it, so that another order of the threads \
             changes nothing: sort or group the work by these values, gather whole elements of 16 or 32 bytes \
             and use each for several results, or store the data in the order in which it is read.",
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
    format!(
        "Let neighbouring lanes of a warp access neighbouring addresses at {}: give each warp a \
         row and let its lanes stride along it, or stage a tile through shared memory. The ideal \
         is one sector per 8 lanes of 4 bytes.",
        place(locations, "the access with the widest stride between lanes"),
    )
}

/// `8:1`, with a decimal where it is not whole.
fn ratio(actual: f64, ideal: f64) -> String {
    let ratio = actual / ideal.max(1.0);
    let whole = (ratio - ratio.round()).abs() < 0.05;
    if whole { format!("{ratio:.0}:1") } else { format!("{ratio:.1}:1") }
}

/// What goes with the excess, and a sentence on who pays for it now.
fn cost(launch: &ModeledLaunch, sectors: f64, ideal: f64) -> (Effect, String) {
    let mut removed = Vec::new();
    let mut payers = Vec::new();
    let mut tag_share = 0.0_f64;
    if let Some((share, tags, needed)) = l1_share(launch, ideal) {
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
        .map(|requests| (1.0 - ideal / SECTORS_PER_LINE / requests).clamp(0.0, 1.0))
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
            stalls: stalls(launch, request_share.max(tag_share)),
            ..Effect::default()
        },
        payer,
    )
}

/// A load returns with its last sector, and the lines that it touches are asked for one after another,
/// so waits shrink with the look-ups in L1 and the requests that L2 no longer sees: those for loads with
/// excess, those for a place in the queue that such accesses fill, and those of dense loads that find L1
/// busy with the look-ups of others, through which all of them go in turn.
fn stalls(launch: &ModeledLaunch, goes: f64) -> Vec<(StallReason, f64)> {
    if goes <= 0.0 {
        return Vec::new();
    }
    let excess = |row: &SourceRow| {
        let (sectors, ideal) =
            (row.counters.l2_sectors_global, row.counters.l2_sectors_global_ideal);
        sectors > ideal * (1.0 + LEAST_EXCESS)
    };
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
fn l1_share(launch: &ModeledLaunch, ideal_sectors: f64) -> Option<(f64, f64, f64)> {
    let launch = launch.profile;
    let rows: &[SourceRow] =
        if launch.instructions.is_empty() { &launch.lines } else { &launch.instructions };
    let by_row: f64 = rows.iter().map(|row| row.counters.l1_tag_requests_global).sum();
    let (tags, needed) = if by_row > 0.0 {
        (by_row, rows.iter().map(needed_tags).sum::<f64>())
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
    use crate::rules::testing::{assert_sides, check, launch, line, samples};

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
}
