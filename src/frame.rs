//! The trunk: a profile as polars frames, whatever file it came from.
//!
//! An export is turned into frames once, and everything after that reads them: filters and joins are
//! polars operations on them, and a [`Launch`] is the typed view of one launch that the rules get:
//! the catalogue's metrics under their canonical names, the source rows, and ncu's own findings.

mod build;
mod catalogue;
pub mod columns;
mod launch;
mod places;
mod read;
mod reads;
#[cfg(test)]
pub(crate) mod spy;
mod words;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use polars::prelude::*;

use crate::error::Result;
use crate::export::{Export, LaunchRow};

pub use catalogue::by_catalogue;
pub use launch::Launch;
pub(crate) use launch::SHARED_ATOMICS;
pub use reads::Reads;

use columns::{ALIKE, KERNEL, LAUNCH, TEXT};

/// A profile as frames. Every frame has the launch's number in `launch`; [`columns`] says what each
/// column holds.
#[derive(Debug, Clone)]
pub struct Frames {
    /// One row per launch, in launch order: `launch`, `kernel`, `grid_x` to `grid_z`, `block_x` to
    /// `block_z`, `device`, `cc_major`, `cc_minor`.
    pub launches: DataFrame,
    /// One row per launch and metric: `launch`, `section`, `metric`, `unit`, `value`, `text`.
    pub metrics: DataFrame,
    /// What ncu's rules said: `launch`, `section`, `rule`, `kind`, `message`, `estimate_percent`,
    /// `global`.
    pub ncu_rules: DataFrame,
    /// Counters per source line: `launch`, `file`, `line`, `text`, then one column per counter, named
    /// as [`SourceCounters`](crate::export::SourceCounters) names it.
    pub lines: DataFrame,
    /// Counters per SASS instruction: `launch`, `file`, `line`, `address`, `text`, then one column per
    /// counter.
    pub instructions: DataFrame,
}

impl Frames {
    /// Turns an export into frames.
    ///
    /// # Errors
    /// [`Error::Frames`](crate::error::Error::Frames) where the columns of a frame differ in length,
    /// which no export makes so.
    pub fn new(export: Export) -> Result<Self> {
        build::frames(export)
    }

    /// The kernels of the launches, in launch order.
    ///
    /// # Errors
    /// [`Error::Frames`](crate::error::Error::Frames) where the frame of launches has no kernels.
    pub fn kernels(&self) -> Result<Vec<String>> {
        let kernels = self.launches.column(KERNEL)?.str()?;
        Ok(kernels.iter().map(|kernel| kernel.unwrap_or_default().to_owned()).collect())
    }

    /// The frames of the launches whose kernel matches.
    ///
    /// # Errors
    /// [`Error::Frames`](crate::error::Error::Frames) where a frame lacks its columns.
    pub fn of_kernels(&self, matches: impl Fn(&str) -> bool) -> Result<Self> {
        let kernels = self.launches.column(KERNEL)?.str()?;
        let wanted: BooleanChunked =
            kernels.iter().map(|kernel| Some(kernel.is_some_and(&matches))).collect();
        let launches = self.launches.filter_seq(&wanted)?;
        let kept: HashSet<u32> = launches.column(LAUNCH)?.u32()?.iter().flatten().collect();
        let theirs = |frame: &DataFrame| {
            let launches = frame.column(LAUNCH)?.u32()?;
            let of_kept: BooleanChunked =
                launches.iter().map(|id| Some(id.is_some_and(|id| kept.contains(&id)))).collect();
            frame.filter_seq(&of_kept)
        };
        Ok(Self {
            metrics: theirs(&self.metrics)?,
            ncu_rules: theirs(&self.ncu_rules)?,
            lines: theirs(&self.lines)?,
            instructions: theirs(&self.instructions)?,
            launches,
        })
    }

    /// Drops the text of the instructions and keeps their counts, as pages without SASS have them.
    ///
    /// # Errors
    /// [`Error::Frames`](crate::error::Error::Frames), never in practice: the new column has a text for
    /// every row.
    pub fn forget_sass(&mut self) -> Result<()> {
        let texts = StringChunked::full(TEXT.into(), "", self.instructions.height());
        self.instructions.with_column(texts.into_column())?;
        Ok(())
    }

    /// The rows of [`launches`](Self::launches), typed.
    ///
    /// # Errors
    /// [`Error::Frames`](crate::error::Error::Frames) where the frame lacks its columns.
    pub fn launch_rows(&self) -> Result<Vec<LaunchRow>> {
        read::launches(&self.launches)
    }

    /// How many launches are like each: the same kernel, grid and block, itself included.
    fn alike(&self) -> Result<Vec<usize>> {
        let mut alike = vec![1; self.launches.height()];
        // Most profiles have one launch, and polars starts its threads for any group.
        if alike.len() == 1 {
            return Ok(alike);
        }
        for launches in groups(&self.launches, ALIKE)? {
            for &at in &launches {
                alike[at as usize] = launches.len();
            }
        }
        Ok(alike)
    }
}

/// Frames are worked on by the thread that asks: recordings are diagnosed on all cores at once, and a
/// thread that waited for polars' own threads would take up one recording within another until its
/// stack is full.
const IN_PARALLEL: bool = false;

/// The inner join of two frames by columns that both have: for each pair of rows that agree in them,
/// the left row's columns and then the right one's others, in the left frame's order.
///
/// polars' own joins start its threads (see [`IN_PARALLEL`]), and come with one more of its large crates,
/// `polars-ops`.
///
/// # Errors
/// [`Error::Frames`](crate::error::Error::Frames) where a frame lacks such a column, or both have
/// another one of the same name.
pub fn join<const N: usize>(
    left: &DataFrame,
    right: &DataFrame,
    by: [&str; N],
) -> Result<DataFrame> {
    let keys = left.select(by)?.vstack(&right.select(by)?)?;
    let height = left.height() as IdxSize;
    let mut pairs: Vec<(IdxSize, IdxSize)> = Vec::new();
    for rows in groups(&keys, by)? {
        let (of_left, of_right) = rows.split_at(rows.partition_point(|&row| row < height));
        let others = of_right.iter().map(|&row| row - height);
        pairs.extend(of_left.iter().flat_map(|&row| others.clone().map(move |other| (row, other))));
    }
    pairs.sort_unstable();
    let (of_left, of_right): (Vec<IdxSize>, Vec<IdxSize>) = pairs.into_iter().unzip();
    let rows = |rows| IdxCa::from_vec(PlSmallStr::EMPTY, rows);
    let others = right.drop_many(by).take(&rows(of_right))?;
    Ok(left.take(&rows(of_left))?.hstack(others.columns())?)
}

/// The rows that agree in some columns: the numbers of the rows of each group, in the order of the
/// groups' first rows.
///
/// # Errors
/// [`Error::Frames`](crate::error::Error::Frames) where the frame has no such column.
pub fn groups<const N: usize>(frame: &DataFrame, by: [&str; N]) -> Result<Vec<Vec<IdxSize>>> {
    let groups =
        frame.group_by_with_series(frame.select_to_vec(by)?, IN_PARALLEL, true)?.into_groups();
    Ok(groups
        .iter()
        .map(|group| match group {
            GroupsIndicator::Idx((_, rows)) => rows.to_vec(),
            GroupsIndicator::Slice([first, length]) => (first..first + length).collect(),
        })
        .collect())
}
