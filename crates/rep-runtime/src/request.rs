//! Binds a command of an API skill to one HTTP request. UASP §4 defines skills of `type: api` but not how
//! their commands are sent; this module defines that.
//!
//! - `syntax: "GET /v1/todos/<id>?limit=<limit>"` is enough. `method`, `path` or `url`, `query`, `headers`,
//!   `body`, `timeout_seconds` and `idempotent` express what a syntax cannot; a field takes precedence over
//!   the syntax. A command without such a syntax is a request if it has `method` or `url`.
//! - `<name>` and `{name}` are placeholders for an argument, and so is `:name` at the start of a segment if
//!   an argument has that name. A part in brackets is omitted if its argument is not given:
//!   `[&limit=<limit>]`, `?limit=[limit]`, `[/<part>]`. A query pair is also omitted if its argument is
//!   optional and not given. A default fills a written placeholder only.
//! - An argument without a placeholder goes where its `in` says (`query`, `header`, `body`); otherwise into
//!   the query for GET, HEAD, DELETE and OPTIONS, and into one JSON object for POST, PUT and PATCH.
//! - In `body`, a string that is exactly `<name>` becomes the argument with its type; it is omitted if the
//!   argument is not given.
//! - `${NAME}` is a variable of `environment`: its text, or for a secret its name until the request is sent.
//!   A header or pair whose secret has no value is omitted; a secret in a body is required.
//! - The address is absolute or relative to a base: `${NAME}` at its start; otherwise the first variable
//!   named `BASE_URL`, `API_URL`, `…_BASE_URL` or `…_API_URL` that has a value or a default; otherwise
//!   `api.base_url` at the top level of the skill. `api.base_url` and `api.headers`, which apply to every
//!   command, are extensions of this project.
//!
//! Whatever an argument contains, the author determines the scheme, host, port, number of segments and header
//! names: a value that could change them is refused.

use std::collections::BTreeSet;
use std::fmt;

use rep_model::SkillDocument;
use rep_model::uasp::UaspCommand;
use serde_json::{Map, Value, json};

use crate::command::{BindError, VariableLookup};
use crate::error::ErrorCode;

mod address;
mod arguments;
mod body;
mod environment;
mod step;
mod template;

pub use rep_net::{HttpMethod, HttpOrigin};
pub use step::parse_step_arguments;

use address::RequestTarget;
use arguments::{ArgumentPlace, RequestArguments};
use environment::RequestEnvironment;
use template::{ResolvedPart, TemplatePart};

/// The maximum timeout of a request, in seconds.
const TIMEOUT_S_MAX: u64 = 3600;

/// Headers that control routing, framing or proxies; a skill may not set them.
const RESERVED_HEADERS: [&str; 11] = [
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

/// A fragment of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestFragment {
    /// Text, escaped for its position.
    Text(String),
    /// The value of a secret, by its name. It is escaped when it is inserted.
    Secret(String),
}

/// An HTTP request. It contains only the names of secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundRequest {
    /// The method.
    pub method: HttpMethod,
    /// The origin.
    pub origin: HttpOrigin,
    /// The escaped path, starting with a slash.
    pub path: String,
    /// The escaped query pairs. A pair without a value has no fragments.
    pub query: Vec<(String, Vec<RequestFragment>)>,
    /// The headers.
    pub headers: Vec<(String, Vec<RequestFragment>)>,
    /// The JSON body.
    pub body: Option<Vec<RequestFragment>>,
    /// The timeout that the author sets.
    pub timeout_seconds: Option<u64>,
    /// Whether repeating the request has no further effect.
    pub is_idempotent: bool,
    /// The secrets in it, and whether each is optional.
    pub secrets: Vec<(String, bool)>,
    /// The caller's variables whose values are in it.
    pub variables: Vec<String>,
}

/// A request with its secrets inserted, ready to be sent.
pub struct SendableRequest {
    /// The address.
    pub url: String,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<String>,
}

/// The reason why a request cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError {
    /// The code: `INVALID_ARGUMENT` if the caller is at fault, `INVALID_COMMAND` if the author is,
    /// `NO_BASE_URL` if no base address is set.
    pub code: ErrorCode,
    /// The problem, naming the argument or field.
    pub message: String,
    /// The remedy.
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
    fn invalid_argument(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code: ErrorCode::InvalidArgument, message: message.into(), remedy: remedy.into() }
    }

    fn invalid_command(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code: ErrorCode::InvalidCommand, message: message.into(), remedy: remedy.into() }
    }
}

/// Returns whether a command is a request: it has `method` or `url`, or its syntax starts with a method and
/// an address. Only skills of type `api` and `hybrid` have such commands.
pub fn is_request_command(document: &SkillDocument, command: &UaspCommand) -> bool {
    let is_told = || command.request.method.is_some() || command.request.url.is_some();
    matches!(document.sections.meta.kind.as_deref(), Some("api" | "hybrid"))
        && (is_told() || parse_http_syntax(command).is_some())
}

/// Parses the method and the address of a syntax.
fn parse_http_syntax(command: &UaspCommand) -> Option<(HttpMethod, &str)> {
    let syntax = command.syntax.as_deref()?.trim();
    let (word, rest) = syntax.split_once(char::is_whitespace)?;
    let target = rest.trim();
    let is_address = ["/", "http://", "https://", "${"].iter().any(|start| target.starts_with(start));
    HttpMethod::parse(word).filter(|_| is_address).map(|method| (method, target))
}

/// The inputs of a request.
#[derive(Clone, Copy)]
pub struct RequestInputs<'a> {
    /// The skill.
    pub document: &'a SkillDocument,
    /// The command.
    pub command: &'a UaspCommand,
    /// The arguments, by name.
    pub arguments: &'a Map<String, Value>,
    /// Looks up the caller's variables.
    pub variable: &'a VariableLookup<'a>,
}

impl BoundRequest {
    /// Builds a request from a command and its arguments.
    pub fn from_inputs(source: RequestInputs<'_>) -> Result<BoundRequest, RequestError> {
        let command = source.command;
        let (method, address) = parse_method_and_address(command)?;
        let environment = RequestEnvironment::new(source.document, source.variable);
        let mut given = RequestArguments::from_inputs(source)?;
        let target = RequestTarget::parse(&address, source.document, &environment, &given)?;
        given.declare_slots(&target.parts)?;
        let path = address::build_path(&target, &given, &environment)?;
        let mut query = address::build_query(&target, &given, &environment)?;
        let mut used: BTreeSet<String> = template::list_slot_names(&target.parts).map(str::to_owned).collect();
        for (key, value) in mapping_entries(command.request.query.as_ref(), "query")? {
            query.extend(bind_query_pair(key, value, &given, &environment, &mut used)?);
        }
        let mut headers = bind_headers(source, &given, &environment, &mut used)?;
        let written = command.request.body.as_ref();
        if let Some(body) = written {
            used.extend(body::collect_slots(body, &given)?);
        }
        let mut more = Map::new();
        for argument in given.collect_unplaced(&used) {
            let unmarked = if method.has_body() { ArgumentPlace::Body } else { ArgumentPlace::Query };
            match argument.place.unwrap_or(unmarked) {
                ArgumentPlace::Query => query.extend(address::build_argument_pairs(&argument.name, &argument.value)?),
                ArgumentPlace::Header => {
                    headers.retain(|(name, _)| !name.eq_ignore_ascii_case(&argument.name));
                    headers.push(bind_header(&argument.name, &argument.value)?);
                }
                ArgumentPlace::Body => drop(more.insert(argument.name, argument.value)),
                ArgumentPlace::Path => {
                    let message = format!(
                        "the argument `{}` is `in: path`, but the path has no placeholder for it",
                        argument.name
                    );
                    return Err(RequestError::invalid_command(
                        message,
                        format!("add `<{}>` to the path", argument.name),
                    ));
                }
            }
        }
        let body = body::build_body(written, &more, &given, &environment)?;
        if body.is_some() && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("Content-Type".to_owned(), vec![RequestFragment::Text("application/json".to_owned())]));
        }
        let is_idempotent = method.is_idempotent() || command.request.is_idempotent == Some(true);
        let timeout_seconds = parse_timeout(command)?;
        let mut request = BoundRequest {
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
        request.secrets = request.collect_secrets(&environment);
        request.variables = environment.into_used_names();
        Ok(request)
    }

    /// Collects the secrets in the request. A secret in the body, or one that its author requires, must have
    /// a value.
    fn collect_secrets(&self, environment: &RequestEnvironment<'_>) -> Vec<(String, bool)> {
        let names = |pieces: &[RequestFragment]| -> Vec<String> {
            pieces.iter().filter_map(RequestFragment::secret_name).map(str::to_owned).collect()
        };
        let in_body: BTreeSet<String> = self.body.iter().flat_map(|body| names(body)).collect();
        let beside = self.query.iter().chain(&self.headers).flat_map(|(_, pieces)| names(pieces));
        let all: BTreeSet<String> = beside.chain(in_body.iter().cloned()).collect();
        let is_optional = |name: &String| !in_body.contains(name) && !environment.is_required(name);
        all.into_iter().map(|name| (name.clone(), is_optional(&name))).collect()
    }

    /// Returns the address with `${NAME}` in place of secrets.
    pub fn masked_url(&self) -> String {
        self.build_url(|name| Some(format!("${{{name}}}")))
    }

    /// Renders the request as JSON, with `${NAME}` in place of secrets.
    pub fn to_masked_json(&self) -> Value {
        let named = |name: &str| Some(format!("${{{name}}}"));
        let headers = self
            .headers
            .iter()
            .filter_map(|(name, pieces)| Some((name.clone(), join_fragments(pieces, named)?.into())));
        let body = self.body.as_ref().and_then(|body| join_fragments(body, named)).unwrap_or_default();
        json!({
            "method": self.method.name(),
            "url": self.masked_url(),
            "headers": headers.collect::<Map<String, Value>>(),
            "body": serde_json::from_str::<Value>(&body).unwrap_or(Value::Null),
        })
    }

    /// Inserts the secrets. Returns `None` if a secret in the body has no value, or a header value would be
    /// invalid.
    pub fn fill_secrets(&self, secret: impl Fn(&str) -> Option<String>) -> Option<SendableRequest> {
        let mut headers = Vec::new();
        for (name, pieces) in &self.headers {
            match join_fragments(pieces, &secret) {
                Some(value) if value.chars().any(is_forbidden_in_header) => return None,
                Some(value) => headers.push((name.clone(), value)),
                // A header without its secret is omitted.
                None => {}
            }
        }
        let escaped = |name: &str| {
            let quoted = Value::String(secret(name)?).to_string();
            Some(quoted[1..quoted.len() - 1].to_owned())
        };
        let body = match &self.body {
            Some(body) => Some(join_fragments(body, escaped)?),
            None => None,
        };
        Some(SendableRequest {
            url: self.build_url(|name| Some(template::escape_value(&secret(name)?))),
            headers,
            body,
        })
    }

    fn build_url(&self, secret: impl Fn(&str) -> Option<String>) -> String {
        let pair = |(key, pieces): &(String, Vec<RequestFragment>)| match pieces.as_slice() {
            [] => Some(key.clone()),
            pieces => Some(format!("{key}={}", join_fragments(pieces, &secret)?)),
        };
        let pairs: Vec<String> = self.query.iter().filter_map(pair).collect();
        let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
        format!("{}{}{query}", self.origin, self.path)
    }
}

impl RequestFragment {
    /// Returns the name of the secret, if it is one.
    pub fn secret_name(&self) -> Option<&str> {
        match self {
            RequestFragment::Text(_) => None,
            RequestFragment::Secret(name) => Some(name),
        }
    }
}

/// Joins fragments to one text; `None` if a secret has no value.
fn join_fragments(pieces: &[RequestFragment], secret: impl Fn(&str) -> Option<String>) -> Option<String> {
    let one = |piece: &RequestFragment| match piece {
        RequestFragment::Text(text) => Some(text.clone()),
        RequestFragment::Secret(name) => secret(name),
    };
    pieces.iter().map(one).collect()
}

fn parse_method_and_address(command: &UaspCommand) -> Result<(HttpMethod, String), RequestError> {
    let spoken = parse_http_syntax(command);
    let method = match (command.request.method.as_deref(), spoken) {
        (Some(word), _) => HttpMethod::parse(word).ok_or_else(|| {
            RequestError::invalid_command(
                format!("`method` is `{word}`, which is not a supported method"),
                format!("use {}", method_names()),
            )
        })?,
        (None, Some((method, _))) => method,
        (None, None) => HttpMethod::Get,
    };
    let written = command.request.url.as_deref().or(command.request.path.as_deref());
    let address = written.or(spoken.map(|(_, target)| target));
    let missing = || {
        let remedy = "write `syntax: \"GET /path\"`, or the fields `method` and `path`";
        RequestError::invalid_command("the command does not specify an address", remedy)
    };
    let address = address.ok_or_else(missing)?.replace(" [", "[");
    if address.contains(char::is_whitespace) {
        let message = format!("`{address}` contains more than an address");
        return Err(RequestError::invalid_command(message, "remove the rest; a body goes in `body`"));
    }
    Ok((method, address))
}

fn method_names() -> String {
    HttpMethod::ALL.map(HttpMethod::name).join(", ")
}

/// Returns the entries of a field that must be a mapping.
fn mapping_entries<'a>(value: Option<&'a Value>, field: &str) -> Result<Vec<(&'a str, &'a Value)>, RequestError> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Object(fields)) => Ok(fields.iter().map(|(key, value)| (key.as_str(), value)).collect()),
        Some(_) => Err(RequestError::invalid_command(format!("`{field}` is not a mapping"), "write names and values")),
    }
}

/// Binds a written query pair; `None` if its argument is not given.
fn bind_query_pair(
    key: &str,
    value: &Value,
    given: &RequestArguments,
    environment: &RequestEnvironment<'_>,
    used: &mut BTreeSet<String>,
) -> Result<Vec<(String, Vec<RequestFragment>)>, RequestError> {
    let Some(text) = value.as_str() else { return address::build_argument_pairs(key, value) };
    let parts = template::parse(text, template::TemplateStyle::Text, &|name| given.is_declared(name))?;
    used.extend(template::list_slot_names(&parts).map(str::to_owned));
    if let [TemplatePart::Slot(name)] = parts.as_slice() {
        return given.find_value(name).map_or(Ok(Vec::new()), |value| address::build_argument_pairs(key, value));
    }
    let flat = template::resolve_parts(&parts, given, environment)?;
    Ok(address::escape_fragments(&flat).map(|pieces| (template::escape_value(key), pieces)).into_iter().collect())
}

/// Binds the headers of the skill and of the command; those of the command take precedence.
fn bind_headers(
    source: RequestInputs<'_>,
    given: &RequestArguments,
    environment: &RequestEnvironment<'_>,
    used: &mut BTreeSet<String>,
) -> Result<Vec<(String, Vec<RequestFragment>)>, RequestError> {
    let common = mapping_entries(source.document.sections.api.headers.as_ref(), "headers")?;
    let own = mapping_entries(source.command.request.headers.as_ref(), "headers")?;
    let is_own = |name: &str| own.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let mut all: Vec<(String, Vec<RequestFragment>)> = Vec::new();
    for (name, value) in common.iter().filter(|(name, _)| !is_own(name)).chain(&own) {
        check_header_name(name)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let parts = template::parse(&text, template::TemplateStyle::Text, &|name| given.is_declared(name))?;
        used.extend(template::list_slot_names(&parts).map(str::to_owned));
        let flat = template::resolve_parts(&parts, given, environment)?;
        if flat.iter().any(|flat| matches!(flat, ResolvedPart::Missing(_))) {
            continue;
        }
        let mut pieces = Vec::new();
        for flat in flat {
            pieces.push(match flat {
                ResolvedPart::Text(text) | ResolvedPart::Value(text) => {
                    RequestFragment::Text(check_header_value(name, text)?)
                }
                ResolvedPart::Secret(name) => RequestFragment::Secret(name),
                ResolvedPart::Missing(_) => continue,
            });
        }
        all.push(((*name).to_owned(), pieces));
    }
    Ok(all)
}

/// Binds an argument to a header with its name.
fn bind_header(name: &str, value: &Value) -> Result<(String, Vec<RequestFragment>), RequestError> {
    check_header_name(name)?;
    let text = arguments::value_to_text(name, value)?;
    Ok((name.to_owned(), vec![RequestFragment::Text(check_header_value(name, text)?)]))
}

fn check_header_name(name: &str) -> Result<(), RequestError> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let lower = name.to_ascii_lowercase();
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(RequestError::invalid_command(
            format!("`{name}` is not a valid header name"),
            "use letters, digits and hyphens",
        ));
    }
    if RESERVED_HEADERS.contains(&lower.as_str()) || lower.starts_with("proxy-") {
        let message = format!("a skill may not set the header `{name}`");
        return Err(RequestError::invalid_command(message, "remove it; it is set automatically"));
    }
    Ok(())
}

fn check_header_value(name: &str, text: String) -> Result<String, RequestError> {
    if text.chars().any(is_forbidden_in_header) {
        let message = format!("the header `{name}` would contain a control character");
        return Err(RequestError::invalid_argument(message, "remove line breaks and other control characters"));
    }
    Ok(text)
}

/// Returns whether a character is not allowed in a header.
fn is_forbidden_in_header(character: char) -> bool {
    character.is_control()
}

fn parse_timeout(command: &UaspCommand) -> Result<Option<u64>, RequestError> {
    let Some(value) = &command.request.timeout_seconds else { return Ok(None) };
    let seconds = value.as_u64().filter(|seconds| (1..=TIMEOUT_S_MAX).contains(seconds));
    let remedy = || format!("use a whole number of seconds from 1 to {TIMEOUT_S_MAX}");
    seconds.map(Some).ok_or_else(|| RequestError::invalid_command(format!("`timeout_seconds` is {value}"), remedy()))
}

#[cfg(test)]
mod tests;
