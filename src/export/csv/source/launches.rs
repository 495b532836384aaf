//! Which launch a part of the source page is of.

use std::collections::HashSet;

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
}

impl<'a> Matcher<'a> {
    /// A matcher with all launches free.
    pub(super) fn new(launches: &'a [LaunchRow]) -> Self {
        Self { launches, taken: vec![false; launches.len()], current: None, parts: HashSet::new() }
    }

    /// The id of the launch that the part with this file and function is of; `None` where no launch
    /// is left that it could be.
    pub(super) fn find(&mut self, file: Option<&str>, function: &str) -> Option<u32> {
        let part = file.map(|file| (function.to_owned(), file.to_owned()));
        if let (Some(current), Some(part)) = (self.current, &part) {
            let is_kernel = kernel_name::same(&self.launches[current].kernel, function);
            // Another function that is no kernel of the profile is one that the kernel calls.
            let is_called =
                !self.launches.iter().any(|row| kernel_name::same(&row.kernel, function));
            if (is_kernel || is_called) && !self.parts.contains(part) {
                self.parts.insert(part.clone());
                return Some(self.launches[current].id);
            }
        }
        let at = self.next(function)?;
        self.taken[at] = true;
        self.current = Some(at);
        self.parts = part.into_iter().collect();
        Some(self.launches[at].id)
    }

    /// The next free launch of a kernel: behind the current one, else anywhere.
    fn next(&self, function: &str) -> Option<usize> {
        let start = self.current.map_or(0, |at| at + 1);
        let free = |same: fn(&str, &str) -> bool| {
            (start..self.launches.len())
                .chain(0..start)
                .find(|&at| !self.taken[at] && same(&self.launches[at].kernel, function))
        };
        free(|kernel, function| kernel == function)
            .or_else(|| free(kernel_name::same))
            // Spelled in a way that can't be compared: of one name, the parts follow the launches' order.
            .or_else(|| {
                let is_known = |row: &LaunchRow| kernel_name::same(&row.kernel, function);
                if self.launches.iter().any(is_known) { None } else { free(same_base) }
            })
    }
}

fn same_base(one: &str, other: &str) -> bool {
    kernel_name::base(one) == kernel_name::base(other)
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
