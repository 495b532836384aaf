//! The built-in ladders plan at every size.

use super::size;
use crate::error::Error;
use crate::ladder::{Ladder, Overrides};
use crate::plan::{Argument, Check, DType, Role};

fn ado() -> Ladder {
    Ladder::builtin("ado").unwrap()
}

#[test]
fn every_built_in_step_plans_at_default_and_odd_sizes() {
    for name in Ladder::builtin_names() {
        let ladder = Ladder::builtin(name).unwrap();
        for step in ladder.steps() {
            let plan = ladder.plan(step.name(), &Overrides::new(), 132).unwrap();
            assert!(!plan.launches.is_empty());
            for launch in &plan.launches {
                assert!(plan.source.text.contains(&launch.kernel), "{}", launch.kernel);
            }
        }
        for case in ladder.named_sizes() {
            ladder.plan(&case.step, &case.size, 36).unwrap();
        }
    }
    for step in ado().steps() {
        for odd in ["N=1,M=1,L=1", "N=7,M=13,L=37", "N=65,M=3,L=1023", "N=3,M=1000,L=33"] {
            let plan = ado().plan(step.name(), &size(odd), 1).unwrap();
            assert!(plan.launches.iter().all(|launch| !launch.grid.contains(&0)), "{odd}");
            assert!(plan.notices.is_empty() || !odd.contains("N="));
        }
    }
}

#[test]
fn every_step_of_the_stencil_plans_at_odd_sizes_and_all_orders() {
    let ladder = Ladder::builtin("stencil").unwrap();
    for step in ladder.steps() {
        for odd in ["NX=1,NY=1,NZ=1", "NX=37,NY=130,NZ=3,ORDER=2", "NX=1000,NY=7,NZ=65,ORDER=12"] {
            for sms in [1, 36, 132] {
                let plan = ladder.plan(step.name(), &size(odd), sms).unwrap();
                let order = format!("-DORDER={}", plan.size["ORDER"]);
                assert!(plan.flags.contains(&order), "{:?}", plan.flags);
            }
        }
        for order in ["ORDER=7", "ORDER=14"] {
            let error = ladder.plan(step.name(), &size(order), 132).unwrap_err().to_string();
            assert!(error.contains("there are weights for the orders"), "{error}");
        }
    }
    // A row: 32 floats, then 37 + 1 up to a line of 32. 3 + 2 planes of 130 + 2 rows.
    let plan = ladder.plan("point", &size("NX=37,NY=130,NZ=3,ORDER=2"), 132).unwrap();
    assert_eq!(plan.buffers[0].shape, [5, 132, 96]);
    // 14,430 points: 16 bytes each; order 2: 7 + 5 operations.
    assert_eq!((plan.bytes, plan.flops), (16 * 14_430, 12 * 14_430));
}

#[test]
fn the_streams_grid_fills_whole_waves() {
    let ladder = Ladder::builtin("stencil").unwrap();
    let shares =
        |sizes: &str| ladder.plan("stream", &size(sizes), 132).unwrap().launches[0].grid[2];
    // 4 x 32 tiles fill 132 multiprocessors nearly; 5 x 32 would need two waves, so four waves' worth
    // of shares are cut: ceil(528 / 160). 2 x 32: ceil(528 / 64).
    assert_eq!(shares("NX=512,NY=512"), 1);
    assert_eq!(shares("NX=640,NY=512"), 4);
    assert_eq!(shares("NX=256,NY=512"), 9);
}

#[test]
fn v2_plans_as_the_kernel_expects() {
    let plan = ado().plan("v2", &size("N=3,M=5,L=40"), 132).unwrap();
    let names: Vec<&str> = plan.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    assert_eq!(names, ["input", "matrix", "output"]);
    assert_eq!(plan.buffers[0].shape, [3, 40, 5]);
    assert_eq!(plan.buffers[2].role, Role::Output);
    let [launch] = plan.launches.as_slice() else { panic!("one launch") };
    assert_eq!((launch.grid, launch.block, launch.shared_bytes), ([3, 1, 1], [40, 1, 1], 160));
    assert_eq!(launch.arguments[2], Argument::Buffer(2));
    assert_eq!(launch.arguments[3..], [3.0, 5.0, 40.0].map(|n| Argument::Scalar(DType::I32, n)));
    // 600 input, 1600 matrix and 120 output floats; 600 additions and 120 divisions for the
    // averages, 2·3·1600 operations for the product.
    assert_eq!((plan.bytes, plan.flops), (4 * 2320, 720 + 9600));
    assert_eq!(plan.check, Check::Builtin("ado".into()));
    assert_eq!(plan.source.name, "kernels/ado/v2.cu");
}

#[test]
fn the_literatures_size_has_the_contracts_figures() {
    let plan = ado().plan("v2", &Overrides::new(), 132).unwrap();
    assert_eq!((plan.bytes, plan.flops), (4_303_355_904, 3_222_274_048));
}

#[test]
fn v1_is_smaller_by_default_and_says_so() {
    let plan = ado().plan("v1", &Overrides::new(), 132).unwrap();
    assert_eq!((plan.size["N"], plan.size["M"]), (16, 1024));
    assert_eq!(plan.notices.len(), 1);
    let plan = ado().plan("v1", &size("N=32"), 132).unwrap();
    assert_eq!((plan.size["N"], plan.notices.len()), (32, 0));
}

#[test]
fn later_steps_use_scratch_state_and_the_device() {
    let plan = ado().plan("v5", &size("N=65,L=2000"), 132).unwrap();
    assert_eq!(plan.launches[1].grid, [2, 32, 1]);
    let plan = ado().plan("v6", &Overrides::new(), 7).unwrap();
    assert_eq!(plan.launches[0].grid[0] % 7, 0);
    let counters = plan.buffers.iter().find(|buffer| buffer.name == "counters").unwrap();
    assert_eq!((counters.role, counters.dtype), (Role::State, DType::U32));
}

#[test]
fn a_rule_leads_to_the_next_step_that_answers_it() {
    let ladder = ado();
    let next = |rule, after| ladder.next_for(rule, after).map(crate::ladder::Step::name);
    assert_eq!(next("grid-too-small", "v1"), Some("v2"));
    assert_eq!(next("uncoalesced-global-access", "v2"), Some("v3"));
    assert_eq!(next("shared-memory-pressure", "v2"), Some("v4"));
    assert_eq!(next("barrier-stalls", "v4"), Some("v5"));
    assert_eq!(next("uncoalesced-global-access", "v2-shuffle"), Some("v3"));
    assert_eq!(next("grid-too-small", "v3"), Some("v6"));
    assert_eq!(next("partial-wave", "v3"), None);
    assert_eq!(next("at-memory-roof", "v1"), None);
    assert_eq!(next("grid-too-small", "v9"), None);
}

#[test]
fn reductions_take_as_many_passes_as_their_size_needs() {
    let ladder = Ladder::builtin("reduce").unwrap();
    let passes = |step, elements: u64| {
        let size = Overrides::from([("N".to_owned(), elements)]);
        let plan = ladder.plan(step, &size, 132).unwrap();
        assert_eq!(plan.launches.last().unwrap().grid, [1, 1, 1], "{step} {elements}");
        plan.launches.iter().map(|launch| launch.grid[0]).collect::<Vec<_>>()
    };
    assert_eq!(passes("r0", 1), [1]);
    assert_eq!(passes("r0", 256), [1]);
    assert_eq!(passes("r0", 257), [2, 1]);
    assert_eq!(passes("r2", 1 << 24), [65_536, 256, 1]);
    assert_eq!(passes("r2", (1 << 24) + 1), [65_537, 257, 2, 1]);
    assert_eq!(passes("r3", 1 << 27), [1 << 18, 512, 1]);
    assert_eq!(passes("r5", 513), [2, 1]);
    // 5 values are 3, 2 and 1 after 3 launches.
    assert_eq!(passes("r-pairs", 5), [1, 1, 1]);
    assert_eq!(passes("r-pairs", 1), [1]);
    assert_eq!(passes("r6", 512), [1]);
    assert_eq!(passes("r6", 513), [2, 1]);
}

#[test]
fn senseless_requests_are_usage_errors() {
    let ladder = ado();
    for (step, sizes, words) in [
        ("v7", "", "no step `v7`; did you mean `v6`?"),
        ("v2", "K=4", "no parameter `K`"),
        ("v2", "n=4", "did you mean `N`?"),
        ("v2", "L=2048", "it needs L <= 1024 (a block has one thread per component)"),
        ("v2", "N=2^50,M=2^20", "pass 2^63 bytes"),
        ("v5", "N=2^33,M=1,L=1", "a grid of 8589934592 in x"),
        ("v5", "N=1,M=2^32,L=1", "takes `M` as i32, which does not hold 4294967296"),
    ] {
        match ladder.plan(step, &size(sizes), 132) {
            Err(Error::Usage(message)) => assert!(message.contains(words), "{message}"),
            other => panic!("{step} {sizes}: {other:?}"),
        }
    }
    let huge = Overrides::from([("N".to_owned(), u64::MAX)]);
    assert!(ladder.plan("v2", &huge, 132).is_err());
    let zero = Overrides::from([("N".to_owned(), 0)]);
    let error = ladder.plan("v2", &zero, 132).unwrap_err().to_string();
    assert!(error.contains("N = 0 leaves nothing to compute"), "{error}");
    let error = Ladder::builtin("ad0").unwrap_err().to_string();
    assert!(error.contains("did you mean `ado`?"), "{error}");
}
