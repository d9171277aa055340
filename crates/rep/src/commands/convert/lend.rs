//! Converting for who asks over MCP: the same conversion, without the paths of this machine.

use rep_convert::convert::{answer, prompt};
use rep_convert::extract;
use rep_model::Skill;
use rep_serve::Converts;
use serde_json::Value;

use super::subject::{Converted, convert, errors};
use super::{Engine, llm};

/// Converts for clients.
pub(crate) struct Lending;

impl Converts for Lending {
    fn by_rule(&self, skill: &Skill) -> Value {
        told(&convert(skill, Vec::new(), &extract::extract(skill), Engine::Rules, None))
    }

    fn question(&self, skill: &Skill) -> String {
        llm::question(skill, Engine::Llm)
    }

    fn finish(&self, skill: &Skill, said: &str) -> Result<Value, String> {
        let value = answer::read(said).map_err(|reason| prompt::complaint(&[reason]))?;
        let errors = errors(skill, &value);
        if !errors.is_empty() {
            return Err(prompt::complaint(&errors));
        }
        Ok(told(&convert(skill, Vec::new(), &llm::grounded(skill, value), Engine::Llm, None)))
    }
}

/// What is told of a conversion.
fn told(converted: &Converted) -> Value {
    let mut told = converted.report.json();
    if let Some(told) = told.as_object_mut() {
        told.remove("source");
        told.remove("checklist");
        told.remove("skill");
        told.insert("name".to_owned(), converted.name().into());
        told.insert("yaml".to_owned(), converted.text.clone().into());
    }
    told
}
