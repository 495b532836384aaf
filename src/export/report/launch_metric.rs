//! A launch's metrics, straight from its message.
//!
//! Most of a launch's message are instances of metrics: a value per address, opcode or unit. Those that
//! nobody asks for are stepped over, and the others are handed on one by one.

use super::messages::Value;
use super::wire::{Field, fields};

/// The field of a launch's message that has its metrics.
pub(super) const METRICS: u32 = 13;
/// The same of a range's, a graph's and a command list's message.
pub(super) const OF_SEVERAL: u32 = 4;

/// One metric of a launch.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LaunchMetric<'a> {
    /// The name's number in the string table.
    pub name: u64,
    /// The value over the whole launch.
    pub value: Option<Value>,
    message: &'a [u8],
}

/// The metrics in a result's message, which lie in its field of this number; `None` where it is damaged.
#[must_use]
pub(super) fn read(message: &[u8], of: u32) -> Option<Vec<LaunchMetric<'_>>> {
    let mut metrics = Vec::new();
    for field in fields(message) {
        let (number, field) = field?;
        if number == of {
            metrics.push(LaunchMetric::read(field.message()?)?);
        }
    }
    Some(metrics)
}

impl<'a> LaunchMetric<'a> {
    const NAME: u32 = 1;
    const VALUE: u32 = 2;
    const INSTANCE: u32 = 3;

    fn read(message: &'a [u8]) -> Option<Self> {
        let mut metric = Self { name: 0, value: None, message };
        for field in fields(message) {
            match field? {
                (Self::NAME, field) => metric.name = field.number()?,
                (Self::VALUE, field) => metric.value = Some(Value::read(field.message()?)?),
                (Self::INSTANCE, field) => _ = field.message()?,
                _ => {}
            }
        }
        Some(metric)
    }

    /// The address and the value of each instance that has both; `None` for one that is damaged.
    pub(super) fn instances(&self) -> impl Iterator<Item = Option<(u64, f64)>> + use<'a> {
        let instance = |field| match field {
            Some((Self::INSTANCE, Field::Message(message))) => match instance(message) {
                Ok(None) => None,
                whole_or_damaged => Some(whole_or_damaged.ok().flatten()),
            },
            Some(_) => None,
            None => Some(None),
        };
        fields(self.message).filter_map(instance)
    }
}

/// The address and the value of an instance, where it has both.
fn instance(message: &[u8]) -> Result<Option<(u64, f64)>, Damaged> {
    const OF: u32 = 1;
    const VALUE: u32 = 2;
    let (mut address, mut value) = (None, None);
    for field in fields(message) {
        let read = |field: Field| Value::read(field.message()?);
        match field.ok_or(Damaged)? {
            (OF, field) => address = read(field).ok_or(Damaged)?.integer(),
            (VALUE, field) => value = read(field).ok_or(Damaged)?.number(),
            _ => {}
        }
    }
    Ok(address.zip(value))
}

/// An instance that can't be read.
struct Damaged;

#[cfg(test)]
mod tests {
    use super::super::sample::{Instance, Kernel, MetricResult, double, instanced, metric, words};
    use super::*;

    #[test]
    fn metrics_come_with_name_value_and_instances() {
        let mut counted = instanced(7, &[(0x1000, 2.0), (0x1010, 0.5)]);
        counted.value = Some(double(2.5));
        // One without a value, and one of a name and not of an address.
        counted.instances.push(Instance { of: Some(double(1.0)), value: None });
        counted.instances.push(Instance { of: Some(words("FADD")), value: Some(double(1.0)) });
        let metrics = vec![counted, metric(8, Some(words("H200"))), metric(9, None)];
        let message = Kernel { metrics: metrics.clone(), ..Kernel::default() }.encoded();
        let found = read(&message, METRICS).unwrap();
        assert_eq!(found.len(), 3);
        for (found, MetricResult { name, value, .. }) in found.iter().zip(&metrics) {
            assert_eq!((found.name, &found.value), (*name, value));
        }
        let instances: Vec<_> = found[0].instances().collect();
        assert_eq!(instances, [Some((0x1000, 2.0)), Some((0x1010, 0.5))]);
        assert_eq!(found[1].instances().count(), 0);
    }

    #[test]
    fn damage_is_told_from_absence() {
        // A metric of 4 bytes: its name 1, and an instance of no bytes.
        assert_eq!(read(b"\x6a\x04\x08\x01\x1a\x00", METRICS).unwrap()[0].instances().count(), 0);
        // The instance reaches beyond the metric.
        assert_eq!(read(b"\x6a\x04\x08\x01\x1a\x05", METRICS), None);
        // The name is no number.
        assert_eq!(read(b"\x6a\x02\x0a\x00", METRICS), None);
        // What the instance holds is cut off: the metric is whole.
        let metric = &read(b"\x6a\x06\x08\x01\x1a\x02\x0a\x05", METRICS).unwrap()[0];
        assert_eq!(metric.instances().collect::<Vec<_>>(), [None]);
    }
}
