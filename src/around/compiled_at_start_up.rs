//! Code is compiled while the program runs.

use super::blame::Blamed;
use super::run::{Run, merged, sum_ns};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::survey::record::Span;
use crate::text::{count_of, duration, percent};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "compiled-at-start-up",
    summary: "the driver compiles PTX at start-up, because the program has no machine code for this device",
    checks: "The program has no machine code for this device, so the driver compiles its PTX at start-up. Its \
             cache keeps the result until the driver or the program changes.",
    hint: "Build for this device too: -gencode arch=compute_XX,code=sm_XX with its compute capability",
    check,
};

/// CUPTI's number of a compilation; what is loaded from the cache or stored there is none.
const COMPILED: u32 = 3;

fn check(run: &Run) -> Option<Found> {
    let compiled: Vec<Span> = run
        .process
        .compilations
        .iter()
        .filter(|compilation| compilation.operation == COMPILED)
        .map(|compilation| compilation.span)
        .collect();
    let count = compiled.len();
    if count == 0 {
        return None;
    }
    let ns = sum_ns(&merged(compiled));
    Some(Found {
        hint: None,
        // The next run finds it in the cache.
        saved_ns: [ns, 0.0, ns],
        message: format!(
            "The driver compiles PTX {} for {}, {} of the time; the next run finds it in the cache",
            count_of(count as f64, "time"),
            duration(ns),
            percent(ns / run.wall_ns)
        ),
        evidence: vec![
            Evidence::new("compilations", count as f64, ""),
            Evidence::new("time of compilations", ns, "ns"),
        ],
        blamed: Blamed::none(),
    })
}

#[cfg(test)]
mod tests {
    use crate::around::testing::{Made, US, rules, saved};
    use crate::survey::record::{Compilation, Span};
    use crate::survey::samples::shape;

    #[test]
    fn code_is_compiled_once() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        made.launch(0, 1000 * US);
        let span = |start, end| Span { start, end };
        made.process.compilations = vec![
            Compilation { span: span(0, 400 * US), operation: 3 },
            Compilation { span: span(0, 900 * US), operation: 1 },
        ];
        let found = made.found(2_000 * US);
        assert_eq!(rules(&found), ["compiled-at-start-up"]);
        assert!((saved(found[0].estimate.factor) - 0.2).abs() < 1e-9, "{:?}", found[0].estimate);
        assert!(saved(found[0].estimate.low).abs() < 1e-9, "the cache may have it by the next run");
    }
}
