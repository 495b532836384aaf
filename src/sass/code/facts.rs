//! What several rules ask of one launch's instructions, each found once.

use std::sync::OnceLock;

use super::bystanders::Bystanders;
use super::charge::Charge;
use super::live_sets::Live;
use crate::metric::stall::StallReason;
use crate::sass::code::marks::Marks;
use crate::sass::code::mix::Mix;

/// Answers about a launch's instructions and their counters, found when they are first asked for and
/// kept beside the launch's [`crate::sass::Sass`]: a bit an instruction, 24 bytes a charge, 64 bytes a block, 8
/// bytes an instruction where most warps do nothing, and less than 1 KB. A launch whose instructions are changed must begin anew, as a copy of it does.
#[derive(Debug, Default)]
pub struct Facts {
    mix: OnceLock<Mix>,
    work: OnceLock<Marks>,
    idle_share: OnceLock<f64>,
    waits_for_few: OnceLock<f64>,
    bystanders: OnceLock<Option<Bystanders>>,
    live: OnceLock<Live>,
    long: OnceLock<Box<[Charge]>>,
    short: OnceLock<Box<[Charge]>>,
}

impl Facts {
    pub(in crate::sass) fn mix(&self, find: impl FnOnce() -> Mix) -> &Mix {
        self.mix.get_or_init(find)
    }

    pub(in crate::sass) fn work(&self, find: impl FnOnce() -> Marks) -> &Marks {
        self.work.get_or_init(find)
    }

    pub(in crate::sass) fn idle_share(&self, find: impl FnOnce() -> f64) -> f64 {
        *self.idle_share.get_or_init(find)
    }

    pub(in crate::sass) fn waits_for_few(&self, find: impl FnOnce() -> f64) -> f64 {
        *self.waits_for_few.get_or_init(find)
    }

    pub(in crate::sass) fn bystanders(
        &self,
        find: impl FnOnce() -> Option<Bystanders>,
    ) -> Option<&Bystanders> {
        self.bystanders.get_or_init(find).as_ref()
    }

    pub(in crate::sass) fn live(&self, find: impl FnOnce() -> Live) -> &Live {
        self.live.get_or_init(find)
    }

    /// The charges of the two stalls that wait for a scoreboard; `None` for the others, of which no
    /// two rules ask the same.
    pub(in crate::sass) fn charges(
        &self,
        reason: StallReason,
        find: impl FnOnce() -> Box<[Charge]>,
    ) -> Option<&[Charge]> {
        let known = match reason {
            StallReason::LongScoreboard => &self.long,
            StallReason::ShortScoreboard => &self.short,
            _ => return None,
        };
        Some(known.get_or_init(find))
    }
}
