//! Global loads and stores of variants beside the whole kernel's, counted by ncu.

use std::ffi::OsString;

use super::live::Request;
use crate::cmd::live::size_argument;
use crate::error::{Error, Result};
use crate::frame::Launch;
use crate::interrupt;
use crate::launch::Device;
use crate::limiter::{Accesses, VariantTime};
use crate::ncu::{self, CollectRequest, Limits, Ncu, Scope, Selection};
use crate::plan::VariantKind;
use crate::progress::Progress;
use crate::store::Pages;

const LOADS: &str = "smsp__sass_inst_executed_op_global_ld.sum";
const STORES: &str = "smsp__sass_inst_executed_op_global_st.sum";
/// Loads that go to shared memory without passing through registers; they are no global loads to the
/// counter above. Devices from compute capability 8.0 on have them.
const ASYNC_LOADS: &str = "smsp__inst_executed_op_ldgsts.sum";

/// Counts the accesses of the step and of those variants that are to have some of them or none.
///
/// # Errors
/// [`Error::Environment`] without ncu or its counters; what a collection gives.
pub fn count(
    device: &Device,
    request: &Request,
    variants: &mut [VariantTime],
    progress: &Progress,
) -> Result<()> {
    let loads: &[&str] =
        if device.compute_capability.0 >= 8 { &[LOADS, ASYNC_LOADS] } else { &[LOADS] };
    let ncu = ncu::locate(request.args.ncu.as_deref())?;
    progress.stage(format!("{}: counting global accesses", request.step.name()));
    let (full_loads, full_stores) = counted(&ncu, request, loads, None)?;
    for variant in variants {
        if variant.kind == VariantKind::WhatIf {
            continue;
        }
        progress.stage(format!("{}: counting global accesses", variant.name));
        let (loads, stores) = counted(&ncu, request, loads, Some(&variant.name))?;
        variant.accesses = Some(Accesses { loads, stores, full_loads, full_stores });
    }
    Ok(())
}

/// Loads and stores of all launches.
fn counted(
    ncu: &Ncu,
    request: &Request,
    loads: &[&str],
    variant: Option<&str>,
) -> Result<(f64, f64)> {
    let folder = tempfile::Builder::new()
        .prefix("adoprof-counts-")
        .tempdir()
        .map_err(|e| Error::io(std::env::temp_dir(), "create a folder in it", &e))?;
    let own = std::env::current_exe()
        .map_err(|e| Error::Environment(format!("adoprof does not know its own path: {e}")))?;
    let metrics = loads.iter().chain([&STORES]).map(|&metric| metric.to_owned()).collect();
    let selection = Selection::Explicit { sections: Vec::new(), metrics };
    let mut collection = CollectRequest::new(selection, folder.path().join("report"), own);
    collection.scope = Scope::ProfilerRange;
    collection.program_args = arguments(request, variant);
    let interrupted = interrupt::flag();
    let limits = Limits { timeout: Some(request.args.timeout), interrupted: &interrupted };
    let collected = ncu::collect(&ncu::profile(ncu, &collection), limits, &mut |_| {})?;
    let pages = ncu::import_pages(ncu, &collected.report, limits)?;
    let pages = Pages { raw: pages.raw, details: pages.details, source: pages.source };
    let launches = Launch::all(&pages.export(&collected.report)?);
    let sum =
        |metric: &str| -> Result<f64> {
            launches.iter().map(|launch| launch.get(metric)).sum::<Option<f64>>().ok_or_else(|| {
                Error::Environment(format!("this ncu does not collect {metric} here"))
            })
        };
    Ok((loads.iter().map(|metric| sum(metric)).sum::<Result<f64>>()?, sum(STORES)?))
}

/// The hidden launcher's arguments.
fn arguments(request: &Request, variant: Option<&str>) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![
        "__launch".into(),
        "--ladder".into(),
        request.ladder_argument.into(),
        "--kernel".into(),
        request.step.name().into(),
        "--device".into(),
        request.args.device.to_string().into(),
        "--limit-s".into(),
        request.args.timeout.as_secs().max(1).to_string().into(),
    ];
    if let Some(size) = size_argument(request.size) {
        words.extend(["--size".into(), size.into()]);
    }
    if let Some(variant) = variant {
        words.extend(["--variant".into(), variant.into()]);
    }
    words
}
