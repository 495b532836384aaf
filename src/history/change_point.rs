//! Where a series of measurements jumps, and whether that is more than noise.
//!
//! Circular binary segmentation (Olshen, Venkatraman, Lucito and Wigler, Biostatistics 5, 2004): of all stretches of
//! commits the one that differs most from the rest, by Student's t; if it differs by more than chance allows over
//! so many stretches (Bonferroni; for a single change Worsley, JASA 74, 1979), the series is cut at its ends, and each
//! part is looked at alone. Unlike cutting in two it sees a slow-down that was mended later. At the end each cut must
//! hold against the commits on both its sides.
//!
//! Two or three values say little of how they scatter, and times come in ticks, so that they may not seem to scatter at
//! all. The variance is therefore moderated (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004), but only upwards: it is at
//! least what it would be if [`PRIOR_FREEDOM`] further values had scattered by [`PRIOR_NOISE`], and nothing else counts
//! these values. Nor is it below what the measurements say of themselves. Values that are all positive are compared by their ratios.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// How often a series in which nothing changes may show a change.
pub(super) const ERROR: f64 = 0.01;
/// The deviation of a value as a share of it, where nothing else is known: medians of one kernel from two processes are
/// up to 2.6% apart in ten pairs (`gate::recorded`), which is what the largest of ten differences comes to at 1%.
const PRIOR_NOISE: f64 = 0.01;
/// How many values that is worth: so few that ten of the series' own outweigh it.
const PRIOR_FREEDOM: f64 = 2.0;
/// Smaller changes are none that anyone looks for, unless asked for.
pub(crate) const LEAST_CHANGE: f64 = 0.01;
/// A stretch inside of a series must have so many values: a single one is an outlier.
const LEAST_INSIDE: usize = 2;
/// Of more commits only cuts in two are looked for: stretches are too many.
const MOST_STRETCHED: usize = 3000;

/// A value of a commit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    /// The commit's number, from 0; values come in the order of their commits.
    pub commit: usize,
    pub value: f64,
    /// What the measurement says of its own error, a standard deviation in the value's unit; 0 where it says nothing.
    pub error: f64,
}

/// A change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    /// The first commit after it.
    pub commit: usize,
    /// The mean before, from the change before or the beginning; geometric where all values are positive.
    pub from: f64,
    /// The mean after, up to the next change or the end.
    pub to: f64,
    /// How often chance alone would make two such parts differ so much or more.
    pub p_value: f64,
    /// The deviation of single values around the two means; as a share where all values are positive.
    pub noise: f64,
}

/// The changes of at least `least` (a share) in a series.
pub(super) fn changes(values: &[Sample], least: f64) -> Vec<Change> {
    let is_ratio = values.iter().all(|it| it.value > 0.0);
    let scale = if is_ratio { 1.0 } else { typical(values) };
    let measured: Vec<Measured> = values
        .iter()
        .map(|it| Measured {
            commit: it.commit,
            at: if is_ratio { it.value.ln() } else { it.value / scale },
            variance: (it.error / if is_ratio { it.value } else { scale }).powi(2),
        })
        .collect();
    let size =
        |difference: f64| if is_ratio { difference.abs().exp_m1() } else { difference.abs() };
    let is_large = |difference: f64| size(difference) >= least;
    let mut cuts = Vec::new();
    cut(&measured, 0, &is_large, &mut cuts);
    cuts.sort_unstable();
    loop {
        let tested = tests(&measured, &cuts);
        let worst = tested.iter().enumerate().max_by(|a, b| a.1.weight().total_cmp(&b.1.weight()));
        match worst {
            Some((at, test)) if test.p_value >= ERROR || !is_large(test.difference()) => {
                cuts.remove(at);
            }
            _ => break,
        }
    }
    let back = |at: f64| if is_ratio { at.exp() } else { at * scale };
    tests(&measured, &cuts)
        .iter()
        .zip(&cuts)
        .map(|(test, cut)| Change {
            commit: measured[*cut].commit,
            from: back(test.from),
            to: back(test.to),
            p_value: test.p_value,
            noise: test.noise * if is_ratio { 1.0 } else { scale },
        })
        .collect()
}

/// A value as it is compared.
#[derive(Debug, Clone, Copy)]
struct Measured {
    commit: usize,
    at: f64,
    variance: f64,
}

/// The size of values that are not all positive: changes are shares of it.
fn typical(values: &[Sample]) -> f64 {
    let mean = values.iter().map(|it| it.value.abs()).sum::<f64>() / values.len() as f64;
    if mean > 0.0 { mean } else { 1.0 }
}

/// Adds the places where a stretch begins or ends that differs from the rest of `part`.
fn cut(part: &[Measured], offset: usize, is_large: &impl Fn(f64) -> bool, cuts: &mut Vec<usize>) {
    let Some((start, end)) = stretch(part, is_large) else { return };
    let bounds = [0, start, end, part.len()];
    for ends in bounds.windows(2).filter(|ends| ends[0] < ends[1]) {
        if ends[0] > 0 {
            cuts.push(offset + ends[0]);
        }
        cut(&part[ends[0]..ends[1]], offset + ends[0], is_large, cuts);
    }
}

/// The stretch of whole commits that differs most from the rest, if it differs.
fn stretch(part: &[Measured], is_large: &impl Fn(f64) -> bool) -> Option<(usize, usize)> {
    let n = part.len();
    let mean = part.iter().map(|it| it.at).sum::<f64>() / n as f64;
    let mut sums = vec![0.0];
    for it in part {
        sums.push(sums[sums.len() - 1] + it.at - mean);
    }
    let total: f64 = part.iter().map(|it| (it.at - mean).powi(2)).sum();
    let floor = part.iter().map(|it| it.variance).sum::<f64>() / n as f64;
    // Where a commit begins; the series begins and ends with one.
    let mut bounds: Vec<usize> =
        (1..n).filter(|&at| part[at].commit != part[at - 1].commit).collect();
    let commits = bounds.len() + 1;
    bounds.insert(0, 0);
    bounds.push(n);
    let (mut best, mut found, mut looks) = (0.0, None, 0_u32);
    let rows = if commits > MOST_STRETCHED { 1 } else { bounds.len() };
    for (at, &start) in bounds.iter().take(rows).enumerate() {
        for &end in &bounds[at + 1..] {
            let inside = end - start;
            let is_inner = start > 0 && end < n;
            // From inside to the end is the rest of from the beginning to inside.
            if inside == n || (end == n && start > 0) || (is_inner && inside < LEAST_INSIDE) {
                continue;
            }
            looks += 1;
            let (inside, outside) = (inside as f64, (n - inside) as f64);
            let sum = sums[end] - sums[start];
            let difference = sum / inside + sum / outside;
            let between = sum * sum * (1.0 / inside + 1.0 / outside);
            let variance = moderated((total - between).max(0.0), n as f64 - 2.0).max(floor);
            let t = difference.abs() / (variance * (1.0 / inside + 1.0 / outside)).sqrt();
            if t > best && is_large(difference) {
                (best, found) = (t, Some((start, end)));
            }
        }
    }
    let p_value = f64::from(looks) * chance(best, n as f64 - 2.0);
    found.filter(|_| p_value < ERROR)
}

/// The variance: that of the values, or if that is less, as if some values more had scattered as values do.
fn moderated(squares: f64, freedom: f64) -> f64 {
    let prior = PRIOR_FREEDOM * PRIOR_NOISE * PRIOR_NOISE;
    let own = if freedom > 0.0 { squares / freedom } else { 0.0 };
    own.max((prior + squares) / (PRIOR_FREEDOM + freedom))
}

/// How often chance gives such a t or more, on either side.
fn chance(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(1.0, |student| 2.0 * student.sf(t))
}

/// A cut against what lies on both its sides.
#[derive(Debug)]
struct Test {
    from: f64,
    to: f64,
    p_value: f64,
    noise: f64,
}

impl Test {
    fn difference(&self) -> f64 {
        self.to - self.from
    }

    /// The least of these is dropped last. Beyond what the distribution tells apart, the size decides.
    fn weight(&self) -> f64 {
        if self.p_value > 0.0 { self.p_value } else { -self.difference().abs() }
    }
}

fn tests(measured: &[Measured], cuts: &[usize]) -> Vec<Test> {
    let bounds: Vec<usize> =
        std::iter::once(0).chain(cuts.iter().copied()).chain([measured.len()]).collect();
    bounds.windows(3).map(|at| test(&measured[at[0]..at[1]], &measured[at[1]..at[2]])).collect()
}

fn test(before: &[Measured], after: &[Measured]) -> Test {
    let mean = |part: &[Measured]| part.iter().map(|it| it.at).sum::<f64>() / part.len() as f64;
    let (from, to) = (mean(before), mean(after));
    let squares =
        |part: &[Measured], mean: f64| part.iter().map(|it| (it.at - mean).powi(2)).sum::<f64>();
    let count = before.len() + after.len();
    let freedom = count as f64 - 2.0;
    let errors = before.iter().chain(after).map(|it| it.variance).sum::<f64>() / count as f64;
    let variance = moderated(squares(before, from) + squares(after, to), freedom).max(errors);
    let of_means = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
    let t = (to - from).abs() / (variance * of_means).sqrt();
    Test { from, to, p_value: chance(t, freedom), noise: variance.sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Vec<Sample> {
        let value = |(commit, &value)| Sample { commit, value, error: 0.0 };
        values.iter().enumerate().map(value).collect()
    }

    fn found(values: &[f64]) -> Vec<usize> {
        changes(&series(values), LEAST_CHANGE).iter().map(|change| change.commit).collect()
    }

    /// Numbers of a normal distribution that are the same each time (a linear congruence, and Box and Muller).
    struct Noise(u64);

    impl Noise {
        fn uniform(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            let radius = (-2.0 * self.uniform().ln()).sqrt();
            radius * (std::f64::consts::TAU * self.uniform()).cos()
        }
    }

    #[test]
    fn a_jump_is_found_at_its_commit_with_its_size() {
        let jumped = [100.0, 101.0, 100.0, 99.0, 100.0, 120.0, 121.0, 119.0, 120.0];
        let [change] = changes(&series(&jumped), LEAST_CHANGE)[..] else { panic!("one change") };
        assert_eq!(change.commit, 5);
        // Geometric means: of 99 to 101 a little below 100, of 119 to 121 a little below 120.
        assert!(
            (change.from - 100.0).abs() < 0.01 && (change.to - 120.0).abs() < 0.01,
            "{change:?}"
        );
        // Squares around the means: 2·0.01² and 2·(1/120)² beside the prior's 2·0.01², over 2 + 7.
        let expected = ((2e-4 + 2.0 / 14_400.0 + 2e-4) / 9.0_f64).sqrt();
        assert!((change.noise - expected).abs() < 1e-4, "{change:?} {expected}");
        assert!(change.p_value < 1e-6);
    }

    #[test]
    fn what_was_mended_later_is_two_changes() {
        let mut values = vec![10.0; 8];
        values.extend([12.0, 12.1, 11.9, 12.0]);
        values.extend([10.0, 10.05, 9.95, 10.0, 10.1, 10.0]);
        assert_eq!(found(&values), [8, 12]);
    }

    #[test]
    fn the_newest_commit_alone_may_jump_and_one_in_the_middle_is_an_outlier() {
        let mut values = vec![50.0, 50.2, 49.9, 50.1, 50.0, 49.8, 50.1, 60.0];
        assert_eq!(found(&values), [7]);
        values.extend([50.0, 50.1, 49.9, 50.0]);
        assert_eq!(found(&values), Vec::<usize>::new());
    }

    #[test]
    fn what_the_measurement_does_not_tell_apart_is_no_change() {
        let values = [100.0, 100.0, 100.0, 100.0, 110.0, 110.0, 110.0, 110.0];
        assert_eq!(found(&values), [4]);
        let with_errors: Vec<Sample> =
            series(&values).into_iter().map(|it| Sample { error: 0.1 * it.value, ..it }).collect();
        assert!(changes(&with_errors, LEAST_CHANGE).is_empty());
        assert!(changes(&series(&values), 0.11).is_empty(), "10% is less than was asked for");
    }

    #[test]
    fn few_values_and_none_are_no_panic() {
        assert_eq!(found(&[]), Vec::<usize>::new());
        assert_eq!(found(&[1.0]), Vec::<usize>::new());
        // One against one: a factor of two may be noise of who knows what size, one of three is none.
        assert_eq!(found(&[1.0, 2.0]), Vec::<usize>::new());
        assert_eq!(found(&[1.0, 3.0]), [1]);
        // Spills that come and go: shares of a series with zeros are of its typical size.
        assert_eq!(found(&[0.0, 0.0, 0.0, 0.0, 64.0, 64.0, 64.0, 64.0]), [4]);
        assert_eq!(found(&[0.0; 9]), Vec::<usize>::new());
    }

    #[test]
    fn values_of_one_commit_stay_together() {
        let value = |commit, value| Sample { commit, value, error: 0.0 };
        let values = [(0, 10.0), (0, 10.1), (1, 10.0), (1, 15.0), (1, 15.1), (2, 15.0), (2, 15.1)];
        let values = values.map(|(commit, at)| value(commit, at));
        let commits: Vec<usize> = changes(&values, 0.01).iter().map(|it| it.commit).collect();
        assert!(commits.iter().all(|commit| [1, 2].contains(commit)), "{commits:?}");
    }

    #[test]
    fn noise_alone_seldom_shows_a_change_and_a_jump_of_some_deviations_mostly() {
        let mut noise = Noise(7);
        for (deviation, commits) in [(0.002, 30), (0.01, 10), (0.01, 30), (0.05, 10), (0.05, 30)] {
            const SERIES: usize = 1000;
            let (mut alarms, mut hits) = (0, 0);
            for _ in 0..SERIES {
                let mut values: Vec<f64> =
                    (0..commits).map(|_| 1e6 * (deviation * noise.normal()).exp()).collect();
                alarms += usize::from(!found(&values).is_empty());
                // Ten deviations up two thirds of the way.
                let jump = (10.0 * deviation).max(0.05);
                let at = commits * 2 / 3;
                values[at..].iter_mut().for_each(|value| *value *= 1.0 + jump);
                hits += usize::from(found(&values).contains(&at));
            }
            // 1% of 1,000 is 10; 20 is beyond three deviations of that.
            assert!(alarms <= 20, "{deviation}, {commits} commits: {alarms} false alarms");
            assert!(hits >= 950, "{deviation}, {commits} commits: {hits} of {SERIES} found");
        }
    }
}
