//! ncu's version.

use std::fmt;

/// A release of Nsight Compute, such as 2025.3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The year in the name.
    pub year: u32,
    /// The release of that year.
    pub release: u32,
    /// The patch of that release.
    pub patch: u32,
}

impl Version {
    /// The oldest release whose options, pages and columns were measured; older ones lack
    /// `--print-source` views or name the sector metrics differently.
    pub const OLDEST: Self = Self::new(2022, 3, 0);

    /// The newest release that was measured: what command lines are printed for where there is none.
    pub const NEWEST_MEASURED: Self = Self::new(2025, 3, 1);

    /// A version from its parts.
    #[must_use]
    pub const fn new(year: u32, release: u32, patch: u32) -> Self {
        Self { year, release, patch }
    }

    /// The version in what `ncu --version` prints: the line `Version 2025.3.1.0 (build …)`.
    #[must_use]
    pub fn from_banner(banner: &str) -> Option<Self> {
        if !banner.contains("Nsight Compute") {
            return None;
        }
        banner.lines().find_map(|line| Self::parse(line.trim().strip_prefix("Version ")?))
    }

    /// A version at the start of a text: `2025.3.1.0 (build 36398880)`, `2024.1`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.split(|c: char| !(c.is_ascii_digit() || c == '.')).next()?;
        let mut parts = digits.split('.').map(str::parse::<u32>);
        let year = parts.next()?.ok()?;
        let release = parts.next()?.ok()?;
        let patch = parts.next().and_then(Result::ok).unwrap_or(0);
        Some(Self { year, release, patch })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.year, self.release, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banner_gives_the_version() {
        let banner = "NVIDIA (R) Nsight Compute Command Line Profiler\n\
                      Copyright (c) 2018-2024 NVIDIA Corporation\n\
                      Version 2024.1.1.0 (build 33998838) (public-release)\n";
        assert_eq!(Version::from_banner(banner), Some(Version::new(2024, 1, 1)));
    }

    #[test]
    fn other_programs_are_not_ncu() {
        assert_eq!(Version::from_banner("Version 3.1"), None);
        assert_eq!(Version::from_banner(""), None);
        assert_eq!(Version::from_banner("Nsight Compute\nVersion x"), None);
    }

    #[test]
    fn releases_order_by_year_first() {
        assert!(Version::new(2022, 4, 0) > Version::OLDEST);
        assert!(Version::new(2022, 2, 9) < Version::OLDEST);
        assert_eq!(Version::parse("2024.1"), Some(Version::new(2024, 1, 0)));
    }
}
