//! Facts of the reports that programs read: CSV and JSON.

use super::*;

#[test]
fn csv_has_a_row_a_finding() {
    let said = text(|out| render(&samples::recorded_step(), CSV, Style::default(), out));
    let mut rows = ::csv::Reader::from_reader(said.as_bytes());
    let columns = "launch,kernel,rank,rule,factor,low,high,file,line,share,message,hint,ncu_rule,\
                   ncu_percent";
    assert_eq!(rows.headers().expect("a header"), columns.split(',').collect::<Vec<_>>());
    let rows: Vec<::csv::StringRecord> = rows.records().collect::<Result<_, _>>().expect("rows");
    assert_eq!(rows.len(), 2);
    assert_eq!(&rows[0][3], "uncoalesced-global-access");
    assert_eq!((&rows[0][4], &rows[0][7], &rows[0][8]), ("1.8", "kernels/ado/v2.cu", "23"));
    assert_eq!(&rows[1][7], "", "no place is known");
    assert_eq!((&rows[0][12], &rows[0][13]), ("UncoalescedGlobalAccess", "40.9"));
    assert_eq!((&rows[1][12], &rows[1][13]), ("", ""), "no rule of ncu names it");
}

#[test]
fn csv_of_runs_and_diffs_has_equal_rows() {
    for said in [
        text(|out| render(&samples::run(), CSV, Style::default(), out)),
        text(|out| render(&samples::compared(), CSV, Style::default(), out)),
    ] {
        // The reader refuses a row with another number of cells than the header.
        let rows: Result<Vec<_>, _> =
            ::csv::Reader::from_reader(said.as_bytes()).records().collect();
        assert!(rows.unwrap().len() >= 4);
    }
}

/// The example of the contract, its prose shortened.
const CONTRACT: &str = r#"{
  "schema": "adoprof/1",
  "step": {
    "ladder": "ado", "name": "v2", "size": { "N": 1024, "M": 1024, "L": 1024 },
    "verified": true, "max_error": 0.0,
    "time_ns": { "median": 10990000.0, "low": 10960000.0, "high": 11020000.0, "n": 20 },
    "bytes": 4303355904, "flops": 3222274048, "recorded": "2026-11-20"
  },
  "launches": [{
    "kernel": "gpu_version2", "grid": [1024, 1, 1], "block": [1024, 1, 1],
    "device": "NVIDIA H200", "duration_ns": 10745000.0, "time_share": 1.0, "bound": "latency",
    "findings": [{
      "rank": 2, "rule": "uncoalesced-global-access",
      "estimated_speedup": { "factor": 1.5, "low": 1.3, "high": 1.7 },
      "message": "m",
      "evidence": [{ "metric": "memory_l2_theoretical_sectors_global", "value": 1209008128.0, "unit": "sector" }],
      "where": [{ "file": "kernels/ado/v2.cu", "line": 25, "share": 0.89, "share_of": "sectors" }],
      "hint": "h", "explains": ["lg-throttle"]
    }],
    "skipped": [{ "rule": "register-spilling", "missing": ["sass__inst_executed_register_spilling"] }]
  }],
  "verdict": { "launch": 0, "rule": "shared-memory-pressure" },
  "next_step": "v3", "diff": null, "notices": ["n"]
}"#;

/// True where everything in `part` stands in `whole`, which may have more keys.
fn holds(whole: &serde_json::Value, part: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Object};
    match (whole, part) {
        (Object(whole), Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|own| holds(own, value)))
        }
        (Array(whole), Array(part)) => {
            whole.len() == part.len()
                && whole.iter().zip(part).all(|(own, value)| holds(own, value))
        }
        _ => whole == part,
    }
}

#[test]
fn json_is_the_contracts() {
    let document: Document = serde_json::from_str(CONTRACT).expect("the contract's shape");
    let said = text(|out| render(&document, JSON, Style::default(), out));
    let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    let contract: serde_json::Value = serde_json::from_str(CONTRACT).expect("JSON");
    assert!(holds(&said, &contract), "{said:#}");
}

#[test]
fn json_has_null_where_nothing_applies() {
    let document = Document { schema: crate::document::SCHEMA.to_owned(), ..Document::default() };
    let said = text(|out| render(&document, JSON, Style::default(), out));
    let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    for key in ["step", "verdict", "next_step", "diff"] {
        assert!(said.get(key).is_some_and(serde_json::Value::is_null), "{key}");
    }
    let mut step = samples::recorded_step();
    step.step.as_mut().expect("a step").recorded = None;
    let said = serde_json::to_value(&step).expect("JSON");
    assert!(said["step"].get("recorded").is_some_and(serde_json::Value::is_null));
}
