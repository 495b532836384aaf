//! An expression, parsed.

use super::figure::Figure;
use super::opcodes::OpcodePattern;
use super::unit::Unit;

/// A part of an expression.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Where it begins in its text, bytes.
    pub at: usize,
    /// What it is.
    pub kind: Kind,
}

/// What a part of an expression is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// A number.
    Number(f64, Unit),
    /// `true` or `false`.
    Truth(bool),
    /// The value of a figure.
    Figure(&'static Figure),
    /// A count of instructions by opcode.
    Opcodes(Counted, OpcodePattern),
    /// True where the profile tells the figure.
    Has(&'static Figure),
    /// The figure, or something else where the profile does not tell it.
    Default(&'static Figure, Box<Node>),
    /// `-a`
    Negative(Box<Node>),
    /// `not a`
    Not(Box<Node>),
    /// Two parts with a sign between them.
    Binary(Sign, Box<Node>, Box<Node>),
    /// A function of numbers.
    Call(Function, Vec<Node>),
    /// One of two numbers, by a condition.
    If(Box<Node>, Box<Node>, Box<Node>),
}

/// How instructions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Executed warp instructions.
    Executed,
    /// Their share of all executed ones.
    Share,
    /// Instructions of the code, executed or not.
    Listed,
}

impl Counted {
    /// The function's name, and the unit of what it gives.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Executed => ("sass", "inst"),
            Self::Share => ("sass_share", "share"),
            Self::Listed => ("sass_listed", "inst"),
        }
    }
}

/// A sign between two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Or,
    And,
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
    Plus,
    Minus,
    Times,
    Over,
}

impl Sign {
    /// As it is written.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Or => "or",
            Self::And => "and",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Over => "/",
        }
    }

    /// True for signs that compare two numbers.
    pub(super) fn compares(self) -> bool {
        use Sign::{AtLeast, AtMost, Equal, Less, More, Unequal};
        matches!(self, Less | AtMost | More | AtLeast | Equal | Unequal)
    }
}

/// A function of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Min,
    Max,
    Abs,
    Floor,
    Ceil,
    Sqrt,
    Log2,
}

impl Function {
    /// All of them, with their names.
    pub(super) const ALL: [(&'static str, Self); 7] = [
        ("min", Self::Min),
        ("max", Self::Max),
        ("abs", Self::Abs),
        ("floor", Self::Floor),
        ("ceil", Self::Ceil),
        ("sqrt", Self::Sqrt),
        ("log2", Self::Log2),
    ];

    /// True where it takes two numbers or more; the others take one.
    pub(super) fn takes_several(self) -> bool {
        matches!(self, Self::Min | Self::Max)
    }
}

impl Node {
    /// The parts of it.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match &self.kind {
            Kind::Default(_, one) | Kind::Negative(one) | Kind::Not(one) => vec![one],
            Kind::Binary(_, left, right) => vec![left, right],
            Kind::If(condition, yes, no) => vec![condition, yes, no],
            Kind::Call(_, several) => several.iter().collect(),
            Kind::Number(..)
            | Kind::Truth(_)
            | Kind::Figure(_)
            | Kind::Opcodes(..)
            | Kind::Has(_) => Vec::new(),
        }
    }

    /// Calls with every part, itself first.
    pub(crate) fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Self)) {
        see(self);
        for part in self.parts() {
            part.visit(see);
        }
    }
}
