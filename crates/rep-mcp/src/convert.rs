//! `convert_skill`: converting a skill for a client, by rules or with the client's own model.
//!
//! A client of 2025-11-25 is asked to sample in the middle of the call; a client of 2026-07-28 gets the question as the answer
//! and calls again with its model's answer. Nothing is written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rep_convert::convert::{Engine, accept_answer, convert_by_rules, convert_document, model_prompt};
use rep_library::read;
use rep_model::Skill;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequest, InputRequiredResult,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::catalog_view::digest;
use crate::confirmation::{is_new_revision, supports_sampling};
use crate::library_tools::{self, LibraryToolError};
use crate::protocol_error;
use crate::session_handler::SessionHandler;

/// The name of the tool.
pub(crate) const NAME: &str = "convert_skill";
/// The name of the question in the revision 2026-07-28.
const QUESTION: &str = "convert";
/// The most tokens of an answer.
const TOKENS_MAX: u64 = 16_384;
/// How often a model may correct its answer.
const CORRECTIONS_MAX: u64 = 2;
/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(10);

/// The definition of the tool.
pub(crate) fn definition() -> Value {
    let list = |about: &str| json!({ "type": "array", "description": about, "items": { "type": "object" } });
    let about = "`rules`, or `llm`: your own model, by sampling";
    json!({
        "name": NAME,
        "title": "Convert a skill to UASP",
        "description": "Gives a Markdown skill as a structured UASP file, with the source line of each value and what a person should review. Nothing is written.",
        "inputSchema": library_tools::input_schema(&json!({
            "skill": { "type": "string", "description": "The skill's name" },
            "engine": { "type": "string", "enum": ["rules", "llm"], "default": "rules", "description": about },
        }), &["skill"]),
        "outputSchema": library_tools::output_schema(&json!({
            "name": { "type": "string" }, "engine": { "type": "string" }, "valid": { "type": "boolean" },
            "yaml": { "type": "string" }, "warnings": list("What is odd"), "items": list("Every value"),
            "summary": { "type": "object" },
        })),
    })
}

/// An answer of a model that cannot be used, and what is wrong with it.
struct RejectedAnswer {
    answer: String,
    complaint: String,
}

/// The request for an answer of a client's model.
fn sampling_request(question: &str, rejected: Option<&RejectedAnswer>) -> Value {
    let message = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
    let mut messages = vec![message("user", question)];
    if let Some(rejected) = rejected {
        messages.extend([message("assistant", &rejected.answer), message("user", &rejected.complaint)]);
    }
    json!({ "method": "sampling/createMessage", "params": { "messages": messages, "maxTokens": TOKENS_MAX } })
}

/// The text of a sampled answer: one block, or several.
fn answer_text(answer: &Value) -> String {
    let blocks = match &answer["content"] {
        Value::Array(blocks) => blocks.as_slice(),
        block => std::slice::from_ref(block),
    };
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

fn error_response(error: &LibraryToolError) -> CallToolResponse {
    CallToolResult::structured_error(error.envelope()).into()
}

/// The result: the file as text, everything known about it as structure.
fn conversion_response(value: Value) -> CallToolResponse {
    let text = value["yaml"].as_str().map(str::to_owned);
    let mut result = CallToolResult::structured(value);
    if let Some(text) = text {
        result.content = vec![ContentBlock::text(text)];
    }
    result.into()
}

impl SessionHandler {
    /// Converts a skill.
    pub(crate) async fn convert_skill(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.clone().unwrap_or_default();
        let call_digest = digest(json!([NAME, arguments]).to_string().as_bytes());
        let found = self.run_blocking(move |_, view| {
            let (entry, wants_model) = match library_tools::parse_conversion(view, &arguments) {
                Ok(found) => found,
                Err(error) => return Ok(Err(error)),
            };
            let unreadable = |_| LibraryToolError::new("UNREADABLE", "the skill could not be read");
            let skill = read::skill(entry).map_err(unreadable);
            let require_markdown = |skill: Skill| match skill.manifest {
                Some(_) => Ok((skill, wants_model)),
                None => Err(LibraryToolError::new("NOT_MARKDOWN", "the skill has no SKILL.md to convert")),
            };
            Ok(skill.and_then(require_markdown))
        });
        let (skill, wants_model) = match found.await? {
            Ok(found) => found,
            Err(error) => return Ok(error_response(&error)),
        };
        if !wants_model {
            let done = self.run_blocking(move |_, _| Ok(convert_by_rules(&skill, &[]).client_json())).await?;
            return Ok(conversion_response(done));
        }
        let skill = Arc::new(skill);
        if !supports_sampling(&context) {
            let error = LibraryToolError::new("NO_MODEL", "this client lends no model (it has no `sampling`)");
            return Ok(error_response(&error.remedy("`engine: rules` needs none")));
        }
        if is_new_revision(&context) {
            self.sample_by_response(&skill, &request, &call_digest).await
        } else {
            self.sample_during_call(&skill, &context).await
        }
    }

    /// Asks a client of 2025-11-25 until the answer can be used.
    async fn sample_during_call(
        &self,
        skill: &Arc<Skill>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let question = model_prompt(skill, Engine::Llm);
        let mut rejected: Option<RejectedAnswer> = None;
        for _ in 0..=CORRECTIONS_MAX {
            let params = sampling_request(&question, rejected.as_ref())["params"].clone();
            let params = serde_json::from_value(params).map_err(|_| protocol_error::internal())?;
            #[expect(deprecated, reason = "2026-07-28 removes it; this serves clients of the revision before")]
            let sampling = context.peer.create_message(params);
            let answer = tokio::select! {
                answer = tokio::time::timeout(ANSWER_TIMEOUT, sampling) => answer,
                () = context.ct.cancelled() => return Err(protocol_error::invalid("cancelled")),
            };
            let Ok(Ok(answer)) = answer else {
                let error = LibraryToolError::new("MODEL_REFUSED", "the client's model gave no answer");
                return Ok(error_response(&error));
            };
            match self.read_answer(skill, answer_text(&json!(answer))).await? {
                Ok(done) => return Ok(conversion_response(done)),
                Err(answer) => rejected = Some(answer),
            }
        }
        Ok(unusable_answer(rejected.as_ref()))
    }

    /// Answers a client of 2026-07-28 with a question, or with what its answer to the last one came to.
    async fn sample_by_response(
        &self,
        skill: &Arc<Skill>,
        request: &CallToolRequestParams,
        call_digest: &str,
    ) -> Result<CallToolResponse, ErrorData> {
        let unfit = || protocol_error::invalid("`requestState` is not of this call; call again without it");
        let mut round = 0;
        let mut rejected = None;
        if let Some(state) = &request.request_state {
            let text = self.state.seal.open(state).ok_or_else(unfit)?;
            let text = text.strip_prefix(call_digest).and_then(|rest| rest.strip_prefix(' ')).ok_or_else(unfit)?;
            round = text.parse::<u64>().map_err(|_| unfit())?;
            let answer = request.input_responses.as_ref().and_then(|responses| responses.get(QUESTION));
            let answer = answer.map(|answer| json!(answer)).ok_or_else(unfit)?;
            match self.read_answer(skill, answer_text(&answer)).await? {
                Ok(done) => return Ok(conversion_response(done)),
                Err(answer) if round > CORRECTIONS_MAX => return Ok(unusable_answer(Some(&answer))),
                Err(answer) => rejected = Some(answer),
            }
        }
        let question = sampling_request(&model_prompt(skill, Engine::Llm), rejected.as_ref());
        let question: InputRequest = serde_json::from_value(question).map_err(|_| protocol_error::internal())?;
        let sealed = self.state.seal.seal(&format!("{call_digest} {}", round + 1));
        Ok(InputRequiredResult::new(Some(BTreeMap::from([(QUESTION.to_owned(), question)])), Some(sealed)).into())
    }

    /// Reads a model's answer on a blocking thread.
    async fn read_answer(&self, skill: &Arc<Skill>, text: String) -> Result<Result<Value, RejectedAnswer>, ErrorData> {
        let skill = Arc::clone(skill);
        self.run_blocking(move |_, _| {
            let accepted = accept_answer(&skill, &text);
            let converted =
                accepted.map(|document| convert_document(&skill, &[], &document, Engine::Llm).client_json());
            Ok(converted.map_err(|error| RejectedAnswer {
                complaint: error.complaint(),
                answer: if text.trim().is_empty() { "(nothing)".to_owned() } else { text },
            }))
        })
        .await
    }
}

fn unusable_answer(rejected: Option<&RejectedAnswer>) -> CallToolResponse {
    let why = rejected.map(|rejected| rejected.complaint.as_str()).unwrap_or_default();
    error_response(&LibraryToolError::new("INVALID_ANSWER", format!("the model's answer cannot be used. {why}")))
}
