//! A port for each run: where an earlier run ended badly, its port may still be taken, and the next one would fail or
//! wait for it.

use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};

/// The variables from which PyTorch and its launcher take the port of the ranks' meeting place.
const VARIABLES: [&str; 2] = ["MASTER_PORT", "PET_MASTER_PORT"];

/// A port that nothing listens on; `None` where the system gives none.
pub(crate) fn free() -> Option<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    Some(listener.local_addr().ok()?.port())
}

/// The variables that give a run of this machine a port of its own; none where the ranks meet on another machine, whose
/// ports nobody here can know.
pub(crate) fn variables() -> Vec<(OsString, OsString)> {
    let is_here = |name: &str| {
        let address = std::env::var(name).unwrap_or_default();
        ["", "localhost", "127.0.0.1", "::1"].contains(&address.as_str())
    };
    let nodes = std::env::var("SLURM_NNODES").ok().and_then(|count| count.parse::<u32>().ok());
    if !is_here("MASTER_ADDR")
        || !is_here("PET_MASTER_ADDR")
        || nodes.is_some_and(|count| count > 1)
    {
        return Vec::new();
    }
    let port = free().map(|port| OsString::from(port.to_string()));
    port.map_or_else(Vec::new, |port| {
        VARIABLES.iter().map(|name| (OsString::from(name), port.clone())).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_can_be_taken() {
        let port = free().unwrap();
        assert!(port > 0 && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok());
    }
}
