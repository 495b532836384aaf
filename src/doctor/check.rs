//! One thing that was looked at, and how it is.

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// All is well.
    Ok,
    /// Something works less well than it could.
    Warn,
    /// Something that live runs need is not there.
    Missing,
}

impl Status {
    /// The word in the table.
    #[must_use]
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warning",
            Self::Missing => "missing",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckResult {
    /// What was looked at.
    pub name: &'static str,
    /// How it is.
    pub status: Status,
    /// What was found, in a few words.
    pub found: String,
    /// What to do; `None` where nothing needs doing.
    pub remedy: Option<String>,
    /// True where nobody asks for it while all is well.
    pub is_minor: bool,
}

impl CheckResult {
    pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, found: found.into(), remedy: None, is_minor: false }
    }

    /// What is well and shown only to who asks for more.
    pub(super) fn minor(name: &'static str, found: impl Into<String>) -> Self {
        Self { is_minor: true, ..Self::ok(name, found) }
    }

    pub(super) fn not_ok(
        name: &'static str,
        status: Status,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let remedy = Some(remedy.into());
        Self { name, status, found: found.into(), remedy, is_minor: false }
    }
}
