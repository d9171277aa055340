//! Sends a request a skill describes: to the hosts it may reach, and to nobody else.
//!
//! The rules for addresses are the gateway's: a name is resolved once, what it leads to is judged, and the address that was judged
//! is the one connected to. Proxies of the environment are not asked. Secrets are put in here and leave to the one server the
//! author named; what comes back is bounded, and is cleaned of them like the output of a tool.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rep_uasp::request::Request;

use crate::outcome::{self, Outcome, ToolError};
use crate::plan::{HostRule, Plan};
use rep_permissions::is_public;
use rep_permissions::redact::Redactor;
use rep_permissions::resolver::Resolver;
use rep_sandbox::{Cancel, Denial, Killed};

mod answer;
mod door;
mod exchange;
pub mod fetch;
pub mod model;

use answer::Answer;
use exchange::{Exchange, Sent};

/// How often it is looked whether somebody wants the end.
const TICK: Duration = Duration::from_millis(20);

/// Why there is no answer.
pub(super) struct Trouble {
    error: ToolError,
    denial: Option<Box<Denial>>,
    /// Whether nothing was sent yet.
    is_unsent: bool,
}

impl Trouble {
    fn new(code: &str, message: impl Into<String>) -> Self {
        Self { error: ToolError::new(code, message), denial: None, is_unsent: false }
    }

    fn retriable(mut self) -> Self {
        self.error.is_retriable = true;
        self
    }

    fn unsent(mut self) -> Self {
        self.is_unsent = true;
        self
    }

    /// A connection the declarations do not allow; `suggested` is the host whose declaration would.
    fn denied(message: String, host: &str, port: u16, suggested: &str) -> Self {
        let rule = |host: &str| HostRule { host: host.to_owned(), port: Some(port) }.to_string();
        let suggestion = HostRule::parse(&rule(suggested)).ok().map(|rule| format!("network.outbound: \"{rule}\""));
        let mut error = ToolError::new("PERMISSION_DENIED", message);
        if let Some(suggestion) = &suggestion {
            error = error.with("remedy", format!("to allow it: {suggestion}"));
        }
        Self {
            error,
            denial: Some(Box::new(Denial { action: "connect", target: rule(host), suggestion })),
            is_unsent: true,
        }
    }
}

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
    let ended = awaited(plan, sent, resolver, cancel, start);
    let duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    match ended {
        Ended::Answered(answer) => outcome::answered(plan, answer.reply(), Vec::new(), None, duration_ms, redactor),
        Ended::Troubled(trouble) if trouble.is_unsent && trouble.denial.is_some() => {
            let denials = trouble.denial.into_iter().map(|denial| *denial).collect();
            Outcome { denials, ..Outcome::refused(super::clean(trouble.error, redactor)) }
        }
        Ended::Troubled(trouble) => {
            let denials = trouble.denial.into_iter().map(|denial| *denial).collect();
            outcome::answered(plan, Err(trouble.error), denials, None, duration_ms, redactor)
        }
        Ended::Stopped(killed) => {
            let error = outcome::ended_by_us(plan, killed);
            outcome::answered(plan, Err(error), Vec::new(), Some(killed), duration_ms, redactor)
        }
    }
}

/// Puts the secrets in, where they may go.
fn prepared(plan: &Plan, request: &Request, secrets: &[(String, String)]) -> Result<Sent, ToolError> {
    let value = |name: &str| secrets.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let origin = &request.origin;
    if !plan.permissions.outbound.iter().any(|rule| rule.fits(&origin.host, origin.port)) {
        let message = format!("`{}` may not reach `{origin}`", plan.skill);
        let remedy = format!("its author can declare it: network.outbound: \"{}:{}\"", origin.host, origin.port);
        return Err(ToolError::new("PERMISSION_DENIED", message).with("remedy", remedy));
    }
    let is_near = origin.host == "localhost" || origin.host.parse().is_ok_and(|address| !is_public(address));
    let holds = request.secrets.iter().find(|(name, _)| value(name).is_some());
    if let Some((name, _)) = holds.filter(|_| !origin.is_encrypted && !is_near) {
        let message = format!("the secret `{name}` is not sent to `{origin}` where everybody on the way could read it");
        return Err(ToolError::new("PERMISSION_DENIED", message).with("remedy", "use `https`"));
    }
    let Some(filled) = request.filled(value) else {
        let names: Vec<&str> = request.secrets.iter().map(|(name, _)| name.as_str()).collect();
        let message = format!("one of the secrets {} is not there, or holds a control character", names.join(", "));
        return Err(ToolError::new("SECRET_MISSING", message).with("remedy", "`rep secrets set NAME` keeps one"));
    };
    let is_held = |name: &str| {
        let of = |(known, pieces): &&(String, Vec<_>)| {
            known == name && pieces.iter().any(|piece: &rep_uasp::request::Piece| piece.secret().is_some())
        };
        request.headers.iter().any(|header| of(&header))
    };
    let headers = filled.headers.into_iter().map(|(name, value)| (is_held(&name), name, value));
    Ok(Sent {
        method: request.method,
        url: filled.url,
        headers: headers.map(|(is_secret, name, value)| exchange::Header { name, value, is_secret }).collect(),
        body: filled.body,
        has_secret_body: request.body.iter().flatten().any(|piece| piece.secret().is_some()),
        is_idempotent: request.is_idempotent,
    })
}

/// How the wait for an answer ended.
enum Ended {
    Answered(Answer),
    Troubled(Trouble),
    Stopped(Killed),
}

/// Sends in a thread of its own and waits, for as long as it may take and nobody wants the end. Then every connection is shut;
/// what the system's resolver holds on to has nothing of the request, and ends when it gives up.
fn awaited(plan: &Plan, sent: Sent, resolver: Resolver, cancel: &Cancel, start: Instant) -> Ended {
    let until = start + Duration::from_millis(plan.limits.timeout_ms);
    let exchange = Exchange::new(&plan.permissions.outbound, resolver, plan.limits.output_bytes, until);
    let agent = exchange.agent.clone();
    let (say, hear) = channel();
    // Dropped when the wait is over, which wakes whoever waits for another try.
    let (_stop, stopped) = channel();
    let thread = thread::Builder::new().name("rep-request".to_owned()).spawn(move || {
        // Whoever asked may be gone, which is how an end is.
        let _ = say.send(exchange.run(sent, &stopped));
    });
    if let Err(error) = thread {
        return Ended::Troubled(Trouble::new("RUNTIME_UNAVAILABLE", error.to_string()));
    }
    loop {
        match hear.recv_timeout(TICK) {
            Ok(Ok(answer)) => return Ended::Answered(answer),
            Ok(Err(trouble)) => return Ended::Troubled(trouble),
            Err(RecvTimeoutError::Disconnected) => {
                return Ended::Troubled(Trouble::new("INVALID_RESPONSE", "the answer could not be read"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let killed = match () {
            () if cancel.is_cancelled() => Killed::Cancelled,
            () if Instant::now() >= until => Killed::Timeout,
            () => continue,
        };
        agent.shutdown();
        return Ended::Stopped(killed);
    }
}

#[cfg(test)]
mod tests;
