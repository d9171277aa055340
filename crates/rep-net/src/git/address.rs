//! The addresses and references that git may be given. Everything that git or ssh could read as an option, a helper
//! program or a file is refused.

use std::fmt;
use std::net::IpAddr;

/// The maximum length of an address, and of a reference.
const URL_BYTES_MAX: usize = 2048;
const REFERENCE_BYTES_MAX: usize = 255;
/// The minimum number of digits of a shortened commit.
const SHORT_COMMIT_CHARS_MIN: usize = 7;

/// How a repository is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GitProtocol {
    Https,
    Ssh,
    Http,
    Git,
}

/// The address of a repository that git may fetch from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitUrl {
    /// The address as git gets it.
    text: String,
    protocol: GitProtocol,
    /// The name or address of the server, in lower case.
    host: String,
    /// The port, if it is not the usual one.
    port: Option<u16>,
    /// The path on the server, without a leading `/`.
    path: String,
}

impl GitUrl {
    /// Parses `https://HOST/PATH`, `ssh://[USER@]HOST/PATH`, `USER@HOST:PATH`, and for this machine `http://` and
    /// `git://`.
    pub fn parse(text: &str) -> Result<GitUrl, String> {
        if text.starts_with('-') {
            return Err("it starts with `-`, so git could read it as an option".to_owned());
        }
        if text.len() > URL_BYTES_MAX {
            return Err("it is too long".to_owned());
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) || text.contains(['\\', '"', '\'', '`', '<', '>']) {
            return Err("it contains a space or a character that is not valid in an address".to_owned());
        }
        if text.split(['/', '@', '.']).next().is_some_and(|start| start.contains("::")) {
            return Err("addresses that start a helper program are not allowed".to_owned());
        }
        match text.split_once("://") {
            Some((scheme, rest)) => Self::parse_scheme(text, scheme, rest),
            None => Self::parse_ssh_short(text),
        }
    }

    fn parse_scheme(text: &str, scheme: &str, rest: &str) -> Result<GitUrl, String> {
        let protocol = match scheme {
            "https" => GitProtocol::Https,
            "ssh" => GitProtocol::Ssh,
            "http" => GitProtocol::Http,
            "git" => GitProtocol::Git,
            other => return Err(format!("`{other}` is not allowed; use https or ssh")),
        };
        if rest.contains(['?', '#']) {
            return Err("it has a query or a fragment".to_owned());
        }
        let (authority, path) = rest.split_once('/').ok_or("it has no path")?;
        let (user, server) =
            authority.rsplit_once('@').map_or((None, authority), |(user, server)| (Some(user), server));
        match (protocol, user) {
            (GitProtocol::Ssh, Some(user)) => check_user(user)?,
            (_, Some(_)) => {
                return Err("it contains a user name or a password, which the lock file would record".to_owned());
            }
            (_, None) => {}
        }
        let (host, port) = split_port(server)?;
        check_path(path)?;
        let url = GitUrl { text: text.to_owned(), protocol, host, port, path: path.to_owned() };
        if matches!(protocol, GitProtocol::Http | GitProtocol::Git) && !url.is_loopback() {
            return Err(format!("`{scheme}` is not encrypted and is allowed for this machine only; use https or ssh"));
        }
        Ok(url)
    }

    /// Parses the short form of ssh: `USER@HOST:PATH`.
    fn parse_ssh_short(text: &str) -> Result<GitUrl, String> {
        let unknown = "it is not an address of a repository";
        let (user, rest) = text.split_once('@').ok_or(unknown)?;
        let (host, path) = rest.split_once(':').ok_or(unknown)?;
        check_user(user)?;
        let host = check_host(host)?;
        check_path(path.trim_start_matches('/'))?;
        let path = path.trim_start_matches('/').to_owned();
        Ok(GitUrl { text: text.to_owned(), protocol: GitProtocol::Ssh, host, port: None, path })
    }

    /// Returns the address as git gets it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the server, and its port if it is not the usual one.
    pub fn server(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        self.port.map_or(host.clone(), |port| format!("{host}:{port}"))
    }

    /// Returns the path of the repository on its server, without `.git`.
    pub fn repository_path(&self) -> &str {
        let path = self.path.trim_end_matches('/');
        path.strip_suffix(".git").unwrap_or(path)
    }

    /// Whether the server is this machine.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Returns the protocols that git may use for this address.
    pub(super) fn allowed_protocols(&self) -> &'static str {
        if self.is_loopback() { "https:ssh:http:git" } else { "https:ssh" }
    }
}

impl fmt::Display for GitUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn check_user(user: &str) -> Result<(), String> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    if user.is_empty() || user.starts_with('-') || !user.bytes().all(is_letter) {
        return Err("the user name is not plain; passwords in addresses are not allowed".to_owned());
    }
    Ok(())
}

fn check_host(host: &str) -> Result<String, String> {
    if let Some(inside) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return match inside.parse::<std::net::Ipv6Addr>() {
            Ok(address) => Ok(address.to_string()),
            Err(_) => Err(format!("`{host}` is not a host")),
        };
    }
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    if host.is_empty() || host.starts_with(['-', '.']) || !host.bytes().all(is_letter) {
        return Err(format!("`{host}` is not a host"));
    }
    Ok(host.to_ascii_lowercase())
}

fn split_port(server: &str) -> Result<(String, Option<u16>), String> {
    let after = server.rfind(']').map_or(0, |at| at + 1);
    let Some(colon) = server[after..].find(':').map(|at| after + at) else { return Ok((check_host(server)?, None)) };
    let digits = &server[colon + 1..];
    let port = digits.parse::<u16>().ok().filter(|port| *port > 0 && digits.bytes().all(|byte| byte.is_ascii_digit()));
    let port = port.ok_or_else(|| format!("`{digits}` is not a port"))?;
    Ok((check_host(&server[..colon])?, Some(port)))
}

fn check_path(path: &str) -> Result<(), String> {
    if path.trim_matches('/').is_empty() {
        return Err("it has no path".to_owned());
    }
    if path.starts_with('-') {
        return Err("its path starts with `-`, so a program could read it as an option".to_owned());
    }
    if path.split('/').any(|part| part == "..") {
        return Err("its path contains `..`".to_owned());
    }
    Ok(())
}

/// The name of a branch or a tag, or the id of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitReference(String);

impl GitReference {
    /// Parses a reference, by the rules of `git check-ref-format`. It cannot be an option, a range or a mapping.
    pub fn parse(text: &str) -> Result<GitReference, String> {
        let refuse = |reason: &str| Err(format!("`{}` is not a branch, tag or commit: {reason}", text.escape_debug()));
        if text.is_empty() || text.len() > REFERENCE_BYTES_MAX {
            return refuse("it is empty or too long");
        }
        if text.starts_with('-') {
            return refuse("it starts with `-`");
        }
        let is_invalid =
            |letter: char| letter.is_control() || letter.is_whitespace() || " ~^:?*[\\+'\"`".contains(letter);
        if text.chars().any(is_invalid) || text.contains("..") || text.contains("@{") || text == "@" {
            return refuse("it contains a character that references cannot have");
        }
        let is_bad_part = |part: &str| {
            let has_lock = part.len() >= 5 && part[part.len() - 5..].eq_ignore_ascii_case(".lock");
            part.is_empty() || part.starts_with('.') || part.ends_with('.') || has_lock
        };
        if text.split('/').any(|part| !part.is_char_boundary(part.len().saturating_sub(5)) || is_bad_part(part)) {
            return refuse("a part of it is empty, or starts or ends in a way that references cannot");
        }
        Ok(GitReference(text.to_owned()))
    }

    /// Returns the reference as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the full id of a commit, which always means the same content.
    pub fn is_full_commit(&self) -> bool {
        matches!(self.0.len(), 40 | 64) && self.is_hexadecimal()
    }

    /// Whether it may be the start of a commit's id.
    pub fn may_be_commit(&self) -> bool {
        (SHORT_COMMIT_CHARS_MIN..=64).contains(&self.0.len()) && self.is_hexadecimal()
    }

    fn is_hexadecimal(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, server, path) in [
            ("https://github.com/acme/skills.git", "github.com", "acme/skills"),
            ("https://git.Example.org:8443/a/b/c", "git.example.org:8443", "a/b/c"),
            ("git@github.com:acme/skills.git", "github.com", "acme/skills"),
            ("ssh://git@git.example.org:2222/acme/skills", "git.example.org:2222", "acme/skills"),
            ("ssh://git.example.org/~me/skills.git", "git.example.org", "~me/skills"),
            ("http://127.0.0.1:3000/a.git", "127.0.0.1:3000", "a"),
            ("git://localhost/a.git", "localhost", "a"),
            ("https://[::1]:7/a", "[::1]:7", "a"),
        ] {
            let url = GitUrl::parse(text).unwrap_or_else(|reason| panic!("{text}: {reason}"));
            assert_eq!((url.server().as_str(), url.repository_path(), url.as_str()), (server, path, text));
        }
    }

    #[test]
    fn what_git_or_ssh_could_misread_is_refused() {
        for text in [
            "--upload-pack=touch /tmp/x",
            "-oProxyCommand=x@host:path",
            "git@-oProxyCommand=x:path",
            "ssh://-oProxyCommand=x/path",
            "ssh://user@-x/path",
            "ext::sh -c touch% /tmp/x",
            "ext::sh",
            "fd::17",
            "file:///etc/passwd",
            "/etc/passwd",
            "./here",
            "http://example.org/a.git",
            "git://example.org/a.git",
            "https://user:word@example.org/a.git",
            "https://token@example.org/a.git",
            "https://example.org",
            "https://example.org/",
            "https:///a",
            "https://example.org/a b",
            "https://example.org/a\nb",
            "https://example.org/../a",
            "https://example.org:0/a",
            "https://example.org:x/a",
            "https://example.org/a?b",
            "git@host",
            "git@host:",
            "git@host:-x",
            "a:b@host:x",
            "",
        ] {
            assert!(GitUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn references_are_names_and_nothing_else() {
        for text in ["main", "v1.0.0", "feature/a_b", "0123456789012345678901234567890123456789", "release-1", "é"] {
            assert!(GitReference::parse(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "-x",
            "--upload-pack=x",
            "a..b",
            "a b",
            "a:b",
            "+a",
            "a^",
            "a~1",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "@{-1}",
            "@",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.",
            "a.lock",
            "a/b.LOCK/c",
            "a\nb",
            "a\u{7f}",
        ] {
            assert!(GitReference::parse(text).is_err(), "{text}");
        }
        assert!(GitReference::parse(&"a".repeat(40)).unwrap().is_full_commit());
        assert!(GitReference::parse("abcdef0").unwrap().may_be_commit());
        assert!(!GitReference::parse("abcdef").unwrap().may_be_commit());
    }

    proptest! {
        #[test]
        fn no_address_or_reference_is_an_option(text in "\\PC{0,40}") {
            if let Ok(url) = GitUrl::parse(&text) {
                prop_assert!(!url.as_str().starts_with('-') && !url.server().starts_with('-'));
            }
            if let Ok(reference) = GitReference::parse(&text) {
                prop_assert!(!reference.as_str().starts_with('-') && !reference.as_str().contains(':'));
            }
        }
    }
}
