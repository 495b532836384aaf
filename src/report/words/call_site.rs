//! Where a program's calls were made, in words.

use super::number::file_and_line;
use crate::document::CallSite;
use crate::kernel_name;
use crate::text::percent;

/// The longest function's name, columns.
const LONGEST_NAME: usize = 60;

/// `at main.cpp:57 in step() (75% of calls)`; without debug information `in step() of app`, and where the file of code
/// names no functions `at app+0x4f20`.
pub(crate) fn call_site(site: &CallSite) -> String {
    let share = format!("{} of {}", percent(site.share), site.share_of);
    format!("{} ({share})", place(site))
}

/// The same without its share.
pub(crate) fn place(site: &CallSite) -> String {
    let function = site
        .function
        .as_deref()
        .map(|name| format!("{}()", kernel_name::short(name, LONGEST_NAME)));
    match (site.line, function) {
        (Some(line), Some(function)) => {
            format!("at {} in {function}", file_and_line(&site.file, line))
        }
        (Some(line), None) => format!("at {}", file_and_line(&site.file, line)),
        (None, Some(function)) => format!("in {function} of {}", site.module),
        (None, None) => format!("at {}+{:#x}", site.module, site.address.unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_place_is_said() {
        let site = CallSite {
            file: "src/main.cpp".to_owned(),
            line: Some(57),
            function: Some("void app::step<float>(int, float*)".to_owned()),
            module: "app".to_owned(),
            share: 0.75,
            share_of: "calls".to_owned(),
            ..CallSite::default()
        };
        assert_eq!(call_site(&site), "at src/main.cpp:57 in step<float>() (75% of calls)");
        let no_line = CallSite { line: None, ..site.clone() };
        assert_eq!(call_site(&no_line), "in step<float>() of app (75% of calls)");
        let nothing = CallSite { function: None, address: Some(0x4f20), ..no_line };
        assert_eq!(place(&nothing), "at app+0x4f20");
        assert_eq!(place(&CallSite { function: None, ..site }), "at src/main.cpp:57");
    }

    #[test]
    fn hostile_names_stay_on_their_line() {
        let site = CallSite {
            function: Some("x\u{1b}[31m\n::error::y".to_owned()),
            module: "app".to_owned(),
            ..CallSite::default()
        };
        let said = place(&site);
        assert!(!said.contains(['\u{1b}', '\n']), "{said:?}");
    }
}
