//! The checks as lines.

use super::CheckResult;
use crate::text::layout::wrap;

/// The checks as aligned lines within the width, each remedy below its check; those that are minor only
/// where `all` are asked for.
#[must_use]
pub(crate) fn render(checks: &[CheckResult], width: usize, all: bool) -> String {
    let checks: Vec<&CheckResult> = checks.iter().filter(|check| all || !check.is_minor).collect();
    let names = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    let indent = 9 + names + 2;
    let mut text = String::new();
    let mut write = |lead: String, words: &str| {
        let columns = lead.chars().count();
        let mut lead = lead;
        for line in wrap(words, width.saturating_sub(columns)) {
            text.push_str(format!("{lead}{line}").trim_end());
            text.push('\n');
            lead = " ".repeat(columns);
        }
    };
    for check in checks {
        write(format!("{:<8} {:<names$}  ", check.status.word(), check.name), &check.found);
        if let Some(remedy) = &check.remedy {
            write(format!("{:indent$}-> ", ""), remedy);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    #[test]
    fn the_table_lines_up() {
        let checks = [
            CheckResult::ok("driver", "580.159, CUDA 13.0"),
            CheckResult::minor("the lock of ncu", "free"),
            CheckResult::not_ok("ncu", Status::Missing, "none\u{1b}[31m", "install it"),
        ];
        assert_eq!(
            render(&checks, 80, false),
            "ok       driver  580.159, CUDA 13.0\n\
             missing  ncu     none\u{fffd}[31m\n                 -> install it\n"
        );
    }

    #[test]
    fn what_is_well_and_minor_is_shown_to_who_asks() {
        let checks = [CheckResult::ok("ncu", "2025.3.1"), CheckResult::minor("mig", "off")];
        assert_eq!(render(&checks, 80, false), "ok       ncu  2025.3.1\n");
        assert_eq!(render(&checks, 80, true), "ok       ncu  2025.3.1\nok       mig  off\n");
    }

    #[test]
    fn long_remedies_go_on_below_their_beginning() {
        let checks = [CheckResult::not_ok("ncu", Status::Missing, "none", "install it or name it")];
        assert_eq!(
            render(&checks, 30, false),
            "missing  ncu  none\n              -> install it or\n                 name it\n"
        );
    }
}
