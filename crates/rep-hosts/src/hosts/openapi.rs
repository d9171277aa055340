//! Projects the tools of a library to an `OpenAPI` document: one operation per tool, with the result protocol as its
//! responses.

use serde_json::{Map, Value, json};

use super::functions::function_name;
use crate::projection::{Projection, ProjectionOutput, ProjectionSource};

pub(super) fn project_skills(sources: &[ProjectionSource<'_>]) -> Projection {
    let mut paths = Map::new();
    for (source, tool) in sources.iter().flat_map(|source| source.tools.iter().map(move |tool| (source, tool))) {
        let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
        let result = tool.get("output_schema").cloned().unwrap_or_else(|| json!({ "type": "object" }));
        let answer = |description: &str, schema: Value| json!({ "description": description, "content": { "application/json": { "schema": schema } } });
        let contract = tool.get("input_schema").cloned().unwrap_or_else(|| json!({ "type": "object" }));
        let operation = json!({
            "operationId": function_name(source.name, text("name")),
            "summary": text("description"),
            "tags": [source.name],
            "requestBody": { "required": true, "content": { "application/json": { "schema": contract } } },
            "responses": {
                "200": answer("The result.", result),
                "202": answer("A task that continues to run.", json!({ "$ref": "#/components/schemas/Task" })),
                "default": answer("An error.", json!({ "$ref": "#/components/schemas/Error" })),
            },
        });
        paths.insert(format!("/skills/{}/tools/{}", source.name, text("name")), json!({ "post": operation }));
    }
    let tags: Vec<Value> = sources
        .iter()
        .filter(|source| !source.tools.is_empty())
        .map(|source| {
            let description =
                source.skill.frontmatter().and_then(rep_model::Frontmatter::description).map_or("", |text| text.value);
            json!({ "name": source.name, "description": description })
        })
        .collect();
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "Skill tools", "version": "1" },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "tags": tags,
        "paths": paths,
        "components": { "schemas": {
            "Error": {
                "type": "object",
                "required": ["status", "error"],
                "properties": {
                    "status": { "const": "error" },
                    "error": {
                        "type": "object",
                        "required": ["code", "message"],
                        "properties": {
                            "code": { "type": "string" },
                            "message": { "type": "string" },
                            "retriable": { "type": "boolean" },
                        },
                    },
                },
            },
            "Task": {
                "type": "object",
                "required": ["status", "task"],
                "properties": {
                    "status": { "const": "async" },
                    "task": { "type": "object", "required": ["id"], "properties": { "id": { "type": "string" }, "status": { "type": "string" } } },
                },
            },
        } },
    });
    Projection { form: ProjectionOutput::Document(document), losses: Vec::new() }
}
