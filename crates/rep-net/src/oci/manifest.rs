//! Manifests and indexes of the OCI image format, as registries store them.
//!
//! They are untrusted input: sizes and counts are limited, and digests must have the right form. What the media types say
//! is a hint; what counts is the digest of the content.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use super::reference::check_digest;

/// The largest manifest.
pub const MANIFEST_BYTES_MAX: u64 = 4 << 20;
/// The maximum number of layers, or of manifests in an index.
const DESCRIPTORS_MAX: usize = 1000;
/// The maximum size of content inside a descriptor.
const DATA_BYTES_MAX: usize = 1 << 20;

/// The media type of a manifest.
pub const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
/// The media type of an index.
pub const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of an empty configuration.
pub const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
/// Docker's older names for the same two.
pub(super) const DOCKER_TYPES: [&str; 2] = [
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];

/// The address of content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OciDescriptor {
    /// What the content is said to be.
    pub media_type: String,
    /// The digest of the content.
    pub digest: String,
    /// The size of the content.
    pub size_bytes: u64,
    /// The type of the artifact, in an index. It is often wrong.
    pub artifact_type: Option<String>,
    /// Names and values.
    pub annotations: BTreeMap<String, String>,
    /// The content itself, if it is inlined.
    pub data: Option<Vec<u8>>,
}

/// A manifest or an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciManifest {
    /// The type of the artifact.
    pub artifact_type: Option<String>,
    /// The configuration; `None` for an index.
    pub config: Option<OciDescriptor>,
    /// The layers; empty for an index.
    pub layers: Vec<OciDescriptor>,
    /// The manifests of an index; `None` for a manifest.
    pub manifests: Option<Vec<OciDescriptor>>,
    /// The manifest that this one refers to.
    pub subject: Option<OciDescriptor>,
    /// Names and values.
    pub annotations: BTreeMap<String, String>,
}

impl OciDescriptor {
    /// Describes content.
    pub fn for_content(media_type: &str, bytes: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: super::digest_bytes(bytes),
            size_bytes: bytes.len() as u64,
            ..Self::default()
        }
    }

    /// Returns the descriptor as JSON.
    pub fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("mediaType".to_owned(), json!(self.media_type));
        fields.extend(self.artifact_type.as_ref().map(|kind| ("artifactType".to_owned(), json!(kind))));
        fields.insert("digest".to_owned(), json!(self.digest));
        fields.insert("size".to_owned(), json!(self.size_bytes));
        fields.extend(self.data.as_ref().map(|data| ("data".to_owned(), json!(BASE64_STANDARD.encode(data)))));
        if !self.annotations.is_empty() {
            fields.insert("annotations".to_owned(), json!(self.annotations));
        }
        Value::Object(fields)
    }

    fn parse(value: &Value, what: &str) -> Result<Self, String> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let digest = text("digest").ok_or_else(|| format!("{what} has no digest"))?;
        check_digest(&digest).map_err(|reason| format!("{what}: {reason}"))?;
        let size_bytes =
            value.get("size").and_then(Value::as_u64).ok_or_else(|| format!("{what} has no valid size"))?;
        let data = match value.get("data").and_then(Value::as_str) {
            Some(data) if data.len() > DATA_BYTES_MAX => return Err(format!("{what} has too much content in it")),
            Some(data) => {
                let data = BASE64_STANDARD.decode(data).map_err(|_| format!("the data of {what} is not base64"))?;
                if super::digest_bytes(&data) != digest || data.len() as u64 != size_bytes {
                    return Err(format!("the data of {what} does not match its digest"));
                }
                Some(data)
            }
            None => None,
        };
        Ok(Self {
            media_type: text("mediaType").unwrap_or_default(),
            digest,
            size_bytes,
            artifact_type: text("artifactType"),
            annotations: parse_annotations(value),
            data,
        })
    }
}

fn parse_annotations(value: &Value) -> BTreeMap<String, String> {
    let entries = value.get("annotations").and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

impl OciManifest {
    /// Parses a manifest or an index. Returns a message if it is neither.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() as u64 > MANIFEST_BYTES_MAX {
            return Err(format!("the manifest is larger than {} MiB", MANIFEST_BYTES_MAX >> 20));
        }
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| format!("the manifest is not JSON: {error}"))?;
        if value.get("schemaVersion").and_then(Value::as_u64) != Some(2) {
            return Err("the manifest does not have `schemaVersion` 2".to_owned());
        }
        let list = |key: &str, what: &str| -> Result<Option<Vec<OciDescriptor>>, String> {
            let Some(items) = value.get(key) else { return Ok(None) };
            let items = items.as_array().ok_or_else(|| format!("`{key}` of the manifest is not a list"))?;
            if items.len() > DESCRIPTORS_MAX {
                return Err(format!("`{key}` of the manifest has more than {DESCRIPTORS_MAX} entries"));
            }
            items.iter().map(|item| OciDescriptor::parse(item, what)).collect::<Result<Vec<_>, _>>().map(Some)
        };
        let one = |key: &str, what: &str| {
            value.get(key).filter(|value| !value.is_null()).map(|value| OciDescriptor::parse(value, what)).transpose()
        };
        let (layers, manifests) = (list("layers", "a layer")?, list("manifests", "an entry of the index")?);
        if layers.is_some() == manifests.is_some() {
            return Err("it is neither a manifest with `layers` nor an index with `manifests`".to_owned());
        }
        Ok(Self {
            artifact_type: value.get("artifactType").and_then(Value::as_str).map(str::to_owned),
            config: one("config", "the configuration")?,
            layers: layers.unwrap_or_default(),
            manifests,
            subject: one("subject", "the subject")?,
            annotations: parse_annotations(&value),
        })
    }

    /// Returns the bytes of the manifest or index. The same content always gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut fields = Map::new();
        let mut add = |key: &str, value: Value| drop(fields.insert(key.to_owned(), value));
        add("schemaVersion", json!(2));
        add("mediaType", json!(if self.manifests.is_some() { INDEX_TYPE } else { MANIFEST_TYPE }));
        if let Some(kind) = &self.artifact_type {
            add("artifactType", json!(kind));
        }
        let list = |all: &[OciDescriptor]| Value::Array(all.iter().map(OciDescriptor::to_json).collect());
        if let Some(manifests) = &self.manifests {
            add("manifests", list(manifests));
        } else {
            if let Some(config) = &self.config {
                add("config", config.to_json());
            }
            add("layers", list(&self.layers));
        }
        if let Some(subject) = &self.subject {
            add("subject", subject.to_json());
        }
        if !self.annotations.is_empty() {
            add("annotations", json!(self.annotations));
        }
        Value::Object(fields).to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_comes_back_and_bad_ones_are_refused() {
        let config = OciDescriptor { data: Some(b"{}".to_vec()), ..OciDescriptor::for_content(EMPTY_TYPE, b"{}") };
        let layer = OciDescriptor::for_content("application/x", b"layer");
        let manifest = OciManifest {
            artifact_type: Some("a/b".to_owned()),
            config: Some(config),
            layers: vec![layer.clone()],
            manifests: None,
            subject: Some(layer.clone()),
            annotations: [("k".to_owned(), "v".to_owned())].into(),
        };
        assert_eq!(OciManifest::parse(&manifest.to_bytes()), Ok(manifest.clone()));
        let index = OciManifest { manifests: Some(vec![layer]), layers: Vec::new(), config: None, ..manifest };
        assert_eq!(OciManifest::parse(&index.to_bytes()), Ok(index));
        let digest = format!("sha256:{}", "0".repeat(64));
        for text in [
            String::new(),
            "{}".to_owned(),
            r#"{"schemaVersion":1,"layers":[]}"#.to_owned(),
            r#"{"schemaVersion":2}"#.to_owned(),
            r#"{"schemaVersion":2,"layers":[],"manifests":[]}"#.to_owned(),
            r#"{"schemaVersion":2,"layers":{}}"#.to_owned(),
            r#"{"schemaVersion":2,"layers":[{"digest":"sha256:../x","size":1}]}"#.to_owned(),
            format!(r#"{{"schemaVersion":2,"layers":[{{"digest":"{digest}","size":-1}}]}}"#),
            format!(r#"{{"schemaVersion":2,"layers":[{{"digest":"{digest}","size":2,"data":"e30="}}]}}"#),
        ] {
            assert!(OciManifest::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
