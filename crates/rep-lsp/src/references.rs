//! What the words of a document refer to: skills, files, headings and the names of a UASP file.
//!
//! Definition, references, rename, links, hover and semantic tokens all work on this list.

use std::path::PathBuf;

use rep_model::frontmatter::{Frontmatter, ToolDeclaration};
use rep_model::markdown::MarkdownOutline;
use rep_model::uasp::{SpannedText, UaspSections};
use rep_model::yaml::YamlNode;
use rep_model::{ResolvedSkillPath, Span, UaspFile, resolve_skill_path};

use crate::bundle::ParsedSkill;
use crate::mentions::find_mentions;
use crate::view::{DocumentKind, inner_span};

/// A kind of name in a UASP file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UaspNameKind {
    /// A command.
    Command,
    /// A state entity.
    Entity,
    /// A source.
    Source,
    /// A workflow.
    Workflow,
    /// A template.
    Template,
}

impl UaspNameKind {
    /// Returns the word for messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Entity => "state entity",
            Self::Source => "source",
            Self::Workflow => "workflow",
            Self::Template => "template",
        }
    }
}

/// What a word refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceTarget {
    /// The skill with a name.
    Skill(String),
    /// A file or directory, and a heading in it.
    File {
        /// The absolute path. The file may not exist.
        path: PathBuf,
        /// The part of the link behind `#`.
        fragment: Option<String>,
    },
    /// A name of the same UASP file.
    Name(UaspNameKind, String),
    /// A trigger that selects skills.
    Trigger(String),
}

/// How a reference is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceForm {
    /// A name.
    Word,
    /// The destination of a Markdown link: escaped, and relative to the directory of the document.
    Link,
    /// A path that is relative to the directory of the skill.
    SkillPath,
}

/// A word that refers to something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The location of the word: exactly what a rename replaces.
    pub(crate) span: Span,
    /// What it refers to.
    pub(crate) target: ReferenceTarget,
    /// Whether the word declares the target.
    pub(crate) is_definition: bool,
    /// How it is written.
    pub(crate) form: ReferenceForm,
}

/// A document whose references are collected.
pub(crate) struct ReferenceSource<'a> {
    /// The skill.
    pub(crate) parsed: &'a ParsedSkill,
    /// The path of the document in the skill.
    pub(crate) relative: &'a str,
    /// What the document is.
    pub(crate) kind: DocumentKind,
    /// The text.
    pub(crate) text: &'a str,
    /// The outline of the Markdown text.
    pub(crate) outline: &'a MarkdownOutline,
    /// The location of the Markdown text.
    pub(crate) body: Option<Span>,
    /// Whether a name is that of a skill.
    pub(crate) is_skill: &'a dyn Fn(&str) -> bool,
}

/// Collects the references of a document, in the order of their locations.
pub(crate) fn collect_references(source: &ReferenceSource<'_>) -> Vec<Reference> {
    let mut collector = ReferenceCollector { source, all: Vec::new() };
    let skill = &source.parsed.skill;
    match source.kind {
        DocumentKind::Manifest => {
            if let Some(front) = skill.frontmatter() {
                collector.add_frontmatter(front);
            }
        }
        DocumentKind::Uasp => {
            if let Some(uasp) = skill.uasp.iter().find(|uasp| uasp.file == source.relative) {
                collector.add_uasp(uasp);
            }
        }
        DocumentKind::ToolsJson => {
            let root = skill.tools_json.as_ref().and_then(|tools| tools.root.as_ref());
            for tool in root.and_then(YamlNode::items).unwrap_or_default() {
                collector.add_tool(ToolDeclaration(tool));
            }
        }
        DocumentKind::Markdown | DocumentKind::Other => {}
    }
    if let Some(body) = source.body {
        collector.add_body(body);
    }
    collector.all.sort_by_key(|reference| (reference.span, !reference.is_definition));
    collector.all.dedup();
    collector.all
}

struct ReferenceCollector<'a> {
    source: &'a ReferenceSource<'a>,
    all: Vec<Reference>,
}

impl ReferenceCollector<'_> {
    fn add(&mut self, span: Span, target: ReferenceTarget, is_definition: bool) {
        let form = match target {
            ReferenceTarget::File { .. } => ReferenceForm::SkillPath,
            ReferenceTarget::Skill(_) | ReferenceTarget::Name(..) | ReferenceTarget::Trigger(_) => ReferenceForm::Word,
        };
        self.all.push(Reference { span, target, is_definition, form });
    }

    fn add_node(&mut self, node: &YamlNode, target: ReferenceTarget, is_definition: bool) {
        if let Some(span) = inner_span(self.source.text, node) {
            self.add(span, target, is_definition);
        }
    }

    /// Adds a path that is relative to the skill's directory.
    fn add_path_node(&mut self, node: &YamlNode) {
        let Some(path) = node.text().and_then(|path| resolve_file(self.source.parsed, "", path)) else { return };
        self.add_node(node, ReferenceTarget::File { path, fragment: None }, false);
    }

    fn add_frontmatter(&mut self, front: &Frontmatter) {
        if let Some(name) = front.name().filter(|name| !name.value.is_empty()) {
            self.add_node(name.node, ReferenceTarget::Skill(name.value.to_owned()), true);
        }
        for id in front.depends_on() {
            self.add_node(id.node, ReferenceTarget::Skill(id.value.to_owned()), false);
        }
        for tool in front.tools() {
            self.add_tool(tool);
        }
        if let Some(block) = front.personal_mcp() {
            if let Some(id) = block.id() {
                self.add_node(id.node, ReferenceTarget::Skill(id.value.to_owned()), false);
            }
            for uri in block.capabilities() {
                self.add_capability(uri.node, block.id().or_else(|| front.name()).map(|id| id.value));
            }
            for reference in block.references() {
                if let Some(path) = reference.value.get("path") {
                    self.add_path_node(path);
                }
            }
        }
    }

    /// Adds the id of the skill in a URI that the skill publishes.
    fn add_capability(&mut self, node: &YamlNode, id: Option<&str>) {
        const PREFIX: &str = "resource://skills/";
        let (Some(span), Some(id)) = (inner_span(self.source.text, node), id) else { return };
        let uri = &self.source.text[span.range()];
        if uri.strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix(id)).is_some_and(|rest| rest.starts_with('/')) {
            let start = span.start + PREFIX.len();
            self.add(Span::new(start, start + id.len()), ReferenceTarget::Skill(id.to_owned()), false);
        }
    }

    fn add_tool(&mut self, tool: ToolDeclaration<'_>) {
        if let Some(entrypoint) = tool.entrypoint() {
            self.add_path_node(entrypoint.node);
        }
    }

    fn add_text(&mut self, text: &SpannedText, target: ReferenceTarget, is_definition: bool) {
        if let Some(span) = text.span.and_then(|span| inner_text_span(self.source.text, span, text)) {
            self.add(span, target, is_definition);
        }
    }

    fn add_name(&mut self, kind: UaspNameKind, text: &SpannedText, is_definition: bool) {
        self.add_text(text, ReferenceTarget::Name(kind, text.value.clone()), is_definition);
    }

    fn add_uasp(&mut self, uasp: &UaspFile) {
        let Some(document) = uasp.document() else { return };
        let sections = &document.sections;
        if let Some(name) = &sections.meta.name {
            self.add_text(name, ReferenceTarget::Skill(name.value.clone()), true);
        }
        let triggers = [&sections.triggers.keywords, &sections.triggers.intents, &sections.triggers.file_patterns];
        for trigger in triggers.into_iter().flatten() {
            self.add_text(trigger, ReferenceTarget::Trigger(trigger.value.clone()), true);
        }
        self.add_uasp_state(sections);
        for decision in sections.decisions.iter().filter_map(|decision| decision.source.as_ref()) {
            let is_id = sections.sources.iter().any(|source| source.id.as_deref() == Some(decision));
            if is_id {
                self.add_name(UaspNameKind::Source, decision, false);
            } else {
                self.add_uasp_path(decision);
            }
        }
        for source in &sections.sources {
            if let Some(id) = &source.id {
                self.add_name(UaspNameKind::Source, id, true);
            }
            if let Some(path) = &source.path {
                self.add_uasp_path(path);
            }
        }
        for template in &sections.templates {
            self.add_name(UaspNameKind::Template, &template.name, true);
            if let Some(path) = &template.path {
                self.add_uasp_path(path);
            }
        }
        self.add_workflows(sections);
    }

    /// Adds the commands and the state entities, which name each other.
    fn add_uasp_state(&mut self, sections: &UaspSections) {
        let is_entity = |name: &str| sections.state.entity_names().any(|known| known == name);
        for command in &sections.commands {
            self.add_name(UaspNameKind::Command, &command.path, true);
            for name in command.requires.iter().chain(&command.creates).chain(&command.invalidates) {
                if is_entity(name) {
                    self.add_name(UaspNameKind::Entity, name, false);
                } else {
                    self.add_command_name(sections, name);
                }
            }
            if let Some(syntax) = &command.syntax {
                self.add_paths_in(syntax);
            }
        }
        for entity in &sections.state.entities {
            if let Some(name) = &entity.name {
                self.add_name(UaspNameKind::Entity, name, true);
            }
            let lists = [
                &entity.created_by,
                &entity.consumed_by,
                &entity.invalidated_by,
                &entity.persisted_by,
                &entity.restored_by,
            ];
            for name in lists.into_iter().flatten() {
                self.add_command_name(sections, name);
            }
        }
    }

    /// Adds a word that names a command by its path. Aliases and groups of commands are not renamed with a command.
    fn add_command_name(&mut self, sections: &UaspSections, name: &SpannedText) {
        if sections.commands.get(name).is_some_and(|command| *command.path == **name) {
            self.add_name(UaspNameKind::Command, name, false);
        }
    }

    fn add_workflows(&mut self, sections: &UaspSections) {
        for workflow in &sections.workflows {
            self.add_name(UaspNameKind::Workflow, &workflow.name, true);
            for step in workflow.steps.iter().filter_map(|step| step.command.as_ref()) {
                let words: Vec<&str> = step.split_whitespace().collect();
                let Some(command) = sections.commands.find_by_step(&words) else { continue };
                // Only a name that is written as one word can be found in the step.
                if let Some(span) = self.find_word(step, &command.path) {
                    let target = ReferenceTarget::Name(UaspNameKind::Command, command.path.value.clone());
                    self.add(span, target, false);
                }
            }
        }
    }

    fn add_uasp_path(&mut self, text: &SpannedText) {
        if text.contains("://") || text.contains(char::is_whitespace) {
            return;
        }
        if let Some(path) = resolve_file(self.source.parsed, "", text) {
            self.add_text(text, ReferenceTarget::File { path, fragment: None }, false);
        }
    }

    /// Adds the words of a command that are files of the skill.
    fn add_paths_in(&mut self, syntax: &SpannedText) {
        for word in syntax.split_whitespace().filter(|word| word.contains('/') || word.contains('.')) {
            let is_file = matches!(resolve_skill_path("", word), ResolvedSkillPath::Inside(inside)
                if !inside.is_empty() && self.source.parsed.skill.tree.has_path(&inside));
            if !is_file {
                continue;
            }
            if let (Some(span), Some(path)) = (self.find_word(syntax, word), resolve_file(self.source.parsed, "", word))
            {
                self.add(span, ReferenceTarget::File { path, fragment: None }, false);
            }
        }
    }

    /// Finds a word in the source of a scalar, with whitespace or quotes around it.
    fn find_word(&self, text: &SpannedText, word: &str) -> Option<Span> {
        let span = text.span?;
        let source = self.source.text.get(span.range())?;
        let is_edge =
            |letter: Option<char>| letter.is_none_or(|letter| letter.is_whitespace() || "\"'".contains(letter));
        let mut found = source.match_indices(word).map(|(at, _)| at);
        let at = found.find(|at| {
            is_edge(source[..*at].chars().next_back()) && is_edge(source[at + word.len()..].chars().next())
        })?;
        Some(Span::new(span.start + at, span.start + at + word.len()))
    }

    fn add_body(&mut self, body: Span) {
        let source = self.source;
        let folder = source.relative.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in &source.outline.links {
            let Some(span) = destination_span(source.text, link.span) else { continue };
            let written = &source.text[span.range()];
            let (file, fragment) = match written.split_once('#') {
                Some((file, fragment)) => (file, Some(fragment.to_owned())),
                None => (written, None),
            };
            let Some(path) = link_path(source, folder, file) else { continue };
            let end = span.start + file.len();
            let span = if file.is_empty() { span } else { Span::new(span.start, end) };
            let target = ReferenceTarget::File { path, fragment };
            self.all.push(Reference { span, target, is_definition: false, form: ReferenceForm::Link });
        }
        for code in &source.outline.codes {
            let inner = code.text.trim();
            let is_path = inner.contains('/') && !inner.contains(char::is_whitespace) && !inner.contains("://");
            let resolved = resolve_skill_path("", inner.trim_start_matches("./"));
            let ResolvedSkillPath::Inside(inside) = resolved else { continue };
            if is_path && !inside.is_empty() && source.parsed.skill.tree.has_path(&inside) {
                let at = source.text[code.span.range()].find(inner).map(|at| code.span.start + at);
                if let Some(at) = at {
                    let path = source.parsed.folder().join(&inside);
                    let span = Span::new(at, at + inner.len());
                    self.add(span, ReferenceTarget::File { path, fragment: None }, false);
                }
            }
        }
        for (span, name) in find_mentions(source.text, body, source.outline, source.is_skill) {
            self.add(span, ReferenceTarget::Skill(name), false);
        }
    }
}

/// Returns the file that a link points to: a file of the skill, or of the directories around it.
fn link_path(source: &ReferenceSource<'_>, folder: &str, file: &str) -> Option<PathBuf> {
    if file.is_empty() {
        return Some(source.parsed.folder().join(source.relative));
    }
    let path = rep_check::parse_local_path(file)?;
    resolve_file(source.parsed, folder, &path)
}

/// Resolves a relative path from a directory of the skill. The result may be outside of the skill.
pub(crate) fn resolve_file(parsed: &ParsedSkill, folder: &str, path: &str) -> Option<PathBuf> {
    let path = path.replace('\\', "/");
    if path.is_empty() || path.starts_with('/') || path.starts_with('~') {
        return None;
    }
    let mut resolved = parsed.folder().join(folder);
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if !resolved.pop() {
                    return None;
                }
            }
            part => resolved.push(part),
        }
    }
    Some(resolved)
}

/// Returns the location of the destination of an inline link: what is between `](` and `)`, without a title.
pub(crate) fn destination_span(text: &str, link: Span) -> Option<Span> {
    let source = text.get(link.range())?;
    let open = source.rfind("](")? + 2;
    let rest = &source[open..];
    let skipped = rest.len() - rest.trim_start().len();
    let rest = rest.trim_start();
    let (bracket, rest) = rest.strip_prefix('<').map_or((0, rest), |inner| (1, inner));
    let end = if bracket == 1 {
        rest.find('>')?
    } else {
        rest.find(|letter: char| letter.is_whitespace()).unwrap_or_else(|| rest.trim_end_matches(')').len())
    };
    let start = link.start + open + skipped + bracket;
    Some(Span::new(start, start + end))
}

/// Returns the location of a text without quotes, if it is written as it is.
fn inner_text_span(source: &str, span: Span, value: &str) -> Option<Span> {
    let slice = source.get(span.range())?;
    if slice == value {
        return Some(span);
    }
    let is_quoted =
        slice.len() == value.len() + 2 && slice.starts_with(['"', '\'']) && slice.get(1..=value.len()) == Some(value);
    is_quoted.then(|| Span::new(span.start + 1, span.end - 1))
}

/// Returns the heading that a fragment names, as GitHub derives fragments from headings.
pub(crate) fn find_heading(outline: &MarkdownOutline, fragment: &str) -> Option<Span> {
    let wanted = fragment.to_lowercase();
    let mut seen: Vec<String> = Vec::new();
    for heading in &outline.headings {
        let base = heading_slug(&heading.text);
        let count = seen.iter().filter(|known| **known == base).count();
        let slug = if count == 0 { base.clone() } else { format!("{base}-{count}") };
        seen.push(base);
        if slug == wanted {
            return Some(heading.span);
        }
    }
    None
}

/// Returns the fragment of a heading.
pub(crate) fn heading_slug(text: &str) -> String {
    let kept = text.trim().to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}
