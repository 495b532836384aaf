//! A server of the Model Context Protocol over standard input and output: the same facts for agents.
//!
//! Each tool is a run of adoprof itself with `--format json`, whose result is made short: a hostile file can end that
//! run and nothing else, and a cancelled call is a process that is ended. The protocol is a page of JSON-RPC; the
//! official SDK would take the program beyond its size limit ([docs/mcp.md](../docs/mcp.md) has the figures).

pub(crate) mod answer;
mod arguments;
mod calls;
mod child;
mod confine;
mod lines;
mod protocol;
mod render;
mod server;
mod tools;

pub(crate) use confine::Root;
pub(crate) use server::{Service, serve};
pub(crate) use tools::{Permission, TOOLS};
