//! Makes a structured skill of a Markdown one.
//!
//! Pure: what a model is asked and what becomes of its answer is decided here, who asks it is handed in ([`Model`]). Nothing a
//! model says is believed: its answer is read like a stranger's file, judged by the caller, and held against the source.

pub mod answer;
pub mod dialogue;
pub mod grounds;
mod model;
pub mod prompt;
mod schema;

pub use model::{Ending, Model, ModelError, Question, Reply, Turn, Usage};
pub use schema::schema;
