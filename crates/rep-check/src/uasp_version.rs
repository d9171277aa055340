//! The version of a UASP file, which is a hash of its content (UASP §3.3).

use rep_model::frontmatter::Text;
use rep_model::hash::{self, Unhashable};
use rep_model::uasp::Uasp;
use rep_model::yaml::{duplicate_keys, pyyaml};
use rep_model::{Span, UaspFile};

/// The version that the content of a file has; `None` if it cannot be hashed.
pub(crate) fn compute_version(uasp: &UaspFile) -> Option<String> {
    let digest = hash::sha256(uasp.root.as_ref()?).ok()?;
    digest.get(..8).map(str::to_owned)
}

/// Whether a version is text to every reader, but not eight hexadecimal digits. Other types are `field-type`.
pub(crate) fn is_malformed(version: Text<'_>) -> bool {
    let is_text = version.is_text() && pyyaml::scalar(version.node) == Some(pyyaml::Scalar::Text);
    let is_hash = version.value.len() == 8 && version.value.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_text && !is_hash
}

/// Whether the version can be rewritten without changing the content: one with an anchor may be content elsewhere.
pub(crate) fn is_replaceable(uasp: &UaspFile) -> bool {
    let entry = uasp.view().and_then(Uasp::version_entry);
    entry.is_some_and(|entry| {
        let between = uasp.source.slice(Span::new(entry.key.span.end, entry.value.span.start));
        !between.contains(['&', '!'])
    })
}

/// Why the content of a file cannot be hashed, unless another rule reports it: `meta` that is not a mapping, and
/// duplicate keys.
pub(crate) fn find_unhashable(uasp: &UaspFile) -> Option<Unhashable> {
    let root = uasp.root.as_ref()?;
    uasp.view()?.meta_fields()?.entries()?;
    let unhashable = hash::normalise(root).err()?;
    let is_duplicate = duplicate_keys(root).iter().any(|(_, span)| *span == unhashable.span);
    (!is_duplicate).then_some(unhashable)
}
