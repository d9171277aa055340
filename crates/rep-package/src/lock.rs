//! Reads and writes the lock file, which records the installed skills, their sources and their contents.
//!
//! `skills-lock.json` is the file of the npm tool `skills` (version 1), with one object per skill. Additional data
//! is in one more field, `rep`, which that tool ignores. Unknown fields are preserved. In a project, the file comes
//! with the repository and is not trusted: every path is validated before it is used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::capabilities::SkillCapabilities;
use crate::files;
use crate::requirement::SkillRequirement;
use crate::signature::RecordedSignature;

/// The name of the file.
pub const LOCK_FILE: &str = "skills-lock.json";
/// The maximum size of a lock file.
const LOCK_BYTES_MAX: u64 = 64 << 20;

/// The error for an invalid lock file.
#[derive(Debug, thiserror::Error)]
#[error("could not use the lock file `{}`: {reason}", path.display())]
pub struct LockError {
    path: PathBuf,
    reason: String,
}

/// The content of a lock file.
#[derive(Clone, Debug)]
pub struct SkillsLockFile {
    document: Map<String, Value>,
}

/// The source of an installed skill.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct InstallOrigin {
    /// The kind, in the words of the npm tool: `local`, `well-known`, `github`, `gitlab` or `git`; and `oci`.
    pub kind: String,
    /// The source: a path relative to the lock file, or a name for a URL.
    pub source: String,
    /// The URL.
    pub url: Option<String>,
    /// The branch, tag or commit that was asked for.
    pub reference: Option<String>,
    /// The path of the SKILL.md in the source.
    pub skill_path: Option<String>,
    /// The digest in the index.
    pub index_digest: Option<String>,
    /// The commit of a repository or a working copy.
    pub commit: Option<String>,
    /// The digest of the manifest in a registry.
    pub manifest: Option<String>,
    /// The range of versions that was asked for.
    pub wanted: Option<String>,
}

/// A place where a skill was installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallPlace {
    /// The path, relative to the scope's directory, or absolute if it is elsewhere.
    pub path: String,
    /// The link's target; `None` for a directory.
    pub link: Option<String>,
}

/// An installed skill.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct InstalledSkill {
    /// Its source.
    pub origin: InstallOrigin,
    /// The hash that the npm tool compares.
    pub computed_hash: String,
    /// The digest of all files.
    pub digest: String,
    /// The digest of each file.
    pub files: BTreeMap<String, String>,
    /// The hosts that it was installed for.
    pub hosts: Vec<String>,
    /// The places where it was installed.
    pub places: Vec<InstallPlace>,
    /// The time of the installation.
    pub installed_at: String,
    /// The version that the skill declares.
    pub version: Option<String>,
    /// The installed skills that require it.
    pub required_by: Vec<String>,
    /// Whether it was installed only because other skills require it.
    pub is_dependency: bool,
    /// Whether updates skip it.
    pub is_pinned: bool,
    /// What its code needs, if that is recorded.
    pub capabilities: Option<SkillCapabilities>,
    /// Its signature, if it has one.
    pub signature: Option<RecordedSignature>,
    /// Whether another tool wrote the entry, so that it has no `rep` field.
    pub is_foreign: bool,
}

impl SkillsLockFile {
    /// Reads a lock file. A missing file is an empty lock file.
    pub fn read(path: &Path) -> Result<Self, LockError> {
        let failed = |reason: String| LockError { path: path.to_owned(), reason };
        let bytes = match files::read_file(path, LOCK_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::empty()),
            Err(error) => return Err(failed(error.to_string())),
        };
        Self::parse(&bytes).map_err(failed)
    }

    /// Parses the bytes of a lock file. Returns a message if they are invalid.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        let Value::Object(document) = value else { return Err("it is not a JSON object".to_owned()) };
        match document.get("version").and_then(Value::as_u64) {
            Some(1) => {}
            Some(version) => return Err(format!("it has version {version}, but only version 1 is supported")),
            None => return Err("it has no `version`".to_owned()),
        }
        match document.get("skills") {
            Some(Value::Object(_)) => Ok(Self { document }),
            _ => Err("`skills` is not an object".to_owned()),
        }
    }

    fn empty() -> Self {
        let mut document = Map::new();
        document.insert("version".to_owned(), json!(1));
        document.insert("skills".to_owned(), json!({}));
        Self { document }
    }

    fn iter_skills(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.document.get("skills").and_then(Value::as_object).into_iter().flatten()
    }

    /// Returns the names of all skills, sorted.
    pub fn skill_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.iter_skills().map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }

    /// Returns the entry of a skill. Fields that are missing or have another type are ignored.
    pub fn get(&self, name: &str) -> Option<InstalledSkill> {
        let entry = self.iter_skills().find(|(known, _)| *known == name)?.1;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let own = entry.get("rep").filter(|own| own.is_object());
        let ours = own.cloned().unwrap_or_default();
        let list = |key: &str| ours.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let texts = |key: &str| list(key).iter().filter_map(|one| one.as_str().map(str::to_owned)).collect();
        let is_set = |key: &str| ours.get(key) == Some(&Value::Bool(true));
        let put = |value: &Value| Some(InstallPlace { path: text(value, "path")?, link: text(value, "link") });
        let files = ours.get("files").and_then(Value::as_object).into_iter().flatten();
        Some(InstalledSkill {
            origin: InstallOrigin {
                kind: text(entry, "sourceType").unwrap_or_default(),
                source: text(entry, "source").unwrap_or_default(),
                url: text(entry, "sourceUrl"),
                reference: text(entry, "ref"),
                skill_path: text(entry, "skillPath"),
                index_digest: text(entry, "wellKnownDigest"),
                commit: text(&ours, "commit"),
                manifest: text(&ours, "manifest"),
                wanted: text(&ours, "wanted"),
            },
            computed_hash: text(entry, "computedHash").unwrap_or_default(),
            digest: text(&ours, "digest").unwrap_or_default(),
            files: files.filter_map(|(path, mark)| Some((path.clone(), mark.as_str()?.to_owned()))).collect(),
            hosts: texts("hosts"),
            places: list("places").iter().filter_map(put).collect(),
            installed_at: text(&ours, "installed").unwrap_or_default(),
            version: text(&ours, "version"),
            required_by: texts("requiredBy"),
            is_dependency: is_set("dependency"),
            is_pinned: is_set("pinned"),
            capabilities: ours.get("capabilities").map(SkillCapabilities::from_json),
            signature: ours.get("signature").filter(|one| one.is_object()).map(|one| RecordedSignature {
                kind: text(one, "kind").unwrap_or_default(),
                key: text(one, "key"),
                subject: text(one, "subject"),
                signer: text(one, "signer"),
            }),
            is_foreign: own.is_none(),
        })
    }

    /// Adds or replaces a skill's entry. Unknown fields are preserved.
    pub fn insert_skill(&mut self, name: &str, skill: &InstalledSkill) {
        let Some(Value::Object(skills)) = self.document.get_mut("skills") else { return };
        let mut entry = skills.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        let origin = &skill.origin;
        let fields = [
            ("source", Some(&origin.source)),
            ("sourceUrl", origin.url.as_ref()),
            ("ref", origin.reference.as_ref()),
            ("sourceType", Some(&origin.kind)),
            ("skillPath", origin.skill_path.as_ref()),
            ("computedHash", Some(&skill.computed_hash)),
            ("wellKnownDigest", origin.index_digest.as_ref()),
        ];
        for (key, value) in fields {
            match value {
                Some(value) => drop(entry.insert(key.to_owned(), json!(value))),
                None => drop(entry.shift_remove(key)),
            }
        }
        let mut own = entry.get("rep").and_then(Value::as_object).cloned().unwrap_or_default();
        let places: Vec<Value> = skill
            .places
            .iter()
            .map(|put| match &put.link {
                Some(link) => json!({ "path": put.path, "link": link }),
                None => json!({ "path": put.path }),
            })
            .collect();
        let has_link = skill.places.iter().any(|put| put.link.is_some());
        let fields = [
            ("digest", json!(skill.digest)),
            ("files", json!(skill.files)),
            ("hosts", json!(skill.hosts)),
            ("places", json!(places)),
            ("mode", json!(if has_link { "link" } else { "copy" })),
            ("installed", json!(skill.installed_at)),
        ];
        own.extend(fields.map(|(key, value)| (key.to_owned(), value)));
        let flag = |is_set: bool| is_set.then(|| json!(true));
        let optional = [
            ("commit", origin.commit.as_ref().map(|commit| json!(commit))),
            ("manifest", origin.manifest.as_ref().map(|manifest| json!(manifest))),
            ("wanted", origin.wanted.as_ref().map(|wanted| json!(wanted))),
            ("version", skill.version.as_ref().map(|version| json!(version))),
            ("requiredBy", (!skill.required_by.is_empty()).then(|| json!(skill.required_by))),
            ("dependency", flag(skill.is_dependency)),
            ("pinned", flag(skill.is_pinned)),
            ("capabilities", skill.capabilities.as_ref().map(SkillCapabilities::to_json)),
            ("signature", skill.signature.as_ref().map(signature_json)),
        ];
        for (key, value) in optional {
            match value {
                Some(value) => drop(own.insert(key.to_owned(), value)),
                None => drop(own.shift_remove(key)),
            }
        }
        entry.insert("rep".to_owned(), Value::Object(own));
        skills.insert(name.to_owned(), Value::Object(entry));
    }

    /// Records what a skill requires, in the entries of the required skills.
    pub fn record_requirements(&mut self, name: &str, required: &[SkillRequirement]) {
        for other in self.skill_names() {
            let Some(mut skill) = self.get(&other).filter(|skill| !skill.is_foreign) else { continue };
            let is_required = required.iter().any(|one| one.name == other);
            if skill.required_by.iter().any(|known| known == name) == is_required {
                continue;
            }
            skill.required_by.retain(|known| known != name);
            skill.required_by.extend(is_required.then(|| name.to_owned()));
            skill.required_by.sort();
            self.insert_skill(&other, &skill);
        }
    }

    /// Removes a skill's entry.
    pub fn remove_skill(&mut self, name: &str) {
        if let Some(Value::Object(skills)) = self.document.get_mut("skills") {
            skills.shift_remove(name);
        }
    }

    /// Renders the file as the npm tool does: names sorted, indented by two spaces.
    pub fn to_json_text(&self) -> String {
        let mut document = self.document.clone();
        let mut sorted: Vec<(String, Value)> =
            self.iter_skills().map(|(name, value)| (name.clone(), value.clone())).collect();
        sorted.sort_by(|one, two| one.0.cmp(&two.0));
        document.insert("skills".to_owned(), Value::Object(sorted.into_iter().collect()));
        format!("{:#}\n", Value::Object(document))
    }
}

fn signature_json(signature: &RecordedSignature) -> Value {
    let fields = [
        ("kind", Some(&signature.kind)),
        ("key", signature.key.as_ref()),
        ("subject", signature.subject.as_ref()),
        ("signer", signature.signer.as_ref()),
    ];
    Value::Object(fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), json!(value?)))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_survives_and_ours_comes_back() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join(LOCK_FILE);
        let theirs = r#"{"version":1,"more":[1],"skills":{"b":{"source":"x/y","ref":"main","sourceType":"github","computedHash":"00","new":{"a":1}},"a":{"source":"./z","sourceType":"local","computedHash":"11","own":true,"rep":{"later":2}}}}"#;
        crate::journal::replace_file(&file, theirs.as_bytes()).unwrap();
        let mut lock = SkillsLockFile::read(&file).unwrap();
        assert_eq!(lock.skill_names(), ["a", "b"]);
        assert!(lock.get("b").unwrap().is_foreign && lock.get("c").is_none());
        let skill = InstalledSkill {
            origin: InstallOrigin {
                kind: "local".to_owned(),
                source: "./z".to_owned(),
                commit: Some("c0".to_owned()),
                ..InstallOrigin::default()
            },
            computed_hash: "22".to_owned(),
            digest: "sha256:33".to_owned(),
            files: [("SKILL.md".to_owned(), "sha256:44".to_owned())].into(),
            hosts: vec!["codex".to_owned()],
            places: vec![
                InstallPlace { path: ".agents/skills/a".to_owned(), link: None },
                InstallPlace { path: ".claude/skills/a".to_owned(), link: Some("../../.agents/skills/a".to_owned()) },
            ],
            installed_at: "2026-11-15T00:00:00.000Z".to_owned(),
            version: Some("1.2.0".to_owned()),
            required_by: vec!["b".to_owned()],
            is_dependency: true,
            is_pinned: true,
            capabilities: Some(SkillCapabilities::from_json(
                &json!({ "spawn": ["git"], "read": ["*"], "digest": "x" }),
            )),
            signature: Some(RecordedSignature {
                kind: "model-signing".to_owned(),
                key: Some("00".to_owned()),
                subject: None,
                signer: Some("team".to_owned()),
            }),
            is_foreign: false,
        };
        lock.insert_skill("a", &skill);
        crate::journal::replace_file(&file, lock.to_json_text().as_bytes()).unwrap();
        let mut again = SkillsLockFile::read(&file).unwrap();
        assert_eq!(again.get("a"), Some(skill));
        let text = again.to_json_text();
        for kept in ["\"more\"", "\"new\"", "\"own\": true", "\"later\": 2", "\"ref\": \"main\""] {
            assert!(text.contains(kept), "{kept} in {text}");
        }
        assert!(text.find("\"a\": {").unwrap() < text.find("\"b\": {").unwrap() && text.ends_with("}\n"));
        again.remove_skill("a");
        assert_eq!(again.skill_names(), ["b"]);
    }

    #[test]
    fn what_is_no_lock_file_is_refused_and_never_overwritten() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join(LOCK_FILE);
        assert!(SkillsLockFile::read(&file).unwrap().skill_names().is_empty());
        for text in [
            "",
            "[]",
            "{}",
            "{\"version\":2,\"skills\":{}}",
            "{\"version\":1}",
            "{\"version\":1,\"skills\":[]}",
            "\u{0}",
        ] {
            crate::journal::replace_file(&file, text.as_bytes()).unwrap();
            assert!(SkillsLockFile::read(&file).is_err(), "{text}");
        }
        crate::journal::replace_file(
            &file,
            br#"{"version":1,"skills":{"a":7,"b":{"rep":{"files":3,"places":[{}],"hosts":{}}}}}"#,
        )
        .unwrap();
        let lock = SkillsLockFile::read(&file).unwrap();
        assert!(lock.get("a").unwrap().is_foreign && lock.get("b").unwrap().places.is_empty());
    }
}
