//! Messages: JSON-RPC 2.0 as the Model Context Protocol uses it.

use serde_json::{Value, json};

/// Versions of the protocol that are spoken, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// JSON-RPC's numbers of errors.
pub(super) const PARSE: i64 = -32700;
pub(super) const INVALID: i64 = -32600;
pub(super) const NO_METHOD: i64 = -32601;
pub(super) const WRONG_ARGUMENTS: i64 = -32602;

/// What a client sent.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// A call that is answered under its id.
    Request { id: Value, method: String, params: Value },
    /// A call without an answer.
    Notification { method: String, params: Value },
    /// An answer to us, who ask nothing.
    Answer,
}

/// Reads a message.
///
/// # Errors
/// The answer to what is none.
pub(super) fn read(bytes: &[u8]) -> Result<Message, Value> {
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|_| error(&Value::Null, PARSE, "the message is not JSON"))?;
    let Value::Object(mut fields) = value else {
        return Err(error(&Value::Null, INVALID, "a message is one JSON object"));
    };
    let id = fields.remove("id");
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    let shown = id.clone().filter(is_id).unwrap_or(Value::Null);
    if fields.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(error(&shown, INVALID, "the message lacks \"jsonrpc\": \"2.0\""));
    }
    let params = fields.remove("params").unwrap_or_else(|| json!({}));
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), None) => Ok(Message::Notification { method, params }),
        (Some(Value::String(method)), Some(id)) if is_id(&id) => {
            Ok(Message::Request { id, method, params })
        }
        (None, Some(_)) if fields.contains_key("result") || fields.contains_key("error") => {
            Ok(Message::Answer)
        }
        _ => Err(error(
            &shown,
            INVALID,
            "a request has a method, and an id that is a text or a number",
        )),
    }
}

/// The answer to a request.
pub(super) fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The answer to what can't be done.
pub(super) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// What a tool gave, or why it gave nothing.
pub(super) fn content(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

/// What the server is, in the client's version of the protocol where that is spoken.
pub(super) fn greeting(params: &Value, instructions: &str) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = VERSIONS.iter().find(|known| **known == asked).unwrap_or(&VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": { "name": "adoprof", "title": "adoprof", "version": env!("CARGO_PKG_VERSION") },
        "instructions": instructions,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let request = read(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap();
        assert_eq!(
            request,
            Message::Request { id: json!(1), method: "ping".into(), params: json!({}) }
        );
        let notice = read(br#"{"jsonrpc":"2.0","method":"a","params":{"b":1}}"#).unwrap();
        assert_eq!(notice, Message::Notification { method: "a".into(), params: json!({ "b": 1 }) });
        assert_eq!(read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Ok(Message::Answer));
    }

    #[test]
    fn what_is_no_message_is_answered_with_its_error() {
        let deep = "[".repeat(100_000);
        for (text, code) in [
            ("", PARSE),
            ("{", PARSE),
            ("\u{0}", PARSE),
            (deep.as_str(), PARSE),
            ("[]", INVALID),
            ("3", INVALID),
            (r#"{"id":1,"method":"ping"}"#, INVALID),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, INVALID),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, INVALID),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err()["error"]["code"], code, "{text:.50}");
        }
    }

    #[test]
    fn the_clients_version_is_spoken_where_it_is_known() {
        let of = |version: &str| {
            greeting(&json!({ "protocolVersion": version }), "")["protocolVersion"].clone()
        };
        assert_eq!(of("2024-11-05"), "2024-11-05");
        assert_eq!(of("1999-01-01"), VERSIONS[0]);
    }
}
