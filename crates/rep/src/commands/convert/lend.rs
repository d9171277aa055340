//! Converting for who asks over MCP: the same conversion, without the paths of this machine.

use rep_convert::convert::{Engine, accept_answer, convert_by_rules, convert_document, model_prompt};
use rep_model::Skill;
use rep_serve::Converts;
use serde_json::Value;

/// Converts for clients.
pub(crate) struct Lending;

impl Converts for Lending {
    fn by_rule(&self, skill: &Skill) -> Value {
        convert_by_rules(skill, &[]).client_json()
    }

    fn question(&self, skill: &Skill) -> String {
        model_prompt(skill, Engine::Llm)
    }

    fn finish(&self, skill: &Skill, said: &str) -> Result<Value, String> {
        let document = accept_answer(skill, said).map_err(|error| error.complaint())?;
        Ok(convert_document(skill, &[], &document, Engine::Llm).client_json())
    }
}
