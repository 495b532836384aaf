//! Imports point one way: down the list in `src/lib.rs`, and in no circle between the files and
//! folders of a folder. Tests may look anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

static USES: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\buse\s+([^;]+);").unwrap());
static INLINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:crate|super|self)(?:::\w+)+").unwrap());

/// Where a module stands: `["export", "csv", "raw"]`.
type Place = Vec<String>;

/// The places of all modules that are not tests, each with the places that it names.
fn imports() -> BTreeMap<Place, BTreeSet<Place>> {
    let mut files = Vec::new();
    collect(&root(), &mut files);
    let modules: BTreeMap<Place, String> = files
        .into_iter()
        .map(|file| {
            let text = std::fs::read_to_string(&file).unwrap();
            let place = file.strip_prefix(root()).unwrap().with_extension("");
            let place = place.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            (place, without_tests(&text))
        })
        .filter(|(place, _): &(Place, _)| *place != ["lib"] && *place != ["main"])
        .collect();
    let tests = test_modules(&modules);
    let is_test = |place: &Place| tests.iter().any(|test| place.starts_with(test));
    modules
        .iter()
        .filter(|(place, _)| !is_test(place))
        .map(|(place, text)| {
            let named = paths(text)
                .iter()
                .filter_map(|path| resolve(path, place, |place| modules.contains_key(place)))
                .filter(|other| other != place && !is_test(other))
                .collect();
            (place.clone(), named)
        })
        .collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// A file's code without comments and without the items that only tests have.
fn without_tests(text: &str) -> String {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let mut lines = text.lines().filter(is_code);
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        if !line.trim_start().starts_with("#[cfg(test)]") && !line.contains("#[cfg(all(test,") {
            kept.extend([line, "\n"]);
            continue;
        }
        // The item ends with a semicolon, or where its braces do.
        let (mut depth, mut opened) = (0, false);
        for line in lines.by_ref() {
            opened |= line.contains('{');
            depth +=
                line.matches('{').count().cast_signed() - line.matches('}').count().cast_signed();
            if depth <= 0 && (opened || line.ends_with(';')) {
                break;
            }
        }
    }
    kept
}

/// The modules that no code declares but tests' code: `mod tests;` after `#[cfg(test)]`.
fn test_modules(modules: &BTreeMap<Place, String>) -> Vec<Place> {
    let is_declared = |place: &Place| {
        let (name, parent) = place.split_last().unwrap();
        let declaration = format!("mod {name};");
        let declares = |text: &String| text.lines().any(|line| line.ends_with(&declaration));
        parent.is_empty() || modules.get(parent).is_some_and(declares)
    };
    modules.keys().filter(|place| !is_declared(place)).cloned().collect()
}

/// Every path in the code that starts at the crate, at a parent or at the module itself.
fn paths(text: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for tree in USES.captures_iter(text) {
        expand(&tree[1].replace(char::is_whitespace, ""), &mut paths);
    }
    let rest = USES.replace_all(text, "");
    paths.extend(INLINE.find_iter(&rest).map(|path| path.as_str().to_owned()));
    paths
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn expand(tree: &str, paths: &mut Vec<String>) {
    let Some((stem, inner)) = tree.split_once('{') else {
        paths.push(tree.to_owned());
        return;
    };
    let inner = inner.strip_suffix('}').unwrap_or(inner);
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in inner.char_indices().chain([(inner.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&format!("{stem}{}", &inner[start..at]), paths);
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// The module that a path from `place` leads into.
fn resolve(path: &str, place: &Place, exists: impl Fn(&Place) -> bool) -> Option<Place> {
    let mut at = place.clone();
    let mut words = path.split("::").peekable();
    match words.next()? {
        "crate" => at.clear(),
        "super" => {
            at.pop();
            while words.next_if_eq(&"super").is_some() {
                at.pop();
            }
        }
        "self" => {}
        child => {
            at.push(child.to_owned());
            if !exists(&at) {
                return None;
            }
        }
    }
    for word in words {
        at.push(word.to_owned());
        if !exists(&at) {
            at.pop();
            break;
        }
    }
    exists(&at).then_some(at)
}

/// The order that `src/lib.rs` tells, from top to bottom.
fn order() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("lib.rs")).unwrap();
    let row = Regex::new(r"(?m)^//! - `(\w+)`:").unwrap();
    row.captures_iter(&text).map(|row| row[1].to_owned()).collect()
}

#[test]
fn every_module_imports_only_from_lower_ones() {
    let order = order();
    let rank = |name: &String| {
        let at = order.iter().position(|known| known == name);
        at.unwrap_or_else(|| panic!("the list in src/lib.rs lacks `{name}`"))
    };
    let imports = imports();
    let tops: BTreeSet<&String> = imports.keys().map(|place| &place[0]).collect();
    assert_eq!(order.len(), tops.len(), "the list in src/lib.rs names each module once");
    let mut arrows = 0;
    for (place, others) in &imports {
        for other in others.iter().filter(|other| other[0] != place[0]) {
            arrows += 1;
            let (from, to) = (rank(&place[0]), rank(&other[0]));
            assert!(from < to, "{} imports upwards, from {}", place.join("::"), other.join("::"));
        }
    }
    assert!(arrows > 500, "only {arrows} imports were found");
}

#[test]
fn no_circle_in_any_folder() {
    let mut folders: BTreeMap<&[String], BTreeMap<&String, BTreeSet<&String>>> = BTreeMap::new();
    let imports = imports();
    for (place, others) in &imports {
        for other in others {
            let shared = place.iter().zip(other).take_while(|(one, two)| one == two).count();
            if let (Some(from), Some(to)) = (place.get(shared), other.get(shared)) {
                let folder = folders.entry(&place[..shared]).or_default();
                folder.entry(from).or_default().insert(to);
            }
        }
    }
    assert!(folders.len() > 20, "only {} folders were found", folders.len());
    for (folder, arrows) in &folders {
        // What imports nothing that is left can go, and so can what nothing left imports; what never
        // can is a circle.
        let mut left = arrows.clone();
        let is_free = |left: &BTreeMap<&String, BTreeSet<&String>>, at: &String| {
            !left[at].iter().any(|to| left.contains_key(to))
                || !left.values().any(|to| to.contains(at))
        };
        while let Some(free) = left.keys().copied().find(|at| is_free(&left, at)) {
            left.remove(free);
        }
        let name = folder.join("/");
        assert!(left.is_empty(), "in src/{name} these import each other in a circle: {left:?}");
    }
}

#[test]
fn paths_are_read_as_the_compiler_reads_them() {
    let text = without_tests(
        "use super::{a, b::{c, d}};\n// use crate::comment;\nlet x = crate::e::F;\n\
         #[cfg(test)]\nmod tests {\n    use crate::tests_only;\n}\nfn g() { self::h() }\n",
    );
    assert_eq!(paths(&text), ["super::a", "super::b::c", "super::b::d", "crate::e::F", "self::h"]);
    let modules: [Place; 3] =
        [vec!["x".into()], vec!["x".into(), "y".into()], vec!["x".into(), "z".into()]];
    let resolved = |path: &str| resolve(path, &modules[1], |place| modules.contains(place));
    assert_eq!(resolved("super::z::Item").as_ref(), Some(&modules[2]));
    assert_eq!(resolved("super::Item").as_ref(), Some(&modules[0]));
    assert_eq!(resolved("crate::x::z").as_ref(), Some(&modules[2]));
    assert_eq!(resolved("std::fmt"), None);
}

/// A number with a name that decides stands in a threshold, and one without a name decides nothing.
#[test]
fn every_number_that_decides_has_a_source() {
    let constant = Regex::new(r"const ([A-Z0-9_]+): (?:f64|usize) = [^;]*;").unwrap();
    let bare = Regex::new(r"(?:[<>]=? |[<>]=? [a-z_]+ \* )(\d+\.\d+)").unwrap();
    let folders = ["rules", "evidence", "model", "diagnose", "sass/questions", "sass/flow"];
    let mut files = vec![root().join("model.rs"), root().join("diagnose.rs")];
    for folder in folders {
        collect(&root().join(folder), &mut files);
    }
    let of_tests = ["worked", "constructed", "testing", "tests", "reads"];
    files.retain(|file| !of_tests.iter().any(|name| file.file_stem().unwrap() == *name));
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|file| (file.clone(), without_tests(&std::fs::read_to_string(file).unwrap())))
        .collect();
    let all: String = texts.iter().map(|(_, text)| text.as_str()).collect();
    for (file, text) in &texts {
        for found in constant.captures_iter(text) {
            let name = &found[1];
            // What a count of rows in a text is limited to decides no finding.
            let is_shown = ["value: ", "value: 100.0 * "]
                .iter()
                .any(|value| all.contains(&format!("{value}{name}")));
            let is_derived = found[0].contains("NOISE");
            assert!(is_shown || is_derived || name == "MOST_NAMED", "{}: {name}", file.display());
        }
        // Differences are compared for how they are printed.
        let is_printed = |at: usize| text[..at].ends_with(".abs() ");
        let bare =
            bare.captures_iter(text).filter(|found| !is_printed(found.get(0).unwrap().start()));
        for found in bare {
            let is_extreme = ["0.0", "1.0", "2.0", "100.0"].contains(&&found[1]);
            assert!(is_extreme, "{}: {}", file.display(), &found[0]);
        }
    }
}
