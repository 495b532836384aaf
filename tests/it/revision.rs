//! What of the source a rule's revision is made of: worked out by hand.

#[path = "../../build/arithmetic.rs"]
mod arithmetic;

use arithmetic::{of_rust, of_toml};

/// What is left of code.
fn left(code: &str) -> String {
    of_rust(code).expect("code")
}

#[test]
fn words_leave_no_trace() {
    let plain = left("pub const LEAST: f64 = 0.05; fn f(x: f64) -> f64 { x / 2.0 }");
    assert_eq!(plain, "pub const LEAST : f64 = 0.05 ; fn f ( x : f64 ) - > f64 { x / 2.0 } ");
    let explained = "//! A module.
        use crate::model::{Effect, Model};
        pub use crate::term::Term;

        /// Half of it.
        pub const LEAST: f64 = 0.05; // a twentieth
        fn f(x: f64) -> f64 {
            /* by two */
            x / 2.0
        }

        #[cfg(test)]
        mod tests {
            use super::*;
            #[test]
            fn halves() { assert_eq!(f(2.0), 1.0); }
        }
        #[cfg(test)]
        #[path = \"more.rs\"]
        mod more;";
    // `pub` of the re-export stays, and nothing else.
    assert_eq!(left(explained), format!("pub {plain}"));
}

#[test]
fn prose_goes_and_names_stay() {
    assert_eq!(left(r#"("every warp waits")"#), left(r#"("all warps wait longer")"#));
    assert_eq!(left(r##"(r#"two words"#)"##), left(r#"("one word")"#));
    for (one, other) in [
        // Metrics, opcodes, patterns of SASS, units.
        (r#"get("dram__bytes_read.sum")"#, r#"get("dram__bytes_write.sum")"#),
        (r#"starts_with("LDG.E R")"#, r#"starts_with("LDG.E.64 R")"#),
        (r#"split(", ")"#, r#"split(",")"#),
    ] {
        assert_ne!(left(one), left(other));
    }
}

#[test]
fn arithmetic_shows() {
    for (one, other) in [
        ("x / 2.0", "x * 2.0"),
        ("const A: f64 = 1.05;", "const A: f64 = 1.10;"),
        ("if a >= b { c }", "if a > b { c }"),
        ("#[cfg(unix)] fn f() { 1 }", "#[cfg(unix)] fn f() { 2 }"),
        ("#[cfg(test)] fn t() { 1 } fn f() { 1 }", "#[cfg(test)] fn t() { 1 } fn f() { 2 }"),
        ("fn f() -> impl A + use<'a> { 1 }", "fn f() -> impl A + use<'a> { 2 }"),
    ] {
        assert_ne!(left(one), left(other));
    }
}

#[test]
fn a_devices_numbers_show_and_where_they_come_from_does_not() {
    let file =
        "# A device\nrate = 4.2e12 \nsource = \"measured on one of them\"\nname = \"H200\"\n";
    assert_eq!(of_toml(file), "rate = 4.2e12\nsource = \nname = H200\n");
}
