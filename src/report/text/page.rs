//! A page of text under construction: paragraphs, labels, colours.

use std::io::{self, Write};

use anstyle::AnsiColor;

use crate::report::style::Style;
use crate::report::text::table::Table;
use crate::text::ascii;
use crate::text::layout::{columns, pad, wrap};
use crate::text::printable;

/// How a piece of text is emphasised; without colour it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Headlines and rule names.
    Bold,
    /// What is secondary.
    Dim,
    /// Better.
    Green,
    /// Worse.
    Red,
    /// To be read before the rest.
    Yellow,
}

impl Ink {
    fn style(self) -> anstyle::Style {
        let colour = |colour: AnsiColor| colour.on_default();
        match self {
            Self::Bold => anstyle::Style::new().bold(),
            Self::Dim => anstyle::Style::new().dimmed(),
            Self::Red => colour(AnsiColor::Red),
            Self::Green => colour(AnsiColor::Green),
            Self::Yellow => colour(AnsiColor::Yellow),
        }
    }
}

/// A text on the page that leads somewhere.
#[derive(Debug)]
struct Link {
    text: String,
    address: String,
}

/// Lines of text, each within the width.
#[derive(Debug)]
pub(crate) struct Page {
    /// How the page looks.
    pub style: Style,
    text: String,
    links: Vec<Link>,
}

impl Page {
    /// An empty page. Lines narrower than 20 columns can't hold a table: such widths count as 20.
    pub(crate) fn new(style: Style) -> Self {
        Self {
            style: Style { width: style.width.max(20), ..style },
            text: String::new(),
            links: Vec::new(),
        }
    }

    /// The text in that ink where the page has colour.
    pub(crate) fn ink(&self, ink: Ink, text: &str) -> String {
        if self.style.colour && !text.is_empty() {
            format!("{0}{text}{0:#}", ink.style())
        } else {
            text.to_owned()
        }
    }

    /// Makes every later place in that file a link, where the terminal has links and the file an
    /// address. `text` is the place as reports name it.
    pub(crate) fn link(&mut self, text: &str, file: &str) {
        let text = printable(text);
        let known = self.links.iter().any(|link| link.text == text);
        if let Some(address) = self.style.link.filter(|_| !known).and_then(|link| link(file)) {
            self.links.push(Link { text, address });
        }
    }

    /// A line as it is: the caller has fitted it.
    pub(crate) fn line(&mut self, line: &str) {
        let mut line = line.trim_end().to_owned();
        for link in &self.links {
            line = linked(&line, link);
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }

    /// An empty line, unless the page is empty or ends in one.
    pub(crate) fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A wrapped paragraph, every line behind the indent.
    pub(crate) fn paragraph(&mut self, indent: &str, text: &str) {
        self.inked(indent, text, None);
    }

    /// A wrapped paragraph in an ink.
    pub(crate) fn inked(&mut self, indent: &str, text: &str, ink: impl Into<Option<Ink>>) {
        let ink = ink.into();
        for line in wrap(text, self.style.prose().saturating_sub(columns(indent))) {
            let line = ink.map_or(line.clone(), |ink| self.ink(ink, &line));
            self.line(&format!("{indent}{line}"));
        }
    }

    /// The columns that a label takes, the gap behind it included.
    pub(crate) fn label_columns(label: &str) -> usize {
        columns(label).max(7) + 1
    }

    /// A label and a wrapped text beside it; the text's further lines stay beside the label.
    pub(crate) fn labelled(&mut self, indent: &str, label: &str, text: &str) {
        let label_columns = Self::label_columns(label);
        let left = columns(indent) + label_columns;
        let mut label = self.ink(Ink::Dim, &pad(label, label_columns));
        for line in wrap(text, self.style.prose().saturating_sub(left)) {
            self.line(&format!("{indent}{label}{line}"));
            label = " ".repeat(label_columns);
        }
    }

    /// A table behind an indent, its titles dim.
    pub(crate) fn table(&mut self, indent: &str, table: &Table) {
        self.inked_table(indent, table, |_| None);
    }

    /// The same, each row in the ink that its place has.
    pub(crate) fn inked_table(
        &mut self,
        indent: &str,
        table: &Table,
        ink: impl Fn(usize) -> Option<Ink>,
    ) {
        if let Some(titles) = &table.titles {
            let titles = self.ink(Ink::Dim, titles);
            self.line(&format!("{indent}{titles}"));
        }
        for (row, lines) in table.rows.iter().enumerate() {
            for line in lines {
                let line = ink(row).map_or_else(|| line.clone(), |ink| self.ink(ink, line));
                self.line(&format!("{indent}{line}"));
            }
        }
    }

    /// Writes the page.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.style.ascii {
            out.write_all(ascii::drawn(&self.text).as_bytes())
        } else {
            out.write_all(self.text.as_bytes())
        }
    }
}

/// The line with the first place that the link stands for made one, in the escapes that terminals
/// share (OSC 8). Line 3 is not the beginning of line 37.
fn linked(line: &str, to: &Link) -> String {
    let is_place = |&(at, place): &(usize, &str)| {
        !line[at + place.len()..].starts_with(|next: char| next.is_ascii_digit())
    };
    match line.match_indices(&to.text).find(is_place) {
        Some((at, place)) => {
            let (before, after) = (&line[..at], &line[at + place.len()..]);
            let (open, close) = ("\u{1b}]8;;", "\u{1b}\\");
            format!("{before}{open}{}{close}{place}{open}{close}{after}", to.address)
        }
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_keeps_its_column() {
        let mut page = Page::new(Style { width: 20, ..Style::default() });
        page.labelled("  ", "change", "give a row to a warp");
        assert_eq!(page.text, "  change  give a row\n          to a warp\n");
    }

    #[test]
    fn colour_is_off_unless_asked_for() {
        let plain = Page::new(Style::default());
        assert_eq!(plain.ink(Ink::Bold, "x"), "x");
        let coloured = Page::new(Style { colour: true, ..Style::default() });
        assert_eq!(coloured.ink(Ink::Red, "x"), "\u{1b}[31mx\u{1b}[0m");
    }

    #[test]
    fn bars_are_drawn_by_ascii_where_there_are_no_other_letters() {
        for (ascii, expected) in [(false, "L2  ██▌\n"), (true, "L2  ###\n")] {
            let mut page = Page::new(Style { ascii, ..Style::default() });
            page.line("L2  ██▌");
            let mut out = Vec::new();
            page.write(&mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn places_are_links_where_their_file_has_an_address() {
        let address = |file: &str| (file == "v2.cu").then(|| "file:///k/v2.cu".to_owned());
        let mut page = Page::new(Style { link: Some(address), ..Style::default() });
        page.link("v2.cu:3", "v2.cu");
        page.link("gone.cu:3", "gone.cu");
        page.paragraph("", "v2.cu:37, v2.cu:3 and gone.cu:3");
        assert_eq!(
            page.text,
            "v2.cu:37, \u{1b}]8;;file:///k/v2.cu\u{1b}\\v2.cu:3\u{1b}]8;;\u{1b}\\ and gone.cu:3\n"
        );
        let mut plain = Page::new(Style::default());
        plain.link("v2.cu:3", "v2.cu");
        plain.paragraph("", "v2.cu:3");
        assert_eq!(plain.text, "v2.cu:3\n");
    }

    #[test]
    fn prose_keeps_a_width_that_can_be_read() {
        let mut page = Page::new(Style { width: 200, ..Style::default() });
        page.paragraph("", &"word ".repeat(60));
        assert!(page.text.lines().all(|line| line.len() <= 100));
    }
}
