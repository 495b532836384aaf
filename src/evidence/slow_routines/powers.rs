//! Powers of doubles, and those whose exponent is a whole number in the source.

use super::Runs;
use crate::evidence::ModeledLaunch;
use crate::evidence::Threshold;
use crate::evidence::removal::Removal;
use crate::export::SourceRow;
use crate::sass::{Listing, Routine};
use crate::text::called::{arguments, calls};

/// How large an exponent may be for products to do.
pub(super) const PRODUCTS: Threshold = Threshold {
    what: "constant: the exponent of a power of a double up to which products are meant to do, at most",
    value: 8.0,
    unit: "factor",
    source: "derivation: three squares reach the 8th power, and their rounding errors add up to less than three units in the last place",
};

impl Runs {
    /// Counts the powers of doubles where they are called, and replaces them: by products where the exponents are small whole numbers, or
    /// by the float's function.
    pub(crate) fn replace_powers(&mut self, launch: &ModeledLaunch, removal: &mut Removal) {
        let listing = removal.listing;
        let mut saved = vec![0.0; listing.sass.line_count()];
        for (mark, at) in sites(listing) {
            let whole = whole_share(line_of(launch, listing.row(at)));
            let mut weight = 0.0;
            for (routine, share) in
                [(Routine::WholePower, whole), (Routine::DoublePower, 1.0 - whole)]
            {
                let runs = share * listing.executed(at);
                if runs > 0.0 {
                    let (now, then) = (routine.cost(), routine.fast_cost());
                    removal.replace(runs, now, then);
                    *self.by_routine.entry(routine).or_default() += runs;
                    weight += share * (now.all - then.all);
                }
            }
            let is_whole = whole >= HALF;
            let routine = if is_whole { Routine::WholePower } else { Routine::DoublePower };
            self.marked.insert(at, routine);
            self.weights.insert(at, weight);
            saved[listing.sass.entries[mark].line()] += weight * listing.executed(at);
        }
        removal.remove_waits(&saved);
    }
}

/// The share of a line's powers from which the line is said to take whole ones.
const HALF: f64 = 0.5;

/// The marks of powers that ran, each with every call of the function in which it is; with itself where it is in none.
fn sites(listing: Listing) -> Vec<(usize, usize)> {
    let marks = listing.entries().filter(|(at, entry)| {
        entry.routine == Some(Routine::DoublePower) && listing.executed(*at) > 0.0
    });
    let marks: Vec<usize> = marks.map(|(at, _)| at).collect();
    if marks.is_empty() {
        return Vec::new();
    }
    let calls = listing.calls();
    let of = |mark: usize| {
        let such = calls.iter().filter(|(_, function)| function.contains(&mark));
        let found: Vec<(usize, usize)> = such.map(|(call, _)| (mark, *call)).collect();
        if found.is_empty() { vec![(mark, mark)] } else { found }
    };
    marks.into_iter().flat_map(of).collect()
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
