//! Checks the built site: every link to a page, image or anchor must have a target, and pages must not load
//! anything from the network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::has_extension;

/// The result of the check.
pub(super) struct DeadLinkReport {
    pub(super) pages: usize,
    pub(super) links: usize,
}

/// Checks all pages below a directory. Fails with one line per dead link.
pub(super) fn check_links(site: &Path) -> Result<DeadLinkReport, String> {
    let mut files = BTreeMap::new();
    read_folder(site, "", &mut files)?;
    let pages: BTreeMap<&str, PageLinks> =
        files.iter().filter_map(|(path, text)| Some((path.as_str(), parse_page(text.as_deref()?)))).collect();
    let mut dead = Vec::new();
    let mut links = 0;
    for (path, page) in &pages {
        for (target, is_loaded) in &page.targets {
            links += 1;
            if let Some(fault) = find_fault(path, target, *is_loaded, &files, &pages) {
                dead.push(format!("{path}: {fault}"));
            }
        }
    }
    if dead.is_empty() { Ok(DeadLinkReport { pages: pages.len(), links }) } else { Err(dead.join("\n")) }
}

/// Reads the text of pages, and only the names of other files.
fn read_folder(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Option<String>>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            read_folder(&entry.path(), &format!("{path}/"), files)?;
        } else {
            let text = if has_extension(&path, "html") {
                Some(fs::read_to_string(entry.path()).map_err(failed)?)
            } else {
                None
            };
            files.insert(path, text);
        }
    }
    Ok(())
}

fn find_fault(
    page: &str,
    target: &str,
    is_loaded: bool,
    files: &BTreeMap<String, Option<String>>,
    pages: &BTreeMap<&str, PageLinks>,
) -> Option<String> {
    if target.contains("://") || target.starts_with("//") {
        return is_loaded.then(|| format!("loads `{target}` from the network"));
    }
    if target.starts_with("data:") || target.starts_with("mailto:") || target.starts_with("javascript:") {
        return None;
    }
    let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
    let file = file.split('?').next().unwrap_or(file);
    let wanted = if file.is_empty() { page.to_owned() } else { resolve_link(page, file) };
    if !files.contains_key(&wanted) {
        return Some(format!("`{target}` does not exist"));
    }
    let ids = &pages.get(wanted.as_str())?.ids;
    let is_there = fragment.is_empty() || ids.contains(&decode_percent(fragment));
    (!is_there).then(|| format!("`{target}`: the page has no such anchor"))
}

fn resolve_link(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    if target.is_empty() || target.ends_with('/') || target == "." {
        parts.push("index.html");
    }
    decode_percent(&parts.join("/"))
}

/// Decodes the percent-encoding of a URL part.
fn decode_percent(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let value = more.get(..2).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        if let Some(value) = value.filter(|_| *first == b'%') {
            bytes.push(value);
            rest = &more[2..];
        } else {
            bytes.push(*first);
            rest = more;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The links of a page, and its anchors.
#[derive(Default)]
struct PageLinks {
    /// The URLs, and whether the browser loads them automatically.
    targets: Vec<(String, bool)>,
    ids: BTreeSet<String>,
}

/// Parses tags and their attributes. Text never contains a bare `<`; scripts and comments are skipped.
fn parse_page(html: &str) -> PageLinks {
    let mut page = PageLinks::default();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        if name.is_empty() {
            continue;
        }
        rest = &rest[name.len()..];
        let (attributes, after) = parse_attributes(rest);
        rest = after;
        for (attribute, value) in attributes {
            let is_loaded = attribute == "src" || (name == "link" && attribute == "href");
            if is_loaded || attribute == "href" {
                page.targets.push((value, is_loaded));
            } else if attribute == "id" {
                page.ids.insert(value);
            }
        }
        if name == "script" || name == "style" {
            rest = rest.split_once(&format!("</{name}>")).map_or("", |(_, after)| after);
        }
    }
    page
}

/// Returns the attributes of a tag, and the text after it.
fn parse_attributes(tag: &str) -> (Vec<(String, String)>, &str) {
    let mut attributes = Vec::new();
    let mut rest = tag.trim_start();
    while !rest.is_empty() && !rest.starts_with('>') {
        let end = rest.find(|letter: char| letter.is_whitespace() || "=>".contains(letter)).unwrap_or(rest.len());
        let name = rest[..end.max(1)].to_owned();
        rest = rest[end.max(1)..].trim_start();
        let Some(value) = rest.strip_prefix('=') else { continue };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|letter| "\"'".contains(*letter));
        let (text, after) = match quote {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => value
                .split_at(value.find(|letter: char| letter.is_whitespace() || letter == '>').unwrap_or(value.len())),
        };
        attributes.push((name, text.replace("&amp;", "&").replace("&quot;", "\"").replace("&#x27;", "'")));
        rest = after.trim_start();
    }
    (attributes, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(pages: &[(&str, &str)]) -> Result<(usize, usize), String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in pages {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        check_links(folder.path()).map(|report| (report.pages, report.links))
    }

    #[test]
    fn links_to_pages_and_their_parts_are_followed() {
        let index = "<h1 id=\"top\">A</h1><a href='b/c.html#part-1'>x</a> <img src=b/p.png><a href=\"https://example.org\">y</a>";
        let other = "<h2 id=\"part-1\">B</h2><a href=\"../index.html#top\">x</a><a href=\"#part%2D1\">here</a>";
        assert_eq!(faults(&[("index.html", index), ("b/c.html", other), ("b/p.png", "")]), Ok((2, 5)));
    }

    #[test]
    fn what_does_not_exist_is_reported() {
        let page =
            "<a href=\"gone.html\">x</a><a href=\"#gone\">y</a><script src=\"https://example.org/a.js\"></script>";
        let dead = faults(&[("index.html", page)]).unwrap_err();
        assert_eq!(
            dead,
            "index.html: `gone.html` does not exist\nindex.html: `#gone`: the page has no such anchor\n\
             index.html: loads `https://example.org/a.js` from the network"
        );
    }

    #[test]
    fn scripts_and_comments_hold_no_links() {
        let page = "<script>let a = '<a href=\"x.html\">';</script><!-- <a href=\"y.html\"> -->";
        assert_eq!(faults(&[("index.html", page)]), Ok((1, 0)));
    }
}
