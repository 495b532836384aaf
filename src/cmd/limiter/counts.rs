//! Global loads and stores of variants beside the whole kernel's, counted by ncu.

use crate::cli::LimiterArgs;
use crate::cmd::shared::chosen_step::ChosenStep;
use crate::cmd::shared::live_step::own_path;
use crate::collect::reading;
use crate::error::{Error, Result};
use crate::frame::{Frames, Launch};
use crate::interrupt;
use crate::launch::Device;
use crate::limiter::{Accesses, VariantTime};
use crate::ncu::{self, CollectRequest, Limits, Ncu, Scope, Selection};
use crate::plan::VariantKind;
use crate::progress::Progress;

const LOADS: &str = "smsp__sass_inst_executed_op_global_ld.sum";
const STORES: &str = "smsp__sass_inst_executed_op_global_st.sum";
/// Loads that go to shared memory without passing through registers; they are no global loads to the
/// counter above. Devices from compute capability 8.0 on have them.
const ASYNC_LOADS: &str = "smsp__inst_executed_op_ldgsts.sum";

/// Counts the accesses of the step and of those variants that are to have some of them or none.
///
/// # Errors
/// [`Error::Environment`] without ncu or its counters; what a request gives.
pub(super) fn count(
    device: &Device,
    chosen: &ChosenStep,
    args: &LimiterArgs,
    variants: &mut [VariantTime],
    progress: &Progress,
) -> Result<()> {
    let loads: &[&str] =
        if device.compute_capability.0 >= 8 { &[LOADS, ASYNC_LOADS] } else { &[LOADS] };
    let ncu = ncu::locate(args.ncu.as_deref(), Some(args.timeout))?;
    progress.stage(format!("{}: counting global accesses", chosen.step.name()));
    let (full_loads, full_stores) = counted(&ncu, chosen, args, loads, None)?;
    for variant in variants {
        if variant.kind == VariantKind::WhatIf {
            continue;
        }
        progress.stage(format!("{}: counting global accesses", variant.name));
        let (loads, stores) = counted(&ncu, chosen, args, loads, Some(&variant.name))?;
        variant.accesses = Some(Accesses { loads, stores, full_loads, full_stores });
    }
    Ok(())
}

/// Loads and stores of all launches.
fn counted(
    ncu: &Ncu,
    chosen: &ChosenStep,
    args: &LimiterArgs,
    loads: &[&str],
    variant: Option<&str>,
) -> Result<(f64, f64)> {
    let folder = tempfile::Builder::new()
        .prefix("adoprof-counts-")
        .tempdir()
        .map_err(|e| Error::io(std::env::temp_dir(), "create a folder in it", &e))?;
    let metrics = loads.iter().chain([&STORES]).map(|&metric| metric.to_owned()).collect();
    let selection = Selection::Explicit { sections: Vec::new(), metrics };
    let mut request = CollectRequest::new(selection, folder.path().join("report"), own_path()?);
    request.scope = Scope::ProfilerRange;
    request.program_args = chosen.launcher_arguments(args.device, args.timeout);
    if let Some(variant) = variant {
        request.program_args.extend(["--variant".into(), variant.into()]);
    }
    let interrupted = interrupt::flag();
    let limits = Limits {
        timeout: Some(args.timeout.into()),
        interrupted: &interrupted,
        write_up: std::time::Duration::ZERO,
    };
    let collected = ncu::collect(&ncu::profile(ncu, &request), limits, &mut |_| {})?;
    let (pages, _) = reading::pages(ncu, &collected.report, request.via, None, limits)?;
    let launches = Launch::all(&Frames::new(pages.export(&collected.report)?)?)?;
    let sum =
        |metric: &str| -> Result<f64> {
            launches.iter().map(|launch| launch.get(metric)).sum::<Option<f64>>().ok_or_else(|| {
                Error::Environment(format!("this ncu does not collect {metric} here"))
            })
        };
    Ok((loads.iter().map(|metric| sum(metric)).sum::<Result<f64>>()?, sum(STORES)?))
}
