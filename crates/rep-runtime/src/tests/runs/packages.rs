//! Installed packages and TypeScript.

use crate::execute::{ExecuteOptions, execute_grant_with};
use crate::interpreter::find_interpreter;
use crate::{RunReply, ToolRuntime};
use serde_json::json;

use super::{Tool, code, message, result, search};

#[test]
fn typescript_runs_where_node_strips_types_and_is_refused_with_the_reason_elsewhere() {
    if !rep_test_support::is_program_installed("node") {
        return;
    }
    let text = "interface Args { n: number }\nexport function run(args: Args): object { return { n: args.n + 1 }; }\n";
    let mut tool = Tool::of(ToolRuntime::Node, "scripts/tool.ts", text).input(json!({"n": 1}));
    assert_eq!(code(&tool.run()), "INVALID_ENTRYPOINT", "no host override asks for it");
    for runner in ["sh -c node", "deno", "bun", "tsx"] {
        tool.plan.work.tool_mut().unwrap().typescript_runner = Some(runner.to_owned());
        let refused = tool.run();
        assert_eq!(code(&refused), "RUNTIME_UNAVAILABLE");
        assert!(message(&refused).contains(runner) && !refused.is_executed, "{refused:?}");
    }
    tool.plan.work.tool_mut().unwrap().typescript_runner = Some("true".to_owned());
    let node = find_interpreter(ToolRuntime::Node, &tool.plan.workspace, &search()).expect("the tests need node");
    let outcome = tool.run();
    match &outcome.reply {
        RunReply::Error(error) => {
            assert_eq!(error.code.as_str(), "RUNTIME_UNAVAILABLE", "{outcome:?}");
            assert!(error.message.contains(&node.version) && error.message.contains("22.6"), "{}", error.message);
        }
        _ => assert_eq!(*result(&outcome), json!({"n": 2})),
    }
}

#[test]
fn a_missing_package_is_hinted_at_only_where_it_is_declared() {
    if !rep_test_support::is_program_installed("node") {
        return;
    }
    let mut tool =
        Tool::of(ToolRuntime::Node, "scripts/tool.mjs", "import 'rep-sample';\nexport const run = () => ({});\n");
    let remedy = |tool: &Tool| {
        let search = search();
        let options = ExecuteOptions {
            search: &search,
            environments: Some(&tool.path()),
            caller: None,
            redacted_values: &[],
            hidden_folders: &[],
            run_registry: None,
        };
        let door = rep_sandbox::unconfined::run_unconfined;
        match execute_grant_with(&super::granted(&tool.plan), &[], &options, &tool.cancel, door).reply {
            RunReply::Error(error) => error.more.get("remedy").cloned(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(remedy(&tool), None);
    tool.plan.work.tool_mut().unwrap().dependencies.push("rep-sample".to_owned());
    assert!(remedy(&tool).is_some_and(|text| text.to_string().contains("rep deps a-skill --install")));
}
