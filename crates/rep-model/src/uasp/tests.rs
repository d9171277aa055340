use serde_json::{Value, json};

use super::*;
use crate::{DocumentOrigin, Skill, SkillDocument, SkillTree};

fn authored(text: &str) -> (Skill, SkillDocument) {
    let (skill, _) = Skill::parse(SkillTree::from_texts("t", &[("t.uasp.yaml", text)]));
    let document = SkillDocument::from_skill(&skill).expect("the root is a mapping");
    (skill, document)
}

fn from_value(value: Value) -> SkillDocument {
    SkillDocument::from_value(value, DocumentOrigin::Authored, Vec::new())
}

fn values(texts: &[SpannedText]) -> Vec<&str> {
    texts.iter().map(|text| &**text).collect()
}

const FILE: &str = "\u{feff}meta: {name: t, version: '00000000', type: cli, x-own: 1}
triggers: {keywords: [pdf, 2024]}
constraints: {never: [lie], prefer: [{use: a, over: b}, a sentence]}
decisions: [{when: w, then: t, ref: s}]
state: {entities: [{name: ref, format: '@e{n}', created_by: [snap]}]}
commands:
  get.text:
    syntax: b get text <ref>
    aliases: [text]
    args: [{name: ref, type: ref, required: true, in: path, enum: [1, a]}, bare]
    flags: [{name: -1, type: bool}]
    requires: [refs]
    method: GET
    strange: [1]
global_flags: [{name: --json}]
workflows: {w: {description: d, steps: [{cmd: get text @e1, optional: true}, get.text @e2]}}
reference: {a.b: {syntax: s, own: x}, c: text}
templates: {t: {description: d, path: x.sh}}
environment: [{name: A, default: 5, secret: true}, B]
sources: [{id: s, url: 'https://e.org'}]
api: {base_url: 'https://e.org', headers: {A: b}}
";

#[test]
fn every_text_of_an_authors_file_points_at_its_bytes() {
    let (skill, document) = authored(FILE);
    let sections = &document.sections;
    let command = document.get_command("text").expect("an alias names its command");
    let source = &skill.uasp[0].source;
    for (text, written) in [
        (Some(&command.path), "get.text"),
        (sections.meta.name.as_ref(), "t"),
        (sections.meta.version.as_ref(), "'00000000'"),
        (sections.triggers.keywords.get(1), "2024"),
        (sections.constraints.never.first(), "lie"),
        (sections.constraints.prefer[1].sentence.as_ref(), "a sentence"),
        (sections.decisions[0].source.as_ref(), "s"),
        (sections.state.entities[0].created_by.first(), "snap"),
        (command.requires.first(), "refs"),
        (command.flags[0].name.as_ref(), "-1"),
        (command.request.method.as_ref(), "GET"),
        (Some(&sections.workflows[0].name), "w"),
        (sections.workflows[0].steps[1].command.as_ref(), "get.text @e2"),
        (sections.templates[0].path.as_ref(), "x.sh"),
        (sections.environment[1].name.as_ref(), "B"),
        (sections.api.base_url.as_ref(), "'https://e.org'"),
    ] {
        let text = text.unwrap_or_else(|| panic!("{written} is read"));
        assert_eq!(source.slice(text.span.unwrap()), written);
        assert_eq!(&**text, written.trim_matches('\''));
    }
    assert!(!sections.triggers.keywords[1].is_text && sections.triggers.keywords[0].is_text);
}

#[test]
fn the_same_document_has_the_same_sections_whichever_way_it_came() {
    let (_, document) = authored(FILE);
    let again = from_value(document.raw_value().clone());
    assert_eq!(again.sections.meta.name, Some(SpannedText::new("t")));
    assert_eq!(again.sections.commands.iter().count(), document.sections.commands.iter().count());
    let argument = &again.sections.commands.get("get.text").unwrap().arguments[0];
    assert_eq!((argument.is_required, argument.location), (Some(true), Some(ArgumentLocation::Path)));
    assert_eq!(argument.values, [json!(1), json!("a")]);
    assert_eq!(again.sections.environment[0].default, Some(json!(5)));
    assert_eq!(again.sections.reference[1].whole, Some(json!("text")));
    assert_eq!(Value::from(again.sections.reference[0].features.clone()), json!({ "own": "x" }));
}

#[test]
fn what_has_the_wrong_type_is_absent_and_keeps_its_place() {
    let document = from_value(json!({
        "meta": [1],
        "triggers": "x",
        "commands": { "a": 5, "b": { "syntax": ["x"], "requires": "refs", "creates": ["r", {}], "returns": null } },
        "decisions": [1, { "when": "w" }],
        "workflows": [],
        "environment": [{ "name": {} }],
    }));
    let sections = &document.sections;
    let command = document.get_command("b").unwrap();
    assert_eq!((&sections.meta, sections.workflows.len()), (&UaspMeta::default(), 0));
    assert!(command.syntax.is_none() && command.requires.is_empty() && command.returns.is_none());
    assert_eq!(values(&command.creates), ["r"]);
    assert_eq!(Value::from(command.extra.clone()), json!({ "syntax": ["x"], "requires": "refs", "returns": null }));
    assert_eq!(sections.decisions[1].when.as_deref(), Some("w"));
    assert_eq!(sections.environment.len(), 1);
    for value in [json!(null), json!([1]), json!("text"), json!(5)] {
        assert_eq!(from_value(value).sections, UaspSections::default());
    }
}

#[test]
fn commands_are_found_by_path_then_alias_and_steps_by_their_longest_beginning() {
    let document = from_value(json!({ "commands": {
        "get": { "syntax": "b get", "aliases": ["get.text", "fetch", "both"] },
        "get.text": { "syntax": "b get text <ref>" },
        "both": { "syntax": "c", "aliases": ["fetch"] },
    } }));
    let path = |found: Option<&UaspCommand>| found.map(|command| command.path.to_string());
    assert_eq!(path(document.get_command("get.text")).as_deref(), Some("get.text"));
    assert_eq!(path(document.get_command("fetch")).as_deref(), Some("get"));
    assert_eq!(path(document.get_command("both")).as_deref(), Some("both"));
    assert_eq!(document.get_command("get text"), None);
    assert_eq!(path(document.find_command("get  text")).as_deref(), Some("get.text"));
    let step = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        path(document.sections.commands.find_by_step(&words))
    };
    assert_eq!(step("get text @e1").as_deref(), Some("get.text"));
    assert_eq!(step("get.text @e1").as_deref(), Some("get.text"));
    assert_eq!(step("b get @e1").as_deref(), Some("get"));
    assert_eq!(step("d get @e1"), None);
    assert_eq!(step(""), None);
}

#[test]
fn of_a_key_that_is_written_twice_the_last_counts() {
    let (skill, document) = authored("meta: {name: one, name: two}\ncommands: {a: {syntax: x}, a: {syntax: y}}\n");
    let name = document.sections.meta.name.clone().unwrap();
    assert_eq!((&*name, skill.uasp[0].source.slice(name.span_or_start())), ("two", "two"));
    let command = document.get_command("a").unwrap();
    assert_eq!(skill.uasp[0].source.slice(command.syntax.as_ref().unwrap().span_or_start()), "y");
}

#[test]
fn what_can_be_run_has_a_name() {
    let document = from_value(json!({ "commands": { "a.b": {} }, "templates": { "t": {} }, "own": 1 }));
    assert_eq!(document.runnable_names(), ["a.b", "templates.t"]);
    assert!(document.find_template("t").is_some() && document.find_workflow("t").is_none());
    assert_eq!(document.unknown_sections().collect::<Vec<_>>(), [("own", &json!(1))]);
}

/// Commands that say nothing about state, so that only the entities do.
fn declare_entities(entities: &Value) -> SkillDocument {
    let commands = ["open", "snap", "click", "get.text", "get.url", "state.save", "state.load"];
    let syntax = |path: &str| match path {
        "get.text" => "b get text <ref>".to_owned(),
        path => format!("b {path}"),
    };
    let commands: serde_json::Map<String, Value> =
        commands.iter().map(|path| ((*path).to_owned(), json!({ "syntax": syntax(path) }))).collect();
    from_value(json!({ "state": { "entities": entities }, "commands": commands }))
}

#[test]
fn entities_name_their_commands_by_path_words_and_prefix() {
    let document = declare_entities(&json!([
        { "name": "ref", "created_by": ["snap", "--all flag"], "consumed_by": ["click", "get", "drag"],
          "invalidated_by": ["open", "navigation (open, back)", "page-changing clicks"] },
        { "name": "session", "persisted_by": ["state save"], "restored_by": ["state load"] },
        { "name": "page", "invalidated_by": ["state"] },
    ]));
    let effects = StateEffects::from_sections(&document.sections);
    let of = |path: &str| effects.get(path).expect("the command is declared").clone();
    assert_eq!((of("snap").creates, of("open").invalidates), (vec!["ref"], vec!["ref"]));
    assert_eq!((of("click").requires, of("get.text").requires), (vec!["ref"], vec!["ref"]));
    // `get` names the commands of the group that take the entity.
    assert_eq!(of("get.url"), CommandEffects { command: "get.url", ..CommandEffects::default() });
    assert_eq!((of("state.save").persists, of("state.load").restores), (vec!["session"], vec!["session"]));
    assert_eq!((of("state.save").invalidates, of("state.load").invalidates), (vec!["page"], vec!["page"]));
    assert_eq!(effects.entity_names().collect::<Vec<_>>(), ["page", "ref", "session"]);
}

#[test]
fn a_group_whose_commands_do_not_show_what_they_take_consumes_as_a_whole() {
    let document = declare_entities(&json!([{ "name": "page", "consumed_by": ["get"] }]));
    let effects = StateEffects::from_sections(&document.sections);
    for path in ["get.text", "get.url"] {
        assert_eq!(effects.get(path).expect("the command is declared").requires, ["page"], "{path}");
    }
}

#[test]
fn commands_and_entities_are_united_and_number_makes_no_difference() {
    let document = from_value(json!({
        "state": { "entities": [{ "name": "ref", "created_by": ["snap"], "consumed_by": ["click", "press"] }] },
        "commands": {
            "open": { "syntax": "b open", "aliases": ["goto"], "invalidates": ["refs"] },
            "snap": { "syntax": "b snap", "creates": ["refs", "ref"] },
            "click": { "syntax": "b click", "requires": ["refs"], "invalidates": ["refs"] },
            "press": { "syntax": "b press" },
            "report": { "syntax": "b report", "requires": ["goto"] },
        },
    }));
    let effects = StateEffects::from_sections(&document.sections);
    let of = |path: &str| effects.get(path).expect("the command is declared").clone();
    assert_eq!((of("snap").creates, of("open").invalidates), (vec!["refs", "ref"], vec!["refs", "ref"]));
    // What the command itself requires is not required again under its other name.
    assert_eq!((of("click").requires, of("press").requires), (vec!["refs"], vec!["ref"]));
    assert_eq!((of("open").completes, of("snap").completes), (vec!["goto"], vec![]));
}

#[test]
fn a_prefix_in_many_entities_costs_no_more_than_the_limit() {
    let entities: Vec<Value> =
        (0..4000).map(|at| json!({ "name": format!("e{at}"), "consumed_by": ["g"], "created_by": ["g"] })).collect();
    let commands: serde_json::Map<String, Value> =
        (0..4000).map(|at| (format!("g.c{at}"), json!({ "syntax": "x" }))).collect();
    let document = from_value(json!({ "state": { "entities": entities }, "commands": commands }));
    let effects = StateEffects::from_sections(&document.sections);
    let links = document.sections.commands.iter().filter_map(|command| effects.get(&command.path));
    assert!(links.map(|effects| effects.requires.len() + effects.creates.len()).sum::<usize>() <= 100_000);
}
