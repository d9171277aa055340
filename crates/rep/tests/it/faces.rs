//! The terminal, the MCP server and the dashboard about the same library: one implementation, one answer.

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::serve_http::{ask_new, listening};
use super::serve_runs::{RUN, tools};
use super::serve_web::get;
use super::{json, run};

/// The text of a page, without markup.
fn text_of(page: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for letter in page.chars() {
        match letter {
            '<' => is_tag = true,
            '>' => is_tag = false,
            _ if is_tag => {}
            letter => text.push(letter),
        }
    }
    let text = text.replace("&quot;", "\"").replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&amp;", "&").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A phrase as a page shows it: code without its backticks.
fn plain(phrase: &str) -> String {
    phrase.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn findings_are_the_same_on_the_terminal_and_on_the_page_with_the_settings_of_the_project() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    scratch.write_file(
        "skills/odd/SKILL.md",
        "---\nname: other\ndescription: Does odd things. Use when testing.\nfoo: 1\n---\n\nSee [x](missing.md).\n",
    );
    let (_server, address) = listening(&scratch, &RUN);
    let shown = |name: &str| text_of(&get(&address, &format!("/skill?name={name}")).body).replace('`', "");
    let found = json(&run(&scratch, &["check", "skills/odd", "--format", "json"]));
    let messages: Vec<String> =
        found["findings"].as_array().unwrap().iter().map(|one| plain(one["message"].as_str().unwrap())).collect();
    assert!(messages.len() >= 2, "{found}");
    let page = shown("other");
    for message in &messages {
        assert!(page.contains(message.as_str()), "{message} is not in {page}");
    }
    // Settings that silence a rule silence it on both.
    let rule = found["findings"][0]["rule"].as_str().unwrap();
    scratch.write_file("rep.yaml", format!("check:\n  ignore: [{rule}]\n"));
    let rest = json(&run(&scratch, &["check", "skills/odd", "--format", "json"]));
    assert!(rest["findings"].as_array().unwrap().len() < messages.len(), "{rest}");
    let silenced = found["findings"][0]["message"].as_str().unwrap();
    assert!(!shown("other").contains(&plain(silenced)), "{silenced}");
}

#[test]
fn the_policy_in_words_is_the_same_on_the_terminal_and_on_the_page() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = listening(&scratch, &RUN);
    for skill in ["plain", "writer"] {
        let policy = run(&scratch, &["policy", skill, "--path", "skills"]);
        let page = text_of(&get(&address, &format!("/skill?name={skill}")).body).replace('`', "");
        for line in policy.stdout.lines().filter(|line| line.starts_with("  ")) {
            assert!(page.contains(&plain(line)), "{line} is not in {page}");
        }
    }
}

#[test]
fn tools_are_listed_alike_by_the_export_the_server_and_the_page() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = listening(&scratch, &RUN);
    let listed = ask_new(&address, "tools/list", json!({}), &[]).message()["result"]["tools"].clone();
    let of_skill = |tools: &Value, prefix: &str| -> Vec<Value> {
        let all = tools.as_array().unwrap().iter();
        all.filter(|tool| tool["name"].as_str().unwrap().starts_with(prefix)).cloned().collect()
    };
    let exported = json(&run(&scratch, &["export", "--host", "mcp", "plain", "--path", "skills"]));
    let exported = exported.get("tools").cloned().unwrap_or(exported);
    let (served, exported) = (of_skill(&listed, "plain__"), of_skill(&exported, "plain__"));
    let names = |tools: &[Value]| tools.iter().map(|tool| tool["name"].to_string()).collect::<Vec<_>>();
    assert_eq!(names(&served), names(&exported));
    for (one, other) in served.iter().zip(&exported) {
        assert_eq!(one["inputSchema"], other["inputSchema"]);
        assert_eq!(one["description"], other["description"]);
    }
    let page = text_of(&get(&address, "/skill?name=plain").body);
    for tool in ["echo", "fail", "forever"] {
        assert!(page.contains(tool), "{tool} is not in {page}");
    }
}

#[test]
fn a_run_gives_the_same_result_error_and_record_from_the_terminal_and_through_mcp() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = listening(&scratch, &RUN);
    let through_mcp = |tool: &str, arguments: Value| {
        ask_new(&address, "tools/call", json!({ "name": tool, "arguments": arguments }), &[]).message()["result"]
            .clone()
    };
    let terminal = json(&run(&scratch, &["run", "plain:echo", "--path", "skills", "--no-sandbox"]));
    assert_eq!(through_mcp("plain__echo", json!({}))["structuredContent"], terminal);
    for (tool, input) in [("fail", json!({})), ("echo", json!({ "b": 1 })), ("echo", json!({ "a": "x" }))] {
        let name = format!("plain:{tool}");
        let arguments = ["run", &name, "--path", "skills", "--no-sandbox", "--input", &input.to_string()];
        let terminal = json(&run(&scratch, &arguments));
        let answer = through_mcp(&format!("plain__{tool}"), input);
        assert_eq!(answer["isError"], true, "{answer}");
        let told: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(told, terminal, "{tool}");
    }
    let runs = json(&run(&scratch, &["audit", "--json"]));
    let runs = runs["runs"].as_array().unwrap();
    let fields =
        |run: &Value| (run["tool"].clone(), run["outcome"].clone(), run["policy"].clone(), run["digest"].clone());
    let (of_clients, of_user): (Vec<&Value>, Vec<&Value>) =
        runs.iter().partition(|run| run["who"].as_str().is_some_and(|who| who.contains(" for ")));
    assert!(!of_clients.is_empty());
    assert_eq!(
        of_clients.iter().map(|run| fields(run)).collect::<Vec<_>>(),
        of_user.iter().map(|run| fields(run)).collect::<Vec<_>>()
    );
    let page = text_of(&get(&address, "/audit").body);
    assert!(page.contains("plain") && page.contains("echo"), "{page}");
}

#[test]
fn a_conversion_is_the_same_file_from_the_terminal_and_through_mcp() {
    let scratch = ScratchFolder::new();
    scratch.write_file(
        "skills/rules/SKILL.md",
        "---\nname: rules\ndescription: Keeps rules. Use when testing rules.\n---\n\n## Rules\n\n- Never delete the original file.\n- Always run `make check` first.\n",
    );
    let (_server, address) = listening(&scratch, &["--path", "skills"]);
    let converted = run(&scratch, &["convert", "skills/rules", "--to", "uasp", "--out", "rules.uasp.yaml"]);
    assert_eq!(converted.code, 0, "{converted:?}");
    let arguments = json!({ "name": "convert_skill", "arguments": { "skill": "rules" } });
    let answer = ask_new(&address, "tools/call", arguments, &[]).message()["result"].clone();
    let served = answer["structuredContent"]["yaml"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(served, scratch.read_file("rules.uasp.yaml"));
}
