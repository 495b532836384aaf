//! What is looked at over time: a kernel's time, or a metric.

use crate::error::{Error, Result};
use crate::metric::{Better, CATALOGUE, Metric, canonical};
use crate::text::nearest;

/// ncu's duration of a launch.
const DURATION: &str = "gpu__time_duration.sum";

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantity {
    /// A step's time without the profiler; of programs and of single kernels the time of a launch under it.
    Time,
    /// A metric of the catalogue.
    Metric(&'static Metric),
}

impl Quantity {
    /// The word for the time.
    pub(crate) const TIME: &'static str = "time";

    /// Understands `--metric`: `time`, a metric's name, or what its title is.
    ///
    /// # Errors
    /// [`Error::Usage`] where there is none of that name, with the nearest.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if text.eq_ignore_ascii_case(Self::TIME) {
            return Ok(Self::Time);
        }
        let titled = CATALOGUE.iter().find(|metric| metric.title.eq_ignore_ascii_case(text));
        if let Some(metric) = canonical(text).map(|(metric, _)| metric).or(titled) {
            return Ok(Self::Metric(metric));
        }
        let names = CATALOGUE.iter().flat_map(|metric| [metric.name, metric.title]);
        let near = nearest(text, names).map(|name| format!("; did you mean `{name}`?"));
        Err(Error::Usage(format!(
            "the store has no metric `{text}`{}",
            near.unwrap_or_else(|| "; `adoprof rules metrics` lists them".to_owned())
        )))
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Time => Self::TIME,
            Self::Metric(metric) => metric.name,
        }
    }

    /// The unit of its values.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Time => "ns",
            Self::Metric(metric) => metric.unit,
        }
    }

    /// The column of its values of launches.
    pub(super) fn column(self) -> &'static str {
        match self {
            Self::Time => DURATION,
            Self::Metric(metric) => metric.name,
        }
    }

    /// True where more is worse, false where less is; `None` where that depends.
    pub(crate) fn more_is_worse(self) -> Option<bool> {
        match self {
            Self::Time => Some(true),
            Self::Metric(metric) => match metric.better {
                Better::Lower => Some(true),
                Better::Higher => Some(false),
                Better::Neither => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_go_by_name_alias_and_title() {
        assert_eq!(Quantity::parse("Time").unwrap(), Quantity::Time);
        for text in ["dram__bytes_read.sum", "dram__bytes_op_read.sum", "DRAM bytes read"] {
            let quantity = Quantity::parse(text).unwrap();
            assert_eq!(
                (quantity.name(), quantity.unit()),
                ("dram__bytes_read.sum", "byte"),
                "{text}"
            );
        }
        let said = Quantity::parse("dram__bytes_red.sum").unwrap_err().to_string();
        assert!(said.contains("did you mean `dram__bytes_read.sum`?"), "{said}");
    }

    #[test]
    fn the_time_of_a_launch_is_in_the_catalogue() {
        assert!(
            matches!(Quantity::parse(DURATION).unwrap(), Quantity::Metric(metric) if metric.unit == "ns")
        );
    }
}
