//! `rep schema`: what it refuses is what `rep check` reports about fields and their values.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use rep_model::yaml::core::to_json;
use rep_model::{Skill, SkillTree};
use rep_test_support::{ScratchFolder, report_skipped};
use serde_json::{Value, json as object};

use super::{json, run};

/// The rules about what a schema can express.
const FIELD_RULES: &[&str] = &[
    "allowed-tools-list",
    "allowed-tools-mapping",
    "boolean-as-text",
    "compatibility-empty",
    "compatibility-list",
    "compatibility-not-text",
    "compatibility-too-long",
    "description-angle-bracket",
    "description-empty",
    "description-missing",
    "description-not-text",
    "description-too-long",
    "description-xml-tag",
    "field-missing",
    "field-not-universal",
    "field-type",
    "field-unexpected",
    "field-unknown",
    "license-not-text",
    "list-empty",
    "metadata-not-mapping",
    "metadata-value-not-text",
    "name-characters",
    "name-empty",
    "name-hyphen-at-edge",
    "name-hyphen-doubled",
    "name-missing",
    "name-not-ascii",
    "name-not-text",
    "name-reserved-word",
    "name-start-not-letter",
    "name-too-long",
    "name-uppercase",
    "value-length",
    "value-not-allowed",
    "value-pattern",
    "value-too-small",
];

const PROFILES: [&str; 10] =
    ["agentskills", "universal", "aam", "pmcp", "portable", "claude-api", "claude-code", "codex", "openai", "mcp"];

/// Frontmatters that fit some profiles, and frontmatters that fit none.
const CASES: &[&str] = &[
    "name: a\ndescription: Use it.",
    "name: a\ndescription: Use it.\nlicense: MIT\ncompatibility: Needs git.\nmetadata: {author: me, version: 1.0}\nallowed-tools: Read",
    "name: a",
    "description: Use it.",
    "name:\ndescription: Use it.",
    "name: ''\ndescription: ' '",
    "name: 12\ndescription: 34",
    "name: [a]\ndescription: {a: b}",
    "name: PDF\ndescription: Use it.",
    "name: a--b\ndescription: Use it.",
    "name: -a\ndescription: Use it.",
    "name: ' a '\ndescription: Use it.",
    "name: a b\ndescription: Use it.",
    "name: über\ndescription: Use it.",
    "name: 7z\ndescription: Use it.",
    "name: my-claude\ndescription: Use it.",
    "name: a\ndescription: Use <b>it</b>.",
    "name: a\ndescription: Use it if x < y.",
    "name: a\ndescription: Use it.\nversion: 1.0.0",
    "name: a\ndescription: Use it.\nlicense: [MIT]",
    "name: a\ndescription: Use it.\nlicense:",
    "name: a\ndescription: Use it.\ncompatibility: {requires: [git]}",
    "name: a\ndescription: Use it.\ncompatibility: [git]",
    "name: a\ndescription: Use it.\nmetadata: text",
    "name: a\ndescription: Use it.\nmetadata: {tags: [a, b]}",
    "name: a\ndescription: Use it.\nallowed-tools: [Read, Write]",
    "name: a\ndescription: Use it.\nallowed-tools: {Read: true}",
    "name: a\ndescription: Use it.\nuser-invocable: false\ncontext: fork\neffort: high",
    "name: a\ndescription: Use it.\nuser-invocable: 'Yes'",
    "name: a\ndescription: Use it.\ncontext: spoon",
    "name: a\ndescription: Use it.\nhooks: text",
    "name: a\ndescription: Use it.\nwhen_to_use: For PDF.",
    "spec_version: '2.1'\nname: a\ndescription: Use it.\nversion: 1.0.0\ntags: [x]",
    "spec_version: '2.1'\nname: a\ndescription: Use it.\nversion: 1.0.0\nlicense: MIT",
    "spec_version: '2.1'\nname: a\ndescription: Use it.\nversion: 1.0.0\ntools: [{name: t}]",
    "spec_version: '2.1'\nname: a\ndescription: Use it.\nversion: 1.0.0\npermissions: {network: {inbound: [x]}}",
    "spec_version: '2.1'\nname: a\ndescription: Use it.\nversion: 1.0.0\nsecrets: {required: [{name: A, usage: file}]}",
    "name: a\ndescription: Use it.\nx-personal-mcp: {id: a, version: 1.0.0, capabilities: ['skill://a']}",
    "name: a\ndescription: Use it.\nx-personal-mcp: {id: A, version: 1.0.0, capabilities: []}",
];

/// A frontmatter as a program reads it that knows YAML 1.2.
fn read_frontmatter(text: &str) -> Option<Value> {
    let (skill, _) = Skill::parse(SkillTree::from_texts("a", &[("SKILL.md", text)]));
    let manifest = skill.manifest.as_ref()?;
    (!manifest.is_guessed).then(|| manifest.front.as_ref().map(|front| to_json(&front.root)))?
}

fn schema(scratch: &ScratchFolder, arguments: &[&str]) -> (Value, Validator) {
    let found = run(scratch, &[&["schema"], arguments].concat());
    assert_eq!(found.code, 0, "{found:?}");
    let document = json(&found);
    jsonschema::draft202012::meta::validate(&document).expect("the schema fits the meta-schema");
    let validator = jsonschema::draft202012::new(&document).expect("the schema can be used");
    (document, validator)
}

/// The SKILL.md files with an error or a warning about a field, and the rules.
fn find_faulty_files(scratch: &ScratchFolder, folder: &str, profile: &str) -> BTreeMap<String, BTreeSet<String>> {
    let select = FIELD_RULES.join(",");
    let found =
        run(scratch, &["check", folder, "--profile", profile, "--select", &select, "--no-cache", "--format", "json"]);
    let mut faulty: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for finding in json(&found)["findings"].as_array().expect("a report has findings") {
        let [file, rule] = ["file", "rule"].map(|key| finding[key].as_str().expect("a finding has a file and a rule"));
        if finding["level"] != "info" && file.ends_with("SKILL.md") {
            faulty.entry(file.to_owned()).or_default().insert(rule.to_owned());
        }
    }
    faulty
}

fn compare(scratch: &ScratchFolder, folder: &str, files: &[PathBuf], profile: &str) -> usize {
    let (_, validator) = schema(scratch, &["--profile", profile]);
    let faulty = find_faulty_files(scratch, folder, profile);
    let mut compared = 0;
    let mut wrong = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let Some(front) = read_frontmatter(&text) else { continue };
        compared += 1;
        let name = file.to_string_lossy().into_owned();
        let name = name.strip_prefix(&format!("{}/", scratch.work_folder().display())).unwrap_or(&name);
        let errors: Vec<String> =
            validator.iter_errors(&front).map(|error| format!("{}: {error}", error.instance_path())).collect();
        if errors.is_empty() == faulty.contains_key(name) {
            wrong.push(format!("{profile}: {name}: {:?}, but the schema says {errors:?}", faulty.get(name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    compared
}

#[test]
fn a_schema_refuses_exactly_what_the_check_reports_about_fields() {
    let scratch = ScratchFolder::new();
    let mut files = Vec::new();
    for (number, front) in CASES.iter().enumerate() {
        let file = format!("lib/{number}/a/SKILL.md");
        scratch.write_file(&file, format!("---\n{front}\n---\n\n# A\n"));
        files.push(scratch.work_folder().join(file));
    }
    for profile in PROFILES {
        assert_eq!(compare(&scratch, "lib", &files, profile), CASES.len());
    }
}

#[test]
fn public_skills_fit_the_schema_unless_the_check_reports_a_field() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/skills");
    if !corpus.is_dir() {
        return report_skipped("../shared/corpus is not here, so no public skill was compared with a schema");
    }
    let mut files = Vec::new();
    let mut folders = vec![corpus.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("SKILL.md") {
                files.push(path);
            }
        }
    }
    let scratch = ScratchFolder::new();
    for profile in PROFILES {
        assert!(compare(&scratch, corpus.to_str().unwrap(), &files, profile) > 100);
    }
}

#[test]
fn a_host_accepts_the_fields_that_it_documents() {
    let scratch = ScratchFolder::new();
    let hosts = json(&run(&scratch, &["hosts", "--json"]));
    let ids: Vec<&str> = hosts["hosts"].as_array().unwrap().iter().map(|host| host["id"].as_str().unwrap()).collect();
    assert!(ids.len() > 30 && ids.contains(&"codex"));
    for id in ids {
        let (document, validator) = schema(&scratch, &["--host", id]);
        assert!(validator.is_valid(&object!({ "name": "a", "description": "Use it." })), "{id}");
        assert!(!validator.is_valid(&object!({ "name": ["a"], "description": "Use it." })), "{id}");
        assert!(document["properties"]["name"]["description"].is_string(), "{id}");
    }
    let of_host = |host: &str, more: Value| {
        let mut front = object!({ "name": "a", "description": "Use it." });
        front.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema(&scratch, &["--host", host]).1.is_valid(&front)
    };
    let of_claude = object!({ "user-invocable": false, "context": "fork", "paths": ["*.pdf"], "effort": "low" });
    assert!(of_host("claude-code", of_claude.clone()));
    assert!(of_host("copilot", object!({ "argument-hint": "[file]", "disable-model-invocation": true })));
    assert!(of_host("gemini-cli", object!({ "version": "1" })), "a program ignores fields");
    assert!(!of_host("claude-code", object!({ "context": "spoon" })));
    assert!(!of_host("claude-api", of_claude), "an upload is refused");
    for host in ["claude-api", "claude-code", "codex", "copilot", "cursor", "gemini-cli", "openai", "opencode"] {
        let (document, _) = schema(&scratch, &["--host", host]);
        let text = document["properties"]["name"]["description"].as_str().unwrap();
        assert!(text.contains("reads it (") || text.contains("at most 64"), "{host}: {text}");
    }
    let (document, _) = schema(&scratch, &["--host", "codex"]);
    let text = document["properties"]["description"]["description"].as_str().unwrap();
    assert!(text.contains("at most 1024") && text.contains("2026-"), "{text}");
}

#[test]
fn the_schema_of_uasp_files_describes_their_sections() {
    let scratch = ScratchFolder::new();
    let (document, validator) = schema(&scratch, &["--profile", "uasp"]);
    assert!(validator.is_valid(&object!({ "meta": { "name": "b", "version": "0", "type": "cli" } })));
    assert!(!validator.is_valid(&object!({ "meta": { "name": "b", "version": "0", "type": "shell" } })));
    assert!(!validator.is_valid(&object!({ "commands": {} })));
    assert!(
        document["properties"]["commands"]["additionalProperties"]["properties"]["syntax"]["description"].is_string()
    );
}

#[test]
fn the_default_is_the_specification_and_unknown_subjects_are_refused() {
    let scratch = ScratchFolder::new();
    assert_eq!(schema(&scratch, &[]).0, schema(&scratch, &["--profile", "agentskills"]).0);
    let found = run(&scratch, &["schema", "--host", "claude-cod"]);
    assert!(found.code == 2 && found.stderr.contains("claude-code"), "{found:?}");
    assert_eq!(run(&scratch, &["schema", "--profile", "security"]).code, 2);
    assert_eq!(run(&scratch, &["schema", "--host", "codex", "--profile", "codex"]).code, 2);
}
