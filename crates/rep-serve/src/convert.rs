//! Converting a skill for a client: by rule, or with the client's own model.
//!
//! A client of 2025-11-25 is asked to sample in the middle of the call; one of 2026-07-28 gets the question as the answer and calls
//! again with what its model said. What becomes of an answer is decided by who converts ([`Converts`]); nothing is written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rep_library::read;
use rep_model::Skill;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequest, InputRequiredResult,
    ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::server::Server;
use crate::tools::{self, Fault};
use crate::{conformance, fault, shelf};

/// The name of the tool.
pub(crate) const NAME: &str = "convert_skill";
/// The name of the question in the new era.
const QUESTION: &str = "convert";
/// The most tokens of an answer.
const TOKENS_MAX: u64 = 16_384;
/// How often a model is told what is wrong with its answer.
const MENDS: u64 = 2;
/// How long an answer may take.
const THINKING: Duration = Duration::from_mins(10);

/// Whoever converts skills.
pub trait Converts: Send + Sync {
    /// What rules make of a skill.
    fn by_rule(&self, skill: &Skill) -> Value;

    /// What a model is asked about a skill.
    fn question(&self, skill: &Skill) -> String;

    /// What becomes of a model's answer, or what the model is told is wrong with it.
    fn finish(&self, skill: &Skill, answer: &str) -> Result<Value, String>;
}

/// How the tool is listed.
pub(crate) fn listed() -> Value {
    let list = |about: &str| json!({ "type": "array", "description": about, "items": { "type": "object" } });
    let about = "`rules`, or `llm`: your own model, by sampling";
    json!({
        "name": NAME,
        "title": "Convert a skill to UASP",
        "description": "Gives a Markdown skill as a structured UASP file, with the source line of each value and what a person should review. Nothing is written.",
        "inputSchema": tools::object(&json!({
            "skill": { "type": "string", "description": "The skill's name" },
            "engine": { "type": "string", "enum": ["rules", "llm"], "default": "rules", "description": about },
        }), &["skill"]),
        "outputSchema": tools::output(&json!({
            "name": { "type": "string" }, "engine": { "type": "string" }, "valid": { "type": "boolean" },
            "yaml": { "type": "string" }, "warnings": list("What is odd"), "items": list("Every value"),
            "summary": { "type": "object" },
        })),
    })
}

/// An answer of a model, and what it was told of it.
struct Turn {
    answer: String,
    complaint: String,
}

/// The request for an answer of a client's model.
fn sampling(question: &str, last: Option<&Turn>) -> Value {
    let message = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
    let mut messages = vec![message("user", question)];
    if let Some(turn) = last {
        messages.extend([message("assistant", &turn.answer), message("user", &turn.complaint)]);
    }
    json!({ "method": "sampling/createMessage", "params": { "messages": messages, "maxTokens": TOKENS_MAX } })
}

/// The text of a sampled answer: one block, or several.
fn said(answer: &Value) -> String {
    let blocks = match &answer["content"] {
        Value::Array(blocks) => blocks.as_slice(),
        block => std::slice::from_ref(block),
    };
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

fn failed(fault: &Fault) -> CallToolResponse {
    CallToolResult::structured_error(fault.envelope()).into()
}

/// The result: the file as text, all that is known of it as structure.
fn given(value: Value) -> CallToolResponse {
    let text = value["yaml"].as_str().map(str::to_owned);
    let mut result = CallToolResult::structured(value);
    if let Some(text) = text {
        result.content = vec![ContentBlock::text(text)];
    }
    result.into()
}

impl Server {
    /// Converts a skill.
    pub(crate) async fn convert(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given_arguments = request.arguments.clone().unwrap_or_default();
        let bound = shelf::digest(json!([NAME, given_arguments]).to_string().as_bytes());
        let found = self.work(move |_, shelf| {
            let (entry, is_by_model) = match tools::to_convert(shelf, &given_arguments) {
                Ok(found) => found,
                Err(fault) => return Ok(Err(fault)),
            };
            let missing = |_| Fault::new("UNREADABLE", "the skill could not be read");
            let skill = read::skill(entry).map_err(missing);
            let markdown = |skill: Skill| match skill.manifest {
                Some(_) => Ok((skill, is_by_model)),
                None => Err(Fault::new("NOT_MARKDOWN", "the skill has no SKILL.md to convert")),
            };
            Ok(skill.and_then(markdown))
        });
        let (skill, is_by_model) = match found.await? {
            Ok(found) => found,
            Err(fault) => return Ok(failed(&fault)),
        };
        let converts = self.shared.converts.clone();
        if !is_by_model {
            let done = self.work(move |_, _| Ok(converts.by_rule(&skill))).await?;
            return Ok(given(done));
        }
        let skill = Arc::new(skill);
        if !conformance::can_sample(&context) {
            let fault = Fault::new("NO_MODEL", "this client lends no model (it has no `sampling`)");
            return Ok(failed(&fault.remedy("`engine: rules` needs none")));
        }
        let is_new = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if is_new {
            self.by_answering(&skill, &request, &bound).await
        } else {
            self.in_the_middle(&skill, &context).await
        }
    }

    /// Asks a client of the old era until the answer can be used.
    async fn in_the_middle(
        &self,
        skill: &Arc<Skill>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let question = self.shared.converts.question(skill);
        let mut last: Option<Turn> = None;
        for _ in 0..=MENDS {
            let params = sampling(&question, last.as_ref())["params"].clone();
            let params = serde_json::from_value(params).map_err(|_| fault::internal())?;
            #[expect(deprecated, reason = "it goes with 2026-07-28, and this is for who speaks what was before")]
            let asked = context.peer.create_message(params);
            let answer = tokio::select! {
                answer = tokio::time::timeout(THINKING, asked) => answer,
                () = context.ct.cancelled() => return Err(fault::invalid("cancelled")),
            };
            let Ok(Ok(answer)) = answer else {
                return Ok(failed(&Fault::new("MODEL_REFUSED", "the client's model gave no answer")));
            };
            match self.finished(skill, said(&json!(answer))).await? {
                Ok(done) => return Ok(given(done)),
                Err(turn) => last = Some(turn),
            }
        }
        Ok(unusable(last.as_ref()))
    }

    /// Answers a client of the new era with a question, or with what its answer to the last one came to.
    async fn by_answering(
        &self,
        skill: &Arc<Skill>,
        request: &CallToolRequestParams,
        bound: &str,
    ) -> Result<CallToolResponse, ErrorData> {
        let unfit = || fault::invalid("`requestState` is not of this call; call again without it");
        let mut round = 0;
        let mut last = None;
        if let Some(state) = &request.request_state {
            let word = self.shared.confirm.opened(state).ok_or_else(unfit)?;
            let word = word.strip_prefix(bound).and_then(|rest| rest.strip_prefix(' ')).ok_or_else(unfit)?;
            round = word.parse::<u64>().map_err(|_| unfit())?;
            let answer = request.input_responses.as_ref().and_then(|responses| responses.get(QUESTION));
            let answer = answer.map(|answer| json!(answer)).ok_or_else(unfit)?;
            match self.finished(skill, said(&answer)).await? {
                Ok(done) => return Ok(given(done)),
                Err(turn) if round > MENDS => return Ok(unusable(Some(&turn))),
                Err(turn) => last = Some(turn),
            }
        }
        let question = sampling(&self.shared.converts.question(skill), last.as_ref());
        let question: InputRequest = serde_json::from_value(question).map_err(|_| fault::internal())?;
        let sealed = self.shared.confirm.sealed(&format!("{bound} {}", round + 1));
        Ok(InputRequiredResult::new(Some(BTreeMap::from([(QUESTION.to_owned(), question)])), Some(sealed)).into())
    }

    /// What becomes of an answer, worked out away from the threads that answer.
    async fn finished(&self, skill: &Arc<Skill>, text: String) -> Result<Result<Value, Turn>, ErrorData> {
        let skill = Arc::clone(skill);
        self.work(move |shared, _| {
            Ok(shared.converts.finish(&skill, &text).map_err(|complaint| Turn {
                answer: if text.trim().is_empty() { "(nothing)".to_owned() } else { text },
                complaint,
            }))
        })
        .await
    }
}

fn unusable(last: Option<&Turn>) -> CallToolResponse {
    let why = last.map(|turn| turn.complaint.as_str()).unwrap_or_default();
    failed(&Fault::new("INVALID_ANSWER", format!("the model's answer cannot be used. {why}")))
}
