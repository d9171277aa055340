//! Indexes of skills at well-known addresses: version 0.2.0 of the discovery RFC, and 0.1 before it.
//!
//! Addresses and bytes in, values out: who fetches is somebody else. What an index names must lie at the same server.

use serde_json::Value;

/// The most skills of an index that are looked at.
const SKILLS_MAX: usize = 10_000;
/// What version 0.2.0 calls itself.
pub const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/// Where an index is looked for, first come first served.
pub const PLACES: [&str; 2] = ["/.well-known/agent-skills/index.json", "/.well-known/skills/index.json"];

/// A skill of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexed {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What is fetched for it.
    pub fetched: Fetched,
}

/// What is fetched for a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// A SKILL.md and nothing else, with its digest.
    Manifest(String, String),
    /// An archive, with its digest.
    Archive(String, String),
    /// Files, each with its path; version 0.1 has no digests.
    Files(Vec<(String, String)>),
}

impl Fetched {
    /// The digest the index gives.
    pub fn digest(&self) -> Option<&str> {
        match self {
            Fetched::Manifest(_, digest) | Fetched::Archive(_, digest) => Some(digest),
            Fetched::Files(_) => None,
        }
    }
}

/// The addresses at which the index of a source may be.
pub fn candidates(source: &str) -> Vec<String> {
    if source.ends_with("/index.json") {
        return vec![source.to_owned()];
    }
    let base = source.trim_end_matches('/');
    PLACES.iter().map(|place| format!("{base}{place}")).collect()
}

/// The server an address is at: `https://host:port`.
pub fn server(url: &str) -> Option<&str> {
    let start = url.find("://")? + 3;
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    (end > start).then_some(&url[..end])
}

/// Reads an index that was fetched from an address. Says what was passed over.
pub fn parse(bytes: &[u8], url: &str) -> Result<(Vec<Indexed>, Vec<String>), String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("the index is not JSON: {error}"))?;
    let schema = value.get("$schema").and_then(Value::as_str);
    if let Some(other) = schema.filter(|schema| *schema != SCHEMA) {
        return Err(format!("the index is of a form that is not known: {other}"));
    }
    let Some(skills) = value.get("skills").and_then(Value::as_array) else {
        return Err("the index has no list of `skills`".to_owned());
    };
    if skills.len() > SKILLS_MAX {
        return Err(format!("the index has more than {SKILLS_MAX} skills"));
    }
    let (mut indexed, mut passed) = (Vec::new(), Vec::new());
    for (at, skill) in skills.iter().enumerate() {
        match one(skill, url, schema.is_some()) {
            Ok(one) => indexed.push(one),
            Err(reason) => passed.push(format!("skills[{at}] of the index was passed over: {reason}")),
        }
    }
    Ok((indexed, passed))
}

fn one(skill: &Value, url: &str, is_new: bool) -> Result<Indexed, String> {
    let text = |key: &str| skill.get(key).and_then(Value::as_str).ok_or_else(|| format!("`{key}` is missing"));
    let name = text("name")?.to_owned();
    if !is_name(&name) {
        return Err(format!("`{}` is no name of a skill", name.escape_debug()));
    }
    let fetched = if is_new {
        let digest = text("digest")?;
        let is_digest = digest.strip_prefix("sha256:").is_some_and(|hex| {
            hex.len() == 64 && hex.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
        });
        if !is_digest {
            return Err(format!("the digest of `{name}` is none"));
        }
        let at = joined(url, text("url")?)?;
        match text("type")? {
            "skill-md" => Fetched::Manifest(at, digest.to_owned()),
            "archive" => Fetched::Archive(at, digest.to_owned()),
            other => return Err(format!("`{name}` is of the type `{}`, which is not known", other.escape_debug())),
        }
    } else {
        let folder = joined(url, &format!("{name}/"))?;
        let files = skill.get("files").and_then(Value::as_array).ok_or("`files` is missing")?;
        let plain = |file: &Value| {
            let path =
                file.as_str().filter(|path| is_plain(path)).ok_or_else(|| format!("`{file}` is no plain path"))?;
            Ok((path.to_owned(), format!("{folder}{path}").replace(' ', "%20")))
        };
        Fetched::Files(files.iter().map(plain).collect::<Result<Vec<(String, String)>, String>>()?)
    };
    let description = skill.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Indexed { name, description, fetched })
}

/// Whether a text is a name by the specification: small letters, digits and single hyphens.
pub fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=64).contains(&name.len()) && name.split('-').all(|part| !part.is_empty() && part.bytes().all(is_letter))
}

/// Whether a path of an index is plain: nothing in it that a server or a file system takes for something else.
fn is_plain(path: &str) -> bool {
    let is_letter =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/' | ' ' | '+' | '@');
    path.chars().all(is_letter) && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// An address in an index, worked out from where the index was. It must be at the same server.
fn joined(url: &str, reference: &str) -> Result<String, String> {
    let server = server(url).ok_or("the index has no address")?;
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
        return Err(format!("`{}` is no address", reference.escape_debug()));
    }
    match self::server(&full) {
        Some(other) if other == server => Ok(full.replace(' ', "%20")),
        _ => Err(format!("`{}` is at another server than its index", reference.escape_debug())),
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
            r#"{{"$schema":"{SCHEMA}","skills":[{{"name":"a","type":"skill-md","description":"d","url":"a/SKILL.md","digest":"{digest}"}},{{"name":"b","type":"archive","description":"d","url":"/x/b.tar.gz","digest":"{digest}"}}]}}"#
        );
        let (skills, passed) = parse(new.as_bytes(), AT).unwrap();
        assert!(passed.is_empty());
        assert_eq!(
            skills[0].fetched,
            Fetched::Manifest("https://a.example/.well-known/agent-skills/a/SKILL.md".to_owned(), digest.clone())
        );
        assert_eq!(skills[1].fetched, Fetched::Archive("https://a.example/x/b.tar.gz".to_owned(), digest));
        let old = br#"{"skills":[{"name":"a","description":"d","files":["SKILL.md","scripts/x.sh","b c.md"]}]}"#;
        let Fetched::Files(files) = &parse(old, AT).unwrap().0[0].fetched else { panic!("it lists files") };
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
            let index = serde_json::json!({"$schema": SCHEMA, "skills": [entry]}).to_string();
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
