//! The hidden launcher: what ncu profiles.
//!
//! The step has been verified by the process that started ncu, with the same binary, source and
//! inputs; here it is launched once unprofiled, so that modules are loaded and faults show, and once
//! inside the profiler's range.

use std::time::Duration;

use crate::cli::LauncherArgs;
use crate::error::{ExitCode, Result};
use crate::ladder::{Ladder, parse_overrides};
use crate::launch::{Device, Prepared};
use crate::timed_run;

pub(super) fn run(args: &LauncherArgs) -> Result<ExitCode> {
    let device = Device::open(args.device)?;
    let ladder = Ladder::open(&args.problem.ladder)?;
    let size = parse_overrides(args.problem.size.as_deref().unwrap_or_default())?;
    let plan = if let Some(variant) = &args.variant {
        ladder.variant_plan(&args.kernel, variant, &size, device.sm_count)?
    } else {
        let tuning = args.tuning.clone().unwrap_or_default();
        ladder.plan_tuned(&args.kernel, &size, &tuning, device.sm_count)?
    };
    let inputs = timed_run::inputs(&plan)?;
    let mut prepared = Prepared::new(&device, plan, Duration::from_secs(args.limit_s))?;
    timed_run::upload(&mut prepared, &inputs)?;
    prepared.poison()?;
    prepared.run()?;
    timed_run::upload_state(&mut prepared, &inputs)?;
    prepared.run_profiled()?;
    Ok(ExitCode::Success)
}
