//! Runs real tools: python, node and bash, without mocks.

mod alike;
mod calls;
mod ends;
mod interpreters;
mod leaves;
mod packages;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::approval::Approvals;
use crate::execute::{ExecuteOptions, execute_grant_with};
use crate::grant::{GrantConsent, GrantContext, GrantDecision, Granted};
use crate::interpreter::InterpreterSearch;
use crate::plan::{self, PlannedWork, Redaction};
use crate::{ExecutionTrust, Outcome, Plan, Policy, RunLimits, RunPermissions, RunReply, ToolRuntime};
use rep_sandbox::{Cancel, unconfined};
use serde_json::{Value, json};

/// Returns whether all runtimes are installed. Prints the missing ones; in CI, that is a failure.
pub(crate) fn has_runtimes() -> bool {
    let search = search();
    let missing: Vec<&str> = [ToolRuntime::Python, ToolRuntime::Node, ToolRuntime::Bash]
        .into_iter()
        .filter(|runtime| crate::interpreter::find_interpreter(*runtime, Path::new("/nowhere"), &search).is_err())
        .map(ToolRuntime::name)
        .collect();
    if !missing.is_empty() {
        rep_test_support::skip_unless_ci(&format!(
            "{} not installed, and these tests compare all three",
            missing.join(" and ")
        ));
    }
    missing.is_empty()
}

/// Grants a plan as if the user had agreed.
pub(crate) fn granted(plan: &Plan) -> Granted {
    let approvals = Approvals::default();
    let secrets = plan.secrets.iter().map(|need| need.name.clone()).collect();
    let context =
        GrantContext { trust: ExecutionTrust::Trusted, secrets, consent: GrantConsent::Given, approvals: &approvals };
    match crate::grant::decide_plan(&Policy::default(), plan.clone(), &context) {
        GrantDecision::Granted(granted) => granted,
        other => panic!("not granted: {other:?}"),
    }
}

/// A skill with one tool in a temporary directory.
pub(crate) struct Tool {
    folder: tempfile::TempDir,
    pub(crate) plan: Plan,
    pub(crate) secrets: Vec<(String, String)>,
    pub(crate) cancel: Cancel,
}

impl Tool {
    /// Creates a tool of this runtime with this text as its entrypoint.
    pub(crate) fn new(runtime: ToolRuntime, text: &str) -> Self {
        let ending = match runtime {
            ToolRuntime::Python => "py",
            ToolRuntime::Node => "js",
            ToolRuntime::Bash => "sh",
        };
        Self::of(runtime, &format!("scripts/tool.{ending}"), text)
    }

    pub(crate) fn of(runtime: ToolRuntime, entrypoint: &str, text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory can be created");
        let real = folder.path().canonicalize().expect("the directory exists");
        let (skill, workspace) = (real.join("skill"), real.join("work"));
        std::fs::create_dir_all(skill.join("scripts")).expect("a directory can be created");
        std::fs::create_dir_all(&workspace).expect("a directory can be created");
        std::fs::write(skill.join(entrypoint), text).expect("a file can be written");
        let plan = Plan {
            confinement: crate::plan::Confinement::Sandboxed,
            skill: "a-skill".to_owned(),
            digest: String::new(),
            folder: skill,
            tool: "a-tool".to_owned(),
            work: PlannedWork::Tool(plan::PlannedTool {
                runtime,
                entrypoint: entrypoint.to_owned(),
                handler: "run".to_owned(),
                input_schema: json!({"type": "object"}),
                output_schema: None,
                typescript_runner: None,
                dependencies: Vec::new(),
            }),
            workspace,
            input: json!({}),
            permissions: RunPermissions::default(),
            confirm: BTreeSet::new(),
            prompt: None,
            redaction: Redaction { secrets: true, pii: true },
            secrets: Vec::new(),
            limits: RunLimits::default(),
            ignored: Vec::new(),
            provenance: None,
            callees: Vec::new(),
        };
        Self { folder, plan, secrets: Vec::new(), cancel: Cancel::default() }
    }

    pub(crate) fn input(mut self, input: Value) -> Self {
        self.plan.input = input;
        self
    }

    pub(crate) fn run(&self) -> Outcome {
        let search = search();
        let options = ExecuteOptions {
            search: &search,
            environments: None,
            caller: None,
            redacted_values: &[],
            hidden_folders: &[],
            run_registry: None,
        };
        execute_grant_with(&granted(&self.plan), &self.secrets, &options, &self.cancel, unconfined::run_unconfined)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the directory exists")
    }
}

/// The caller's environment, with one cache for all tests.
pub(crate) fn search() -> InterpreterSearch {
    let cache = Path::new(option_env!("CARGO_TARGET_TMPDIR").unwrap_or("/tmp")).join("interpreters.json");
    InterpreterSearch { env: std::env::vars_os().collect(), cache: Some(cache) }
}

/// Returns the result; panics if there is none.
pub(crate) fn result(outcome: &Outcome) -> &Value {
    match &outcome.reply {
        RunReply::Result(value) => value,
        other => panic!("no result: {other:?}, said: {}", outcome.log_text),
    }
}

/// Returns the error code; panics if the run succeeded.
pub(crate) fn code(outcome: &Outcome) -> &str {
    match &outcome.reply {
        RunReply::Error(error) => error.code.as_str(),
        other => panic!("no error: {other:?}"),
    }
}

/// Returns the error message; panics if the run succeeded.
pub(crate) fn message(outcome: &Outcome) -> &str {
    match &outcome.reply {
        RunReply::Error(error) => &error.message,
        other => panic!("no error: {other:?}"),
    }
}

/// Creates a named pipe that synchronizes a test with a tool.
pub(crate) fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().expect("`mkfifo` can be run");
    assert!(made.success());
}
