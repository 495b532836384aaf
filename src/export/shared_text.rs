//! Texts that repeat from row to row, each stored once.

use std::sync::Arc;

use foldhash::{HashSet, HashSetExt};

/// The texts met so far. A report of thousands of launches names each metric, unit, and file thousands
/// of times.
#[derive(Debug)]
pub(crate) struct SharedTexts {
    known: HashSet<Arc<str>>,
    /// The last one, which is most often the next one too.
    last: Arc<str>,
}

impl Default for SharedTexts {
    fn default() -> Self {
        Self { known: HashSet::new(), last: Arc::default() }
    }
}

impl SharedTexts {
    /// The stored copy of a text.
    pub(crate) fn get(&mut self, text: &str) -> Arc<str> {
        if *self.last != *text {
            self.last = self.known.get(text).cloned().unwrap_or_else(|| {
                let new: Arc<str> = text.into();
                self.known.insert(new.clone());
                new
            });
        }
        self.last.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one() {
        let mut texts = SharedTexts::default();
        let [first, other, second] = ["a.cu", "b.cu", "a.cu"].map(|text| texts.get(text));
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!([&*first, &*other, &*texts.get("")], ["a.cu", "b.cu", ""]);
    }
}
