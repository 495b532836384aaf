//! What was measured beside what the shipped file says.

use super::Measured;
use crate::device::DeviceFacts;

/// The table's lines: each quantity as measured, as shipped, the difference, the unit.
#[must_use]
pub(crate) fn comparison(measured: &[Measured], shipped: &DeviceFacts) -> String {
    let mut rows = vec![
        ["measured on this device", "now", "shipped", "differs by", "unit"].map(str::to_owned),
    ];
    for one in measured {
        let definition = one.quantity.definition();
        let known = shipped.get(one.quantity);
        rows.push([
            definition.title.to_owned(),
            number(one.value),
            known.map_or_else(|| "unknown".to_owned(), number),
            known.map_or_else(String::new, |known| {
                format!("{:+.1}%", 100.0 * (one.value / known - 1.0))
            }),
            definition.unit.to_owned(),
        ]);
    }
    let mut widths = [0; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; 5]| {
        let [name, now, known, differs, unit] = row;
        let [a, b, c, d, _] = widths;
        format!("{name:<a$}  {now:>b$}  {known:>c$}  {differs:>d$}  {unit}\n")
    };
    rows.iter().map(line).collect()
}

/// Four significant digits, with an exponent from a million on.
fn number(value: f64) -> String {
    crate::device::four_digits(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Quantity;

    #[test]
    fn each_value_stands_beside_the_shipped_one() {
        let of = |quantity, value| Measured { quantity, value, how: String::new() };
        // 4.641 over 4.55 and 40.1 over 32.08.
        let measured = [of(Quantity::DramReadRate, 4.641e12), of(Quantity::L1Latency, 40.1)];
        let shipped = DeviceFacts::shipped(Some("NVIDIA H200"), None);
        assert_eq!(
            comparison(&measured, &shipped),
            "measured on this device       now  shipped  differs by  unit\n\
             DRAM read rate           4.641e12  4.55e12       +2.0%  byte/s\n\
             L1 latency                   40.1    32.08      +25.0%  cycle\n"
        );
        let unknown = comparison(&measured[1..], &DeviceFacts::default());
        assert!(unknown.contains("40.1  unknown              cycle"), "{unknown}");
    }
}
