//! What letters the terminal has, by the locale that the environment names.

use std::env;

/// The variables that name the locale of letters: the first that is set decides, as for C's `setlocale`.
const NAMES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

/// True where pictures have to do with ASCII.
pub(super) fn has_ascii_alone(is_terminal: bool) -> bool {
    is_ascii(
        NAMES.map(|name| env::var_os(name).map(|value| value.to_string_lossy().into_owned())),
        is_terminal,
    )
}

/// The same, by the variables' values. Where none is set, the locale is C's, whose terminals have ASCII; what is piped
/// is read elsewhere, and has the letters that its readers expect.
fn is_ascii(values: [Option<String>; NAMES.len()], is_terminal: bool) -> bool {
    match values.into_iter().flatten().find(|value| !value.is_empty()) {
        Some(locale) => {
            let locale = locale.to_lowercase();
            !locale.contains("utf-8") && !locale.contains("utf8")
        }
        None => is_terminal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let of = |values: [&str; 3], is_terminal| {
            is_ascii(values.map(|value| (value != "-").then(|| value.to_owned())), is_terminal)
        };
        for is_terminal in [true, false] {
            assert!(!of(["-", "-", "en_US.UTF-8"], is_terminal));
            assert!(!of(["-", "UTF-8", "C"], is_terminal), "as macOS has it");
            assert!(!of(["C.utf8", "POSIX", "C"], is_terminal));
            assert!(!of(["", "", "de_DE.utf8"], is_terminal), "an empty one is not set");
            assert!(of(["C", "en_US.UTF-8", "en_US.UTF-8"], is_terminal));
            assert!(of(["-", "-", "C"], is_terminal));
            assert!(of(["-", "de_DE.ISO-8859-1", "de_DE.UTF-8"], is_terminal));
        }
        assert!(of(["-", "-", "-"], true) && !of(["-", "-", "-"], false));
    }
}
