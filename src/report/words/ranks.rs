//! Ranks in words.

use crate::document::{RankedKernel, Ranks};
use crate::report::words::number::factor;
use crate::text::{count_of, duration, percent};

/// The ranks in a sentence: how many, which has the most work, how much of their time the others wait.
pub(crate) fn sentence(ranks: &Ranks) -> String {
    let number = count_of(ranks.ranks.len() as f64, "rank");
    let of = ranks
        .world
        .filter(|world| *world as usize > ranks.ranks.len())
        .map_or_else(String::new, |world| format!(" of {world}"));
    let most = ranks.ranks.iter().max_by(|a, b| a.work_ns.total_cmp(&b.work_ns));
    let least = ranks.ranks.iter().map(|rank| rank.work_ns).fold(f64::INFINITY, f64::min);
    let uneven = most.filter(|most| least > 0.0 && most.work_ns >= UNEVEN * least).map_or_else(
        || "whose work is even".to_owned(),
        |most| {
            let factor = factor(most.work_ns / least);
            format!(
                "of which rank {} has the most work, {factor} that of the rank with the least",
                most.rank
            )
        },
    );
    let waiting: f64 = ranks.ranks.iter().map(|rank| rank.waiting_ns).sum();
    let kernels: f64 = ranks.ranks.iter().map(|rank| rank.work_ns + rank.transfer_ns).sum();
    let wait = if ranks.profiled_times {
        "; these are times under the profiler, which do not show how long ranks wait".to_owned()
    } else if kernels + waiting > 0.0 {
        let share = percent(waiting / (kernels + waiting));
        format!("; they wait for one another for {share} of their kernels' time")
    } else {
        String::new()
    };
    format!("{number}{of}, {uneven}{wait}")
}

/// Work that differs by less is called even.
const UNEVEN: f64 = 1.02;

/// From the rank with the least to the one with the most time.
pub(crate) fn spread(ranks: &Ranks, kernel: &RankedKernel) -> String {
    let totals = || kernel.total_ns.iter().zip(&kernel.launches).filter(|(_, count)| **count > 0);
    let least = totals().map(|(ns, _)| *ns).fold(f64::INFINITY, f64::min);
    let most = totals().map(|(ns, _)| *ns).fold(0.0, f64::max);
    if totals().count() < 2 {
        let launched = kernel.launches.iter().position(|count| *count > 0);
        let rank = launched.and_then(|at| ranks.ranks.get(at));
        return rank.map_or_else(String::new, |rank| format!("on rank {} alone", rank.rank));
    }
    let (low, high) = (duration(least), duration(most));
    if low == high { low } else { format!("{low} to {high}, {}", factor(kernel.spread)) }
}

/// The ranks that straggle, or that a kernel waits.
pub(crate) fn stragglers(kernel: &RankedKernel) -> String {
    if kernel.waits {
        return "waits for the others".to_owned();
    }
    let ranks: Vec<String> = kernel.stragglers.iter().map(u32::to_string).collect();
    match ranks.len() {
        0 => String::new(),
        1 => format!("rank {}", ranks[0]),
        _ => format!("ranks {}", ranks.join(", ")),
    }
}
