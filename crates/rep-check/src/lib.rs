//! What is wrong with a skill.
//!
//! Rules are data with code beside them: one `.rs` and one `.md` page per rule in `rules/`.
//! Profiles are derived from the rules. [`check`] judges one skill, [`check_set`] what only
//! shows when many are seen together; a [`Report`] is the only input of every renderer.
//! Pure: no file system, no clock, no terminal.

mod allow;
pub mod checklist;
mod engine;
pub mod fix;
mod hosts;
mod profile;
pub mod reference;
pub mod render;
mod report;
mod rule;
mod rules;
mod schema;
mod shape;
mod tokens;
pub mod tools;

pub use engine::{Options, Rulebook, check, check_set, dialects};
pub use profile::{Profile, ProfileSet};
pub use report::{Facts, Finding, Place, Report, SkillReport, Summary};
pub use rule::{Check, Cite, Level, Levels, Rule};
pub use rules::{RULES, nearest, rule, rule_for_fault};
