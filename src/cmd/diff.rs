//! `adoprof diff`: two profiles side by side.

use super::shared::diagnosed::compare_findings;
use super::shared::printer::Printer;
use super::shared::{ignored_options, open};
use crate::cli::DiffArgs;
use crate::error::{ExitCode, Result};
use crate::report::{Format, render};

pub(super) fn run(args: &DiffArgs, printer: &Printer) -> Result<ExitCode> {
    ignored_options::ranking(&args.output, false, printer);
    let base = open::one(&args.base, &args.ladder, None)?;
    let new = open::one(&args.new, &args.ladder, None)?;
    let sides = if base.name == new.name { &[&base][..] } else { &[&base, &new] };
    for profile in sides {
        if let Some(date) = profile.step().and_then(|step| step.recorded.as_ref())
            && args.output.format == Format::TEXT
        {
            printer.notice(&format!(
                "{} is the recording of {date} that ships with adoprof",
                profile.name
            ));
        }
    }
    let compared = compare_findings(&base, &new)?;
    let format = args.output.format;
    if !format.holds_notices() && format != Format::TEXT {
        compared.diff.warnings.iter().for_each(|warning| printer.notice(warning));
    }
    printer.report(args.output.format, |style, out| {
        render(&compared, args.output.format, style, out)
    })?;
    Ok(ExitCode::Success)
}
