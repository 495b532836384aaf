//! The numbers of an axis.

use maud::{Markup, html};

use crate::page::figure::{pct, px};
use crate::page::lettering::{GAP, NARROWEST, TICK, width};

/// The numbers below an axis, at shares of the width: those at the ends stay within, and none touches another.
pub(super) fn below(ticks: impl IntoIterator<Item = (f64, String)>, y: f64) -> Markup {
    let mut end = f64::NEG_INFINITY;
    let shown: Vec<(&str, String, String)> = ticks
        .into_iter()
        .filter_map(|(at, said)| {
            let wide = width(&said, TICK);
            let middle = NARROWEST * at;
            let (class, x, left) = if middle < wide / 2.0 {
                ("tick", "0".to_owned(), 0.0)
            } else if middle > NARROWEST - wide / 2.0 {
                ("tick end", "100%".to_owned(), NARROWEST - wide)
            } else {
                ("tick mid", pct(at), middle - wide / 2.0)
            };
            let is_free = left >= end + GAP / 2.0;
            if is_free {
                end = left + wide;
            }
            is_free.then_some((class, x, said))
        })
        .collect();
    html! { @for (class, x, said) in shown { text class=(class) x=(x) y=(px(y)) { (said) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_ends_of_an_axis_stay_within_and_none_touches_another() {
        let ticks = [(0.001, "0.1"), (0.5, "1"), (0.51, "1.1"), (0.999, "10")];
        let drawn = below(ticks.map(|(at, said)| (at, said.to_owned())), 20.0).into_string();
        assert_eq!(
            drawn,
            "<text class=\"tick\" x=\"0\" y=\"20\">0.1</text><text class=\"tick mid\" x=\"50%\" y=\"20\">1</text>\
             <text class=\"tick end\" x=\"100%\" y=\"20\">10</text>"
        );
    }
}
