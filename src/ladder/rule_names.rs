//! The names that a manifest's `answers` can hold.

/// The name of every rule. A ladder knows no rules: `build.rs` writes the names from the lines that
/// declare them.
pub const RULE_NAMES: &[&str] = include!(concat!(env!("OUT_DIR"), "/rule_names.rs"));

/// True for the name of a rule.
#[must_use]
pub fn known_rule(name: &str) -> bool {
    RULE_NAMES.contains(&name)
}
