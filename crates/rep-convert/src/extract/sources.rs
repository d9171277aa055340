//! Extracts the links and files of a skill: UASP's `sources` and `templates`, by UASP §7.1 rule 8.

use std::collections::{BTreeMap, BTreeSet};

use rep_model::{SkillTree, TreeEntry};
use serde_json::json;

use super::blocks::{MarkdownBlock, ProseText};
use super::clauses::clean_text;
use super::commands::{ProgramCall, join_command_line};
use super::draft::DocumentDraft;
use super::lexicon::LEXICON;
use super::names;
use super::programs;
use super::rules;
use super::words::WordList;

pub(super) type SourceIds = BTreeMap<String, String>;

const POINTERS_MAX: usize = 4_000;

/// A reference to a file or a page, and its description.
struct SourcePointer {
    target: String,
    line: usize,
    about: Option<String>,
}

/// Extracts sources and templates. Returns the source for each target.
pub(super) fn extract_sources(
    blocks: &[MarkdownBlock],
    tree: Option<&SkillTree>,
    calls: &[ProgramCall],
    draft: &mut DocumentDraft,
) -> SourceIds {
    let entries = tree.into_iter().flat_map(|tree| &tree.entries);
    let files = entries.filter(|(_, entry)| matches!(entry, TreeEntry::File { .. }));
    let files: BTreeSet<&str> = files.map(|(path, _)| path.as_str()).collect();
    let mut pointers = Vec::new();
    let is_text = |block: &&MarkdownBlock| block.language().is_none_or(|_| is_list_of_files(&block.prose.text));
    for block in blocks.iter().filter(is_text) {
        for row in &block.rows {
            for (column, cell) in row.iter().enumerate() {
                let beside = if column == 1 { row.get(2).or(row.first()) } else { row.get(1) };
                let about = beside.map(|cell| clean_text(&cell.text)).filter(|text| !text.is_empty());
                collect_pointers(cell, about.as_deref(), &files, &mut pointers);
            }
        }
        collect_pointers(&block.prose, parse_description(&block.prose).as_deref(), &files, &mut pointers);
    }
    let bundled = files.iter().filter(|path| is_bundled_file(path)).take(200);
    pointers.extend(bundled.map(|path| SourcePointer { target: (*path).to_owned(), line: 1, about: None }));
    // The first description of a target applies to all its mentions.
    let said = pointers.iter().rev().filter_map(|pointer| Some((pointer.target.clone(), pointer.about.clone()?)));
    let said: BTreeMap<String, String> = said.collect();
    let mut seen = BTreeSet::new();
    pointers.retain(|pointer| seen.len() < POINTERS_MAX && seen.insert(pointer.target.clone()));
    let mut ids = SourceIds::new();
    let mut taken = BTreeSet::new();
    for SourcePointer { target, line, .. } in pointers {
        let about = said.get(&target);
        if is_template_path(&target) {
            add_template(&target, line, about.map(String::as_str), calls, draft);
            continue;
        }
        let id = make_source_id(&target, &mut taken);
        let mut value = json!({ "id": id });
        value[if target.contains("://") { "url" } else { "path" }] = json!(target);
        if let Some(about) = about {
            value["use_for"] = json!(about);
        }
        let doubt = (line == 1).then_some("bundled with the skill, but not mentioned in its text");
        draft.sources.add_with_doubt(&rules::SOURCE_POINTER, line, doubt, value);
        ids.insert(target, id);
    }
    ids
}

/// Removes a leading `./` from a target.
pub(super) fn strip_current_directory(target: &str) -> &str {
    target.trim_start_matches("./")
}

/// Returns what the text says about its first reference: `[x](y): …`, `https://x.dev - …`, or `[x](y) for …`.
fn parse_description(prose: &ProseText) -> Option<String> {
    let link = prose.links.first().map(|(link, _)| link.end);
    let is_url = ["https://", "http://"].iter().any(|scheme| prose.text.starts_with(scheme));
    let url = is_url.then(|| prose.text.find(' ').unwrap_or(prose.text.len()));
    let first = link.into_iter().chain(prose.codes.first().map(|code| code.end)).chain(url).min()?;
    let rest = prose.text.get(first..)?.trim_start_matches(['`', ' ', ')', '*']);
    let text = if let Some(told) = rest.strip_prefix(['-', '—', '–', ':']) {
        clean_text(told.trim_start_matches(['-', ' ']))
    } else {
        let is_only = prose.links.len() + prose.codes.len() == 1;
        let purpose = rest.strip_prefix("for ").filter(|_| is_only)?;
        let end = purpose.find(". ").unwrap_or(purpose.len());
        clean_text(purpose[..end].trim_end_matches('.'))
    };
    (!text.is_empty() && text.len() <= 300).then_some(text)
}

/// Collects the references in a text: links, files in code, and plain URLs and file names.
fn collect_pointers(prose: &ProseText, about: Option<&str>, files: &BTreeSet<&str>, found: &mut Vec<SourcePointer>) {
    let links = prose.links.iter().filter(|(_, target)| is_link_target(target));
    let mut places: Vec<(usize, String)> = links.map(|(range, target)| (range.start, target.clone())).collect();
    for code in &prose.codes {
        let text = prose.text[code.clone()].trim_matches('`');
        let is_named = is_bundled_path(text)
            || is_document_path(text)
                && (files.contains(strip_current_directory(text)) || has_reading_instruction(prose, code.start, text))
            || text.starts_with("https://") && is_link_target(text);
        if is_named {
            places.push((code.start, text.to_owned()));
        }
    }
    let mut at = 0;
    for word in prose.text.split(|letter: char| letter.is_ascii_whitespace() || "<>\"'`()[]|".contains(letter)) {
        let target = word[word.find("http").unwrap_or(0)..].trim_matches(['.', ',', ';', ':', '*', '!', '?']);
        let is_pointer = target.starts_with("http") && is_link_target(target) || is_bundled_path(target);
        if is_pointer && !is_in_code_or_link(prose, at) {
            places.push((at, target.to_owned()));
        }
        at += word.len() + 1;
    }
    places.sort();
    found.extend(places.into_iter().map(|(at, target)| {
        let target = strip_current_directory(&target).to_owned();
        SourcePointer { target, line: prose.line_at(at), about: about.map(str::to_owned) }
    }));
}

fn is_in_code_or_link(prose: &ProseText, at: usize) -> bool {
    let code = prose.codes.partition_point(|code| code.end <= at);
    let link = prose.links.partition_point(|(link, _)| link.end <= at);
    prose.codes.get(code).is_some_and(|code| code.start <= at)
        || prose.links.get(link).is_some_and(|(link, _)| link.start <= at)
}

/// Returns whether a sentence asks to read a page whose name is not that of a project.
fn has_reading_instruction(prose: &ProseText, at: usize, page: &str) -> bool {
    let near = &prose.text[prose.text.floor_char_boundary(at.saturating_sub(200))..at];
    let sentence = WordList::parse(near.rsplit(". ").next().unwrap_or_default());
    let is_own = page.starts_with(|letter: char| letter.is_ascii_uppercase()) && !page.contains('/');
    page.strip_suffix(".md").is_some() && !is_own && (at == 0 || LEXICON.reading_words.occurs_in(&sentence))
}

fn is_link_target(target: &str) -> bool {
    const EXAMPLES: &[&str] = &["example.com", "example.org", "localhost", "127.0.0.1", "your-", "0.0.0.0"];
    let is_plain = target.chars().all(|letter| letter.is_ascii_graphic() && !"<>{}\"`\\^|$*".contains(letter));
    let Some(address) = target.strip_prefix("https://").or(target.strip_prefix("http://")) else {
        let is_path = target.contains(['.', '/']) && !target.starts_with(['#', '/', '~']);
        return is_plain && is_path && !target.contains(':') && !target.contains("...");
    };
    let host = address.split(['/', ':', '?']).next().unwrap_or_default();
    is_plain && host.contains('.') && !EXAMPLES.iter().any(|mark| host.contains(mark))
}

fn is_bundled_path(path: &str) -> bool {
    let folder = strip_current_directory(path).split_once('/').map_or("", |(folder, _)| folder);
    LEXICON.bundled_folders.contains(folder) && is_file_path(path)
}

fn is_list_of_files(text: &str) -> bool {
    !text.trim().is_empty() && text.lines().all(|line| line.trim().is_empty() || is_bundled_path(line.trim()))
}

fn is_file_path(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let is_ending =
        |ending: &str| (1..=6).contains(&ending.len()) && ending.chars().all(|letter| letter.is_ascii_alphanumeric());
    name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && is_ending(ending))
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./@+#".contains(letter))
}

/// Returns whether a file is documentation to read, and not the skill itself or a file about its repository.
fn is_document_path(path: &str) -> bool {
    const OWN: &[&str] = &["skill", "readme", "changelog", "contributing", "license", "security", "claude", "agents"];
    let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
    matches!(ending, "md" | "mdx" | "mdc" | "txt" | "rst" | "pdf" | "html")
        && is_file_path(path.trim_start_matches('~'))
        && !path.starts_with('/')
        && !OWN.contains(&stem.to_lowercase().as_str())
}

fn is_bundled_file(path: &str) -> bool {
    let is_inside = matches!(path.split('/').next(), Some("references" | "reference" | "prompts" | "rules"));
    let is_script = programs::is_script_file(path) && matches!(path.split('/').next(), Some("scripts" | "bin"));
    let is_own = path.contains("/_") || path.contains("/test_");
    (is_inside && path.strip_suffix(".md").is_some()
        || path == "AGENTS.md"
        || is_template_path(path)
        || is_script && !is_own)
        && !path.contains("/.")
        && path.matches('/').count() <= 2
}

fn is_template_path(path: &str) -> bool {
    let folder = path.split_once('/').map_or("", |(folder, _)| folder);
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_named = name.contains("template") && !matches!(folder, "" | ".." | "references" | "reference");
    is_file_path(path)
        && (folder == "templates" || is_named)
        && !path.contains("://")
        && !name.starts_with(['_', '.'])
        && !name.starts_with("test_")
}

fn add_template(path: &str, line: usize, about: Option<&str>, calls: &[ProgramCall], draft: &mut DocumentDraft) {
    let stem = path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or(path);
    let call = calls.iter().find(|call| call.program.split(' ').any(|word| strip_current_directory(word) == path));
    let described = about.or(call.and_then(|call| call.comment.as_deref()));
    let doubt = described.is_none().then_some("the text does not state its purpose");
    let description = described.map_or_else(|| stem.replace(['-', '_'], " "), str::to_owned);
    let mut value = json!({ "description": description, "path": path });
    if let Some(call) = call {
        value["usage"] = json!(join_command_line(&call.program, &call.rest));
    }
    draft.templates.add(&rules::TEMPLATE_FILE, &names::to_name_or(stem, "template"), line, doubt, value);
}

/// Creates an id for a URL, `acme:api/users`, or for a file: its name, or the name of its directory if the file name is
/// generic.
fn make_source_id(target: &str, taken: &mut BTreeSet<String>) -> String {
    let own = if let Some((_, address)) = target.split_once("://") {
        let (host, path) = address.split_once('/').unwrap_or((address, ""));
        let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
        let path = path.trim_end_matches(".html").trim_end_matches(".md");
        let parts: Vec<String> = path.split(['/', '#']).map(names::to_slug).filter(|part| !part.is_empty()).collect();
        let label = names::to_name_or(host.rsplit('.').nth(1).unwrap_or(host), "web");
        if parts.is_empty() { label } else { format!("{label}:{}", parts.join("/")) }
    } else {
        let mut parts = target.split('#').next().unwrap_or(target).trim_end_matches('/').rsplit('/');
        let name = parts.next().unwrap_or(target);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let is_common = matches!(stem.to_ascii_lowercase().as_str(), "skill" | "readme" | "index");
        names::to_name_or(parts.next().filter(|_| is_common).unwrap_or(stem), "source")
    };
    let numbered = (2..).map(|number| format!("{own}-{number}"));
    let id = std::iter::once(own.clone()).chain(numbered).find(|id| !taken.contains(id)).unwrap_or_default();
    taken.insert(id.clone());
    id
}
