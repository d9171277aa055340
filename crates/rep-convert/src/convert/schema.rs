//! The schema of UASP §3.1 for structured output: types and required fields, without keywords that servers reject.

use serde_json::{Map, Value, json};

/// Returns the JSON Schema of an answer.
pub fn answer_schema() -> Value {
    let meta = object_schema(
        &["name", "version", "type", "description"],
        &[
            ("name", text_schema()),
            ("version", json!({ "type": "string", "enum": [super::VERSION_PLACEHOLDER] })),
            ("type", json!({ "type": "string", "enum": ["knowledge", "cli", "api", "hybrid"] })),
            ("description", text_schema()),
        ],
    );
    let triggers = object_schema(
        &[],
        &[("keywords", text_list_schema()), ("intents", text_list_schema()), ("file_patterns", text_list_schema())],
    );
    let preference =
        object_schema(&["use", "over"], &[("use", text_schema()), ("over", text_schema()), ("when", text_schema())]);
    let constraints = object_schema(
        &[],
        &[("never", text_list_schema()), ("always", text_list_schema()), ("prefer", list_schema(&preference))],
    );
    let decision =
        object_schema(&["when", "then"], &[("when", text_schema()), ("then", text_schema()), ("ref", text_schema())]);
    let variable = object_schema(
        &["name", "purpose"],
        &[("name", text_schema()), ("purpose", text_schema()), ("default", text_schema())],
    );
    let source = object_schema(
        &["id"],
        &[("id", text_schema()), ("url", text_schema()), ("path", text_schema()), ("use_for", text_schema())],
    );
    object_schema(
        &["meta"],
        &[
            ("meta", meta),
            ("triggers", triggers),
            ("constraints", constraints),
            ("decisions", list_schema(&decision)),
            ("state", object_schema(&[], &[("entities", list_schema(&entity_schema()))])),
            ("commands", mapping_schema(&command_schema())),
            ("global_flags", list_schema(&flag_schema())),
            ("workflows", mapping_schema(&workflow_schema())),
            ("reference", mapping_schema(&reference_schema())),
            ("templates", mapping_schema(&template_schema())),
            ("environment", list_schema(&variable)),
            ("sources", list_schema(&source)),
        ],
    )
}

fn entity_schema() -> Value {
    let lists = ["created_by", "consumed_by", "invalidated_by", "properties"];
    let mut known = vec![("name", text_schema()), ("format", text_schema())];
    known.extend(lists.map(|key| (key, text_list_schema())));
    object_schema(&["name"], &known)
}

fn argument_schema() -> Value {
    let known = [
        ("name", text_schema()),
        ("type", text_schema()),
        ("required", json!({ "type": "boolean" })),
        ("default", text_schema()),
        ("values", text_list_schema()),
        ("description", text_schema()),
    ];
    object_schema(&["name", "type"], &known)
}

fn flag_schema() -> Value {
    let texts = ["name", "short", "long", "type", "default", "purpose", "env"];
    object_schema(&["name", "type"], &texts.map(|key| (key, text_schema())))
}

fn command_schema() -> Value {
    let mut known: Vec<(&str, Value)> =
        ["syntax", "description", "returns", "note"].map(|key| (key, text_schema())).to_vec();
    known.extend(["aliases", "requires", "creates", "invalidates"].map(|key| (key, text_list_schema())));
    known.push(("args", list_schema(&argument_schema())));
    known.push(("flags", list_schema(&flag_schema())));
    known
        .push(("variants", list_schema(&object_schema(&[], &[("syntax", text_schema()), ("purpose", text_schema())]))));
    object_schema(&["syntax"], &known)
}

fn workflow_schema() -> Value {
    let step = [("cmd", text_schema()), ("note", text_schema()), ("optional", json!({ "type": "boolean" }))];
    let known = [
        ("description", text_schema()),
        ("invariants", text_list_schema()),
        ("steps", list_schema(&object_schema(&["cmd"], &step))),
        ("example", text_schema()),
    ];
    object_schema(&["description", "steps"], &known)
}

fn reference_schema() -> Value {
    object_schema(
        &[],
        &[
            ("syntax", text_schema()),
            ("example", text_schema()),
            ("notes", text_schema()),
            ("values", text_list_schema()),
        ],
    )
}

fn template_schema() -> Value {
    let mut known: Vec<(&str, Value)> =
        ["description", "usage", "path", "inline"].map(|key| (key, text_schema())).to_vec();
    known.push(("args", list_schema(&argument_schema())));
    object_schema(&["description"], &known)
}

fn text_schema() -> Value {
    json!({ "type": "string" })
}

fn text_list_schema() -> Value {
    list_schema(&text_schema())
}

fn list_schema(item: &Value) -> Value {
    json!({ "type": "array", "items": item })
}

fn mapping_schema(value: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": value })
}

fn object_schema(required: &[&str], known: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> = known.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::answer_schema;

    #[test]
    fn every_section_has_its_place() {
        let schema = answer_schema();
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.keys().map(String::as_str).collect::<Vec<_>>(), rep_model::uasp::SECTION_NAMES);
        assert_eq!(schema["required"], serde_json::json!(["meta"]));
    }
}
