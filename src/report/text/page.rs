//! A page of text under construction: paragraphs, labels, colours.

use std::io::{self, Write};

use crate::report::style::Style;
use crate::text::layout::{columns, pad, wrap};

/// How a piece of text is emphasised; without colour it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
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
    /// The SGR parameter of ECMA-48.
    fn code(self) -> u8 {
        match self {
            Self::Bold => 1,
            Self::Dim => 2,
            Self::Red => 31,
            Self::Green => 32,
            Self::Yellow => 33,
        }
    }
}

/// Lines of text, each within the width.
#[derive(Debug)]
pub struct Page {
    /// How the page looks.
    pub style: Style,
    text: String,
}

impl Page {
    /// An empty page. Lines narrower than 20 columns can't hold a table: such widths count as 20.
    pub fn new(style: Style) -> Self {
        Self { style: Style { width: style.width.max(20), ..style }, text: String::new() }
    }

    /// The text in that ink where the page has colour.
    pub fn ink(&self, ink: Ink, text: &str) -> String {
        if self.style.colour && !text.is_empty() {
            format!("\u{1b}[{}m{text}\u{1b}[0m", ink.code())
        } else {
            text.to_owned()
        }
    }

    /// A line as it is: the caller has fitted it.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// An empty line, unless the page is empty or ends in one.
    pub fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A wrapped paragraph, every line behind the indent.
    pub fn paragraph(&mut self, indent: &str, text: &str) {
        self.inked(indent, text, None);
    }

    /// A wrapped paragraph in an ink.
    pub fn inked(&mut self, indent: &str, text: &str, ink: impl Into<Option<Ink>>) {
        let ink = ink.into();
        for line in wrap(text, self.style.width.saturating_sub(columns(indent))) {
            let line = ink.map_or(line.clone(), |ink| self.ink(ink, &line));
            self.line(&format!("{indent}{line}"));
        }
    }

    /// A label and a wrapped text beside it; the text's further lines stay beside the label.
    pub fn labelled(&mut self, indent: &str, label: &str, text: &str) {
        let label_columns = columns(label).max(7) + 1;
        let left = columns(indent) + label_columns;
        let mut label = self.ink(Ink::Dim, &pad(label, label_columns));
        for line in wrap(text, self.style.width.saturating_sub(left)) {
            self.line(&format!("{indent}{label}{line}"));
            label = " ".repeat(label_columns);
        }
    }

    /// Lines of a table behind an indent, the first one dim.
    pub fn table(&mut self, indent: &str, lines: &[String]) {
        for (index, line) in lines.iter().enumerate() {
            let line = if index == 0 { self.ink(Ink::Dim, line) } else { line.clone() };
            self.line(&format!("{indent}{line}"));
        }
    }

    /// Writes the page.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.text.as_bytes())
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
}
