//! One launch, as rules and the model read it.

use std::sync::{Arc, OnceLock};

use foldhash::HashMap;

use super::columns::{LAUNCH, METRIC, VALUE};
use super::{Frames, read};
use crate::device::{DeviceFacts, Quantity};
use crate::error::Result;
use crate::export::{LaunchRow, NcuRuleRow, SourceRow};
use crate::handed_on::Neighbours;
use crate::metric;
use crate::metric::stall::StallReason;
use crate::sass::{Facts, Family, Listing, Mix, Sass, Space, Turns};

/// One kernel launch with everything known of it.
///
/// Only metrics of the catalogue are kept here, under their canonical names and units, so a launch
/// stays small however much was collected.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// Kernel, grid, block, device.
    pub row: LaunchRow,
    /// ncu's own rule results.
    pub ncu_rules: Vec<NcuRuleRow>,
    /// Counters by source line.
    pub lines: Vec<SourceRow>,
    /// Counters by SASS instruction.
    pub instructions: Vec<SourceRow>,
    /// How many launches of the profile are like this one: the same kernel, grid and block, itself
    /// included. 0 where nobody counted.
    pub alike: usize,
    /// How many such launches the program makes in a row, each with memory of its own; 0 or 1 where it makes none, or where that
    /// is not known.
    pub in_a_row: u64,
    /// How many launches make up a turn, where these are launched in turn with others; 0 or 1 where nothing comes between.
    pub turn: u64,
    /// Where the pointers stand, among the bytes of its parameters, that launches in a row share: it is only a row if nothing is
    /// stored through these.
    pub if_only_read: Vec<u32>,
    /// What it shares with the launches beside it; nothing where that is not known.
    pub neighbours: Neighbours,
    /// True where it is known that the whole run launched nothing else.
    pub is_alone: bool,
    values: HashMap<&'static str, f64>,
    sass: Parsed,
}

/// The SASS taken apart and what was asked of it, on first use. A copy begins without: its
/// instructions may be changed.
#[derive(Debug, Default)]
struct Parsed {
    sass: OnceLock<Sass>,
    facts: Facts,
}

impl Clone for Parsed {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Executed atomics on shared memory.
pub(crate) const SHARED_ATOMICS: &str = "smsp__inst_executed_op_shared_atom.sum";

impl Launch {
    /// All launches of a profile, in its order.
    ///
    /// # Errors
    /// [`Error::Frames`](crate::error::Error::Frames) where a frame lacks its columns.
    pub fn all(frames: &Frames) -> Result<Vec<Self>> {
        let mut launches: Vec<Self> = read::launches(&frames.launches)?
            .into_iter()
            .zip(frames.alike()?)
            .map(|(row, alike)| Self { row, alike, ..Self::default() })
            .collect();
        let index: HashMap<u32, usize> =
            launches.iter().enumerate().map(|(at, launch)| (launch.row.id, at)).collect();
        let metrics = &frames.metrics;
        let (ids, names) = (metrics.column(LAUNCH)?.u32()?, metrics.column(METRIC)?.str()?);
        let values = metrics.column(VALUE)?.f64()?;
        for ((id, name), value) in ids.iter().zip(names.iter()).zip(values.iter()) {
            let (Some(id), Some(name), Some(value)) = (id, name, value) else { continue };
            let (Some(&at), Some((metric, scale))) = (index.get(&id), metric::canonical(name))
            else {
                continue;
            };
            // As in `by_catalogue`, which a launch has no use for: most metrics are not the rules'.
            if metric.name == name {
                launches[at].values.insert(metric.name, value);
            } else {
                launches[at].values.entry(metric.name).or_insert(value * scale);
            }
        }
        for rule in read::ncu_rules(&frames.ncu_rules)? {
            if let Some(&at) = index.get(&rule.launch) {
                launches[at].ncu_rules.push(rule);
            }
        }
        read::source(&frames.lines, |row| {
            if let Some(&at) = index.get(&row.launch) {
                launches[at].lines.push(row);
            }
        })?;
        read::source(&frames.instructions, |row| {
            if let Some(&at) = index.get(&row.launch) {
                launches[at].instructions.push(row);
            }
        })?;
        // Part of reading, like the numbers: what is text in the export is not taken apart later.
        for launch in &mut launches {
            launch.lines.shrink_to_fit();
            launch.instructions.shrink_to_fit();
            // The page has them line by line; all that looks at them goes by addresses.
            launch.instructions.sort_by_key(|row| row.address);
            launch.count_shared_atomics();
        }
        Ok(launches)
    }

    /// Counts atomics on shared memory by the instructions where ncu was not asked for them, so that no further run need be.
    fn count_shared_atomics(&mut self) {
        let whole = self.listing().filter(Listing::is_whole);
        let counted = whole.map(|listing| listing.mix().family(Family::Atomic(Space::Shared)));
        if let Some(counted) = counted {
            self.values.entry(SHARED_ATOMICS).or_insert(counted);
        }
    }

    /// The value of a catalogue metric by its canonical name, in the catalogue's unit.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        debug_assert!(
            metric::canonical(name).is_some_and(|(metric, _)| metric.name == name),
            "{name} is not a canonical name of the catalogue"
        );
        #[cfg(test)]
        super::spy::note(name);
        self.values.get(name).copied()
    }

    /// Sets a metric: for tests and for masking experiments.
    pub fn set(&mut self, name: &str, value: Option<f64>) {
        let Some((metric, scale)) = metric::canonical(name) else { return };
        match value {
            Some(value) => self.values.insert(metric.name, value * scale),
            None => self.values.remove(metric.name),
        };
    }

    /// Cycles that a warp spends in a stall per issued instruction.
    #[must_use]
    pub fn stall(&self, reason: StallReason) -> Option<f64> {
        self.get(&reason.ratio_metric())
    }

    /// What is known of the device that it ran on.
    #[must_use]
    pub fn device_facts(&self) -> Arc<DeviceFacts> {
        DeviceFacts::of(self.row.device.as_deref(), self.row.compute_capability)
    }

    /// How long instructions that are not of the usual length keep their unit on this device.
    fn turns(&self) -> Turns {
        let facts = self.device_facts();
        let of = |quantity| facts.get(quantity).map_or(1, |turns| turns as u8);
        Turns { half: of(Quantity::HalfTurns), wide: of(Quantity::WideProductTurns) }
    }

    /// The machine code beside its counts; `None` where the export has no instructions or not their
    /// text. The code is taken apart once, for launches of an export when they are read: change the
    /// instructions before the first call, or on a copy.
    #[must_use]
    pub fn listing(&self) -> Option<Listing<'_>> {
        let sass = self.sass.sass.get_or_init(|| Sass::new(&self.instructions, self.turns()));
        Listing::new(&self.instructions, sass, &self.sass.facts)
    }

    /// What the executed instructions are, worked out once; `None` without SASS.
    #[must_use]
    pub fn mix(&self) -> Option<&Mix> {
        self.listing().map(|listing| listing.mix())
    }

    /// Duration under the profiler, ns.
    #[must_use]
    pub fn duration_ns(&self) -> Option<f64> {
        self.get("gpu__time_duration.sum").filter(|&ns| ns > 0.0)
    }

    /// True where the profile has counters per source line or instruction.
    #[must_use]
    pub fn has_source(&self) -> bool {
        !self.lines.is_empty() || !self.instructions.is_empty()
    }
}
