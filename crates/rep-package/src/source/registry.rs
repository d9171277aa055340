//! Loads skills from OCI registries.
//!
//! A manifest with one layer is a skill. An index is a collection of skills, or one skill for several platforms if all its
//! manifests share their layer. Anything else is refused.

use rep_net::oci::{
    FetchedManifest, OciDescriptor, OciManifest, OciReference, OciRepository, OciSelector, check_digest,
};
use semver::Version;

use super::recorded::SourceMoment;
use super::{OfferedSkill, SourceMember, find_member};
use crate::artifact::{COLLECTION_TYPE, NAME_ANNOTATION, REFERENCE_ANNOTATIONS, read_layer};
use crate::client::{SourceAction, SourceClient};
use crate::error::{PackageError, PackageErrorCode};
use crate::lock::InstallOrigin;
use crate::requirement::SkillRequirement;
use crate::version_range::{VersionRange, parse_version};

/// The tag that is meant without one.
const DEFAULT_TAG: &str = "latest";

/// An artifact that was found, and how.
struct FoundArtifact {
    repository: OciRepository,
    manifest: FetchedManifest,
    /// The tag, or the digest if that was asked for.
    reference: String,
    /// The range that was asked for.
    wanted: Option<String>,
}

/// Loads the skills of an artifact. `wanted` are the requested names; empty means all.
pub(super) fn load_from_registry(
    reference: &OciReference,
    wanted: &[String],
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<SourceMember>, PackageError> {
    let found = find_artifact(reference, client)?;
    load_artifact(&found, wanted, client, warn)
}

/// Loads the skills of a manifest that a tag means.
pub(crate) fn load_pulled(
    repository: &OciRepository,
    tag: &str,
    manifest: FetchedManifest,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<OfferedSkill>, PackageError> {
    let found = FoundArtifact { repository: repository.clone(), manifest, reference: tag.to_owned(), wanted: None };
    load_artifact(&found, &[], client, warn)?.into_iter().map(|member| member.skill).collect()
}

/// Loads a skill from the registry that the lock file records. Returns `None` if a collection no longer has it.
pub(super) fn load_recorded(
    name: &str,
    origin: &InstallOrigin,
    moment: SourceMoment,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Option<OfferedSkill>, PackageError> {
    let repository = recorded_repository(origin)?;
    let selector = match (moment, &origin.manifest, &origin.wanted, &origin.reference) {
        (SourceMoment::Recorded, Some(digest), ..) => Some(OciSelector::Digest(digest.clone())),
        (_, _, Some(range), _) => Some(OciSelector::Range(range.clone())),
        (_, _, None, Some(reference)) if check_digest(reference).is_ok() => {
            Some(OciSelector::Digest(reference.clone()))
        }
        (_, _, None, Some(reference)) => Some(OciSelector::Tag(reference.clone())),
        (_, _, None, None) => None,
    };
    if let Some(OciSelector::Tag(tag)) = &selector
        && !rep_net::oci::is_tag(tag)
    {
        let message = format!("`{}` is not a tag", tag.escape_debug());
        return Err(PackageError::new(PackageErrorCode::RefusedSource, message));
    }
    let mut found = find_artifact(&OciReference { repository, selector }, client)?;
    // What is recorded stays what was asked for.
    if let Some(reference) = &origin.reference
        && moment == SourceMoment::Recorded
    {
        found.reference.clone_from(reference);
        found.wanted.clone_from(&origin.wanted);
    }
    let wanted = [name.to_owned()];
    find_member(load_artifact(&found, &wanted, client, warn)?, name)
}

/// Loads a skill that another one requires: from the same collection, or from the repository beside it with its name.
pub(super) fn load_sibling(
    origin: &InstallOrigin,
    requirement: &SkillRequirement,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Option<OfferedSkill>, PackageError> {
    let repository = recorded_repository(origin)?;
    let same = OciReference {
        repository: repository.clone(),
        selector: origin.reference.as_ref().map(|reference| match check_digest(reference) {
            Ok(_) => OciSelector::Digest(reference.clone()),
            Err(_) => OciSelector::Tag(reference.clone()),
        }),
    };
    let found = find_artifact(&same, client)?;
    if parse_manifest(&found)?.artifact_type.as_deref() == Some(COLLECTION_TYPE) {
        let wanted = [requirement.name.clone()];
        if let Some(one) = find_member(load_artifact(&found, &wanted, client, warn)?, &requirement.name)? {
            return Ok(Some(one));
        }
    }
    let Ok(sibling) = repository.sibling(&requirement.name) else { return Ok(None) };
    let selector =
        (requirement.range != VersionRange::any()).then(|| OciSelector::Range(requirement.range.to_string()));
    match load_from_registry(&OciReference { repository: sibling, selector }, &[], client, warn) {
        Ok(members) => find_member(members, &requirement.name),
        Err(error) if matches!(error.code, PackageErrorCode::UnknownSource | PackageErrorCode::Unauthorized) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns the repository of an entry in the lock file, which is not trusted.
fn recorded_repository(origin: &InstallOrigin) -> Result<OciRepository, PackageError> {
    // Only the address with its scheme is used: a name without a dot could mean something else to another tool.
    let url = origin.url.as_deref().filter(|url| url.starts_with(rep_net::oci::OCI_SCHEME)).ok_or_else(|| {
        PackageError::new(PackageErrorCode::RefusedSource, "the lock file has no `sourceUrl` with `oci://` for it")
    })?;
    OciRepository::parse(url).map_err(|reason| PackageError::new(PackageErrorCode::RefusedSource, reason))
}

/// Finds the manifest that a reference means.
fn find_artifact(reference: &OciReference, client: &SourceClient) -> Result<FoundArtifact, PackageError> {
    let repository = &reference.repository;
    let registries = client.registries(repository)?;
    let (tag, wanted) = match &reference.selector {
        Some(OciSelector::Tag(tag)) => (tag.clone(), None),
        Some(OciSelector::Digest(digest)) => (digest.clone(), None),
        Some(OciSelector::Range(range)) => (find_newest(repository, range, client)?, Some(range.clone())),
        None => match registries.fetch_manifest(repository, DEFAULT_TAG) {
            Ok(manifest) => {
                let reference = DEFAULT_TAG.to_owned();
                return Ok(FoundArtifact { repository: repository.clone(), manifest, reference, wanted: None });
            }
            Err(error) if error.kind == rep_net::oci::OciErrorKind::NotFound => {
                (find_newest(repository, "*", client)?, Some("*".to_owned()))
            }
            Err(error) => return Err(error.into()),
        },
    };
    let manifest = registries.fetch_manifest(repository, &tag)?;
    Ok(FoundArtifact { repository: repository.clone(), manifest, reference: tag, wanted })
}

/// Returns the tag of the highest version in a range.
fn find_newest(repository: &OciRepository, range: &str, client: &SourceClient) -> Result<String, PackageError> {
    let parsed =
        VersionRange::parse(range).map_err(|reason| PackageError::new(PackageErrorCode::RefusedSource, reason))?;
    let tags = client.registries(repository)?.list_tags(repository)?;
    let versions = tags.iter().filter_map(|tag| Some((parse_tag(tag)?, tag)));
    let fitting = versions.filter(|(version, _)| parsed.contains(version));
    let newest = fitting.max_by(|one, two| one.0.cmp_precedence(&two.0).then_with(|| one.1.cmp(two.1)));
    newest.map(|(_, tag)| tag.clone()).ok_or_else(|| {
        let message = format!("`{repository}` has no tag `{DEFAULT_TAG}`, and none that is a version in `{range}`");
        PackageError::new(PackageErrorCode::UnknownSource, message)
    })
}

/// Parses a tag as a version. Tags write `_` for the `+` of build metadata.
fn parse_tag(tag: &str) -> Option<Version> {
    tag.starts_with(|letter: char| letter.is_ascii_digit() || letter == 'v')
        .then(|| parse_version(&tag.replacen('_', "+", 1)))
        .flatten()
}

fn parse_manifest(found: &FoundArtifact) -> Result<OciManifest, PackageError> {
    found.manifest.parse().map_err(|error| {
        PackageError::new(PackageErrorCode::InvalidArtifact, format!("`{}`: {}", found.repository, error.message))
    })
}

fn load_artifact(
    found: &FoundArtifact,
    wanted: &[String],
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<SourceMember>, PackageError> {
    let manifest = parse_manifest(found)?;
    let Some(entries) = &manifest.manifests else {
        return Ok(vec![load_member(found, &found.manifest.digest, &manifest, client)]);
    };
    if manifest.artifact_type.as_deref() == Some(COLLECTION_TYPE) || entries.iter().any(|one| name_of(one).is_some()) {
        return Ok(load_collection(found, entries, wanted, client, warn));
    }
    load_platforms(found, entries, client)
}

fn name_of(entry: &OciDescriptor) -> Option<&String> {
    entry.annotations.get(NAME_ANNOTATION)
}

/// Loads the skills of a collection. An entry whose name is not wanted is not fetched.
fn load_collection(
    found: &FoundArtifact,
    entries: &[OciDescriptor],
    wanted: &[String],
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Vec<SourceMember> {
    let is_named = |name: &String| entries.iter().any(|entry| name_of(entry) == Some(name));
    let has_all = !wanted.is_empty() && wanted.iter().all(is_named);
    let mut offered = Vec::new();
    for entry in entries.iter().filter(|entry| !has_all || name_of(entry).is_some_and(|name| wanted.contains(name))) {
        let parsed = fetch_entry(found, entry, client).and_then(|own| Ok((parse_manifest(&own)?, own)));
        match parsed {
            Ok((manifest, _)) if manifest.manifests.is_some() => {
                warn(&format!("skipped an entry of `{}`: it is an index", found.repository));
            }
            Ok((manifest, own)) => offered.push(load_member(&own, &entry.digest, &manifest, client)),
            Err(error) => offered.push(SourceMember::new(name_of(entry).unwrap_or(&entry.digest), Err(error))),
        }
    }
    offered
}

/// Fetches an entry of a collection: from its repository, or from the one that the entry names in the same registry.
fn fetch_entry(
    found: &FoundArtifact,
    entry: &OciDescriptor,
    client: &SourceClient,
) -> Result<FoundArtifact, PackageError> {
    let registries = client.registries(&found.repository)?;
    let (mut repository, mut reference) = (found.repository.clone(), found.reference.clone());
    let manifest = match registries.fetch_manifest(&repository, &entry.digest) {
        Err(error) if error.kind == rep_net::oci::OciErrorKind::NotFound => {
            let named = REFERENCE_ANNOTATIONS.iter().find_map(|key| entry.annotations.get(*key));
            let other = named.and_then(|named| OciReference::parse(named).ok());
            let other = other.filter(|other| other.repository.registry == repository.registry).ok_or(error)?;
            repository = other.repository;
            reference.clone_from(&entry.digest);
            client.registries(&repository)?.fetch_manifest(&repository, &entry.digest)?
        }
        manifest => manifest?,
    };
    Ok(FoundArtifact { repository, manifest, reference, wanted: found.wanted.clone() })
}

/// Loads a skill that has the same layer for every platform.
fn load_platforms(
    found: &FoundArtifact,
    entries: &[OciDescriptor],
    client: &SourceClient,
) -> Result<Vec<SourceMember>, PackageError> {
    let mut first: Option<OciManifest> = None;
    for entry in entries {
        let own = fetch_entry(found, entry, client)?;
        let manifest = parse_manifest(&own)?;
        let digests =
            |manifest: &OciManifest| manifest.layers.iter().map(|layer| layer.digest.clone()).collect::<Vec<String>>();
        match &first {
            Some(known) if digests(known) != digests(&manifest) => {
                let types: Vec<&str> =
                    entries.iter().map(|entry| entry.artifact_type.as_deref().unwrap_or(&entry.media_type)).collect();
                let message = format!(
                    "`{}` is an index of {} different manifests ({}), not of skills",
                    found.repository,
                    entries.len(),
                    types.join(", ")
                );
                return Err(PackageError::new(PackageErrorCode::InvalidArtifact, message));
            }
            Some(_) => {}
            None => first = Some(manifest),
        }
    }
    let manifest = first.ok_or_else(|| {
        PackageError::new(PackageErrorCode::NotASkill, format!("`{}` is an empty index", found.repository))
    })?;
    Ok(vec![load_member(found, &found.manifest.digest, &manifest, client)])
}

fn load_member(found: &FoundArtifact, digest: &str, manifest: &OciManifest, client: &SourceClient) -> SourceMember {
    let name = manifest.annotations.get(NAME_ANNOTATION).cloned();
    SourceMember::new(name.unwrap_or_else(|| digest.to_owned()), load_skill(found, digest, manifest, client))
}

/// Loads the skill of a manifest.
fn load_skill(
    found: &FoundArtifact,
    digest: &str,
    manifest: &OciManifest,
    client: &SourceClient,
) -> Result<OfferedSkill, PackageError> {
    let shown = format!("{}@{digest}", found.repository);
    let [layer] = manifest.layers.as_slice() else {
        let message = format!("`{shown}` has {} layers; a skill has one", manifest.layers.len());
        return Err(PackageError::new(PackageErrorCode::InvalidArtifact, message));
    };
    let registries = client.registries(&found.repository)?;
    let fetch = || registries.fetch_blob(&found.repository, layer, rep_archive::ARCHIVE_BYTES_MAX);
    let bytes = client.show_progress(&shown, fetch)?;
    client.record(SourceAction::Fetch, &found.repository.to_string(), digest, "")?;
    let (files, folder) = read_layer(&bytes, &shown)?;
    let named = manifest.annotations.get(NAME_ANNOTATION).cloned();
    let last = found.repository.name.rsplit('/').next().unwrap_or_default();
    let fallback = folder.or(named).unwrap_or_else(|| last.to_owned());
    let origin = InstallOrigin {
        kind: "oci".to_owned(),
        source: format!("{}/{}", found.repository.registry, found.repository.name),
        url: Some(found.repository.to_string()),
        reference: Some(found.reference.clone()),
        skill_path: Some("SKILL.md".to_owned()),
        manifest: Some(digest.to_owned()),
        wanted: found.wanted.clone(),
        ..InstallOrigin::default()
    };
    OfferedSkill::new(&fallback, files, origin)
}
