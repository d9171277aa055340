//! Reads addresses of sources, git references, patterns and lists of files from any text. Nothing that git could read as an
//! option comes through.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_net::HttpProxy;
use rep_net::git::{GitReference, GitUrl, parse_tree_listing};
use rep_package::source::InstallSource;
use rep_package::source_name::matches_pattern;

fuzz_target!(|bytes: &[u8]| {
    for entry in parse_tree_listing(bytes).into_iter().flatten() {
        assert!(!entry.path.is_empty() && !entry.id.starts_with('-'), "{entry:?}");
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(url) = GitUrl::parse(text) {
        assert!(!url.as_str().starts_with('-') && !url.as_str().contains([' ', '\n', '\0']));
        assert_eq!(GitUrl::parse(url.as_str()), Ok(url));
    }
    if let Ok(reference) = GitReference::parse(text) {
        assert!(!reference.as_str().starts_with('-') && !reference.as_str().contains([' ', '\n', '\0', ':']));
    }
    if let Ok(InstallSource::Repository(source)) = InstallSource::parse(text) {
        assert!(!source.url.as_str().starts_with('-'));
        assert!(!source.path.split('/').any(|part| part == ".."), "{:?}", source.path);
    }
    let _ = HttpProxy::parse(text);
    if let Some((pattern, name)) = text.split_once('\n') {
        let is_matched = matches_pattern(pattern, name);
        assert!(is_matched || pattern != name || pattern.contains('*'));
    }
});
