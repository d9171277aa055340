//! Scans a skill: what its code does, with which arguments, and where data flows.
//!
//! Data goes one way: files become units, units are read by three tolerant readers (shell, Python, JavaScript and
//! TypeScript), constants are folded and decoded, calls become [`Behaviour`]s, and what flows where becomes [`Signal`]s.
//! `rep-check` turns signals into findings. The crate is pure: it reads no files, starts nothing and connects to nothing.
//! The readers never fail, and their time is linear in the input.
//!
//! ```
//! use rep_model::{Skill, SkillTree};
//! use rep_scan::{BehaviourKind, scan_skill};
//!
//! let files = [("SKILL.md", "---\nname: x\ndescription: X.\n---\n"), ("run.sh", "#!/bin/sh\ncurl https://api.example.org/v1\n")];
//! let (skill, _) = Skill::parse(SkillTree::from_texts("x", &files));
//! let scan = scan_skill(&skill);
//! assert!(scan.behaviours.iter().any(|found| found.kind == BehaviourKind::Connect && found.argument == "api.example.org"));
//! ```

#![expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "texts are made lower case first, or do not name files"
)]

mod behaviour;
mod decode;
mod hosts;
mod interpreters;
mod links;
mod network_programs;
mod opaque;
mod packages;
mod places;
mod programs;
mod prose;
mod scanner;
pub mod shell;
mod shell_eval;
mod source_calls;
mod source_eval;
mod source_files;
mod source_network;
pub mod source_tokens;
mod units;
mod value;
mod visible;

use rep_model::Skill;

pub use behaviour::{Behaviour, BehaviourKind, Capabilities, CapabilityKind, Signal, SignalKind, SignalOrigin};
pub use opaque::{has_media_name, is_media};
pub use places::private_data;

/// What a skill does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillScan {
    /// What its code does, sorted by file and place.
    pub behaviours: Vec<Behaviour>,
    /// What rules report, sorted by file and place.
    pub signals: Vec<Signal>,
}

impl SkillScan {
    /// Returns what the skill needs.
    pub fn capabilities(&self) -> Capabilities {
        Capabilities::from_behaviours(&self.behaviours)
    }

    /// Whether something could not be read, so that the skill may do more than its behaviours say.
    pub fn is_partial(&self) -> bool {
        self.signals.iter().any(|signal| matches!(signal.kind, SignalKind::NotLookedAt | SignalKind::OpaqueFile))
    }

    /// Returns the signals of one kind.
    pub fn signals_of(&self, kind: SignalKind) -> impl Iterator<Item = &Signal> {
        self.signals.iter().filter(move |signal| signal.kind == kind)
    }
}

/// Scans a skill.
pub fn scan_skill(skill: &Skill) -> SkillScan {
    let front = skill.frontmatter();
    let description = front.and_then(rep_model::Frontmatter::description).map_or("", |text| text.value);
    let homepages: Vec<&str> = ["homepage", "repository", "website", "source_url"]
        .iter()
        .filter_map(|field| front?.get_text(field).map(|text| text.value))
        .collect();
    let identity = hosts::Identity::new(skill.name().unwrap_or(""), description, &homepages);
    let mut scanner = scanner::Scanner::new(&identity, &skill.tree);
    units::read_skill(&mut scanner, skill);
    SkillScan { behaviours: scanner.behaviours.into_iter().collect(), signals: scanner.signals.into_iter().collect() }
}
