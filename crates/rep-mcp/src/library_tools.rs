//! The server's own tools, for clients that do not read resources: they list, search, select, load, read and query skills.
//!
//! A failure is a tool error that the model can read. Only an unknown tool is an error of the protocol.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rep_hosts::hosts::mime_type;
use rep_library::answer::{Answers, Miss, Reply};
use rep_library::select::{Match, Request, Selected};
use rep_library::{Catalog, CatalogEntry, Status, disclose};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool};
use serde_json::{Value, json};

use crate::catalog_view::{CatalogView, list_contents, one_line};
use crate::pagination::page;
use crate::{convert, resources, uri};

/// The most skills that `list_skills` returns at once, and the default.
const LIST_MAX: usize = 500;
const LIST_USUAL: usize = 100;
/// The most hits of a search, and the default.
const HITS_MAX: usize = 50;
const HITS_USUAL: usize = 10;
/// The most suggestions for a path that does not exist.
const NEAR_MAX: usize = 8;

/// Why a tool has no result.
pub(crate) struct LibraryToolError {
    code: &'static str,
    message: String,
    remedy: Option<String>,
}

impl LibraryToolError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: None }
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// The error envelope.
    pub(crate) fn envelope(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message, "retriable": false });
        if let Some(remedy) = &self.remedy {
            error["remedy"] = remedy.clone().into();
        }
        json!({ "status": "error", "error": error })
    }
}

/// The names and schemas of the tools.
fn table() -> [Value; 6] {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let skill = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "description": { "type": "string" }, "uri": { "type": "string" } },
        "required": ["name", "description", "uri"],
    });
    let list = |about: &str, item: Value| json!({ "type": "array", "description": about, "items": item });
    let limit =
        |most: usize, usual: usize| json!({ "type": "integer", "minimum": 1, "maximum": most, "default": usual });
    [
        json!({
            "name": "list_skills",
            "title": "List skills",
            "description": "Lists the skills there are, by name: what each does and when to use it.",
            "inputSchema": input_schema(&json!({ "cursor": text("Where a list went on, from `next_cursor`"), "limit": limit(LIST_MAX, LIST_USUAL) }), &[]),
            "outputSchema": output_schema(&json!({ "skills": list("In order of names", skill), "total": { "type": "integer" }, "next_cursor": { "type": "string" } })),
        }),
        json!({
            "name": "search_skills",
            "title": "Search skills",
            "description": "Finds skills by what they say, best first, and says why. Word forms and typing errors are seen through.",
            "inputSchema": input_schema(&json!({ "text": text("What is looked for, in words"), "limit": limit(HITS_MAX, HITS_USUAL) }), &["text"]),
            "outputSchema": output_schema(&json!({ "results": list("Best first", json!({ "type": "object" })) })),
        }),
        json!({
            "name": "select_skills",
            "title": "Select skills for a request",
            "description": "Selects the skills whose authors' triggers fit a request: its words, its files, its intents.",
            "inputSchema": input_schema(&json!({
                "text": text("What the user wants, in their words"),
                "files": list("Files the request is about, relative to the project", json!({ "type": "string" })),
                "intents": list("Intents you see in it", json!({ "type": "string" })),
            }), &["text"]),
            "outputSchema": output_schema(&json!({ "selected": list("By score", json!({ "type": "object" })) })),
        }),
        json!({
            "name": "load_skill",
            "title": "Load a skill",
            "description": "Gives a skill's instructions whole, and the addresses of its files, which are not read.",
            "inputSchema": input_schema(&json!({ "name": text("The skill's name, or the `skill://` address of its SKILL.md") }), &["name"]),
            "outputSchema": output_schema(&json!({
                "name": { "type": "string" }, "uri": { "type": "string" }, "content": { "type": "string" },
                "files": list("The files beside it", json!({ "type": "object" })),
            })),
        }),
        json!({
            "name": "read_skill_file",
            "title": "Read a file of a skill",
            "description": "Reads one file of a skill, by its `skill://` address or by skill and path.",
            "inputSchema": input_schema(&json!({
                "uri": text("The address, such as `skill://pdf/references/forms.md`"),
                "skill": text("The skill's name, with `path`"),
                "path": text("The path inside the skill"),
            }), &[]),
            "outputSchema": output_schema(&json!({
                "uri": { "type": "string" }, "mime_type": { "type": "string" }, "size": { "type": "integer" },
                "text": { "type": "string" }, "blob": { "type": "string", "description": "Base64, if it is not text" },
            })),
        }),
        json!({
            "name": "query_skill",
            "title": "Ask a skill for one thing",
            "description": "Gives one exact answer from a skill instead of the whole: `skill:path?key=value`, such as `pdf:constraints.never` or `stripe:decisions?when=*charges*`. An empty path lists what can be asked.",
            "inputSchema": input_schema(&json!({ "query": text("`skill:path?filter`") }), &["query"]),
            "outputSchema": output_schema(&json!({
                "skill": { "type": "string" }, "path": { "type": "string" }, "found": { "type": "boolean" },
                "value": {}, "origin": { "type": "string" },
            })),
        }),
    ]
}

pub(crate) fn input_schema(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// The schema of a tool's result, or of an error. Some clients validate errors against it too, so nothing is required.
pub(crate) fn output_schema(properties: &Value) -> Value {
    let mut properties = properties.clone();
    properties["status"] = json!({ "type": "string" });
    properties["error"] = json!({ "type": "object" });
    json!({ "type": "object", "properties": properties })
}

/// Lists the server's own tools. None of them changes anything.
pub(crate) fn list() -> Vec<Tool> {
    let tools = table().into_iter().chain([convert::definition()]).map(|mut tool| {
        let title = tool["title"].clone();
        tool["annotations"] = json!({
            "title": title, "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
        });
        serde_json::from_value(tool).expect("the table above holds valid tools")
    });
    tools.collect()
}

/// Whether a tool is one of these.
pub(crate) fn contains(name: &str) -> bool {
    const NAMES: [&str; 6] =
        ["list_skills", "search_skills", "select_skills", "load_skill", "read_skill_file", "query_skill"];
    NAMES.contains(&name)
}

/// Calls one of these tools.
pub(crate) fn call(view: &CatalogView, answers: &Answers, name: &str, given: &JsonObject) -> CallToolResult {
    let done = match name {
        "list_skills" => list_skills(view, given),
        "search_skills" => search_skills(view, given),
        "select_skills" => select_skills(view, given),
        "load_skill" => load_skill(view, given),
        "read_skill_file" => read_skill_file(view, given),
        _ => query_skill(view, answers, given),
    };
    match done {
        Ok((value, None)) => CallToolResult::structured(value),
        Ok((value, Some(text))) => {
            let mut result = CallToolResult::structured(value);
            result.content = vec![ContentBlock::text(text)];
            result
        }
        Err(error) => CallToolResult::structured_error(error.envelope()),
    }
}

/// Parses the arguments of `convert_skill`: the skill, and whether a model converts it.
pub(crate) fn parse_conversion<'a>(
    view: &'a CatalogView,
    given: &JsonObject,
) -> Result<(&'a CatalogEntry, bool), LibraryToolError> {
    reject_unknown(given, &["skill", "engine"])?;
    let is_by_model = match optional_text(given, "engine")? {
        None | Some("rules") => false,
        Some("llm") => true,
        Some(other) => {
            return Err(invalid_argument(format!("there is no engine `{other}`")).remedy("one of: rules, llm"));
        }
    };
    Ok((find_skill(&view.catalog, required_text(given, "skill")?)?, is_by_model))
}

/// A result, and its text if that is not the JSON.
type ToolOutput = Result<(Value, Option<String>), LibraryToolError>;

fn invalid_argument(message: impl Into<String>) -> LibraryToolError {
    LibraryToolError::new("INVALID_ARGUMENT", message)
}

fn reject_unknown(given: &JsonObject, names: &[&str]) -> Result<(), LibraryToolError> {
    match given.keys().find(|key| !names.contains(&key.as_str())) {
        Some(key) => {
            Err(invalid_argument(format!("there is no argument `{key}`"))
                .remedy(format!("one of: {}", names.join(", "))))
        }
        None => Ok(()),
    }
}

fn optional_text<'a>(given: &'a JsonObject, name: &str) -> Result<Option<&'a str>, LibraryToolError> {
    match given.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid_argument(format!("`{name}` is not text"))),
    }
}

fn required_text<'a>(given: &'a JsonObject, name: &str) -> Result<&'a str, LibraryToolError> {
    optional_text(given, name)?.ok_or_else(|| invalid_argument(format!("`{name}` is missing")))
}

fn number(given: &JsonObject, name: &str, most: usize, usual: usize) -> Result<usize, LibraryToolError> {
    match given.get(name) {
        None | Some(Value::Null) => Ok(usual),
        Some(value) => {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            let number = number.filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| invalid_argument(format!("`{name}` is not a number from 1 to {most}")))
        }
    }
}

fn text_list(given: &JsonObject, name: &str) -> Result<Vec<String>, LibraryToolError> {
    let error = || invalid_argument(format!("`{name}` is not a list of texts"));
    match given.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(error)).collect()
        }
        Some(_) => Err(error()),
    }
}

/// A skill as lists show it.
fn list_item(entry: &CatalogEntry) -> Value {
    json!({ "name": entry.qualified_name, "description": one_line(&entry.description), "uri": uri::main_file_uri(entry) })
}

fn list_skills(view: &CatalogView, given: &JsonObject) -> ToolOutput {
    reject_unknown(given, &["cursor", "limit"])?;
    let limit = number(given, "limit", LIST_MAX, LIST_USUAL)?;
    let cursor = optional_text(given, "cursor")?;
    let page = page(&view.active, view.generation, cursor, limit).map_err(|error| invalid_argument(error.message))?;
    let skills: Vec<Value> = page.items.iter().map(|index| list_item(&view.catalog.entries[*index])).collect();
    let mut value = json!({ "skills": skills, "total": view.active.len() });
    if let Some(next) = page.next {
        value["next_cursor"] = next.into();
    }
    Ok((value, None))
}

fn search_skills(view: &CatalogView, given: &JsonObject) -> ToolOutput {
    reject_unknown(given, &["text", "limit"])?;
    let limit = number(given, "limit", HITS_MAX, HITS_USUAL)?;
    // The search also finds skills that only people invoke; they are left out here.
    let hits = view.catalog.search(required_text(given, "text")?, HITS_MAX * 2);
    let entry = |index: usize| &view.catalog.entries[index];
    let hits = hits.iter().filter(|hit| entry(hit.entry).status == Status::Active).take(limit);
    let rounded = |points: f64| (points * 1000.0).round() / 1000.0;
    let results = hits.map(|hit| {
        let mut value = list_item(entry(hit.entry));
        value["score"] = rounded(hit.score).into();
        let why = hit
            .why
            .iter()
            .map(|why| json!({ "field": why.field.name(), "term": why.term, "points": rounded(why.points) }));
        value["why"] = why.collect();
        value
    });
    Ok((json!({ "results": results.collect::<Vec<Value>>() }), None))
}

fn select_skills(view: &CatalogView, given: &JsonObject) -> ToolOutput {
    reject_unknown(given, &["text", "files", "intents"])?;
    let request = Request {
        text: required_text(given, "text")?.to_owned(),
        files: text_list(given, "files")?,
        intents: text_list(given, "intents")?,
        ..Request::default()
    };
    let selection = view.catalog.select(&request);
    let matched = |one: &Match| json!({ "kind": one.kind.name(), "trigger": one.trigger, "points": one.points });
    let selected = |one: &Selected| {
        let entry = &view.catalog.entries[one.index];
        let mut value = list_item(entry);
        value["score"] = json!(one.score);
        value["matches"] = one.matches.iter().map(matched).collect();
        (entry.status == Status::Active).then_some(value)
    };
    Ok((json!({ "selected": selection.selected.iter().filter_map(selected).collect::<Vec<Value>>() }), None))
}

/// Finds the skill with a name or an address.
fn find_skill<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a CatalogEntry, LibraryToolError> {
    let found = match uri::resolve(catalog, name) {
        Some((entry, _)) => Some(entry),
        None => catalog.get(name).filter(|entry| entry.status == Status::Active),
    };
    found.ok_or_else(|| {
        LibraryToolError::new("SKILL_NOT_FOUND", format!("there is no skill `{name}`"))
            .remedy("`list_skills` lists the skills there are, `search_skills` finds one by words")
    })
}

fn load_skill(view: &CatalogView, given: &JsonObject) -> ToolOutput {
    reject_unknown(given, &["name"])?;
    let entry = find_skill(&view.catalog, required_text(given, "name")?)?;
    let unreadable =
        || LibraryToolError::new("UNREADABLE", format!("the skill `{}` could not be read", entry.qualified_name));
    let root = uri::skill_uri(entry);
    let place = format!("Skill directory: {root}\nPaths in this skill are below it; `read_skill_file` reads them.\n");
    let content = disclose::activate_at(entry, &place).map_err(|_| unreadable())?;
    let contents = list_contents(entry).map_err(|_| unreadable())?;
    let files = contents.files.iter().filter(|(path, _)| entry.folder.join(path) != entry.location);
    let files = files.map(|(path, size)| {
        json!({ "uri": uri::file_uri(entry, path), "path": path, "size": size, "mime_type": mime_type(path) })
    });
    let value = json!({
        "name": entry.qualified_name, "uri": uri::main_file_uri(entry), "content": content, "files": files.collect::<Vec<Value>>(),
    });
    Ok((value, Some(content)))
}

fn read_skill_file(view: &CatalogView, given: &JsonObject) -> ToolOutput {
    reject_unknown(given, &["uri", "skill", "path"])?;
    let (entry, path) =
        match (optional_text(given, "uri")?, optional_text(given, "skill")?, optional_text(given, "path")?) {
            (Some(address), None, None) => {
                let missing = || LibraryToolError::new("FILE_NOT_FOUND", "no file is served at this address");
                uri::resolve(&view.catalog, address).ok_or_else(missing)?
            }
            (None, Some(skill), Some(path)) => (find_skill(&view.catalog, skill)?, path.to_owned()),
            _ => return Err(invalid_argument("give `uri`, or `skill` and `path`")),
        };
    let name = &entry.qualified_name;
    let bytes = resources::read_file(entry, &path)
        .map_err(|_| LibraryToolError::new("UNREADABLE", resources::UNREADABLE_FILE))?;
    let bytes = bytes.ok_or_else(|| {
        LibraryToolError::new("FILE_NOT_FOUND", format!("the skill `{name}` serves no file `{path}`"))
            .remedy(format!("`load_skill` with `{name}` lists its files"))
    })?;
    let mut value = json!({ "uri": uri::file_uri(entry, &path), "mime_type": mime_type(&path), "size": bytes.len() });
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

fn query_skill(view: &CatalogView, answers: &Answers, given: &JsonObject) -> ToolOutput {
    reject_unknown(given, &["query"])?;
    let query = required_text(given, "query")?;
    let is_active = |name: &str| uri::active_skill(&view.catalog, name).is_some();
    match answers.query(&view.catalog, query) {
        Ok(reply) if is_active(&reply.skill) => Ok((reply_json(&reply), None)),
        Ok(reply) => Err(query_error(&Miss::Skill { name: reply.skill.clone(), candidates: Vec::new() })),
        Err(Miss::Path { skill, .. }) if !is_active(&skill) => {
            Err(query_error(&Miss::Skill { name: skill, candidates: Vec::new() }))
        }
        Err(Miss::Skill { name, mut candidates }) => {
            candidates.retain(|name| is_active(name));
            Err(query_error(&Miss::Skill { name, candidates }))
        }
        Err(miss) => Err(query_error(&miss)),
    }
}

fn reply_json(reply: &Reply) -> Value {
    let mut value = json!({
        "skill": reply.skill, "path": reply.path, "found": true, "value": reply.value, "origin": reply.origin.name(),
    });
    if !reply.lines.is_empty() {
        let line = |line: &rep_library::answer::Line| json!({ "at": line.at, "line": line.line, "doubt": line.doubt });
        value["lines"] = reply.lines.iter().map(line).collect();
    }
    if !reply.notes.is_empty() {
        value["notes"] = json!(reply.notes);
    }
    value
}

fn query_error(miss: &Miss) -> LibraryToolError {
    let message = match miss {
        // The system's message names a path of this machine.
        Miss::Unreadable(_) => "the skill could not be read".to_owned(),
        _ => miss.message(),
    };
    let error = LibraryToolError::new(miss.code(), message);
    let near = match miss {
        Miss::Path { near, .. } => near,
        Miss::Skill { candidates, .. } => candidates,
        _ => return error,
    };
    if near.is_empty() {
        return error;
    }
    let near: Vec<&str> = near.iter().take(NEAR_MAX).map(String::as_str).collect();
    error.remedy(format!("there are: {}", near.join(", ")))
}
