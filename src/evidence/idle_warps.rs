//! Warps that do nothing, with what goes if they are not launched.

use crate::evidence::ModeledLaunch;
use crate::evidence::removal::{Removal, locations};
use crate::evidence::rounds::one_after_another;
use crate::finding::Location;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::sass::questions::bystanders::{self, Bystanders};
use crate::sass::questions::sharing::guards_blocks;
use crate::term::Term;

/// Most of a launch's warps, which do nothing.
pub(crate) struct IdleWarps<'a> {
    /// How many they are, and what they execute.
    pub found: &'a Bystanders,
    removal: Removal<'a>,
}

impl<'a> IdleWarps<'a> {
    /// `None` where most warps work, or where the profile does not tell.
    pub(crate) fn find(launch: &ModeledLaunch<'a>) -> Option<Self> {
        let found = bystanders::find(&launch.profile.listing()?)?;
        let mut removal = Removal::new(launch)?;
        let theirs = found.of_executions.iter().enumerate();
        for (index, &share) in theirs.filter(|(_, share)| **share > 0.0) {
            removal.remove(index, share);
        }
        Some(Self { found, removal })
    }

    /// The warps that were launched.
    pub(crate) fn launched(&self) -> f64 {
        self.removal.listing.executed(0)
    }

    /// The share of the launched threads that work, 0 to 1: of warps that work, those whose lanes are on.
    pub(crate) fn threads_at_work(&self) -> f64 {
        (1.0 - self.found.share) * self.found.lanes
    }

    /// The line of an instruction.
    pub(crate) fn locations(
        &self,
        launch: &ModeledLaunch,
        at: Option<usize>,
        share_of: &str,
    ) -> Vec<Location> {
        let picked = |index| f64::from(u8::from(at == Some(index)));
        locations(launch, self.removal.listing, picked, share_of)
    }

    /// True where the blocks that do nothing are the last ones. Blocks start in the order of their indices, x first, so
    /// that a guard by the slowest of them alone parts those at the end from all others; nothing is at work while
    /// they start.
    fn come_last(&self, launch: &ModeledLaunch) -> bool {
        let grid = launch.profile.row.grid;
        let Some(slowest) = grid.iter().rposition(|&extent| extent > 1) else { return false };
        let by = self.found.guard.and_then(|guard| guards_blocks(&self.removal.listing, guard));
        by.is_some_and(|by| (0..3).all(|axis| by[axis] == (axis == slowest)))
    }

    /// What goes: the instructions of warps that do nothing, the start of their blocks, and their places, in
    /// which warps with work would wait beside one another.
    pub(crate) fn effect(&self, launch: &ModeledLaunch) -> Effect {
        let (removal, found) = (&self.removal, self.found);
        let samples = |index: usize| -> f64 {
            StallReason::all().map(|reason| removal.listing.samples(index, reason)).sum()
        };
        let (mut all, mut theirs) = (0.0, 0.0);
        for (index, share) in found.of_executions.iter().enumerate() {
            let here = samples(index);
            all += here;
            theirs += share * here;
        }
        let mut effect = removal.effect(launch);
        effect.hidden = if all > 0.0 { theirs / all } else { 0.0 };
        effect.removed.push((Term::BlockScheduler, 1.0 - self.threads_at_work()));
        if self.come_last(launch) {
            let starts = launch.model.utilization(Term::BlockScheduler).unwrap_or(0.0);
            effect.phase = found.share * starts;
        }
        // Each access takes a wavefront, with its lanes switched off too.
        let (mut all, mut theirs) = (0.0, 0.0);
        for (index, entry) in removal.listing.entries() {
            let executed = removal.listing.executed(index);
            if entry.term == Some(Term::Lsu) {
                all += executed.max(removal.listing.wavefronts(index));
                theirs += executed * found.of_executions[index];
            }
        }
        effect.removed.retain(|(term, _)| *term != Term::L1Data);
        effect.removed.push((Term::L1Data, if all > 0.0 { theirs / all } else { 0.0 }));
        // The warps that work take as long as before, one instruction after another.
        effect.least = one_after_another(launch, found.share);
        effect
    }
}
