//! Who may run what: a plan becomes a grant, a question or a refusal.
//!
//! [`Granted`] has no constructor: only [`decide`] and [`Question::answer`] make one, and only a [`Granted`] can run.
//!
//! ```compile_fail,E0451
//! # fn plan() -> rep_runtime::Plan { unimplemented!() }
//! let granted = rep_runtime::grant::Granted { plan: plan(), how: rep_runtime::grant::How::Unasked };
//! ```

use std::collections::BTreeSet;

use crate::approval::Approvals;
use crate::plan::{Plan, Risk};
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
pub enum Consent {
    /// Somebody is there to be asked.
    Ask,
    /// It was given with the call (`--yes`).
    Given,
    /// Nobody can be asked.
    Nobody,
}

/// What is known about a call besides its plan.
#[derive(Clone, Debug)]
pub struct Context<'a> {
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
pub enum Decision {
    /// It may run.
    Granted(Granted),
    /// Somebody must agree first.
    Ask(Question),
    /// It may not.
    Refused(Refusal),
}

/// How a grant came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
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
    pub const fn name(self) -> &'static str {
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
pub struct Granted {
    // Private, and filled in this module alone: there is no other door.
    plan: Plan,
    how: How,
}

impl Granted {
    /// What may run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How it came about.
    pub fn how(&self) -> How {
        self.how
    }
}

/// Why a run is refused, in words for people and a word for programs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The word for programs.
    pub code: &'static str,
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

/// An answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// Decides over a plan. The strictest answer wins.
pub fn decide(policy: &Policy, plan: Plan, context: &Context<'_>) -> Decision {
    if let Err(refusal) = permits(policy, &plan, context) {
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
        Consent::Nobody => Decision::Refused(Refusal {
            code: "CONFIRMATION_REQUIRED",
            message: format!(
                "`{}:{}` wants consent ({}), and nobody can be asked",
                plan.skill,
                plan.tool,
                words(&risks)
            ),
            remedy: "run it on a terminal, or give consent with --yes".to_owned(),
        }),
    }
}

/// What stands against a run, whoever agrees to it.
fn permits(policy: &Policy, plan: &Plan, context: &Context<'_>) -> Result<(), Refusal> {
    let refuse = |code, message: String, remedy: &str| Err(Refusal { code, message, remedy: remedy.to_owned() });
    if let Some(message) = policy.objection(&plan.skill, &plan.permissions) {
        return refuse("POLICY_DENIED", message, "its operator can change `policy.deny` in rep.yaml");
    }
    if let Trust::Untrusted(reason) = &context.trust {
        let message = format!("the skill `{}` is not trusted: {reason}", plan.skill);
        return refuse("UNTRUSTED", message, "look at it, then `rep trust`");
    }
    if let Some(refusal) = plan.unreachable() {
        return Err(refusal);
    }
    let missing = plan.secrets.iter().find(|need| !need.is_optional && !context.secrets.contains(&need.name));
    if let Some(need) = missing {
        let message = format!("`{}` needs the secret `{}`, which is not there", plan.skill, need.name);
        let remedy = format!(
            "`rep secrets set {0}` keeps it, or set {0} in the environment; `rep secrets list` says for whom one is kept",
            need.name
        );
        return refuse("SECRET_MISSING", message, &remedy);
    }
    Ok(())
}

/// A text as far as a question shows it.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LINE_LETTERS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
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

    /// Makes a grant or a refusal of an answer.
    pub fn answer(self, answer: Answer) -> Result<Granted, Refusal> {
        match answer {
            Answer::Yes => Ok(Granted { plan: self.plan, how: How::Answered }),
            Answer::No => Err(Refusal {
                code: "DECLINED",
                message: format!("`{}:{}` was not run: consent was refused", self.plan.skill, self.plan.tool),
                remedy: "nothing was started".to_owned(),
            }),
        }
    }
}
