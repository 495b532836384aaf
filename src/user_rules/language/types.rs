//! What each part of an expression is: a condition, or a number of some unit.

use super::Problem;
use super::tree::{Counted, Function, Kind, Node, Sign};
use super::unit::Unit;

/// What a part is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    /// True or false.
    Condition,
    /// A number.
    Number(Unit),
}

/// What an expression is. Unlike units are no error: they are added to `unlike`.
///
/// # Errors
/// A number where a condition belongs, or the other way round.
pub(crate) fn of(node: &Node, unlike: &mut Vec<Problem>) -> Result<Type, Problem> {
    Ok(match &node.kind {
        Kind::Number(_, unit) => Type::Number(unit.clone()),
        Kind::Truth(_) | Kind::Has(_) => Type::Condition,
        Kind::Figure(figure) => Type::Number(Unit::of(figure.unit)),
        Kind::Opcodes(Counted::Share, _) => Type::Number(Unit::plain()),
        Kind::Opcodes(Counted::Executed | Counted::Listed, _) => Type::Number(Unit::of("inst")),
        Kind::Default(figure, other) => {
            let other = number(other, unlike)?;
            let unit = Unit::of(figure.unit);
            let both = unit.common(&other);
            if both.is_none() {
                unlike.push(differ(node, &unit, &other));
            }
            Type::Number(both.unwrap_or(unit))
        }
        Kind::Negative(inner) => Type::Number(number(inner, unlike)?),
        Kind::Not(inner) => {
            condition(inner, unlike)?;
            Type::Condition
        }
        Kind::If(test, yes, no) => {
            condition(test, unlike)?;
            Type::Number(alike(node, &[yes, no], unlike)?)
        }
        Kind::Call(function, several) => {
            let several: Vec<&Node> = several.iter().collect();
            let unit = alike(node, &several, unlike)?;
            let keeps = !matches!(function, Function::Sqrt | Function::Log2);
            Type::Number(if keeps { unit } else { Unit::Any })
        }
        Kind::Binary(Sign::And | Sign::Or, left, right) => {
            condition(left, unlike)?;
            condition(right, unlike)?;
            Type::Condition
        }
        Kind::Binary(Sign::Times, left, right) => {
            Type::Number(number(left, unlike)?.times(&number(right, unlike)?, 1))
        }
        Kind::Binary(Sign::Over, left, right) => {
            Type::Number(number(left, unlike)?.times(&number(right, unlike)?, -1))
        }
        Kind::Binary(sign, left, right) => {
            let unit = alike(node, &[left, right], unlike)?;
            if sign.compares() {
                scale(left, right, unlike)?;
                scale(right, left, unlike)?;
                Type::Condition
            } else {
                Type::Number(unit)
            }
        }
    })
}

/// The unit of a part that must be a number.
pub(crate) fn number(node: &Node, unlike: &mut Vec<Problem>) -> Result<Unit, Problem> {
    match of(node, unlike)? {
        Type::Number(unit) => Ok(unit),
        Type::Condition => Err(Problem::new(
            node.at,
            "a condition stands where a number should; if(…, 1, 0) makes one of it",
        )),
    }
}

/// Checks that a part is a condition.
pub(crate) fn condition(node: &Node, unlike: &mut Vec<Problem>) -> Result<(), Problem> {
    match of(node, unlike)? {
        Type::Condition => Ok(()),
        Type::Number(_) => Err(Problem::new(
            node.at,
            "a number stands where a condition should; compare it with something",
        )),
    }
}

/// The unit that parts have in common.
fn alike(node: &Node, parts: &[&Node], unlike: &mut Vec<Problem>) -> Result<Unit, Problem> {
    let mut unit = Unit::Any;
    for part in parts {
        let its = number(part, unlike)?;
        match unit.common(&its) {
            Some(common) => unit = common,
            None => unlike.push(differ(node, &unit, &its)),
        }
    }
    Ok(unit)
}

fn differ(node: &Node, one: &Unit, other: &Unit) -> Problem {
    let sign = match &node.kind {
        Kind::Binary(sign, ..) => format!(" beside `{}`", sign.text()),
        _ => String::new(),
    };
    Problem::new(node.at, format!("units differ{sign}: {one} and {other}"))
}

/// A percentage goes to 100 and a share to 1: a bare number tells which of them was meant.
fn scale(figure: &Node, literal: &Node, unlike: &mut Vec<Problem>) -> Result<(), Problem> {
    let Kind::Number(value, Unit::Any) = literal.kind else { return Ok(()) };
    let Kind::Figure(named) = &figure.kind else { return Ok(()) };
    let mut ignored = Vec::new();
    let unit = number(figure, &mut ignored)?;
    if unit.is_percent() && value > 0.0 && value < 1.0 {
        unlike.push(Problem::new(
            literal.at,
            format!(
                "`{}` is in percent, from 0 to 100, and is compared with {value}; write {}%",
                named.name,
                100.0 * value
            ),
        ));
    }
    if named.unit == "share" && value > 1.0 {
        unlike.push(Problem::new(
            literal.at,
            format!(
                "`{}` is a share, from 0 to 1, and is compared with {value}; write {}",
                named.name,
                value / 100.0
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user_rules::language::parser::parse;

    fn checked(text: &str) -> Result<(Type, Vec<String>), String> {
        let node = parse(text).map_err(|problem| problem.what)?;
        let mut unlike = Vec::new();
        let kind = of(&node, &mut unlike).map_err(|problem| problem.what)?;
        Ok((kind, unlike.into_iter().map(|problem| problem.what).collect()))
    }

    #[test]
    fn conditions_and_numbers_are_told_apart() {
        assert_eq!(checked("sass.total > 3 and has(sass.total)").unwrap().0, Type::Condition);
        assert!(checked("sass.total and true").unwrap_err().contains("compare it"));
        assert!(checked("(1 < 2) + 1").unwrap_err().contains("if(…, 1, 0)"));
        assert!(checked("not 3").unwrap_err().contains("compare it"));
    }

    #[test]
    fn units_are_followed() {
        let bytes = "dram__bytes_read.sum";
        let (kind, unlike) = checked(&format!("{bytes} / lts__t_sectors.sum")).unwrap();
        assert_eq!((kind, unlike.len()), (Type::Number(Unit::of("byte/sector")), 0));
        let wrong = checked(&format!("{bytes} > lts__t_sectors.sum")).unwrap().1;
        assert_eq!(wrong, ["units differ beside `>`: byte and sector"]);
        assert!(
            checked(&format!("{bytes} > 4MiB and gpu__time_duration.sum > 2ms"))
                .unwrap()
                .1
                .is_empty()
        );
        assert_eq!(checked(&format!("{bytes} > 2ms")).unwrap().1.len(), 1);
        assert_eq!(checked(&format!("max({bytes}, 2ms) > 1")).unwrap().1.len(), 1);
    }

    #[test]
    fn percentages_and_shares_are_not_mixed_up() {
        let told = |text: &str| checked(text).unwrap().1;
        assert!(told("lts__t_sector_hit_rate.pct < 0.4")[0].contains("write 40%"));
        assert!(told("busy.dram > 60")[0].contains("write 0.6"));
        assert!(told("lts__t_sector_hit_rate.pct < 40 and busy.dram > 0.6").is_empty());
        assert_eq!(told("busy.dram > 60%"), ["units differ beside `>`: a ratio and %"]);
    }
}
