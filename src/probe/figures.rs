//! From times to figures.

/// A run of some amount of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Longer {
    /// Blocks, operations, bytes.
    pub work: f64,
    /// How long it took, ns.
    pub ns: f64,
}

/// Nanoseconds per unit of work, from a short and a long run: what both take for their start falls out.
/// `None` where the long one has no more work or took no longer.
#[must_use]
pub(crate) fn per_extra(short: Longer, long: Longer) -> Option<f64> {
    let each = (long.ns - short.ns) / (long.work - short.work);
    (long.work > short.work && each > 0.0).then_some(each)
}

/// The share of the FMA pipes' peak, 0 to 1, of SMs on which each of so many threads ran so many
/// multiply-adds in so many cycles, of a peak of so many lanes per cycle. `None` without cycles.
#[must_use]
pub(crate) fn fma_share(
    threads_per_sm: f64,
    multiply_adds_per_thread: f64,
    cycles: f64,
    lanes_per_cycle: f64,
) -> Option<f64> {
    let share = threads_per_sm * multiply_adds_per_thread / cycles / lanes_per_cycle;
    // Rounded up, it can exceed the peak by what the clocks of two SMs differ.
    (cycles > 0.0 && share.is_finite()).then(|| share.min(1.0))
}

/// Cycles per step of a chain of loads. `None` without steps or cycles.
#[must_use]
pub(crate) fn latency_cycles(cycles: f64, steps: f64) -> Option<f64> {
    (cycles > 0.0 && steps > 0.0).then(|| cycles / steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_both_runs_have_does_not_count() {
        // 3000 ns to start, then half a nanosecond for each.
        let run = |work: f64| Longer { work, ns: 3000.0 + 0.5 * work };
        assert_eq!(per_extra(run(1000.0), run(5000.0)), Some(0.5));
        assert_eq!(per_extra(run(1000.0), run(1000.0)), None);
        assert_eq!(per_extra(run(5000.0), run(1000.0)), None);
        let flat = Longer { work: 9000.0, ns: 3500.0 };
        assert_eq!(per_extra(run(1000.0), flat), None, "no longer though it has more work");
    }

    #[test]
    fn a_pipe_is_full_at_one_multiply_add_per_lane_and_cycle() {
        // 1024 threads with 512 each are 524,288; 128 lanes do them in 4096 cycles.
        assert_eq!(fma_share(1024.0, 512.0, 4096.0, 128.0), Some(1.0));
        assert_eq!(fma_share(1024.0, 512.0, 5120.0, 128.0), Some(0.8));
        assert_eq!(fma_share(1024.0, 512.0, 4090.0, 128.0), Some(1.0), "no more than all");
        assert_eq!(fma_share(1024.0, 512.0, 0.0, 128.0), None);
    }

    #[test]
    fn a_chain_takes_one_latency_per_step() {
        assert_eq!(latency_cycles(11_304_960.0, 16_384.0), Some(690.0));
        assert_eq!(latency_cycles(0.0, 16_384.0), None);
        assert_eq!(latency_cycles(10.0, 0.0), None);
    }
}
