//! The fast form of a routine, as the line that runs it would call it.

use crate::sass::Routine;
use crate::text::called::calls;

/// What to call instead of a routine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FastForm {
    /// The call, or what else does as well.
    pub what: String,
    /// Where alone it does as well; empty for everywhere.
    pub condition: &'static str,
    /// True where the line calls a function that rounds correctly whatever the compiler is told.
    pub by_hand: bool,
}

impl FastForm {
    /// The fast form of a routine on a line with this text, which is empty where it is not known.
    pub(super) fn of(routine: Routine, text: &str) -> Self {
        if let Some(what) = of_rounded(routine, text) {
            return Self { what, condition: "", by_hand: true };
        }
        let what = named(routine, text).unwrap_or_else(|| routine.fast());
        // No flag makes a remainder inexact.
        let by_hand = routine == Routine::Remainder;
        Self { what: what.to_owned(), condition: routine.fast_where(), by_hand }
    }
}

/// Instead of the functions whose names say how they round.
fn of_rounded(routine: Routine, text: &str) -> Option<String> {
    let start = match routine {
        Routine::Reciprocal => "__frcp_r",
        Routine::Division => "__fdiv_r",
        Routine::SquareRoot => "__fsqrt_r",
        _ => return None,
    };
    let (name, given) = calls(text).into_iter().find(|(name, _)| name.starts_with(start))?;
    let given = arguments(given);
    Some(match routine {
        Routine::Reciprocal => {
            let x = given.unwrap_or("x");
            format!("__fdividef(1.0f, {x}) instead of {name}({x})")
        }
        Routine::Division => {
            let both = given.unwrap_or("x, y");
            format!("__fdividef({both}) instead of {name}({both})")
        }
        _ => {
            let x = given.unwrap_or("x");
            format!("sqrtf({x}), compiled with -prec-sqrt=false, instead of {name}({x})")
        }
    })
}

/// The one function that a line calls, of those that run the same routine.
fn named(routine: Routine, text: &str) -> Option<&'static str> {
    let forms: &[(&str, &'static str)] = match routine {
        Routine::Sine => {
            &[("sin", "__sinf"), ("cos", "__cosf"), ("tan", "__tanf"), ("sincos", "__sincosf")]
        }
        Routine::Exponential => &[("exp", "__expf"), ("exp10", "__exp10f")],
        Routine::Logarithm => &[("log", "__logf"), ("log2", "__log2f"), ("log10", "__log10f")],
        _ => return None,
    };
    let mut called: Vec<&str> = calls(text)
        .into_iter()
        .filter_map(|(name, _)| {
            let is_it = |known: &str| name == known || name.strip_suffix('f') == Some(known);
            forms.iter().find(|(known, _)| is_it(known)).map(|&(_, fast)| fast)
        })
        .collect();
    called.dedup();
    match called[..] {
        [fast] => forms.iter().map(|&(_, form)| form).find(|form| *form == fast),
        _ => None,
    }
}

/// The arguments of a call, where 24 letters hold them and no call is among them.
fn arguments(behind: &str) -> Option<&str> {
    let given = behind[..behind.find(')')?].trim();
    (!given.is_empty() && given.len() <= 24 && !given.contains('(')).then_some(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(routine: Routine, text: &str) -> String {
        FastForm::of(routine, text).what
    }

    #[test]
    fn functions_that_round_correctly_give_way_to_a_call() {
        let exact = FastForm::of(Routine::Reciprocal, "rate = exp(-300.0f * __frcp_rn(t));");
        assert_eq!(exact.what, "__fdividef(1.0f, t) instead of __frcp_rn(t)");
        assert!(exact.by_hand);
        assert_eq!(
            what(Routine::Division, "__fdiv_rd(light, 1.0f + light)"),
            "__fdividef(light, 1.0f + light) instead of __fdiv_rd(light, 1.0f + light)"
        );
        assert_eq!(
            what(Routine::Reciprocal, "__frcp_rn(sum(a, b))"),
            "__fdividef(1.0f, x) instead of __frcp_rn(x)"
        );
        assert!(what(Routine::SquareRoot, "__fsqrt_rn(d)").starts_with("sqrtf(d), compiled with"));
        let divided = FastForm::of(Routine::Reciprocal, "rate = 1.0f / t; // was __frcp_rn(t)");
        assert_eq!((divided.what.as_str(), divided.by_hand), ("__fdividef(1.0f, x)", false));
    }

    #[test]
    fn the_function_on_the_line_is_named() {
        assert_eq!(what(Routine::Sine, "return 0.5f - 0.5f * cosf(PI * f);"), "__cosf");
        assert_eq!(what(Routine::Sine, "a = sin(x) + sinf(y);"), "__sinf");
        assert_eq!(what(Routine::Sine, "a = sin(x) + cos(y);"), "__sinf, __cosf or __tanf");
        assert_eq!(what(Routine::Sine, ""), "__sinf, __cosf or __tanf");
        assert_eq!(what(Routine::Logarithm, "using_log(a) + log2f(b)"), "__log2f");
    }
}
