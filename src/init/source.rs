//! CUDA source as words: enough to find kernels and their parameters.

/// A word of the source: a name, a number, a string, or one sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// A name or a keyword.
    Name(String),
    /// A number.
    Number(String),
    /// What stands between quotes.
    Text(String),
    /// Anything else, one character.
    Sign(char),
}

impl Word {
    /// True for this name.
    pub(super) fn is(&self, name: &str) -> bool {
        matches!(self, Self::Name(own) if own == name)
    }

    /// True for this sign.
    pub(super) fn is_sign(&self, sign: char) -> bool {
        *self == Self::Sign(sign)
    }
}

/// A CUDA source without comments and preprocessor lines.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(super) words: Vec<Word>,
}

impl Source {
    /// Takes a source apart. What is not C++ gives words all the same.
    #[must_use]
    pub(crate) fn new(text: &str) -> Self {
        Self { words: words(text) }
    }

    /// True where the file has a `main`: it is a program and not device code alone.
    #[must_use]
    pub(crate) fn has_main(&self) -> bool {
        self.words.windows(2).any(|pair| pair[0].is("main") && pair[1].is_sign('('))
    }

    /// True where it launches kernels itself.
    #[must_use]
    pub(crate) fn launches_kernels(&self) -> bool {
        self.words.windows(3).any(|three| three.iter().all(|word| word.is_sign('<')))
    }
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text;
    let mut begins_line = true;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '#' if begins_line => directive(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                rest[2..].find("*/").map_or(rest.len(), |end| 2 + end + 2)
            }
            '"' | '\'' => {
                let end = quoted(rest, c);
                let inner = rest.get(1..end.saturating_sub(1)).unwrap_or_default();
                words.push(Word::Text(inner.to_owned()));
                end
            }
            _ if is_name(c) => {
                let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
                let word = rest[..end].to_owned();
                let is_number = c.is_ascii_digit();
                words.push(if is_number { Word::Number(word) } else { Word::Name(word) });
                end
            }
            _ => {
                if !c.is_whitespace() {
                    words.push(Word::Sign(c));
                }
                c.len_utf8()
            }
        };
        begins_line = c == '\n' || begins_line && c.is_whitespace();
        rest = &rest[length..];
    }
    words
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a preprocessor line with those that continue it.
fn directive(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            // Its end begins the next line.
            return length - usize::from(line.ends_with('\n'));
        }
    }
    length
}

/// The length of a literal with its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return at,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn comments_strings_and_directives_hide_what_is_in_them() {
        let text = "#define K \\\n  __global__ x\n// main(\n/* main( */ a = \"main(\\\"\"; 'x' 12u\n#if 1\nb";
        let expected = [
            Word::Name("a".into()),
            Word::Sign('='),
            Word::Text("main(\\\"".into()),
            Word::Sign(';'),
            Word::Text("x".into()),
            Word::Number("12u".into()),
            Word::Name("b".into()),
        ];
        assert_eq!(Source::new(text).words, expected);
        assert!(!Source::new(text).has_main());
        assert!(Source::new("int main(void)").has_main());
        assert!(Source::new("k<<<1, 2>>>()").launches_kernels());
    }

    proptest! {
        #[test]
        fn any_text_ends(text in "(.|\n){0,200}") {
            let _ = Source::new(&text);
        }
    }
}
