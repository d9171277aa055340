//! Checks skills and reports findings.
//!
//! Each rule is one `.rs` file and one `.md` page in `rules/`. The profiles are derived from the rules.
//! [`check_skill`] checks one skill, and [`check_skill_set`] runs the rules that check several skills
//! together. A [`CheckReport`] is the only input of every renderer.
//! The crate does not access the file system, the clock or the terminal.
//!
//! ```
//! use rep_check::{CheckOptions, check_skill};
//! use rep_model::{Skill, SkillTree};
//!
//! let (skill, faults) = Skill::parse(SkillTree::from_texts("pdf", &[("SKILL.md", "---\nname: pdf\n---\n")]));
//! let report = check_skill(&skill, faults, &CheckOptions::default());
//! assert!(report.findings.iter().any(|finding| finding.rule.name == "description-missing"));
//! ```

mod allow_comments;
mod allowed_tools;
mod boolean_words;
pub mod checklist;
mod consequences;
mod data_path;
pub mod declaration;
mod description;
mod draft;
mod engine;
mod field_checks;
pub mod fields;
pub mod fix;
pub mod frontmatter_schema;
mod grouping;
mod hidden_text;
mod host_limits;
mod link_path;
pub mod loading;
mod parse_fixes;
mod permission_globs;
mod personal_mcp;
mod profile;
pub mod reference_tool;
pub mod render;
mod report;
mod rule;
mod rules;
pub mod scaffold;
mod scan_findings;
pub mod served_frontmatter;
mod skill_name;
mod spec_version;
mod text_files;
mod token_estimate;
mod tool_schema;
pub mod tools;
mod uasp_names;
mod uasp_version;
mod value_schema;
mod widespread_fields;
mod yaml_edits;

pub use engine::{
    CheckOptions, PathOverride, PathPatterns, SkillChecker, check_skill, check_skill_set, detect_dialects,
};
pub use host_limits::{HostLimit, list_host_limits};
pub use link_path::parse_local_path;
pub use profile::{Profile, ProfileSet};
pub use report::{
    CheckReport, Finding, FindingLocation, RelatedLocation, ReportOverview, ReportSummary, RuleCount, SkillFacts,
    SkillLocator, SkillReport, sort_and_dedup,
};
pub use rule::{Level, LintRule, RuleCheck, RuleCitation, RuleLevels};
pub use rules::{RULES, find_rule, nearest_rule_name, redact_secrets, rule_for_fault};
