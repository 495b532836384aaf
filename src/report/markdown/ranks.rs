//! The ranks of a program side by side, as tables.

use crate::document::{RankTime, Ranks};
use crate::kernel_name;
use crate::report::markdown::push;
use crate::report::markdown::tables::{code, escape, table};
use crate::report::words::ranks::{sentence, spread, stragglers};
use crate::text::{count, duration};

/// Rows that a reader takes in.
const MOST_ROWS: usize = 20;

/// A row per rank, and a row per kernel.
pub(super) fn ranks(text: &mut String, ranks: &Ranks) {
    push(text, &format!("#### {}\n\n", escape(&sentence(ranks))));
    let row = |rank: &RankTime| {
        let known = |ns: f64| if ranks.profiled_times { String::new() } else { duration(ns) };
        vec![
            rank.rank.to_string(),
            duration(rank.work_ns),
            known(rank.transfer_ns),
            known(rank.waiting_ns),
            rank.problem
                .as_ref()
                .map_or_else(|| rank.profiled.to_string(), |_| "failed".to_owned()),
            escape(rank.device.as_deref().unwrap_or_default()),
        ]
    };
    let head = ["rank", "work", "transfer", "waiting", "profiled", "device"];
    table(text, &head, ranks.ranks.iter().take(MOST_ROWS).map(row));
    let rows = ranks.kernels.iter().take(MOST_ROWS).map(|kernel| {
        let total: f64 = kernel.total_ns.iter().sum();
        vec![
            code(&kernel_name::short(&kernel.kernel, 80)).replace('|', "\\|"),
            duration(total / ranks.ranks.len().max(1) as f64),
            spread(ranks, kernel),
            stragglers(kernel),
        ]
    });
    table(text, &["kernel", "per rank", "least to most", "stragglers"], rows);
    let left = ranks.ranks.len().max(ranks.kernels.len()).saturating_sub(MOST_ROWS);
    if left > 0 {
        push(text, &format!("{} more are in the JSON.\n\n", count(left as f64)));
    }
}
