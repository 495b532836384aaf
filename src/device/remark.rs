//! What a report has to say of a device that was not measured.

use super::{DeviceFacts, Quantity};
use crate::text::percent;

/// What a launch and its atomics cost, in words.
const COSTS: [(Quantity, &str); 4] = [
    (Quantity::EmptyKernel, "the time of an empty launch"),
    (Quantity::BlockStart, "the rate at which blocks start"),
    (Quantity::AtomicFloatShare, "the rate of float atomics on one address"),
    (Quantity::AtomicIntegerShare, "the rate of integer atomics on one address"),
];

impl DeviceFacts {
    /// What a diagnosis had to assume or to do without on this device, in a few sentences; `None` where all
    /// that it asks for was measured. `name` is the device's, where the profile has it.
    #[must_use]
    pub fn remark(&self, name: Option<&str>) -> Option<String> {
        let ceilings: Vec<String> =
            [self.dram_remark(), self.fma_remark()].into_iter().flatten().collect();
        let costs = |pick: &dyn Fn(Quantity) -> bool| {
            let words =
                COSTS.iter().filter(|(quantity, _)| pick(*quantity)).map(|(_, words)| *words);
            list(&words.collect::<Vec<_>>())
        };
        let name = name.unwrap_or("this device");
        let mut sentences = Vec::new();
        if !ceilings.is_empty() {
            sentences.push(format!("ceiling: not measured on {name}; {}", ceilings.join(", ")));
        }
        if let Some(assumed) = costs(&|quantity| self.is_assumed(quantity)) {
            sentences.push(format!(
                "{assumed}: not measured on {name}, so the estimates assume what was measured on others"
            ));
        }
        if let Some(unknown) = costs(&|quantity| self.get(quantity).is_none()) {
            sentences.push(format!("{unknown}: unknown on {name}, so the estimates leave it out"));
        }
        if sentences.is_empty() {
            return None;
        }
        sentences.push(
            "`adoprof doctor --measure` fills in what can be measured when it is run on \
                        that device"
                .to_owned(),
        );
        Some(sentences.join(". "))
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
            Some((read, copy)) => format!(
                "for DRAM, {} of the peak is assumed for reads and {} for copies ({})",
                percent(read),
                percent(copy),
                self.source(Quantity::DramReadShare).unwrap_or_default()
            ),
            None => "for DRAM, its peak is assumed".to_owned(),
        })
    }

    fn fma_remark(&self) -> Option<String> {
        let known = self.get(Quantity::FmaShare);
        known.is_none().then(|| "for the FMA pipe, its peak is assumed".to_owned())
    }
}

/// Words as a list; `None` where there are none.
fn list(words: &[&str]) -> Option<String> {
    match words {
        [] => None,
        [only] => Some((*only).to_owned()),
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
        let said = h100.remark(Some("NVIDIA H100")).unwrap();
        assert!(
            said.starts_with("ceiling: not measured on NVIDIA H100; for DRAM, 95% of"),
            "{said}"
        );
        assert!(said.contains("89% for copies (derived from"), "{said}");
        assert!(said.contains("for the FMA pipe, its peak") && !said.contains("unknown"), "{said}");
    }

    #[test]
    fn what_is_assumed_and_what_is_unknown_are_named() {
        let costs = "the time of an empty launch, the rate at which blocks start, the rate of float \
                     atomics on one address and the rate of integer atomics on one address";
        let l4 = DeviceFacts::of(Some("NVIDIA L4"), Some((8, 9)));
        let said = l4.remark(Some("NVIDIA L4")).unwrap();
        assert!(said.contains(&format!("{costs}: not measured on NVIDIA L4")), "{said}");
        assert!(!said.contains("unknown"), "{said}");
        let nothing = DeviceFacts::default().remark(None).unwrap();
        assert!(nothing.contains("not measured on this device; for DRAM, its peak"), "{nothing}");
        assert!(nothing.contains(&format!("{costs}: unknown on this device")), "{nothing}");
    }
}
