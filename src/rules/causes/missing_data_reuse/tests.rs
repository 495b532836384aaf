use super::*;
use crate::export::SourceCounters;
use crate::rules::testing::{assert_sides, check, launch, line, samples, sass};

const LONG: &str = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";

fn repeated() -> crate::frame::Launch {
    launch(&[(SECTORS, 4000.0), (READ, 64_000.0), (LONG, 30.0), (LATENCY, 100.0)])
}

#[test]
fn twice_the_bytes_count_where_warps_wait_for_them() {
    let draft =
        assert_sides(&RULE, &repeated(), &[&[(READ, 86_000.0)], &[(LONG, 29.0)], &[(READ, 0.0)]]);
    assert!(draft.message.contains("2.0 times") && draft.message.contains("50%"));
}

#[test]
fn a_busy_l1_counts_only_where_it_is_busy_with_these_loads() {
    let mut busy = repeated();
    busy.set(LONG, Some(0.0));
    busy.set("l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed", Some(50.0));
    busy.set("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", Some(999.0));
    assert!(check(&RULE, &busy).is_some());
    busy.set("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", Some(1001.0));
    assert!(check(&RULE, &busy).is_none());
}

#[test]
fn an_unrolled_matrix_product_has_a_tile_already() {
    let fires = |product: &'static str| {
        let code = [
            ("LDGSTS.E.BYPASS.128 [R7], desc[UR6][R14.64]", 8.0),
            ("LDGDEPBAR", 8.0),
            (product, 8.0),
            ("EXIT", 8.0),
        ];
        let metrics = [(SECTORS, 4000.0), (READ, 64_000.0), (LONG, 30.0), (LATENCY, 100.0)];
        let mut launch = sass(&metrics, &code);
        launch.instructions[0].counters.l2_sectors_global_ideal = 4000.0;
        check(&RULE, &launch).is_some()
    };
    assert!(fires("FADD R24, R24, R25"));
    assert!(!fires("HGMMA.64x128x16.F32 R24, gdesc[UR12].tnspB, R24"));
}

#[test]
fn an_eighth_of_the_loads_stays() {
    let mut launch = repeated();
    // 128,000 bytes asked for, one in a hundred new: a register tile still loads one in eight, and changes reach 0.63 of that.
    launch.set(READ, Some(1280.0));
    let draft = check(&RULE, &launch).unwrap();
    assert!((draft.effect.share_of(Term::Lsu) - 0.63 * 0.875).abs() < 1e-12);
    launch.set(READ, Some(32_000.0));
    let draft = check(&RULE, &launch).unwrap();
    assert!((draft.effect.share_of(Term::Lsu) - 0.63 * 0.75).abs() < 1e-12);
}

#[test]
fn the_line_whose_loads_return_sooner_is_the_repeated_one() {
    let mut launch = repeated();
    let counters = |waits| SourceCounters {
        l2_sectors_global_ideal: 2000.0,
        ..samples(&[(StallReason::LongScoreboard, waits)])
    };
    launch.lines =
        vec![line(50, "v += in[i];", counters(900.0)), line(56, "v += A[i];", counters(100.0))];
    let draft = check(&RULE, &launch).unwrap();
    assert_eq!((draft.locations.len(), draft.locations[0].line), (1, 56));
    assert!((draft.effect.stalls[0].1 - 0.63 * 0.1).abs() < 1e-12);
}

#[test]
fn one_and_a_half_times_the_data_is_asked_for_again() {
    // 4,000 sectors are 128,000 bytes.
    let fires = |ratio: f64| {
        let mut launch = repeated();
        launch.set(READ, Some(128_000.0 / ratio));
        check(&RULE, &launch).is_some()
    };
    assert!(fires(1.51) && !fires(1.49));
}

#[test]
fn hits_cost_nothing_where_l1_holds_half_of_them_and_has_room() {
    // Of 128,000 bytes 64,000 are asked for again, of which half are a quarter of all.
    let fires = |hit_rate: f64, lsu: f64| {
        let mut launch = repeated();
        launch.set(HIT_RATE, Some(hit_rate));
        launch.set("l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed", Some(lsu));
        check(&RULE, &launch).is_some()
    };
    assert!(!fires(25.0, 10.0) && fires(24.9, 10.0));
    assert!(!fires(40.0, 49.9) && fires(40.0, 50.0));
}

#[test]
fn what_gathers_fetch_is_not_promised_for_other_lines() {
    let of = |gather: &'static str| {
        let code = [
            ("S2R R0, SR_TID.X", 1.0),
            ("LDC.64 R2, c[0x0][0x210]", 1.0),
            ("LDG.E R4, desc[UR4][R2.64]", 1.0), // for all lanes alike
            ("IMAD.WIDE R6, R0, 0x4, R2", 1.0),
            ("LDG.E R8, desc[UR4][R6.64]", 1.0),
            ("IMAD.WIDE R10, R8, 0x4, R2", 1.0),
            (gather, 1.0),
            ("EXIT", 1.0),
        ];
        let metrics = [(SECTORS, 4000.0), (READ, 64_000.0), (LATENCY, 100.0)];
        let mut launch = crate::rules::testing::sass(&metrics, &code);
        launch.set(self::LONG, Some(30.0));
        launch.row.grid = [9, 1, 1];
        for (at, sectors) in [(2, 100.0), (4, 900.0), (6, 3000.0)] {
            launch.instructions[at].counters.l2_sectors_global_ideal = sectors;
        }
        check(&RULE, &launch)
    };
    assert!(of("LDG.E R12, desc[UR4][R10.64]").is_none(), "1,000 sectors for 2,000 that are read");
    assert!(of("LDG.E R12, desc[UR4][R6.64+0x80]").is_some());
}
