//! More sectors move between L1 and L2 than the warps' addresses need.

use super::{Case, Draft, Kind, Rule, Threshold};
use crate::finding::Evidence;
use crate::model::{Effect, Term};
use crate::text::{count, percent};

const SECTORS: &str = "memory_l2_theoretical_sectors_global";
const IDEAL: &str = "memory_l2_theoretical_sectors_global_ideal";

/// Below this share of excess sectors the boundary effects of any array (a first or last sector
/// partly used) look the same as a fault.
const LEAST_EXCESS: f64 = 0.05;

/// The rule.
pub const RULE: Rule = Rule {
    name: "uncoalesced-global-access",
    kind: Kind::Cause,
    summary: "more sectors move than the warp's addresses need",
    explanation: "\
The lanes of a warp that read or write neighbouring addresses share 32-byte sectors: 32 lanes with \
4 bytes each need 4 sectors. Lanes that are a stride apart touch a sector each, up to 32, and the \
L1 tags, the L1 data pipe, L2 and DRAM all carry bytes that nobody uses. The rule compares the \
sectors that each instruction asked for with those that its addresses would need if they were \
dense, line by line. Let neighbouring lanes take neighbouring elements: swap the roles of the loop \
and of the thread index, stage a tile through shared memory, or change the layout.",
    section: "SourceCounters",
    thresholds: &[Threshold {
        what: "excess sectors of all sectors",
        value: LEAST_EXCESS,
        unit: "",
        source: "a misaligned but dense 128-byte access needs 5 sectors instead of 4 only at the \
                 ends of an array; ncu's own rule fires at any excess",
    }],
    needs: &[SECTORS, IDEAL],
    explains: &["lg-throttle", "long-scoreboard-stalls", "issue-slots-underused"],
    check,
};

fn check(case: &Case) -> Option<Draft> {
    let (sectors, ideal) = (case.need(SECTORS), case.need(IDEAL));
    let excess = sectors - ideal;
    if !(sectors > 0.0 && excess / sectors >= LEAST_EXCESS) {
        return None;
    }
    let locations = case.launch.top_lines(3, "excess sectors", |line| {
        line.l2_sectors_global - line.l2_sectors_global_ideal
    });
    let worst = locations.first().and_then(|location| {
        case.launch.lines.iter().find(|row| {
            row.line == Some(location.line) && row.file.as_deref() == Some(&location.file)
        })
    });
    let (at_line, hint_place) = match worst {
        Some(row) => (
            format!(
                " Line {} alone moves {} sectors where {} would do ({:.0}:1).",
                row.line.unwrap_or_default(),
                count(row.counters.l2_sectors_global),
                count(row.counters.l2_sectors_global_ideal),
                row.counters.l2_sectors_global / row.counters.l2_sectors_global_ideal.max(1.0),
            ),
            format!("in line {}", row.line.unwrap_or_default()),
        ),
        None => (String::new(), "in the access with the widest stride between lanes".to_owned()),
    };
    Some(Draft {
        message: format!(
            "Global accesses move {} sectors between L1 and L2 where their addresses need {}: {} is \
             excess.{at_line}",
            count(sectors),
            count(ideal),
            percent(excess / sectors),
        ),
        evidence: vec![
            Evidence::new(SECTORS, sectors, "sector"),
            Evidence::new(IDEAL, ideal, "sector"),
        ],
        locations,
        hint: format!(
            "Let neighbouring lanes read neighbouring addresses {hint_place}: give a row to a warp \
             and stride its lanes along it, or stage a tile through shared memory."
        ),
        effect: effect(case, excess / sectors),
    })
}

/// L1's data pipe takes a wavefront for every tag that a request touches, so it shrinks by the tags
/// that dense addresses would not touch; L2 and DRAM shrink by the excess sectors that reach them.
fn effect(case: &Case, excess_share: f64) -> Effect {
    let mut removed = vec![(Term::L2, excess_share)];
    let tags = case.launch.source_sum(|counts| counts.l1_tag_requests_global);
    let ideal_tags = case.launch.source_sum(|counts| {
        if counts.l1_tag_requests_global > 0.0 { counts.l2_sectors_global_ideal / 4.0 } else { 0.0 }
    });
    let shared = case.launch.get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
    if let (Some(tags), Some(ideal_tags), Some(shared)) = (tags, ideal_tags, shared)
        && tags + shared > 0.0
    {
        removed.push((Term::L1Data, (tags - ideal_tags).max(0.0) / (tags + shared)));
    }
    Effect { removed, ..Effect::default() }
}
