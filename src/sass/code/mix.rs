//! What a launch's executed instructions are, by family and by unit.

use super::sass::Sass;
use crate::sass::parse::opcode::Family;
use crate::term::Term;

/// The mix of a launch's executed warp instructions, those with their guard off included.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mix {
    /// Each family that the listing has, with its executed instructions.
    families: Vec<(Family, f64)>,
    terms: [f64; Term::COUNT],
    /// Everything executed.
    pub total: f64,
}

impl Mix {
    /// The mix of a launch's instructions.
    pub(in crate::sass) fn new(sass: &Sass) -> Self {
        let mut mix = Self::default();
        for (entry, &executed) in sass.entries.iter().zip(&sass.counts.executed) {
            match mix.families.iter_mut().find(|(family, _)| *family == entry.family) {
                Some((_, sum)) => *sum += executed,
                None => mix.families.push((entry.family, executed)),
            }
            mix.total += executed;
            mix.terms[Term::Issue as usize] += executed;
            if let Some(term) = entry.term {
                mix.terms[term as usize] += f64::from(entry.turns) * executed;
            }
        }
        mix.families.shrink_to_fit();
        mix
    }

    /// Instructions executed of a family.
    #[must_use]
    pub fn family(&self, family: Family) -> f64 {
        let known = self.families.iter().find(|(each, _)| *each == family);
        known.map_or(0.0, |(_, executed)| *executed)
    }

    /// Instructions executed of all families that are picked.
    #[must_use]
    pub fn sum(&self, pick: impl Fn(Family) -> bool) -> f64 {
        self.families.iter().filter(|(family, _)| pick(*family)).map(|(_, executed)| executed).sum()
    }

    /// Turns that the executed instructions take on a unit; their number for the issue slots.
    #[must_use]
    pub fn on(&self, term: Term) -> f64 {
        self.terms[term as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn families_and_units_are_counted() {
        let code = launch(&[
            ("MOV R0, RZ", 2.0),
            ("FFMA R1, R1, R1, R1", 10.0),
            ("IADD3 R0, R0, 0x1, RZ", 10.0),
            ("ISETP.NE.AND P0, PT, R0, R9, PT", 10.0),
            ("@P0 BRA 0x110", 10.0),
            ("EXIT", 2.0),
        ]);
        let mix = code.mix().unwrap();
        for (term, executed) in [(Term::Fma, 10.0), (Term::Alu, 22.0), (Term::Issue, 44.0)] {
            assert!((mix.on(term) - executed).abs() < f64::EPSILON, "{term:?}");
        }
        for (sum, executed) in [
            (mix.family(Family::Fp32Fma), 10.0),
            (mix.family(Family::Fp64), 0.0),
            (mix.sum(Family::is_float), 10.0),
            (mix.total, 44.0),
        ] {
            assert!((sum - executed).abs() < f64::EPSILON, "{sum}");
        }
        assert_eq!(Launch::default().mix(), None);
    }
}
