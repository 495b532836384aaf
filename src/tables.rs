//! A profile's frames as files that other tools read: CSV and Parquet.

mod csv;
mod parquet;
mod thrift;

use std::io::Write;

use clap::ValueEnum;
use polars::prelude::*;

use crate::error::{Error, Result};
use crate::frame::Frames;

pub(crate) use parquet::{Cells, TableFile, Texts};

/// One of a profile's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// The launches: kernel, grid, block, device.
    Launches,
    /// Every metric of every launch.
    Metrics,
    /// What ncu's rules say.
    NcuRules,
    /// Counters per source line.
    Lines,
    /// Counters per SASS instruction.
    Instructions,
}

impl Table {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Launches, Self::Metrics, Self::NcuRules, Self::Lines, Self::Instructions];

    /// Its name, and that of its file without an extension.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Launches => "launches",
            Self::Metrics => "metrics",
            Self::NcuRules => "ncu-rules",
            Self::Lines => "lines",
            Self::Instructions => "instructions",
        }
    }

    fn of(self, frames: &Frames) -> &DataFrame {
        match self {
            Self::Launches => &frames.launches,
            Self::Metrics => &frames.metrics,
            Self::NcuRules => &frames.ncu_rules,
            Self::Lines => &frames.lines,
            Self::Instructions => &frames.instructions,
        }
    }

    /// The rows of several profiles below one another, the profile's name before them in a column `profile`.
    ///
    /// # Errors
    /// [`Error::Frames`] where the columns of two profiles differ.
    pub fn rows<'a>(
        self,
        profiles: impl IntoIterator<Item = (&'a str, &'a Frames)>,
    ) -> Result<DataFrame> {
        let mut all: Option<DataFrame> = None;
        for (name, frames) in profiles {
            let frame = self.of(frames);
            let profile = StringChunked::full("profile".into(), name, frame.height()).into_column();
            let columns = std::iter::once(profile).chain(frame.columns().iter().cloned()).collect();
            let named = DataFrame::new(frame.height(), columns)?;
            all = Some(match all {
                None => named,
                Some(before) => before.vstack(&named)?,
            });
        }
        all.ok_or_else(|| Error::Usage("there is no profile to write tables of".to_owned()))
    }
}

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Comma-separated values: a line of names, then a line per row; null is empty.
    Csv,
    /// Apache Parquet, compressed with zstd.
    Parquet,
}

impl Form {
    /// The extension of its files.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// True where a terminal can't show it.
    #[must_use]
    pub fn is_binary(self) -> bool {
        self == Self::Parquet
    }

    /// Writes a table.
    ///
    /// # Errors
    /// Whatever writing to `out` gives, and [`Error::Frames`] for a column of a type that no frame has.
    pub fn write(self, table: &DataFrame, out: &mut dyn Write) -> Result<()> {
        match self {
            Self::Csv => csv::write(table, out),
            Self::Parquet => parquet::write(table, out),
        }
    }
}

/// What no frame has.
fn unknown(column: &Column) -> Error {
    Error::Frames(format!("column {} has the type {}", column.name(), column.dtype()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Every type of column that frames have, with nulls, and text that must be quoted.
    pub(crate) fn sample() -> DataFrame {
        df!(
            "kernel" => [Some("a<int, 2>(\"x\")"), None, Some("two\nlines")],
            "line" => [Some(7_u32), None, Some(u32::MAX)],
            "address" => [Some(u64::MAX), Some(0), None],
            "value" => [Some(0.1), Some(f64::INFINITY), None],
            "global" => [Some(true), None, Some(false)],
        )
        .unwrap()
    }

    #[test]
    fn profiles_stand_below_one_another() {
        let frames = Frames {
            launches: df!("launch" => [0_u32, 1]).unwrap(),
            metrics: df!("launch" => [0_u32]).unwrap(),
            ncu_rules: sample(),
            lines: sample(),
            instructions: sample(),
        };
        let table = Table::Launches.rows([("one", &frames), ("two", &frames)]).unwrap();
        let profiles: Vec<_> =
            table.column("profile").unwrap().str().unwrap().iter().flatten().collect();
        assert_eq!(profiles, ["one", "one", "two", "two"]);
        let launches: Vec<_> =
            table.column("launch").unwrap().u32().unwrap().iter().flatten().collect();
        assert_eq!(launches, [0, 1, 0, 1]);
        assert!(Table::Lines.rows([]).is_err());
    }

    #[test]
    fn names_are_those_of_the_command_line() {
        for table in Table::ALL {
            assert_eq!(table.to_possible_value().unwrap().get_name(), table.name());
        }
        assert_eq!(Table::value_variants().len(), Table::ALL.len());
    }
}
