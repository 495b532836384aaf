//! Shared-memory accesses serialise on banks.

mod by_data;
mod hint;
mod tile;

use crate::evidence::bank_conflicts::{IDEAL, LEAST_EXCESS, WAVEFRONTS, wavefronts};
use crate::evidence::{Draft, ModeledLaunch, Threshold, uneven};
use crate::finding::{Evidence, Location};
use crate::frame::Reads;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, Trial};
use crate::sass::Instruction;
use crate::term::Term;
use crate::text::{count, percent};
use hint::hint;
use tile::SAME_WAVEFRONTS;

const SHARED: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
const TAGS: &str = "memory_l1_tag_requests_global";

/// The rule.
pub const RULE: Rule = Rule {
    name: "shared-bank-conflicts",
    kind: Kind::Cause,
    summary: "shared-memory accesses serialise on banks",
    explanation: "\
Shared memory has 32 banks of 4 bytes. Lanes of a warp that touch different words of one bank are \
served one after another, each in a wavefront of its own. The rule compares the wavefronts of \
each instruction with those that its accesses need at their width. It does not use the hardware's \
conflict counter, which also counts waiting for the pipe and so reports conflicts where there are \
none. Where lanes go down a column, pad the rows of the tile by one element; where they fall on \
several rows, by as many elements as lanes fall on each. A lane that moves 8 or 16 bytes at once \
needs a padding that is a multiple of these, and half or a quarter of the warp is served at a \
time. Permuting the index (XOR with the row, in units of what a lane moves) needs no padding; or \
let neighbouring lanes touch neighbouring words.",
    examples: &[Example {
        fault: "\
// a row of 8 distances per thread: lanes 0, 4, 8, … meet in one bank
__shared__ float near[128][8];
for (int k = 0; k < 8; ++k)
    near[t][k] = in[k * n + blockIdx.x * 128 + t];",
        repair: "\
// a column per thread: 32 lanes use 32 banks
__shared__ float near[8][128];
for (int k = 0; k < 8; ++k)
    near[k][t] = in[k * n + blockIdx.x * 128 + t];",
        note: "\
The array is laid out the other way round, so that a warp's access takes one wavefront instead \
of eight; every later access has its indices swapped as well.",
    }],
    section: "SourceCounters",
    thresholds: &[
        Threshold {
            what: "excess wavefronts, share of all shared-memory wavefronts, at least",
            value: LEAST_EXCESS,
            unit: "%",
            source: "ncu's SharedMemoryConflicts rule: 10% of the wavefronts",
        },
        SAME_WAVEFRONTS,
    ],
    needs: &[WAVEFRONTS, IDEAL],
    sharpened_by: &[Reads::always(&[SHARED, TAGS])],
    trials: &[Trial::Tunables],
    said_by_ncu: &[
        SaidByNcu::any("SharedMemoryConflicts", Acts::SHARED),
        SaidByNcu::any("UncoalescedSharedAccess", Acts::SHARED),
    ],
    explains: &[
        "short-scoreboard-stalls",
        "mio-throttle",
        "barrier-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
the compiler chooses the layout in shared memory: another shape of the tile, another \
num_warps, or tl.trans at another place changes it. A reduction inside a loop (tl.sum, tl.max) exchanges as much for a \
large tile as for a small one: take more rows or keys per iteration.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (wavefronts, ideal) = wavefronts(launch);
    let excess = wavefronts - ideal;
    if !(wavefronts > 0.0 && 100.0 * excess / wavefronts >= LEAST_EXCESS) {
        return None;
    }
    let locations = launch.profile.top_places(3, "excess wavefronts", |line| {
        line.wavefronts_shared - line.wavefronts_shared_ideal
    });
    let first = locations.first().and_then(|location| Some((location, launch.row(location)?)));
    let at_first = first.map(|(location, row)| {
        let counters = &row.counters;
        format!(
            " {} takes {} where {} would do, {:.1} for each that is needed.",
            location.title(),
            count(counters.wavefronts_shared),
            count(counters.wavefronts_shared_ideal),
            counters.wavefronts_shared / counters.wavefronts_shared_ideal.max(1.0),
        )
    });
    let barrier = locations.first().and_then(|location| behind_barrier(launch, location));
    // The data pipe also carries predicated-off shared accesses and global look-ups.
    let all = launch.get(SHARED).map_or(wavefronts, |shared| shared.max(wavefronts))
        + launch.get(TAGS).unwrap_or(0.0);
    let conflicting = excess / wavefronts;
    Some(Draft {
        message: format!(
            "Shared-memory accesses take {} wavefronts where {} would do: {} are due to bank \
             conflicts.{}{}",
            count(wavefronts),
            count(ideal),
            percent(conflicting),
            at_first.unwrap_or_default(),
            barrier.unwrap_or_default(),
        ),
        evidence: vec![
            Evidence::new(WAVEFRONTS, wavefronts, "wavefront"),
            Evidence::new(IDEAL, ideal, "wavefront"),
        ],
        hint: hint(launch, &locations),
        locations,
        effect: Effect {
            removed: vec![(Term::L1Data, excess / all)],
            stalls: vec![
                (StallReason::ShortScoreboard, conflicting),
                (StallReason::MioThrottle, conflicting),
            ],
            least: launch.profile.listing().map_or(0.0, |listing| {
                let excess = |at: usize| {
                    let counters = &listing.row(at).counters;
                    counters.wavefronts_shared - counters.wavefronts_shared_ideal
                };
                uneven::stays(launch, &listing, excess)
            }),
            ..Effect::default()
        },
    })
}

/// A sentence about a line that has a barrier as well: the compiler lists what follows a barrier under the barrier's
/// line.
fn behind_barrier(launch: &ModeledLaunch, location: &Location) -> Option<String> {
    let listing = launch.profile.listing()?;
    let is_barrier = |at: usize| {
        let base = Instruction::base_of(listing.text(at));
        base.is_some_and(|base| matches!(base, "BAR" | "WARPSYNC"))
    };
    let mut there =
        listing.entries().filter(|(at, _)| launch.profile.is_at(listing.row(*at), location));
    there.any(|(at, _)| is_barrier(at)).then(|| {
        format!(
            " {} has a barrier, and the compiler may list there what follows it: look for the accesses in the \
             statements behind it, too.",
            location.title()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::SourceCounters;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, launch, line, sass};

    #[test]
    fn a_tenth_of_excess_wavefronts_counts() {
        let conflicts = launch(&[(WAVEFRONTS, 100.0), (IDEAL, 90.0)]);
        let draft = assert_sides(&RULE, &conflicts, &[&[(IDEAL, 90.1)], &[(WAVEFRONTS, 0.0)]]);
        assert!((draft.effect.share_of(Term::L1Data) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn narrow_blocks_need_another_padding() {
        let hint = |block: [u32; 3]| {
            let mut launch = launch(&[(WAVEFRONTS, 100.0), (IDEAL, 50.0)]);
            launch.row.block = block;
            check(&RULE, &launch).unwrap().hint
        };
        for narrow in [[16, 4, 1], [8, 1, 32]] {
            let hint = hint(narrow);
            let words = format!("{} words longer than a multiple of 32", narrow[0]);
            assert!(hint.contains(&words) && !hint.contains("by one element"), "{hint}");
        }
        for wide in [[32, 8, 1], [256, 1, 1], [16, 1, 1], [24, 8, 1]] {
            assert!(hint(wide).contains("by one element"), "{wide:?}");
        }
    }

    #[test]
    fn the_pipe_shrinks_by_the_excess_of_all_it_carries() {
        let mut conflicts = launch(&[(WAVEFRONTS, 320.0), (IDEAL, 10.0)]);
        conflicts.set("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", Some(400.0));
        conflicts.set("memory_l1_tag_requests_global", Some(220.0));
        let counters = SourceCounters {
            wavefronts_shared: 320.0,
            wavefronts_shared_ideal: 10.0,
            ..SourceCounters::default()
        };
        conflicts.lines = vec![line(12, "t[x][y] = v;", counters)];
        let draft = check(&RULE, &conflicts).unwrap();
        assert!((draft.effect.share_of(Term::L1Data) - 0.5).abs() < 1e-12);
        assert!(
            draft.message.contains("Line 12 takes 320 where 10") && draft.hint.contains("line 12")
        );
    }

    /// A column of rows 512 bytes apart, as each of 32 lanes reads it by this instruction, with so many wavefronts.
    fn column(access: &str, shift: &'static str, wavefronts: f64) -> Draft {
        let code = [("S2R R2, SR_TID.X", 10.0), (shift, 10.0), (access, 10.0), ("EXIT", 10.0)];
        let mut launch = sass(&[(WAVEFRONTS, 10.0 * wavefronts), (IDEAL, 10.0)], &code);
        launch.row.block = [32, 1, 1];
        launch.instructions[2].counters.wavefronts_shared = 10.0 * wavefronts;
        check(&RULE, &launch).unwrap()
    }

    #[test]
    fn the_padding_is_a_multiple_of_the_accesss_width() {
        let shift = "SHF.L.U32 R4, R2, 0x9, RZ";
        for (access, padding) in [
            ("LDS R8, [R4]", "make each row 4 bytes longer"),
            ("LDS.64 R8, [R4]", "make each row 8 bytes longer"),
            ("LDS.128 R8, [R4]", "make each row 16 bytes longer"),
        ] {
            let hint = column(access, shift, 32.0).hint;
            assert!(hint.contains(padding) && hint.contains("rows are 512 bytes"), "{hint}");
            let other = column(access, shift, 24.0).hint;
            assert!(other.contains("where the lanes go down a column"), "{other}");
        }
        let unknown = column("LDS.128 R8, [R4]", "PRMT R4, R9, 0x7632, R9", 32.0).hint;
        assert!(unknown.contains("by 16 bytes") && unknown.contains("8 lanes are"), "{unknown}");
    }

    /// An access whose index each lane loads, beside its thread's part, with 3.5 wavefronts.
    fn by_data(index: &'static str, access: &'static str) -> String {
        let code = [
            ("S2R R2, SR_TID.X", 10.0),
            ("IMAD.WIDE.U32 R6, R2, 0x4, R4", 10.0),
            ("LDG.E R8, desc[UR4][R6.64]", 10.0),
            ("LOP3.LUT R9, R8, 0x7c, RZ, 0xc0, !PT", 10.0),
            (index, 10.0),
            (access, 10.0),
            ("EXIT", 10.0),
        ];
        let mut launch = sass(&[(WAVEFRONTS, 35.0), (IDEAL, 10.0)], &code);
        launch.row.block = [128, 1, 1];
        launch.instructions[5].counters.wavefronts_shared = 35.0;
        check(&RULE, &launch).unwrap().hint
    }

    #[test]
    fn where_loaded_values_choose_the_bank_no_padding_is_named() {
        let own = by_data("IMAD R10, R2, 0x80, R9", "LDS R11, [R10]");
        assert!(own.contains("let the thread's index vary fastest"), "{own}");
        assert!(own.contains("instead of thread * 32 + element"), "{own}");
        let table = by_data("IMAD R10, R9, 0x4, RZ", "LDS R11, [R10]");
        assert!(table.contains("several copies of the table"), "{table}");
        let scatter = by_data("IMAD R10, R9, 0x4, RZ", "STS [R10], R3");
        assert!(scatter.contains("where it writes"), "{scatter}");
        for hint in [own, table, scatter] {
            assert!(hint.contains("padding or XOR would change nothing"), "{hint}");
        }
        let side_by_side = by_data("IMAD R10, R2, 0x4, R9", "LDS R11, [R10]");
        assert!(side_by_side.contains("down a column"), "{side_by_side}");
    }

    #[test]
    fn a_distance_that_doubles_asks_for_another_order_and_not_for_padding() {
        let code = [
            ("S2R R2, SR_TID.X", 10.0),
            ("MOV R5, 0x4", 10.0),
            ("IMAD R4, R2, R5, RZ", 80.0),
            ("LDS R8, [R4]", 80.0),
            ("IMAD.SHL.U32 R5, R5, 0x2, RZ", 80.0),
            ("ISETP.LE.U32.AND P1, PT, R5, c[0x0][0x0], PT", 80.0),
            ("@P1 BRA 0x120", 80.0),
            ("EXIT", 10.0),
        ];
        let mut launch = sass(&[(WAVEFRONTS, 320.0), (IDEAL, 80.0)], &code);
        launch.row.block = [256, 1, 1];
        launch.instructions[3].counters.wavefronts_shared = 320.0;
        let hint = check(&RULE, &launch).unwrap().hint;
        assert!(
            hint.contains("no padding fits all of them: let neighbouring lanes take"),
            "{hint}"
        );
    }

    #[test]
    fn an_access_may_be_listed_under_the_barrier_before_it() {
        let code = [("BAR.SYNC.DEFER_BLOCKING 0x0", 10.0), ("LDS R8, [R4]", 10.0), ("EXIT", 10.0)];
        let mut launch = sass(&[(WAVEFRONTS, 100.0), (IDEAL, 10.0)], &code);
        let counters = SourceCounters { wavefronts_shared: 100.0, ..SourceCounters::default() };
        launch.lines = vec![line(7, "__syncthreads();", counters)];
        let of = |barriers: u32, launch: &mut Launch| {
            let file = launch.lines[0].file.clone();
            for (at, line) in [(0, barriers), (1, 7)] {
                launch.instructions[at].line = Some(line);
                launch.instructions[at].file = file.clone();
            }
            check(&RULE, launch).unwrap().message.contains("Line 7 has a barrier")
        };
        assert!(of(7, &mut launch) && !of(6, &mut launch));
    }
}
