use proptest::prelude::*;

use super::*;

#[test]
fn numbers_of_c_and_en_us() {
    assert_eq!(parse("21305326"), Some(21_305_326.0));
    assert_eq!(parse(" 0.03 "), Some(0.03));
    assert_eq!(parse("1,205.00"), Some(1205.0));
    assert_eq!(parse("25,196,544"), Some(25_196_544.0));
    assert_eq!(parse("-4.5"), Some(-4.5));
    assert_eq!(parse("1e+06"), Some(1e6));
}

#[test]
fn instances_leave_their_aggregate() {
    assert_eq!(parse("4718592 (786432; 3932160)"), Some(4_718_592.0));
    assert_eq!(parse("655360 (STG: 98304; LDG: 557056)"), Some(655_360.0));
}

#[test]
fn no_number_is_none() {
    for text in ["", "n/a", "-", "no data", "nan", "-nan", "inf", "(256, 1, 1)", "No-CC", ".", ","]
    {
        assert_eq!(parse(text), None, "{text}");
    }
    // A decimal comma is never silently read as grouping.
    assert_eq!(parse("36,73"), None);
    assert_eq!(parse("1,2345"), None);
    assert_eq!(parse("127.0.0.1"), None);
}

#[test]
fn german_pages_are_recognised() {
    let style = Style::of(["25.196.544", "36,73", "4.096", "7"]).unwrap();
    assert_eq!(style, Style::Comma);
    assert_eq!(style.parse("25.196.544"), Some(25_196_544.0));
    assert_eq!(style.parse("36,73"), Some(36.73));
    assert_eq!(style.parse("4.096"), Some(4096.0));
    assert_eq!(Style::of(["1.205,00"]), Ok(Style::Comma));
    assert_eq!(Style::Comma.parse("25\u{202f}196\u{202f}544,5"), Some(25_196_544.5));
}

#[test]
fn pages_of_c_and_en_us_are_recognised() {
    assert_eq!(Style::of(["0.03", "4.096", "text", "n/a"]), Ok(Style::Point));
    assert_eq!(Style::of(["4,096"]), Ok(Style::Point));
    assert_eq!(Style::of(["30.217957", "12"]), Ok(Style::Point));
    assert_eq!(Style::of([]), Ok(Style::Point));
}

#[test]
fn mixed_pages_are_refused() {
    // Both were measured on one raw page under de_DE.
    assert!(Style::of(["25.196544", "4.096"]).is_err());
    assert!(Style::of(["25.19", "36,73"]).is_err());
    assert!(Style::of(["4.096"]).is_err());
}

#[test]
fn signs_fractions_and_long_counts_are_read() {
    assert_eq!(parse("+5"), Some(5.0));
    assert_eq!(parse("-1,205.5"), Some(-1205.5));
    assert_eq!(parse(".5"), Some(0.5));
    assert_eq!(parse("-.5"), Some(-0.5));
    // As exact as a double is: 15 digits are, of 2^53 + 1 the last is not.
    assert_eq!(parse("999999999999999"), Some(999_999_999_999_999.0));
    assert_eq!(parse("9007199254740993"), Some(9_007_199_254_740_992.0));
    assert_eq!(parse("99999999999999999999"), Some(1e20));
    assert_eq!(parse("1e999"), None, "no double holds it");
}

#[test]
fn groups_have_three_digits_or_in_india_two() {
    assert_eq!(parse("1,23,456"), Some(123_456.0));
    for text in ["1,2,345", "1,23,45", "1234,567", "12,34", "1,234,56", ",123", "1,234,5678"] {
        assert_eq!(parse(text), None, "{text}");
    }
    for spaced in ["25'196'544.5", "25\u{2019}196\u{2019}544.5", "25\u{a0}196\u{a0}544.5"] {
        assert_eq!(parse(spaced), Some(25_196_544.5), "{spaced}");
    }
    assert_eq!(Style::Comma.parse("25\u{2009}196\u{2009}544,5"), Some(25_196_544.5));
}

#[test]
fn a_missing_value_is_told_from_text() {
    for text in ["", " ", "-", "n/a", "N/A", " nan ", "-nan", "(nan)", "inf", "-inf", "No Data"] {
        assert!(is_missing(text), "{text}");
    }
    for text in ["0", "--", "none", "sm_90"] {
        assert!(!is_missing(text), "{text}");
    }
}

#[test]
fn each_cell_tells_what_it_can_of_its_pages_style() {
    for (point, comma) in [
        ("1.5", "1,5"),
        ("36.73", "36,73"),
        // Nothing is grouped behind a zero, nor behind four digits.
        ("0.123", "0,123"),
        ("1024.500", "1024,500"),
        ("1,234,567", "1.234.567"),
        ("1,234.5", "1.234,5"),
        ("-12,345,678.9", "-12.345.678,9"),
    ] {
        assert_eq!(Style::of([point]), Ok(Style::Point), "{point}");
        assert_eq!(Style::of([comma]), Ok(Style::Comma), "{comma}");
        let both = Ambiguous { first: point.to_owned(), second: comma.to_owned() };
        assert_eq!(Style::of([comma, point]), Err(both), "{point} and {comma}");
    }
}

#[test]
fn what_may_be_grouped_or_not_is_settled_by_another_cell() {
    // `4.096` is four or 4096, `4,096` is 4096 on ncu's pages, which print two or six decimals.
    assert_eq!(Style::of(["4.096", "36,73"]), Ok(Style::Comma));
    assert_eq!(Style::of(["4.096", "36.73"]), Ok(Style::Point));
    assert_eq!(Style::of(["4,096", "36,73"]), Ok(Style::Comma));
    let refused = |cells: [&str; 2], first: &str, second: &str| {
        let ambiguous = Ambiguous { first: first.to_owned(), second: second.to_owned() };
        assert_eq!(Style::of(cells), Err(ambiguous));
    };
    refused(["4.096", "4,096"], "4,096", "4.096");
    refused(["4.096", "25.196544"], "25.196544", "4.096");
    refused(["25.196544", "36,73"], "25.196544", "36,73");
    refused(["4.096 (1; 2)", "7"], "4.096", "4.096");
}

proptest! {
    #[test]
    fn nothing_panics(text in "\\PC{0,20}") {
        let _ = parse(&text);
        let _ = Style::of([text.as_str()]);
    }

    #[test]
    fn every_style_reads_what_it_writes(cents in 0_u64..1_000_000_000_000) {
        let value = cents as f64 / 100.0;
        let grouped = crate::text::count((cents / 100) as f64);
        let english = format!("{grouped}.{:02}", cents % 100);
        let german: String = english
            .chars()
            .map(|c| match c { ',' => '.', '.' => ',', c => c })
            .collect();
        prop_assert_eq!(Style::of([english.as_str()]), Ok(Style::Point));
        prop_assert_eq!(Style::Point.parse(&english), Some(value));
        prop_assert_eq!(Style::of([german.as_str()]), Ok(Style::Comma));
        prop_assert_eq!(Style::Comma.parse(&german), Some(value));
    }
}
