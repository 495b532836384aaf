//! Transfers by curl, which every system has. Addresses and paths go in through its standard input: what stands on a command
//! line, others on the machine can read.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// One transfer.
#[derive(Debug)]
pub(super) struct Transfer {
    pub address: String,
    /// The file to send; `None` to receive.
    pub send: Option<PathBuf>,
    /// The file for what the server answers.
    pub answer: PathBuf,
}

/// Does all transfers, several at a time, and returns the server's status of each: 200, 403; 0 where it gave none.
///
/// # Errors
/// [`Error::Environment`] where there is no curl, or a transfer broke off.
pub(super) fn transfer(transfers: &[Transfer], server: &str) -> Result<Vec<u16>> {
    let mut child = Command::new("curl")
        // First: the user's own configuration is for other transfers.
        .args(["--disable", "--config", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            Error::Environment(format!(
                "a store in a bucket needs curl, and it can't be started: {error}"
            ))
        })?;
    let written =
        child.stdin.take().map(|mut pipe| pipe.write_all(configuration(transfers).as_bytes()));
    let failed = |error| Error::Environment(format!("curl failed: {error}"));
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said =
            said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("curl said nothing");
        return Err(Error::Environment(format!(
            "the transfer with {server} broke off ({}); what had arrived whole is kept, so run the same command again",
            said.trim_start_matches("curl: ").trim()
        )));
    }
    written.transpose().map_err(failed)?;
    Ok(statuses(&String::from_utf8_lossy(&output.stdout), transfers.len()))
}

/// curl's configuration: what stands before `next` is for one transfer.
fn configuration(transfers: &[Transfer]) -> String {
    let mut text = "parallel\nparallel-max = 16\n".to_owned();
    for (at, transfer) in transfers.iter().enumerate() {
        if at > 0 {
            text.push_str("next\n");
        }
        // A server that takes nothing, or sends nothing for half a minute, is away. Some do not know `Expect`.
        text.push_str(
            "silent\nshow-error\nconnect-timeout = 10\nspeed-limit = 1\nspeed-time = 30\nretry = 2\nheader = \"Expect:\"\n",
        );
        let paths = [("upload-file", transfer.send.as_ref()), ("output", Some(&transfer.answer))];
        for (name, path) in paths {
            if let Some(path) = path {
                let _ = writeln!(text, "{name} = {}", quoted(&path.to_string_lossy()));
            }
        }
        let _ = writeln!(text, "url = {}", quoted(&transfer.address));
        let _ = writeln!(text, "write-out = \"{at} %{{http_code}}\\n\"");
    }
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// The statuses by the transfers' numbers, in whatever order they ended.
fn statuses(text: &str, count: usize) -> Vec<u16> {
    let mut statuses = vec![0; count];
    for line in text.lines() {
        let pair = line
            .split_once(' ')
            .and_then(|(at, status)| Some((at.parse::<usize>().ok()?, status.parse().ok()?)));
        if let Some((at, status)) = pair
            && let Some(known) = statuses.get_mut(at)
        {
            *known = status;
        }
    }
    statuses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_transfer_has_its_own_part() {
        let transfer = |address: &str, send: Option<&str>| Transfer {
            address: address.to_owned(),
            send: send.map(PathBuf::from),
            answer: PathBuf::from("/tmp/a \"b\""),
        };
        let text =
            configuration(&[transfer("http://x/1?a=b", None), transfer("http://x/2", Some("f"))]);
        let [first, second] = text.split("next\n").collect::<Vec<_>>()[..] else {
            panic!("{text}")
        };
        assert!(first.contains("url = \"http://x/1?a=b\"\n") && !first.contains("upload-file"));
        assert!(first.contains("output = \"/tmp/a \\\"b\\\"\"\n"), "{first}");
        assert!(second.contains("upload-file = \"f\"\n") && second.contains("speed-time = 30"));
        assert!(second.contains("write-out = \"1 %{http_code}\\n\"\n"));
    }

    #[test]
    fn statuses_come_in_any_order() {
        assert_eq!(statuses("1 404\n0 200\n7 200\nnonsense\n", 3), [200, 404, 0]);
    }
}
