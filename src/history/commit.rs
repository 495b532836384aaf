//! The commit that a profile is of.

use std::process::Command;

use crate::error::{Error, Result};

/// Labels are no longer than this.
const LONGEST: usize = 200;

/// A commit, or what somebody calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    /// Its hash in full, or a label.
    pub name: String,
    /// When it was committed, s since 1970; `None` for a label.
    pub committed: Option<u64>,
}

impl Commit {
    /// Its name for people: of a hash the first twelve digits.
    pub(crate) fn short(&self) -> &str {
        short(&self.name)
    }

    /// What `--commit` names: a commit of the present folder's repository in any way that git knows, else a label.
    ///
    /// # Errors
    /// [`Error::Usage`] for what can be neither.
    pub(crate) fn named(text: &str) -> Result<Self> {
        let is_label = !text.is_empty()
            && text.len() <= LONGEST
            && !text.starts_with('-')
            && !text.chars().any(|letter| letter.is_control() || letter.is_whitespace());
        if !is_label {
            return Err(Error::Usage(format!(
                "--commit takes a commit or a label without blanks of at most {LONGEST} letters, and `{text}` is \
                 not one"
            )));
        }
        Ok(of_git(text).unwrap_or_else(|| Self { name: text.to_owned(), committed: None }))
    }

    /// The commit that is checked out in the present folder, and whether files differ from it; `None` outside of a
    /// repository.
    pub(crate) fn here() -> Option<(Self, bool)> {
        let commit = of_git("HEAD")?;
        let differs = git(&["status", "--porcelain", "--untracked-files=no"]);
        Some((commit, differs.is_some_and(|text| !text.is_empty())))
    }
}

/// A commit's name for people: of a hash the first twelve digits.
pub(crate) fn short(name: &str) -> &str {
    let is_hash = name.len() >= 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { &name[..12] } else { name }
}

fn of_git(text: &str) -> Option<Commit> {
    let line = git(&["log", "-1", "--no-show-signature", "--format=%H %ct", text, "--"])?;
    let (name, time) = line.split_once(' ')?;
    Some(Commit { name: name.to_owned(), committed: time.parse().ok() })
}

/// What git prints; `None` where it fails, or is not there.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_does_not_know_is_a_label() {
        let label = Commit::named("nightly-2026-11-20").unwrap();
        assert_eq!(label, Commit { name: "nightly-2026-11-20".to_owned(), committed: None });
        for wrong in ["", "two words", "-n", "a\nb", &"x".repeat(201)] {
            assert!(Commit::named(wrong).is_err(), "{wrong:?}");
        }
    }
}
