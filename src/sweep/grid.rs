//! Every combination of the axes' values.

use super::axis::{Axis, Point};
use crate::error::{Error, Result};
use crate::ladder::Overrides;
use crate::text::count;

/// More points than this are a mistake: at a few seconds each they take hours.
const MOST_POINTS: usize = 1000;

/// All points, the last axis fastest, each starting from `size`.
///
/// # Errors
/// [`Error::Usage`] where an axis stands twice, or varies a parameter that `size` fixes, or there
/// are more than [`MOST_POINTS`].
pub fn points(axes: &[Axis], size: &Overrides) -> Result<Vec<Point>> {
    for (place, axis) in axes.iter().enumerate() {
        if axes[..place].iter().any(|other| other.name == axis.name) {
            return Err(Error::Usage(format!(
                "--over varies `{}` twice; put all its values into one",
                axis.name
            )));
        }
        if axis.is_parameter() && size.contains_key(&axis.name) {
            return Err(Error::Usage(format!(
                "`{}` appears in --size and in --over; keep one of them",
                axis.name
            )));
        }
    }
    let total = axes.iter().map(|axis| axis.len() as f64).product::<f64>();
    if total > MOST_POINTS as f64 {
        let factors: Vec<String> = axes.iter().map(|axis| axis.len().to_string()).collect();
        return Err(Error::Usage(format!(
            "the grid has {} = {} points, and a sweep takes at most {}; sweep over fewer values, \
             or one axis at a time",
            factors.join(" × "),
            count(total),
            count(MOST_POINTS as f64)
        )));
    }
    let start = Point { size: size.clone(), ..Point::default() };
    Ok(axes.iter().fold(vec![start], |points, axis| {
        points
            .iter()
            .flat_map(|point| {
                (0..axis.len()).map(|place| {
                    let mut point = point.clone();
                    axis.apply(place, &mut point);
                    point
                })
            })
            .collect()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::Ladder;

    fn grid(over: &[&str], size: &str) -> Result<Vec<Point>> {
        let ladder = Ladder::builtin("increment").unwrap();
        let step = ladder.step("i5").unwrap();
        let axes: Vec<Axis> =
            over.iter().map(|text| Axis::parse(text, &ladder, step).unwrap()).collect();
        points(&axes, &crate::ladder::parse_overrides(size).unwrap())
    }

    #[test]
    fn the_last_axis_is_fastest() {
        let points = grid(&["N=1,2", "BLOCK=32,64,96"], "").unwrap();
        let pairs: Vec<(u64, u64)> =
            points.iter().map(|point| (point.size["N"], point.tuning.tune["BLOCK"])).collect();
        assert_eq!(pairs, [(1, 32), (1, 64), (1, 96), (2, 32), (2, 64), (2, 96)]);
        assert_eq!(points[4].settings["BLOCK"], "64");
    }

    #[test]
    fn flags_of_several_axes_add_up() {
        let points = grid(&["ftz=true", "flags=-DA|", "dlcm=default"], "N=7").unwrap();
        assert_eq!(points[0].tuning.flags, ["-ftz=true", "-DA"]);
        assert_eq!(points[1].tuning.flags, ["-ftz=true"]);
        assert_eq!(points[1].size["N"], 7);
    }

    #[test]
    fn senseless_grids_are_refused() {
        let values: Vec<String> = (1..=32).map(|value| value.to_string()).collect();
        let values = values.join(",");
        let (n, block) = (format!("N={values}"), format!("BLOCK={values}"));
        let error = grid(&[&n, &block], "").unwrap_err().to_string();
        assert!(error.contains("32 × 32 = 1,024 points"), "{error}");
        assert_eq!(grid(&[&n, "BLOCK=1,2,3"], "").unwrap().len(), 96);
        let error = grid(&["N=1", "N=2"], "").unwrap_err().to_string();
        assert!(error.contains("varies `N` twice"), "{error}");
        let error = grid(&["N=1"], "N=2").unwrap_err().to_string();
        assert!(error.contains("in --size and in --over"), "{error}");
    }
}
