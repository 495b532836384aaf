//! `adoprof report`: pages that hold together, with the numbers that `analyze` and `run` have.

use std::collections::HashMap;

use serde_json::Value;

use crate::cli::bench::Bench;

/// A page of what the arguments name.
fn page(bench: &Bench, args: &[&str]) -> String {
    let ran = bench.run(&[&["report", "--no-ledger", "-o", "page.html"], args].concat());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "page.html\n"), "{ran:?}");
    let text = std::fs::read_to_string(bench.path("page.html")).unwrap();
    assert_holds_together(&text);
    text
}

/// Every element that is opened is closed, in order; every link within the page leads somewhere; nothing is loaded;
/// no attribute has a style or a script, which the page's policy would refuse.
fn assert_holds_together(text: &str) {
    const VOID: [&str; 4] = ["meta", "input", "link", "br"];
    let mut open: Vec<&str> = Vec::new();
    let (mut ids, mut links) = (Vec::new(), Vec::new());
    let mut rest = text.strip_prefix("<!DOCTYPE html>").expect("a document type");
    while let Some((_, tag)) = rest.split_once('<') {
        let (tag, after) = tag.split_once('>').expect("every tag has an end");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed out of order");
            continue;
        }
        let name = tag.split([' ', '\n']).next().unwrap();
        for attribute in [" style=", " onclick=", " onload=", " src=", " href=\"http"] {
            assert!(!tag.contains(attribute), "<{tag}>");
        }
        ids.extend(value(tag, " id=\""));
        links.extend(value(tag, " href=\"#"));
        if !VOID.contains(&name) {
            open.push(name);
        }
        if name == "style" || name == "script" {
            let end = format!("</{name}>");
            let at = rest.find(&end).unwrap();
            rest = &rest[at..];
        }
    }
    assert_eq!(open, Vec::<&str>::new(), "left open");
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "two elements have one id");
    for link in links {
        assert!(ids.binary_search(&link).is_ok(), "#{link} leads nowhere");
    }
}

/// The value of an attribute.
fn value<'a>(tag: &'a str, attribute: &str) -> Option<&'a str> {
    tag.split_once(attribute).and_then(|(_, rest)| rest.split_once('"')).map(|(value, _)| value)
}

/// The numbers of the elements of a class by their labels.
fn numbers(text: &str, class: &str) -> Vec<(String, f64)> {
    let start = format!("<g class=\"{class}\"");
    let tags = text.split(&start).skip(1).map(|rest| rest.split_once('>').unwrap().0);
    tags.map(|tag| {
        let label = value(tag, " data-label=\"").unwrap().to_owned();
        (label, value(tag, " data-value=\"").unwrap().parse().unwrap())
    })
    .collect()
}

#[test]
fn a_launch_shows_the_numbers_of_its_diagnosis() {
    let bench = Bench::new();
    let text = page(&bench, &["v2"]);
    let document = bench.run(&["analyze", "v2", "--format", "json"]).json();
    let launch = &document["launches"][0];
    let bars = numbers(&text, "bar");
    for unit in launch["utilization"].as_array().unwrap() {
        let share = unit["share"].as_f64().unwrap();
        let shown = bars.iter().find(|(label, _)| *label == unit["unit"].as_str().unwrap());
        match shown {
            Some((label, value)) => assert!((value - share).abs() < 1e-12, "{label}"),
            None => assert!(share < 0.005, "{unit}"),
        }
    }
    for finding in launch["findings"].as_array().unwrap() {
        let rule = finding["rule"].as_str().unwrap();
        let tag = text.split(&format!("data-rule=\"{rule}\" data-factor=\"")).nth(1).expect(rule);
        let factor: f64 = tag.split_once('"').unwrap().0.parse().unwrap();
        assert!((factor - finding["estimated_speedup"]["factor"].as_f64().unwrap()).abs() < 1e-12);
    }
    for chart in ["roofline", "resources", "memory", "stalls", "occupancy", "schedulers"] {
        assert!(text.contains(&format!("data-chart=\"{chart}\"")), "no {chart}");
    }
    assert!(text.contains("class=\"code\"") && text.contains("waits for "), "code with arrows");
    assert!(text.len() < 500_000, "{} bytes", text.len());
}

#[test]
fn a_ladder_shows_each_steps_time_and_stays_small() {
    let bench = Bench::new();
    let text = page(&bench, &["--ladder", "ado"]);
    let run: Value = bench.run(&["run", "--recorded", "--format", "json"]).json();
    let steps = numbers(&text, "step");
    let documents = run["steps"].as_array().unwrap();
    assert_eq!(steps.len(), documents.len());
    for ((label, ns), document) in steps.iter().zip(documents) {
        assert_eq!(*label, document["step"]["name"].as_str().unwrap());
        assert!((ns - document["step"]["time_ns"]["median"].as_f64().unwrap()).abs() < 1e-6);
    }
    // Six main steps, five arrows.
    assert_eq!(text.matches("class=\"walk\"").count(), 5);
    assert!(text.len() < 2_000_000, "{} bytes", text.len());
}

#[test]
fn a_baseline_stands_beside_the_launch() {
    let bench = Bench::new();
    let text = page(&bench, &["v3", "--baseline", "v2"]);
    let diff = bench.run(&["diff", "v2", "v3", "--format", "json"]).json();
    let speedup = value(&text, "aria-labelledby=\"diff-h\" data-speedup=\"").unwrap();
    assert!((speedup.parse::<f64>().unwrap() - diff["speedup"].as_f64().unwrap()).abs() < 1e-12);
    let stacks: Vec<String> = numbers(&text, "stack").into_iter().map(|(label, _)| label).collect();
    assert_eq!(stacks, ["v3", "v2"]);
}

#[test]
fn what_a_profile_says_stays_text() {
    let bench = Bench::new();
    let name = "<script>alert(1)</script>&\"'\u{202e}\u{1b}[31m";
    let raw = format!(
        "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\",\"{name}\"\n\
         \"\",\"\",\"\",\"\",\"ns\",\"\"\n\
         \"0\",\"{}\",\"(32, 1, 1)\",\"(1, 1, 1)\",\"1000\",\"1\"\n",
        name.replace('"', "\"\"")
    )
    .replace(&format!(",\"{name}\"\n"), &format!(",\"{}\"\n", name.replace('"', "\"\"")));
    bench.write("hostile.raw.csv", raw);
    let text = page(&bench, &["hostile.raw.csv"]);
    assert!(
        text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;"),
        "the name is there, as text"
    );
    assert!(!text.contains("<script>alert") && !text.contains(['\u{202e}', '\u{1b}']));
    assert_eq!(text.matches("<script>").count(), 1, "the page's own");
}

#[test]
fn single_charts_are_files_of_their_own() {
    let bench = Bench::new();
    let ran = bench.run(&["report", "v2", "--format", "svg", "--chart", "resources", "-o", "-"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.starts_with("<?xml") && ran.out.trim_end().ends_with("</svg>"));
    assert!(!numbers(&ran.out, "bar").is_empty());
    assert!(ran.out.contains(">Time per resource: ado/v2</text>"), "it says of what it is");
    bench.run(&["report", "v2", "--format", "svg"]).fails(2, &["--chart", "roofline"]);
    bench.run(&["report", "v2", "--format", "png"]).fails(2, &["--chart", "roofline"]);
    bench.run(&["report", "v2", "--theme", "dark"]).fails(2, &["--theme is for single charts"]);
    bench
        .run(&["report", "v2", "--format", "svg", "--chart", "stalls", "--scale", "3"])
        .fails(2, &["--format png"]);
    bench.run(&["report", "v2", "--chart", "roofline"]).fails(2, &["--format svg"]);
    bench
        .run(&["report", "v2", "--format", "svg", "--chart", "timeline"])
        .fails(2, &["nothing to draw"]);
    bench.run(&["report"]).fails(2, &["adoprof report --ladder ado"]);
}

/// A PNG's width and height, and how many pixels have each colour, the most frequent first.
fn picture(bytes: &[u8]) -> (u32, u32, Vec<([u8; 3], usize)>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(frame.color_type, png::ColorType::Rgb);
    let mut counts: HashMap<[u8; 3], usize> = HashMap::new();
    for pixel in pixels.chunks_exact(3) {
        *counts.entry([pixel[0], pixel[1], pixel[2]]).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    (frame.width, frame.height, counts)
}

#[test]
fn every_chart_is_drawn_as_a_picture() {
    let bench = Bench::new();
    let light = ["ladder", "roofline", "stalls"]
        .map(|chart| (chart, "light", ["--ladder", "ado"].as_slice()));
    let of_launch = ["resources", "roofline", "memory", "occupancy", "schedulers"];
    let dark = of_launch.map(|chart| (chart, "dark", ["v2"].as_slice()));
    for (chart, theme, args) in light.into_iter().chain(dark) {
        let words =
            ["report", "--format", "png", "--chart", chart, "--theme", theme, "-o", "chart.png"];
        let ran = bench.run(&[&words, args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "chart.png\n"), "{chart}: {ran:?}");
        let (width, height, colours) = picture(&std::fs::read(bench.path("chart.png")).unwrap());
        assert!(width == 2 * 720 && height > 300, "{chart}: {width} by {height}");
        let paper = if theme == "dark" { [0x14, 0x18, 0x1c] } else { [255; 3] };
        assert_eq!(colours[0].0, paper, "{chart}: most of it is paper");
        // Letters are antialiased: their edges have many shades between ink and paper.
        assert!(colours.len() > 50, "{chart} has {} colours", colours.len());
        let all: usize = colours.iter().map(|(_, count)| count).sum();
        assert!(colours[0].1 < all - all / 100, "{chart} is blank");
    }
}

#[test]
fn a_picture_is_as_fine_as_asked_and_written_whole() {
    let bench = Bench::new();
    let words = ["report", "v2", "--format", "png", "--chart", "schedulers"];
    let ran = bench.run(&[&words[..], &["--scale", "1"]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "report.png\n"), "{ran:?}");
    assert_eq!(picture(&std::fs::read(bench.path("report.png")).unwrap()).0, 720);
    let too_fine = bench.run(&[&words[..], &["--scale", "9"]].concat());
    assert!(too_fine.code == Some(2) && too_fine.err.contains("--scale"), "{too_fine:?}");
    // A folder can't be replaced by a picture.
    std::fs::create_dir(bench.path("folder.png")).unwrap();
    bench.run(&[&words[..], &["-o", "folder.png"]].concat()).fails(2, &["folder.png"]);
}

#[test]
fn a_page_is_written_whole_or_not_at_all() {
    let bench = Bench::new();
    bench.write("page.html", "the old one");
    let ran = bench.run(&["report", "v2", "nowhere.ncu-rep", "--no-ledger", "-o", "page.html"]);
    // What can't be read is left out, and a mistake of who named it.
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("left out: nowhere.ncu-rep: "), "{ran:?}");
    assert_ne!(std::fs::read_to_string(bench.path("page.html")).unwrap(), "the old one");
    bench.write("page.html", "the old one");
    bench
        .run(&["report", "nowhere.ncu-rep", "--no-ledger", "-o", "page.html"])
        .fails(2, &["nowhere"]);
    assert_eq!(std::fs::read_to_string(bench.path("page.html")).unwrap(), "the old one");
    // A folder can't be replaced by a page.
    std::fs::create_dir(bench.path("folder")).unwrap();
    let ran = bench.run(&["report", "v2", "--no-ledger", "-o", "folder"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn a_whole_program_shows_its_timeline_and_its_groups() {
    let bench = Bench::new();
    let document = bench.profile("success", &["--format", "json"]).json();
    let launch = &document["launches"][0];
    // What a survey would have found: 2 s, half of it in this kernel, which runs in the first half.
    let program = serde_json::json!({
        "program": {
            "command": "./simulate", "wall_ns": 2e9, "gpu_busy_ns": 1e9, "kernel_busy_ns": 1e9, "active_ns": 2e9,
            "groups": [{
                "kernel": launch["kernel"], "grid": launch["grid"], "block": launch["block"], "launches": 100,
                "total_ns": 1e9, "share": 1.0, "median_ns": 1e7, "range_ns": [1e7, 1e7], "launch": null
            }],
            "lanes": [{ "name": "GPU 0, stream 7", "busy": [1.0, 0.0] }],
            "findings": [{
                "rank": 1, "rule": "small-copies", "estimated_speedup": { "factor": 1.25, "low": 1.1, "high": 1.5 },
                "message": "Many <b>small</b> copies", "hint": "Copy once",
                "evidence": [{ "metric": "copies", "value": 4321.0, "unit": "" }]
            }]
        },
        "chosen": [0]
    });
    let saved = document["saved"].as_str().unwrap().to_owned();
    bench.write(&format!("{saved}/program.json"), program.to_string());
    let text = page(&bench, &[&format!("./{saved}")]);
    assert_eq!(numbers(&text, "lane"), [("GPU 0, stream 7".to_owned(), 0.5)]);
    let factor = launch["findings"][0]["estimated_speedup"]["factor"].as_f64().unwrap();
    let groups = text.split("data-chart=\"groups\"").nth(1).unwrap();
    let (_, gain) = numbers(groups, "bar").remove(0);
    assert!((gain - 0.5 * (1.0 - 1.0 / factor)).abs() < 1e-9, "{gain} of a gain of {factor}");
    let around = text.split("id=\"around\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(around.contains("data-rule=\"small-copies\" data-factor=\"1.25\""), "{around}");
    assert!(
        around.contains("1.25× (1.10 to 1.50)") && around.contains("data-value=\"4321\""),
        "{around}"
    );
    assert!(
        around.contains("Many &lt;b&gt;small&lt;/b&gt; copies.") && around.contains("Copy once."),
        "{around}"
    );
    assert!(text.contains("href=\"#around\""), "the way through the page leads there");
    for chart in ["timeline", "groups"] {
        let ran =
            bench.run(&["report", &format!("./{saved}"), "--format", "png", "--chart", chart]);
        assert_eq!(ran.code, Some(0), "{chart}: {ran:?}");
        let (width, _, colours) = picture(&std::fs::read(bench.path("report.png")).unwrap());
        assert!(width == 1440 && colours.len() > 50, "{chart}");
    }
}

#[test]
fn a_place_that_can_not_hold_the_page_is_refused_before_anything_is_read() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("pages")).unwrap();
    for (place, parts) in [
        ("pages", &["pages: is a folder", "-o pages/report.html"][..]),
        ("a.svg", &["-o a.svg: `adoprof report` writes an HTML page", "--format svg --chart"]),
        ("a.JSON", &["name it a.html", "`adoprof analyze` has --format"]),
        ("a.pdf", &["name it a.html"]),
    ] {
        // The step does not exist, which is not noticed.
        bench.run(&["report", "v99", "-o", place]).fails(2, parts);
        assert!(!bench.path(place).is_file());
    }
    let picture = ["report", "v2", "--format", "png", "--chart", "roofline", "-o", "a.html"];
    bench.run(&picture).fails(2, &["--format png writes a PNG, so name it a.png"]);
    page(&bench, &["v2"]);
}
