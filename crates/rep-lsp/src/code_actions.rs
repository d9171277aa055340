//! Code actions: the fixes of findings, silences, missing files, and the page of a rule.

use std::path::{Path, PathBuf};

use rep_check::fix::{FixApplicability, FixEdit, fix_skill};
use rep_check::{Finding, SkillChecker, find_rule};
use rep_model::{ResolvedSkillPath, Skill, Span, resolve_skill_path};
use serde_json::{Value, json};

use crate::diagnostics::{DiagnosticWriter, FileText, rule_page_uri};
use crate::edits::{WorkspaceEdit, minimal_edits};
use crate::message::RpcError;
use crate::references::ReferenceTarget;
use crate::session::Session;
use crate::view::{DocumentKind, DocumentView};

/// The kind of actions that fix one finding.
const QUICK_FIX: &str = "quickfix";
/// The kind of the action that fixes everything in a file.
pub(crate) const FIX_ALL: &str = "source.fixAll.repertoire";
/// The command that shows the page of a rule.
pub(crate) const EXPLAIN_COMMAND: &str = "repertoire.explain";

/// The rules about files that do not exist.
const MISSING_FILE_RULES: [&str; 5] = [
    "link-target-missing",
    "path-mentioned-missing",
    "pmcp-reference-missing",
    "tool-entrypoint-missing",
    "uasp-path-missing",
];

/// The rules about what an editor keeps apart from the text: line endings and the byte order mark. Edits of the text
/// cannot change them, so they are left to the editor.
const EDITOR_RULES: [&str; 3] = ["byte-order-mark", "line-ends-crlf", "script-crlf"];

impl Session {
    /// Answers `textDocument/codeAction`.
    pub(crate) fn list_code_actions(&mut self, params: &Value) -> Option<Value> {
        if !self.features.code_action_literals {
            return None;
        }
        let view = self.view(params)?;
        let wanted = view.span_of(params.get("range")?)?;
        let only: Option<Vec<&str>> = params
            .pointer("/context/only")
            .and_then(Value::as_array)
            .map(|kinds| kinds.iter().filter_map(Value::as_str).collect());
        let is_wanted = |kind: &str| {
            let covers = |only: &&str| only.is_empty() || kind == *only || kind.starts_with(&format!("{only}."));
            only.as_ref().is_none_or(|kinds| kinds.iter().any(covers))
        };
        let findings = self.current_findings(&view);
        let mut actions = Vec::new();
        if is_wanted(QUICK_FIX) {
            let touching = findings.iter().filter(|finding| {
                let place = finding.place.span;
                place.start <= wanted.end && wanted.start <= place.end.max(place.start)
            });
            for finding in touching {
                self.add_quick_fixes(&view, finding, &mut actions);
            }
        }
        if is_wanted(FIX_ALL) {
            actions.extend(self.fix_all(&view));
        }
        Some(Value::Array(actions))
    }

    /// Returns the findings of a document, with the rules applied to its newest text.
    pub(crate) fn current_findings(&mut self, view: &DocumentView) -> Vec<Finding> {
        let Some(key) = self.load_bundle(&view.path) else { return Vec::new() };
        let Some(bundle) = self.bundles.get_mut(&key) else { return Vec::new() };
        bundle.refresh(&self.open);
        bundle.check(&self.checkers, &self.open);
        let mut by_file = bundle.findings_by_file();
        let own = by_file.remove(&view.path).unwrap_or_default();
        let mut findings: Vec<Finding> = own.into_iter().map(|(_, finding)| finding.clone()).collect();
        let index = view.root.as_ref().and_then(|root| self.indexes.get(root));
        findings.extend(index.and_then(|index| index.set_findings.get(&view.path)).into_iter().flatten().cloned());
        findings
    }

    fn add_quick_fixes(&self, view: &DocumentView, finding: &Finding, actions: &mut Vec<Value>) {
        let writer = DiagnosticWriter { features: &self.features, root: view.root.as_deref() };
        let diagnostics = writer.write(&[(&view.parsed, finding)]);
        let mut add = |title: &str, is_preferred: bool, edit: Value| {
            let mut action = json!({ "title": title, "kind": QUICK_FIX, "diagnostics": diagnostics, "edit": edit });
            if is_preferred {
                action["isPreferred"] = json!(true);
            }
            actions.push(action);
        };
        if let Some(fix) = &finding.fix
            && !EDITOR_RULES.contains(&finding.rule.name)
            && let Some(edit) = self.render_fix(view, &fix.edits)
        {
            let is_safe = fix.applicability == FixApplicability::Safe;
            let title = if fix.title.is_empty() { finding.help.as_str() } else { fix.title.as_str() };
            let title = if is_safe { title.to_owned() } else { format!("{title} (check the result)") };
            add(&capitalize(&title), is_safe, edit);
        }
        if finding.rule.name == "name-differs-from-folder" {
            self.add_name_actions(view, finding, &mut add);
        }
        if let Some((path, edit)) = self.create_missing_file(view, finding) {
            add(&format!("Create `{path}`"), false, edit);
        }
        if let Some(edit) = self.silence(view, finding) {
            add(&format!("Allow `{}` in this file, with a reason", finding.rule.name), false, edit);
        }
        let title = format!("Explain `{}`", finding.rule.name);
        let command = json!({ "title": title, "command": EXPLAIN_COMMAND, "arguments": [finding.rule.name] });
        actions.push(json!({ "title": title, "kind": QUICK_FIX, "diagnostics": diagnostics, "command": command }));
    }

    /// Returns the edit of a fix, or `None` if the client cannot apply all of it.
    fn render_fix(&self, view: &DocumentView, edits: &[FixEdit]) -> Option<Value> {
        let name = |file: &Path| self.name_file(file);
        let mut edit = WorkspaceEdit::new(&self.features, &name);
        for change in edits {
            match change {
                FixEdit::Replace { file, edit: replacement } => {
                    let text = FileText::from_skill(&view.parsed.skill, file);
                    let before = text.text.get(replacement.span.range())?;
                    for (span, new) in minimal_edits(before, &replacement.replacement) {
                        let start = replacement.span.start;
                        let span = Span::new(start + span.start, start + span.end);
                        let range = text.range(span, self.features.encoding);
                        edit.replace(&view.parsed.absolute_path(file), &range, &new);
                    }
                }
                FixEdit::Rename { .. } if !self.features.renames_files => return None,
                FixEdit::Rename { file, new_file } => {
                    edit.rename(&view.parsed.absolute_path(file), &view.parsed.absolute_path(new_file));
                }
            }
        }
        Some(edit.finish())
    }

    /// Adds the two ways to make the name and the directory agree.
    fn add_name_actions(&self, view: &DocumentView, finding: &Finding, add: &mut impl FnMut(&str, bool, Value)) {
        let name = |file: &Path| self.name_file(file);
        let (Some(declared), folder) = (view.parsed.skill.name(), &view.parsed.skill.tree.folder) else { return };
        if finding.fix.is_none() {
            let mut edit = WorkspaceEdit::new(&self.features, &name);
            edit.replace(&view.path, &view.range(finding.place.span), folder);
            add(&format!("Set `name` to `{folder}`"), false, edit.finish());
        }
        let location = &view.parsed.location.path;
        let new_folder = location.with_file_name(declared);
        let is_name = !declared.is_empty() && !declared.contains('/') && !matches!(declared, "." | "..");
        if is_name && self.features.renames_files && new_folder.symlink_metadata().is_err() {
            let mut edit = WorkspaceEdit::new(&self.features, &name);
            edit.rename(location, &new_folder);
            add(&format!("Rename the directory to `{declared}`"), false, edit.finish());
        }
    }

    /// Returns the path of the file that a finding misses, and the edit that creates it.
    fn create_missing_file(&self, view: &DocumentView, finding: &Finding) -> Option<(String, Value)> {
        if !MISSING_FILE_RULES.contains(&finding.rule.name) || !self.features.creates_files {
            return None;
        }
        let path = self.find_missing_path(view, finding.place.span)?;
        let relative = path.strip_prefix(view.parsed.folder()).ok()?.to_str()?.to_owned();
        let name = |file: &Path| self.name_file(file);
        let mut edit = WorkspaceEdit::new(&self.features, &name);
        edit.create(&path);
        Some((relative, edit.finish()))
    }

    fn find_missing_path(&self, view: &DocumentView, span: Span) -> Option<PathBuf> {
        let is_inside = |one: Span| span.start <= one.start && one.end <= span.end.max(span.start);
        let references = self.references_of(view);
        let of_reference = references.into_iter().find_map(|one| match one.target {
            ReferenceTarget::File { path, .. } if is_inside(one.span) => Some(path),
            _ => None,
        });
        let of_code = || {
            let code = view.outline().codes.iter().find(|code| is_inside(code.span))?;
            match resolve_skill_path("", code.text.trim()) {
                ResolvedSkillPath::Inside(inside) if !inside.is_empty() => Some(view.parsed.folder().join(inside)),
                _ => None,
            }
        };
        let path = of_reference.or_else(of_code)?;
        (path.symlink_metadata().is_err() && !self.documents.contains_key(&path)).then_some(path)
    }

    /// Returns the edit that allows a finding's rule in its file, if comments are read there.
    fn silence(&self, view: &DocumentView, finding: &Finding) -> Option<Value> {
        let rule = finding.rule.name;
        // Comments about comments would never end.
        if rule.starts_with("allow-") {
            return None;
        }
        let line_end = if view.text.contains("\r\n") { "\r\n" } else { "\n" };
        let yaml = |reason: &str| format!("# rep: allow({rule}) {reason}{line_end}");
        let html = |reason: &str| {
            let start = if view.text.is_empty() || view.text.ends_with('\n') { "" } else { line_end };
            format!("{start}<!-- rep: allow({rule}) {reason} -->{line_end}")
        };
        let write: (usize, &dyn Fn(&str) -> String) = match view.kind {
            DocumentKind::Manifest => match view.manifest()? {
                manifest if manifest.front.is_some() => (manifest.parts?.front.end, &yaml),
                _ => (view.text.len(), &html),
            },
            DocumentKind::Uasp => (if view.text.starts_with('\u{feff}') { 3 } else { 0 }, &yaml),
            DocumentKind::ToolsJson | DocumentKind::Markdown | DocumentKind::Other => return None,
        };
        let name = |file: &Path| self.name_file(file);
        let mut edit = WorkspaceEdit::new(&self.features, &name);
        let range = view.range(Span::empty_at(write.0));
        edit.insert_snippet(&view.path, &range, &write.1("${1:reason}"), &write.1("reason"));
        Some(edit.finish())
    }

    /// Returns the action that applies all safe fixes of a file, as `rep check --fix` does, and keeps its line endings
    /// and its byte order mark.
    fn fix_all(&self, view: &DocumentView) -> Option<Value> {
        let shared = self.checkers.checker_for(&view.parsed.location, view.root.as_deref());
        let mut options = shared.options.clone();
        options.ignore.extend(EDITOR_RULES.map(str::to_owned));
        let (skill, faults) = Skill::parse(view.parsed.skill.tree.clone());
        let fixed = fix_skill(skill, faults, &SkillChecker::new(options), FixApplicability::Safe);
        let own = fixed.into_iter().find(|file| file.file == view.relative)?;
        let after = String::from_utf8(own.after).ok()?;
        let after = if is_crlf(&view.text) { after.replace("\r\n", "\n").replace('\n', "\r\n") } else { after };
        let edits = minimal_edits(&view.text, &after);
        if edits.is_empty() {
            return None;
        }
        let name = |file: &Path| self.name_file(file);
        let mut edit = WorkspaceEdit::new(&self.features, &name);
        for (span, new) in edits {
            edit.replace(&view.path, &view.range(span), &new);
        }
        Some(json!({ "title": "Fix all safe findings", "kind": FIX_ALL, "edit": edit.finish() }))
    }

    /// Answers `workspace/executeCommand`: shows the page of a rule, and returns it.
    pub(crate) fn execute_command(&mut self, params: &Value) -> Result<Value, RpcError> {
        const INFO: u8 = 3;
        let command = params.get("command").and_then(Value::as_str).unwrap_or_default();
        if command != EXPLAIN_COMMAND {
            return Err(RpcError::invalid_params(&format!("unknown command `{command}`")));
        }
        let name = params.pointer("/arguments/0").and_then(Value::as_str).unwrap_or_default();
        let Some(rule) = find_rule(name) else {
            return Err(RpcError::invalid_params(&format!("unknown rule `{name}`")));
        };
        if self.features.virtual_documents && self.features.shows_documents {
            self.request("window/showDocument", json!({ "uri": rule_page_uri(rule.name) }));
        } else {
            let page = rule.page.split("\n## Invalid").next().unwrap_or(rule.page).trim();
            self.outbox.notify("window/showMessage", json!({ "type": INFO, "message": page }));
        }
        Ok(json!(rule.page))
    }
}

/// Whether all lines of a text end with CR LF.
fn is_crlf(text: &str) -> bool {
    text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count()
}

/// Returns a title with a capital at its start, unless it starts with code.
fn capitalize(title: &str) -> String {
    let mut letters = title.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "Fix".to_owned(),
    }
}

/// Returns the text of the page with a URI of [`rule_page_uri`].
pub(crate) fn read_rule_page(uri: &str) -> Option<&'static str> {
    let name = uri.rsplit('/').next()?.strip_suffix(".md")?;
    find_rule(name).filter(|rule| rule_page_uri(rule.name) == uri).map(|rule| rule.page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_page_at_its_address() {
        for rule in rep_check::RULES {
            assert_eq!(read_rule_page(&rule_page_uri(rule.name)), Some(rule.page));
        }
        assert_eq!(read_rule_page("repertoire://rules/no-such-rule.md"), None);
        assert_eq!(read_rule_page("file:///etc/body-empty.md"), None);
    }

    #[test]
    fn titles_start_with_a_capital() {
        assert_eq!(capitalize("put it in quotes"), "Put it in quotes");
        assert_eq!(capitalize(""), "Fix");
    }
}
