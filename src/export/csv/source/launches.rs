//! Which launch a part of the source page is of.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::export::LaunchRow;
use crate::kernel_name;

/// Hands out launches to the page's kernels, in order.
///
/// The page has no launch ids. Its parts follow the launches' order; a launch has one part in the
/// sass view, and one part a source file in cuda,sass.
pub(super) struct Matcher<'a> {
    launches: &'a [LaunchRow],
    taken: Vec<bool>,
    current: Option<usize>,
    /// Function and file of the current launch's parts so far.
    parts: HashSet<(String, String)>,
    by_base: HashMap<String, Base<'a>>,
    /// A function of the page → the launches that it may be.
    candidates: HashMap<String, Rc<Candidates>>,
    /// How often two spellings may still be compared.
    comparisons_left: usize,
}

/// The kernels of one base name.
#[derive(Default)]
struct Base<'a> {
    /// Their spellings, and the launches of each: names are taken apart once.
    spellings: Vec<(&'a str, Vec<usize>)>,
    /// All their launches, in order.
    all: Rc<Vec<usize>>,
}

/// Two spellings are compared in some microseconds, and no page of ncu's has thousands of one base name.
const MOST_COMPARISONS: usize = 2_000_000;

/// The launches that a function may be, each list in order.
#[derive(Default)]
struct Candidates {
    /// Spelled as the function is.
    exact: Vec<usize>,
    /// The same kernel, however it is spelled.
    same: Vec<usize>,
    /// Of the function's base name, where none is known to be the same: their spellings can't be compared.
    of_base: Rc<Vec<usize>>,
}

impl<'a> Matcher<'a> {
    /// A matcher with all launches free.
    pub(super) fn new(launches: &'a [LaunchRow]) -> Self {
        let mut spellings: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, launch) in launches.iter().enumerate() {
            spellings.entry(&launch.kernel).or_default().push(at);
        }
        let mut by_base: HashMap<String, Base> = HashMap::new();
        for (kernel, places) in spellings {
            let base = by_base.entry(kernel_name::base(kernel)).or_default();
            base.spellings.push((kernel, places));
        }
        for base in by_base.values_mut() {
            let mut all: Vec<usize> =
                base.spellings.iter().flat_map(|(_, at)| at).copied().collect();
            all.sort_unstable();
            base.all = Rc::new(all);
        }
        Self {
            launches,
            taken: vec![false; launches.len()],
            current: None,
            parts: HashSet::new(),
            by_base,
            candidates: HashMap::new(),
            comparisons_left: MOST_COMPARISONS,
        }
    }

    /// The id of the launch that the part with this file and function is of; `None` where no launch
    /// is left that it could be.
    pub(super) fn find(&mut self, file: Option<&str>, function: &str) -> Option<u32> {
        let part = file.map(|file| (function.to_owned(), file.to_owned()));
        let candidates = self.candidates(function);
        if let (Some(current), Some(part)) = (self.current, &part) {
            let is_kernel = candidates.same.binary_search(&current).is_ok();
            // Another function that is no kernel of the profile is one that the kernel calls.
            let is_called = candidates.same.is_empty();
            if (is_kernel || is_called) && !self.parts.contains(part) {
                self.parts.insert(part.clone());
                return Some(self.launches[current].id);
            }
        }
        let at = [&candidates.exact, &candidates.same, &*candidates.of_base]
            .into_iter()
            .find_map(|places| self.next(places))?;
        self.taken[at] = true;
        self.current = Some(at);
        self.parts = part.into_iter().collect();
        Some(self.launches[at].id)
    }

    /// The next free launch among these: behind the current one, else anywhere.
    fn next(&self, places: &[usize]) -> Option<usize> {
        let start = self.current.map_or(0, |at| at + 1);
        let (before, behind) = places.split_at(places.partition_point(|&at| at < start));
        behind.iter().chain(before).copied().find(|&at| !self.taken[at])
    }

    /// The launches that a function may be, worked out once for each.
    fn candidates(&mut self, function: &str) -> Rc<Candidates> {
        if let Some(known) = self.candidates.get(function) {
            return known.clone();
        }
        let mut found = Candidates::default();
        if let Some(base) = self.by_base.get(&kernel_name::base(function)) {
            let compared = self.comparisons_left.min(base.spellings.len());
            self.comparisons_left -= compared;
            for (number, (kernel, places)) in base.spellings.iter().enumerate() {
                if *kernel == function {
                    found.exact.clone_from(places);
                }
                if *kernel == function || number < compared && kernel_name::same(kernel, function) {
                    found.same.extend(places);
                }
            }
            found.same.sort_unstable();
            if found.same.is_empty() {
                found.of_base = base.all.clone();
            }
        }
        let found = Rc::new(found);
        self.candidates.insert(function.to_owned(), found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launches(kernels: &[&str]) -> Vec<LaunchRow> {
        kernels
            .iter()
            .zip(10..)
            .map(|(kernel, id)| LaunchRow {
                id,
                kernel: (*kernel).to_owned(),
                ..LaunchRow::default()
            })
            .collect()
    }

    #[test]
    fn repeated_kernels_are_taken_in_order() {
        let launches = launches(&["f(int)", "g(int)", "f(int)"]);
        let mut matcher = Matcher::new(&launches);
        assert_eq!(matcher.find(None, "f(int)"), Some(10));
        assert_eq!(matcher.find(None, "g(int)"), Some(11));
        assert_eq!(matcher.find(None, "f(int)"), Some(12));
        assert_eq!(matcher.find(None, "f(int)"), None);
    }

    #[test]
    fn other_spellings_are_known_and_other_names_left_out() {
        let launches = launches(&["void f<(int)4>(T1 *)", "g(int)", "void f<8>(int *)", "h(T1)"]);
        let mut matcher = Matcher::new(&launches);
        assert_eq!(matcher.find(None, "f<8>(int *)"), Some(12));
        assert_eq!(matcher.find(None, "f<4>(float *)"), Some(10));
        assert_eq!(matcher.find(None, "f<4>(float *)"), None);
        assert_eq!(matcher.find(None, "h(float)"), Some(13), "of its base name");
        assert_eq!(matcher.find(None, "other(int)"), None);
    }

    /// Each part of a page of other names was held against every launch.
    #[test]
    fn thousands_of_other_names_are_told_apart_in_no_time() {
        let names: Vec<String> = (0..20_000).map(|at| format!("void f{at}<4>(int *)")).collect();
        let launches = launches(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut matcher = Matcher::new(&launches);
        let start = std::time::Instant::now();
        for at in 0..20_000 {
            assert_eq!(matcher.find(Some("a.cu"), &format!("void g{at}<4>(int *)")), None);
        }
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }

    #[test]
    fn files_of_one_launch_belong_together() {
        let launches = launches(&["f(int)", "f(int)"]);
        let mut matcher = Matcher::new(&launches);
        assert_eq!(matcher.find(Some("a.hpp"), "f(int)"), Some(10));
        assert_eq!(matcher.find(Some("a.cu"), "f(int)"), Some(10));
        assert_eq!(matcher.find(Some("a.cu"), "helper(int)"), Some(10));
        assert_eq!(matcher.find(Some("a.hpp"), "f(int)"), Some(11));
        assert_eq!(matcher.find(Some("a.cu"), "f(int)"), Some(11));
    }
}
