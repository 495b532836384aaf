//! What the rules say today of the kernels that were changed. The profiles are not in the repository, so
//! this is a file of its own, written by a test that needs them.

use crate::finding::Estimate;

/// What a rule promises of a change, and what that gained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// The program.
    pub program: &'static str,
    /// A part of the kernel's name.
    pub kernel: &'static str,
    /// The rule that asked for the change.
    pub rule: &'static str,
    /// The finding's place among the kernel's.
    pub rank: usize,
    /// What it promises.
    pub estimate: Estimate,
    /// Time before over time after.
    pub gained: f64,
    /// The kernel's time in the profile, ns.
    pub time_ns: f64,
}

/// `said.toml` beside the gains of `programs.toml`, joined by the build.
#[expect(clippy::unreadable_literal, reason = "nobody reads what the build writes")]
const SAID: &[Said] = include!(concat!(env!("OUT_DIR"), "/said.rs"));

/// Everything that is said today of changes that were made, of programs that were not kept back.
#[must_use]
pub fn said() -> &'static [Said] {
    SAID
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::all;

    #[test]
    fn what_is_said_is_of_changes_that_were_made() {
        let said = said();
        assert!(said.len() >= 40);
        // The build leaves out what was said of changes that are not in the table.
        assert_eq!(said.len(), include_str!("said.toml").matches("\n[[said]]").count());
        for one in said {
            assert!(one.estimate.low <= one.estimate.factor, "{one:?}");
            assert!(one.estimate.factor <= one.estimate.high && one.time_ns > 0.0, "{one:?}");
        }
    }

    #[test]
    fn gains_are_those_of_the_table() {
        let programs = all().unwrap();
        for one in said() {
            let program = programs.iter().find(|program| program.name == one.program).unwrap();
            let kernels = &program.kernels;
            let kernel = kernels.iter().find(|kernel| kernel.kernel == one.kernel).unwrap();
            assert!(!program.kept_back, "{one:?}");
            assert_eq!(kernel.asked(one.rule), Some(one.gained), "{one:?}");
        }
    }

    #[test]
    fn the_page_says_how_many_ranges_held() {
        let held = |one: &&Said| (one.estimate.low..=one.estimate.high).contains(&one.gained);
        let (held, all) = (said().iter().filter(held).count(), said().len());
        let share = (100.0 * held as f64 / all as f64).round();
        let row = format!("range holds the gain  {:>35}", format!("{held} of {all} ({share}%)"));
        assert!(include_str!("../../docs/programs.md").contains(&row), "{row}");
    }
}
