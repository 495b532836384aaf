//! Shared-memory accesses serialise on banks.

use crate::evidence::bank_conflicts::{IDEAL, LEAST_EXCESS, WAVEFRONTS, wavefronts};
use crate::evidence::modeled_launch::place;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::WARP_LANES;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, Trial};
use crate::term::Term;
use crate::text::{count, percent};

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
none. Pad the rows of a tile by one element, permute the index (XOR with the row), or let \
neighbouring lanes touch neighbouring words.",
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
    thresholds: &[Threshold {
        what: "excess wavefronts, share of all shared-memory wavefronts, at least",
        value: LEAST_EXCESS,
        unit: "%",
        source: "ncu's SharedMemoryConflicts rule: 10% of the wavefronts",
    }],
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
num_warps, or tl.trans at another place changes it.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (wavefronts, ideal) = wavefronts(launch);
    let excess = wavefronts - ideal;
    if !(wavefronts > 0.0 && 100.0 * excess / wavefronts >= LEAST_EXCESS) {
        return None;
    }
    let locations = launch.profile.top_lines(3, "excess wavefronts", |line| {
        line.wavefronts_shared - line.wavefronts_shared_ideal
    });
    let at_line = locations.first().and_then(|location| launch.row(location)).map(|row| {
        let counters = &row.counters;
        format!(
            " Line {} takes {} where {} would do, {:.1} wavefronts instead of one.",
            row.line.unwrap_or_default(),
            count(counters.wavefronts_shared),
            count(counters.wavefronts_shared_ideal),
            counters.wavefronts_shared / counters.wavefronts_shared_ideal.max(1.0),
        )
    });
    // The data pipe also carries predicated-off shared accesses and global look-ups.
    let all = launch.get(SHARED).map_or(wavefronts, |shared| shared.max(wavefronts))
        + launch.get(TAGS).unwrap_or(0.0);
    let conflicting = excess / wavefronts;
    Some(Draft {
        message: format!(
            "Shared-memory accesses take {} wavefronts where {} would do: {} are due to bank \
             conflicts.{}",
            count(wavefronts),
            count(ideal),
            percent(conflicting),
            at_line.unwrap_or_default(),
        ),
        evidence: vec![
            Evidence::new(WAVEFRONTS, wavefronts, "wavefront"),
            Evidence::new(IDEAL, ideal, "wavefront"),
        ],
        hint: hint(launch, &place(&locations, "the access with the most excess wavefronts")),
        locations,
        effect: Effect {
            removed: vec![(Term::L1Data, excess / all)],
            stalls: vec![
                (StallReason::ShortScoreboard, conflicting),
                (StallReason::MioThrottle, conflicting),
            ],
            ..Effect::default()
        },
    })
}

/// The change. Where blocks are narrower than a warp, its lanes lie in several rows, and what keeps a column's elements
/// apart does not keep these apart: with lanes along the rows of the tile, a row must be longer than a multiple of 32
/// words by the width of the block.
fn hint(launch: &ModeledLaunch, at: &str) -> String {
    let [width, height, depth] = launch.profile.row.block;
    let lanes = WARP_LANES as u32;
    let start =
        format!("Change the shared-memory index at {at} so that the 32 lanes fall on 32 banks");
    if width == 0 || width >= lanes || !lanes.is_multiple_of(width) || height * depth < 2 {
        return format!(
            "{start}: pad each row of the tile by one element, or XOR the column with the row."
        );
    }
    format!(
        "{start}. Blocks are {width} threads wide, so a warp has {} rows of {width} lanes: if the lanes go along the rows of \
         the tile, make a row {width} words longer than a multiple of 32; if they go down its columns, choose the padding \
         by both, and check all 32 banks.",
        lanes / width
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::SourceCounters;
    use crate::rules::testing::{assert_sides, check, launch, line};

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
}
