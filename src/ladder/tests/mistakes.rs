//! A manifest's mistakes are named with their lines.

use std::path::Path;

use super::{broken, size, user};
use crate::error::Error;
use crate::ladder::{Ladder, Overrides};

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
        let origin = crate::ladder::manifest::Origin { path: Path::new("ladder.toml"), text: &text };
        if let Ok(ladder) = crate::ladder::check::ladder(origin, None, &|_| Ok(source.clone())) {
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
