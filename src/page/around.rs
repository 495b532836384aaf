//! What lies around a program's kernels, in words.

use maud::{Markup, html};

use super::findings::evidence_table;
use crate::document::{Program, ProgramFinding};
use crate::report::words::call_site::call_site;
use crate::report::words::number::estimate;

/// The findings of a program as a whole, the page's `at`-th; empty where there is none.
pub(super) fn view(at: usize, program: &Program) -> Markup {
    let id = id(at);
    html! {
        @if !program.findings.is_empty() {
            section.findings id=(id) aria-labelledby=(format!("{id}-h")) {
                h2 id=(format!("{id}-h")) { "Around the kernels" }
                p.lead { "What copies, waits, allocations, and pauses between launches cost the whole program." }
                div.pair { @for finding in &program.findings { (one(&id, finding)) } }
            }
        }
    }
}

/// The section's id: pages of several programs have several.
fn id(at: usize) -> String {
    if at == 0 { "around".to_owned() } else { format!("around-{}", at + 1) }
}

fn one(id: &str, finding: &ProgramFinding) -> Markup {
    let gain = &finding.estimated_speedup;
    html! {
        article.finding id=(format!("{id}-f{}", finding.rank)) data-rule=(finding.rule) data-factor=(gain.factor) {
            h3.title {
                span.mark { (finding.rank) }
                code { (finding.rule) }
                span.gain { (estimate(gain)) }
            }
            p { (finding.message) "." }
            p.hint { (finding.hint) "." }
            @if !finding.sites.is_empty() {
                ul.where { @for site in &finding.sites { li { "called " (call_site(site)) } } }
            }
            @if !finding.evidence.is_empty() {
                details { summary { "Evidence" } (evidence_table(&finding.evidence)) }
            }
        }
    }
}
