//! Asking a client's user whether a tool may run: the question in the form of the protocol, and the seal on its state.
//!
//! A client of 2025-11-25 is asked in the middle of the call. A client of 2026-07-28 gets the question as the answer, and calls
//! again with what its user said. The state it brings back is sealed and valid for that call only.

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

/// How long a user may take to answer.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_mins(10);
/// The name of the question in the revision 2026-07-28.
const QUESTION: &str = "confirm";

/// Seals the state that clients bring back, and accepts each answer once.
pub(crate) struct ConfirmationSeal {
    codec: RequestStateCodec,
    /// The questions whose answers were acted on, with the time.
    used: Mutex<VecDeque<(Instant, u64)>>,
}

/// A yes that a client brought back.
pub(crate) struct SealedConsent {
    /// The number of the question.
    pub(crate) question: u64,
    /// What was agreed to.
    pub(crate) binding: PlanBinding,
}

impl ConfirmationSeal {
    pub(crate) fn new() -> Self {
        let codec = RequestStateCodec::try_new(random::<64>()).expect("64 bytes are long enough for a key");
        Self { codec, used: Mutex::default() }
    }

    /// Seals a text so that any change to it is detected.
    pub(crate) fn seal(&self, text: &str) -> String {
        self.codec.seal(text.as_bytes())
    }

    /// Opens a sealed text.
    pub(crate) fn open(&self, sealed: &str) -> Option<String> {
        String::from_utf8(self.codec.open(sealed).ok()?).ok()
    }

    /// The answer of the revision 2026-07-28 that asks for confirmation of the call with the digest `call`.
    pub(crate) fn ask(
        &self,
        text: &str,
        call: &str,
        consent: &SealedConsent,
    ) -> Result<InputRequiredResult, ErrorData> {
        let payload = json!({ "bound": call, "mark": consent.binding.as_str(), "question": consent.question });
        let options = SealOptions::new().ttl(ANSWER_TIMEOUT);
        let sealed = self.codec.seal_json_with(&payload, &options).map_err(|_| protocol_error::internal())?;
        let request = InputRequest::Elicitation(ElicitRequest::new(elicitation(text)?));
        Ok(InputRequiredResult::new(Some(BTreeMap::from([(QUESTION.to_owned(), request)])), Some(sealed)))
    }

    /// Reads what a client brought back for the call with the digest `call`; `None` if its user said no.
    pub(crate) fn read_answer(
        &self,
        state: &str,
        call: &str,
        responses: Option<&InputResponses>,
    ) -> Result<Option<SealedConsent>, ErrorData> {
        let unfit = || protocol_error::invalid("`requestState` is not of this call, or too old; call again without it");
        let payload: Value = self.codec.open_json(state).map_err(|_| unfit())?;
        if payload["bound"] != call {
            return Err(unfit());
        }
        let answer = responses.and_then(|responses| responses.get(QUESTION));
        let action = answer.and_then(|answer| answer["action"].as_str()).unwrap_or_default();
        if !is_yes(action, answer.and_then(|answer| answer.get("content"))) {
            return Ok(None);
        }
        let question = payload["question"].as_u64().ok_or_else(unfit)?;
        let binding = PlanBinding::from_text(payload["mark"].as_str().ok_or_else(unfit)?);
        if !self.use_once(question) {
            return Err(protocol_error::invalid("this answer was acted on already; call again without `requestState`"));
        }
        Ok(Some(SealedConsent { question, binding }))
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

/// Random bytes from the system.
pub fn random<const COUNT: usize>() -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    let mut filled = 0;
    while filled < COUNT {
        let got = rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty());
        filled += got.expect("the kernel provides random bytes");
    }
    bytes
}

/// How a client's user can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElicitationSupport {
    /// Not at all.
    None,
    /// By a request in the middle of the call (2025-11-25).
    DuringCall,
    /// By the answer to the call (2026-07-28).
    ByResponse,
}

impl ElicitationSupport {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        match elicitation {
            // A client that names neither mode means forms, the first mode there was.
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

/// Whether a request is of the revision 2026-07-28 or later.
pub(crate) fn is_new_revision(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Whether a client lends its model.
pub(crate) fn supports_sampling(context: &RequestContext<RoleServer>) -> bool {
    json!(context.client_capabilities()).get("sampling").is_some_and(Value::is_object)
}

/// The question in the form of the protocol.
pub(crate) fn elicitation(text: &str) -> Result<ElicitRequestParams, ErrorData> {
    let params = json!({
        "mode": "form",
        "message": text,
        "requestedSchema": {
            "type": "object",
            "properties": { "run": { "type": "boolean", "title": "Run it", "description": "Whether it may run this once", "default": false } },
            "required": ["run"],
        },
    });
    serde_json::from_value(params).map_err(|_| protocol_error::internal())
}

/// Whether an answer is a clear yes.
pub(crate) fn is_yes(action: &str, content: Option<&Value>) -> bool {
    action == "accept" && content.and_then(|content| content.get("run")) == Some(&Value::Bool(true))
}
