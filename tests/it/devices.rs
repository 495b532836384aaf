//! Devices' files in the user's configuration.

use std::path::Path;
use std::process::{Command, Output};

/// `adoprof analyze` of a recording from an H200, with these devices' files in the user's folder.
fn analyze(files: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let recording =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/fault-private-counts/fault");
    Command::new(env!("CARGO_BIN_EXE_adoprof"))
        .args(["analyze", "--format", "json"])
        .arg(recording)
        .env("ADOPROF_DEVICES", folder.path())
        .output()
        .unwrap()
}

fn dram_share(output: &Output) -> f64 {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let units = document["launches"][0]["utilization"].as_array().unwrap();
    units.iter().find(|unit| unit["unit"] == "DRAM").unwrap()["share"].as_f64().unwrap()
}

#[test]
fn a_users_file_comes_before_the_shipped_one() {
    let shipped = dram_share(&analyze(&[]));
    // Nine tenths of the shipped rates: memory is busy for 10/9 of the share.
    let own = "name = \"NVIDIA H200\"\n[facts]\n\
               dram_read_rate = { value = 4.095e12, unit = \"byte/s\", from = \"measured here\" }\n\
               dram_copy_rate = { value = 3.861e12, unit = \"byte/s\", from = \"measured here\" }\n";
    let mine = dram_share(&analyze(&[("nvidia-h200.toml", own)]));
    assert!((mine / shipped - 10.0 / 9.0).abs() < 1e-9, "{mine} and {shipped}");
}

#[test]
fn a_mistake_in_a_users_file_is_told_with_its_line() {
    let output = analyze(&[("sm_90.toml", "name = \"Hopper\"\n[facts]\nfma = 3\n")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("sm_90.toml:3: "), "{said}");
}
