//! The signatures of a source's kernels.

use std::collections::BTreeSet;

use super::reads::read_through;
use super::source::{Source, Word};

/// A kernel's declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kernel {
    /// Its name.
    pub name: String,
    /// True where it is declared `extern "C"`.
    pub is_extern_c: bool,
    /// The template's parameters as they stand; `None` for no template.
    pub template: Option<String>,
    /// Threads of a block at most, where `__launch_bounds__` has a number.
    pub most_threads: Option<u64>,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What its body says of its launch.
    pub body: Body,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameter {
    /// Its name; empty where it has none.
    pub name: String,
    /// Its type without `const`, `*` and `__restrict__`: `unsigned int`.
    pub kind: String,
    /// True for a pointer.
    pub is_pointer: bool,
    /// True where what it points to is constant.
    pub is_const: bool,
    /// True where the body is seen to read what it points to.
    pub is_read: bool,
}

/// What a body says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Body {
    /// True where it is there: a declaration alone has none.
    pub is_there: bool,
    /// True where it reads an index in y.
    pub uses_y: bool,
    /// True where it has dynamic shared memory.
    pub has_dynamic_shared: bool,
}

/// Words that stand before a kernel's name with parentheses of their own.
fn is_attribute(name: &str) -> bool {
    name.starts_with("__") && name != "__global__"
}

/// The kernels of a source, each once, a definition before a declaration.
pub(super) fn kernels(source: &Source) -> Vec<Kernel> {
    let words = &source.words;
    let mut found: Vec<Kernel> = Vec::new();
    // For each brace that is open, whether `extern "C"` stands before it.
    let mut braces: Vec<bool> = Vec::new();
    let mut start = 0;
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Sign('{') => {
                braces.push(is_extern_c(&words[start..at]));
                start = at + 1;
            }
            Word::Sign('}') => {
                braces.pop();
                start = at + 1;
            }
            Word::Sign(';') => start = at + 1,
            Word::Name(name) if name == "__global__" => {
                let before = words.get(start..at).unwrap_or_default();
                start = at + 1;
                let Some(mut kernel) = kernel(&words[at + 1..], before) else { continue };
                kernel.is_extern_c = is_extern_c(before) || braces.contains(&true);
                match found.iter_mut().find(|known| known.name == kernel.name) {
                    Some(known) if !known.body.is_there => *known = kernel,
                    Some(_) => {}
                    None => found.push(kernel),
                }
            }
            _ => {}
        }
    }
    found
}

fn is_extern_c(words: &[Word]) -> bool {
    words.windows(2).any(|pair| pair[0].is("extern") && pair[1] == Word::Text("C".into()))
}

/// The kernel behind `__global__`, with the words of its declaration `before` that. `None` for a
/// specialisation or an instance of a template, and where this is no declaration.
fn kernel(words: &[Word], before: &[Word]) -> Option<Kernel> {
    let mut most_threads = None;
    let mut at = 0;
    let name = loop {
        match (words.get(at)?, words.get(at + 1)?) {
            (Word::Name(name), Word::Sign('(')) => {
                if !is_attribute(name) {
                    break name.clone();
                }
                let inner = parenthesized(&words[at + 1..])?;
                if name == "__launch_bounds__" {
                    most_threads = number(inner);
                }
                at += inner.len() + 3;
            }
            // An instance's arguments follow its name.
            (Word::Sign('<' | ';' | '{' | '}'), _) => return None,
            (Word::Name(name), _) if name == "__global__" => return None,
            _ => at += 1,
        }
    };
    let template = template(before)?;
    let inner = parenthesized(&words[at + 1..])?;
    let body = words.get(at + 1 + inner.len() + 2..).unwrap_or_default();
    let mut parameters = parameters(inner);
    let inside = inside(body);
    mark_read(&mut parameters, inside);
    Some(Kernel {
        name,
        is_extern_c: false,
        template,
        most_threads,
        parameters,
        body: body_of(inside),
    })
}

/// The parameters of `template <…>`; `Some(None)` where there is no template, `None` for an instance of one.
#[expect(clippy::option_option, reason = "an instance is neither a template nor none")]
fn template(before: &[Word]) -> Option<Option<String>> {
    let Some(at) = before.iter().position(|word| word.is("template")) else { return Some(None) };
    if !before.get(at + 1)?.is_sign('<') {
        return None;
    }
    let mut depth = 0_usize;
    let mut inner = Vec::new();
    for word in &before[at + 1..] {
        match word {
            Word::Sign('<') => depth += 1,
            Word::Sign('>') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        inner.push(word.clone());
    }
    Some(Some(spelled(inner.get(1..).unwrap_or_default())))
}

/// What stands between the parenthesis with which the words begin and its partner.
fn parenthesized(words: &[Word]) -> Option<&[Word]> {
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate() {
        match word {
            // No list of parameters goes on over the next declaration.
            Word::Sign(';') => return None,
            Word::Name(name) if name == "__global__" => return None,
            Word::Sign('(') => depth += 1,
            Word::Sign(')') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return words.get(1..at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The first number of a list, if the list begins with one.
fn number(words: &[Word]) -> Option<u64> {
    let (Word::Number(number), next) = (words.first()?, words.get(1)) else { return None };
    if next.is_some_and(|word| !word.is_sign(',')) {
        return None;
    }
    number.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()
}

fn parameters(words: &[Word]) -> Vec<Parameter> {
    let mut depth = 0_i32;
    let mut lists: Vec<Vec<Word>> = vec![Vec::new()];
    for word in words {
        match word {
            Word::Sign('(' | '<' | '[' | '{') => depth += 1,
            Word::Sign(')' | '>' | ']' | '}') => depth -= 1,
            Word::Sign(',') if depth == 0 => {
                lists.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(list) = lists.last_mut() {
            list.push(word.clone());
        }
    }
    let is_void =
        |list: &Vec<Word>| list.is_empty() || matches!(&list[..], [word] if word.is("void"));
    lists.iter().filter(|list| !is_void(list)).map(|list| parameter(list)).collect()
}

fn parameter(words: &[Word]) -> Parameter {
    // A default value and an array's extent tell nothing of the type.
    let end = words.iter().position(|word| matches!(word, Word::Sign('=' | '[')));
    let is_array = end.is_some_and(|at| words[at].is_sign('['));
    let words = &words[..end.unwrap_or(words.len())];
    let star = words.iter().position(|word| word.is_sign('*'));
    let is_const = words[..star.unwrap_or(words.len())].iter().any(|word| word.is("const"));
    let noise = |word: &&Word| match word {
        Word::Name(name) => {
            !matches!(name.as_str(), "const" | "volatile" | "struct" | "restrict")
                && !name.starts_with("__restrict")
                && name != "__grid_constant__"
        }
        Word::Sign(sign) => !matches!(sign, '*' | '&'),
        _ => true,
    };
    let kept: Vec<Word> = words.iter().filter(noise).cloned().collect();
    let is_named = match &kept[..] {
        [.., before, Word::Name(last)] => !is_type_word(last) && !before.is_sign(':'),
        _ => false,
    };
    let (name, kind) = match kept.split_last() {
        Some((Word::Name(name), kind)) if is_named => (name.clone(), kind),
        _ => (String::new(), &kept[..]),
    };
    let is_pointer = star.is_some() || is_array;
    Parameter { name, kind: spelled(kind), is_pointer, is_const, is_read: false }
}

/// Marks the pointers through which the body reads.
fn mark_read(parameters: &mut [Parameter], body: &[Word]) {
    let pointers = parameters.iter().filter(|parameter| parameter.is_pointer);
    let names: BTreeSet<&str> = pointers.map(|parameter| parameter.name.as_str()).collect();
    let read = read_through(body, &names);
    let read: BTreeSet<String> = read.into_iter().map(str::to_owned).collect();
    for parameter in parameters {
        parameter.is_read = parameter.is_pointer && read.contains(&parameter.name);
    }
}

/// Words of built-in types, which are no names of parameters.
fn is_type_word(word: &str) -> bool {
    matches!(
        word,
        "int" | "unsigned" | "signed" | "long" | "short" | "char" | "float" | "double" | "bool"
    )
}

/// Words as they would be written.
fn spelled(words: &[Word]) -> String {
    let mut text = String::new();
    for word in words {
        match word {
            Word::Name(name) | Word::Number(name) => {
                if text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ',')) {
                    text.push(' ');
                }
                text.push_str(name);
            }
            Word::Text(inner) => text.push_str(inner),
            Word::Sign(sign) => text.push(*sign),
        }
    }
    text
}

/// The words of a body with its braces, which is all of them where no brace closes it; none where no body begins.
fn inside(words: &[Word]) -> &[Word] {
    if !words.first().is_some_and(|word| word.is_sign('{')) {
        return &[];
    }
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Sign('{') => depth += 1,
            Word::Sign('}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return &words[..=at];
                }
            }
            _ => {}
        }
    }
    words
}

fn body_of(words: &[Word]) -> Body {
    let mut body = Body { is_there: !words.is_empty(), ..Body::default() };
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Name(name) if matches!(name.as_str(), "blockIdx" | "threadIdx") => {
                body.uses_y |= words.get(at + 2).is_some_and(|word| word.is("y"));
            }
            Word::Name(name) if name == "extern" => {
                body.has_dynamic_shared |=
                    words.get(at + 1).is_some_and(|word| word.is("__shared__"));
            }
            _ => {}
        }
    }
    body
}

#[cfg(test)]
mod tests;
