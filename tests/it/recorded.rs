//! The recordings that ship: made on a real device, they must read whole, say what is true there, and
//! name nobody.

use std::path::Path;
use std::process::{Command, Output};

use adoprof::export::csv::Pages;
use adoprof::export::{Export, report};
use adoprof::profile::{Listing, Profile, recorded_ladders};
use adoprof::store;
use rayon::prelude::*;
use serde_json::Value;

fn adoprof(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_adoprof"))
        .current_dir(folder.path())
        .env("CUDA_VISIBLE_DEVICES", "")
        .args(args)
        .output()
        .unwrap()
}

fn document(step: &str) -> Value {
    let output = adoprof(&["step", "--kernel", step, "--recorded", "--format", "json"]);
    assert!(output.status.success(), "{step}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn finding<'a>(document: &'a Value, rule: &str) -> &'a Value {
    let findings = document["launches"][0]["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["rule"] == rule).unwrap_or_else(|| panic!("no {rule}"))
}

fn median_ns(document: &Value) -> f64 {
    document["step"]["time_ns"]["median"].as_f64().unwrap()
}

/// The text of a kernel's line, from the source in the repository.
fn line(location: &Value) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(location["file"].as_str().unwrap());
    let text = std::fs::read_to_string(path).unwrap();
    let number = location["line"].as_u64().unwrap() as usize;
    text.lines().nth(number - 1).unwrap().trim().to_owned()
}

#[test]
fn every_step_of_every_ladder_is_recorded() {
    for name in adoprof::ladder::Ladder::builtin_names() {
        let ladder = adoprof::ladder::Ladder::builtin(name).unwrap();
        for step in ladder.steps() {
            let sizes = store::recorded_sizes(name, step.name()).unwrap();
            assert!(!sizes.is_empty(), "{name}/{} has no recording", step.name());
        }
    }
    let ado = adoprof::ladder::Ladder::builtin("ado").unwrap();
    for case in ado.named_sizes() {
        let sizes = store::recorded_sizes("ado", &case.step).unwrap();
        assert!(sizes.contains(&case.size), "case {} is not recorded", case.name);
    }
}

#[test]
fn recordings_name_no_machine_and_no_person() {
    for (folder, meta) in store::recordings().unwrap() {
        let text = serde_json::to_string(&meta).unwrap();
        let step = meta.step.unwrap();
        let saved = store::recording(&step.ladder, &step.name, &step.size).unwrap().unwrap();
        let all = [text, saved.pages.raw, saved.pages.details, saved.pages.source].concat();
        for private in ["/home/", "/root/", "/tmp/", "/usr/", "/var/"] {
            assert!(!all.contains(private), "{folder} holds {private}");
        }
        assert!(step.verified, "{folder}");
    }
}

/// A recording may come from any device and any ncu that adoprof profiles with.
#[test]
fn recordings_are_of_a_device_and_an_ncu_that_adoprof_supports() {
    let of = |text: &str| -> Option<(u32, u32)> {
        let mut parts = text.split('.').map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    };
    for (folder, meta) in store::recordings().unwrap() {
        let environment = meta.environment;
        assert!(!environment.device.is_empty(), "{folder} names no device");
        let capability = of(&environment.compute_capability);
        assert!(capability >= Some((7, 0)), "{folder}: {}", environment.compute_capability);
        assert!(of(&environment.ncu) >= Some((2022, 3)), "{folder}: {}", environment.ncu);
    }
}

#[test]
fn a_recording_is_announced() {
    let output = adoprof(&["step", "--kernel", "v2", "--recorded"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().next().unwrap().contains("recorded"), "{text}");
}

/// The fault bench's pages are made smaller and leave the device's name to the profile's own notes.
#[test]
fn every_recording_names_its_device() {
    for recorded in recorded_ladders(|_| true, Listing::Sass).unwrap() {
        for step in recorded.ladder.steps() {
            let Some(document) = recorded.document(step.name()) else { continue };
            let unnamed = document.launches.iter().filter(|launch| launch.device.is_none()).count();
            assert_eq!(unnamed, 0, "{}/{}", recorded.ladder.name(), step.name());
        }
    }
}

#[test]
fn the_first_step_needs_more_blocks() {
    assert_eq!(document("v1")["verdict"]["rule"], "grid-too-small");
}

#[test]
fn the_second_steps_two_faults_rank_as_the_side_steps_measured() {
    let second = document("v2");
    let findings = second["launches"][0]["findings"].as_array().unwrap();
    let first_two: Vec<&str> =
        findings.iter().take(2).map(|finding| finding["rule"].as_str().unwrap()).collect();
    let now = median_ns(&second);
    let gains = [
        ("uncoalesced-global-access", now / median_ns(&document("v2-coalesced"))),
        ("shared-memory-pressure", now / median_ns(&document("v2-shuffle"))),
    ];
    let larger = if gains[0].1 > gains[1].1 { gains[0].0 } else { gains[1].0 };
    assert_eq!(first_two[0], larger);
    for (rule, gain) in gains {
        assert!(first_two.contains(&rule), "{rule} is not among {first_two:?}");
        let estimate = &finding(&second, rule)["estimated_speedup"];
        let (low, high) = (estimate["low"].as_f64().unwrap(), estimate["high"].as_f64().unwrap());
        assert!(low <= gain && gain <= high, "{rule}: {gain} is not in {low} to {high}");
    }
    let uncoalesced = finding(&second, "uncoalesced-global-access");
    let message = uncoalesced["message"].as_str().unwrap();
    assert!(message.contains("1,073,741,824") && message.contains("134,217,728"), "{message}");
    assert_eq!(line(&uncoalesced["where"][0]), "sum += component[i];");
}

#[test]
fn the_third_step_points_at_the_sweep() {
    let third = document("v3");
    assert_eq!(third["verdict"]["rule"], "shared-memory-pressure");
    let pressure = finding(&third, "shared-memory-pressure");
    assert_eq!(line(&pressure["where"][0]), "terms[j] += terms[j + half];");
}

#[test]
fn the_last_step_is_at_the_memory_roof_and_within_its_mark() {
    let last = document("v6");
    assert_eq!(last["verdict"]["rule"], "at-memory-roof");
    let factor = last["launches"][0]["findings"][0]["estimated_speedup"]["factor"].as_f64();
    assert!((factor.unwrap() - 1.0).abs() < 0.05);
    let input_bytes = 4.0 * 1024.0_f64.powi(3);
    let copy = last["step"]["copy_bytes_per_s"].as_f64().unwrap();
    assert!(median_ns(&last) <= 1.15 * input_bytes / copy * 1e9);
}

#[test]
fn each_main_step_of_ado_is_faster_than_the_one_before() {
    let output = adoprof(&["run", "--recorded", "--main-only", "--format", "json"]);
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let steps = run["steps"].as_array().unwrap();
    let names: Vec<&str> =
        steps.iter().map(|step| step["step"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["v1", "v2", "v3", "v4", "v5", "v6"]);
    let rate = |step: &Value| step["step"]["rate"]["value"].as_f64().unwrap();
    assert!(steps.windows(2).all(|pair| rate(&pair[0]) < rate(&pair[1])));
}

#[test]
fn a_diff_of_recordings_says_what_the_step_removed() {
    let output = adoprof(&["diff", "v2", "v2-coalesced", "--format", "json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let diff: Value = serde_json::from_slice(&output.stdout).unwrap();
    let gone = diff["gone"].as_array().unwrap();
    assert!(gone.iter().any(|rule| rule == "uncoalesced-global-access"), "{gone:?}");
    let measured = median_ns(&document("v2")) / median_ns(&document("v2-coalesced"));
    let speedup = diff["speedup"].as_f64().unwrap();
    assert!(measured > 1.0 && (speedup / measured - 1.0).abs() < 1e-9, "{speedup}, {measured}");
}

#[test]
fn sizes_that_were_not_recorded_name_those_that_were() {
    let output = adoprof(&["step", "--kernel", "v2", "--recorded", "--size", "N=5"]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(complaint.contains("L=512,M=512,N=512"), "{complaint}");
}

/// A limiter run that ships, and its sentences.
fn limited(step: &str) -> (Value, String) {
    let output = adoprof(&["limiter", "--kernel", step, "--recorded", "--format", "json"]);
    assert!(output.status.success(), "{step}: {}", String::from_utf8_lossy(&output.stderr));
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let said = run["conclusions"].to_string();
    (run, said)
}

#[test]
fn the_experiments_verdicts_agree_with_the_profiles() {
    for (step, limiter, unit) in [
        ("matmul/m10", "arithmetic", Some("FMA pipe")),
        ("matmul/m8", "arithmetic", Some("FMA pipe")),
        ("ado/v3", "arithmetic", None),
        ("stencil/plane", "latency", None),
        ("ado/v4", "latency", None),
    ] {
        let (run, said) = limited(step);
        assert_eq!(run["verdict"]["limiter"], limiter, "{step}");
        assert!(said.contains("The profile agrees"), "{step}: {said}");
        if let Some(unit) = unit {
            assert_eq!(run["profile_unit"]["unit"], unit, "{step}");
        }
    }
}

#[test]
fn variants_access_memory_as_they_claim() {
    for name in adoprof::ladder::Ladder::builtin_names() {
        let ladder = adoprof::ladder::Ladder::builtin(name).unwrap();
        for step in ladder.steps().iter().filter(|step| !step.variants().is_empty()) {
            let (run, said) = limited(&format!("{name}/{}", step.name()));
            assert!(!said.contains("` is not "), "{name}/{}: {said}", step.name());
            let variants = run["variants"].as_array().unwrap();
            let names: Vec<&str> =
                variants.iter().map(|variant| variant["name"].as_str().unwrap()).collect();
            let declared: Vec<&str> =
                step.variants().iter().map(adoprof::ladder::Variant::name).collect();
            assert_eq!(names, declared, "{name}/{} was recorded with other variants", step.name());
            let counted = |kind: &str| {
                let found = variants.iter().find(|variant| variant["kind"] == kind).unwrap();
                let count = |what: &str| found["accesses"][what].as_f64().unwrap();
                [count("loads"), count("stores"), count("full_loads"), count("full_stores")]
            };
            let [loads, stores, full_loads, full_stores] = counted("memory-only");
            assert!((loads - full_loads).abs() <= 0.01 * full_loads, "{name}/{}", step.name());
            assert!((stores - full_stores).abs() <= 0.01 * full_stores, "{name}/{}", step.name());
            let [loads, stores, ..] = counted("arithmetic-only");
            assert!(loads + stores <= 0.01 * (full_loads + full_stores), "{name}/{}", step.name());
        }
    }
}

/// What a live run saves of a report are pages made here: of every recording they say what ncu's say.
#[test]
fn pages_made_of_a_recording_give_its_diagnosis() {
    let recordings = store::recordings().unwrap();
    assert!(recordings.len() > 500);
    let of = |(folder, meta): &(String, store::Meta)| {
        let step = meta.step.as_ref().unwrap();
        let saved = store::recording(&step.ladder, &step.name, &step.size).unwrap().unwrap();
        let diagnosis = |pages: &Pages| {
            let meta = saved.meta.clone();
            let profile = Profile::from_pages(folder, meta, pages, Path::new(folder)).unwrap();
            serde_json::to_value(profile.diagnose(None).unwrap().launches).unwrap()
        };
        let export = saved.pages.export(Path::new(folder)).unwrap();
        let made = Pages::of(&export).unwrap();
        (diagnosis(&made) != diagnosis(&saved.pages)).then(|| folder.clone())
    };
    let differ: Vec<String> = recordings.par_iter().filter_map(of).collect();
    assert!(differ.is_empty(), "{} differ: {differ:?}", differ.len());
}

/// Pages made of a report keep its control codes, and with them the instructions that others wait for.
#[test]
fn pages_made_of_a_report_give_its_diagnosis() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/report/ado-v4.ncu-repz");
    let export = report::read(&std::fs::read(&file).unwrap(), &file).unwrap();
    let again = Pages::of(&export).unwrap().export(&file).unwrap();
    let controls = |export: &Export| {
        let mut of_instructions: Vec<_> =
            export.source.iter().filter_map(|row| Some((row.address?, row.control?))).collect();
        of_instructions.sort_by_key(|(address, _)| *address);
        of_instructions
    };
    assert_eq!(
        controls(&export).len(),
        export.source.iter().filter(|row| row.is_instruction()).count()
    );
    assert_eq!(controls(&again), controls(&export));
    let diagnosed = |export| {
        let document = Profile::from_export("report", export).unwrap().diagnose(None).unwrap();
        serde_json::to_value(document.launches).unwrap()
    };
    assert_eq!(diagnosed(again), diagnosed(export));
}
