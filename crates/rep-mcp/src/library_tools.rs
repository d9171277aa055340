//! The server's built-in tools, for clients that do not read resources. They list, search, select, load, read and query
//! skills.
//!
//! A failure is a tool error, which the model can read. Only an unknown tool is a protocol error.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rep_hosts::hosts::guess_mime_type;
use rep_hosts::is_skill_part;
use rep_library::answer::{EXTRACTED_FACTS, FactLocation, QueryEngine, QueryError, QueryReply};
use rep_library::discovery::SkillLocation;
use rep_library::documents::{scan_summary_document, scanned_skill_document};
use rep_library::scan::ScannedSkill;
use rep_library::selection::{SelectedSkill, SelectionRequest, TriggerMatch};
use rep_library::skill_reader::ReadExtent;
use rep_library::{Catalog, CatalogEntry, SkillStatus, prompt};
use rep_model::{DocumentOrigin, Skill};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool};
use serde_json::{Value, json};

use crate::catalog_view::{CatalogView, collapse_whitespace};
use crate::pagination::page_at_cursor;
use crate::{convert_tool, resources, skill_actions, uri};

/// The maximum and default number of skills that `list_skills` returns.
const LIST_MAX: usize = 500;
const LIST_DEFAULT: usize = 50;
/// The maximum and default number of search results.
const HITS_MAX: usize = 50;
const HITS_DEFAULT: usize = 10;
/// The maximum number of skills outside of `skills/list` that `list_skills` names.
const UNLISTED_MAX: usize = 20;
/// The maximum number of paths that the summary of one value names.
const PATHS_MAX: usize = 20;
/// The maximum number of suggestions for a path that does not exist.
const SUGGESTIONS_MAX: usize = 8;

/// The reason why a tool has no result.
pub(crate) struct LibraryToolError {
    code: &'static str,
    message: String,
    remedy: Option<String>,
}

impl LibraryToolError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: None }
    }

    pub(crate) fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Renders the error envelope.
    pub(crate) fn to_envelope(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message, "retriable": false });
        if let Some(remedy) = &self.remedy {
            error["remedy"] = remedy.clone().into();
        }
        json!({ "status": "error", "error": error })
    }
}

fn describe_fallback() -> Value {
    json!({ "type": "string", "enum": ["none", "search"], "default": "search", "description": "What to select if no trigger matches" })
}

/// Returns the definitions of the tools. Each description says when to call the tool.
fn tool_definitions() -> [Value; 6] {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let skill = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "description": { "type": "string" } },
        "required": ["name", "description"],
    });
    let list = |about: &str, item: Value| json!({ "type": "array", "description": about, "items": item });
    let limit =
        |most: usize, usual: usize| json!({ "type": "integer", "minimum": 1, "maximum": most, "default": usual });
    [
        json!({
            "name": "list_skills",
            "title": "List skills",
            "description": "Lists all skills by name, with what each does. Call it to browse; to find a skill for a task, call `search_skills` instead. Pass `next_cursor` as `cursor` for the next page.",
            "inputSchema": input_schema(&json!({ "cursor": text("The `next_cursor` of the previous page"), "limit": limit(LIST_MAX, LIST_DEFAULT) }), &[]),
            "outputSchema": output_schema(&json!({ "skills": list("Sorted by name", skill), "total": { "type": "integer" }, "next_cursor": { "type": "string" }, "unlisted": list("Skills that `skills/list` does not contain, with the reason", json!({ "type": "object" })), "unlisted_total": { "type": "integer" } })),
        }),
        json!({
            "name": "search_skills",
            "title": "Search skills",
            "description": "Finds skills by words: names, descriptions and contents. Call it before you start a specialised task, then load the best match with `load_skill`. A higher `score` is better; a hit far below the first rarely fits.",
            "inputSchema": input_schema(&json!({
                "text": text("The task, in a few words"), "limit": limit(HITS_MAX, HITS_DEFAULT),
                "reasons": { "type": "boolean", "default": false, "description": "Whether to explain each score" },
            }), &["text"]),
            "outputSchema": output_schema(&json!({ "results": list("Best match first", json!({ "type": "object" })) })),
        }),
        json!({
            "name": "select_skills",
            "title": "Select skills for a request",
            "description": "Selects the skills that a user's request triggers or names; if none, those that fit by their text. Call it with the request as the user wrote it.",
            "inputSchema": input_schema(&json!({
                "text": text("The user's request, in the user's own words"),
                "files": list("The files of the request, relative to the project", json!({ "type": "string" })),
                "intents": list("The intents that you recognize in the request", json!({ "type": "string" })), "fallback": describe_fallback(),
            }), &["text"]),
            "outputSchema": output_schema(&json!({ "selected": list("Best match first", json!({ "type": "object" })), "note": { "type": "string" } })),
        }),
        // Hosts that show structured content instead of text would show the instructions as one escaped string, so this
        // tool has none.
        json!({
            "name": "load_skill",
            "title": "Load a skill",
            "description": "Returns a skill's instructions, its files, and how to call its tools and scripts. Call it as soon as a skill fits the task, and follow the instructions.",
            "inputSchema": input_schema(&json!({ "name": text("The name of the skill, or the `skill://` URI of its SKILL.md") }), &["name"]),
        }),
        json!({
            "name": "read_skill_file",
            "title": "Read a file of a skill",
            "description": "Reads a file of a skill. Call it when the instructions of a loaded skill refer to the file. Pass `skill` and `path`, or `uri`.",
            "inputSchema": input_schema(&json!({
                "uri": text("The URI of the file, such as `skill://pdf/references/forms.md`"),
                "skill": text("The name of the skill; requires `path`"),
                "path": text("The path of the file in the skill's directory; requires `skill`"),
            }), &[]),
            "outputSchema": output_schema(&json!({
                "uri": { "type": "string" }, "mime_type": { "type": "string" }, "size": { "type": "integer" },
                "text": { "type": "string" }, "blob": { "type": "string", "description": "The contents in Base64, if the file is not text" },
            })),
        }),
        json!({
            "name": "query_skill",
            "title": "Query a skill",
            "description": "Returns one value of a skill. Call it when you need a single fact and not the whole skill. A query is `skill:path?key=value`, such as `pdf:constraints.never` or `stripe:decisions?when=*charges*`. `pdf:` lists what can be asked.",
            "inputSchema": input_schema(&json!({ "query": text("The query, in the form `skill:path?key=value`") }), &["query"]),
            "outputSchema": output_schema(&json!({
                "skill": { "type": "string" }, "path": { "type": "string" }, "found": { "type": "boolean" },
                "value": {}, "origin": { "type": "string" }, "facts": text("`confident` if the value was extracted from Markdown"),
            })),
        }),
    ]
}

/// Returns the definition of `scan_skill`.
fn scan_tool_definition() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let list = |about: &str, kind: &str| json!({ "type": "array", "description": about, "items": { "type": kind } });
    json!({
        "name": "scan_skill",
        "title": "Scan a skill",
        "description": "Says what the code of a skill does: the files, hosts, programs, variables and secrets that it uses, and what is dangerous about it. Runs nothing. Call it before you run a script that you do not know.",
        "inputSchema": input_schema(&json!({ "skill": text("The name of the skill") }), &["skill"]),
        "outputSchema": output_schema(&json!({
            "name": { "type": "string" }, "path": { "type": "string" },
            "verdict": text("`block` if there is an error, `review` if there is a warning, else `clear`"),
            "summary": list("What it does, in words", "string"),
            "capabilities": { "type": "object" },
            "behaviours": list("Each thing that it does, with its place", "object"),
            "findings": list("What is dangerous", "object"),
        })),
    })
}

pub(crate) fn input_schema(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Returns the schema of a tool's result or error. Some clients also validate errors against it, so no property is
/// required.
pub(crate) fn output_schema(properties: &Value) -> Value {
    let mut properties = properties.clone();
    properties["status"] = json!({ "type": "string" });
    properties["error"] = json!({ "type": "object" });
    json!({ "type": "object", "properties": properties })
}

/// Lists the built-in tools. All of them are read-only.
pub(crate) fn list_tools() -> Vec<Tool> {
    let tools = tool_definitions().into_iter().chain([scan_tool_definition(), convert_tool::tool_definition()]).map(|mut tool| {
        let title = tool["title"].clone();
        tool["annotations"] = json!({
            "title": title, "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
        });
        serde_json::from_value(tool).expect("the definitions above are valid tools")
    });
    tools.collect()
}

/// Whether a tool is built in.
pub(crate) fn is_library_tool(name: &str) -> bool {
    const NAMES: [&str; 7] =
        ["list_skills", "search_skills", "select_skills", "load_skill", "read_skill_file", "query_skill", "scan_skill"];
    NAMES.contains(&name)
}

/// Calls a built-in tool. `is_local` says whether the client runs as the user of this process on this machine.
pub(crate) fn call_tool(
    view: &CatalogView,
    answers: &QueryEngine,
    name: &str,
    given: &JsonObject,
    is_local: bool,
) -> CallToolResult {
    let done = match name {
        "list_skills" => list_skills(view, given),
        "search_skills" => search_skills(view, given),
        "select_skills" => select_skills(view, given),
        "load_skill" => {
            return match load_skill(view, given, is_local) {
                Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
                Err(error) => CallToolResult::structured_error(error.to_envelope()),
            };
        }
        "read_skill_file" => read_skill_file(view, given),
        "scan_skill" => scan_skill(view, given),
        _ => query_skill(view, answers, given),
    };
    match done {
        Ok((value, None)) => CallToolResult::structured(value),
        Ok((value, Some(text))) => {
            let mut result = CallToolResult::structured(value);
            result.content = vec![ContentBlock::text(text)];
            result
        }
        Err(error) => CallToolResult::structured_error(error.to_envelope()),
    }
}

/// Parses the arguments of `convert_skill`: the skill, and whether a model converts it.
pub(crate) fn parse_conversion_arguments<'a>(
    view: &'a CatalogView,
    given: &JsonObject,
) -> Result<(&'a CatalogEntry, bool), LibraryToolError> {
    reject_unknown_arguments(given, &["skill", "engine"])?;
    let is_by_model = match optional_text(given, "engine")? {
        None | Some("rules") => false,
        Some("llm") => true,
        Some(other) => {
            return Err(
                invalid_argument(format!("unknown engine `{other}`")).with_remedy("valid engines: `rules`, `llm`")
            );
        }
    };
    Ok((find_skill(&view.catalog, required_text(given, "skill")?)?, is_by_model))
}

/// A result, and its text if the text is not the JSON of the result.
type ToolOutput = Result<(Value, Option<String>), LibraryToolError>;

fn invalid_argument(message: impl Into<String>) -> LibraryToolError {
    LibraryToolError::new("INVALID_ARGUMENT", message)
}

fn reject_unknown_arguments(given: &JsonObject, names: &[&str]) -> Result<(), LibraryToolError> {
    match given.keys().find(|key| !names.contains(&key.as_str())) {
        Some(key) => Err(invalid_argument(format!("unknown argument `{key}`"))
            .with_remedy(format!("valid arguments: {}", names.join(", ")))),
        None => Ok(()),
    }
}

fn optional_text<'a>(given: &'a JsonObject, name: &str) -> Result<Option<&'a str>, LibraryToolError> {
    match given.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid_argument(format!("`{name}` must be a string"))),
    }
}

fn required_text<'a>(given: &'a JsonObject, name: &str) -> Result<&'a str, LibraryToolError> {
    optional_text(given, name)?.ok_or_else(|| invalid_argument(format!("missing argument `{name}`")))
}

fn bounded_number(given: &JsonObject, name: &str, most: usize, usual: usize) -> Result<usize, LibraryToolError> {
    match given.get(name) {
        None | Some(Value::Null) => Ok(usual),
        Some(value) => {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            let number = number.filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| invalid_argument(format!("`{name}` must be a number from 1 to {most}")))
        }
    }
}

fn text_list(given: &JsonObject, name: &str) -> Result<Vec<String>, LibraryToolError> {
    let error = || invalid_argument(format!("`{name}` must be a list of strings"));
    match given.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(error)).collect()
        }
        Some(_) => Err(error()),
    }
}

/// Renders a skill as an item of a list. Its address follows from its name.
fn list_item(entry: &CatalogEntry) -> Value {
    json!({ "name": entry.qualified_name, "description": collapse_whitespace(&entry.description) })
}

fn list_skills(view: &CatalogView, given: &JsonObject) -> ToolOutput {
    reject_unknown_arguments(given, &["cursor", "limit"])?;
    let limit = bounded_number(given, "limit", LIST_MAX, LIST_DEFAULT)?;
    let cursor = optional_text(given, "cursor")?;
    let page = page_at_cursor(&view.active, view.generation, cursor, limit)
        .map_err(|error| invalid_argument(error.message))?;
    let listed = |index: &usize| {
        let entry = &view.catalog.entries[*index];
        let mut item = list_item(entry);
        if let Some(provenance) = entry.declared_provenance() {
            item["provenance"] = provenance.to_json();
        }
        item
    };
    let skills: Vec<Value> = page.items.iter().map(listed).collect();
    let mut value = json!({ "skills": skills, "total": view.active.len() });
    let unlisted = view.unserved_skills();
    if cursor.is_none() && !unlisted.is_empty() {
        let items = unlisted.iter().take(UNLISTED_MAX);
        value["unlisted"] = items.map(|skill| json!({ "name": skill.name, "reason": skill.reason })).collect();
        value["unlisted_total"] = unlisted.len().into();
    }
    if let Some(next) = page.next {
        value["next_cursor"] = next.into();
    }
    Ok((value, None))
}

fn search_skills(view: &CatalogView, given: &JsonObject) -> ToolOutput {
    reject_unknown_arguments(given, &["text", "limit", "reasons"])?;
    let with_reasons = match given.get("reasons") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(wanted)) => *wanted,
        Some(_) => return Err(invalid_argument("`reasons` must be true or false")),
    };
    let limit = bounded_number(given, "limit", HITS_MAX, HITS_DEFAULT)?;
    // The search also finds skills that only users may invoke; they are left out here.
    let hits = view.catalog.search(required_text(given, "text")?, HITS_MAX * 2);
    let entry = |index: usize| &view.catalog.entries[index];
    let hits = hits.iter().filter(|hit| entry(hit.entry).status == SkillStatus::Active).take(limit);
    let rounded = |points: f64| (points * 10.0).round() / 10.0;
    let results = hits.map(|hit| {
        let mut value = list_item(entry(hit.entry));
        value["score"] = rounded(hit.score).into();
        let why = hit
            .why
            .iter()
            .map(|why| json!({ "field": why.field.name(), "term": why.term, "points": rounded(why.points) }));
        if with_reasons {
            value["why"] = why.collect();
        }
        value
    });
    Ok((json!({ "results": results.collect::<Vec<Value>>() }), None))
}

fn select_skills(view: &CatalogView, given: &JsonObject) -> ToolOutput {
    reject_unknown_arguments(given, &["text", "files", "intents", "fallback"])?;
    let is_searched = match optional_text(given, "fallback")? {
        Some("none") => false,
        None | Some("search") => true,
        Some(other) => {
            return Err(invalid_argument(format!("unknown fallback `{other}`"))
                .with_remedy("valid fallbacks: `none`, `search`"));
        }
    };
    let request = SelectionRequest {
        text: required_text(given, "text")?.to_owned(),
        files: text_list(given, "files")?,
        intents: text_list(given, "intents")?,
        ..SelectionRequest::default()
    };
    let selection = view.catalog.select(&request);
    let matched = |one: &TriggerMatch| json!({ "kind": one.kind.name(), "trigger": one.trigger, "points": one.points });
    let selected = |one: &SelectedSkill| {
        let entry = &view.catalog.entries[one.index];
        let mut value = list_item(entry);
        value["score"] = json!(one.score);
        value["matches"] = one.matches.iter().map(matched).collect();
        (entry.status == SkillStatus::Active).then_some(value)
    };
    let mut all: Vec<Value> = selection.selected.iter().filter_map(selected).collect();
    if selection.selected.is_empty() && is_searched {
        let hits = view.catalog.search_active(&request.text, HITS_DEFAULT);
        all.extend(hits.iter().map(|hit| {
            let mut value = list_item(&view.catalog.entries[hit.entry]);
            value["score"] = Value::Null;
            value["matches"] = json!([]);
            value["search_score"] = ((hit.score * 10.0).round() / 10.0).into();
            value
        }));
    }
    let is_by_search = selection.selected.is_empty() && is_searched;
    let mut value = json!({ "selected": all });
    if is_by_search {
        let note = if all_is_empty(&value) {
            "no skill fits; go on without one"
        } else {
            "no trigger matched; these skills fit by their text, so check their descriptions"
        };
        value["note"] = note.into();
    }
    Ok((value, None))
}

fn all_is_empty(value: &Value) -> bool {
    value["selected"].as_array().is_some_and(Vec::is_empty)
}

/// Finds a skill by name or URI.
fn find_skill<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a CatalogEntry, LibraryToolError> {
    let found = match uri::resolve_address(catalog, name) {
        Some((entry, _)) => Some(entry),
        None => catalog.get(name).filter(|entry| entry.status == SkillStatus::Active),
    };
    found.ok_or_else(|| {
        let search = "search for one with `search_skills`, or list all skills with `list_skills`";
        let nearest = catalog.nearest_name(name).filter(|nearest| uri::find_active_skill(catalog, nearest).is_some());
        let remedy =
            nearest.map_or_else(|| search.to_owned(), |nearest| format!("did you mean `{nearest}`? Or {search}"));
        LibraryToolError::new("SKILL_NOT_FOUND", format!("skill `{name}` does not exist")).with_remedy(remedy)
    })
}

/// Renders a skill's instructions, with its files and how to call its tools and scripts.
fn load_skill(view: &CatalogView, given: &JsonObject, is_local: bool) -> Result<String, LibraryToolError> {
    reject_unknown_arguments(given, &["name"])?;
    let entry = find_skill(&view.catalog, required_text(given, "name")?)?;
    let root = uri::skill_uri(entry);
    let mut place = if is_local && !entry.skill.tree.is_lone_file {
        format!("Skill directory: {} (also {root})\n", entry.folder.display())
    } else {
        format!("Skill directory: {root}\n")
    };
    place.push_str(&format!(
        "Paths in this skill are relative to it; read them with `read_skill_file` and `skill`: `{}`.\n",
        entry.qualified_name
    ));
    place.push_str(&skill_actions::describe_actions(view, entry, is_local));
    let content = prompt::activate_skill_at(entry, &place, is_skill_part);
    content.map_err(|_| LibraryToolError::new("UNREADABLE", format!("could not read skill `{}`", entry.qualified_name)))
}

fn read_skill_file(view: &CatalogView, given: &JsonObject) -> ToolOutput {
    reject_unknown_arguments(given, &["uri", "skill", "path"])?;
    let (entry, path) =
        match (optional_text(given, "uri")?, optional_text(given, "skill")?, optional_text(given, "path")?) {
            (Some(address), None, None) => {
                let missing = || LibraryToolError::new("FILE_NOT_FOUND", "no file is served at this URI");
                uri::resolve_address(&view.catalog, address).ok_or_else(missing)?
            }
            (None, Some(skill), Some(path)) => (find_skill(&view.catalog, skill)?, path.to_owned()),
            _ => return Err(invalid_argument("pass either `uri`, or both `skill` and `path`")),
        };
    let name = &entry.qualified_name;
    let bytes = resources::read_file(entry, &path)
        .map_err(|_| LibraryToolError::new("UNREADABLE", resources::UNREADABLE_FILE))?;
    let bytes = bytes.ok_or_else(|| {
        LibraryToolError::new("FILE_NOT_FOUND", format!("skill `{name}` does not serve a file `{path}`"))
            .with_remedy(format!("list the files of `{name}` with `load_skill`"))
    })?;
    let mut value =
        json!({ "uri": uri::file_uri(entry, &path), "mime_type": guess_mime_type(&path), "size": bytes.len() });
    match String::from_utf8(bytes) {
        Ok(text) => {
            value["text"] = text.clone().into();
            Ok((value, Some(text)))
        }
        Err(error) => {
            value["blob"] = STANDARD.encode(error.as_bytes()).into();
            Ok((value, None))
        }
    }
}

fn query_skill(view: &CatalogView, answers: &QueryEngine, given: &JsonObject) -> ToolOutput {
    reject_unknown_arguments(given, &["query"])?;
    let query = required_text(given, "query")?;
    let is_active = |name: &str| uri::find_active_skill(&view.catalog, name).is_some();
    match answers.query(&view.catalog, query) {
        Ok(reply) if is_active(&reply.skill) && reply.path.is_empty() && !query.contains('?') => Ok((
            json!({
                "skill": reply.skill, "path": "", "found": true, "origin": reply.origin.name(),
                "value": summarize_paths(&reply.value),
            }),
            None,
        )),
        Ok(reply) if is_active(&reply.skill) => Ok((reply_json(&reply), None)),
        Ok(reply) => Err(query_error(&QueryError::UnknownSkill { name: reply.skill.clone(), candidates: Vec::new() })),
        Err(QueryError::UnknownPath { skill, .. }) if !is_active(&skill) => {
            Err(query_error(&QueryError::UnknownSkill { name: skill, candidates: Vec::new() }))
        }
        // Why a skill is invalid is for the operator of this machine.
        Err(QueryError::Invalid { skill, .. }) => {
            Err(query_error(&QueryError::UnknownSkill { name: skill, candidates: Vec::new() }))
        }
        Err(QueryError::UnknownSkill { name, mut candidates }) => {
            candidates.retain(|name| is_active(name));
            Err(query_error(&QueryError::UnknownSkill { name, candidates }))
        }
        Err(miss) => Err(query_error(&miss)),
    }
}

/// The maximum number of behaviours in an answer; the capabilities are complete.
const BEHAVIOURS_MAX: usize = 200;

fn scan_skill(view: &CatalogView, given: &JsonObject) -> ToolOutput {
    reject_unknown_arguments(given, &["skill"])?;
    let entry = find_skill(&view.catalog, required_text(given, "skill")?)?;
    // Where skills are on this machine is not for every client.
    let location = SkillLocation { shown: entry.qualified_name.clone(), ..SkillLocation::from_entry(entry) };
    let unreadable = || LibraryToolError::new("SKILL_UNREADABLE", format!("skill `{}` cannot be read", entry.name));
    let tree = location.read(ReadExtent::Everything).map_err(|_| unreadable())?;
    let (skill, _) = Skill::parse(tree);
    let mut scanned = ScannedSkill::from_skill(&skill, &location.shown);
    let mut value = scan_summary_document(&scanned);
    scanned.behaviours.truncate(BEHAVIOURS_MAX);
    let document = scanned_skill_document(&scanned);
    for field in ["name", "path", "behaviours", "findings"] {
        value[field] = document[field].clone();
    }
    Ok((value, None))
}

/// Lists the paths below a value that can be asked for: for each key, what is there.
fn summarize_paths(value: &Value) -> Value {
    let describe = |value: &Value| match value {
        Value::Object(fields) => {
            let keys: Vec<&str> = fields.keys().take(PATHS_MAX).map(String::as_str).collect();
            let rest = fields.len().saturating_sub(PATHS_MAX);
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!("{}{more}", keys.join(", "))
        }
        Value::Array(items) => format!("list of {}", items.len()),
        Value::String(text) => format!("text of {} characters", text.chars().count()),
        other => other.to_string(),
    };
    match value {
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), Value::from(describe(value)))).collect()
        }
        other => describe(other).into(),
    }
}

fn reply_json(reply: &QueryReply) -> Value {
    let mut value = json!({
        "skill": reply.skill, "path": reply.path, "found": true, "value": reply.value, "origin": reply.origin.name(),
    });
    if reply.origin == DocumentOrigin::Extracted {
        value["facts"] = EXTRACTED_FACTS.into();
    }
    if !reply.lines.is_empty() {
        let line =
            |line: &FactLocation| json!({ "at": line.at, "line": line.line, "doubt": line.doubt, "rule": line.rule });
        value["lines"] = reply.lines.iter().map(line).collect();
    }
    if !reply.notes.is_empty() {
        value["notes"] = json!(reply.notes);
    }
    value
}

fn query_error(miss: &QueryError) -> LibraryToolError {
    let message = match miss {
        // The operating system's message contains a path of this machine.
        QueryError::Unreadable(_) => "could not read the skill".to_owned(),
        _ => miss.message(),
    };
    let error = LibraryToolError::new(miss.code(), message);
    let near = match miss {
        QueryError::UnknownPath { near, .. } => near,
        QueryError::UnknownSkill { candidates, .. } => candidates,
        _ => return error,
    };
    if near.is_empty() {
        return error;
    }
    let near: Vec<&str> = near.iter().take(SUGGESTIONS_MAX).map(String::as_str).collect();
    error.with_remedy(format!("available: {}", near.join(", ")))
}
