//! Size expressions: `ceil(N / 64)`, `4 * L`, `L <= 1024`.
//!
//! exmex parses and evaluates them with the operators below. Its own two-argument calls can't be
//! nested (`max(a, min(b, c))`) and take `minimum` for `min`, so calls of `min` and `max` are
//! rewritten to infix operators before it sees them.

mod form;
mod infix;

use std::collections::BTreeMap;

use exmex::{BinOp, MakeOperators, Operator};
use serde::de::{Deserialize, Deserializer, Visitor};

use form::Form;

/// Words with a meaning of their own, which no parameter may take.
pub const RESERVED: &[&str] =
    &["SMS", "i", "ceil", "floor", "round", "sqrt", "log2", "abs", "min", "max"];

/// Largest result: the integers up to here are exact in an f64.
pub const LARGEST: f64 = 9_007_199_254_740_992.0;

/// A longer text is a mistake and not a size.
const LONGEST: usize = 1000;

/// Values by name.
pub type Values = BTreeMap<String, f64>;

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct Expression {
    text: String,
    form: Form,
}

impl Expression {
    /// Parses a text.
    ///
    /// # Errors
    /// What is wrong with it, as half a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("an expression is empty: write a number, a parameter or a formula".into());
        }
        let problem = |what: String| {
            format!("`{}` is not an expression: {what}", crate::text::printable(text))
        };
        if text.len() > LONGEST {
            return Err(format!("an expression is longer than {LONGEST} characters"));
        }
        Ok(Self { text: text.to_owned(), form: Form::of(text).map_err(problem)? })
    }

    /// The text as it stands in the manifest.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that it uses, sorted.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.form.names()
    }

    /// Its value, which may be negative, a fraction, or no number at all.
    ///
    /// # Errors
    /// A name without a value.
    pub fn value(&self, values: &Values) -> Result<f64, String> {
        let arguments = self
            .names()
            .iter()
            .map(|name| {
                values.get(name).copied().ok_or_else(|| format!("`{name}` has no value here"))
            })
            .collect::<Result<Vec<f64>, String>>()?;
        self.form.value(&arguments).map_err(|problem| format!("`{}`: {problem}", self.text))
    }

    /// Its value as a whole number from 0 to 2^53.
    ///
    /// # Errors
    /// What it came to instead, and for which values.
    pub fn whole(&self, values: &Values) -> Result<u64, String> {
        let value = self.value(values)?;
        let complaint = if value.is_nan() {
            "which is not a number"
        } else if value < 0.0 {
            "which is negative"
        } else if value > LARGEST {
            "which is more than 2^53"
        } else if value.fract() != 0.0 {
            "which is not whole (round it with `ceil` or `floor`)"
        } else {
            return Ok(value as u64);
        };
        Err(format!("`{}` evaluates to {value}{}, {complaint}", self.text, self.given(values)))
    }

    /// The values that it was computed from: ` for L = 3, N = 5`.
    fn given(&self, values: &Values) -> String {
        let pairs: Vec<String> = self
            .names()
            .iter()
            .filter_map(|name| values.get(name).map(|value| format!("{name} = {value}")))
            .collect();
        if pairs.is_empty() { String::new() } else { format!(" for {}", pairs.join(", ")) }
    }
}

/// A manifest writes an expression as text or as a plain number.
impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Expression;
            fn expecting(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
                out.write_str("a number or an expression in quotes such as \"ceil(N / 64)\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Expression, E> {
                Expression::parse(text).map_err(E::custom)
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Expression, E> {
                Expression::parse(&number.to_string()).map_err(E::custom)
            }
            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Expression, E> {
                Expression::parse(&number.to_string()).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// The operators of a manifest's expressions. Comparisons give 1 or 0.
#[derive(Debug, Clone)]
struct SizeOperators;

impl MakeOperators<f64> for SizeOperators {
    fn make<'a>() -> Vec<Operator<'a, f64>> {
        let binary = |name, prio, apply: fn(f64, f64) -> f64| {
            Operator::make_bin(name, BinOp { apply, prio, is_commutative: false })
        };
        let minus = BinOp { apply: |a: f64, b: f64| a - b, prio: 4, is_commutative: false };
        vec![
            binary("||", 0, |a, b| truth(a != 0.0 || b != 0.0)),
            binary("&&", 1, |a, b| truth(a != 0.0 && b != 0.0)),
            #[expect(clippy::float_cmp, reason = "sizes are whole numbers, exact in f64")]
            binary("==", 2, |a, b| truth(a == b)),
            #[expect(clippy::float_cmp, reason = "sizes are whole numbers, exact in f64")]
            binary("!=", 2, |a, b| truth(a != b)),
            binary("<=", 2, |a, b| truth(a <= b)),
            binary(">=", 2, |a, b| truth(a >= b)),
            binary("<", 2, |a, b| truth(a < b)),
            binary(">", 2, |a, b| truth(a > b)),
            binary("<?", 3, f64::min),
            binary(">?", 3, f64::max),
            binary("+", 4, |a, b| a + b),
            Operator::make_bin_unary("-", minus, |a| -a),
            binary("*", 5, |a, b| a * b),
            binary("/", 5, |a, b| a / b),
            binary("%", 5, |a, b| a % b),
            binary("^", 6, f64::powf),
            Operator::make_unary("ceil", f64::ceil),
            Operator::make_unary("floor", f64::floor),
            Operator::make_unary("round", f64::round),
            Operator::make_unary("sqrt", f64::sqrt),
            Operator::make_unary("log2", log2),
            Operator::make_unary("abs", f64::abs),
        ]
    }
}

fn truth(value: bool) -> f64 {
    if value { 1.0 } else { 0.0 }
}

/// Exact for powers of two whatever the platform's library does, because `ceil(log2(N))` counts
/// launches.
fn log2(value: f64) -> f64 {
    if (1.0..=LARGEST).contains(&value) && value.fract() == 0.0 && (value as u64).is_power_of_two()
    {
        f64::from((value as u64).trailing_zeros())
    } else {
        value.log2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        [("N", 5.0), ("M", 12.0), ("minimum", 7.0), ("SMS", 132.0), ("_a1", 9.0)]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    fn whole(text: &str) -> Result<u64, String> {
        Expression::parse(text)?.whole(&values())
    }

    #[test]
    fn computes_sizes() {
        for (text, expected) in [
            ("7", 7),
            ("N", 5),
            ("ceil(N / 2)", 3),
            ("floor(N / 2) * 2 + N % 2", 5),
            ("2 ^ 10", 1024),
            ("log2(1024)", 10),
            ("ceil(log2(N))", 3),
            ("min(N, M) + max(N, M)", 17),
            ("max(N, min(M, max(1, 9)))", 9),
            ("max(min(N, 3), 2)", 3),
            ("minimum + 1", 8),
            ("SMS*4", 528),
            ("4 * (N*M*N + N*N + N*M)", 4 * (300 + 25 + 60)),
            ("N - -2", 7),
            ("9007199254740992", 1 << 53),
            ("N <= 5 && M > 12 || N != 5", 0),
            ("N + 1 == 6", 1),
            (" 7 ", 7),
            (" N ", 5),
            ("007", 7),
            ("_a1", 9),
        ] {
            assert_eq!(whole(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn says_what_a_senseless_result_was() {
        assert_eq!(
            whole("N / 2").unwrap_err(),
            "`N / 2` evaluates to 2.5 for N = 5, which is not whole (round it with `ceil` or \
             `floor`)"
        );
        assert_eq!(
            whole("N - M").unwrap_err(),
            "`N - M` evaluates to -7 for M = 12, N = 5, which is negative"
        );
        assert!(whole("N / 0").unwrap_err().contains("evaluates to inf"));
        assert!(whole("N % 0").unwrap_err().contains("not a number"));
        assert!(whole("2 ^ 54").unwrap_err().contains("more than 2^53"));
        assert_eq!(whole("Q").unwrap_err(), "`Q` has no value here");
    }

    #[test]
    fn refuses_what_is_no_expression() {
        for text in [
            "",
            "  ",
            "N +",
            "* N",
            "(N",
            "N)",
            "()",
            "N M",
            "2 N",
            "2N",
            "1e9",
            "max(N)",
            "max(N, M, 1)",
            "N, M",
            "{N}",
            "{",
            "ceil",
            "ceil()",
            "N ** 2",
            "N // 2",
            "é",
            "N\n+1",
            "min",
            "1.2.3",
            ".",
            "max(,)",
            "max(N,)",
            "N = 5",
            "!N",
            "a\u{0}",
        ] {
            let result = Expression::parse(text).and_then(|parsed| parsed.whole(&values()));
            assert!(result.is_err(), "{text:?} gave {result:?}");
        }
        assert!(Expression::parse(&"(".repeat(400)).is_err());
        assert!(Expression::parse(&"1+".repeat(4000)).is_err());
    }

    #[test]
    fn long_expressions_evaluate() {
        let text = vec!["N"; 200].join(" + ");
        assert_eq!(whole(&text), Ok(1000));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "[NM0-9.,()+*/%^<>=!&| a-z{}-]{0,24}") {
            if let Ok(parsed) = Expression::parse(&text) {
                let _ = parsed.whole(&values());
            }
        }
    }
}
