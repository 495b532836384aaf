//! The built-in ladders plan at every size, and a manifest's mistakes are named with their lines.

use std::path::Path;

use super::{Ladder, Overrides, parse_overrides};
use crate::error::Error;
use crate::plan::{Argument, Check, DType, Role};

fn ado() -> Ladder {
    Ladder::builtin("ado").unwrap()
}

pub(super) fn size(text: &str) -> Overrides {
    parse_overrides(text).unwrap()
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

#[test]
fn mistakes_of_copies_and_flags_are_named() {
    for (old, new, words) in [
        (
            "fill = { uniform",
            "fill = { encode = { of = \"sums\" } } #",
            "can't be a copy of `sums`",
        ),
        (
            "fill = { uniform",
            "fill = { encode = { off = \"sums\" } } #",
            "unexpected keys in table: off",
        ),
        (
            "file = \"scan.cu\"",
            "file = \"scan.cu\"\nflags = [\"-DN={M}\"]",
            "uses `M`, which is no",
        ),
        ("file = \"scan.cu\"", "file = \"scan.cu\"\nflags = [\"-DN={N\"]", "has no partner"),
    ] {
        let error = broken(old, new).unwrap_err().to_string();
        assert!(error.contains(words), "{new}: {error}");
    }
    let copy = |dtype: &str, range: &str| {
        let copy = format!(
            "name = \"copy\"\ndtype = \"{dtype}\"\nshape = [\"N\"]\nrole = \"input\"\n\
             fill = {{ encode = {{ of = \"values\"{range} }} }}\n\n[[buffers]]\nname = \"sums\""
        );
        broken("name = \"sums\"", &copy).map(|_| ())
    };
    assert!(copy("u8", ", low = 0, high = 1").is_ok());
    for (dtype, range, words) in [
        ("u8", "", "a code of type u8 needs a range"),
        ("u8", ", low = 0, high = 0.5", "go from 0 to 1: widen the range"),
        ("f16", ", low = 0, high = 1", "have no meaning"),
    ] {
        let error = copy(dtype, range).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
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
    let next = |rule, after| ladder.next_for(rule, after).map(super::Step::name);
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
        ("v7", "", "no step `v7`; did you mean `v1`?"),
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

/// A ladder of a user's: two steps, the first of which is the reference.
pub(super) fn user() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ladder/scan")
}

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

/// Replaces `old` in the user's manifest and loads it.
pub(super) fn broken(old: &str, new: &str) -> Result<Ladder, Error> {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(user().join("ladder.toml")).unwrap();
    assert!(text.contains(old), "the fixture has no {old:?}");
    std::fs::write(dir.path().join("ladder.toml"), text.replacen(old, new, 1)).unwrap();
    std::fs::copy(user().join("scan.cu"), dir.path().join("scan.cu")).unwrap();
    Ladder::load(dir.path())
}

#[test]
fn manifest_mistakes_name_their_line_and_the_remedy() {
    for (old, new, line, words) in [
        ("title = \"prefix", "titel = \"prefix", 2, "unknown key `titel`: write `title`"),
        ("N = 4096", "N = 0", 8, "a size is a whole number from 1"),
        ("N = 4096", "N = \"x\"", 8, "invalid type"),
        ("N = 4096", "SMS = 4096", 8, "`SMS` has a meaning of its own"),
        ("N = 4096", "Q = 4096", 4, "`4 * 2 * N` uses `N`, which is not a parameter"),
        ("4 * 2 * N", "4 * 2 * ", 4, "`4 * 2 * ` is not an expression"),
        ("4 * 2 * N", "4 * 2 * (N", 4, "a closing parenthesis is missing"),
        ("flops = \"N\"\n", "", 1, "the key `flops` is missing"),
        ("[parameters]", "library = \"cublas-sgem\"\n[parameters]", 7, "mean `cublas-sgemm`?"),
        ("[parameters]", "library = \"cublas-sgemm\"\n[parameters]", 7, "needs a parameter `n`"),
        ("dtype = \"f32\"", "dtype = \"float32\"", 12, "unknown word `float32`"),
        ("role = \"input\"", "role = \"inptu\"", 14, "write `input`"),
        ("shape = [\"N\"]", "shape = []", 13, "the shape of `values` is empty"),
        ("{ uniform =", "{ unifrom =", 15, "write `uniform`"),
        ("low = 0, high = 1", "low = 1, high = 0", 15, "`low` must be below `high`"),
        ("fill = { uniform = { low = 0, high = 1 } }\n", "", 11, "without a `fill`"),
        ("role = \"output\"", "role = \"scratch\"", 1, "no buffer has the role \"output\""),
        ("reference = \"plain\"", "reference = \"plan\"", 3, "did you mean `plain`?"),
        ("tolerance = { relative = 1e-5 }\n", "", 3, "add tolerance"),
        ("relative = 1e-5", "relative = -1", 6, "has no meaning"),
        ("name = \"log\"", "name = \"plain\"", 39, "there is a step `plain` above"),
        (
            "answers = [\"low-",
            "answers = [\"lw-",
            42,
            "did you mean `low-instruction-parallelism`?",
        ),
        ("file = \"scan.cu\"", "file = \"skan.cu\"", 26, "cannot read `skan.cu`"),
        ("file = \"scan.cu\"", "file = \"../scan.cu\"", 26, "is not inside the ladder's directory"),
        (
            "file = \"scan.cu\"",
            "file = \"../../a/b.cu\"",
            26,
            "is not inside the ladder's directory",
        ),
        ("file = \"scan.cu\"", "file = \"../other/scan.cu\"", 26, "cannot read `../other/scan.cu`"),
        ("args = [\"values\"", "args = [\"valeus\"", 35, "did you mean `values`?"),
        (
            "\"sums\", { type = \"i32\"",
            "{ type = \"i32\"",
            31,
            "no launch of `plain` takes the output `sums`",
        ),
        ("type = \"i32\"", "type = \"int\"", 35, "unknown word `int`"),
        ("type = \"i32\"", "typ = \"i32\"", 35, "unknown key `typ`: write `type`"),
        ("grid = [1]", "grid = []", 33, "a grid has 1 to 3 extents"),
        ("grid = [1]", "grid = [true]", 33, "expected a number or an expression"),
        ("grid = [1]", "grid = [\"i\"]", 33, "only in a launch with `repeat`"),
        ("size = { N = 1024 }", "size = { M = 1024 }", 27, "no parameter `M`"),
        ("step = \"log\"", "step = \"lag\"", 59, "did you mean `log`?"),
        ("[parameters]", "[parameters", 7, "expected"),
        ("side = false", "side = true", 39, "a side step without `from`"),
    ] {
        match broken(old, new) {
            Err(Error::Manifest { line: got, problem, .. }) => {
                assert!(problem.contains(words), "{new}: {problem}");
                assert_eq!(got, line, "{new}: {problem}");
            }
            other => panic!("{new}: {:?}", other.map(|ladder| ladder.name().to_owned())),
        }
    }
}

proptest::proptest! {
    /// Whatever is cut out of a manifest, reading and planning it ends with a ladder or an error.
    #[test]
    fn a_mangled_manifest_never_panics(start in 0usize..2000, length in 0usize..60) {
        let text = std::fs::read_to_string(user().join("ladder.toml")).unwrap();
        let characters = text.char_indices().filter(|(index, _)| !(start..start + length).contains(index));
        let text: String = characters.map(|(_, c)| c).collect();
        let source = crate::plan::Source { name: "s.cu".into(), text: String::new(), path: None };
        let origin = super::manifest::Origin { path: Path::new("ladder.toml"), text: &text };
        if let Ok(ladder) = super::check::ladder(origin, None, &|_| Ok(source.clone())) {
            for step in ladder.steps() {
                let _ = ladder.plan(step.name(), &Overrides::new(), 1);
            }
        }
    }
}

#[test]
fn formulas_that_fail_at_a_size_name_their_line() {
    let ladder = broken("grid = [1]", "grid = [\"N / 2\"]").unwrap();
    let error = ladder.plan("plain", &size("N=3"), 1).unwrap_err();
    let Error::Manifest { line: 33, problem, .. } = &error else { panic!("{error:?}") };
    assert!(problem.contains("`N / 2` evaluates to 1.5 for N = 3"), "{problem}");
    let ladder = broken("grid = [1]", "grid = [\"floor(N / 64)\"]").unwrap();
    let error = ladder.plan("plain", &size("N=3"), 1).unwrap_err().to_string();
    assert!(error.contains("evaluates to 0 at N = 3"), "{error}");
    let ladder = broken("ceil(log2(N))\"", "N * N\"").unwrap();
    let error = ladder.plan("log", &size("N=4096"), 1).unwrap_err().to_string();
    assert!(error.contains("16,777,216 launches are too many"), "{error}");
}

#[test]
fn a_built_in_reference_needs_its_parameters_and_buffers_and_no_tolerance() {
    let refused = |by: &str| broken("reference = \"plain\"\n", by).unwrap_err().to_string();
    let error = refused("reference = \"ado\"\n");
    assert!(error.contains("derives its own tolerance"), "{error}");
    // A reference of its own without a tolerance of the manifest's; the parameters come first.
    let text = std::fs::read_to_string(user().join("ladder.toml")).unwrap();
    let text = text.replacen("reference = \"plain\"", "reference = \"ado\"", 1);
    let text = text.replacen("tolerance = { relative = 1e-5 }\n", "", 1);
    let load = |text: String| {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ladder.toml"), text).unwrap();
        std::fs::copy(user().join("scan.cu"), dir.path().join("scan.cu")).unwrap();
        Ladder::load(dir.path()).unwrap_err().to_string()
    };
    let error = load(text.clone());
    assert!(error.contains("needs a parameter `M`"), "{error}");
    let error = load(text.replacen("N = 4096", "N = 4096\nM = 8\nL = 8", 1));
    assert!(error.contains("needs a buffer `"), "{error}");
}
