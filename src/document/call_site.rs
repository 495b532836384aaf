//! Where in a program's code the calls were made that a finding blames.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::around::Callers;
use crate::finding::Location;
use crate::survey::Survey;
use crate::survey::callers::Stack;
use crate::survey::places::{self, Site};

/// At most so many places of a finding, and only those with so large a share of its calls.
const MOST_SITES: usize = 3;
const LEAST_SHARE: f64 = 0.05;

/// A place in a program's code that called CUDA.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallSite {
    /// The source file; empty where the program has no debug information.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The line, from 1; null where the program has no debug information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The function as C++ spells it; null where the file of code names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The program's or the library's file, without folders.
    pub module: String,
    /// True for a library.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub library: bool,
    /// The call's address in that file, where neither line nor function is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<u64>,
    /// Its share of the calls, or of what they cost, 0 to 1.
    pub share: f64,
    /// Of what: `calls`, `launches`, `copies`, `copy time`, `idle time before these calls`.
    pub share_of: String,
}

impl CallSite {
    fn new(site: Site, share: f64, share_of: &str) -> Self {
        let (file, line) =
            site.line.map_or((String::new(), None), |(file, line)| (file, Some(line)));
        let Site { function, module, is_library, address, .. } = site;
        let share_of = share_of.to_owned();
        Self { file, line, function, module, library: is_library, address, share, share_of }
    }

    /// The same as the place of a launch's finding; `None` without a line.
    #[must_use]
    pub fn location(&self) -> Option<Location> {
        self.line.map(|line| Location {
            file: self.file.clone(),
            line,
            offset: None,
            share: self.share,
            share_of: self.share_of.clone(),
            text: String::new(),
        })
    }

    /// The places of some findings' callers, for each finding the one with the most share first.
    pub(super) fn of_findings(survey: &Survey, callers: &[Callers]) -> Vec<Vec<Self>> {
        let stacks: Vec<Stack> = callers
            .iter()
            .flat_map(|callers| &callers.stacks)
            .map(|(stack, _)| Stack::clone(stack))
            .collect();
        let shapes = survey.processes.iter().flat_map(|process| &process.shapes);
        let kernels: BTreeSet<&str> = shapes.map(|shape| shape.kernel.as_str()).collect();
        let mut sites = places::sites(&stacks, &kernels).into_iter();
        callers.iter().map(|callers| Self::of_finding(callers, &mut sites)).collect()
    }

    /// `sites` has those of the finding's stacks first, and keeps the rest.
    fn of_finding(callers: &Callers, sites: &mut impl Iterator<Item = Option<Site>>) -> Vec<Self> {
        let mut shares: BTreeMap<Site, f64> = BTreeMap::new();
        for ((_, share), site) in callers.stacks.iter().zip(sites) {
            if let Some(site) = site {
                *shares.entry(site).or_default() += share;
            }
        }
        let mut shares: Vec<(Site, f64)> =
            shares.into_iter().filter(|(_, share)| *share >= LEAST_SHARE).collect();
        // One whose function is known tells more than an address with as large a share.
        let is_bare = |site: &Site| site.address.is_some();
        shares.sort_by(|a, b| is_bare(&a.0).cmp(&is_bare(&b.0)).then_with(|| b.1.total_cmp(&a.1)));
        shares.truncate(MOST_SITES);
        shares.into_iter().map(|(site, share)| Self::new(site, share, callers.of)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(line: u32) -> Site {
        let (function, module) = (Some("step(int)".to_owned()), "app".to_owned());
        let line = Some(("main.cpp".to_owned(), line));
        Site { function, line, module, is_library: false, address: None }
    }

    #[test]
    fn stacks_of_one_place_are_one() {
        let share = |share| (Stack::from([]), share);
        let callers =
            Callers { stacks: [0.4, 0.3, 0.2, 0.06, 0.04].map(share).into(), of: "calls" };
        let bare = Site { function: None, line: None, address: Some(0x40), ..site(0) };
        let mut sites =
            [Some(bare), Some(site(7)), Some(site(9)), Some(site(7)), Some(site(8)), Some(site(1))]
                .into_iter();
        let found = CallSite::of_finding(&callers, &mut sites);
        let places: Vec<(Option<u32>, f64)> =
            found.iter().map(|site| (site.line, (site.share * 100.0).round())).collect();
        // The address with the most comes after the lines, and what has less than a twentieth not at all.
        assert_eq!(places, [(Some(7), 36.0), (Some(9), 20.0), (None, 40.0)]);
        assert_eq!((found[2].address, found[2].share_of.as_str()), (Some(0x40), "calls"));
        assert_eq!(sites.next(), Some(Some(site(1))), "the next finding's");
    }
}
