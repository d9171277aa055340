//! One client: its requests, what it cancelled, and the questions that it was asked.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rep_sandbox::Cancel;
use serde_json::{Map, Value};

use crate::error::ApiError;
use crate::libraries::WarmLibraries;
use crate::message::{ClientMessage, IncomingLine};
use crate::methods::{self, ApiMethod, MethodKind};
use crate::outbox::{Outbox, WriterEnd};
use crate::workers::WorkerPool;
use crate::{ApiOptions, LINE_BYTES_MAX};

/// The maximum number of threads that answer from a library.
const READERS_MAX: usize = 4;
/// The maximum number of runs at the same time.
const RUNS_MAX: usize = 32;
/// How long requests may go on after the input ended.
const LAST_ANSWERS_MAX: Duration = Duration::from_millis(800);
/// How long the last lines may take to be written.
const LAST_LINES_MAX: Duration = Duration::from_millis(100);

/// The state of one client.
pub(crate) struct Session {
    options: ApiOptions,
    outbox: Arc<Outbox>,
    libraries: WarmLibraries,
    readers: WorkerPool,
    runs: WorkerPool,
    /// The requests that are not answered, by the JSON of their id.
    active: Mutex<BTreeMap<String, Cancel>>,
    /// The questions to the client that are not answered, by id.
    questions: Mutex<BTreeMap<String, Sender<Option<Value>>>>,
    /// The name of the client, from `hello`.
    client: Mutex<Option<String>>,
}

/// One request, for the function that answers it.
pub(crate) struct RequestContext<'a> {
    pub(crate) session: &'a Arc<Session>,
    pub(crate) id: &'a Value,
    pub(crate) cancel: &'a Cancel,
}

impl Session {
    /// Starts a session.
    pub(crate) fn new(options: ApiOptions, outbox: Outbox) -> Self {
        let libraries =
            WarmLibraries::new(options.library.clone(), options.user.clone(), options.working_folder.clone());
        Self {
            options,
            outbox: Arc::new(outbox),
            libraries,
            readers: WorkerPool::new(READERS_MAX),
            runs: WorkerPool::new(RUNS_MAX),
            active: Mutex::default(),
            questions: Mutex::default(),
            client: Mutex::default(),
        }
    }

    /// Returns the options of the server.
    pub(crate) fn options(&self) -> &ApiOptions {
        &self.options
    }

    /// Returns the way to the client.
    pub(crate) fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    /// Returns the open libraries.
    pub(crate) fn libraries(&self) -> &WarmLibraries {
        &self.libraries
    }

    /// Returns the name of the client.
    pub(crate) fn client(&self) -> Option<String> {
        self.client.lock().clone()
    }

    /// Stores the name of the client.
    pub(crate) fn set_client(&self, name: String) {
        *self.client.lock() = Some(name);
    }

    /// Registers a question and returns its id.
    pub(crate) fn expect_answer(&self, answer: Sender<Option<Value>>) -> String {
        let id = self.outbox.new_question_id();
        self.questions.lock().insert(id.clone(), answer);
        id
    }

    /// Forgets a question that does not wait any more.
    pub(crate) fn forget_question(&self, id: &str) {
        self.questions.lock().remove(id);
    }

    /// Handles a line of the client.
    pub(crate) fn handle_line(session: &Arc<Self>, line: IncomingLine) {
        let refuse = |id: &Value, number: i64, message: String| {
            session.outbox.respond(id, &Err(ApiError::invalid_request(number, message)));
        };
        let bytes = match line {
            IncomingLine::Complete(bytes) => bytes,
            IncomingLine::TooLong => {
                let message = format!("the line exceeds {} MiB", LINE_BYTES_MAX >> 20);
                return refuse(&Value::Null, ApiError::INVALID_REQUEST, message);
            }
        };
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let value = match serde_json::from_slice(&bytes) {
            Ok(value) => value,
            Err(error) => {
                return refuse(&Value::Null, ApiError::PARSE_ERROR, format!("the line is not JSON: {error}"));
            }
        };
        match ClientMessage::from_json(value) {
            ClientMessage::Request { id, method, params } => Self::start_request(session, id, &method, params),
            ClientMessage::Notification { method, params } => {
                if method == "cancel"
                    && let Some(id) = params.get("id")
                {
                    session.cancel_request(id);
                }
            }
            ClientMessage::Response { id, result } => session.answer_question(&id, result),
            ClientMessage::Invalid { id, reason } => refuse(&id, ApiError::INVALID_REQUEST, reason.to_owned()),
        }
    }

    /// Hands a request to a thread.
    fn start_request(session: &Arc<Self>, id: Value, method: &str, params: Map<String, Value>) {
        let Some(method) = methods::find_method(method) else {
            let names: Vec<&str> = methods::METHODS.iter().map(|method| method.name).collect();
            return session.outbox.respond(&id, &Err(ApiError::unknown_method(method, &names)));
        };
        let cancel = Cancel::default();
        let is_new = {
            let mut active = session.active.lock();
            let is_new = !active.contains_key(&id.to_string());
            if is_new {
                active.insert(id.to_string(), cancel.clone());
            }
            is_new
        };
        if !is_new {
            let error =
                ApiError::invalid_request(ApiError::INVALID_REQUEST, "a request with this id is not answered yet");
            return session.outbox.respond(&id, &Err(error));
        }
        let pool = match method.kind {
            MethodKind::Library => &session.readers,
            MethodKind::Run => &session.runs,
        };
        let (worker, key) = (Arc::clone(session), id.clone());
        if !pool.run(move || worker.answer_request(method, &id, params, &cancel)) {
            session.active.lock().remove(&key.to_string());
            session.outbox.respond(&key, &Err(ApiError::busy()));
        }
    }

    /// Answers a request on its thread. A bug ends the request, not the server.
    fn answer_request(
        self: &Arc<Self>,
        method: &'static ApiMethod,
        id: &Value,
        params: Map<String, Value>,
        cancel: &Cancel,
    ) {
        let result = if cancel.is_cancelled() {
            Err(ApiError::cancelled())
        } else {
            let context = RequestContext { session: self, id, cancel };
            let answered = catch_unwind(AssertUnwindSafe(|| methods::call_method(method, &context, params)));
            answered.unwrap_or_else(|_| Err(ApiError::internal()))
        };
        self.active.lock().remove(&id.to_string());
        self.outbox.respond(id, &result);
    }

    fn cancel_request(&self, id: &Value) {
        if let Some(cancel) = self.active.lock().get(&id.to_string()) {
            cancel.cancel();
        }
    }

    fn answer_question(&self, id: &Value, result: Option<Value>) {
        let question = id.as_str().and_then(|id| self.questions.lock().remove(id));
        if let Some(question) = question {
            // If the request was cancelled, nobody waits for the answer.
            let _ = question.send(result);
        }
    }

    /// Cancels what runs, because nobody waits for it.
    pub(crate) fn abandon(&self) {
        self.cancel_runs();
        self.runs.wait_until_idle(Instant::now() + LAST_ANSWERS_MAX);
    }

    /// Ends the session after the input ended: runs are cancelled, other requests are answered.
    pub(crate) fn finish(&self, writer: &WriterEnd) {
        let deadline = Instant::now() + LAST_ANSWERS_MAX;
        self.readers.wait_until_idle(deadline);
        self.cancel_runs();
        self.runs.wait_until_idle(deadline);
        self.outbox.close();
        writer.wait(LAST_LINES_MAX);
    }

    fn cancel_runs(&self) {
        for cancel in self.active.lock().values() {
            cancel.cancel();
        }
        // Without a sender, a question is answered with no.
        self.questions.lock().clear();
    }
}
