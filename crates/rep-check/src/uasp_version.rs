//! The version of a UASP file, which is a hash of its content (UASP §3.3).

use rep_model::content_hash::{self, ContentHashError};
use rep_model::frontmatter::ScalarText;
use rep_model::uasp::UaspView;
use rep_model::yaml::{find_duplicate_keys, pyyaml};
use rep_model::{Span, UaspFile};

/// Computes the version from the content of a file; `None` if it cannot be hashed.
pub(crate) fn compute_version(uasp: &UaspFile) -> Option<String> {
    let digest = content_hash::hash_content(uasp.root.as_ref()?).ok()?;
    digest.get(..8).map(str::to_owned)
}

/// Whether a version is text to every reader, but not eight hexadecimal digits. Other types are `field-type`.
pub(crate) fn is_malformed_version(version: ScalarText<'_>) -> bool {
    let is_text = version.is_text() && pyyaml::classify_scalar(version.node) == Some(pyyaml::PyyamlScalar::Text);
    let is_hash = version.value.len() == 8 && version.value.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_text && !is_hash
}

/// Whether the version can be rewritten without changing the content. A value with an anchor may be used elsewhere.
pub(crate) fn is_replaceable_version(uasp: &UaspFile) -> bool {
    let entry = uasp.view().and_then(UaspView::version_entry);
    entry.is_some_and(|entry| {
        let between = uasp.source.slice(Span::new(entry.key.span.end, entry.value.span.start));
        !between.contains(['&', '!'])
    })
}

/// Returns why the content of a file cannot be hashed. Other rules report a `meta` that is not a mapping, and
/// duplicate keys.
pub(crate) fn find_unhashable(uasp: &UaspFile) -> Option<ContentHashError> {
    let root = uasp.root.as_ref()?;
    uasp.view()?.meta_fields()?.entries()?;
    let unhashable = content_hash::normalise_content(root).err()?;
    let is_duplicate = find_duplicate_keys(root).iter().any(|(_, span)| *span == unhashable.span);
    (!is_duplicate).then_some(unhashable)
}
