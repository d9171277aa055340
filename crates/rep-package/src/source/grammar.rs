//! Parses what a user writes as the source of skills.
//!
//! The forms of git sources are those of the npm tool `skills`: `owner/repo[/path][@skill][#ref]`, `github:`, `gitlab:`,
//! addresses of web pages that show a directory, and addresses of repositories. Parsing reads no file and sends no
//! request. A path that exists is always a local source; the caller decides that first.

use percent_encoding::percent_decode_str;
use rep_net::git::{GitReference, GitUrl};
use rep_net::oci::{OCI_SCHEME, OciReference};

use crate::error::{PackageError, PackageErrorCode};

/// Where skills come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallSource {
    /// A directory or an archive.
    Local(String),
    /// The address of a server with an index of skills.
    Index(String),
    /// A git repository.
    Repository(RepositorySource),
    /// An artifact in a registry.
    Registry(OciReference),
}

/// A git repository, and what is wanted from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositorySource {
    /// The address of the repository.
    pub url: GitUrl,
    /// The kind of server.
    pub host: RepositoryHost,
    /// The branch, tag or commit.
    pub reference: Option<GitReference>,
    /// The directory in the repository; empty for all of it.
    pub path: String,
    /// A reference and a path that only the server's list of references can separate, from the address of a web page.
    pub reference_and_path: Option<String>,
    /// The only skill that is wanted.
    pub skill: Option<String>,
}

/// The kinds of servers, as the npm tool records them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryHost {
    /// `github.com`.
    GitHub,
    /// A GitLab server.
    GitLab,
    /// Any other server.
    Other,
}

impl RepositoryHost {
    /// Returns the `sourceType` in the lock file.
    pub const fn source_type(self) -> &'static str {
        match self {
            RepositoryHost::GitHub => "github",
            RepositoryHost::GitLab => "gitlab",
            RepositoryHost::Other => "git",
        }
    }
}

impl InstallSource {
    /// Parses a source that is not an existing path.
    pub fn parse(text: &str) -> Result<InstallSource, PackageError> {
        let refused = |reason: String| {
            PackageError::new(PackageErrorCode::RefusedSource, format!("`{}`: {reason}", text.escape_debug()))
        };
        if text.starts_with('-') {
            return Err(refused("a source cannot start with `-`".to_owned()));
        }
        if is_path(text) {
            return Ok(InstallSource::Local(text.to_owned()));
        }
        if text.starts_with(OCI_SCHEME) {
            return OciReference::parse(text).map(InstallSource::Registry).map_err(refused);
        }
        let (bare, fragment) = split_fragment(text);
        let repository = match parse_repository(bare) {
            Some(parsed) => parsed.map_err(refused)?,
            None if is_address(text) => return Ok(InstallSource::Index(text.to_owned())),
            None => return Ok(InstallSource::Local(text.to_owned())),
        };
        add_fragment(repository, fragment).map(InstallSource::Repository).map_err(refused)
    }
}

impl RepositorySource {
    fn new(url: GitUrl, host: RepositoryHost) -> Self {
        Self { url, host, reference: None, path: String::new(), reference_and_path: None, skill: None }
    }

    /// Returns the `source` in the lock file: `owner/repo` at GitHub, and otherwise the address.
    pub fn lock_source(&self) -> String {
        match self.host {
            RepositoryHost::GitHub => self.url.repository_path().to_owned(),
            RepositoryHost::GitLab | RepositoryHost::Other => self.url.as_str().to_owned(),
        }
    }

    /// Returns the `sourceUrl` in the lock file, which the npm tool writes for servers other than GitHub.
    pub fn lock_url(&self) -> Option<String> {
        match self.host {
            RepositoryHost::GitHub => None,
            RepositoryHost::GitLab | RepositoryHost::Other => Some(self.url.as_str().to_owned()),
        }
    }

    /// Restores a source from the fields of a lock file, which is not trusted.
    pub fn from_lock(
        kind: &str,
        source: &str,
        url: Option<&str>,
        reference: Option<&str>,
    ) -> Result<Option<Self>, String> {
        let host = match kind {
            "github" => RepositoryHost::GitHub,
            "gitlab" => RepositoryHost::GitLab,
            "git" => RepositoryHost::Other,
            _ => return Ok(None),
        };
        let address = match (url, host) {
            (Some(url), _) => url.to_owned(),
            (None, RepositoryHost::GitHub) if is_owner_and_repository(source) => {
                format!("https://github.com/{}.git", source.trim_end_matches(".git"))
            }
            (None, RepositoryHost::GitHub) => source.to_owned(),
            // The npm tool does not guess a server either.
            (None, RepositoryHost::GitLab | RepositoryHost::Other) if is_address(source) || source.contains('@') => {
                source.to_owned()
            }
            (None, RepositoryHost::GitLab | RepositoryHost::Other) => {
                return Err("the lock file has no `sourceUrl` for it".to_owned());
            }
        };
        let url = GitUrl::parse(&address).map_err(|reason| format!("`{address}`: {reason}"))?;
        let reference = reference.map(GitReference::parse).transpose()?;
        Ok(Some(Self { reference, ..Self::new(url, host) }))
    }
}

fn is_path(text: &str) -> bool {
    text.is_empty()
        || text.starts_with(['/', '~'])
        || text == "."
        || text == ".."
        || text.starts_with("./")
        || text.starts_with("../")
}

pub(crate) fn is_address(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// Splits `#REF` from a source.
fn split_fragment(text: &str) -> (&str, Option<&str>) {
    text.split_once('#').map_or((text, None), |(bare, fragment)| (bare, Some(fragment)))
}

/// Adds `REF[@SKILL]` to a repository.
fn add_fragment(mut repository: RepositorySource, fragment: Option<&str>) -> Result<RepositorySource, String> {
    let Some(fragment) = fragment.filter(|fragment| !fragment.is_empty()) else { return Ok(repository) };
    let (reference, skill) = match fragment.split_once('@') {
        Some((reference, skill)) => (reference, Some(skill)),
        None => (fragment, None),
    };
    if !reference.is_empty() {
        if repository.reference.is_some() || repository.reference_and_path.is_some() {
            return Err("it names two references".to_owned());
        }
        repository.reference = Some(GitReference::parse(&decode(reference)?)?);
    }
    if let Some(skill) = skill.filter(|skill| !skill.is_empty()) {
        repository.skill = Some(decode(skill)?);
    }
    Ok(repository)
}

fn decode(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| "an escape in it is not UTF-8")?;
    Ok(decoded.into_owned())
}

/// Parses every form of a repository but its `#REF`. Returns `None` if it is none of them.
fn parse_repository(text: &str) -> Option<Result<RepositorySource, String>> {
    if let Some(rest) = text.strip_prefix("github:") {
        return Some(parse_github_name(rest));
    }
    if let Some(rest) = text.strip_prefix("gitlab:") {
        return Some(parse_gitlab_name(rest));
    }
    let text = text.strip_prefix("git+").unwrap_or(text);
    if is_address(text) {
        return parse_web_address(text);
    }
    let is_short_ssh = text.split_once(':').is_some_and(|(start, _)| start.contains('@') && !start.contains('/'));
    if text.contains("://") || text.contains("::") || is_short_ssh {
        return Some(parse_plain_url(text));
    }
    is_github_name(text).then(|| parse_github_name(text))
}

/// Parses the address of a repository, as `git clone` takes it. `@SKILL` may follow `.git`.
fn parse_plain_url(text: &str) -> Result<RepositorySource, String> {
    let (url, skill) = match text.rsplit_once(".git@") {
        Some((url, skill)) => (format!("{url}.git"), Some(skill.to_owned())),
        None => (text.to_owned(), None),
    };
    let url = GitUrl::parse(&url)?;
    let host = if url.server() == "gitlab.com" { RepositoryHost::GitLab } else { RepositoryHost::Other };
    Ok(RepositorySource { skill, ..RepositorySource::new(url, host) })
}

fn is_owner_and_repository(text: &str) -> bool {
    text.split('/').count() == 2 && is_github_name(text)
}

/// Whether a text is `owner/repo[/path][@skill]`.
fn is_github_name(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-@".contains(&byte))
    };
    let mut parts = text.split('/');
    !text.contains(':') && parts.clone().count() >= 2 && parts.all(is_part)
}

fn parse_github_name(text: &str) -> Result<RepositorySource, String> {
    let (text, skill) = split_skill(text);
    let mut parts = text.trim_end_matches('/').splitn(3, '/');
    let (Some(owner), Some(name)) = (parts.next(), parts.next()) else {
        return Err("write `owner/repo`".to_owned());
    };
    let is_plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '-'])
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    if !is_plain(owner) || !is_plain(name) {
        return Err("it is not the name of a repository; write `owner/repo`".to_owned());
    }
    let url = GitUrl::parse(&format!("https://github.com/{owner}/{}.git", name.trim_end_matches(".git")))?;
    let path = parts.next().map(check_path).transpose()?.unwrap_or_default();
    Ok(RepositorySource { path, skill, ..RepositorySource::new(url, RepositoryHost::GitHub) })
}

/// Parses `group/…/repo[@skill]`. A group can contain groups, so everything is the name of the repository.
fn parse_gitlab_name(text: &str) -> Result<RepositorySource, String> {
    let (text, skill) = split_skill(text);
    let path = check_path(text)?;
    if path.split('/').count() < 2 {
        return Err("write `gitlab:group/repo`".to_owned());
    }
    let url = GitUrl::parse(&format!("https://gitlab.com/{}.git", path.trim_end_matches(".git")))?;
    Ok(RepositorySource { skill, ..RepositorySource::new(url, RepositoryHost::GitLab) })
}

fn split_skill(text: &str) -> (&str, Option<String>) {
    match text.split_once('@') {
        Some((text, skill)) if !skill.is_empty() => (text, Some(skill.to_owned())),
        Some((text, _)) => (text, None),
        None => (text, None),
    }
}

/// Parses an `http` address: of a repository, or of a page that shows a directory of one. Returns `None` for any other
/// address, which may have an index of skills.
fn parse_web_address(text: &str) -> Option<Result<RepositorySource, String>> {
    let (scheme, rest) = text.split_once("://")?;
    let (server, path) = rest.split_once('/').unwrap_or((rest, ""));
    let path = path.split('?').next().unwrap_or(path);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let is_github = matches!(server.to_ascii_lowercase().as_str(), "github.com" | "www.github.com");
    let is_gitlab = server.eq_ignore_ascii_case("gitlab.com");
    let page = |repository: &[&str], tail: &[&str], host: RepositoryHost| {
        let server = if is_github { "github.com" } else { server };
        let name = repository.join("/");
        parse_page(&format!("{scheme}://{server}/{}.git", name.trim_end_matches(".git")), tail, host)
    };
    let other = if is_github { RepositoryHost::GitHub } else { RepositoryHost::Other };
    // GitLab: the name of the repository ends at `/-/`.
    let dash = parts.iter().position(|part| *part == "-").unwrap_or(parts.len());
    if let [_, "tree" | "blob", tail @ ..] = &parts[dash..] {
        return (dash >= 2 && !tail.is_empty()).then(|| page(&parts[..dash], tail, RepositoryHost::GitLab));
    }
    match parts.as_slice() {
        [owner, name, "tree" | "blob", tail @ ..] if !tail.is_empty() => Some(page(&[owner, name], tail, other)),
        // Gitea and Forgejo, then Bitbucket.
        [owner, name, "src", "branch" | "tag" | "commit", tail @ ..] if !tail.is_empty() => {
            Some(page(&[owner, name], tail, other))
        }
        [owner, name, "src", tail @ ..] if server.eq_ignore_ascii_case("bitbucket.org") && !tail.is_empty() => {
            Some(page(&[owner, name], tail, other))
        }
        [owner, name] if is_github => Some(page(&[owner, name], &[], RepositoryHost::GitHub)),
        [_, _, ..] if is_gitlab => Some(page(&parts, &[], RepositoryHost::GitLab)),
        _ if path.trim_end_matches('/').strip_suffix(".git").is_some() || path.contains(".git@") => {
            Some(parse_plain_url(text.trim_end_matches('/')))
        }
        // A name or a password before the host never belongs to an index.
        _ if server.contains('@') => Some(parse_plain_url(text)),
        _ => None,
    }
}

/// Builds the source of a web page that shows `REF/PATH` of a repository.
fn parse_page(url: &str, tail: &[&str], host: RepositoryHost) -> Result<RepositorySource, String> {
    let mut source = RepositorySource::new(GitUrl::parse(url)?, host);
    let tail: Vec<String> = tail.iter().map(|part| decode(part)).collect::<Result<_, _>>()?;
    let tail: Vec<&str> = tail.iter().map(String::as_str).collect();
    // The page of the main file means its directory.
    let tail = match tail.as_slice() {
        [folder @ .., last] if last.eq_ignore_ascii_case("skill.md") && !folder.is_empty() => folder,
        all => all,
    };
    match tail {
        [] => {}
        [reference] => source.reference = Some(GitReference::parse(reference)?),
        parts => source.reference_and_path = Some(check_path(&parts.join("/"))?),
    }
    Ok(source)
}

/// Checks a path in a repository, and removes slashes around it.
pub(crate) fn check_path(path: &str) -> Result<String, String> {
    let path = path.trim_matches('/');
    let is_bad = |part: &str| matches!(part, "" | "." | "..");
    if path.split('/').any(is_bad) || path.contains(['\\', ':']) || path.chars().any(char::is_control) {
        return Err(format!("`{}` is not a path in a repository", path.escape_debug()));
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(text: &str) -> String {
        match InstallSource::parse(text) {
            Ok(InstallSource::Local(path)) => format!("local {path}"),
            Ok(InstallSource::Index(url)) => format!("index {url}"),
            Ok(InstallSource::Registry(reference)) => format!("registry {reference}"),
            Ok(InstallSource::Repository(source)) => {
                let mut text = format!("{} {}", source.host.source_type(), source.url);
                for (word, value) in [
                    ("ref", source.reference.as_ref().map(|reference| reference.as_str().to_owned())),
                    ("path", Some(source.path).filter(|path| !path.is_empty())),
                    ("tail", source.reference_and_path),
                    ("skill", source.skill),
                ] {
                    text.push_str(&value.map(|value| format!(" {word}={value}")).unwrap_or_default());
                }
                text
            }
            Err(error) => format!("refused: {error}"),
        }
    }

    #[test]
    fn every_form_of_a_source_is_understood() {
        for (text, expected) in [
            ("acme/skills", "github https://github.com/acme/skills.git"),
            ("acme/skills/tools/pdf", "github https://github.com/acme/skills.git path=tools/pdf"),
            ("acme/skills@pdf", "github https://github.com/acme/skills.git skill=pdf"),
            ("acme/skills/tools@pdf#v1", "github https://github.com/acme/skills.git ref=v1 path=tools skill=pdf"),
            ("acme/skills#main@pdf", "github https://github.com/acme/skills.git ref=main skill=pdf"),
            ("acme/skills#feature%2Fx", "github https://github.com/acme/skills.git ref=feature/x"),
            ("github:acme/skills.git", "github https://github.com/acme/skills.git"),
            ("gitlab:group/sub/skills#v2", "gitlab https://gitlab.com/group/sub/skills.git ref=v2"),
            ("https://github.com/acme/skills", "github https://github.com/acme/skills.git"),
            ("https://www.github.com/acme/skills.git#v1", "github https://github.com/acme/skills.git ref=v1"),
            ("https://github.com/acme/skills/tree/main", "github https://github.com/acme/skills.git ref=main"),
            ("https://github.com/acme/skills/tree/main/a/b", "github https://github.com/acme/skills.git tail=main/a/b"),
            (
                "https://github.com/acme/skills/blob/main/a/b/SKILL.md",
                "github https://github.com/acme/skills.git tail=main/a/b",
            ),
            (
                "https://git.example.org/g/s/skills/-/tree/v1/a%20b",
                "gitlab https://git.example.org/g/s/skills.git tail=v1/a b",
            ),
            ("https://gitlab.com/g/s/skills", "gitlab https://gitlab.com/g/s/skills.git"),
            (
                "https://codeberg.org/acme/skills/src/branch/main/a",
                "git https://codeberg.org/acme/skills.git tail=main/a",
            ),
            ("https://git.example.org/acme/skills.git#v1", "git https://git.example.org/acme/skills.git ref=v1"),
            ("git+https://git.example.org/a/b.git", "git https://git.example.org/a/b.git"),
            ("git@git.example.org:acme/skills.git@pdf", "git git@git.example.org:acme/skills.git skill=pdf"),
            ("ssh://git@git.example.org:22/acme/skills", "git ssh://git@git.example.org:22/acme/skills"),
            ("http://127.0.0.1:80/a.git", "git http://127.0.0.1:80/a.git"),
            ("https://skills.example.org", "index https://skills.example.org"),
            ("https://skills.example.org/a/b", "index https://skills.example.org/a/b"),
            ("./acme/skills", "local ./acme/skills"),
            ("/acme/skills", "local /acme/skills"),
            ("skills", "local skills"),
            ("a b/c", "local a b/c"),
        ] {
            assert_eq!(describe(text), expected, "{text}");
        }
    }

    #[test]
    fn what_could_be_an_option_a_program_or_a_file_is_refused() {
        for text in [
            "--upload-pack=x",
            "-x/y",
            "acme/skills#-x",
            "acme/skills#--upload-pack=x",
            "acme/skills#a:b",
            "acme/skills/../x",
            "ext::sh -c x",
            "ext::sh/x",
            "file:///srv/x.git",
            "git://example.org/x.git",
            "http://example.org/x.git",
            "https://me:word@example.org/x.git",
            "https://token@example.org/x",
            "git@-oProxyCommand=x:y",
            "https://github.com/acme/skills/tree/main/../x",
            "https://github.com/acme/skills/tree/main#v1",
            "github:acme",
            "gitlab:acme",
        ] {
            let told = describe(text);
            assert!(told.starts_with("refused") || told.starts_with("local"), "{text}: {told}");
            assert!(!told.starts_with("local") || text == "-x/y", "{text}: {told}");
        }
    }

    #[test]
    fn a_lock_file_names_the_same_repository() {
        for text in ["acme/skills#v1", "gitlab:g/skills", "git@git.example.org:a/b.git", "https://h.example/a.git#main"]
        {
            let Ok(InstallSource::Repository(source)) = InstallSource::parse(text) else { panic!("{text}") };
            let reference = source.reference.as_ref().map(GitReference::as_str);
            let again = RepositorySource::from_lock(
                source.host.source_type(),
                &source.lock_source(),
                source.lock_url().as_deref(),
                reference,
            );
            assert_eq!(again.unwrap(), Some(source), "{text}");
        }
        assert_eq!(RepositorySource::from_lock("local", "x", None, None), Ok(None));
        for (source, url) in [("registry/team", None), ("x", Some("file:///x")), ("x", Some("ext::sh"))] {
            assert!(RepositorySource::from_lock("git", source, url, None).is_err(), "{source}");
        }
    }
}
