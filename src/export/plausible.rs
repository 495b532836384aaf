//! Values that no counter can have. A damaged file, or a counter that overflowed between two passes, gives
//! negative counts and percentages of thousands; a verdict that is drawn from one of them is wrong, so each
//! becomes a missing value, aloud.

use crate::export::Export;
use crate::kernel_name;
use crate::metric;
use crate::text::{count_of, significant};

/// The most that a percentage can honestly show: counters of different passes divide into up to 358% of a
/// unit's peak on a kernel of 2 µs (ncu 2025.3 on an H200), and nothing recorded shows more of a metric that
/// adoprof reads.
const MOST_PERCENT: f64 = 1000.0;

/// How long a launch took: no launch takes no time, nor eleven days.
const DURATION: &str = "gpu__time_duration.sum";
const LONGEST_NS: f64 = 1e15;

/// The most columns that a kernel's name takes in a notice.
const LONGEST_NAME: usize = 60;

/// The values that were taken out of an export, or of all parts of one.
#[derive(Debug, Default)]
pub(super) struct Impossible {
    /// The first: kernel, metric and value in words.
    first: Option<String>,
    left_out: u32,
}

impl Export {
    /// Takes the values out that their metric can't have, of the metrics that adoprof knows.
    pub(super) fn leave_out(&mut self, impossible: &mut Impossible) {
        for row in &mut self.metrics {
            let may_be =
                |&value: &f64| may_be_impossible(value) || value == 0.0 && &*row.metric == DURATION;
            let Some(value) = row.value.filter(may_be) else { continue };
            let Some((metric, scale)) = metric::canonical(&row.metric) else { continue };
            let is_percent = metric.unit == "%";
            let shown = value * scale;
            let is_possible = if metric.name == DURATION {
                shown > 0.0 && shown <= LONGEST_NS
            } else {
                shown.is_finite() && shown >= 0.0 && !(is_percent && shown > MOST_PERCENT)
            };
            if is_possible {
                continue;
            }
            row.value = None;
            impossible.left_out += 1;
            impossible.first.get_or_insert_with(|| {
                let unit = if is_percent { "%" } else { "" };
                let kernel = self.launches.iter().find(|launch| launch.id == row.launch);
                let kernel = kernel.map(|launch| kernel_name::short(&launch.kernel, LONGEST_NAME));
                let kernel = kernel.unwrap_or_default();
                format!("{kernel} has {} of {}{unit}", row.metric, significant(shown, 6))
            });
        }
    }

    /// Takes such values out of a whole export, with a notice of the first.
    pub(super) fn leave_out_the_impossible(&mut self) {
        let mut impossible = Impossible::default();
        self.leave_out(&mut impossible);
        self.notices.extend(impossible.notice());
    }
}

impl Impossible {
    /// What a user should know of them, in one sentence; `None` where there were none.
    pub(super) fn notice(self) -> Option<String> {
        let others = match self.left_out.saturating_sub(1) {
            0 => String::new(),
            more => format!(" and {}", count_of(f64::from(more), "other value")),
        };
        self.first.map(|first| {
            format!(
                "{first}, which no counter can show; it counts as missing{others}: the profile is damaged, or its \
                 passes did not measure the same work; collect or export it again"
            )
        })
    }
}

/// True for values that are worth a look into the catalogue.
fn may_be_impossible(value: f64) -> bool {
    !(0.0..=MOST_PERCENT).contains(&value)
}

#[cfg(test)]
mod tests {
    use crate::export::{Export, LaunchRow, MetricRow};

    fn after(values: &[(&str, f64)]) -> (Vec<Option<f64>>, Vec<String>) {
        let rows = values.iter().map(|&(metric, value)| MetricRow {
            metric: metric.into(),
            value: Some(value),
            ..MetricRow::default()
        });
        let launch = LaunchRow { kernel: "scale(float *)".to_owned(), ..LaunchRow::default() };
        let mut export =
            Export { launches: vec![launch], metrics: rows.collect(), ..Export::default() };
        export.leave_out_the_impossible();
        (export.metrics.iter().map(|row| row.value).collect(), export.notices)
    }

    #[test]
    fn negative_counts_and_absurd_shares_are_missing() {
        let (values, notices) = after(&[
            ("gpu__time_duration.sum", 5e9),
            ("dram__bytes_read.sum", -1.0),
            ("gpu__time_duration.sum", 0.0),
            ("gpu__time_duration.sum", 1e300),
            ("l1tex__t_sector_hit_rate.pct", 5706.0),
            ("lts__t_sector_hit_rate.pct", 101.0),
            ("smsp__inst_executed.sum", f64::INFINITY),
        ]);
        assert_eq!(values, [Some(5e9), None, None, None, None, Some(101.0), None]);
        assert_eq!(notices.len(), 1);
        for part in ["scale has dram__bytes_read.sum of -1", "4 other values"] {
            assert!(notices[0].contains(part), "no `{part}`: {}", notices[0]);
        }
    }

    #[test]
    fn what_adoprof_does_not_read_is_left_alone() {
        let (values, notices) = after(&[("somebodys__metric.pct", 5706.0), ("other.sum", -3.0)]);
        assert_eq!((values, notices.len()), (vec![Some(5706.0), Some(-3.0)], 0));
    }
}
