//! What an expression is once it is read. Most in a manifest are a number or a name, which need no
//! formula: to parse one takes a hundred thousand instructions and tens of kilobytes.

use std::sync::Arc;

use exmex::{Express, FlatEx};

use super::{RESERVED, SizeOperators, infix};

/// Reserved words that have a value.
const VALUES: [&str; 2] = ["SMS", "i"];

#[derive(Debug, Clone)]
pub(super) enum Form {
    Number(f64),
    Name([String; 1]),
    /// exmex keeps tens of kilobytes of nodes in place, far too much to move about on the stack.
    Formula(Arc<FlatEx<f64, SizeOperators>>),
}

impl Form {
    /// Reads a text.
    ///
    /// # Errors
    /// What is wrong with it, as a clause.
    pub(super) fn of(text: &str) -> Result<Self, String> {
        if text.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(number) = text.parse()
        {
            return Ok(Self::Number(number));
        }
        if is_name(text) {
            return Ok(Self::Name([text.to_owned()]));
        }
        let parsed = FlatEx::parse(&infix::infix_calls(text)?);
        parsed.map(|formula| Self::Formula(Arc::new(formula))).map_err(|error| reason(error.msg()))
    }

    /// The names that it uses, sorted.
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::Number(_) => &[],
            Self::Name(name) => name,
            Self::Formula(formula) => formula.var_names(),
        }
    }

    /// Its value for values of its [names](Self::names), in their order.
    ///
    /// # Errors
    /// exmex's message.
    pub(super) fn value(&self, arguments: &[f64]) -> Result<f64, String> {
        match (self, arguments) {
            (Self::Number(number), _) => Ok(*number),
            (Self::Name(_), [value]) => Ok(*value),
            (Self::Name([name]), _) => Err(format!("`{name}` has no value here")),
            (Self::Formula(formula), _) => {
                formula.eval(arguments).map_err(|error| error.msg().to_owned())
            }
        }
    }
}

/// True for a text that is the name of a value and nothing else.
fn is_name(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().all(is_word)
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && (!RESERVED.contains(&text) || VALUES.contains(&text))
}

/// exmex's message without the parts that name its own types.
fn reason(message: &str) -> String {
    if message.contains("paren") {
        "parentheses and operators do not match".to_owned()
    } else {
        "an operator or a value is missing or misplaced".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_formulas_are_parsed() {
        for text in ["7", "0012", "9007199254740993"] {
            assert!(matches!(Form::of(text), Ok(Form::Number(_))), "{text}");
        }
        for text in ["N", "SMS", "i", "_a1", "minimum"] {
            assert!(matches!(Form::of(text), Ok(Form::Name(_))), "{text}");
        }
        for text in ["1.5", "-7", " N", "N + 1", "ceil(N)"] {
            assert!(matches!(Form::of(text), Ok(Form::Formula(_))), "{text}");
        }
    }

    #[test]
    fn a_number_and_a_name_mean_what_their_formula_means() {
        // Parentheses make a formula of them.
        for text in ["7", "0012", "9007199254740993", "N", "SMS", "i"] {
            let (plain, formula) =
                (Form::of(text).unwrap(), Form::of(&format!("({text})")).unwrap());
            assert_eq!(plain.names(), formula.names(), "{text}");
            let arguments = vec![3.0; plain.names().len()];
            assert_eq!(plain.value(&arguments), formula.value(&arguments), "{text}");
        }
    }
}
