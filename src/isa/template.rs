//! A text with holes, as the table writes it.
//!
//! - `{74?.X:}`: `.X` where bit 74 is set, else nothing. A test may also be `81.3=7` (three bits from 81
//!   hold 7) and `32.32^` (a power of two).
//! - `{73.3/.U8/.S8/}`: the text whose number stands in three bits from 73; a field of several pieces
//!   names the lowest first (`73.2+80.1`). Numbers beyond the last text have none.
//! - `<R16>` and the like: a number, see [`Number`].

use super::encoding::Encoding;

/// Pieces of a bit field, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pieces: [(u8, u8); Field::MOST],
    count: u8,
}

impl Field {
    const MOST: usize = 8;

    /// Reads `40.24` or `16.8+34.48`.
    fn parse(text: &str) -> Option<Self> {
        let mut field = Self { pieces: [(0, 0); Self::MOST], count: 0 };
        for piece in text.split('+') {
            let (low, width) = piece.split_once('.').unwrap_or((piece, "1"));
            *field.pieces.get_mut(usize::from(field.count))? =
                (low.parse().ok()?, width.parse().ok()?);
            field.count += 1;
        }
        (field.width() <= 64).then_some(field)
    }

    /// Bits in all.
    #[must_use]
    pub(super) fn width(&self) -> u32 {
        self.pieces().iter().map(|(_, width)| u32::from(*width)).sum()
    }

    fn pieces(&self) -> &[(u8, u8)] {
        &self.pieces[..usize::from(self.count)]
    }

    /// The value in an instruction.
    #[must_use]
    pub(super) fn of(&self, encoding: Encoding) -> u64 {
        let (mut value, mut shift) = (0, 0);
        for &(low, width) in self.pieces() {
            value |= encoding.bits(low, width) << shift;
            shift += u32::from(width);
        }
        value
    }
}

/// What a number in the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `R`: a register; all ones are `RZ`.
    Register,
    /// `U`: a uniform register; all ones are `URZ`.
    UniformRegister,
    /// `P`: a predicate; 7 is `PT`.
    Predicate,
    /// `Q`: a uniform predicate; 7 is `UPT`.
    UniformPredicate,
    /// `B`: a convergence barrier, `B3`.
    Barrier,
    /// `X`: hexadecimal, `0x10` or `-0x8`.
    Hexadecimal,
    /// `N`: the same with the other sign.
    Negated,
    /// `T`: hexadecimal, from the next instruction on.
    Target,
    /// `I`: decimal.
    Decimal,
    /// `M`: the places of the bits set, `{2,0}`.
    Mask,
    /// `F`: a float of 32 bits.
    Float,
    /// `D`: the upper half of a float of 64 bits.
    Double,
    /// `H`: a float of 16 bits.
    Half,
    /// `J`: a bfloat16.
    Bfloat,
}

/// A number: what it is, where it stands, and how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub field: Field,
    /// `-`: the highest bit is a sign.
    pub signed: bool,
    /// `!`: counted from the other end, as 7 - n for predicates.
    pub inverted: bool,
    /// `2'`: so many zeros stand below the field.
    pub shift: u8,
}

impl Number {
    /// Reads `R16.8`, `X-40.24`, `T-2'16.8+34.48`, `P!64.3`.
    fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_at_checked(1)?;
        let kind = match kind {
            "R" => Kind::Register,
            "U" => Kind::UniformRegister,
            "P" => Kind::Predicate,
            "Q" => Kind::UniformPredicate,
            "B" => Kind::Barrier,
            "X" => Kind::Hexadecimal,
            "N" => Kind::Negated,
            "T" => Kind::Target,
            "I" => Kind::Decimal,
            "M" => Kind::Mask,
            "F" => Kind::Float,
            "D" => Kind::Double,
            "H" => Kind::Half,
            "J" => Kind::Bfloat,
            _ => return None,
        };
        let unsigned = rest.strip_prefix('-');
        let signed = unsigned.is_some();
        let rest = unsigned.unwrap_or(rest);
        let upright = rest.strip_prefix('!');
        let inverted = upright.is_some();
        let rest = upright.unwrap_or(rest);
        let (shift, field) = rest.split_once('\'').unwrap_or(("0", rest));
        let shift = shift.parse().ok().filter(|shift| *shift < 16)?;
        Some(Self { kind, field: Field::parse(field)?, signed, inverted, shift })
    }
}

/// A question to the bits of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Test {
    /// A bit is set.
    Bit(u8),
    /// So many bits from a place on hold a value.
    Equals(u8, u8, u64),
    /// They hold a power of two.
    PowerOfTwo(u8, u8),
}

impl Test {
    fn parse(text: &str) -> Option<Self> {
        if let Some((field, value)) = text.split_once('=') {
            let (low, width) = field.split_once('.')?;
            Some(Self::Equals(low.parse().ok()?, width.parse().ok()?, value.parse().ok()?))
        } else if let Some(field) = text.strip_suffix('^') {
            let (low, width) = field.split_once('.')?;
            Some(Self::PowerOfTwo(low.parse().ok()?, width.parse().ok()?))
        } else {
            text.parse().ok().map(Self::Bit)
        }
    }

    /// The answer.
    #[must_use]
    pub(super) fn holds(self, encoding: Encoding) -> bool {
        match self {
            Self::Bit(place) => encoding.bit(place),
            Self::Equals(low, width, value) => encoding.bits(low, width) == value,
            Self::PowerOfTwo(low, width) => encoding.bits(low, width).is_power_of_two(),
        }
    }
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Itself.
    Text(&'a str),
    /// A number.
    Number(Number),
    /// One of two texts.
    Either(Test, Template<'a>, Template<'a>),
    /// One of many texts.
    Choice(Field, Vec<Template<'a>>),
}

/// Pieces one after the other.
pub(super) type Template<'a> = Vec<Piece<'a>>;

/// Reads a template; `None` where it is not well formed.
#[must_use]
pub(super) fn parse(text: &str) -> Option<Template<'_>> {
    let mut rest = text;
    let template = sequence(&mut rest)?;
    rest.is_empty().then_some(template)
}

/// Pieces up to the end, or to what ends a branch of the template around them.
fn sequence<'a>(rest: &mut &'a str) -> Option<Template<'a>> {
    let mut pieces = Vec::new();
    loop {
        let ends = |byte| matches!(byte, b'{' | b'<' | b'/' | b':' | b'}');
        let end = rest.bytes().position(ends).unwrap_or(rest.len());
        let (text, after) = rest.split_at(end);
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        *rest = after;
        match after.bytes().next() {
            Some(b'{') => pieces.push(branch(rest)?),
            Some(b'<') => {
                let (number, after) = after[1..].split_once('>')?;
                pieces.push(Piece::Number(Number::parse(number)?));
                *rest = after;
            }
            _ => return Some(pieces),
        }
    }
}

fn branch<'a>(rest: &mut &'a str) -> Option<Piece<'a>> {
    let inside = rest.strip_prefix('{')?;
    let end = inside.bytes().position(|byte| matches!(byte, b'?' | b'/'))?;
    let (head, after) = inside.split_at(end);
    *rest = after;
    if let Some(after) = rest.strip_prefix('?') {
        *rest = after;
        let yes = sequence(rest)?;
        *rest = rest.strip_prefix(':')?;
        let no = sequence(rest)?;
        *rest = rest.strip_prefix('}')?;
        return Some(Piece::Either(Test::parse(head)?, yes, no));
    }
    let mut choices = Vec::new();
    while let Some(after) = rest.strip_prefix('/') {
        *rest = after;
        choices.push(sequence(rest)?);
    }
    *rest = rest.strip_prefix('}')?;
    Some(Piece::Choice(Field::parse(head)?, choices))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_join_their_pieces() {
        let field = Field::parse("4.4+16.8").unwrap();
        assert_eq!(field.width(), 12);
        assert_eq!(field.of(Encoding(0xab_00d5)), 0xabd);
        for wrong in ["", "x", "1.", "0.64+80.1"] {
            assert_eq!(Field::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn texts_numbers_and_branches_nest() {
        let template = parse("ADD{74?.X:{75.2/.A//.C}} <R-!2'16.8>").unwrap();
        let [Piece::Text("ADD"), Piece::Either(Test::Bit(74), yes, no), Piece::Text(" "), last] =
            template.as_slice()
        else {
            panic!("{template:?}");
        };
        assert_eq!(yes.as_slice(), [Piece::Text(".X")]);
        let [Piece::Choice(field, choices)] = no.as_slice() else { panic!("{no:?}") };
        assert_eq!((field.width(), choices.len()), (2, 3));
        let Piece::Number(number) = last else { panic!("{last:?}") };
        assert_eq!((number.kind, number.signed, number.inverted), (Kind::Register, true, true));
        assert_eq!(number.shift, 2);
    }

    #[test]
    fn tests_ask_bits_fields_and_powers_of_two() {
        let encoding = Encoding(0b100_1000);
        for (test, answer) in [("3", true), ("4", false), ("3.4=9", true), ("3.4=8", false)] {
            assert_eq!(Test::parse(test).unwrap().holds(encoding), answer, "{test}");
        }
        assert!(Test::parse("4.3^").unwrap().holds(encoding));
        assert!(!Test::parse("3.4^").unwrap().holds(encoding));
    }

    #[test]
    fn what_is_not_well_formed_is_refused() {
        assert!(parse("<X15'0.4>").is_some());
        for wrong in ["<X16'0.4>", "{1?a}", "{1?a:b", "<R16", "<Z16>", "a}", "{}", "{x?a:b}", "a/b"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[{}<>?:/.=^0-9A-Z+'!-]{0,40}") {
            let _ = parse(&text);
        }
    }
}
