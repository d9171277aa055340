//! Sends a request that a skill describes, only to the hosts it may reach.
//!
//! The address rules are those of the gateway: a name is resolved once, the resulting address is checked, and
//! the checked address is the one connected to. Proxy variables are ignored. Secrets are inserted here and
//! sent only to the server that the author named. The response is bounded and redacted like the output of a
//! tool.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rep_net::{HttpHeader, HttpResponse, NetError, OutgoingRequest, SendOptions, SendOutcome};
use rep_permissions::{HostResolver, Redactor, is_public_address};
use rep_sandbox::{Cancel, Denial, KillReason};
use serde_json::{Map, Value, json};

use crate::error::ErrorCode;
use crate::outcome::{self, Outcome, ToolError};
use crate::plan::Plan;
use crate::request::{BoundRequest, RequestFragment};

/// Sends a request and returns its outcome.
pub(super) fn send_request(
    plan: &Plan,
    request: &BoundRequest,
    secrets: &[(String, String)],
    resolver: HostResolver,
    cancel: &Cancel,
    redactor: &Redactor,
) -> Outcome {
    let sent = match prepare_outgoing_request(plan, request, secrets) {
        Ok(sent) => sent,
        Err(error) => return Outcome::not_started(super::redact_error(error, redactor)),
    };
    let start = Instant::now();
    let options = SendOptions {
        rules: &plan.permissions.outbound,
        resolver,
        bytes_max: plan.limits.output_bytes,
        timeout: Duration::from_millis(plan.limits.timeout_ms),
    };
    let ended = rep_net::send_request(sent, &options, &|| cancel.is_cancelled());
    let duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let stopped = |killed: KillReason| {
        let error = outcome::kill_error(plan, killed);
        outcome::conclude_request(plan, Err(error), Vec::new(), Some(killed), duration_ms, redactor)
    };
    match ended {
        SendOutcome::Answered(answer) => {
            outcome::conclude_request(plan, build_reply(&answer), Vec::new(), None, duration_ms, redactor)
        }
        SendOutcome::Failed(error) => {
            let is_refused = error.is_unsent && error.denied.is_some();
            let (error, denials) = convert_net_error(error);
            if is_refused {
                Outcome { denials, ..Outcome::not_started(super::redact_error(error, redactor)) }
            } else {
                outcome::conclude_request(plan, Err(error), denials, None, duration_ms, redactor)
            }
        }
        SendOutcome::Cancelled => stopped(KillReason::Cancelled),
        SendOutcome::TimedOut => stopped(KillReason::Timeout),
    }
}

/// Converts the error of a failed exchange, and what was denied.
pub(super) fn convert_net_error(error: NetError) -> (ToolError, Vec<Denial>) {
    let mut tool_error = ToolError::new(ErrorCode::from(error.code), error.message);
    tool_error.is_retriable = error.is_retriable;
    if let Some(remedy) = error.remedy {
        tool_error = tool_error.with_detail("remedy", remedy);
    }
    let denial = |denied: rep_net::DeniedConnection| Denial {
        action: "connect",
        target: denied.target,
        suggestion: denied.suggestion,
    };
    (tool_error, error.denied.map(denial).into_iter().collect())
}

/// Inserts the secrets, if they may be sent.
fn prepare_outgoing_request(
    plan: &Plan,
    request: &BoundRequest,
    secrets: &[(String, String)],
) -> Result<OutgoingRequest, ToolError> {
    let value = |name: &str| secrets.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let origin = &request.origin;
    if !plan.permissions.outbound.iter().any(|rule| rule.matches(&origin.host, origin.port)) {
        let message = format!("`{}` may not reach `{origin}`", plan.skill);
        let remedy = format!("its author can allow it with network.outbound: \"{}:{}\"", origin.host, origin.port);
        return Err(ToolError::new(ErrorCode::PermissionDenied, message).with_detail("remedy", remedy));
    }
    let is_near = origin.host == "localhost" || origin.host.parse().is_ok_and(|address| !is_public_address(address));
    let holds = request.secrets.iter().find(|(name, _)| value(name).is_some());
    if let Some((name, _)) = holds.filter(|_| !origin.is_encrypted && !is_near) {
        let message = format!("the secret `{name}` is not sent to `{origin}` over an unencrypted connection");
        return Err(ToolError::new(ErrorCode::PermissionDenied, message).with_detail("remedy", "use `https`"));
    }
    let Some(filled) = request.fill_secrets(value) else {
        let names: Vec<&str> = request.secrets.iter().map(|(name, _)| name.as_str()).collect();
        let message = format!("one of the secrets {} is not set or contains a control character", names.join(", "));
        return Err(ToolError::new(ErrorCode::SecretMissing, message)
            .with_detail("remedy", "set it with `rep secrets set NAME`"));
    };
    let is_held = |name: &str| {
        let of = |(known, pieces): &&(String, Vec<_>)| {
            known == name && pieces.iter().any(|piece: &RequestFragment| piece.secret_name().is_some())
        };
        request.headers.iter().any(|header| of(&header))
    };
    let headers = filled.headers.into_iter().map(|(name, value)| (is_held(&name), name, value));
    Ok(OutgoingRequest {
        method: request.method,
        url: filled.url,
        headers: headers.map(|(is_secret, name, value)| HttpHeader { name, value, is_secret }).collect(),
        body: filled.body.map(String::into_bytes),
        has_secret_body: request.body.iter().flatten().any(|piece| piece.secret_name().is_some()),
        is_idempotent: request.is_idempotent,
    })
}

/// Returns the result of the command; a status of 400 or above is an error.
fn build_reply(answer: &HttpResponse) -> Result<Value, ToolError> {
    let (text, body, note) = decode_body(answer);
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
    Err(error
        .with_detail("stdout", text)
        .with_detail("stderr", "")
        .with_detail("returncode", 1)
        .with_detail("response", response))
}

/// Returns the body as text and as a value, with a note if it could not be decoded as declared.
fn decode_body(answer: &HttpResponse) -> (String, Value, Option<String>) {
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
                let note = format!("the body is declared as JSON but does not parse: {error}");
                (text.to_owned(), text.into(), Some(note))
            }
        },
        Some(text) => (text.to_owned(), text.into(), None),
        None => {
            let coded = BASE64_STANDARD.encode(&answer.body);
            (coded.clone(), coded.into(), Some("the body is not text and is shown in base64".to_owned()))
        }
    }
}
