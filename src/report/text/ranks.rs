//! The ranks of a program side by side.

use crate::document::{Document, RankTime, Ranks};
use crate::kernel_name;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, MOST_ROWS, render};
use crate::report::words::ranks::{sentence, spread, stragglers};
use crate::text::{count_of, duration};

/// The most columns that a kernel's name takes.
const LONGEST_NAME: usize = 60;

/// Two tables: a row per rank, and a row per kernel.
pub(super) fn ranks(page: &mut Page, document: &Document) {
    let Some(ranks) = &document.ranks else { return };
    page.blank();
    page.inked("", &sentence(ranks), Ink::Bold);
    let most = if page.style.verbose { ranks.ranks.len() } else { MOST_ROWS };
    let rows: Vec<Vec<String>> =
        ranks.ranks.iter().take(most).map(|rank| row(ranks, rank)).collect();
    let unless_profiled = |column: Column| if ranks.profiled_times { None } else { Some(column) };
    let head: Vec<Column> = [
        Some(Column::number("rank")),
        Some(Column::number("work")),
        unless_profiled(Column::number("transfer")),
        unless_profiled(Column::number("waiting")),
        unless_profiled(Column::number("first to last").optional()),
        Some(Column::number("profiled").optional()),
        Some(Column::text("device").optional()),
    ]
    .into_iter()
    .flatten()
    .collect();
    page.table("", &render(&head, &rows, page.style.width));
    if let Some(rest) = ranks.ranks.len().checked_sub(most).filter(|rest| *rest > 0) {
        let text = format!("{} more (-v shows them)", count_of(rest as f64, "rank"));
        page.inked("", &text, Ink::Dim);
    }
    kernels(page, ranks);
}

fn row(ranks: &Ranks, rank: &RankTime) -> Vec<String> {
    let mut cells = vec![rank.rank.to_string(), duration(rank.work_ns)];
    if !ranks.profiled_times {
        cells.extend([rank.transfer_ns, rank.waiting_ns, rank.active_ns].map(duration));
    }
    cells.push(match &rank.problem {
        Some(_) => "failed".to_owned(),
        None => rank.profiled.to_string(),
    });
    cells.push(rank.device.clone().unwrap_or_default());
    cells
}

fn kernels(page: &mut Page, ranks: &Ranks) {
    if ranks.kernels.is_empty() {
        return;
    }
    page.blank();
    let most = if page.style.verbose { ranks.kernels.len() } else { MOST_ROWS };
    let rows: Vec<Vec<String>> = ranks
        .kernels
        .iter()
        .take(most)
        .map(|kernel| {
            let total: f64 = kernel.total_ns.iter().sum();
            vec![
                kernel_name::short(&kernel.kernel, LONGEST_NAME),
                duration(total / ranks.ranks.len().max(1) as f64),
                spread(ranks, kernel),
                stragglers(kernel),
            ]
        })
        .collect();
    let head = [
        Column::text("kernel").flexible(14),
        Column::number("per rank"),
        Column::text("least to most"),
        Column::text("stragglers"),
    ];
    page.table("", &render(&head, &rows, page.style.width));
}

#[cfg(test)]
mod tests {
    use crate::document::{Document, RankTime, RankedKernel, Ranks};
    use crate::report::{Format, Style, render, samples};

    fn ranks() -> Ranks {
        let rank = |rank, work_ns, waiting_ns| RankTime {
            rank,
            device: Some("NVIDIA H200".to_owned()),
            active_ns: 12e6,
            work_ns,
            transfer_ns: 1e6,
            waiting_ns,
            profiled: 3,
            ..RankTime::default()
        };
        let kernel = |kernel: &str, waits, total_ns: [f64; 2], stragglers: &[u32]| RankedKernel {
            kernel: kernel.to_owned(),
            waits,
            launches: vec![4, 4],
            total_ns: total_ns.to_vec(),
            waiting_ns: if waits { vec![2e6, 0.0] } else { vec![0.0; 2] },
            spread: total_ns[0].max(total_ns[1]) / total_ns[0].min(total_ns[1]),
            stragglers: stragglers.to_vec(),
            ..RankedKernel::default()
        };
        let work = kernel("void gemm<float>(float *)", false, [8e6, 10e6], &[1]);
        let reduce = kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", true, [3e6, 1e6], &[]);
        Ranks {
            world: Some(2),
            profiled_times: false,
            ranks: vec![rank(0, 8e6, 2e6), rank(1, 10e6, 0.0)],
            kernels: vec![work, reduce],
        }
    }

    fn named(name: &str) -> Format {
        let format = crate::report::FORMATS.iter().find(|format| format.name() == name);
        *format.unwrap()
    }

    fn rendered(format: Format) -> String {
        let launch = samples::launch("void gemm<float>(float *)", 2.0, 0.8, Vec::new());
        let launches = vec![launch];
        let document = Document { launches, ranks: Some(ranks()), ..Document::default() };
        let mut out = Vec::new();
        let style = Style { width: 120, ..Style::default() };
        render(&document, format, style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn ranks_stand_with_their_work_and_their_wait() {
        let text = rendered(Format::TEXT);
        let line = |part: &str| {
            text.lines()
                .find(|line| line.contains(part))
                .unwrap_or_else(|| panic!("{part}: {text}"))
        };
        assert!(line("2 ranks").contains("rank 1 has the most work"), "{text}");
        for part in ["8.00 ms", "1.00 ms", "2.00 ms", "12.0 ms", "NVIDIA H200"] {
            assert!(line("   0  ").contains(part), "no {part}: {text}");
        }
        assert!(
            line("gemm<float>  ").contains("1.25×") && line("gemm<float>  ").ends_with("rank 1"),
            "{text}"
        );
        assert!(line("AllReduce").contains("waits for the others"), "{text}");
    }

    #[test]
    fn markdown_has_the_same_tables() {
        let text = rendered(named("markdown"));
        assert!(text.contains("| 1 | 10.0 ms | 1.00 ms | 0 ns |"), "{text}");
        assert!(text.contains("1.25×") && text.contains("rank 1 has the most work"), "{text}");
    }
}
