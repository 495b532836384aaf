//! The devices over which a sweep spreads its points.

use crate::cli::ChosenDevices;
use crate::error::{Error, Result};
use crate::launch::Device;
use crate::sweep::SweepDevice;
use crate::text::significant;

/// Devices whose times of the same point differ by less are called alike: about what a repeated run scatters.
const ALIKE: f64 = 1.02;

/// The devices that the user chose; none where the points run on one.
///
/// # Errors
/// [`Error::Usage`] for a number that is none, and for devices of several models, whose times can't be compared.
pub(super) fn chosen(asked: Option<&ChosenDevices>) -> Result<Vec<SweepDevice>> {
    let numbers: Vec<usize> = match asked {
        None => return Ok(Vec::new()),
        Some(ChosenDevices::All) => (0..Device::count()?).collect(),
        Some(ChosenDevices::Numbered(numbers)) => numbers.clone(),
    };
    let open = |number: usize| {
        let device = Device::open(number)?;
        let (name, uuid) = (device.name.clone(), device.uuid.clone());
        Ok(SweepDevice { number, name, uuid, first_point_ns: None })
    };
    let devices: Vec<SweepDevice> = numbers.into_iter().map(open).collect::<Result<_>>()?;
    let other = devices.iter().find(|device| device.name != devices[0].name);
    match (devices.first(), other) {
        (None, _) => Err(Error::Environment("--devices finds no CUDA device here".to_owned())),
        (Some(first), Some(other)) => Err(Error::Usage(format!(
            "device {} is a {} and device {} a {}: their times can't be compared; name devices of one model",
            first.number, first.name, other.number, other.name
        ))),
        _ => Ok(devices),
    }
}

/// How the devices differ in the point that each of them ran, in a sentence; `None` where they do not.
pub(super) fn difference(devices: &[SweepDevice]) -> Option<String> {
    let timed = || devices.iter().filter_map(|one| Some((one.number, one.first_point_ns?.median)));
    let fastest = timed().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let slowest = timed().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let ratio = slowest.1 / fastest.1;
    (ratio >= ALIKE).then(|| {
        format!(
            "the first point ran on every device, and device {} took {}× as long as device {}: points that differ \
             by no more than that may differ only because of their devices",
            slowest.0,
            significant(ratio, 3),
            fastest.0
        )
    })
}
