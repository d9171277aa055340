//! Reports what a skill's tools may do. The terminal, JSON and dashboard views are all rendered from this
//! report.
#![expect(clippy::disallowed_methods, reason = "the report counts the files of the workspace that the patterns match")]

use std::collections::VecDeque;
use std::path::Path;

use rep_model::Frontmatter;
use rep_permissions::RunPermissions;
use serde_json::{Value, json};

use super::Runtime;
use crate::access::{AccessContext, AccessRequest, AccessVerdict};
use crate::error::CallError;
use crate::executable_skill::{ExecutableSkill, tool_name};
use crate::grant::ExecutionTrust;
use crate::plan::description::OWN_FOLDER;
use crate::plan::{IgnoredDeclaration, Plan, PlanError, Redaction, Risk, RunLimits, SecretNeed, declarations};

/// The maximum number of workspace files examined, and of files named.
const FILES_MAX: usize = 5000;
const FILES_NAMED_MAX: usize = 5;

/// The source of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// The caller's environment.
    Environment,
    /// The user's store.
    Stored,
    /// The user's store, but for other skills only.
    StoredForOthers,
    /// No source.
    Missing,
}

impl SecretSource {
    /// Returns the word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            SecretSource::Environment => "environment",
            SecretSource::Stored => "kept",
            SecretSource::StoredForOthers => "kept for other skills",
            SecretSource::Missing => "missing",
        }
    }
}

/// The policy of one tool, or why it cannot be planned.
#[derive(Clone, Debug)]
pub struct ToolPolicy {
    /// The tool's name.
    pub name: String,
    /// Its plan without arguments.
    pub plan: Result<ToolPlan, PlanError>,
}

/// How one tool is started and confirmed.
#[derive(Clone, Debug)]
pub struct ToolPlan {
    /// `python`, `node` or `bash`.
    pub runtime: Option<&'static str>,
    /// The entrypoint.
    pub entrypoint: Option<String>,
    /// The resource limits.
    pub limits: RunLimits,
    /// The kinds of action that need confirmation.
    pub asks: Vec<&'static str>,
    /// The author's confirmation prompt.
    pub prompt: Option<String>,
    /// Whether it is approved in its current form.
    pub is_approved: bool,
}

/// The policy of a skill in a workspace.
#[derive(Clone, Debug)]
pub struct SkillPolicy {
    /// The qualified name.
    pub skill: String,
    /// The digest of the directory.
    pub digest: String,
    /// Whether it is trusted.
    pub trust: ExecutionTrust,
    /// What the operator denies.
    pub denied: Option<String>,
    /// The directory that patterns are relative to.
    pub workspace: String,
    /// The declared permissions.
    pub permissions: RunPermissions,
    /// The kinds of action that need confirmation according to the author.
    pub confirm: Vec<Risk>,
    /// What is redacted from a run's output.
    pub redaction: Redaction,
    /// The declared secrets, and the source of each.
    pub secrets: Vec<(SecretNeed, SecretSource)>,
    /// Declarations that grant nothing.
    pub ignored: Vec<IgnoredDeclaration>,
    /// Its tools.
    pub tools: Vec<ToolPolicy>,
    /// Whether the permissions include what the operator granted.
    pub has_grant: bool,
}

/// A line of a rendered policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyLine {
    /// A heading: the skill, or one of its tools.
    Heading(String),
    /// A detail below a heading.
    Detail(String),
}

impl Runtime {
    /// Reports the policy of a skill's tools, or of a single tool by its index.
    pub fn report_policy(&self, skill: &ExecutableSkill, only: Option<usize>) -> Result<SkillPolicy, CallError> {
        let (front, tools) = skill.require_tools()?;
        let (mut permissions, ignored) = declarations::parse_permissions(front);
        let grant = self.find_permission_grant(skill)?;
        let safety = declarations::parse_safety(front);
        let approvals = self.load_approvals()?;
        let mut needs = declarations::parse_secrets(front).unwrap_or_default();
        if let Some(grant) = &grant {
            grant.extend(&mut permissions);
            grant.extend_secrets(&mut needs);
        }
        let secrets = needs.into_iter().map(|need| {
            let source = self.find_secret_source(&skill.name, &need)?;
            Ok((need, source))
        });
        let indexes = only.map_or_else(|| (0..tools.len()).collect(), |index| vec![index]);
        let tools = indexes.into_iter().map(|index| ToolPolicy {
            name: tool_name(&tools[index]).to_owned(),
            plan: skill.plan_tool(index, &self.options.workspace, json!({})).map(|mut plan| {
                if let Some(grant) = &grant {
                    grant.apply(&mut plan);
                }
                ToolPlan {
                    runtime: plan.work.tool().map(|tool| tool.runtime.name()),
                    entrypoint: plan.work.tool().map(|tool| tool.entrypoint.clone()),
                    asks: risk_names(&plan),
                    is_approved: approvals.is_approved(&plan),
                    limits: plan.limits,
                    prompt: plan.prompt,
                }
            }),
        });
        Ok(SkillPolicy {
            skill: skill.name.clone(),
            digest: skill.digest.clone(),
            trust: skill.trust.clone(),
            denied: self.load_policy()?.find_objection(&skill.name, &permissions),
            workspace: self.options.workspace.display().to_string(),
            confirm: safety.confirm.iter().copied().collect(),
            redaction: safety.redaction,
            secrets: secrets.collect::<Result<_, CallError>>()?,
            tools: tools.collect(),
            permissions,
            ignored,
            has_grant: grant.is_some(),
        })
    }

    /// Returns whether a skill may access something, with the same rules as in a run.
    pub fn check_access(&self, skill: &ExecutableSkill, request: &AccessRequest) -> Result<AccessVerdict, CallError> {
        let (front, _) = skill.require_tools()?;
        let permissions = self.effective_permissions(skill, front)?;
        let denied = |by: &str, why: String| AccessVerdict { is_allowed: false, by: by.to_owned(), why };
        Ok(match (&skill.trust, self.load_policy()?.find_objection(&skill.name, &permissions)) {
            (_, Some(why)) => denied("policy.deny", why),
            (ExecutionTrust::Untrusted(reason), None) => denied("trust", format!("the skill is not trusted: {reason}")),
            (ExecutionTrust::Trusted, None) => {
                let workspace = &self.options.workspace;
                AccessContext { permissions: &permissions, workspace, folder: &skill.folder }.check_request(request)
            }
        })
    }

    /// Lists the workspace files that a skill's patterns match, with one line for reading and one for
    /// writing.
    pub fn matching_files(&self, skill: &ExecutableSkill) -> Result<Vec<String>, CallError> {
        let (front, _) = skill.require_tools()?;
        let permissions = self.effective_permissions(skill, front)?;
        let workspace = &self.options.workspace;
        let context = AccessContext { permissions: &permissions, workspace, folder: &skill.folder };
        Ok(matching_lines(&context))
    }

    /// Returns what a skill declares, and what the operator grants to it.
    fn effective_permissions(&self, skill: &ExecutableSkill, front: &Frontmatter) -> Result<RunPermissions, CallError> {
        let (mut permissions, _) = declarations::parse_permissions(front);
        if let Some(grant) = self.find_permission_grant(skill)? {
            grant.extend(&mut permissions);
        }
        Ok(permissions)
    }

    fn find_secret_source(&self, skill: &str, need: &SecretNeed) -> Result<SecretSource, CallError> {
        if self.find_variable(&need.name).is_some_and(|value| !value.is_empty()) {
            return Ok(SecretSource::Environment);
        }
        let Ok(stored) = self.open_secret_store() else { return Ok(SecretSource::Missing) };
        let listed = stored.list()?.into_iter().find(|listed| listed.name == need.name);
        Ok(match listed {
            Some(listed) if listed.is_for_skill(skill) => SecretSource::Stored,
            Some(_) => SecretSource::StoredForOthers,
            None => SecretSource::Missing,
        })
    }
}

impl SkillPolicy {
    /// Renders the policy as JSON.
    pub fn to_json(&self) -> Value {
        let secrets = self.secrets.iter().map(
            |(need, source)| json!({ "name": need.name, "optional": need.is_optional, "source": source.as_str() }),
        );
        json!({
            "skill": self.skill,
            "digest": self.digest,
            "trusted": self.trust == ExecutionTrust::Trusted,
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

    /// Renders the policy as lines: the skill, what applies to all of it, `more`, then each tool.
    pub fn render_lines(&self, more: &[String]) -> Vec<PolicyLine> {
        let mut lines = vec![PolicyLine::Heading(self.skill.clone())];
        let mut detail = |words: String| lines.push(PolicyLine::Detail(words));
        if let ExecutionTrust::Untrusted(reason) = &self.trust {
            detail(format!("runs nothing: it is not trusted, {reason}"));
        }
        if let Some(objection) = &self.denied {
            detail(format!("runs nothing: {objection}"));
        }
        self.permissions.describe_lines(OWN_FOLDER, &self.workspace).into_iter().for_each(&mut detail);
        if self.has_grant {
            detail("some of this is granted by you, for this version of the skill".to_owned());
        }
        for (need, source) in &self.secrets {
            let place = match source {
                SecretSource::Environment => "from the environment",
                SecretSource::Stored => "from the secret store",
                SecretSource::StoredForOthers => "which is stored for other skills only",
                SecretSource::Missing if need.is_optional => "which is not set and is optional",
                SecretSource::Missing => "which is not set, so it does not run",
            };
            detail(format!("uses the secret {}, {place}", need.name));
        }
        self.ignored.iter().map(ToString::to_string).chain(more.iter().cloned()).for_each(&mut detail);
        for tool in &self.tools {
            lines.push(PolicyLine::Heading(format!("{}:{}", self.skill, tool.name)));
            lines.push(PolicyLine::Detail(tool.describe_policy()));
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

    fn describe_policy(&self) -> String {
        match &self.plan {
            Ok(plan) => {
                let words = match plan.asks.as_slice() {
                    [] => "runs without confirmation".to_owned(),
                    asks if plan.is_approved => format!("is approved in its current form ({})", asks.join(", ")),
                    asks => format!("needs confirmation ({})", asks.join(", ")),
                };
                format!("{words}; time limit {} s", plan.limits.timeout_ms / 1000)
            }
            Err(error) => format!("does not run: {error}; {}", error.remedy),
        }
    }
}

fn risk_names(plan: &Plan) -> Vec<&'static str> {
    plan.effective_risks().iter().map(|risk| risk.name()).collect()
}

/// Lists the workspace files that the patterns match, with one line for reading and one for writing.
fn matching_lines(context: &AccessContext<'_>) -> Vec<String> {
    let globs = [
        ("read", context.permissions.read.is_empty(), AccessRequest::Read as fn(String) -> AccessRequest),
        ("change", context.permissions.write.is_empty(), AccessRequest::Write),
    ];
    if globs.iter().all(|(_, is_empty, _)| *is_empty) {
        return Vec::new();
    }
    let (mut files, is_all) = list_files_below(context.workspace);
    // The skill's own files are reported separately.
    files.retain(|file| !context.workspace.join(file).starts_with(context.folder));
    let rest = if is_all { "" } else { " that were examined" };
    let mut lines = Vec::new();
    for (verb, is_empty, request) in globs {
        if is_empty {
            continue;
        }
        let fits: Vec<&String> =
            files.iter().filter(|file| context.check_request(&request((*file).clone())).is_allowed).collect();
        let names: Vec<String> = fits.iter().take(FILES_NAMED_MAX).map(|file| format!("`{file}`")).collect();
        let more = if fits.len() > FILES_NAMED_MAX { ", …" } else { "" };
        lines.push(match fits.len() {
            0 => format!("may {verb} none of the current files{rest}"),
            count => {
                format!("may {verb} {count} of the current files{rest}: {}{more}", names.join(", "))
            }
        });
    }
    lines
}

/// Lists the files below a directory, relative to it, up to a limit, and whether the list is complete. Links
/// are not followed.
fn list_files_below(workspace: &Path) -> (Vec<String>, bool) {
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
