//! What the rule finds: the accesses, the array that most of them are to, and what goes with them.

use super::home::Home;
use super::{SHARED, TAGS};
use crate::evidence::{ModeledLaunch, local_memory};
use crate::finding::Location;
use crate::model::Effect;
use crate::sass::questions::tables::Table;
use crate::term::Term;

/// The accesses and where they are.
pub(super) struct Found {
    pub accesses: f64,
    pub locations: Vec<Location>,
    /// What most of them are to, where the code tells.
    pub main: Option<Main>,
    pub removal: Effect,
}

/// A table that every thread builds.
pub(super) struct BuiltTable {
    /// Its stores and how it is read.
    pub table: Table,
    /// How often instructions are executed that store in it.
    pub stores: f64,
    /// Where most of them are.
    pub built_at: Option<Location>,
}

/// The array that is accessed most.
pub(super) struct Main {
    /// Where it could live.
    pub home: Home,
    /// The table that it is, if every thread builds the same.
    pub table: Option<BuiltTable>,
    /// True where the busiest access to it is in a loop.
    pub in_loop: bool,
}

/// What goes from the L1 data pipe, a wavefront an access at least, and from L2, where `of_local` is
/// the part of all local accesses that goes (0 to 1).
pub(super) fn memory(launch: &ModeledLaunch, accesses: f64, of_local: f64) -> Vec<(Term, f64)> {
    let others = launch.get(TAGS).unwrap_or(0.0) + launch.get(SHARED).unwrap_or(0.0);
    let mut removed = local_memory::l2(launch, of_local);
    if accesses > 0.0 {
        removed.push((Term::L1Data, accesses / (accesses + others)));
    }
    removed
}
