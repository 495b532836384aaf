//! A first manifest for kernels or a program that are there already: what can be read is filled in, and what
//! can't is guessed and marked, for the user to complete.

mod kernels;
mod lines;
mod program;
mod reads;
mod signature;
mod source;

pub(crate) use kernels::manifest as of_kernels;
pub(crate) use program::{Seen, SeenKernel, manifest as of_program, of_source};
pub(crate) use source::Source;

/// What stands behind every guess.
const GUESS: &str = "GUESS";

/// How many lines of a manifest are guesses still; those that are comments don't count.
pub(crate) fn guesses(manifest: &str) -> usize {
    let mark = format!("# {GUESS}");
    let lines = manifest.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.filter(|line| line.contains(&mark)).count()
}

/// A name that a ladder or a step may have: letters, digits, `-` and `_`.
pub(crate) fn name_of(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name: String = text.chars().map(|c| if allowed(c) { c } else { '-' }).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "mine".to_owned() } else { name.to_owned() }
}

/// A string as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_are_counted_by_line() {
        let text = "# what is marked GUESS\nname = \"a\"\ntitle = \"b\"  # GUESS\nbytes = \"8\" # GUESS: bytes\n\
                    # flops = \"1\"  # GUESS\n";
        assert_eq!((guesses(text), guesses("")), (2, 0));
    }

    #[test]
    fn names_are_made_fit() {
        for (text, name) in
            [("scale", "scale"), ("my ladder", "my-ladder"), ("..", "mine"), ("-x_1.cu", "x_1-cu")]
        {
            assert_eq!(name_of(text), name);
        }
    }
}
