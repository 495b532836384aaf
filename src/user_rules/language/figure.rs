//! The figures that an expression can name: metrics of the catalogue, stalls, terms of the model, counts of SASS.

use std::sync::LazyLock;

use super::sass_counts::{SASS_COUNTS, SassCount};
use crate::evidence::ModeledLaunch;
use crate::metric::stall::StallReason;
use crate::metric::{CATALOGUE, canonical};
use crate::term::Term;
use crate::text::nearest;

/// A figure with its name.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// How an expression names it.
    pub name: String,
    /// The unit of its values.
    pub unit: &'static str,
    /// What it is, in a few words.
    pub title: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The most that it can be; infinity where nothing is known.
    pub most: f64,
}

/// Where a figure comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// The catalogue.
    Metric(&'static str),
    /// Cycles per issued instruction that a warp spends in a stall.
    Stall(StallReason),
    /// The stall's share of all stall cycles.
    StallShare(StallReason),
    /// The share of the time for which a unit is busy.
    Busy(Term),
    /// A part of the model's time.
    Model(Part),
    /// Executed instructions of a kind.
    Sass(SassCount),
    /// The launch's shape.
    Shape(Shape),
}

/// A part of the time that no unit covers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// All of it.
    Uncovered,
    /// Warps are resident and wait.
    Latency,
    /// SMs have no warp.
    Idle,
    /// An empty launch takes it too.
    Launch,
}

/// A number of the launch itself.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// Blocks along a dimension.
    Grid(usize),
    /// Threads of a block along a dimension.
    Block(usize),
    /// 10 times the major plus the minor number of the compute capability.
    ComputeCapability,
}

/// The words of terms after `busy.` and in what-ifs, in the terms' order.
pub(crate) const TERM_WORDS: [&str; Term::COUNT] = [
    "dram",
    "l2",
    "l2_requests",
    "l1",
    "lsu",
    "issue",
    "fma",
    "alu",
    "fp64",
    "xu",
    "tensor",
    "atomic",
    "constant",
    "host_link",
    "peer_link",
    "block_scheduler",
];

/// The most that a percentage can be: counters of different passes can exceed the peak by a little.
const MOST_PERCENT: f64 = 110.0;

/// All figures, in the order in which `rules metrics` lists them.
pub(crate) static FIGURES: LazyLock<Vec<Figure>> = LazyLock::new(all);

/// The figure of that name, or what to say instead.
///
/// # Errors
/// That there is none, with the nearest name.
pub(super) fn find(name: &str) -> Result<&'static Figure, String> {
    let exact = |name: &str| FIGURES.iter().find(|figure| figure.name == name);
    if let Some(figure) = exact(name) {
        return Ok(figure);
    }
    if let Some((metric, scale)) = canonical(name) {
        #[expect(clippy::float_cmp, reason = "a constant of the catalogue, not a result")]
        let is_same = scale == 1.0;
        return match exact(metric.name).filter(|_| is_same) {
            Some(figure) => Ok(figure),
            None => Err(format!(
                "`{name}` has another scale here: write `{}`, in {}",
                metric.name, metric.unit
            )),
        };
    }
    let meant = nearest(name, FIGURES.iter().map(|figure| figure.name.as_str()));
    let meant = meant.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(format!("there is no figure `{name}`{meant} (`adoprof rules metrics` lists them all)"))
}

/// The term of a word.
pub(crate) fn term(word: &str) -> Option<Term> {
    let at = TERM_WORDS.iter().position(|known| *known == word)?;
    Term::ALL.get(at).copied()
}

/// The stall of a word, as ncu's metrics have it.
pub(crate) fn stall(word: &str) -> Option<StallReason> {
    stalls().find(|reason| reason.word() == word)
}

/// The reasons for which a warp waits.
pub(crate) fn stalls() -> impl Iterator<Item = StallReason> {
    StallReason::all()
        .filter(|reason| !matches!(reason, StallReason::Selected | StallReason::NotSelected))
}

fn all() -> Vec<Figure> {
    let metrics = CATALOGUE.iter().map(|metric| {
        let most = match metric.unit {
            "%" => MOST_PERCENT,
            "lane" => crate::hardware::WARP_LANES,
            _ => f64::INFINITY,
        };
        figure(metric.name, metric.unit, metric.title, Origin::Metric(metric.name), most)
    });
    let stalls_of = |share: bool| {
        stalls().map(move |reason| {
            let word = reason.word();
            if share {
                let title = format!("share of the stall {word}");
                figure(
                    &format!("stall_share.{word}"),
                    "share",
                    &title,
                    Origin::StallShare(reason),
                    1.0,
                )
            } else {
                let title = format!("cycles in the stall {word}");
                let unit = "cycle/inst";
                figure(&format!("stall.{word}"), unit, &title, Origin::Stall(reason), f64::INFINITY)
            }
        })
    };
    let busy = Term::ALL.into_iter().zip(TERM_WORDS).map(|(term, word)| {
        let title = format!(
            "{}: share of the time for which it is busy at its achievable rate",
            term.title()
        );
        figure(&format!("busy.{word}"), "share", &title, Origin::Busy(term), 1.0)
    });
    let model = [
        ("uncovered", "share of the time that no unit covers", Part::Uncovered),
        (
            "latency",
            "share of the time in which no unit is busy and resident warps wait",
            Part::Latency,
        ),
        ("idle", "share of the time in which SMs have no warp", Part::Idle),
        ("launch", "share of the time that an empty launch takes too", Part::Launch),
    ]
    .map(|(word, title, part)| {
        figure(&format!("model.{word}"), "share", title, Origin::Model(part), 1.0)
    });
    let sass = SASS_COUNTS.into_iter().map(|count| {
        figure(
            &format!("sass.{}", count.name),
            "inst",
            count.title,
            Origin::Sass(count),
            f64::INFINITY,
        )
    });
    let axes = ["x", "y", "z"].into_iter().enumerate();
    let shape = axes.flat_map(|(at, axis)| {
        let (blocks, threads) =
            (format!("blocks of the grid in {axis}"), format!("threads of a block in {axis}"));
        [
            figure(
                &format!("grid.{axis}"),
                "block",
                &blocks,
                Origin::Shape(Shape::Grid(at)),
                f64::INFINITY,
            ),
            figure(
                &format!("block.{axis}"),
                "thread",
                &threads,
                Origin::Shape(Shape::Block(at)),
                1024.0,
            ),
        ]
    });
    let title = "10 times the major plus the minor number of the compute capability: 90 for 9.0";
    let device = Origin::Shape(Shape::ComputeCapability);
    let device = figure("device.compute_capability", "", title, device, f64::INFINITY);
    let stalls = stalls_of(false).chain(stalls_of(true));
    metrics
        .chain(stalls)
        .chain(busy)
        .chain(model)
        .chain(sass)
        .chain(shape)
        .chain([device])
        .collect()
}

fn figure(name: &str, unit: &'static str, title: &str, origin: Origin, most: f64) -> Figure {
    Figure { name: name.to_owned(), unit, title: title.to_owned(), origin, most }
}

impl Figure {
    /// Its value in a launch; `None` where the profile does not tell.
    pub(crate) fn of(&self, case: &ModeledLaunch) -> Option<f64> {
        // An empty sum of floats is -0.0, by which a quotient would be negative.
        self.told(case).map(|value| value + 0.0)
    }

    fn told(&self, case: &ModeledLaunch) -> Option<f64> {
        let row = &case.profile.row;
        match self.origin {
            Origin::Metric(name) => case.profile.get(name),
            Origin::Stall(reason) => case.profile.stall(reason),
            Origin::StallShare(reason) => {
                case.profile.stall(reason).map(|_| case.model.stall_share(&[(reason, 1.0)]))
            }
            Origin::Busy(term) => case.model.utilization(term),
            Origin::Model(part) => {
                case.model.busiest()?;
                Some(match part {
                    Part::Uncovered => case.model.uncovered(),
                    Part::Latency => case.model.latency(),
                    Part::Idle => case.model.idle(),
                    Part::Launch => case.model.launch_share(),
                })
            }
            Origin::Sass(count) => case.profile.mix().map(|mix| mix.sum(count.picks)),
            Origin::Shape(Shape::Grid(axis)) => Some(f64::from(row.grid[axis])),
            Origin::Shape(Shape::Block(axis)) => Some(f64::from(row.block[axis])),
            Origin::Shape(Shape::ComputeCapability) => {
                row.compute_capability.map(|(major, minor)| f64::from(10 * major + minor))
            }
        }
    }

    /// True where it is read from the text of the instructions.
    pub(crate) fn needs_sass(&self) -> bool {
        matches!(self.origin, Origin::Sass(_))
    }

    /// The catalogue's metric without which it is unknown, where it is one.
    pub(crate) fn metric(&self) -> Option<String> {
        match self.origin {
            Origin::Metric(name) => Some(name.to_owned()),
            Origin::Stall(reason) | Origin::StallShare(reason) => Some(reason.ratio_metric()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_told_apart_and_are_words_of_the_language() {
        let mut seen = HashSet::new();
        for figure in FIGURES.iter() {
            assert!(seen.insert(&figure.name), "{} stands twice", figure.name);
            let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
            assert!(figure.name.chars().all(letters), "{}", figure.name);
            assert!(!figure.title.is_empty());
        }
    }

    #[test]
    fn terms_have_the_words_of_their_order() {
        assert_eq!(term("dram"), Some(Term::Dram));
        assert_eq!(term("block_scheduler"), Some(Term::BlockScheduler));
        assert_eq!(term("l1"), Some(Term::L1Data));
        assert_eq!(term("constant"), Some(Term::Constant));
        assert_eq!(term("hbm"), None);
    }

    #[test]
    fn stalls_are_metrics_of_the_catalogue() {
        for reason in stalls() {
            assert!(canonical(&reason.ratio_metric()).is_some(), "{}", reason.word());
        }
    }

    #[test]
    fn misspelt_figures_are_guessed() {
        let problem = find("dram__bytes_raed.sum").unwrap_err();
        assert!(problem.contains("did you mean `dram__bytes_read.sum`?"), "{problem}");
        assert!(find("dram__bytes_op_read.sum").is_ok(), "another name of the same value");
    }
}
