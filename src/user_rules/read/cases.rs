//! The recordings that a rule is tested against.

use super::reader::Reader;
use crate::user_rules::cases::Case;
use crate::user_rules::file::Declared;
use crate::user_rules::rule::PREFIX;

impl Reader<'_> {
    pub(super) fn cases(&mut self, declared: &Declared) -> Vec<Case> {
        let mut cases = Vec::new();
        for case in &declared.tests {
            let line = self.origin.line(case.profile.span().start);
            let kernel = match &case.kernel {
                None => None,
                Some(text) => match self.regex(text) {
                    Some(regex) => Some(regex),
                    None => continue,
                },
            };
            if let Some(factor) = &case.factor {
                let [low, high] = *factor.get_ref();
                if !*case.fires.get_ref() {
                    self.mistake(factor.span().start, "a case that does not fire has no factor");
                } else if declared.what_if.is_none() {
                    self.mistake(
                        factor.span().start,
                        "a rule without a [rule.what-if] promises no factor",
                    );
                } else if !(low.is_finite() && high.is_finite() && low <= high) {
                    self.mistake(
                        factor.span().start,
                        "`factor` is the least and the most: factor = [1.1, 1.4]",
                    );
                }
            }
            if !self.names.contains(declared.name.get_ref()) {
                continue;
            }
            cases.push(Case {
                rule: format!("{PREFIX}{}", declared.name.get_ref()),
                profile: case.profile.get_ref().clone(),
                kernel,
                fires: *case.fires.get_ref(),
                factor: case.factor.as_ref().map(|factor| *factor.get_ref()),
                path: self.origin.path.to_owned(),
                line,
            });
        }
        cases
    }
}
