//! What ncu's own rules said.

use super::messages::{RuleResult, text};
use super::wire::decode;
use crate::export::{NcuRuleKind, NcuRuleRow};

/// The rows of one rule result, one per message; none where the rule did not fire, or where it
/// can't be decoded.
#[must_use]
pub(super) fn rows(encoded: &[u8], launch: u32) -> Vec<NcuRuleRow> {
    let rule: RuleResult = decode(encoded, &[&[3, 1]], 128).unwrap_or_default();
    let items = rule.body.unwrap_or_default().items;
    items
        .into_iter()
        .filter_map(|item| {
            let message = item.message?;
            let speedup = item.speedup.filter(|speedup| speedup.percent.is_finite());
            Some(NcuRuleRow {
                launch,
                section: text(&rule.section),
                rule: text(&rule.identifier),
                kind: kind(message.kind),
                message: plain_text(&text(&message.text)),
                estimate_percent: speedup.as_ref().map(|speedup| speedup.percent),
                global: speedup.is_some_and(|speedup| speedup.scope == 2),
            })
        })
        .collect()
}

/// The file's numbers; ncu's Python interface counts otherwise.
fn kind(code: u64) -> NcuRuleKind {
    match code {
        2 => NcuRuleKind::Warning,
        3 => NcuRuleKind::Error,
        4 => NcuRuleKind::Optimization,
        _ => NcuRuleKind::Info,
    }
}

/// The message with ncu's links written out: `@section:Id:Label@` becomes the label,
/// `@url:Label:URL@` the label with the address in parentheses, any other `@word:…:Label@` its
/// last part.
#[must_use]
fn plain_text(message: &str) -> String {
    let mut plain = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find('@') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let link = rest.find('@').and_then(|end| Some((link(&rest[..end])?, end)));
        if let Some((label, end)) = link {
            plain.push_str(&label);
            rest = &rest[end + 1..];
        } else {
            plain.push('@');
        }
    }
    plain.push_str(rest);
    plain
}

/// What stands for the text between two `@`; `None` where that is no link.
fn link(inner: &str) -> Option<String> {
    let (word, target) = inner.split_once(':')?;
    if word == "url" {
        let (label, url) = target.split_once(':')?;
        return Some(format!("{label} ({url})"));
    }
    let known = matches!(word, "section" | "source" | "metric" | "sass");
    known.then(|| target.rsplit_once(':').map_or(target, |(_, label)| label).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_words() {
        assert_eq!(
            plain_text("See @section:A:The A@ and @url:B:https://b/#c@."),
            "See The A and B (https://b/#c)."
        );
        assert_eq!(plain_text("at @source:k.cu:17:k.cu, line 18@"), "at k.cu, line 18");
    }

    #[test]
    fn other_at_signs_stay() {
        assert_eq!(plain_text("@P0 EXIT @ 3"), "@P0 EXIT @ 3");
        assert_eq!(plain_text("a@b @section:X:Y@"), "a@b Y");
        assert_eq!(plain_text("cut @section:X"), "cut @section:X");
    }
}
