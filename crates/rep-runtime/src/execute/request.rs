//! Sends a request a skill describes: to the hosts it may reach, and to nobody else.
//!
//! The rules for addresses are the gateway's: a name is resolved once, what it leads to is judged, and the address that was judged
//! is the one connected to. Proxies of the environment are not asked. Secrets are put in here and leave to the one server the
//! author named; what comes back is bounded, and is cleaned of them like the output of a tool.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rep_net::{Header, HttpAnswer, NetError, OutgoingRequest, SendOptions, SendOutcome};
use rep_permissions::{Redactor, Resolver, is_public};
use rep_sandbox::{Cancel, Denial, Killed};
use serde_json::{Map, Value, json};

use crate::error::ErrorCode;
use crate::outcome::{self, Outcome, ToolError};
use crate::plan::Plan;
use crate::request::{Piece, Request};

/// Sends a request, and says what came of it.
pub(super) fn send(
    plan: &Plan,
    request: &Request,
    secrets: &[(String, String)],
    resolver: Resolver,
    cancel: &Cancel,
    redactor: &Redactor,
) -> Outcome {
    let sent = match prepared(plan, request, secrets) {
        Ok(sent) => sent,
        Err(error) => return Outcome::refused(super::clean(error, redactor)),
    };
    let start = Instant::now();
    let options = SendOptions {
        rules: &plan.permissions.outbound,
        resolver,
        bytes_max: plan.limits.output_bytes,
        timeout: Duration::from_millis(plan.limits.timeout_ms),
    };
    let ended = rep_net::send(sent, &options, &|| cancel.is_cancelled());
    let duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let stopped = |killed: Killed| {
        let error = outcome::ended_by_us(plan, killed);
        outcome::answered(plan, Err(error), Vec::new(), Some(killed), duration_ms, redactor)
    };
    match ended {
        SendOutcome::Answered(answer) => {
            outcome::answered(plan, reply(&answer), Vec::new(), None, duration_ms, redactor)
        }
        SendOutcome::Failed(error) => {
            let is_refused = error.is_unsent && error.denied.is_some();
            let (error, denials) = failed(error);
            if is_refused {
                Outcome { denials, ..Outcome::refused(super::clean(error, redactor)) }
            } else {
                outcome::answered(plan, Err(error), denials, None, duration_ms, redactor)
            }
        }
        SendOutcome::Cancelled => stopped(Killed::Cancelled),
        SendOutcome::TimedOut => stopped(Killed::Timeout),
    }
}

/// The error of an exchange that failed, and what was denied.
fn failed(error: NetError) -> (ToolError, Vec<Denial>) {
    let mut tool_error = ToolError::new(ErrorCode::from(error.code), error.message);
    tool_error.is_retriable = error.is_retriable;
    if let Some(remedy) = error.remedy {
        tool_error = tool_error.with("remedy", remedy);
    }
    let denial = |denied: rep_net::DeniedConnection| Denial {
        action: "connect",
        target: denied.target,
        suggestion: denied.suggestion,
    };
    (tool_error, error.denied.map(denial).into_iter().collect())
}

/// Puts the secrets in, where they may go.
fn prepared(plan: &Plan, request: &Request, secrets: &[(String, String)]) -> Result<OutgoingRequest, ToolError> {
    let value = |name: &str| secrets.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let origin = &request.origin;
    if !plan.permissions.outbound.iter().any(|rule| rule.fits(&origin.host, origin.port)) {
        let message = format!("`{}` may not reach `{origin}`", plan.skill);
        let remedy = format!("its author can declare it: network.outbound: \"{}:{}\"", origin.host, origin.port);
        return Err(ToolError::new(ErrorCode::PermissionDenied, message).with("remedy", remedy));
    }
    let is_near = origin.host == "localhost" || origin.host.parse().is_ok_and(|address| !is_public(address));
    let holds = request.secrets.iter().find(|(name, _)| value(name).is_some());
    if let Some((name, _)) = holds.filter(|_| !origin.is_encrypted && !is_near) {
        let message = format!("the secret `{name}` is not sent to `{origin}` where everybody on the way could read it");
        return Err(ToolError::new(ErrorCode::PermissionDenied, message).with("remedy", "use `https`"));
    }
    let Some(filled) = request.filled(value) else {
        let names: Vec<&str> = request.secrets.iter().map(|(name, _)| name.as_str()).collect();
        let message = format!("one of the secrets {} is not there, or holds a control character", names.join(", "));
        return Err(
            ToolError::new(ErrorCode::SecretMissing, message).with("remedy", "`rep secrets set NAME` keeps one")
        );
    };
    let is_held = |name: &str| {
        let of = |(known, pieces): &&(String, Vec<_>)| {
            known == name && pieces.iter().any(|piece: &Piece| piece.secret().is_some())
        };
        request.headers.iter().any(|header| of(&header))
    };
    let headers = filled.headers.into_iter().map(|(name, value)| (is_held(&name), name, value));
    Ok(OutgoingRequest {
        method: request.method,
        url: filled.url,
        headers: headers.map(|(is_secret, name, value)| Header { name, value, is_secret }).collect(),
        body: filled.body,
        has_secret_body: request.body.iter().flatten().any(|piece| piece.secret().is_some()),
        is_idempotent: request.is_idempotent,
    })
}

/// The result of the command, or its error: a status from 400 on is one.
fn reply(answer: &HttpAnswer) -> Result<Value, ToolError> {
    let (text, body, note) = content(answer);
    let mut response = Map::new();
    response.insert("status".to_owned(), answer.status.into());
    response.insert("headers".to_owned(), json!(answer.headers()));
    response.insert("body".to_owned(), body);
    if let Some(note) = note {
        response.insert("note".to_owned(), note.into());
    }
    if answer.status < 400 {
        return Ok(json!({ "stdout": text, "stderr": "", "returncode": 0, "response": response }));
    }
    let error = ToolError::new(ErrorCode::CommandFailed, format!("the server answered {}", answer.status));
    let error = if matches!(answer.status, 408 | 425 | 429 | 502..=504) { error.retriable() } else { error };
    Err(error.with("stdout", text).with("stderr", "").with("returncode", 1).with("response", response))
}

/// The body as text, as a value, and what is odd about it.
fn content(answer: &HttpAnswer) -> (String, Value, Option<String>) {
    if answer.body.is_empty() {
        return (String::new(), Value::Null, None);
    }
    let kind = answer.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = kind == "application/json" || kind.ends_with("+json");
    let text = std::str::from_utf8(&answer.body).ok().filter(|text| !text.contains('\0'));
    match text {
        Some(text) if is_json => match serde_json::from_str::<Value>(text) {
            Ok(value) => (text.to_owned(), value, None),
            Err(error) => {
                let note = format!("the body says that it is JSON, and is not: {error}");
                (text.to_owned(), text.into(), Some(note))
            }
        },
        Some(text) => (text.to_owned(), text.into(), None),
        None => {
            let coded = BASE64_STANDARD.encode(&answer.body);
            (coded.clone(), coded.into(), Some("the body is no text, and is shown in base64".to_owned()))
        }
    }
}
