//! The tools, prompts and resources that the official conformance suite expects of a server.

use std::time::Duration;

use rep_mcp::ChangedList;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, InputRequests, InputRequiredResult, InputResponses, ProgressNotificationParam,
    Prompt, PromptArgument, ReadResourceResult, Resource, ResourceContents, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, from_value, json};

use crate::conformance_handler::Fixtures;
use crate::task_fixtures;

/// One red dot.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A very short silence.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// How long a tool runs whose client loses its stream. The server itself never closes one.
const LONG_RUN: Duration = Duration::from_secs(2);
/// How long the steps of a tool take.
const STEP: Duration = Duration::from_millis(50);
/// How long a client may cache an answer.
const TTL_MS: u64 = 60_000;
/// The resource that the suite subscribes to.
const WATCHED: &str = "test://watched-resource";

/// The tools that take no arguments.
const PLAIN: [&str; 24] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_error_handling",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_reconnection",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

/// The tools.
pub(crate) fn tools() -> Vec<Tool> {
    let plain = PLAIN.iter().map(|name| {
        json!({ "name": name, "description": "For the conformance suite.", "inputSchema": { "type": "object", "properties": {} } })
    });
    let asking = [("test_sampling", "prompt"), ("test_elicitation", "message")].map(|(name, argument)| {
        let schema =
            json!({ "type": "object", "properties": { argument: { "type": "string" } }, "required": [argument] });
        json!({ "name": name, "description": "For the conformance suite.", "inputSchema": schema })
    });
    let schema = json!({
        "name": "json_schema_2020_12_tool",
        "description": "Tool with JSON Schema 2020-12 features",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": { "$anchor": "addressDef", "type": "object", "properties": { "street": { "type": "string" }, "city": { "type": "string" } } } },
            "properties": { "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" }, "contactMethod": { "type": "string", "enum": ["phone", "email"] }, "phone": { "type": "string" }, "email": { "type": "string" } },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        },
    });
    let headers = json!({
        "name": "test_custom_headers",
        "description": "For the conformance suite.",
        "inputSchema": { "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } }, "required": ["region"] },
    });
    plain
        .chain(asking)
        .chain([schema, headers])
        .filter_map(|tool| from_value(tool).ok())
        .chain(task_fixtures::tools())
        .collect()
}

/// The prompts.
pub(crate) fn prompts() -> Vec<Prompt> {
    let argument = |name: &str| PromptArgument::new(name).with_description("An argument").with_required(true);
    let prompt = |name: &str, arguments: Vec<PromptArgument>| {
        Prompt::new(name, Some("For the conformance suite."), Some(arguments))
    };
    vec![
        prompt("test_simple_prompt", Vec::new()),
        prompt("test_prompt_with_arguments", vec![argument("arg1"), argument("arg2")]),
        prompt("test_prompt_with_embedded_resource", vec![argument("resourceUri")]),
        prompt("test_prompt_with_image", Vec::new()),
        prompt("test_input_required_result_prompt", Vec::new()),
    ]
}

/// The resources.
pub(crate) fn resources() -> Vec<Resource> {
    let resource = |uri: &str, kind: &str| {
        Resource::new(uri, uri).with_description("For the conformance suite.").with_mime_type(kind)
    };
    vec![
        resource("test://static-text", "text/plain"),
        resource("test://static-binary", "image/png"),
        resource(WATCHED, "text/plain"),
    ]
}

/// The resource at an address of the suite.
pub(crate) fn read(uri: &str) -> Option<ResourceContents> {
    let text = |text: &str, kind: &str| Some(ResourceContents::text(text, uri).with_mime_type(kind));
    match uri {
        "test://static-text" => text("This is the content of the static text resource.", "text/plain"),
        "test://static-binary" => Some(ResourceContents::blob(PNG, uri).with_mime_type("image/png")),
        WATCHED => text("Watched.", "text/plain"),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let value = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            text(&value.to_string(), "application/json")
        }
    }
}

/// An answer with how long it may be cached.
pub(crate) fn cacheable(result: ReadResourceResult) -> ReadResourceResult {
    result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private)
}

/// The server failed.
pub(crate) fn internal() -> ErrorData {
    ErrorData::internal_error("the server failed at this request", None)
}

fn invalid(message: &'static str) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

/// One of the suite's prompts.
pub(crate) fn prompt(request: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>> {
    let given = json!(request.arguments.clone().unwrap_or_default());
    let text = |text: String| json!({ "role": "user", "content": { "type": "text", "text": text } });
    let messages = match request.name.as_str() {
        "test_simple_prompt" => json!([text("This is a simple prompt for testing.".to_owned())]),
        "test_prompt_with_arguments" => {
            let word = |name: &str| given[name].as_str().unwrap_or_default().to_owned();
            json!([text(format!("Prompt with arguments: arg1='{}', arg2='{}'", word("arg1"), word("arg2")))])
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({ "uri": given["resourceUri"], "mimeType": "text/plain", "text": "Embedded resource content for testing." });
            let content = json!({ "type": "resource", "resource": resource });
            json!([{ "role": "user", "content": content }, text("Please process the embedded resource above.".to_owned())])
        }
        "test_prompt_with_image" => {
            let content = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
            json!([{ "role": "user", "content": content }, text("Please analyze the image above.".to_owned())])
        }
        "test_input_required_result_prompt" => {
            if answered(request.input_responses.as_ref(), "user_context").is_none() {
                let question = form("What context should the prompt use?", "context", "string");
                return Some(required(&json!({ "user_context": question }), None).map(Into::into));
            }
            json!([text("With the context that was given.".to_owned())])
        }
        _ => return None,
    };
    Some(from_value(messages).map(|messages| GetPromptResult::new(messages).into()).map_err(|_| internal()))
}

/// A question by form with one field.
pub(super) fn form(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    json!({ "method": "elicitation/create", "params": { "mode": "form", "message": message, "requestedSchema": schema } })
}

fn sampling(text: &str, most: u32) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": most } })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// The answer to a question, if it is an object.
pub(super) fn answered<'a>(responses: Option<&'a InputResponses>, key: &str) -> Option<&'a Value> {
    responses.and_then(|responses| responses.get(key)).filter(|answer| answer.is_object())
}

pub(super) fn required(requests: &Value, state: Option<String>) -> Result<InputRequiredResult, ErrorData> {
    let requests: InputRequests = from_value(requests.clone()).map_err(|_| internal())?;
    Ok(InputRequiredResult::new(Some(requests), state))
}

pub(super) fn text_response(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// A result as the suite writes it.
fn content(blocks: Value) -> Result<CallToolResponse, ErrorData> {
    let blocks: Vec<ContentBlock> = from_value(blocks).map_err(|_| internal())?;
    Ok(CallToolResult::success(blocks).into())
}

/// Calls one of the suite's tools.
pub(crate) async fn call(
    fixtures: &Fixtures,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let resource = |uri: &str, kind: &str, text: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": kind, "text": text } });
    let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
    match request.name.as_ref() {
        "test_simple_text" => Ok(text_response("This is a simple text response for testing.")),
        "test_image_content" => content(json!([image])),
        "test_audio_content" => content(json!([{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }])),
        "test_embedded_resource" => content(json!([resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content."
        )])),
        "test_multiple_content_types" => {
            let data = json!({ "test": "data", "value": 123 }).to_string();
            let text = json!({ "type": "text", "text": "Multiple content types test:" });
            content(json!([text, image, resource("test://mixed-content-resource", "application/json", &data)]))
        }
        "test_error_handling" => {
            let text = ContentBlock::text("This tool intentionally returns an error for testing");
            Ok(CallToolResult::error(vec![text]).into())
        }
        "test_tool_with_logging" => logging(context).await,
        "test_tool_with_progress" => progress(context).await,
        "test_sampling"
        | "test_elicitation"
        | "test_elicitation_sep1034_defaults"
        | "test_elicitation_sep1330_enums" => ask(request, context).await,
        "test_missing_capability" if !can_sample(context) => {
            let needed = from_value(json!({ "sampling": {} })).map_err(|_| internal())?;
            Err(ErrorData::missing_required_client_capability(needed))
        }
        "test_trigger_tool_change" | "test_trigger_prompt_change" => {
            let is_tools = request.name == "test_trigger_tool_change";
            fixtures.server.announce_change(if is_tools { ChangedList::Tools } else { ChangedList::Prompts });
            Ok(text_response("done"))
        }
        name if name.starts_with("test_input_required_result_") || name == "test_streaming_elicitation" => {
            rounds(fixtures, request, context)
        }
        "test_reconnection" => {
            tokio::time::sleep(LONG_RUN).await;
            Ok(text_response("done"))
        }
        name if PLAIN.contains(&name) || name == "json_schema_2020_12_tool" || name == "test_custom_headers" => {
            Ok(text_response("done"))
        }
        _ => task_fixtures::call(fixtures, request, context),
    }
}

fn can_sample(context: &RequestContext<RoleServer>) -> bool {
    json!(context.client_capabilities()).get("sampling").is_some_and(Value::is_object)
}

async fn logging(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        let param = from_value(json!({ "level": "info", "data": text })).map_err(|_| internal())?;
        #[expect(deprecated, reason = "the suite of 2025-11-25 asks for it")]
        // A client that misses it still gets the result.
        let _ = context.peer.notify_logging_message(param).await;
        tokio::time::sleep(STEP).await;
    }
    Ok(text_response("logged"))
}

async fn progress(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    for part in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let param = ProgressNotificationParam::new(token, part).with_total(100.0);
            // A client that misses it still gets the result.
            let _ = context.peer.notify_progress(param).await;
        }
        tokio::time::sleep(STEP).await;
    }
    Ok(text_response("done"))
}

/// Asks the client in the middle of a call.
async fn ask(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let given = json!(request.arguments.clone().unwrap_or_default());
    let failed = |_| invalid("the client could not be asked");
    if request.name == "test_sampling" {
        let params = sampling(given["prompt"].as_str().unwrap_or_default(), 100)["params"].clone();
        let params = from_value(params).map_err(|_| internal())?;
        #[expect(deprecated, reason = "the suite of 2025-11-25 asks for it")]
        let answer = context.peer.create_message(params).await.map_err(failed)?;
        let said = json!(answer);
        return Ok(text_response(format!("LLM response: {}", said["content"]["text"].as_str().unwrap_or_default())));
    }
    let one = |value: &str, title: &str| json!({ "const": value, "title": title });
    let options = ["option1", "option2", "option3"];
    let (message, properties, needed) = match request.name.as_ref() {
        "test_elicitation" => (
            given["message"].as_str().unwrap_or_default(),
            json!({ "username": { "type": "string", "description": "User's response" }, "email": { "type": "string", "description": "User's email address" } }),
            json!(["username", "email"]),
        ),
        "test_elicitation_sep1034_defaults" => (
            "Please look these over",
            json!({
                "name": { "type": "string", "default": "John Doe" },
                "age": { "type": "integer", "default": 30 },
                "score": { "type": "number", "default": 95.5 },
                "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
                "verified": { "type": "boolean", "default": true },
            }),
            json!([]),
        ),
        _ => (
            "Please choose",
            json!({
                "untitledSingle": { "type": "string", "enum": options },
                "titledSingle": { "type": "string", "oneOf": [one("value1", "First Option"), one("value2", "Second Option"), one("value3", "Third Option")] },
                "legacyEnum": { "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"] },
                "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
                "titledMulti": { "type": "array", "items": { "anyOf": [one("value1", "First Choice"), one("value2", "Second Choice"), one("value3", "Third Choice")] } },
            }),
            json!([]),
        ),
    };
    let schema = json!({ "type": "object", "properties": properties, "required": needed });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    let params = from_value(params).map_err(|_| internal())?;
    let answer = json!(context.peer.create_elicitation(params).await.map_err(failed)?);
    let action = answer["action"].as_str().unwrap_or_default();
    let text = match request.name.as_ref() {
        "test_elicitation" => format!("User response: action: {action}, content: {}", answer["content"]),
        _ => format!("Elicitation completed: action={action}, content={}", answer["content"]),
    };
    Ok(text_response(text))
}

/// Calls that answer with a question, and continue when they are called again.
fn rounds(
    fixtures: &Fixtures,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let responses = request.input_responses.as_ref();
    let has = |key: &str| answered(responses, key).is_some();
    let name = form("What is your name?", "name", "string");
    let is_sealed = |what: &str| {
        request.request_state.as_deref().is_some_and(|state| fixtures.open(state).is_some_and(|own| own == what))
    };
    // As the server refuses a state that it did not give out, whatever else the request has.
    if request.request_state.as_deref().is_some_and(|state| fixtures.open(state).is_none()) {
        return Err(invalid("`requestState` is not what was given out"));
    }
    let ask = |requests: Value, state: Option<&str>| {
        required(&requests, state.map(|state| fixtures.seal(state))).map(Into::into)
    };
    match request.name.trim_start_matches("test_input_required_result_") {
        "elicitation" | "test_streaming_elicitation" => match answered(responses, "user_name") {
            Some(answer) => {
                Ok(text_response(format!("Hello, {}!", answer["content"]["name"].as_str().unwrap_or_default())))
            }
            None => ask(json!({ "user_name": name }), None),
        },
        "sampling" => match answered(responses, "capital_question") {
            Some(answer) => Ok(text_response(answer["content"]["text"].as_str().unwrap_or_default())),
            None => ask(json!({ "capital_question": sampling("What is the capital of France?", 100) }), None),
        },
        "list_roots" => match answered(responses, "client_roots") {
            Some(answer) => Ok(text_response(answer["roots"].to_string())),
            None => ask(json!({ "client_roots": roots() }), None),
        },
        "request_state" | "tampered_state" => {
            // As the server asks again if the client did not answer.
            if !is_sealed("confirm") || !has("confirm") {
                return ask(json!({ "confirm": form("Please confirm", "ok", "boolean") }), Some("confirm"));
            }
            Ok(text_response("state-ok"))
        }
        "multiple_inputs" => {
            if has("user_name") && has("greeting") && has("client_roots") {
                return Ok(text_response("all there"));
            }
            let all =
                json!({ "user_name": name, "greeting": sampling("Generate a greeting", 50), "client_roots": roots() });
            ask(all, Some("many"))
        }
        "multi_round" if is_sealed("second") && has("step2") => Ok(text_response("both there")),
        "multi_round" if is_sealed("first") && has("step1") => {
            ask(json!({ "step2": form("Step 2: What is your favorite color?", "color", "string") }), Some("second"))
        }
        "multi_round" => ask(json!({ "step1": form("Step 1: What is your name?", "name", "string") }), Some("first")),
        _ if can_sample(context) => ask(json!({ "greeting": sampling("Generate a greeting", 50) }), None),
        _ => ask(json!({ "user_name": name }), None),
    }
}
