//! A command of an API skill as one HTTP request. UASP §4 knows skills of `type: api` and is silent about how their
//! commands are sent; this is how they are read here.
//!
//! - `syntax: "GET /v1/todos/<id>?limit=<limit>"` is enough. `method`, `path` or `url`, `query`, `headers`, `body`,
//!   `timeout_seconds` and `idempotent` say what a syntax cannot; where both speak, the field wins. A command without such a
//!   syntax says that it is a request by `method` or `url`.
//! - `<name>` and `{name}` stand for an argument, and so does `:name` as the start of a segment where an argument is called so.
//!   What stands in brackets vanishes where its argument is not given: `[&limit=<limit>]`, `?limit=[limit]`, `[/<part>]`.
//!   A pair of the query vanishes too where its argument is optional and not given. A default fills a place that is written, and
//!   nothing else.
//! - An argument without a place goes where its `in` says (`query`, `header`, `body`); else into the query for GET, HEAD,
//!   DELETE and OPTIONS, and into one JSON object for POST, PUT and PATCH.
//! - In `body` a string that is exactly `<name>` becomes the argument as it is; what is not given vanishes.
//! - `${NAME}` stands for a variable of `environment`: its text, or where it is a secret, its name until the request is sent. A
//!   header or pair whose secret is not at hand vanishes; a body must have it.
//! - The address is absolute, or follows a base: `${NAME}` at its start; else the first variable called `BASE_URL`,
//!   `API_URL` or `…_BASE_URL`, `…_API_URL` that has a value or a default; else `api.base_url` at the top of the skill, a field of
//!   ours like `api.headers`, which every command gets.
//!
//! Whatever bytes an argument has, scheme, host, port, the number of segments and the names of headers stay the author's: a
//! value that could change them is refused.

use std::collections::BTreeSet;
use std::fmt;

use rep_model::Document;
use rep_model::uasp::Command;
use serde_json::{Map, Value, json};

use crate::command::{BindError, Lookup};
use crate::error::ErrorCode;

mod address;
mod arguments;
mod body;
mod environment;
mod step;
mod template;

pub use rep_net::{Method, Origin};
pub use step::arguments_of;

use address::Target;
use arguments::{Arguments, Place};
use environment::Environment;
use template::{Flat, Part};

/// The longest time a request may ask for, in seconds.
const TIMEOUT_S_MAX: u64 = 3600;

/// Headers that say where a request goes, how it is framed or who stands between: not a skill's to write.
const HEADERS_RESERVED: [&str; 11] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// A piece of what is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text, escaped for the place it stands in.
    Text(String),
    /// The value of a secret, by its name. It is escaped when it is put in.
    Secret(String),
}

/// One HTTP request. No secret is in it, only names of secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What it does.
    pub method: Method,
    /// Where it goes.
    pub origin: Origin,
    /// The path, escaped, with the slash at its start.
    pub path: String,
    /// The pairs of the query, escaped. A pair without a value has no pieces.
    pub query: Vec<(String, Vec<Piece>)>,
    /// The headers.
    pub headers: Vec<(String, Vec<Piece>)>,
    /// The body, JSON.
    pub body: Option<Vec<Piece>>,
    /// How long it may take, where the author says so.
    pub timeout_seconds: Option<u64>,
    /// Whether doing it twice is doing it once.
    pub is_idempotent: bool,
    /// The secrets that are in it, and whether it can be sent without.
    pub secrets: Vec<(String, bool)>,
    /// The caller's variables whose values are in it.
    pub variables: Vec<String>,
}

/// A request with its secrets put in, ready to be sent.
pub struct Filled {
    /// The address.
    pub url: String,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<String>,
}

/// Why there is no request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError {
    /// The word for programs: `INVALID_ARGUMENT` is the caller's fault, `INVALID_COMMAND` the author's, `NO_BASE_URL` nobody's.
    pub code: ErrorCode,
    /// What is wrong, with the argument or the field.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for RequestError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for RequestError {}

impl From<BindError> for RequestError {
    fn from(error: BindError) -> Self {
        Self { code: error.code, message: error.message, remedy: error.remedy }
    }
}

impl RequestError {
    fn argument(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code: ErrorCode::InvalidArgument, message: message.into(), remedy: remedy.into() }
    }

    fn command(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code: ErrorCode::InvalidCommand, message: message.into(), remedy: remedy.into() }
    }
}

/// Whether a command of a document is a request: it says so by `method` or `url`, or its syntax starts with a method and an
/// address. Only skills of type `api` and `hybrid` have such commands.
pub fn is_request(document: &Document, command: &Command) -> bool {
    let is_told = || command.request.method.is_some() || command.request.url.is_some();
    matches!(document.sections.meta.kind.as_deref(), Some("api" | "hybrid")) && (is_told() || spoken(command).is_some())
}

/// The method and the address in a syntax.
fn spoken(command: &Command) -> Option<(Method, &str)> {
    let syntax = command.syntax.as_deref()?.trim();
    let (word, rest) = syntax.split_once(char::is_whitespace)?;
    let target = rest.trim();
    let is_address = ["/", "http://", "https://", "${"].iter().any(|start| target.starts_with(start));
    Method::parse(word).filter(|_| is_address).map(|method| (method, target))
}

/// What a request is made of.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The skill.
    pub document: &'a Document,
    /// The command.
    pub command: &'a Command,
    /// The arguments, by name.
    pub arguments: &'a Map<String, Value>,
    /// The variables of the caller.
    pub variable: &'a Lookup<'a>,
}

impl Request {
    /// Makes a request of a command and its arguments.
    pub fn bind(source: Source<'_>) -> Result<Request, RequestError> {
        let command = source.command;
        let (method, address) = method_and_address(command)?;
        let environment = Environment::new(source.document, source.variable);
        let mut given = Arguments::read(source)?;
        let target = Target::read(&address, source.document, &environment, &given)?;
        given.declare(&target.parts)?;
        let path = address::path(&target, &given, &environment)?;
        let mut query = address::query(&target, &given, &environment)?;
        let mut used: BTreeSet<String> = template::slots(&target.parts).map(str::to_owned).collect();
        for (key, value) in fields(command.request.query.as_ref(), "query")? {
            query.extend(pair(key, value, &given, &environment, &mut used)?);
        }
        let mut headers = headers(source, &given, &environment, &mut used)?;
        let written = command.request.body.as_ref();
        if let Some(body) = written {
            used.extend(body::slots(body, &given)?);
        }
        let mut more = Map::new();
        for argument in given.without_place(&used) {
            let unmarked = if method.has_body() { Place::Body } else { Place::Query };
            match argument.place.unwrap_or(unmarked) {
                Place::Query => query.extend(address::pairs(&argument.name, &argument.value)?),
                Place::Header => {
                    headers.retain(|(name, _)| !name.eq_ignore_ascii_case(&argument.name));
                    headers.push(header(&argument.name, &argument.value)?);
                }
                Place::Body => drop(more.insert(argument.name, argument.value)),
                Place::Path => {
                    let message =
                        format!("the argument `{}` is `in: path`, and the path has no place for it", argument.name);
                    return Err(RequestError::command(message, format!("write `<{}>` into the path", argument.name)));
                }
            }
        }
        let body = body::pieces(written, &more, &given, &environment)?;
        if body.is_some() && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("Content-Type".to_owned(), vec![Piece::Text("application/json".to_owned())]));
        }
        let is_idempotent = method.is_idempotent() || command.request.is_idempotent == Some(true);
        let timeout_seconds = timeout(command)?;
        let mut request = Request {
            method,
            origin: target.origin,
            path,
            query,
            headers,
            body,
            timeout_seconds,
            is_idempotent,
            secrets: Vec::new(),
            variables: Vec::new(),
        };
        request.secrets = request.needs(&environment);
        request.variables = environment.used();
        Ok(request)
    }

    /// The secrets that stand in it. One that stands in the body must be there, and so must one its author requires.
    fn needs(&self, environment: &Environment<'_>) -> Vec<(String, bool)> {
        let names =
            |pieces: &[Piece]| -> Vec<String> { pieces.iter().filter_map(Piece::secret).map(str::to_owned).collect() };
        let in_body: BTreeSet<String> = self.body.iter().flat_map(|body| names(body)).collect();
        let beside = self.query.iter().chain(&self.headers).flat_map(|(_, pieces)| names(pieces));
        let all: BTreeSet<String> = beside.chain(in_body.iter().cloned()).collect();
        let is_optional = |name: &String| !in_body.contains(name) && !environment.is_required(name);
        all.into_iter().map(|name| (name.clone(), is_optional(&name))).collect()
    }

    /// The address with `${NAME}` where secrets stand.
    pub fn shown_url(&self) -> String {
        self.url(|name| Some(format!("${{{name}}}")))
    }

    /// The request as JSON, with `${NAME}` where secrets stand.
    pub fn shown(&self) -> Value {
        let named = |name: &str| Some(format!("${{{name}}}"));
        let headers =
            self.headers.iter().filter_map(|(name, pieces)| Some((name.clone(), join(pieces, named)?.into())));
        let body = self.body.as_ref().and_then(|body| join(body, named)).unwrap_or_default();
        json!({
            "method": self.method.name(),
            "url": self.shown_url(),
            "headers": headers.collect::<Map<String, Value>>(),
            "body": serde_json::from_str::<Value>(&body).unwrap_or(Value::Null),
        })
    }

    /// Puts the secrets in. `None` where the body has one that is not at hand, or a header would have one that no header can hold.
    pub fn filled(&self, secret: impl Fn(&str) -> Option<String>) -> Option<Filled> {
        let mut headers = Vec::new();
        for (name, pieces) in &self.headers {
            match join(pieces, &secret) {
                Some(value) if value.chars().any(is_unfit) => return None,
                Some(value) => headers.push((name.clone(), value)),
                // Without its secret a header says nothing.
                None => {}
            }
        }
        let escaped = |name: &str| {
            let quoted = Value::String(secret(name)?).to_string();
            Some(quoted[1..quoted.len() - 1].to_owned())
        };
        let body = match &self.body {
            Some(body) => Some(join(body, escaped)?),
            None => None,
        };
        Some(Filled { url: self.url(|name| Some(template::escaped(&secret(name)?))), headers, body })
    }

    fn url(&self, secret: impl Fn(&str) -> Option<String>) -> String {
        let pair = |(key, pieces): &(String, Vec<Piece>)| match pieces.as_slice() {
            [] => Some(key.clone()),
            pieces => Some(format!("{key}={}", join(pieces, &secret)?)),
        };
        let pairs: Vec<String> = self.query.iter().filter_map(pair).collect();
        let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
        format!("{}{}{query}", self.origin, self.path)
    }
}

impl Piece {
    /// The name of the secret, where it is one.
    pub fn secret(&self) -> Option<&str> {
        match self {
            Piece::Text(_) => None,
            Piece::Secret(name) => Some(name),
        }
    }
}

/// Pieces as one text; `None` where a secret is not at hand.
fn join(pieces: &[Piece], secret: impl Fn(&str) -> Option<String>) -> Option<String> {
    let one = |piece: &Piece| match piece {
        Piece::Text(text) => Some(text.clone()),
        Piece::Secret(name) => secret(name),
    };
    pieces.iter().map(one).collect()
}

fn method_and_address(command: &Command) -> Result<(Method, String), RequestError> {
    let spoken = spoken(command);
    let method = match (command.request.method.as_deref(), spoken) {
        (Some(word), _) => Method::parse(word).ok_or_else(|| {
            RequestError::command(format!("`method` is `{word}`, which is none"), format!("use {}", method_names()))
        })?,
        (None, Some((method, _))) => method,
        (None, None) => Method::Get,
    };
    let written = command.request.url.as_deref().or(command.request.path.as_deref());
    let address = written.or(spoken.map(|(_, target)| target));
    let missing = || {
        let remedy = "write `syntax: \"GET /path\"`, or the fields `method` and `path`";
        RequestError::command("the command does not say which address it asks", remedy)
    };
    let address = address.ok_or_else(missing)?.replace(" [", "[");
    if address.contains(char::is_whitespace) {
        let message = format!("`{address}` is more than an address");
        return Err(RequestError::command(message, "leave out what follows it; a body stands in `body`"));
    }
    Ok((method, address))
}

fn method_names() -> String {
    Method::ALL.map(Method::name).join(", ")
}

/// The entries of a field that must be a mapping.
fn fields<'a>(value: Option<&'a Value>, field: &str) -> Result<Vec<(&'a str, &'a Value)>, RequestError> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Object(fields)) => Ok(fields.iter().map(|(key, value)| (key.as_str(), value)).collect()),
        Some(_) => Err(RequestError::command(format!("`{field}` is no mapping"), "write names and values")),
    }
}

/// A written pair of the query; none where its argument is not given.
fn pair(
    key: &str,
    value: &Value,
    given: &Arguments,
    environment: &Environment<'_>,
    used: &mut BTreeSet<String>,
) -> Result<Vec<(String, Vec<Piece>)>, RequestError> {
    let Some(text) = value.as_str() else { return address::pairs(key, value) };
    let parts = template::parse(text, template::Style::Text, &|name| given.has(name))?;
    used.extend(template::slots(&parts).map(str::to_owned));
    if let [Part::Slot(name)] = parts.as_slice() {
        return given.value(name).map_or(Ok(Vec::new()), |value| address::pairs(key, value));
    }
    let flat = template::flat(&parts, given, environment)?;
    Ok(address::escaped_pieces(&flat).map(|pieces| (template::escaped(key), pieces)).into_iter().collect())
}

/// The headers of the skill and of the command; the command's win.
fn headers(
    source: Source<'_>,
    given: &Arguments,
    environment: &Environment<'_>,
    used: &mut BTreeSet<String>,
) -> Result<Vec<(String, Vec<Piece>)>, RequestError> {
    let common = fields(source.document.sections.api.headers.as_ref(), "headers")?;
    let own = fields(source.command.request.headers.as_ref(), "headers")?;
    let is_own = |name: &str| own.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let mut all: Vec<(String, Vec<Piece>)> = Vec::new();
    for (name, value) in common.iter().filter(|(name, _)| !is_own(name)).chain(&own) {
        fits_header_name(name)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let parts = template::parse(&text, template::Style::Text, &|name| given.has(name))?;
        used.extend(template::slots(&parts).map(str::to_owned));
        let flat = template::flat(&parts, given, environment)?;
        if flat.iter().any(|flat| matches!(flat, Flat::Gap(_))) {
            continue;
        }
        let mut pieces = Vec::new();
        for flat in flat {
            pieces.push(match flat {
                Flat::Text(text) | Flat::Value(text) => Piece::Text(fits_header_value(name, text)?),
                Flat::Secret(name) => Piece::Secret(name),
                Flat::Gap(_) => continue,
            });
        }
        all.push(((*name).to_owned(), pieces));
    }
    Ok(all)
}

/// An argument as a header of its own name.
fn header(name: &str, value: &Value) -> Result<(String, Vec<Piece>), RequestError> {
    fits_header_name(name)?;
    let text = arguments::text(name, value)?;
    Ok((name.to_owned(), vec![Piece::Text(fits_header_value(name, text)?)]))
}

fn fits_header_name(name: &str) -> Result<(), RequestError> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let lower = name.to_ascii_lowercase();
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(RequestError::command(
            format!("`{name}` is no name of a header"),
            "use letters, digits and hyphens",
        ));
    }
    if HEADERS_RESERVED.contains(&lower.as_str()) || lower.starts_with("proxy-") {
        let message = format!("the header `{name}` is not a skill's to write");
        return Err(RequestError::command(message, "leave it out; it is written for you"));
    }
    Ok(())
}

fn fits_header_value(name: &str, text: String) -> Result<String, RequestError> {
    if text.chars().any(is_unfit) {
        let message = format!("the header `{name}` would hold a control character");
        return Err(RequestError::argument(message, "take line ends and other control characters out of it"));
    }
    Ok(text)
}

/// What no header can hold.
fn is_unfit(character: char) -> bool {
    character.is_control()
}

fn timeout(command: &Command) -> Result<Option<u64>, RequestError> {
    let Some(value) = &command.request.timeout_seconds else { return Ok(None) };
    let seconds = value.as_u64().filter(|seconds| (1..=TIMEOUT_S_MAX).contains(seconds));
    let remedy = || format!("use a whole number of seconds from 1 to {TIMEOUT_S_MAX}");
    seconds.map(Some).ok_or_else(|| RequestError::command(format!("`timeout_seconds` is {value}"), remedy()))
}

#[cfg(test)]
mod tests;
