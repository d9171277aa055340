//! Pushes skills to an OCI registry.

use std::sync::Arc;

use rep_model::Skill;
use rep_net::oci::{INDEX_TYPE, MANIFEST_TYPE, OciDescriptor, OciReference, OciRepository, OciSelector, is_tag};
use rep_signature::PrivateKey;

pub use crate::artifact::SkillArtifact;
use crate::artifact::build_collection;
use crate::client::{SourceAction, SourceClient};
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::signature::sign_artifact;

/// A skill or a collection that was pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedArtifact {
    /// The name of the skill or the collection.
    pub name: String,
    /// Where it is: `oci://HOST/REPOSITORY:TAG`.
    pub reference: String,
    /// The digest of its manifest.
    pub digest: String,
    /// Whether it was signed.
    pub is_signed: bool,
}

/// Options for pushing.
#[derive(Clone, Debug, Default)]
pub struct PushOptions {
    /// The name of the collection that the skills become, if they become one.
    pub collection: Option<String>,
    /// The time that artifacts show.
    pub created: String,
    /// The key that signs what is pushed.
    pub key: Option<Arc<PrivateKey>>,
}

/// Pushes skills. One skill gets the repository of the target; several get one below it each, or become a collection in
/// it. Without a tag, a skill's version is its tag.
pub fn push_skills(
    skills: &[SkillArtifact],
    target: &OciReference,
    options: &PushOptions,
    client: &SourceClient,
) -> Result<Vec<PushedArtifact>, PackageError> {
    let refused = |reason: String| PackageError::new(PackageErrorCode::RefusedSource, reason);
    let tag = match &target.selector {
        None => None,
        Some(OciSelector::Tag(tag)) => Some(tag.clone()),
        Some(OciSelector::Digest(_) | OciSelector::Range(_)) => {
            return Err(refused(format!("`{target}` has no tag; write `oci://HOST/REPOSITORY:TAG`")));
        }
    };
    if let Some(name) = &options.collection {
        return push_collection(name, skills, &target.repository, tag.as_deref(), options, client).map(|one| vec![one]);
    }
    let mut pushed = Vec::new();
    for skill in skills {
        let repository = if skills.len() == 1 {
            target.repository.clone()
        } else {
            OciRepository::parse(&format!("{}/{}", target.repository, skill.name)).map_err(refused)?
        };
        let tag = tag.clone().or_else(|| version_tag(skill)).unwrap_or_else(|| "latest".to_owned());
        push_skill(skill, &repository, &tag, client)?;
        sign_manifest(MANIFEST_TYPE, &skill.manifest, &repository, options, client)?;
        pushed.push(PushedArtifact {
            name: skill.name.clone(),
            reference: format!("{repository}:{tag}"),
            digest: skill.digest(),
            is_signed: options.key.is_some(),
        });
    }
    Ok(pushed)
}

/// Returns the version of a skill as a tag, which cannot contain `+`.
fn version_tag(skill: &SkillArtifact) -> Option<String> {
    skill.version.as_ref().map(|version| version.replace('+', "_")).filter(|tag| is_tag(tag))
}

fn push_skill(
    skill: &SkillArtifact,
    repository: &OciRepository,
    reference: &str,
    client: &SourceClient,
) -> Result<(), PackageError> {
    let registries = client.registries(repository)?;
    // A registry refuses a manifest whose content it does not have, even if the manifest contains it.
    for blob in [&skill.config, &skill.layer] {
        registries.push_blob(repository, blob)?;
    }
    registries.push_manifest(repository, reference, &skill.manifest)?;
    client.record(SourceAction::Push, &repository.to_string(), &skill.digest(), "")
}

/// Pushes all skills into the repository of the collection, because registries refuse an index of manifests that are
/// elsewhere. The index comes last, so that readers see the old collection or the new one.
fn push_collection(
    name: &str,
    skills: &[SkillArtifact],
    repository: &OciRepository,
    tag: Option<&str>,
    options: &PushOptions,
    client: &SourceClient,
) -> Result<PushedArtifact, PackageError> {
    for skill in skills {
        push_skill(skill, repository, &skill.digest(), client)?;
        sign_manifest(MANIFEST_TYPE, &skill.manifest, repository, options, client)?;
    }
    let address = format!("{}/{}", repository.registry, repository.name);
    let index = build_collection(name, skills, &address, &options.created);
    let tag = tag.unwrap_or("latest");
    client.registries(repository)?.push_manifest(repository, tag, &index)?;
    client.record(SourceAction::Push, &repository.to_string(), &files::digest_bytes(&index), "")?;
    sign_manifest(INDEX_TYPE, &index, repository, options, client)?;
    Ok(PushedArtifact {
        name: name.to_owned(),
        reference: format!("{repository}:{tag}"),
        digest: files::digest_bytes(&index),
        is_signed: options.key.is_some(),
    })
}

/// Signs a manifest that was pushed, if there is a key.
fn sign_manifest(
    media_type: &str,
    manifest: &[u8],
    repository: &OciRepository,
    options: &PushOptions,
    client: &SourceClient,
) -> Result<(), PackageError> {
    let Some(key) = &options.key else { return Ok(()) };
    let descriptor = OciDescriptor::for_content(media_type, manifest);
    sign_artifact(client.registries(repository)?, repository, &descriptor, key, &options.created)?;
    Ok(())
}

/// Builds the artifact of a skill that was read and checked for packing.
pub fn build_artifact(packed: &crate::pack::SkillToPack, created: &str) -> Result<SkillArtifact, PackageError> {
    let skill: &Skill = &packed.skill;
    SkillArtifact::build(&packed.name, skill, &packed.files, created)
}
