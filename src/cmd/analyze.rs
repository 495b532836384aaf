//! `adoprof analyze`: diagnosis from files.

use regex::Regex;

use super::shared::diagnosed::{compare, kernel_filter, ladder_of, notices};
use super::shared::printer::Printer;
use super::shared::{ignored_options, ledger, open};
use crate::cli::AnalyzeArgs;
use crate::error::{Error, ExitCode, Result};
use crate::profile::Profile;
use crate::report::render_several;

pub fn run(args: &AnalyzeArgs, printer: &Printer) -> Result<ExitCode> {
    let printer = &printer.explaining(args.output.explain_ranking);
    ignored_options::ranking(&args.output, true, printer);
    let mut profiles = open::all(&args.paths, &args.ladder)?;
    if let Some(pattern) = &args.kernel {
        let regex = kernel_filter(pattern)?;
        for profile in &mut profiles {
            retain(profile, &regex, pattern)?;
        }
    }
    let baseline =
        args.baseline.as_deref().map(|name| open::one(name, &args.ladder, None)).transpose()?;
    let calibration = ledger::asked_for(args.calibrate, printer)?;
    let mut documents = Vec::new();
    for profile in &profiles {
        let ladder = ladder_of(profile);
        let document = profile.diagnose(ladder.as_ref())?;
        let mut document = ledger::corrected(document, calibration.as_ref(), ladder.as_ref());
        if let Some(base) = &baseline {
            document.diff = Some(compare(base, profile)?);
        }
        notices(&document, args.output.format, printer);
        documents.push((profile.name.clone(), document));
    }
    printer.result(|style, out| render_several(&documents, args.output.format, style, out))?;
    Ok(ExitCode::Success)
}

fn retain(profile: &mut Profile, regex: &Regex, pattern: &str) -> Result<()> {
    let names = profile.frames.kernels()?;
    profile.retain_kernels(|kernel| regex.is_match(kernel))?;
    if profile.frames.launches.height() == 0 {
        return Err(Error::Usage(format!(
            "no kernel in {} matches `{pattern}`; it has: {}",
            profile.name,
            names.join(", ")
        )));
    }
    Ok(())
}
