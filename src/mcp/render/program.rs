//! A whole program.

use super::{dimensions, kernel, line, number};
use crate::document::{CallSite, Document};
use crate::report::words::call_site::call_site;
use crate::text::{count_of, duration, percent};

/// What a survey says, where there is one.
pub(super) fn blocks(document: &Document) -> Vec<String> {
    let Some(program) = &document.program else { return Vec::new() };
    let mut blocks = vec![format!(
        "program {}: {} from start to end, a device busy {}, kernels {} [survey, without the profiler]",
        crate::text::layout::fit(&line(&program.command), 200),
        duration(program.wall_ns),
        duration(program.gpu_busy_ns),
        duration(program.kernel_busy_ns),
    )];
    for finding in &program.findings {
        let gain = &finding.estimated_speedup;
        let evidence: Vec<String> = finding
            .evidence
            .iter()
            .map(|one| {
                format!("{} = {} {}", line(&one.metric), number(one.value), one.unit)
                    .trim_end()
                    .to_owned()
            })
            .collect();
        blocks.push(format!(
            "program, finding {}: {}, worth {:.2}x ({:.2} to {:.2}) [survey]\n  seen: {}\n{}  figures [survey]: {}\n  change: {}",
            finding.rank,
            finding.rule,
            gain.factor,
            gain.low,
            gain.high,
            line(&finding.message),
            sites(&finding.sites),
            evidence.join("; "),
            line(&finding.hint),
        ));
    }
    for (at, group) in program.groups.iter().enumerate() {
        let (grid, block) = (dimensions(group.grid), dimensions(group.block));
        let launch =
            group.launch.map(|launch| format!("; profiled as launch {launch}")).unwrap_or_default();
        blocks.push(format!(
            "group {at}: {} grid {grid} block {block}: {}, {} in all, {} of the kernels' time, median {} [survey]{launch}",
            kernel(&group.kernel),
            count_of(group.launches as f64, "launch"),
            duration(group.total_ns),
            percent(group.share),
            duration(group.median_ns),
        ));
    }
    blocks
}

/// The places that made the calls, one per line.
fn sites(sites: &[CallSite]) -> String {
    let line = |site| format!("  called {} [survey]\n", line(&call_site(site)));
    sites.iter().map(line).collect::<Vec<_>>().concat()
}
