//! What a skill costs in tokens, and whether it is listed: inlay hints and code lenses at the name.

use std::path::{Path, PathBuf};

use rep_library::SkillStatus;
use rep_library::prompt::{describe_place, render_activation, render_xml_entry};
use rep_model::{Frontmatter, Span, TreeEntry};
use serde_json::{Value, json};

use crate::session::Session;
use crate::status::StatusTable;
use crate::view::{DocumentKind, DocumentView};

/// The command of the client that shows a skill as models see it.
const SHOW_COMMAND: &str = "repertoire.showModelView";
/// The command of the client that runs the tests of a skill.
const TEST_COMMAND: &str = "repertoire.runTests";

/// The tokens of the two texts that a model sees of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SkillTokens {
    listing: usize,
    activation: usize,
}

impl SkillTokens {
    fn describe(self) -> String {
        format!("{} tokens listed, {} when used", self.listing, self.activation)
    }
}

impl Session {
    /// Answers `textDocument/inlayHint`: the tokens behind the name, and why the skill is not listed.
    pub(crate) fn list_hints(&mut self, id: &Value, params: &Value) {
        let found = self.view(params).and_then(|view| {
            let place = find_name(&view)?;
            let wanted = view.span_of(params.get("range")?)?;
            let is_wanted = wanted.start <= place.end && place.end <= wanted.end;
            (is_wanted && self.checkers.settings_for(view.root.as_deref()).hints).then_some((view, place))
        });
        let Some((view, place)) = found else { return self.outbox.respond(id, Ok(json!([]))) };
        let position = view.range(Span::empty_at(place.end))["end"].take();
        let label = count_tokens(&view).describe();
        let hint = move |label: &str| json!({ "position": position, "label": label, "paddingLeft": true });
        let Some(root) = view.root.clone() else { return self.outbox.respond(id, Ok(json!([hint(&label)]))) };
        let location = view.parsed.location.path.clone();
        self.with_statuses(id, &root.clone(), move |statuses| {
            let status = describe_inactive(statuses, &location, &root);
            json!([hint(&[label, status].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · "))])
        });
    }

    /// Answers `textDocument/codeLens`: the tokens, and the skill's tests if the client can run them.
    pub(crate) fn list_lenses(&mut self, params: &Value) -> Option<Value> {
        let view = self.view(params)?;
        if !self.checkers.settings_for(view.root.as_deref()).hints {
            return Some(json!([]));
        }
        let place = find_name(&view)?;
        let range = view.range(Span::empty_at(place.start));
        let folder = view.parsed.location.path.to_string_lossy();
        let command = |title: String, name: &str| {
            let command = if self.features.has_command(name) { name } else { "" };
            json!({ "range": range, "command": { "title": title, "command": command, "arguments": [folder] } })
        };
        let tokens = count_tokens(&view);
        let title = format!("What the model sees: {} tokens", tokens.listing + tokens.activation);
        let mut lenses = vec![command(title, SHOW_COMMAND)];
        if self.features.has_command(TEST_COMMAND) && has_tests(&view) {
            lenses.push(command("Run tests".to_owned(), TEST_COMMAND));
        }
        Some(Value::Array(lenses))
    }
}

/// Returns the location of the skill's name in its main file.
fn find_name(view: &DocumentView) -> Option<Span> {
    match view.kind {
        DocumentKind::Manifest => Some(view.manifest()?.front.as_ref()?.name()?.span()),
        DocumentKind::Uasp => Some(view.uasp()?.view()?.name()?.span()),
        DocumentKind::ToolsJson | DocumentKind::Markdown | DocumentKind::Other => None,
    }
}

/// Counts the tokens of the listing and of the activation, of the text in the editor.
fn count_tokens(view: &DocumentView) -> SkillTokens {
    let skill = &view.parsed.skill;
    let name = skill.name().unwrap_or_default();
    let of_front = skill.frontmatter().and_then(Frontmatter::description).map(|text| text.value);
    let of_uasp = || skill.uasp.iter().find_map(|uasp| Some(uasp.view()?.description()?.value));
    let description = of_front.or_else(of_uasp).unwrap_or_default();
    let body = view.manifest().map_or(&*view.text, rep_model::Manifest::body).replace("\r\n", "\n");
    let is_file = |entry: &TreeEntry| !matches!(entry, TreeEntry::Directory);
    let entries = skill.tree.entries.iter().filter(|(path, entry)| is_file(entry) && **path != view.relative);
    let resources: Vec<&str> = entries.map(|(path, _)| path.as_str()).collect();
    let activation = render_activation(name, &body, &describe_place(view.parsed.folder()), &resources);
    SkillTokens {
        listing: rep_tokens::count(&render_xml_entry(name, Some(description), Some(&view.path))),
        activation: rep_tokens::count(&activation),
    }
}

/// Describes why a skill is not listed. Returns an empty text if it is, or if nothing is known about a skill that is
/// not where skills are searched.
fn describe_inactive(statuses: &StatusTable, location: &Path, root: &Path) -> String {
    let Some(entry) = statuses.get(location) else {
        let unknown = |host| format!("not listed by {host}: it does not search this directory");
        return statuses.host.map(unknown).unwrap_or_default();
    };
    let shown = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
    match (entry.status, &entry.shadowed_by, statuses.host) {
        // The author of a skill need not be told to review it.
        (SkillStatus::Active, ..) | (SkillStatus::Untrusted, _, None) => String::new(),
        (SkillStatus::Shadowed, Some(other), _) => format!("shadowed by {}", shown(other)),
        (_, _, Some(host)) => format!("not listed by {host}: {}", entry.reason),
        (status, _, None) => format!("{}: {}", status.name(), entry.reason),
    }
}

/// Whether the skill ships tests.
fn has_tests(view: &DocumentView) -> bool {
    let skill = &view.parsed.skill;
    let smoke = skill.frontmatter().and_then(|front| front.get("evaluation")).is_some();
    smoke || skill.tree.entries.keys().any(|path| path.starts_with("tests/cases/"))
}
