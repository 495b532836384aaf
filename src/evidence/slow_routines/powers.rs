//! Powers of doubles, and those whose exponent is a whole number in the source.

use std::ops::RangeInclusive;

use super::Runs;
use crate::evidence::removal::Removal;
use crate::evidence::{ModeledLaunch, Threshold};
use crate::export::SourceRow;
use crate::sass::parse::library::Cost;
use crate::sass::{Listing, Routine};
use crate::text::called::{arguments, calls};

/// How large an exponent may be for products to do.
pub(super) const PRODUCTS: Threshold = Threshold {
    what: "constant: the exponent of a power of a double up to which products are meant to do, at most",
    value: 8.0,
    unit: "factor",
    source: "derivation: three squares reach the 8th power, and their rounding errors add up to less than three units in the last place",
};

/// What stands around a call: the tests for special arguments, and the sign.
const AROUND_A_CALL: Cost = Cost { fma: 2.0, alu: 14.0, xu: 0.0, fp64: 4.0, all: 28.0 };

impl Runs {
    /// Counts the powers of doubles where they are called, and replaces them: by products where the exponents are small whole numbers, or
    /// by the float's function.
    pub(crate) fn replace_powers(&mut self, launch: &ModeledLaunch, removal: &mut Removal) {
        let listing = removal.listing;
        let mut saved = vec![0.0; listing.sass.line_count()];
        for Site { at, function } in sites(listing) {
            let runs = listing.executed(at);
            if runs <= 0.0 {
                continue;
            }
            let whole = whole_share(line_of(launch, listing.row(at)));
            // What the function takes, whichever way it goes, is known.
            let (now, in_function) = match &function {
                Some(function) => (AROUND_A_CALL, executed_per_run(listing, function)),
                None => (Routine::DoublePower.cost(), 0.0),
            };
            let mut weight = 0.0;
            for (routine, share) in
                [(Routine::WholePower, whole), (Routine::DoublePower, 1.0 - whole)]
            {
                if share > 0.0 {
                    let then = routine.fast_cost();
                    removal.replace(share * runs, now, then);
                    *self.by_routine.entry(routine).or_default() += share * runs;
                    weight += share * (in_function + now.all - then.all);
                    saved[listing.sass.entries[at].line()] +=
                        share * runs * (now.all - then.all).max(0.0);
                }
            }
            function.into_iter().flatten().for_each(|each| removal.remove(each, 1.0));
            let is_whole = 2.0 * whole >= 1.0;
            let routine = if is_whole { Routine::WholePower } else { Routine::DoublePower };
            self.marked.insert(at, routine);
            self.weights.insert(at, weight);
        }
        removal.remove_waits(&saved);
    }
}

/// Where a power is called, or inlined.
struct Site {
    /// The call, or the routine's mark.
    at: usize,
    /// The called function.
    function: Option<RangeInclusive<usize>>,
}

/// Each place that runs a power.
fn sites(listing: Listing) -> Vec<Site> {
    let is_mark = |at: &usize| listing.sass.entries[*at].routine == Some(Routine::DoublePower);
    let marks: Vec<usize> = (0..listing.sass.entries.len()).filter(is_mark).collect();
    if marks.is_empty() {
        return Vec::new();
    }
    let mut calls = listing.calls();
    calls.retain(|(_, function)| marks.iter().any(|mark| function.contains(mark)));
    let is_inlined = |mark: &usize| !calls.iter().any(|(_, function)| function.contains(mark));
    let inlined: Vec<usize> = marks.into_iter().filter(is_inlined).collect();
    let called = calls.into_iter().map(|(at, function)| Site { at, function: Some(function) });
    called.chain(inlined.into_iter().map(|at| Site { at, function: None })).collect()
}

/// Instructions that a function executes each time that it is called.
fn executed_per_run(listing: Listing, function: &RangeInclusive<usize>) -> f64 {
    let all: f64 = function.clone().map(|at| listing.executed(at)).sum();
    all / listing.executed(*function.start()).max(1.0)
}

/// The text of the line from which an instruction comes; empty where it is not known.
fn line_of<'a>(launch: &ModeledLaunch<'a>, row: &SourceRow) -> &'a str {
    let lines = launch.profile.lines.iter();
    let mut same = lines.filter(|line| line.line == row.line && line.file == row.file);
    same.next().map_or("", |line| line.text.as_str())
}

/// The share of the powers on a line whose exponents are small whole numbers.
fn whole_share(text: &str) -> f64 {
    let calls = calls(text);
    let powers: Vec<bool> = calls
        .into_iter()
        .filter(|(name, _)| *name == "pow")
        .map(|(_, behind)| {
            arguments(behind).get(1).is_some_and(|exponent| is_small_whole(exponent))
        })
        .collect();
    let whole = powers.iter().filter(|is_whole| **is_whole).count();
    whole as f64 / powers.len().max(1) as f64
}

/// True for a number without a fraction whose power a few products make.
fn is_small_whole(exponent: &str) -> bool {
    let value: Option<f64> = exponent.parse().ok();
    value.is_some_and(|value| value.fract() == 0.0 && value.abs() <= PRODUCTS.value)
}

#[cfg(test)]
mod tests {
    use super::whole_share;

    #[test]
    fn exponents_that_the_source_says_are_whole() {
        let share = |text: &str| (whole_share(text) * 100.0).round();
        assert!((share("a = pow(x, 3.0) * std::pow(y - z, -4);") - 100.0).abs() < 1e-12);
        assert!((share("a = pow(x, 3.0) / pow(x, n + 2);") - 50.0).abs() < 1e-12);
        for text in ["pow(x, 1.5)", "pow(x, 12.0)", "pow(x, n)", "powf(x, 3.0f)", "pow(x,", ""] {
            assert!(share(text).abs() < 1e-12, "{text}");
        }
    }
}
