//! What of the source a rule's revision is made of: worked out by hand.

#[path = "../../build/arithmetic.rs"]
mod arithmetic;

use arithmetic::{of_rust, of_toml, test_modules};

/// What is left of code.
fn left(code: &str) -> String {
    of_rust(code).expect("code").concat()
}

#[test]
fn words_leave_no_trace() {
    let plain = left("pub const LEAST: f64 = 0.05; fn f(x: f64) -> f64 { x / 2.0 }");
    assert_eq!(plain, "const LEAST : f64 = 0.05 ; fn f ( x : f64 ) - > f64 { x / 2.0 } ");
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
    assert_eq!(left(explained), plain);
}

#[test]
fn an_item_may_move_to_another_file() {
    let items = |code: &str| of_rust(code).expect("code");
    let [whole, first, second] = [
        "fn a() { 1 } struct S(u8, f64); impl S { fn b(&self) {} } const C: [u8; 2] = { [0; 2] };",
        "mod second; pub use second::a; const C: [u8; 2] = { [0; 2] };",
        "pub(super) struct S(pub(in crate::x) u8, pub f64); impl S { pub(crate) fn b(&self) {} } pub fn a() { 1 }",
    ]
    .map(items);
    let mut moved = [first, second].concat();
    let mut whole = whole;
    whole.sort_unstable();
    moved.sort_unstable();
    assert_eq!(moved, whole);
    assert_eq!(whole.len(), 4);
    assert_eq!(left("struct S(pub (u8, u8));"), left("struct S((u8, u8));"));
}

#[test]
fn files_of_tests_are_named_where_they_are_declared() {
    let code = "mod a; #[cfg(test)] mod b; /// Samples.
        #[cfg(test)] pub(crate) mod c; #[cfg(unix)] mod d; #[cfg(test)] mod e { fn f() {} }
        #[cfg(test)] use a::g;";
    assert_eq!(test_modules(code).expect("code"), ["b", "c"]);
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
