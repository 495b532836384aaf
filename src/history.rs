//! Many profiles over the commits of a project: kept as Parquet, and searched for the commit where something jumped.
//!
//! ```text
//! gpu=nvidia-h200/program=ado-v2/date=2026-11-20/<profile>.parquet
//! ```
//!
//! A file holds a profile, a row per launch, a column per metric of the catalogue, and is named by what the profile
//! holds: the same profile is the same file. Other tools take the folders' names for columns; the names in full stand
//! in the columns `device`, `program`, and `date`.

mod bucket;
mod change_point;
mod commit;
mod entry;
mod partition;
mod place;
mod quantity;
mod scan;
mod schema;
mod series;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{SCHEMA, Version};

pub(crate) use change_point::LEAST_CHANGE;
pub(crate) use commit::{Commit, short};
pub(crate) use entry::Entry;
pub(crate) use partition::Stored;
pub(crate) use place::Place;
pub(crate) use quantity::Quantity;
pub(crate) use scan::{Filter, scan};
pub(crate) use schema::{commit_of, migrated, with_commit};
pub(crate) use series::series;
pub use series::{Jump, Point, Series};

/// What `history` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryDocument {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version that wrote it.
    #[serde(default)]
    pub adoprof: Version,
    /// The store: a folder, or an `s3://` address.
    pub store: String,
    /// What is shown: `time`, or a metric of the catalogue.
    pub quantity: String,
    /// The unit of all values.
    pub unit: String,
    /// Profiles that were read.
    pub profiles: usize,
    /// Launches in them.
    pub launches: usize,
    /// One per GPU, program, size, and kernel; those that jumped first, the largest jump before all.
    pub series: Vec<Series>,
    /// Things to know about this result, each one sentence.
    pub notices: Vec<String>,
}

impl HistoryDocument {
    /// The document of these series.
    #[must_use]
    pub(crate) fn new(store: String, quantity: Quantity, mut series: Vec<Series>) -> Self {
        let largest = |series: &Series| {
            let sizes = series.jumps.iter().map(Jump::size);
            sizes.fold(0.0, f64::max)
        };
        series.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
        Self {
            schema: SCHEMA.to_owned(),
            store,
            quantity: quantity.name().to_owned(),
            unit: quantity.unit().to_owned(),
            series,
            ..Self::default()
        }
    }
}
