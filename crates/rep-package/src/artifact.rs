//! Skills as artifacts of OCI registries.
//!
//! One layout is written: that of the Agent Skills OCI artifacts specification 0.1, with the annotations by which `oras
//! pull` lays down a ready directory. The same skill always gives the same bytes. Every layout with one layer that holds
//! one skill is read, whatever its media types say.

use std::collections::BTreeMap;

use rep_model::frontmatter::split_allowed_tools;
use rep_model::provenance::DeclaredProvenance;
use rep_model::{Frontmatter, Skill};
use rep_net::oci::{OciDescriptor, OciManifest};
use serde_json::{Map, Value, json};

use crate::atomic_dir::PackageFile;
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::requirement::find_declared_version;

/// The type of a skill's manifest.
pub(crate) const SKILL_TYPE: &str = "application/vnd.agentskills.skill.v1";
/// The type of an index of skills.
pub(crate) const COLLECTION_TYPE: &str = "application/vnd.agentskills.collection.v1";
const CONFIG_TYPE: &str = "application/vnd.agentskills.skill.config.v1+json";
const LAYER_TYPE: &str = "application/vnd.agentskills.skill.content.v1.tar+gzip";
/// The annotation with a skill's name.
pub(crate) const NAME_ANNOTATION: &str = "io.agentskills.skill.name";
/// The annotation of a collection's entry with the address of the skill.
pub(crate) const REFERENCE_ANNOTATIONS: [&str; 2] = ["io.agentskills.skill.ref", "org.opencontainers.image.ref.name"];
/// The annotation with a collection's name.
const COLLECTION_ANNOTATION: &str = "io.agentskills.collection.name";
const VERSION_ANNOTATION: &str = "org.opencontainers.image.version";
/// The maximum length of an annotation.
const ANNOTATION_CHARS_MAX: usize = 1024;

/// A skill as it is pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillArtifact {
    /// The skill's name.
    pub name: String,
    /// Its declared version.
    pub version: Option<String>,
    /// The manifest.
    pub manifest: Vec<u8>,
    /// The configuration.
    pub config: Vec<u8>,
    /// The layer with the files.
    pub layer: Vec<u8>,
}

impl SkillArtifact {
    /// Builds the artifact of a skill from its files. `created` is the time that it shows, which must not change between
    /// two pushes of the same skill.
    pub fn build(
        name: &str,
        skill: &Skill,
        packed: &[(String, Vec<u8>, bool)],
        created: &str,
    ) -> Result<Self, PackageError> {
        let failed =
            |error: std::io::Error| PackageError::new(PackageErrorCode::Unwritable, format!("`{name}`: {error}"));
        let tar = rep_archive::write_layer_tar(packed).map_err(failed)?;
        let layer = rep_archive::compress_gzip(&tar).map_err(failed)?;
        let version = find_declared_version(skill);
        let config = build_config(name, version.as_deref(), skill.frontmatter()).to_string().into_bytes();
        let mut layer_descriptor = OciDescriptor::for_content(LAYER_TYPE, &layer);
        layer_descriptor.annotations = [
            ("org.opencontainers.image.title".to_owned(), name.to_owned()),
            ("io.deis.oras.content.unpack".to_owned(), "true".to_owned()),
            ("io.deis.oras.content.digest".to_owned(), files::digest_bytes(&tar)),
        ]
        .into();
        let manifest = OciManifest {
            artifact_type: Some(SKILL_TYPE.to_owned()),
            config: Some(OciDescriptor {
                data: Some(config.clone()),
                ..OciDescriptor::for_content(CONFIG_TYPE, &config)
            }),
            layers: vec![layer_descriptor],
            manifests: None,
            subject: None,
            annotations: build_annotations(name, version.as_deref(), skill.frontmatter(), created),
        };
        Ok(Self { name: name.to_owned(), version, manifest: manifest.to_bytes(), config, layer })
    }

    /// Returns the digest of the manifest.
    pub fn digest(&self) -> String {
        files::digest_bytes(&self.manifest)
    }
}

/// Builds the index of a collection. `reference` is the repository that has all the skills.
pub(crate) fn build_collection(name: &str, skills: &[SkillArtifact], reference: &str, created: &str) -> Vec<u8> {
    let entry = |skill: &SkillArtifact| {
        let mut descriptor = OciDescriptor {
            artifact_type: Some(SKILL_TYPE.to_owned()),
            ..OciDescriptor::for_content(rep_net::oci::MANIFEST_TYPE, &skill.manifest)
        };
        let own = format!("{reference}@{}", descriptor.digest);
        descriptor.annotations =
            [(NAME_ANNOTATION.to_owned(), skill.name.clone()), (REFERENCE_ANNOTATIONS[0].to_owned(), own)].into();
        let version = skill.version.as_ref().map(|version| (VERSION_ANNOTATION.to_owned(), version.clone()));
        descriptor.annotations.extend(version);
        descriptor
    };
    let mut sorted: Vec<&SkillArtifact> = skills.iter().collect();
    sorted.sort_by(|one, two| one.name.cmp(&two.name));
    let index = OciManifest {
        artifact_type: Some(COLLECTION_TYPE.to_owned()),
        config: None,
        layers: Vec::new(),
        manifests: Some(sorted.into_iter().map(entry).collect()),
        subject: None,
        annotations: [
            (COLLECTION_ANNOTATION.to_owned(), name.to_owned()),
            ("org.opencontainers.image.created".to_owned(), created.to_owned()),
        ]
        .into(),
    };
    index.to_bytes()
}

fn build_config(name: &str, version: Option<&str>, front: Option<&Frontmatter>) -> Value {
    let text = |key: &str| front.and_then(|front| front.get_text(key)).map(|text| text.value);
    let mut fields = Map::new();
    let mut add = |key: &str, value: Option<Value>| fields.extend(value.map(|value| (key.to_owned(), value)));
    add("schemaVersion", Some(json!("1")));
    add("name", Some(json!(name)));
    add("version", version.map(|version| json!(version)));
    add("description", text("description").map(|text| json!(text)));
    add("license", text("license").map(|text| json!(text)));
    add("compatibility", text("compatibility").map(|text| json!(text)));
    add("allowedTools", text("allowed-tools").map(|tools| json!(split_allowed_tools(tools))));
    let metadata = front.and_then(|front| front.get("metadata")).and_then(rep_model::yaml::YamlNode::entries);
    let metadata: Map<String, Value> = metadata
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((entry.key.text()?.to_owned(), json!(entry.value.text()?))))
        .collect();
    add("metadata", (!metadata.is_empty()).then(|| Value::Object(metadata)));
    Value::Object(fields)
}

fn build_annotations(
    name: &str,
    version: Option<&str>,
    front: Option<&Frontmatter>,
    created: &str,
) -> BTreeMap<String, String> {
    let text = |key: &str| front.and_then(|front| front.get_text(key)).map(|text| text.value.to_owned());
    let provenance = front.and_then(DeclaredProvenance::from_frontmatter).unwrap_or_default();
    let all = [
        (NAME_ANNOTATION, Some(name.to_owned())),
        ("org.opencontainers.image.title", Some(name.to_owned())),
        (VERSION_ANNOTATION, version.map(str::to_owned)),
        ("org.opencontainers.image.description", text("description")),
        ("org.opencontainers.image.licenses", text("license")),
        ("org.opencontainers.image.source", provenance.source_repo),
        ("org.opencontainers.image.revision", provenance.source_commit),
        ("org.opencontainers.image.created", Some(created.to_owned())),
    ];
    let shorten = |text: String| text.chars().take(ANNOTATION_CHARS_MAX).collect::<String>();
    all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), shorten(value?)))).collect()
}

/// Reads the files of a skill from a layer. Returns them and the name of their directory, if there is one.
pub(crate) fn read_layer(bytes: &[u8], shown: &str) -> Result<(Vec<PackageFile>, Option<String>), PackageError> {
    let invalid = |reason: String| PackageError::new(PackageErrorCode::InvalidArtifact, format!("`{shown}`: {reason}"));
    let (entries, top) = rep_archive::open_layer(bytes).map_err(|error| invalid(error.to_string()))?;
    let found: Vec<PackageFile> = entries.into_iter().map(PackageFile::from).collect();
    let mut skills = files::split_into_skills(found);
    match (skills.pop(), skills.len()) {
        (Some((folder, files)), 0) => {
            let name = folder.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned).or(top);
            Ok((files, name))
        }
        (None, _) => {
            Err(PackageError::new(PackageErrorCode::NotASkill, format!("`{shown}` does not contain a SKILL.md")))
        }
        (Some(_), more) => Err(invalid(format!("its layer contains {} skills instead of one", more + 1))),
    }
}
