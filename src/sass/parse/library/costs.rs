//! What routines cost, and what their fast forms do.

use super::Routine;
use Routine as R;

/// What a routine takes on its usual path, a warp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Turns on the FMA pipes: an upper product takes two.
    pub fma: f64,
    /// Turns on the ALU pipe.
    pub alu: f64,
    /// Turns on the XU pipe.
    pub xu: f64,
    /// Turns on the double-precision pipe.
    pub fp64: f64,
    /// Instructions in all, branches and bookkeeping included.
    pub all: f64,
}

impl Routine {
    /// What the routine costs.
    #[must_use]
    pub fn cost(self) -> Cost {
        let cost = |fma, alu, xu, all| Cost { fma, alu, xu, fp64: 0.0, all };
        match self {
            R::Sine => cost(15.0, 7.0, 1.0, 26.0),
            R::Exponential => cost(6.0, 1.0, 1.0, 8.0),
            R::Logarithm => cost(13.0, 12.0, 0.0, 25.0),
            R::LogarithmOfOnePlus => cost(15.0, 6.0, 0.0, 24.0),
            R::ExponentialMinusOne => cost(12.0, 8.0, 0.0, 21.0),
            // Together 69, with a constant exponent; one that is not takes 16 more to look at.
            R::Power => cost(15.0, 9.0, 2.0, 29.0),
            R::PowerLogarithm => cost(26.0, 10.0, 1.0, 40.0),
            R::Tanh => cost(9.0, 6.0, 2.0, 17.0),
            // With the branch to it and the meeting behind it.
            R::SmallTanh => cost(7.0, 2.0, 0.0, 12.0),
            R::Division => cost(5.0, 0.0, 2.0, 10.0),
            R::Reciprocal => cost(3.0, 3.0, 1.0, 10.0),
            R::SquareRoot => cost(4.0, 2.0, 1.0, 10.0),
            // Where the quotient fits into 24 bits.
            R::Remainder => cost(8.0, 8.0, 2.0, 26.0),
            // Absolute values, the larger and the smaller, the scale, two scaled squares, and special values.
            R::Hypotenuse => cost(7.0, 8.0, 0.0, 15.0),
            R::DoubleHypotenuse => Cost { fma: 3.0, alu: 10.0, xu: 0.0, fp64: 9.0, all: 22.0 },
            // Copies and a check of the exponent beside the seven on doubles.
            R::DoubleDivision | R::RepeatedDoubleDivision => {
                Cost { fma: 3.0, alu: 2.0, xu: 1.0, fp64: 7.0, all: 15.0 }
            }
            R::DoubleRoot => Cost { fma: 2.0, alu: 2.0, xu: 1.0, fp64: 7.0, all: 15.0 },
            R::DoubleSine => Cost { fma: 3.0, alu: 6.0, xu: 2.0, fp64: 16.0, all: 48.0 },
            // The scale of the result and the branch around arguments beyond the range beside fifteen on doubles.
            R::DoubleExponential => Cost { fma: 3.0, alu: 1.0, xu: 0.0, fp64: 15.0, all: 22.0 },
            // The exponent, constants in registers, and the branch around special arguments beside 29 on doubles; the
            // reciprocal in it is no division of its own.
            R::DoubleLogarithm => Cost { fma: 10.0, alu: 12.0, xu: 1.0, fp64: 29.0, all: 75.0 },
            // On the usual path, where the base is positive: 156 in the function, the rest around its call.
            R::DoublePower | R::WholePower => {
                Cost { fma: 20.0, alu: 25.0, xu: 1.0, fp64: 82.0, all: 184.0 }
            }
            R::IntegerDivision => cost(8.0, 7.0, 3.0, 17.0),
            // The high product, the remainder's product, and two corrections with their comparisons.
            R::RepeatedDivision => cost(3.0, 6.0, 0.0, 8.0),
            // Three absolute values, the dividend's sign and what it does to the result.
            R::SignedDivision => cost(9.0, 12.0, 3.0, 22.0),
            R::RepeatedSignedDivision => cost(4.0, 8.0, 0.0, 11.0),
            // A test of the upper halves, the branch around the call, and an upper half of zero.
            R::ShortLongDivision => cost(9.0, 10.0, 3.0, 24.0),
            // Of the function's own instructions, which are counted where they run.
            R::LongDivision => cost(0.0, 0.0, 0.0, 0.0),
        }
    }

    /// What the fast form costs.
    #[must_use]
    #[expect(clippy::match_same_arms, reason = "one row a routine")]
    pub fn fast_cost(self) -> Cost {
        let cost = |fma, alu, xu, all| Cost { fma, alu, xu, fp64: 0.0, all };
        match self {
            R::Sine => cost(1.0, 0.0, 1.0, 2.0),
            R::Exponential => cost(3.0, 1.0, 1.0, 5.0),
            R::Logarithm => cost(3.0, 1.0, 1.0, 5.0),
            R::LogarithmOfOnePlus | R::ExponentialMinusOne => cost(4.0, 1.0, 1.0, 6.0),
            R::Power => cost(3.0, 1.0, 1.0, 5.0),
            R::PowerLogarithm => cost(2.0, 1.0, 1.0, 4.0),
            R::Tanh | R::SmallTanh => cost(0.0, 0.0, 1.0, 1.0),
            R::Division => cost(3.0, 2.0, 1.0, 6.0),
            R::Reciprocal => cost(2.0, 1.0, 1.0, 4.0),
            R::SquareRoot => cost(2.0, 1.0, 1.0, 4.0),
            R::Remainder => cost(4.0, 3.0, 2.0, 9.0),
            // A product, and a fused one.
            R::Hypotenuse => cost(2.0, 0.0, 0.0, 2.0),
            R::DoubleHypotenuse => Cost { fma: 0.0, alu: 0.0, xu: 0.0, fp64: 2.0, all: 2.0 },
            // As a float, and converted to and fro.
            R::DoubleDivision => cost(3.0, 2.0, 3.0, 8.0),
            R::RepeatedDoubleDivision => Cost { fma: 0.0, alu: 0.0, xu: 0.0, fp64: 1.0, all: 1.0 },
            R::DoubleRoot => cost(2.0, 1.0, 3.0, 6.0),
            // An address and a load.
            R::DoubleSine => cost(1.0, 1.0, 0.0, 3.0),
            // As a float, and converted to and fro.
            R::DoubleExponential => cost(6.0, 1.0, 3.0, 10.0),
            R::DoubleLogarithm => cost(13.0, 12.0, 2.0, 27.0),
            // Both parts of powf, and three conversions.
            R::DoublePower => cost(41.0, 19.0, 6.0, 72.0),
            // Squares and a product or two: up to x to the 8th.
            R::WholePower => Cost { fma: 0.0, alu: 0.0, xu: 0.0, fp64: 3.0, all: 3.0 },
            // High product, shift, and the product that a remainder takes off.
            R::IntegerDivision | R::SignedDivision | R::ShortLongDivision => {
                cost(3.0, 1.0, 0.0, 3.0)
            }
            // Counted along: an addition, a comparison, a selection.
            R::RepeatedDivision | R::RepeatedSignedDivision => cost(0.0, 3.0, 0.0, 3.0),
            R::LongDivision => cost(0.0, 0.0, 0.0, 0.0),
        }
    }
}
