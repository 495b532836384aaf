//! One instruction's text, taken apart.

use crate::sass::parse::register::Slot;

/// An instruction: guard, opcode, operands. Borrows its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction<'a> {
    /// The predicate of `@P0` or `@!UP1`, without its sign; `None` where the instruction always runs
    /// or never (`@PT`, `@!PT`).
    pub guard: Option<Slot>,
    /// True for `@!PT`: the instruction is a placeholder that does nothing.
    pub never: bool,
    /// The opcode with its modifiers (`LDG.E.64`).
    pub opcode: &'a str,
    /// Where the opcode's modifiers begin, with their point; its length where it has none.
    base: usize,
    /// The operands, in order, destinations first.
    pub operands: Vec<Operand<'a>>,
}

/// An operand's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandKind {
    /// A register, uniform register or the constants `RZ`, `URZ`.
    Register,
    /// A predicate, or the constants `PT`, `UPT`.
    Predicate,
    /// An address in brackets: `[R2.64+0x10]`, `desc[UR4][R2.64]`.
    Memory,
    /// A constant bank: `c[0x0][0x160]`, `c[0x3][R4]`.
    Constant,
    /// Anything else: an immediate, a branch target, a special register.
    Other,
}

/// One operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand<'a> {
    /// Its form.
    pub kind: OperandKind,
    /// Its text with signs and suffixes.
    pub text: &'a str,
}

impl<'a> Instruction<'a> {
    /// Takes a line of SASS apart; `None` for text without an opcode.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let Head { guard, opcode, rest } = Head::of(text)?;
        Some(Self {
            guard: guard.and_then(|name| Slot::parse(name.trim_start_matches('!'))),
            never: guard.is_some_and(|name| matches!(name, "!PT" | "!UPT")),
            opcode,
            base: end_of_base(opcode),
            operands: operands(rest),
        })
    }

    /// The opcode of a line, where nothing else of it is asked for.
    #[must_use]
    pub fn opcode_of(text: &'a str) -> Option<&'a str> {
        // A note behind the operands changes nothing of it.
        Some(Head::of_noteless(text)?.opcode)
    }

    /// The same without modifiers.
    #[must_use]
    pub fn base_of(text: &'a str) -> Option<&'a str> {
        Self::opcode_of(text).map(|opcode| &opcode[..end_of_base(opcode)])
    }

    /// The opcode without modifiers (`LDG`).
    #[must_use]
    pub fn base(&self) -> &'a str {
        &self.opcode[..self.base]
    }

    /// The modifiers (`E`, `64`).
    pub fn modifiers(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.opcode[self.base..].split('.').skip(1)
    }

    /// True where the opcode has this modifier.
    #[must_use]
    pub fn has(&self, modifier: &str) -> bool {
        // Byte by byte: it is asked some twenty times of each instruction.
        let mut pieces = self.opcode.as_bytes()[self.base..].split(|&byte| byte == b'.').skip(1);
        pieces.any(|each| each == modifier.as_bytes())
    }

    /// True for a comparison that asks which of two values is larger.
    #[must_use]
    pub fn compares_by_order(&self) -> bool {
        self.base().ends_with("SETP") && ["LT", "LE", "GT", "GE"].iter().any(|by| self.has(by))
    }

    /// The address of a branch, call or synchronization point: the last operand, if it is a number.
    #[must_use]
    pub fn target(&self) -> Option<u64> {
        let text = self.operands.last()?.text;
        let digits = text.split_whitespace().next_back()?.strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok()
    }

    /// True where some operand holds this word, a literal constant for example.
    #[must_use]
    pub fn holds(&self, word: &str) -> bool {
        self.operands.iter().any(|operand| operand.text == word)
    }
}

/// What stands before the operands, and the operands.
struct Head<'a> {
    /// `P0` or `!UP1` of `@P0` and `@!UP1`.
    guard: Option<&'a str>,
    opcode: &'a str,
    rest: &'a str,
}

impl<'a> Head<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let mut text = text.trim_end();
        // Newer disassemblers append scheduling notes.
        let notes = text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'&' | b'?'));
        let mut begins = notes.map(|(at, _)| at);
        if let Some(at) = begins.find(|at| text[..*at].ends_with(' ')) {
            text = &text[..at];
        }
        Self::of_noteless(text)
    }

    /// Of a text without notes behind its operands.
    fn of_noteless(text: &'a str) -> Option<Self> {
        let mut text = text.trim().trim_end_matches(';').trim_end();
        let mut guard = None;
        if let Some(rest) = text.strip_prefix('@') {
            let (name, rest) = rest.split_once(char::is_whitespace)?;
            guard = Some(name);
            text = rest.trim_start();
        }
        let (opcode, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let opcode = opcode.trim_end_matches(';');
        let is_opcode = opcode.starts_with(|first: char| first.is_ascii_uppercase());
        is_opcode.then_some(Self { guard, opcode, rest })
    }
}

/// Where an opcode's modifiers begin; its length where it has none.
fn end_of_base(opcode: &str) -> usize {
    opcode.find('.').unwrap_or(opcode.len())
}

impl<'a> Operand<'a> {
    fn new(text: &'a str) -> Self {
        let bare = text.trim_start_matches(['-', '!', '~', '|', '+']);
        let word = word(bare);
        let kind = if bare.starts_with("c[") || bare.starts_with("cx[") {
            OperandKind::Constant
        } else if bare.contains('[') {
            OperandKind::Memory
        } else if matches!(word, "RZ" | "URZ" | "SRZ") {
            OperandKind::Register
        } else if matches!(word, "PT" | "UPT" | "PR" | "UPR") {
            OperandKind::Predicate
        } else {
            match Slot::parse(word) {
                Some(slot) if slot.is_predicate() => OperandKind::Predicate,
                Some(_) => OperandKind::Register,
                None => OperandKind::Other,
            }
        };
        Self { kind, text }
    }

    /// The registers and predicates in the operand, each with the suffix behind it (`64`, `reuse`,
    /// `H0_H0`; empty if there is none).
    pub fn slots(&self) -> impl Iterator<Item = (Slot, &'a str)> + use<'a> {
        let mut rest = self.text;
        std::iter::from_fn(move || {
            loop {
                let start = rest.bytes().position(|byte| byte.is_ascii_alphanumeric())?;
                let name = word(&rest[start..]);
                rest = &rest[start + name.len()..];
                // The bars of `|R3|` stand between a register and its suffix.
                let suffix = rest.trim_start_matches('|').strip_prefix('.').map_or("", word);
                if let Some(slot) = Slot::parse(name) {
                    return Some((slot, suffix));
                }
            }
        })
    }

    /// The first register or predicate in the operand.
    #[must_use]
    pub fn slot(&self) -> Option<Slot> {
        self.slots().next().map(|(slot, _)| slot)
    }
}

/// The letters, digits and underscores that a text begins with.
fn word(text: &str) -> &str {
    let ends = |byte: u8| !(byte.is_ascii_alphanumeric() || byte == b'_');
    &text[..text.bytes().position(ends).unwrap_or(text.len())]
}

/// Splits operands at the commas outside brackets.
fn operands<'a>(text: &'a str) -> Vec<Operand<'a>> {
    let mut operands = Vec::with_capacity(5);
    let mut add = |text: &'a str| {
        let text = text.trim();
        if !text.is_empty() {
            operands.push(Operand::new(text));
        }
    };
    let (mut depth, mut start) = (0_u32, 0);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'[' | b'(' => depth += 1,
            b']' | b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                add(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    add(&text[start..]);
    operands
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Instruction<'_> {
        Instruction::parse(text).unwrap()
    }

    fn slots(text: &str) -> Vec<usize> {
        let parsed = parse(text);
        parsed.operands.iter().flat_map(Operand::slots).map(|(slot, _)| slot.index()).collect()
    }

    #[test]
    fn guards_opcodes_and_operands_come_apart() {
        let store = parse("@!P0  STG.E.EF.128 desc[UR6][R22.64+0x10], R24 ;");
        assert_eq!(store.guard, Slot::parse("P0"));
        assert_eq!((store.base(), store.has("128"), store.has("64")), ("STG", true, false));
        let kinds: Vec<OperandKind> = store.operands.iter().map(|operand| operand.kind).collect();
        assert_eq!(kinds, [OperandKind::Memory, OperandKind::Register]);
        assert_eq!(slots("STG.E desc[UR6][R22.64+0x10], R24"), [262, 22, 24]);
        assert!(parse("@!PT LDS RZ, [RZ]").never);
        assert_eq!(parse("@!UP1 UIADD3 UR4, UR4, 0x1, URZ").guard, Slot::parse("UP1"));
        assert_eq!(parse("EXIT").operands, []);
    }

    #[test]
    fn constants_immediates_and_targets_are_no_registers() {
        let load = parse("LDC R7, c[0x3][R7]");
        assert_eq!(load.operands[1].kind, OperandKind::Constant);
        assert_eq!(slots("HFMA2 R12, R7.H0_H0, c[0x0] [0x168].H0_H0, R12.H0_H0"), [12, 7, 12]);
        assert_eq!(slots("FSETP.GTU.FTZ.AND P0, PT, |R27|.reuse, +INF , PT"), [512, 27]);
        assert_eq!(parse("@P0 BRA 0x7f509f7a0260").target(), Some(0x7f50_9f7a_0260));
        assert_eq!(parse("BRA.U UP0, `(.L_x_1)").target(), None);
        assert!(parse("FMUL R4, R0.reuse, 0.63661974668502807617").holds("0.63661974668502807617"));
        assert_eq!(parse("S2R R0, SR_TID.X").operands[1].kind, OperandKind::Other);
    }

    #[test]
    fn suffixes_tell_pairs() {
        let load = parse("LDG.E R0, desc[UR4][R2.64]");
        let seen: Vec<&str> = load.operands[1].slots().map(|(_, suffix)| suffix).collect();
        assert_eq!(seen, ["", "64"]);
        let absolute = parse("FADD R0, |R1|.reuse, R2");
        assert_eq!(absolute.operands[1].slots().next().map(|(_, suffix)| suffix), Some("reuse"));
    }

    #[test]
    fn text_without_an_opcode_is_none() {
        for text in ["", "   ", "@P0", "...", "@P0 ;", ";", "12 R0"] {
            assert_eq!(Instruction::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}", sass in "[@!A-Z0-9. ,\\[\\]+|x;`()-]{0,60}") {
            for text in [text, sass] {
                if let Some(parsed) = Instruction::parse(&text) {
                    parsed.operands.iter().for_each(|operand| {
                        operand.slots().count();
                    });
                    let _ = parsed.target();
                }
            }
        }
    }
}
