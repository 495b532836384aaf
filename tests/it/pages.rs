//! The pages of the documentation: what they show is what the program prints, and their links lead
//! somewhere. `ADOPROF_BLESS=1 cargo test pages` writes the generated parts anew.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    docs.chain(top.map(|page| root().join(page)))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect()
}

fn adoprof(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_adoprof"))
        .args(arguments)
        .env("COLUMNS", "100")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The text between `<!-- NAME -->` and `<!-- end -->`, in place of which `generated` must stand.
pub(crate) fn assert_generated(page: &str, name: &str, generated: &str) {
    let text = read(page);
    let (start, end) = (format!("<!-- {name} -->\n"), "<!-- end -->");
    let (head, rest) = text.split_once(&start).unwrap_or_else(|| panic!("{page}: no {start}"));
    let (old, tail) = rest.split_once(end).unwrap_or_else(|| panic!("{page}: {name} has no end"));
    if old == generated {
        return;
    }
    assert!(
        std::env::var_os("ADOPROF_BLESS").is_some(),
        "{page}: the part `{name}` is stale; run `ADOPROF_BLESS=1 cargo test pages`"
    );
    fs::write(root().join(page), format!("{head}{start}{generated}{end}{tail}")).unwrap();
}

/// A time in three digits, as the reports print it.
fn time(ns: f64) -> String {
    adoprof::text::duration(ns)
}

/// Two digits or three before the point, grouped by thousands where they are more.
fn rate(value: f64, unit: &str) -> String {
    let (value, unit) = match unit {
        "GFLOP/s" if value >= 1000.0 => (value / 1000.0, "TFLOP/s"),
        _ => (value, unit),
    };
    if value < 100.0 {
        format!("{value:.1} {unit}")
    } else {
        format!("{} {unit}", adoprof::text::count(value.round()))
    }
}

/// A step's share of what the device copies, or of the library's speed where one was timed.
fn share(step: &Value) -> (&'static str, String) {
    let ns = step["time_ns"]["median"].as_f64().unwrap();
    let (of, share) = if let Some(library) = step["library"]["ns"].as_f64() {
        ("cuBLAS", library / ns)
    } else {
        let rate = step["rate"]["value"].as_f64().unwrap() * 1e9;
        ("the copy rate", rate / step["copy_bytes_per_s"].as_f64().unwrap())
    };
    (of, format!("{:.0}%", 100.0 * share))
}

/// The steps of a ladder as recorded, as a table.
fn ladder_table(ladder: &str) -> String {
    let json = adoprof(&["run", "--ladder", ladder, "--recorded", "--format", "json"]);
    let run: Value = serde_json::from_str(&json).unwrap();
    let mut rows = String::new();
    let mut share_of = "";
    for document in run["steps"].as_array().unwrap() {
        let step = &document["step"];
        let (of, share) = share(step);
        share_of = of;
        let first = document["verdict"]["rule"].as_str().map_or(String::new(), |rule| {
            let launch = document["verdict"]["launch"].as_u64().unwrap() as usize;
            let gain = &document["launches"][launch]["findings"][0]["estimated_speedup"]["factor"];
            match gain.as_f64() {
                Some(factor) if factor >= 1.005 => format!("`{rule}` {}", times(factor)),
                _ => format!("`{rule}`"),
            }
        });
        writeln!(
            rows,
            "| `{}` | {} | {} | {} | {share} | {first} |",
            step["name"].as_str().unwrap(),
            step["title"].as_str().unwrap(),
            time(step["time_ns"]["median"].as_f64().unwrap()),
            rate(step["rate"]["value"].as_f64().unwrap(), step["rate"]["unit"].as_str().unwrap()),
        )
        .unwrap();
    }
    format!(
        "| step | what it is | time | rate | of {share_of} | first finding |\n\
         |---|---|---:|---:|---:|---|\n{rows}"
    )
}

/// A factor in two or three digits.
pub(crate) fn times(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.2}×") } else { format!("{factor:.0}×") }
}

#[test]
fn the_measured_tables_are_those_of_the_recordings() {
    let ladders = [
        "ado",
        "reduce",
        "reduce-int",
        "matmul",
        "stencil",
        "access-pattern",
        "padding",
        "increment",
    ];
    for ladder in ladders {
        assert_generated("docs/measured.md", ladder, &ladder_table(ladder));
    }
}

/// The fenced block of a page that begins with this language, by its place among them.
fn block(page: &str, language: &str, place: usize) -> String {
    let text = read(page);
    let fence = format!("```{language}\n");
    let mut blocks = text.split(&fence).skip(1);
    let block = blocks.nth(place).unwrap_or_else(|| panic!("{page}: no {language} block"));
    block.split("```").next().unwrap().to_owned()
}

#[test]
fn the_example_of_the_ladder_page_is_a_ladder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ladder.toml"), block("docs/ladders.md", "toml", 0)).unwrap();
    fs::write(folder.path().join("scale.cu"), block("docs/ladders.md", "cuda", 0)).unwrap();
    let ladder = adoprof::ladder::Ladder::load(folder.path()).unwrap();
    for (step, grid) in [("naive", 262_144), ("wide", 65_536)] {
        let plan = ladder.plan(step, &adoprof::ladder::Overrides::new(), 132).unwrap();
        assert_eq!(plan.launches[0].grid, [grid, 1, 1], "{step}: 2^26 floats");
        assert!(plan.source.text.contains(&format!("void {}(", plan.launches[0].kernel)));
    }
}

#[test]
fn the_manifests_on_the_page_are_those_of_the_examples() {
    for name in ["transpose", "histogram", "smooth"] {
        let manifest = read(&format!("examples/{name}/ladder.toml"));
        assert_generated("docs/ladder-manifest.md", name, &format!("```toml\n{manifest}```\n"));
    }
}

/// The keys that a manifest may have are those that it names where one is unknown.
#[test]
fn every_key_of_a_manifest_is_on_its_page() {
    let tables = read("docs/ladder-manifest.md");
    let tables = tables.split_once("## Every key").unwrap().1;
    let manifest = read("examples/transpose/ladder.toml");
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for (before, bogus) in [
        ("reference = ", "bogus = 1\n"),
        ("dtype = ", "bogus = 1\n"),
        ("changes = ", "bogus = 1\n"),
        ("kernel = ", "bogus = 1\n"),
        ("kind = ", "bogus = 1\n"),
        ("step = ", "bogus = 1\n"),
    ] {
        let at = manifest.find(&format!("\n{before}")).unwrap() + 1;
        let text = format!("{}{bogus}{}", &manifest[..at], &manifest[at..]);
        fs::write(folder.path().join("ladder.toml"), text).unwrap();
        let error = adoprof::ladder::Ladder::load(folder.path()).unwrap_err().to_string();
        let keys = error.split_once("the keys here are ").unwrap().1.trim_end_matches(')');
        for key in keys.split(", ") {
            assert!(tables.contains(&format!("`{key}`")), "no `{key}` on the page");
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn links_lead_to_files_that_exist() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let path = page.parent().unwrap().join(target);
            assert!(path.exists(), "{}: {link} leads nowhere", page.display());
        }
    }
}

#[test]
fn the_readme_fits_two_screens_and_shows_what_the_program_prints() {
    let readme = read("README.md");
    assert!(readme.lines().count() <= 120, "{} lines", readme.lines().count());
    let shown = adoprof(&["step", "--kernel", "v2", "--recorded"]);
    let verdict: String =
        shown.lines().take(VERDICT_LINES).fold(String::new(), |mut text, line| {
            writeln!(text, "{}", line.trim_end()).unwrap();
            text
        });
    let picture = format!("```console\n$ adoprof step --kernel v2\n{verdict}```\n");
    assert_generated("README.md", "what step prints first", &picture);
}

#[test]
fn the_tutorial_shows_what_the_program_prints() {
    for step in ["v1", "v2", "v3", "v4", "v5", "v6"] {
        let words = ["step", "--kernel", step, "--recorded", "-q"];
        assert_generated("docs/tutorial.md", step, &console(&words, &adoprof(&words)));
    }
    // The table, without what stands below it.
    let words = ["run", "--ladder", "ado", "--recorded"];
    let shown = adoprof(&words);
    let (table, _) = shown.split_once("\n\nv1:").expect("the steps in words follow");
    assert_generated("docs/tutorial.md", "run", &console(&words, table));
}

/// The charts of the tutorial, each by what it is of and its name, with the words that the chart has for those who can't
/// see it.
#[test]
fn the_pictures_of_the_tutorial_are_those_of_the_recordings() {
    let shown = [
        ("v1", "resources"),
        ("v2", "resources"),
        ("v2", "memory"),
        ("v4", "stalls"),
        ("v6", "resources"),
        ("ado", "ladder"),
        ("ado", "roofline"),
    ];
    for (of, chart) in shown {
        let what: &[&str] = if of == "ado" { &["--ladder", "ado"] } else { &[of] };
        let how = ["--no-ledger", "--chart", chart, "--format", "svg", "-o", "-"];
        let svg = adoprof(&[&["report"], what, &how].concat());
        assert_page(&format!("docs/pictures/{of}-{chart}.svg"), &svg);
        let between = |start: &str, end: &str| {
            let (_, rest) = svg.split_once(start).expect(start);
            rest.split_once('>').unwrap().1.split_once(end).unwrap().0.to_owned()
        };
        let (title, said) = (between("<title", "</title>"), between("<desc", "</desc>"));
        let picture = format!("![{title}. {said}](pictures/{of}-{chart}.svg)\n");
        assert_generated("docs/tutorial.md", &format!("{of} {chart}"), &picture);
    }
    let files = fs::read_dir(root().join("docs/pictures")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let drawn = files.filter(|path| path.extension().is_some_and(|it| it == "svg")).count();
    assert_eq!(drawn, shown.len(), "a picture in docs/pictures is on no page");
}

/// A command and what it prints, as a block.
fn console(words: &[&str], shown: &str) -> String {
    let lines: String = shown.lines().fold(String::new(), |mut text, line| {
        writeln!(text, "{}", line.trim_end()).unwrap();
        text
    });
    format!("```console\n$ adoprof {}\n{lines}```\n", words.join(" "))
}

#[test]
fn the_book_has_every_page() {
    let summary = read("docs/SUMMARY.md");
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    for page in pages.filter(|path| path.extension().is_some_and(|it| it == "md")) {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        let times = summary.matches(&format!("]({name})")).count();
        assert_eq!(times, usize::from(name != "SUMMARY.md"), "{name} in docs/SUMMARY.md");
    }
    let book: toml::Table = read("book.toml").parse().unwrap();
    assert_eq!(book["book"]["src"].as_str(), Some("docs"));
}

/// The lines of `step` that the README shows: from the first to the end of the verdict and its head.
const VERDICT_LINES: usize = 16;

#[test]
fn the_schema_is_that_of_the_types() {
    let schema = schemars::schema_for!(adoprof::document::Document);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    assert_page("docs/adoprof-1.schema.json", &text);
    for (name, schema) in [
        ("profiles", schemars::schema_for!(adoprof::document::SeveralDocuments<'static>)),
        ("run", schemars::schema_for!(adoprof::document::RunDocument)),
        ("diff", schemars::schema_for!(adoprof::document::Diff)),
        ("check", schemars::schema_for!(adoprof::gate::CheckDocument)),
        ("sweep", schemars::schema_for!(adoprof::sweep::SweepDocument)),
        ("bench", schemars::schema_for!(adoprof::bench::BenchDocument)),
        ("limiter", schemars::schema_for!(adoprof::limiter::LimiterDocument)),
        ("ledger", schemars::schema_for!(adoprof::ledger::LedgerDocument)),
        ("history", schemars::schema_for!(adoprof::history::HistoryDocument)),
        ("explain", schemars::schema_for!(adoprof::document::ExplainDocument)),
        ("ladders", schemars::schema_for!(adoprof::document::LaddersDocument)),
        ("ladder-check", schemars::schema_for!(adoprof::document::LadderCheckDocument)),
        ("doctor", schemars::schema_for!(adoprof::document::DoctorDocument)),
        ("config", schemars::schema_for!(adoprof::document::ConfigDocument)),
        ("rules", schemars::schema_for!(adoprof::document::RulesDocument)),
        ("rules-check", schemars::schema_for!(adoprof::document::RulesCheckDocument)),
        ("rules-metrics", schemars::schema_for!(adoprof::document::RulesMetricsDocument)),
        ("written", schemars::schema_for!(adoprof::document::WrittenDocument)),
    ] {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        assert_page(&format!("docs/schema/{name}.json"), &text);
    }
}

/// The whole page is generated.
pub(crate) fn assert_page(page: &str, generated: &str) {
    if fs::read_to_string(root().join(page)).is_ok_and(|old| old == generated) {
        return;
    }
    assert!(
        std::env::var_os("ADOPROF_BLESS").is_some(),
        "{page} is stale; run `ADOPROF_BLESS=1 cargo test pages`"
    );
    fs::write(root().join(page), generated).unwrap();
}

#[test]
fn the_index_of_planted_faults_lists_every_pair_in_its_folder() {
    let index = adoprof::report::ladder::index_of_faults().unwrap();
    assert_page("kernels/faults/INDEX.md", &index);
    let folder = root().join("kernels/faults");
    for link in index.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(folder.join(link).exists(), "{link}: the pair lies in the folder of another fault");
    }
}

#[test]
fn every_field_of_a_document_is_on_the_json_page() {
    let page = read("docs/json.md");
    let json = adoprof(&["step", "--kernel", "v2", "--recorded", "--format", "json"]);
    let document: Value = serde_json::from_str(&json).unwrap();
    let launch = &document["launches"][0];
    for object in [&document, &document["step"], launch, &launch["findings"][0]] {
        for field in object.as_object().unwrap().keys() {
            assert!(page.contains(&format!("`{field}`")), "docs/json.md does not name `{field}`");
        }
    }
}
