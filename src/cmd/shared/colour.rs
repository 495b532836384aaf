//! Whether texts are coloured, clap's too: `--color` decides, else the environment, else `adoprof.toml`, else the
//! terminal.

use std::ffi::{OsStr, OsString};

use anstream::ColorChoice;

use crate::settings::Settings;

/// The name of the setting.
pub(crate) const KEY: &str = "color";

/// Lets `--color` decide, else `FORCE_COLOR` unless `NO_COLOR` forbids colours: the other variables are looked at
/// where streams are written.
pub fn honour_colour(words: impl IntoIterator<Item = OsString>) {
    decide(asked(words), of_environment().map(|(_, choice)| choice), None);
}

/// The same with what `adoprof.toml` says, once that is read.
pub fn honour_colour_setting(settings: &Settings, words: impl IntoIterator<Item = OsString>) {
    let word = settings.get(KEY).and_then(|value| value.words.first());
    let setting = word.and_then(|word| choice(word));
    decide(asked(words), of_environment().map(|(_, choice)| choice), setting);
}

/// What the environment says of colours, and the variable that says it.
#[must_use]
pub(crate) fn of_environment() -> Option<(&'static str, ColorChoice)> {
    let says = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if says("NO_COLOR").is_some() {
        return Some(("NO_COLOR", ColorChoice::Never));
    }
    if let Some(choice) = says("FORCE_COLOR").and_then(|value| forced(&value)) {
        return Some(("FORCE_COLOR", choice));
    }
    if says("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return Some(("CLICOLOR_FORCE", ColorChoice::Always));
    }
    says("CLICOLOR").is_some_and(|value| value == "0").then_some(("CLICOLOR", ColorChoice::Never))
}

/// The word of `--color` for a choice.
#[must_use]
pub(crate) fn word(choice: ColorChoice) -> &'static str {
    match choice {
        ColorChoice::Always | ColorChoice::AlwaysAnsi => "always",
        ColorChoice::Never => "never",
        ColorChoice::Auto => "auto",
    }
}

/// Lets the first of these that says anything decide; `auto` leaves it to the environment and the terminal.
fn decide(
    option: Option<ColorChoice>,
    environment: Option<ColorChoice>,
    setting: Option<ColorChoice>,
) {
    if let Some(choice) = first(option, environment, setting) {
        choice.write_global();
    }
}

fn first(
    option: Option<ColorChoice>,
    environment: Option<ColorChoice>,
    setting: Option<ColorChoice>,
) -> Option<ColorChoice> {
    match option {
        Some(ColorChoice::Auto) => environment,
        Some(choice) => Some(choice),
        None => environment.or(setting),
    }
}

/// What `--color` says on a command line, before that is read as a whole: mistakes in it are coloured too.
fn asked(words: impl IntoIterator<Item = OsString>) -> Option<ColorChoice> {
    let mut words = words.into_iter().take_while(|word| word != "--");
    while let Some(word) = words.next() {
        let Some(word) = word.to_str() else { continue };
        match word.split_once('=') {
            Some(("--color", value)) => return choice(value),
            None if word == "--color" => return choice(words.next()?.to_str()?),
            _ => {}
        }
    }
    None
}

fn choice(word: &str) -> Option<ColorChoice> {
    match word {
        "always" => Some(ColorChoice::Always),
        "never" => Some(ColorChoice::Never),
        "auto" => Some(ColorChoice::Auto),
        _ => None,
    }
}

/// What a value of `FORCE_COLOR` asks for; an empty one asks for nothing.
fn forced(value: &OsStr) -> Option<ColorChoice> {
    match value.to_str() {
        Some("") => None,
        Some("0" | "false") => Some(ColorChoice::Never),
        _ => Some(ColorChoice::Always),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn force_color_says_yes_no_or_nothing() {
        for (value, choice) in [
            ("1", Some(ColorChoice::Always)),
            ("true", Some(ColorChoice::Always)),
            ("0", Some(ColorChoice::Never)),
            ("", None),
        ] {
            assert_eq!(forced(OsStr::new(value)), choice, "{value:?}");
        }
    }

    #[test]
    fn the_option_is_found_wherever_it_stands() {
        let of = |line: &str| asked(line.split(' ').map(OsString::from));
        assert_eq!(of("adoprof --color=never step"), Some(ColorChoice::Never));
        assert_eq!(of("adoprof step --color always"), Some(ColorChoice::Always));
        assert_eq!(of("adoprof step --color auto"), Some(ColorChoice::Auto));
        for other in
            ["adoprof step", "adoprof step --color pink", "adoprof profile -- x --color always"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn the_option_holds_before_the_environment_and_that_before_the_file() {
        use ColorChoice::{Always, Auto, Never};
        for (option, environment, setting, choice) in [
            (Some(Never), Some(Always), Some(Always), Some(Never)),
            (None, Some(Always), Some(Never), Some(Always)),
            (None, None, Some(Never), Some(Never)),
            // Asked for on the command line, the terminal decides whatever the file says.
            (Some(Auto), None, Some(Always), None),
            (Some(Auto), Some(Never), Some(Always), Some(Never)),
            (None, None, None, None),
        ] {
            assert_eq!(first(option, environment, setting), choice);
        }
    }
}
