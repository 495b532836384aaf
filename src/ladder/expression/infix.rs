//! Calls of `min` and `max` as infix operators, which is all that exmex can nest.

/// Deeper parentheses are a mistake and not a size.
const DEEPEST: usize = 50;

/// Rewrites `min(a, b)` to `((a) <? (b))` and `max(a, b)` to `((a) >? (b))`, and refuses what is no
/// part of an expression.
pub(super) fn infix_calls(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut open: Vec<Paren> = Vec::new();
    let mut word_start = None; // where in `out` the word that ends here began
    let mut word_before = false; // a word or number came before this, with only spaces between
    for c in text.chars() {
        let in_word = c.is_ascii_alphanumeric() || c == '_' || c == '.';
        if in_word {
            if word_start.is_none() {
                if word_before {
                    return Err("an operator is missing between two values".into());
                }
                word_start = Some(out.len());
            }
            out.push(c);
            continue;
        }
        let word = word_start.take();
        word_before = match c {
            ' ' => word_before || word.is_some_and(|start| !is_function(&out[start..])),
            _ => false,
        };
        match c {
            '(' => {
                let operator = word.and_then(|start| match &out[start..] {
                    "min" => Some((start, "<?")),
                    "max" => Some((start, ">?")),
                    _ => None,
                });
                if let Some((start, operator)) = operator {
                    out.truncate(start);
                    out.push_str("((");
                    open.push(Paren::Call { operator, comma: false });
                } else {
                    out.push('(');
                    open.push(Paren::Plain);
                }
                if open.len() > DEEPEST {
                    return Err(format!("parentheses nest deeper than {DEEPEST}"));
                }
            }
            ')' => match open.pop() {
                Some(Paren::Plain) => out.push(')'),
                Some(Paren::Call { comma: true, .. }) => out.push_str("))"),
                Some(Paren::Call { .. }) => return Err("`min` and `max` take two values".into()),
                None => return Err("a closing parenthesis has no opening one".into()),
            },
            ',' => match open.last_mut() {
                Some(Paren::Call { operator, comma }) if !*comma => {
                    *comma = true;
                    out.push_str(") ");
                    out.push_str(operator);
                    out.push_str(" (");
                }
                _ => return Err("a comma only separates the two values of `min` or `max`".into()),
            },
            ' ' | '+' | '-' | '*' | '/' | '%' | '^' | '<' | '>' | '=' | '!' | '&' | '|' => {
                out.push(c);
            }
            _ => return Err(format!("`{}` has no meaning there", c.escape_default())),
        }
    }
    if open.is_empty() { Ok(out) } else { Err("a closing parenthesis is missing".into()) }
}

enum Paren {
    Plain,
    Call { operator: &'static str, comma: bool },
}

/// Functions of one value, which may be followed by it without parentheses.
fn is_function(word: &str) -> bool {
    matches!(word, "ceil" | "floor" | "round" | "sqrt" | "log2" | "abs")
}
