//! Runs skills: load, plan, decide, ask, record the start, run confined, record the end.
//!
//! [`Runtime`] is the only way for a skill's code to start a process, send a request or appear in the audit
//! log. Tools, commands of structured skills, requests of API skills, workflows and skill tests all use the
//! same function. Whether a run is confined is part of the grant, and a grant cannot be created or run
//! outside this crate:
//!
//! ```compile_fail,E0603
//! // Only the policy creates a grant.
//! use rep_runtime::grant::Granted;
//! ```
//!
//! ```compile_fail,E0603
//! // Nothing public runs a grant, with or without its sandbox and its record.
//! use rep_runtime::execute::execute;
//! ```

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rep_audit::{AuditLog, RecordedDenial, RunEnding};
use rep_library::{Catalog, CatalogEntry, LibraryOptions};
use rep_permissions::Policy;
use rep_sandbox::{Cancel, ProcessExit};
use rep_storage::StorageError;

use crate::approval::{self, Approvals};
use crate::channel::NestedToolCaller;
use crate::error::{CallError, ErrorCode};
use crate::executable_skill::ExecutableSkill;
use crate::execute::{ExecuteOptions, execute_grant};
use crate::grant::{
    self, ExecutionTrust, GrantConsent, GrantContext, GrantDecision, Granted, RunConfirmation, RunRefusal,
};
use crate::interpreter::InterpreterSearch;
use crate::outcome::{Outcome, RunReply, ToolError};
use crate::permission_grants::{PermissionGrant, PermissionGrants};
use crate::plan::{Confinement, Plan};
use crate::prompter::{NobodyToAsk, Prompter, PrompterAnswer};
use crate::secret::{self, Keyring, SecretStore, SecretValue};

mod call;
mod callees;
mod commands;
mod nested;
mod packages;
mod policy_report;
mod records;
mod servers;
mod tools;
mod workflows;

pub use call::{
    CallResult, CallTarget, CallerConsent, CommandInvocation, DeferredCall, FinishedCall, NestedCall, PlanBinding,
    PreparedCall, ScriptInvocation, ToolCall,
};
pub use commands::{DEFAULT_SESSION, state_json};
pub use packages::{PackageInstall, PackageInstallError, PackageRequest, ToolDependencies};
pub use policy_report::{PolicyLine, SkillPolicy, ToolPolicy};
pub use records::{CallPage, RecordFilter, RecordKind, RecordPosition, RunPage};
pub use servers::{ServerTools, parse_server_target};
pub use tools::{ToolDescriptor, ToolFault, ToolKind, ToolListing};
pub use workflows::{
    StepOutcome, StepReport, WorkflowCall, WorkflowCallbacks, WorkflowError, WorkflowEvent, WorkflowReport,
    WorkflowStart,
};

/// The directories of the runtime. They are never read from the environment.
#[derive(Clone, Debug, Default)]
pub struct RuntimePaths {
    /// Approvals, secrets, records, tasks, sessions and installed packages. Nothing runs without it.
    pub data: Option<PathBuf>,
    /// The user's own `rep.yaml`. Its `policy` can only deny.
    pub settings: Option<PathBuf>,
    /// Files that can be recomputed.
    pub cache: Option<PathBuf>,
}

impl RuntimePaths {
    /// Returns the data directory, or an error if there is none.
    pub fn data_folder(&self) -> Result<&Path, CallError> {
        self.data.as_deref().ok_or_else(|| {
            CallError::unable(ErrorCode::NoHome, "no home directory to store records in")
                .with_remedy("set HOME")
                .for_operator()
        })
    }

    /// Returns the runtime's own directories, which no run can see.
    fn own_folders(&self) -> Vec<PathBuf> {
        let config = self.settings.as_ref().and_then(|file| file.parent().map(Path::to_owned));
        self.data.iter().cloned().chain(config).chain(self.cache.clone()).collect()
    }
}

/// The options of a runtime.
#[derive(Clone, Debug, Default)]
pub struct RuntimeOptions {
    /// The options that the catalog was discovered with; they determine what the user trusts.
    pub library: LibraryOptions,
    /// The directory that path patterns are relative to. Links are resolved.
    pub workspace: PathBuf,
    /// Whether runs are confined.
    pub confinement: Confinement,
    /// The caller's environment, used to look up interpreters, variables and secrets.
    pub environment: Vec<(OsString, OsString)>,
    /// The user name for the audit log.
    pub user: String,
    /// The desktop keyring, if there is one.
    pub keyring: Option<Keyring>,
}

/// Decides, asks, records and runs. See the module documentation.
pub struct Runtime {
    paths: RuntimePaths,
    options: RuntimeOptions,
    search: InterpreterSearch,
    own_folders: Vec<PathBuf>,
}

/// The result of a decision.
enum RunDecision {
    Granted(Box<Granted>),
    Refused(RunRefusal),
    Deferred(Box<RunConfirmation>),
}

impl RunDecision {
    /// Returns the grant. A question that nobody answered is a refusal.
    fn into_granted(self) -> Result<Granted, RunRefusal> {
        match self {
            RunDecision::Granted(granted) => Ok(*granted),
            RunDecision::Refused(refusal) => Err(refusal),
            RunDecision::Deferred(question) => Err(question.into_declined()),
        }
    }
}

impl Runtime {
    /// Opens a runtime over the user's files. Nothing is written until a call is decided or run.
    pub fn open(paths: RuntimePaths, options: RuntimeOptions) -> Self {
        let search = InterpreterSearch {
            env: options.environment.clone(),
            cache: paths.cache.as_ref().map(|folder| folder.join("interpreters.json")),
        };
        let own_folders = paths.own_folders();
        Self { paths, options, search, own_folders }
    }

    /// Returns the directories of this runtime.
    pub fn paths(&self) -> &RuntimePaths {
        &self.paths
    }

    /// Returns the options of this runtime.
    pub fn options(&self) -> &RuntimeOptions {
        &self.options
    }

    /// Returns where interpreters are searched.
    pub fn interpreter_search(&self) -> &InterpreterSearch {
        &self.search
    }

    /// Finds the active skill with a name, otherwise the first copy with that name, whatever its status.
    pub fn find_skill<'a>(&self, catalog: &'a Catalog, skill: &str) -> Result<&'a CatalogEntry, CallError> {
        let is_named = |entry: &&CatalogEntry| entry.qualified_name == skill || entry.name == skill;
        let found = catalog.get(skill).or_else(|| catalog.entries.iter().find(is_named));
        found.ok_or_else(|| CallError::unable(ErrorCode::SkillNotFound, format!("skill `{skill}` not found")))
    }

    /// Loads what the user's settings deny. The file is read every time, so that a denial takes effect
    /// immediately.
    pub fn load_policy(&self) -> Result<Policy, CallError> {
        match &self.paths.settings {
            Some(file) => Ok(rep_library::settings::load_policy(file)?),
            None => Ok(Policy::default()),
        }
    }

    /// Returns the file that approvals are stored in.
    pub fn approvals_file(&self) -> Result<PathBuf, CallError> {
        Ok(self.paths.data_folder()?.join("approvals.json"))
    }

    /// Loads earlier approvals; none without a data directory.
    pub fn load_approvals(&self) -> Result<Approvals, CallError> {
        match self.approvals_file() {
            Ok(file) => Ok(Approvals::load(&file)?),
            Err(_) => Ok(Approvals::default()),
        }
    }

    /// Returns the file that permission grants are stored in.
    pub fn grants_file(&self) -> Result<PathBuf, CallError> {
        Ok(self.paths.data_folder()?.join("grants.json"))
    }

    /// Returns what the operator grants to a skill beside its declarations; nothing without a data directory.
    pub fn find_permission_grant(&self, skill: &ExecutableSkill) -> Result<Option<PermissionGrant>, CallError> {
        match self.grants_file() {
            Ok(file) => Ok(PermissionGrants::load(&file)?.find(&skill.digest)),
            Err(_) => Ok(None),
        }
    }

    /// Opens the user's secret store.
    pub fn open_secret_store(&self) -> Result<SecretStore, CallError> {
        Ok(SecretStore::in_folder(self.paths.data_folder()?).with_keyring(self.options.keyring))
    }

    /// Returns the names of the declared secrets that have a value.
    pub fn secret_names(&self, plan: &Plan) -> Result<Vec<String>, CallError> {
        Ok(self.gather_secrets(plan)?.into_keys().collect())
    }

    /// Returns the values of the declared secrets: from the caller's environment, otherwise from the store.
    fn gather_secrets(&self, plan: &Plan) -> Result<BTreeMap<String, SecretValue>, CallError> {
        let stored = self.open_secret_store().ok();
        Ok(secret::gather_secrets(&plan.skill, &plan.secrets, |name| self.find_variable(name), stored.as_ref())?)
    }

    /// Looks up a variable in the caller's environment.
    fn find_variable(&self, name: &str) -> Option<String> {
        let (_, value) = self.options.environment.iter().find(|(known, _)| known == name)?;
        value.to_str().map(str::to_owned)
    }

    /// Returns the user name for the audit log.
    fn audit_user(&self, client: Option<&str>) -> String {
        match client {
            Some(client) => format!("{} for {client}", self.options.user),
            None => self.options.user.clone(),
        }
    }

    /// Decides whether a plan may run, and asks for confirmation if needed.
    fn decide_plan(
        &self,
        plan: Plan,
        trust: &ExecutionTrust,
        secrets: &BTreeMap<String, SecretValue>,
        consent: &CallerConsent,
        prompter: &dyn Prompter,
    ) -> Result<RunDecision, CallError> {
        let _phase = tracing::debug_span!("decide").entered();
        let question = match self.decide_by_policy(plan, trust, secrets, consent)? {
            GrantDecision::Granted(granted) => return Ok(RunDecision::Granted(Box::new(granted))),
            GrantDecision::Refused(refusal) => return Ok(RunDecision::Refused(refusal)),
            GrantDecision::Ask(question) => question,
        };
        if let Err(error) = crate::execute::check_input(question.plan()) {
            // Nobody is asked about a call that cannot be made.
            let (code, message) = (error.code, error.message);
            let remedy = "correct the arguments; the tool's `input_schema` describes them".to_owned();
            return Ok(RunDecision::Refused(RunRefusal { code, message, remedy }));
        }
        self.ask_to_confirm(question, trust, prompter)
    }

    /// Decides without asking anyone.
    fn decide_by_policy(
        &self,
        plan: Plan,
        trust: &ExecutionTrust,
        secrets: &BTreeMap<String, SecretValue>,
        consent: &CallerConsent,
    ) -> Result<GrantDecision, CallError> {
        if let CallerConsent::AgreedTo(binding) = consent
            && !binding.matches_plan(&plan)
        {
            return Ok(GrantDecision::Refused(skill_changed_refusal(&plan)));
        }
        let approvals = match consent {
            // Consent to this call covers a tool that changed after it was approved.
            CallerConsent::Given if plan.is_server_tool_call() => Approvals::default(),
            _ => self.load_approvals()?,
        };
        let context = GrantContext {
            trust: trust.clone(),
            secrets: secrets.keys().cloned().collect(),
            consent: match consent {
                CallerConsent::Ask => GrantConsent::Ask,
                CallerConsent::Given | CallerConsent::AgreedTo(_) => GrantConsent::Given,
            },
            approvals: &approvals,
        };
        Ok(grant::decide_plan(&self.load_policy()?, plan, &context))
    }

    fn ask_to_confirm(
        &self,
        question: RunConfirmation,
        trust: &ExecutionTrust,
        prompter: &dyn Prompter,
    ) -> Result<RunDecision, CallError> {
        match prompter.confirm(&question) {
            PrompterAnswer::Deferred => Ok(RunDecision::Deferred(Box::new(question))),
            answer => self.apply_answer(question, answer, trust),
        }
    }

    /// Applies an answer to a confirmation.
    fn apply_answer(
        &self,
        question: RunConfirmation,
        answer: PrompterAnswer,
        trust: &ExecutionTrust,
    ) -> Result<RunDecision, CallError> {
        Ok(match answer {
            PrompterAnswer::Yes => RunDecision::Granted(Box::new(question.into_grant())),
            PrompterAnswer::Always => {
                self.store_approval(question.plan(), trust)?;
                RunDecision::Granted(Box::new(question.into_grant()))
            }
            PrompterAnswer::No => RunDecision::Refused(question.into_declined()),
            // A confirmation that is deferred again was not answered.
            PrompterAnswer::Deferred => {
                RunDecision::Refused(question.into_unanswerable("answer the question".to_owned()))
            }
            PrompterAnswer::Unavailable { remedy } => RunDecision::Refused(question.into_unanswerable(remedy)),
        })
    }

    /// Runs a grant, or reports the refusal; both are recorded. Only its process receives `secrets`; `hidden`
    /// values are redacted as well, and `caller` answers its nested tool calls. This is the only way from a
    /// grant to a process or a request.
    fn run_decided(
        &self,
        decided: Result<Granted, RunRefusal>,
        plan: &Plan,
        access: &RunAccess<'_>,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Outcome {
        let audit = match self.paths.data_folder() {
            Ok(folder) => AuditLog::for_runs(folder),
            Err(error) => return Outcome::not_started(error.into()),
        };
        let unrecorded = |error: &StorageError| {
            let message = format!("the run was not started because it could not be recorded: {error}");
            Outcome::not_started(ToolError::new(ErrorCode::Unrecorded, message).for_operator())
        };
        let (subject, who) = (plan.audit_subject(), self.audit_user(access.client));
        let granted = match decided {
            Ok(granted) => granted,
            Err(refusal) => {
                let recorded =
                    audit.record_refusal(&subject, refusal.code.as_str(), &refusal.message, &who, current_time());
                if let Err(error) = recorded {
                    return unrecorded(&error);
                }
                return Outcome::not_started(CallError::from(refusal).into());
            }
        };
        let started = tracing::debug_span!("record the start")
            .in_scope(|| audit.start_run(&subject, granted.origin().name(), &who, current_time()));
        let record = match started {
            Ok(record) => record,
            Err(error) => return unrecorded(&error),
        };
        prompter.run_started(plan);
        let register = self.paths.data.as_ref().map(|folder| folder.join("running"));
        let environments = self.environments_folder().ok();
        let options = ExecuteOptions {
            search: &self.search,
            environments: environments.as_deref(),
            caller: access.caller,
            redacted_values: access.redacted_values,
            hidden_folders: &self.own_folders,
            run_registry: register.as_deref(),
        };
        let outcome = execute_grant(&granted, access.secrets, &options, cancel);
        let recorded = tracing::debug_span!("record the end")
            .in_scope(|| record.record_end(&build_run_ending(&outcome), current_time()));
        match recorded {
            Ok(()) => outcome,
            // The run has happened; report that its end could not be recorded.
            Err(error) => {
                let said = format!("{}\nthe end of the run could not be recorded: {error}", outcome.log_text);
                Outcome { log_text: said, ..outcome }
            }
        }
    }

    /// Returns the values of the declared secrets, for skill tests.
    pub(crate) fn gather_plan_secrets(&self, plan: &Plan) -> Result<BTreeMap<String, SecretValue>, CallError> {
        self.gather_secrets(plan)
    }

    /// Runs a plan for which the call itself is consent, for skill tests.
    pub(crate) fn run_with_consent(
        &self,
        plan: &Plan,
        trust: &ExecutionTrust,
        secrets: &BTreeMap<String, SecretValue>,
        cancel: &Cancel,
    ) -> Result<Outcome, CallError> {
        let nobody = NobodyToAsk::default();
        let decided = match self.decide_plan(plan.clone(), trust, secrets, &CallerConsent::Given, &nobody)? {
            RunDecision::Granted(granted) => Ok(*granted),
            RunDecision::Refused(refusal) => Err(refusal),
            RunDecision::Deferred(question) => Err(question.into_declined()),
        };
        let values = expose_secrets(secrets);
        let access = RunAccess { secrets: &values, redacted_values: &[], caller: None, client: None };
        Ok(self.run_decided(decided, plan, &access, &nobody, cancel))
    }

    /// Returns the directory of packages that were installed for skills.
    pub fn environments_folder(&self) -> Result<PathBuf, CallError> {
        Ok(self.paths.data_folder()?.join("environments"))
    }
}

/// What a run receives besides its plan.
struct RunAccess<'a> {
    secrets: &'a [(String, String)],
    redacted_values: &'a [(String, String)],
    caller: Option<&'a NestedToolCaller<'a>>,
    client: Option<&'a str>,
}

/// Builds the audit record of how a run ended.
fn build_run_ending(outcome: &Outcome) -> RunEnding<'_> {
    let (code, message) = match &outcome.reply {
        RunReply::Result(_) => ("ok", None),
        RunReply::Task(_) => ("async", None),
        RunReply::Error(error) => (error.code.as_str(), Some(error.message.as_str())),
    };
    RunEnding {
        outcome: code,
        message,
        exit: outcome.exit.map(|exit| match exit {
            ProcessExit::Code(code) => format!("code {code}"),
            ProcessExit::Signal(signal) => format!("signal {signal}"),
        }),
        layers: outcome.layers.iter().map(|layer| (layer.name, layer.state.as_str())).collect(),
        denials: outcome
            .denials
            .iter()
            .map(|denial| RecordedDenial {
                action: denial.action,
                target: &denial.target,
                declaration: denial.declaration(),
                suggestion: denial.suggestion.as_deref(),
            })
            .collect(),
        denials_omitted: outcome.denials_omitted,
        written: &outcome.written,
        duration_ms: outcome.duration_ms,
    }
}

/// The refusal for a skill that changed after the decision.
fn skill_changed_refusal(plan: &Plan) -> RunRefusal {
    RunRefusal {
        code: ErrorCode::SkillChanged,
        message: format!("`{}` changed after the call of `{}` was planned", plan.skill, plan.tool),
        remedy: "review the changes and call it again".to_owned(),
    }
}

/// Computes the digest that an approval or an answer is bound to.
fn compute_plan_binding(plan: &Plan) -> String {
    approval::compute_binding(plan)
}

/// Exposes the values of secrets, to pass them to a process.
fn expose_secrets(secrets: &BTreeMap<String, SecretValue>) -> Vec<(String, String)> {
    secrets.iter().map(|(name, secret)| (name.clone(), secret.expose().to_owned())).collect()
}

#[expect(clippy::disallowed_methods, reason = "records contain the current time")]
fn current_time() -> SystemTime {
    SystemTime::now()
}
