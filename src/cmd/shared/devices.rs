//! The devices over which a sweep spreads its points, and a run its steps.

use crate::cli::ChosenDevices;
use crate::error::{Error, Result};
use crate::launch::Device;
use crate::text::significant;

/// Devices whose times of the same work differ by less are called alike: about what a repeated run scatters.
const ALIKE: f64 = 1.02;

/// One of several devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsedDevice {
    /// Its number.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its UUID.
    pub uuid: String,
}

/// The devices that the user chose.
///
/// # Errors
/// [`Error::Usage`] for a number that is none, [`Error::Environment`] where there is no device at all.
pub(crate) fn chosen(asked: &ChosenDevices) -> Result<Vec<UsedDevice>> {
    let numbers: Vec<usize> = match asked {
        ChosenDevices::All => (0..Device::count()?).collect(),
        ChosenDevices::Numbered(numbers) => numbers.clone(),
    };
    let open = |number: usize| {
        let device = Device::open(number)?;
        Ok(UsedDevice { number, name: device.name.clone(), uuid: device.uuid.clone() })
    };
    let devices: Vec<UsedDevice> = numbers.into_iter().map(open).collect::<Result<_>>()?;
    if devices.is_empty() {
        return Err(Error::Environment("--devices finds no CUDA device here".to_owned()));
    }
    Ok(devices)
}

/// That the devices are of several models, whose times can't be compared; `None` where they are of one.
pub(crate) fn several_models(devices: &[UsedDevice]) -> Option<String> {
    let first = devices.first()?;
    let other = devices.iter().find(|device| device.name != first.name)?;
    Some(format!(
        "device {} is a {} and device {} a {}: their times can't be compared",
        first.number, first.name, other.number, other.name
    ))
}

/// How the devices differ in the work that each of them ran, in a sentence; `None` where they do not. Each device has
/// its number and the time of that work, the first `what` of all.
pub(crate) fn difference(
    timed: impl Iterator<Item = (usize, f64)> + Clone,
    what: &str,
) -> Option<String> {
    let fastest = timed.clone().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let slowest = timed.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let ratio = slowest.1 / fastest.1;
    (ratio >= ALIKE).then(|| {
        format!(
            "the first {what} ran on every device, and device {} took {}× as long as device {}: {what}s that differ \
             by no more than that may differ only because of their devices",
            slowest.0,
            significant(ratio, 3),
            fastest.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_several_models_are_told_apart() {
        let device = |number, name: &str| UsedDevice {
            number,
            name: name.to_owned(),
            uuid: format!("GPU-{number}"),
        };
        assert_eq!(several_models(&[device(0, "A"), device(1, "A")]), None);
        let said = several_models(&[device(0, "A"), device(2, "A"), device(3, "B")]).unwrap();
        assert!(said.starts_with("device 0 is a A and device 3 a B"), "{said}");
    }

    #[test]
    fn a_difference_is_told_from_two_percent_on() {
        let of = |times: &[f64]| difference(times.iter().copied().enumerate(), "step");
        assert_eq!((of(&[100.0, 101.0]), of(&[100.0]), of(&[])), (None, None, None));
        let said = of(&[110.0, 100.0]).unwrap();
        assert!(said.contains("device 0 took 1.10× as long as device 1: steps"), "{said}");
    }
}
