//! How one value differs from thread to thread.

/// The difference between a thread's value and its neighbour's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Differs {
    /// None, for all threads of a vector.
    Same,
    /// The same from each thread to the next: so much, where it is known.
    Step(Option<f64>),
    /// On average less than one or a fraction: the first part of a division by a known number, which a shift ends.
    Part(f64),
    /// In low bits alone, as what is combined bit by bit with a step: its sign is the same.
    LowBits,
    /// In any way.
    Freely,
}

impl Differs {
    /// What a value is that may be either: made in two places.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, same) if one == same => one,
            (Self::Same, Self::Step(_)) | (Self::Step(_), Self::Same | Self::Step(_)) => {
                Self::Step(None)
            }
            (Self::Same, Self::LowBits) | (Self::LowBits, Self::Same) => Self::LowBits,
            _ => Self::Freely,
        }
    }

    /// Two values that one instruction reads, of which it is to be told what they have in common.
    pub(super) fn beside(self, other: Self) -> Self {
        match (self, other) {
            (Self::Freely, _) | (_, Self::Freely) => Self::Freely,
            (Self::Same, one) | (one, Self::Same) => one,
            (Self::Step(_), Self::Step(_)) => Self::Step(None),
            _ => Self::LowBits,
        }
    }

    /// A sum, or what is made like one: two parts of an address, a value that is limited by a bound.
    pub(super) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Same, one) | (one, Self::Same) => one,
            (Self::Step(_), Self::Step(_)) => Self::Step(None),
            _ => Self::Freely,
        }
    }

    /// A multiple: by a number, or by what is the same for all.
    pub(super) fn times(self, by: Option<f64>) -> Self {
        match self {
            Self::Same => Self::Same,
            Self::Step(step) => {
                let product = step.zip(by).map(|(step, by)| step * by);
                Self::Step(product.filter(|step| step.is_finite()))
            }
            _ => Self::Freely,
        }
    }

    /// A quotient without what remains, for vectors of so many elements: by a known number, or by one that a launch gives,
    /// which is taken to be a multiple of the vector.
    pub(super) fn over(self, by: Option<f64>, elements: f64) -> Self {
        let (Self::Step(Some(step)) | Self::Part(step)) = self else {
            return match (self, by) {
                (Self::Same, _) | (Self::Step(_), None) => Self::Same,
                _ => Self::Freely,
            };
        };
        let Some(by) = by else { return Self::Same };
        let part = (step / by).abs();
        if part * elements <= 1.0 {
            Self::Same
        } else if part.is_finite() {
            Self::Part(part)
        } else {
            Self::Freely
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_neighbours_have_a_quotient_in_common_from_four_on() {
        let step = Differs::Step(Some(1.0));
        assert_eq!(step.over(Some(4.0), 4.0), Differs::Same);
        assert_eq!(step.over(Some(3.0), 4.0), Differs::Part(1.0 / 3.0));
        assert_eq!(step.over(None, 4.0), Differs::Same);
        // In two steps, as compilers divide.
        assert_eq!(step.over(Some(1.5), 4.0).over(Some(64.0), 4.0), Differs::Same);
        assert_eq!(Differs::Step(None).over(Some(64.0), 4.0), Differs::Freely);
        assert_eq!(Differs::Freely.over(None, 4.0), Differs::Freely);
    }

    #[test]
    fn sums_and_multiples_of_steps_are_steps() {
        let step = Differs::Step(Some(1.0));
        assert_eq!(step.times(Some(4.0)), Differs::Step(Some(4.0)));
        assert_eq!(step.times(None), Differs::Step(None));
        assert_eq!(step.plus(Differs::Same), step);
        assert_eq!(step.plus(step), Differs::Step(None));
        assert_eq!(step.plus(Differs::Freely), Differs::Freely);
        assert_eq!(Differs::Part(0.5).times(Some(2.0)), Differs::Freely);
        assert_eq!(step.times(Some(f64::INFINITY)), Differs::Step(None));
        assert_eq!(step.over(Some(0.0), 4.0), Differs::Freely, "no number to compare with");
    }

    #[test]
    fn what_is_one_or_the_other_settles() {
        let step = Differs::Step(Some(1.0));
        assert_eq!(step.or(step), step);
        assert_eq!(step.or(Differs::Step(Some(2.0))), Differs::Step(None));
        assert_eq!(Differs::Same.or(step), Differs::Step(None));
        assert_eq!(Differs::LowBits.or(step), Differs::Freely);
    }
}
