//! What a rule looks at: a launch as it was profiled, its time model, and the questions that several
//! rules ask of both.

use std::sync::Arc;

use crate::export::SourceRow;
use crate::finding::{Location, Place, Weighted};
use crate::frame::{Launch, Reads};
use crate::hardware::WARP_LANES;
use crate::metric::stall::StallReason;
pub(crate) use crate::model::OCCUPANCY_LIMITS;
use crate::model::{Model, blocks_per_sm};

/// A launch beside its time model.
#[derive(Debug, Clone, Copy)]
pub struct ModeledLaunch<'a> {
    /// What the profile holds of it.
    pub profile: &'a Launch,
    /// Its time model.
    pub model: &'a Model,
}

impl<'a> ModeledLaunch<'a> {
    /// A metric that stands in the rule's `needs`; NaN, which no comparison passes, if it is absent.
    #[must_use]
    pub fn need(&self, name: &str) -> f64 {
        self.profile.get(name).unwrap_or(f64::NAN)
    }

    /// A metric that may be absent. It stands in the rule's `sharpened_by`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.profile.get(name)
    }

    /// A metric that a finding's text or evidence quotes and on which nothing else depends, so that no
    /// rule declares it.
    #[must_use]
    pub fn quote(&self, name: &str) -> Option<f64> {
        #[cfg(test)]
        return crate::frame::spy::unnoted(|| self.profile.get(name));
        #[cfg(not(test))]
        self.profile.get(name)
    }

    /// Stall cycles per issued instruction, 0 where the reason was not collected.
    #[must_use]
    pub fn stall(&self, reason: StallReason) -> f64 {
        self.profile.stall(reason).unwrap_or(0.0)
    }

    /// The row of the line or instruction that a location names.
    #[must_use]
    pub fn row(&self, location: &Location) -> Option<&'a SourceRow> {
        self.profile.row_at(location)
    }

    /// The places with the largest shares of something that only instructions tell (their opcode):
    /// at most three. Empty without instructions.
    #[must_use]
    pub fn places_of(&self, share_of: &str, counter: impl Fn(&SourceRow) -> f64) -> Vec<Location> {
        let rows = &self.profile.instructions;
        if rows.iter().all(|row| row.line.is_none()) {
            let weighted = rows.iter().map(|row| (row, counter(row)));
            return self.profile.top_instructions(3, share_of, weighted);
        }
        let mut lines: Vec<(&Option<Arc<str>>, u32, f64)> = Vec::new();
        let mut total = 0.0;
        for row in rows {
            let (Some(line), value) = (row.line, counter(row)) else { continue };
            if value <= 0.0 {
                continue;
            }
            total += value;
            match lines.iter_mut().find(|(file, at, _)| **file == row.file && *at == line) {
                Some((.., sum)) => *sum += value,
                None => lines.push((&row.file, line, value)),
            }
        }
        let lines = lines.into_iter().map(|(file, line, weight)| Weighted {
            place: Place::Line { file: file.as_deref().unwrap_or_default(), line },
            weight,
        });
        Location::heaviest(lines, total, 3, share_of, |file, line| self.profile.text_of(file, line))
    }

    /// The places with most samples of some stalls: at most three.
    #[must_use]
    pub fn stalled_places(&self, reasons: &[StallReason], share_of: &str) -> Vec<Location> {
        self.profile.top_places(3, share_of, |counters| {
            reasons.iter().map(|&reason| counters.stall_samples[reason as usize]).sum()
        })
    }

    /// The share (0 to 1) of a stall's samples on the lines that are picked; 1 where no line has
    /// such samples, so that a profile without source counts the stall in full.
    #[must_use]
    pub fn stall_on(&self, reason: StallReason, pick: impl Fn(&SourceRow) -> bool) -> f64 {
        let samples = |row: &SourceRow| row.counters.stall_samples[reason as usize];
        let all: f64 = self.profile.lines.iter().map(samples).sum();
        let picked: f64 = self.profile.lines.iter().filter(|row| pick(row)).map(samples).sum();
        if all > 0.0 { picked / all } else { 1.0 }
    }

    /// Lanes that are active in an average warp of a launch that never diverges: 32, or fewer where
    /// the block is no multiple of the warp.
    #[must_use]
    pub fn full_lanes(&self) -> f64 {
        match self.get(BLOCK) {
            Some(threads) if threads > 0.0 => threads / (threads / WARP_LANES).ceil(),
            _ => WARP_LANES,
        }
    }

    /// Blocks that an SM holds at once: the smallest of the occupancy limits that were collected.
    #[must_use]
    pub fn blocks_per_sm(&self) -> Option<f64> {
        blocks_per_sm(self.profile)
    }

    /// Waves of blocks: grid over what all SMs hold at once. Worked out from the limits where they
    /// are known, because ncu's own figure is printed with two decimals.
    #[must_use]
    pub fn waves(&self) -> Option<f64> {
        let exact = self
            .get(GRID)
            .zip(self.get(SMS))
            .zip(self.blocks_per_sm())
            .map(|((blocks, sms), each)| blocks / (sms * each))
            .filter(|waves| waves.is_finite());
        exact.or_else(|| self.get(ROUNDED_WAVES))
    }
}

/// The opcode of a SASS instruction with its modifiers, without its guard: `LDG.E.128` of
/// `@!P0 LDG.E.128 R4, [R2.64]`; empty where there is none.
#[must_use]
pub(crate) fn opcode(text: &str) -> &str {
    let mut words = text.split_whitespace();
    match words.next() {
        Some(guard) if guard.starts_with('@') => words.next().unwrap_or_default(),
        Some(opcode) => opcode.trim_end_matches(';'),
        None => "",
    }
}

pub(crate) const GRID: &str = "launch__grid_size";
pub(crate) const SMS: &str = "launch__sm_count";
pub(crate) const BLOCK: &str = "launch__block_size";
const ROUNDED_WAVES: &str = "launch__waves_per_multiprocessor";

/// What [`ModeledLaunch::full_lanes`] reads.
pub(crate) const BLOCK_SIZE: Reads = Reads::always(&[BLOCK]);
/// What [`ModeledLaunch::waves`] and [`ModeledLaunch::blocks_per_sm`] read.
pub(crate) const BLOCKS_AT_ONCE: Reads = Reads::always(&[
    GRID,
    SMS,
    OCCUPANCY_LIMITS[0],
    OCCUPANCY_LIMITS[1],
    OCCUPANCY_LIMITS[2],
    OCCUPANCY_LIMITS[3],
    OCCUPANCY_LIMITS[4],
]);
/// What stands in for them.
pub(crate) const WAVES: Reads = Reads::stand_in(&[ROUNDED_WAVES]);

/// `line 43` or `instruction 0x2a0`, or a description where the profile has no source counters.
#[must_use]
pub(crate) fn place(locations: &[Location], otherwise: &str) -> String {
    locations.first().map_or_else(|| otherwise.to_owned(), Location::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_blocks_over_what_all_sms_hold() {
        let metrics =
            [(GRID, 1000.0), (SMS, 100.0), (OCCUPANCY_LIMITS[1], 5.0), (ROUNDED_WAVES, 7.0)];
        let mut launch = crate::evidence::testing::launch(&metrics);
        let waves =
            |launch: &Launch| ModeledLaunch { profile: launch, model: &Model::new(launch) }.waves();
        assert_eq!(waves(&launch), Some(2.0));
        launch.set(SMS, None);
        assert_eq!(waves(&launch), Some(7.0), "ncu's own figure");
    }
}
