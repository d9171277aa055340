//! Completions: fields and values, tools, skills, files, and the names of a UASP file.
//!
//! The text around the cursor decides what is offered, because a text that is being written often does not parse.
//! Nothing is offered inside fences, code, URLs and comments.

use std::path::Path;

use rep_check::Profile;
use rep_check::scaffold::build_skill_files;
use rep_model::markdown::parse_outline;
use rep_model::skill_md::{FrontmatterFenceError, split_frontmatter};
use rep_model::truncate::truncate_chars;
use rep_model::{Span, TreeEntry};
use serde_json::{Value, json};

use crate::field_completion::complete_yaml;
use crate::file_uri::encode_path;
use crate::mentions::is_open;
use crate::references::heading_slug;
use crate::session::Session;
use crate::view::{DocumentKind, DocumentView};

/// The characters after which a client asks for completions.
pub(crate) const TRIGGER_CHARACTERS: [&str; 6] = ["/", "$", "(", "#", "[", ":"];

/// The maximum number of completions.
const ITEMS_MAX: usize = 500;
/// The maximum length of a description beside a completion.
const DETAIL_CHARS_MAX: usize = 200;

/// The kind of a completion, as the protocol numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompletionKind {
    /// A command of a UASP file, or a tool.
    Function = 3,
    /// A state entity.
    Variable = 6,
    /// A skill.
    Module = 9,
    /// A field.
    Property = 10,
    /// One of several words.
    EnumMember = 20,
    /// A template.
    Snippet = 15,
    /// A file.
    File = 17,
    /// A heading, or another thing that is referred to.
    Reference = 18,
}

/// A completion.
#[derive(Clone, Debug)]
pub(crate) struct CompletionChoice {
    /// The text in the list.
    pub(crate) label: String,
    /// What it is.
    pub(crate) kind: CompletionKind,
    /// The text that is inserted.
    pub(crate) new_text: String,
    /// The text with placeholders, for clients that support them.
    pub(crate) snippet: Option<String>,
    /// The explanation, in Markdown.
    pub(crate) documentation: String,
}

impl CompletionChoice {
    /// Creates a completion that inserts its label.
    pub(crate) fn new(kind: CompletionKind, label: &str, documentation: &str) -> Self {
        Self {
            label: label.to_owned(),
            kind,
            new_text: label.to_owned(),
            snippet: None,
            documentation: truncate_chars(documentation, 4 * DETAIL_CHARS_MAX).to_owned(),
        }
    }
}

/// The completions at a position.
pub(crate) struct CompletionList {
    /// Where the word starts that they replace.
    pub(crate) start: usize,
    /// The completions, best first.
    pub(crate) choices: Vec<CompletionChoice>,
}

impl Session {
    /// Answers `textDocument/completion`.
    pub(crate) fn complete(&mut self, params: &Value) -> Option<Value> {
        let view = self.view(params)?;
        let offset = view.offset_of(params)?;
        let list = self.collect_completions(&view, offset)?;
        let range = view.range(Span::new(list.start.min(offset), offset));
        let render = |(number, choice): (usize, &CompletionChoice)| self.render_choice(number, choice, &range);
        let items: Vec<Value> = list.choices.iter().take(ITEMS_MAX).enumerate().map(render).collect();
        Some(json!({ "isIncomplete": list.choices.len() > ITEMS_MAX, "items": items }))
    }

    fn render_choice(&self, number: usize, choice: &CompletionChoice, range: &Value) -> Value {
        const SNIPPET: u8 = 2;
        let snippet = choice.snippet.as_ref().filter(|_| self.features.snippets);
        let mut item = json!({
            "label": choice.label,
            "kind": choice.kind as u8,
            "sortText": format!("{number:04}"),
            "filterText": choice.new_text,
            "textEdit": { "range": range, "newText": snippet.unwrap_or(&choice.new_text) },
        });
        if snippet.is_some() {
            item["insertTextFormat"] = json!(SNIPPET);
        }
        if !choice.documentation.is_empty() {
            let kind = if self.features.markdown { "markdown" } else { "plaintext" };
            item["documentation"] = json!({ "kind": kind, "value": choice.documentation });
        }
        item
    }

    fn collect_completions(&self, view: &DocumentView, offset: usize) -> Option<CompletionList> {
        match view.kind {
            DocumentKind::Manifest if view.text.trim().is_empty() => Some(offer_template(view)),
            DocumentKind::Manifest => match find_front(&view.text) {
                Some(front) if front.start <= offset && offset <= front.end => complete_yaml(self, view, front, offset),
                _ => self.complete_body(view, offset),
            },
            DocumentKind::Uasp => complete_yaml(self, view, Span::new(0, view.text.len()), offset),
            DocumentKind::Markdown => self.complete_body(view, offset),
            DocumentKind::ToolsJson | DocumentKind::Other => None,
        }
    }

    /// Completes Markdown: the destinations of links, and the names of skills.
    fn complete_body(&self, view: &DocumentView, offset: usize) -> Option<CompletionList> {
        let body = view.body_span().unwrap_or(Span::new(0, view.text.len()));
        let outline = view.outline();
        let is_inside = |span: Span| span.start < offset && offset < span.end;
        let in_fence =
            outline.fences.iter().any(|fence| is_inside(fence.span) || (!fence.is_closed && offset == fence.span.end));
        if offset < body.start || in_fence || outline.codes.iter().any(|code| is_inside(code.span)) {
            return None;
        }
        let line_start = view.lines.line_range(&view.text, view.line_of(offset)).0;
        let written = &view.text[line_start.max(body.start)..offset];
        // An odd number of backticks starts code that is not closed yet.
        if written.matches('`').count() % 2 == 1 {
            return None;
        }
        if let Some(open) = written.rfind("](").filter(|open| !written[*open..].contains(')')) {
            let destination = written[open + 2..].trim_start_matches('<');
            return self.complete_destination(view, destination, offset - destination.len());
        }
        let at = written.rfind(['/', '$']).filter(|at| is_open(written[..*at].chars().next_back()))?;
        let name = &written[at + 1..];
        if !name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ':')) {
            return None;
        }
        Some(CompletionList { start: offset - name.len(), choices: self.list_skills(view) })
    }

    /// Completes the destination of a link: the files of the skill, and behind `#` the headings of one.
    fn complete_destination(&self, view: &DocumentView, written: &str, start: usize) -> Option<CompletionList> {
        if written.contains("://") || written.starts_with(['/', '~']) || written.contains(char::is_whitespace) {
            return None;
        }
        let folder = view.relative.rsplit_once('/').map_or("", |(folder, _)| folder);
        if let Some((file, fragment)) = written.split_once('#') {
            let headings = self.list_headings(view, folder, file)?;
            let choice =
                |heading: String| CompletionChoice::new(CompletionKind::Reference, &heading_slug(&heading), &heading);
            let choices = headings.into_iter().map(choice).collect();
            return Some(CompletionList { start: start + written.len() - fragment.len(), choices });
        }
        let choices = list_files(view)
            .into_iter()
            .filter(|(file, _)| *file != view.relative)
            .map(|(file, documentation)| {
                let path = encode_path(&relative_to(folder, file));
                let path = if written.starts_with("./") { format!("./{path}") } else { path };
                CompletionChoice::new(CompletionKind::File, &path, &documentation)
            })
            .collect();
        Some(CompletionList { start, choices })
    }

    fn list_headings(&self, view: &DocumentView, folder: &str, file: &str) -> Option<Vec<String>> {
        let outline = if file.is_empty() {
            view.outline().clone()
        } else {
            let path = crate::references::resolve_file(&view.parsed, folder, &rep_check::parse_local_path(file)?)?;
            let relative = view.parsed.relative_path(&path)?;
            let text = match self.documents.get(&path) {
                Some(document) => document.text.to_string(),
                None => String::from_utf8(view.parsed.skill.tree.file_bytes(&relative)?.to_vec()).ok()?,
            };
            parse_outline(&text, 0)
        };
        Some(outline.headings.into_iter().map(|heading| heading.text).collect())
    }

    /// Lists the skills of the workspace folder, without the document's own.
    pub(crate) fn list_skills(&self, view: &DocumentView) -> Vec<CompletionChoice> {
        let index = view.root.as_ref().and_then(|root| self.indexes.get(root));
        let own = view.parsed.skill.name().unwrap_or(&view.parsed.skill.tree.folder);
        let mut choices: Vec<CompletionChoice> = index
            .into_iter()
            .flat_map(|index| index.skills.values())
            .filter(|skill| skill.name != own)
            .map(|skill| {
                let description = truncate_chars(&skill.description, DETAIL_CHARS_MAX);
                CompletionChoice::new(CompletionKind::Module, &skill.name, description)
            })
            .collect();
        choices.sort_by(|one, two| one.label.cmp(&two.label));
        choices.dedup_by(|one, two| one.label == two.label);
        choices
    }
}

/// Lists the files of the skill, each with its size.
pub(crate) fn list_files(view: &DocumentView) -> Vec<(&str, String)> {
    let describe = |entry: &TreeEntry| match entry {
        TreeEntry::File { size_bytes, .. } => Some(format!("{size_bytes} bytes")),
        TreeEntry::Link { .. } => Some("link".to_owned()),
        TreeEntry::Directory | TreeEntry::Other(_) => None,
    };
    let entries = view.parsed.skill.tree.entries.iter();
    entries.filter_map(|(path, entry)| Some((path.as_str(), describe(entry)?))).take(ITEMS_MAX).collect()
}

/// Returns a path of the skill as it is written in a file of a directory of the skill.
fn relative_to(folder: &str, file: &str) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = file.split('/').collect();
    let shared = from.iter().zip(&to).take_while(|(one, two)| one == two).count();
    let up = std::iter::repeat_n("..", from.len() - shared);
    up.chain(to[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// Returns the location of the frontmatter, also while its closing fence is missing.
pub(crate) fn find_front(text: &str) -> Option<Span> {
    match split_frontmatter(text) {
        Ok(parts) => Some(parts.front),
        Err(FrontmatterFenceError::NoClosing(first)) => {
            let start = text[first.end..].find('\n').map(|newline| first.end + newline + 1)?;
            // A heading or an empty line and prose end what can be frontmatter.
            let end = text[start..].find("\n\n").map_or(text.len(), |at| start + at + 1);
            Some(Span::new(start, end))
        }
        Err(FrontmatterFenceError::NoOpening(_)) => None,
    }
}

/// Offers the SKILL.md that `rep init` writes.
fn offer_template(view: &DocumentView) -> CompletionList {
    let folder = view.parsed.folder().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let of_profile = |profile: Profile, label: &str| {
        let files = build_skill_files(&folder, profile, None);
        let text = files.into_iter().find(|(path, _)| Path::new(path).ends_with("SKILL.md"))?.1;
        let mut choice = CompletionChoice::new(CompletionKind::Snippet, label, &format!("```markdown\n{text}\n```"));
        choice.new_text = text;
        Some(choice)
    };
    let choices = [
        of_profile(Profile::AgentSkills, "SKILL.md (agentskills)"),
        of_profile(Profile::Universal, "SKILL.md (Universal 2.1)"),
    ];
    CompletionList { start: 0, choices: choices.into_iter().flatten().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_from_the_directory_of_the_document() {
        assert_eq!(relative_to("", "references/a.md"), "references/a.md");
        assert_eq!(relative_to("references", "scripts/x.py"), "../scripts/x.py");
        assert_eq!(relative_to("references", "references/b.md"), "b.md");
    }

    #[test]
    fn frontmatter_is_found_before_it_is_closed() {
        assert_eq!(find_front("---\nna\n---\nx"), Some(Span::new(4, 7)));
        assert_eq!(find_front("---\nna"), Some(Span::new(4, 6)));
        assert_eq!(find_front("---\nname: x\n\n# Title\n"), Some(Span::new(4, 12)));
        assert_eq!(find_front("# Title\n"), None);
    }
}
