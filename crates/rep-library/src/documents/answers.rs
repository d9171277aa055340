//! Answers about the content of one skill, as JSON.

use rep_model::DocumentOrigin;
use serde_json::{Value, json};

use crate::answer::{EXTRACTED_FACTS, FactLocation, QueryError, QueryReply};
use crate::questions::QuestionAnswer;
use crate::validation::SkillViolation;

/// Renders an answer: the document of `rep query`.
pub fn query_document(reply: &QueryReply) -> Value {
    let mut value = json!({
        "skill": reply.skill,
        "path": reply.path,
        "found": true,
        "value": reply.value,
        "origin": reply.origin.name(),
    });
    if reply.origin == DocumentOrigin::Extracted {
        value["facts"] = json!(EXTRACTED_FACTS);
    }
    if !reply.lines.is_empty() {
        value["lines"] = reply.lines.iter().map(line_to_json).collect();
    }
    if !reply.notes.is_empty() {
        value["notes"] = json!(reply.notes);
    }
    if !reply.version_warnings.is_empty() {
        value["findings"] = reply.version_warnings.iter().map(SkillViolation::to_json).collect();
    }
    value
}

fn line_to_json(line: &FactLocation) -> Value {
    let mut value = json!({ "at": line.at, "line": line.line });
    if let Some(doubt) = &line.doubt {
        value["doubt"] = json!(doubt);
    }
    if let Some(rule) = line.rule {
        value["rule"] = json!(rule);
    }
    value
}

/// Renders a failed query in the specification's words, with existing names as suggestions.
pub fn query_miss_document(miss: &QueryError) -> Value {
    let mut value = json!({ "found": false, "error": { "code": miss.code(), "message": miss.message() } });
    if let QueryError::UnknownPath { skill, path, origin, .. } = miss {
        value["skill"] = json!(skill);
        value["path"] = json!(path);
        value["origin"] = json!(origin.name());
        if *origin == DocumentOrigin::Extracted {
            value["facts"] = json!(EXTRACTED_FACTS);
        }
    }
    if let QueryError::Invalid { skill, violations } = miss {
        value["skill"] = json!(skill);
        value["error"]["details"] = violations.iter().map(SkillViolation::to_json).collect();
    }
    let suggestions = miss.suggestions();
    if !suggestions.is_empty() || matches!(miss, QueryError::UnknownPath { .. }) {
        value["suggestions"] = json!(suggestions);
    }
    value
}

/// Renders the answer to a common question: the document of `rep ask`.
pub fn ask_document(skill: &str, about: &str, told: &QuestionAnswer) -> Value {
    let grounds = told.evidence.iter().map(|ground| {
        let mut value = json!({ "path": ground.path, "value": ground.value });
        if let Some(line) = ground.line {
            value["line"] = json!(line);
        }
        value
    });
    json!({
        "skill": skill,
        "about": about,
        "answer": told.verdict.name(),
        "because": grounds.collect::<Vec<_>>(),
        "queries": told.queries,
        "origin": told.origin.name(),
    })
}
