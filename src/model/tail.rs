//! What a last wave that is not full takes.
//!
//! A block of the last wave shares its SM with fewer others, and the device's own units with fewer still, so
//! it does not wait in queues for as long as those before it. No unit does more than its peak, so the wave
//! takes at least the work of its blocks.

use super::Model;
use crate::metric::stall::StallReason;
use crate::term::Term;

impl Model {
    /// The time of a wave that fills a share of the device (`filled`, above 0 to 1), as a share of a full
    /// wave's; 1 where nothing is known of what warps wait for. `fullest` is the share of its blocks that the
    /// SM with most of them has (at least `filled`).
    #[must_use]
    pub fn partial_wave(&self, filled: f64, fullest: f64) -> f64 {
        let Some(latency) = self.warp_latency.filter(|&latency| latency > 0.0) else { return 1.0 };
        // Counters are averages over all SMs' time; while blocks run, units are busier by that.
        let active = 1.0 - self.idle();
        let share = |term: Term| if term.is_beyond_l1() { filled } else { fullest };
        let busy = |term: Term| {
            let busy = self.utilization(term).filter(|_| active > 0.0);
            busy.map_or(0.0, |busy| (busy / active).min(1.0))
        };
        let work = Term::ALL
            .into_iter()
            .filter(|&term| term != Term::BlockScheduler)
            .map(|term| busy(term) * share(term))
            .fold(0.0, f64::max);
        // A request finds a unit that is busy a share of the time busy with that probability, and that is
        // less by as much as the wave is emptier.
        let relieved: f64 = StallReason::all()
            .map(|reason| {
                let queue = Term::ALL
                    .into_iter()
                    .filter(|term| term.waits().contains(&reason))
                    .map(|term| busy(term) * (1.0 - share(term)))
                    .fold(0.0, f64::max);
                self.stall_cycles[reason as usize] * queue
            })
            .sum();
        let stalled: f64 = self.stall_cycles.iter().sum();
        // In one of the cycles between two instructions a warp issues; in those that are left over it is
        // ready and the scheduler chooses another.
        let not_selected = (latency - stalled - 1.0).max(0.0) * (1.0 - fullest);
        let pace = 1.0 - (relieved + not_selected) / latency;
        pace.max(work).clamp(filled, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;

    const L1: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
    const DRAM: &str = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
    const LATENCY: &str = "smsp__average_warp_latency_per_inst_issued.ratio";

    fn model(metrics: &[(&str, f64)]) -> Model {
        let mut launch = Launch::default();
        for (name, value) in metrics {
            launch.set(name, Some(*value));
        }
        Model::new(&launch)
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn a_wave_of_warps_that_wait_for_nobody_takes_as_long_however_empty() {
        let wait = StallReason::Wait.ratio_metric();
        let own = model(&[(L1, 10.0), (LATENCY, 10.0), (&wait, 9.0)]);
        assert!(near(own.partial_wave(0.1, 0.25), 1.0));
        let unknown = model(&[(L1, 90.0)]);
        assert!(near(unknown.partial_wave(0.1, 0.25), 1.0));
    }

    #[test]
    fn queues_get_shorter_with_the_wave_and_ready_warps_are_chosen_sooner() {
        let (short, wait) =
            (StallReason::ShortScoreboard.ratio_metric(), StallReason::Wait.ratio_metric());
        // Of 10 cycles 5 wait for L1, busy half of the time, and 2 for the scheduler; with a quarter of
        // the warps three quarters of 2.5 and of 2 go.
        let crowded = model(&[(L1, 50.0), (LATENCY, 10.0), (&short, 5.0), (&wait, 2.0)]);
        assert!(near(crowded.partial_wave(0.2, 0.25), 1.0 - 0.75 * 4.5 / 10.0));
        assert!(near(crowded.partial_wave(1.0, 1.0), 1.0));
    }

    #[test]
    fn no_wave_takes_less_than_its_blocks_work() {
        let long = StallReason::LongScoreboard.ratio_metric();
        let metrics = |unit| [(unit, 100.0), (LATENCY, 10.0), (&*long, 9.0)];
        // The SM with most blocks does half of what it does in a full wave, the device a third.
        assert!(near(model(&metrics(L1)).partial_wave(1.0 / 3.0, 0.5), 0.55));
        let dram = model(&metrics(DRAM)).partial_wave(1.0 / 3.0, 0.5);
        assert!(near(dram, 1.0 - 0.9 * 2.0 / 3.0), "{dram}");
        // Nine tenths of the 9 cycles would go, but the SM's own half of the work stays.
        let both = model(&[(L1, 100.0), (DRAM, 100.0), (LATENCY, 10.0), (&long, 9.0)]);
        assert!(near(both.partial_wave(0.1, 0.5), 0.5));
    }
}
