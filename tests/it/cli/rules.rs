//! Rules of a user's own: written, checked, tested, and at work beside the built-in ones.

use crate::cli::bench::{Bench, file};

/// A bench with the tests' rules in the project's folder.
fn with_rules() -> Bench {
    let bench = Bench::new();
    bench.copy("rules/team.toml", "adoprof-rules/team.toml");
    bench
}

fn findings(document: &serde_json::Value) -> Vec<String> {
    let findings = document["launches"][0]["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_rule_ranks_beside_the_built_in_ones_by_the_same_model() {
    let bench = with_rules();
    let plain = Bench::new().run(&["analyze", "ado/v2", "--format", "json"]).json();
    let document = bench.run(&["analyze", "ado/v2", "--format", "json"]).json();
    let rules = findings(&document);
    let own = |name: &str| {
        rules.iter().position(|rule| rule == name).unwrap_or_else(|| panic!("{rules:?}"))
    };
    let all = document["launches"][0]["findings"].as_array().unwrap();
    let finding = &all[own("user:reads-through-l1")];
    let gain = |finding: &serde_json::Value| {
        finding["estimated_speedup"]["factor"].as_f64().unwrap_or(1.0)
    };
    assert!(gain(finding) > 1.2, "{finding}");
    let built_in: Vec<f64> = all.iter().map(gain).collect();
    assert!(built_in.is_sorted_by(|a, b| a >= b), "largest gain first: {built_in:?}");
    assert_eq!(finding["evidence"][0]["metric"], "busy.l1");
    assert!(finding["where"][0]["line"].is_u64(), "{finding}");
    assert!(finding["message"].as_str().unwrap().contains("77% of the sectors hit"), "{finding}");
    // One without a what-if promises nothing.
    let remark = &all[own("user:remark-only")];
    assert!(remark["estimated_speedup"].is_null(), "{remark}");
    assert_eq!(remark["message"], "1,024 blocks of 1,024 threads; {no estimate}.");
    // The built-in findings are as they were.
    let others: Vec<String> =
        rules.iter().filter(|rule| !rule.starts_with("user:")).cloned().collect();
    let explained = finding["explains"].as_array().unwrap();
    let were: Vec<String> = findings(&plain)
        .into_iter()
        .filter(|rule| !explained.iter().any(|name| name == rule))
        .collect();
    assert_eq!(others, were);
}

#[test]
fn every_form_has_the_finding_and_explain_knows_it() {
    let bench = with_rules();
    for form in ["text", "json", "markdown", "csv", "sarif", "junit", "github"] {
        let ran = bench.run(&["-v", "analyze", "ado/v2", "--format", form]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let said = ran.out.replace("%3A", ":");
        assert!(said.contains("user:reads-through-l1"), "{form}: {said}");
    }
    let one = bench.run(&["explain", "user:reads-through-l1"]);
    assert!(one.out.contains("busy.l1 > 0.5") && one.out.contains("lg-throttle"), "{one:?}");
    assert!(bench.run(&["explain"]).out.contains("user:remark-only"));
    bench
        .run(&["explain", "user:reads-through-l2"])
        .fails(2, &["did you mean `user:reads-through-l1`?"]);
    // A gate may name it.
    let gate = [
        "check",
        "--recorded",
        "--baseline",
        "v2",
        "v2",
        "--no-time",
        "--fail-on",
        "rule:user:remark-only",
    ];
    assert_eq!(bench.run(&gate).code, Some(1));
    let gate = gate.map(|word| if word.starts_with("rule:") { "rule:user:none" } else { word });
    bench.run(&gate).fails(2, &["no rule `user:none`"]);
}

#[test]
fn a_metric_that_was_not_collected_is_told() {
    let bench = Bench::new();
    bench.write(
        "adoprof-rules/a.toml",
        "[[rule]]\nname = 'links'\nsummary = 's'\nwhen = 'nvlrx__bytes_data_user.sum > 5'\nmessage = 'm'\nhint = 'h'\n",
    );
    let document = bench.run(&["analyze", "ado/v2", "--format", "json"]).json();
    let skipped = document["launches"][0]["skipped"].as_array().unwrap();
    let own = skipped.iter().find(|skipped| skipped["rule"] == "user:links").expect("it is told");
    assert_eq!(own["missing"], serde_json::json!(["nvlrx__bytes_data_user.sum"]));
}

#[test]
fn check_runs_the_tests_of_a_file() {
    let bench = with_rules();
    let ran = bench.run(&["rules", "check"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("2 rules in 1 file: 0 mistakes, 0 of 3 tests failed"), "{}", ran.out);
    let text = std::fs::read_to_string(file("fixtures/rules/team.toml")).unwrap();
    bench.write("wrong.toml", text.replace("fires = false", "fires = true"));
    let ran = bench.run(&["rules", "check", "wrong.toml"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.out.contains("on ado/v6: does not fire, and it should fire; busy.l1 = "),
        "{}",
        ran.out
    );
    bench
        .write("wrong.toml", text.replacen("fires = true", "fires = true\nfactor = [5.0, 6.0]", 1));
    let ran = bench.run(&["rules", "check", "wrong.toml", "--format", "json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert!(
        json["tests"][0]["came_to"].as_str().unwrap().contains("it should promise 5 to 6"),
        "{json}"
    );
    assert_eq!(
        (&json["tests"][0]["passed"], &json["tests"][1]["passed"]),
        (&false.into(), &true.into())
    );
    // A profile beside the file, and one that is not there.
    bench.v2("sub/here");
    bench.write(
        "sub/r.toml",
        text.replacen("ado/v2", "here.raw.csv", 1).replacen("ado/v6", "gone.ncu-rep", 1),
    );
    let ran = bench.run(&["rules", "check", "sub"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.out.contains("on here.raw.csv: fires") && ran.out.contains("no such file"),
        "{}",
        ran.out
    );
}

#[test]
fn mistakes_are_all_told_with_their_lines() {
    let bench = Bench::new();
    let head = "summary = 's'\nmessage = 'm'\nhint = 'h'\n";
    bench.write(
        "bad.toml",
        format!(
            "[[rule]]\nname = 'a'\n{head}when = 'dram__bytes_raed.sum > 1'\n\
             [[rule]]\nname = 'B b'\n{head}when = 'lts__t_sectors.sum'\n\
             [[rule]]\nname = 'c'\n{head}when = 'dram__bytes_read.sum > lts__t_sectors.sum'\n\
             [[rule]]\nname = 'd'\n{head}when = 'busy.dram > 0.5 and busy.dram < 0.4'\n\
             [[rule]]\nname = 'e'\n{head}when = 'busy.dram > 60'\n\
             [rule.what-if]\nremoves = {{ hbm = 1 }}\nhidden = 'dram__bytes_read.sum'\n\
             [[rule]]\nname = 'f'\n{head}when = 'grid.x > 1'\nkernel = '('\n\
             [rule.what-if]\n[[rule]]\nname = 'g'\n{head}when = 'grid.x > 1'\n\
             [rule.what-if]\nidle = -0.5\n"
        ),
    );
    let ran = bench.run(&["rules", "check", "bad.toml"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    for words in [
        "bad.toml:6: `when`: there is no figure `dram__bytes_raed.sum`; did you mean `dram__bytes_read.sum`?",
        "bad.toml:8: `B b` can't be the name of a rule",
        "bad.toml:12: `when`: a number stands where a condition should",
        "bad.toml:18: `when`: units differ beside `>`: byte and sector",
        "bad.toml:24: `when`, at `busy.dram < 0.4`: this can never hold",
        "bad.toml:30: `when`, at `60`: `busy.dram` is a share, from 0 to 1, and is compared with 60; write 0.6",
        "bad.toml:32: `what-if.removes`: the model has no term `hbm`",
        "bad.toml:33: `what-if.hidden`: a share has no unit, and this is in byte",
        "`kernel` is not a regular expression: unclosed group",
        "[rule.what-if] names nothing that would disappear",
        "`what-if.idle`: a share goes from 0 to 1, and this is -0.5",
    ] {
        assert!(ran.out.contains(words), "no `{words}` in\n{}", ran.out);
    }
    // A run stops at the first mistake: what a team relies on is not passed over in silence.
    bench.write("adoprof-rules/bad.toml", std::fs::read(bench.path("bad.toml")).unwrap());
    bench.run(&["analyze", "ado/v2"]).fails(2, &["bad.toml:6:", "did you mean"]);
}

#[test]
fn rules_come_from_the_project_the_user_and_shared_folders() {
    let bench = Bench::new();
    let rule = |name: &str| {
        format!(
            "[[rule]]\nname = '{name}'\nsummary = 's'\nwhen = 'grid.x > 1'\nmessage = 'm'\nhint = 'h'\n"
        )
    };
    bench.write("adoprof-rules/p.toml", rule("of-project"));
    bench.write("home/.config/adoprof/rules/u.toml", rule("of-user"));
    bench.write("team/s.toml", rule("shared"));
    bench.write("env.toml", rule("of-environment"));
    bench.write("adoprof.toml", "rules = [\"team\"]\n");
    let listed = bench.run(&["rules", "list"]);
    for name in ["of-project", "of-user", "shared"] {
        assert!(listed.out.contains(name), "{listed:?}");
    }
    let mut command = bench.command(&["rules", "list", "--format", "json"]);
    let ran = crate::cli::bench::ran(command.env("ADOPROF_RULES", bench.path("env.toml")));
    assert_eq!(ran.json()["files"].as_array().unwrap().len(), 4, "{ran:?}");
    // A project names nothing outside of itself, and nothing that is not there.
    bench.write("adoprof.toml", "rules = [\"/etc\"]\n");
    bench.run(&["rules", "list"]).fails(2, &["adoprof.toml:1:", "outside the project"]);
    bench.write("adoprof.toml", "\nrules = [\"gone\"]\n");
    bench.run(&["analyze", "ado/v2"]).fails(2, &["adoprof.toml:2:", "no file or folder"]);
    bench.write("adoprof.toml", "");
    bench.write("adoprof-rules/twice.toml", rule("of-user"));
    bench.run(&["analyze", "ado/v2"]).fails(2, &["user:of-user", "another file too"]);
    // The bench judges what ships, whatever stands here.
    bench.write("adoprof-rules/twice.toml", "nonsense");
    assert_eq!(bench.run(&["bench", "--help"]).code, Some(0));
    assert_eq!(bench.run(&["ladder", "list"]).code, Some(0));
}

#[test]
fn rules_of_folders_above_hold_too_and_settings_are_no_rules() {
    let bench = Bench::new();
    let rule = |name: &str| {
        format!(
            "[[rule]]\nname = '{name}'\nsummary = 's'\nwhen = 'grid.x > 1'\nmessage = 'm'\nhint = 'h'\n"
        )
    };
    std::fs::create_dir(bench.path(".git")).unwrap();
    bench.write("adoprof-rules/p.toml", rule("of-project"));
    bench.write("part/adoprof-rules/p.toml", rule("of-part"));
    bench.write("part/adoprof.toml", "rules = [\".\"]\n");
    let mut command = bench.command(&["rules", "list"]);
    let listed = crate::cli::bench::ran(command.current_dir(bench.path("part")));
    assert_eq!(listed.code, Some(0), "{listed:?}");
    for name in ["of-project", "of-part"] {
        assert!(listed.out.contains(name), "{listed:?}");
    }
    assert!(!listed.out.contains("adoprof.toml ("), "{listed:?}");
}

#[test]
fn a_rule_that_surely_means_something_else_is_not_tested() {
    let bench = Bench::new();
    let head = "[[rule]]\nsummary = 's'\nmessage = 'm'\nhint = 'h'\n";
    let test = "[[rule.test]]\nprofile = 'ado/v2'\nfires = true\n";
    bench.write(
        "rules.toml",
        format!("{head}name = 'a'\nwhen = 'busy.dram > 60'\n{test}{head}name = 'b'\nwhen = 'grid.x > 1'\n{test}"),
    );
    bench.write("lines.toml", format!("{head}name = 'c'\nwhen = 'grid.x > 1'\nlines = 'LDG'\n"));
    let ran = bench.run(&["rules", "check", "rules.toml", "lines.toml", "gone.toml"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.out.contains("write 0.6") && !ran.out.contains("FAIL"), "{}", ran.out);
    assert!(ran.out.contains("user:b on ado/v2: fires"), "{}", ran.out);
    assert!(ran.out.contains("{ sass = \"LDG\" } or { stall = \"barrier\" }"), "{}", ran.out);
    assert!(ran.out.contains("gone.toml") && ran.out.contains("0 of 1 test failed"), "{}", ran.out);
}

#[test]
fn a_first_rule_is_written_and_passes_its_tests() {
    let bench = Bench::new();
    let new = bench.run(&["rules", "new", "wide-loads"]);
    assert_eq!(new.code, Some(0), "{new:?}");
    let ran = bench.run(&["rules", "check"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("0 of 2 tests failed"), "{}", ran.out);
    bench.run(&["rules", "new", "wide-loads"]).fails(2, &["there already"]);
    bench.run(&["rules", "new", "Wide Loads"]).fails(2, &["can't be the name of a rule"]);
}

#[test]
fn figures_are_listed_with_their_values() {
    let bench = Bench::new();
    let all = bench.run(&["rules", "metrics"]);
    for name in [
        "dram__bytes_read.sum",
        "sass.tensor",
        "stall.barrier",
        "busy.dram",
        "model.latency",
        "sass_share(",
    ] {
        assert!(all.out.contains(name), "{name}");
    }
    let json =
        bench.run(&["rules", "metrics", "grid.x", "--of", "ado/v2", "--format", "json"]).json();
    assert_eq!(
        (&json["figures"][0]["name"], &json["figures"][0]["value"]),
        (&"grid.x".into(), &1024.0.into())
    );
    bench.run(&["rules", "metrics", "--of", "v99"]).fails(2, &["no step `v99`"]);
}

#[test]
fn hostile_files_are_refused_in_a_sentence() {
    let bench = Bench::new();
    let with = |when: &str, message: &str| {
        format!(
            "[[rule]]\nname = 'a'\nsummary = 's'\nhint = 'h'\nwhen = '''{when}'''\nmessage = '''{message}'''\n"
        )
    };
    for (text, words) in [
        (with(&"(".repeat(3900), "m"), "40 deep"),
        (with(&"1+".repeat(1900), "m"), "more than 400 parts"),
        (with(&format!("{}1 < 2", "not ".repeat(800)), "m"), "40 deep"),
        (with("grid.x > 1", &"{1}".repeat(1000)), "more than 20 numbers"),
        (with("grid.x > 1", "m").replace("\'\'\'m\'\'\'", "\"\\u001b[31m\""), "control character"),
        (with("grid.x > 1", &"m".repeat(5000)), "at most 4000 are allowed"),
        (with(&"x".repeat(100_000), "m"), "4000"),
        (with("grid.x > 1", "m") + "kernel = '(a{1000}){1000}'", "too large"),
        ("rule = 3".to_owned(), "a.toml:1:"),
        ("[[rule]]\nnam = 'a'\n".to_owned(), "did you mean `name`?"),
        ("[".repeat(10_000), "a.toml:1:"),
        (with("grid.x > 1", "m").repeat(300), "at most 200 are allowed"),
    ] {
        bench.write("a.toml", &text);
        let ran = bench.run(&["rules", "check", "a.toml"]);
        assert_eq!(ran.code, Some(2), "{words}: {ran:?}");
        assert!(ran.out.contains(words) && ran.err.is_empty(), "{words}: {ran:?}");
        assert!(!ran.out.contains('\u{1b}') && ran.out.len() < 5000, "{words}: {}", ran.out.len());
    }
    bench.write("a.toml", [0xff, 0xfe]);
    for (path, words) in [("a.toml", "UTF-8"), ("/dev/zero", "a pipe or a device")] {
        let ran = bench.run(&["rules", "check", path]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.out.contains(words), "{ran:?}");
    }
}

#[test]
fn a_mistake_is_told_once_and_says_what_to_write() {
    let bench = Bench::new();
    let keys = "name = 'a'\nsummary = 's'\nhint = 'h'\nmessage = 'm'\n";
    let when = |when: &str| format!("[[rule]]\n{keys}when = '{when}'\n");
    let rule = when("grid.x > 1");
    let single = rule.replace("[[rule]]", "[rule]");
    for (text, line, words) in [
        (single.clone(), 1, "write `[[rule]]` instead of `[rule]`"),
        (format!("{single}{single}"), 7, "write `[[rule]]` instead of `[rule]`"),
        (
            format!("{rule}[rule.test]\nprofile = 'ado/v2'\nfires = true\n"),
            7,
            "write `[[rule.test]]` instead of `[rule.test]`",
        ),
        (
            format!("{rule}[[rule.what-if]]\nhidden = 0.5\n"),
            7,
            "write `[rule.what-if]` instead of `[[rule.what-if]]`",
        ),
        (when(&"(".repeat(20_000)), 6, "`when` has 20000 bytes, and at most 4000 are allowed"),
        (
            when(&format!("{}1 < 2{}", "(".repeat(41), ")".repeat(41))),
            6,
            "nested more than 40 deep",
        ),
        (when(" "), 6, "`when` is empty"),
    ] {
        bench.write("a.toml", &text);
        let ran = bench.run(&["rules", "check", "a.toml"]);
        assert_eq!(ran.code, Some(2), "{words}: {ran:?}");
        let told: Vec<&str> = ran.out.lines().filter(|line| line.contains("a.toml:")).collect();
        assert_eq!(told.len(), 1, "{words}: {ran:?}");
        assert!(
            told[0].contains(&format!("a.toml:{line}: ")) && told[0].contains(words),
            "{told:?}"
        );
    }
}
