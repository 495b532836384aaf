//! What a user should know of the launches of a profile, gathered launch by launch: of a large report none is kept.

use std::collections::BTreeSet;

use super::lacking::{Lacks, is_thin};
use super::lineless::Lineless;
use super::several::Several;
use super::unread::Unread;
use crate::frame::Launch;

/// What is told of launches, each of which is looked at once.
#[derive(Debug, Default)]
pub struct Remarks {
    devices: BTreeSet<String>,
    lacks: Lacks,
    lineless: Lineless,
    several: Several,
    unread: Unread,
}

impl Remarks {
    /// Looks at a launch.
    pub fn note(&mut self, launch: &Launch) {
        // A profile that names no device (a details page alone) has no counters either that a ceiling could be held
        // against.
        if let Some(device) = launch.row.device.as_deref() {
            self.devices.extend(launch.device_facts().remark(Some(device)));
        }
        self.lineless.note(launch);
        self.several.note(launch);
        if !is_thin(launch) {
            self.lacks.note(launch);
            if !launch.row.is_of_several_kernels() {
                self.unread.note(launch);
            }
        }
    }

    /// What changes what all the rest is worth, each one sentence.
    #[must_use]
    pub fn first(&self) -> Vec<String> {
        let unread = self.unread.remark().into_iter().chain(self.unread.uncounted_remark());
        self.several.remark().into_iter().chain(unread).collect()
    }

    /// What there is to know beside it, each one sentence: what the diagnosis had to do without on the launches'
    /// devices, and what the launches lack. Missing lines are told where `is_program`: of a program that was profiled
    /// here; an export may lack them for want of a view, and steps have them.
    #[must_use]
    pub fn others(self, is_program: bool) -> Vec<String> {
        let lineless = self.lineless.remark().filter(|_| is_program);
        self.devices.into_iter().chain(self.lacks.remark()).chain(lineless).collect()
    }
}
