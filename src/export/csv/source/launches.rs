//! Which launch a part of the source page is of.

use std::collections::HashSet;

use crate::export::LaunchRow;

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
    pub fn new(launches: &'a [LaunchRow]) -> Self {
        Self { launches, taken: vec![false; launches.len()], current: None, parts: HashSet::new() }
    }

    /// The id of the launch that the part with this file and function is of; `None` where no launch
    /// is left that it could be.
    pub fn find(&mut self, file: Option<&str>, function: &str) -> Option<u32> {
        let part = file.map(|file| (function.to_owned(), file.to_owned()));
        if let (Some(current), Some(part)) = (self.current, &part) {
            let is_kernel = same_kernel(&self.launches[current].kernel, function);
            // Another function that is no kernel of the profile is one that the kernel calls.
            let is_called = !self.launches.iter().any(|row| same_kernel(&row.kernel, function));
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
            .or_else(|| free(same_kernel))
            // The names may be printed in two ways; one launch leaves no choice.
            .or_else(|| (self.launches.len() == 1 && !self.taken[0]).then_some(0))
    }
}

/// True where two names are of one kernel: equal, or equal but for return type, parameters and
/// template arguments where only one of them has any (`--print-kernel-base function`).
pub(in crate::export) fn same_kernel(one: &str, other: &str) -> bool {
    let is_bare = |name: &str| !name.contains(['(', '<', ' ']);
    one == other || ((is_bare(one) || is_bare(other)) && base_name(one) == base_name(other))
}

/// `f` of `void ns::f<(int)4>(float *)`.
fn base_name(kernel: &str) -> String {
    let kernel = kernel.replace("(anonymous namespace)::", "").replace("<unnamed>::", "");
    let head = kernel.split(['<', '(']).next().unwrap_or_default();
    let head = head.rsplit(' ').next().unwrap_or_default();
    head.rsplit("::").next().unwrap_or_default().to_owned()
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

    #[test]
    fn names_match_without_their_signature() {
        assert!(same_kernel("void ns::f<(int)4>(float *)", "f"));
        assert!(same_kernel("(anonymous namespace)::f(int)", "f"));
        // Two instances of one template are two kernels.
        assert!(!same_kernel("void f<float>(T1 *)", "void f<double>(T1 *)"));
        assert!(!same_kernel("f(int)", "g"));
    }
}
