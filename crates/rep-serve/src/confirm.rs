//! Running a tool of a skill for a client, and asking its user first where that is wanted.
//!
//! A client of 2025-11-25 is asked in the middle of the call; one of 2026-07-28 gets the question as the answer and calls
//! again with what its user said. What it brings back is sealed, and good for that call alone.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::fault;
use crate::runs::{Asked, Call, Offer, Said, Stop};
use crate::server::Server;
use crate::shelf;
use crate::tools::Fault;

/// How long a user may think.
const THINKING: Duration = Duration::from_mins(10);
/// How often a run that takes long shows that it goes on.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// The name of the question in the new era.
const QUESTION: &str = "confirm";

/// Seals what clients bring back.
pub(crate) struct Confirm {
    codec: RequestStateCodec,
    count: AtomicU64,
}

impl Confirm {
    pub(crate) fn new() -> Self {
        let codec = RequestStateCodec::try_new(random::<64>()).expect("64 bytes are long enough for a key");
        Self { codec, count: AtomicU64::new(0) }
    }
}

impl Confirm {
    /// A word that cannot be changed without being noticed.
    pub(crate) fn sealed(&self, word: &str) -> String {
        self.codec.seal(word.as_bytes())
    }

    /// The word that was sealed.
    pub(crate) fn opened(&self, sealed: &str) -> Option<String> {
        String::from_utf8(self.codec.open(sealed).ok()?).ok()
    }
}

/// Random bytes from the system.
pub(crate) fn random<const COUNT: usize>() -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    let mut filled = 0;
    while filled < COUNT {
        let got = rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty());
        filled += got.expect("the kernel gives random bytes");
    }
    bytes
}

/// How a client's user can be asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Nobody,
    InTheMiddle,
    ByAnswering,
}

fn way(context: &RequestContext<RoleServer>) -> Way {
    let is_new = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let can = context.client_capabilities().and_then(|can| can.elicitation);
    match can {
        // Who names neither form means the first there was.
        Some(can) if can.form.is_some() || can.url.is_none() => {
            if is_new {
                Way::ByAnswering
            } else {
                Way::InTheMiddle
            }
        }
        _ => Way::Nobody,
    }
}

/// The question as the protocol asks it.
fn question(text: &str) -> Result<ElicitRequestParams, ErrorData> {
    let params = json!({
        "mode": "form",
        "message": text,
        "requestedSchema": {
            "type": "object",
            "properties": { "run": { "type": "boolean", "title": "Run it", "description": "Whether it may run this once", "default": false } },
            "required": ["run"],
        },
    });
    serde_json::from_value(params).map_err(|_| fault::internal())
}

/// Whether an answer is a clear yes.
fn is_yes(action: &str, content: Option<&Value>) -> bool {
    action == "accept" && content.and_then(|content| content.get("run")) == Some(&Value::Bool(true))
}

fn declined() -> CallToolResult {
    failed(&Fault::new("CONFIRMATION_DECLINED", "the user did not agree to this run").envelope(), false)
}

/// A tool's error: told as text, and as structure where no contract of the tool's own speaks against it.
fn failed(envelope: &Value, has_contract: bool) -> CallToolResult {
    let mut result = CallToolResult::structured_error(envelope.clone());
    if has_contract {
        result.structured_content = None;
    }
    result
}

impl Server {
    /// Runs a tool of a skill.
    pub(crate) async fn run(
        &self,
        offer: Offer,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let has_contract = offer.listed.get("outputSchema").is_some();
        let input = request.arguments.clone().unwrap_or_default();
        let way = way(&context);
        let bound = shelf::digest(json!([offer.name, input]).to_string().as_bytes());
        let asked = match (&request.request_state, way) {
            (Some(state), Way::ByAnswering) => match self.answer(state, &bound, request.input_responses.as_ref())? {
                Some(mark) => Asked::Agreed(mark),
                None => return Ok(declined().into()),
            },
            (_, Way::Nobody) => Asked::Nobody,
            _ => Asked::Possible,
        };
        let mut call = Call { offer, input, session: self.session_of(&context), asked };
        loop {
            let said = self.call(call.clone(), &context).await?;
            let (text, mark) = match said {
                Said::Result(value) => return Ok(given(value).into()),
                Said::Error(envelope) => return Ok(failed(&envelope, has_contract).into()),
                Said::Question { text, mark } => (text, mark),
            };
            // Nobody is asked twice about one call.
            if call.asked != Asked::Possible {
                return Ok(declined().into());
            }
            let params = question(&text)?;
            if way == Way::ByAnswering {
                let payload = json!({ "bound": bound, "mark": mark });
                let options = SealOptions::new().ttl(THINKING);
                let sealed =
                    self.shared.confirm.codec.seal_json_with(&payload, &options).map_err(|_| fault::internal())?;
                let requests =
                    BTreeMap::from([(QUESTION.to_owned(), InputRequest::Elicitation(ElicitRequest::new(params)))]);
                return Ok(InputRequiredResult::new(Some(requests), Some(sealed)).into());
            }
            let answer = tokio::select! {
                answer = context.peer.create_elicitation_with_timeout(params, Some(THINKING)) => answer,
                () = context.ct.cancelled() => return Ok(declined().into()),
            };
            let is_agreed = answer
                .is_ok_and(|answer| is_yes(json!(answer.action).as_str().unwrap_or_default(), answer.content.as_ref()));
            if !is_agreed {
                return Ok(declined().into());
            }
            call.asked = Asked::Agreed(mark);
        }
    }

    /// The mark of what was agreed to, out of what a client brings back; nothing where its user said no.
    fn answer(
        &self,
        state: &str,
        bound: &str,
        responses: Option<&InputResponses>,
    ) -> Result<Option<String>, ErrorData> {
        let unfit = || fault::invalid("`requestState` is not of this call, or too old; call again without it");
        let payload: Value = self.shared.confirm.codec.open_json(state).map_err(|_| unfit())?;
        if payload["bound"] != bound {
            return Err(unfit());
        }
        let answer = responses.and_then(|responses| responses.get(QUESTION));
        let action = answer.and_then(|answer| answer["action"].as_str()).unwrap_or_default();
        let is_agreed = is_yes(action, answer.and_then(|answer| answer.get("content")));
        Ok(payload["mark"].as_str().filter(|_| is_agreed).map(str::to_owned))
    }

    /// The session of the old era. The new one has none; who wants state there names a session in the arguments.
    fn session_of(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        let is_new = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        (!is_new).then(|| self.session.clone())
    }

    /// Calls, with signs of life; ends the run when the client cancels, or goes.
    async fn call(&self, call: Call, context: &RequestContext<RoleServer>) -> Result<Said, ErrorData> {
        let Some(runs) = self.shared.runs.clone() else { return Err(fault::internal()) };
        let slots = self.shared.slots.acquire();
        let permit = tokio::select! {
            permit = slots => permit.map_err(|_| fault::internal())?,
            () = context.ct.cancelled() => return Err(fault::invalid("cancelled")),
        };
        let stop = Stop::default();
        let number = self.shared.confirm.count.fetch_add(1, Ordering::Relaxed);
        let running = || self.shared.running.lock().unwrap_or_else(PoisonError::into_inner);
        running().insert(number, stop.clone());
        // Where this is dropped, the run is asked to end all the same.
        let ended = Ended(stop.clone());
        let catalog = std::sync::Arc::clone(&self.shared.shelf().catalog);
        let inside = stop.clone();
        let mut work = tokio::task::spawn_blocking(move || runs.call(&catalog, &call, &inside));
        let token = context.meta.get_progress_token();
        let mut signs = 0.0;
        let mut is_cancelled = false;
        let said = loop {
            tokio::select! {
                done = &mut work => break done.map_err(|_| fault::internal()),
                () = context.ct.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    stop.stop();
                }
                () = tokio::time::sleep(SIGN_OF_LIFE) => {
                    if let Some(token) = &token {
                        signs += 1.0;
                        let param = ProgressNotificationParam::new(token.clone(), signs).with_message("still running");
                        // Who does not hear it will hear the result.
                        let _ = context.peer.notify_progress(param).await;
                    }
                }
            }
        };
        running().remove(&number);
        drop(ended);
        drop(permit);
        said
    }
}

/// Asks a run to end when nobody waits for it any more.
struct Ended(Stop);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// A tool's result, as structure where it is an object and as text.
fn given(value: Value) -> CallToolResult {
    let mut result = CallToolResult::structured(value);
    // The old era knows objects alone.
    if !result.structured_content.as_ref().is_some_and(Value::is_object) {
        result.structured_content = None;
    }
    result
}
