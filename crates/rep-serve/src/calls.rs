//! What clients ask and what came of it, for the record that somebody else keeps.

use std::sync::Arc;
use std::time::Instant;

use axum::http::request::Parts;
use rmcp::model::{CallToolResponse, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::http::REQUEST_ID;
use crate::server::{Server, Shared};
use crate::{convert, fault, shelf, tools, uri};

/// The most characters of a text of the client's that are kept.
const TEXT_CHARS_MAX: usize = 300;

/// A call that was made.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// Who made it: the client as it calls itself, which proves nothing.
    pub who: String,
    /// By what it was let in: a token or a subject, where there is one.
    pub bearer: Option<String>,
    /// The request's id, as its answer and the log have it.
    pub request: String,
    /// The method.
    pub method: String,
    /// What it was about: a tool, an address, a prompt; empty where there is nothing to name.
    pub target: String,
    /// The skill it was about, where one is served by that name.
    pub skill: Option<String>,
    /// The digest of its arguments, which may be anybody's data.
    pub input_digest: Option<String>,
    /// `ok`, `asked`, `task`, or the code of the error.
    pub outcome: String,
    /// How long it took.
    pub duration_ms: u64,
}

/// Whoever keeps the record of calls.
pub trait Calls: Send + Sync {
    /// Whether a call that is made now can be kept. One that cannot is not made.
    fn is_open(&self) -> bool;

    /// Takes a call in, without waiting. False where it cannot be kept: then it is not answered.
    fn keep(&self, made: Made) -> bool;
}

/// What somebody on the page is told where nothing can be kept.
pub(crate) const UNKEPT: &str =
    "Nothing can be recorded on this server now, so nothing is done; its operator can see why.";

/// By what a request over HTTP was let in.
#[derive(Clone, Debug)]
pub(crate) struct Bearer(pub(crate) String);

/// What is asked: a method, and what about.
pub(crate) struct Question {
    method: String,
    target: String,
    about: About,
    input_digest: Option<String>,
}

/// What may name a skill.
enum About {
    Nothing,
    /// A name or an address.
    Name(String),
    /// What was said where a name, an address or a query belongs: kept where it names a skill.
    Said(String),
    /// A tool of a skill, as it is called.
    Tool(String),
}

impl Question {
    /// A method that is about nothing, or about what `target` names.
    pub(crate) fn new(method: &str, target: &str) -> Self {
        let about = if target.is_empty() { About::Nothing } else { About::Name(target.to_owned()) };
        Self { method: cut(method), target: cut(target), about, input_digest: None }
    }

    /// A call of a tool. Which skill it is about is kept, what else was said is not.
    pub(crate) fn of_tool(name: &str, given: &JsonObject) -> Self {
        let text = |field: &str| given.get(field).and_then(Value::as_str);
        let about = match name {
            "load_skill" => text("name"),
            "read_skill_file" => text("uri").or_else(|| text("skill")),
            "query_skill" => text("query"),
            convert::NAME => text("skill"),
            _ => None,
        };
        let is_own = tools::is_own(name) || name == convert::NAME;
        Self {
            method: "tools/call".to_owned(),
            target: cut(name),
            about: match about {
                Some(about) => About::Said(about.to_owned()),
                None if is_own => About::Nothing,
                None => About::Tool(name.to_owned()),
            },
            input_digest: Some(shelf::digest(json!(given).to_string().as_bytes())),
        }
    }

    /// A request about a task. Its id is what lets one ask for it, so only a mark of it is kept.
    pub(crate) fn of_task(method: &str, id: &str) -> Self {
        let mark: String =
            shelf::digest(id.as_bytes()).chars().skip_while(|letter| *letter != ':').skip(1).take(12).collect();
        Self { method: method.to_owned(), target: mark, about: About::Nothing, input_digest: None }
    }

    /// With a digest of what was given with it.
    pub(crate) fn with(mut self, given: &Value) -> Self {
        self.input_digest = Some(shelf::digest(given.to_string().as_bytes()));
        self
    }

    /// The skill it is about.
    fn skill(&self, shared: &Shared) -> Option<String> {
        let shelf = shared.shelf();
        let named = |name: &str| uri::named(&shelf.catalog, name);
        match &self.about {
            About::Nothing => None,
            About::Name(name) | About::Said(name) => {
                let by_address = || uri::find(&shelf.catalog, name).map(|(entry, _)| entry);
                // A query has a path behind the name, which may itself have colons.
                let by_query = || name.rmatch_indices(':').find_map(|(at, _)| named(&name[..at]));
                let entry = by_address().or_else(|| named(name)).or_else(by_query)?;
                Some(entry.qualified_name.clone())
            }
            About::Tool(name) => {
                let offers = shelf.offers(shared.runs.as_deref());
                offers.iter().find(|offer| offer.name == *name).map(|offer| offer.skill.clone())
            }
        }
    }
}

/// An answer that may tell of an error in itself.
pub(crate) trait Told {
    /// How it went.
    fn outcome(&self) -> String {
        "ok".to_owned()
    }
}

/// Answers that tell of an error by being none.
macro_rules! told_by_its_kind {
    ($($kind:ty),* $(,)?) => { $(impl Told for $kind {})* };
}

impl Told for CallToolResponse {
    fn outcome(&self) -> String {
        let result = match self {
            CallToolResponse::Complete(result) => result,
            CallToolResponse::InputRequired(_) => return "asked".to_owned(),
            CallToolResponse::Task(_) => return "task".to_owned(),
            _ => return "ok".to_owned(),
        };
        if result.is_error != Some(true) {
            return "ok".to_owned();
        }
        // Where the tool has a contract of its own, the envelope is told as text alone.
        let told = || serde_json::from_str(&result.content.first()?.as_text()?.text).ok();
        let envelope = result.structured_content.clone().or_else(told).unwrap_or_default();
        envelope.pointer("/error/code").and_then(Value::as_str).unwrap_or("TOOL_ERROR").to_owned()
    }
}

told_by_its_kind!(
    rmcp::model::InitializeResult,
    rmcp::model::ListToolsResult,
    rmcp::model::ListPromptsResult,
    rmcp::model::GetPromptResponse,
    rmcp::model::CompleteResult,
    rmcp::model::ListResourcesResult,
    rmcp::model::ListResourceTemplatesResult,
    rmcp::model::ReadResourceResponse,
    rmcp::model::CustomResult,
    rmcp::model::GetTaskResult,
    (),
);

/// A call that is being answered. One that is given up before is kept as that.
pub(crate) struct Answering {
    shared: Arc<Shared>,
    made: Option<Made>,
    question: Question,
    started: Instant,
}

impl Server {
    /// Begins to answer a call, and tells of it.
    pub(crate) fn asked(&self, question: Question, context: &RequestContext<RoleServer>) -> Answering {
        let made =
            Made { who: client(context), bearer: bearer(context), request: request_id(context), ..Made::default() };
        let words = format!("{} {}", question.method, question.target);
        self.shared.say(context, &made.request, words.trim_end());
        self.shared.answering.send_modify(|count| *count += 1);
        Answering { shared: Arc::clone(&self.shared), made: Some(made), question, started: Instant::now() }
    }
}

impl Answering {
    /// Answers, where it can be kept. What is not made for that reason is no call.
    pub(crate) async fn by<T: Told>(
        mut self,
        answer: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        if self.shared.calls.as_ref().is_some_and(|calls| !calls.is_open()) {
            self.made = None;
            return Err(fault::unkept());
        }
        self.answered(answer.await)
    }

    /// Has the call kept with what came of it. What cannot be kept is not answered.
    fn answered<T: Told>(mut self, answer: Result<T, ErrorData>) -> Result<T, ErrorData> {
        let outcome = match &answer {
            Ok(told) => told.outcome(),
            Err(error) => error.code.0.to_string(),
        };
        if self.keep(outcome) { answer } else { Err(fault::unkept()) }
    }

    fn keep(&mut self, outcome: String) -> bool {
        let (Some(made), Some(calls)) = (self.made.take(), &self.shared.calls) else { return true };
        let question = &mut self.question;
        let skill = question.skill(&self.shared);
        if let (About::Said(said), Some(_)) = (&question.about, &skill) {
            question.target = format!("{} {}", question.target, cut(said));
        }
        calls.keep(Made {
            skill,
            method: std::mem::take(&mut question.method),
            target: std::mem::take(&mut question.target),
            input_digest: question.input_digest.take(),
            outcome,
            duration_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            ..made
        })
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.keep("abandoned".to_owned());
        self.shared.answering.send_modify(|count| *count -= 1);
    }
}

/// Keeps what somebody did on the page that a client could have done.
pub(crate) fn on_page(
    shared: &Shared,
    bearer: Option<&Bearer>,
    method: &str,
    target: &str,
    skill: Option<&str>,
    outcome: &str,
) -> bool {
    let Some(calls) = &shared.calls else { return true };
    calls.is_open()
        && calls.keep(Made {
            who: "the page".to_owned(),
            bearer: bearer.map(|Bearer(bearer)| bearer.clone()),
            method: method.to_owned(),
            target: cut(target),
            skill: skill.map(str::to_owned),
            outcome: outcome.to_owned(),
            ..Made::default()
        })
}

/// The id of a request: over HTTP the one its answer bears.
fn request_id(context: &RequestContext<RoleServer>) -> String {
    let parts = context.extensions.get::<Parts>();
    let given = parts.and_then(|parts| parts.headers.get(REQUEST_ID)?.to_str().ok()).map(str::to_owned);
    cut(&given.unwrap_or_else(|| context.id.to_string()))
}

/// The client as it calls itself.
fn client(context: &RequestContext<RoleServer>) -> String {
    let client = context.client_info();
    let client = client.map_or_else(|| "a client".to_owned(), |client| format!("{} {}", client.name, client.version));
    cut(client.trim())
}

/// By what it was let in.
fn bearer(context: &RequestContext<RoleServer>) -> Option<String> {
    let parts = context.extensions.get::<Parts>()?;
    parts.extensions.get::<Bearer>().map(|Bearer(bearer)| bearer.clone())
}

/// Who asks, in words for the record of runs: first what is proven, then what is only said.
pub(crate) fn who(context: &RequestContext<RoleServer>) -> String {
    let said = format!("a client that calls itself {:?}", client(context));
    bearer(context).map_or_else(|| said.clone(), |bearer| format!("{bearer}, {said}"))
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}
