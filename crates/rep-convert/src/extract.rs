//! Extracts the twelve sections of UASP from a Markdown skill, with rules and without a model.
//!
//! Pure and bounded: one pass splits the body into blocks, each reader visits them once, and nothing recurses on the
//! author's input. Precision comes before completeness: a false rule misleads, while a missing one is still in the
//! Markdown. Doubtful facts carry a reason. Follows the conversion rules of UASP §7.1.

mod blocks;
mod clauses;
mod commands;
mod decision_trees;
mod decisions;
pub(crate) mod draft;
mod endpoints;
mod environment;
mod flags;
pub(crate) mod language;
mod lexicon;
mod lists;
mod preferences;
mod programs;
mod reference;
mod roles;
pub mod rules;
mod sentences;
mod shell;
mod sources;
mod state;
mod statements;
mod syntax;
mod tables;
mod triggers;
mod words;
mod workflows;

use std::borrow::Cow;
use std::ops::Range;

use rep_model::frontmatter::{ScalarText, split_allowed_tools};
use rep_model::{DocumentOrigin, ExtractedFact, Frontmatter, Manifest, Skill, SkillDocument, ValuePathStep};
use serde_json::json;

use crate::docs::page_parser::{self, ParsedPage};
use crate::names;
use draft::{DocumentDraft, FactCandidate};
use rules::ExtractionRule;

/// The maximum length of a description in UASP.
const DESCRIPTION_CHARS_MAX: usize = 500;

/// Options of the extraction.
#[derive(Clone, Debug, Default)]
pub struct ExtractionOptions {
    /// Whether doubtful facts are extracted as well, marked for review.
    pub include_doubtful: bool,
    /// The ids of the disabled rules.
    pub disabled_rules: Vec<String>,
}

impl ExtractionOptions {
    fn allows_rule(&self, rule: &ExtractionRule) -> bool {
        (self.include_doubtful || rule.is_confident()) && !self.disabled_rules.iter().any(|id| id == rule.id)
    }
}

/// Extracts the structure of a skill from its SKILL.md: the facts that the rules are confident of.
pub fn extract_document(skill: &Skill) -> SkillDocument {
    extract_document_with(skill, &ExtractionOptions::default())
}

/// Extracts the structure of a skill from its SKILL.md.
pub fn extract_document_with(skill: &Skill, extraction: &ExtractionOptions) -> SkillDocument {
    let [document] = extract_each(skill, [extraction]);
    document
}

/// Extracts the structure of a skill twice in one pass: the confident facts, and all facts.
pub fn extract_sure_and_all(skill: &Skill) -> (SkillDocument, SkillDocument) {
    let all = ExtractionOptions { include_doubtful: true, ..ExtractionOptions::default() };
    let [sure, all] = extract_each(skill, [&ExtractionOptions::default(), &all]);
    (sure, all)
}

fn extract_each<const N: usize>(skill: &Skill, extractions: [&ExtractionOptions; N]) -> [SkillDocument; N] {
    let name = names::to_name_or(skill.name().unwrap_or(&skill.tree.folder), "skill");
    let document = |sections, facts| SkillDocument::from_value(sections, DocumentOrigin::Extracted, facts);
    let Some(manifest) = &skill.manifest else {
        let mut draft = DocumentDraft::default();
        draft.meta.add(&rules::META_FIELD, "name", 1, None, json!(name));
        let (sections, facts) = draft.into_sections();
        return extractions.map(|_| document(sections.clone(), facts.clone()));
    };
    let tools = collect_tools(manifest.front.as_ref(), &name);
    let first_line = manifest.source.text()[..manifest.body_span().start].matches('\n').count() + 1;
    let page = page_parser::parse_page(manifest, first_line);
    let is_page = page.is_some();
    let (mut draft, own, body) = match page {
        // Additions to a page of known layout are read by the ordinary rules.
        Some(ParsedPage { draft, unknown_sections: own, unread_lines: rest }) => {
            (draft, own, Cow::Owned(blank_other_lines(manifest.body(), first_line, rest)))
        }
        None => (DocumentDraft::default(), Vec::new(), Cow::Borrowed(manifest.body())),
    };
    let blocks = blocks::parse_blocks(&body, first_line);
    let places = roles::classify_blocks(&blocks);
    let calls = commands::extract_commands(&blocks, &places, &tools, &mut draft);
    let ids = sources::extract_sources(&blocks, (!is_page).then_some(&skill.tree), &calls, &mut draft);
    tables::extract_tables(&blocks, &places, &mut draft);
    let is_read = lists::extract_list_decisions(&blocks, &places, &mut draft);
    statements::extract_statements(&blocks, &places, &is_read, &mut draft);
    for decision in &mut draft.decisions.items {
        if let Some(id) = decision.link.as_ref().and_then(|link| ids.get(sources::strip_current_directory(link))) {
            decision.value["ref"] = json!(id);
        }
    }
    workflows::extract_workflows(&blocks, &places, &name, &mut draft);
    reference::extract_reference(&blocks, &name, &mut draft);
    environment::extract_environment(&blocks, &places, &mut draft);
    state::extract_entities(&blocks, &mut draft);
    if !is_page {
        triggers::extract_triggers(manifest, &name, &blocks, &places, &mut draft);
    }
    extractions.map(|extraction| {
        let mut draft = draft.clone();
        draft.resolve_conflicts(extraction);
        if !is_page {
            add_meta(manifest, &name, &tools, &mut draft);
        }
        let (mut sections, mut facts) = draft.into_sections();
        for (section, line, value) in &own {
            if sections.get(section).is_none() {
                sections[section] = value.clone();
                let path = vec![ValuePathStep::Key(section.clone())];
                facts.push(ExtractedFact { path, line: *line, doubt: None, rule: Some(rules::PAGE_FIELD.id) });
            }
        }
        document(sections, facts)
    })
}

/// Blanks all lines of a body except some, so that those keep their positions.
fn blank_other_lines(body: &str, first_line: usize, lines: Vec<Range<usize>>) -> String {
    let mut ranges = lines.into_iter().peekable();
    let mut kept = Vec::new();
    for (line, text) in (first_line..).zip(body.lines()) {
        while ranges.next_if(|range| range.end <= line).is_some() {}
        kept.push(if ranges.peek().is_some_and(|range| range.contains(&line)) { text } else { "" });
    }
    kept.join("\n")
}

/// Lists the programs that the frontmatter allows, and the name of the skill, which is often the name of its tool.
fn collect_tools(front: Option<&Frontmatter>, name: &str) -> Vec<String> {
    let node = front.and_then(|front| front.get("allowed-tools"));
    let items = node.map_or(&[][..], |node| node.items().unwrap_or(std::slice::from_ref(node)));
    let entries = items.iter().filter_map(|item| item.text()).flat_map(split_allowed_tools);
    let programs = entries.filter_map(|entry| entry.strip_prefix("Bash(")?.split([' ', ':', '*', ')']).next());
    let own =
        programs.filter(|program| programs::is_program_name(program) && !lexicon::LEXICON.plumbing.contains(program));
    own.map(str::to_owned).chain([name.to_owned()]).collect()
}

fn add_meta(manifest: &Manifest, name: &str, tools: &[String], draft: &mut DocumentDraft) {
    let front = manifest.front.as_ref();
    let line_of = |text: ScalarText<'_>| manifest.source.position_at(text.span().start).line;
    let named = front.and_then(Frontmatter::name);
    let doubt = named.is_none_or(|named| named.value != name).then_some("made from a name that UASP does not allow");
    draft.meta.add(&rules::META_FIELD, "name", named.map_or(1, line_of), doubt, json!(name));
    let (kind, doubt) = infer_skill_type(tools, draft);
    draft.meta.add(&rules::META_FIELD, "type", 1, doubt, json!(kind));
    if let Some(description) = front.and_then(Frontmatter::description) {
        let text = description.value.split_whitespace().collect::<Vec<_>>().join(" ");
        let short = shorten_text(&text, DESCRIPTION_CHARS_MAX);
        let doubt = (short.len() < text.len()).then_some("shortened to the limit of UASP");
        draft.meta.add(&rules::META_FIELD, "description", line_of(description), doubt, json!(short));
    }
}

/// Shortens a text to at most `max` characters, after a sentence if one ends late enough, otherwise after a word.
fn shorten_text(text: &str, max: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(max) else { return text };
    let sentence = text[..end].rfind(". ").map(|at| at + 1).filter(|at| at * 2 > end);
    let end = sentence.or_else(|| text[..end].rfind(' ')).unwrap_or(end);
    text[..end].trim_end_matches([',', ';', ' '])
}

/// Infers the type of a skill from its main content, by UASP §7.1 rule 1.
fn infer_skill_type(tools: &[String], draft: &DocumentDraft) -> (&'static str, Option<&'static str>) {
    let syntaxes = draft.commands.entries.iter().map(|(_, found)| found.value["syntax"].as_str().unwrap_or_default());
    let programs: Vec<&str> = syntaxes.filter_map(|syntax| syntax.split(' ').next()).collect();
    let commands = programs.len();
    let is_endpoint = |found: &FactCandidate| found.rule == &rules::COMMAND_ENDPOINT;
    let endpoints = draft.commands.entries.iter().filter(|(_, found)| is_endpoint(found)).count();
    let own = programs.iter().filter(|word| tools.iter().any(|tool| tool == *word)).count();
    let lists = [&draft.never, &draft.always, &draft.prefer, &draft.decisions];
    let rules: usize = lists.iter().map(|list| list.items.len()).sum();
    // By §4.3, knowledge has no commands, flags, templates or state.
    if commands == 0 && draft.templates.entries.is_empty() && draft.entities.items.is_empty() {
        ("knowledge", None)
    } else if endpoints >= 2 && endpoints * 2 >= commands {
        if rules > 15 { ("hybrid", Some("endpoints and rules are equally frequent")) } else { ("api", None) }
    } else if own > 0 && (own * 2 >= commands || own >= 3) || commands >= 8 && rules < 10 {
        ("cli", None)
    } else {
        ("hybrid", (commands <= 2 && rules > 10).then_some("few commands: it may be knowledge"))
    }
}
