//! Forms for the arguments of a tool, made from its input schema, and the arguments that a person entered.
//!
//! Every property of a simple type has a field of its own. Properties of other types are entered as JSON. A schema that
//! is not a plain object has no form; its arguments are entered as one JSON object.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::fields::FormFields;
use super::html::{render_inline_code, truncate_at_word};

/// The maximum number of properties of a form; a request has few fields.
const PROPERTIES_MAX: usize = 40;
/// The maximum number of options of a list, and the length of a text from which a field has several lines.
const OPTIONS_MAX: usize = 200;
const LONG_CHARS: u64 = 200;
/// The maximum length of a shown description.
const ABOUT_CHARS_MAX: usize = 300;
/// What the names of fields with arguments start with.
const PREFIX: &str = "arg.";

/// How an argument is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldKind {
    Text {
        is_long: bool,
    },
    Number {
        is_integer: bool,
    },
    Switch,
    Choice(Vec<Value>),
    /// Scalars, one per line.
    Lines {
        is_integer: bool,
        is_number: bool,
    },
    Json,
}

/// A property of a schema.
struct ArgumentField<'a> {
    name: &'a str,
    schema: &'a Value,
    kind: FieldKind,
    is_required: bool,
}

/// Returns the fields of a schema, or `None` if it needs JSON.
fn list_fields(schema: &Value) -> Option<Vec<ArgumentField<'_>>> {
    const COMBINED: [&str; 6] = ["oneOf", "anyOf", "allOf", "$ref", "if", "not"];
    let is_plain = COMBINED.iter().all(|word| schema.get(word).is_none());
    let properties = schema.get("properties").and_then(Value::as_object)?;
    if !is_plain || properties.len() > PROPERTIES_MAX {
        return None;
    }
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = properties.iter().map(|(name, schema)| ArgumentField {
        name,
        schema,
        kind: field_kind(schema),
        is_required: required.contains(&name.as_str()),
    });
    Some(fields.collect())
}

/// Returns the type of a schema; of several, the first that is not null.
fn type_name(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(name) => name,
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or_default(),
        _ => "",
    }
}

fn field_kind(schema: &Value) -> FieldKind {
    let options: Option<&Vec<Value>> = schema["enum"].as_array();
    if let Some(options) = options.filter(|options| options.len() <= OPTIONS_MAX) {
        return FieldKind::Choice(options.clone());
    }
    match type_name(schema) {
        "string" => FieldKind::Text { is_long: schema["maxLength"].as_u64().is_some_and(|most| most >= LONG_CHARS) },
        "integer" => FieldKind::Number { is_integer: true },
        "number" => FieldKind::Number { is_integer: false },
        "boolean" => FieldKind::Switch,
        "array" => match type_name(&schema["items"]) {
            "string" if schema["items"].get("enum").is_none() => {
                FieldKind::Lines { is_integer: false, is_number: false }
            }
            "integer" => FieldKind::Lines { is_integer: true, is_number: true },
            "number" => FieldKind::Lines { is_integer: false, is_number: true },
            _ => FieldKind::Json,
        },
        _ => FieldKind::Json,
    }
}

/// Returns the text of a value as it is entered.
fn entered_text(kind: &FieldKind, value: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match (kind, value) {
        (_, Value::Null) => String::new(),
        (FieldKind::Lines { .. }, Value::Array(items)) => items.iter().map(plain).collect::<Vec<_>>().join("\n"),
        (FieldKind::Json, value) => format!("{value:#}"),
        (_, value) => plain(value),
    }
}

/// Renders a field for every property, or returns `None` if the schema needs JSON. `id` distinguishes forms on a page;
/// `given` has what was entered before.
pub(super) fn render_fields(id: &str, schema: &Value, given: Option<&FormFields>) -> Option<Markup> {
    let fields = list_fields(schema)?;
    Some(html! {
        @for (number, field) in fields.iter().enumerate() {
            @let value = match given {
                Some(given) => given.get_exact(&format!("{PREFIX}{}", field.name)).to_owned(),
                None => entered_text(&field.kind, &field.schema["default"]),
            };
            (render_field(&format!("{id}-{number}"), field, &value))
        }
    })
}

fn render_field(id: &str, field: &ArgumentField<'_>, value: &str) -> Markup {
    let (name, about_id) = (format!("{PREFIX}{}", field.name), format!("{id}-about"));
    let about = field.schema["description"].as_str().unwrap_or_default();
    let hint = match &field.kind {
        FieldKind::Lines { .. } => "One value per line.",
        FieldKind::Json => "As JSON.",
        _ => "",
    };
    let described = (!about.is_empty() || !hint.is_empty()).then_some(&about_id);
    let is_required = field.is_required;
    let bound = |word: &str| field.schema[word].as_number().map(ToString::to_string);
    html! {
        div class="argument" {
            label for=(id) {
                code { (field.name) } @if is_required { " " span class="muted" { "(required)" } }
            }
            @match &field.kind {
                FieldKind::Text { is_long: false } => {
                    input type="text" id=(id) name=(name) value=(value) required[is_required] autocomplete="off"
                        spellcheck="false" aria-describedby=[described];
                }
                FieldKind::Number { is_integer } => {
                    input type="number" id=(id) name=(name) value=(value) required[is_required]
                        step=(if *is_integer { "1" } else { "any" }) min=[bound("minimum")] max=[bound("maximum")]
                        aria-describedby=[described];
                }
                FieldKind::Switch => (render_options(id, &name, is_required, value, &["true".to_owned(), "false".to_owned()], described)),
                FieldKind::Choice(options) => {
                    @let texts: Vec<String> = options.iter().map(|option| entered_text(&field.kind, option)).collect();
                    (render_options(id, &name, is_required, value, &texts, described))
                }
                FieldKind::Text { is_long: true } | FieldKind::Lines { .. } | FieldKind::Json => {
                    textarea id=(id) name=(name) rows="3" required[is_required] spellcheck="false"
                        aria-describedby=[described] { (value) }
                }
            }
            @if described.is_some() {
                p class="muted" id=(about_id) {
                    (render_inline_code(&truncate_at_word(about, ABOUT_CHARS_MAX))) " " (hint)
                }
            }
        }
    }
}

fn render_options(
    id: &str,
    name: &str,
    is_required: bool,
    value: &str,
    options: &[String],
    described: Option<&String>,
) -> Markup {
    html! {
        select id=(id) name=(name) required[is_required] aria-describedby=[described] {
            @if !is_required || value.is_empty() { option value="" { @if is_required { "choose" } @else { "not set" } } }
            @for option in options { option value=(option) selected[option == value] { (option) } }
        }
    }
}

/// Reads the arguments of a form. A field that is left empty is not an argument.
pub(super) fn parse_arguments(schema: &Value, fields: &FormFields) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    for field in list_fields(schema).unwrap_or_default() {
        // Browsers end lines with CR LF.
        let text = fields.get_exact(&format!("{PREFIX}{}", field.name)).replace("\r\n", "\n");
        if text.trim().is_empty() {
            continue;
        }
        let value = parse_value(&field.kind, &text).map_err(|fault| format!("`{}` {fault}.", field.name))?;
        arguments.insert(field.name.to_owned(), value);
    }
    Ok(arguments)
}

fn parse_value(kind: &FieldKind, text: &str) -> Result<Value, String> {
    let number = |text: &str, is_integer: bool| -> Result<Value, String> {
        let value: Option<Value> = serde_json::from_str(text.trim()).ok().filter(Value::is_number);
        match value {
            Some(value) if !is_integer || value.is_i64() || value.is_u64() => Ok(value),
            _ if is_integer => Err("must be an integer".to_owned()),
            _ => Err("must be a number".to_owned()),
        }
    };
    match kind {
        FieldKind::Text { .. } => Ok(text.into()),
        FieldKind::Number { is_integer } => number(text, *is_integer),
        FieldKind::Switch => match text.trim() {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err("must be `true` or `false`".to_owned()),
        },
        FieldKind::Choice(options) => {
            let chosen = options.iter().find(|option| entered_text(kind, option) == text);
            chosen.cloned().ok_or_else(|| "is not one of the options".to_owned())
        }
        FieldKind::Lines { is_integer, is_number } => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let values = lines.map(|line| if *is_number { number(line, *is_integer) } else { Ok(line.into()) });
            Ok(Value::Array(values.collect::<Result<_, _>>()?))
        }
        FieldKind::Json => serde_json::from_str(text).map_err(|error| format!("is not valid JSON: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "count": { "type": ["null", "integer"] },
                "ratio": { "type": "number" },
                "deep": { "type": "boolean" },
                "kind": { "enum": ["a", 1] },
                "names": { "type": "array", "items": { "type": "string" } },
                "more": { "type": "object" },
            },
            "required": ["path"],
        })
    }

    #[test]
    fn what_is_entered_has_the_type_of_the_schema() {
        let entered = "arg.path=+a%26b+&arg.count=7&arg.ratio=1.5&arg.deep=false&arg.kind=1&arg.names=x%0D%0Ay%0D%0A&arg.more=%7B%22k%22:1%7D&arg.astray=1";
        let arguments = parse_arguments(&schema(), &FormFields::parse(entered)).unwrap();
        let expected = json!({ "path": " a&b ", "count": 7, "ratio": 1.5, "deep": false, "kind": 1, "names": ["x", "y"], "more": { "k": 1 } });
        assert_eq!(Value::Object(arguments), expected);
        let empty = parse_arguments(&schema(), &FormFields::parse("arg.path=&arg.count=+&arg.deep=")).unwrap();
        assert!(empty.is_empty(), "{empty:?}");
    }

    #[test]
    fn a_wrong_value_is_named() {
        for (entered, wrong) in [
            ("arg.count=1.5", "`count` must be an integer."),
            ("arg.ratio=much", "`ratio` must be a number."),
            ("arg.deep=yes", "`deep` must be `true` or `false`."),
            ("arg.kind=b", "`kind` is not one of the options."),
            ("arg.more=%7B", "`more` is not valid JSON"),
        ] {
            let fault = parse_arguments(&schema(), &FormFields::parse(entered)).unwrap_err();
            assert!(fault.starts_with(wrong), "{fault}");
        }
    }

    #[test]
    fn text_of_a_schema_never_becomes_markup() {
        let schema =
            json!({ "properties": { "\"><b>": { "type": "string", "description": "<i>", "default": "<u>" } } });
        let form = render_fields("f", &schema, None).unwrap().into_string();
        assert!(!form.contains("<b>") && !form.contains("<i>") && !form.contains("<u>"), "{form}");
        assert!(render_fields("f", &json!({ "oneOf": [], "properties": {} }), None).is_none());
        assert!(render_fields("f", &json!(true), None).is_none());
    }
}
