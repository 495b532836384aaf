use crate::evidence::Draft;
use crate::evidence::removal::ISSUE_BUSY;
use crate::export::SourceRow;
use crate::frame::Launch;
use crate::rules::causes::tensor_cores_unused::RULE;
use crate::rules::testing::{check, sass};
use crate::term::Term;

const DRAM: &str = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";

/// Distances of 32 features between rows by the upper and the lower bits of the index, and so many other instructions.
fn distances(others: f64) -> Launch {
    let code = [
        ("S2R R0, SR_TID.X", 100.0),
        ("LOP3.LUT R1, R0, 0xf, RZ, 0xc0, !PT", 100.0),
        ("SHF.R.U32.HI R2, RZ, 0x4, R0", 100.0),
        ("MOV R6, RZ", 100.0),
        ("LDS R8, [R1]", 3200.0),
        ("LDS R9, [R2+0x1000]", 3200.0),
        ("FADD R10, R8, -R9", 3200.0),
        ("FFMA R6, R10, R10, R6", 3200.0),
        ("IADD3 R1, R1, 0x40, RZ", 3200.0),
        ("IADD3 R2, R2, 0x40, RZ", 3200.0),
        ("@P0 BRA 0x140", 3200.0),
        ("FADD R9, R9, R9", others),
        ("STG.E desc[UR4][R12.64], R6", 100.0),
        ("EXIT", 100.0),
    ];
    let mut launch = sass(&[(ISSUE_BUSY, 60.0), (FMA, 30.0), (DRAM, 10.0)], &code);
    launch.row.compute_capability = Some((9, 0));
    launch.row.block = [256, 1, 1];
    launch
}

fn of_triton(others: f64) -> Launch {
    let mut launch = distances(others);
    launch.lines =
        vec![SourceRow { file: Some("/home/me/nearest.py".into()), ..SourceRow::default() }];
    launch
}

fn of_fma(draft: &Draft) -> f64 {
    draft.effect.share_of(Term::Fma)
}

#[test]
fn floats_in_cuda_save_the_subtractions() {
    let draft = check(&RULE, &distances(0.0)).unwrap();
    // 3200 subtractions go, and 200 instructions come for 100 distances.
    assert!((of_fma(&draft) - 3000.0 / 6400.0).abs() < 1e-12, "{}", of_fma(&draft));
    assert_eq!(draft.locations[0].line, 7);
    assert!(draft.message.contains("32 features"), "{}", draft.message);
    assert!(draft.hint.contains("3xTF32"), "{}", draft.hint);
    let mut old = distances(0.0);
    old.row.compute_capability = Some((7, 5));
    let hint = check(&RULE, &old).unwrap().hint;
    assert!(!hint.contains("TF32"), "{hint}");
}

#[test]
fn floats_in_triton_go_to_the_tensor_units() {
    let draft = check(&RULE, &of_triton(0.0)).unwrap();
    // 7 of 8 multiply-adds go as well.
    assert!((of_fma(&draft) - 5800.0 / 6400.0).abs() < 1e-12, "{}", of_fma(&draft));
    assert!(draft.message.contains("8 times as many"), "{}", draft.message);
}

#[test]
fn distances_are_a_tenth_of_the_work_and_memory_is_not_the_limit() {
    // 6400 of 64,000.
    let others = 64_000.0 - 7.0 * 3200.0 - 600.0;
    assert!(check(&RULE, &of_triton(others)).is_some());
    assert_eq!(check(&RULE, &of_triton(others + 1.0)), None);
    let mut launch = distances(0.0);
    launch.set(DRAM, Some(61.0));
    assert_eq!(check(&RULE, &launch), None);
}
