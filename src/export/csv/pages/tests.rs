use crate::export::csv::pages::*;

macro_rules! fixture {
    ($name:literal) => {
        (
            PathBuf::from($name),
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/csv/", $name))
                .to_vec(),
        )
    };
}

#[test]
fn pages_are_joined_whatever_their_order() {
    let (raw, details) = (fixture!("multi.raw.csv"), fixture!("multi.details.csv"));
    let export = read(&[details.clone(), raw.clone()]).unwrap();
    assert_eq!(export, read(&[raw, details]).unwrap());
    assert_eq!(export.launches.len(), 5);
    assert_eq!(export.rules.len(), 17);
    // From the raw page: the device, and the duration with the catalogue's section, once a launch.
    assert_eq!(export.launches[0].device.as_deref(), Some("NVIDIA H200"));
    let durations: Vec<_> =
        export.metrics.iter().filter(|row| *row.metric == *"gpu__time_duration.sum").collect();
    assert_eq!(durations.len(), 5);
    assert!(durations.iter().all(|row| *row.section == *"SpeedOfLight"));
    // From the details page: a metric that this raw page was narrowed to go without.
    let memory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
    assert_eq!(export.metrics.iter().filter(|row| *row.metric == *memory).count(), 5);
    // What stands behind a label stands in the raw page under its name.
    assert!(export.metrics.iter().all(|row| *row.metric != *"Cluster Scheduling Policy"));
}

#[test]
fn the_raw_value_wins() {
    let (path, bytes) = fixture!("multi.details.csv");
    let text = String::from_utf8(bytes).unwrap().replace("\"1728\"", "\"9999\"");
    let export = read(&[(path, text.into_bytes()), fixture!("multi.raw.csv")]).unwrap();
    let duration =
        export.metrics.iter().find(|row| *row.metric == *"gpu__time_duration.sum").unwrap();
    assert_eq!(duration.value, Some(1728.0));
}

#[test]
fn details_alone_are_a_profile() {
    let export = read(&[fixture!("multi.details.csv")]).unwrap();
    assert_eq!(export.launches.len(), 5);
    assert!(export.metrics.iter().any(|row| *row.metric == *"gpu__time_duration.sum"));
}

#[test]
fn both_views_of_the_source_complete_each_other() {
    let raw = raw_of("gpu_version3(const float *, float *, const float *, int, int, int)");
    let lined = fixture!("inlined.source.cuda-sass.csv");
    let plain = fixture!("inlined.source.sass.csv");
    let only = read(&[raw.clone(), lined.clone()]).unwrap().source;
    let both = read(&[plain, raw, lined]).unwrap().source;
    // Three NOPs at the kernel's end have no line.
    assert_eq!(both.len(), only.len() + 3);
    assert!(both[only.len()..].iter().all(|row| row.text == "NOP" && row.line.is_none()));
}

#[test]
fn pages_that_do_not_belong_together_are_refused() {
    let error = |files: &[(PathBuf, Vec<u8>)]| read(files).unwrap_err().to_string();
    assert!(error(&[raw_of("f(int)"), raw_of("f(int)")]).contains("second raw page"));
    assert!(error(&[fixture!("inlined.source.sass.csv")]).contains("--page raw"));
    assert!(error(&[]).contains("--page raw"));
    assert!(error(&[("a.csv".into(), b"date,price\n1,2\n".to_vec())]).starts_with("a.csv: "));
}

#[test]
fn what_can_be_read_is_not_lost_for_what_cannot() {
    let raw = raw_of("f(int)");
    let alone = read(std::slice::from_ref(&raw)).unwrap();
    let junk = |name: &str, text: &str| (PathBuf::from(name), text.as_bytes().to_vec());
    for other in [
        fixture!("multi.details.csv"),
        fixture!("inlined.source.cuda-sass.csv"),
        junk("one.source.csv", "\"Kernel Name\",\"f(int)\"\n\"Line No\",\"Source\"\n\"1\",\"x\"\n"),
        junk("one.details.csv", "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\"\n"),
    ] {
        let name = other.0.display().to_string();
        let export = read(&[raw.clone(), other]).unwrap();
        assert_eq!(export.metrics, alone.metrics, "{name}");
        assert_eq!(export.notices.len(), 1, "{name}: {:?}", export.notices);
    }
}

fn raw_of(kernel: &str) -> (PathBuf, Vec<u8>) {
    let text =
        format!("\"ID\",\"Kernel Name\",\"a__b.sum\"\n\"\",\"\",\"\"\n\"0\",\"{kernel}\",\"1\"\n");
    ("one.raw.csv".into(), text.into_bytes())
}
