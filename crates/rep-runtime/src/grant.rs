//! Who may run what: a plan becomes a grant, a question or a refusal.
//!
//! `Granted` has no constructor: only `decide` and an answer to a [`Question`] make one, and only a `Granted` can run. It stays
//! inside this crate, together with whether the run is confined; [`crate::Runtime`] is the way in.

use std::collections::BTreeSet;

use rep_model::truncate::ellipsize;

use crate::approval::Approvals;
use crate::error::ErrorCode;
use crate::plan::{Confinement, Plan, Risk};
use rep_permissions::Policy;

/// How much of the author's words, and of the arguments, a question shows.
const PROMPT_LINES_MAX: usize = 8;
const LINE_LETTERS_MAX: usize = 300;

/// Whether the skill is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It is.
    Trusted,
    /// It is not, for this reason.
    Untrusted(String),
}

/// Who could answer a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Somebody is there to be asked.
    Ask,
    /// It was given with the call (`--yes`).
    Given,
}

/// What is known about a call besides its plan.
#[derive(Clone, Debug)]
pub(crate) struct Context<'a> {
    /// Whether the skill is trusted.
    pub trust: Trust,
    /// The names of the secrets that are at hand.
    pub secrets: BTreeSet<String>,
    /// Who could answer.
    pub consent: Consent,
    /// What was approved before.
    pub approvals: &'a Approvals,
}

/// What the policy says to a plan.
#[derive(Debug)]
pub(crate) enum Decision {
    /// It may run.
    Granted(Granted),
    /// Somebody must agree first.
    Ask(Question),
    /// It may not.
    Refused(Refusal),
}

/// How a grant came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Nothing in it wants consent.
    Unasked,
    /// The same was approved before.
    Remembered,
    /// Consent came with the call.
    Given,
    /// Somebody was asked and agreed.
    Answered,
}

impl How {
    /// The word in records.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            How::Unasked => "unasked",
            How::Remembered => "remembered",
            How::Given => "given",
            How::Answered => "answered",
        }
    }
}

/// A plan the policy allows.
#[derive(Debug)]
pub(crate) struct Granted {
    // Private, and filled in this module alone: there is no other door.
    plan: Plan,
    how: How,
}

impl Granted {
    /// What may run.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether the sandbox confines the run. Part of the grant, and not to be changed after it.
    pub(crate) fn confinement(&self) -> Confinement {
        self.plan.confinement
    }

    /// How it came about.
    pub(crate) fn how(&self) -> How {
        self.how
    }

    /// What is against the run by now: the policy, the trust and the secrets may have changed since somebody was asked.
    pub(crate) fn still_permitted(
        &self,
        policy: &Policy,
        trust: &Trust,
        secrets: &BTreeSet<String>,
    ) -> Result<(), Refusal> {
        permits(policy, &self.plan, trust, secrets)
    }
}

/// Why a run is refused, in words for people and a word for programs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The word for programs.
    pub code: ErrorCode,
    /// What stands against it.
    pub message: String,
    /// What would allow it.
    pub remedy: String,
}

/// What somebody must agree to before a run.
#[derive(Debug)]
pub struct Question {
    plan: Plan,
    risks: BTreeSet<Risk>,
}

/// Decides over a plan. The strictest answer wins.
pub(crate) fn decide(policy: &Policy, plan: Plan, context: &Context<'_>) -> Decision {
    if let Err(refusal) = permits(policy, &plan, &context.trust, &context.secrets) {
        return Decision::Refused(refusal);
    }
    let risks = plan.risks();
    if risks.is_empty() {
        return Decision::Granted(Granted { plan, how: How::Unasked });
    }
    if context.approvals.holds(&plan) {
        return Decision::Granted(Granted { plan, how: How::Remembered });
    }
    match context.consent {
        Consent::Given => Decision::Granted(Granted { plan, how: How::Given }),
        Consent::Ask => Decision::Ask(Question { plan, risks }),
    }
}

/// What stands against a run, whoever agrees to it.
fn permits(policy: &Policy, plan: &Plan, trust: &Trust, secrets: &BTreeSet<String>) -> Result<(), Refusal> {
    let refuse = |code, message: String, remedy: &str| Err(Refusal { code, message, remedy: remedy.to_owned() });
    if let Some(message) = policy.objection(&plan.skill, &plan.permissions) {
        return refuse(ErrorCode::PolicyDenied, message, "its operator can change `policy.deny` in rep.yaml");
    }
    if let Trust::Untrusted(reason) = trust {
        let message = format!("the skill `{}` is not trusted: {reason}", plan.skill);
        return refuse(ErrorCode::Untrusted, message, "look at it, then `rep trust`");
    }
    if let Some(refusal) = plan.unreachable() {
        return Err(refusal);
    }
    let missing = plan.secrets.iter().find(|need| !need.is_optional && !secrets.contains(&need.name));
    if let Some(need) = missing {
        let message = format!("`{}` needs the secret `{}`, which is not there", plan.skill, need.name);
        let remedy = format!(
            "`rep secrets set {0}` keeps it, or set {0} in the environment; `rep secrets list` says for whom one is kept",
            need.name
        );
        return refuse(ErrorCode::SecretMissing, message, &remedy);
    }
    Ok(())
}

/// A text as far as a question shows it.
fn cut(text: &str) -> String {
    ellipsize(text, LINE_LETTERS_MAX).into_owned()
}

fn words(risks: &BTreeSet<Risk>) -> String {
    risks.iter().map(|risk| risk.name()).collect::<Vec<_>>().join(", ")
}

impl Question {
    /// The plan in question.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The kinds of action that want consent.
    pub fn risks(&self) -> &BTreeSet<Risk> {
        &self.risks
    }

    /// The question in words: what the author says, what the run may do. The author's words are text by a stranger; whoever
    /// prints this makes them harmless.
    pub fn text(&self) -> String {
        let mut text = format!("run `{}` of `{}`?\n", self.plan.tool, self.plan.skill);
        // A long prompt must not push what the run may do out of sight.
        for line in self.plan.prompt.iter().flat_map(|prompt| prompt.lines()).take(PROMPT_LINES_MAX) {
            text.push_str(&format!("  its author says: {}\n", cut(line)));
        }
        if self.plan.input.as_object().is_none_or(|input| !input.is_empty()) {
            text.push_str(&format!("  gets the arguments {}\n", cut(&self.plan.input.to_string())));
        }
        for line in self.plan.in_words() {
            text.push_str(&format!("  {line}\n"));
        }
        text
    }

    /// Makes a grant of it: somebody agreed.
    pub(crate) fn accept(self) -> Granted {
        Granted { plan: self.plan, how: How::Answered }
    }

    /// Makes a refusal of it: somebody disagreed.
    pub(crate) fn decline(self) -> Refusal {
        Refusal {
            code: ErrorCode::Declined,
            message: format!("`{}:{}` was not run: consent was refused", self.plan.skill, self.plan.tool),
            remedy: "nothing was started".to_owned(),
        }
    }

    /// Makes a refusal of it: nobody can be asked. The remedy says what would help.
    pub(crate) fn unanswerable(self, remedy: String) -> Refusal {
        Refusal {
            code: ErrorCode::ConfirmationRequired,
            message: format!(
                "`{}:{}` wants consent ({}), and nobody can be asked",
                self.plan.skill,
                self.plan.tool,
                words(&self.risks)
            ),
            remedy,
        }
    }
}
