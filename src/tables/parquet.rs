//! A table as an Apache Parquet file: one row group, every column optional.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType as Stored, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use polars::prelude::*;

use super::unknown;
use crate::error::{Error, Result};

/// Writes the file.
///
/// # Errors
/// As [`super::Form::write`].
pub(super) fn write(table: &DataFrame, out: &mut (dyn Write + Send)) -> Result<()> {
    let columns = table.columns();
    let fields = columns.iter().map(|column| field(column).map(Arc::new)).collect::<Result<_>>()?;
    let schema = Type::group_type_builder("adoprof").with_fields(fields).build().map_err(failed)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("adoprof ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut file =
        SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
    let mut group = file.next_row_group().map_err(failed)?;
    for column in columns {
        match column.dtype() {
            DataType::String => add::<ByteArrayType, _>(&mut group, column.str()?.iter(), |text| {
                ByteArray::from(text.as_bytes().to_vec())
            }),
            DataType::UInt32 => {
                add::<Int32Type, _>(&mut group, column.u32()?.iter(), u32::cast_signed)
            }
            DataType::UInt64 => {
                add::<Int64Type, _>(&mut group, column.u64()?.iter(), u64::cast_signed)
            }
            DataType::Float64 => {
                add::<DoubleType, _>(&mut group, column.f64()?.iter(), |value| value)
            }
            DataType::Boolean => {
                add::<BoolType, _>(&mut group, column.bool()?.iter(), |value| value)
            }
            _ => return Err(unknown(column)),
        }
        .map_err(failed)?;
    }
    group.close().map_err(failed)?;
    file.close().map_err(failed)?;
    Ok(())
}

/// How a column is declared.
fn field(column: &Column) -> Result<Type> {
    let unsigned = |bit_width| Some(LogicalType::integer(bit_width, false));
    let (physical, logical) = match column.dtype() {
        DataType::String => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        DataType::UInt32 => (Physical::INT32, unsigned(32)),
        DataType::UInt64 => (Physical::INT64, unsigned(64)),
        DataType::Float64 => (Physical::DOUBLE, None),
        DataType::Boolean => (Physical::BOOLEAN, None),
        _ => return Err(unknown(column)),
    };
    Type::primitive_type_builder(column.name(), physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
        .map_err(failed)
}

/// Adds the next column: its values without the nulls, and where those stand.
fn add<T: Stored, V>(
    group: &mut SerializedRowGroupWriter<'_, &mut (dyn Write + Send)>,
    values: impl Iterator<Item = Option<V>>,
    stored: impl Fn(V) -> T::T,
) -> std::result::Result<(), ParquetError> {
    let (mut present, mut levels) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        present.extend(value.map(&stored));
    }
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("a column is missing from the schema".to_owned()));
    };
    column.typed::<T>().write_batch(&present, Some(&levels), None)?;
    column.close()
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn failed(error: ParquetError) -> Error {
    Error::input("the table", format!("cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_begins_and_ends_as_one_and_names_its_columns() {
        let mut out = Vec::new();
        write(&super::super::tests::sample(), &mut out).unwrap();
        assert!(out.starts_with(b"PAR1") && out.ends_with(b"PAR1"));
        // The length of the footer stands before the last mark, and the file's rows in it.
        let length = u32::from_le_bytes(out[out.len() - 8..out.len() - 4].try_into().unwrap());
        let footer = &out[out.len() - 8 - length as usize..];
        for name in ["kernel", "line", "address", "value", "global", "adoprof "] {
            assert!(footer.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
        }
    }
}
