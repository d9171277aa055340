//! Names of artifacts in registries: `oci://HOST[:PORT]/REPOSITORY[:TAG|@DIGEST|:RANGE]`.

use std::fmt;
use std::net::IpAddr;

use crate::HttpOrigin;

/// How a reference starts.
pub const OCI_SCHEME: &str = "oci://";
/// The longest name of a repository, as the distribution specification has it.
const REPOSITORY_BYTES_MAX: usize = 255;
const TAG_BYTES_MAX: usize = 128;

/// A repository of a registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OciRepository {
    /// The host in lower case, with its port if it is written.
    pub registry: String,
    /// The name of the repository.
    pub name: String,
}

/// Which artifact of a repository is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OciSelector {
    /// The artifact with this tag.
    Tag(String),
    /// The artifact with this digest.
    Digest(String),
    /// The newest artifact whose tag is a version in this range.
    Range(String),
}

/// An artifact in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciReference {
    /// The repository.
    pub repository: OciRepository,
    /// The artifact. Without one, the tag `latest` is meant.
    pub selector: Option<OciSelector>,
}

impl fmt::Display for OciRepository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{OCI_SCHEME}{}/{}", self.registry, self.name)
    }
}

impl fmt::Display for OciReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.repository.fmt(formatter)?;
        match &self.selector {
            None => Ok(()),
            Some(OciSelector::Tag(text) | OciSelector::Range(text)) => write!(formatter, ":{text}"),
            Some(OciSelector::Digest(digest)) => write!(formatter, "@{digest}"),
        }
    }
}

impl OciRepository {
    /// Parses a repository, with or without `oci://`. Returns a message if it is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix(OCI_SCHEME).unwrap_or(text);
        let (registry, name) = text.split_once('/').ok_or("write `oci://HOST/REPOSITORY`")?;
        if name.len() > REPOSITORY_BYTES_MAX || !name.split('/').all(is_name_part) {
            return Err(format!(
                "`{}` is not the name of a repository: use lower-case letters, digits and single `.`, `_` or `-`",
                name.escape_debug()
            ));
        }
        let url = format!("https://{registry}/");
        let (_, rest) = HttpOrigin::split_url(&url)?;
        if rest != "/" {
            return Err(format!("`{}` is not a host", registry.escape_debug()));
        }
        Ok(Self { registry: registry.to_ascii_lowercase(), name: name.to_owned() })
    }

    /// Whether the registry is on this machine, where a connection without TLS is allowed.
    pub fn is_loopback(&self) -> bool {
        HttpOrigin::split_url(&format!("https://{}/", self.registry)).is_ok_and(|(origin, _)| is_loopback_host(&origin))
    }

    /// Returns the repository beside this one with another last part.
    pub fn sibling(&self, name: &str) -> Result<Self, String> {
        let parent = self.name.rsplit_once('/').map_or("", |(parent, _)| parent);
        let name = if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") };
        Self::parse(&format!("{OCI_SCHEME}{}/{name}", self.registry))
    }
}

pub(crate) fn is_loopback_host(origin: &HttpOrigin) -> bool {
    origin.host == "localhost" || origin.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl OciReference {
    /// Parses a reference, with or without `oci://`. Returns a message if it is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bare = text.strip_prefix(OCI_SCHEME).unwrap_or(text);
        if let Some((repository, digest)) = bare.split_once('@') {
            // A tag before a digest is only for people.
            let slash = repository.find('/').unwrap_or(0);
            let end = repository[slash..].find(':').map_or(repository.len(), |at| slash + at);
            check_digest(digest)?;
            let repository = OciRepository::parse(&repository[..end])?;
            return Ok(Self { repository, selector: Some(OciSelector::Digest(digest.to_owned())) });
        }
        let slash = bare.find('/').ok_or("write `oci://HOST/REPOSITORY`")?;
        let (repository, selector) = match bare[slash..].find(':') {
            Some(at) => (&bare[..slash + at], Some(&bare[slash + at + 1..])),
            None => (bare, None),
        };
        let repository = OciRepository::parse(repository)?;
        let selector = match selector {
            None => None,
            Some(tag) if is_tag(tag) => Some(OciSelector::Tag(tag.to_owned())),
            Some(range) if range.starts_with(['^', '~', '<', '>', '=', '*']) => {
                Some(OciSelector::Range(range.to_owned()))
            }
            Some(other) => return Err(format!("`{}` is neither a tag nor a range of versions", other.escape_debug())),
        };
        Ok(Self { repository, selector })
    }
}

/// Whether a text is one part of a repository's name: `[a-z0-9]+` with single separators between.
fn is_name_part(part: &str) -> bool {
    let bytes = part.as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let has_ends = bytes.first().is_some_and(is_plain) && bytes.last().is_some_and(is_plain);
    let is_known = |byte: &u8| is_plain(byte) || b"._-".contains(byte);
    has_ends && bytes.iter().all(is_known) && !part.contains("..") && !part.contains("___")
}

/// Whether a text is a tag.
pub fn is_tag(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= TAG_BYTES_MAX
        && bytes.next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Checks the form of a digest. Only SHA-256 is accepted. Returns its hexadecimal digits.
pub fn check_digest(digest: &str) -> Result<&str, String> {
    let hex = digest.strip_prefix("sha256:");
    let is_hex = |hex: &&str| hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    hex.filter(is_hex).ok_or_else(|| {
        let shown: String = digest.escape_debug().take(80).collect();
        format!("`{shown}` is not a digest: write `sha256:` and 64 hexadecimal digits")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn references_are_parsed() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let shape = |text: &str| {
            OciReference::parse(text).map(|one| (one.repository.registry, one.repository.name, one.selector))
        };
        let tag = |tag: &str| Some(OciSelector::Tag(tag.to_owned()));
        let of = |host: &str, selector| Ok((host.to_owned(), "team/pdf".to_owned(), selector));
        assert_eq!(shape("oci://R.example/team/pdf"), of("r.example", None));
        assert_eq!(shape("oci://r.example:5000/team/pdf:1.2.0"), of("r.example:5000", tag("1.2.0")));
        assert_eq!(shape("oci://[::1]:5000/team/pdf:v1"), of("[::1]:5000", tag("v1")));
        let range = Some(OciSelector::Range("^1.2".to_owned()));
        assert_eq!(shape("oci://localhost:5000/team/pdf:^1.2"), of("localhost:5000", range));
        let pinned = Some(OciSelector::Digest(digest.clone()));
        assert_eq!(shape(&format!("oci://r.example/team/pdf:1.0@{digest}")), of("r.example", pinned));
        for text in [
            "oci://r.example",
            "oci:///pdf",
            "oci://r.example/PDF",
            "oci://r.example/../x",
            "oci://r.example/a//b",
            "oci://user@r.example/pdf",
            "oci://r.example/pdf:",
            "oci://r.example/pdf:a b",
            "oci://r.example/pdf@sha256:12",
            "oci://r.example/pdf@sha512:aa",
            "oci://r.example:0/pdf",
            "oci://r.example/pdf?x",
            "oci://r.example\r\n/pdf",
        ] {
            assert!(OciReference::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_sibling_is_in_the_same_namespace() {
        let one = OciRepository::parse("r.example/team/pdf").unwrap();
        assert_eq!(one.sibling("docx").unwrap().name, "team/docx");
        assert!(one.sibling("../docx").is_err());
    }

    proptest! {
        #[test]
        fn what_is_parsed_can_be_written_and_parsed_again(text in "oci://[a-z.:0-9]{1,12}/[a-z/._-]{1,12}[:@]?[a-z0-9.^~]{0,8}") {
            if let Ok(one) = OciReference::parse(&text) {
                prop_assert_eq!(OciReference::parse(&one.to_string()), Ok(one));
            }
        }
    }
}
