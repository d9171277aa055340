//! Tools run for real: python, node and bash, with nothing in place of them.

mod alike;
mod calls;
mod ends;
mod interpreters;
mod leaves;
mod packages;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::approval::Approvals;
use crate::execute::{ExecuteOptions, execute_with};
use crate::grant::{Consent, Context, Decision, Granted};
use crate::interpreter::Search;
use crate::plan::{self, Redaction, Work};
use crate::{Limits, Outcome, Permissions, Plan, Policy, Reply, ToolRuntime, Trust};
use rep_sandbox::{Cancel, unconfined};
use serde_json::{Value, json};

/// Whether everything tools are written in is installed. Says aloud what is not; in CI, that is a failure.
pub(crate) fn has_runtimes() -> bool {
    let search = search();
    let missing: Vec<&str> = [ToolRuntime::Python, ToolRuntime::Node, ToolRuntime::Bash]
        .into_iter()
        .filter(|runtime| crate::interpreter::find(*runtime, Path::new("/nowhere"), &search).is_err())
        .map(ToolRuntime::name)
        .collect();
    if !missing.is_empty() {
        rep_test_support::not_run(&format!(
            "{} not installed, and these tests compare all three",
            missing.join(" and ")
        ));
    }
    missing.is_empty()
}

/// A plan, granted as by somebody who said yes.
pub(crate) fn granted(plan: &Plan) -> Granted {
    let approvals = Approvals::default();
    let secrets = plan.secrets.iter().map(|need| need.name.clone()).collect();
    let context = Context { trust: Trust::Trusted, secrets, consent: Consent::Given, approvals: &approvals };
    match crate::grant::decide(&Policy::default(), plan.clone(), &context) {
        Decision::Granted(granted) => granted,
        other => panic!("not granted: {other:?}"),
    }
}

/// A skill with one tool in a scratch folder.
pub(crate) struct Tool {
    folder: tempfile::TempDir,
    pub(crate) plan: Plan,
    pub(crate) secrets: Vec<(String, String)>,
    pub(crate) cancel: Cancel,
}

impl Tool {
    /// A tool of this runtime whose entrypoint is this text.
    pub(crate) fn new(runtime: ToolRuntime, text: &str) -> Self {
        let ending = match runtime {
            ToolRuntime::Python => "py",
            ToolRuntime::Node => "js",
            ToolRuntime::Bash => "sh",
        };
        Self::of(runtime, &format!("scripts/tool.{ending}"), text)
    }

    pub(crate) fn of(runtime: ToolRuntime, entrypoint: &str, text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder can be made");
        let real = folder.path().canonicalize().expect("the folder is there");
        let (skill, workspace) = (real.join("skill"), real.join("work"));
        std::fs::create_dir_all(skill.join("scripts")).expect("a folder can be made");
        std::fs::create_dir_all(&workspace).expect("a folder can be made");
        std::fs::write(skill.join(entrypoint), text).expect("a file can be written");
        let plan = Plan {
            confinement: crate::plan::Confinement::Sandboxed,
            skill: "a-skill".to_owned(),
            digest: String::new(),
            folder: skill,
            tool: "a-tool".to_owned(),
            work: Work::Tool(plan::Tool {
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
            permissions: Permissions::default(),
            confirm: BTreeSet::new(),
            prompt: None,
            redaction: Redaction { secrets: true, pii: true },
            secrets: Vec::new(),
            limits: Limits::default(),
            ignored: Vec::new(),
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
            hidden: &[],
            unseen: &[],
            register: None,
        };
        execute_with(&granted(&self.plan), &self.secrets, &options, &self.cancel, unconfined::run)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder is there")
    }
}

/// The caller's environment, with one cache for all tests.
pub(crate) fn search() -> Search {
    let cache = Path::new(option_env!("CARGO_TARGET_TMPDIR").unwrap_or("/tmp")).join("interpreters.json");
    Search { env: std::env::vars_os().collect(), cache: Some(cache) }
}

/// The result, which there must be.
pub(crate) fn result(outcome: &Outcome) -> &Value {
    match &outcome.reply {
        Reply::Result(value) => value,
        other => panic!("no result: {other:?}, said: {}", outcome.said),
    }
}

/// The code of the error, which there must be.
pub(crate) fn code(outcome: &Outcome) -> &str {
    match &outcome.reply {
        Reply::Error(error) => error.code.as_str(),
        other => panic!("no error: {other:?}"),
    }
}

/// The message of the error, which there must be.
pub(crate) fn message(outcome: &Outcome) -> &str {
    match &outcome.reply {
        Reply::Error(error) => &error.message,
        other => panic!("no error: {other:?}"),
    }
}

/// Makes a named pipe, by which a test and a tool wait for each other.
pub(crate) fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().expect("`mkfifo` can be run");
    assert!(made.success());
}
