//! Turns links between files of the repository into links between pages of the site.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use super::has_extension;

/// Rewrites the links of a page. `origin` is the source file of the page, `path` is the page's path in the site,
/// and `addresses` maps each file of the repository to its page. Images and other files below `docs` keep their
/// path. Fails with the links that do not point to a page.
pub(super) fn rewrite_links(
    text: &str,
    origin: &str,
    path: &str,
    addresses: &BTreeMap<&str, &str>,
) -> Result<String, Vec<String>> {
    let mut out = text.to_owned();
    let mut dead = Vec::new();
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES);
    let found: Vec<(String, std::ops::Range<usize>)> = parser
        .into_offset_iter()
        .filter_map(|(event, range)| match event {
            Event::Start(
                Tag::Link { link_type: LinkType::Inline, dest_url, .. }
                | Tag::Image { link_type: LinkType::Inline, dest_url, .. },
            ) => Some((dest_url.into_string(), range)),
            _ => None,
        })
        .collect();
    // From the end, so that earlier ranges stay valid.
    for (target, range) in found.into_iter().rev() {
        if target.contains("://") || target.starts_with('#') || target.starts_with("mailto:") {
            continue;
        }
        let (file, fragment) =
            target.split_once('#').map_or((target.as_str(), None), |(file, part)| (file, Some(part)));
        let wanted = resolve_link(origin, file);
        let address = addresses.get(wanted.as_str()).copied();
        let Some(address) = address.or_else(|| asset_path(&wanted)) else {
            dead.push(format!("{origin}: the link to `{target}` does not point to a page of the site"));
            continue;
        };
        let fragment = fragment.map(|part| format!("#{part}")).unwrap_or_default();
        let replacement = format!("{}{fragment}", relative_path(path, address));
        let at = range.start + text[range].rfind(&target).expect("an inline link contains its target");
        out.replace_range(at..at + target.len(), &replacement);
    }
    if dead.is_empty() { Ok(out) } else { Err(dead) }
}

/// Returns the site path of a file below `docs` that is not a page.
fn asset_path(file: &str) -> Option<&str> {
    file.strip_prefix("docs/").filter(|file| !has_extension(file, "md"))
}

/// Resolves a relative link in `origin` to a path in the repository.
fn resolve_link(origin: &str, target: &str) -> String {
    let folder = origin.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the relative path from a page to another.
fn relative_path(from: &str, to: &str) -> String {
    let mut from: Vec<&str> = from.split('/').collect();
    from.pop();
    let to: Vec<&str> = to.split('/').collect();
    let shared = from.iter().zip(&to[..to.len() - 1]).take_while(|(one, other)| one == other).count();
    let up = "../".repeat(from.len() - shared);
    format!("{up}{}", to[shared..].join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> Result<String, Vec<String>> {
        let addresses = BTreeMap::from([
            ("README.md", "index.md"),
            ("docs/guide/teams.md", "guide/teams.md"),
            ("crates/rep-check/src/rules/name_empty.md", "reference/rules/name-empty.md"),
        ]);
        rewrite_links(text, "docs/reference/rules.md", "reference/rules.md", &addresses)
    }

    #[test]
    fn links_to_files_become_links_to_pages() {
        assert_eq!(
            rewritten(
                "[a](../../crates/rep-check/src/rules/name_empty.md) [b](../guide/teams.md#trust) [c](../../README.md)"
            ),
            Ok("[a](rules/name-empty.md) [b](../guide/teams.md#trust) [c](../index.md)".to_owned())
        );
        assert_eq!(rewritten("![x](../images/a.png)"), Ok("![x](../images/a.png)".to_owned()));
    }

    #[test]
    fn code_and_addresses_are_left_alone() {
        let text = "`[a](b.md)` [web](https://example.org/a.md) [here](#part)\n\n```\n[a](b.md)\n```\n";
        assert_eq!(rewritten(text), Ok(text.to_owned()));
    }

    #[test]
    fn a_link_to_no_page_is_reported() {
        assert!(rewritten("[a](missing.md)").is_err_and(|dead| dead.len() == 1));
    }
}
