//! Pulls and pushes manifests, blobs and referrers, and lists tags.

use std::path::PathBuf;

use serde_json::Value;

use super::manifest::{DOCKER_TYPES, INDEX_TYPE, MANIFEST_BYTES_MAX, MANIFEST_TYPE, OciDescriptor, OciManifest};
use super::reference::check_digest;
use super::{
    OciClient, OciError, OciErrorKind, OciRepository, RegistryRequest, RepositoryAction, digest_bytes, explain_answer,
};
use crate::exchange::resolve_redirect;
use crate::response::HttpResponse;
use crate::{HttpMethod, HttpOrigin};

/// The maximum number of tags, and of pages of a list of tags.
const TAGS_MAX: usize = 20_000;
const PAGES_MAX: usize = 50;

/// A manifest with its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedManifest {
    /// The bytes, which have the digest.
    pub bytes: Vec<u8>,
    /// The digest.
    pub digest: String,
    /// What the registry says it is.
    pub media_type: String,
}

impl FetchedManifest {
    /// Parses the manifest.
    pub fn parse(&self) -> Result<OciManifest, OciError> {
        OciManifest::parse(&self.bytes).map_err(|reason| OciError::new(OciErrorKind::Invalid, reason))
    }

    /// Describes the manifest.
    pub fn to_descriptor(&self) -> OciDescriptor {
        OciDescriptor::for_content(&self.media_type, &self.bytes)
    }
}

fn mismatch(what: &str, repository: &OciRepository) -> OciError {
    OciError::new(OciErrorKind::Mismatch, format!("{what} of `{repository}` does not match its digest"))
        .with_remedy("nothing was used; report this to the registry's operator")
}

impl OciClient {
    /// Fetches a manifest by its tag or its digest. One that is cached by its digest is not fetched again.
    pub fn fetch_manifest(&self, repository: &OciRepository, reference: &str) -> Result<FetchedManifest, OciError> {
        let is_digest = check_digest(reference).is_ok();
        if is_digest && let Some(bytes) = self.read_cached(reference, MANIFEST_BYTES_MAX) {
            return Ok(describe_manifest(bytes, None));
        }
        let missing = || OciError::new(OciErrorKind::Invalid, format!("`{repository}` sent no manifest"));
        self.request_manifest(repository, reference, None)?.ok_or_else(missing)
    }

    /// Fetches a manifest by its tag, unless it is still the one with the `known` digest. Then returns `None`.
    pub fn fetch_manifest_if_changed(
        &self,
        repository: &OciRepository,
        reference: &str,
        known: Option<&str>,
    ) -> Result<Option<FetchedManifest>, OciError> {
        self.request_manifest(repository, reference, known)
    }

    fn request_manifest(
        &self,
        repository: &OciRepository,
        reference: &str,
        known: Option<&str>,
    ) -> Result<Option<FetchedManifest>, OciError> {
        let is_digest = check_digest(reference).is_ok();
        let path = format!("manifests/{reference}");
        let accept = [MANIFEST_TYPE, INDEX_TYPE, DOCKER_TYPES[0], DOCKER_TYPES[1]].join(", ");
        let mut headers = vec![("accept", accept)];
        headers.extend(known.map(|digest| ("if-none-match", format!("\"{digest}\""))));
        let answer = self.send(&RegistryRequest {
            headers,
            bytes_max: MANIFEST_BYTES_MAX,
            ..RegistryRequest::get(repository, &path)
        })?;
        if answer.status == 304 && known.is_some() {
            return Ok(None);
        }
        if answer.status != 200 {
            return Err(explain_answer(&format!("`{reference}` of `{repository}`"), repository, &answer));
        }
        let media_type =
            answer.header("content-type").map(|text| text.split(';').next().unwrap_or(text).trim().to_owned());
        let told = answer.header("docker-content-digest").map(str::to_owned);
        let manifest = describe_manifest(answer.body, media_type);
        let is_told = told.is_none_or(|told| check_digest(&told).is_err() || told == manifest.digest);
        if !is_told || (is_digest && manifest.digest != reference) {
            return Err(mismatch("the manifest", repository));
        }
        self.write_cached(&manifest.digest, &manifest.bytes);
        Ok(Some(manifest))
    }

    /// Fetches the content that a descriptor describes. Its size and digest are compared.
    pub fn fetch_blob(
        &self,
        repository: &OciRepository,
        blob: &OciDescriptor,
        bytes_max: u64,
    ) -> Result<Vec<u8>, OciError> {
        check_digest(&blob.digest).map_err(|reason| OciError::new(OciErrorKind::Invalid, reason))?;
        if blob.size_bytes > bytes_max {
            let message =
                format!("a blob of `{repository}` has {} bytes; at most {bytes_max} are read", blob.size_bytes);
            return Err(OciError::new(OciErrorKind::Invalid, message));
        }
        if let Some(data) = &blob.data {
            return Ok(data.clone());
        }
        if let Some(bytes) = self.read_cached(&blob.digest, bytes_max) {
            return Ok(bytes);
        }
        let path = format!("blobs/{}", blob.digest);
        let mirror = self.find_mirror(repository);
        let server = mirror.as_ref().unwrap_or(repository);
        let base = self.base_url(server)?;
        // A redirect and an error have content too.
        let limit = blob.size_bytes.max(64 << 10);
        let answer = self.send(&RegistryRequest {
            bytes_max: limit,
            is_observed: true,
            ..RegistryRequest::get(repository, &path)
        })?;
        let url = format!("{base}/v2/{}/{path}", server.name);
        let answer = super::follow_redirects(server, url, answer, limit, &self.options.fetch)?;
        if answer.status != 200 {
            return Err(explain_answer(&format!("the blob `{}` of `{repository}`", blob.digest), repository, &answer));
        }
        if answer.body.len() as u64 != blob.size_bytes || digest_bytes(&answer.body) != blob.digest {
            return Err(mismatch("a blob", repository));
        }
        self.write_cached(&blob.digest, &answer.body);
        Ok(answer.body)
    }

    /// Lists the tags of a repository.
    pub fn list_tags(&self, repository: &OciRepository) -> Result<Vec<String>, OciError> {
        let mut tags: Vec<String> = Vec::new();
        let mut path = "tags/list?n=1000".to_owned();
        for _ in 0..PAGES_MAX {
            let answer = self.send(&RegistryRequest::get(repository, &path))?;
            if answer.status != 200 {
                return Err(explain_answer(&format!("the list of tags of `{repository}`"), repository, &answer));
            }
            let value: Value = serde_json::from_slice(&answer.body).map_err(|_| {
                OciError::new(OciErrorKind::Invalid, format!("the list of tags of `{repository}` is not JSON"))
            })?;
            let found = value["tags"].as_array().into_iter().flatten().filter_map(Value::as_str);
            tags.extend(found.filter(|tag| super::is_tag(tag)).map(str::to_owned));
            if tags.len() > TAGS_MAX {
                let message = format!("`{repository}` has more than {TAGS_MAX} tags");
                return Err(OciError::new(OciErrorKind::Invalid, message));
            }
            let Some(next) = answer.header("link").and_then(parse_next_link) else { return Ok(tags) };
            path = format!("tags/list?{next}");
        }
        Ok(tags)
    }

    /// Lists the manifests that refer to a manifest: from the registry, or from the tag that replaces its list. What
    /// an entry says about its type is often wrong.
    pub fn list_referrers(&self, repository: &OciRepository, digest: &str) -> Result<Vec<OciDescriptor>, OciError> {
        let hex = check_digest(digest).map_err(|reason| OciError::new(OciErrorKind::Invalid, reason))?;
        let path = format!("referrers/{digest}");
        let answer = self.send(&RegistryRequest::get(repository, &path))?;
        if answer.status == 200
            && let Ok(index) = OciManifest::parse(&answer.body)
            && let Some(manifests) = index.manifests
            && !manifests.is_empty()
        {
            return Ok(manifests);
        }
        match self.fetch_manifest(repository, &format!("sha256-{hex}")) {
            Ok(index) => Ok(index.parse()?.manifests.unwrap_or_default()),
            Err(error) if error.kind == OciErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Stores a blob, unless the repository has it.
    pub fn push_blob(&self, repository: &OciRepository, bytes: &[u8]) -> Result<(), OciError> {
        let digest = digest_bytes(bytes);
        let path = format!("blobs/{digest}");
        let head = RegistryRequest {
            method: HttpMethod::Head,
            action: RepositoryAction::Push,
            ..RegistryRequest::get(repository, &path)
        };
        if self.send(&head)?.status == 200 {
            return Ok(());
        }
        let start = self.send(&push_request(repository, HttpMethod::Post, "blobs/uploads/"))?;
        self.finish_upload(repository, &start, &digest, bytes)
    }

    /// Makes a blob of one repository available in another one of the same registry, or stores it there.
    pub fn mount_blob(&self, repository: &OciRepository, from: &OciRepository, bytes: &[u8]) -> Result<(), OciError> {
        let digest = digest_bytes(bytes);
        if repository.registry != from.registry {
            return self.push_blob(repository, bytes);
        }
        let path = format!("blobs/uploads/?mount={digest}&from={}", from.name);
        let answer = self.send(&push_request(repository, HttpMethod::Post, &path))?;
        if answer.status == 201 {
            return Ok(());
        }
        self.finish_upload(repository, &answer, &digest, bytes)
    }

    fn finish_upload(
        &self,
        repository: &OciRepository,
        start: &HttpResponse,
        digest: &str,
        bytes: &[u8],
    ) -> Result<(), OciError> {
        if start.status != 202 {
            return Err(explain_answer(&format!("an upload to `{repository}`"), repository, start));
        }
        let invalid = || {
            let message = format!("`{}` names an upload address on another server", repository.registry);
            OciError::new(OciErrorKind::Invalid, message)
        };
        let base = self.base_url(repository)?;
        let location = start.header("location").ok_or_else(invalid)?;
        let url = resolve_redirect(&format!("{base}/v2/"), location).ok_or_else(invalid)?;
        let own = HttpOrigin::split_url(&base).map(|(origin, _)| origin);
        if HttpOrigin::split_url(&url).map(|(origin, _)| origin) != own {
            return Err(invalid());
        }
        let separator = if url.contains('?') { '&' } else { '?' };
        let url = format!("{url}{separator}digest={}", digest.replace(':', "%3A"));
        let answer = self.send(&RegistryRequest {
            headers: vec![("content-type", "application/octet-stream".to_owned())],
            body: Some(bytes.to_vec()),
            ..push_request(repository, HttpMethod::Put, &url)
        })?;
        if matches!(answer.status, 201 | 204) {
            return Ok(());
        }
        Err(explain_answer(&format!("an upload to `{repository}`"), repository, &answer))
    }

    /// Stores a manifest under a tag or its digest. Returns whether the registry keeps its subject's list of referrers.
    pub fn push_manifest(&self, repository: &OciRepository, reference: &str, bytes: &[u8]) -> Result<bool, OciError> {
        let kind = OciManifest::parse(bytes).map_err(|reason| OciError::new(OciErrorKind::Invalid, reason))?;
        let media_type = if kind.manifests.is_some() { INDEX_TYPE } else { MANIFEST_TYPE };
        let path = format!("manifests/{reference}");
        let answer = self.send(&RegistryRequest {
            headers: vec![("content-type", media_type.to_owned())],
            body: Some(bytes.to_vec()),
            ..push_request(repository, HttpMethod::Put, &path)
        })?;
        if !matches!(answer.status, 200..=202) {
            return Err(explain_answer(&format!("the manifest `{reference}` of `{repository}`"), repository, &answer));
        }
        let told = answer.header("docker-content-digest").filter(|told| check_digest(told).is_ok());
        if told.is_some_and(|told| told != digest_bytes(bytes)) {
            return Err(mismatch("the stored manifest", repository));
        }
        Ok(answer.header("oci-subject").is_some())
    }

    /// Stores a manifest that refers to another one. Registries that keep no list of referrers get a tag with one.
    pub fn push_referrer(&self, repository: &OciRepository, subject: &str, bytes: &[u8]) -> Result<(), OciError> {
        let hex = check_digest(subject).map_err(|reason| OciError::new(OciErrorKind::Invalid, reason))?;
        let digest = digest_bytes(bytes);
        if self.push_manifest(repository, &digest, bytes)? {
            return Ok(());
        }
        let path = format!("referrers/{subject}");
        if self.send(&RegistryRequest::get(repository, &path))?.status == 200 {
            return Ok(());
        }
        let tag = format!("sha256-{hex}");
        let mut known = match self.fetch_manifest(repository, &tag) {
            Ok(index) => index.parse()?.manifests.unwrap_or_default(),
            Err(error) if error.kind == OciErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        if known.iter().any(|one| one.digest == digest) {
            return Ok(());
        }
        let manifest = OciManifest::parse(bytes).map_err(|reason| OciError::new(OciErrorKind::Invalid, reason))?;
        known.push(OciDescriptor {
            artifact_type: manifest.artifact_type.clone(),
            annotations: manifest.annotations,
            ..OciDescriptor::for_content(MANIFEST_TYPE, bytes)
        });
        let index = OciManifest {
            artifact_type: None,
            config: None,
            layers: Vec::new(),
            manifests: Some(known),
            subject: None,
            annotations: std::collections::BTreeMap::new(),
        };
        self.push_manifest(repository, &tag, &index.to_bytes())?;
        Ok(())
    }

    fn cached_file(&self, digest: &str) -> Option<PathBuf> {
        Some(self.options.cache.as_ref()?.join(check_digest(digest).ok()?))
    }

    /// Returns cached content, which is compared with its digest.
    pub fn read_cached(&self, digest: &str, bytes_max: u64) -> Option<Vec<u8>> {
        let file = self.cached_file(digest)?;
        #[expect(clippy::disallowed_methods, reason = "this module owns the cache of registries")]
        let about =
            std::fs::symlink_metadata(&file).ok().filter(|about| about.is_file() && about.len() <= bytes_max)?;
        #[expect(clippy::disallowed_methods, reason = "this module owns the cache of registries")]
        let bytes = std::fs::read(&file).ok().filter(|bytes| bytes.len() as u64 == about.len())?;
        (digest_bytes(&bytes) == digest).then_some(bytes)
    }

    fn write_cached(&self, digest: &str, bytes: &[u8]) {
        let Some(file) = self.cached_file(digest) else { return };
        #[expect(clippy::disallowed_methods, reason = "this module owns the cache of registries")]
        let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        // It is a cache.
        let _ = made.and_then(|()| rep_storage::atomic::write_cache_file(&file, bytes));
    }
}

fn push_request<'a>(repository: &'a OciRepository, method: HttpMethod, path: &'a str) -> RegistryRequest<'a> {
    RegistryRequest { method, action: RepositoryAction::Push, ..RegistryRequest::get(repository, path) }
}

fn describe_manifest(bytes: Vec<u8>, media_type: Option<String>) -> FetchedManifest {
    let digest = digest_bytes(&bytes);
    let is_index = || OciManifest::parse(&bytes).is_ok_and(|manifest| manifest.manifests.is_some());
    let media_type = media_type.unwrap_or_else(|| if is_index() { INDEX_TYPE } else { MANIFEST_TYPE }.to_owned());
    FetchedManifest { bytes, digest, media_type }
}

/// Returns the query of the next page: `<…?QUERY>; rel="next"`.
fn parse_next_link(header: &str) -> Option<String> {
    let (target, parameters) = header.trim().strip_prefix('<')?.split_once('>')?;
    let is_next = parameters.split(';').any(|part| matches!(part.trim(), "rel=\"next\"" | "rel=next"));
    let query = target.split_once('?')?.1;
    let is_plain =
        !query.is_empty() && query.len() < 1024 && query.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
    (is_next && is_plain).then(|| query.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_read_from_the_header() {
        assert_eq!(parse_next_link("</v2/a/tags/list?last=b&n=1>; rel=\"next\"").as_deref(), Some("last=b&n=1"));
        for text in ["", "<x>; rel=\"next\"", "</v2/?a b>; rel=\"next\"", "</v2/?a>; rel=\"prev\"", "<?a"] {
            assert_eq!(parse_next_link(text), None, "{text}");
        }
    }
}
