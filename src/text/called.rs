//! What a line of source calls.

/// The functions that a line calls, each with the text behind its opening parenthesis.
pub(crate) fn calls(text: &str) -> Vec<(&str, &str)> {
    let code = text.split("//").next().unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.match_indices('(')
        .map(|(at, _)| (code[..at].trim_end(), &code[at + 1..]))
        .map(|(before, behind)| (&before[before.trim_end_matches(is_name).len()..], behind))
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

/// The arguments of a call, of which the text behind its opening parenthesis is given, as far as the line has them.
pub(crate) fn arguments(behind: &str) -> Vec<&str> {
    let (mut found, mut depth, mut from) = (Vec::new(), 0_u32, 0);
    for (at, letter) in behind.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                found.push(behind[from..at].trim());
                return found;
            }
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(behind[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_end_with_their_call() {
        let of = |text: &'static str| {
            let (name, behind) = calls(text)[0];
            (name, arguments(behind))
        };
        assert_eq!(
            of("y = pow(f(a, b)[i, j], 3.0) + g(x);"),
            ("pow", vec!["f(a, b)[i, j]", "3.0"])
        );
        assert_eq!(of("std::pow(x,"), ("pow", vec!["x"]), "the rest is on another line");
        assert_eq!(of("now();"), ("now", vec![""]));
    }
}
