//! What the files of a store say of one quantity. Of each file only the columns that this needs are read.

use std::fs::File;
use std::path::{Path, PathBuf};

use foldhash::{HashMap, HashMapExt};
use rayon::prelude::*;
use regex::Regex;

use super::partition::{of, word};
use super::quantity::Quantity;
use super::schema::{self, Versioned};
use crate::error::{Error, Result};
use crate::frame::columns::KERNEL;
use crate::tables::{TableFile, Texts};
use crate::timing::RANGE_IN_DEVIATIONS;

/// What makes a series.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub program: String,
    pub device: String,
    pub size: String,
    pub kernel: Option<String>,
}

/// What one profile says of one series.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Observation {
    pub key: Key,
    pub profile: String,
    pub commit: Option<String>,
    pub committed: Option<u64>,
    pub added: u64,
    pub date: String,
    /// Of several launches of the kernel the median.
    pub value: f64,
    /// The measurement's own error, a standard deviation; 0 where it says nothing of that.
    pub error: f64,
    pub cuda: Option<String>,
    pub ncu: Option<String>,
}

/// Which profiles and kernels are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Kernels whose name matches.
    pub kernel: Option<Regex>,
    /// The program's name, or its folder's.
    pub program: Option<String>,
    /// The GPU's name, or its folder's.
    pub gpu: Option<String>,
}

impl Filter {
    /// False where the folders that a file lies in say that it holds nothing wanted.
    pub(crate) fn takes(&self, path: &str) -> bool {
        let fits = |wanted: &Option<String>, key: &str| {
            wanted.as_ref().zip(of(path, key)).is_none_or(|(name, folder)| word(name) == folder)
        };
        fits(&self.gpu, "gpu") && fits(&self.program, "program")
    }
}

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub observations: Vec<Observation>,
    pub launches: usize,
    pub profiles: usize,
    /// Files that can't be read, each with why.
    pub left_out: Vec<Error>,
}

/// Reads all files, several at a time.
pub(crate) fn scan(files: &[PathBuf], quantity: Quantity, filter: &Filter) -> Scanned {
    let read: Vec<Result<OfFile>> =
        files.par_iter().map(|path| of_file(path, quantity, filter)).collect();
    let mut all = Scanned::default();
    for file in read {
        match file {
            Ok(file) => {
                all.launches += file.launches;
                all.profiles += file.profiles;
                all.observations.extend(file.observations);
            }
            Err(error) => all.left_out.push(error),
        }
    }
    all
}

/// The codes of a profile's and a kernel's name in a file; no kernel where the time is a step's.
type Group = (Option<u32>, Option<u32>);

struct OfFile {
    observations: Vec<Observation>,
    launches: usize,
    profiles: usize,
}

fn of_file(path: &Path, quantity: Quantity, filter: &Filter) -> Result<OfFile> {
    let mut file = Versioned::new(TableFile::open(path)?, path)?;
    let rows = file.rows();
    let (profile, kernel) = (file.texts(schema::PROFILE)?, file.texts(KERNEL)?);
    let values = file.numbers(quantity.column())?;
    let steps = match quantity {
        Quantity::Time if filter.kernel.is_none() => Some(Steps::read(&mut file)?),
        _ => None,
    };
    let wanted: Vec<bool> = kernel
        .values()
        .iter()
        .map(|name| filter.kernel.as_ref().is_none_or(|kernel| kernel.is_match(name)))
        .collect();
    // Profile and kernel → the first row of both, and the values of all.
    let mut groups: HashMap<Group, (usize, Vec<f64>)> = HashMap::new();
    for (row, (&of_profile, &value)) in profile.codes().iter().zip(&values).enumerate().take(rows) {
        let time = steps.as_ref().and_then(|steps| steps.median[row]);
        if let Some(time) = time.filter(|time| time.is_finite()) {
            groups.entry((of_profile, None)).or_insert_with(|| (row, vec![time]));
            continue;
        }
        let (Some(of_kernel), Some(value)) = (kernel.codes()[row], value) else { continue };
        if wanted[of_kernel as usize] && value.is_finite() {
            let group = groups.entry((of_profile, Some(of_kernel)));
            group.or_insert_with(|| (row, Vec::new())).1.push(value);
        }
    }
    let about = About::read(&mut file)?;
    let observations = groups
        .into_iter()
        .filter(|(_, (row, _))| about.suits(*row, filter))
        .map(|((_, of_kernel), (row, mut values))| {
            values.sort_by(f64::total_cmp);
            let error = match (&steps, of_kernel) {
                (Some(steps), None) => steps.error(row),
                _ => 0.0,
            };
            let kernel = of_kernel.map(|code| kernel.values()[code as usize].clone());
            let profile = profile.get(row).unwrap_or_default().to_owned();
            about.observation(row, profile, kernel, median(&values), error)
        })
        .collect();
    Ok(OfFile { observations, launches: rows, profiles: profile.values().len() })
}

/// The middle of sorted values, of which there is one at least.
pub(super) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

/// The times of steps, measured without the profiler.
struct Steps {
    median: Vec<Option<f64>>,
    range: [Vec<Option<f64>>; 3],
}

/// The deviation of a median is that of a mean times the root of π/2.
const OF_A_MEDIAN: f64 = 1.2533;

impl Steps {
    fn read(file: &mut Versioned<File>) -> Result<Self> {
        let median = file.numbers(schema::TIME)?;
        let [low, high, n] = schema::TIME_RANGE;
        Ok(Self { median, range: [file.numbers(low)?, file.numbers(high)?, file.numbers(n)?] })
    }

    /// The deviation of a row's median.
    fn error(&self, row: usize) -> f64 {
        let [Some(low), Some(high), Some(n)] = self.range.each_ref().map(|of| of[row]) else {
            return 0.0;
        };
        let error = OF_A_MEDIAN * (high - low) / RANGE_IN_DEVIATIONS / n.max(1.0).sqrt();
        if error.is_finite() { error.max(0.0) } else { 0.0 }
    }
}

/// What all launches of a profile have alike.
struct About {
    program: Texts,
    device: Texts,
    size: Texts,
    commit: Texts,
    date: Texts,
    cuda: Texts,
    ncu: Texts,
    committed: Vec<Option<f64>>,
    added: Vec<Option<f64>>,
}

impl About {
    fn read(file: &mut Versioned<File>) -> Result<Self> {
        Ok(Self {
            program: file.texts(schema::PROGRAM)?,
            device: file.texts(schema::DEVICE)?,
            size: file.texts(schema::SIZE)?,
            commit: file.texts(schema::COMMIT)?,
            date: file.texts(schema::DATE)?,
            cuda: file.texts(schema::CUDA)?,
            ncu: file.texts(schema::NCU)?,
            committed: file.numbers(schema::COMMITTED)?,
            added: file.numbers(schema::ADDED)?,
        })
    }

    /// Folders' words are shorter than names, and files may lie outside of all folders.
    fn suits(&self, row: usize, filter: &Filter) -> bool {
        let fits = |wanted: &Option<String>, names: &Texts| {
            let name = names.get(row).unwrap_or_default();
            wanted.as_ref().is_none_or(|wanted| wanted == name || *wanted == word(name))
        };
        fits(&filter.program, &self.program) && fits(&filter.gpu, &self.device)
    }

    fn observation(
        &self,
        row: usize,
        profile: String,
        kernel: Option<String>,
        value: f64,
        error: f64,
    ) -> Observation {
        let text = |of: &Texts| of.get(row).unwrap_or_default().to_owned();
        let known = |of: &Texts| of.get(row).filter(|text| !text.is_empty()).map(str::to_owned);
        let key = Key {
            program: text(&self.program),
            device: text(&self.device),
            size: text(&self.size),
            kernel,
        };
        Observation {
            key,
            profile,
            commit: known(&self.commit),
            committed: self.committed[row].map(|seconds| seconds as u64),
            added: self.added[row].unwrap_or_default() as u64,
            date: text(&self.date),
            value,
            error,
            cuda: known(&self.cuda),
            ncu: known(&self.ncu),
        }
    }
}
