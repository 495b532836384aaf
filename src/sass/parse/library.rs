//! Routines that the compiler inlines for a function of the maths library or for a division, known
//! by a constant or an opcode that nothing else has.
//!
//! The costs were counted in the SASS of one-line kernels, compiled for sm_90 by NVRTC 13.0; those
//! for sm_75 to sm_120 differ by an instruction or two.

mod costs;

pub use costs::Cost;

use crate::sass::parse::instruction::{Instruction, OperandKind};

/// A routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Routine {
    /// `sinf`, `cosf`, `tanf`: reduction of the range by multiples of π/2, then a polynomial.
    Sine,
    /// `expf`, `exp10f` with the full range; `exp2f` is fast as it is.
    Exponential,
    /// `logf`, `log2f`, `log10f`: a polynomial.
    Logarithm,
    /// `log1pf`: a polynomial, and the exponent of 1 + x.
    LogarithmOfOnePlus,
    /// `expm1f`: a polynomial with the full range.
    ExponentialMinusOne,
    /// `powf`: an exponential in extended precision, and the care for special values.
    Power,
    /// The logarithm in extended precision that `powf` takes of a base known at run time only.
    PowerLogarithm,
    /// `tanhf`.
    Tanh,
    /// The polynomial to which `tanhf` of the library that Triton brings along branches where the argument is small.
    SmallTanh,
    /// Division of floats, rounded to nearest.
    Division,
    /// `1.0f / x`, rounded to nearest.
    Reciprocal,
    /// `sqrtf`, rounded to nearest.
    SquareRoot,
    /// `fmodf`, whose result is exact however large the quotient is.
    Remainder,
    /// `hypotf`, `rhypotf` or `norm3df` without the root: scaled, lest a square leaves the range of floats.
    Hypotenuse,
    /// Division of doubles, or a reciprocal: an approximation, two steps of Newton's and a correction.
    DoubleDivision,
    /// The same by a value that stays the same in a loop or for all threads.
    RepeatedDoubleDivision,
    /// `sqrt` or `rsqrt` of a double.
    DoubleRoot,
    /// `sin`, `cos`, `sincos` or `tan` of a double: reduction of the range, coefficients from a table, a
    /// polynomial.
    DoubleSine,
    /// `hypot` of doubles without the root.
    DoubleHypotenuse,
    /// `exp`, `exp2` or `exp10` of a double: reduction of the range, a polynomial with eleven coefficients.
    DoubleExponential,
    /// `log`, `log2` or `log10` of a double: its exponent, a reciprocal, a polynomial with seven coefficients.
    DoubleLogarithm,
    /// `pow` of doubles: a logarithm in extended precision and an exponential, in a function that is called.
    DoublePower,
    /// The same where the exponent is a small whole number that the source says.
    WholePower,
    /// Division or remainder of 32-bit integers by a value known at run time only.
    IntegerDivision,
    /// The same by a value that stays the same in a loop: its reciprocal is worked out before.
    RepeatedDivision,
    /// Division or remainder of signed 32-bit integers: that of their absolute values, and the sign.
    SignedDivision,
    /// The same by a value that stays the same in a loop.
    RepeatedSignedDivision,
    /// Division or remainder of 64-bit integers that turn out to fit 32 bits.
    ShortLongDivision,
    /// Division or remainder of 64-bit integers, in a function that is called.
    LongDivision,
}

use Routine as R;

impl Routine {
    /// True for integer division.
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(
            self,
            R::IntegerDivision
                | R::RepeatedDivision
                | R::SignedDivision
                | R::RepeatedSignedDivision
                | R::ShortLongDivision
                | R::LongDivision
        )
    }

    /// True for arithmetic of doubles.
    #[must_use]
    pub fn is_double(self) -> bool {
        matches!(
            self,
            R::DoubleDivision
                | R::RepeatedDoubleDivision
                | R::DoubleRoot
                | R::DoubleSine
                | R::DoubleHypotenuse
                | R::DoubleExponential
                | R::DoubleLogarithm
                | R::DoublePower
                | R::WholePower
        )
    }

    /// The same for floats, rounded as well as they can be; the routine itself where it is not of doubles.
    #[must_use]
    pub fn of_floats(self) -> Self {
        match self {
            R::DoubleDivision | R::RepeatedDoubleDivision => R::Division,
            R::DoubleRoot => R::SquareRoot,
            R::DoubleSine => R::Sine,
            R::DoubleHypotenuse => R::Hypotenuse,
            R::DoubleExponential => R::Exponential,
            R::DoubleLogarithm => R::Logarithm,
            R::DoublePower | R::WholePower => R::Power,
            other => other,
        }
    }

    /// What the source says.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            R::Sine => "sinf, cosf or tanf",
            R::Exponential => "expf or exp10f",
            R::Logarithm => "logf, log2f or log10f",
            R::LogarithmOfOnePlus => "log1pf",
            R::ExponentialMinusOne => "expm1f",
            R::Power => "powf",
            R::PowerLogarithm => "powf's logarithm",
            R::Tanh | R::SmallTanh => "tanhf",
            R::Division => "division of floats",
            R::Reciprocal => "reciprocal of a float",
            R::SquareRoot => "sqrtf",
            R::Remainder => "fmodf",
            R::Hypotenuse => "hypotf, rhypotf or norm3df",
            R::DoubleHypotenuse => "hypot of doubles",
            R::DoubleDivision | R::RepeatedDoubleDivision => "division of doubles",
            R::DoubleRoot => "sqrt or rsqrt of a double",
            R::DoubleSine => "sin or cos of a double",
            R::DoubleExponential => "exp of a double",
            R::DoubleLogarithm => "log of a double",
            R::DoublePower => "pow of doubles",
            R::WholePower => "pow of a double to a whole number",
            R::IntegerDivision | R::RepeatedDivision => "32-bit integer division or remainder",
            R::SignedDivision | R::RepeatedSignedDivision => {
                "signed 32-bit integer division or remainder"
            }
            R::ShortLongDivision | R::LongDivision => "64-bit integer division or remainder",
        }
    }

    /// The fast form that stands for it.
    #[must_use]
    pub fn fast(self) -> &'static str {
        match self {
            R::Sine => "__sinf, __cosf or __tanf",
            R::Exponential => "__expf",
            R::Logarithm => "__logf",
            R::LogarithmOfOnePlus => "__logf(1 + x)",
            R::ExponentialMinusOne => "__expf(x) - 1",
            R::Power | R::PowerLogarithm => "__powf",
            R::Tanh | R::SmallTanh => "the tanh.approx instruction",
            R::Division => "__fdividef, or a multiplication by the reciprocal",
            R::Reciprocal => "__fdividef(1.0f, x)",
            R::SquareRoot => "the approximate root (-prec-sqrt=false)",
            R::Remainder => "x - y * truncf(x * r) with r = 1 / y",
            R::Hypotenuse => "sqrtf(x * x + y * y)",
            R::DoubleHypotenuse => "sqrt(x * x + y * y)",
            R::DoubleDivision => "a float's division where 24 bits are enough",
            R::RepeatedDoubleDivision => "a multiplication by the reciprocal, worked out once",
            R::DoubleRoot => "a float's root where 24 bits are enough",
            R::DoubleSine => {
                "a table of the values, worked out once, or the float's function where 24 bits are enough"
            }
            R::DoubleExponential | R::DoubleLogarithm | R::DoublePower => {
                "the float's function where 24 bits are enough"
            }
            R::WholePower => "products (x * x * x for pow(x, 3.0))",
            R::IntegerDivision
            | R::RepeatedDivision
            | R::SignedDivision
            | R::RepeatedSignedDivision
            | R::ShortLongDivision
            | R::LongDivision => {
                "a shift and mask, or a multiplication by a reciprocal computed on the host"
            }
        }
    }

    /// Where alone the fast form does as well; empty for everywhere.
    #[must_use]
    pub fn fast_where(self) -> &'static str {
        match self {
            R::LogarithmOfOnePlus | R::ExponentialMinusOne => "wherever x is not small",
            R::Remainder => "wherever x is no large multiple of y",
            R::Hypotenuse | R::DoubleHypotenuse => {
                "wherever the squares stay within the range of the type"
            }
            _ => "",
        }
    }
}

/// The routine that an instruction marks; each run of the routine executes one mark.
#[must_use]
pub fn mark(instruction: &Instruction) -> Option<Routine> {
    match instruction.base() {
        // 2/π.
        "FMUL" if instruction.holds("0.63661974668502807617") => Some(R::Sine),
        // 2^23 + 2^22 and the bias of the exponent.
        "FFMA" if instruction.has("RM") && instruction.holds("12582913") => Some(R::Exponential),
        // One coefficient of each polynomial.
        "FFMA"
            if instruction.holds("-0.16684235632419586182")
                || instruction.holds("-0.17900948226451873779") =>
        {
            Some(R::Logarithm)
        }
        "FFMA" if instruction.holds("0.14491446316242218018") => Some(R::LogarithmOfOnePlus),
        // Here and below the second coefficient is that of the older library that Triton brings along.
        "FFMA"
            if instruction.holds("0.041665729135274887085")
                || instruction.holds("0.041667830199003219604") =>
        {
            Some(R::ExponentialMinusOne)
        }
        "FFMA"
            if instruction.holds("0.018033718690276145935")
                || instruction.holds("0.083333469927310943604") =>
        {
            Some(R::PowerLogarithm)
        }
        "FFMA"
            if instruction.holds("0.0013391353422775864601")
                || instruction.holds("1.9046542121259335545e-09") =>
        {
            Some(R::Power)
        }
        // 2/ln 2.
        "FMUL" if instruction.holds("2.8853900432586669922") => Some(R::Tanh),
        "FFMA" if instruction.holds("-0.052303962409496307373") => Some(R::SmallTanh),
        "FCHK" => Some(R::Division),
        "MUFU" if instruction.has("RCP64H") => Some(R::DoubleDivision),
        "MUFU" if instruction.has("RSQ64H") => Some(R::DoubleRoot),
        // 2^52 + 2^51: a double rounded to an integer by an addition, as only this range is reduced.
        "DFMA" if instruction.holds("6.75539944105574400000e+15") => Some(R::DoubleExponential),
        // The upper half of the root of 2, beyond which an exponent counts one more.
        "ISETP" if instruction.holds("0x3ff6a09f") => Some(R::DoubleLogarithm),
        // The upper half of a coefficient of the logarithm's polynomial.
        "UMOV" | "MOV" | "IMAD" if instruction.holds("0x3eb0f5ff") => Some(R::DoublePower),
        // The lower half of 2/π.
        "UMOV" | "MOV" | "IMAD" if instruction.holds("0x6dc9c883") => Some(R::DoubleSine),
        // The smallest argument whose reciprocal needs no care.
        "IADD3" | "VIADD" if instruction.holds("0x1800000") => Some(R::Reciprocal),
        "IADD3" | "VIADD" if instruction.holds("-0xd000000") => Some(R::SquareRoot),
        "VIADD" if instruction.holds("0xf3000000") => Some(R::SquareRoot),
        // The scale's exponent, from which that of the larger argument is taken.
        "IADD3" | "VIADD" | "LOP3" if instruction.holds("0x7e800000") => Some(R::Hypotenuse),
        "IADD3" | "VIADD" | "LOP3" if instruction.holds("0x7fd00000") => Some(R::DoubleHypotenuse),
        // Other code rounds so, too: see `Sass::new`.
        "FRND" if instruction.has("TRUNC") && !instruction.has("F64") => Some(R::Remainder),
        "I2F" | "UI2F" if instruction.has("RP") => Some(if instruction.has("U64") {
            R::LongDivision
        } else if instruction.has("U32") {
            R::IntegerDivision
        } else {
            R::SignedDivision
        }),
        // The quotient: the high product with a reciprocal in a register. A constant divisor's is in the
        // code, and where the reciprocal itself is worked out, it is added.
        "IMAD" if instruction.has("HI") && instruction.has("U32") && by_register(instruction) => {
            instruction
                .operands
                .last()
                .is_some_and(|last| last.text == "RZ")
                .then_some(R::RepeatedDivision)
        }
        _ => None,
    }
}

/// True for an instruction of `fmodf`'s slow path, which no other code has: it scales by 23 binary digits at a time.
#[must_use]
pub fn is_of_remainders(text: &str) -> bool {
    text.contains("0xb800000") || text.contains("0xf4800000")
}

/// True for a product of two registers.
fn by_register(instruction: &Instruction) -> bool {
    let is_register = |at: usize| {
        instruction.operands.get(at).is_some_and(|operand| operand.kind == OperandKind::Register)
    };
    is_register(1) && is_register(2)
}

#[cfg(test)]
mod tests;
