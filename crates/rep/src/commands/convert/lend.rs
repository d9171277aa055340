//! Converting for MCP clients: the same conversion, without the paths of this machine.

use rep_convert::convert::{answer, prompt};
use rep_convert::extract;
use rep_mcp::SkillConverter;
use rep_model::Skill;
use serde_json::Value;

use super::subject::{Converted, convert, errors};
use super::{Engine, llm};

/// Converts skills for clients of the server.
pub(crate) const CLIENT_CONVERTER: SkillConverter = SkillConverter {
    convert_by_rules: |skill| client_json(&convert(skill, Vec::new(), &extract::extract(skill), Engine::Rules, None)),
    question: |skill| llm::question(skill, Engine::Llm),
    read_answer,
};

fn read_answer(skill: &Skill, text: &str) -> Result<Value, String> {
    let value = answer::read(text).map_err(|reason| prompt::complaint(&[reason]))?;
    let errors = errors(skill, &value);
    if !errors.is_empty() {
        return Err(prompt::complaint(&errors));
    }
    Ok(client_json(&convert(skill, Vec::new(), &llm::grounded(skill, value), Engine::Llm, None)))
}

/// What a client gets of a conversion.
fn client_json(converted: &Converted) -> Value {
    let mut report = converted.report.json();
    if let Some(report) = report.as_object_mut() {
        report.remove("source");
        report.remove("checklist");
        report.remove("skill");
        report.insert("name".to_owned(), converted.name().into());
        report.insert("yaml".to_owned(), converted.text.clone().into());
    }
    report
}
