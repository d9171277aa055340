//! The conversation: agree on a revision, list the tools, call one.

use std::time::{Duration, Instant};

use rep_storage::platform::LocalStream;
use serde_json::{Map, Value, json};

use crate::error::{ClientError, ClientErrorKind, shorten};
use crate::http::{HttpServer, HttpTransport, is_unauthorized};
use crate::param_headers::{build_param_headers, encode_value};
use crate::stream::StreamTransport;
use crate::tool::{ServerTool, ToolResult};

/// The revision without a handshake.
const STATELESS_REVISION: &str = "2026-07-28";
/// The revisions with a handshake, newest first.
const HANDSHAKE_REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// How long the server may take to answer the question that tells the generations apart. An old server may not
/// answer it at all.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the server may take to agree on a revision.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a message that nobody waits for may take.
const FAREWELL_TIMEOUT: Duration = Duration::from_millis(200);
/// The default limits of a conversation.
const MESSAGE_BYTES_MAX: usize = 8 << 20;
const TOOLS_MAX: usize = 2000;
const PAGES_MAX: usize = 500;

/// The limits of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct ConversationLimits {
    /// When the conversation must be over.
    pub until: Instant,
    /// The maximum size of a message of the server.
    pub message_bytes_max: usize,
    /// The maximum number of tools of a server.
    pub tools_max: usize,
}

impl ConversationLimits {
    /// Returns the default limits: messages of 8 MiB and 2000 tools.
    pub fn until(until: Instant) -> Self {
        Self { until, message_bytes_max: MESSAGE_BYTES_MAX, tools_max: TOOLS_MAX }
    }
}

/// How the server is reached.
pub struct McpTransport<'a>(Transport<'a>);

enum Transport<'a> {
    Stream(StreamTransport<'a>),
    Http(HttpTransport),
}

impl<'a> McpTransport<'a> {
    /// Speaks over a stream that is the server's stdin and stdout.
    pub fn over_stream(stream: &'a LocalStream) -> Self {
        Self(Transport::Stream(StreamTransport::new(stream)))
    }

    /// Speaks over HTTP.
    pub fn over_http(server: HttpServer) -> Self {
        Self(Transport::Http(HttpTransport::new(server)))
    }
}

/// How long an answer is waited for.
pub(crate) struct Wait<'a> {
    pub(crate) method: &'a str,
    pub(crate) started: Instant,
    pub(crate) until: Instant,
    pub(crate) is_cancelled: &'a dyn Fn() -> bool,
}

impl Wait<'_> {
    pub(crate) fn timeout_error(&self) -> ClientError {
        let seconds = self.until.saturating_duration_since(self.started).as_secs_f64();
        let message = format!("the server did not answer `{}` within {seconds:.1} s", self.method);
        ClientError::new(ClientErrorKind::Timeout, message)
    }
}

/// A generation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Generation {
    /// Every request carries its revision.
    Stateless,
    /// A handshake comes first.
    Handshake(&'static str),
}

/// A conversation with a server that has agreed on a revision.
pub struct McpClient<'a> {
    transport: Transport<'a>,
    limits: ConversationLimits,
    is_cancelled: &'a dyn Fn() -> bool,
    requests: u64,
    generation: Generation,
}

impl<'a> McpClient<'a> {
    /// Starts a conversation. The server is asked for its revisions first (`server/discover`); one that does not know
    /// this request is of the older generation and gets the handshake.
    pub fn connect(
        transport: McpTransport<'a>,
        limits: ConversationLimits,
        is_cancelled: &'a dyn Fn() -> bool,
    ) -> Result<Self, ClientError> {
        let mut transport = transport.0;
        match &mut transport {
            Transport::Stream(stream) => stream.limit_messages(limits.message_bytes_max),
            Transport::Http(http) => http.limit_messages(limits.message_bytes_max),
        }
        let generation = Generation::Stateless;
        let mut client = Self { transport, limits, is_cancelled, requests: 0, generation };
        let until = limits.until.min(Instant::now() + HANDSHAKE_TIMEOUT);
        let probed = client.request("server/discover", Map::new(), &[], until.min(Instant::now() + PROBE_TIMEOUT));
        match probed {
            Ok(found) if supports_stateless(&found) => return Ok(client),
            Ok(_) => {}
            Err(error) if is_older_generation(&error) => {}
            Err(error) => return Err(error),
        }
        client.shake_hands(until)?;
        Ok(client)
    }

    fn shake_hands(&mut self, until: Instant) -> Result<(), ClientError> {
        self.generation = Generation::Handshake(HANDSHAKE_REVISIONS[0]);
        let offer = json!({
            "protocolVersion": HANDSHAKE_REVISIONS[0],
            "capabilities": {},
            "clientInfo": client_identity(),
        });
        let result = self.request("initialize", into_fields(offer), &[], until)?;
        let revision = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        let Some(known) = HANDSHAKE_REVISIONS.into_iter().find(|known| *known == revision) else {
            let message = format!("the server speaks the revision `{}` of MCP, which is not known", shorten(revision));
            return Err(ClientError::new(ClientErrorKind::Unsupported, message));
        };
        self.generation = Generation::Handshake(known);
        self.notify("notifications/initialized", Map::new(), until)
    }

    /// Lists the tools of the server, on all pages.
    pub fn list_tools(&mut self) -> Result<Vec<ServerTool>, ClientError> {
        let mut tools: Vec<ServerTool> = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let params = cursor.iter().map(|cursor| ("cursor".to_owned(), json!(cursor))).collect();
            let page = self.request("tools/list", params, &[], self.limits.until)?;
            let Some(listed) = page.get("tools").and_then(Value::as_array) else {
                return Err(ClientError::invalid("the answer to `tools/list` has no list of tools"));
            };
            if tools.len() + listed.len() > self.limits.tools_max {
                let message = format!("the server lists more than {} tools", self.limits.tools_max);
                return Err(ClientError::new(ClientErrorKind::TooLarge, message)
                    .with_remedy("let the server offer fewer tools; many have an option for that"));
            }
            for tool in listed {
                tools.push(ServerTool::parse(tool)?);
            }
            match page.get("nextCursor").and_then(Value::as_str) {
                None => return Ok(tools),
                Some(next) if cursor.as_deref() == Some(next) => {
                    return Err(ClientError::invalid("the server returns the same page of tools again and again"));
                }
                Some(next) => cursor = Some(next.to_owned()),
            }
        }
        let message = format!("the server lists its tools on more than {PAGES_MAX} pages");
        Err(ClientError::new(ClientErrorKind::TooLarge, message))
    }

    /// Calls a tool. A call that nobody waits for any longer is cancelled.
    pub fn call_tool(&mut self, tool: &ServerTool, arguments: &Value) -> Result<ToolResult, ClientError> {
        let headers = match self.generation {
            Generation::Stateless => build_param_headers(&tool.input_schema, arguments),
            Generation::Handshake(_) => Vec::new(),
        };
        let params = into_fields(json!({ "name": tool.name, "arguments": arguments }));
        let result = self.request("tools/call", params, &headers, self.limits.until);
        if let Err(ClientError { kind: ClientErrorKind::Timeout | ClientErrorKind::Cancelled, .. }) = &result {
            self.cancel_last_request();
        }
        let result = result?;
        if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
            let message = format!("the tool `{}` asks for input during the call", tool.name);
            return Err(ClientError::new(ClientErrorKind::Unsupported, message)
                .with_remedy("give all its arguments with the call; questions of servers are not passed on"));
        }
        ToolResult::parse(result.as_object().unwrap_or(&Map::new()))
    }

    /// Ends the conversation. A session over HTTP is given back.
    pub fn close(mut self) {
        if let Transport::Http(http) = &mut self.transport {
            http.close();
        }
    }

    /// Tells a server on a stream that an answer is not needed. Over HTTP, the closed connection says so.
    fn cancel_last_request(&mut self) {
        let params = into_fields(json!({ "requestId": self.requests, "reason": "no longer needed" }));
        if let Transport::Stream(_) = &self.transport {
            let until = Instant::now() + FAREWELL_TIMEOUT;
            let message = build_message("notifications/cancelled", None, self.complete_params(params));
            let wait =
                Wait { method: "notifications/cancelled", started: Instant::now(), until, is_cancelled: &|| false };
            // The server may be gone already.
            if let Transport::Stream(stream) = &mut self.transport {
                let _ = stream.send(&message, &wait);
            }
        }
    }

    fn request(
        &mut self,
        method: &str,
        params: Map<String, Value>,
        headers: &[(String, String)],
        until: Instant,
    ) -> Result<Value, ClientError> {
        self.requests += 1;
        let id = self.requests;
        let named = params.get("name").and_then(Value::as_str).map(str::to_owned);
        let message = build_message(method, Some(id), self.complete_params(params));
        let wait = Wait { method, started: Instant::now(), until, is_cancelled: self.is_cancelled };
        let headers = [&self.protocol_headers(method, named.as_deref())[..], headers].concat();
        match &mut self.transport {
            Transport::Stream(stream) => stream.exchange(&message, id, &wait),
            Transport::Http(http) => http.exchange(&message, id, &headers, &wait),
        }
    }

    fn notify(&mut self, method: &str, params: Map<String, Value>, until: Instant) -> Result<(), ClientError> {
        let message = build_message(method, None, self.complete_params(params));
        let wait = Wait { method, started: Instant::now(), until, is_cancelled: self.is_cancelled };
        let headers = self.protocol_headers(method, None);
        match &mut self.transport {
            Transport::Stream(stream) => stream.send(&message, &wait),
            Transport::Http(http) => http.notify(&message, &headers, &wait),
        }
    }

    /// Adds what every request of this generation carries.
    fn complete_params(&self, mut params: Map<String, Value>) -> Map<String, Value> {
        if self.generation == Generation::Stateless {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS_REVISION,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": client_identity(),
            });
            params.insert("_meta".to_owned(), meta);
        }
        params
    }

    fn protocol_headers(&self, method: &str, name: Option<&str>) -> Vec<(String, String)> {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        match self.generation {
            Generation::Stateless => {
                let mut headers =
                    vec![header("MCP-Protocol-Version", STATELESS_REVISION), header("Mcp-Method", method)];
                headers.extend(name.map(|name| header("Mcp-Name", &encode_value(name))));
                headers
            }
            Generation::Handshake(_) if method == "initialize" => Vec::new(),
            Generation::Handshake(revision) => vec![header("MCP-Protocol-Version", revision)],
        }
    }
}

fn client_identity() -> Value {
    json!({ "name": "repertoire", "version": env!("CARGO_PKG_VERSION") })
}

fn into_fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn build_message(method: &str, id: Option<u64>, params: Map<String, Value>) -> Value {
    let mut message = into_fields(json!({ "jsonrpc": "2.0" }));
    if let Some(id) = id {
        message.insert("id".to_owned(), id.into());
    }
    message.insert("method".to_owned(), method.into());
    if !params.is_empty() {
        message.insert("params".to_owned(), Value::Object(params));
    }
    Value::Object(message)
}

/// Returns whether a server supports the revision without a handshake. One that answers without a list of revisions
/// does.
fn supports_stateless(found: &Value) -> bool {
    match found.get("supportedVersions").and_then(Value::as_array) {
        Some(revisions) => revisions.iter().any(|revision| revision == STATELESS_REVISION),
        None => true,
    }
}

/// Returns whether a failed probe means that the server is of the older generation.
fn is_older_generation(error: &ClientError) -> bool {
    match &error.kind {
        ClientErrorKind::Rejected { code } => !u16::try_from(*code).is_ok_and(is_unauthorized),
        ClientErrorKind::Timeout | ClientErrorKind::InvalidMessage => true,
        ClientErrorKind::Cancelled
        | ClientErrorKind::Closed
        | ClientErrorKind::TooLarge
        | ClientErrorKind::Unsupported
        | ClientErrorKind::Unreachable(_) => false,
    }
}
