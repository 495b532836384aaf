//! What of a source file decides an estimate: its code, without words.
//!
//! Left out are comments, documentation, tests, `use` items and prose, which is every string literal of
//! several words: a message, a hint, the source of a threshold. Left out too is who may see an item and in
//! which file it stands: declarations of modules, and `pub`. What remains changes whenever arithmetic does. It
//! also changes where only a name does, so that a revision never stays when it should not.

use std::iter::Peekable;
use std::str::FromStr;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree, token_stream};

/// The tokens of Rust code that decide, one space behind each: item by item.
pub(super) fn of_rust(code: &str) -> Result<Vec<String>, LexError> {
    let items = items(code)?.into_iter().map(|item| {
        let mut text = String::new();
        write(item, &mut text);
        text
    });
    let declares_module = |text: &str| text.starts_with("mod ") && text.ends_with("; ");
    Ok(items.filter(|text| !text.is_empty() && !declares_module(text)).collect())
}

/// The modules that Rust code declares for tests alone, each in a file of its own.
pub(super) fn test_modules(code: &str) -> Result<Vec<String>, LexError> {
    let modules = items(code)?.into_iter().filter_map(|item| {
        let mut tokens = item.into_iter().peekable();
        let mut is_test = false;
        while is_mark(tokens.peek(), '#') {
            tokens.next();
            let attribute = tokens.next()?.to_string();
            is_test |= attribute.replace(' ', "") == "[cfg(test)]";
        }
        let words: Vec<String> = tokens.map(|token| token.to_string()).collect();
        let declared = words.iter().position(|word| word == "mod").filter(|_| is_test)?;
        let name = words.get(declared + 1)?;
        (words.last()? == ";").then(|| name.clone())
    });
    Ok(modules.collect())
}

/// Code cut into its items, each with its attributes.
fn items(code: &str) -> Result<Vec<TokenStream>, LexError> {
    let mut tokens = TokenStream::from_str(code)?.into_iter().peekable();
    let mut items = Vec::new();
    while tokens.peek().is_some() {
        items.push(take_item(&mut tokens).into_iter().collect());
    }
    Ok(items)
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
                take_item(&mut tokens);
            }
            TokenTree::Ident(word) if word == "pub" => skip_reach(&mut tokens),
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

/// Skips the `(super)` or the like behind a `pub`.
fn skip_reach(tokens: &mut Tokens) {
    let Some(TokenTree::Group(group)) = tokens.peek() else { return };
    let first = group.stream().into_iter().next();
    let names_reach =
        |word: TokenTree| ["super", "crate", "self", "in"].contains(&&*word.to_string());
    if group.delimiter() == Delimiter::Parenthesis && first.is_some_and(names_reach) {
        tokens.next();
    }
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
        take_item(tokens);
    }
    is_doc || is_test
}

/// Takes what is left of an item: up to a semicolon, or to a block that none follows.
fn take_item(tokens: &mut Tokens) -> Vec<TokenTree> {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Punct(mark) => mark.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    let mut taken = Vec::new();
    while let Some(token) = tokens.next() {
        let ends = is_end(&token) && !is_mark(tokens.peek(), ';');
        taken.push(token);
        if ends {
            break;
        }
    }
    taken
}
