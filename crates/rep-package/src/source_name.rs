//! The names of sources, and the patterns with which users and operators select them.
//!
//! A source has several names: `acme/skills`, `github:acme/skills`, `github.com/acme/skills` and
//! `https://github.com/acme/skills` are one repository. A pattern selects a source if it matches one of them. In a
//! pattern, `*` means any text. Upper and lower case are the same, as they are for servers.

use crate::lock::InstallOrigin;
use crate::source::RepositorySource;

/// The maximum length of a pattern.
const PATTERN_BYTES_MAX: usize = 512;

/// Returns the names of the source of a skill.
pub fn list_source_names(origin: &InstallOrigin) -> Vec<String> {
    let repository =
        RepositorySource::from_lock(&origin.kind, &origin.source, origin.url.as_deref(), origin.reference.as_deref());
    if let Ok(Some(repository)) = repository {
        let path = repository.url.repository_path();
        return repository_names(&origin.kind, &repository.url.server(), path, repository.url.as_str());
    }
    let mut names = vec![origin.source.clone()];
    names.extend(origin.url.clone());
    names.push(format!("{}:{}", origin.kind, origin.source));
    names
}

/// Returns the names of a git repository.
pub fn repository_names(kind: &str, server: &str, path: &str, url: &str) -> Vec<String> {
    let mut names = vec![
        format!("{server}/{path}"),
        format!("https://{server}/{path}"),
        format!("git:{server}/{path}"),
        url.to_owned(),
    ];
    if kind == "github" || server == "github.com" {
        names.extend([path.to_owned(), format!("github:{path}")]);
    }
    if kind == "gitlab" || server == "gitlab.com" {
        names.push(format!("gitlab:{path}"));
    }
    names
}

/// Whether a text is a pattern of sources.
pub fn is_pattern(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= PATTERN_BYTES_MAX
        && text.chars().all(|letter| !letter.is_control() && letter != ' ')
}

/// Whether a pattern matches a whole name.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("acme/skills", "acme/skills", true),
            ("acme/skills", "acme/skills2", false),
            ("github:acme/*", "GitHub:Acme/x", true),
            ("github:acme/*", "github:acmeevil/x", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn one_repository_has_several_names() {
        let origin = |kind: &str, source: &str, url: Option<&str>| InstallOrigin {
            kind: kind.to_owned(),
            source: source.to_owned(),
            url: url.map(str::to_owned),
            ..InstallOrigin::default()
        };
        let github = list_source_names(&origin("github", "acme/skills", None));
        for name in ["acme/skills", "github:acme/skills", "github.com/acme/skills", "https://github.com/acme/skills"] {
            assert!(github.iter().any(|known| known == name), "{name}");
        }
        let ssh =
            list_source_names(&origin("git", "git@github.com:acme/skills.git", Some("git@github.com:acme/skills.git")));
        assert!(ssh.iter().any(|known| known == "github:acme/skills"));
        let local = list_source_names(&origin("local", "../skills", None));
        assert_eq!(local, ["../skills", "local:../skills"]);
    }
}
