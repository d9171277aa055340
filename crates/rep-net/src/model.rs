//! Asks a model on a server, in the form of OpenAI or of Anthropic: through the same egress as everything else, bounded in size and
//! time, with a key that goes to the server the user named and nowhere else.
//!
//! The server is held to a schema where it lets itself be, and asked to stream, so that nobody on the way takes a long answer for a
//! dead connection. What it refuses is left out the next time. What it says is cleaned of the key and is otherwise text of a stranger.

pub mod cache;
pub mod extraction;
pub mod settings;
mod wire;

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::{Method, Origin};
use rep_convert::convert::{Model, ModelError, ModelErrorCode, Question, Reply};
use rep_model::truncate::truncate_chars;

use crate::answer::HttpAnswer;
use crate::exchange::{Exchange, Header, OutgoingRequest};
use crate::fetch::{alone, check_url};
use crate::{NetError, NetErrorCode};
use rep_permissions::HostRule;
use rep_permissions::Secret;
use rep_permissions::redact::Redactor;
use rep_permissions::resolver::Resolver;

/// The largest answer on the wire; streams say much around each word.
const WIRE_BYTES_MAX: u64 = 32 << 20;
/// How often a server that failed is asked again.
const RETRIES_MAX: u32 = 2;
/// The wait before the first other try; it doubles.
const RETRY_WAIT: Duration = Duration::from_millis(250);
/// The longest text of a server that is shown.
const TOLD_CHARS_MAX: usize = 300;

/// The form of HTTP a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Chat completions, as OpenAI and most others have them.
    OpenAi,
    /// Messages, as Anthropic has them.
    Anthropic,
}

impl Api {
    /// The form with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Api::OpenAi, Api::Anthropic].into_iter().find(|api| api.name() == name)
    }

    /// The word in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Api::OpenAi => "openai",
            Api::Anthropic => "anthropic",
        }
    }

    /// Where the company itself serves it.
    pub const fn usual_url(self) -> &'static str {
        match self {
            Api::OpenAi => "https://api.openai.com/v1",
            Api::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    /// The variable that usually holds its key.
    pub const fn usual_key(self) -> &'static str {
        match self {
            Api::OpenAi => "OPENAI_API_KEY",
            Api::Anthropic => "ANTHROPIC_API_KEY",
        }
    }
}

/// A model, and where and how it is asked.
pub struct Endpoint {
    /// The form of HTTP.
    pub api: Api,
    /// The address below which the form's own path lies.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// The variable the key is from, and the key.
    pub key: Option<(String, Secret)>,
    /// The most tokens of an answer.
    pub tokens_max: Option<u64>,
    /// How much chance there is in an answer, where not the server's own choice.
    pub temperature: Option<f64>,
    /// How long one answer may take.
    pub timeout: Duration,
}

/// How a server is asked. Each way asks for less than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Held to the schema, streaming.
    Structured,
    /// As text, streaming.
    Text,
    /// As text, at once.
    Plain,
}

impl Way {
    fn next(self) -> Option<Self> {
        match self {
            Way::Structured => Some(Way::Text),
            Way::Text => Some(Way::Plain),
            Way::Plain => None,
        }
    }
}

/// A server that is asked.
pub struct Server {
    endpoint: Endpoint,
    url: String,
    origin: Origin,
    redactor: Redactor,
    way: Way,
}

impl Server {
    /// A server that may be asked: with TLS, or on this machine.
    pub fn new(mut endpoint: Endpoint) -> Result<Self, ModelError> {
        let unfit = |message: String, remedy: &str| error(ModelErrorCode::Unfit, message).remedied(remedy);
        // Not shown: what stands in front of the host may be a password.
        if endpoint.url.contains('@') {
            let message = "the address has a user or a password in it".to_owned();
            return Err(unfit(message, "name the variable of a key with REP_LLM_KEY_ENV"));
        }
        let url = wire::address(endpoint.api, &endpoint.url);
        let origin = check_url(&url).map_err(|reason| {
            let message = format!("the address `{}` cannot be asked: {reason}", endpoint.url);
            unfit(message, "REP_LLM_URL or --url names one such as `https://api.example.org/v1`")
        })?;
        if url.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(unfit(format!("the address `{}` has blanks or foreign letters", endpoint.url), "mend it"));
        }
        if let Some((name, key)) = endpoint.key.take() {
            // A line end behind a key is how files are read, not a part of it.
            let bare = key.expose().trim();
            if bare.bytes().any(|byte| !byte.is_ascii_graphic()) {
                let message = format!("the value of `{name}` is no key: it has blanks or control characters in it");
                return Err(unfit(message, "set it again"));
            }
            endpoint.key = Secret::new(bare.to_owned()).map(|key| (name, key));
        }
        let secrets: Vec<(String, String)> =
            endpoint.key.iter().map(|(name, key)| (name.clone(), key.expose().to_owned())).collect();
        Ok(Self { redactor: Redactor::new(&secrets, false), endpoint, url, origin, way: Way::Structured })
    }

    fn sent(&self, question: &Question<'_>) -> OutgoingRequest {
        let header = |name: &str, value: String, is_secret: bool| Header { name: name.to_owned(), value, is_secret };
        let mut headers = vec![header("content-type", "application/json".to_owned(), false)];
        let key = self.endpoint.key.as_ref().map(|(_, key)| key.expose());
        match self.endpoint.api {
            Api::OpenAi => {
                headers.extend(key.map(|key| header("authorization", format!("Bearer {key}"), true)));
            }
            Api::Anthropic => {
                headers.push(header("anthropic-version", "2023-06-01".to_owned(), false));
                headers.extend(key.map(|key| header("x-api-key", key.to_owned(), true)));
            }
        }
        OutgoingRequest {
            method: Method::Post,
            url: self.url.clone(),
            headers,
            body: Some(wire::body(&self.endpoint, &self.origin, question, self.way).to_string()),
            has_secret_body: false,
            // A question may be asked twice.
            is_idempotent: true,
        }
    }

    fn exchanged(&self, sent: OutgoingRequest) -> Result<HttpAnswer, ModelError> {
        let rules = rules(&self.origin);
        let speak = move |exchange: &Exchange, stopped: &Receiver<()>| patiently(exchange, &sent, stopped);
        let ended = alone(&rules, WIRE_BYTES_MAX, self.endpoint.timeout, speak);
        ended.map_err(|failure| {
            let message = format!("`{}` gave no answer: {}", self.origin, failure.message);
            let code = match failure.code {
                NetErrorCode::Timeout => ModelErrorCode::Timeout,
                NetErrorCode::OutputTooLarge => ModelErrorCode::AnswerTooLarge,
                _ => ModelErrorCode::Unreachable,
            };
            let error = error(code, self.redactor.text(&message));
            let error = ModelError { is_retriable: failure.is_retriable, ..error };
            match code {
                ModelErrorCode::Timeout => error.remedied("--timeout gives it longer"),
                _ => error,
            }
        })
    }

    /// What an answer that is none means.
    fn refused(&self, answer: &HttpAnswer) -> ModelError {
        let told = self.told(&answer.body);
        let (status, origin) = (answer.status, &self.origin);
        let message = format!("`{origin}` answered {status}{told}");
        match status {
            401 | 403 => error(ModelErrorCode::Unauthorized, message).remedied(&match &self.endpoint.key {
                Some((name, _)) => format!("the key is the value of `{name}`; REP_LLM_KEY_ENV names another variable"),
                None => format!("set `{}`, or name a variable in REP_LLM_KEY_ENV", self.endpoint.api.usual_key()),
            }),
            404 => {
                let model = &self.endpoint.model;
                error(ModelErrorCode::NotFound, message)
                    .remedied(&format!("look whether `{}` is its address and `{model}` its model", self.url))
            }
            429 => {
                let wait = answer.header("retry-after").map(|wait| format!("; it asks for {wait} seconds"));
                error(ModelErrorCode::RateLimited, message + &wait.unwrap_or_default())
                    .retriable()
                    .remedied("try again later")
            }
            500.. => error(ModelErrorCode::Unavailable, message).retriable().remedied("try again later"),
            _ => error(ModelErrorCode::Refused, message),
        }
    }

    /// What a server says about an error, short and without the key.
    fn told(&self, body: &[u8]) -> String {
        let told = wire::complaint(&String::from_utf8_lossy(body));
        let told = self.redactor.text(told.trim());
        let short = truncate_chars(&told, TOLD_CHARS_MAX);
        if short.is_empty() { String::new() } else { format!(": {short}") }
    }
}

impl Model for Server {
    fn ask(&mut self, question: &Question<'_>) -> Result<Reply, ModelError> {
        loop {
            let answer = self.exchanged(self.sent(question))?;
            if answer.status == 200 {
                let reply = wire::read(self.endpoint.api, answer.header("content-type"), &answer.body);
                return match reply {
                    Ok(reply) => Ok(Reply { text: self.redactor.text(&reply.text), ..reply }),
                    Err(reason) => {
                        let reason = self.redactor.text(&reason);
                        let reason = truncate_chars(&reason, TOLD_CHARS_MAX);
                        Err(error(
                            ModelErrorCode::InvalidResponse,
                            format!("`{}` gave no answer: {reason}", self.origin),
                        ))
                    }
                };
            }
            // Whoever does not know a field says so in one of these ways.
            match self.way.next().filter(|_| matches!(answer.status, 400 | 415 | 422 | 501)) {
                Some(next) => self.way = next,
                None => return Err(self.refused(&answer)),
            }
        }
    }
}

/// The server alone. Its user named it, so it may be in his own network.
fn rules(origin: &Origin) -> Vec<HostRule> {
    let rule = |host: String| HostRule { host, port: Some(origin.port) };
    let is_named = origin.host == "localhost" || origin.host.parse::<std::net::IpAddr>().is_ok();
    let found =
        if is_named { Vec::new() } else { Resolver::system().addresses(&origin.host, origin.port).unwrap_or_default() };
    let addresses = found.into_iter().map(|address| rule(address.ip().to_string()));
    std::iter::once(rule(origin.host.clone())).chain(addresses).collect()
}

/// Asks, and again where the server failed or the answer broke off.
fn patiently(exchange: &Exchange, sent: &OutgoingRequest, stopped: &Receiver<()>) -> Result<HttpAnswer, NetError> {
    let mut retries = 0;
    loop {
        let ended = exchange.run(sent.clone(), stopped);
        let is_passing = match &ended {
            Ok(answer) => matches!(answer.status, 500 | 502 | 504 | 520..=529),
            Err(failure) => failure.is_retriable && !failure.is_unsent,
        };
        if !is_passing || retries == RETRIES_MAX {
            return ended;
        }
        match stopped.recv_timeout(RETRY_WAIT * 2_u32.pow(retries)) {
            Err(RecvTimeoutError::Timeout) => retries += 1,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return ended,
        }
    }
}

fn error(code: ModelErrorCode, message: String) -> ModelError {
    ModelError { code, message, remedy: None, is_retriable: false }
}
