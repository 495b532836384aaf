//! A table as comma-separated values.

use std::io::Write;

use polars::prelude::*;

use super::unknown;
use crate::error::{Error, Result};

/// Writes a line of names and a line per row.
///
/// # Errors
/// As [`super::Form::write`].
pub(super) fn write(table: &DataFrame, out: &mut dyn Write) -> Result<()> {
    let fails = |error: &dyn std::fmt::Display| {
        Error::input("the table", format!("cannot be written: {error}"))
    };
    let columns = table.columns().iter().map(texts).collect::<Result<Vec<_>>>()?;
    let mut writer = csv::Writer::from_writer(out);
    writer
        .write_record(table.columns().iter().map(|column| column.name().as_str()))
        .map_err(|error| fails(&error))?;
    for row in 0..table.height() {
        let cells = columns.iter().map(|column| column[row].as_str());
        writer.write_record(cells).map_err(|error| fails(&error))?;
    }
    writer.flush().map_err(|error| fails(&error))
}

/// A column's values as texts; null is empty. Numbers have the digits that give the same number when they are read.
fn texts(column: &Column) -> Result<Vec<String>> {
    fn all<T: ToString>(values: impl Iterator<Item = Option<T>>) -> Vec<String> {
        values.map(|value| value.map(|value| value.to_string()).unwrap_or_default()).collect()
    }
    Ok(match column.dtype() {
        DataType::String => all(column.str()?.iter()),
        DataType::UInt32 => all(column.u32()?.iter()),
        DataType::UInt64 => all(column.u64()?.iter()),
        DataType::Float64 => all(column.f64()?.iter()),
        DataType::Boolean => all(column.bool()?.iter()),
        _ => return Err(unknown(column)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_as_they_were() {
        let mut out = Vec::new();
        write(&super::super::tests::sample(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let expected = "kernel,line,address,value,global\n\
                        \"a<int, 2>(\"\"x\"\")\",7,18446744073709551615,0.1,true\n\
                        ,,0,inf,\n\"two\nlines\",4294967295,,,false\n";
        assert_eq!(text, expected);
    }
}
