//! A launch's description and its metrics.

use std::sync::Arc;

use super::launch_metric::LaunchMetric;
use super::messages::{Attribute, Device, ProfileResult, SessionDetails, Size, Value, text};
use crate::export::{LaunchRow, MetricRow, SharedTexts};
use crate::metric;

/// The launch's metrics, and how many have no name in the string table (its end is missing).
#[must_use]
pub(super) fn rows(
    metrics: &[LaunchMetric],
    launch: u32,
    strings: &[Arc<str>],
) -> (Vec<MetricRow>, usize) {
    let mut units = SharedTexts::default();
    let rows: Vec<MetricRow> = metrics
        .iter()
        .filter_map(|metric| {
            let name = strings.get(usize::try_from(metric.name).ok()?)?;
            let value = metric.value.as_ref();
            Some(MetricRow {
                launch,
                section: Arc::default(),
                metric: name.clone(),
                unit: units.get(unit(name)),
                value: value.and_then(Value::number),
                text: value.and_then(|value| value.text.as_deref()).map(text),
            })
        })
        .collect();
    let nameless = metrics.len() - rows.len();
    (rows, nameless)
}

/// The unit of a metric's raw value, as far as it is known: the file has none.
fn unit(name: &str) -> &'static str {
    let percent = name.contains(".pct_of_peak_") || name.strip_suffix(".pct").is_some();
    match metric::canonical(name) {
        Some((metric, 1.0)) => metric.unit,
        None if percent => "%",
        // An alias with a scale has another unit than the catalogue's entry.
        _ => "",
    }
}

/// Kernel, grid, block and device of a launch.
#[must_use]
pub(super) fn launch(
    result: &ProfileResult,
    id: u32,
    metrics: &[MetricRow],
    sessions: &[SessionDetails],
) -> LaunchRow {
    let kernel = [&result.demangled_name, &result.function_name, &result.mangled_name]
        .into_iter()
        .find(|name| !name.is_empty());
    let metric = |name: &str| metrics.iter().find(|row| *row.metric == *name);
    let number = |name: &str| metric(name).and_then(|row| row.value);
    // Where few metrics were asked for, the session still describes its devices.
    let device = device(sessions, number("launch__device_id"));
    let attribute = |name: &str| {
        let value =
            device?.attributes.iter().find(|Attribute { name: key, .. }| key == name.as_bytes());
        value?.value.as_ref()?.number()
    };
    let capability = |name: &str| number(name).or_else(|| attribute(name)).map(|part| part as u32);
    LaunchRow {
        id,
        kernel: kernel.map(|name| text(name)).unwrap_or_default(),
        grid: extents(result.grid.as_ref()),
        block: extents(result.block.as_ref()),
        device: metric("device__attribute_display_name")
            .and_then(|row| row.text.clone())
            .or_else(|| device.map(|device| text(&device.name)))
            .filter(|name| !name.is_empty()),
        compute_capability: capability("device__attribute_compute_capability_major")
            .zip(capability("device__attribute_compute_capability_minor")),
    }
}

/// The device of the given number; without a number, the only one.
fn device(sessions: &[SessionDetails], id: Option<f64>) -> Option<&Device> {
    let mut devices = sessions.iter().flat_map(|session| &session.devices);
    match id {
        Some(id) => devices.find(|device| device.id == id as u64),
        None => devices.next().filter(|_| devices.next().is_none()),
    }
}

fn extents(size: Option<&Size>) -> [u32; 3] {
    // A dimension that was not stored is 1, as in CUDA.
    let extent = |value: u64| u32::try_from(value).unwrap_or(u32::MAX).max(1);
    size.map_or([1; 3], |size| [extent(size.x), extent(size.y), extent(size.z)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_percent() {
        assert_eq!(unit("any__thing.pct"), "%");
        assert_eq!(unit("any__thing.avg.pct_of_peak_sustained_elapsed"), "%");
        assert_eq!(unit("any__thing.sum"), "");
    }

    #[test]
    fn of_several_devices_none_is_meant_without_a_number() {
        let of = |devices: &[u64]| SessionDetails {
            devices: devices.iter().map(|&id| Device { id, ..Device::default() }).collect(),
            ..SessionDetails::default()
        };
        assert!(device(&[of(&[3])], None).is_some());
        assert!(device(&[of(&[3, 4])], None).is_none());
        assert_eq!(device(&[of(&[3, 4])], Some(4.0)).map(|device| device.id), Some(4));
    }

    #[test]
    fn a_dimension_without_an_extent_is_one() {
        assert_eq!(extents(Some(&Size { x: 5, y: 0, z: 0 })), [5, 1, 1]);
        assert_eq!(extents(None), [1; 3]);
    }
}
