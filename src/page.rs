//! A page with pictures: one self-contained HTML file of launches, a ladder, a diff, or a whole program.
//!
//! The page is a pure function of its [`Subject`]s: documents with the launches behind them. Markup is checked and
//! escaped at compile time; what a profile says (kernels' names, source lines) never becomes more than text, and
//! [`render`] makes it printable. The page loads nothing: style, script and charts are in it, and its content
//! policy lets nothing else run.

mod around;
mod charts;
mod diff;
mod figure;
mod findings;
mod heat;
mod launch;
mod lettering;
mod metrics;
mod palette;
mod places;
mod policy;
mod sass;
mod scale;
mod shell;
mod source;
mod subject;
mod work;

use maud::{Markup, html};

use crate::document::RunDocument;
use crate::history::HistoryDocument;
use crate::ledger::LedgerDocument;
use crate::report::words::steps::rows;
use crate::text::printable;

pub(crate) use figure::Figure;
pub(crate) use palette::Theme;
pub(crate) use subject::Subject;

/// What a page is about.
pub(crate) struct Page<'a> {
    /// The profiles, in the order given.
    pub subjects: &'a [Subject],
    /// What they are compared with.
    pub baseline: Option<&'a Subject>,
    /// The ladder that they are steps of, where there are several.
    pub run: Option<&'a RunDocument>,
    /// What came of earlier hints.
    pub ledger: Option<&'a LedgerDocument>,
}

/// The charts' names, as `--chart` takes them.
pub(crate) const CHARTS: [&str; 10] = [
    "ladder",
    "roofline",
    "resources",
    "stalls",
    "memory",
    "occupancy",
    "schedulers",
    "timeline",
    "groups",
    "calibration",
];

/// The page's text.
pub(crate) fn render(page: &Page<'_>) -> String {
    let markup = shell::document(page, &overview(page));
    shown(&markup.into_string())
}

/// A chart as an SVG file of its own: the first of its name on the page. `None` where the page has none.
pub(crate) fn chart(page: &Page<'_>, name: &str, theme: Option<Theme>) -> Option<String> {
    let of_launches = || {
        launch::all(page)
            .into_iter()
            .flat_map(|one| one.figures(page))
            .find(|chart| chart.name == name)
    };
    let of_ledger =
        || page.ledger.and_then(charts::calibration::figure).filter(|chart| chart.name == name);
    let figure = overview(page)
        .into_iter()
        .find(|chart| chart.name == name)
        .or_else(of_launches)
        .or_else(of_ledger)?;
    Some(shown(&figure.file(&shell::title(page), theme)))
}

/// The chart of a history as an SVG file. `None` where no series has two commits.
pub(crate) fn history(document: &HistoryDocument, theme: Option<Theme>) -> Option<String> {
    Some(shown(&charts::history::figure(document)?.file(&document.quantity, theme)))
}

/// Makes what came from outside printable: no control character, no mark that turns the direction of writing.
/// Our own markup has none of them.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split('\n') {
        if !shown.is_empty() {
            shown.push('\n');
        }
        shown.push_str(&printable(line));
    }
    shown
}

/// The charts of the page as a whole.
fn overview(page: &Page<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    figures.extend(page.run.and_then(charts::ladder::figure));
    if let [subject] = page.subjects {
        figures.extend(charts::program::groups(&subject.document));
        figures.extend(subject.document.program.as_ref().and_then(charts::program::timeline));
    }
    if let Some(run) = page.run {
        let main =
            rows(run).into_iter().filter(|row| !row.branch).map(|row| row.step.name.as_str());
        let steps = subject::steps(page.subjects, &main.collect::<Vec<_>>());
        figures.extend(
            Some(steps)
                .filter(|steps| steps.len() > 1)
                .and_then(|steps| charts::roofline::figure("all", &steps)),
        );
        figures.extend(charts::stalls::figure("all", &subject::walk(page.subjects)));
    }
    figures
}

/// Charts side by side.
fn gallery(figures: &[Figure]) -> Markup {
    html! { div.gallery { @for figure in figures { (figure.html()) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_moves_the_cursor_or_the_direction() {
        assert_eq!(shown("a\u{1b}[31m\nb\u{202e}c\td"), "a\u{fffd}[31m\nb\u{fffd}c d");
        assert_eq!(shown(""), "");
    }
}
