//! What the binary prints and writes, compared with the JSON Schemas in `schemas/`.
//!
//! The published schemas allow fields that they do not name, so that fields can be added. Here they are closed: a key
//! that is not described is an error. Every run that a `ScratchFolder` makes in this test binary is checked. The scenarios
//! make sure that each output occurs, and that no field is described that nothing prints.

mod authoring;
mod library;
mod packages;
mod running;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use jsonschema::Validator;
use rep_test_support::{ProgramRun, ScratchFolder};
use serde_json::{Value, json};

use super::rep;

/// Fields that no scenario prints. The list may only shrink.
///
/// These need a desktop with a keyring. `keyring.rs` starts one where it can, and compares the file too.
const UNSEEN: &[&str] = &["secrets-file.key", "secrets-file.key.keyring"];

/// A schema with its two readings.
struct Schema {
    document: Value,
    open: Validator,
    closed: Validator,
}

fn schemas() -> &'static BTreeMap<String, Schema> {
    static SCHEMAS: OnceLock<BTreeMap<String, Schema>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
        let files = std::fs::read_dir(folder).expect("the schemas are there").flatten().map(|entry| entry.path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "json")).map(|path| load(&path)).collect()
    })
}

fn load(path: &Path) -> (String, Schema) {
    let text = std::fs::read_to_string(path).expect("a schema can be read");
    let document: Value = serde_json::from_str(&text).expect("a schema is JSON");
    jsonschema::draft202012::meta::validate(&document).expect("a schema fits the meta-schema");
    let mut strict = document.clone();
    close(&mut strict);
    let validator = |schema: &Value| jsonschema::draft202012::new(schema).expect("a schema can be used");
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.split(".v").next());
    let name = name.expect("the name of a schema has a version").to_owned();
    (name, Schema { open: validator(&document), closed: validator(&strict), document })
}

/// Checks an answer of a server that is the document of a command.
pub(super) fn check_answer(name: &str, value: &Value) {
    assert_eq!(misfits(name, value), Vec::<String>::new(), "{name}: {value:#}");
}

/// Forbids what is not described.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(close);
            if map.get("properties").is_some_and(Value::is_object) && map.contains_key("required") {
                map.entry("additionalProperties").or_insert(json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Why a value does not fit an output; empty where it does.
fn misfits(name: &str, value: &Value) -> Vec<String> {
    let schema = schemas().get(name).unwrap_or_else(|| panic!("the schema `{name}` does not exist"));
    schema.closed.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Whether a command line of a schema is the one that was run: the same command, and all its flags.
fn is_called(line: &str, arguments: &[&str]) -> bool {
    let mut words = line.split_whitespace().skip(1);
    let is_named = |word: &str| word.chars().any(|letter| letter.is_ascii_lowercase() || letter == '-');
    words.next() == arguments.first().copied()
        && words.filter(|word| is_named(word)).all(|word| arguments.contains(&word))
}

/// Checks one run: whatever it prints as JSON fits a schema of its command. Every run of a test comes by here.
pub(super) fn check_run(arguments: &[&str], run: &ProgramRun) {
    let texts = |schema: &Schema, key: &str| schema.document[key].as_array().cloned().unwrap_or_default();
    let prints = |schema: &Schema| {
        let lines = texts(schema, "x-commands");
        lines.iter().filter_map(Value::as_str).any(|line| is_called(line, arguments))
    };
    let fitting: Vec<(&String, &Schema)> = schemas().iter().filter(|(_, schema)| prints(schema)).collect();
    if fitting.is_empty()
        || run.stdout.is_empty()
        || arguments.iter().any(|argument| matches!(*argument, "--help" | "-h"))
    {
        return;
    }
    let value: Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("rep {arguments:?} prints something else than JSON ({error}): {run:?}"));
    // A tool has fields of its own in its errors.
    let is_error = if arguments[0] == "run" {
        schemas()["error"].open.is_valid(&value)
    } else {
        misfits("error", &value).is_empty()
    };
    if is_error || (value["status"] != "error" && fitting.iter().any(|(_, schema)| schema.closed.is_valid(&value))) {
        return;
    }
    let names: Vec<&str> = fitting.iter().map(|(name, _)| name.as_str()).chain(["error"]).collect();
    let all: Vec<String> = names.iter().map(|name| format!("{name}: {}", misfits(name, &value).join("\n  "))).collect();
    panic!("rep {arguments:?} prints what no schema describes\n{}\n{value:#}", all.join("\n"));
}

/// What outputs and fields occurred.
#[derive(Default)]
struct Seen {
    outputs: BTreeSet<String>,
    fields: BTreeSet<String>,
}

fn seen() -> &'static Mutex<Seen> {
    static SEEN: OnceLock<Mutex<Seen>> = OnceLock::new();
    SEEN.get_or_init(Mutex::default)
}

/// Checks a value against one output, and notes what occurs in it.
fn check(name: &str, value: &Value) {
    let wrong = misfits(name, value);
    assert!(wrong.is_empty(), "{name}: {}\n{value:#}", wrong.join("\n"));
    let mut seen = seen().lock().expect("no check panics while it holds the lock");
    seen.outputs.insert(name.to_owned());
    let root = &schemas()[name].document;
    mark(root, root, value, name, &mut seen.fields);
}

/// Runs the binary, and checks that it prints this output and ends so.
fn prints(scratch: &ScratchFolder, name: &str, code: i32, arguments: &[&str]) -> Value {
    let run = scratch.run_program(rep(), arguments);
    printed(name, code, &run)
}

/// Checks that a run printed this output and ended so.
fn printed(name: &str, code: i32, run: &ProgramRun) -> Value {
    let value = super::json(run);
    assert_eq!(run.code, code, "{run:?}");
    check(name, &value);
    value
}

/// Counts an output and fields as seen, because a program that is not installed is needed to see them.
fn skip_output(name: &str, fields: &[&str]) {
    let mut all = BTreeSet::new();
    described(&schemas()[name].document, name, &mut all);
    let mut seen = seen().lock().expect("no check panics while it holds the lock");
    seen.outputs.insert(name.to_owned());
    seen.fields.extend(all);
    seen.fields.extend(fields.iter().map(|field| (*field).to_owned()));
}

/// Checks a file of another test.
pub(super) fn check_file(name: &str, path: &Path) {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    assert_eq!(misfits(name, &serde_json::from_str(&text).expect("the file is JSON")), Vec::<String>::new(), "{text}");
}

/// Checks a file that holds this output.
fn holds(name: &str, path: &Path) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("the file is JSON");
    if schemas()[name].document["x-lines"] == true {
        text.lines().for_each(|line| check(name, &parse(line)));
    } else {
        check(name, &parse(&text));
    }
}

/// The examples of the repository.
fn examples() -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").to_string_lossy().into_owned()
}

/// Copies an example, so that it can be written to.
fn copy_example(scratch: &ScratchFolder, name: &str) {
    let from = format!("{}/{name}", examples());
    let to = scratch.work_folder().join(name);
    let status = std::process::Command::new("cp").args(["-r", &from]).arg(&to).status().expect("cp can be started");
    assert!(status.success(), "{from} is copied");
}

/// A folder below the home of a scratch.
fn home(scratch: &ScratchFolder, path: &str) -> PathBuf {
    scratch.work_folder().with_file_name("home").join(path)
}

/// What a reference leads to, and the name its fields are noted under.
fn resolved<'a>(root: &'a Value, node: &'a Value, place: &str) -> (&'a Value, String) {
    match node["$ref"].as_str().and_then(|to| to.strip_prefix("#/$defs/")) {
        Some(name) => (&root["$defs"][name], name.to_owned()),
        None => (node, place.to_owned()),
    }
}

/// Notes every field of a value that is described.
fn mark(root: &Value, node: &Value, value: &Value, place: &str, found: &mut BTreeSet<String>) {
    let (node, place) = resolved(root, node, place);
    for choice in node["anyOf"].as_array().into_iter().flatten().filter(|choice| is_of(root, choice, value)) {
        mark(root, choice, value, &place, found);
    }
    for (key, item) in value.as_object().into_iter().flatten() {
        if let Some(field) = node["properties"].get(key) {
            let place = format!("{place}.{key}");
            mark(root, field, item, &place, found);
            found.insert(place);
        } else if node["additionalProperties"].is_object() {
            mark(root, &node["additionalProperties"], item, &place, found);
        }
    }
    for item in value.as_array().into_iter().flatten() {
        mark(root, &node["items"], item, &place, found);
    }
}

/// Whether a value is of the type a node describes, down to its last field.
fn is_of(root: &Value, node: &Value, value: &Value) -> bool {
    let mut schema = node.clone();
    if let Value::Object(map) = &mut schema {
        map.insert("$defs".to_owned(), root["$defs"].clone());
    }
    close(&mut schema);
    jsonschema::draft202012::is_valid(&schema, value)
}

/// Every field a schema describes.
fn described(node: &Value, place: &str, found: &mut BTreeSet<String>) {
    let Value::Object(map) = node else {
        node.as_array().into_iter().flatten().for_each(|item| described(item, place, found));
        return;
    };
    for (key, value) in map {
        match (key.as_str(), value) {
            ("properties", Value::Object(fields)) if map.contains_key("required") => {
                for (name, field) in fields {
                    let place = format!("{place}.{name}");
                    described(field, &place, found);
                    found.insert(place);
                }
            }
            ("$defs", Value::Object(types)) => types.iter().for_each(|(name, one)| described(one, name, found)),
            ("anyOf" | "items" | "additionalProperties", value) => described(value, place, found),
            _ => {}
        }
    }
}

/// Every output occurs, every value fits, and every field that is described is printed by something.
#[test]
fn every_output_fits_its_schema_and_every_field_occurs() {
    let scenarios = [authoring::SCENARIOS, library::SCENARIOS, running::SCENARIOS, packages::SCENARIOS].concat();
    let queue = Mutex::new(scenarios);
    let next = || queue.lock().expect("taking a scenario does not panic").pop();
    // A scenario that fails says why; the others are run all the same.
    let failed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(scenario) = next() {
                    failed.fetch_add(usize::from(std::panic::catch_unwind(scenario).is_err()), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(failed.into_inner(), 0, "scenarios that failed");
    let seen = seen().lock().expect("all scenarios have passed");
    let unused: Vec<&String> = schemas().keys().filter(|name| !seen.outputs.contains(*name)).collect();
    assert!(unused.is_empty(), "no scenario prints: {unused:?}");
    let mut all = BTreeSet::new();
    for (name, schema) in schemas() {
        described(&schema.document, name, &mut all);
    }
    let missing: Vec<&str> = all.difference(&seen.fields).map(String::as_str).collect();
    assert_eq!(missing, UNSEEN, "the fields that are described and that nothing prints");
}

#[test]
fn a_key_that_is_not_described_does_not_fit() {
    let hash = json!({ "declared": null, "computed": "0", "sha256": "0", "match": false });
    assert_eq!(misfits("hash", &hash), Vec::<String>::new());
    let mut more = hash.clone();
    more["more"] = json!(1);
    assert!(!misfits("hash", &more).is_empty());
    assert!(schemas()["hash"].open.is_valid(&more), "consumers may read what later versions print");
    let deep = json!({ "status": "error", "error": { "code": "X", "message": "x", "retriable": false, "more": 1 } });
    assert!(!misfits("error", &deep).is_empty());
}

#[test]
fn a_command_line_is_matched_by_its_command_and_flags() {
    assert!(is_called("rep check --format json", &["check", "x", "--format", "json"]));
    assert!(!is_called("rep check --format json", &["check", "x", "--format", "sarif"]));
    assert!(is_called("rep run SKILL:TOOL", &["run", "./a:b"]));
    assert!(!is_called("rep run SKILL:TOOL --dry-run", &["run", "./a:b"]));
    assert!(!is_called("rep secrets set --json", &["secrets", "list", "--json"]));
}
