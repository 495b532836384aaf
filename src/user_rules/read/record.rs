//! A rule of the user's as a record of the same kind as the built-in ones.

use sha2::{Digest, Sha256};

use crate::rules::{Kind, Rule, SourcePage};
use crate::user_rules::file::Declared;
use crate::user_rules::rule::{Body, PREFIX, UserRule};
use crate::user_rules::sentence::sentence;

/// The rule's record. It lives as long as the program: findings and reports go by records of that kind, and the few
/// that a run reads stay until its end.
pub(super) fn record(declared: &Declared, explains: Vec<String>, body: Body) -> UserRule {
    let (figures, sass) = body.needs();
    let mut needs: Vec<&'static str> = Vec::new();
    for metric in figures.iter().filter_map(|figure| figure.metric()) {
        if let Some((metric, _)) = crate::metric::canonical(&metric)
            && !needs.contains(&metric.name)
        {
            needs.push(metric.name);
        }
    }
    let section = needs.iter().find_map(|name| {
        let (metric, _) = crate::metric::canonical(name)?;
        (!metric.section.is_empty()).then_some(metric.section)
    });
    let explanation = declared.explanation.as_ref().map_or("", |text| text.get_ref());
    let explanation = format!(
        "{explanation}{}A rule of your own. It fires where {}. Its hint: {}",
        if explanation.is_empty() { "" } else { " " },
        in_a_line(declared.when.get_ref()),
        sentence(&in_a_line(declared.hint.get_ref())),
    );
    let text = format!("{declared:?}");
    let revision = Sha256::digest(text.as_bytes())
        .iter()
        .take(8)
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let explains: Vec<&'static str> = explains.into_iter().map(leaked).collect();
    let rule = Rule {
        name: leaked(format!("{PREFIX}{}", declared.name.get_ref())),
        kind: Kind::Cause,
        summary: leaked(declared.summary.get_ref().trim().to_owned()),
        explanation: leaked(explanation),
        section: section.unwrap_or_default(),
        needs: Vec::leak(needs),
        source_page: if sass { SourcePage::Needed } else { SourcePage::Optional },
        explains: Vec::leak(explains),
        promises: body.what_if.is_some(),
        unrecorded: None,
        ..Rule::DEFAULT
    };
    UserRule { rule: Box::leak(Box::new(rule)), revision, body }
}

fn in_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn leaked(text: String) -> &'static str {
    String::leak(text)
}
