//! The schema of UASP §3.1 for servers that hold a model to one: types and required fields, without the keywords they refuse.

use serde_json::{Map, Value, json};

/// The JSON Schema of an answer.
pub fn schema() -> Value {
    let meta = fields(
        &["name", "version", "type", "description"],
        &[
            ("name", text()),
            ("version", json!({ "type": "string", "enum": [super::PLACEHOLDER] })),
            ("type", json!({ "type": "string", "enum": ["knowledge", "cli", "api", "hybrid"] })),
            ("description", text()),
        ],
    );
    let triggers = fields(&[], &[("keywords", texts()), ("intents", texts()), ("file_patterns", texts())]);
    let preference = fields(&["use", "over"], &[("use", text()), ("over", text()), ("when", text())]);
    let constraints = fields(&[], &[("never", texts()), ("always", texts()), ("prefer", list(&preference))]);
    let decision = fields(&["when", "then"], &[("when", text()), ("then", text()), ("ref", text())]);
    let variable = fields(&["name", "purpose"], &[("name", text()), ("purpose", text()), ("default", text())]);
    let source = fields(&["id"], &[("id", text()), ("url", text()), ("path", text()), ("use_for", text())]);
    fields(
        &["meta"],
        &[
            ("meta", meta),
            ("triggers", triggers),
            ("constraints", constraints),
            ("decisions", list(&decision)),
            ("state", fields(&[], &[("entities", list(&entity()))])),
            ("commands", mapping(&command())),
            ("global_flags", list(&flag())),
            ("workflows", mapping(&workflow())),
            ("reference", mapping(&reference())),
            ("templates", mapping(&template())),
            ("environment", list(&variable)),
            ("sources", list(&source)),
        ],
    )
}

fn entity() -> Value {
    let lists = ["created_by", "consumed_by", "invalidated_by", "properties"];
    let mut known = vec![("name", text()), ("format", text())];
    known.extend(lists.map(|key| (key, texts())));
    fields(&["name"], &known)
}

fn argument() -> Value {
    let known = [
        ("name", text()),
        ("type", text()),
        ("required", json!({ "type": "boolean" })),
        ("default", text()),
        ("values", texts()),
        ("description", text()),
    ];
    fields(&["name", "type"], &known)
}

fn flag() -> Value {
    let texts = ["name", "short", "long", "type", "default", "purpose", "env"];
    fields(&["name", "type"], &texts.map(|key| (key, text())))
}

fn command() -> Value {
    let mut known: Vec<(&str, Value)> = ["syntax", "description", "returns", "note"].map(|key| (key, text())).to_vec();
    known.extend(["aliases", "requires", "creates", "invalidates"].map(|key| (key, texts())));
    known.push(("args", list(&argument())));
    known.push(("flags", list(&flag())));
    known.push(("variants", list(&fields(&[], &[("syntax", text()), ("purpose", text())]))));
    fields(&["syntax"], &known)
}

fn workflow() -> Value {
    let step = [("cmd", text()), ("note", text()), ("optional", json!({ "type": "boolean" }))];
    let known = [
        ("description", text()),
        ("invariants", texts()),
        ("steps", list(&fields(&["cmd"], &step))),
        ("example", text()),
    ];
    fields(&["description", "steps"], &known)
}

fn reference() -> Value {
    fields(&[], &[("syntax", text()), ("example", text()), ("notes", text()), ("values", texts())])
}

fn template() -> Value {
    let mut known: Vec<(&str, Value)> = ["description", "usage", "path", "inline"].map(|key| (key, text())).to_vec();
    known.push(("args", list(&argument())));
    fields(&["description"], &known)
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn texts() -> Value {
    list(&text())
}

fn list(item: &Value) -> Value {
    json!({ "type": "array", "items": item })
}

fn mapping(value: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": value })
}

fn fields(required: &[&str], known: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> = known.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::schema;

    #[test]
    fn every_section_has_its_place() {
        let schema = schema();
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.keys().map(String::as_str).collect::<Vec<_>>(), rep_model::uasp::SECTIONS);
        assert_eq!(schema["required"], serde_json::json!(["meta"]));
    }
}
