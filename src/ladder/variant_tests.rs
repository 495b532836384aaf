//! Variants plan on their steps' memory, and mistakes in them are named with their lines.

use super::tests::{broken, size, user};
use super::{Ladder, Overrides};
use crate::error::Error;
use crate::plan::{Argument, Check};

const VARIANT: &str = "[[steps.variants]]\nname = \"bare\"\nkind = \"what-if\"\ntitle = \"without\"\nflags = [\"-DN={N / 2}\"]\nremoves = [\"barrier-stalls\"]\n";

/// The user's manifest with variants of its step `log`.
fn varied(variants: &str) -> Result<Ladder, Error> {
    broken("\n[[cases]]", &format!("{variants}\n[[cases]]"))
}

#[test]
fn a_variant_differs_from_its_step_in_what_it_says() {
    let launch = "[[steps.variants.launches]]\nkernel = \"copy\"\ngrid = [\"N\"]\nblock = [1]\nargs = [\"sums\"]\n";
    let second = "[[steps.variants]]\nname = \"other\"\nkind = \"store-only\"\n";
    let ladder = varied(&format!("{VARIANT}{second}{launch}")).unwrap();
    let step = ladder.step("log").unwrap();
    let names: Vec<&str> = step.variants().iter().map(super::Variant::name).collect();
    assert_eq!(names, ["bare", "other"]);
    assert_eq!(step.variant("bare").unwrap().removes(), ["barrier-stalls"]);
    let own = ladder.plan("log", &size("N=8"), 132).unwrap();
    let plan = ladder.variant_plan("log", "bare", &size("N=8"), 132).unwrap();
    assert_eq!((own.flags.len(), plan.flags), (0, vec!["-DN=4".to_owned()]));
    assert_eq!((&plan.buffers, &plan.launches), (&own.buffers, &own.launches));
    assert_eq!((plan.title.as_str(), plan.check), ("without", Check::Reference));
    let plan = ladder.variant_plan("log", "other", &size("N=8"), 132).unwrap();
    assert_eq!(plan.buffers, own.buffers, "the step's memory, whatever the variant takes");
    let [launch] = plan.launches.as_slice() else { panic!("one launch") };
    assert_eq!((launch.grid[0], launch.arguments.as_slice()), (8, &[Argument::Buffer(1)][..]));
    let error = ladder.variant_plan("log", "bar", &size("N=8"), 132).unwrap_err().to_string();
    assert!(error.contains("no variant `bar`; did you mean `bare`?"), "{error}");
}

#[test]
fn mistakes_in_variants_name_their_line_and_the_remedy() {
    // The first variant's line 1 is line 56 of the manifest.
    for (old, new, line, words) in [
        ("\"what-if\"", "\"memory\"", 58, "the words here are memory-only, store-only"),
        ("name = \"bare\"", "name = \"a b\"", 57, "can't be the name of a variant"),
        ("flags = [\"-DN={N / 2}\"]\n", "", 57, "give it `flags`, a `file` or `launches`"),
        ("{N / 2}", "{M}", 60, "`M`, which is not a parameter"),
        ("barrier-stalls", "barrier-stall", 61, "did you mean `barrier-stalls`?"),
        ("what-if", "memory-only", 61, "remove `removes`, or make its kind \"what-if\""),
        ("removes", "launches = []\nremoves", 61, "the variant launches nothing"),
        ("removes", "file = \"skan.cu\"\nremoves", 61, "cannot read `skan.cu`"),
        ("title", "titel", 59, "unknown key `titel`: write `title`"),
    ] {
        assert!(VARIANT.contains(old), "{old}");
        match varied(&VARIANT.replacen(old, new, 1)) {
            Err(Error::Manifest { line: got, problem, .. }) => {
                assert!(problem.contains(words), "{new}: {problem}");
                assert_eq!(got, line, "{new}: {problem}");
            }
            other => panic!("{new}: {:?}", other.map(|ladder| ladder.name().to_owned())),
        }
    }
    let memory =
        VARIANT.replace("what-if", "memory-only").replace("removes = [\"barrier-stalls\"]", "");
    let twice = varied(&format!("{memory}{}", memory.replace("bare", "bore"))).unwrap_err();
    assert!(twice.to_string().contains("has a memory-only variant above"), "{twice}");
    let twice = varied(&format!("{VARIANT}{VARIANT}")).unwrap_err().to_string();
    assert!(twice.contains("there is a variant `bare` above"), "{twice}");
    let launch = "[[steps.variants.launches]]\nkernel = \"copy\"\ngrid = [1]\nblock = [1]\nargs = [\"values\"]\n";
    let text = std::fs::read_to_string(user().join("ladder.toml")).unwrap();
    let own = "args = [\"values\", \"sums\", { type = \"i32\", value = \"N\" }]\n\n[[steps.launches]]\nkernel = \"add_from\"";
    assert!(text.contains(own));
    let dir = tempfile::tempdir().unwrap();
    let text = text
        .replace(own, "args = [\"sums\"]\n\n[[steps.launches]]\nkernel = \"add_from\"")
        .replace("\n[[cases]]", &format!("{VARIANT}{launch}\n[[cases]]"));
    std::fs::write(dir.path().join("ladder.toml"), text).unwrap();
    std::fs::copy(user().join("scan.cu"), dir.path().join("scan.cu")).unwrap();
    let error = Ladder::load(dir.path()).unwrap_err().to_string();
    assert!(error.contains("pass one of the step's buffers"), "{error}");
}

#[test]
fn every_built_in_variant_plans_on_its_steps_memory() {
    for name in Ladder::builtin_names() {
        let ladder = Ladder::builtin(name).unwrap();
        for step in ladder.steps() {
            let own = ladder.plan(step.name(), &Overrides::new(), 132).unwrap();
            for variant in step.variants() {
                let of = format!("{name}/{} {}", step.name(), variant.name());
                assert!(!variant.title().is_empty(), "{of}");
                let plan = ladder
                    .variant_plan(step.name(), variant.name(), &Overrides::new(), 132)
                    .unwrap();
                assert_eq!(plan.buffers, own.buffers, "{of}");
                for launch in &plan.launches {
                    assert!(plan.source.text.contains(&launch.kernel), "{of}");
                }
            }
        }
    }
}
