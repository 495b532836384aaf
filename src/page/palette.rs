//! The colours of a chart's styles for readers of SVG that know no CSS variables (librsvg, Inkscape, office programs):
//! they skip a declaration that they can't read and keep the one before it.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The colours of a single chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

/// A variable's value, as the light theme sets it first: `--ink: #1c2126;`.
static VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"--(\w+): ([^;]+);").ok());
/// A declaration by a variable alone: `fill: var(--ink);`.
static USE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"([a-z-]+): var\(--(\w+)\);").ok());

/// The styles with the light theme's colour before each declaration that names a variable.
pub(super) fn spelled_out(styles: &str) -> String {
    let (Some(value), Some(of_use)) = (&*VALUE, &*USE) else { return styles.to_owned() };
    let mut values: HashMap<&str, &str> = HashMap::new();
    for found in value.captures_iter(styles) {
        let (_, [name, value]) = found.extract();
        values.entry(name).or_insert(value);
    }
    let both = |found: &Captures| match values.get(&found[2]) {
        Some(value) => format!("{}: {value}; {}", &found[1], &found[0]),
        None => found[0].to_owned(),
    };
    of_use.replace_all(styles, both).into_owned()
}

/// The styles in one theme's colours, without variables and what sets them.
pub(super) fn fixed(styles: &str, theme: Theme) -> String {
    let Some(value) = &*VALUE else { return styles.to_owned() };
    // The light theme's values come first, those of the dark one last.
    let mut values: HashMap<&str, &str> = HashMap::new();
    for found in value.captures_iter(styles) {
        let (_, [name, value]) = found.extract();
        match theme {
            Theme::Light => values.entry(name).or_insert(value),
            Theme::Dark => values.entry(name).insert_entry(value).into_mut(),
        };
    }
    let rules = styles.find("\nsvg").map_or(styles, |at| &styles[at + 1..]);
    let mut fixed = rules.to_owned();
    for (name, value) in values {
        fixed = fixed.replace(&format!("var(--{name})"), value);
    }
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_light_colour_stands_before_each_variable() {
        let styles = ":root { --ink: #111; --line: #ddd; }\n@media dark { :root { --ink: #eee; } }\n\
                      text { fill: var(--ink); } .b { stroke: var(--line); fill: var(--none); }";
        let rules = spelled_out(styles);
        let (_, rules) = rules.rsplit_once('\n').unwrap();
        assert_eq!(
            rules,
            "text { fill: #111; fill: var(--ink); } .b { stroke: #ddd; stroke: var(--line); fill: var(--none); }"
        );
    }

    #[test]
    fn a_fixed_theme_needs_no_variables() {
        let styles = ":root { --ink: #111; }\n@media dark { :root { --ink: #eee; } }\nsvg text { fill: var(--ink); }\n";
        assert_eq!(fixed(styles, Theme::Light), "svg text { fill: #111; }\n");
        assert_eq!(fixed(styles, Theme::Dark), "svg text { fill: #eee; }\n");
        for theme in [Theme::Light, Theme::Dark] {
            let ours = fixed(crate::page::figure::STYLE, theme);
            assert!(!ours.contains("var(") && !ours.contains("--"), "{ours}");
            assert!(ours.starts_with("svg {"), "{ours}");
        }
    }

    #[test]
    fn no_chart_needs_a_variable() {
        let styles = spelled_out(crate::page::figure::STYLE);
        let rules = styles.lines().filter(|line| line.starts_with("svg"));
        let by_variable: Vec<&str> = rules.flat_map(|line| line.split(['{', ';'])).collect();
        let mut seen = 0;
        for (at, part) in by_variable.iter().enumerate().filter(|(_, part)| part.contains("var(")) {
            let (property, _) = part.split_once(':').unwrap();
            let before = by_variable[at - 1];
            assert!(before.starts_with(property) && before.contains('#'), "{part}: {before}");
            seen += 1;
        }
        assert!(seen > 20, "the styles name their colours by variables");
    }
}
