//! How busy units are.

use super::{ACTIVE, ELAPSED, FMA, L2, assert_near, launch, model};
use crate::model::*;

/// An H200 whose DRAM peak is 5 TB/s. It reads 4.55 TB/s, 91%, and copies 4.29 TB/s, 85.8%.
fn h200(metrics: &[(&str, f64)]) -> Model {
    let mut launch = launch(metrics);
    launch.row.device = Some("NVIDIA H200".to_owned());
    launch.set("dram__bytes.sum.peak_sustained", Some(1000.0));
    launch.set("dram__cycles_elapsed.avg.per_second", Some(5e9));
    Model::new(&launch)
}

#[test]
fn dram_is_busy_by_what_the_device_reaches_with_so_many_writes() {
    let busy = |percent: f64, read: f64, written: f64| {
        let metrics = [
            ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", percent),
            ("dram__bytes_read.sum", read),
            ("dram__bytes_write.sum", written),
        ];
        h200(&metrics).utilization(Term::Dram).unwrap()
    };
    assert_near(busy(72.8, 1000.0, 0.0), 0.728 / 0.91);
    assert_near(busy(72.8, 500.0, 500.0), 0.728 / 0.858);
    // A quarter is written: half of the way from 91% to 85.8%.
    assert_near(busy(72.8, 750.0, 250.0), 0.728 / 0.884);
    assert_near(busy(95.0, 1000.0, 0.0), 1.0);
}

#[test]
fn the_multiply_add_pipe_is_full_at_what_the_device_reaches() {
    // 98.6% of the peak is the most that an H200 was seen to reach.
    assert_near(h200(&[(FMA, 49.3)]).utilization(Term::Fma).unwrap(), 0.5);
    assert_near(model(&[(FMA, 42.0)]).utilization(Term::Fma).unwrap(), 0.42);
}

#[test]
fn the_busiest_counter_of_a_unit_counts_and_another_metric_stands_in_for_none() {
    let throughput = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
    let slices = "lts__d_sectors.avg.pct_of_peak_sustained_elapsed";
    let l2 = |metrics: &[(&str, f64)]| model(metrics).utilization(Term::L2).unwrap();
    assert_near(l2(&[(L2, 20.0), (slices, 25.0)]), 0.25);
    assert_near(l2(&[(L2, 20.0), (throughput, 30.0)]), 0.2);
    assert_near(l2(&[(throughput, 30.0)]), 0.3);
    // Percent of active cycles: where SMs idle for a tenth of the time, half of nine tenths.
    let lsu = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active";
    let idle = model(&[(lsu, 50.0), (ACTIVE, 900.0), (ELAPSED, 1000.0)]);
    assert_near(idle.utilization(Term::Lsu).unwrap(), 0.45);
}

#[test]
fn without_a_counter_a_units_work_over_its_rate_counts() {
    let issue = |memory: &[(&str, f64)], cycles: &str| {
        let counts =
            [("smsp__inst_issued.sum", 200_000.0), (cycles, 1000.0), ("launch__sm_count", 100.0)];
        model(&[&counts, memory].concat()).utilization(Term::Issue)
    };
    let memory = [
        ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", 10.0),
        ("lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 20.0),
        ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", 30.0),
    ];
    // 200,000 instructions, four per cycle on 100 SMs for 1000 cycles.
    for cycles in ["sm__cycles_elapsed.avg", ELAPSED] {
        assert_near(issue(&memory, cycles).unwrap(), 0.5);
    }
    for (missing, _) in memory {
        let others: Vec<_> = memory.into_iter().filter(|(name, _)| *name != missing).collect();
        assert_eq!(issue(&others, ELAPSED), None, "{missing} may be what all wait for");
    }
}

#[test]
fn each_unit_does_its_own_number_of_warp_instructions_per_cycle() {
    let busy = |compute_capability, term| {
        let mut launch = launch(&[("sm__cycles_elapsed.avg", 1000.0), ("launch__sm_count", 10.0)]);
        launch.row.compute_capability = Some(compute_capability);
        // 10,000 SM cycles, and as many warp instructions.
        counts::of_work(&launch, term, 10_000.0)
    };
    // Lanes per cycle and SM in the CUDA C++ programming guide's throughput table, over 32.
    for (compute_capability, term, lanes) in [
        ((7, 0), Term::Fma, 64.0),
        ((7, 0), Term::Fp64, 32.0),
        ((7, 5), Term::Fp64, 2.0),
        ((8, 0), Term::Fma, 64.0),
        ((8, 0), Term::Alu, 64.0),
        ((8, 6), Term::Fma, 128.0),
        ((8, 9), Term::Fp64, 2.0),
        ((9, 0), Term::Fma, 128.0),
        ((9, 0), Term::Alu, 64.0),
        ((9, 0), Term::Fp64, 64.0),
        ((9, 0), Term::Xu, 16.0),
        ((9, 0), Term::Lsu, 32.0),
        ((9, 0), Term::L1Data, 32.0),
        ((9, 0), Term::Issue, 128.0),
        ((10, 0), Term::Fp64, 64.0),
    ] {
        let busy = busy(compute_capability, term);
        assert!(
            busy.is_some_and(|busy| (busy - 32.0 / lanes).abs() < 1e-9),
            "{term:?} of {compute_capability:?}: {busy:?}"
        );
    }
    assert_eq!(busy((9, 0), Term::L2), None, "no unit of the SMs");
    assert_eq!(busy((6, 1), Term::Fma), None, "a device without rates");
}

#[test]
fn atomics_on_few_addresses_fill_their_slice_before_its_peak() {
    let busy = |average: f64| {
        let mut launch = crate::sass::code::listing::tests::launch(&[
            ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R5", 10.0),
            ("EXIT", 1.0),
        ]);
        launch.row.compute_capability = Some((9, 0));
        launch.row.device = Some("NVIDIA H200".to_owned());
        let cycles = "lts__d_atomic_input_cycles_active";
        launch.set(&format!("{cycles}.max.pct_of_peak_sustained_elapsed"), Some(20.0));
        launch.set(&format!("{cycles}.avg.pct_of_peak_sustained_elapsed"), Some(average));
        Model::new(&launch).utilization(Term::Atomic).unwrap()
    };
    // Additions of floats to one address reach a third of the peak.
    assert_near(busy(5.0), 0.6);
    assert_near(busy(10.0), 0.2);
}
