//! A chart with what belongs to it: title, words for who can't see it, and its numbers as a table.
//!
//! Charts are laid out in percent of their width and pixels of their height, so that text keeps its size on
//! any screen. Nothing in them carries a style attribute, which the page's content policy would refuse.

use maud::{Markup, PreEscaped, html};

use super::lettering::{TITLE, within};
use super::palette::{Theme, fixed, spelled_out};

/// The styles of charts, in the page and in single files alike.
pub(super) const STYLE: &str = include_str!("chart.css");
/// Width of a chart's file, pixels; the paper around the chart; and the line that says what it shows.
const WIDTH: u32 = 720;
const MARGIN: u32 = 16;
const HEADING: u32 = 34;
/// Width of a chart in its file, pixels.
pub(super) const ROOM: f64 = (WIDTH - 2 * MARGIN) as f64;

/// A chart.
pub(crate) struct Figure {
    /// What `--chart` calls it.
    pub name: &'static str,
    /// Tells it from its like on one page.
    pub id: String,
    /// The heading.
    pub title: String,
    /// What it shows, in a sentence or two: for everybody under the title, and for screen readers.
    pub said: String,
    /// Pixels.
    pub height: u32,
    /// What is drawn.
    pub drawn: Markup,
    /// The same numbers as a table.
    pub table: Table,
}

/// Numbers as rows of text; the first column names the row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// The columns' names.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub(super) fn new<const N: usize>(head: [&str; N]) -> Self {
        Self { head: head.map(str::to_owned).into(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    fn html(&self) -> Markup {
        html! {
            div.scroll tabindex="0" role="region" aria-label="Numbers of the chart" {
                table {
                    thead { tr { @for cell in &self.head { th scope="col" { (cell) } } } }
                    tbody {
                        @for row in &self.rows {
                            tr {
                                @for (at, cell) in row.iter().enumerate() {
                                    @if at == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

impl Figure {
    /// As a part of a page.
    pub(super) fn html(&self) -> Markup {
        html! {
            figure.chart id=(self.id) data-chart=(self.name) {
                figcaption { h3 { (self.title) } p { (self.said) } }
                (self.svg("100%", self.height, &self.title, &self.drawn))
                details { summary { "Numbers" } (self.table.html()) }
            }
        }
    }

    /// As a file of its own that says of what it is, in a theme's colours; without one they follow the reader's setting.
    pub(super) fn file(&self, of: &str, theme: Option<Theme>) -> String {
        let styles = theme.map_or_else(|| spelled_out(STYLE), |theme| fixed(STYLE, theme));
        let heading = format!("{}: {of}", self.title);
        let top = MARGIN + HEADING;
        let drawn = html! {
            style { (PreEscaped(styles)) }
            rect class="paper" width="100%" height="100%" {}
            text class="title" x=(MARGIN) y=(MARGIN + 14) { (within(&heading, ROOM, TITLE)) }
            svg x=(MARGIN) y=(top) width=(WIDTH - 2 * MARGIN) height=(self.height) { (self.drawn) }
        };
        let height = top + self.height + MARGIN;
        let svg = self.svg(&WIDTH.to_string(), height, &heading, &drawn).into_string();
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{svg}\n")
    }

    fn svg(&self, width: &str, height: u32, heading: &str, drawn: &Markup) -> Markup {
        let (title, said) = (format!("{}-t", self.id), format!("{}-d", self.id));
        html! {
            svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby={(title) " " (said)}
                width=(width) height=(height) {
                title id=(title) { (heading) }
                desc id=(said) { (self.said) }
                (drawn)
            }
        }
    }
}

/// A share of the width.
pub(super) fn pct(share: f64) -> String {
    format!("{}%", round(100.0 * share, 2))
}

/// A number with so many decimals at most, without zeros at its end.
pub(super) fn round(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A pixel position.
pub(super) fn px(value: f64) -> String {
    round(value, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_can_be() {
        assert_eq!(pct(0.5), "50%");
        assert_eq!(pct(1.0 / 3.0), "33.33%");
        assert_eq!(px(10.04), "10");
        assert_eq!(px(-0.01), "0");
        assert_eq!(round(100.0, 0), "100");
    }
}
