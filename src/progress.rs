//! What is going on, on stderr, on a terminal only.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line that says what is being done; gone when the work is.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    quiet: bool,
    verbose: bool,
}

impl Progress {
    /// A progress line; silent where stderr is no terminal or the user asked for quiet.
    #[must_use]
    pub fn new(quiet: bool, verbose: bool) -> Self {
        // A dumb terminal can't take a line back.
        let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        let shown = !quiet && !dumb && std::io::stderr().is_terminal();
        let bar = if shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        if shown {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, quiet, verbose }
    }

    /// The same, which shows itself only where the work takes longer than a second.
    #[must_use]
    pub fn patient(quiet: bool, verbose: bool) -> Self {
        let shown = Self::new(quiet, verbose);
        if shown.bar.is_hidden() {
            return shown;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(shown.bar.style());
        let late = bar.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(1));
            if !late.is_finished() {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Self { bar, quiet, verbose }
    }

    /// True where the user asked for more than the usual.
    #[must_use]
    pub fn verbose(&self) -> bool {
        self.verbose
    }

    /// Says what is being done now.
    pub fn stage(&self, doing: impl Into<String>) {
        self.bar.set_message(doing.into());
    }

    /// Prints a line that stays: a notice, a warning.
    pub fn note(&self, line: &str) {
        if !self.quiet {
            self.bar.suspend(|| eprintln!("{line}"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
