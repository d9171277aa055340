//! Parses indexes of skills at well-known URLs: version 0.2.0 of the discovery RFC, and 0.1 before it.
//!
//! This module does not fetch anything: it maps URLs and bytes to values. Everything that an index names must be on
//! the same server.

use serde_json::Value;

/// The maximum number of skills in an index.
const SKILLS_MAX: usize = 10_000;
/// The schema identifier of version 0.2.0.
pub const INDEX_SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/// The paths of an index, in the order in which they are tried.
pub const INDEX_PATHS: [&str; 2] = ["/.well-known/agent-skills/index.json", "/.well-known/skills/index.json"];

/// A skill in an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedSkill {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// What to fetch for it.
    pub download: SkillDownload,
}

/// What to fetch for a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillDownload {
    /// A single SKILL.md, with its digest.
    Manifest(String, String),
    /// An archive, with its digest.
    Archive(String, String),
    /// Files, each with its path; version 0.1 has no digests.
    Files(Vec<(String, String)>),
}

impl SkillDownload {
    /// Returns the digest in the index.
    pub fn digest(&self) -> Option<&str> {
        match self {
            SkillDownload::Manifest(_, digest) | SkillDownload::Archive(_, digest) => Some(digest),
            SkillDownload::Files(_) => None,
        }
    }
}

/// Returns the URLs at which the index of a source may be.
pub fn list_candidate_urls(source: &str) -> Vec<String> {
    if source.ends_with("/index.json") {
        return vec![source.to_owned()];
    }
    let base = source.trim_end_matches('/');
    INDEX_PATHS.iter().map(|place| format!("{base}{place}")).collect()
}

/// Returns the server of a URL: `https://host:port`.
pub fn server_origin(url: &str) -> Option<&str> {
    let start = url.find("://")? + 3;
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    (end > start).then_some(&url[..end])
}

/// Parses an index that was fetched from a URL. Also returns a message for each skipped entry.
pub fn parse(bytes: &[u8], url: &str) -> Result<(Vec<IndexedSkill>, Vec<String>), String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("the index is not JSON: {error}"))?;
    let schema = value.get("$schema").and_then(Value::as_str);
    if let Some(other) = schema.filter(|schema| *schema != INDEX_SCHEMA) {
        return Err(format!("the index has an unknown schema: {other}"));
    }
    let Some(skills) = value.get("skills").and_then(Value::as_array) else {
        return Err("the index has no `skills` list".to_owned());
    };
    if skills.len() > SKILLS_MAX {
        return Err(format!("the index has more than {SKILLS_MAX} skills"));
    }
    let (mut indexed, mut passed) = (Vec::new(), Vec::new());
    for (at, skill) in skills.iter().enumerate() {
        match parse_skill_entry(skill, url, schema.is_some()) {
            Ok(one) => indexed.push(one),
            Err(reason) => passed.push(format!("skipped `skills[{at}]` of the index: {reason}")),
        }
    }
    Ok((indexed, passed))
}

fn parse_skill_entry(skill: &Value, url: &str, is_new: bool) -> Result<IndexedSkill, String> {
    let text = |key: &str| skill.get(key).and_then(Value::as_str).ok_or_else(|| format!("`{key}` is missing"));
    let name = text("name")?.to_owned();
    if !is_skill_name(&name) {
        return Err(format!("`{}` is not a valid skill name", name.escape_debug()));
    }
    let fetched = if is_new {
        let digest = text("digest")?;
        let is_digest = digest.strip_prefix("sha256:").is_some_and(|hex| {
            hex.len() == 64 && hex.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
        });
        if !is_digest {
            return Err(format!("the digest of `{name}` is invalid"));
        }
        let at = resolve_reference(url, text("url")?)?;
        match text("type")? {
            "skill-md" => SkillDownload::Manifest(at, digest.to_owned()),
            "archive" => SkillDownload::Archive(at, digest.to_owned()),
            other => return Err(format!("`{name}` has the unknown type `{}`", other.escape_debug())),
        }
    } else {
        let folder = resolve_reference(url, &format!("{name}/"))?;
        let files = skill.get("files").and_then(Value::as_array).ok_or("`files` is missing")?;
        let plain = |file: &Value| {
            let path = file
                .as_str()
                .filter(|path| is_plain_path(path))
                .ok_or_else(|| format!("`{file}` is not a plain path"))?;
            Ok((path.to_owned(), format!("{folder}{path}").replace(' ', "%20")))
        };
        SkillDownload::Files(files.iter().map(plain).collect::<Result<Vec<(String, String)>, String>>()?)
    };
    let description = skill.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(IndexedSkill { name, description, download: fetched })
}

/// Whether a text is a valid name: lower-case letters, digits and single hyphens.
pub fn is_skill_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=64).contains(&name.len()) && name.split('-').all(|part| !part.is_empty() && part.bytes().all(is_letter))
}

/// Whether a path in an index is plain: it contains nothing that a server or file system treats specially.
fn is_plain_path(path: &str) -> bool {
    let is_letter =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/' | ' ' | '+' | '@');
    path.chars().all(is_letter) && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Resolves a reference in an index against the index's URL. The result must be on the same server.
fn resolve_reference(url: &str, reference: &str) -> Result<String, String> {
    let server = server_origin(url).ok_or("the URL of the index is invalid")?;
    let full = if reference.contains("://") {
        reference.to_owned()
    } else if reference.starts_with("//") {
        format!("{}{reference}", server.split("//").next().unwrap_or_default())
    } else if reference.starts_with('/') {
        format!("{server}{reference}")
    } else {
        let folder = url.split(['?', '#']).next().unwrap_or(url).rsplit_once('/').map_or(server, |(folder, _)| folder);
        format!("{folder}/{reference}")
    };
    if full.chars().any(|letter| letter.is_control() || letter == '\\' || letter == ' ' && !reference.contains(' ')) {
        return Err(format!("`{}` is not a valid URL", reference.escape_debug()));
    }
    match self::server_origin(&full) {
        Some(other) if other == server => Ok(full.replace(' ', "%20")),
        _ => Err(format!("`{}` is on a different server than its index", reference.escape_debug())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "https://a.example/.well-known/agent-skills/index.json";

    #[test]
    fn both_versions_are_read() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let new = format!(
            r#"{{"$schema":"{INDEX_SCHEMA}","skills":[{{"name":"a","type":"skill-md","description":"d","url":"a/SKILL.md","digest":"{digest}"}},{{"name":"b","type":"archive","description":"d","url":"/x/b.tar.gz","digest":"{digest}"}}]}}"#
        );
        let (skills, passed) = parse(new.as_bytes(), AT).unwrap();
        assert!(passed.is_empty());
        assert_eq!(
            skills[0].download,
            SkillDownload::Manifest("https://a.example/.well-known/agent-skills/a/SKILL.md".to_owned(), digest.clone())
        );
        assert_eq!(skills[1].download, SkillDownload::Archive("https://a.example/x/b.tar.gz".to_owned(), digest));
        let old = br#"{"skills":[{"name":"a","description":"d","files":["SKILL.md","scripts/x.sh","b c.md"]}]}"#;
        let SkillDownload::Files(files) = &parse(old, AT).unwrap().0[0].download else { panic!("it lists files") };
        assert_eq!(files[1].1, "https://a.example/.well-known/agent-skills/a/scripts/x.sh");
        assert_eq!(files[2], ("b c.md".to_owned(), "https://a.example/.well-known/agent-skills/a/b%20c.md".to_owned()));
    }

    #[test]
    fn what_leads_elsewhere_is_passed_over_and_told() {
        let digest = format!("sha256:{}", "0".repeat(64));
        for url in [
            "https://b.example/x",
            "http://a.example/x",
            "//b.example/x",
            "https://a.example@b.example/x",
            "https://a.example.b/x",
            "a\\b",
            "a\nb",
        ] {
            let entry = serde_json::json!({"name": "a", "type": "archive", "url": url, "digest": digest});
            let index = serde_json::json!({"$schema": INDEX_SCHEMA, "skills": [entry]}).to_string();
            let (skills, passed) = parse(index.as_bytes(), AT).unwrap();
            assert!(skills.is_empty() && passed.len() == 1, "{url}: {skills:?}");
        }
        for file in ["../x", "/x", "a/../b", "a//b", "a?b", "a%2e%2e", "", "a\\b"] {
            let index = serde_json::json!({"skills": [{"name": "a", "files": [file]}]}).to_string();
            assert!(parse(index.as_bytes(), AT).unwrap().0.is_empty(), "{file}");
        }
        for name in ["", "../x", "A", "a--b", "-a", "a/b", "a."] {
            let index = serde_json::json!({"skills": [{"name": name, "files": ["SKILL.md"]}]}).to_string();
            assert!(parse(index.as_bytes(), AT).unwrap().0.is_empty(), "{name}");
        }
        for text in ["", "[]", "{}", r#"{"$schema":"x","skills":[]}"#] {
            assert!(parse(text.as_bytes(), AT).is_err(), "{text}");
        }
    }
}
