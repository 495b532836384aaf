//! Names beside points, none over another.

use crate::page::lettering::{NARROWEST, SMALL_BOLD, WIDEST, width};

/// Pixels that a line takes above its base line, and below.
const ABOVE: f64 = 11.0;
const BELOW: f64 = 3.0;

/// Where a name stands: pixels to the right and down, and the class of its anchor.
pub(super) type Offset = (&'static str, &'static str, &'static str);

/// The places tried, the best first, with the pixels from the point to where the name begins (ends, where it ends at
/// the point) and to its base line.
const PLACES: [(Offset, f64, f64); 6] = [
    (("8", "-6", ""), 8.0, -6.0),
    (("8", "15", ""), 8.0, 15.0),
    (("-8", "-6", "end"), -8.0, -6.0),
    (("-8", "15", "end"), -8.0, 15.0),
    (("8", "-20", ""), 8.0, -20.0),
    (("8", "29", ""), 8.0, 29.0),
];

/// A rectangle that moves with the chart's width: it begins and ends so many pixels from a share of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Block {
    share: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Block {
    /// A line of text on its base line, from so many pixels beside a share of the width to so many others.
    pub(super) fn text(share: f64, left: f64, right: f64, base: f64) -> Self {
        Self { share, left, right, top: base - ABOVE, bottom: base + BELOW }
    }

    /// True where it stays within the chart at every width.
    fn is_within(&self) -> bool {
        [NARROWEST, WIDEST].iter().all(|width| {
            self.share * width + self.left >= 0.0 && self.share * width + self.right <= *width
        })
    }

    /// True where the two part at every width: they keep their order from the narrowest chart to the widest, or lie one
    /// above the other.
    fn is_clear_of(&self, other: &Self) -> bool {
        let before = |a: &Self, b: &Self| {
            [NARROWEST, WIDEST]
                .iter()
                .all(|width| a.share * width + a.right <= b.share * width + b.left)
        };
        self.bottom <= other.top
            || other.bottom <= self.top
            || before(self, other)
            || before(other, self)
    }
}

/// Finds a place for the name of each point, given its share of the width and its pixels from above, beside what stands
/// there already; `None` where there is none: the table has all names.
pub(super) fn place(
    points: &[(f64, f64, &str)],
    others: impl IntoIterator<Item = Block>,
) -> Vec<Option<Offset>> {
    let dot = |&(share, y, _): &(f64, f64, &str)| Block {
        share,
        left: -5.0,
        right: 5.0,
        top: y - 5.0,
        bottom: y + 5.0,
    };
    let mut taken: Vec<Block> = points.iter().map(dot).chain(others).collect();
    points
        .iter()
        .map(|&(share, y, name)| {
            let wide = width(name, SMALL_BOLD);
            let (offset, free) = PLACES.iter().find_map(|&(offset, from, down)| {
                let left = if offset.2 == "end" { from - wide } else { from };
                let found = Block::text(share, left, left + wide, y + down);
                let is_free =
                    found.is_within() && taken.iter().all(|other| found.is_clear_of(other));
                is_free.then_some((offset, found))
            })?;
            taken.push(free);
            Some(offset)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_way_to_those_before_it() {
        // At 328 pixels: 98, 105, and 318.
        let place = place(&[(0.3, 100.0, "v1"), (0.32, 108.0, "v2"), (0.97, 100.0, "v3")], []);
        assert_eq!(place[0], Some(("8", "-6", "")));
        assert_eq!(place[1], Some(("8", "15", "")), "below, since v1 stands above");
        assert_eq!(place[2], Some(("-8", "-6", "end")), "to the left, since the chart ends");
    }

    #[test]
    fn a_name_gives_way_to_what_stands_there_already() {
        let axis = Block::text(0.0, 2.0, 130.0, 94.0);
        assert_eq!(place(&[(0.3, 100.0, "v1")], [axis]), [Some(("8", "15", ""))]);
    }

    #[test]
    fn names_keep_their_order_at_every_width() {
        // At 328 pixels one ends at 97, where the other begins at 106; at 900 it ends at 280, and the other begins at 278.
        let (one, other) =
            (Block::text(0.32, -37.0, -8.0, 50.0), Block::text(0.3, 8.0, 24.0, 50.0));
        assert!(!one.is_clear_of(&other) && !other.is_clear_of(&one));
    }

    #[test]
    fn where_all_places_are_taken_there_is_no_name() {
        let crowd = [(0.2, 50.0, "abcd"); 8];
        assert!(place(&crowd, []).last().unwrap().is_none());
    }
}
