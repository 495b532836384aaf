//! A text as words and signs.

use super::Problem;
use super::unit::Unit;

/// A word or sign.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Number(f64, Unit),
    Name(String),
    Text(String),
    Sign(&'static str),
}

/// Signs, longer ones first.
const SIGNS: [&str; 16] =
    ["<=", ">=", "==", "!=", "&&", "||", "<", ">", "+", "-", "*", "/", "(", ")", ",", "!"];

/// Endings of numbers: the base unit, and what one of it is in that.
const ENDINGS: [(&str, &str, f64); 12] = [
    ("%", "%", 1.0),
    ("ns", "ns", 1.0),
    ("us", "ns", 1e3),
    ("ms", "ns", 1e6),
    ("s", "ns", 1e9),
    ("B", "byte", 1.0),
    ("KB", "byte", 1e3),
    ("MB", "byte", 1e6),
    ("GB", "byte", 1e9),
    ("KiB", "byte", 1024.0),
    ("MiB", "byte", 1_048_576.0),
    ("GiB", "byte", 1_073_741_824.0),
];

/// What a number with a unit may be per.
const PER: [&str; 6] = ["s", "sector", "inst", "cycle", "lane", "block"];

/// The words and signs of a text, each with the byte at which it begins.
///
/// # Errors
/// What can't be read.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, Problem> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() {
            number(rest, at)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = length_of(rest, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
            (Token::Name(rest[..length].to_owned()), length)
        } else if matches!(first, '"' | '\'') {
            let inner = &rest[1..];
            let end = inner.find(first);
            let end = end.ok_or_else(|| Problem::new(at, "a quoted text does not end"))?;
            (Token::Text(inner[..end].to_owned()), end + 2)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            let what =
                format!("`{}` has no meaning here", crate::text::printable(&first.to_string()));
            let hint = if first == '=' { "; equality is ==" } else { "" };
            return Err(Problem::new(at, what + hint));
        };
        found.push((at, token));
        at += length;
    }
    Ok(found)
}

/// A number with its unit, and its length.
fn number(text: &str, at: usize) -> Result<(Token, usize), Problem> {
    let mut length = length_of(text, |c| c.is_ascii_digit() || matches!(c, '.' | '_'));
    let exponent = &text[length..];
    if let Some(power) = exponent.strip_prefix(['e', 'E']) {
        let sign = usize::from(power.starts_with(['+', '-']));
        let digits = length_of(&power[sign..], |c| c.is_ascii_digit());
        if digits > 0 {
            length += 1 + sign + digits;
        }
    }
    let digits = text[..length].replace('_', "");
    let value: Option<f64> = digits.parse().ok().filter(|value: &f64| value.is_finite());
    let value =
        value.ok_or_else(|| Problem::new(at, format!("`{}` is not a number", &text[..length])))?;
    let ending = &text[length..];
    let ending = match ending.strip_prefix('%') {
        Some(_) => "%",
        None => &ending[..length_of(ending, |c| c.is_ascii_alphanumeric() || c == '_')],
    };
    if ending.is_empty() {
        return Ok((Token::Number(value, Unit::Any), length));
    }
    let known = ENDINGS.into_iter().find(|(name, ..)| *name == ending);
    let (_, unit, scale) = known.ok_or_else(|| {
        let names = ENDINGS.map(|(name, ..)| name).join(", ");
        let per = PER.join(", ");
        let what = format!(
            "`{ending}` is not a unit of a number; units are {names}, each also per {per} (32B/sector)"
        );
        Problem::new(at, what)
    })?;
    length += ending.len();
    let unit = Unit::of(unit);
    let Some(per) = per(&text[length..]) else {
        return Ok((Token::Number(value * scale, unit), length));
    };
    Ok((Token::Number(value * scale, unit.times(&Unit::of(per), -1)), length + 1 + per.len()))
}

/// What a number is per, where its unit goes on so: the sector of `32B/sector`. No figure has one of these names.
fn per(rest: &str) -> Option<&'static str> {
    let rest = rest.strip_prefix('/')?;
    let word = &rest[..length_of(rest, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))];
    PER.into_iter().find(|known| *known == word)
}

/// The bytes of the first letters that are picked.
fn length_of(text: &str, picks: impl Fn(char) -> bool) -> usize {
    text.find(|c| !picks(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        let of = |text: &str| tokens(text).map(|mut found| found.remove(0).1);
        assert_eq!(of("25%"), Ok(Token::Number(25.0, Unit::of("%"))));
        assert_eq!(of("4KiB"), Ok(Token::Number(4096.0, Unit::of("byte"))));
        assert_eq!(of("1.5e3"), Ok(Token::Number(1500.0, Unit::Any)));
        assert_eq!(of("32B/sector"), Ok(Token::Number(32.0, Unit::of("byte/sector"))));
        assert_eq!(of("2GB/s"), Ok(Token::Number(2e9, Unit::of("byte/s"))));
        assert_eq!(of("32B/sectors"), Ok(Token::Number(32.0, Unit::of("byte"))));
        assert_eq!(of("1_000us"), Ok(Token::Number(1e6, Unit::of("ns"))));
        for wrong in ["3parsecs", "1.2.3", "1e999", "\"open", "a = 3", "§"] {
            assert!(tokens(wrong).is_err(), "{wrong}");
        }
    }
}
