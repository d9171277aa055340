//! A client for model servers with the OpenAI or Anthropic API. It uses the same connector as all other requests, is
//! bounded in size and time, and sends the API key only to the configured server.
//!
//! The client asks for structured output and streaming if the server supports them. Streaming keeps proxies from
//! closing the connection during a long answer. Features that a server rejects are not requested again. The key is
//! removed from answers, which are otherwise untrusted text.

pub mod cache;
pub mod extraction;
pub mod settings;
mod wire_format;

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::{HttpMethod, HttpOrigin};
use rep_convert::convert::{LanguageModel, ModelError, ModelErrorCode, ModelQuestion, ModelReply};
use rep_model::truncate::truncate_chars;

use crate::exchange::{HttpExchange, HttpHeader, OutgoingRequest};
use crate::fetch::{check_server_url, run_exchange};
use crate::response::HttpResponse;
use crate::{NetError, NetErrorCode};
use rep_permissions::HostRule;
use rep_permissions::SecretValue;
use rep_permissions::redact::Redactor;
use rep_permissions::resolver::HostResolver;

/// The maximum size of a response. Streams have much overhead per word.
const WIRE_BYTES_MAX: u64 = 32 << 20;
/// The maximum number of retries after a server error.
const RETRIES_MAX: u32 = 2;
/// The wait before the first retry. It doubles each time.
const RETRY_WAIT: Duration = Duration::from_millis(250);
/// The maximum length of a server's error message in output.
const MESSAGE_CHARS_MAX: usize = 300;

/// The HTTP API of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelApi {
    /// Chat completions, as offered by OpenAI and most others.
    OpenAi,
    /// Messages, as offered by Anthropic.
    Anthropic,
}

impl ModelApi {
    /// Returns the API with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [ModelApi::OpenAi, ModelApi::Anthropic].into_iter().find(|api| api.name() == name)
    }

    /// Returns the name in settings.
    pub const fn name(self) -> &'static str {
        match self {
            ModelApi::OpenAi => "openai",
            ModelApi::Anthropic => "anthropic",
        }
    }

    /// Returns the URL of the vendor's own server.
    pub const fn default_url(self) -> &'static str {
        match self {
            ModelApi::OpenAi => "https://api.openai.com/v1",
            ModelApi::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    /// Returns the environment variable that usually contains the key.
    pub const fn default_key_variable(self) -> &'static str {
        match self {
            ModelApi::OpenAi => "OPENAI_API_KEY",
            ModelApi::Anthropic => "ANTHROPIC_API_KEY",
        }
    }
}

/// A model, and where and how to reach it.
pub struct ModelEndpoint {
    /// The HTTP API.
    pub api: ModelApi,
    /// The base URL of the API.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// The variable that the key comes from, and the key.
    pub key: Option<(String, SecretValue)>,
    /// The maximum number of tokens in an answer.
    pub tokens_max: Option<u64>,
    /// The temperature, or `None` for the server's default.
    pub temperature: Option<f64>,
    /// The time limit for an answer.
    pub timeout: Duration,
}

/// How a request is made. Each mode requires less of the server than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AskMode {
    /// Structured output, streamed.
    Structured,
    /// Text, streamed.
    Text,
    /// Text, in a single response.
    PlainText,
}

impl AskMode {
    fn fallback(self) -> Option<Self> {
        match self {
            AskMode::Structured => Some(AskMode::Text),
            AskMode::Text => Some(AskMode::PlainText),
            AskMode::PlainText => None,
        }
    }
}

/// A client for a model server.
pub struct ModelServer {
    endpoint: ModelEndpoint,
    url: String,
    origin: HttpOrigin,
    redactor: Redactor,
    mode: AskMode,
}

impl ModelServer {
    /// Creates a client for a server with TLS, or on this machine.
    pub fn new(mut endpoint: ModelEndpoint) -> Result<Self, ModelError> {
        let unfit = |message: String, remedy: &str| {
            model_error(ModelErrorCode::InvalidConfiguration, message).with_remedy(remedy)
        };
        // The URL is not shown, because the user information may contain a password.
        if endpoint.url.contains('@') {
            let message = "the URL contains a user name or a password".to_owned();
            return Err(unfit(message, "set REP_LLM_KEY_ENV to the name of the variable with the key"));
        }
        let url = wire_format::build_url(endpoint.api, &endpoint.url);
        let origin = check_server_url(&url).map_err(|reason| {
            let message = format!("invalid server URL `{}`: {reason}", endpoint.url);
            unfit(message, "set REP_LLM_URL or --url to a URL such as `https://api.example.org/v1`")
        })?;
        if url.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(unfit(
                format!("the URL `{}` contains spaces or non-ASCII characters", endpoint.url),
                "percent-encode them",
            ));
        }
        if let Some((name, key)) = endpoint.key.take() {
            // Files often end with a newline, which is not part of the key.
            let bare = key.expose().trim();
            if bare.bytes().any(|byte| !byte.is_ascii_graphic()) {
                let message =
                    format!("the value of `{name}` is not a valid key: it contains spaces or control characters");
                return Err(unfit(message, "set it again"));
            }
            endpoint.key = SecretValue::new(bare.to_owned()).map(|key| (name, key));
        }
        let secrets: Vec<(String, String)> =
            endpoint.key.iter().map(|(name, key)| (name.clone(), key.expose().to_owned())).collect();
        Ok(Self { redactor: Redactor::new(&secrets, false), endpoint, url, origin, mode: AskMode::Structured })
    }

    fn build_request(&self, question: &ModelQuestion<'_>) -> OutgoingRequest {
        let header =
            |name: &str, value: String, is_secret: bool| HttpHeader { name: name.to_owned(), value, is_secret };
        let mut headers = vec![header("content-type", "application/json".to_owned(), false)];
        let key = self.endpoint.key.as_ref().map(|(_, key)| key.expose());
        match self.endpoint.api {
            ModelApi::OpenAi => {
                headers.extend(key.map(|key| header("authorization", format!("Bearer {key}"), true)));
            }
            ModelApi::Anthropic => {
                headers.push(header("anthropic-version", "2023-06-01".to_owned(), false));
                headers.extend(key.map(|key| header("x-api-key", key.to_owned(), true)));
            }
        }
        OutgoingRequest {
            method: HttpMethod::Post,
            url: self.url.clone(),
            headers,
            body: Some(
                wire_format::build_body(&self.endpoint, &self.origin, question, self.mode).to_string().into_bytes(),
            ),
            has_secret_body: false,
            // Sending the same question twice is harmless.
            is_idempotent: true,
        }
    }

    fn exchange_request(&self, sent: OutgoingRequest) -> Result<HttpResponse, ModelError> {
        let rules = build_host_rules(&self.origin);
        let speak = move |exchange: &HttpExchange, stopped: &Receiver<()>| send_with_retries(exchange, &sent, stopped);
        let ended = run_exchange(&rules, WIRE_BYTES_MAX, self.endpoint.timeout, speak);
        ended.map_err(|failure| {
            let message = format!("no answer from `{}`: {}", self.origin, failure.message);
            let code = match failure.code {
                NetErrorCode::Timeout => ModelErrorCode::Timeout,
                NetErrorCode::OutputTooLarge => ModelErrorCode::AnswerTooLarge,
                _ => ModelErrorCode::Unreachable,
            };
            let error = model_error(code, self.redactor.redact_text(&message));
            let error = ModelError { is_retriable: failure.is_retriable, ..error };
            match code {
                ModelErrorCode::Timeout => error.with_remedy("increase --timeout"),
                _ => error,
            }
        })
    }

    /// Converts an error response.
    fn error_from_response(&self, answer: &HttpResponse) -> ModelError {
        let told = self.describe_error_body(&answer.body);
        let (status, origin) = (answer.status, &self.origin);
        let message = format!("`{origin}` responded with status {status}{told}");
        match status {
            401 | 403 => model_error(ModelErrorCode::Unauthorized, message).with_remedy(&match &self.endpoint.key {
                Some((name, _)) => format!("check the key in `{name}`, or set REP_LLM_KEY_ENV to another variable"),
                None => {
                    format!(
                        "set `{}`, or set REP_LLM_KEY_ENV to another variable",
                        self.endpoint.api.default_key_variable()
                    )
                }
            }),
            404 => {
                let model = &self.endpoint.model;
                model_error(ModelErrorCode::NotFound, message)
                    .with_remedy(&format!("check the URL `{}` and the model `{model}`", self.url))
            }
            429 => {
                let wait = answer.header("retry-after").map(|wait| format!("; retry after {wait} seconds"));
                model_error(ModelErrorCode::RateLimited, message + &wait.unwrap_or_default())
                    .as_retriable()
                    .with_remedy("try again later")
            }
            500.. => model_error(ModelErrorCode::Unavailable, message).as_retriable().with_remedy("try again later"),
            _ => model_error(ModelErrorCode::Refused, message),
        }
    }

    /// Returns the error message of a server, shortened and without the key.
    fn describe_error_body(&self, body: &[u8]) -> String {
        let told = wire_format::extract_error_message(&String::from_utf8_lossy(body));
        let told = self.redactor.redact_text(told.trim());
        let short = truncate_chars(&told, MESSAGE_CHARS_MAX);
        if short.is_empty() { String::new() } else { format!(": {short}") }
    }
}

impl LanguageModel for ModelServer {
    fn ask(&mut self, question: &ModelQuestion<'_>) -> Result<ModelReply, ModelError> {
        loop {
            let answer = self.exchange_request(self.build_request(question))?;
            if answer.status == 200 {
                let reply = wire_format::parse_reply(self.endpoint.api, answer.header("content-type"), &answer.body);
                return match reply {
                    Ok(reply) => Ok(ModelReply { text: self.redactor.redact_text(&reply.text), ..reply }),
                    Err(reason) => {
                        let reason = self.redactor.redact_text(&reason);
                        let reason = truncate_chars(&reason, MESSAGE_CHARS_MAX);
                        Err(model_error(
                            ModelErrorCode::InvalidResponse,
                            format!("no answer from `{}`: {reason}", self.origin),
                        ))
                    }
                };
            }
            // Servers reject unknown fields with one of these codes.
            match self.mode.fallback().filter(|_| matches!(answer.status, 400 | 415 | 422 | 501)) {
                Some(next) => self.mode = next,
                None => return Err(self.error_from_response(&answer)),
            }
        }
    }
}

/// Builds rules for this server only. The user named it, so it may be in a private network.
fn build_host_rules(origin: &HttpOrigin) -> Vec<HostRule> {
    let rule = |host: String| HostRule { host, port: Some(origin.port) };
    let is_named = origin.host == "localhost" || origin.host.parse::<std::net::IpAddr>().is_ok();
    let found = if is_named {
        Vec::new()
    } else {
        HostResolver::system().resolve(&origin.host, origin.port).unwrap_or_default()
    };
    let addresses = found.into_iter().map(|address| rule(address.ip().to_string()));
    std::iter::once(rule(origin.host.clone())).chain(addresses).collect()
}

/// Asks the model, and retries after server errors and interrupted answers.
fn send_with_retries(
    exchange: &HttpExchange,
    sent: &OutgoingRequest,
    stopped: &Receiver<()>,
) -> Result<HttpResponse, NetError> {
    let mut retries = 0;
    loop {
        let ended = exchange.send_and_follow(sent.clone(), stopped);
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

fn model_error(code: ModelErrorCode, message: String) -> ModelError {
    ModelError { code, message, remedy: None, is_retriable: false }
}
