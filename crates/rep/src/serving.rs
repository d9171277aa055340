//! What the server may run: tools and commands of skills, through the same runtime as `rep run` and `rep exec`.

use std::collections::BTreeSet;

use rep_library::Catalog;
use rep_runtime::{
    Answer, Audience, CallError, CallResult, CallTarget, CallerConsent, CommandInvocation, PlanBinding, Prompter,
    Question, Reply, Runtime, ToolCall, ToolKind,
};
use rep_sandbox::Cancel;
use rep_serve::{Asked, Call, Offer, Runs, Said, Stop, Talk};
use serde_json::{Value, json};

/// Runs tools and commands of the skills it was allowed.
pub(crate) struct Running {
    pub(crate) runtime: Runtime,
    /// The skills whose tools may run; all where it is empty.
    pub(crate) allowed: BTreeSet<String>,
    /// Hears what is not for clients.
    pub(crate) talk: Talk,
}

/// Hands every question out, if the client's user can be asked at all.
struct ClientPrompter {
    can_ask: bool,
}

impl Prompter for ClientPrompter {
    fn confirm(&self, _question: &Question) -> Answer {
        if self.can_ask {
            return Answer::Deferred;
        }
        let remedy = "use a client that can ask its user (elicitation), or have the server's page open in a browser";
        Answer::Unavailable { remedy: remedy.to_owned() }
    }
}

impl Runs for Running {
    fn offers(&self, catalog: &Catalog) -> Vec<Offer> {
        let listing = self.runtime.tools(catalog, &self.allowed);
        for fault in &listing.faults {
            (self.talk)(&format!("`{}:{}` is not listed: {}", fault.skill, fault.tool, fault.message));
        }
        let offer = |tool: rep_runtime::ToolDescriptor| Offer {
            name: tool.name,
            skill: tool.skill,
            tool: tool.tool,
            is_command: tool.kind == ToolKind::Command,
            listed: tool.definition,
        };
        listing.tools.into_iter().map(offer).collect()
    }

    fn call(&self, catalog: &Catalog, call: &Call, stop: &Stop) -> Said {
        let cancel = Cancel::default();
        let inside = cancel.clone();
        stop.when(move || inside.cancel());
        match self.called(catalog, call, &cancel) {
            Ok(CallResult::Finished(done)) => match done.outcome.reply {
                Reply::Result(_) | Reply::Task(_) => Said::Result(done.value()),
                Reply::Error(_) => Said::Error(done.value()),
            },
            Ok(CallResult::Deferred(deferred)) => {
                Said::Question { text: deferred.question(), mark: deferred.binding().as_str().to_owned() }
            }
            Err(error) => self.failed(&error),
        }
    }
}

impl Running {
    fn called(&self, catalog: &Catalog, call: &Call, cancel: &Cancel) -> Result<CallResult, CallError> {
        let mut input = call.input.clone();
        let target = if call.offer.is_command {
            let properties = &call.offer.listed["inputSchema"]["properties"];
            let key = if properties.get("rep_session").is_some() { "rep_session" } else { "session" };
            let named = input.shift_remove(key);
            let session = named.as_ref().and_then(Value::as_str).or(call.session.as_deref()).map(str::to_owned);
            let command = call.offer.tool.clone();
            CallTarget::Command(CommandInvocation {
                command,
                arguments: input,
                session,
                ..CommandInvocation::default()
            })
        } else {
            CallTarget::Tool { tool: call.offer.tool.clone(), input: Value::Object(input) }
        };
        let consent = match &call.asked {
            Asked::Agreed(mark) => CallerConsent::AgreedTo(PlanBinding::from_text(mark)),
            Asked::Nobody | Asked::Possible => CallerConsent::Ask,
        };
        let (skill, client) = (call.offer.skill.clone(), Some(call.who.clone()));
        let call_made = ToolCall { skill, target, consent, timeout_s: None, client };
        self.runtime.call(catalog, &call_made, &ClientPrompter { can_ask: call.asked == Asked::Possible }, cancel)
    }

    /// An error as clients see it: messages for the operator are reported to him alone.
    fn failed(&self, error: &CallError) -> Said {
        let is_hidden = error.audience == Audience::Operator;
        if is_hidden {
            (self.talk)(&format!("{}: {}", error.code, error.message));
        }
        let hidden = "the call could not be made on this server; its operator can see why";
        let message = if is_hidden { hidden } else { &error.message };
        let mut told = json!({ "code": error.code.as_str(), "message": message, "retriable": false });
        if let Some(remedy) = error.remedy.as_ref().filter(|_| !is_hidden) {
            told["remedy"] = remedy.clone().into();
        }
        Said::Error(json!({ "status": "error", "error": told }))
    }
}
