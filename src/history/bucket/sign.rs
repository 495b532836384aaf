//! Addresses that carry their own permission: AWS Signature Version 4, in the query.
//!
//! The crates that do this bring some twenty others, Unicode's tables for host names among them, for one hash. curl can
//! sign too, but leaves out of it what S3 asks for in versions that are still in use, and would have to be told the key.

use sha2::{Digest, Sha256};

use crate::text::hex;

/// Who asks.
#[derive(Clone)]
pub(super) struct Credentials {
    pub key: String,
    pub secret: String,
    /// Of a session that ends.
    pub token: Option<String>,
}

/// Where to ask.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    /// `https`.
    pub scheme: String,
    /// With the port, unless it is the scheme's own.
    pub host: String,
    /// Before every key: empty, or `/bucket`.
    pub base: String,
    pub region: String,
}

/// For so long an address holds, s.
const HOLDS_S: u32 = 3600;
/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// The address for a request.
pub(super) fn address(
    endpoint: &Endpoint,
    credentials: &Credentials,
    method: &str,
    key: &str,
    query: &[(&str, &str)],
    now: jiff::Timestamp,
) -> String {
    address_for(HOLDS_S, endpoint, credentials, method, key, query, now)
}

fn address_for(
    holds_s: u32,
    endpoint: &Endpoint,
    credentials: &Credentials,
    method: &str,
    key: &str,
    query: &[(&str, &str)],
    now: jiff::Timestamp,
) -> String {
    let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let day = &time[..8];
    let scope = format!("{day}/{}/s3/aws4_request", endpoint.region);
    let credential = format!("{}/{scope}", credentials.key);
    let holds = holds_s.to_string();
    let mut pairs = vec![
        ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
        ("X-Amz-Credential", &credential),
        ("X-Amz-Date", &time),
        ("X-Amz-Expires", &holds),
        ("X-Amz-SignedHeaders", "host"),
    ];
    pairs.extend(credentials.token.as_deref().map(|token| ("X-Amz-Security-Token", token)));
    pairs.extend(query);
    let mut pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{}={}", encoded(name, false), encoded(value, false)))
        .collect();
    pairs.sort_unstable();
    let query = pairs.join("&");
    let path = format!("{}/{}", endpoint.base, encoded(key, true));
    let request =
        format!("{method}\n{path}\n{query}\nhost:{}\n\nhost\nUNSIGNED-PAYLOAD", endpoint.host);
    let signed = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&Sha256::digest(request)));
    let first = format!("AWS4{}", credentials.secret).into_bytes();
    let key = [day, &endpoint.region, "s3", "aws4_request"]
        .iter()
        .fold(first, |key, part| hmac(&key, part.as_bytes()).to_vec());
    let signature = hex(&hmac(&key, signed.as_bytes()));
    format!("{}://{}{path}?{query}&X-Amz-Signature={signature}", endpoint.scheme, endpoint.host)
}

/// HMAC with SHA-256 (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |pad: u8| block.map(|byte| byte ^ pad);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

/// All but letters, digits and `-._~` as `%2F`; in a path `/` stays.
fn encoded(text: &str, is_path: bool) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || (is_path && byte == b'/') {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push_str(&hex(&[byte]).to_ascii_uppercase());
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_rfc() {
        // RFC 4231, test cases 2 and 6.
        assert_eq!(
            hex(&hmac(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(&hmac(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn an_address_is_that_of_amazons_example() {
        // Amazon S3's API reference, "Authenticating requests: using query parameters"; it holds for a day.
        let credentials = Credentials {
            key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            token: None,
        };
        let endpoint = Endpoint {
            scheme: "https".to_owned(),
            host: "examplebucket.s3.amazonaws.com".to_owned(),
            base: String::new(),
            region: "us-east-1".to_owned(),
        };
        let now = "2013-05-24T00:00:00Z".parse().unwrap();
        let expected = "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256\
                        &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
                        &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
                        &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
        assert_eq!(
            address_for(86_400, &endpoint, &credentials, "GET", "test.txt", &[], now),
            expected
        );
    }

    #[test]
    fn keys_and_values_are_encoded_each_in_its_way() {
        assert_eq!(encoded("gpu=a b/ü", true), "gpu%3Da%20b/%C3%BC");
        assert_eq!(encoded("a/b~c", false), "a%2Fb~c");
    }
}
