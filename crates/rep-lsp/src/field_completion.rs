//! Completions in frontmatter and UASP files: fields and their values.

use rep_check::fields::{
    FieldEntry, FieldShape, describe_field, find_top_field, list_nested_fields, list_top_fields, list_uasp_fields,
};
use rep_check::{Profile, detect_dialects};
use rep_model::frontmatter::split_allowed_tools;
use rep_model::uasp::UaspSections;
use rep_model::{FileContent, Skill, Span, TreeEntry, UaspFile};

use crate::completion::{CompletionChoice, CompletionKind, CompletionList, list_files};
use crate::session::Session;
use crate::view::{DocumentKind, DocumentView};
use crate::yaml_cursor::YamlCursor;

/// The SPDX ids of common licenses.
const LICENSES: [&str; 30] = [
    "MIT",
    "Apache-2.0",
    "MIT OR Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MPL-2.0",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "LGPL-2.1-only",
    "LGPL-2.1-or-later",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
    "0BSD",
    "Artistic-2.0",
    "BSL-1.0",
    "BUSL-1.1",
    "CC-BY-4.0",
    "CC-BY-SA-4.0",
    "CC0-1.0",
    "EPL-2.0",
    "EUPL-1.2",
    "MIT-0",
    "OFL-1.1",
    "Unlicense",
    "Zlib",
];

/// The tools of Claude Code, whose names `allowed-tools` uses, and what they do.
const TOOLS: [(&str, &str); 13] = [
    ("Bash", "Runs any command."),
    ("Read", "Reads files."),
    ("Write", "Writes files."),
    ("Edit", "Changes files."),
    ("Glob", "Finds files by name."),
    ("Grep", "Finds text in files."),
    ("WebFetch", "Reads a page."),
    ("WebSearch", "Searches the web."),
    ("Agent", "Starts an agent."),
    ("AskUserQuestion", "Asks the user."),
    ("NotebookEdit", "Changes notebooks."),
    ("Skill", "Calls another skill."),
    ("TodoWrite", "Keeps a list of tasks."),
];

/// Completes a field or a value of the YAML text in `region`.
pub(crate) fn complete_yaml(
    session: &Session,
    view: &DocumentView,
    region: Span,
    offset: usize,
) -> Option<CompletionList> {
    let text = view.text.get(region.range())?;
    let repaired = if view.data().is_some() { None } else { parse_without_line(view, offset) };
    let request = FieldRequest { session, view, skill: repaired.as_ref().unwrap_or(&view.parsed.skill) };
    let cursor = YamlCursor::locate(text, offset - region.start)?;
    let mut choices = Vec::new();
    let mut start = region.start + cursor.start;
    let (key, around) = if let Some(key) = cursor.key {
        (Some(key), cursor.path.as_slice())
    } else {
        choices.extend(request.list_fields(&cursor, &text[offset - region.start..]));
        let around = cursor.path.split_last().map_or(&[][..], |(_, around)| around);
        (cursor.path.last().copied().filter(|_| cursor.is_item), around)
    };
    if let Some(key) = key {
        let written = &view.text[start..offset];
        if is_tool_list(key) && !cursor.is_item {
            start = offset - last_word(written).len();
        }
        let mut values = request.list_values(around, key);
        if cursor.needs_space {
            for choice in &mut values {
                choice.new_text.insert(0, ' ');
                if let Some(snippet) = &mut choice.snippet {
                    snippet.insert(0, ' ');
                }
            }
        }
        choices.extend(values);
    }
    Some(CompletionList { start, choices })
}

/// Returns the entry of a list of tools that is being written.
fn last_word(written: &str) -> &str {
    let is_complete = written.ends_with([' ', ',']);
    let inside = written.matches('(').count() > written.matches(')').count();
    if is_complete && !inside { "" } else { split_allowed_tools(written).last().copied().unwrap_or_default() }
}

fn is_tool_list(key: &str) -> bool {
    matches!(key, "allowed-tools" | "disallowed-tools")
}

/// What is completed.
struct FieldRequest<'a> {
    session: &'a Session,
    view: &'a DocumentView,
    /// The skill, parsed without the line that is being written if it does not parse with it.
    skill: &'a Skill,
}

/// Parses the skill again without the line that is being written.
fn parse_without_line(view: &DocumentView, offset: usize) -> Option<Skill> {
    let (start, end) = view.lines.line_range(&view.text, view.line_of(offset));
    let text = format!("{}#{}", &view.text[..start], &view.text[end..]);
    let mut tree = view.parsed.skill.tree.clone();
    let TreeEntry::File { content, .. } = tree.entries.get_mut(&view.relative)? else { return None };
    *content = FileContent::Bytes(text.into_bytes());
    Some(Skill::parse(tree).0)
}

impl FieldRequest<'_> {
    /// Lists the fields that can be added at a position.
    fn list_fields(&self, cursor: &YamlCursor<'_>, rest: &str) -> Vec<CompletionChoice> {
        let (session, view) = (self.session, self.view);
        let host = session.checkers.settings_for(view.root.as_deref()).host;
        let is_top = cursor.path.is_empty() && view.kind == DocumentKind::Manifest;
        let fields: Vec<&FieldEntry> = match view.kind {
            DocumentKind::Uasp => list_uasp_fields(&cursor.path).iter().collect(),
            _ if is_top => {
                let shared = session.checkers.checker_for(&view.parsed.location, view.root.as_deref());
                // The host's profiles stand for the host, whose own fields are more precise.
                let chosen: &[Profile] = if host.is_some() { &[] } else { &shared.options.profiles };
                list_top_fields(chosen, &detect_dialects(self.skill), host)
            }
            _ => list_nested_fields(&cursor.path).iter().collect(),
        };
        let has_colon = rest.lines().next().unwrap_or_default().trim_start().starts_with(':');
        let is_new = |entry: &&FieldEntry| !cursor.siblings.contains(&entry.name);
        let choice = |entry: &FieldEntry| {
            let mut choice = CompletionChoice::new(CompletionKind::Property, entry.name, "");
            choice.documentation = describe_field(entry, host, is_top);
            if !has_colon {
                let end = if matches!(entry.shape, FieldShape::Mapping) { ":" } else { ": " };
                choice.new_text = format!("{}{end}", entry.name);
                choice.snippet = write_snippet(entry);
            }
            choice
        };
        fields.into_iter().filter(is_new).map(choice).collect()
    }

    /// Lists the values of a field.
    fn list_values(&self, around: &[&str], key: &str) -> Vec<CompletionChoice> {
        let view = self.view;
        if view.kind == DocumentKind::Uasp {
            return self.list_uasp_values(around, key);
        }
        let plain = |kind, words: &[&str]| words.iter().map(|word| CompletionChoice::new(kind, word, "")).collect();
        let folder = view.parsed.skill.tree.folder.as_str();
        match (around, key) {
            ([], "name") => plain(CompletionKind::Module, &[folder]),
            ([], "license") => plain(CompletionKind::EnumMember, &LICENSES),
            ([], "allowed-tools" | "disallowed-tools") => list_tools(),
            ([], "model") => plain(CompletionKind::EnumMember, &["inherit", "haiku", "opus", "sonnet"]),
            ([], "agent") => plain(CompletionKind::EnumMember, &["Explore", "Plan", "general-purpose"]),
            ([] | ["x-personal-mcp"], "depends_on") => self.session.list_skills(view),
            (["tools", "implementation"], "entrypoint") | (["x-personal-mcp", "references", _], "path") => {
                offer_files(view)
            }
            ([], key) => find_top_field(key).map(offer_words).unwrap_or_default(),
            (around, key) => find_field(list_nested_fields(around), key).map(offer_words).unwrap_or_default(),
        }
    }

    /// Lists the names that a field of a UASP file refers to.
    fn list_uasp_values(&self, around: &[&str], key: &str) -> Vec<CompletionChoice> {
        let view = self.view;
        let file = self.skill.uasp.iter().find(|uasp| uasp.file == view.relative);
        let none = UaspSections::default();
        let sections = file.and_then(UaspFile::document).map_or(&none, |document| &document.sections);
        match (around, key) {
            (["meta"], "name") => {
                let file = view.relative.trim_end_matches(rep_model::uasp::FILE_SUFFIX);
                vec![CompletionChoice::new(CompletionKind::Module, file, "")]
            }
            (["commands", _], "requires") => {
                let mut choices = list_entities(sections);
                choices.extend(list_commands(sections));
                choices
            }
            (["commands", _], "creates" | "invalidates") => list_entities(sections),
            (["state", "entities"], "created_by" | "consumed_by" | "invalidated_by")
            | (["workflows", _, "steps"], "cmd") => list_commands(sections),
            (["decisions"], "ref") => list_sources(sections),
            (["sources"] | ["templates", _], "path") => offer_files(view),
            (around, key) => find_field(list_uasp_fields(around), key).map(offer_words).unwrap_or_default(),
        }
    }
}

fn list_sources(sections: &UaspSections) -> Vec<CompletionChoice> {
    let named = sections.sources.iter().filter_map(|source| Some((source.id.as_deref()?, source.use_for.as_deref())));
    let choice = |(id, what): (&str, Option<&str>)| {
        CompletionChoice::new(CompletionKind::Reference, id, what.unwrap_or_default())
    };
    named.map(choice).collect()
}

/// Returns the field with a choice of its values.
fn write_snippet(entry: &FieldEntry) -> Option<String> {
    let words = entry.shape.words();
    (words.len() > 1).then(|| format!("{}: ${{1|{}|}}", entry.name, words.join(",")))
}

fn find_field(fields: &'static [FieldEntry], name: &str) -> Option<&'static FieldEntry> {
    fields.iter().find(|entry| entry.name == name)
}

fn offer_words(entry: &FieldEntry) -> Vec<CompletionChoice> {
    let words = entry.shape.words().iter();
    words.map(|word| CompletionChoice::new(CompletionKind::EnumMember, word, entry.meaning)).collect()
}

fn offer_files(view: &DocumentView) -> Vec<CompletionChoice> {
    let is_main = |file: &str| matches!(file, "SKILL.md" | "skill.md") || file == view.relative;
    let files = list_files(view).into_iter().filter(|(file, _)| !is_main(file));
    files.map(|(file, text)| CompletionChoice::new(CompletionKind::File, file, &text)).collect()
}

fn list_tools() -> Vec<CompletionChoice> {
    let mut pattern =
        CompletionChoice::new(CompletionKind::Function, "Bash(git *)", "Runs commands that match a pattern.");
    pattern.snippet = Some("Bash(${1:git *})".to_owned());
    let named = TOOLS.iter().map(|(name, what)| CompletionChoice::new(CompletionKind::Function, name, what));
    std::iter::once(pattern).chain(named).collect()
}

fn list_entities(sections: &UaspSections) -> Vec<CompletionChoice> {
    let names = sections.state.entity_names();
    names.map(|name| CompletionChoice::new(CompletionKind::Variable, name, "state entity")).collect()
}

fn list_commands(sections: &UaspSections) -> Vec<CompletionChoice> {
    let choice = |command: &rep_model::uasp::UaspCommand| {
        let what = command.description.as_deref().or(command.syntax.as_deref()).unwrap_or_default();
        CompletionChoice::new(CompletionKind::Function, &command.path, what)
    };
    sections.commands.iter().map(choice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_written_tool_is_the_last_entry() {
        assert_eq!(last_word("Read, Wri"), "Wri");
        assert_eq!(last_word("Read "), "");
        assert_eq!(last_word("Bash(git "), "Bash(git ");
        assert_eq!(last_word(""), "");
    }
}
