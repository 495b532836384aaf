//! `adoprof ladder check` and `adoprof init` as a user runs them.

use crate::cli::bench::{Bench, Ran, ran, stand_in};
use crate::survey::STAND_INS;

const SOURCE: &str = "\
__global__ void __launch_bounds__(128) scale(const float* in, float* out, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * in[i];
}
extern \"C\" __global__ void twice(const float* in, float* out, float a, int n)
{
    __shared__ float all[1024];
    all[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = a * all[(threadIdx.x + 1) % n];
}
";

#[test]
fn a_built_in_ladder_is_copied_before_it_is_checked() {
    let bench = Bench::new();
    bench.run(&["ladder", "check", "ado"]).fails(2, &["built-in", "`adoprof ladder copy ado DIR`"]);
    bench.run(&["ladder", "check", "nosuch"]).fails(2, &["there is no ladder.toml in it"]);
}

/// The line of a text that begins so, from 1.
fn line(text: &str, begins: &str) -> usize {
    let at = text.lines().position(|line| line.starts_with(begins));
    at.unwrap_or_else(|| panic!("no line begins with {begins:?} in\n{text}")) + 1
}

/// A ladder of `SOURCE` as `init` writes it, with a replacement.
fn ladder(bench: &Bench, changes: &[(&str, &str)]) -> String {
    bench.write("mine/scale.cu", SOURCE);
    let ran = bench.run(&["init", "--force", "mine/scale.cu"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("then run: adoprof ladder check ./mine"), "{ran:?}");
    let mut text = std::fs::read_to_string(bench.path("mine/ladder.toml")).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old), "no {old:?} in\n{text}");
        text = text.replacen(old, new, 1);
    }
    bench.write("mine/ladder.toml", &text);
    text
}

fn check(bench: &Bench, with_nvrtc: bool) -> Ran {
    let mut command = bench.command(&["ladder", "check", "./mine"]);
    if !with_nvrtc {
        command.env("ADOPROF_NVRTC", "/nowhere/libnvrtc.so");
    }
    ran(&mut command)
}

#[test]
fn every_mistake_is_reported_with_its_line() {
    let bench = Bench::new();
    let text = ladder(
        &bench,
        &[
            ("title = \"what", "titel = \"what"),
            ("reference = \"scale\"", "reference = \"scall\""),
            ("N = 16777216", "N = 0"),
            ("dtype = \"f32\"", "dtype = \"float\""),
            ("role = \"output\"", "#"),
            ("file = \"scale.cu\"", "file = \"gone.cu\"\nanswers = [\"idle-block\"]"),
            ("grid = [\"ceil(N / 256)\"]", "grid = [\"ceil(M / 256)\", wrong]"),
        ],
    );
    // What is no TOML at all can't be read further.
    let ran = check(&bench, false);
    let lines: Vec<&str> = ran.out.lines().collect();
    let place = format!("./mine/ladder.toml:{}: ", line(&text, "grid = [\"ceil(M"));
    assert!(lines[0].starts_with(&place) && ran.code == Some(2), "{ran:?}");

    let text = text.replace(", wrong]", "]");
    bench.write("mine/ladder.toml", &text);
    let ran = check(&bench, false);
    assert_eq!(ran.code, Some(2));
    let said: Vec<&str> = ran.out.lines().collect();
    for (begins, words) in [
        ("titel", "unknown key `titel`: write `title`"),
        ("reference", "no step and no built-in reference is called `scall`"),
        ("N = 0", "a size is a whole number from 1"),
        ("dtype = \"float\"", "unknown word `float`"),
        ("file = \"gone.cu\"", "cannot read `gone.cu`"),
        ("answers", "no rule is called `idle-block`"),
        ("grid = [\"ceil(M", "`M`, which is not a parameter"),
    ] {
        let place = format!("./mine/ladder.toml:{}: ", line(&text, begins));
        let is_said = said.iter().any(|line| line.starts_with(&place) && line.contains(words));
        assert!(is_said, "no {place}{words} in\n{}", ran.out);
    }
    assert!(ran.out.contains("the key `role` is missing"), "{}", ran.out);
    assert_eq!((said.len(), said[8]), (9, "8 mistakes"), "and nothing that follows from another");
}

#[test]
fn what_nothing_uses_and_what_does_not_fit_is_said() {
    let bench = Bench::new();
    let text = ladder(
        &bench,
        &[
            ("unit = \"GB/s\"", "unit = \"MB/s\""),
            ("[parameters]\n", "[parameters]\nUNUSED = 3\n"),
            (
                "[[steps]]",
                "[[buffers]]\nname = \"idle\"\ndtype = \"f32\"\nshape = [1]\nrole = \"scratch\"\n\n[[steps]]",
            ),
            ("file = \"scale.cu\"", "file = \"scale.cu\"\ntune = { EACH = 4 }"),
            ("grid = [\"ceil(N / 256)\"]", "grid = [\"N / 3\"]"),
        ],
    );
    let ran = check(&bench, false);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    for (begins, words) in [
        ("metric", "the unit `MB/s` says otherwise"),
        ("UNUSED", "nothing uses the parameter `UNUSED`"),
        ("name = \"idle\"", "no launch takes the buffer `idle`"),
        ("tune", "uses the tunable `EACH`"),
        ("grid = [\"N / 3\"]", "which is not whole"),
    ] {
        let place = format!("./mine/ladder.toml:{}: ", line(&text, begins));
        let is_said = ran.out.lines().any(|line| line.starts_with(&place) && line.contains(words));
        assert!(is_said, "no {place}{words} in\n{}", ran.out);
    }
    assert_eq!(ran.out.lines().count(), 6, "{}", ran.out);
    assert!(ran.err.contains("without NVRTC"), "{}", ran.err);
}

#[test]
fn a_ladder_without_mistakes_passes_and_says_what_was_not_checked() {
    let bench = Bench::new();
    ladder(&bench, &[]);
    let ran = check(&bench, false);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "scale: 2 steps, no mistakes"));
    assert!(ran.err.contains("without NVRTC") && ran.err.lines().count() == 2, "{}", ran.err);
    assert!(ran.err.contains("lines are still marked GUESS"), "{}", ran.err);
    let manifest = std::fs::read_to_string(bench.path("mine/ladder.toml")).unwrap();
    bench.write("mine/ladder.toml", manifest.replace("GUESS", "known"));
    let ran = check(&bench, false);
    assert!(ran.err.lines().count() == 1 && !ran.err.contains("GUESS"), "{}", ran.err);
    bench.run(&["ladder", "check", "./gone"]).fails(2, &["there is no ladder.toml"]);
}

#[test]
#[cfg_attr(not(has_nvrtc), ignore = "needs NVRTC: set ADOPROF_NVRTC, see scripts/fetch-nvrtc")]
fn launches_are_held_against_the_compiled_kernels() {
    let bench = Bench::new();
    ladder(&bench, &[]);
    let ran = check(&bench, true);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "scale: 2 steps, no mistakes"), "{ran:?}");
    for (old, new, words) in [
        ("block = [128]", "block = [256]", "have 256 threads, and its __launch_bounds__ allow 128"),
        ("kernel = \"scale\"", "kernel = \"scaled\"", "no kernel `scaled`; it has scale, twice"),
        (
            "\"out\", { type = \"f32\", value = \"1\" }, ",
            "\"out\", ",
            "takes 4 arguments, and `args` has 3",
        ),
        ("{ type = \"f32\"", "{ type = \"f64\"", "argument 3 of `scale` has 4 bytes"),
        // `twice` has 4096 bytes of its own; compute capability 8.0 has 163 KB.
        ("block = [256]", "block = [256]\nshared = 163000", "takes 167096 bytes of shared memory"),
    ] {
        ladder(&bench, &[(old, new)]);
        let ran = check(&bench, true);
        assert_eq!(ran.code, Some(2), "{new}: {ran:?}");
        assert!(ran.out.contains(words), "{new}: no `{words}` in {}", ran.out);
    }
    ladder(&bench, &[]);
    bench.write("mine/scale.cu", SOURCE.replace("float a", "flaot a"));
    let ran = check(&bench, true);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.out.contains("mine/scale.cu does not compile"), "{}", ran.out);
    assert!(
        ran.out.contains("mine/scale.cu(1)") && ran.out.ends_with("1 mistake\n"),
        "{}",
        ran.out
    );
}

#[test]
fn the_ladders_that_ship_have_no_mistakes() {
    let kernels = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let bench = Bench::new();
    for name in ["ado", "reduce", "reduce-int", "matmul", "stencil", "increment", "padding"] {
        let folder = kernels.join(name).display().to_string();
        let mut command = bench.command(&["ladder", "check", &folder]);
        let ran = ran(command.env("ADOPROF_NVRTC", "/nowhere/libnvrtc.so"));
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
    }
}

#[test]
fn a_manifest_that_is_there_stays() {
    let bench = Bench::new();
    bench.write("mine/scale.cu", SOURCE);
    bench.write("mine/ladder.toml", "mine");
    bench.run(&["init", "mine/scale.cu"]).fails(2, &["already exists", "--force"]);
    assert_eq!(std::fs::read_to_string(bench.path("mine/ladder.toml")).unwrap(), "mine");
    bench
        .run(&["init", "mine/gone.cu"])
        .fails(2, &["mine/gone.cu", "there is no such file", "adoprof init -- mine/gone.cu"]);
    bench.run(&["init", "mine"]).fails(2, &["mine: is a folder", "name a CUDA source in it"]);
    bench.write("mine/host.cu", "int f() { return 1; }");
    // Also beside a manifest that it would overwrite.
    bench.run(&["init", "mine/host.cu"]).fails(2, &["no `__global__` function"]);
    assert_eq!(std::fs::read_to_string(bench.path("mine/ladder.toml")).unwrap(), "mine");
    bench.write("mine/a.out", [0x7f, b'E', b'L', b'F', 0xff]);
    let program = ["is not source text", "adoprof init -- mine/a.out"];
    bench.run(&["init", "--force", "mine/a.out"]).fails(2, &program);
    assert_eq!(bench.run(&["init"]).code, Some(2));
    assert_eq!(bench.run(&["init", "mine/scale.cu", "--", "true"]).code, Some(2));
    let files = std::fs::read_dir(bench.path("mine")).unwrap().count();
    assert_eq!(files, 4, "no temporary file is left");
}

#[test]
fn a_program_is_surveyed_for_its_manifest() {
    let bench = Bench::new();
    let init = |words: &[&str]| {
        let program = STAND_INS.program().display().to_string();
        let mut command = bench.command(&["init", "-o", "mine", "--force", "--", &program]);
        command
            .args(words)
            .env("ADOPROF_CUPTI", STAND_INS.cupti())
            .env("STAND_IN_CUPTI_PATH", STAND_INS.cupti());
        let ran = ran(&mut command);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        (std::fs::read_to_string(bench.path("mine/ladder.toml")).unwrap(), ran)
    };
    std::fs::create_dir(bench.path("mine")).unwrap();
    let (text, ran) = init(&["", "a b"]);
    for words in [
        "#   add: 800 ns in 8 launches, 80% of the kernels' time",
        "#   mul: 200 ns in 2 launches, 20% of the kernels' time",
        "# match = \"^add$\"",
        "program '' 'a b'\"",
    ] {
        assert!(text.contains(words), "no `{words}` in\n{text}");
    }
    assert!(ran.out.contains("adoprof ladder check ./mine"), "{ran:?}");
    let checked = bench.run(&["ladder", "check", "./mine"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.err.contains("neither built nor run"), "{checked:?}");
    // What init wrote is run as it is.
    let mut command = bench.command(&["step", "--ladder", "./mine", "--kernel", "base"]);
    command.args(["--time-only", "--ncu", &stand_in()]).env("ADOPROF_CUPTI", STAND_INS.cupti());
    let step = self::ran(command.env("STAND_IN_CUPTI_PATH", STAND_INS.cupti()));
    assert!(step.code == Some(0) && step.out.contains("takes 1.000 µs"), "{step:?}");

    let (text, ran) = init(&["no-cuda"]);
    assert!(text.contains("No survey saw the program's kernels"), "{text}");
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    assert!(ran.err.contains("the survey saw no kernels"), "{ran:?}");
    bench.write("sim.py", "");
    let ran = bench.run(&["init", "-o", "mine", "--force", "--", "sh", "sim.py", "sim"]);
    let text = std::fs::read_to_string(bench.path("mine/ladder.toml")).unwrap();
    let script = std::fs::canonicalize(bench.path("sim.py")).unwrap().display().to_string();
    assert!(
        text.contains("name = \"sim\"") && text.contains(&format!("\"sh {script} sim\"")),
        "{ran:?}{text}"
    );
    let (_, ran) = init(&["fails"]);
    assert!(ran.err.contains("ended with code 3"), "{ran:?}");
    bench
        .run(&["init", "-o", "mine", "--force", "--", "./gone"])
        .fails(2, &["./gone does not exist"]);
    bench
        .run(&["init", "-o", "new", "--", "no-such-program"])
        .fails(2, &["there is no program no-such-program in PATH"]);
    bench.write("no-program.bin", "");
    bench
        .run(&["init", "-o", "new", "--", "./no-program.bin"])
        .fails(3, &["./no-program.bin does not run"]);
    assert!(!bench.path("new").exists(), "nothing is written of a program that does not run");
}
