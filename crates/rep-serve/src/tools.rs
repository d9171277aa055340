//! Tools for clients that do not read resources: they list, find, load, read and ask.
//!
//! What cannot be done is a tool's error, for the model to read; only a tool that is not there is the protocol's.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rep_hosts::hosts::mime_type;
use rep_library::answer::{Answers, Miss, Reply};
use rep_library::select::{Match, Request, Selected};
use rep_library::{Catalog, CatalogEntry, Status, disclose};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool};
use serde_json::{Value, json};

use crate::page::page;
use crate::shelf::{Shelf, held, one_line};
use crate::{convert, resources, uri};

/// The most skills `list_skills` tells at once, and what it tells unasked.
const LIST_MAX: usize = 500;
const LIST_USUAL: usize = 100;
/// The most hits of a search, and what is given unasked.
const HITS_MAX: usize = 50;
const HITS_USUAL: usize = 10;
/// The most suggestions for a path that is not there.
const NEAR_MAX: usize = 8;

/// Why a tool has no result.
pub(crate) struct Fault {
    code: &'static str,
    message: String,
    remedy: Option<String>,
}

impl Fault {
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

/// The names and forms of our own tools.
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
            "inputSchema": object(&json!({ "cursor": text("Where a list went on, from `next_cursor`"), "limit": limit(LIST_MAX, LIST_USUAL) }), &[]),
            "outputSchema": output(&json!({ "skills": list("In order of names", skill), "total": { "type": "integer" }, "next_cursor": { "type": "string" } })),
        }),
        json!({
            "name": "search_skills",
            "title": "Search skills",
            "description": "Finds skills by what they say, best first, and says why. Word forms and typing errors are seen through.",
            "inputSchema": object(&json!({ "text": text("What is looked for, in words"), "limit": limit(HITS_MAX, HITS_USUAL) }), &["text"]),
            "outputSchema": output(&json!({ "results": list("Best first", json!({ "type": "object" })) })),
        }),
        json!({
            "name": "select_skills",
            "title": "Select skills for a request",
            "description": "Selects the skills whose authors' triggers fit a request: its words, its files, its intents.",
            "inputSchema": object(&json!({
                "text": text("What the user wants, in their words"),
                "files": list("Files the request is about, relative to the project", json!({ "type": "string" })),
                "intents": list("Intents you see in it", json!({ "type": "string" })),
            }), &["text"]),
            "outputSchema": output(&json!({ "selected": list("By score", json!({ "type": "object" })) })),
        }),
        json!({
            "name": "load_skill",
            "title": "Load a skill",
            "description": "Gives a skill's instructions whole, and the addresses of its files, which are not read.",
            "inputSchema": object(&json!({ "name": text("The skill's name, or the `skill://` address of its SKILL.md") }), &["name"]),
            "outputSchema": output(&json!({
                "name": { "type": "string" }, "uri": { "type": "string" }, "content": { "type": "string" },
                "files": list("What lies beside it", json!({ "type": "object" })),
            })),
        }),
        json!({
            "name": "read_skill_file",
            "title": "Read a file of a skill",
            "description": "Reads one file of a skill, by its `skill://` address or by skill and path.",
            "inputSchema": object(&json!({
                "uri": text("The address, such as `skill://pdf/references/forms.md`"),
                "skill": text("The skill's name, with `path`"),
                "path": text("The path inside the skill"),
            }), &[]),
            "outputSchema": output(&json!({
                "uri": { "type": "string" }, "mime_type": { "type": "string" }, "size": { "type": "integer" },
                "text": { "type": "string" }, "blob": { "type": "string", "description": "Base64, where it is no text" },
            })),
        }),
        json!({
            "name": "query_skill",
            "title": "Ask a skill for one thing",
            "description": "Gives one exact answer from a skill instead of the whole: `skill:path?key=value`, such as `pdf:constraints.never` or `stripe:decisions?when=*charges*`. An empty path lists what can be asked.",
            "inputSchema": object(&json!({ "query": text("`skill:path?filter`") }), &["query"]),
            "outputSchema": output(&json!({
                "skill": { "type": "string" }, "path": { "type": "string" }, "found": { "type": "boolean" },
                "value": {}, "origin": { "type": "string" },
            })),
        }),
    ]
}

pub(crate) fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// What a tool gives: these, or an error. Some clients hold errors against this too, so that nothing is required.
pub(crate) fn output(properties: &Value) -> Value {
    let mut properties = properties.clone();
    properties["status"] = json!({ "type": "string" });
    properties["error"] = json!({ "type": "object" });
    json!({ "type": "object", "properties": properties })
}

/// Our own tools. None changes anything.
pub(crate) fn own() -> Vec<Tool> {
    let made = table().into_iter().chain([convert::listed()]).map(|mut tool| {
        let title = tool["title"].clone();
        tool["annotations"] = json!({
            "title": title, "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
        });
        serde_json::from_value(tool).expect("the table above is of tools")
    });
    made.collect()
}

/// Whether a tool is one of ours.
pub(crate) fn is_own(name: &str) -> bool {
    const NAMES: [&str; 6] =
        ["list_skills", "search_skills", "select_skills", "load_skill", "read_skill_file", "query_skill"];
    NAMES.contains(&name)
}

/// Calls one of our own tools.
pub(crate) fn call(shelf: &Shelf, answers: &Answers, name: &str, given: &JsonObject) -> CallToolResult {
    let done = match name {
        "list_skills" => list(shelf, given),
        "search_skills" => search(shelf, given),
        "select_skills" => select(shelf, given),
        "load_skill" => load(shelf, given),
        "read_skill_file" => read(shelf, given),
        _ => query(shelf, answers, given),
    };
    match done {
        Ok((value, None)) => CallToolResult::structured(value),
        Ok((value, Some(text))) => {
            let mut result = CallToolResult::structured(value);
            result.content = vec![ContentBlock::text(text)];
            result
        }
        Err(fault) => CallToolResult::structured_error(fault.envelope()),
    }
}

/// The skill `convert_skill` is about, and whether a model shall read it.
pub(crate) fn to_convert<'a>(shelf: &'a Shelf, given: &JsonObject) -> Result<(&'a CatalogEntry, bool), Fault> {
    known(given, &["skill", "engine"])?;
    let is_by_model = match text(given, "engine")? {
        None | Some("rules") => false,
        Some("llm") => true,
        Some(other) => return Err(wrong(format!("there is no engine `{other}`")).remedy("one of: rules, llm")),
    };
    Ok((find(&shelf.catalog, needed(given, "skill")?)?, is_by_model))
}

/// A result, and how it is told where that is not as JSON.
type Done = Result<(Value, Option<String>), Fault>;

fn wrong(message: impl Into<String>) -> Fault {
    Fault::new("INVALID_ARGUMENT", message)
}

fn known(given: &JsonObject, names: &[&str]) -> Result<(), Fault> {
    match given.keys().find(|key| !names.contains(&key.as_str())) {
        Some(key) => {
            Err(wrong(format!("there is no argument `{key}`")).remedy(format!("one of: {}", names.join(", "))))
        }
        None => Ok(()),
    }
}

fn text<'a>(given: &'a JsonObject, name: &str) -> Result<Option<&'a str>, Fault> {
    match given.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(format!("`{name}` is not text"))),
    }
}

fn needed<'a>(given: &'a JsonObject, name: &str) -> Result<&'a str, Fault> {
    text(given, name)?.ok_or_else(|| wrong(format!("`{name}` is missing")))
}

fn number(given: &JsonObject, name: &str, most: usize, usual: usize) -> Result<usize, Fault> {
    match given.get(name) {
        None | Some(Value::Null) => Ok(usual),
        Some(value) => {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            let number = number.filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| wrong(format!("`{name}` is not a number from 1 to {most}")))
        }
    }
}

fn texts(given: &JsonObject, name: &str) -> Result<Vec<String>, Fault> {
    let fault = || wrong(format!("`{name}` is not a list of texts"));
    match given.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(fault)).collect()
        }
        Some(_) => Err(fault()),
    }
}

/// A skill in a list.
fn brief(entry: &CatalogEntry) -> Value {
    json!({ "name": entry.qualified_name, "description": one_line(&entry.description), "uri": uri::of_main(entry) })
}

fn list(shelf: &Shelf, given: &JsonObject) -> Done {
    known(given, &["cursor", "limit"])?;
    let limit = number(given, "limit", LIST_MAX, LIST_USUAL)?;
    let cursor = text(given, "cursor")?;
    let page = page(&shelf.active, shelf.mark, cursor, limit).map_err(|error| wrong(error.message))?;
    let skills: Vec<Value> = page.items.iter().map(|index| brief(&shelf.catalog.entries[*index])).collect();
    let mut value = json!({ "skills": skills, "total": shelf.active.len() });
    if let Some(next) = page.next {
        value["next_cursor"] = next.into();
    }
    Ok((value, None))
}

fn search(shelf: &Shelf, given: &JsonObject) -> Done {
    known(given, &["text", "limit"])?;
    let limit = number(given, "limit", HITS_MAX, HITS_USUAL)?;
    // People's own skills are found too, and left out here.
    let hits = shelf.catalog.search(needed(given, "text")?, HITS_MAX * 2);
    let entry = |index: usize| &shelf.catalog.entries[index];
    let hits = hits.iter().filter(|hit| entry(hit.entry).status == Status::Active).take(limit);
    let rounded = |points: f64| (points * 1000.0).round() / 1000.0;
    let results = hits.map(|hit| {
        let mut value = brief(entry(hit.entry));
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

fn select(shelf: &Shelf, given: &JsonObject) -> Done {
    known(given, &["text", "files", "intents"])?;
    let request = Request {
        text: needed(given, "text")?.to_owned(),
        files: texts(given, "files")?,
        intents: texts(given, "intents")?,
        ..Request::default()
    };
    let selection = shelf.catalog.select(&request);
    let matched = |one: &Match| json!({ "kind": one.kind.name(), "trigger": one.trigger, "points": one.points });
    let selected = |one: &Selected| {
        let entry = &shelf.catalog.entries[one.index];
        let mut value = brief(entry);
        value["score"] = json!(one.score);
        value["matches"] = one.matches.iter().map(matched).collect();
        (entry.status == Status::Active).then_some(value)
    };
    Ok((json!({ "selected": selection.selected.iter().filter_map(selected).collect::<Vec<Value>>() }), None))
}

/// The skill that a name or an address names.
fn find<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a CatalogEntry, Fault> {
    let found = match uri::find(catalog, name) {
        Some((entry, _)) => Some(entry),
        None => catalog.get(name).filter(|entry| entry.status == Status::Active),
    };
    found.ok_or_else(|| {
        Fault::new("SKILL_NOT_FOUND", format!("there is no skill `{name}`"))
            .remedy("`list_skills` lists the skills there are, `search_skills` finds one by words")
    })
}

fn load(shelf: &Shelf, given: &JsonObject) -> Done {
    known(given, &["name"])?;
    let entry = find(&shelf.catalog, needed(given, "name")?)?;
    let unreadable = || Fault::new("UNREADABLE", format!("the skill `{}` could not be read", entry.qualified_name));
    let root = uri::of_skill(entry);
    let place = format!("Skill directory: {root}\nPaths in this skill are below it; `read_skill_file` reads them.\n");
    let content = disclose::activate_at(entry, &place).map_err(|_| unreadable())?;
    let held = held(entry).map_err(|_| unreadable())?;
    let files = held.files.iter().filter(|(path, _)| entry.folder.join(path) != entry.location);
    let files = files.map(|(path, size)| {
        json!({ "uri": uri::of_file(entry, path), "path": path, "size": size, "mime_type": mime_type(path) })
    });
    let value = json!({
        "name": entry.qualified_name, "uri": uri::of_main(entry), "content": content, "files": files.collect::<Vec<Value>>(),
    });
    Ok((value, Some(content)))
}

fn read(shelf: &Shelf, given: &JsonObject) -> Done {
    known(given, &["uri", "skill", "path"])?;
    let (entry, path) = match (text(given, "uri")?, text(given, "skill")?, text(given, "path")?) {
        (Some(address), None, None) => {
            let missing = || Fault::new("FILE_NOT_FOUND", "no file is served at this address");
            uri::find(&shelf.catalog, address).ok_or_else(missing)?
        }
        (None, Some(skill), Some(path)) => (find(&shelf.catalog, skill)?, path.to_owned()),
        _ => return Err(wrong("give `uri`, or `skill` and `path`")),
    };
    let name = &entry.qualified_name;
    let bytes = resources::bytes(entry, &path).map_err(|error| Fault::new("UNREADABLE", error.message))?;
    let bytes = bytes.ok_or_else(|| {
        Fault::new("FILE_NOT_FOUND", format!("the skill `{name}` serves no file `{path}`"))
            .remedy(format!("`load_skill` with `{name}` lists its files"))
    })?;
    let mut value = json!({ "uri": uri::of_file(entry, &path), "mime_type": mime_type(&path), "size": bytes.len() });
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

fn query(shelf: &Shelf, answers: &Answers, given: &JsonObject) -> Done {
    known(given, &["query"])?;
    let query = needed(given, "query")?;
    let is_active = |name: &str| uri::named(&shelf.catalog, name).is_some();
    match answers.query(&shelf.catalog, query) {
        Ok(reply) if is_active(&reply.skill) => Ok((answered(&reply), None)),
        Ok(reply) => Err(missed(&Miss::Skill { name: reply.skill.clone(), candidates: Vec::new() })),
        Err(Miss::Path { skill, .. }) if !is_active(&skill) => {
            Err(missed(&Miss::Skill { name: skill, candidates: Vec::new() }))
        }
        Err(Miss::Skill { name, mut candidates }) => {
            candidates.retain(|name| is_active(name));
            Err(missed(&Miss::Skill { name, candidates }))
        }
        Err(miss) => Err(missed(&miss)),
    }
}

fn answered(reply: &Reply) -> Value {
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

fn missed(miss: &Miss) -> Fault {
    let message = match miss {
        // The system's words hold a path of this machine.
        Miss::Unreadable(_) => "the skill could not be read".to_owned(),
        _ => miss.message(),
    };
    let fault = Fault::new(miss.code(), message);
    let near = match miss {
        Miss::Path { near, .. } => near,
        Miss::Skill { candidates, .. } => candidates,
        _ => return fault,
    };
    if near.is_empty() {
        return fault;
    }
    let near: Vec<&str> = near.iter().take(NEAR_MAX).map(String::as_str).collect();
    fault.remedy(format!("there are: {}", near.join(", ")))
}
