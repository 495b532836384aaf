//! Which launch of the baseline is compared with which of the new profile.

use std::collections::BTreeMap;

use polars::prelude::{DataFrame, PolarsResult};

/// Two launches that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The baseline's launch id.
    pub base: u32,
    /// The new profile's launch id.
    pub new: u32,
    kernels: (String, String),
    occurrence: usize,
    repeats: bool,
}

impl Pair {
    /// The kernel's name; both names where they differ; which launch of it where there are several.
    pub fn kernel(&self) -> String {
        let (base, new) = &self.kernels;
        let mut name = if base == new { base.clone() } else { format!("{base} → {new}") };
        if self.repeats {
            name = format!("{name} #{}", self.occurrence + 1);
        }
        name
    }
}

/// All pairs and what is left over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairing {
    /// The pairs, in the baseline's order.
    pub pairs: Vec<Pair>,
    counts: (usize, usize),
}

impl Pairing {
    /// Different kernels and different numbers of launches.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let (base, new) = self.counts;
        if base != new {
            warnings.push(format!(
                "the baseline has {base} launches, the new profile {new}; {} are compared",
                self.pairs.len()
            ));
        }
        for pair in &self.pairs {
            if pair.kernels.0 != pair.kernels.1 {
                let (base, new) = &pair.kernels;
                let warning = format!("the kernels differ: {base} is compared with {new}");
                // Once a kernel, however often it was launched.
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        warnings
    }
}

/// One launch of one side.
struct Row {
    id: u32,
    kernel: String,
    occurrence: usize,
}

/// Pairs the k-th launch of a kernel with the k-th of the same name. What is left over is taken for
/// renamed, and paired in order, if it is equally many on both sides.
pub fn launches(base: &DataFrame, new: &DataFrame) -> PolarsResult<Pairing> {
    let (base, new) = (rows(base)?, rows(new)?);
    let counts = (base.len(), new.len());
    let mut by_name: BTreeMap<(String, usize), Row> =
        new.into_iter().map(|row| ((row.kernel.clone(), row.occurrence), row)).collect();
    let mut pairs: Vec<(usize, Row, Row)> = Vec::new();
    let mut left: Vec<(usize, Row)> = Vec::new();
    for (at, row) in base.into_iter().enumerate() {
        match by_name.remove(&(row.kernel.clone(), row.occurrence)) {
            Some(same) => pairs.push((at, row, same)),
            None => left.push((at, row)),
        }
    }
    let mut renamed: Vec<Row> = by_name.into_values().collect();
    renamed.sort_by_key(|row| row.id);
    if left.len() == renamed.len() {
        pairs.extend(left.into_iter().zip(renamed).map(|((at, row), other)| (at, row, other)));
    }
    pairs.sort_by_key(|&(at, ..)| at);
    let repeats: Vec<bool> = pairs
        .iter()
        .map(|(_, row, _)| {
            pairs.iter().filter(|(_, other, _)| other.kernel == row.kernel).count() > 1
        })
        .collect();
    let pairs = pairs
        .into_iter()
        .zip(repeats)
        .map(|((_, base, new), repeats)| Pair {
            base: base.id,
            new: new.id,
            occurrence: base.occurrence,
            repeats,
            kernels: (base.kernel, new.kernel),
        })
        .collect();
    Ok(Pairing { pairs, counts })
}

fn rows(launches: &DataFrame) -> PolarsResult<Vec<Row>> {
    let ids = launches.column("launch")?.u32()?;
    let kernels = launches.column("kernel")?.str()?;
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows = Vec::with_capacity(launches.height());
    for (id, kernel) in ids.iter().zip(kernels.iter()) {
        let (Some(id), Some(kernel)) = (id, kernel) else { continue };
        let occurrence = seen.entry(kernel).or_default();
        rows.push(Row { id, kernel: kernel.to_owned(), occurrence: *occurrence });
        *occurrence += 1;
    }
    Ok(rows)
}
