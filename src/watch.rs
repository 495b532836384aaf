//! A step run again at every edit: what its files held, and what its runs came to.

mod history;
mod snapshot;

pub(crate) use history::{History, Run};
pub(crate) use snapshot::Snapshot;
