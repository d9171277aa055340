//! One report, several forms: for people, for programs, for code hosts.

mod github;
mod json;
mod sarif;
mod text;

pub use github::github;
pub use json::{finding as json_finding, json};
pub use sarif::sarif;
pub use text::{Paint, concise, text};
