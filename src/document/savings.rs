//! What taking away one fault would save, launch by launch.

use std::collections::HashMap;

use super::LaunchReport;

/// Kernel, grid, and block, which launches that are alike have in common.
type Shape<'a> = (&'a str, [u32; 3], [u32; 3]);

/// Shares of the whole time that one rule's findings would save.
#[derive(Debug, Default)]
pub(super) struct Savings<'a> {
    all: f64,
    alike: HashMap<Shape<'a>, Alike>,
}

/// What launches that are alike would save together.
#[derive(Debug)]
struct Alike {
    saved: f64,
    /// The one that would save most, and what.
    place: usize,
    most: f64,
}

impl<'a> Savings<'a> {
    /// Adds what the launch at a place would save.
    pub(super) fn add(&mut self, launch: &'a LaunchReport, place: usize, saved: f64) {
        self.all += saved;
        let shape = (launch.kernel.as_str(), launch.grid, launch.block);
        let alike = self.alike.entry(shape).or_insert(Alike { saved: 0.0, place, most: saved });
        alike.saved += saved;
        if saved > alike.most {
            (alike.place, alike.most) = (place, saved);
        }
    }

    /// Over all launches.
    pub(super) fn all(&self) -> f64 {
        self.all
    }

    /// The launch to look at: of those that are alike and would save most together, the one that would save most.
    pub(super) fn place(&self) -> usize {
        let first_of_largest =
            |a: &&Alike, b: &&Alike| a.saved.total_cmp(&b.saved).then(b.place.cmp(&a.place));
        self.alike.values().max_by(first_of_largest).map_or(0, |alike| alike.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn launches_that_are_alike_count_together() {
        let launch = |kernel: &str| samples::launch(kernel, 1.0, 1.0, Vec::new());
        let launches = [launch("long"), launch("often"), launch("often"), launch("often")];
        let mut savings = Savings::default();
        for (place, (launch, saved)) in launches.iter().zip([0.3, 0.1, 0.2, 0.1]).enumerate() {
            savings.add(launch, place, saved);
        }
        assert!((savings.all() - 0.7).abs() < 1e-12);
        assert_eq!(savings.place(), 2);
        savings.add(&launches[0], 4, 0.1);
        assert_eq!(savings.place(), 0, "the first of two that save as much");
    }
}
