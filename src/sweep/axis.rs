//! `--over NAME=V1,V2,…`: what is varied, and what each value sets.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::ladder::overrides::value_of;
use crate::ladder::{Ladder, Overrides, Step, Tuning};
use crate::text::nearest::hint;
use crate::text::printable;

/// The value that leaves everything as the manifest and the compiler have it.
pub const DEFAULT: &str = "default";

/// Names of axes beside parameters and tunables.
const WORDS: [&str; 9] = [
    "block",
    "flags",
    "maxrregcount",
    "dlcm",
    "ftz",
    "prec-div",
    "prec-sqrt",
    "fast-math",
    "carveout",
];

/// ptxas's cache operators for loads from global memory (PTX ISA, "Cache Operators").
const LOAD_CACHING: [&str; 4] = ["ca", "cg", "cs", "cv"];

/// Most registers that a thread can have, on every architecture since compute capability 3.5.
const MOST_REGISTERS: u64 = 255;

/// One thing that is varied, with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// `N`, `BLOCK`, `maxrregcount`, …
    pub name: String,
    values: Vec<Value>,
}

/// A value of an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Value {
    text: String,
    setting: Setting,
}

/// What a value sets.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Setting {
    Nothing,
    Parameter(u64),
    Tunable(u64),
    Block(u32),
    Flags(Vec<String>),
    Carveout(u32),
}

/// What one point of the grid sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Point {
    /// Each axis's value as it was written.
    pub settings: BTreeMap<String, String>,
    /// Parameters that differ from the defaults.
    pub size: Overrides,
    /// Tunables, flags, block, carve-out.
    pub tuning: Tuning,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Parameter,
    Tunable,
    Word,
}

/// A value as people read it: no flags at all have no letters of their own.
#[must_use]
pub fn shown(value: &str) -> &str {
    if value.is_empty() { "none" } else { value }
}

impl Axis {
    /// Reads `NAME=V1,V2,…`. A parameter of the ladder comes before a tunable of the step, and that
    /// before the words of the compiler and the launch.
    ///
    /// # Errors
    /// [`Error::Usage`] that names what is wrong.
    pub fn parse(text: &str, ladder: &Ladder, step: &Step) -> Result<Self> {
        let Some((name, values)) = text.split_once('=') else {
            return fail(
                text,
                "is not of the form NAME=V1,V2,…; write for example BLOCK=64,128,256",
            );
        };
        let name = name.trim();
        let kind = kind(name, ladder, step)?;
        let separator = if kind == Kind::Word && name == "flags" { '|' } else { ',' };
        let mut axis = Self { name: name.to_owned(), values: Vec::new() };
        for value in values.split(separator).map(str::trim) {
            if axis.values.iter().any(|known| known.text == value) {
                return fail(text, &format!("gives {} twice", quoted(shown(value))));
            }
            let setting = setting(kind, name, value).map_err(|problem| {
                Error::Usage(format!("--over {name}: {}: {problem}", quoted(value)))
            })?;
            axis.values.push(Value { text: value.to_owned(), setting });
        }
        Ok(axis)
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True where there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values as they were written.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.values.iter().map(|value| value.text.clone()).collect()
    }

    /// True where the axis varies the problem itself.
    #[must_use]
    pub fn is_parameter(&self) -> bool {
        self.values.iter().any(|value| matches!(value.setting, Setting::Parameter(_)))
    }

    /// Sets a point to the value at this place; a place beyond the last changes nothing.
    pub(super) fn apply(&self, place: usize, point: &mut Point) {
        let Some(value) = self.values.get(place) else { return };
        point.settings.insert(self.name.clone(), value.text.clone());
        match &value.setting {
            Setting::Nothing => {}
            Setting::Parameter(size) => {
                point.size.insert(self.name.clone(), *size);
            }
            Setting::Tunable(tunable) => {
                point.tuning.tune.insert(self.name.clone(), *tunable);
            }
            Setting::Block(threads) => point.tuning.block = Some(*threads),
            Setting::Flags(flags) => point.tuning.flags.extend(flags.iter().cloned()),
            Setting::Carveout(percent) => point.tuning.carveout_percent = Some(*percent),
        }
    }
}

fn fail<T>(text: &str, problem: &str) -> Result<T> {
    Err(Error::Usage(format!("--over: {} {problem}", quoted(text))))
}

fn quoted(text: &str) -> String {
    format!("`{}`", printable(text))
}

fn kind(name: &str, ladder: &Ladder, step: &Step) -> Result<Kind> {
    let tunables = step.tunables();
    let parameters: Vec<&str> = ladder.parameters().iter().map(|(name, _)| name.as_str()).collect();
    if parameters.contains(&name) {
        return Ok(Kind::Parameter);
    }
    if tunables.contains_key(name) {
        return Ok(Kind::Tunable);
    }
    if step.is_program() && WORDS.contains(&name) {
        return fail(
            name,
            &format!(
                "sets how adoprof compiles and launches kernels, and {}/{} is a program: put a name in \
                 braces into its `build` or `run`, declare it in `tune`, and sweep over that",
                ladder.name(),
                step.name()
            ),
        );
    }
    if WORDS.contains(&name) {
        return Ok(Kind::Word);
    }
    let words: &[&str] = if step.is_program() { &[] } else { &WORDS };
    let known: Vec<&str> = parameters
        .into_iter()
        .chain(tunables.keys().map(String::as_str))
        .chain(words.iter().copied())
        .collect();
    fail(
        name,
        &format!(
            "is not something that {}/{} can be swept over{}",
            ladder.name(),
            step.name(),
            hint(name, &known)
        ),
    )
}

fn setting(kind: Kind, name: &str, value: &str) -> std::result::Result<Setting, String> {
    if value == DEFAULT {
        return Ok(Setting::Nothing);
    }
    if kind == Kind::Word && name == "flags" {
        return shell_words::split(value)
            .map(Setting::Flags)
            .map_err(|error| format!("the quotes don't match ({error})"));
    }
    if value.is_empty() {
        return Err("a value is missing".to_owned());
    }
    let flag = |text: String| Setting::Flags(vec![text]);
    match (kind, name) {
        (Kind::Parameter, _) => value_of(value).map(Setting::Parameter),
        (Kind::Tunable, _) => value_of(value).map(Setting::Tunable),
        (Kind::Word, "block") => match value_of(value)? {
            threads @ 1..=1024 => Ok(Setting::Block(threads as u32)),
            _ => Err("a block has 1 to 1024 threads".to_owned()),
        },
        (Kind::Word, "maxrregcount") => match value_of(value)? {
            count @ 1..=MOST_REGISTERS => Ok(flag(format!("--maxrregcount={count}"))),
            _ => Err(format!("a thread has at most {MOST_REGISTERS} registers")),
        },
        (Kind::Word, "dlcm") if LOAD_CACHING.contains(&value) => {
            // NVRTC hands it to ptxas only in this form; a plain -dlcm is refused.
            Ok(flag(format!("--ptxas-options=-dlcm={value}")))
        }
        (Kind::Word, "dlcm") => Err(format!("write one of {}", LOAD_CACHING.join(", "))),
        (Kind::Word, "carveout") => match value.trim_end_matches('%').parse() {
            Ok(percent @ 0..=100) => Ok(Setting::Carveout(percent)),
            _ => Err("a carve-out is a percentage from 0 to 100".to_owned()),
        },
        (Kind::Word, "fast-math") => match value {
            "true" => Ok(flag("--use_fast_math".to_owned())),
            "false" => Ok(Setting::Nothing),
            _ => Err("write true or false".to_owned()),
        },
        // -ftz, -prec-div and -prec-sqrt are spelt alike.
        (Kind::Word, name) => match value {
            "true" | "false" => Ok(flag(format!("-{name}={value}"))),
            _ => Err("write true or false".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `increment/i5` with a parameter `N` and a tunable `BLOCK`.
    fn parse(text: &str) -> Result<Axis> {
        let ladder = Ladder::builtin("increment").unwrap();
        let step = ladder.step("i5").unwrap();
        Axis::parse(text, &ladder, step)
    }

    fn points(text: &str) -> Vec<Point> {
        let axis = parse(text).unwrap();
        (0..axis.len())
            .map(|place| {
                let mut point = Point::default();
                axis.apply(place, &mut point);
                point
            })
            .collect()
    }

    fn flags(text: &str) -> Vec<Vec<String>> {
        points(text).into_iter().map(|point| point.tuning.flags).collect()
    }

    #[test]
    fn parameters_and_tunables_take_sizes() {
        let sizes: Vec<u64> =
            points("N=512, 1K,2^20").iter().map(|point| point.size["N"]).collect();
        assert_eq!(sizes, [512, 1024, 1 << 20]);
        let blocks: Vec<u64> =
            points("BLOCK=64,128").iter().map(|point| point.tuning.tune["BLOCK"]).collect();
        assert_eq!(blocks, [64, 128]);
        assert!(
            parse("N=1,2").unwrap().is_parameter() && !parse("BLOCK=1").unwrap().is_parameter()
        );
    }

    #[test]
    fn words_become_flags_block_and_carve_out() {
        assert_eq!(
            flags("maxrregcount=default,32"),
            [vec![], vec!["--maxrregcount=32".to_owned()]]
        );
        assert_eq!(flags("dlcm=cg")[0], ["--ptxas-options=-dlcm=cg"]);
        assert_eq!(flags("prec-div=false")[0], ["-prec-div=false"]);
        assert_eq!(flags("fast-math=false,true"), [vec![], vec!["--use_fast_math".to_owned()]]);
        assert_eq!(
            flags("flags=|-ftz=true -DA='x y'|--use_fast_math"),
            [
                vec![],
                vec!["-ftz=true".to_owned(), "-DA=x y".to_owned()],
                vec!["--use_fast_math".to_owned()]
            ]
        );
        assert_eq!(points("block=96")[0].tuning.block, Some(96));
        let carveouts: Vec<_> =
            points("carveout=0,50%").iter().map(|point| point.tuning.carveout_percent).collect();
        assert_eq!(carveouts, [Some(0), Some(50)]);
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, words) in [
            ("BLOCK", "is not of the form NAME=V1,V2"),
            ("BLOK=1", "did you mean `BLOCK`?"),
            ("=1", "is not something that increment/i5 can be swept over"),
            ("N=", "a value is missing"),
            ("N=1,,2", "a value is missing"),
            ("N=0", "0 leaves nothing to compute"),
            ("N=1,1", "gives `1` twice"),
            ("flags=|", "gives `none` twice"),
            ("flags='", "quotes don't match"),
            ("block=1025", "1 to 1024 threads"),
            ("maxrregcount=256", "at most 255 registers"),
            ("dlcm=xx", "write one of ca, cg, cs, cv"),
            ("carveout=101", "0 to 100"),
            ("ftz=yes", "write true or false"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(matches!(error, Error::Usage(_)), "{text}: {error:?}");
            assert!(error.to_string().contains(words), "{text}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(N|BLOCK|flags|dlcm|carveout|block)?[=,|0-9a-zK^%'é -]{0,20}") {
            let _ = parse(&text);
        }
    }
}
