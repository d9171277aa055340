//! A bill of materials of installed skills: CycloneDX 1.6.
//!
//! The document is the same for the same lock file: it has no time and no random number.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::error::PackageError;
use crate::files::digest_bytes;
use crate::lock::InstalledSkill;
use crate::scope::InstallScope;

/// Builds the document of the named installed skills, or of all. `version` is that of this program.
pub fn build_sbom(names: &[String], scope: &InstallScope, version: &str) -> Result<Value, PackageError> {
    let lock = scope.read_lock_file()?;
    let names = if names.is_empty() { lock.skill_names() } else { names.to_vec() };
    let mut skills = BTreeMap::new();
    for name in names {
        let skill = scope.find_installed(&lock, &name)?;
        skills.insert(name, skill);
    }
    let components: Vec<Value> = skills.iter().map(|(name, skill)| build_component(name, skill)).collect();
    let dependencies: Vec<Value> = skills
        .iter()
        .map(|(name, skill)| {
            let needs = skills.iter().filter(|(_, other)| other.required_by.contains(name));
            let needs: Vec<String> = needs.map(|(other, about)| reference(other, about)).collect();
            json!({ "ref": reference(name, skill), "dependsOn": needs })
        })
        .collect();
    let serial = serial_number(&json!(components).to_string());
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": serial,
        "version": 1,
        "metadata": {
            "tools": { "components": [{ "type": "application", "name": "rep", "version": version }] },
            "component": { "type": "application", "bom-ref": "installed-skills", "name": format!("{} skills", scope.name()) },
        },
        "components": components,
        "dependencies": dependencies,
    }))
}

/// Returns a number that depends on the content only, in the form of a UUID of version 8.
fn serial_number(content: &str) -> String {
    let digest = digest_bytes(content.as_bytes());
    let hex = digest.trim_start_matches("sha256:");
    format!("urn:uuid:{}-{}-8{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

fn reference(name: &str, skill: &InstalledSkill) -> String {
    let version = skill.version.as_ref().map(|version| format!("@{version}")).unwrap_or_default();
    format!("skill:{name}{version}")
}

fn build_component(name: &str, skill: &InstalledSkill) -> Value {
    let mut fields = Map::new();
    let mut add = |key: &str, value: Value| drop(fields.insert(key.to_owned(), value));
    add("type", json!("data"));
    add("bom-ref", json!(reference(name, skill)));
    add("name", json!(name));
    if let Some(version) = &skill.version {
        add("version", json!(version));
    }
    let is_hash = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digest = skill.digest.trim_start_matches("sha256:");
    let hash =
        Some(digest).filter(|hash| is_hash(hash)).or(Some(skill.computed_hash.as_str()).filter(|hash| is_hash(hash)));
    if let Some(hash) = hash {
        add("hashes", json!([{ "alg": "SHA-256", "content": hash }]));
    }
    if let Some(purl) = package_url(name, skill) {
        add("purl", json!(purl));
    }
    if let Some(url) = skill.origin.url.as_ref().filter(|url| is_address(url)) {
        add("externalReferences", json!([{ "type": "distribution", "url": url }]));
    }
    let origin = &skill.origin;
    let signature = skill.signature.as_ref();
    let properties = [
        ("rep:sourceType", Some(&origin.kind)),
        ("rep:source", Some(&origin.source)),
        ("rep:ref", origin.reference.as_ref()),
        ("rep:commit", origin.commit.as_ref()),
        ("rep:manifest", origin.manifest.as_ref()),
        ("rep:signature", signature.map(|one| &one.kind)),
        ("rep:signer", signature.and_then(|one| one.signer.as_ref())),
        ("rep:computedHash", Some(&skill.computed_hash)),
    ];
    let present = properties.into_iter().filter_map(|(key, value)| Some((key, value?)));
    let present: Vec<Value> = present
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| json!({ "name": key, "value": value }))
        .collect();
    add("properties", json!(present));
    let files: Vec<Value> = skill
        .files
        .iter()
        .filter_map(|(path, mark)| {
            let hash = mark.trim_start_matches("sha256:").split(' ').next().filter(|hash| is_hash(hash))?;
            let own = format!("{}#{path}", reference(name, skill));
            Some(json!({ "type": "file", "bom-ref": own, "name": path, "hashes": [{ "alg": "SHA-256", "content": hash }] }))
        })
        .collect();
    if !files.is_empty() {
        add("components", json!(files));
    }
    Value::Object(fields)
}

/// Whether a text is a URL without characters that the schema forbids.
fn is_address(text: &str) -> bool {
    text.contains("://") && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte))
}

/// Returns the package URL of a skill from GitHub or a registry.
fn package_url(name: &str, skill: &InstalledSkill) -> Option<String> {
    let origin = &skill.origin;
    let encode = |text: &str| {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            })
            .collect::<String>()
    };
    match origin.kind.as_str() {
        "github" => {
            let (owner, repository) = origin.source.split_once('/')?;
            let folder = origin.skill_path.as_deref().and_then(|path| path.rsplit_once('/')).map(|(folder, _)| folder);
            let path = folder.map(|folder| {
                let parts: Vec<String> = folder.split('/').map(encode).collect();
                format!("#{}", parts.join("/"))
            });
            let commit = origin.commit.as_ref().map(|commit| format!("@{}", encode(commit))).unwrap_or_default();
            let (owner, repository) = (encode(&owner.to_lowercase()), encode(&repository.to_lowercase()));
            Some(format!("pkg:github/{owner}/{repository}{commit}{}", path.unwrap_or_default()))
        }
        "oci" => {
            let digest = encode(origin.manifest.as_deref()?);
            let address = encode(&origin.source.to_lowercase());
            let last = encode(&origin.source.rsplit('/').next().unwrap_or(name).to_lowercase());
            Some(format!("pkg:oci/{last}@{digest}?repository_url={address}"))
        }
        _ => None,
    }
}
