//! Where what is to be divided among more blocks stands.

use crate::evidence::ModeledLaunch;
use crate::evidence::removal::locations;
use crate::finding::Location;
use crate::sass::questions::independence::What;

/// Where what is to be divided stands.
pub(super) fn shown(launch: &ModeledLaunch, what: Option<What>) -> Vec<Location> {
    match what {
        Some(
            What::Turns(place)
            | What::Strided(place)
            | What::Queue(place)
            | What::Statements(place),
        ) => launch.profile.listing().map_or_else(Vec::new, |listing| {
            locations(launch, listing, |at| f64::from(u8::from(at == place)), "launch")
        }),
        Some(What::Nothing) => Vec::new(),
        None => outer_loop(launch).into_iter().collect(),
    }
}

/// The first loop of the kernel's source, which is the outermost one of the first nest.
fn outer_loop(launch: &ModeledLaunch) -> Option<Location> {
    launch
        .profile
        .lines
        .iter()
        .filter(|row| row.counters.inst_executed > 0.0)
        .filter(|row| row.text.trim_start().starts_with("for"))
        .min_by_key(|row| row.line)
        .map(|row| Location {
            file: row.file.as_deref().unwrap_or_default().to_owned(),
            line: row.line.unwrap_or_default(),
            offset: None,
            share: 1.0,
            share_of: "launch".to_owned(),
            text: row.text.trim().to_owned(),
        })
}
