//! What part of the time loops take.

use super::*;

#[test]
fn time_is_shared_by_samples_where_there_are_enough() {
    let of = |samples: f64| {
        let code = [
            ("MOV R0, RZ", 10.0),
            ("LDG.E R4, desc[UR4][R2.64]", 400.0),
            ("FADD R0, R0, R4", 400.0),
            ("IADD3 R2, R2, 0x4, RZ", 400.0),
            ("@P0 BRA 0x110", 400.0),
            ("STG.E desc[UR4][R6.64], R0", 10.0),
            ("EXIT", 20.0),
        ];
        let mut launch = launch(&code);
        let wait = StallReason::LongScoreboard as usize;
        launch.instructions[2].counters.stall_samples[wait] = samples;
        launch.instructions[6].counters.stall_samples[wait] = 100.0;
        shareable(&launch.listing().unwrap(), Shape::default()).unwrap().time_share
    };
    assert!((of(300.0) - 0.75).abs() < 1e-12, "a quarter is behind the loop: {}", of(300.0));
    assert!((of(299.0) - 1600.0 / 1640.0).abs() < 1e-12, "by executed instructions");
}
