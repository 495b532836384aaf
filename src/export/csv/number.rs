//! Numbers as ncu prints them, in whatever locale it ran.
//!
//! ncu formats numbers with the locale of its environment: `25196544` under `LC_ALL=C`,
//! `25,196,544` under en_US, `25.196.544` and `36,73` under de_DE. One cell alone can be ambiguous
//! (`4.096` is four or four thousand), so a whole page is looked at first: [`Style::of`] finds the
//! style, or says that the page can't be read safely.

/// Which sign ends the whole part of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// A decimal point; commas, spaces and apostrophes group digits (C, en_US, de_CH).
    #[default]
    Point,
    /// A decimal comma; points, spaces and apostrophes group digits (de_DE, fr_FR).
    Comma,
}

/// Two numbers of one page that no single style explains.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the numbers `{first}` and `{second}` do not show whether a point or a comma separates \
     thousands; export the page again with LC_ALL=C in ncu's environment"
)]
pub struct Ambiguous {
    /// One number as printed.
    pub first: String,
    /// The other; the same where one number alone is ambiguous.
    pub second: String,
}

/// What one number says about its page's style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// Certainly a decimal point, with one to three places.
    Point,
    /// Certainly a decimal point, with four places or more: what ncu prints for scaled units even
    /// where the locale groups whole numbers by points.
    LongPoint,
    /// Certainly a decimal comma, or grouping by points.
    Comma,
    /// `4.096`.
    OnePoint,
    /// `4,096`.
    OneComma,
}

/// The number of a cell in C or en_US style; `None` for anything that is no finite number (`n/a`,
/// `no data`, `-`, `nan`, text). Of a value with its instances, `4718592 (786432; …)`, the aggregate.
#[must_use]
pub fn parse(text: &str) -> Option<f64> {
    Style::Point.parse(text)
}

/// True for what ncu prints where it has no value.
#[must_use]
pub fn is_missing(text: &str) -> bool {
    let text = text.trim();
    ["", "-", "n/a", "nan", "-nan", "inf", "-inf", "no data", "(nan)"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

impl Style {
    /// The style in which all these cells are written. Cells that are no numbers do not count.
    ///
    /// # Errors
    /// [`Ambiguous`] where two cells contradict each other, or where only `4.096`-like cells are
    /// there: ncu prints two or six decimals, so three digits after a lone point may well be a group.
    pub fn of<'a>(cells: impl IntoIterator<Item = &'a str>) -> Result<Self, Ambiguous> {
        let mut seen: [Option<&str>; 5] = [None; 5];
        for cell in cells {
            // Most cells of a page are plain counts or no numbers, which say nothing.
            if plain_count(cell).is_some() || !begins_number(cell.trim_start()) {
                continue;
            }
            let evidence = match plain_point(cell) {
                Some((whole, places)) => Some(of_point(whole, places)),
                None => evidence(aggregate(cell)),
            };
            if let Some(evidence) = evidence {
                seen[evidence as usize].get_or_insert(cell);
            }
        }
        let get = |evidence: Evidence| seen[evidence as usize];
        let ambiguous = |first: &str, second: &str| {
            Err(Ambiguous {
                first: aggregate(first).to_owned(),
                second: aggregate(second).to_owned(),
            })
        };
        match (get(Evidence::Point), get(Evidence::LongPoint), get(Evidence::Comma)) {
            (Some(point), _, Some(comma)) | (None, Some(point), Some(comma)) => {
                ambiguous(point, comma)
            }
            (None, None, Some(_)) => Ok(Self::Comma),
            (Some(_), _, None) => Ok(Self::Point),
            // de_DE with scaled units prints `25.196544` beside a grouped `4.096`.
            (None, long, None) => match (get(Evidence::OnePoint), get(Evidence::OneComma)) {
                (Some(point), comma) => ambiguous(long.or(comma).unwrap_or(point), point),
                (None, _) => Ok(Self::Point),
            },
        }
    }

    /// The number of a cell in this style; see [`parse`].
    #[must_use]
    pub fn parse(self, text: &str) -> Option<f64> {
        if let Some(count) = plain_count(text) {
            return Some(count);
        }
        if self == Self::Point && plain_point(text).is_some() {
            return text.parse().ok();
        }
        // Rust also reads `inf`, `nan` and `infinity`, which are no measurements.
        if !begins_number(text.trim_start()) {
            return None;
        }
        let text = aggregate(text);
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (group, decimal) = match self {
            Self::Point => (',', '.'),
            Self::Comma => ('.', ','),
        };
        let (whole, fraction) = match text.split_once(decimal) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (text, None),
        };
        if !is_grouped(whole, group) {
            return None;
        }
        let mut plain: String = whole.chars().filter(|&c| c != group && !is_spacer(c)).collect();
        if let Some(fraction) = fraction {
            plain.push('.');
            plain.push_str(fraction);
        }
        plain.parse().ok().filter(|value: &f64| value.is_finite())
    }
}

/// Digits that every whole number of so many digits is exact with in a double.
const EXACT_DIGITS: usize = 15;

/// The number of a cell that holds digits and nothing else, which is the same in every style; `None`
/// for anything else, and for more digits than a double keeps.
fn plain_count(text: &str) -> Option<f64> {
    if text.is_empty() || text.len() > EXACT_DIGITS {
        return None;
    }
    let mut count = 0_u64;
    for byte in text.bytes() {
        if !byte.is_ascii_digit() {
            return None;
        }
        count = 10 * count + u64::from(byte - b'0');
    }
    Some(count as f64)
}

/// A longer number is no measurement, and its double may be infinite.
const MOST_DIGITS: usize = 40;

/// The digits on both sides of the point of a cell that holds these and nothing else, as most numbers of
/// a raw page do.
fn plain_point(text: &str) -> Option<(&str, &str)> {
    let (whole, places) = text.split_once('.')?;
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (text.len() <= MOST_DIGITS && is_digits(whole) && is_digits(places)).then_some((whole, places))
}

/// True for text that begins as numbers do.
fn begins_number(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_digit() || b"+-.,".contains(&byte))
}

/// The cell without the list of instances that `--print-metric-instances` appends.
fn aggregate(text: &str) -> &str {
    let text = text.trim();
    // Few cells have a list, and looking for one character is quick.
    if !text.contains('(') {
        return text;
    }
    text.split_once(" (").map_or(text, |(value, _)| value.trim_end())
}

/// No-break and thin spaces and apostrophes: what fr_FR and de_CH group digits by.
fn is_spacer(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '\u{2019}')
}

/// True where separators stand only between groups of three digits (two in en_IN, except for the last).
fn is_grouped(whole: &str, group: char) -> bool {
    let digits = whole.trim_start_matches(['+', '-']);
    let mut groups = digits.split(|c: char| c == group || is_spacer(c));
    let first = groups.next().unwrap_or_default();
    let rest: Vec<&str> = groups.collect();
    let Some(last) = rest.last() else { return true };
    (1..=3).contains(&first.len())
        && last.len() == 3
        && rest.iter().all(|part| (2..=3).contains(&part.len()))
}

/// What a number tells of its page; `None` for whole numbers without separators and for text.
fn evidence(text: &str) -> Option<Evidence> {
    let body = text.trim_start_matches(['+', '-']);
    if !body.starts_with(|c: char| c.is_ascii_digit())
        || !body.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',' || is_spacer(c))
    {
        return None;
    }
    let points = body.matches('.').count();
    let commas = body.matches(',').count();
    let sure = |style, evidence| Style::parse(style, text).map(|_| evidence);
    match (points, commas) {
        (0, 0) => None,
        (1, 0) => {
            let (whole, places) = body.split_once('.')?;
            Some(of_point(whole, places))
        }
        (0, 1) => {
            let (whole, places) = body.split_once(',')?;
            let one = places.len() == 3 && is_group_head(whole);
            Some(if one { Evidence::OneComma } else { Evidence::Comma })
        }
        (0, _) => sure(Style::Point, Evidence::Point),
        (_, 0) => sure(Style::Comma, Evidence::Comma),
        _ if body.rfind('.') > body.rfind(',') => sure(Style::Point, Evidence::Point),
        _ => sure(Style::Comma, Evidence::Comma),
    }
}

/// What a number with one point tells of its page.
fn of_point(whole: &str, places: &str) -> Evidence {
    match places.len() {
        3 if is_group_head(whole) => Evidence::OnePoint,
        0..=3 => Evidence::Point,
        _ => Evidence::LongPoint,
    }
}

/// True for digits that can stand before a group of three: `4`, `25`, `196`, but neither `0` nor `1024`.
fn is_group_head(whole: &str) -> bool {
    (1..=3).contains(&whole.len()) && !whole.starts_with('0')
}

#[cfg(test)]
mod tests;
