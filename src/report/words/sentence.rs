//! A sentence with shorter ones for where there is no room, and how several of them fit together.

use crate::text::layout::{columns, fit, wrap};

/// What is to be said, in full and shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// From the full form to the shortest; never empty.
    forms: Vec<String>,
    /// True where it is printed whole: a command, so that it can be copied, and what to do.
    is_whole: bool,
}

impl From<String> for Sentence {
    fn from(text: String) -> Self {
        Self { forms: vec![text], is_whole: false }
    }
}

impl Sentence {
    /// A sentence in several forms, the full one first.
    pub(crate) fn of<const N: usize>(forms: [String; N]) -> Self {
        Self { forms: forms.into(), is_whole: false }
    }

    /// A command with what it is about, which a shorter form leaves out.
    pub(crate) fn command(command: String, about: &str) -> Self {
        Self { forms: vec![format!("{command} ({about})"), command], is_whole: true }
    }

    /// The same, which takes more lines rather than lose its end.
    pub(crate) fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// The same, which may lose its end after all.
    pub(crate) fn yielding(self) -> Self {
        Self { is_whole: false, ..self }
    }

    /// The full form.
    pub(crate) fn full(&self) -> &str {
        self.forms.first().map_or("", String::as_str)
    }

    /// The shortest form.
    pub(crate) fn shortest(&self) -> &str {
        self.forms.last().map_or("", String::as_str)
    }
}

/// The sentences in at most so many lines together, each with the columns that it has: the tallest is
/// said shorter until they fit, and where no shorter form is left it loses its end. Whole ones keep theirs,
/// so that the lines may be more all the same.
pub(crate) fn fitted(sentences: &[(Sentence, usize)], lines: usize) -> Vec<String> {
    let mut shown: Vec<String> = sentences.iter().map(|(one, _)| one.full().to_owned()).collect();
    let mut form = vec![0; sentences.len()];
    let height = |text: &str, at: usize| wrap(text, sentences[at].1).len();
    loop {
        let heights: Vec<usize> =
            shown.iter().enumerate().map(|(at, text)| height(text, at)).collect();
        if heights.iter().sum::<usize>() <= lines {
            return shown;
        }
        let can_shrink = |&at: &usize| {
            let (sentence, _) = &sentences[at];
            heights[at] > 1 && (form[at] + 1 < sentence.forms.len() || !sentence.is_whole)
        };
        // Of equally tall ones the first gives way.
        let tallest = (0..shown.len()).rev().filter(can_shrink).max_by_key(|&at| heights[at]);
        let Some(at) = tallest else { return shown };
        let (sentence, room) = &sentences[at];
        form[at] += 1;
        shown[at] = match sentence.forms.get(form[at]) {
            Some(shorter) => shorter.clone(),
            None => cut(&shown[at], *room),
        };
    }
}

/// The text in one line, its last whole words left out.
fn cut(text: &str, room: usize) -> String {
    let words = fit(text, room);
    let kept = words.trim_end_matches('…');
    match kept.rsplit_once(' ') {
        // A single long word has no whole ones before it.
        Some((before, _)) if columns(before) > room / 2 => {
            format!("{}…", before.trim_end_matches([',', ':', ';']))
        }
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> [(Sentence, usize); 2] {
        let long = Sentence::of(["one two three four five".to_owned(), "one to five".to_owned()]);
        let command = Sentence::command("adoprof step --kernel v3".to_owned(), "makes this change");
        [(long, 14), (command, 24)]
    }

    #[test]
    fn what_fits_is_said_in_full() {
        // Two lines and two lines.
        assert_eq!(
            fitted(&two(), 4),
            ["one two three four five", "adoprof step --kernel v3 (makes this change)"]
        );
    }

    #[test]
    fn the_tallest_gives_way_and_commands_stay_whole() {
        assert_eq!(
            fitted(&two(), 3),
            ["one to five", "adoprof step --kernel v3 (makes this change)"]
        );
        assert_eq!(fitted(&two(), 2), ["one to five", "adoprof step --kernel v3"]);
        let narrow = [(two()[0].0.clone(), 8), (two()[1].0.clone(), 10)];
        // The command takes three lines of 10 columns, whatever is asked for.
        assert_eq!(fitted(&narrow, 2), ["one to…", "adoprof step --kernel v3"]);
    }

    #[test]
    fn a_cut_ends_after_a_whole_word() {
        assert_eq!(cut("Use each value, that line 36 loads", 17), "Use each value…");
        assert_eq!(cut("achieved-occupancy-below", 10), "achieved-…");
        assert_eq!(cut("short", 10), "short");
    }
}
