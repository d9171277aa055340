//! Calls of network libraries in Python and JavaScript.

use std::rc::Rc;

use rep_model::Span;

use crate::behaviour::SignalKind;
use crate::network_programs;
use crate::programs::Call;
use crate::source_eval::{Arguments, SourceRun};
use crate::value::{SharedValue, Value, add_taints, merge_taints};

const BODY_NAMES: [&str; 9] = ["data", "json", "body", "files", "content", "payload", "form", "text", "formData"];
const HEADER_NAMES: [&str; 4] = ["headers", "auth", "cookies", "params"];

/// Follows a call of a network library.
#[expect(clippy::too_many_lines, reason = "a table of names, which formatting spreads over many lines")]
pub(crate) fn call_network(
    run: &mut SourceRun<'_, '_>,
    name: &str,
    arguments: &Arguments,
    span: Span,
) -> Option<SharedValue> {
    let (module, method) = name.rsplit_once('.').unwrap_or(("", name));
    match name {
        "fetch" | "fetch.default" | "axios" | "got" | "needle" | "undici.fetch" | "undici.request" | "superagent"
        | "ky" => Some(request(run, &arguments.at(0), arguments, 1, span)),
        "urllib.request.urlopen"
        | "urllib2.urlopen"
        | "urlopen"
        | "urllib.request.Request"
        | "urllib.request.urlretrieve"
        | "wget.download"
        | "https.get"
        | "http.get"
        | "https.request"
        | "http.request"
        | "WebSocket"
        | "websockets.connect"
        | "websocket.create_connection"
        | "EventSource"
        | "navigator.sendBeacon"
        | "feedparser.parse" => {
            let url = host_option(&arguments.at(0)).unwrap_or_else(|| arguments.at(0));
            let response = request(run, &url, arguments, 1, span);
            if name == "urllib.request.urlretrieve"
                && let Some(file) = arguments.values.get(1)
            {
                run.scanner.path(crate::behaviour::BehaviourKind::Write, file, run.place, span);
                run.scanner.fill_file(file, &response);
            }
            // A request object keeps its URL for the call that sends it.
            if name == "urllib.request.Request" {
                return Some(url.with_taints(&response.taints));
            }
            Some(response)
        }
        "http.client.HTTPSConnection"
        | "http.client.HTTPConnection"
        | "ftplib.FTP"
        | "ftplib.FTP_TLS"
        | "smtplib.SMTP"
        | "smtplib.SMTP_SSL"
        | "telnetlib.Telnet"
        | "socket.create_connection"
        | "net.connect"
        | "net.createConnection"
        | "paramiko.SSHClient.connect"
        | "tls.connect" => Some(connect_address(run, arguments, span)),
        "socket.gethostbyname"
        | "socket.getaddrinfo"
        | "dns.lookup"
        | "dns.resolve"
        | "dns.resolver.resolve"
        | "dns.promises.lookup"
        | "dns.promises.resolve" => {
            let taints = merge_taints(arguments.all());
            let call = Call { values: Vec::new(), span, place: run.place, input: None, is_conditional: false };
            network_programs::judge_dns(run.scanner, &taints, name, &call);
            Some(Value::unknown())
        }
        "socket.socket" => Some(Value::reference("\u{1}socket")),
        "os.dup2" => {
            run.scanner.signal(SignalKind::ReverseShell, "redirects the streams of the process", run.place, span);
            Some(Value::unknown())
        }
        _ if matches!(
            module,
            "requests" | "httpx" | "axios" | "got" | "superagent" | "ky" | "needle" | "urllib3" | "aiohttp"
        ) && is_verb(method) =>
        {
            let at = usize::from(method == "request" && arguments.values.len() > 1);
            let url = arguments.get(at, "url").unwrap_or_else(Value::unknown);
            Some(request(run, &url, arguments, at + 1, span))
        }
        _ if module == "\u{1}socket" && matches!(method, "connect" | "connect_ex") => {
            Some(connect_address(run, arguments, span))
        }
        _ => None,
    }
}

fn is_verb(method: &str) -> bool {
    matches!(method, "get" | "post" | "put" | "patch" | "delete" | "head" | "options" | "request" | "stream")
}

/// Follows a method that talks to a host, by its name and the look of its argument.
pub(crate) fn call_network_method(
    run: &mut SourceRun<'_, '_>,
    _value: &SharedValue,
    method: &str,
    arguments: &Arguments,
    span: Span,
) -> Option<SharedValue> {
    let is_url = |value: &SharedValue| value.texts.iter().any(|text| text.contains("://") || text.starts_with("/api"));
    let first = arguments.values.first();
    match method {
        _ if is_verb(method) => {
            let at = usize::from(method == "request");
            let url = arguments.values.get(at).filter(|url| is_url(url))?;
            Some(request(run, &Rc::clone(url), arguments, at + 1, span))
        }
        "urlopen" | "goto" | "open" | "ws_connect" | "navigate" => {
            let url = arguments.values.iter().find(|url| is_url(url))?;
            Some(request(run, &Rc::clone(url), arguments, 1, span))
        }
        "connect" => {
            let target = first.filter(|target| target.items.len() == 2 || is_url(target))?;
            if is_url(target) {
                return Some(request(run, &Rc::clone(target), arguments, 1, span));
            }
            Some(connect_address(run, arguments, span))
        }
        _ => None,
    }
}

/// The URL in the options of Node's requests.
fn host_option(value: &SharedValue) -> Option<SharedValue> {
    let host = value.entry("hostname").or_else(|| value.entry("host"))?;
    let scheme = Value::text("https://");
    let port = value
        .entry("port")
        .and_then(|port| port.constant())
        .filter(|port| !matches!(*port, "443" | "80"))
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    let host = host.first_text().filter(|_| !host.is_open).unwrap_or("\u{fffc}");
    Some(Value::text(&format!("{}{host}{port}", scheme.first_text().unwrap_or(""))))
}

fn connect_address(run: &mut SourceRun<'_, '_>, arguments: &Arguments, span: Span) -> SharedValue {
    let first = arguments.at(0);
    let (host, port) = match first.items.as_slice() {
        [host, port, ..] => (Rc::clone(host), Some(Rc::clone(port))),
        _ => match first.entry("host") {
            Some(host) => (Rc::clone(host), first.entry("port").cloned()),
            None => (first, arguments.values.get(1).cloned()),
        },
    };
    let host_text = host.first_text().filter(|_| !host.is_open).unwrap_or("\u{fffc}").to_owned();
    let port = port.and_then(|port| port.constant().map(str::to_owned)).filter(|port| port.parse::<u16>().is_ok());
    let address = match port.as_deref() {
        Some("443" | "80") | None => host_text,
        Some(port) => format!("{host_text}:{port}"),
    };
    let target = Value::text(&address);
    let response = run.scanner.connect(&target, run.place, span);
    let mut taints = Vec::new();
    arguments.all().for_each(|value| add_taints(&mut taints, &value.taints));
    run.scanner.send(&target, &taints, &[], run.place, span);
    response
}

/// Follows a request: what goes into its body and its headers, and what comes back.
fn request(
    run: &mut SourceRun<'_, '_>,
    url: &SharedValue,
    arguments: &Arguments,
    options_from: usize,
    span: Span,
) -> SharedValue {
    let options = host_option(url);
    let url = match (&options, url.entry("url")) {
        (_, Some(inner)) => Rc::clone(inner),
        (Some(options), None) => Rc::clone(options),
        _ => Rc::clone(url),
    };
    let (mut body, mut headers) = (Vec::new(), Vec::new());
    for (name, value) in &arguments.named {
        if BODY_NAMES.contains(&name.as_str()) {
            add_taints(&mut body, &value.taints);
        } else if HEADER_NAMES.contains(&name.as_str()) {
            add_taints(&mut headers, &value.taints);
        }
    }
    for value in arguments.values.iter().skip(options_from) {
        let is_options = value.keys.iter().any(|key| {
            BODY_NAMES.contains(&&**key) || HEADER_NAMES.contains(&&**key) || matches!(&**key, "method" | "timeout")
        });
        if !is_options {
            add_taints(&mut body, &value.taints);
            continue;
        }
        for (key, item) in value.keys.iter().zip(&value.items) {
            if HEADER_NAMES.contains(&&**key) {
                add_taints(&mut headers, &item.taints);
            } else {
                add_taints(&mut body, &item.taints);
            }
        }
    }
    let response = run.scanner.connect(&url, run.place, span);
    run.scanner.send(&url, &body, &headers, run.place, span);
    response
}
