//! What a skill's tools may do: one report, from which the terminal, JSON and the dashboard are rendered.
#![expect(clippy::disallowed_methods, reason = "the report counts the files of the workspace that the patterns match")]

use std::collections::VecDeque;
use std::path::Path;

use rep_permissions::Permissions;
use serde_json::{Value, json};

use super::Runtime;
use crate::access::{AccessContext, AccessRequest, AccessVerdict};
use crate::error::CallError;
use crate::executable_skill::{ExecutableSkill, tool_name};
use crate::grant::Trust;
use crate::plan::words::OWN;
use crate::plan::{Ignored, Limits, Plan, PlanError, Redaction, Risk, SecretNeed, declared};

/// How many files of a workspace are looked at, and how many are named.
const FILES_MAX: usize = 5000;
const FILES_NAMED: usize = 5;

/// Where a secret comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// The environment of the caller.
    Environment,
    /// The user's store.
    Stored,
    /// The user's store, but for other skills only.
    StoredForOthers,
    /// Nowhere.
    Missing,
}

impl SecretSource {
    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            SecretSource::Environment => "environment",
            SecretSource::Stored => "kept",
            SecretSource::StoredForOthers => "kept for other skills",
            SecretSource::Missing => "missing",
        }
    }
}

/// What one tool may do, or why it cannot be planned.
#[derive(Clone, Debug)]
pub struct ToolPolicy {
    /// The tool's name.
    pub name: String,
    /// Its plan with no arguments.
    pub plan: Result<ToolPlan, PlanError>,
}

/// What one tool does before and while it runs.
#[derive(Clone, Debug)]
pub struct ToolPlan {
    /// `python`, `node` or `bash`.
    pub runtime: Option<&'static str>,
    /// The file it starts with.
    pub entrypoint: Option<String>,
    /// How much it may use.
    pub limits: Limits,
    /// The kinds of action that need confirmation.
    pub asks: Vec<&'static str>,
    /// What the author's question says.
    pub prompt: Option<String>,
    /// Whether it was approved as it is.
    pub is_approved: bool,
}

/// What a skill may do in a workspace.
#[derive(Clone, Debug)]
pub struct SkillPolicy {
    /// The qualified name.
    pub skill: String,
    /// The digest of the directory.
    pub digest: String,
    /// Whether it is trusted.
    pub trust: Trust,
    /// What the operator denies of it, in words.
    pub denied: Option<String>,
    /// The directory that patterns are relative to.
    pub workspace: String,
    /// What it declares.
    pub permissions: Permissions,
    /// The kinds of action its author wants confirmed.
    pub confirm: Vec<Risk>,
    /// What must not leave a run.
    pub redaction: Redaction,
    /// The secrets it declares, and where each comes from.
    pub secrets: Vec<(SecretNeed, SecretSource)>,
    /// Declarations that grant nothing.
    pub ignored: Vec<Ignored>,
    /// Its tools.
    pub tools: Vec<ToolPolicy>,
}

/// A line of a policy in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyLine {
    /// The skill, or one of its tools: a heading.
    Heading(String),
    /// Something about it.
    Detail(String),
}

impl Runtime {
    /// What a skill's tools may do, or one of them if it is named by its position.
    pub fn policy_of(&self, skill: &ExecutableSkill, only: Option<usize>) -> Result<SkillPolicy, CallError> {
        let (front, tools) = skill.tools()?;
        let (permissions, ignored) = declared::permissions(front);
        let safety = declared::safety(front);
        let approvals = self.approvals()?;
        let needs = declared::secrets(front).unwrap_or_default();
        let secrets = needs.into_iter().map(|need| {
            let source = self.secret_source(&skill.name, &need)?;
            Ok((need, source))
        });
        let indexes = only.map_or_else(|| (0..tools.len()).collect(), |index| vec![index]);
        let tools = indexes.into_iter().map(|index| ToolPolicy {
            name: tool_name(&tools[index]).to_owned(),
            plan: skill.plan_tool(index, &self.options.workspace, json!({})).map(|plan| ToolPlan {
                runtime: plan.work.tool().map(|tool| tool.runtime.name()),
                entrypoint: plan.work.tool().map(|tool| tool.entrypoint.clone()),
                asks: risk_names(&plan),
                is_approved: approvals.holds(&plan),
                limits: plan.limits,
                prompt: plan.prompt,
            }),
        });
        Ok(SkillPolicy {
            skill: skill.name.clone(),
            digest: skill.digest.clone(),
            trust: skill.trust.clone(),
            denied: self.policy()?.objection(&skill.name, &permissions),
            workspace: self.options.workspace.display().to_string(),
            confirm: safety.confirm.iter().copied().collect(),
            redaction: safety.redaction,
            secrets: secrets.collect::<Result<_, CallError>>()?,
            tools: tools.collect(),
            permissions,
            ignored,
        })
    }

    /// Whether a skill may do one thing, as a run of it would find out.
    pub fn may(&self, skill: &ExecutableSkill, request: &AccessRequest) -> Result<AccessVerdict, CallError> {
        let (front, _) = skill.tools()?;
        let (permissions, _) = declared::permissions(front);
        let denied = |by: &str, why: String| AccessVerdict { is_allowed: false, by: by.to_owned(), why };
        Ok(match (&skill.trust, self.policy()?.objection(&skill.name, &permissions)) {
            (_, Some(why)) => denied("policy.deny", why),
            (Trust::Untrusted(reason), None) => denied("trust", format!("the skill is not trusted: {reason}")),
            (Trust::Trusted, None) => {
                let workspace = &self.options.workspace;
                AccessContext { permissions: &permissions, workspace, folder: &skill.folder }.answer(request)
            }
        })
    }

    /// Which files of the workspace a skill's patterns match now, a line each for reading and writing.
    pub fn matching_files(&self, skill: &ExecutableSkill) -> Result<Vec<String>, CallError> {
        let (front, _) = skill.tools()?;
        let (permissions, _) = declared::permissions(front);
        let workspace = &self.options.workspace;
        let context = AccessContext { permissions: &permissions, workspace, folder: &skill.folder };
        Ok(matching_lines(&context))
    }

    fn secret_source(&self, skill: &str, need: &SecretNeed) -> Result<SecretSource, CallError> {
        if self.variable(&need.name).is_some_and(|value| !value.is_empty()) {
            return Ok(SecretSource::Environment);
        }
        let Ok(stored) = self.stored_secrets() else { return Ok(SecretSource::Missing) };
        let listed = stored.list()?.into_iter().find(|listed| listed.name == need.name);
        Ok(match listed {
            Some(listed) if listed.is_for(skill) => SecretSource::Stored,
            Some(_) => SecretSource::StoredForOthers,
            None => SecretSource::Missing,
        })
    }
}

impl SkillPolicy {
    /// The policy as JSON.
    pub fn to_json(&self) -> Value {
        let secrets = self.secrets.iter().map(
            |(need, source)| json!({ "name": need.name, "optional": need.is_optional, "source": source.as_str() }),
        );
        json!({
            "skill": self.skill,
            "digest": self.digest,
            "trusted": self.trust == Trust::Trusted,
            "denied": self.denied,
            "workspace": self.workspace,
            "permissions": self.permissions.to_json(),
            "confirm": self.confirm.iter().map(|risk| risk.name()).collect::<Vec<_>>(),
            "redact": { "secrets": self.redaction.secrets, "pii": self.redaction.pii },
            "secrets": secrets.collect::<Vec<Value>>(),
            "ignored": self.ignored.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "tools": self.tools.iter().map(ToolPolicy::to_json).collect::<Vec<Value>>(),
        })
    }

    /// The policy in words: the skill, what holds for all of it, then each tool. `more` comes behind what holds for all of it.
    pub fn lines(&self, more: &[String]) -> Vec<PolicyLine> {
        let mut lines = vec![PolicyLine::Heading(self.skill.clone())];
        let mut detail = |words: String| lines.push(PolicyLine::Detail(words));
        if let Trust::Untrusted(reason) = &self.trust {
            detail(format!("runs nothing: it is not trusted, {reason}"));
        }
        if let Some(objection) = &self.denied {
            detail(format!("runs nothing: {objection}"));
        }
        self.permissions.in_words(OWN, &self.workspace).into_iter().for_each(&mut detail);
        for (need, source) in &self.secrets {
            let place = match source {
                SecretSource::Environment => "from the environment",
                SecretSource::Stored => "from the secrets that are kept",
                SecretSource::StoredForOthers => "which is kept for other skills alone",
                SecretSource::Missing if need.is_optional => "which is not there, and not needed",
                SecretSource::Missing => "which is not there, so that it does not run",
            };
            detail(format!("gets the secret {}, {place}", need.name));
        }
        self.ignored.iter().map(ToString::to_string).chain(more.iter().cloned()).for_each(&mut detail);
        for tool in &self.tools {
            lines.push(PolicyLine::Heading(format!("{}:{}", self.skill, tool.name)));
            lines.push(PolicyLine::Detail(tool.in_words()));
        }
        lines
    }
}

impl ToolPolicy {
    fn to_json(&self) -> Value {
        match &self.plan {
            Ok(plan) => json!({
                "name": self.name,
                "runtime": plan.runtime,
                "entrypoint": plan.entrypoint,
                "limits": plan.limits.to_json(),
                "asks": plan.asks,
                "prompt": plan.prompt,
                "approved": plan.is_approved,
            }),
            Err(error) => json!({
                "name": self.name,
                "error": { "field": error.field, "message": error.to_string(), "remedy": error.remedy },
            }),
        }
    }

    fn in_words(&self) -> String {
        match &self.plan {
            Ok(plan) => {
                let words = match plan.asks.as_slice() {
                    [] => "runs without a question".to_owned(),
                    asks if plan.is_approved => format!("was approved as it is ({})", asks.join(", ")),
                    asks => format!("asks before it runs ({})", asks.join(", ")),
                };
                format!("{words}, for {} s at most", plan.limits.timeout_ms / 1000)
            }
            Err(error) => format!("does not run: {error}; {}", error.remedy),
        }
    }
}

fn risk_names(plan: &Plan) -> Vec<&'static str> {
    plan.risks().iter().map(|risk| risk.name()).collect()
}

/// Which files of the workspace the patterns match now, a line each for reading and writing.
fn matching_lines(context: &AccessContext<'_>) -> Vec<String> {
    let globs = [
        ("read", context.permissions.read.is_empty(), AccessRequest::Read as fn(String) -> AccessRequest),
        ("change", context.permissions.write.is_empty(), AccessRequest::Write),
    ];
    if globs.iter().all(|(_, is_empty, _)| *is_empty) {
        return Vec::new();
    }
    let (mut files, is_all) = files_below(context.workspace);
    // Its own files are reported apart.
    files.retain(|file| !context.workspace.join(file).starts_with(context.folder));
    let rest = if is_all { "" } else { ", as far as was looked" };
    let mut lines = Vec::new();
    for (verb, is_empty, request) in globs {
        if is_empty {
            continue;
        }
        let fits: Vec<&String> =
            files.iter().filter(|file| context.answer(&request((*file).clone())).is_allowed).collect();
        let names: Vec<String> = fits.iter().take(FILES_NAMED).map(|file| format!("`{file}`")).collect();
        let more = if fits.len() > FILES_NAMED { ", …" } else { "" };
        lines.push(match fits.len() {
            0 => format!("of the files that are there now{rest}, it may {verb} none"),
            count => {
                format!("of the files that are there now{rest}, it may {verb} {count}: {}{more}", names.join(", "))
            }
        });
    }
    lines
}

/// The files below a directory, relative to it, up to a number; and whether these are all. Links are not followed.
fn files_below(workspace: &Path) -> (Vec<String>, bool) {
    let mut folders = VecDeque::from([workspace.to_owned()]);
    let (mut files, mut seen) = (Vec::new(), 0);
    while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > FILES_MAX {
                files.sort();
                return (files, false);
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            match path.strip_prefix(workspace) {
                Ok(_) if kind.is_dir() && entry.file_name() != ".git" => folders.push_back(path),
                Ok(own) if kind.is_file() => files.push(own.to_string_lossy().into_owned()),
                _ => {}
            }
        }
    }
    files.sort();
    (files, true)
}
