//! What to call in place of the routines, and where.

use super::fast_form::FastForm;
use super::powers::PowerOfConstant;
use crate::evidence::ModeledLaunch;
use crate::evidence::removal::Removal;
use crate::evidence::slow_routines::Runs;
use crate::finding::Location;
use crate::sass::Routine;
use crate::text::percent;

/// The share of what is saved from which its first line is all that the hint names.
pub(super) const MOST_OF_IT: f64 = 0.75;

/// What to do about a power of a constant.
pub(super) fn of_power(power: &PowerOfConstant, at: &str) -> String {
    let PowerOfConstant { instead, call } = power;
    format!(
        "Use {instead} in place of {call} at {at}, which is as exact: the general power works out the logarithm of its base anew \
         each time. Where 24 bits are enough, the float's function takes less still."
    )
}

/// A place that runs a routine, and its share of what fast forms save.
pub(super) struct Place {
    routine: Routine,
    form: FastForm,
    at: String,
    share: f64,
}

/// The places that run routines, each with the one that costs most there; where none is known, the hottest spot with the
/// routine that costs most of all.
pub(super) fn places(
    launch: &ModeledLaunch,
    removal: &Removal,
    runs: &Runs,
    most: Routine,
    locations: &[Location],
) -> Vec<Place> {
    let place = |routine: Routine, text: &str, at: String, share: f64| Place {
        routine,
        form: FastForm::of(routine, text),
        at,
        share,
    };
    if locations.is_empty() {
        return vec![place(most, "", "the hottest spot".to_owned(), 1.0)];
    }
    let each = locations.iter().map(|location| {
        let routine = runs.most_at(launch, removal.listing, location).unwrap_or(most);
        place(routine, &location.text, location.name(), location.share)
    });
    each.collect()
}

/// What to call instead; the kernel may take exact roots as well.
pub(super) fn hint(places: &[Place], takes_roots: bool) -> String {
    let Some(Place { routine, form, at, share }) = places.first() else { return String::new() };
    let condition = match form.condition {
        "" => String::new(),
        condition => format!(" {condition},"),
    };
    let FastForm { what: fast, by_hand, .. } = form;
    if *routine == Routine::WholePower {
        let such = places.iter().filter(|place| place.routine == Routine::WholePower);
        let such: Vec<&str> = such.map(|place| place.at.as_str()).collect();
        let at = match &such[..] {
            [others @ .., last] if !others.is_empty() => {
                format!("{} and {last}", others.join(", "))
            }
            _ => such.concat(),
        };
        format!(
            "Use {fast} in place of pow at {at}: they differ in the last digit at most, and take an instruction each where \
             pow takes {:.0}. What is the same for all threads, work out once on the host.",
            routine.cost().all,
        )
    } else if matches!(routine, Routine::Hypotenuse | Routine::DoubleHypotenuse) {
        let called = if routine.is_double() { "hypot" } else { "hypotf" };
        let root = if takes_roots {
            " The estimate takes the root itself to be approximate as well (-prec-sqrt=false), if its accuracy is enough."
        } else {
            ""
        };
        format!(
            "Use {fast} in place of {called} at {at}, {}. {called} scales its arguments so that no square \
             overflows, and no flag of the compiler leaves that out.{root}",
            form.condition,
        )
    } else if *routine == Routine::RepeatedDoubleDivision {
        format!(
            "Use {fast}, at {at}: the divisor does not change there. The result is rounded once more, in the \
             last digit of a double, and the reciprocal takes a register pair. No compiler flag does this: \
             -use_fast_math is for floats."
        )
    } else if routine.is_double() {
        format!(
            "Use {fast} at {at}; if all digits of a double are needed, compute fewer values: once for several \
             uses, or outside the loop. No compiler flag does this: -use_fast_math is for floats."
        )
    } else if *share < MOST_OF_IT {
        let others = places[1..].iter().filter(|other| other.form.what != *fast);
        let others: Vec<String> =
            others.map(|other| format!("{} at {}", other.form.what, other.at)).collect();
        let others = match &others[..] {
            [] => String::new(),
            others => format!(", and {}", others.join(" and ")),
        };
        let flag = if places.iter().any(|each| each.form.by_hand) {
            "-use_fast_math replaces all but those whose names say how they round, such as __frcp_rn"
        } else {
            "-use_fast_math replaces all of them"
        };
        format!(
            "Use fast forms of all such routines, as {fast} at {at}{condition} where {} of the instructions are saved{others}, \
             if their accuracy is enough ({flag}). Fast forms are good to about 21 bits, for \
             sine and cosine only while the argument is small, so check the results.",
            percent(*share),
            condition = if condition.is_empty() { "," } else { condition.as_str() },
        )
    } else {
        let flag = if *by_hand {
            "no flag of the compiler does so: the function that is called there always rounds correctly"
        } else {
            "-use_fast_math does so everywhere"
        };
        format!(
            "Use {fast} at {at}{condition} if its accuracy is enough ({flag}). Fast \
             forms are good to about 21 bits, for sine and cosine only while the argument is \
             small, so check the results."
        )
    }
}
