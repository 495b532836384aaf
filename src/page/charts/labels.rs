//! Names beside points, none over another.

/// Pixels that a letter takes, and a line.
const LETTER: f64 = 7.0;
const LINE: f64 = 14.0;

/// Where a name stands: pixels to the right and down, and the class of its anchor.
pub(super) type Offset = (&'static str, &'static str, &'static str);

/// The places tried, the best first, with the pixels from the point to the name's left upper corner, but for its
/// width where it ends at the point.
const PLACES: [(Offset, f64, f64); 6] = [
    (("8", "-6", ""), 8.0, -17.0),
    (("8", "15", ""), 8.0, 4.0),
    (("-8", "-6", "end"), -8.0, -17.0),
    (("-8", "15", "end"), -8.0, 4.0),
    (("8", "-20", ""), 8.0, -31.0),
    (("8", "29", ""), 8.0, 18.0),
];

/// Finds a place for the name of each point, given its pixels from the left and from above, within a width; `None` where there is
/// none: the table has all names.
pub(super) fn place(points: &[(f64, f64, &str)], most: f64) -> Vec<Option<Offset>> {
    let mut taken: Vec<[f64; 4]> =
        points.iter().map(|(x, y, _)| [x - 5.0, y - 5.0, x + 5.0, y + 5.0]).collect();
    points
        .iter()
        .map(|&(x, y, name)| {
            let width = LETTER * name.chars().count() as f64;
            let (offset, free) = PLACES.iter().find_map(|&(offset, right, down)| {
                let left = if offset.2 == "end" { x + right - width } else { x + right };
                let found = [left, y + down, left + width, y + down + LINE];
                (left >= 0.0
                    && left + width <= most
                    && !taken.iter().any(|other| overlap(&found, other)))
                .then_some((offset, found))
            })?;
            taken.push(free);
            Some(offset)
        })
        .collect()
}

fn overlap(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_way_to_those_before_it() {
        let place =
            place(&[(100.0, 100.0, "v1"), (106.0, 108.0, "v2"), (300.0, 100.0, "v3")], 310.0);
        assert_eq!(place[0], Some(("8", "-6", "")));
        assert_eq!(place[1], Some(("8", "15", "")), "below, since v1 stands above");
        assert_eq!(place[2], Some(("-8", "-6", "end")), "to the left, since the chart ends");
    }

    #[test]
    fn where_all_places_are_taken_there_is_no_name() {
        let crowd = [(50.0, 50.0, "abcd"); 8];
        assert!(place(&crowd, 340.0).last().unwrap().is_none());
    }
}
