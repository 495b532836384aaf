//! A column's values in memory.

use foldhash::HashMap;
use polars::prelude::*;

/// A column's values, in rows' order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cells {
    /// Truth values.
    Bool(Vec<Option<bool>>),
    /// Whole numbers of 32 bits.
    U32(Vec<Option<u32>>),
    /// Whole numbers of 64 bits.
    U64(Vec<Option<u64>>),
    /// Numbers.
    F64(Vec<Option<f64>>),
    /// Texts.
    Text(Texts),
}

/// Texts that repeat: each once, and which one each row has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    values: Vec<String>,
    codes: Vec<Option<u32>>,
    by_text: HashMap<String, u32>,
    bytes: usize,
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.codes.len() == other.codes.len()
            && (0..self.codes.len()).all(|row| self.get(row) == other.get(row))
    }
}

impl Texts {
    /// Texts of one column that differ take no more than this, bytes.
    const MOST_BYTES: usize = 64 << 20;

    /// So many rows without a text.
    pub(crate) fn nulls(rows: usize) -> Self {
        Self { codes: vec![None; rows], ..Self::default() }
    }

    /// Which text each row has, as numbers below [`values`](Self::values)' length.
    pub(crate) fn codes(&self) -> &[Option<u32>] {
        &self.codes
    }

    /// Each text once.
    pub(crate) fn values(&self) -> &[String] {
        &self.values
    }

    /// A row's text.
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        self.codes.get(row).copied().flatten().map(|code| self.values[code as usize].as_str())
    }

    /// Adds a row.
    pub(super) fn push(&mut self, code: Option<u32>) {
        self.codes.push(code);
    }

    /// The number of a text; `None` where all texts together are too long.
    pub(super) fn code(&mut self, text: &str) -> Option<u32> {
        if let Some(&code) = self.by_text.get(text) {
            return Some(code);
        }
        // Twice, and what lists and tables take beside.
        self.bytes += 2 * text.len() + 64;
        (self.bytes <= Self::MOST_BYTES).then_some(())?;
        let code = u32::try_from(self.values.len()).ok()?;
        self.values.push(text.to_owned());
        self.by_text.insert(text.to_owned(), code);
        Some(code)
    }
}

impl Cells {
    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bool(cells) => cells.len(),
            Self::U32(cells) => cells.len(),
            Self::U64(cells) => cells.len(),
            Self::F64(cells) => cells.len(),
            Self::Text(texts) => texts.codes.len(),
        }
    }

    /// The same as a frame's column.
    pub(crate) fn column(&self, name: &str) -> Column {
        let name = PlSmallStr::from_str(name);
        match self {
            Self::Bool(cells) => BooleanChunked::new(name, cells.as_slice()).into_column(),
            Self::U32(cells) => UInt32Chunked::new(name, cells.as_slice()).into_column(),
            Self::U64(cells) => UInt64Chunked::new(name, cells.as_slice()).into_column(),
            Self::F64(cells) => Float64Chunked::new(name, cells.as_slice()).into_column(),
            Self::Text(texts) => {
                let rows = (0..texts.codes.len()).map(|row| texts.get(row));
                StringChunked::from_iter_options(name, rows).into_column()
            }
        }
    }
}
