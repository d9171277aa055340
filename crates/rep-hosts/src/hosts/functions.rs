//! Hosts that take functions: OpenAI, Anthropic and Gemini, each with its own subset of JSON Schema.

use serde_json::{Value, json};

use crate::loss::{Loss, Weight};
use crate::projection::{Form, Projection, Source};
use crate::schema::{ANTHROPIC, Dialect, GEMINI, Measure, OPENAI, measure, shape};

/// The longest name of a function.
const NAME_CHARS_MAX: usize = 64;
const GEMINI_NAME_CHARS_MAX: usize = 128;

/// How a tool that does not fit the strict subset is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is left out and refused.
    Refuse,
    /// It is written with its own contract and without the promise that arguments fit; the host of the tool checks them anyway.
    Loosen,
}

/// A tool of a skill, as functions are called.
pub fn function_name(skill: &str, tool: &str) -> String {
    format!("{skill}__{tool}")
}

pub(super) fn openai(sources: &[Source<'_>], unfit: Unfit) -> Projection {
    let write = |function: Function<'_>| {
        json!({
            "type": "function",
            "name": function.name,
            "description": function.description,
            "strict": function.is_strict,
            "parameters": function.schema,
        })
    };
    let (tools, losses) = functions(sources, &OPENAI, unfit, NAME_CHARS_MAX, write);
    Projection { form: Form::Document(json!({ "tools": tools })), losses }
}

pub(super) fn anthropic(sources: &[Source<'_>], unfit: Unfit) -> Projection {
    let write = |function: Function<'_>| {
        json!({
            "name": function.name,
            "description": function.description,
            "input_schema": function.schema,
            "strict": function.is_strict,
        })
    };
    let (tools, losses) = functions(sources, &ANTHROPIC, unfit, NAME_CHARS_MAX, write);
    Projection { form: Form::Document(json!({ "tools": tools })), losses }
}

pub(super) fn gemini(sources: &[Source<'_>], unfit: Unfit) -> Projection {
    let write = |function: Function<'_>| {
        json!({
            "name": function.name,
            "description": function.description,
            "parametersJsonSchema": function.schema,
        })
    };
    let (tools, losses) = functions(sources, &GEMINI, unfit, GEMINI_NAME_CHARS_MAX, write);
    Projection { form: Form::Document(json!({ "tools": [{ "functionDeclarations": tools }] })), losses }
}

/// A function to be written.
struct Function<'a> {
    name: String,
    description: &'a str,
    schema: Value,
    is_strict: bool,
}

fn functions(
    sources: &[Source<'_>],
    dialect: &Dialect,
    unfit: Unfit,
    name_max: usize,
    write: impl Fn(Function<'_>) -> Value,
) -> (Vec<Value>, Vec<Loss>) {
    let mut written = Vec::new();
    let mut losses = Vec::new();
    let mut whole = Measure::default();
    let mut strict = 0;
    for (source, tool) in sources.iter().flat_map(|source| source.tools.iter().map(move |tool| (source, tool))) {
        let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = function_name(source.name, text("name"));
        let at = format!("{}:{}", source.name, text("name"));
        let length = name.chars().count();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if text("name").is_empty() || length > name_max || !name.chars().all(is_plain) {
            let message = format!("`{name}` cannot be the name of a function: {name_max} letters, digits, `_` and `-`");
            losses
                .push(Loss::new(Weight::Refused, at, message).help("give the skill or the tool a shorter, plain name"));
            continue;
        }
        let own = tool.get("input_schema").cloned().unwrap_or_else(|| json!({ "type": "object", "properties": {} }));
        let (schema, is_strict) = match shape(&own, dialect) {
            Ok(shaped) => {
                losses.extend(shaped.losses.into_iter().map(|loss| placed(loss, &at)));
                (shaped.schema, true)
            }
            Err(refusals) if unfit == Unfit::Loosen => {
                let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
                let message = format!("is written without `strict`: {}", reasons.join("; "));
                losses.push(Loss::new(Weight::Narrowed, &at, message));
                (own, false)
            }
            Err(refusals) => {
                let help =
                    "say it in the words of the host, or export with --loose, which gives up `strict` for this tool";
                losses.extend(refusals.into_iter().map(|loss| placed(loss, &at).help(help)));
                continue;
            }
        };
        if is_strict {
            strict += 1;
            whole.add(&measure(&schema));
        }
        written.push(write(Function { name, description: text("description"), schema, is_strict }));
    }
    losses.extend(over(dialect, strict, &whole));
    (written, losses)
}

/// Limits of one request that all tools together go beyond.
fn over(dialect: &Dialect, tools: usize, whole: &Measure) -> Vec<Loss> {
    let limits = [
        ("strict tools", tools, dialect.tools_max),
        ("optional properties", whole.optionals, dialect.optionals_max),
        ("choices between types", whole.unions, dialect.unions_max),
    ];
    let told = limits.into_iter().filter_map(|(what, count, limit)| {
        let limit = limit.filter(|limit| count > *limit)?;
        let message = format!("{count} {what} in all; one request takes {limit} in {}", dialect.name);
        Some(Loss::new(Weight::Narrowed, "tools", message).help("send the tools of fewer skills in one request"))
    });
    told.collect()
}

fn placed(loss: Loss, at: &str) -> Loss {
    let place = if loss.at.is_empty() { String::new() } else { format!("#{}", loss.at) };
    Loss { at: format!("{at}{place}"), ..loss }
}
