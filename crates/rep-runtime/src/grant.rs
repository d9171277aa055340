//! Decides whether a plan may run: it becomes a grant, a confirmation or a refusal.
//!
//! `Granted` has no public constructor: only `decide_plan` and an answer to a [`RunConfirmation`] create one,
//! and only a `Granted` can run. It stays inside this crate and includes whether the run is confined;
//! [`crate::Runtime`] is the entry point.

use std::collections::BTreeSet;

use rep_model::truncate::truncate_with_ellipsis;

use crate::approval::Approvals;
use crate::error::ErrorCode;
use crate::plan::{Confinement, Plan, Risk};
use rep_permissions::Policy;

/// How many lines of the author's text, and how much of the arguments, a confirmation shows.
const PROMPT_LINES_MAX: usize = 8;
const LINE_CHARS_MAX: usize = 300;

/// Whether the skill is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutionTrust {
    /// The skill is trusted.
    Trusted,
    /// The skill is not trusted, for this reason.
    Untrusted(String),
}

/// Where consent comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrantConsent {
    /// The user can be asked.
    Ask,
    /// Consent was given with the call (`--yes`).
    Given,
}

/// The context of a decision besides the plan.
#[derive(Clone, Debug)]
pub(crate) struct GrantContext<'a> {
    /// Whether the skill is trusted.
    pub trust: ExecutionTrust,
    /// The names of the secrets that have a value.
    pub secrets: BTreeSet<String>,
    /// Where consent comes from.
    pub consent: GrantConsent,
    /// Earlier approvals.
    pub approvals: &'a Approvals,
}

/// The decision about a plan.
#[derive(Debug)]
pub(crate) enum GrantDecision {
    /// The plan may run.
    Granted(Granted),
    /// The plan needs confirmation first.
    Ask(RunConfirmation),
    /// The plan may not run.
    Refused(RunRefusal),
}

/// How a grant was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrantOrigin {
    /// Nothing in the plan needs confirmation.
    NoConsentNeeded,
    /// The same plan was approved before.
    PriorApproval,
    /// Consent was given with the call.
    CallerConsent,
    /// The user was asked and agreed.
    Confirmation,
}

impl GrantOrigin {
    /// Returns the word used in records.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            GrantOrigin::NoConsentNeeded => "unasked",
            GrantOrigin::PriorApproval => "remembered",
            GrantOrigin::CallerConsent => "given",
            GrantOrigin::Confirmation => "answered",
        }
    }
}

/// A plan that the policy allows.
#[derive(Debug)]
pub(crate) struct Granted {
    // Private and set only in this module, so no other code can create a grant.
    plan: Plan,
    origin: GrantOrigin,
}

impl Granted {
    /// Returns the plan that may run.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns whether the sandbox confines the run. This is part of the grant and cannot change afterwards.
    pub(crate) fn confinement(&self) -> Confinement {
        self.plan.confinement
    }

    /// Returns how the grant was obtained.
    pub(crate) fn origin(&self) -> GrantOrigin {
        self.origin
    }

    /// Returns the refusal if the policy, the trust or the secrets changed after the user was asked.
    pub(crate) fn check_still_permitted(
        &self,
        policy: &Policy,
        trust: &ExecutionTrust,
        secrets: &BTreeSet<String>,
    ) -> Result<(), RunRefusal> {
        check_permitted(policy, &self.plan, trust, secrets)
    }
}

/// The reason why a run is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RunRefusal {
    /// The code for programs.
    pub code: ErrorCode,
    /// What denies the run.
    pub message: String,
    /// What would allow it.
    pub remedy: String,
}

/// A confirmation that a run needs before it starts.
#[derive(Debug)]
pub struct RunConfirmation {
    plan: Plan,
    risks: BTreeSet<Risk>,
}

/// Decides whether a plan may run. The strictest answer wins.
pub(crate) fn decide_plan(policy: &Policy, mut plan: Plan, context: &GrantContext<'_>) -> GrantDecision {
    if let Err(refusal) = check_permitted(policy, &plan, &context.trust, &context.secrets) {
        return GrantDecision::Refused(refusal);
    }
    let risks = plan.effective_risks();
    if risks.is_empty() {
        return GrantDecision::Granted(Granted { plan, origin: GrantOrigin::NoConsentNeeded });
    }
    if context.approvals.is_approved(&plan) {
        if let Some(definition) = context.approvals.find_definition(&plan) {
            plan.require_definition(definition);
        }
        return GrantDecision::Granted(Granted { plan, origin: GrantOrigin::PriorApproval });
    }
    match context.consent {
        GrantConsent::Given => GrantDecision::Granted(Granted { plan, origin: GrantOrigin::CallerConsent }),
        GrantConsent::Ask => GrantDecision::Ask(RunConfirmation { plan, risks }),
    }
}

/// Returns the refusal that no confirmation can override.
fn check_permitted(
    policy: &Policy,
    plan: &Plan,
    trust: &ExecutionTrust,
    secrets: &BTreeSet<String>,
) -> Result<(), RunRefusal> {
    let refuse = |code, message: String, remedy: &str| Err(RunRefusal { code, message, remedy: remedy.to_owned() });
    if let Some(message) = policy.find_objection(&plan.skill, &plan.permissions) {
        return refuse(ErrorCode::PolicyDenied, message, "to allow it, change `policy.deny` in rep.yaml");
    }
    if let ExecutionTrust::Untrusted(reason) = trust {
        let message = format!("the skill `{}` is not trusted: {reason}", plan.skill);
        return refuse(ErrorCode::Untrusted, message, "review it, then run `rep trust`");
    }
    if let Some(refusal) = plan.refuse_unreachable_host() {
        return Err(refusal);
    }
    let missing = plan.secrets.iter().find(|need| !need.is_optional && !secrets.contains(&need.name));
    if let Some(need) = missing {
        let message = format!("`{}` needs the secret `{}`, which is not set", plan.skill, need.name);
        let remedy = format!(
            "run `rep secrets set {0}`, or set {0} in the environment; `rep secrets list` shows the skills of each",
            need.name
        );
        return refuse(ErrorCode::SecretMissing, message, &remedy);
    }
    Ok(())
}

/// Truncates a text for a confirmation.
fn truncate_line(text: &str) -> String {
    truncate_with_ellipsis(text, LINE_CHARS_MAX).into_owned()
}

fn join_risk_names(risks: &BTreeSet<Risk>) -> String {
    risks.iter().map(|risk| risk.name()).collect::<Vec<_>>().join(", ")
}

impl RunConfirmation {
    /// Returns the plan to confirm.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the kinds of action that need confirmation.
    pub fn risks(&self) -> &BTreeSet<Risk> {
        &self.risks
    }

    /// Renders the confirmation: the author's text and what the run may do. The author's text is untrusted;
    /// the caller must sanitize it before printing.
    pub fn render_text(&self) -> String {
        let mut text = format!("run `{}` of `{}`?\n", self.plan.tool, self.plan.skill);
        // A long prompt must not scroll the permissions out of sight.
        for line in self.plan.prompt.iter().flat_map(|prompt| prompt.lines()).take(PROMPT_LINES_MAX) {
            text.push_str(&format!("  its author says: {}\n", truncate_line(line)));
        }
        if self.plan.input.as_object().is_none_or(|input| !input.is_empty()) {
            text.push_str(&format!("  gets the arguments {}\n", truncate_line(&self.plan.input.to_string())));
        }
        for line in self.plan.describe_lines() {
            text.push_str(&format!("  {line}\n"));
        }
        text
    }

    /// Turns the confirmation into a grant: the user agreed.
    pub(crate) fn into_grant(self) -> Granted {
        Granted { plan: self.plan, origin: GrantOrigin::Confirmation }
    }

    /// Turns the confirmation into a refusal: the user declined.
    pub(crate) fn into_declined(self) -> RunRefusal {
        RunRefusal {
            code: ErrorCode::Declined,
            message: format!("`{}:{}` was not run: confirmation was declined", self.plan.skill, self.plan.tool),
            remedy: "nothing was started".to_owned(),
        }
    }

    /// Turns the confirmation into a refusal: no prompt is available. `remedy` tells the user what would
    /// help.
    pub(crate) fn into_unanswerable(self, remedy: String) -> RunRefusal {
        RunRefusal {
            code: ErrorCode::ConfirmationRequired,
            message: format!(
                "`{}:{}` needs confirmation ({}), and no prompt is available",
                self.plan.skill,
                self.plan.tool,
                join_risk_names(&self.risks)
            ),
            remedy,
        }
    }
}
