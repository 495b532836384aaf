//! Constructed exports with the numbers that two published reports quote, in their ncu version's
//! metric names: the same guidance must come out with the same numbers.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn analyze(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/constructed")
        .join(format!("{name}.raw.csv"));
    let output = Command::new(env!("CARGO_BIN_EXE_adoprof"))
        .args(["analyze", "--format", "json"])
        .arg(path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["launches"][0].clone()
}

/// The text of a finding and of the symptoms under it.
fn words(finding: &Value) -> String {
    let mut text = finding["message"].as_str().unwrap().to_owned();
    for symptom in finding["symptoms"].as_array().into_iter().flatten() {
        text += " ";
        text += symptom["message"].as_str().unwrap();
    }
    text
}

fn assert_holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn the_posts_second_version_on_a_v100() {
    let launch = analyze("v100-v2");
    assert_eq!(launch["bound"], "latency");
    let first = &launch["findings"][0];
    assert_eq!(first["rule"], "uncoalesced-global-access");
    assert_eq!(first["where"][0]["line"], 81);
    let explains: Vec<&str> =
        first["explains"].as_array().unwrap().iter().map(|rule| rule.as_str().unwrap()).collect();
    assert!(explains.contains(&"lg-throttle"), "{explains:?}");
    assert_holds(
        &words(first),
        &[
            "1,073,741,824",
            "134,217,728",
            "8:1",
            "82.8 of 109.1 cycles",
            "76%",
            "6.8 cycles",
            "at most 16",
            "16.00 active",
            "0.69 eligible",
        ],
    );
}

#[test]
fn the_posts_third_version_on_a_v100() {
    let launch = analyze("v100-v3");
    let first = &launch["findings"][0];
    assert_eq!(first["rule"], "shared-memory-pressure");
    assert_holds(&words(first), &["49%", "load/store unit 70%"]);
    assert_holds(launch["bottleneck"].as_str().unwrap(), &["LSU"]);
}

#[test]
fn the_laptops_second_version() {
    let launch = analyze("laptop-v2");
    let findings = launch["findings"].as_array().unwrap();
    assert_eq!(findings[0]["rule"], "uncoalesced-global-access");
    assert_holds(
        &words(&findings[0]),
        &["117,440,512", "151,257,088", "78%", "3.2 cycles", "at most 8", "8.02", "0.36"],
    );
    let stall = findings.iter().find(|finding| finding["rule"] == "fixed-latency-stalls");
    assert_holds(&words(stall.unwrap()), &["14.1 of 25.5 cycles", "55%"]);
}
