//! What the profile says of the same kernel: its busiest unit, and on which side of the experiment
//! that unit works.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Limiter;
use crate::finding::Bound;
use crate::model::Model;
use crate::term::Term;
use crate::text::percent;

/// The busiest unit of a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BusyUnit {
    /// Its name.
    pub unit: String,
    /// The share of the time that it is busy at the rate it can reach, 0 to 1.
    pub share: f64,
    /// The verdict that it speaks for: latency where the time that no unit covers is longer. `None`
    /// for a unit that global accesses and the rest of the kernel share, as shared memory does.
    pub speaks_for: Option<Limiter>,
}

/// The busiest unit of a launch; `None` where the profile knows of none.
#[must_use]
pub(crate) fn busy_unit(model: &Model) -> Option<BusyUnit> {
    let (term, share) = model.busiest()?;
    let speaks_for = match (model.bound(), term) {
        (Bound::Latency | Bound::Launch, _) => Some(Limiter::Latency),
        (_, Term::Dram | Term::L2 | Term::L2Requests | Term::HostLink | Term::PeerLink) => {
            Some(Limiter::Memory)
        }
        (_, Term::L1Data | Term::Lsu) => None,
        _ => Some(Limiter::Arithmetic),
    };
    Some(BusyUnit { unit: term.title().to_owned(), share, speaks_for })
}

/// The profile beside the verdict, in a sentence.
pub(super) fn sentence(unit: &BusyUnit, limiter: Limiter) -> String {
    let busiest =
        format!("its busiest unit, the {}, is busy {} of the time", unit.unit, percent(unit.share));
    match unit.speaks_for {
        Some(side) if side == limiter => format!("The profile agrees: {busiest}."),
        None if limiter != Limiter::Latency => format!(
            "The profile does not contradict this: {busiest}, and serves both global and shared \
             memory; shared memory stays in the arithmetic-only variant."
        ),
        Some(side) if limiter == Limiter::Balanced && side != Limiter::Latency => {
            format!("The profile agrees with one of the two: {busiest}.")
        }
        _ => format!(
            "The profile does not show this: {busiest}. Where the two differ, trust the times: \
             they are measured, while the profile's figures are averages over the launch."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;

    fn model(counters: &[(&str, f64)]) -> Model {
        let mut launch = Launch::default();
        for (name, value) in counters {
            launch.set(name, Some(*value));
        }
        Model::new(&launch)
    }

    const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
    const L1: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
    const L2: &str = "lts__t_sectors.avg.pct_of_peak_sustained_elapsed";

    #[test]
    fn each_unit_speaks_for_its_side() {
        for (name, busy, side) in [
            (FMA, 76.0, Some(Limiter::Arithmetic)),
            (L2, 76.0, Some(Limiter::Memory)),
            (L1, 76.0, None),
            // 70% of the time nothing is busy.
            (FMA, 30.0, Some(Limiter::Latency)),
        ] {
            let unit = busy_unit(&model(&[(name, busy)])).unwrap();
            assert_eq!(unit.speaks_for, side, "{name} {busy}");
            assert!((unit.share - busy / 100.0).abs() < 1e-9);
        }
        assert_eq!(busy_unit(&model(&[])), None);
    }

    #[test]
    fn agreement_and_disagreement_are_said() {
        let fma = busy_unit(&model(&[(FMA, 76.0)])).unwrap();
        let said = sentence(&fma, Limiter::Arithmetic);
        assert!(said.contains("agrees") && said.contains("the FMA pipe, is busy 76%"), "{said}");
        assert!(sentence(&fma, Limiter::Memory).contains("does not show this"));
        assert!(sentence(&fma, Limiter::Balanced).contains("one of the two"));
        let shared = busy_unit(&model(&[(L1, 76.0)])).unwrap();
        assert!(sentence(&shared, Limiter::Arithmetic).contains("does not contradict"));
        assert!(sentence(&shared, Limiter::Latency).contains("does not show this"));
    }
}
