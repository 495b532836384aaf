//! A column of texts that repeat: each text is stored once, however many rows have it.

use polars::prelude::*;

/// The number of the rows without a text, while the column grows.
const NULL: IdxSize = IdxSize::MAX;

/// The column while it grows.
pub(super) struct Words<T> {
    known: PlIndexSet<T>,
    /// By a word's number, the number of the word that followed it the last time. Launches repeat their
    /// metrics in one order, and lines their files, so this finds most words by one comparison.
    next: Vec<IdxSize>,
    last: IdxSize,
    places: Vec<IdxSize>,
}

impl<T> Words<T> {
    /// A column of so many rows.
    pub(super) fn with_capacity(rows: usize) -> Self {
        Self {
            known: PlIndexSet::default(),
            next: Vec::new(),
            last: NULL,
            places: Vec::with_capacity(rows),
        }
    }
}

impl<T: AsRef<str> + Eq + std::hash::Hash> Words<T> {
    /// Adds a row.
    pub(super) fn push(&mut self, word: impl Into<Option<T>>) {
        let Some(word) = word.into() else {
            self.places.push(NULL);
            return;
        };
        let guess = self.next.get(self.last as usize).copied().unwrap_or_default();
        let guessed = self.known.get_index(guess as usize);
        let place = if guessed.is_some_and(|known| is_same(known.as_ref(), word.as_ref())) {
            guess
        } else {
            let (place, is_new) = self.known.insert_full(word);
            if is_new {
                self.next.push(NULL);
            }
            place as IdxSize
        };
        if let Some(next) = self.next.get_mut(self.last as usize) {
            *next = place;
        }
        self.last = place;
        self.places.push(place);
    }

    /// The column.
    pub(super) fn finish(mut self, name: &str) -> PolarsResult<Column> {
        let mut words: Vec<Option<&str>> =
            self.known.iter().map(|word| Some(word.as_ref())).collect();
        let null = words.len() as IdxSize;
        let is_whole = words.len() == self.places.len();
        for place in self.places.iter_mut().filter(|place| **place == NULL) {
            *place = null;
        }
        if self.places.contains(&null) {
            words.push(None);
        }
        let words: StringChunked = words.into_iter().collect();
        let column = if is_whole {
            // Every word once, in the rows' order.
            words
        } else {
            words.take(&IdxCa::from_vec(PlSmallStr::EMPTY, self.places))?
        };
        Ok(column.with_name(name.into()).into_column())
    }
}

/// True for equal texts; those that share one place, as most do, are not read.
fn is_same(one: &str, other: &str) -> bool {
    std::ptr::eq(one, other) || one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(words: &[Option<&str>]) -> Vec<Option<String>> {
        let mut column = Words::<String>::with_capacity(words.len());
        for word in words {
            column.push(word.map(str::to_owned));
        }
        let column = column.finish("x").unwrap();
        assert_eq!(column.name().as_str(), "x");
        column.str().unwrap().iter().map(|word| word.map(str::to_owned)).collect()
    }

    #[test]
    fn rows_get_their_words_back() {
        for words in [
            &[][..],
            &[Some("a")],
            &[None],
            &[Some("a"), Some("b")],
            &[Some("b"), Some("a"), Some("b"), Some("a"), Some("a"), Some("b")],
            &[Some("a"), None, Some("")],
            &[None, None, Some("a"), Some("b"), None, Some("b"), Some("c"), Some("a")],
        ] {
            let expected: Vec<_> = words.iter().map(|word| word.map(str::to_owned)).collect();
            assert_eq!(column(words), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_rows_get_their_words_back(rows: Vec<Option<u8>>) {
            // Few words, so that rows repeat them.
            let words: Vec<Option<String>> =
                rows.iter().map(|row| row.map(|row| (row % 7).to_string())).collect();
            let texts: Vec<Option<&str>> = words.iter().map(Option::as_deref).collect();
            assert_eq!(column(&texts), words);
        }
    }
}
