//! What a skill is: five dialects read into one model, with a byte span on every value.
//!
//! This crate is pure. It is handed bytes ([`SkillTree`]) and returns values; it never
//! learns what a file system, a clock or a terminal is. Parsing never fails: whatever the
//! bytes are, [`Skill::parse`] returns a skill and the list of its [`Fault`]s. Judging the
//! skill is the business of `rep-check`.
//!
//! ```
//! use rep_model::{Skill, SkillTree};
//!
//! let text = "---\nname: pdf\ndescription: Fills forms.\n---\nAsk first.\n";
//! let (skill, faults) = Skill::parse(SkillTree::of("pdf", &[("SKILL.md", text)]));
//! assert_eq!((skill.name(), faults.len()), (Some("pdf"), 0));
//! ```

mod document;
mod fault;
pub mod frontmatter;
pub mod hash;
mod index;
pub mod markdown;
pub mod markup;
pub mod names;
pub mod query;
mod repair;
mod skill;
pub mod skill_md;
mod source;
pub mod suggestion;
mod tree;
pub mod truncate;
pub mod uasp;
pub mod yaml;

pub use document::{Document, Fact, Origin, Step};
pub use fault::{Edit, Fault, FaultKind};
pub use frontmatter::Frontmatter;
pub use index::{Answer, Found, Index};
pub use skill::{Manifest, Skill, ToolsJson, UaspFile};
pub use source::{Position, Source, Span};
pub use tree::{Content, Entry, Leads, Resolved, SkillTree, resolve};
