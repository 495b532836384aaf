//! Arguments of a launch as the manifest has them: a word for a buffer, a table for all else.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};

use super::Formula;
use crate::plan::DType;

/// A kernel argument: a buffer's name, `{ texture = "values" }`, or `{ type = "i32", value = "N" }`.
#[derive(Debug, Clone)]
pub(in crate::ladder) enum Argument {
    Buffer(String),
    Texture(Texture),
    Scalar(Scalar),
}

impl Argument {
    /// The name of the buffer that the kernel reaches through it.
    pub(crate) fn buffer(&self) -> Option<&str> {
        match self {
            Self::Buffer(buffer) | Self::Texture(Texture { buffer, .. }) => Some(buffer),
            Self::Scalar(_) => None,
        }
    }
}

/// A texture object over a buffer.
#[derive(Debug, Clone)]
pub(in crate::ladder) struct Texture {
    pub buffer: String,
    pub channels: u32,
}

/// A scalar argument.
#[derive(Debug, Clone)]
pub(in crate::ladder) struct Scalar {
    pub dtype: DType,
    pub value: Formula,
}

/// What may stand in a table that is an argument.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentTable {
    #[serde(rename = "type")]
    dtype: Option<DType>,
    value: Option<Formula>,
    texture: Option<String>,
    channels: Option<u32>,
}

impl ArgumentTable {
    fn argument<E: serde::de::Error>(self) -> std::result::Result<Argument, E> {
        let scalar = self.dtype.is_some() || self.value.is_some();
        match self.texture {
            Some(_) if scalar => {
                Err(E::custom("an argument is a texture or a number: make it two"))
            }
            Some(buffer) => {
                Ok(Argument::Texture(Texture { buffer, channels: self.channels.unwrap_or(1) }))
            }
            None if self.channels.is_some() => Err(E::missing_field("texture")),
            None => Ok(Argument::Scalar(Scalar {
                dtype: self.dtype.ok_or_else(|| E::missing_field("type"))?,
                value: self.value.ok_or_else(|| E::missing_field("value"))?,
            })),
        }
    }
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Argument;
            fn expecting(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
                out.write_str(
                    "a buffer's name, { texture = \"values\" } or { type = \"i32\", value = \"N\" }",
                )
            }
            fn visit_str<E>(self, name: &str) -> std::result::Result<Argument, E> {
                Ok(Argument::Buffer(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                map: A,
            ) -> std::result::Result<Argument, A::Error> {
                ArgumentTable::deserialize(MapAccessDeserializer::new(map))?.argument()
            }
        }
        deserializer.deserialize_any(Reader)
    }
}
