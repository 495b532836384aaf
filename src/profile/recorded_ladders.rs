//! Whole ladders with the diagnoses of their shipped recordings: what the bench judges by and what the
//! ledger starts from.

use rayon::prelude::*;

use super::Profile;
use crate::document::Document;
use crate::error::Result;
use crate::ladder::{Ladder, Overrides};
use crate::limiter::{self, LimiterDocument};
use crate::store;
use crate::timing::StepInfo;

/// A ladder with the documents of its steps.
#[derive(Debug, Clone)]
pub struct RecordedLadder {
    /// The ladder.
    pub ladder: Ladder,
    /// The documents of the steps that were recorded, in the ladder's order.
    pub documents: Vec<Document>,
    /// The limiter runs that were recorded, with their steps' names.
    pub limiters: Vec<(String, LimiterDocument)>,
    /// The steps without a recording.
    pub missing: Vec<String>,
}

impl RecordedLadder {
    /// The document of a step.
    #[must_use]
    pub fn document(&self, step: &str) -> Option<&Document> {
        let named = |document: &&Document| document.step.as_ref().is_some_and(|s| s.name == step);
        self.documents.iter().find(named)
    }

    /// What was measured of a step.
    #[must_use]
    pub fn step(&self, step: &str) -> Option<&StepInfo> {
        self.document(step)?.step.as_ref()
    }

    /// True where two steps were recorded on devices of one name, so that their times compare.
    #[must_use]
    pub fn of_one_device(&self, one: &str, other: &str) -> bool {
        let device = |step: &str| self.document(step)?.launches.first()?.device.as_deref();
        device(one) == device(other)
    }

    /// The limiter run of a step.
    #[must_use]
    pub fn limiter(&self, step: &str) -> Option<&LimiterDocument> {
        self.limiters.iter().find(|(name, _)| name == step).map(|(_, document)| document)
    }
}

/// With what a recording's instructions are diagnosed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// Their text and counts.
    Sass,
    /// Their counts alone.
    WithoutSass,
}

/// Diagnoses every step of the built-in ladders that are wanted, from their recordings at the
/// ladder's own size, on all cores.
///
/// # Errors
/// A manifest or a recording that is damaged, which the tests exclude.
pub fn recorded_ladders(
    wanted: impl Fn(&Ladder) -> bool,
    listing: Listing,
) -> Result<Vec<RecordedLadder>> {
    let mut ladders = Vec::new();
    for name in Ladder::builtin_names() {
        let ladder = Ladder::builtin(name)?;
        if wanted(&ladder) {
            ladders.push(ladder);
        }
    }
    let places: Vec<(usize, usize)> = ladders
        .iter()
        .enumerate()
        .flat_map(|(at, ladder)| (0..ladder.steps().len()).map(move |step| (at, step)))
        .collect();
    let read: Vec<(Option<Document>, Option<LimiterDocument>)> = places
        .par_iter()
        .map(|&(at, step)| one(&ladders[at], step, listing))
        .collect::<Result<_>>()?;
    let mut recorded: Vec<RecordedLadder> = ladders
        .into_iter()
        .map(|ladder| RecordedLadder {
            ladder,
            documents: Vec::new(),
            limiters: Vec::new(),
            missing: Vec::new(),
        })
        .collect();
    for ((at, step), (document, limiter)) in places.into_iter().zip(read) {
        let ladder = &mut recorded[at];
        let name = ladder.ladder.steps()[step].name().to_owned();
        match document {
            Some(document) => ladder.documents.push(document),
            None => ladder.missing.push(name.clone()),
        }
        ladder.limiters.extend(limiter.map(|limiter| (name, limiter)));
    }
    Ok(recorded)
}

fn one(
    ladder: &Ladder,
    step: usize,
    listing: Listing,
) -> Result<(Option<Document>, Option<LimiterDocument>)> {
    let step = &ladder.steps()[step];
    let size = ladder.size(step, &Overrides::default())?;
    let document = match store::recording(ladder.name(), step.name(), &size)? {
        None => None,
        Some(saved) => {
            let name = format!("{}/{}", ladder.name(), step.name());
            let mut profile = Profile::from_saved(name, saved, None)?;
            if listing == Listing::WithoutSass {
                profile.frames.forget_sass()?;
            }
            Some(profile.diagnose(Some(ladder))?)
        }
    };
    let limiter = store::recorded_file(ladder.name(), step.name(), limiter::FILE)
        .and_then(|text| serde_json::from_str(text).ok());
    Ok((document, limiter))
}
