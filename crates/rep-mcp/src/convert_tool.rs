//! `convert_skill`: converts a skill for a client, by rules or with the client's own model.
//!
//! A client of 2025-11-25 receives a sampling request during the call. A client of 2026-07-28 receives the question as
//! the result and calls again with its model's answer. Nothing is written to disk.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rep_convert::convert::{ConversionEngine, accept_answer, build_model_prompt, convert_by_rules, convert_document};
use rep_library::skill_reader;
use rep_model::Skill;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequest, InputRequiredResult,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::catalog_view::CatalogView;
use crate::confirmation::{is_new_revision, supports_sampling};
use crate::identity::Owner;
use crate::library_tools::{self, LibraryToolError};
use crate::protocol_error;
use crate::server::ServerState;
use crate::session_handler::SessionHandler;

/// The name of the tool.
pub(crate) const TOOL_NAME: &str = "convert_skill";
/// The name of the question in revision 2026-07-28.
const QUESTION_NAME: &str = "convert";
/// The maximum number of tokens in an answer.
const TOKENS_MAX: u64 = 16_384;
/// The maximum number of times a model may correct its answer.
const CORRECTIONS_MAX: u64 = 2;
/// The maximum time to wait for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(10);

/// Returns the definition of the tool.
pub(crate) fn tool_definition() -> Value {
    let list = |about: &str| json!({ "type": "array", "description": about, "items": { "type": "object" } });
    let about = "`rules` converts without a model. `llm` uses the client's own model, which requires sampling.";
    json!({
        "name": TOOL_NAME,
        "title": "Convert a skill to UASP",
        "description": "Converts a Markdown skill to a structured UASP file. Returns the file, the source line of each \
            value, and the values that a person should review. Nothing is written to disk.",
        "inputSchema": library_tools::input_schema(&json!({
            "skill": { "type": "string", "description": "The name of the skill" },
            "engine": { "type": "string", "enum": ["rules", "llm"], "default": "rules", "description": about },
        }), &["skill"]),
        "outputSchema": library_tools::output_schema(&json!({
            "name": { "type": "string" }, "engine": { "type": "string" }, "valid": { "type": "boolean" },
            "yaml": { "type": "string" }, "warnings": list("The values that need review"),
            "items": list("All values, with their source lines"),
            "summary": { "type": "object" },
        })),
    })
}

/// An unusable answer of a model, and the reason.
struct RejectedAnswer {
    answer: String,
    complaint: String,
}

/// Builds the sampling request for the client's model.
fn sampling_request(question: &str, rejected: Option<&RejectedAnswer>) -> Value {
    let message = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
    let mut messages = vec![message("user", question)];
    if let Some(rejected) = rejected {
        messages.extend([message("assistant", &rejected.answer), message("user", &rejected.complaint)]);
    }
    json!({ "method": "sampling/createMessage", "params": { "messages": messages, "maxTokens": TOKENS_MAX } })
}

/// Extracts the text of a sampled answer, which has one or more blocks.
fn extract_answer_text(answer: &Value) -> String {
    let blocks = match &answer["content"] {
        Value::Array(blocks) => blocks.as_slice(),
        block => std::slice::from_ref(block),
    };
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

fn error_response(error: &LibraryToolError) -> CallToolResponse {
    CallToolResult::structured_error(error.to_envelope()).into()
}

/// Builds the result: the file as text, and all details as structured content.
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
        let owner = Owner::from_context(&context);
        let call_digest = owner.digest_call(TOOL_NAME, &arguments);
        let found = self.run_blocking(&context, move |_, view| {
            let (entry, wants_model) = match library_tools::parse_conversion_arguments(view, &arguments) {
                Ok(found) => found,
                Err(error) => return Ok(Err(error)),
            };
            let unreadable = |_| LibraryToolError::new("UNREADABLE", "could not read the skill");
            let skill = skill_reader::read_skill(entry).map_err(unreadable);
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
            let convert = move |_: &ServerState, _: &CatalogView| Ok(convert_by_rules(&skill, &[]).client_json());
            let done = self.run_blocking(&context, convert).await?;
            return Ok(conversion_response(done));
        }
        let skill = Arc::new(skill);
        if !supports_sampling(&context) {
            let error =
                LibraryToolError::new("NO_MODEL", "the client does not support sampling, so its model cannot be used");
            return Ok(error_response(&error.with_remedy("pass `engine: rules`, which does not need a model")));
        }
        if is_new_revision(&context) {
            self.sample_by_response(&skill, &request, &call_digest).await
        } else {
            self.sample_during_call(&skill, &context).await
        }
    }

    /// Asks the model of a 2025-11-25 client until its answer is usable.
    async fn sample_during_call(
        &self,
        skill: &Arc<Skill>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let question = build_model_prompt(skill, ConversionEngine::Llm);
        let mut rejected: Option<RejectedAnswer> = None;
        for _ in 0..=CORRECTIONS_MAX {
            let params = sampling_request(&question, rejected.as_ref())["params"].clone();
            let params = serde_json::from_value(params).map_err(|_| protocol_error::internal_error())?;
            #[expect(deprecated, reason = "2026-07-28 removes it; it is used for clients of 2025-11-25")]
            let sampling = context.peer.create_message(params);
            let answer = tokio::select! {
                answer = tokio::time::timeout(ANSWER_TIMEOUT, sampling) => answer,
                () = context.ct.cancelled() => return Err(protocol_error::invalid_params("cancelled")),
            };
            let Ok(Ok(answer)) = answer else {
                let error = LibraryToolError::new("MODEL_REFUSED", "the client's model did not answer");
                return Ok(error_response(&error));
            };
            match read_answer(skill, extract_answer_text(&json!(answer))).await? {
                Ok(done) => return Ok(conversion_response(done)),
                Err(answer) => rejected = Some(answer),
            }
        }
        Ok(unusable_answer_response(rejected.as_ref()))
    }

    /// Answers a 2026-07-28 client with a question, or with the result of its answer to the previous question.
    async fn sample_by_response(
        &self,
        skill: &Arc<Skill>,
        request: &CallToolRequestParams,
        call_digest: &str,
    ) -> Result<CallToolResponse, ErrorData> {
        let unfit =
            || protocol_error::invalid_params("`requestState` does not belong to this call; call again without it");
        let mut round = 0;
        let mut rejected = None;
        if let Some(state) = &request.request_state {
            let text = self.state.seal.open(state).ok_or_else(unfit)?;
            let text = text.strip_prefix(call_digest).and_then(|rest| rest.strip_prefix(' ')).ok_or_else(unfit)?;
            round = text.parse::<u64>().map_err(|_| unfit())?;
            let answer = request.input_responses.as_ref().and_then(|responses| responses.get(QUESTION_NAME));
            let answer = answer.map(|answer| json!(answer)).ok_or_else(unfit)?;
            match read_answer(skill, extract_answer_text(&answer)).await? {
                Ok(done) => return Ok(conversion_response(done)),
                Err(answer) if round > CORRECTIONS_MAX => return Ok(unusable_answer_response(Some(&answer))),
                Err(answer) => rejected = Some(answer),
            }
        }
        let question = sampling_request(&build_model_prompt(skill, ConversionEngine::Llm), rejected.as_ref());
        let question: InputRequest = serde_json::from_value(question).map_err(|_| protocol_error::internal_error())?;
        let sealed = self.state.seal.seal(&format!("{call_digest} {}", round + 1));
        Ok(InputRequiredResult::new(Some(BTreeMap::from([(QUESTION_NAME.to_owned(), question)])), Some(sealed)).into())
    }
}

/// Reads a model's answer on a blocking thread.
async fn read_answer(skill: &Arc<Skill>, text: String) -> Result<Result<Value, RejectedAnswer>, ErrorData> {
    let skill = Arc::clone(skill);
    let read = tokio::task::spawn_blocking(move || {
        let accepted = accept_answer(&skill, &text);
        let converted =
            accepted.map(|document| convert_document(&skill, &[], &document, ConversionEngine::Llm).client_json());
        converted.map_err(|error| RejectedAnswer {
            complaint: error.render_complaint(),
            answer: if text.trim().is_empty() { "(empty answer)".to_owned() } else { text },
        })
    });
    read.await.map_err(|_| protocol_error::internal_error())
}

fn unusable_answer_response(rejected: Option<&RejectedAnswer>) -> CallToolResponse {
    let why = rejected.map(|rejected| rejected.complaint.as_str()).unwrap_or_default();
    error_response(&LibraryToolError::new("INVALID_ANSWER", format!("the model's answer is unusable: {why}")))
}
