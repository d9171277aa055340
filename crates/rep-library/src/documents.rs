//! The JSON documents of the library: one implementation for the command line and for `rep api`.
//!
//! Every function is a pure rendering of values that the library computed. `schemas/outputs.d.ts` describes the
//! documents.

mod answers;
mod listing;
mod scan;
mod skill;

pub use answers::{ask_document, query_document, query_miss_document};
pub use listing::{dependencies_to_json, list_document, prompt_document, search_document, select_document};
pub use scan::{scan_document, scan_summary_document, scanned_skill_document};
pub use skill::{list_companion_findings, show_document};
