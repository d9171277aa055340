//! The language server, through the real binary.
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]
#![expect(clippy::needless_pass_by_value, reason = "`json!` values are written where they are used")]

mod actions;
mod client;
mod diagnostics;
mod editors;
mod lifecycle;
mod navigation;
mod workspace;
mod writing;
