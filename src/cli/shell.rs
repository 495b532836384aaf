//! What a shell wants to know of the command line: completions and manual pages.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;

/// `adoprof completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Where it goes:
  bash        adoprof completions bash > ~/.local/share/bash-completion/completions/adoprof
  zsh         adoprof completions zsh > DIR/_adoprof, DIR in $fpath
  fish        adoprof completions fish > ~/.config/fish/completions/adoprof.fish
  elvish      adoprof completions elvish >> ~/.config/elvish/rc.elv
  powershell  adoprof completions powershell >> $PROFILE")]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `adoprof man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder for the pages, such as ~/.local/share/man/man1.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// The command line as users see it: without the subcommands that adoprof starts for itself.
#[must_use]
pub fn shown() -> clap::Command {
    let full = Cli::command();
    let name = full.get_name().to_owned();
    let about = full.get_about().cloned().unwrap_or_default();
    let after = full.get_after_help().cloned().unwrap_or_default();
    let subcommands: Vec<clap::Command> =
        full.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    clap::Command::new(name)
        .version(env!("CARGO_PKG_VERSION"))
        .about(about)
        .after_help(after)
        .args(full.get_arguments().cloned())
        .subcommands(subcommands)
        .subcommand_required(true)
}

/// The script that completes the command line in a shell.
#[must_use]
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown(), "adoprof", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_completes_what_users_see_and_nothing_else() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
            let script = String::from_utf8(completions(shell)).unwrap();
            for word in ["analyze", "watch", "baseline"] {
                assert!(script.contains(word), "{shell}: no {word}");
            }
            assert!(!script.contains("__launch") && !script.contains("__point"), "{shell}");
        }
    }
}
