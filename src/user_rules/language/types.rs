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

/// What an expression is. Unlike units are no error: they are added to `unlike`. A percentage that its author wrote
/// beside a share, such as the 15% of `busy.dram > 15%`, becomes a share.
///
/// # Errors
/// A number where a condition belongs, or the other way round.
pub(crate) fn of(node: &mut Node, unlike: &mut Vec<Problem>) -> Result<Type, Problem> {
    let at = node.at;
    Ok(match &mut node.kind {
        Kind::Number(_, unit) => Type::Number(unit.clone()),
        Kind::Truth(_) | Kind::Has(_) => Type::Condition,
        Kind::Figure(figure) => Type::Number(Unit::of(figure.unit)),
        Kind::Opcodes(Counted::Share, _) => Type::Number(Unit::plain()),
        Kind::Opcodes(Counted::Executed | Counted::Listed, _) => Type::Number(Unit::of("inst")),
        Kind::Default(figure, other) => {
            let unit = Unit::of(figure.unit);
            let theirs = number(other, unlike)?;
            let theirs = settled(other, theirs, &unit);
            let both = unit.common(&theirs);
            if both.is_none() {
                unlike.push(differ(at, None, &unit, &theirs));
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
            Type::Number(alike(at, None, &mut [yes, no], unlike)?)
        }
        Kind::Call(function, several) => {
            let mut parts: Vec<&mut Node> = several.iter_mut().collect();
            let unit = alike(at, None, &mut parts, unlike)?;
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
            let (over, under) = (number(left, unlike)?, number(right, unlike)?);
            // The way from a percentage to a share.
            let is_share = over.is_percent() && is_bare_hundred(right);
            Type::Number(if is_share { Unit::plain() } else { over.times(&under, -1) })
        }
        Kind::Binary(sign, left, right) => {
            let sign = *sign;
            let unit = alike(at, Some(sign), &mut [left, right], unlike)?;
            if sign.compares() {
                scale(left, right, unlike);
                scale(right, left, unlike);
                Type::Condition
            } else {
                Type::Number(unit)
            }
        }
    })
}

/// The unit of a part that must be a number.
pub(crate) fn number(node: &mut Node, unlike: &mut Vec<Problem>) -> Result<Unit, Problem> {
    match of(node, unlike)? {
        Type::Number(unit) => Ok(unit),
        Type::Condition => Err(Problem::new(
            node.at,
            "a condition stands where a number should; if(…, 1, 0) makes one of it",
        )),
    }
}

/// Checks that a part is a condition.
pub(crate) fn condition(node: &mut Node, unlike: &mut Vec<Problem>) -> Result<(), Problem> {
    match of(node, unlike)? {
        Type::Condition => Ok(()),
        Type::Number(_) => Err(Problem::new(
            node.at,
            "a number stands where a condition should; compare it with something",
        )),
    }
}

/// The unit that parts have in common.
fn alike(
    at: usize,
    sign: Option<Sign>,
    parts: &mut [&mut Node],
    unlike: &mut Vec<Problem>,
) -> Result<Unit, Problem> {
    let mut units = Vec::new();
    for part in parts.iter_mut() {
        units.push(number(part, unlike)?);
    }
    let is_known = |unit: &&Unit| !matches!(unit, Unit::Any) && !unit.is_percent();
    let other = units.iter().find(is_known).cloned().unwrap_or_default();
    let mut unit = Unit::Any;
    for (part, its) in parts.iter_mut().zip(units) {
        let its = settled(part, its, &other);
        match unit.common(&its) {
            Some(common) => unit = common,
            None => unlike.push(differ(at, sign, &unit, &its)),
        }
    }
    Ok(unit)
}

/// Makes a written percentage that stands beside a share one: 15% is 0.15 there. The unit that the part then has.
fn settled(part: &mut Node, unit: Unit, beside: &Unit) -> Unit {
    if !unit.is_percent() || *beside != Unit::plain() {
        return unit;
    }
    let literal = match &mut part.kind {
        Kind::Negative(inner) => &mut inner.kind,
        kind => kind,
    };
    let Kind::Number(value, its) = literal else { return unit };
    *value /= 100.0;
    *its = Unit::plain();
    Unit::plain()
}

fn is_bare_hundred(node: &Node) -> bool {
    matches!(node.kind, Kind::Number(value, Unit::Any) if (value - 100.0).abs() < f64::EPSILON)
}

fn differ(at: usize, sign: Option<Sign>, one: &Unit, other: &Unit) -> Problem {
    let beside = sign.map(|sign| format!(" beside `{}`", sign.text())).unwrap_or_default();
    let is = |text: &str| [one, other].into_iter().any(|unit| *unit == Unit::of(text));
    let way = if is("%") && is("share") {
        "; divide the percentage by 100"
    } else if is("byte") && is("sector") {
        "; multiply the sectors by 32B/sector"
    } else {
        ""
    };
    Problem::new(at, format!("units differ{beside}: {one} and {other}{way}"))
}

/// A percentage goes to 100 and a share to 1: a bare number tells which of them was meant.
fn scale(figure: &Node, literal: &Node, unlike: &mut Vec<Problem>) {
    let Kind::Number(value, Unit::Any) = literal.kind else { return };
    let Kind::Figure(named) = &figure.kind else { return };
    if named.unit == "%" && value > 0.0 && value < 1.0 {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user_rules::language::parser::parse;

    fn checked(text: &str) -> Result<(Type, Vec<String>), String> {
        let mut node = parse(text).map_err(|problem| problem.what)?;
        let mut unlike = Vec::new();
        let kind = of(&mut node, &mut unlike).map_err(|problem| problem.what)?;
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
        assert_eq!(
            wrong,
            ["units differ beside `>`: byte and sector; multiply the sectors by 32B/sector"]
        );
        let fetched = format!("{bytes} > 2 * 32B/sector * lts__t_sectors.sum");
        assert!(checked(&fetched).unwrap().1.is_empty());
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
        assert_eq!(
            told("lts__t_sector_hit_rate.pct < busy.dram"),
            ["units differ beside `<`: % and a share or ratio; divide the percentage by 100"]
        );
        assert!(told("lts__t_sector_hit_rate.pct / 100 < busy.dram").is_empty());
    }

    #[test]
    fn a_percentage_beside_a_share_is_one() {
        for text in ["busy.dram > 15%", "15% < busy.dram", "busy.dram - 15% > 0"] {
            let mut node = parse(text).unwrap();
            let mut unlike = Vec::new();
            of(&mut node, &mut unlike).unwrap();
            assert!(unlike.is_empty(), "{text}: {unlike:?}");
            let mut values = Vec::new();
            node.visit(&mut |part| {
                if let Kind::Number(value, _) = part.kind {
                    values.push(value);
                }
            });
            assert!(values.contains(&0.15), "{text}: {values:?}");
        }
        // Beside a percentage it stays one.
        let mut node = parse("lts__t_sector_hit_rate.pct < 15%").unwrap();
        of(&mut node, &mut Vec::new()).unwrap();
        node.visit(&mut |part| {
            assert!(!matches!(part.kind, Kind::Number(value, _) if value < 15.0));
        });
    }
}
