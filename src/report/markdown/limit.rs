//! A comment has room for so many characters; what is longer is refused as a whole.

use std::io::{self, Write};

/// Characters of a comment on GitHub at most. GitLab takes a million.
const MOST: usize = 65_536;
/// Room for the sentence about what was left out.
const REMARK: usize = 300;

const OPENS: &str = "\n<details>";
const CLOSES: &str = "</details>\n";

/// Writes a text that fits into a comment: folded parts are left out from the last to the first, then lines from
/// the end.
///
/// # Errors
/// Whatever writing to `out` gives.
pub(super) fn write(text: Vec<u8>, out: &mut dyn Write) -> io::Result<()> {
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    out.write_all(fit(text, MOST).as_bytes())
}

fn fit(mut text: String, most: usize) -> String {
    if text.chars().count() <= most {
        return text;
    }
    let room = most.saturating_sub(REMARK);
    let mut folds = 0;
    while text.chars().count() > room {
        let Some(start) = text.rfind(OPENS) else { break };
        let Some(length) = text[start..].find(CLOSES) else { break };
        text.replace_range(start + 1..start + length + CLOSES.len(), "");
        folds += 1;
    }
    let mut lines = 0;
    if text.chars().count() > room {
        let end = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
        let end = text[..end].rfind('\n').map_or(0, |at| at + 1);
        lines = text[end..].lines().count();
        text.truncate(end);
        if text.matches("```").count() % 2 == 1 {
            text.push_str("```\n");
        }
        // What surrounds the cut closes behind it.
        let open =
            text.matches("<details>").count().saturating_sub(text.matches("</details>").count());
        text.push_str(&"\n</details>\n".repeat(open));
    }
    let what = match (folds, lines) {
        (folds, 0) => format!("{folds} folded parts"),
        (0, lines) => format!("the last {lines} lines"),
        (folds, lines) => format!("{folds} folded parts and the last {lines} lines"),
    };
    super::push(
        &mut text,
        &format!(
            "\n_Left out: {what}. A comment has room for {most} characters; `--format json` has everything._\n"
        ),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize) -> String {
        let fold = |title: &str, inner: &str| {
            format!("\n<details><summary>{title}</summary>\n\n{inner}\n</details>\n")
        };
        let row = "| a row of a table with µs in it |\n";
        let inner = fold("inner", &row.repeat(rows));
        format!("### head\n\nThe verdict.\n{}{}", fold("first", row), fold("outer", &inner))
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        assert_eq!(fit(sample(3), 10_000), sample(3));
    }

    #[test]
    fn inner_folds_go_first_and_what_stays_is_whole() {
        let text = fit(sample(100), 2000);
        assert!(text.chars().count() <= 2000);
        assert!(text.contains("The verdict.") && text.contains("first") && text.contains("outer"));
        assert!(!text.contains("inner") && text.contains("Left out: 1 folded parts."), "{text}");
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }

    #[test]
    fn without_folds_lines_go_and_fences_close() {
        let text = fit(format!("### head\n\n```text\n{}```\n", "line µ\n".repeat(1000)), 1000);
        assert!(text.chars().count() <= 1000, "{}", text.chars().count());
        assert_eq!(text.matches("```").count(), 2);
        assert!(text.starts_with("### head\n") && text.contains("Left out: the last "), "{text}");
        let kept = text.lines().filter(|line| *line == "line µ").count();
        // The rest, with the fence that closed.
        assert!(text.contains(&format!("the last {} lines", 1000 - kept + 1)), "{text}");
    }

    #[test]
    fn a_cut_within_a_fold_closes_it() {
        let text = fit(format!("head\n\n<details>\n{}", "line\n".repeat(500)), 800);
        assert!(text.chars().count() <= 800);
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
}
