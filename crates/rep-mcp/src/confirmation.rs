//! Asks a client's user to confirm a run: builds the elicitation, and seals the state that the client returns.
//!
//! A client of 2025-11-25 is asked during the call. A client of 2026-07-28 receives the question as the result, and
//! calls again with its user's answer. The state that it returns is sealed and valid for that call only.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rep_runtime::PlanBinding;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
    RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::protocol_error;

/// The maximum time to wait for a user's answer.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_mins(10);
/// The name of the question in revision 2026-07-28.
const QUESTION_NAME: &str = "confirm";

/// Seals the state that clients return, and accepts each answer once.
pub(crate) struct ConfirmationSeal {
    codec: RequestStateCodec,
    /// The questions whose answers were used, with the time of use.
    used: Mutex<VecDeque<(Instant, u64)>>,
}

/// A confirmation that a client returned.
pub(crate) struct SealedConsent {
    /// The number of the question.
    pub(crate) question: u64,
    /// The plan that was confirmed.
    pub(crate) binding: PlanBinding,
}

/// What a client answered to a question.
pub(crate) enum ConsentAnswer {
    /// Its user agreed.
    Agreed(SealedConsent),
    /// Its user declined.
    Declined,
    /// It sent no answer.
    Missing,
}

impl ConfirmationSeal {
    pub(crate) fn new() -> Self {
        let codec = RequestStateCodec::try_new(random_bytes::<64>()).expect("64 bytes are long enough for a key");
        Self { codec, used: Mutex::default() }
    }

    /// Seals a text so that changes to it are detected.
    pub(crate) fn seal(&self, text: &str) -> String {
        self.codec.seal(text.as_bytes())
    }

    /// Opens a sealed text.
    pub(crate) fn open(&self, sealed: &str) -> Option<String> {
        String::from_utf8(self.codec.open(sealed).ok()?).ok()
    }

    /// Builds the 2026-07-28 result that asks for confirmation of the call with the digest `call`.
    pub(crate) fn seal_question(
        &self,
        text: &str,
        call: &str,
        consent: &SealedConsent,
    ) -> Result<InputRequiredResult, ErrorData> {
        let payload = json!({ "bound": call, "mark": consent.binding.as_str(), "question": consent.question });
        let options = SealOptions::new().ttl(ANSWER_TIMEOUT);
        let sealed = self.codec.seal_json_with(&payload, &options).map_err(|_| protocol_error::internal_error())?;
        let request = InputRequest::Elicitation(ElicitRequest::new(build_elicitation(text)?));
        Ok(InputRequiredResult::new(Some(BTreeMap::from([(QUESTION_NAME.to_owned(), request)])), Some(sealed)))
    }

    /// Reads the client's answer for the call with the digest `call`.
    pub(crate) fn read_answer(
        &self,
        state: &str,
        call: &str,
        responses: Option<&InputResponses>,
    ) -> Result<ConsentAnswer, ErrorData> {
        let unfit = || {
            protocol_error::invalid_params(
                "`requestState` is expired or does not belong to this call; call again without it",
            )
        };
        let payload: Value = self.codec.open_json(state).map_err(|_| unfit())?;
        if payload["bound"] != call {
            return Err(unfit());
        }
        let Some(answer) = responses.and_then(|responses| responses.get(QUESTION_NAME)) else {
            return Ok(ConsentAnswer::Missing);
        };
        if !is_yes(answer["action"].as_str().unwrap_or_default(), answer.get("content")) {
            return Ok(ConsentAnswer::Declined);
        }
        let question = payload["question"].as_u64().ok_or_else(unfit)?;
        let binding = PlanBinding::from_text(payload["mark"].as_str().ok_or_else(unfit)?);
        if !self.use_once(question) {
            return Err(protocol_error::invalid_params(
                "this answer was already used; call again without `requestState`",
            ));
        }
        Ok(ConsentAnswer::Agreed(SealedConsent { question, binding }))
    }

    /// Marks the answer to a question as used. Returns whether it was unused.
    fn use_once(&self, question: u64) -> bool {
        let mut used = self.used.lock();
        while used.front().is_some_and(|(at, _)| at.elapsed() > ANSWER_TIMEOUT) {
            used.pop_front();
        }
        let is_first = used.iter().all(|(_, known)| *known != question);
        if is_first {
            used.push_back((Instant::now(), question));
        }
        is_first
    }
}

pub use rep_storage::platform::random_bytes;

/// How a client's user can be asked for confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElicitationSupport {
    /// The client does not support it.
    None,
    /// By a request during the call (2025-11-25).
    DuringCall,
    /// By the result of the call (2026-07-28).
    ByResponse,
}

impl ElicitationSupport {
    pub(crate) fn from_context(context: &RequestContext<RoleServer>) -> Self {
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        match elicitation {
            // A client that names neither mode supports forms, which was the only mode at first.
            Some(modes) if modes.form.is_some() || modes.url.is_none() => {
                if is_new_revision(context) {
                    Self::ByResponse
                } else {
                    Self::DuringCall
                }
            }
            _ => Self::None,
        }
    }
}

/// Whether a request uses revision 2026-07-28 or later.
pub(crate) fn is_new_revision(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Whether a client supports sampling with its model.
pub(crate) fn supports_sampling(context: &RequestContext<RoleServer>) -> bool {
    json!(context.client_capabilities()).get("sampling").is_some_and(Value::is_object)
}

/// Builds the question in the protocol's form.
pub(crate) fn build_elicitation(text: &str) -> Result<ElicitRequestParams, ErrorData> {
    let params = json!({
        "mode": "form",
        "message": text,
        "requestedSchema": {
            "type": "object",
            "properties": { "run": {
                "type": "boolean", "title": "Run", "description": "Whether the tool may run this time", "default": false,
            } },
            "required": ["run"],
        },
    });
    serde_json::from_value(params).map_err(|_| protocol_error::internal_error())
}

/// Whether an answer is an explicit yes.
pub(crate) fn is_yes(action: &str, content: Option<&Value>) -> bool {
    action == "accept" && content.and_then(|content| content.get("run")) == Some(&Value::Bool(true))
}
