//! From words and signs to a tree, of bounded depth and size.

use super::Problem;
use super::figure::{self, Figure};
use super::lexer::{Token, tokens};
use super::opcodes::OpcodePattern;
use super::tree::{Counted, Function, Kind, Node, Sign};
use crate::text::nearest;

/// The longest text, bytes.
const LONGEST: usize = 4000;
/// The most parts of one expression.
const MOST_NODES: usize = 400;
/// How deep brackets and signs before a number may stand in each other. What stands in a row, such as `a and b and c`, is
/// nested in the tree too, up to [`MOST_NODES`].
const DEEPEST: usize = 40;
/// The most patterns of opcodes in one expression: each is a walk over all instructions.
const MOST_PATTERNS: usize = 16;

/// Signs by how firmly they bind, loosest first; each with the words that mean it.
const LEVELS: [&[(&[&str], Sign)]; 5] = [
    &[(&["or", "||"], Sign::Or)],
    &[(&["and", "&&"], Sign::And)],
    &[
        (&["<="], Sign::AtMost),
        (&[">="], Sign::AtLeast),
        (&["=="], Sign::Equal),
        (&["!="], Sign::Unequal),
        (&["<"], Sign::Less),
        (&[">"], Sign::More),
    ],
    &[(&["+"], Sign::Plus), (&["-"], Sign::Minus)],
    &[(&["*"], Sign::Times), (&["/"], Sign::Over)],
];

/// The level of comparisons, of which one stands between two numbers.
const COMPARISONS: usize = 2;

/// Names of functions that take a figure or a pattern.
const SPECIAL: [&str; 6] = ["if", "has", "default", "sass", "sass_share", "sass_listed"];

/// Parses a text.
///
/// # Errors
/// The first mistake.
pub(crate) fn parse(text: &str) -> Result<Node, Problem> {
    if text.len() > LONGEST {
        return Err(Problem::new(
            0,
            format!("the expression has {} bytes, and at most {LONGEST} are allowed", text.len()),
        ));
    }
    let mut parser =
        Parser { tokens: tokens(text)?, at: 0, end: text.len(), nodes: 0, patterns: 0, depth: 0 };
    let node = parser.level(0)?;
    match parser.tokens.get(parser.at) {
        None => Ok(node),
        Some((at, token)) => Err(Problem::new(
            *at,
            format!("{} stands where the expression should end", word(token)),
        )),
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    at: usize,
    end: usize,
    nodes: usize,
    patterns: usize,
    depth: usize,
}

fn too_deep(at: usize) -> Problem {
    Problem::new(
        at,
        format!(
            "brackets and signs are nested more than {DEEPEST} deep here; write it flatter, or make two rules of it"
        ),
    )
}

impl Parser {
    /// Where the next token begins.
    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |(at, _)| *at)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    /// Takes the next token if it is one of these words or signs.
    fn take(&mut self, words: &[&str]) -> bool {
        let is_it = match self.peek() {
            Some(Token::Sign(sign)) => words.contains(sign),
            Some(Token::Name(name)) => words.contains(&name.as_str()),
            _ => false,
        };
        self.at += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), Problem> {
        if self.take(&[sign]) {
            return Ok(());
        }
        let found = self.peek().map_or_else(|| "the end".to_owned(), word);
        Err(Problem::new(self.place(), format!("`{sign}` is missing before {found}")))
    }

    fn node(&mut self, at: usize, kind: Kind) -> Result<Node, Problem> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(Problem::new(
                at,
                format!("the expression has more than {MOST_NODES} parts; make two rules of it"),
            ));
        }
        Ok(Node { at, kind })
    }

    /// One more level of parts within parts.
    fn deeper(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<Node, Problem>,
    ) -> Result<Node, Problem> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(too_deep(self.place()));
        }
        let node = parse(self);
        self.depth -= 1;
        node
    }

    fn level(&mut self, level: usize) -> Result<Node, Problem> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        let mut compared = false;
        loop {
            let place = self.place();
            let Some(&(_, sign)) = signs.iter().find(|(words, _)| self.take(words)) else {
                return Ok(left);
            };
            if level == COMPARISONS && std::mem::replace(&mut compared, true) {
                return Err(Problem::new(place, "two comparisons in a row; join them with `and`"));
            }
            let right = self.level(level + 1)?;
            let at = left.at;
            left = self.node(at, Kind::Binary(sign, Box::new(left), Box::new(right)))?;
        }
    }

    fn unary(&mut self) -> Result<Node, Problem> {
        let at = self.place();
        if self.take(&["-"]) {
            let inner = self.deeper(Self::unary)?;
            return self.node(at, Kind::Negative(Box::new(inner)));
        }
        if self.take(&["not", "!"]) {
            // `not a < b` is `not (a < b)`.
            let inner = self.deeper(|parser| parser.level(COMPARISONS))?;
            return self.node(at, Kind::Not(Box::new(inner)));
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<Node, Problem> {
        let at = self.place();
        if self.take(&["("]) {
            let inner = self.deeper(|parser| parser.level(0))?;
            self.expect(")")?;
            return Ok(inner);
        }
        let Some(token) = self.peek().cloned() else {
            return Err(Problem::new(at, "a number or a figure is missing at the end"));
        };
        self.at += 1;
        match token {
            Token::Number(value, unit) => self.node(at, Kind::Number(value, unit)),
            Token::Name(name) if matches!(name.as_str(), "true" | "false") => {
                self.node(at, Kind::Truth(name == "true"))
            }
            Token::Name(name) if matches!(self.peek(), Some(Token::Sign("("))) => {
                self.call(at, &name)
            }
            Token::Name(name) => {
                let found = figure::find(&name).map_err(|what| Problem::new(at, what))?;
                self.node(at, Kind::Figure(found))
            }
            other => Err(Problem::new(
                at,
                format!("{} stands where a number or a figure should", word(&other)),
            )),
        }
    }

    fn call(&mut self, at: usize, name: &str) -> Result<Node, Problem> {
        self.expect("(")?;
        let kind = match name {
            "if" => {
                let condition = self.deeper(|parser| parser.level(0))?;
                self.expect(",")?;
                let yes = self.deeper(|parser| parser.level(0))?;
                self.expect(",")?;
                let no = self.deeper(|parser| parser.level(0))?;
                Kind::If(Box::new(condition), Box::new(yes), Box::new(no))
            }
            "has" => Kind::Has(self.figure()?),
            "default" => {
                let figure = self.figure()?;
                self.expect(",")?;
                Kind::Default(figure, Box::new(self.deeper(|parser| parser.level(0))?))
            }
            "sass" => Kind::Opcodes(Counted::Executed, self.pattern()?),
            "sass_share" => Kind::Opcodes(Counted::Share, self.pattern()?),
            "sass_listed" => Kind::Opcodes(Counted::Listed, self.pattern()?),
            _ => {
                let known = Function::ALL.into_iter().find(|(known, _)| *known == name);
                let (_, function) = known.ok_or_else(|| unknown_function(at, name))?;
                let mut several = vec![self.deeper(|parser| parser.level(0))?];
                while self.take(&[","]) {
                    several.push(self.deeper(|parser| parser.level(0))?);
                }
                match (function.takes_several(), several.len()) {
                    (true, 2..) | (false, 1) => {}
                    (true, _) => {
                        return Err(Problem::new(
                            at,
                            format!("`{name}` takes two numbers or more"),
                        ));
                    }
                    (false, _) => {
                        return Err(Problem::new(at, format!("`{name}` takes one number")));
                    }
                }
                Kind::Call(function, several)
            }
        };
        self.expect(")")?;
        self.node(at, kind)
    }

    fn figure(&mut self) -> Result<&'static Figure, Problem> {
        let at = self.place();
        let Some(Token::Name(name)) = self.peek().cloned() else {
            return Err(Problem::new(at, "the name of a figure is missing here"));
        };
        self.at += 1;
        figure::find(&name).map_err(|what| Problem::new(at, what))
    }

    fn pattern(&mut self) -> Result<OpcodePattern, Problem> {
        let at = self.place();
        let Some(Token::Text(text)) = self.peek().cloned() else {
            return Err(Problem::new(
                at,
                "a pattern of opcodes in quotes is missing here, such as \"LDG\"",
            ));
        };
        self.at += 1;
        self.patterns += 1;
        if self.patterns > MOST_PATTERNS {
            return Err(Problem::new(
                at,
                format!("the expression counts more than {MOST_PATTERNS} patterns of opcodes"),
            ));
        }
        OpcodePattern::parse(&text).map_err(|what| Problem::new(at, what))
    }
}

fn unknown_function(at: usize, name: &str) -> Problem {
    let names: Vec<&str> = Function::ALL.iter().map(|(name, _)| *name).chain(SPECIAL).collect();
    let meant = nearest(name, names.iter().copied());
    let meant = meant.map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{near}`?"));
    Problem::new(
        at,
        format!("there is no function `{name}`{meant} Functions are {}", names.join(", ")),
    )
}

/// A token in words.
fn word(token: &Token) -> String {
    match token {
        Token::Number(value, _) => format!("the number {value}"),
        Token::Name(name) => format!("`{name}`"),
        Token::Text(_) => "a quoted text".to_owned(),
        Token::Sign(sign) => format!("`{sign}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        parse(text).expect_err(text).what
    }

    #[test]
    fn signs_bind_as_in_mathematics() {
        let Kind::Binary(Sign::Or, left, _) =
            parse("1 + 2 * 3 > 4 and 1 < 2 or 2 < 1").unwrap().kind
        else {
            panic!()
        };
        let Kind::Binary(Sign::And, left, _) = left.kind else { panic!() };
        let Kind::Binary(Sign::More, left, _) = left.kind else { panic!() };
        let Kind::Binary(Sign::Plus, _, right) = left.kind else { panic!() };
        assert!(matches!(right.kind, Kind::Binary(Sign::Times, ..)));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, words) in [
            ("", "missing at the end"),
            ("1 +", "missing at the end"),
            ("(1", "`)` is missing before the end"),
            ("1 < 2 < 3", "join them with `and`"),
            ("1 2", "should end"),
            ("mi(1, 2)", "did you mean `min`?"),
            ("min(1)", "two numbers or more"),
            ("abs(1, 2)", "takes one number"),
            ("sass(LDG)", "in quotes"),
            ("sass(\"ldg\")", "in capitals"),
            ("has(3)", "name of a figure"),
            ("dram__bytes > 3", "no figure `dram__bytes`"),
        ] {
            let what = problem(text);
            assert!(what.contains(words), "{text}: {what}");
        }
    }

    #[test]
    fn a_long_row_is_not_deep() {
        assert!(parse(&vec!["1 < 2"; 100].join(" and ")).is_ok());
        assert!(parse(&vec!["1"; 200].join(" + ")).is_ok());
    }

    #[test]
    fn hostile_texts_are_refused_in_a_sentence() {
        for text in [
            "(".repeat(3000),
            "-".repeat(3000),
            "not ".repeat(900),
            "1+".repeat(1500) + "1",
            "x".repeat(5000),
            format!("min({})", vec!["1"; 1000].join(",")),
            vec!["sass(\"A\")"; 20].join("+"),
            vec!["1 < 2"; 300].join(" and "),
            "if(1<2,".repeat(300),
        ] {
            let what = problem(&text);
            assert!(what.len() < 300 && !what.contains('\n'), "{what}");
        }
    }
}
