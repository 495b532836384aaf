//! Many small global accesses where few wide ones would do.

mod neighbours;
mod waits;
mod words;

use foldhash::{HashMap, HashMapExt};

use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES, place};
use crate::evidence::products::begin_ahead;
use crate::evidence::removal::{
    ADDRESSING, ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations, matters,
};
use crate::evidence::threshold::{NOISE, NOISE_SOURCE};
use crate::evidence::vectors::{DENSE, NARROW, Once, divides, is_narrow};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::{SECTORS_PER_LINE, WAVEFRONT_BYTES_PER_LANE, WIDEST_ACCESS_BYTES};
use crate::model::thresholds::TENSOR_FULL;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::flow::slice;
use crate::sass::questions::matrix_loops::{StagedLoop, staged};
use crate::sass::questions::sharing::by_values_alone;
use crate::sass::{Family, Listing, Marks, Space};
use crate::term::Term;
use crate::text::{count, percent};
use neighbours::{UNALIGNED_SECTORS, pairs};
use waits::{Waits, leaves_schedulers_empty};
use words::{hint, said_of, starts};

/// Narrow accesses and what makes their addresses, of all executed instructions, from which they count.
const LEAST_NARROW: f64 = NOISE / 100.0;

/// L2's look-ups of tags, one for a request.
const L2_LOOK_UPS: &str = "lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed";

/// The rule.
pub const RULE: Rule = Rule {
    name: "narrow-global-access",
    kind: Kind::Cause,
    summary: "many small accesses where few wide ones would do",
    explanation: "\
A load or store instruction takes one slot of the scheduler and of the load/store unit whether its \
lanes move 1 byte or 16, and index arithmetic and loop control come on top. Where the lanes of a \
warp access neighbouring elements, a thread can take several at once as uchar4, float4 or int4: \
the same bytes with as few as a 16th of the instructions, and more bytes in flight per \
instruction. The rule looks at instructions that move 1, 2 or 4 bytes per lane and touch only the \
sectors that their bytes fill, and at what a thread would execute once for all elements of a vector: where addresses take \
loops over dimensions or conditions, they cost more than the accesses. L2 looks up one tag per request, so accesses of 1 or 2 bytes per \
lane bring it one or two sectors per look-up instead of four. DRAM moves the same bytes as before, \
so a kernel at DRAM's limit gains nothing. The address must be a multiple of the width.",
    examples: &[Example {
        fault: "\
if (i < n)
    negative[i] = 255 - image[i];         // one byte per lane",
        repair: "\
if (i < n / 4) {                          // four bytes per lane
    uchar4 p = reinterpret_cast<const uchar4 *>(image)[i];
    reinterpret_cast<uchar4 *>(negative)[i] =
        make_uchar4(255 - p.x, 255 - p.y, 255 - p.z, 255 - p.w);
}",
        note: "\
A quarter of the threads, loads and stores moves the same bytes; the rows must begin at a \
multiple of 4 bytes and n must be a multiple of 4.",
    }],
    section: "SourceCounters",
    thresholds: &[
        Threshold {
            what: "bytes per lane, at most",
            value: NARROW as f64,
            unit: "byte",
            source: "derivation: 4 bytes per lane fill one wavefront; the widest instruction moves \
                     16 in four",
        },
        Threshold {
            what: "sectors touched beyond those that the bytes would fill, relative to the latter, \
                   at most",
            value: DENSE,
            unit: "share",
            source: "derivation: 128 dense but unaligned bytes touch 5 sectors instead of 4",
        },
        Threshold {
            what: "sectors that an access to dense bytes touches beyond those that they fill, where a thread's neighbouring element is \
                   accessed beside it, at most",
            value: UNALIGNED_SECTORS,
            unit: "sector",
            source: "definition: bytes that begin within a sector end within another",
        },
        Threshold {
            what: "narrow accesses and what makes their addresses, share of all executed instructions, at least",
            value: LEAST_NARROW,
            unit: "share",
            source: NOISE_SOURCE,
        },
        MATTERS_LIMIT,
        ADDRESSING,
        TENSOR_FULL,
    ],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[Reads::always(Term::L2Requests.counters()), BLOCKS_AT_ONCE, WAVES],
    source_page: SourcePage::Needed,
    explains: &["lg-throttle", "long-scoreboard-stalls", "mio-throttle", "issue-slots-underused"],
    in_triton: "\
16 bytes per lane need pointers and strides that the compiler knows to be multiples of 16 \
(arguments divisible by 16, or tl.multiple_of), and a BLOCK of at least 16 bytes per thread: several rows per program where \
a row has less.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let mut narrow = dense_accesses(listing);
    let of_pair = of_pairs(listing, &mut narrow);
    let executed: f64 = narrow.iter().map(|at| listing.executed(at)).sum();
    if executed <= 0.0 {
        return None;
    }
    // Elements that a thread can take at once: the widest of the narrow accesses decides.
    let width = |index: usize| listing.sass.entries[index].width;
    let together = |index: usize| of_pair.get(&index).copied().unwrap_or(width(index));
    let widest = narrow.iter().map(together).max().unwrap_or(NARROW);
    let merged = 1.0 - f64::from(widest) / WIDEST_ACCESS_BYTES;
    if leaves_schedulers_empty(launch, merged) {
        return None;
    }
    let merged_at = |index: usize| {
        let of_both = f64::from(width(index)) / f64::from(together(index));
        1.0 - (1.0 - merged) * of_both
    };
    // Where the accesses alone are few, what goes with them may not be.
    let total = removal.mix.total;
    let is_few = executed / total < LEAST_NARROW;
    let starts_take_longest = starts_take_longest(launch);
    let once = goes_with(launch, &narrow);
    let beside_them = once.as_ref().map_or(0.0, |once| once.beside(listing));
    // Threads that exchange values elsewhere can still take a vector per turn of this loop.
    let beside = removal.beside(|index| narrow[index]);
    let work = slice::work(&listing);
    let of_beside = removal.addressing(&beside, |index| narrow[index]);
    let is_overhead = |&at: &usize| !work[at] && !narrow[at];
    let overhead: f64 = beside.iter().filter(is_overhead).map(|at| listing.executed(at)).sum();
    let with_them = beside_them.max(of_beside * overhead);
    if (executed + with_them) / total < LEAST_NARROW && !starts_take_longest {
        return None;
    }
    let is_few = is_few && once.is_some();
    if let Some(once) = &once {
        once.remove_from(&mut removal, merged);
    }
    let mut waits = Waits::new(launch, listing);
    for (index, entry) in listing.entries() {
        if narrow[index] {
            // A warp that waits for 128 bytes waits for what the machine is made to fetch at once: that
            // is another fault's, too few bytes in flight. Bytes and halves make more waits of it.
            if entry.width < NARROW && !waits.stay(index) {
                removal.remove_but_l1(index, merged_at(index));
            } else {
                removal.remove_but_latency(index, merged_at(index));
            }
            let full = f64::from(entry.width) / WAVEFRONT_BYTES_PER_LANE;
            removal.remove_wavefronts(index, (1.0 - full).max(0.0));
        } else if beside[index] && !work[index] {
            removal.remove_but_l1(index, merged * of_beside);
        }
    }
    // Operands that come through registers can be copied past them once 16 bytes move at a time.
    let staged = staged(&listing);
    let loops: Vec<&StagedLoop> =
        staged.iter().filter(|each| each.in_turn.iter().any(|&at| narrow[at])).collect();
    for &store in loops.iter().flat_map(|each| &each.stores) {
        removal.remove(store, 1.0);
    }
    let mut effect = removal.effect(launch);
    if !loops.is_empty() {
        begin_ahead(&mut effect, launch, listing, &loops, |at| narrow[at]);
    }
    effect
        .removed
        .extend(l2_share(launch, listing, &narrow).map(|share| (Term::L2Requests, share)));
    // A thread that takes several elements leaves fewer for other threads.
    effect.removed.push((Term::BlockScheduler, merged));
    // Four bytes are the usual width: they are a fault only where wider accesses give something now.
    let counts =
        if widest < NARROW && !is_few { matters(launch, &effect) } else { gains(launch, &effect) };
    if !counts {
        return None;
    }
    let weight = |index: usize| if narrow[index] { listing.executed(index) } else { 0.0 };
    let locations = locations(launch, listing, weight, "narrow accesses");
    let is_global =
        |family| matches!(family, Family::Load(Space::Global) | Family::Store(Space::Global));
    let all = removal.mix.sum(is_global);
    let elements = WIDEST_ACCESS_BYTES / f64::from(widest);
    let at = place(&locations, "the loop that reads and writes the arrays");
    Some(Draft {
        message: format!(
            "{} of {} global access instructions ({}) move at most {} per lane, at dense addresses: one \
             16-byte access would do the work of {}.{}{}",
            count(executed),
            count(all),
            percent(executed / all),
            crate::text::count_of(f64::from(widest), "byte"),
            count(elements),
            if is_few { said_of(beside_them, total) } else { String::new() },
            starts(launch),
        ),
        evidence: vec![
            Evidence::new("executed narrow global accesses", executed, "inst"),
            Evidence::new("executed global accesses", all, "inst"),
            Evidence::new("bytes per lane, widest of them", f64::from(widest), "byte"),
        ],
        hint: hint(elements, &at, [is_few, !of_pair.is_empty(), !loops.is_empty()]),
        locations,
        effect,
    })
}

/// The narrow accesses at dense addresses. In a table of few entries lanes are dense wherever values send them: no vector has what
/// they look up.
fn dense_accesses(listing: Listing) -> Marks {
    let mut narrow = Marks::of(listing.sass.entries.len(), |at| is_narrow(listing, at));
    let look_ups = by_values_alone(&listing, narrow.iter());
    for look_up in look_ups {
        narrow.remove(look_up);
    }
    narrow
}

/// The accesses to neighbouring elements of a thread, which become narrow ones, with the bytes of the one access that does for both.
fn of_pairs(listing: Listing, narrow: &mut Marks) -> HashMap<usize, u8> {
    let mut of_pair = HashMap::new();
    for pair in pairs(listing, narrow) {
        for at in pair.both {
            narrow.insert(at);
            of_pair.insert(at, pair.bytes);
        }
    }
    of_pair
}

/// What a thread would do once for all elements of a vector. Divisions have a rule of their own, but where block starts take
/// longest, only threads with more elements help.
fn goes_with(launch: &ModeledLaunch, narrow: &Marks) -> Option<Once> {
    let is_meant = starts_take_longest(launch) || !divides(launch);
    is_meant.then(|| Once::find(launch, narrow))?
}

fn starts_take_longest(launch: &ModeledLaunch) -> bool {
    launch.model.busiest().is_some_and(|(term, _)| term == Term::BlockScheduler)
}

/// What goes from L2: a look-up there serves up to four sectors of a line, but a narrow access brings
/// fewer. The share of its busiest port's time that wide accesses would not take, where the look-ups
/// are that port.
fn l2_share(launch: &ModeledLaunch, listing: Listing, narrow: &Marks) -> Option<f64> {
    let look_ups = launch.get(L2_LOOK_UPS)?;
    let others = Term::L2Requests.counters().iter().filter(|name| **name != L2_LOOK_UPS);
    let others = others.filter_map(|name| launch.get(name)).fold(0.0, f64::max);
    let (mut all, mut saved) = (0.0, 0.0);
    for (index, _) in listing.entries() {
        let counters = &listing.row(index).counters;
        all += counters.l1_tag_requests_global;
        if narrow[index] {
            let full = counters.l2_sectors_global / SECTORS_PER_LINE;
            saved += (counters.l1_tag_requests_global - full).max(0.0);
        }
    }
    let left = look_ups * (1.0 - saved / all.max(1.0));
    let share = 1.0 - left.max(others) / look_ups;
    (share > 0.0).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, sass};

    const LSU: &str = "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed";

    /// Ten loads of `width` bytes per lane that touch so many sectors each; 30 shared loads.
    fn loads(opcode: &str, sectors: f64) -> Launch {
        let load = format!("{opcode} R0, desc[UR6][R4.64]");
        let code = [(load.as_str(), 10.0), ("LDS R6, [R7]", 30.0), ("FADD R8, R0, R6", 60.0)];
        let mut launch = sass(&[(ISSUE_BUSY, 20.0), (LSU, 40.0)], &code);
        let counters = &mut launch.instructions[0].counters;
        counters.l2_sectors_global = 10.0 * sectors;
        counters.l1_tag_requests_global = 10.0;
        launch
    }

    #[test]
    fn floats_count_from_a_twentieth_of_the_time() {
        // 3 of 4 loads go: 7.5 of 40 requests. At 40% busy the time shrinks to 1 - 0.4 * 0.1875, until
        // the issue slots, which lose less, are the longest: 1 - 0.267 * 0.1875 is a twentieth.
        let draft = assert_sides(&RULE, &loads("LDG.E", 4.0), &[&[(LSU, 26.6)]]);
        assert!((draft.effect.share_of(Term::Lsu) - 0.1875).abs() < 1e-12);
        assert!(draft.effect.share_of(Term::L1Data).abs() < 1e-12, "the same bytes");
        assert!(draft.message.contains("at most 4 bytes per lane"), "{}", draft.message);
        assert_eq!(draft.locations[0].line, 1);
    }

    #[test]
    fn bytes_fill_a_quarter_of_their_wavefronts() {
        let draft = check(&RULE, &loads("LDG.E.U8", 1.0)).unwrap();
        assert!((draft.effect.share_of(Term::L1Data) - 0.75).abs() < 1e-12);
        assert!(draft.hint.contains("16 neighbouring elements"), "{}", draft.hint);
    }

    #[test]
    fn bytes_bring_l2_one_sector_a_look_up() {
        let mut launch = loads("LDG.E.U8", 1.0);
        launch.set(L2_LOOK_UPS, Some(80.0));
        let draft = check(&RULE, &launch).unwrap();
        assert!((draft.effect.share_of(Term::L2Requests) - 0.75).abs() < 1e-12);
        // The way from the SMs is the next to be full.
        launch.set("lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed", Some(60.0));
        let draft = check(&RULE, &launch).unwrap();
        assert!((draft.effect.share_of(Term::L2Requests) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn fewer_warps_wait_as_often_where_each_turn_needs_the_last_one() {
        // A loop that carries R9: as a recurrence, or as a counter.
        let waits = |carried: &'static str, waves: f64| {
            let code = [
                ("MOV R9, RZ", 10.0),
                ("LDG.E.U8 R0, desc[UR6][R4.64]", 400.0),
                (carried, 400.0),
                ("FADD R8, R0, R9", 400.0),
                ("@P0 BRA 0x110", 400.0),
                ("STG.E desc[UR6][R4.64], R9", 10.0),
                ("EXIT", 10.0),
            ];
            let at_once = ("launch__waves_per_multiprocessor", waves);
            let mut launch = sass(&[(ISSUE_BUSY, 20.0), (LSU, 40.0), at_once], &code);
            launch.instructions[1].counters.l2_sectors_global = 400.0;
            let long = crate::metric::stall::StallReason::LongScoreboard;
            launch.instructions[3].counters.stall_samples[long as usize] = 9.0;
            check(&RULE, &launch).unwrap().effect.share_of_stall(long)
        };
        let (recurrence, counter) = ("FFMA R9, R9, R9, R0", "IADD3 R9, R9, 0x1, RZ");
        assert!(waits(recurrence, 1.0).abs() < 1e-12);
        assert!((waits(recurrence, 1.1) - 0.9375).abs() < 1e-12, "a wave more goes");
        assert!((waits(counter, 1.0) - 0.9375).abs() < 1e-12, "the same thread's next turns");
    }

    #[test]
    fn a_few_accesses_among_much_arithmetic_are_not_meant() {
        let with = |additions: f64| {
            let mut launch = loads("LDG.E", 4.0);
            launch.set(LSU, Some(90.0));
            launch.instructions[2].counters.inst_executed = additions;
            check(&RULE, &launch).is_some()
        };
        assert!(with(160.0) && !with(161.0), "10 of 200 are a twentieth");
    }

    #[test]
    fn wide_scattered_and_broadcast_accesses_are_not_meant() {
        assert!(check(&RULE, &loads("LDG.E", 5.0)).is_some(), "dense but not aligned");
        assert_eq!(check(&RULE, &loads("LDG.E", 5.1)), None, "not dense");
        assert_eq!(check(&RULE, &loads("LDG.E", 1.0)), None, "all lanes the same");
        assert_eq!(check(&RULE, &loads("LDG.E.64", 8.0)), None, "wide");
    }
    #[test]
    fn accesses_whose_addresses_take_most_count_with_these() {
        let mut launch = loads("LDG.E.U8", 1.0);
        launch.instructions[2].counters.inst_executed = 900.0;
        assert_eq!(check(&RULE, &launch), None, "arithmetic");
        let step = ("S2R R4, SR_TID.X", 10.0);
        let load = [("IMAD.WIDE R4, R4, 0x1, RZ", 10.0), ("LDG.E.U8 R0, desc[UR6][R4.64]", 10.0)];
        let after = |first: (&'static str, f64)| {
            let mut launch =
                sass(&[(ISSUE_BUSY, 90.0)], &[&[first], &[step; 39][..], &load].concat());
            launch.instructions[41].counters.l2_sectors_global = 10.0;
            check(&RULE, &launch).unwrap()
        };
        assert!(after(step).message.contains("410 of 420 executed"));
        // Threads that exchange values lay out their elements for that, but what makes an address goes with the access.
        let share = after(("SHFL.BFLY PT, R9, R9, 0x1, 0x1f", 10.0)).effect.share_of(Term::Issue);
        assert!((share - 0.9375 * 10.0 * (1.0 + ADDRESSING.value) / 420.0).abs() < 1e-9, "{share}");
    }
}
