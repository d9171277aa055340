//! Definitions, references, highlights and links.

use std::path::Path;

use rep_library::skill_reader::{MAIN_BYTES_MAX, read_text};
use rep_model::markdown;
use serde_json::{Value, json};

use crate::diagnostics::range_from_excerpt;
use crate::file_uri::format_file_uri;
use crate::message::RpcError;
use crate::references::{Reference, ReferenceSource, ReferenceTarget, collect_references, find_heading};
use crate::scan::{ScanCancelled, WorkspaceScan};
use crate::session::Session;
use crate::view::DocumentView;

impl Session {
    /// Collects the references of a document.
    pub(crate) fn references_of(&self, view: &DocumentView) -> Vec<Reference> {
        let names = self.skill_names(view.root.as_deref());
        collect_references(&ReferenceSource {
            parsed: &view.parsed,
            relative: &view.relative,
            kind: view.kind,
            text: &view.text,
            outline: view.outline(),
            body: view.body_span(),
            is_skill: &|name| names.contains(name),
        })
    }

    /// Returns the reference at the position of a request.
    pub(crate) fn reference_at(&self, view: &DocumentView, params: &Value) -> Option<Reference> {
        let offset = view.offset_of(params)?;
        let all = self.references_of(view);
        let touching = all.into_iter().filter(|one| one.span.start <= offset && offset <= one.span.end);
        touching.min_by_key(|one| one.span.end - one.span.start)
    }

    /// Answers `textDocument/definition`.
    pub(crate) fn find_definition(&mut self, params: &Value) -> Option<Value> {
        let view = self.view(params)?;
        let reference = self.reference_at(&view, params)?;
        let targets = self.locate_target(&view, &reference);
        if !self.features.definition_links {
            return Some(Value::Array(targets));
        }
        let origin = view.range(reference.span);
        let link = |target: &Value| {
            json!({
                "originSelectionRange": origin,
                "targetUri": target["uri"],
                "targetRange": target["range"],
                "targetSelectionRange": target["range"],
            })
        };
        Some(targets.iter().map(link).collect())
    }

    /// Returns the locations of what a reference refers to.
    pub(crate) fn locate_target(&self, view: &DocumentView, reference: &Reference) -> Vec<Value> {
        match &reference.target {
            ReferenceTarget::Skill(name) => self.locate_skill_named(view, name),
            ReferenceTarget::File { path, fragment } => {
                self.locate_file(view, path, fragment.as_deref()).into_iter().collect()
            }
            ReferenceTarget::Name(..) | ReferenceTarget::Trigger(_) => {
                let all = self.references_of(view);
                let declared = all.iter().filter(|one| one.is_definition && one.target == reference.target);
                declared.map(|one| json!({ "uri": view.uri, "range": view.range(one.span) })).collect()
            }
        }
    }

    fn locate_skill_named(&self, view: &DocumentView, name: &str) -> Vec<Value> {
        let index = view.root.as_ref().and_then(|root| self.indexes.get(root));
        let Some(index) = index else { return Vec::new() };
        let locate = |skill: &crate::index::IndexedSkill| {
            let range = range_from_excerpt(&skill.name_place, self.features.encoding);
            json!({ "uri": self.uri_of(&skill.main), "range": range })
        };
        index.find_by_name(name).map(locate).collect()
    }

    fn locate_file(&self, view: &DocumentView, path: &Path, fragment: Option<&str>) -> Option<Value> {
        let start = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
        // A link out of the skill is followed only inside of the workspace, and a directory has no text.
        let is_reachable = path.starts_with(view.parsed.folder()) || self.root_of(path).is_some();
        if !is_reachable || !(self.documents.contains_key(path) || path.is_file()) {
            return None;
        }
        let range = fragment.and_then(|fragment| self.find_heading_range(path, fragment)).unwrap_or(start);
        Some(json!({ "uri": self.uri_of(path), "range": range }))
    }

    /// Returns the range of a heading of a Markdown file.
    fn find_heading_range(&self, path: &Path, fragment: &str) -> Option<Value> {
        let text = match self.documents.get(path) {
            Some(document) => document.text.to_string(),
            None => read_text(path, MAIN_BYTES_MAX).ok()?,
        };
        let start = rep_model::skill_md::split_frontmatter(&text).map_or(0, |parts| parts.body.start);
        let outline = markdown::parse_outline(&text[start..], start);
        let span = find_heading(&outline, fragment)?;
        let line = text[span.range()].trim_end();
        let span = rep_model::Span::new(span.start, span.start + line.len());
        let converted = crate::diagnostics::FileText::new(text.as_str().into());
        Some(converted.range(span, self.features.encoding))
    }

    /// Answers `textDocument/references`, on another thread if other files can refer to the same thing.
    pub(crate) fn find_references(&mut self, id: &Value, params: &Value) {
        let Some((view, reference)) = self
            .view(params)
            .and_then(|view| Some((self.reference_at(&view, params)?, view)))
            .map(|(one, view)| (view, one))
        else {
            return self.outbox.respond(id, Ok(json!([])));
        };
        let with_declaration = params.pointer("/context/includeDeclaration").and_then(Value::as_bool).unwrap_or(true);
        if matches!(reference.target, ReferenceTarget::Name(..)) {
            let all = self.references_of(&view);
            let same = all.iter().filter(|one| one.target == reference.target);
            let same = same.filter(|one| with_declaration || !one.is_definition);
            let found = same.map(|one| json!({ "uri": view.uri, "range": view.range(one.span) })).collect();
            return self.outbox.respond(id, Ok(found));
        }
        let target = reference.target;
        let skill_folder = self.folder_of_skill(&view, &target);
        self.spawn_scan(id, &view.path, move |scan| {
            find_target(scan, &target, skill_folder.as_deref(), with_declaration)
        });
    }

    /// Returns the directory of the skill that a reference names, if there is exactly one.
    pub(crate) fn folder_of_skill(&self, view: &DocumentView, target: &ReferenceTarget) -> Option<std::path::PathBuf> {
        let ReferenceTarget::Skill(name) = target else { return None };
        let index = view.root.as_ref().and_then(|root| self.indexes.get(root));
        let mut found = index.into_iter().flat_map(|index| index.find_by_name(name));
        let skill = found.next().filter(|_| found.next().is_none())?;
        (!skill.location.is_lone_file).then(|| skill.location.path.clone())
    }

    /// Answers `textDocument/documentHighlight`.
    pub(crate) fn highlight(&mut self, params: &Value) -> Option<Value> {
        const READ: u8 = 2;
        const WRITE: u8 = 3;
        let view = self.view(params)?;
        let reference = self.reference_at(&view, params)?;
        let same = self.references_of(&view).into_iter().filter(|one| one.target == reference.target);
        let highlight = |one: Reference| json!({ "range": view.range(one.span), "kind": if one.is_definition { WRITE } else { READ } });
        Some(same.map(highlight).collect())
    }

    /// Answers `textDocument/documentLink`.
    pub(crate) fn list_links(&mut self, params: &Value) -> Option<Value> {
        let view = self.view(params)?;
        let link = |one: &Reference| {
            let ReferenceTarget::File { path, fragment } = &one.target else { return None };
            let target = self.locate_file(&view, path, fragment.as_deref())?;
            let mut uri = target["uri"].as_str()?.to_owned();
            if let Some(line) = target.pointer("/range/start/line").and_then(Value::as_u64).filter(|line| *line > 0) {
                uri.push_str(&format!("#L{}", line + 1));
            }
            Some(json!({ "range": view.range(one.span), "target": uri }))
        };
        Some(self.references_of(&view).iter().filter_map(link).collect())
    }

    /// Returns the URI of a file, as the client writes it if the file is open.
    pub(crate) fn uri_of(&self, file: &Path) -> String {
        self.documents.get(file).map_or_else(|| format_file_uri(file), |document| document.uri.clone())
    }
}

/// Finds all references to a target. A link into the directory of a skill is a reference to the skill.
fn find_target(
    scan: &WorkspaceScan,
    target: &ReferenceTarget,
    skill_folder: Option<&Path>,
    with_declaration: bool,
) -> Result<Result<Value, RpcError>, ScanCancelled> {
    let needle = needle_of(target);
    let found = scan.find(&needle, &|one, parsed| {
        let is_same = match (&one.target, target) {
            (ReferenceTarget::File { path, fragment }, ReferenceTarget::File { path: wanted, fragment: heading }) => {
                path == wanted && (heading.is_none() || fragment == heading)
            }
            (ReferenceTarget::File { path, .. }, ReferenceTarget::Skill(_)) => {
                skill_folder.is_some_and(|folder| path.starts_with(folder) && parsed.folder() != folder)
            }
            (one, target) => one == target,
        };
        is_same && (with_declaration || !one.is_definition || matches!(target, ReferenceTarget::Trigger(_)))
    })?;
    Ok(Ok(found.iter().map(|one| scan.location(one)).collect()))
}

/// Returns a text that every file with a reference to the target contains.
pub(crate) fn needle_of(target: &ReferenceTarget) -> String {
    match target {
        ReferenceTarget::Skill(name) | ReferenceTarget::Name(_, name) | ReferenceTarget::Trigger(name) => name.clone(),
        ReferenceTarget::File { path, .. } => {
            // A link can escape characters, so only the start of a plain name is sure to be in the text.
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.chars().take_while(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(*letter)).collect()
        }
    }
}
