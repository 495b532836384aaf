//! Which metrics code reads of a launch: for tests that hold it against what the code declares.

use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local! {
    static READ: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Notes that a metric was read.
pub(super) fn note(metric: &str) {
    READ.with_borrow_mut(|read| {
        if !read.contains(metric) {
            read.insert(metric.to_owned());
        }
    });
}

/// Runs a function without noting what it reads.
pub(crate) fn unnoted<T>(run: impl FnOnce() -> T) -> T {
    let before = READ.with_borrow(BTreeSet::clone);
    let result = run();
    READ.set(before);
    result
}

/// What a function returns, and the metrics that it reads on this thread, whether the launch has them
/// or not.
pub(crate) fn reads<T>(run: impl FnOnce() -> T) -> (T, BTreeSet<String>) {
    READ.take();
    let result = run();
    (result, READ.take())
}
