//! What the launches of a sequence load and store through the pointers that they are given.

use std::collections::HashMap;

use super::accesses::{Accesses, Sectors};
use crate::frame::Launch;
use crate::handed_on::{Link, Sequence};

/// What a launch of a sequence does with one of the buffers that it is given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    /// Where the pointer stands among the parameters.
    pub own: u32,
    pub buffer: u32,
    /// Sectors; infinitely many are loaded, and a few stored, where it is not known.
    pub loaded: f64,
    pub stored: f64,
}

impl Access {
    /// What may be anything.
    fn unknown(own: u32, buffer: u32) -> Self {
        Self { own, buffer, loaded: f64::INFINITY, stored: f64::MIN_POSITIVE }
    }

    /// True where it is known to store.
    pub(super) fn stores(&self) -> bool {
        self.stored > f64::MIN_POSITIVE
    }

    /// True where it is known to load.
    pub(super) fn loads(&self) -> bool {
        self.loaded > 0.0 && self.loaded.is_finite()
    }
}

/// A launch of a sequence.
pub(super) struct Step {
    /// Which of the profile's launches stands for it; none where the profile has no code of it, and it may load and store whatever
    /// it is given.
    pub launch: Option<usize>,
    pub accesses: Vec<Access>,
}

impl Step {
    pub(super) fn of(&self, buffer: u32) -> (f64, f64) {
        let such = self.accesses.iter().filter(|access| access.buffer == buffer);
        such.fold((0.0, 0.0), |(loaded, stored), it| (loaded + it.loaded, stored + it.stored))
    }
}

/// What the launches of each sequence do.
pub(super) fn of(launches: &[Launch], sequences: &[Sequence]) -> Vec<Vec<Step>> {
    let mut known = Known::new(launches);
    let mut steps =
        |sequence: &Sequence| sequence.launches.iter().map(|link| known.step(link)).collect();
    sequences.iter().map(&mut steps).collect()
}

/// The profiled launches of one's group.
pub(super) fn of_group(launches: &mut [Launch], one: usize) -> impl Iterator<Item = &mut Launch> {
    let group = launches[one].neighbours.group;
    launches.iter_mut().filter(move |launch| launch.neighbours.group == group)
}

/// What is known of the profiled launches; asked for when a sequence has them, as reading their code takes time.
struct Known<'a> {
    launches: &'a [Launch],
    by_group: HashMap<usize, usize>,
    accesses: HashMap<usize, Option<Accesses<'a>>>,
    /// By launch and pointer.
    sectors: HashMap<(usize, u32), Option<Sectors>>,
}

impl<'a> Known<'a> {
    fn new(launches: &'a [Launch]) -> Self {
        let group = |(at, launch): (usize, &Launch)| Some((launch.neighbours.group?, at));
        let by_group = launches.iter().enumerate().filter_map(group).collect();
        Self { launches, by_group, accesses: HashMap::new(), sectors: HashMap::new() }
    }

    /// What a launch of a sequence does with what it is given.
    fn step(&mut self, link: &Link) -> Step {
        let launches = self.launches;
        let code = self.by_group.get(&link.group).and_then(|&launch| {
            let code =
                self.accesses.entry(launch).or_insert_with(|| Accesses::by(&launches[launch]));
            Some((launch, code.as_ref()?))
        });
        let sectors = &mut self.sectors;
        let access = |&[own, buffer]: &[u32; 2]| {
            let Some((launch, code)) = code else { return Access::unknown(own, buffer) };
            let known = *sectors.entry((launch, own)).or_insert_with(|| code.through(own));
            let Some(Sectors { loaded, stored }) = known else {
                return Access::unknown(own, buffer);
            };
            Access { own, buffer, loaded, stored }
        };
        let launch = code.map(|(launch, _)| launch);
        Step { launch, accesses: link.given.iter().map(access).collect() }
    }
}
