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
    /// Who made it: the client as it calls itself, and by what it was let in.
    pub who: String,
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
    /// Takes a call in. False where it cannot be kept: then it is not answered.
    fn keep(&self, made: Made) -> bool;
}

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
    /// A name, an address or a query.
    Name(String),
    /// A tool of a skill, as it is called.
    Tool(String),
}

impl Question {
    /// A method that is about nothing, or about what `target` names.
    pub(crate) fn new(method: &str, target: &str) -> Self {
        let about = if target.is_empty() { About::Nothing } else { About::Name(target.to_owned()) };
        Self { method: cut(method), target: cut(target), about, input_digest: None }
    }

    /// A call of a tool. Which skill and file it is about is kept, what else was said is not.
    pub(crate) fn of_tool(name: &str, given: &JsonObject) -> Self {
        let text = |field: &str| given.get(field).and_then(Value::as_str);
        let is_own = tools::is_own(name) || name == convert::NAME;
        let named = ["uri", "name", "skill", "query"].into_iter().find_map(text).filter(|_| is_own);
        Self {
            method: "tools/call".to_owned(),
            target: cut(&named.map_or_else(|| name.to_owned(), |named| format!("{name} {named}"))),
            about: match named {
                Some(named) => About::Name(named.to_owned()),
                None if is_own => About::Nothing,
                None => About::Tool(name.to_owned()),
            },
            input_digest: Some(shelf::digest(json!(given).to_string().as_bytes())),
        }
    }

    /// The skill it is about.
    fn skill(&self, shared: &Shared) -> Option<String> {
        let shelf = shared.shelf();
        let named = |name: &str| uri::named(&shelf.catalog, name);
        match &self.about {
            About::Nothing => None,
            About::Name(name) => {
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
        let code = result.structured_content.as_ref().and_then(|content| content.pointer("/error/code")?.as_str());
        code.unwrap_or("TOOL_ERROR").to_owned()
    }
}

told_by_its_kind!(
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
        let made = Made { who: who(context), request: request_id(context), ..Made::default() };
        let words = format!("{} {}", question.method, question.target);
        self.shared.say(context, &made.request, words.trim_end());
        Answering { shared: Arc::clone(&self.shared), made: Some(made), question, started: Instant::now() }
    }
}

impl Answering {
    /// Has the call kept with what came of it. What cannot be kept is not answered.
    pub(crate) fn answered<T: Told>(mut self, answer: Result<T, ErrorData>) -> Result<T, ErrorData> {
        let outcome = match &answer {
            Ok(told) => told.outcome(),
            Err(error) => error.code.0.to_string(),
        };
        if self.keep(outcome) { answer } else { Err(fault::unkept()) }
    }

    fn keep(&mut self, outcome: String) -> bool {
        let (Some(made), Some(calls)) = (self.made.take(), &self.shared.calls) else { return true };
        let question = &mut self.question;
        calls.keep(Made {
            skill: question.skill(&self.shared),
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
    }
}

/// The id of a request: over HTTP the one its answer bears.
pub(crate) fn request_id(context: &RequestContext<RoleServer>) -> String {
    let parts = context.extensions.get::<Parts>();
    let given = parts.and_then(|parts| parts.headers.get(REQUEST_ID)?.to_str().ok()).map(str::to_owned);
    given.unwrap_or_else(|| context.id.to_string())
}

/// Who asks: the client as it calls itself, which is nobody's proof, and by what it was let in, which is.
pub(crate) fn who(context: &RequestContext<RoleServer>) -> String {
    let client = context.client_info();
    let client = client.map_or_else(|| "a client".to_owned(), |client| format!("{} {}", client.name, client.version));
    let bearer = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Bearer>());
    let bearer = bearer.map(|Bearer(bearer)| format!(", {bearer}")).unwrap_or_default();
    format!("{}{bearer}", cut(client.trim()))
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}
