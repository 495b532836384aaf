//! Heat: how dark a line or an instruction is.

/// The class of a weight within the largest: `h1` to `h9`; `None` for what has none.
pub(super) fn class(weight: f64, largest: f64) -> Option<&'static str> {
    const CLASSES: [&str; 9] = ["h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9"];
    let share = if largest > 0.0 { (weight / largest).clamp(0.0, 1.0) } else { 0.0 };
    ((9.0 * share).ceil() as usize).checked_sub(1).map(|at| CLASSES[at])
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn only_what_has_a_weight_is_warm() {
        assert_eq!(class(0.0, 8.0), None);
        assert_eq!(class(0.01, 8.0), Some("h1"));
        assert_eq!(class(4.0, 8.0), Some("h5"));
        assert_eq!(class(8.0, 8.0), Some("h9"));
        assert_eq!(class(1.0, 0.0), None);
    }
}
