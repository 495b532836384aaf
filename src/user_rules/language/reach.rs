//! Conditions that can never hold, or always do, whatever launch they meet.
//!
//! Numbers are followed as intervals: no counter is negative, a share is at most 1. Where conditions are joined with
//! `and`, what one of them says of a figure bounds it for the next.

use std::collections::BTreeMap;

use super::Problem;
use super::tree::{Counted, Function, Kind, Node, Sign};

/// What a number can be: from, to. Never empty but where conditions exclude each other.
type Interval = (f64, f64);

/// What is known of figures beside what they can be anyway.
type Known = BTreeMap<String, Interval>;

const ANY: Interval = (f64::NEG_INFINITY, f64::INFINITY);

/// The parts of a condition that can never hold, and those that always do.
pub(crate) fn mistakes(node: &Node) -> Vec<Problem> {
    let mut found = Vec::new();
    let outcome = judge(node, &mut Known::new(), &mut found);
    match outcome {
        Some(false) if found.is_empty() => {
            found.push(Problem::new(node.at, "this condition can never hold"));
        }
        Some(true) => {
            found.push(Problem::new(node.at, "this condition always holds, for any launch"));
        }
        _ => {}
    }
    found
}

/// Whether a condition holds for any launch, for none, or for some (`None`); and what follows where it does.
fn judge(node: &Node, known: &mut Known, found: &mut Vec<Problem>) -> Option<bool> {
    match &node.kind {
        Kind::Truth(truth) => Some(*truth),
        Kind::Not(inner) => judge(inner, &mut known.clone(), &mut Vec::new()).map(|holds| !holds),
        Kind::Binary(Sign::And, left, right) => {
            let left_holds = judge(left, known, found);
            let right_holds = judge(right, known, found);
            if right_holds == Some(false) && left_holds != Some(false) && found.is_empty() {
                found.push(Problem::new(
                    right.at,
                    "this can never hold where what stands before its `and` does",
                ));
            }
            match (left_holds, right_holds) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            }
        }
        Kind::Binary(Sign::Or, left, right) => {
            let sides = [left, right].map(|side| judge(side, &mut known.clone(), &mut Vec::new()));
            for (side, holds) in [left, right].into_iter().zip(sides) {
                if holds == Some(false) {
                    found.push(Problem::new(side.at, "this side of the `or` can never hold"));
                }
            }
            match sides {
                [Some(true), _] | [_, Some(true)] => Some(true),
                [Some(false), Some(false)] => Some(false),
                _ => None,
            }
        }
        Kind::Binary(sign, left, right) if sign.compares() => {
            let holds = compared(*sign, interval(left, known), interval(right, known));
            // What is not known of a launch compares with nothing, so that no comparison of figures always holds.
            let holds = holds.filter(|holds| !holds || is_constant(left) && is_constant(right));
            narrow(*sign, left, right, known);
            holds
        }
        _ => None,
    }
}

fn is_constant(node: &Node) -> bool {
    let mut constant = true;
    node.visit(&mut |part| {
        constant &= !matches!(
            part.kind,
            Kind::Figure(_) | Kind::Opcodes(..) | Kind::Has(_) | Kind::Default(..)
        );
    });
    constant
}

fn compared(sign: Sign, (low, high): Interval, (least, most): Interval) -> Option<bool> {
    let (never, always) = match sign {
        Sign::Less => (low >= most, high < least),
        Sign::AtMost => (low > most, high <= least),
        Sign::More => (high <= least, low > most),
        Sign::AtLeast => (high < least, low >= most),
        Sign::Equal => (low > most || high < least, false),
        _ => (false, low > most || high < least),
    };
    if never { Some(false) } else { always.then_some(true) }
}

/// Bounds the figure on one side of a comparison by the number on the other.
fn narrow(sign: Sign, left: &Node, right: &Node, known: &mut Known) {
    let turned = match sign {
        Sign::Less => Sign::More,
        Sign::AtMost => Sign::AtLeast,
        Sign::More => Sign::Less,
        Sign::AtLeast => Sign::AtMost,
        other => other,
    };
    for (figure, other, sign) in [(left, right, sign), (right, left, turned)] {
        let Kind::Figure(named) = &figure.kind else { continue };
        let (least, most) = interval(other, known);
        let (low, high) = interval(figure, known);
        let both = match sign {
            Sign::Less | Sign::AtMost => (low, high.min(most)),
            Sign::More | Sign::AtLeast => (low.max(least), high),
            Sign::Equal => (low.max(least), high.min(most)),
            _ => (low, high),
        };
        known.insert(named.name.clone(), both);
    }
}

/// What a number can be.
fn interval(node: &Node, known: &Known) -> Interval {
    let figure = |name: &str, most: f64| known.get(name).copied().unwrap_or((0.0, most));
    match &node.kind {
        Kind::Number(value, _) => (*value, *value),
        Kind::Figure(named) => figure(&named.name, named.most),
        Kind::Opcodes(Counted::Share, _) => (0.0, 1.0),
        Kind::Opcodes(..) => (0.0, f64::INFINITY),
        Kind::Default(named, other) => join((0.0, named.most), interval(other, known)),
        Kind::Negative(inner) => {
            let (low, high) = interval(inner, known);
            (-high, -low)
        }
        Kind::If(_, yes, no) => join(interval(yes, known), interval(no, known)),
        Kind::Call(function, several) => {
            let several: Vec<Interval> = several.iter().map(|one| interval(one, known)).collect();
            called(*function, &several)
        }
        Kind::Binary(sign, left, right) => {
            arithmetic(*sign, interval(left, known), interval(right, known))
        }
        Kind::Truth(_) | Kind::Has(_) | Kind::Not(_) => ANY,
    }
}

fn join((a, b): Interval, (c, d): Interval) -> Interval {
    (a.min(c), b.max(d))
}

fn called(function: Function, several: &[Interval]) -> Interval {
    let fold = |pick: fn(f64, f64) -> f64| {
        let both = several.iter().copied().reduce(|a, b| (pick(a.0, b.0), pick(a.1, b.1)));
        both.unwrap_or(ANY)
    };
    let first = several.first().copied().unwrap_or(ANY);
    match function {
        Function::Min => fold(f64::min),
        Function::Max => fold(f64::max),
        Function::Floor => (first.0.floor(), first.1.floor()),
        Function::Ceil => (first.0.ceil(), first.1.ceil()),
        Function::Abs | Function::Sqrt => (0.0, f64::INFINITY),
        Function::Log2 => ANY,
    }
}

fn arithmetic(sign: Sign, left: Interval, right: Interval) -> Interval {
    let corners = |of: fn(f64, f64) -> f64| {
        let all =
            [of(left.0, right.0), of(left.0, right.1), of(left.1, right.0), of(left.1, right.1)];
        if all.iter().any(|value| value.is_nan()) {
            // 0 × ∞: what is not negative stays so.
            return if left.0 >= 0.0 && right.0 >= 0.0 { (0.0, f64::INFINITY) } else { ANY };
        }
        (
            all.iter().copied().fold(f64::INFINITY, f64::min),
            all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    };
    let ends = |low: f64, high: f64| if low.is_nan() || high.is_nan() { ANY } else { (low, high) };
    match sign {
        Sign::Plus => ends(left.0 + right.0, left.1 + right.1),
        Sign::Minus => ends(left.0 - right.1, left.1 - right.0),
        Sign::Times => corners(|a, b| a * b),
        Sign::Over if right.0 > 0.0 => corners(|a, b| a / b),
        Sign::Over if left.0 >= 0.0 && right.0 >= 0.0 => (0.0, f64::INFINITY),
        _ => ANY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user_rules::language::parser::parse;

    fn found(text: &str) -> Vec<String> {
        mistakes(&parse(text).unwrap()).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn what_can_never_hold_is_told() {
        for text in [
            "busy.dram > 1",
            "busy.dram < 0",
            "lts__t_sector_hit_rate.pct > 150",
            "lts__t_sectors.sum > 5 and lts__t_sectors.sum < 3",
            "5 < lts__t_sectors.sum and lts__t_sectors.sum <= 5 - 1",
            "lts__t_sectors.sum + 1 <= 0",
            "1 > 2",
            "not true",
            "busy.dram > 0.5 or busy.dram * 2 > 3",
            "min(busy.dram, busy.l2) > 1",
        ] {
            let found = found(text);
            assert!(found.len() == 1 && found[0].contains("never hold"), "{text}: {found:?}");
        }
    }

    #[test]
    fn what_always_holds_is_told() {
        assert!(found("1 < 2")[0].contains("always holds"));
        assert!(found("true or busy.dram > 0.5")[0].contains("always holds"));
    }

    #[test]
    fn what_may_hold_is_left_alone() {
        for text in [
            "busy.dram > 0.5",
            "busy.dram >= 0",
            "lts__t_sectors.sum > 3 and lts__t_sectors.sum < 5",
            "lts__t_sectors.sum / dram__bytes_read.sum > 4 or busy.l2 < 0.1",
            "has(lts__t_sectors.sum) and not has(sass.total)",
            "if(busy.dram > 0.5, 3, 0) > 2",
            "default(lts__t_sectors.sum, -1) < 0",
            "lts__t_sectors.sum - lts__t_sectors_op_read.sum < 0",
            "log2(lts__t_sectors.sum) < 0",
            "abs(busy.dram - busy.l2) > 0.2",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
