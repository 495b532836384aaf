//! Registers of the hardware, which tell a thread where it is (`SR_TID.X`).

/// Those whose value all threads of a block share.
const OF_BLOCK: [&str; 4] = ["SR_CTAID", "SR_CgaCtaId", "SR_CgaSize", "SR_NCTAID"];

/// True for an instruction that reads what all threads of its block share: its place in the grid or in its cluster.
#[must_use]
pub fn is_of_block(text: &str) -> bool {
    OF_BLOCK.iter().any(|name| text.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_grid_is_the_blocks() {
        assert!(is_of_block("S2R R0, SR_CTAID.X"));
        assert!(is_of_block("S2UR UR4, SR_CgaCtaId"));
        assert!(!is_of_block("S2R R0, SR_TID.X"));
        assert!(!is_of_block("S2R R0, SR_LANEID"));
    }
}
