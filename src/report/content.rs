//! What can be reported.

use serde::Serialize;

use crate::bench::BenchDocument;
use crate::document::{Compared, Document, RunDocument};
use crate::gate::CheckDocument;
use crate::history::HistoryDocument;
use crate::ledger::LedgerDocument;
use crate::limiter::LimiterDocument;
use crate::sweep::SweepDocument;

/// A document of any command.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
pub enum Content<'a> {
    /// What `step`, `profile` and `analyze` found.
    Document(&'a Document),
    /// A whole ladder.
    Run(&'a RunDocument),
    /// Two profiles side by side.
    Diff(&'a Compared),
    /// A candidate against its baseline.
    Check(&'a CheckDocument),
    /// A step over a grid of settings.
    Sweep(&'a SweepDocument),
    /// A kernel against its variants.
    Limiter(&'a LimiterDocument),
    /// How right the findings are.
    Bench(&'a BenchDocument),
    /// Predicted against measured speed-ups.
    Ledger(&'a LedgerDocument),
    /// Values over commits.
    History(&'a HistoryDocument),
}

macro_rules! from {
    ($($variant:ident($document:ty)),*) => {$(
        impl<'a> From<&'a $document> for Content<'a> {
            fn from(document: &'a $document) -> Self {
                Self::$variant(document)
            }
        }
    )*};
}

from!(
    Document(Document),
    Run(RunDocument),
    Diff(Compared),
    Check(CheckDocument),
    Sweep(SweepDocument),
    Limiter(LimiterDocument),
    Bench(BenchDocument),
    Ledger(LedgerDocument),
    History(HistoryDocument)
);
