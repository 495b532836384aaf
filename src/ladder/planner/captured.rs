//! From a step that replays a captured launch to its plan.

use std::collections::BTreeMap;

use super::{Planner, size};
use crate::error::{Error, Result};
use crate::kernel_name;
use crate::ladder::{Ladder, Overrides, Step, Tuning, Variant};
use crate::plan::{Buffer, Check, DType, Fill, Place, Plan, PlannedLaunch, Role, Source};

/// Plans a captured step, or a variant of it.
pub(super) fn plan(
    ladder: &Ladder,
    step: &Step,
    variant: Option<&Variant>,
    given: &Overrides,
    tuning: &Tuning,
    sms: u32,
) -> Result<Plan> {
    let Some(replay) = step.captured() else {
        return Err(Error::Usage(format!("step `{}` is not a captured launch", step.name())));
    };
    let size = size(ladder, step, given)?;
    let tunables = step.tuned(tuning)?;
    let planner =
        Planner { ladder, step, variant, size: size.clone(), sms, tunables, block: tuning.block };
    let values = planner.values();
    planner.requirements(&values)?;
    let source = match variant {
        Some(variant) => Some(&variant.source),
        None => step.source(),
    };
    if source.is_none() && !(tuning.flags.is_empty() && tuning.block.is_none()) {
        return Err(Error::Usage(format!(
            "step `{}` replays machine code, which takes neither compiler flags nor another block: give it a \
             `file` with the kernel's source",
            step.name()
        )));
    }
    let captured = &replay.launch;
    let declares = variant.and_then(|variant| variant.manifest.launches.as_ref());
    let declares = declares.or(step.manifest.launches.as_ref()).is_some();
    let launches = if declares {
        planner.launches(&values, &BTreeMap::new())?
    } else {
        let mut block = captured.block;
        block[0] = tuning.block.unwrap_or(block[0]);
        let kernel = match source {
            Some(_) => kernel_name::base(&captured.kernel),
            None => captured.kernel.clone(),
        };
        let (grid, shared_bytes) = (captured.grid, captured.shared_bytes);
        vec![PlannedLaunch { kernel, grid, block, shared_bytes, arguments: Vec::new() }]
    };
    let code = replay.folder.join(&captured.code);
    let name = format!("{}/{}", ladder.name(), captured.code);
    let machine_code = || Source { name, text: String::new(), path: Some(code) };
    let buffers = captured.memory.iter().map(|memory| Buffer {
        name: memory.name.clone(),
        dtype: DType::U8,
        shape: vec![memory.bytes],
        role: if memory.after.is_some() { Role::State } else { Role::Input },
        fill: Fill::Constant(0.0),
        place: Place::Device,
    });
    let manifest = &ladder.manifest;
    Ok(Plan {
        ladder: ladder.name().to_owned(),
        step: step.name().to_owned(),
        title: variant.map_or(step.title(), Variant::title).to_owned(),
        size,
        buffers: buffers.collect(),
        launches,
        captured: Some(crate::captured::Replay {
            has_own_code: source.is_some(),
            ..replay.clone()
        }),
        source: source.cloned().unwrap_or_else(machine_code),
        flags: planner
            .flags(&values)?
            .into_iter()
            .chain(planner.definitions())
            .chain(tuning.flags.iter().cloned())
            .collect(),
        carveout_percent: tuning.carveout_percent,
        check: Check::Reference,
        library: None,
        bytes: planner.needed("bytes", manifest.bytes.as_ref(), &values)?,
        flops: planner.needed("flops", manifest.flops.as_ref(), &values)?,
        metric: planner.metric(&values)?.unwrap_or_default(),
        notices: Vec::new(),
    })
}
