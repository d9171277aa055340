//! What the code of skills needs, as the lock file records it, and what a new version adds.
//!
//! The record is compared with a scan of the new content. It is not trusted: a project's lock file comes with the
//! repository, so a version without a record counts as one that needs nothing that is known.

use std::collections::BTreeMap;

use rep_library::scan::{Capabilities, CapabilityKind, ScannedSkill};
use rep_model::{Skill, SkillTree};
use serde_json::{Value, json};

use crate::files;

/// The maximum number of arguments of one kind that are recorded.
const ARGUMENTS_MAX: usize = 500;

/// What code needs: for each kind, the arguments, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillCapabilities {
    by_kind: BTreeMap<String, Vec<String>>,
}

/// A capability that one version has and an earlier one does not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddedCapability {
    /// The kind: `read`, `write`, `connect`, `spawn`, `env` or `secrets`.
    pub kind: String,
    /// The path, host, program or name. An unknown part is `*`.
    pub argument: String,
}

impl AddedCapability {
    /// Describes it in words: ``connects to `api.example.org` ``.
    pub fn describe(&self) -> String {
        let words = match self.kind.as_str() {
            "read" => "reads",
            "write" => "writes",
            "connect" => "connects to",
            "spawn" => "starts",
            "env" => "reads the variable",
            "secrets" => "reads the secret",
            _ => "uses",
        };
        format!("{words} `{}`", self.argument)
    }

    /// Renders it as JSON.
    pub fn to_json(&self) -> Value {
        json!({ "kind": self.kind, "argument": self.argument })
    }
}

impl SkillCapabilities {
    /// Scans a skill.
    pub fn from_tree(tree: SkillTree) -> Self {
        let shown = tree.folder.clone();
        let (skill, _) = Skill::parse(tree);
        Self::from_capabilities(&ScannedSkill::from_skill(&skill, &shown).capabilities())
    }

    fn from_capabilities(found: &Capabilities) -> Self {
        let list = |kind: CapabilityKind| {
            let arguments: Vec<String> = found.arguments(kind).take(ARGUMENTS_MAX).map(str::to_owned).collect();
            (!arguments.is_empty()).then(|| (kind.name().to_owned(), arguments))
        };
        Self { by_kind: CapabilityKind::ALL.into_iter().filter_map(list).collect() }
    }

    /// Returns what `after` has and this does not.
    pub fn added_in(&self, after: &Self) -> Vec<AddedCapability> {
        let mut added = Vec::new();
        for kind in CapabilityKind::ALL.map(CapabilityKind::name) {
            let known = self.by_kind.get(kind).map_or(&[][..], Vec::as_slice);
            for argument in after.by_kind.get(kind).into_iter().flatten().filter(|one| !known.contains(one)) {
                added.push(AddedCapability { kind: kind.to_owned(), argument: argument.clone() });
            }
        }
        added
    }

    /// Returns the digest of everything in it.
    pub fn digest(&self) -> String {
        files::digest_bytes(json!(self.by_kind).to_string().as_bytes())
    }

    /// Renders it for the lock file.
    pub(crate) fn to_json(&self) -> Value {
        let mut value = json!(self.by_kind);
        value["digest"] = self.digest().into();
        value
    }

    /// Parses what the lock file has. Values of another type are ignored.
    pub(crate) fn from_json(value: &Value) -> Self {
        let list = |kind: &'static str| {
            let items = value.get(kind)?.as_array()?;
            let arguments: Vec<String> =
                items.iter().filter_map(Value::as_str).take(ARGUMENTS_MAX).map(str::to_owned).collect();
            Some((kind.to_owned(), arguments))
        };
        Self { by_kind: CapabilityKind::ALL.map(CapabilityKind::name).into_iter().filter_map(list).collect() }
    }
}
