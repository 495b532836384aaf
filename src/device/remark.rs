//! What a report has to say of a device that was not measured.

use super::{DeviceFacts, Quantity};
use crate::text::percent;

/// What the model can do without, and what it is in words.
const COSTS: [(Quantity, &str); 4] = [
    (Quantity::EmptyKernel, "the time of an empty launch"),
    (Quantity::BlockStart, "the rate at which blocks start"),
    (Quantity::AtomicFloatShare, "the rate of float atomics on one address"),
    (Quantity::AtomicIntegerShare, "the rate of integer atomics on one address"),
];

impl DeviceFacts {
    /// What a diagnosis had to do without on this device, in a sentence or two; `None` where all that
    /// it asks for was measured. `name` is the device's, where the profile has it.
    #[must_use]
    pub fn remark(&self, name: Option<&str>) -> Option<String> {
        let ceilings: Vec<String> =
            [self.dram_remark(), self.fma_remark()].into_iter().flatten().collect();
        let unknown: Vec<&str> = COSTS
            .iter()
            .filter(|(quantity, _)| self.get(*quantity).is_none())
            .map(|(_, words)| *words)
            .collect();
        let name = name.unwrap_or("this device");
        let mut sentences = Vec::new();
        if !ceilings.is_empty() {
            sentences.push(format!("ceiling: not measured on {name}; {}", ceilings.join(", ")));
        }
        if let [first @ .., last] = unknown.as_slice() {
            let list = if first.is_empty() {
                (*last).to_owned()
            } else {
                format!("{} and {last}", first.join(", "))
            };
            sentences.push(format!("{list}: unknown on {name}, so the estimates leave it out"));
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
    fn what_is_unknown_is_named() {
        let l4 = DeviceFacts::of(Some("NVIDIA L4"), Some((8, 9)));
        let said = l4.remark(Some("NVIDIA L4")).unwrap();
        let costs = "the time of an empty launch, the rate at which blocks start, the rate of float \
                     atomics on one address and the rate of integer atomics on one address: unknown on \
                     NVIDIA L4";
        assert!(said.contains(costs), "{said}");
        let nothing = DeviceFacts::default().remark(None).unwrap();
        assert!(nothing.contains("not measured on this device; for DRAM, its peak"), "{nothing}");
    }
}
