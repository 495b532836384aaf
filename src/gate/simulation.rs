//! The test against noise of many kinds: what it says of two kernels that are alike, and of one that is slower.

use super::random::Random;
use super::{MAX_SLOWDOWN, Pace, Trial, Verdict};
use crate::timing::Quartet;

/// Comparisons of a kernel with itself, and of a kernel with a slower one.
const ALIKE: u64 = 200;
const UNLIKE: u64 = 50;
/// What a quartet costs beside its runs: launches, the clock's reading.
const BESIDE_NS: f64 = 60_000.0;
const BUDGET_NS: f64 = 3e9;

/// A device that times a kernel with noise.
struct Noise {
    random: Random,
    /// The kernel's time, ns.
    base_ns: f64,
    /// Scatter of single runs.
    white: f64,
    /// Scatter of what runs near each other have in common, and how much of it stays from one run to the next.
    shared: (f64, f64),
    /// How much slower the clock is at times, and how long it stays as it is, ns.
    steps: Option<(f64, f64)>,
    /// How often a run is disturbed, and by how much.
    outliers: (f64, f64),
    /// How much slower the first run after the clock was read is.
    first: f64,
    /// A tick of the timer, ns.
    tick_ns: f64,
    now_ns: f64,
    common: f64,
    is_slow: bool,
    next_step_ns: f64,
}

impl Noise {
    fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed.wrapping_mul(0x1_0001).wrapping_add(77)),
            base_ns: 150_000.0,
            white: 0.005,
            shared: (0.0, 0.0),
            steps: None,
            outliers: (0.0, 0.0),
            first: 0.0,
            tick_ns: 32.0,
            now_ns: 0.0,
            common: 0.0,
            is_slow: false,
            next_step_ns: 0.0,
        }
    }

    fn uniform(&mut self) -> f64 {
        ((self.random.word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Box and Muller's way to a normal number.
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.uniform(), self.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    fn run(&mut self, slowdown: f64, is_first: bool) -> f64 {
        if let Some((_, stay_ns)) = self.steps
            && self.now_ns >= self.next_step_ns
        {
            self.is_slow = !self.is_slow;
            self.next_step_ns = self.now_ns - stay_ns * self.uniform().ln();
        }
        let (size, kept) = self.shared;
        self.common = kept * self.common + size * (1.0 - kept * kept).sqrt() * self.normal();
        let mut time = self.base_ns * slowdown * (1.0 + self.white * self.normal() + self.common);
        if let Some((share, _)) = self.steps
            && self.is_slow
        {
            time *= 1.0 + share;
        }
        if is_first {
            time *= 1.0 + self.first;
        }
        let (often, size) = self.outliers;
        if self.uniform() < often {
            time *= 1.0 - size * self.uniform().ln();
        }
        self.now_ns += time;
        (time / self.tick_ns).round() * self.tick_ns
    }

    fn quartet(&mut self, slowdown: f64, base_is_outside: bool) -> Quartet {
        self.now_ns += BESIDE_NS;
        let clock_hz = 1.98e9 * (1.0 + 0.001 * self.normal());
        let share = self.steps.map_or(0.0, |(share, _)| share);
        let clock_hz = if self.is_slow { clock_hz / (1.0 + share) } else { clock_hz };
        let (outside, inside) = if base_is_outside { (1.0, slowdown) } else { (slowdown, 1.0) };
        let times = [
            self.run(outside, true),
            self.run(inside, false),
            self.run(inside, false),
            self.run(outside, false),
        ];
        let (outside, inside) = ([times[0], times[3]], [times[1], times[2]]);
        let (base_ns, new_ns) = if base_is_outside { (outside, inside) } else { (inside, outside) };
        Quartet { base_ns, new_ns, clock_hz: Some(clock_hz) }
    }
}

/// What a comparison comes to in so many ns at most.
fn compared(mut noise: Noise, slowdown: f64, budget_ns: f64) -> Verdict {
    let quartet_ns = 4.0 * noise.base_ns + BESIDE_NS;
    let pace = Pace { quartet_ns, budget_ns };
    let mut trial = Trial::new(pace, MAX_SLOWDOWN, false);
    loop {
        let order = trial.base_is_outside();
        trial.push(noise.quartet(slowdown, order));
        let is_late = noise.now_ns > budget_ns;
        if is_late || trial.is_time_to_look() {
            let verdict = trial.look().map_or(Verdict::Undecided, |found| found.verdict);
            if is_late || verdict != Verdict::Undecided {
                return verdict;
            }
        }
    }
}

/// Noise that a seed decides.
type Seeded = fn(u64) -> Noise;

/// Noise of each kind.
fn kinds() -> Vec<(&'static str, Seeded)> {
    vec![
        ("white", |seed| Noise { white: 0.01, ..Noise::new(seed) }),
        ("drift", |seed| Noise { shared: (0.03, 0.999), ..Noise::new(seed) }),
        ("noise of neighbours", |seed| Noise { shared: (0.02, 0.7), ..Noise::new(seed) }),
        ("clock steps", |seed| Noise { steps: Some((0.06, 2e7)), ..Noise::new(seed) }),
        ("fast clock steps", |seed| Noise { steps: Some((0.06, 1e6)), ..Noise::new(seed) }),
        ("outliers", |seed| Noise { outliers: (0.1, 0.5), ..Noise::new(seed) }),
        ("a slow first run", |seed| Noise { first: 0.03, ..Noise::new(seed) }),
        ("a coarse timer", |seed| Noise {
            base_ns: 8_000.0,
            tick_ns: 512.0,
            white: 0.02,
            ..Noise::new(seed)
        }),
        ("a slow kernel", |seed| Noise { base_ns: 2e7, shared: (0.01, 0.9), ..Noise::new(seed) }),
        ("much of all", |seed| Noise {
            white: 0.02,
            shared: (0.03, 0.99),
            steps: Some((0.04, 5e7)),
            outliers: (0.05, 0.3),
            first: 0.02,
            ..Noise::new(seed)
        }),
    ]
}

fn count(runs: u64, wanted: Verdict, of: impl Fn(u64) -> Verdict) -> u64 {
    (0..runs).filter(|seed| of(*seed) == wanted).count() as u64
}

#[test]
fn kernels_that_are_alike_are_not_told_apart() {
    for (kind, noise) in kinds() {
        let verdicts: Vec<Verdict> =
            (0..ALIKE).map(|seed| compared(noise(seed), 1.0, BUDGET_NS)).collect();
        let of = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        let wrong = of(Verdict::Slower) + of(Verdict::Faster);
        println!("{kind}: {wrong} wrong, {} same", of(Verdict::Same));
        assert!(wrong <= 1, "{kind}: {wrong} of {ALIKE}");
        // The slow kernel runs 70 times in the time given, which does not always settle it.
        let is_short_of_runs = kind == "a slow kernel";
        assert!(
            is_short_of_runs || of(Verdict::Same) as u64 >= ALIKE * 95 / 100,
            "{kind}: {} same",
            of(Verdict::Same)
        );
    }
}

/// The error that the looks are allowed is the one of a kernel that is slower by just the margin.
#[test]
fn many_looks_err_no_more_than_allowed_at_the_edge() {
    for (kind, noise) in kinds() {
        let wrong = (0..ALIKE)
            .filter(|seed| {
                let mut noise = noise(*seed);
                // Ticks would be a margin.
                noise.tick_ns = 1e-6;
                let slowdown = 1.0 + MAX_SLOWDOWN;
                let verdict = compared(noise, slowdown, BUDGET_NS / 20.0);
                matches!(verdict, Verdict::Slower | Verdict::Faster)
            })
            .count();
        println!("{kind}: {wrong}");
        // 1% of 200 are 2; more than 6 of a binomial with 2 has the chance 0.4%.
        assert!(wrong <= 6, "{kind}: {wrong} of {ALIKE}");
    }
}

#[test]
fn slower_kernels_are_found() {
    for (kind, noise) in kinds() {
        // A tick of 6% hides less than that.
        if kind == "a coarse timer" {
            continue;
        }

        for (slowdown, least) in [(1.02, UNLIKE * 8 / 10), (1.05, UNLIKE * 98 / 100), (1.1, UNLIKE)]
        {
            let found =
                count(UNLIKE, Verdict::Slower, |seed| compared(noise(seed), slowdown, BUDGET_NS));
            println!("{kind}, {slowdown}: {found}");
            assert!(found >= least, "{kind}, {slowdown}: {found} of {UNLIKE}");
        }
    }
}

#[test]
fn faster_is_the_mirror_of_slower() {
    let noise = |seed| Noise { white: 0.01, ..Noise::new(seed) };
    let faster =
        count(UNLIKE, Verdict::Faster, |seed| compared(noise(seed), 1.0 / 1.02, BUDGET_NS));
    assert_eq!(faster, UNLIKE);
}
