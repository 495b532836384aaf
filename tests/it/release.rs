//! What `scripts/release` refuses before it changes anything.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs a program in a folder; whether it succeeded, and what it said.
fn run(folder: &Path, program: &str, words: &[&str]) -> (bool, String) {
    let output = Command::new(program)
        .args(words)
        .current_dir(folder)
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "t")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "t@localhost")))
        .output()
        .unwrap();
    (
        output.status.success(),
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
    )
}

/// A project with a manifest and a changelog, in which nothing is left to commit.
fn project(manifest: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("scripts")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/release");
    fs::copy(script, folder.path().join("scripts/release")).unwrap();
    write("Cargo.toml", &format!("[package]\nname = \"adoprof\"\nversion = \"0.1.0\"\n{manifest}"));
    write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- Something is new.\n");
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "all"]] {
        let (is_done, said) = run(folder.path(), "git", words);
        assert!(is_done, "{said}");
    }
    folder
}

#[test]
fn a_release_needs_the_repositorys_address() {
    const URL: &str = "https://example.org/people/adoprof";
    let unnamed = project("");
    let named = project(&format!("repository = \"{URL}\"\n"));
    let release = |project: &tempfile::TempDir, words: &[&str]| {
        run(project.path(), "scripts/release", &[&["0.2.0", "--dry-run"], words].concat())
    };
    for (project, words, expected) in [
        (&unnamed, &[][..], Err("Cargo.toml names no repository")),
        (&unnamed, &["--repository", URL], Ok(())),
        (
            &unnamed,
            &["--repository", "example"],
            Err("is no address such as https://HOST/OWNER/NAME"),
        ),
        (&unnamed, &["--repository"], Err("usage: release")),
        (&named, &[], Ok(())),
        (&named, &["--repository", URL], Ok(())),
        (
            &named,
            &["--repository", "https://example.org/else"],
            Err("change it there if it has moved"),
        ),
        (&named, &["--quick"], Err("unknown option --quick")),
    ] {
        let (is_done, said) = release(project, words);
        match expected {
            Ok(()) => assert!(is_done && said.contains("0.1.0 -> 0.2.0"), "{words:?}: {said}"),
            Err(why) => assert!(!is_done && said.contains(why), "{words:?}: {said}"),
        }
    }
}
