//! What the two rules on local memory share: its part of what L1 asks of L2.

use crate::evidence::ModeledLaunch;
use crate::frame::{Launch, Reads};
use crate::sass::{Family, Space};
use crate::term::Term;

const STORED: &str = "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum";
const LOADED: &str = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum";
const MISSED: &str = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_miss.sum";
const FROM_L1: &str = "lts__t_sectors_srcunit_tex.sum";
const HIT_RATE: &str = "l1tex__t_sector_hit_rate.pct";

/// What tells how much of local memory's traffic reaches L2, where there is some.
pub(crate) const TO_L2: Reads = Reads::only_where(has_local, &[STORED, MISSED, FROM_L1]);
/// What stands in for the loads that miss.
pub(crate) const BY_HIT_RATE: Reads = Reads::stand_in(&[LOADED, HIT_RATE]);

/// True where a launch uses local memory, or does not tell.
pub(crate) fn has_local(launch: &Launch) -> bool {
    let is_local =
        |family| matches!(family, Family::Load(Space::Local) | Family::Store(Space::Local));
    launch.mix().is_none_or(|mix| mix.sum(is_local) > 0.0)
}

/// The part of L2's work, of requests and of data alike, that goes with a part of the local accesses
/// (0 to 1). Stores to local memory are written through to L2; of the loads those that miss L1 get
/// there. Empty where the counts are missing.
pub(crate) fn l2(launch: &ModeledLaunch, goes: f64) -> Vec<(Term, f64)> {
    let to_l2 = launch.get(MISSED).or_else(|| {
        let hits = launch.get(HIT_RATE)? / 100.0;
        Some(launch.get(LOADED)? * (1.0 - hits))
    });
    let (Some(stored), Some(missed), Some(all)) = (launch.get(STORED), to_l2, launch.get(FROM_L1))
    else {
        return Vec::new();
    };
    if all <= 0.0 {
        return Vec::new();
    }
    let share = goes.clamp(0.0, 1.0) * ((stored + missed) / all).clamp(0.0, 1.0);
    vec![(Term::L2, share), (Term::L2Requests, share)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::launch;
    use crate::model::Model;

    #[test]
    fn stores_and_missing_loads_reach_l2() {
        let launch = launch(&[(STORED, 300.0), (LOADED, 900.0), (MISSED, 100.0), (FROM_L1, 800.0)]);
        let launch = ModeledLaunch { profile: &launch, model: &Model::new(&launch) };
        assert_eq!(l2(&launch, 0.5), [(Term::L2, 0.25), (Term::L2Requests, 0.25)]);
    }
}
