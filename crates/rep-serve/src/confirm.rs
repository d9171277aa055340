//! Running a tool of a skill for a client, and asking its user first where that is wanted.
//!
//! A client of 2025-11-25 is asked in the middle of the call; one of 2026-07-28 gets the question as the answer and calls
//! again with what its user said. What it brings back is sealed, and good for that call alone. Where a client cannot ask
//! its user and somebody has the page open, the question lies there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateTaskResult, ElicitRequest, ElicitRequestParams,
    InputRequest, InputRequiredResult, InputResponses, ProgressNotificationParam, ProtocolVersion, RequestStateCodec,
    SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::runs::{Asked, Call, Offer, Said, Stop};
use crate::server::{Going, Server, Shared};
use crate::shelf;
use crate::tools::Fault;
use crate::{calls, fault};

/// How long a user may think.
pub(crate) const THINKING: Duration = Duration::from_mins(10);
/// How often a run that takes long shows that it goes on.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// When a run goes on as a task, and how long one is kept: while it runs, and once more when it has ended.
const TASK_AFTER: Duration = Duration::from_secs(2);
const TASK_KEPT_MS: u64 = 3_600_000;
/// The name of the question in the new era.
const QUESTION: &str = "confirm";

/// Seals what clients bring back.
pub(crate) struct Confirm {
    codec: RequestStateCodec,
    count: AtomicU64,
    /// The answers that were acted on, with when: none counts twice.
    used: Mutex<VecDeque<(Instant, u64)>>,
}

impl Confirm {
    pub(crate) fn new() -> Self {
        let codec = RequestStateCodec::try_new(random::<64>()).expect("64 bytes are long enough for a key");
        Self { codec, count: AtomicU64::new(0), used: Mutex::default() }
    }
}

impl Confirm {
    /// Notes that the answer to a question is acted on. Says whether it is the first time.
    fn is_first(&self, question: u64) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        while used.front().is_some_and(|(at, _)| at.elapsed() > THINKING) {
            used.pop_front();
        }
        let is_first = used.iter().all(|(_, known)| *known != question);
        if is_first {
            used.push_back((Instant::now(), question));
        }
        is_first
    }

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

fn unanswered() -> CallToolResult {
    failed(&Fault::new("CANCELLED", "the server ended before the user answered").envelope(), false)
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
        let is_at_desk = way == Way::Nobody && self.shared.desk.is_watched();
        let bound = shelf::digest(json!([offer.name, input]).to_string().as_bytes());
        let asked = match (&request.request_state, way) {
            (Some(state), Way::ByAnswering) => match self.answer(state, &bound, request.input_responses.as_ref())? {
                Some(mark) => Asked::Agreed(mark),
                None => return Ok(declined().into()),
            },
            (_, Way::Nobody) if !is_at_desk => Asked::Nobody,
            _ => Asked::Possible,
        };
        let mut call = Call { offer, input, who: calls::who(&context), session: self.session_of(&context), asked };
        loop {
            let (text, mark) = match self.call(call.clone(), &context).await? {
                Called::Done(Said::Result(value)) => return Ok(given(value).into()),
                Called::Done(Said::Error(envelope)) => return Ok(failed(&envelope, has_contract).into()),
                Called::Done(Said::Question { text, mark }) => (text, mark),
                Called::Going(begun) => return Ok(self.task(begun, has_contract).into()),
            };
            // Nobody is asked twice about one call.
            if call.asked != Asked::Possible {
                return Ok(declined().into());
            }
            if is_at_desk {
                let is_agreed = tokio::select! {
                    is_agreed = tokio::time::timeout(THINKING, self.shared.desk.ask(None, &call.offer.name, text)) => is_agreed,
                    () = context.ct.cancelled() => return Ok(declined().into()),
                    () = self.shared.ended() => return Ok(unanswered().into()),
                };
                if is_agreed != Ok(true) {
                    return Ok(declined().into());
                }
                call.asked = Asked::Agreed(mark);
                continue;
            }
            let params = question(&text)?;
            if way == Way::ByAnswering {
                let number = self.shared.confirm.count.fetch_add(1, Ordering::Relaxed);
                let payload = json!({ "bound": bound, "mark": mark, "question": number });
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
                () = self.shared.ended() => return Ok(unanswered().into()),
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
        if is_agreed && !payload["question"].as_u64().is_some_and(|question| self.shared.confirm.is_first(question)) {
            return Err(fault::invalid("this answer was acted on already; call again without `requestState`"));
        }
        Ok(payload["mark"].as_str().filter(|_| is_agreed).map(str::to_owned))
    }

    /// The session of the old era. The new one has none; who wants state there names a session in the arguments.
    fn session_of(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        let is_new = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        (!is_new).then(|| self.session.clone())
    }

    /// Calls, with signs of life; ends the run when the client cancels, or goes. A run that takes long goes on as a task,
    /// where the client knows those.
    async fn call(&self, call: Call, context: &RequestContext<RoleServer>) -> Result<Called, ErrorData> {
        let permit = tokio::select! {
            permit = Arc::clone(&self.shared.slots).acquire_owned() => permit.map_err(|_| fault::internal())?,
            () = context.ct.cancelled() => return Err(fault::invalid("cancelled")),
        };
        let mut begun = Begun::new(&self.shared, call, permit)?;
        let token = context.meta.get_progress_token();
        let knows_tasks = context.client_capabilities().is_some_and(|can| can.supports_tasks());
        let mut signs = 0.0;
        let mut is_cancelled = false;
        let started = tokio::time::Instant::now();
        loop {
            tokio::select! {
                done = &mut begun.work => return done.map(Called::Done).map_err(|_| fault::internal()),
                () = context.ct.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    begun.stop.stop();
                }
                () = tokio::time::sleep_until(started + TASK_AFTER), if knows_tasks && !is_cancelled => {
                    return Ok(Called::Going(begun));
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
        }
    }

    /// Lets a run go on as a task.
    fn task(&self, mut begun: Begun, has_contract: bool) -> CreateTaskResult {
        let options = TaskOptions::new().with_ttl_ms(TASK_KEPT_MS).with_status_message("running");
        let task = self.shared.tasks.spawn(options, |task: TaskContext| {
            Box::pin(async move {
                let done = tokio::select! {
                    done = &mut begun.work => done,
                    () = task.cancelled() => {
                        begun.stop.stop();
                        // Its end is waited for, so that it is on record.
                        let _ = (&mut begun.work).await;
                        return Err(TaskExit::Cancelled);
                    }
                };
                match done {
                    Ok(Said::Result(value)) => Ok(given(value)),
                    Ok(Said::Error(envelope)) => Ok(failed(&envelope, has_contract)),
                    Ok(Said::Question { .. }) => Ok(declined()),
                    Err(_) => Err(TaskExit::Error(fault::internal())),
                }
            })
        });
        CreateTaskResult::new(task)
    }
}

/// Calls a tool for whoever sits at the page, who is asked there. `number` is the call's, at the desk.
pub(crate) async fn by_desk(
    shared: &Arc<Shared>,
    number: u64,
    offer: Offer,
    input: Map<String, Value>,
    who: String,
) -> Said {
    let failed = || Said::Error(Fault::new("INTERNAL", "the server failed at this call").envelope());
    let refused = || Said::Error(Fault::new("CONFIRMATION_DECLINED", "nobody agreed to this run").envelope());
    let session = Some("page".to_owned());
    let mut call = Call { offer, input, who, session, asked: Asked::Possible };
    loop {
        let Ok(permit) = Arc::clone(&shared.slots).acquire_owned().await else { return failed() };
        let Ok(mut begun) = Begun::new(shared, call.clone(), permit) else { return failed() };
        let (text, mark) = match (&mut begun.work).await {
            Ok(Said::Question { text, mark }) if call.asked == Asked::Possible => (text, mark),
            Ok(Said::Question { .. }) => return refused(),
            Ok(said) => return said,
            Err(_) => return failed(),
        };
        drop(begun);
        if tokio::time::timeout(THINKING, shared.desk.ask(Some(number), &call.offer.name, text)).await != Ok(true) {
            return refused();
        }
        call.asked = Asked::Agreed(mark);
    }
}

/// A call that was made.
enum Called {
    Done(Said),
    Going(Begun),
}

/// A run that goes on. Asked to end when it is dropped, for then nobody waits for it any more.
struct Begun {
    work: tokio::task::JoinHandle<Said>,
    stop: Stop,
    number: u64,
    shared: Arc<Shared>,
}

impl Begun {
    fn new(shared: &Arc<Shared>, call: Call, permit: OwnedSemaphorePermit) -> Result<Self, ErrorData> {
        let runs = shared.runs.clone().ok_or_else(fault::internal)?;
        let stop = Stop::default();
        let number = shared.confirm.count.fetch_add(1, Ordering::Relaxed);
        let going = Going { stop: stop.clone(), tool: call.offer.name.clone(), since: Instant::now() };
        shared.running.lock().unwrap_or_else(PoisonError::into_inner).insert(number, going);
        shared.desk.changed();
        let catalog = Arc::clone(&shared.shelf().catalog);
        let inside = stop.clone();
        let counted = Arc::clone(shared);
        let work = tokio::task::spawn_blocking(move || {
            let said = runs.call(&catalog, &call, &inside);
            counted.metrics.ran(&said);
            // The place is free when the run is over, whoever waits for it.
            drop(permit);
            said
        });
        Ok(Self { work, stop, number, shared: Arc::clone(shared) })
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.stop.stop();
        self.shared.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
        // The record of its end came before this, and who looked then saw it still going on.
        self.shared.desk.changed();
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
