//! What of a source file decides an estimate: its code, without words.
//!
//! Left out are comments, documentation, tests, `use` items and prose, which is every string literal of
//! several words: a message, a hint, the source of a threshold. What remains changes whenever arithmetic
//! does. It also changes where only a name does, so that a revision never stays when it should not.

use std::iter::Peekable;
use std::str::FromStr;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree, token_stream};

/// The tokens of Rust code that decide, one space behind each.
pub(super) fn of_rust(code: &str) -> Result<String, LexError> {
    let mut text = String::new();
    write(TokenStream::from_str(code)?, &mut text);
    Ok(text)
}

/// The lines of a TOML file that decide.
pub(super) fn of_toml(text: &str) -> String {
    let without_prose = |line: &str| -> String {
        let parts = line.split('"').enumerate();
        parts.map(|(at, part)| if at % 2 == 1 && is_prose(part) { "" } else { part }).collect()
    };
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| without_prose(line) + "\n").collect()
}

fn write(tokens: TokenStream, text: &mut String) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' && skip_attribute(&mut tokens) => {}
            // `+ use<'a>` in a type is no item.
            TokenTree::Ident(word) if word == "use" && !is_mark(tokens.peek(), '<') => {
                skip_item(&mut tokens);
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("( ", ") "),
                    Delimiter::Brace => ("{ ", "} "),
                    Delimiter::Bracket => ("[ ", "] "),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                write(group.stream(), text);
                text.push_str(close);
            }
            TokenTree::Literal(literal) => {
                let literal = literal.to_string();
                let is_string = literal.contains('"');
                text.push_str(if is_string && is_prose(&literal) { "\"\"" } else { &literal });
                text.push(' ');
            }
            token => {
                text.push_str(&token.to_string());
                text.push(' ');
            }
        }
    }
}

/// True for several words: a space, and two small letters in a row. Names of metrics have no space, and
/// SASS has no small letters.
fn is_prose(text: &str) -> bool {
    let are_small = |letters: &[u8]| letters.iter().all(u8::is_ascii_lowercase);
    text.contains(char::is_whitespace) && text.as_bytes().windows(2).any(are_small)
}

type Tokens = Peekable<token_stream::IntoIter>;

fn is_mark(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// Skips what follows the `#` of documentation, and of an item for tests together with the item. Leaves
/// every other attribute where it is and returns false.
fn skip_attribute(tokens: &mut Tokens) -> bool {
    let mut ahead = tokens.clone();
    if is_mark(ahead.peek(), '!') {
        ahead.next();
    }
    let Some(TokenTree::Group(attribute)) = ahead.next() else { return false };
    let words: Vec<String> = attribute.stream().into_iter().map(|word| word.to_string()).collect();
    let is_doc = words.first().is_some_and(|word| word == "doc");
    let is_test = matches!(&words[..], [cfg, test] if cfg == "cfg" && test == "(test)");
    if is_doc || is_test {
        *tokens = ahead;
    }
    if is_test {
        skip_item(tokens);
    }
    is_doc || is_test
}

/// Skips to the end of an item: a semicolon, or a block that none follows.
fn skip_item(tokens: &mut Tokens) {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Punct(mark) => mark.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    while let Some(token) = tokens.next() {
        if is_end(&token) && !is_mark(tokens.peek(), ';') {
            break;
        }
    }
}
