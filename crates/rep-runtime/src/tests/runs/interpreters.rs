//! Interpreters as users install them: in virtual environments and behind scripts.

use std::process::Command;

use crate::ToolRuntime;
use crate::execute::{ExecuteOptions, execute_grant_with};
use crate::interpreter::{InterpreterSearch, find_interpreter};
use rep_sandbox::unconfined;

use super::{Tool, result, search};

#[test]
fn an_environment_of_its_own_stays_one() {
    if !super::has_runtimes() {
        return;
    }
    let tool = Tool::new(
        ToolRuntime::Python,
        "import sys, only_here\ndef run(args, ctx):\n    return {'own': sys.prefix != sys.base_prefix, 'x': only_here.X}\n",
    );
    let python = find_interpreter(ToolRuntime::Python, &tool.plan.workspace, &search()).unwrap();
    let folder = tool.path().join("environment");
    let made = Command::new(&python.program).args(["-m", "venv", "--without-pip"]).arg(&folder).status().unwrap();
    assert!(made.success(), "this test needs Python's `venv`");
    let packages = Command::new(folder.join("bin/python3"))
        .args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'), end='')"])
        .output()
        .unwrap();
    let packages = String::from_utf8(packages.stdout).unwrap();
    std::fs::write(std::path::Path::new(&packages).join("only_here.py"), "X = 1\n").unwrap();
    let search = InterpreterSearch { env: vec![("PATH".into(), folder.join("bin").into())], cache: None };
    let found = find_interpreter(ToolRuntime::Python, &tool.plan.workspace, &search).unwrap();
    assert_eq!(found.program, python.program, "the program is the real one");
    assert!(found.readable.contains(&folder), "{found:?}");
    let options = ExecuteOptions {
        search: &search,
        environments: None,
        caller: None,
        redacted_values: &[],
        hidden_folders: &[],
        run_registry: None,
    };
    let outcome =
        execute_grant_with(&super::granted(&tool.plan), &[], &options, &tool.cancel, unconfined::run_unconfined);
    assert_eq!(*result(&outcome), serde_json::json!({"own": true, "x": 1}), "{}", outcome.log_text);
}
