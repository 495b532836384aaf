//! Which launch of the baseline is compared with which of the new profile.

use polars::prelude::*;

use super::join::{BASE, NEW};
use crate::error::Result;
use crate::export::LaunchRow;
use crate::frame::columns::KERNEL;
use crate::frame::{Frames, groups, join};
use crate::text::count_of;

/// Two launches that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    /// The baseline's launch id.
    pub base: u32,
    /// The new profile's launch id.
    pub new: u32,
    kernels: (String, String),
    shapes: (Shape, Shape),
    occurrence: usize,
    repeats: bool,
}

impl Pair {
    /// The kernel's name; both names where they differ; which launch of it where there are several.
    pub(super) fn kernel(&self) -> String {
        let (base, new) = &self.kernels;
        let mut name = if base == new { base.clone() } else { format!("{base} → {new}") };
        if self.repeats {
            name = format!("{name} #{}", self.occurrence + 1);
        }
        name
    }
}

/// Grid and block of a launch, each as `x × y × z`.
type Shape = (String, String);

/// Warnings of one kind that are told; the rest is counted.
const MOST_TOLD: usize = 3;

/// Characters of a kernel's name that a warning shows: templates make names of thousands.
const LONGEST_NAME: usize = 100;

/// All pairs and what is left over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pairing {
    /// The pairs, in the baseline's order.
    pub pairs: Vec<Pair>,
    counts: (usize, usize),
    /// The kernels of either side, each once, where no launch has a partner.
    strangers: Option<(Vec<String>, Vec<String>)>,
}

impl Pairing {
    /// True where every launch has a partner.
    pub(super) fn is_whole(&self) -> bool {
        self.counts == (self.pairs.len(), self.pairs.len())
    }

    /// What is unlike: the numbers of launches, their kernels, grids and blocks.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (base, new) = self.counts;
        if base != new {
            let compared = match self.pairs.len() {
                0 => "none is compared".to_owned(),
                1 => "1 is compared".to_owned(),
                several => format!("{several} are compared"),
            };
            warnings.push(format!(
                "the baseline has {}, the new profile {new}; {compared}",
                count_of(base as f64, "launch"),
            ));
        }
        if let Some((base, new)) = &self.strangers {
            warnings.push(format!(
                "the kernels differ, and which ones correspond is unknown: {} against {}",
                listed(base),
                listed(new)
            ));
        }
        let renamed = self.pairs.iter().filter(|pair| pair.kernels.0 != pair.kernels.1);
        warnings.extend(told(
            renamed.map(|pair| {
                let (base, new) = (brief(&pair.kernels.0), brief(&pair.kernels.1));
                format!("the kernels differ: {base} is compared with {new}")
            }),
            "kernel",
        ));
        let reshaped = self.pairs.iter().filter(|pair| pair.shapes.0 != pair.shapes.1);
        warnings.extend(told(
            reshaped.map(|pair| {
                let ((grid, block), (new_grid, new_block)) = &pair.shapes;
                let grids = different("grid", grid, new_grid);
                let blocks = different("block", block, new_block);
                let what: Vec<String> = [grids, blocks].into_iter().flatten().collect();
                format!("the launches of {} differ: {}", brief(&pair.kernels.0), what.join(", "))
            }),
            "launch",
        ));
        warnings
    }
}

/// `grid 64 against 128` where they differ.
fn different(what: &str, base: &str, new: &str) -> Option<String> {
    let shape = |text: &str| text.replace('x', "×");
    (base != new).then(|| format!("{what} {} against {}", shape(base), shape(new)))
}

/// The first warnings, each once, and how many more there are.
fn told(warnings: impl Iterator<Item = String>, noun: &str) -> Vec<String> {
    let mut each: Vec<String> = Vec::new();
    for warning in warnings {
        if !each.contains(&warning) {
            each.push(warning);
        }
    }
    let more = each.len().saturating_sub(MOST_TOLD);
    each.truncate(MOST_TOLD);
    if more > 0 {
        let more = count_of(more as f64, &format!("more {noun}"));
        each.push(format!("{more} with such a difference"));
    }
    each
}

/// A kernel's name, cut where it would fill the screen.
fn brief(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}

/// The first names, and how many more there are.
fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_TOLD);
    let first = names.iter().take(MOST_TOLD).map(|name| brief(name)).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

/// Pairs the k-th launch of a kernel with the k-th of the same name. What is left over is taken for
/// renamed, and paired in order, if it is equally many on both sides.
pub(super) fn launches(base: &Frames, new: &Frames) -> Result<Pairing> {
    let (base_rows, new_rows) = (base.launch_rows()?, new.launch_rows()?);
    let occurrences = occurrences(base)?;
    let joined = join(
        &numbered(base, &occurrences, BASE)?,
        &numbered(new, &self::occurrences(new)?, NEW)?,
        [KERNEL, OCCURRENCE],
    )?;
    let places = |side: &str| -> Result<Vec<usize>> {
        Ok(joined.column(side)?.u32()?.iter().flatten().map(|at| at as usize).collect())
    };
    let (base_places, new_places) = (places(BASE)?, places(NEW)?);
    let left = others(base_rows.len(), &base_places);
    let renamed = others(new_rows.len(), &new_places);
    let mut pairs: Vec<(usize, usize)> = base_places.into_iter().zip(new_places).collect();
    if left.len() == renamed.len() {
        pairs.extend(left.into_iter().zip(renamed));
    }
    pairs.sort_unstable();
    let kernel = |at: usize| &base_rows[at].kernel;
    let repeats = |at| pairs.iter().filter(|(other, _)| kernel(*other) == kernel(at)).count() > 1;
    let strangers = (pairs.is_empty() && !(base_rows.is_empty() && new_rows.is_empty()))
        .then(|| (kernels(&base_rows), kernels(&new_rows)));
    let shape = |row: &LaunchRow| (extent(row.grid), extent(row.block));
    Ok(Pairing {
        counts: (base_rows.len(), new_rows.len()),
        strangers,
        pairs: pairs
            .iter()
            .map(|&(at, other)| {
                let (base, new) = (&base_rows[at], &new_rows[other]);
                Pair {
                    base: base.id,
                    new: new.id,
                    occurrence: occurrences[at],
                    repeats: repeats(at),
                    shapes: (shape(base), shape(new)),
                    kernels: (base.kernel.clone(), new.kernel.clone()),
                }
            })
            .collect(),
    })
}

/// Which launch of its kernel one is.
const OCCURRENCE: &str = "occurrence";

/// The launches as `kernel`, `occurrence`, and their places in a column of this name.
fn numbered(frames: &Frames, occurrences: &[usize], places: &str) -> Result<DataFrame> {
    let kernels = frames.launches.column(KERNEL)?.clone();
    let occurrences: Vec<u32> = occurrences.iter().map(|&at| at as u32).collect();
    let height = occurrences.len();
    let numbers: Vec<u32> = (0..).take(height).collect();
    let number = |name: &str, numbers| Column::new(name.into(), numbers);
    let columns = vec![kernels, number(OCCURRENCE, occurrences), number(places, numbers)];
    Ok(DataFrame::new(height, columns)?)
}

/// The places below a count that are not among these.
fn others(count: usize, places: &[usize]) -> Vec<usize> {
    let mut is_free = vec![true; count];
    for &place in places {
        is_free[place] = false;
    }
    (0..count).filter(|&place| is_free[place]).collect()
}

/// Which launch of its kernel each is, from 0.
fn occurrences(frames: &Frames) -> Result<Vec<usize>> {
    let mut occurrences = vec![0; frames.launches.height()];
    for launches in groups(&frames.launches, [KERNEL])? {
        for (occurrence, at) in launches.into_iter().enumerate() {
            occurrences[at as usize] = occurrence;
        }
    }
    Ok(occurrences)
}

/// The kernels of some launches, each once.
fn kernels(rows: &[LaunchRow]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        if !names.contains(&row.kernel) {
            names.push(row.kernel.clone());
        }
    }
    names
}

/// `64` of 64 × 1 × 1.
fn extent([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => format!("{x}"),
        (_, 1) => format!("{x}x{y}"),
        _ => format!("{x}x{y}x{z}"),
    }
}
