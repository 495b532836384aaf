//! The value of an expression for a launch.

use super::tree::{Counted, Function, Kind, Node, Sign};
use crate::evidence::ModeledLaunch;

/// The number that a part comes to; NaN where a figure is not known, or by a division of zero by zero.
pub(crate) fn number(node: &Node, case: &ModeledLaunch) -> f64 {
    match &node.kind {
        Kind::Number(value, _) => *value,
        Kind::Figure(figure) => figure.of(case).unwrap_or(f64::NAN),
        Kind::Default(figure, other) => figure.of(case).unwrap_or_else(|| number(other, case)),
        Kind::Opcodes(counted, pattern) => {
            let Some(listing) = case.profile.listing() else { return f64::NAN };
            let count = |index: usize| match counted {
                Counted::Executed | Counted::Share => listing.executed(index),
                Counted::Listed => 1.0,
            };
            let places = 0..listing.sass.entries.len();
            let sum: f64 =
                places.filter(|&index| pattern.matches(listing.text(index))).map(count).sum();
            // An empty sum of floats is -0.0, by which a quotient would be negative.
            let sum = sum + 0.0;
            if *counted == Counted::Share { sum / listing.mix().total } else { sum }
        }
        Kind::Negative(inner) => -number(inner, case),
        Kind::If(condition, yes, no) => number(if holds(condition, case) { yes } else { no }, case),
        Kind::Call(function, several) => {
            call(*function, several.iter().map(|one| number(one, case)))
        }
        Kind::Binary(sign, left, right) => {
            let (left, right) = (number(left, case), number(right, case));
            match sign {
                Sign::Plus => left + right,
                Sign::Minus => left - right,
                Sign::Times => left * right,
                Sign::Over => left / right,
                _ => f64::NAN,
            }
        }
        Kind::Truth(_) | Kind::Has(_) | Kind::Not(_) => f64::NAN,
    }
}

/// True where a condition holds. A comparison with what is no number never does.
pub(crate) fn holds(node: &Node, case: &ModeledLaunch) -> bool {
    match &node.kind {
        Kind::Truth(truth) => *truth,
        Kind::Has(figure) => figure.of(case).is_some(),
        Kind::Not(inner) => !holds(inner, case),
        Kind::Binary(Sign::And, left, right) => holds(left, case) && holds(right, case),
        Kind::Binary(Sign::Or, left, right) => holds(left, case) || holds(right, case),
        Kind::Binary(sign, left, right) => compare(*sign, number(left, case), number(right, case)),
        _ => false,
    }
}

/// A comparison of two numbers.
#[expect(
    clippy::float_cmp,
    reason = "a rule that asks for equality gets it: counts are whole numbers"
)]
pub(super) fn compare(sign: Sign, left: f64, right: f64) -> bool {
    match sign {
        Sign::Less => left < right,
        Sign::AtMost => left <= right,
        Sign::More => left > right,
        Sign::AtLeast => left >= right,
        Sign::Equal => left == right,
        Sign::Unequal => left != right && !left.is_nan() && !right.is_nan(),
        _ => false,
    }
}

/// A function of numbers; what is no number makes it none.
fn call(function: Function, several: impl Iterator<Item = f64>) -> f64 {
    let least_or_most = |pick: fn(f64, f64) -> f64| {
        move |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { pick(a, b) }
    };
    let mut several = several;
    match function {
        Function::Min => several.reduce(least_or_most(f64::min)).unwrap_or(f64::NAN),
        Function::Max => several.reduce(least_or_most(f64::max)).unwrap_or(f64::NAN),
        one => several.next().map_or(f64::NAN, |value| match one {
            Function::Abs => value.abs(),
            Function::Floor => value.floor(),
            Function::Ceil => value.ceil(),
            Function::Sqrt => value.sqrt(),
            _ => value.log2(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::model::Model;
    use crate::user_rules::language::parser::parse;

    fn on<T>(text: &str, of: fn(&Node, &ModeledLaunch) -> T) -> T {
        let mut launch = Launch::default();
        launch.set("dram__bytes_read.sum", Some(3000.0));
        launch.set("lts__t_sectors.sum", Some(100.0));
        let model = Model::new(&launch);
        of(&parse(text).unwrap(), &ModeledLaunch { profile: &launch, model: &model })
    }

    #[test]
    fn arithmetic_is_as_on_paper() {
        for (text, value) in [
            ("1 + 2 * 3 - 4 / 2", 5.0),
            ("-(1 - 3) * 2", 4.0),
            ("dram__bytes_read.sum / lts__t_sectors.sum", 30.0),
            ("min(4, 2, 3) + max(1, 5)", 7.0),
            ("if(1 < 2 and not false, 8, 9)", 8.0),
            ("default(dram__bytes_write.sum, 7)", 7.0),
            ("default(dram__bytes_read.sum, 7)", 3000.0),
            ("sqrt(16) + log2(8) + floor(1.5) + ceil(1.5) + abs(0 - 2)", 12.0),
        ] {
            assert!((on(text, number) - value).abs() < 1e-12, "{text}");
        }
    }

    #[test]
    fn what_is_not_known_compares_with_nothing() {
        for text in [
            "dram__bytes_write.sum > 0",
            "dram__bytes_write.sum <= 0",
            "dram__bytes_write.sum != 0",
            "min(dram__bytes_write.sum, 1) < 2",
            "0 / 0 == 0 / 0",
            "has(dram__bytes_write.sum)",
            "sass(\"LDG\") >= 0",
            "stall.barrier > 0",
        ] {
            assert!(!on(text, holds), "{text}");
        }
        assert!(on("has(dram__bytes_read.sum) and not has(sass.total)", holds));
        assert!(on("dram__bytes_read.sum == 3000 or 1 > 2", holds));
    }
}
