//! The lock file: what was installed, from where, and what it held.
//!
//! `skills-lock.json` is the file of the npm tool `skills` (version 1), in which every skill has an object. What we need beyond
//! its fields stands in one more, `rep`, which that tool leaves alone; what it or others write there survives us. In a project
//! the file comes with the repository, so that nothing in it is believed: every path is judged before it is used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::files;

/// The name of the file.
pub const LOCK_FILE: &str = "skills-lock.json";
/// The largest lock file that is read.
const LOCK_BYTES_MAX: u64 = 64 << 20;

/// A lock file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("could not use the lock file `{}`: {reason}", path.display())]
pub struct LockError {
    path: PathBuf,
    reason: String,
}

/// What a lock file says.
#[derive(Clone, Debug)]
pub struct Lock {
    document: Map<String, Value>,
}

/// Where a skill came from.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Origin {
    /// The kind, in the words of the npm tool: `local` or `well-known`.
    pub kind: String,
    /// The source: a path as seen from the lock file, or a name for an address.
    pub source: String,
    /// The address.
    pub url: Option<String>,
    /// Where the SKILL.md lies in the source.
    pub skill_path: Option<String>,
    /// What an index said of it.
    pub index_digest: Option<String>,
    /// The commit of a working copy.
    pub commit: Option<String>,
}

/// One place a skill was put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// Where, as seen from the folder of the scope; absolute where it lies elsewhere.
    pub path: String,
    /// Where the link leads; `None` for a folder.
    pub link: Option<String>,
}

/// A skill as it was installed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Installed {
    /// Where it came from.
    pub origin: Origin,
    /// What the npm tool compares.
    pub computed_hash: String,
    /// The digest of all files.
    pub digest: String,
    /// The digest of each.
    pub files: BTreeMap<String, String>,
    /// The hosts it was wanted for.
    pub hosts: Vec<String>,
    /// The places it was put.
    pub places: Vec<Put>,
    /// When.
    pub at: String,
    /// Whether another tool wrote the entry, so that there is nothing of ours in it.
    pub is_foreign: bool,
}

impl Lock {
    /// Reads a lock file; one that is not there says nothing.
    pub fn read(path: &Path) -> Result<Self, LockError> {
        let failed = |reason: String| LockError { path: path.to_owned(), reason };
        let bytes = match files::read_file(path, LOCK_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::empty()),
            Err(error) => return Err(failed(error.to_string())),
        };
        Self::parse(&bytes).map_err(failed)
    }

    /// Parses the bytes of a lock file. The error says what is wrong with them.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        let Value::Object(document) = value else { return Err("it is no JSON object".to_owned()) };
        match document.get("version").and_then(Value::as_u64) {
            Some(1) => {}
            Some(version) => return Err(format!("it is of version {version}, and only version 1 is known")),
            None => return Err("it has no `version`".to_owned()),
        }
        match document.get("skills") {
            Some(Value::Object(_)) => Ok(Self { document }),
            _ => Err("its `skills` are no object".to_owned()),
        }
    }

    fn empty() -> Self {
        let mut document = Map::new();
        document.insert("version".to_owned(), json!(1));
        document.insert("skills".to_owned(), json!({}));
        Self { document }
    }

    fn skills(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.document.get("skills").and_then(Value::as_object).into_iter().flatten()
    }

    /// The names in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.skills().map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }

    /// What it says of a skill. What is missing or of another type is taken as not there.
    pub fn get(&self, name: &str) -> Option<Installed> {
        let entry = self.skills().find(|(known, _)| *known == name)?.1;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let own = entry.get("rep").filter(|own| own.is_object());
        let ours = own.cloned().unwrap_or_default();
        let list = |key: &str| ours.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let put = |value: &Value| Some(Put { path: text(value, "path")?, link: text(value, "link") });
        let files = ours.get("files").and_then(Value::as_object).into_iter().flatten();
        Some(Installed {
            origin: Origin {
                kind: text(entry, "sourceType").unwrap_or_default(),
                source: text(entry, "source").unwrap_or_default(),
                url: text(entry, "sourceUrl"),
                skill_path: text(entry, "skillPath"),
                index_digest: text(entry, "wellKnownDigest"),
                commit: text(&ours, "commit"),
            },
            computed_hash: text(entry, "computedHash").unwrap_or_default(),
            digest: text(&ours, "digest").unwrap_or_default(),
            files: files.filter_map(|(path, mark)| Some((path.clone(), mark.as_str()?.to_owned()))).collect(),
            hosts: list("hosts").iter().filter_map(|host| host.as_str().map(str::to_owned)).collect(),
            places: list("places").iter().filter_map(put).collect(),
            at: text(&ours, "installed").unwrap_or_default(),
            is_foreign: own.is_none(),
        })
    }

    /// Writes down a skill. Fields nobody here knows stay as they are.
    pub fn put(&mut self, name: &str, skill: &Installed) {
        let Some(Value::Object(skills)) = self.document.get_mut("skills") else { return };
        let mut entry = skills.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        let origin = &skill.origin;
        let fields = [
            ("source", Some(&origin.source)),
            ("sourceUrl", origin.url.as_ref()),
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
        // A branch of another source says nothing of this one.
        entry.shift_remove("ref");
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
            ("installed", json!(skill.at)),
        ];
        own.extend(fields.map(|(key, value)| (key.to_owned(), value)));
        match &origin.commit {
            Some(commit) => drop(own.insert("commit".to_owned(), json!(commit))),
            None => drop(own.shift_remove("commit")),
        }
        entry.insert("rep".to_owned(), Value::Object(own));
        skills.insert(name.to_owned(), Value::Object(entry));
    }

    /// Strikes a skill out.
    pub fn remove(&mut self, name: &str) {
        if let Some(Value::Object(skills)) = self.document.get_mut("skills") {
            skills.shift_remove(name);
        }
    }

    /// The file as it is written: names sorted, two spaces, as the npm tool does.
    pub fn text(&self) -> String {
        let mut document = self.document.clone();
        let mut sorted: Vec<(String, Value)> =
            self.skills().map(|(name, value)| (name.clone(), value.clone())).collect();
        sorted.sort_by(|one, two| one.0.cmp(&two.0));
        document.insert("skills".to_owned(), Value::Object(sorted.into_iter().collect()));
        format!("{:#}\n", Value::Object(document))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_survives_and_ours_comes_back() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join(LOCK_FILE);
        let theirs = r#"{"version":1,"more":[1],"skills":{"b":{"source":"x/y","ref":"main","sourceType":"github","computedHash":"00","new":{"a":1}},"a":{"source":"./z","sourceType":"local","computedHash":"11","own":true,"rep":{"later":2}}}}"#;
        crate::journal::replace(&file, theirs.as_bytes()).unwrap();
        let mut lock = Lock::read(&file).unwrap();
        assert_eq!(lock.names(), ["a", "b"]);
        assert!(lock.get("b").unwrap().is_foreign && lock.get("c").is_none());
        let skill = Installed {
            origin: Origin {
                kind: "local".to_owned(),
                source: "./z".to_owned(),
                commit: Some("c0".to_owned()),
                ..Origin::default()
            },
            computed_hash: "22".to_owned(),
            digest: "sha256:33".to_owned(),
            files: [("SKILL.md".to_owned(), "sha256:44".to_owned())].into(),
            hosts: vec!["codex".to_owned()],
            places: vec![
                Put { path: ".agents/skills/a".to_owned(), link: None },
                Put { path: ".claude/skills/a".to_owned(), link: Some("../../.agents/skills/a".to_owned()) },
            ],
            at: "2026-11-15T00:00:00.000Z".to_owned(),
            is_foreign: false,
        };
        lock.put("a", &skill);
        crate::journal::replace(&file, lock.text().as_bytes()).unwrap();
        let mut again = Lock::read(&file).unwrap();
        assert_eq!(again.get("a"), Some(skill));
        let text = again.text();
        for kept in ["\"more\"", "\"new\"", "\"own\": true", "\"later\": 2", "\"ref\": \"main\""] {
            assert!(text.contains(kept), "{kept} in {text}");
        }
        assert!(text.find("\"a\": {").unwrap() < text.find("\"b\": {").unwrap() && text.ends_with("}\n"));
        again.remove("a");
        assert_eq!(again.names(), ["b"]);
    }

    #[test]
    fn what_is_no_lock_file_is_refused_and_never_overwritten() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join(LOCK_FILE);
        assert!(Lock::read(&file).unwrap().names().is_empty());
        for text in [
            "",
            "[]",
            "{}",
            "{\"version\":2,\"skills\":{}}",
            "{\"version\":1}",
            "{\"version\":1,\"skills\":[]}",
            "\u{0}",
        ] {
            crate::journal::replace(&file, text.as_bytes()).unwrap();
            assert!(Lock::read(&file).is_err(), "{text}");
        }
        crate::journal::replace(
            &file,
            br#"{"version":1,"skills":{"a":7,"b":{"rep":{"files":3,"places":[{}],"hosts":{}}}}}"#,
        )
        .unwrap();
        let lock = Lock::read(&file).unwrap();
        assert!(lock.get("a").unwrap().is_foreign && lock.get("b").unwrap().places.is_empty());
    }
}
