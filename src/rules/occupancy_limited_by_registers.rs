//! Registers hold resident warps down, and latency shows for it.

use super::occupancy::{BY_REGISTERS, EXPLAINS, NEEDS, Resource, THRESHOLDS};
use super::{Kind, Rule};
use crate::text::count;

const RESOURCE: Resource = Resource {
    name: "registers",
    limits: &[BY_REGISTERS],
    use_of: |case| {
        case.get("launch__registers_per_thread")
            .map_or_else(String::new, |each| format!(", a thread takes {} registers", count(each)))
    },
    hint: "\
Bring registers a thread down so that {then} blocks fit an SM instead of {now}: \
__launch_bounds__, less unrolling, shorter lifetimes of values. Watch for spills: they can cost \
more than the warps give.",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "occupancy-limited-by-registers",
    kind: Kind::Cause,
    summary: "registers hold resident warps down, and latency shows for it",
    explanation: "\
An SM has a fixed number of registers, and each resident thread takes its share of them. Where \
registers are what keeps further blocks out, warps are few, and schedulers idle for want of a ready \
warp, fewer registers a thread let more warps in. The rule is quiet where more warps would \
gain less than 5% by the time model: where a unit is near its limit.",
    section: "Occupancy",
    thresholds: THRESHOLDS,
    needs: NEEDS,
    explains: EXPLAINS,
    check: |case| super::occupancy::check(case, &RESOURCE),
};

#[cfg(test)]
mod tests {
    #[test]
    fn fires_where_registers_are_the_smallest_limit() {
        super::super::occupancy::assert_occupancy_rule(
            &super::RULE,
            super::BY_REGISTERS,
            super::RESOURCE.limits,
        );
    }
}
