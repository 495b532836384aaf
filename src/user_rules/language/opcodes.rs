//! Patterns of opcodes: `LDG`, `LDG.E.128`, `*MMA.16816*`.

use crate::evidence::modeled_launch::opcode;

/// A pattern: an opcode with the first of its modifiers; `*` stands for any characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpcodePattern(String);

/// The longest pattern, bytes.
const LONGEST: usize = 64;

impl OpcodePattern {
    /// A pattern of a text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let is_letter =
            |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '*');
        if text.is_empty() || text.len() > LONGEST || !text.chars().all(is_letter) {
            return Err(format!(
                "`{}` is not a pattern of opcodes: write one as SASS has it, in capitals, such as \"LDG\", \
                 \"LDG.E.128\" or \"*MMA*\"",
                crate::text::printable(text)
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// True for an instruction whose opcode is the pattern, or goes on with another modifier after it.
    pub(crate) fn matches(&self, instruction: &str) -> bool {
        let opcode = opcode(instruction).as_bytes();
        let pattern = self.0.as_bytes();
        // The last star and what it stood for: a later one never needs an earlier one to change.
        let (mut at, mut of) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        loop {
            if of == pattern.len() && (at == opcode.len() || opcode[at] == b'.') {
                return true;
            }
            if pattern.get(of) == Some(&b'*') {
                star = Some((of, at));
                of += 1;
            } else if at < opcode.len() && pattern.get(of) == Some(&opcode[at]) {
                at += 1;
                of += 1;
            } else if let Some((place, stood)) = star.filter(|(_, stood)| *stood < opcode.len()) {
                star = Some((place, stood + 1));
                at = stood + 1;
                of = place + 1;
            } else {
                return false;
            }
        }
    }

    /// As it was written.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_end_at_a_modifier() {
        let matches =
            |pattern: &str, text: &str| OpcodePattern::parse(pattern).unwrap().matches(text);
        assert!(matches("LDG", "LDG.E.128 R4, [R2.64]"));
        assert!(matches("LDG.E.128", "@!P0 LDG.E.128.CONSTANT R4, [R2.64]"));
        assert!(!matches("LDG", "LDGSTS.E [R1], [R2.64]"));
        assert!(!matches("LDG.E.12", "LDG.E.128 R4, [R2.64]"));
        assert!(!matches("LDG.E.128", "LDG.E R4, [R2.64]"));
        assert!(matches("*MMA.16816", "HMMA.16816.F32 R4, R4, R8, R4"));
        assert!(matches("*MMA*F32", "HMMA.16816.F32 R4, R4, R8, R4"));
        assert!(matches("BAR", "BAR;"));
        assert!(matches("*", "EXIT"));
        assert!(!matches("*MMA*F64", "HMMA.16816.F32 R4, R4, R8, R4"));
    }

    #[test]
    fn what_is_no_opcode_is_refused() {
        for text in ["", "ldg", "LDG E", "LDG\u{1b}", &"A".repeat(65)] {
            assert!(OpcodePattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = OpcodePattern::parse(&"*A".repeat(32)).unwrap();
        assert!(!pattern.matches(&"A".repeat(20)));
        assert!(!pattern.matches(&format!("{}B", "A".repeat(5000))));
    }
}
