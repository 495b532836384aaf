//! Ladders of a user's, and what one ladder takes from another.

use super::{broken, size, user};
use crate::error::Error;
use crate::ladder::{Ladder, Overrides};
use crate::plan::{Argument, Check, DType};

#[test]
fn a_users_ladder_loads_from_a_directory_and_its_manifest() {
    for path in [user(), user().join("ladder.toml")] {
        let ladder = Ladder::load(&path).unwrap();
        assert_eq!(ladder.name(), "scan");
        assert_eq!(ladder.step("log").unwrap().source().unwrap().name, "scan/scan.cu");
    }
}

#[test]
fn repeats_become_launches_and_steps_check_against_steps() {
    let ladder = Ladder::load(&user()).unwrap();
    // 9 elements need ceil(log2(9)) = 4 passes with distances 1, 2, 4, 8.
    let plan = ladder.plan("log", &size("N=9"), 132).unwrap();
    let distances: Vec<_> =
        plan.launches.iter().skip(1).map(|launch| launch.arguments[1].clone()).collect();
    assert_eq!(distances, [1.0, 2.0, 4.0, 8.0].map(|d| Argument::Scalar(DType::U32, d)));
    let Check::Step { plan: reference, relative } = &plan.check else { panic!("{:?}", plan.check) };
    // The reference runs at this size, not at its own default.
    assert_eq!((reference.step.as_str(), reference.size["N"], *relative), ("plain", 9, 1e-5));
    assert_eq!(reference.check, Check::Reference);
    let plan = ladder.plan("plain", &Overrides::new(), 132).unwrap();
    assert_eq!((plan.size["N"], plan.check), (1024, Check::Reference));
    assert_eq!(plan.notices.len(), 2);
}

#[test]
fn a_directory_without_a_manifest_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let error = Ladder::load(dir.path()).unwrap_err();
    assert!(matches!(&error, Error::Input { .. }), "{error:?}");
    assert!(error.to_string().contains("there is no ladder.toml in it"), "{error}");
}

#[test]
fn a_ladder_may_borrow_a_neighbours_kernels() {
    let ladder = Ladder::builtin("reduce-int").unwrap();
    let plan = ladder.plan("r4", &size("N=1000"), 132).unwrap();
    assert_eq!((plan.source.name.as_str(), plan.source.path), ("kernels/reduce/r4.cu", None));
    assert_eq!(plan.flags, ["-DELEMENT=int"]);
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(user().join("ladder.toml")).unwrap();
    std::fs::create_dir(dir.path().join("mine")).unwrap();
    std::fs::create_dir(dir.path().join("theirs")).unwrap();
    std::fs::copy(user().join("scan.cu"), dir.path().join("theirs/scan.cu")).unwrap();
    let text = text.replace("file = \"scan.cu\"", "file = \"../theirs/scan.cu\"");
    std::fs::write(dir.path().join("mine/ladder.toml"), text).unwrap();
    let borrowed = Ladder::load(&dir.path().join("mine")).unwrap();
    assert_eq!(borrowed.step("log").unwrap().source().unwrap().name, "theirs/scan.cu");
}

#[test]
fn a_compressed_copy_brings_its_original() {
    let plan = Ladder::builtin("stencil").unwrap().plan("codes", &size("NX=3"), 132).unwrap();
    let names: Vec<&str> = plan.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    assert_eq!(names, ["cur", "prev", "vsq", "next", "cur_code", "prev_code", "vsq_code"]);
    // The reference of this ladder is a step, so the original is there for the copy alone.
    let copy = "name = \"copy\"\ndtype = \"f16\"\nshape = [\"N\"]\nrole = \"input\"\n\
                fill = { encode = { of = \"values\" } }\n\n[[buffers]]\nname = \"sums\"";
    let ladder = broken("name = \"sums\"", copy).unwrap();
    assert_eq!(ladder.plan("plain", &size("N=4"), 1).unwrap().buffers.len(), 2);
}
