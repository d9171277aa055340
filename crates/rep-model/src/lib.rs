//! The model of a skill: parses five dialects into one model, with a byte span for every value.
//!
//! This crate is pure. It receives bytes ([`SkillTree`]) and returns values, and never accesses a file system, a clock
//! or a terminal. Parsing never fails: for any bytes, [`Skill::parse`] returns a skill and the list of its [`Fault`]s.
//! Checking the skill is the task of `rep-check`.
//!
//! ```
//! use rep_model::{Skill, SkillTree};
//!
//! let text = "---\nname: pdf\ndescription: Fills forms.\n---\nAsk first.\n";
//! let (skill, faults) = Skill::parse(SkillTree::from_texts("pdf", &[("SKILL.md", text)]));
//! assert_eq!((skill.name(), faults.len()), (Some("pdf"), 0));
//! ```

pub mod content_hash;
mod document;
mod fault;
pub mod frontmatter;
pub mod html_escape;
pub mod markdown;
pub mod names;
pub mod provenance;
pub mod query;
mod query_index;
mod repair;
mod skill;
pub mod skill_md;
mod skill_tree;
mod source_text;
pub mod suggestion;
pub mod test_config;
pub mod truncate;
pub mod uasp;
pub mod yaml;

pub use document::{DocumentOrigin, ExtractedFact, SkillDocument, ValuePathStep};
pub use fault::{Fault, FaultKind, TextEdit};
pub use frontmatter::Frontmatter;
pub use query_index::{AnswerValue, QueryAnswer, QueryIndex};
pub use skill::{Manifest, Skill, ToolsJson, UaspFile};
pub use skill_tree::{FileContent, ResolvedSkillPath, SkillTree, SymlinkTarget, TreeEntry, resolve_skill_path};
pub use source_text::{Position, SourceText, Span};
