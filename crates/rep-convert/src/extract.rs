//! Reads the twelve sections of UASP out of a Markdown skill, by rule and without a model.
//!
//! Pure and bounded: one pass cuts the body into blocks, each reader walks over them once, and nothing recurses on what
//! the author wrote. Precision comes before completeness: a rule that is no rule misleads, a missing one is still in
//! the Markdown. What is doubtful says why. Follows the conversion rules of UASP §7.1.

mod blocks;
mod choices;
mod clauses;
mod commands;
mod constraints;
mod contrasts;
mod decisions;
mod draft;
mod endpoints;
mod environment;
mod flags;
mod html;
pub(crate) mod language;
pub(crate) mod layout;
pub(crate) mod names;
mod notices;
mod phrases;
mod preferences;
mod programs;
mod quotations;
mod reference;
mod rules;
mod sections;
mod sentences;
mod shell;
mod sources;
mod state;
mod syntax;
mod terse;
mod trees;
mod triggers;
mod words;
mod workflows;

use rep_model::frontmatter::split_allowed_tools;
use rep_model::{Frontmatter, Manifest, Skill, SkillTree};
use serde_json::{Map, Value, json};

use draft::Draft;
use rep_model::{Document, Fact, Origin, Step};

/// The longest description UASP takes.
const DESCRIPTION_MAX: usize = 500;

/// Extracts the structure of a skill from its SKILL.md.
pub fn extract(skill: &Skill) -> Document {
    let (sections, facts) = extract_tree(skill);
    Document::from_value(Value::Object(sections), Origin::Extracted, facts)
}

fn extract_tree(skill: &Skill) -> (Map<String, Value>, Vec<Fact>) {
    let mut draft = Draft::default();
    let name = names::name(skill.name().unwrap_or(&skill.tree.folder), "skill");
    let Some(manifest) = &skill.manifest else {
        draft.meta.add("name", 1, None, json!(name));
        return draft.finish();
    };
    let first_line = manifest.source.text()[..manifest.body_span().start].matches('\n').count() + 1;
    if let Some(page) = layout::read(manifest, first_line) {
        return read_page(page, manifest, first_line, &name);
    }
    let blocks = blocks::blocks(manifest.body(), first_line);
    let places = sections::places(&blocks);
    let front = manifest.front.as_ref();
    let line_of = |at: usize| manifest.source.position(at).line;
    let tools = tools(front, &name);

    let calls = commands::read(&blocks, &places, &tools, &mut draft);
    let ids = sources::read(&blocks, &skill.tree, &calls, &mut draft);
    rules::read(&blocks, &places, &ids, &mut draft);
    workflows::read(&blocks, &places, &name, &mut draft);
    reference::read(&blocks, &name, &mut draft);
    environment::read(&blocks, &places, &mut draft);
    state::read(&blocks, &mut draft);
    triggers::read(front, &name, &blocks, &places, &line_of, &mut draft);
    meta(front, &name, &tools, &line_of, &mut draft);
    draft.finish()
}

/// What a page of known layout says, and by the ordinary rules what people added to it.
fn read_page(
    page: layout::Page,
    manifest: &Manifest,
    first_line: usize,
    name: &str,
) -> (Map<String, Value>, Vec<Fact>) {
    let layout::Page { mut draft, own, rest } = page;
    if !rest.is_empty() {
        let mut ranges = rest.into_iter().peekable();
        let mut kept = Vec::new();
        for (line, text) in (first_line..).zip(manifest.body().lines()) {
            while ranges.next_if(|range| range.end <= line).is_some() {}
            kept.push(if ranges.peek().is_some_and(|range| range.contains(&line)) { text } else { "" });
        }
        let blocks = blocks::blocks(&kept.join("\n"), first_line);
        let places = sections::places(&blocks);
        let calls = commands::read(&blocks, &places, &tools(manifest.front.as_ref(), name), &mut draft);
        let ids = sources::read(&blocks, &SkillTree::default(), &calls, &mut draft);
        rules::read(&blocks, &places, &ids, &mut draft);
        workflows::read(&blocks, &places, name, &mut draft);
        reference::read(&blocks, name, &mut draft);
        environment::read(&blocks, &places, &mut draft);
        state::read(&blocks, &mut draft);
    }
    let (mut sections, mut facts) = draft.finish();
    for (section, line, value) in own {
        if !sections.contains_key(&section) {
            sections.insert(section.clone(), value);
            facts.push(Fact { path: vec![Step::Key(section)], line, doubt: None });
        }
    }
    (sections, facts)
}

/// The programs the skill may call by its frontmatter, and its own name, which is often that of its tool.
fn tools(front: Option<&Frontmatter>, name: &str) -> Vec<String> {
    let mut tools = Vec::new();
    if let Some(node) = front.and_then(|front| front.get("allowed-tools")) {
        let items = node.items().map_or_else(|| vec![node], |items| items.iter().collect());
        for text in items.into_iter().filter_map(|item| item.text()) {
            for entry in split_allowed_tools(text) {
                let inside = entry.strip_prefix("Bash(").map(|rest| rest.trim_end_matches(')'));
                let program = inside.and_then(|inside| inside.split([' ', ':', '*']).next()).unwrap_or_default();
                if programs::is_program(program) && !programs::is_plumbing(program) {
                    tools.push(program.to_owned());
                }
            }
        }
    }
    tools.push(name.to_owned());
    tools
}

fn meta(
    front: Option<&Frontmatter>,
    name: &str,
    tools: &[String],
    line_of: &dyn Fn(usize) -> usize,
    draft: &mut Draft,
) {
    let named = front.and_then(Frontmatter::name);
    let doubt = named.is_none_or(|named| named.value != name).then_some("made from a name UASP does not take");
    let line = named.map_or(1, |named| line_of(named.span().start));
    draft.meta.add("name", line, doubt, json!(name));
    let (kind, doubt) = skill_type(tools, draft);
    draft.meta.add("type", 1, doubt, json!(kind));
    if let Some(description) = front.and_then(Frontmatter::description) {
        let text = description.value.split_whitespace().collect::<Vec<_>>().join(" ");
        let short = shorten(&text);
        let doubt = (short.len() < text.len()).then_some("shortened to what UASP takes");
        draft.meta.add("description", line_of(description.span().start), doubt, json!(short));
    }
}

/// A description that fits, cut behind a sentence where one ends late enough.
fn shorten(text: &str) -> String {
    if text.chars().count() <= DESCRIPTION_MAX {
        return text.to_owned();
    }
    let kept: String = text.chars().take(DESCRIPTION_MAX - 1).collect();
    let end = kept.rfind(". ").map(|at| at + 1).filter(|at| *at * 2 > kept.len());
    let end = end.or_else(|| kept.rfind(' ')).unwrap_or(kept.len());
    kept[..end].trim_end_matches([',', ';', ' ']).to_owned()
}

/// The type, by UASP §7.1 rule 1: what the skill mostly says.
fn skill_type(tools: &[String], draft: &Draft) -> (&'static str, Option<&'static str>) {
    let commands = draft.commands.entries.len();
    let endpoints = draft.commands.entries.iter().filter(|(_, found)| {
        let syntax = found.value["syntax"].as_str().unwrap_or_default();
        ["GET ", "POST ", "PUT ", "PATCH ", "DELETE "].iter().any(|method| syntax.starts_with(method))
    });
    let endpoints = endpoints.count();
    let rules =
        draft.never.items.len() + draft.always.items.len() + draft.prefer.items.len() + draft.decisions.items.len();
    let own = draft.commands.entries.iter().filter(|(_, found)| {
        let syntax = found.value["syntax"].as_str().unwrap_or_default();
        tools.iter().any(|tool| syntax.split(' ').next() == Some(tool))
    });
    let own = own.count();
    // §4.3 gives knowledge neither commands, nor flags, nor templates, nor state.
    if commands == 0 && draft.templates.entries.is_empty() && draft.entities.items.is_empty() {
        return ("knowledge", None);
    }
    if endpoints >= 2 && endpoints * 2 >= commands {
        return if rules > 15 { ("hybrid", Some("endpoints and rules weigh much the same")) } else { ("api", None) };
    }
    if own > 0 && (own * 2 >= commands || own >= 3) || commands >= 8 && rules < 10 {
        return ("cli", None);
    }
    ("hybrid", (commands <= 2 && rules > 10).then_some("few commands: it may be knowledge"))
}
