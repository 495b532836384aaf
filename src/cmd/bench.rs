//! `adoprof bench`: the fault bench, from the shipped recordings.

use super::output::Printer;
use crate::bench;
use crate::cli::{BenchArgs, HalfArg, TableFormat};
use crate::error::{ExitCode, Result};
use crate::ladder::Half;
use crate::profile::recorded_ladders;
use crate::report::render_bench;

pub fn run(args: &BenchArgs, printer: &Printer) -> Result<ExitCode> {
    let halves: &[Half] = match args.half {
        HalfArg::Tuning => &[Half::Tuning],
        HalfArg::HeldOut => &[Half::HeldOut],
        HalfArg::All => &[Half::Tuning, Half::HeldOut],
    };
    let wanted = |half: Option<Half>| half.map_or(args.ladders, |half| halves.contains(&half));
    let ladders = recorded_ladders(|ladder| wanted(ladder.bench()))?;
    let mut document = bench::judge(&ladders, halves);
    if args.ladders {
        bench::climb(&mut document, &ladders);
    }
    if args.format != TableFormat::Json {
        for notice in &document.notices {
            printer.notice(notice);
        }
    }
    printer.result(|style, out| render_bench(&document, args.format, style, out))?;
    Ok(ExitCode::Success)
}
