//! `adoprof bench`: the fault bench, from the shipped recordings.

use super::output::Printer;
use crate::bench;
use crate::cli::{BenchArgs, HalfArg};
use crate::error::{ExitCode, Result};
use crate::ladder::Half;
use crate::profile::recorded_ladders;
use crate::report::render;

pub fn run(args: &BenchArgs, printer: &Printer) -> Result<ExitCode> {
    let format = args.format.for_table("the bench")?;
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
    if !format.holds_notices() {
        for notice in &document.notices {
            printer.notice(notice);
        }
    }
    printer.result(|style, out| render(&document, format, style, out))?;
    Ok(ExitCode::Success)
}
