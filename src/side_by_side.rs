//! A few threads for what takes milliseconds.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread::available_parallelism;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// From so many instructions on, threads save a diagnosis more than it costs to wake them: some 0.5 ms of work
/// against some 0.05 ms.
pub(crate) const LONG_CODE: usize = 256;

/// More would wait for the longest item.
const MOST_THREADS: usize = 4;

/// As much as a program's first thread has: walks over machine code are deep.
const STACK_BYTES: usize = 8 << 20;

/// Started when they are first needed; `None` on one core, and where the system gives no threads.
static THREADS: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let threads = available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES);
    (threads > 1).then(|| pool.build().ok()).flatten()
});

/// What a function makes of each item, in the items' order; where it `pays`, several items at once. Within one of those, one after
/// the other: a thread that waits for others takes up their items on top of its own, and its stack would grow with each.
pub(crate) fn map<T: Send, R: Send>(
    items: Vec<T>,
    pays: bool,
    of: impl Fn(T) -> R + Sync + Send,
) -> Vec<R> {
    let is_within = rayon::current_thread_index().is_some();
    match THREADS.as_ref().filter(|_| pays && !is_within) {
        // One item at a time: long ones often stand side by side.
        Some(threads) => {
            threads.install(|| items.into_par_iter().with_max_len(1).map(of).collect())
        }
        None => items.into_iter().map(of).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn the_order_is_kept_whether_threads_help_or_not() {
        let items: Vec<usize> = (0..1000).collect();
        let doubled: Vec<usize> = (0..2000).step_by(2).collect();
        for pays in [false, true] {
            assert_eq!(map(items.clone(), pays, |item| item * 2), doubled);
        }
    }
}
