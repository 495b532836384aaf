//! A store in a bucket of an object store, as Amazon's S3 and many others have them.
//!
//! A file is sent as one object, which a store shows whole or not at all. What is read lands in the user's cache: a file
//! is read again only where the store has another version of it.

mod curl;
mod listing;
mod sign;

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::partition::{self, Stored};
use crate::error::{Error, Result};
use crate::files;
use crate::text::hex;
use curl::{Transfer, transfer};
use listing::page;
use sign::{Credentials, Endpoint, address};

/// What an address of a bucket begins with.
pub(super) const SCHEME: &str = "s3://";
/// Files that are asked for at once.
const AT_ONCE: usize = 500;
/// A page of the list has a thousand names; so many pages are a million files.
const MOST_PAGES: usize = 1000;
/// The largest page of the list, bytes: a thousand names of a thousand letters, and as much around them.
const MOST_PAGE: u64 = 8 << 20;

/// A bucket, and where in it the store lies.
pub(crate) struct Bucket {
    /// As the user wrote it.
    pub name: String,
    prefix: String,
    endpoint: Endpoint,
    credentials: Credentials,
    cache: PathBuf,
}

impl Bucket {
    /// Understands `s3://bucket/prefix`, with what the environment says as it does to Amazon's own tools.
    ///
    /// # Errors
    /// [`Error::Usage`] for an address that is none, [`Error::Environment`] where there are no credentials.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (bucket, prefix) = parts(text)?;
        let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        let custom = variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL"));
        let endpoint = endpoint(bucket, &region, custom.as_deref())?;
        let (Some(key), Some(secret)) =
            (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"))
        else {
            return Err(Error::Environment(
                "a store in a bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment; with Amazon's \
                 own tool, `eval \"$(aws configure export-credentials --format env)\"` puts them there"
                    .to_owned(),
            ));
        };
        let credentials = Credentials { key, secret, token: variable("AWS_SESSION_TOKEN") };
        let place = format!("{}://{}{}/{prefix}", endpoint.scheme, endpoint.host, endpoint.base);
        let folder = hex(&Sha256::digest(place))[..16].to_owned();
        let cache = variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".cache")))
            .unwrap_or_else(std::env::temp_dir);
        let cache = cache.join("adoprof").join("history").join(folder);
        Ok(Self { name: text.to_owned(), prefix, endpoint, credentials, cache })
    }

    /// The files of all profiles.
    ///
    /// # Errors
    /// [`Error::Environment`] where the store does not answer or refuses, [`Error::Input`] where there is no such bucket.
    pub(super) fn list(&self) -> Result<Vec<Stored>> {
        let (mut found, mut token) = (Vec::new(), None::<String>);
        for _ in 0..MOST_PAGES {
            let mut query = vec![("list-type", "2"), ("prefix", self.prefix.as_str())];
            query.extend(token.as_deref().map(|token| ("continuation-token", token)));
            let text = self.ask("GET", "", &query, None)?;
            let page = page(&text, &self.prefix)
                .ok_or_else(|| Error::input(&self.name, "does not answer as an S3 store does"))?;
            found.extend(page.files);
            token = page.next;
            if token.is_none() {
                return Ok(found);
            }
        }
        Err(Error::input(&self.name, "has more than a million files; name a narrower prefix"))
    }

    /// Sends a file.
    ///
    /// # Errors
    /// As [`list`](Self::list). Then the store has nothing of it.
    pub(super) fn put(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let file = tempfile::NamedTempFile::new()
            .and_then(|mut file| std::io::Write::write_all(&mut file, bytes).map(|()| file))
            .map_err(|error| Error::io(std::env::temp_dir(), "write here", &error))?;
        self.ask("PUT", &format!("{}{path}", self.prefix), &[], Some(file.path())).map(drop)
    }

    /// The same files on this machine: those that are not there yet are fetched.
    ///
    /// # Errors
    /// As [`list`](Self::list), and [`Error::Input`] where the cache can't be written.
    pub(super) fn local(&self, files: &[Stored]) -> Result<Vec<PathBuf>> {
        let places: Vec<PathBuf> = files.iter().map(|file| self.cached(file)).collect();
        let missing: Vec<(&Stored, &PathBuf)> =
            files.iter().zip(&places).filter(|(_, place)| !place.is_file()).collect();
        for part in missing.chunks(AT_ONCE) {
            self.fetch(part)?;
        }
        Ok(places)
    }

    fn cached(&self, file: &Stored) -> PathBuf {
        let version = hex(&Sha256::digest(&file.version))[..8].to_owned();
        partition::local(&self.cache, &file.path)
            .with_extension(format!("{version}.{}", partition::EXTENSION))
    }

    fn fetch(&self, files: &[(&Stored, &PathBuf)]) -> Result<()> {
        let unwritten = |path: &Path| {
            let path = path.to_owned();
            move |error: std::io::Error| Error::io(&path, "write what was fetched here", &error)
        };
        std::fs::create_dir_all(&self.cache).map_err(unwritten(&self.cache))?;
        let folder = tempfile::tempdir_in(&self.cache).map_err(unwritten(&self.cache))?;
        let now = jiff::Timestamp::now();
        let transfers: Vec<Transfer> = files
            .iter()
            .enumerate()
            .map(|(at, (file, _))| {
                let key = format!("{}{}", self.prefix, file.path);
                Transfer {
                    address: address(&self.endpoint, &self.credentials, "GET", &key, &[], now),
                    send: None,
                    answer: folder.path().join(at.to_string()),
                }
            })
            .collect();
        for ((status, sent), (file, place)) in
            transfer(&transfers, &self.endpoint.host)?.iter().zip(&transfers).zip(files)
        {
            if *status != 200 {
                let said = files::read(&sent.answer, MOST_PAGE).unwrap_or_default();
                return Err(self.refused(*status, &String::from_utf8_lossy(&said), &file.path));
            }
            let parent = place.parent().unwrap_or(&self.cache);
            std::fs::create_dir_all(parent).map_err(unwritten(parent))?;
            std::fs::rename(&sent.answer, place).map_err(unwritten(place))?;
        }
        Ok(())
    }

    /// One request; what the server answers to it.
    fn ask(
        &self,
        method: &str,
        key: &str,
        query: &[(&str, &str)],
        send: Option<&Path>,
    ) -> Result<String> {
        let answer = tempfile::NamedTempFile::new()
            .map_err(|error| Error::io(std::env::temp_dir(), "write here", &error))?;
        let now = jiff::Timestamp::now();
        let request = Transfer {
            address: address(&self.endpoint, &self.credentials, method, key, query, now),
            send: send.map(Path::to_owned),
            answer: answer.path().to_owned(),
        };
        let status = transfer(&[request], &self.endpoint.host)?;
        let said = files::read(answer.path(), MOST_PAGE)
            .map_err(|error| Error::io(answer.path(), "read", &error))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        match status[..] {
            [200] => Ok(said),
            _ => Err(self.refused(status.first().copied().unwrap_or(0), &said, key)),
        }
    }

    /// What a server said that did not do what it was asked for.
    fn refused(&self, status: u16, said: &str, key: &str) -> Error {
        let document = roxmltree::Document::parse(said).ok();
        let part = |name: &str| {
            let node = document.as_ref()?.descendants().find(|node| node.has_tag_name(name))?;
            node.text().map(str::to_owned)
        };
        let why = match (part("Code"), part("Message")) {
            (Some(code), Some(message)) => format!("{code}: {}", message.trim_end_matches('.')),
            (Some(code), None) => code,
            _ => format!("status {status}"),
        };
        match status {
            404 => Error::input(&self.name, format!("is not there ({why})")),
            _ => Error::Environment(format!(
                "{} refuses {} ({why})",
                self.name,
                if key.is_empty() { "the list of its files" } else { key }
            )),
        }
    }
}

impl std::fmt::Debug for Bucket {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bucket")
            .field("name", &self.name)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// Bucket and prefix of `s3://bucket/prefix`; the prefix is empty or ends with `/`.
fn parts(text: &str) -> Result<(&str, String)> {
    let rest = text.strip_prefix(SCHEME).unwrap_or_default();
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let is_name = (3..=63).contains(&bucket.len())
        && bucket.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    let prefix = prefix.trim_matches('/');
    let is_path = prefix.split('/').all(|part| part != "." && part != "..")
        && !prefix.chars().any(char::is_control);
    let problem = if bucket.is_empty() {
        "it names no bucket".to_owned()
    } else if !is_name {
        format!(
            "`{bucket}` can't be a bucket: its name has 3 to 63 letters, digits, `-`, `.`, and `_`"
        )
    } else if !is_path {
        "a folder there has no `.`, no `..`, and no control characters".to_owned()
    } else {
        return Ok((bucket, if prefix.is_empty() { String::new() } else { format!("{prefix}/") }));
    };
    Err(Error::Usage(format!("`{text}` is not a place such as s3://bucket/folder: {problem}")))
}

/// Where a bucket is asked for: at Amazon, or at an address of the user's.
fn endpoint(bucket: &str, region: &str, custom: Option<&str>) -> Result<Endpoint> {
    let region = region.to_owned();
    let Some(custom) = custom else {
        // A certificate holds for names without a dot.
        let (host, base) = if bucket.contains('.') {
            (format!("s3.{region}.amazonaws.com"), format!("/{bucket}"))
        } else {
            (format!("{bucket}.s3.{region}.amazonaws.com"), String::new())
        };
        return Ok(Endpoint { scheme: "https".to_owned(), host, base, region });
    };
    let parts = custom.split_once("://").map(|(scheme, host)| (scheme, host.trim_end_matches('/')));
    let Some((scheme, host)) = parts.filter(|(scheme, host)| {
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
        ["http", "https"].contains(scheme) && !host.is_empty() && host.bytes().all(is_host)
    }) else {
        return Err(Error::Usage(format!(
            "AWS_ENDPOINT_URL is `{custom}`; it must be the address of a server, such as https://s3.example.org"
        )));
    };
    let own = if scheme == "http" { ":80" } else { ":443" };
    let host = host.strip_suffix(own).unwrap_or(host).to_owned();
    Ok(Endpoint { scheme: scheme.to_owned(), host, base: format!("/{bucket}"), region })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_bucket_and_folder() {
        assert_eq!(parts("s3://profiles").unwrap(), ("profiles", String::new()));
        assert_eq!(parts("s3://profiles/team/a/").unwrap(), ("profiles", "team/a/".to_owned()));
        for (wrong, problem) in [
            ("s3://", "names no bucket"),
            ("s3:///x", "names no bucket"),
            ("s3://b/x", "`b` can't be a bucket: its name has 3 to 63 letters"),
            ("s3://bu cket/x", "`bu cket` can't be"),
            ("s3://b@host/x", "`b@host` can't be"),
            ("s3://bucket/../x", "no `..`"),
        ] {
            let said = parts(wrong).unwrap_err().to_string();
            assert!(said.contains(problem), "{wrong}: {said}");
        }
    }

    #[test]
    fn buckets_are_asked_for_at_amazon_or_elsewhere() {
        let at = |bucket: &str, custom| {
            let Endpoint { scheme, host, base, .. } =
                endpoint(bucket, "eu-west-1", custom).unwrap();
            format!("{scheme}://{host}{base}")
        };
        assert_eq!(at("profiles", None), "https://profiles.s3.eu-west-1.amazonaws.com");
        assert_eq!(at("our.profiles", None), "https://s3.eu-west-1.amazonaws.com/our.profiles");
        assert_eq!(
            at("profiles", Some("http://127.0.0.1:9000/")),
            "http://127.0.0.1:9000/profiles"
        );
        assert_eq!(
            at("profiles", Some("https://s3.example.org:443")),
            "https://s3.example.org/profiles"
        );
        for wrong in
            ["s3.example.org", "ftp://x", "http://", "http://user@host", "http://host/path"]
        {
            assert!(endpoint("profiles", "r", Some(wrong)).is_err(), "{wrong}");
        }
    }
}
