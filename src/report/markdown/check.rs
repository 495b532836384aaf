//! A check as Markdown.

use std::io::{self, Write};

use super::{diff_body, paragraph, push};
use crate::gate::CheckDocument;
use crate::report::markdown::tables::{code, escape};
use crate::report::words::check::{gate, headline, remedy, times};
use crate::report::words::diff::headline as diff_headline;
use crate::report::words::number::place;

/// Writes the check: the verdict in the open, what changed folded away unless something failed.
pub(super) fn check(check: &CheckDocument, out: &mut dyn Write) -> io::Result<()> {
    let mut text = format!("### adoprof: {}\n\n", escape(&headline(check)));
    for one in &check.unlike {
        let sides = format!("{} against {}", escape(&one.base), escape(&one.new));
        push(&mut text, &format!("- **unlike**: {}: {sides}\n", escape(&one.what)));
    }
    for (label, sentence) in times(check) {
        push(&mut text, &format!("- **{label}**: {}\n", escape(&sentence)));
    }
    for one in &check.gates {
        push(&mut text, &format!("- **gate** {}\n", escape(&gate(one))));
    }
    for one in &check.places {
        let at = code(&place(&one.place));
        push(
            &mut text,
            &format!("- **new finding** {} at {at}: {}\n", escape(&one.rule), escape(&one.message)),
        );
    }
    push(&mut text, "\n");
    if let Some(remedy) = remedy(check) {
        paragraph(&mut text, remedy);
    }
    if let Some(diff) = &check.cause {
        let open = if check.passed { "" } else { " open" };
        push(
            &mut text,
            &format!("<details{open}><summary>{}</summary>\n\n", super::html(&diff_headline(diff))),
        );
        diff_body(&mut text, diff);
        push(&mut text, "</details>\n");
    }
    if !check.notices.is_empty() {
        push(&mut text, "\n<details><summary>notices</summary>\n\n");
        for notice in &check.notices {
            push(&mut text, &format!("- {}\n", escape(notice)));
        }
        push(&mut text, "\n</details>\n");
    }
    out.write_all(text.as_bytes())
}
