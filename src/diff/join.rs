//! Metrics of two launches in one frame.
//!
//! polars' own joins come with a feature that doubles the build time, so the keys are matched here
//! and polars takes the rows.

use std::collections::HashMap;

use polars::prelude::*;

use crate::error::Result;
use crate::frame::columns::{LAUNCH, METRIC, UNIT, VALUE};

/// The baseline's values in the joined frame.
pub const BASE: &str = "base";
/// The new values in the joined frame.
pub const NEW: &str = "new";

/// The metrics that both launches have, of tables that
/// [`by_catalogue`](crate::frame::by_catalogue) made: `metric`, `unit`, `base`, `new`.
pub fn metrics(base: (&DataFrame, u32), new: (&DataFrame, u32)) -> Result<DataFrame> {
    let (base, new) = (of_launch(base)?, of_launch(new)?);
    let places: HashMap<&str, IdxSize> = new
        .column(METRIC)?
        .str()?
        .iter()
        .zip(0..)
        .filter_map(|(name, at)| Some((name?, at)))
        .collect();
    let (left, right): (Vec<IdxSize>, Vec<IdxSize>) = base
        .column(METRIC)?
        .str()?
        .iter()
        .zip(0..)
        .filter_map(|(name, at)| Some((at, *places.get(name?)?)))
        .unzip();
    let mut joined =
        base.select([METRIC, UNIT, VALUE])?.take(&IdxCa::from_vec(BASE.into(), left))?;
    joined.rename(VALUE, BASE.into())?;
    let mut values = new.select([VALUE])?.take(&IdxCa::from_vec(NEW.into(), right))?;
    values.rename(VALUE, NEW.into())?;
    Ok(joined.hstack(values.columns())?)
}

fn of_launch((metrics, launch): (&DataFrame, u32)) -> Result<DataFrame> {
    Ok(metrics.filter_seq(&metrics.column(LAUNCH)?.u32()?.equal(launch))?)
}
