//! Hosts that accept functions: OpenAI, Anthropic and Gemini, each with a different subset of JSON Schema.

use serde_json::{Value, json};

use crate::loss::{Loss, LossSeverity};
use crate::projection::{Projection, ProjectionOutput, ProjectionSource};
use crate::schema::{ANTHROPIC, GEMINI, OPENAI, SchemaDialect, SchemaSize, measure_schema, shape_schema};

/// The maximum length of a function's name.
const NAME_CHARS_MAX: usize = 64;
const GEMINI_NAME_CHARS_MAX: usize = 128;

/// The treatment of a tool that does not fit the strict subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfitToolPolicy {
    /// The tool is omitted, and the projection is refused.
    Refuse,
    /// The tool is written with its own schema and without the guarantee that arguments are valid. The host of the tool
    /// validates them anyway.
    Loosen,
}

/// Returns the function name of a skill's tool.
pub fn function_name(skill: &str, tool: &str) -> String {
    format!("{skill}__{tool}")
}

pub(super) fn project_for_openai(sources: &[ProjectionSource<'_>], unfit: UnfitToolPolicy) -> Projection {
    let write = |function: FunctionDeclaration<'_>| {
        json!({
            "type": "function",
            "name": function.name,
            "description": function.description,
            "strict": function.is_strict,
            "parameters": function.schema,
        })
    };
    let (tools, losses) = project_functions(sources, &OPENAI, unfit, NAME_CHARS_MAX, write);
    Projection { form: ProjectionOutput::Document(json!({ "tools": tools })), losses }
}

pub(super) fn project_for_anthropic(sources: &[ProjectionSource<'_>], unfit: UnfitToolPolicy) -> Projection {
    let write = |function: FunctionDeclaration<'_>| {
        json!({
            "name": function.name,
            "description": function.description,
            "input_schema": function.schema,
            "strict": function.is_strict,
        })
    };
    let (tools, losses) = project_functions(sources, &ANTHROPIC, unfit, NAME_CHARS_MAX, write);
    Projection { form: ProjectionOutput::Document(json!({ "tools": tools })), losses }
}

pub(super) fn project_for_gemini(sources: &[ProjectionSource<'_>], unfit: UnfitToolPolicy) -> Projection {
    let write = |function: FunctionDeclaration<'_>| {
        json!({
            "name": function.name,
            "description": function.description,
            "parametersJsonSchema": function.schema,
        })
    };
    let (tools, losses) = project_functions(sources, &GEMINI, unfit, GEMINI_NAME_CHARS_MAX, write);
    Projection { form: ProjectionOutput::Document(json!({ "tools": [{ "functionDeclarations": tools }] })), losses }
}

/// A function to write.
struct FunctionDeclaration<'a> {
    name: String,
    description: &'a str,
    schema: Value,
    is_strict: bool,
}

fn project_functions(
    sources: &[ProjectionSource<'_>],
    dialect: &SchemaDialect,
    unfit: UnfitToolPolicy,
    name_max: usize,
    write: impl Fn(FunctionDeclaration<'_>) -> Value,
) -> (Vec<Value>, Vec<Loss>) {
    let mut written = Vec::new();
    let mut losses = Vec::new();
    let mut whole = SchemaSize::default();
    let mut strict = 0;
    for (source, tool) in sources.iter().flat_map(|source| source.tools.iter().map(move |tool| (source, tool))) {
        let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = function_name(source.name, text("name"));
        let at = format!("{}:{}", source.name, text("name"));
        let length = name.chars().count();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if text("name").is_empty() || length > name_max || !name.chars().all(is_plain) {
            let message =
                format!("invalid function name `{name}`: use at most {name_max} letters, digits, `_` and `-`");
            losses.push(Loss::new(LossSeverity::Refused, at, message).help("rename the skill or the tool"));
            continue;
        }
        let own = tool.get("input_schema").cloned().unwrap_or_else(|| json!({ "type": "object", "properties": {} }));
        let (schema, is_strict) = match shape_schema(&own, dialect) {
            Ok(shaped) => {
                losses.extend(shaped.losses.into_iter().map(|loss| prefix_location(loss, &at)));
                (shaped.schema, true)
            }
            Err(refusals) if unfit == UnfitToolPolicy::Loosen => {
                let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
                let message = format!("is not strict: {}", reasons.join("; "));
                losses.push(Loss::new(LossSeverity::Narrowed, &at, message));
                (own, false)
            }
            Err(refusals) => {
                let help = "rewrite the schema, or export with `--loose`, which disables `strict` for this tool";
                losses.extend(refusals.into_iter().map(|loss| prefix_location(loss, &at).help(help)));
                continue;
            }
        };
        if is_strict {
            strict += 1;
            whole.add(&measure_schema(&schema));
        }
        written.push(write(FunctionDeclaration { name, description: text("description"), schema, is_strict }));
    }
    losses.extend(find_exceeded_limits(dialect, strict, &whole));
    (written, losses)
}

/// Returns the limits of one request that all tools together exceed.
fn find_exceeded_limits(dialect: &SchemaDialect, tools: usize, whole: &SchemaSize) -> Vec<Loss> {
    let limits = [
        ("strict tools", tools, dialect.tools_max),
        ("optional properties", whole.optionals, dialect.optionals_max),
        ("unions", whole.unions, dialect.unions_max),
    ];
    let told = limits.into_iter().filter_map(|(what, count, limit)| {
        let limit = limit.filter(|limit| count > *limit)?;
        let message = format!("{count} {what} in total; the limit per request is {limit} in {}", dialect.name);
        Some(Loss::new(LossSeverity::Narrowed, "tools", message).help("send the tools of fewer skills in one request"))
    });
    told.collect()
}

fn prefix_location(loss: Loss, at: &str) -> Loss {
    let place = if loss.at.is_empty() { String::new() } else { format!("#{}", loss.at) };
    Loss { at: format!("{at}{place}"), ..loss }
}
