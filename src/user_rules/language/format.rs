//! Messages with figures in them: `{dram__bytes_read.sum} come from DRAM`.

use super::Problem;
use super::parser::parse;
use super::tree::Node;
use super::unit::Unit;
use super::{eval, types};
use crate::evidence::ModeledLaunch;
use crate::text::{byte_rate, bytes, count, duration, percent, prefixed, significant};

/// A text with numbers in it.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Number(Box<Node>, Form),
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Duration,
    Bytes,
    ByteRate,
    Frequency,
    Percent,
    Share,
    Plain,
}

/// The most numbers in a text.
const MOST_NUMBERS: usize = 20;

impl Template {
    /// A template of a text; unlike units in its numbers are added to `unlike`.
    ///
    /// # Errors
    /// The first mistake, at its byte of the text.
    pub(crate) fn parse(text: &str, unlike: &mut Vec<Problem>) -> Result<Self, Problem> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(next) = text[at..].find(['{', '}']) {
            plain.push_str(&text[at..at + next]);
            at += next;
            let doubled = &text[at..=at];
            if text[at + 1..].starts_with(doubled) {
                plain.push_str(doubled);
                at += 2;
                continue;
            }
            if doubled == "}" {
                return Err(Problem::new(
                    at,
                    "a `}` has no `{` before it; write }} for the sign itself",
                ));
            }
            let inner = &text[at + 1..];
            let end = inner.find('}');
            let end = end.ok_or_else(|| {
                Problem::new(at, "a `{` is not closed; write {{ for the sign itself")
            })?;
            let moved = |problem: Problem| Problem { at: problem.at + at + 1, ..problem };
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(part(&inner[..end], unlike).map_err(moved)?);
            at += end + 2;
        }
        plain.push_str(&text[at..]);
        parts.push(Part::Text(plain));
        if parts.len() > 2 * MOST_NUMBERS + 1 {
            return Err(Problem::new(
                0,
                format!("the text has more than {MOST_NUMBERS} numbers in braces"),
            ));
        }
        Ok(Self { parts })
    }

    /// The text for a launch.
    pub(crate) fn of(&self, case: &ModeledLaunch) -> String {
        let words = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Number(node, form) => form.written(eval::number(node, case)),
        });
        words.collect()
    }

    /// The expressions in it.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.parts.iter().filter_map(|part| match part {
            Part::Number(node, _) => Some(&**node),
            Part::Text(_) => None,
        })
    }
}

/// What stands in braces: an expression, and after a colon how it is written.
fn part(text: &str, unlike: &mut Vec<Problem>) -> Result<Part, Problem> {
    let (expression, form) = match text.rsplit_once(':') {
        Some((expression, form)) => (expression, Some(form.trim())),
        None => (text, None),
    };
    let mut node = parse(expression)?;
    let unit = types::number(&mut node, unlike)?;
    let form = match form {
        None => Form::of(&unit),
        Some("percent") if unit.is_percent() => Form::Percent,
        Some("percent") => Form::Share,
        Some("number") => Form::Plain,
        Some(other) => {
            let what = format!(
                "`:{}` is not a form of a number; write :percent, :number, or nothing",
                crate::text::printable(other)
            );
            return Err(Problem::new(expression.len(), what));
        }
    };
    Ok(Part::Number(Box::new(node), form))
}

impl Form {
    /// How numbers of a unit are written.
    fn of(unit: &Unit) -> Self {
        let is = |name: &str| *unit == Unit::of(name);
        match () {
            () if is("ns") => Self::Duration,
            () if is("byte") => Self::Bytes,
            () if is("byte/s") => Self::ByteRate,
            () if is("hz") => Self::Frequency,
            () if unit.is_percent() => Self::Percent,
            () => Self::Plain,
        }
    }

    fn written(self, value: f64) -> String {
        if !value.is_finite() {
            return "an unknown number".to_owned();
        }
        match self {
            Self::Duration => duration(value),
            Self::Bytes => bytes(value),
            Self::ByteRate => byte_rate(value),
            Self::Frequency => format!("{}Hz", prefixed(value)),
            Self::Percent => percent(value / 100.0),
            Self::Share => percent(value),
            // Whole numbers and large ones with separators, others with three digits.
            Self::Plain if value.abs() >= 1000.0 || value.fract() == 0.0 => count(value),
            Self::Plain => significant(value, 3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::model::Model;

    fn on(text: &str) -> Result<String, String> {
        let mut launch = Launch::default();
        for (name, value) in [
            ("dram__bytes_read.sum", 4_300_000_000.0),
            ("gpu__time_duration.sum", 10_700_000.0),
            ("lts__t_sectors.sum", 1_209_008_128.0),
            ("lts__t_sector_hit_rate.pct", 43.2),
        ] {
            launch.set(name, Some(value));
        }
        let model = Model::new(&launch);
        let template = Template::parse(text, &mut Vec::new()).map_err(|problem| problem.what)?;
        Ok(template.of(&ModeledLaunch { profile: &launch, model: &model }))
    }

    #[test]
    fn numbers_are_written_by_their_unit() {
        for (text, written) in [
            ("{dram__bytes_read.sum} in {gpu__time_duration.sum}", "4.30 GB in 10.7 ms"),
            (
                "{lts__t_sectors.sum} sectors, {lts__t_sector_hit_rate.pct} hit",
                "1,209,008,128 sectors, 43% hit",
            ),
            ("{1 / 4:percent} of {{all}}", "25% of {all}"),
            ("{1 / 3}", "0.333"),
            ("{dram__bytes_read.sum:number}", "4,300,000,000"),
            ("{dram__bytes_write.sum}", "an unknown number"),
        ] {
            assert_eq!(on(text).as_deref(), Ok(written));
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, words) in [
            ("{", "not closed"),
            ("}", "no `{` before"),
            ("{1 < 2}", "a condition stands"),
            ("{1:hex}", "not a form"),
            ("{}", "missing"),
        ] {
            assert!(on(text).unwrap_err().contains(words), "{text}");
        }
        assert!(on(&"{1}".repeat(30)).unwrap_err().contains("more than 20"));
    }
}
