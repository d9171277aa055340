//! What is wrong with a skill.
//!
//! Rules are data with code beside them: one `.rs` and one `.md` page per rule in `rules/`.
//! Profiles are derived from the rules. [`check`] judges one skill, [`check_set`] what only
//! shows when many are seen together; a [`Report`] is the only input of every renderer.
//! Pure: no file system, no clock, no terminal.
//!
//! ```
//! use rep_check::{Options, check};
//! use rep_model::{Skill, SkillTree};
//!
//! let (skill, faults) = Skill::parse(SkillTree::of("pdf", &[("SKILL.md", "---\nname: pdf\n---\n")]));
//! let report = check(&skill, faults, &Options::default());
//! assert!(report.findings.iter().any(|finding| finding.rule.name == "description-missing"));
//! ```

mod allow;
mod boolean_words;
pub mod checklist;
mod data_path;
mod description;
mod engine;
mod field_checks;
pub mod fix;
mod hidden_text;
mod hosts;
mod link_path;
mod permission_globs;
mod personal_mcp;
mod profile;
pub mod reference;
pub mod render;
mod report;
mod rule;
mod rules;
pub mod scaffold;
mod schema;
mod shape;
mod skill_name;
mod spec_version;
mod text_files;
mod tokens;
pub mod tools;
mod uasp_names;
mod uasp_version;

pub use engine::{Options, Rulebook, check, check_set, dialects};
pub use profile::{Profile, ProfileSet};
pub use report::{Facts, Finding, Place, Report, SkillReport, Summary};
pub use rule::{Check, Cite, Level, Levels, Rule};
pub use rules::{RULES, nearest, rule, rule_for_fault};
