//! Asks the client for confirmation of a run.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rep_runtime::grant::RunConfirmation;
use rep_runtime::{Plan, Prompter, PrompterAnswer};
use rep_sandbox::Cancel;
use serde_json::{Value, json};

use crate::session::Session;

/// The maximum time to wait for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(10);
/// How often a waiting question looks whether its request was cancelled.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);

/// What a client does if a run needs confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApprovalMode {
    /// The client agrees with the request.
    Given,
    /// The client answers the request `confirm`.
    Asked,
    /// The client cannot be asked.
    Withheld,
}

/// Asks the client that made the request, if it can be asked.
pub(crate) struct ClientPrompter<'a> {
    pub(crate) session: &'a Arc<Session>,
    /// The id of the request that runs something.
    pub(crate) request: &'a Value,
    pub(crate) mode: ApprovalMode,
    pub(crate) cancel: &'a Cancel,
    pub(crate) wants_progress: bool,
}

impl ClientPrompter<'_> {
    fn ask(&self, question: &RunConfirmation) -> PrompterAnswer {
        let (sender, answers) = channel();
        let plan = question.plan();
        let id = self.session.expect_answer(sender);
        let params = json!({
            "request": self.request,
            "skill": plan.skill,
            "tool": plan.tool,
            "text": question.render_text(),
        });
        self.session.outbox().ask(&id, "confirm", &params);
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let answer = loop {
            match answers.recv_timeout(CANCEL_INTERVAL) {
                Ok(answer) => break answer,
                Err(RecvTimeoutError::Timeout) if !self.cancel.is_cancelled() && Instant::now() < deadline => {}
                Err(_) => break None,
            }
        };
        self.session.forget_question(&id);
        // Anything but a clear answer is a no.
        match answer.as_ref().and_then(|answer| answer.get("answer")).and_then(Value::as_str) {
            Some("yes") => PrompterAnswer::Yes,
            Some("always") => PrompterAnswer::Always,
            _ => PrompterAnswer::No,
        }
    }
}

impl Prompter for ClientPrompter<'_> {
    fn confirm(&self, question: &RunConfirmation) -> PrompterAnswer {
        if self.mode == ApprovalMode::Asked {
            return self.ask(question);
        }
        let remedy = "pass `approve`: true to agree, or \"ask\" to be asked";
        PrompterAnswer::Unavailable { remedy: remedy.to_owned() }
    }

    fn run_started(&self, plan: &Plan) {
        if self.wants_progress {
            let progress = json!({ "id": self.request, "state": "started", "skill": plan.skill, "tool": plan.tool });
            self.session.outbox().notify("progress", &progress);
        }
    }
}
