//! What a skill points at: UASP's `sources` and `templates`, by UASP §7.1 rule 8.

use std::collections::{BTreeMap, BTreeSet};

use rep_model::SkillTree;
use serde_json::json;

use super::blocks::{Block, Kind, Prose};
use super::commands::{Invocation, line_of};
use super::constraints::tidy;
use super::draft::Draft;
use super::names;
use super::programs;
use super::rules::SourceIds;

/// The most pointers that are followed up.
const POINTERS_MAX: usize = 4_000;

/// Something pointed at, and what is said about it.
struct Pointer {
    target: String,
    line: usize,
    about: Option<String>,
}

/// Reads sources and templates. Returns which link became which source.
pub(super) fn read(blocks: &[Block], tree: &SkillTree, calls: &[Invocation], draft: &mut Draft) -> SourceIds {
    let mut ids = SourceIds::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut seen: BTreeMap<String, Option<String>> = BTreeMap::new();
    let files: BTreeSet<&str> = files(tree).filter(|path| is_document(path)).collect();
    let mut pointers = pointers(blocks, &files);
    pointers.extend(bundled(tree, &pointers));
    pointers.truncate(POINTERS_MAX);
    let said = said(&pointers);
    for pointer in &pointers {
        let target = bare(&pointer.target).to_owned();
        if let Some(known) = seen.get(&target) {
            // Another way to write it leads to the same source.
            ids.extend(known.clone().map(|id| (pointer.target.clone(), id)));
            continue;
        }
        let about = said.get(target.as_str()).copied();
        if is_template(&target) {
            template(&target, pointer.line, about, calls, draft);
            seen.insert(target, None);
            continue;
        }
        let is_url = target.contains("://");
        let id = unique(&if is_url { url_id(&target) } else { path_id(&target) }, &mut taken);
        let mut value = if is_url { json!({ "id": id, "url": target }) } else { json!({ "id": id, "path": target }) };
        if let Some(about) = about {
            value["use_for"] = json!(about);
        }
        let doubt = (pointer.line == 1).then_some("bundled with the skill, but its text does not name it");
        draft.sources.add(pointer.line, doubt, value);
        ids.insert(pointer.target.clone(), id.clone());
        seen.insert(target, Some(id));
    }
    ids
}

/// A target without what says that it is here.
fn bare(target: &str) -> &str {
    target.trim_start_matches("./")
}

/// What is said about each target, by the first mention that says something.
fn said(pointers: &[Pointer]) -> BTreeMap<&str, &str> {
    let mut said = BTreeMap::new();
    for pointer in pointers {
        if let Some(about) = &pointer.about {
            said.entry(bare(&pointer.target)).or_insert(about.as_str());
        }
    }
    said
}

fn unique(id: &str, taken: &mut BTreeSet<String>) -> String {
    let mut own = id.to_owned();
    let mut number = 2;
    while !taken.insert(own.clone()) {
        own = format!("{id}-{number}");
        number += 1;
    }
    own
}

/// Everything the text points at, in its order.
fn pointers(blocks: &[Block], files: &BTreeSet<&str>) -> Vec<Pointer> {
    let mut found = Vec::new();
    let mut folders: BTreeMap<usize, String> = BTreeMap::new();
    for (index, block) in blocks.iter().enumerate() {
        match block.kind {
            Kind::Table => {
                for row in &block.rows {
                    for (column, cell) in row.iter().enumerate() {
                        let other = row.iter().enumerate().skip(1).find(|(other, _)| *other != column);
                        let other = other.map(|(_, cell)| cell).or(row.first().filter(|_| column > 0));
                        let about = other.map(|cell| tidy(&cell.text)).filter(|text| !text.is_empty());
                        point(cell, about.as_deref(), None, files, &mut found);
                    }
                }
            }
            Kind::Paragraph | Kind::Item(_) | Kind::Heading(_) => {
                let folder = block.item.and_then(|item| folders.get(&item)).cloned();
                if let Some(own) = folder_of(&block.prose) {
                    folders.insert(index, own);
                }
                point(&block.prose, about(&block.prose).as_deref(), folder.as_deref(), files, &mut found);
            }
            Kind::Code(_) => {}
        }
    }
    found
}

/// What an item says behind the thing it starts with.
fn about(prose: &Prose) -> Option<String> {
    let first = prose
        .links
        .first()
        .map(|(range, _)| range.end)
        .into_iter()
        .chain(prose.codes.first().map(|code| code.end))
        .min()?;
    let rest = prose.text.get(first..)?.trim_start_matches(['`', ' ', ')', '*']);
    let is_said = rest.starts_with(['-', '—', '–', ':']);
    let text = tidy(rest.trim_start_matches(['-', '—', '–', ':', ' ']));
    (is_said && !text.is_empty() && text.len() <= 300).then_some(text)
}

/// The folder an item is about: `examples/`.
fn folder_of(prose: &Prose) -> Option<String> {
    let first = prose.text.trim_start_matches(['`', '*']).split([' ', '`', '*']).next()?;
    let is_folder = first.ends_with('/')
        && first.len() > 2
        && first.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./".contains(letter));
    is_folder.then(|| first.to_owned())
}

fn point(prose: &Prose, about: Option<&str>, folder: Option<&str>, files: &BTreeSet<&str>, found: &mut Vec<Pointer>) {
    let mut places: Vec<(usize, String)> = Vec::new();
    for (range, target) in &prose.links {
        if is_link(target) {
            places.push((range.start, target.clone()));
        }
    }
    for code in &prose.codes {
        let text = prose.text[code.clone()].trim_matches('`');
        let in_folder = folder.filter(|_| !text.contains(['/', ' ', '(', '=']) && is_file(text));
        if let Some(folder) = in_folder {
            places.push((code.start, format!("{folder}{text}")));
        } else if is_bundled_path(text) || files.contains(bare(text)) || text.starts_with("https://") && is_link(text) {
            places.push((code.start, text.to_owned()));
        }
    }
    places.extend(bare_urls(prose));
    places.sort();
    for (at, target) in places {
        found.push(Pointer { target, line: prose.line_at(at), about: about.map(str::to_owned) });
    }
}

/// Addresses that stand in the text as they are.
fn bare_urls(prose: &Prose) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for scheme in ["https://", "http://"] {
        for (at, _) in prose.text.match_indices(scheme) {
            let is_covered = |start: usize, end: usize| start <= at && at < end;
            let link = prose.links.partition_point(|(range, _)| range.end <= at);
            let code = prose.codes.partition_point(|range| range.end <= at);
            let in_link = prose.links.get(link).is_some_and(|(range, _)| is_covered(range.start, range.end));
            let in_code = prose.codes.get(code).is_some_and(|range| is_covered(range.start, range.end));
            let rest = &prose.text[at..prose.text.len()];
            let end =
                rest.find(|letter: char| letter.is_whitespace() || "<>\"'`)]|".contains(letter)).unwrap_or(rest.len());
            let url = rest[..end].trim_end_matches(['.', ',', ';', ':', '*', '!', '?']);
            if !in_link && !in_code && is_link(url) {
                found.push((at, url.to_owned()));
            }
        }
    }
    found
}

/// Whether a link leads to something that can be read.
fn is_link(target: &str) -> bool {
    let is_url = target.starts_with("https://") || target.starts_with("http://");
    let is_plain = target.chars().all(|letter| letter.is_ascii_graphic() && !"<>{}\"`\\^|$*".contains(letter));
    let host = target.split("://").nth(1).and_then(|rest| rest.split(['/', ':', '?']).next()).unwrap_or_default();
    let is_example = ["example.com", "example.org", "localhost", "127.0.0.1", "your-", "0.0.0.0"]
        .iter()
        .any(|mark| host.contains(mark));
    if is_url {
        return is_plain && host.contains('.') && !is_example;
    }
    is_plain
        && !target.is_empty()
        && !target.starts_with(['#', '/', '~'])
        && !target.contains(':')
        && target.contains(['.', '/'])
        && !target.contains("...")
}

/// Whether code names a file that skills bundle.
fn is_bundled_path(text: &str) -> bool {
    let bare = bare(text);
    let folders =
        ["references/", "reference/", "examples/", "templates/", "docs/", "assets/", "scripts/", "resources/"];
    folders.iter().any(|folder| bare.starts_with(folder) && bare.len() > folder.len())
        && is_file(bare)
        && !bare.contains(['*', '<', '{', ' ', '[', '$'])
}

/// Whether code names a file, by its looks.
fn is_file(text: &str) -> bool {
    let end = text.rsplit('/').next().unwrap_or(text);
    end.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=6).contains(&ending.len())
            && ending.chars().all(|letter| letter.is_ascii_alphanumeric())
    }) && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./@+#".contains(letter))
}

/// The files of a folder.
fn files(tree: &SkillTree) -> impl Iterator<Item = &str> {
    let files = tree.entries.iter().filter(|(_, entry)| matches!(entry, rep_model::Entry::File { .. }));
    files.map(|(path, _)| path.as_str())
}

/// Whether a bundled file is there to be read, and not the skill itself or about its repository.
fn is_document(path: &str) -> bool {
    let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
    let is_own = ["skill", "readme", "changelog", "contributing", "license", "code_of_conduct", "security"]
        .contains(&stem.to_lowercase().as_str());
    matches!(ending, "md" | "mdx" | "mdc" | "txt" | "rst" | "adoc" | "pdf" | "html") && !is_own
}

/// Files in the folder that the text does not name.
fn bundled(tree: &SkillTree, named: &[Pointer]) -> Vec<Pointer> {
    let known: BTreeSet<&str> = named.iter().map(|pointer| bare(&pointer.target)).collect();
    let wanted = files(tree).filter(|path| {
        let is_inside =
            ["references/", "reference/", "prompts/", "rules/"].iter().any(|folder| path.starts_with(folder));
        let is_reference = is_inside && path.strip_suffix(".md").is_some() || *path == "AGENTS.md";
        (is_reference || is_template(path))
            && !known.contains(path)
            && !path.contains("/.")
            && path.matches('/').count() <= 2
    });
    wanted.take(200).map(|path| Pointer { target: path.to_owned(), line: 1, about: None }).collect()
}

/// Whether a path is a script or a template the skill brings along.
fn is_template(path: &str) -> bool {
    let is_inside = !path.starts_with("..") && !path.contains("://");
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_run = programs::is_script(path)
        && (path.starts_with("scripts/") || path.starts_with("templates/") || path.starts_with("bin/"));
    let is_form = path.starts_with("templates/") && is_file(path);
    is_inside && (is_run || is_form) && !name.starts_with(['_', '.']) && !name.starts_with("test_")
}

fn template(path: &str, line: usize, about: Option<&str>, calls: &[Invocation], draft: &mut Draft) {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let call = calls.iter().find(|call| call.program.split(' ').any(|word| word.trim_start_matches("./") == path));
    let described = about.map(str::to_owned).or_else(|| call.and_then(|call| call.comment.clone()));
    let is_said = described.is_some();
    let description = described.unwrap_or_else(|| stem.replace(['-', '_'], " "));
    let mut value = json!({ "description": description });
    if let Some(call) = call {
        value["usage"] = json!(line_of(&call.program, &call.rest));
    }
    value["path"] = json!(path);
    let doubt = (!is_said).then_some("the text does not say what it is for");
    draft.templates.add(&names::name(stem, "template"), line, doubt, value);
}

/// An id for an address: `acme:api/users`.
fn url_id(url: &str) -> String {
    let rest = url.split("://").nth(1).unwrap_or(url);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let labels: Vec<&str> = host.split('.').collect();
    let label = labels.len().checked_sub(2).map_or(host, |at| labels[at]);
    let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
    let path = path.trim_end_matches(".html").trim_end_matches(".md");
    let parts: Vec<String> = path.split(['/', '#']).map(names::slug).filter(|part| !part.is_empty()).collect();
    let label = names::name(label, "web");
    if parts.is_empty() { label } else { format!("{label}:{}", parts.join("/")) }
}

/// An id for a file: its name, or its folder's where the name is the same for all.
fn path_id(path: &str) -> String {
    let bare = path.split('#').next().unwrap_or(path).trim_end_matches('/');
    let name = bare.rsplit('/').next().unwrap_or(bare);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_common = matches!(stem.to_ascii_lowercase().as_str(), "skill" | "readme" | "index");
    let named = if is_common { bare.rsplit('/').nth(1).unwrap_or(stem) } else { stem };
    names::name(named, "source")
}
