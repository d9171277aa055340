//! Structured skills: the twelve sections of UASP, as their author wrote them or extracted from prose, and what they answer.
//!
//! Pure: values in, values out. Which skills there are is `rep-library`'s to know, what is wrong with them `rep-check`'s.

pub mod command;
pub mod convert;
pub mod docs;
mod document;
pub mod extract;
mod index;
pub mod query;
pub mod request;
pub mod state;
pub mod workflow;

pub use document::{Document, Fact, Origin, Step};
pub use index::{Answer, Found, Index};
