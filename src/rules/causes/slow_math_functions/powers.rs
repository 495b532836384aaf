//! Powers of a constant, for which there are cheaper functions as exact as `pow`.

use crate::text::called::calls;

/// A call of `pow` for doubles whose base is a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PowerOfConstant {
    /// What to call instead.
    pub instead: String,
    /// The call.
    pub call: String,
}

impl PowerOfConstant {
    /// The first on a line with this text.
    pub(super) fn on(text: &str) -> Option<Self> {
        calls(text).into_iter().filter(|(name, _)| *name == "pow").find_map(|(_, given)| {
            let base = given.split_once(',')?.0.trim();
            let value: f64 = base.parse().ok().filter(|value: &f64| *value > 0.0)?;
            let instead = if (value - 10.0).abs() < f64::EPSILON {
                "exp10(x)".to_owned()
            } else if (value - 2.0).abs() < f64::EPSILON {
                "exp2(x)".to_owned()
            } else {
                format!("exp(x * c), where c is the logarithm of {base},")
            };
            Some(Self { instead, call: format!("pow({base}, x)") })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::PowerOfConstant;

    #[test]
    fn a_base_that_is_a_number_has_a_function_of_its_own() {
        let of = |text: &str| PowerOfConstant::on(text).map(|found| found.instead);
        assert_eq!(of("r = pow(10.0, lr);").as_deref(), Some("exp10(x)"));
        assert_eq!(of("r = a * std::pow( 2., pow(x, y));").as_deref(), Some("exp2(x)"));
        let other = of("return pow(1.5, n);").unwrap();
        assert_eq!(other, "exp(x * c), where c is the logarithm of 1.5,");
        for text in ["pow(x, 10.0)", "powf(10.0f, x)", "pow(-2.0, n)", "pow(", "// pow(10.0, x)"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
