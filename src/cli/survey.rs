//! The command line of a program's survey.

use clap::Args;

/// What is surveyed, and how much of it is profiled.
#[derive(Debug, Clone, Args)]
pub struct SurveyArgs {
    /// Only survey the program: its launches, copies and waits, without ncu.
    #[arg(
        long,
        conflicts_with_all = ["no_survey", "kernel", "launch_skip", "launch_count", "baseline"]
    )]
    pub survey: bool,
    /// Profile the first launches without a survey.
    #[arg(long)]
    pub no_survey: bool,
    /// Profile one launch of each kind until they explain this share of the kernels' time.
    #[arg(long, default_value = "90%", value_parser = share, value_name = "PERCENT")]
    pub coverage: f64,
    /// But at most so many kinds of launches.
    #[arg(long, default_value = "10", value_parser = at_least_one, value_name = "N")]
    pub top: usize,
}

/// A share from 0 to 1, from a percentage with or without its sign.
fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let percent = number.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent.map(|percent| percent / 100.0).ok_or_else(|| "expected 0% to 100%".to_owned())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| "expected a number from 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages() {
        assert_eq!((share("90%"), share("12.5"), share("100%")), (Ok(0.9), Ok(0.125), Ok(1.0)));
        for text in ["", "%", "101%", "-1", "nan", "all"] {
            assert!(share(text).is_err(), "{text}");
        }
        assert!(at_least_one("0").is_err() && at_least_one("3") == Ok(3));
    }
}
