//! What may leave a run, and what must not.

use crate::{RunVerdict, ToolRuntime};
use serde_json::json;

use super::{Tool, code, result};

const SECRET: &str = "sk-abc123/\"def";

fn with_secret(runtime: ToolRuntime, text: &str) -> Tool {
    let mut tool = Tool::new(runtime, text);
    tool.secrets = vec![("API_KEY".to_owned(), SECRET.to_owned())];
    tool
}

/// A tool that reveals its secret in every way it can: result, log, exception.
const LEAKY: &str = "import base64, os, sys, json, urllib.parse\n
def run(args, ctx):
    key = os.environ['API_KEY']
    print(key, json.dumps(key), urllib.parse.quote(key), file=sys.stderr)
    print(base64.b64encode(b'x' + key.encode()).decode(), key.encode().hex())
    ctx.log.info('using ' + key)
    if args.get('fail'):
        raise ValueError('refused: ' + key)
    return {'key': key, key: 1, 'deep': [{'header': 'Bearer ' + key}], 'length': len(key)}
";

#[test]
fn a_secret_reaches_the_tool_and_does_not_leave_it() {
    if !super::has_runtimes() {
        return;
    }
    for input in [json!({}), json!({"fail": true})] {
        let outcome = with_secret(ToolRuntime::Python, LEAKY).input(input.clone()).run();
        let all = format!("{} {}", outcome.to_json(), outcome.log_text);
        assert!(all.contains("[redacted:API_KEY]"), "{all}");
        let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
        for part in ["abc123", "YWJjMTIz", "FiYzEyM", "hYmMxMj", &hex] {
            assert!(!all.contains(part), "{part} left: {all}");
        }
        if input == json!({}) {
            assert_eq!(result(&outcome)["length"], SECRET.len(), "the tool itself had the secret");
        }
    }
}

#[test]
fn the_switches_of_the_skill_are_obeyed() {
    if !super::has_runtimes() {
        return;
    }
    let tool = |secrets: bool, pii: bool| {
        let mut tool = with_secret(
            ToolRuntime::Bash,
            "printf '{\"key\": \"%s\", \"mail\": \"ann@example.org\", \"n\": 4111111111111111}' 'sk-plain-secret'\n",
        );
        tool.secrets[0].1 = "sk-plain-secret".to_owned();
        tool.plan.redaction = crate::plan::Redaction { secrets, pii };
        result(&tool.run()).clone()
    };
    let number = 4_111_111_111_111_111_u64;
    assert_eq!(tool(true, true), json!({"key": "[redacted:API_KEY]", "mail": "[redacted:email]", "n": number}));
    assert_eq!(tool(false, true), json!({"key": "sk-plain-secret", "mail": "[redacted:email]", "n": number}));
    assert_eq!(tool(true, false), json!({"key": "[redacted:API_KEY]", "mail": "ann@example.org", "n": number}));
}

#[test]
fn a_secret_across_the_marks_of_json_holds_the_result_back() {
    if !super::has_runtimes() {
        return;
    }
    let mut tool = Tool::new(ToolRuntime::Bash, "echo '{\"aaaa\":\"bbbb\"}'\n");
    tool.secrets = vec![("ODD".to_owned(), "aaaa\":\"bbbb".to_owned())];
    let outcome = tool.run();
    assert_eq!((code(&outcome), outcome.verdict), ("RESULT_WITHHELD", RunVerdict::Failed));
}

#[test]
fn short_secrets_are_told() {
    if !super::has_runtimes() {
        return;
    }
    let mut tool = Tool::new(ToolRuntime::Bash, "echo '{}'\n");
    tool.secrets = vec![("PIN".to_owned(), "1234".to_owned())];
    assert_eq!(tool.run().metadata_json()["unredacted_secrets"], json!(["PIN"]));
}

#[test]
fn only_what_was_given_is_in_the_environment() {
    if !super::has_runtimes() {
        return;
    }
    // Cargo's own variables are in the environment of this test.
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some() || std::env::var_os("PATH").is_some());
    let mut tool = Tool::new(
        ToolRuntime::Python,
        "import os\ndef run(args, ctx):\n    return {'names': sorted(n for n in os.environ if n != 'LC_CTYPE'), 'path': os.environ['PATH']}\n",
    );
    tool.secrets =
        vec![("API_KEY".to_owned(), "a-long-secret".to_owned()), ("PATH".to_owned(), "/evil/place".to_owned())];
    let outcome = tool.run();
    let names = [
        "API_KEY",
        "HOME",
        "LANG",
        "PATH",
        "PYTHONDONTWRITEBYTECODE",
        "REP_SKILL",
        "REP_TOOL",
        "REP_WORKSPACE",
        "TMPDIR",
    ];
    assert_eq!(result(&outcome)["names"], json!(names));
    assert!(!result(&outcome)["path"].as_str().unwrap().contains("evil"), "a secret cannot replace PATH");
}

#[test]
fn the_secrets_of_who_called_do_not_leave_either() {
    if !super::has_runtimes() {
        return;
    }
    let tool = Tool::new(ToolRuntime::Bash, "echo sk-of-the-caller >&2; echo '{\"x\": \"sk-of-the-caller\"}'\n");
    let search = super::search();
    let hidden = [("KEY".to_owned(), "sk-of-the-caller".to_owned())];
    let unseen = [std::path::PathBuf::from("/data/of/rep")];
    let options = crate::execute::ExecuteOptions {
        search: &search,
        environments: None,
        caller: None,
        redacted_values: &hidden,
        hidden_folders: &unseen,
        run_registry: None,
    };
    let outcome =
        crate::execute::execute_grant_with(&super::granted(&tool.plan), &[], &options, &tool.cancel, |job, cancel| {
            assert_eq!(job.hidden, unseen, "the sandbox gets the hidden directories");
            assert!(job.env.iter().all(|(name, _)| name != "KEY"), "what is hidden is not handed on");
            rep_sandbox::unconfined::run_unconfined(job, cancel)
        });
    assert_eq!(outcome.to_json(), json!({"x": "[redacted:KEY]"}));
    assert!(!outcome.log_text.contains("sk-of"), "{}", outcome.log_text);
}

#[test]
fn shorter_paths_bring_no_secret_together() {
    if !super::has_runtimes() {
        return;
    }
    let mut tool = Tool::new(ToolRuntime::Bash, "echo \"sk-two$REP_WORKSPACE/halves\" >&2; exit 1\n");
    tool.secrets = vec![("KEY".to_owned(), "sk-twohalves".to_owned())];
    let outcome = tool.run();
    assert!(!outcome.log_text.contains("sk-twohalves"), "{}", outcome.log_text);
    assert!(!outcome.to_json().to_string().contains("sk-twohalves"), "{}", outcome.to_json());
}
