//! Hovers: fields, findings, skills and files.

use std::path::Path;

use rep_check::fields::{describe_field, find_top_field, list_nested_fields, list_uasp_fields};
use rep_check::find_rule;
use rep_library::SkillStatus;
use rep_library::skill_reader::{MAIN_BYTES_MAX, read_text};
use rep_model::truncate::truncate_chars;
use rep_model::yaml::YamlNode;
use rep_model::{Span, TreeEntry};
use serde_json::{Value, json};

use crate::index::IndexedSkill;
use crate::references::{Reference, ReferenceTarget};
use crate::session::Session;
use crate::status::{SkillStatusEntry, StatusTable};
use crate::view::{DocumentKind, DocumentView};

/// The maximum length of a description in a hover.
const DESCRIPTION_CHARS_MAX: usize = 600;

impl Session {
    /// Answers `textDocument/hover`.
    pub(crate) fn hover(&mut self, id: &Value, params: &Value) {
        let Some(view) = self.view(params) else { return self.outbox.respond(id, Ok(Value::Null)) };
        let reference = self.reference_at(&view, params);
        if let Some(reference) = &reference
            && let ReferenceTarget::Skill(name) = &reference.target
            && !reference.is_definition
            && let Some((skill, root)) = self.find_indexed(&view, name)
        {
            let (range, is_markdown) = (view.range(reference.span), self.features.markdown);
            return self.with_statuses(id, &root, move |statuses| {
                render_hover(&describe_skill(&skill, statuses), Some(range), is_markdown)
            });
        }
        let text = self.describe_position(&view, params, reference.as_ref());
        let is_markdown = self.features.markdown;
        let hover = text.map(|(text, span)| render_hover(&text, span.map(|span| view.range(span)), is_markdown));
        self.outbox.respond(id, Ok(hover.unwrap_or_default()));
    }

    fn find_indexed(&self, view: &DocumentView, name: &str) -> Option<(IndexedSkill, std::path::PathBuf)> {
        let root = view.root.clone()?;
        let skill = self.indexes.get(&root)?.find_by_name(name).next()?.clone();
        Some((skill, root))
    }

    /// Describes what is at a position: a finding's rule, a file, or a name.
    fn describe_position(
        &mut self,
        view: &DocumentView,
        params: &Value,
        reference: Option<&Reference>,
    ) -> Option<(String, Option<Span>)> {
        let offset = view.offset_of(params)?;
        let of_reference = reference.and_then(|one| Some((self.describe_reference(view, one)?, Some(one.span))));
        let of_field = self.describe_field_at(view, offset);
        let of_rule = self.describe_findings(view, offset);
        match (of_reference.or(of_field), of_rule) {
            (Some((text, span)), Some(rules)) => Some((format!("{text}\n\n---\n\n{rules}"), span)),
            (Some(found), None) => Some(found),
            (None, Some(rules)) => Some((rules, None)),
            (None, None) => None,
        }
    }

    /// Describes the field whose key is at an offset.
    fn describe_field_at(&self, view: &DocumentView, offset: usize) -> Option<(String, Option<Span>)> {
        let host = self.checkers.settings_for(view.root.as_deref()).host;
        let mut path = Vec::new();
        let span = find_key(view.data()?, offset, &mut path)?;
        let (name, around) = path.split_last()?;
        let fields = match view.kind {
            DocumentKind::Manifest => list_nested_fields(around),
            DocumentKind::Uasp => list_uasp_fields(around),
            DocumentKind::ToolsJson | DocumentKind::Markdown | DocumentKind::Other => return None,
        };
        let is_top = around.is_empty() && view.kind == DocumentKind::Manifest;
        let of_top = || find_top_field(name).filter(|_| is_top);
        let entry = fields.iter().find(|entry| entry.name == *name).or_else(of_top)?;
        Some((describe_field(entry, host, is_top), Some(span)))
    }

    fn describe_reference(&self, view: &DocumentView, reference: &Reference) -> Option<String> {
        match &reference.target {
            ReferenceTarget::File { path, .. } => self.describe_file(view, path),
            ReferenceTarget::Name(kind, name) => Some(format!("{} `{name}`", kind.name())),
            ReferenceTarget::Trigger(word) => Some(format!("trigger `{word}`: selects this skill for a request")),
            ReferenceTarget::Skill(_) => None,
        }
    }

    /// Describes a file: its size, and what reading it costs.
    fn describe_file(&self, view: &DocumentView, path: &Path) -> Option<String> {
        let shown = path.strip_prefix(view.parsed.folder()).unwrap_or(path).to_string_lossy().into_owned();
        let is_reachable = path.starts_with(view.parsed.folder()) || self.root_of(path).is_some();
        if let Some(document) = self.documents.get(path) {
            return Some(render_file(&shown, document.text.len() as u64, Some(rep_tokens::count(&document.text))));
        }
        let entry = view.parsed.skill.tree.entries.get(&shown);
        if matches!(entry, Some(TreeEntry::Directory)) {
            let below = format!("{shown}/");
            let count = view.parsed.skill.tree.entries.keys().filter(|file| file.starts_with(&below)).count();
            return Some(format!("**{shown}** · directory with {count} entries"));
        }
        let text = read_text(path, MAIN_BYTES_MAX).ok().filter(|_| is_reachable);
        match (text, entry) {
            (Some(text), _) => Some(render_file(&shown, text.len() as u64, Some(rep_tokens::count(&text)))),
            (None, Some(TreeEntry::File { size_bytes, .. })) => Some(render_file(&shown, *size_bytes, None)),
            (None, _) => None,
        }
    }

    /// Describes the rules of the findings at an offset.
    fn describe_findings(&mut self, view: &DocumentView, offset: usize) -> Option<String> {
        let findings = self.current_findings(view);
        let at = |span: Span| span.start <= offset && offset <= span.end.max(span.start);
        let mut rules: Vec<&str> =
            findings.iter().filter(|finding| at(finding.place.span)).map(|finding| finding.rule.name).collect();
        rules.dedup();
        let pages: Vec<String> = rules.iter().filter_map(|rule| Some(summarize_page(find_rule(rule)?.page))).collect();
        (!pages.is_empty()).then(|| pages.join("\n\n---\n\n"))
    }
}

/// Returns the location of the key at an offset. `path` receives the keys from the root to it.
fn find_key<'a>(node: &'a YamlNode, offset: usize, path: &mut Vec<&'a str>) -> Option<Span> {
    let contains = |span: Span| span.start <= offset && offset <= span.end;
    for entry in node.entries().unwrap_or_default() {
        let Some(key) = entry.key.text() else { continue };
        path.push(key);
        if contains(entry.key.span) {
            return Some(entry.key.span);
        }
        if contains(entry.value.span)
            && let Some(span) = find_key(&entry.value, offset, path)
        {
            return Some(span);
        }
        path.pop();
    }
    node.items().unwrap_or_default().iter().find_map(|item| find_key(item, offset, path))
}

/// Returns the first parts of a rule's page: what it finds and why it matters.
fn summarize_page(page: &str) -> String {
    let page = page.split("\n## Invalid").next().unwrap_or(page);
    page.replacen("# ", "### ", 1).replace("\n## ", "\n#### ").trim().to_owned()
}

fn render_file(shown: &str, size_bytes: u64, tokens: Option<usize>) -> String {
    let tokens = tokens.map(|count| format!(" · {count} tokens")).unwrap_or_default();
    format!("**{shown}** · {size_bytes} bytes{tokens}")
}

/// Describes a skill: what it does, where it is, and whether it is active.
fn describe_skill(skill: &IndexedSkill, statuses: &StatusTable) -> String {
    let description = truncate_chars(&skill.description, DESCRIPTION_CHARS_MAX);
    let status = describe_status(statuses.get(&skill.location.path), statuses.host);
    format!("**{}**\n\n{description}\n\n`{}`\n\n{status}", skill.name, skill.main.display())
}

/// Describes whether a skill is active, and why not.
pub(crate) fn describe_status(entry: Option<&SkillStatusEntry>, host: Option<&str>) -> String {
    match (entry, host) {
        (None, Some(host)) => format!("not listed by {host}: it does not search this directory"),
        (None, None) => "not listed: no host searches this directory".to_owned(),
        (Some(entry), Some(host)) if entry.status == SkillStatus::Active => format!("listed by {host}"),
        (Some(entry), _) if entry.reason.is_empty() => entry.status.name().to_owned(),
        (Some(entry), _) => format!("{}: {}", entry.status.name(), entry.reason),
    }
}

pub(crate) fn render_hover(text: &str, range: Option<Value>, is_markdown: bool) -> Value {
    let kind = if is_markdown { "markdown" } else { "plaintext" };
    let value = if is_markdown { text.to_owned() } else { text.replace("**", "") };
    let mut hover = json!({ "contents": { "kind": kind, "value": value } });
    if let Some(range) = range {
        hover["range"] = range;
    }
    hover
}
