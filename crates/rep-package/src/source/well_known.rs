//! Fetches skills that an index at a URL lists.

use super::{OfferedSkill, SourceMember, open_archive};
use crate::atomic_dir::{PackageFile, PackageFileContent};
use crate::client::SourceClient;
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::index::{self, IndexedSkill, SkillDownload};
use crate::lock::InstallOrigin;

/// The maximum size of a fetched index or SKILL.md.
const INDEX_BYTES_MAX: u64 = 8 << 20;

/// Fetches the index of a URL from the first path that has one.
pub(super) fn fetch_index(
    source: &str,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<IndexedSkill>, PackageError> {
    let mut first = None;
    for url in index::list_candidate_urls(source) {
        let bytes = match client.fetch_file(&url, INDEX_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) => {
                first.get_or_insert(error);
                continue;
            }
        };
        let (skills, skipped) = index::parse(&bytes, &url)
            .map_err(|reason| PackageError::new(PackageErrorCode::InvalidIndex, format!("`{url}`: {reason}")))?;
        for note in skipped {
            warn(&note);
        }
        return Ok(skills);
    }
    let none = || PackageError::new(PackageErrorCode::FetchFailed, format!("`{source}` has no index of skills"));
    let [one, two] = index::INDEX_PATHS;
    Err(first.unwrap_or_else(none).remedy(format!("an index must be at {one} or {two}")))
}

/// Fetches the skills of an index.
pub(super) fn load_from_index(
    source: &str,
    wanted: &[String],
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<SourceMember>, PackageError> {
    let mut skills = fetch_index(source, client, warn)?;
    if skills.is_empty() {
        let message = format!("the index of `{source}` has no installable skill");
        return Err(PackageError::new(PackageErrorCode::NotASkill, message));
    }
    if !wanted.is_empty() && wanted.iter().all(|name| skills.iter().any(|skill| skill.name == *name)) {
        skills.retain(|skill| wanted.contains(&skill.name));
    }
    let load = |skill: IndexedSkill| {
        let loaded = load_from_index_entry(source, &skill, client);
        SourceMember::new(skill.name, loaded)
    };
    Ok(skills.into_iter().map(load).collect())
}

/// Fetches one skill of an index, and compares it with the digest in the index.
pub(super) fn load_from_index_entry(
    source: &str,
    skill: &IndexedSkill,
    client: &SourceClient,
) -> Result<OfferedSkill, PackageError> {
    let whole = |url: &str, digest: &str, most: u64| {
        let bytes = client.fetch_file(url, most)?;
        if files::digest_bytes(&bytes) == digest {
            return Ok(bytes);
        }
        let message = format!("the content of `{url}` does not match the digest in its index");
        Err(PackageError::new(PackageErrorCode::DigestMismatch, message)
            .remedy("nothing was installed; report this to the server's operator"))
    };
    let file = |path: &str, bytes: Vec<u8>| PackageFile {
        path: path.to_owned(),
        content: PackageFileContent::InMemory(bytes),
        is_executable: false,
    };
    let found = match &skill.download {
        SkillDownload::Manifest(url, digest) => vec![file("SKILL.md", whole(url, digest, INDEX_BYTES_MAX)?)],
        SkillDownload::Archive(url, digest) => {
            let (entries, _) = open_archive(&whole(url, digest, rep_archive::ARCHIVE_BYTES_MAX)?, url)?;
            entries.into_iter().map(PackageFile::from).collect()
        }
        SkillDownload::Files(list) => {
            let all = list.iter().map(|(path, url)| Ok(file(path, client.fetch_file(url, INDEX_BYTES_MAX)?)));
            all.collect::<Result<Vec<PackageFile>, PackageError>>()?
        }
    };
    let host = index::server_origin(source).and_then(|server| server.split("://").nth(1)).unwrap_or(source);
    let host = host.rsplit('@').next().unwrap_or(host);
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let origin = InstallOrigin {
        kind: "well-known".to_owned(),
        source: name.to_owned(),
        url: Some(source.to_owned()),
        index_digest: Some(skill.download.digest().map_or_else(|| compute_npm_index_digest(&found), str::to_owned)),
        ..InstallOrigin::default()
    };
    let offered = OfferedSkill::new(&skill.name, found, origin)?;
    if offered.name != skill.name {
        let message =
            format!("the index names it `{}`, but the skill declares the name `{}`", skill.name, offered.name);
        return Err(PackageError::new(PackageErrorCode::InvalidSkill, message));
    }
    Ok(offered)
}

/// Computes the digest of files of an index without digests, as the npm tool does: paths and contents, separated by
/// zero bytes.
pub(super) fn compute_npm_index_digest(found: &[PackageFile]) -> String {
    let mut sorted: Vec<&PackageFile> = found.iter().collect();
    sorted.sort_by(|one, two| one.path.cmp(&two.path));
    let bytes: Vec<u8> =
        sorted.iter().flat_map(|file| [file.path.as_bytes(), &[0], file.bytes(), &[0]].concat()).collect();
    files::digest_bytes(&bytes)
}
