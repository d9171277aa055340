//! Running a skill as a library call: load, plan, decide, ask, record, run confined, record the end.
//!
//! [`Runtime`] is the only way for a skill's code to start a process, to send a request or to appear in the audit log. Tools, commands
//! of structured skills, requests of API skills, workflows and skill tests all go through the same function. Whether a run is
//! confined is part of the grant, and a grant cannot be had or run outside this crate:
//!
//! ```compile_fail,E0603
//! // A grant is made by the policy alone.
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

use rep_audit::{Audit, RunEnding};
use rep_library::{Catalog, CatalogEntry, Options};
use rep_permissions::Policy;
use rep_sandbox::{Cancel, Exit};
use rep_storage::StorageError;

use crate::approval::{self, Approvals};
use crate::channel::Caller;
use crate::error::{CallError, ErrorCode};
use crate::execute::{ExecuteOptions, execute};
use crate::grant::{self, Consent, Context, Decision, Granted, Question, Refusal, Trust};
use crate::interpreter::Search;
use crate::outcome::{Outcome, Reply, ToolError};
use crate::plan::{Confinement, Plan};
use crate::prompter::{Answer, NobodyToAsk, Prompter};
use crate::secret::{self, Keyring, Secret, Secrets};

mod call;
mod commands;
mod nested;
mod packages;
mod policy_report;
mod records;
mod tools;
mod workflows;

pub use call::{
    CallResult, CallTarget, CallerConsent, CommandInvocation, DeferredCall, FinishedCall, NestedCall, PlanBinding,
    PreparedCall, ToolCall,
};
pub use commands::{DEFAULT_SESSION, state_json};
pub use packages::{PackageInstall, PackageInstallError, PackageRequest, ToolDependencies};
pub use policy_report::{PolicyLine, SkillPolicy, ToolPolicy};
pub use records::{CallPage, RecordFilter, RunPage};
pub use tools::{ToolDescriptor, ToolFault, ToolKind, ToolListing};
pub use workflows::{
    StepOutcome, StepReport, WorkflowAttendant, WorkflowCall, WorkflowError, WorkflowEvent, WorkflowReport,
    WorkflowStart,
};

/// Where the runtime stores things. It never looks for them in the environment.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Approvals, secrets, records, tasks, sessions, installed packages. Nothing runs without it.
    pub data: Option<PathBuf>,
    /// The user's own `rep.yaml`, whose `policy` can only deny.
    pub settings: Option<PathBuf>,
    /// What can be computed again.
    pub cache: Option<PathBuf>,
}

impl Paths {
    /// The data directory, or the error that there is none.
    pub fn data(&self) -> Result<&Path, CallError> {
        self.data.as_deref().ok_or_else(|| {
            CallError::unable(ErrorCode::NoHome, "there is no home folder to keep records in")
                .with_remedy("set HOME")
                .for_operator()
        })
    }

    /// The directories of the runtime itself, which nothing that runs can see.
    fn own_folders(&self) -> Vec<PathBuf> {
        let config = self.settings.as_ref().and_then(|file| file.parent().map(Path::to_owned));
        self.data.iter().cloned().chain(config).chain(self.cache.clone()).collect()
    }
}

/// How a runtime runs.
#[derive(Clone, Debug, Default)]
pub struct RuntimeOptions {
    /// The options the catalog was discovered with; they say what the user trusts.
    pub library: Options,
    /// The directory that path patterns are relative to. Links are resolved.
    pub workspace: PathBuf,
    /// Whether runs are confined.
    pub confinement: Confinement,
    /// The environment of the caller: where interpreters, variables and secrets are looked up.
    pub environment: Vec<(OsString, OsString)>,
    /// Who runs, for the audit log.
    pub user: String,
    /// The keyring of the desktop, if there is one.
    pub keyring: Option<Keyring>,
}

/// Decides, asks, records and runs. See the module documentation.
pub struct Runtime {
    paths: Paths,
    options: RuntimeOptions,
    search: Search,
    own_folders: Vec<PathBuf>,
}

/// What a decision came to.
enum Decided {
    Granted(Box<Granted>),
    Refused(Refusal),
    Deferred(Box<Question>),
}

impl Runtime {
    /// Opens a runtime over the user's files. Nothing is written until something is decided or run.
    pub fn open(paths: Paths, options: RuntimeOptions) -> Self {
        let search = Search {
            env: options.environment.clone(),
            cache: paths.cache.as_ref().map(|folder| folder.join("interpreters.json")),
        };
        let own_folders = paths.own_folders();
        Self { paths, options, search, own_folders }
    }

    /// Where this runtime stores things.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// How this runtime runs.
    pub fn options(&self) -> &RuntimeOptions {
        &self.options
    }

    /// Where interpreters are looked for.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// The skill that is in force under a name, or else the first copy of that name, whatever its status.
    pub fn find<'a>(&self, catalog: &'a Catalog, skill: &str) -> Result<&'a CatalogEntry, CallError> {
        let is_named = |entry: &&CatalogEntry| entry.qualified_name == skill || entry.name == skill;
        let found = catalog.get(skill).or_else(|| catalog.entries.iter().find(is_named));
        found.ok_or_else(|| CallError::unable(ErrorCode::SkillNotFound, format!("there is no skill `{skill}`")))
    }

    /// What the user's own settings deny. Read anew each time, so that a denial takes effect at once.
    pub fn policy(&self) -> Result<Policy, CallError> {
        match &self.paths.settings {
            Some(file) => Ok(rep_library::settings::policy(file)?),
            None => Ok(Policy::default()),
        }
    }

    /// The file that approvals are stored in.
    pub fn approvals_file(&self) -> Result<PathBuf, CallError> {
        Ok(self.paths.data()?.join("approvals.json"))
    }

    /// What was approved before; nothing if there is no place to store approvals.
    pub fn approvals(&self) -> Result<Approvals, CallError> {
        match self.approvals_file() {
            Ok(file) => Ok(Approvals::read(&file)?),
            Err(_) => Ok(Approvals::default()),
        }
    }

    /// The secrets that the user stores.
    pub fn stored_secrets(&self) -> Result<Secrets, CallError> {
        Ok(Secrets::at(self.paths.data()?).with_keyring(self.options.keyring))
    }

    /// The names of the secrets a plan declares that have a value.
    pub fn secret_names(&self, plan: &Plan) -> Result<Vec<String>, CallError> {
        Ok(self.secrets(plan)?.into_keys().collect())
    }

    /// The values of the secrets a plan declares: from the caller's environment, else from the store.
    fn secrets(&self, plan: &Plan) -> Result<BTreeMap<String, Secret>, CallError> {
        let stored = self.stored_secrets().ok();
        Ok(secret::gather(&plan.skill, &plan.secrets, |name| self.variable(name), stored.as_ref())?)
    }

    /// A variable of the caller's environment.
    fn variable(&self, name: &str) -> Option<String> {
        let (_, value) = self.options.environment.iter().find(|(known, _)| known == name)?;
        value.to_str().map(str::to_owned)
    }

    /// Who runs, for the audit log.
    fn who(&self, client: Option<&str>) -> String {
        match client {
            Some(client) => format!("{} for {client}", self.options.user),
            None => self.options.user.clone(),
        }
    }

    /// Decides over a plan, and asks where the policy says so.
    fn decide(
        &self,
        plan: Plan,
        trust: &Trust,
        secrets: &BTreeMap<String, Secret>,
        consent: &CallerConsent,
        prompter: &dyn Prompter,
    ) -> Result<Decided, CallError> {
        if let CallerConsent::AgreedTo(binding) = consent
            && !binding.fits(&plan)
        {
            return Ok(Decided::Refused(skill_changed(&plan)));
        }
        let approvals = self.approvals()?;
        let context = Context {
            trust: trust.clone(),
            secrets: secrets.keys().cloned().collect(),
            consent: match consent {
                CallerConsent::Ask => Consent::Ask,
                CallerConsent::Given | CallerConsent::AgreedTo(_) => Consent::Given,
            },
            approvals: &approvals,
        };
        let question = match grant::decide(&self.policy()?, plan, &context) {
            Decision::Granted(granted) => return Ok(Decided::Granted(Box::new(granted))),
            Decision::Refused(refusal) => return Ok(Decided::Refused(refusal)),
            Decision::Ask(question) => question,
        };
        match prompter.confirm(&question) {
            Answer::Deferred => Ok(Decided::Deferred(Box::new(question))),
            answer => self.answered(question, answer),
        }
    }

    /// What an answer makes of a question.
    fn answered(&self, question: Question, answer: Answer) -> Result<Decided, CallError> {
        Ok(match answer {
            Answer::Yes => Decided::Granted(Box::new(question.accept())),
            Answer::Always => {
                Approvals::remember(&self.approvals_file()?, question.plan(), now())?;
                Decided::Granted(Box::new(question.accept()))
            }
            Answer::No => Decided::Refused(question.decline()),
            // A question that is deferred again was not answered.
            Answer::Deferred => Decided::Refused(question.unanswerable("answer the question".to_owned())),
            Answer::Unavailable { remedy } => Decided::Refused(question.unanswerable(remedy)),
        })
    }

    /// Runs what was granted, or reports why not; both are recorded. `secrets` reach its process alone, `hidden` must not leave it
    /// either, and `caller` answers where it calls tools. The only way from a grant to a process or a request.
    fn run_decided(
        &self,
        decided: Result<Granted, Refusal>,
        plan: &Plan,
        access: &RunAccess<'_>,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Outcome {
        let audit = match self.paths.data() {
            Ok(folder) => Audit::at(folder),
            Err(error) => return Outcome::refused(error.into()),
        };
        let unrecorded = |error: &StorageError| {
            let message = format!("the run could not be recorded, and was not made: {error}");
            Outcome::refused(ToolError::new(ErrorCode::Unrecorded, message).for_operator())
        };
        let (subject, who) = (plan.audit_subject(), self.who(access.client));
        let granted = match decided {
            Ok(granted) => granted,
            Err(refusal) => {
                let recorded = audit.refused(&subject, refusal.code.as_str(), &refusal.message, &who, now());
                if let Err(error) = recorded {
                    return unrecorded(&error);
                }
                return Outcome::refused(CallError::from(refusal).into());
            }
        };
        let record = match audit.start(&subject, granted.how().name(), &who, now()) {
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
            hidden: access.hidden,
            unseen: &self.own_folders,
            register: register.as_deref(),
        };
        let outcome = execute(&granted, access.secrets, &options, cancel);
        match record.end(&ending(&outcome), now()) {
            Ok(()) => outcome,
            // What was done is done; that its end is not on record must be reported all the same.
            Err(error) => {
                let said = format!("{}\nthe end of the run could not be recorded: {error}", outcome.said);
                Outcome { said, ..outcome }
            }
        }
    }

    /// The values of the secrets a plan declares, for skill tests.
    pub(crate) fn plan_secrets(&self, plan: &Plan) -> Result<BTreeMap<String, Secret>, CallError> {
        self.secrets(plan)
    }

    /// Runs a plan whose consent is the call itself, for skill tests.
    pub(crate) fn run_with_consent(
        &self,
        plan: &Plan,
        trust: &Trust,
        secrets: &BTreeMap<String, Secret>,
        cancel: &Cancel,
    ) -> Result<Outcome, CallError> {
        let nobody = NobodyToAsk::default();
        let decided = match self.decide(plan.clone(), trust, secrets, &CallerConsent::Given, &nobody)? {
            Decided::Granted(granted) => Ok(*granted),
            Decided::Refused(refusal) => Err(refusal),
            Decided::Deferred(question) => Err(question.decline()),
        };
        let values = exposed(secrets);
        let access = RunAccess { secrets: &values, hidden: &[], caller: None, client: None };
        Ok(self.run_decided(decided, plan, &access, &nobody, cancel))
    }

    /// Where packages that were installed for skills are stored.
    pub fn environments_folder(&self) -> Result<PathBuf, CallError> {
        Ok(self.paths.data()?.join("environments"))
    }
}

/// What one run gets besides its plan.
struct RunAccess<'a> {
    secrets: &'a [(String, String)],
    hidden: &'a [(String, String)],
    caller: Option<&'a Caller<'a>>,
    client: Option<&'a str>,
}

/// How a run ended, for the record.
fn ending(outcome: &Outcome) -> RunEnding<'_> {
    let (code, message) = match &outcome.reply {
        Reply::Result(_) => ("ok", None),
        Reply::Task(_) => ("async", None),
        Reply::Error(error) => (error.code.as_str(), Some(error.message.as_str())),
    };
    RunEnding {
        outcome: code,
        message,
        exit: outcome.exit.map(|exit| match exit {
            Exit::Code(code) => format!("code {code}"),
            Exit::Signal(signal) => format!("signal {signal}"),
        }),
        layers: outcome.layers.iter().map(|layer| (layer.name, layer.state.as_str())).collect(),
        denials: outcome.denials.iter().map(|denial| (denial.action, denial.target.as_str())).collect(),
        written: &outcome.written,
        duration_ms: outcome.duration_ms,
    }
}

/// A skill that is not what was decided over any more.
fn skill_changed(plan: &Plan) -> Refusal {
    Refusal {
        code: ErrorCode::SkillChanged,
        message: format!("`{}` changed since it was decided whether `{}` may run", plan.skill, plan.tool),
        remedy: "look at what changed, and call it again".to_owned(),
    }
}

/// The digest that an approval, or an answer to a question, is bound to.
fn binding_of(plan: &Plan) -> String {
    approval::binding(plan)
}

/// The values of secrets, to be handed to a process.
fn exposed(secrets: &BTreeMap<String, Secret>) -> Vec<(String, String)> {
    secrets.iter().map(|(name, secret)| (name.clone(), secret.expose().to_owned())).collect()
}

#[expect(clippy::disallowed_methods, reason = "records carry the time they were made")]
fn now() -> SystemTime {
    SystemTime::now()
}
