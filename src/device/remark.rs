//! What a report has to say of a device that was not measured.

use super::{DeviceFacts, Quantity};
use crate::text::percent;

/// What a launch and its atomics cost, and how a sentence calls them.
const COSTS: [(Quantity, &str); 4] = [
    (Quantity::EmptyKernel, "launches"),
    (Quantity::BlockStart, "block starts"),
    (Quantity::AtomicFloatShare, "float atomics"),
    (Quantity::AtomicIntegerShare, "integer atomics"),
];

impl DeviceFacts {
    /// What a diagnosis had to assume or to do without on this device, in one sentence; `None` where all
    /// that it asks for was measured. `name` is the device's, where the profile has it.
    #[must_use]
    pub fn remark(&self, name: Option<&str>) -> Option<String> {
        let costs = |pick: &dyn Fn(Quantity) -> bool| {
            let picked = COSTS.iter().filter(|(quantity, _)| pick(*quantity));
            list(&picked.map(|(_, words)| (*words).to_owned()).collect::<Vec<_>>())
        };
        let ceilings: Vec<String> =
            [self.dram_remark(), self.fma_remark()].into_iter().flatten().collect();
        let said: Vec<String> = [
            list(&ceilings).map(|assumed| format!("adoprof assumes {assumed}")),
            costs(&|quantity| self.is_assumed(quantity)).map(|assumed| {
                format!("adoprof takes the cost of {assumed} from measured devices")
            }),
            costs(&|quantity| self.get(quantity).is_none())
                .map(|unknown| format!("estimates leave out the cost of {unknown}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        let name = name.unwrap_or("this device");
        (!said.is_empty()).then(|| {
            format!(
                "ceiling: not measured on {name}, so {}; run `adoprof doctor --measure` on that device to measure \
                 them",
                said.join("; ")
            )
        })
    }

    /// True where the value was derived from other devices'.
    fn is_assumed(&self, quantity: Quantity) -> bool {
        self.source(quantity).is_some_and(|from| from.starts_with("derived"))
    }

    fn dram_remark(&self) -> Option<String> {
        let is_measured = |quantity| self.get(quantity).is_some();
        if is_measured(Quantity::DramReadRate) && is_measured(Quantity::DramCopyRate) {
            return None;
        }
        let shares = self.get(Quantity::DramReadShare).zip(self.get(Quantity::DramCopyShare));
        Some(match shares {
            Some((read, copy)) => {
                format!("{} of DRAM's peak ({} for copies)", percent(read), percent(copy))
            }
            None => "DRAM's peak".to_owned(),
        })
    }

    fn fma_remark(&self) -> Option<String> {
        let known = self.get(Quantity::FmaShare);
        known.is_none().then(|| "the FMA pipe's peak".to_owned())
    }
}

/// Words as a list; `None` where there are none.
fn list(words: &[String]) -> Option<String> {
    match words {
        [] => None,
        [only] => Some(only.clone()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_device_needs_no_remark() {
        let h200 = DeviceFacts::of(Some("NVIDIA H200"), Some((9, 0)));
        assert_eq!(h200.remark(Some("NVIDIA H200")), None);
    }

    #[test]
    fn another_device_of_a_measured_architecture_lacks_its_ceilings() {
        let h100 = DeviceFacts::of(Some("NVIDIA H100"), Some((9, 0)));
        assert_eq!(
            h100.remark(Some("NVIDIA H100")).unwrap(),
            "ceiling: not measured on NVIDIA H100, so adoprof assumes 95% of DRAM's peak (89% for copies) \
             and the FMA pipe's peak; run `adoprof doctor --measure` on that device to measure them"
        );
    }

    #[test]
    fn what_is_assumed_and_what_is_unknown_are_named() {
        let costs = "launches, block starts, float atomics and integer atomics";
        let l4 = DeviceFacts::of(Some("NVIDIA L4"), Some((8, 9)));
        let said = l4.remark(Some("NVIDIA L4")).unwrap();
        assert!(
            said.contains(&format!("; adoprof takes the cost of {costs} from measured devices;")),
            "{said}"
        );
        assert!(!said.contains("leave out"), "{said}");
        let nothing = DeviceFacts::default().remark(None).unwrap();
        assert!(
            nothing.contains("not measured on this device, so adoprof assumes DRAM's peak and the"),
            "{nothing}"
        );
        assert!(nothing.contains("leave out the cost of launches, block starts"), "{nothing}");
    }
}
