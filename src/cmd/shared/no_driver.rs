//! A survey without any process that used CUDA, on a machine that has no driver.

use crate::launch;
use crate::survey::run::NO_CUDA;

/// Why a survey has no kernels, or, where it is for that, that there is no CUDA driver on this machine.
pub(crate) fn or_failure(failure: String) -> String {
    said(failure, || launch::driver_version().is_some())
}

fn said(failure: String, has_driver: impl Fn() -> bool) -> String {
    // Asked after the run alone: a program may be a command that runs another one elsewhere, in a container, say.
    if failure != NO_CUDA || has_driver() {
        return failure;
    }
    "there is no CUDA driver here (libcuda.so); `adoprof doctor` says what this machine lacks"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_driver_is_said_to_be_one() {
        assert!(said(NO_CUDA.to_owned(), || false).starts_with("there is no CUDA driver here"));
        assert_eq!(said(NO_CUDA.to_owned(), || true), NO_CUDA);
        assert_eq!(said("no CUPTI".to_owned(), || false), "no CUPTI");
    }
}
