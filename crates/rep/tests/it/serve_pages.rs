//! What the dashboard tells authors and operators: findings, costs, use, dependencies, and how to connect.

use rep_test_support::{DEADLINE, ScratchFolder, poll_until, wait_until};
use serde_json::json;

use super::serve::{PATH, library};
use super::serve_http::{ask_new, listening};
use super::serve_runs::{RUN, tools};
use super::serve_web::{get, post};

/// A page of the library after all skills were read.
fn read_library(address: &str, path: &str) -> String {
    let page = || Some(get(address, path).body).filter(|page| !page.contains("data-poll"));
    poll_until(DEADLINE, page).unwrap_or_else(|| panic!("{path} is never complete"))
}

/// The skills of a page, in order.
fn listed(page: &str) -> Vec<String> {
    let list = page.split("id=\"list\"").nth(1).unwrap_or(page);
    let names = list.split("href=\"/skill?name=").skip(1).filter_map(|part| part.split('"').next());
    names.map(str::to_owned).collect()
}

#[test]
fn findings_tags_and_tools_are_seen_and_filter_the_library() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let skill = |name: &str, more: &str, body: &str| {
        let about = "Does things for a test. Use when testing the library.";
        let text = format!("---\nname: {name}\ndescription: {about}\n{more}---\n\n# Skill\n\n{body}\n");
        scratch.write_file(&format!("skills/{name}/SKILL.md"), text);
    };
    skill("tagged", "metadata:\n  tags: \"data, <b>wild</b>\"\n", "Plain words.");
    skill("sneaky", "", "Hidden\u{200b}\u{202e} letters, and [a file](missing.md).");
    skill("long", "", &"Many words to count. ".repeat(400));
    let (_server, address) = listening(&scratch, &PATH);
    let page = read_library(&address, "/");
    assert_eq!(listed(&page), ["long", "plain", "sneaky", "tagged", "writer"], "{page}");
    assert!(page.contains("href=\"/?findings=errors\""), "a tile counts the skills with errors: {page}");
    assert!(page.contains("&lt;b&gt;wild&lt;/b&gt;") && !page.contains("<b>wild"), "{page}");
    for (query, expected) in [
        ("findings=errors", &["sneaky"][..]),
        ("has=tools", &["plain", "writer"]),
        ("has=scripts", &["plain", "writer"]),
        ("tag=data", &["tagged"]),
        ("tag=%3Cb%3Ewild%3C%2Fb%3E", &["tagged"]),
        ("status=not+listed", &[]),
        ("findings=errors&tag=data", &[]),
    ] {
        assert_eq!(listed(&read_library(&address, &format!("/?{query}"))), expected, "{query}");
        let table = read_library(&address, &format!("/?view=table&{query}"));
        assert_eq!(listed(&table), expected, "{query} as a table");
    }
    let by_tokens = read_library(&address, "/?view=table&sort=tokens");
    assert_eq!(listed(&by_tokens)[0], "long", "{by_tokens}");
    assert!(by_tokens.contains("aria-sort=\"descending\"") && by_tokens.contains("order=reverse"), "{by_tokens}");
    assert_eq!(listed(&read_library(&address, "/?sort=tokens&order=reverse")).last().unwrap(), "long");
    assert_eq!(listed(&read_library(&address, "/?sort=findings"))[0], "sneaky");
    // The most expensive skill is the first bar.
    let costs = get(&address, "/costs").body;
    assert_eq!(costs.split("href=\"/skill?name=").nth(1).unwrap().split('"').next(), Some("long"), "{costs}");
}

#[test]
fn an_operator_sees_clients_calls_refusals_and_what_is_not_listed() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    // The name is not that of its directory, so clients that are strict cannot list it.
    let odd = "---\nname: Odd Name\ndescription: Is odd. Use when testing.\n---\n\n# Odd\n";
    scratch.write_file("skills/odd/SKILL.md", odd);
    let (_server, address) = listening(&scratch, &RUN);
    assert!(get(&address, "/overview").body.contains("No client has called yet"));
    ask_new(&address, "tools/call", json!({ "name": "plain__fail", "arguments": {} }), &[]);
    let list = ask_new(&address, "skills/list", json!({}), &[]).message()["result"]["skills"].to_string();
    assert!(!list.contains("Odd Name"), "{list}");
    let foreign = super::serve_http::request(&address, "GET", "/", &[("Host", "evil.example")], "");
    assert_eq!(foreign.status, 403);
    let page = get(&address, "/overview").body;
    for words in [
        "2026-07-28",
        "<b>2</b><span>calls since the start",
        "<b>1</b><span>of them failed",
        "403 foreign host or origin",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(page.contains("Skills that clients cannot list") && page.contains("Odd Name"), "{page}");
    assert!(listed(&read_library(&address, "/?status=not+listed")).contains(&"Odd%20Name".to_owned()));
    // A long list ends with a link to the same filter.
    for number in 0..60 {
        scratch.write_file(&format!("skills/odd-{number}/SKILL.md"), odd.replace("Odd Name", &format!("Odd {number}")));
    }
    let filter = "/?status=not+listed";
    wait_until("the overview links to all of them", DEADLINE, || get(&address, "/overview").body.contains(filter));
    let part = get(&address, "/overview?part=1").body;
    assert!(!part.contains("<html") && part.contains("Refused requests"), "{part}");
}

#[test]
fn a_skill_that_is_not_served_says_why() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let text = "---\nname: pdf\ndescription: A copy. Use when testing.\n---\n\n# Copy\n";
    scratch.write_file("skills/again/SKILL.md", text);
    let (_server, address) = listening(&scratch, &PATH);
    let page = read_library(&address, "/?status=not+listed&view=table");
    assert!(listed(&page).iter().any(|name| name.starts_with("pdf")), "{page}");
    assert!(page.contains("shadowed"), "{page}");
}

#[test]
fn an_empty_library_says_where_it_looked_and_what_to_do() {
    let scratch = ScratchFolder::new();
    let (_server, address) = listening(&scratch, &[]);
    let page = get(&address, "/").body;
    for words in ["rep init my-skill", "rep install SOURCE", "rep serve --http --path FOLDER"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let panels = get(&address, "/try").body;
    assert!(panels.contains("placeholder=\"SKILL:meta.description\""), "{panels}");
}

#[test]
fn a_query_is_shown_with_an_example_that_works() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let odd = "---\nname: 01-first\ndescription: Comes first. Use when testing.\n---\n\n# First\n";
    scratch.write_file("skills/01-first/SKILL.md", odd);
    let (_server, address) = listening(&scratch, &PATH);
    let panels = get(&address, "/try").body;
    assert!(!panels.contains("01-first:"), "{panels}");
    let example = panels.split("href=\"/try?panel=query&amp;text=").nth(1).expect("there is an example");
    let answer = get(&address, &format!("/try?panel=query&text={}", example.split('#').next().unwrap())).body;
    assert!(answer.contains("class=\"result\"") && !answer.contains("UNKNOWN"), "{answer}");
}

#[test]
fn a_visitor_learns_how_to_connect_each_host() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    let page = get(&address, "/connect").body;
    assert!(page.contains(&format!("http://{address}/mcp")) && page.contains("No token is needed"), "{page}");
    assert!(page.contains("claude mcp add") && page.contains("rep serve --path "), "{page}");
    assert!(page.contains("<p>Or run:</p>"), "the command can be copied: {page}");
    let codex = get(&address, "/connect?host=codex&part=1").body;
    assert!(codex.contains("[mcp_servers.repertoire]") && codex.contains("config.toml"), "{codex}");
    assert!(get(&address, "/connect?host=nobody").body.contains("claude mcp add"));
    scratch.write_file("tokens.txt", "first-token-of-ours-1\n");
    let (_server, address) = listening(&scratch, &["--path", "skills", "--token-file", "tokens.txt"]);
    let token = [("Authorization", "Bearer first-token-of-ours-1"), ("Accept", "text/html")];
    let page = super::serve_http::request(&address, "GET", "/connect", &token, "").body;
    assert!(page.contains("tokens.txt") && page.contains("REPERTOIRE_TOKEN"), "{page}");
    assert!(!page.contains("first-token-of-ours-1"), "{page}");
}

#[test]
fn a_tool_is_run_with_a_form_made_from_its_schema() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = listening(&scratch, &RUN);
    let page = get(&address, "/skill?name=plain");
    assert!(page.body.contains("type=\"number\"") && page.body.contains("name=\"arg.a\""), "{}", page.body);
    let form = format!("key={}&tool=plain__echo&form=fields", page.key());
    let person = [("Accept", "text/html")];
    let wrong = post(&address, "/run", &person, &format!("{form}&arg.a=1.5"));
    assert!(wrong.status == 400 && wrong.body.contains("must be an integer"), "{wrong:?}");
    assert!(wrong.body.contains("value=\"1.5\""), "what was entered is not lost: {wrong:?}");
    let begun = post(&address, "/run", &person, &format!("{form}&arg.a=7"));
    assert_eq!(begun.status, 303, "{begun:?}");
    let result = begun.header("location").expect("the result has a page").to_owned();
    let done = || Some(get(&address, &result).body).filter(|page| page.contains("&quot;ok&quot;: true"));
    assert!(poll_until(DEADLINE, done).is_some(), "{}", get(&address, &result).body);
}

#[test]
fn runs_open_to_how_they_ended_and_are_filtered_by_client() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = listening(&scratch, &RUN);
    ask_new(&address, "tools/call", json!({ "name": "plain__fail", "arguments": {} }), &[]);
    super::run(&scratch, &["run", "plain:echo", "--path", "skills", "--no-sandbox"]);
    let page = get(&address, "/runs").body;
    for words in ["<dt>Exit</dt><dd><bdi>code 3</bdi>", "<dt>Message</dt>", "Runs by client"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let link = page.split("href=\"/runs?client=").skip(1).map(|part| part.split('"').next().unwrap());
    let clients: Vec<&str> = link.filter(|client| !client.is_empty()).collect();
    assert_eq!(clients.len(), 2, "the client and the user of the terminal: {clients:?}");
    let counts = |tool: &str| -> Vec<usize> {
        let pages = clients.iter().map(|client| get(&address, &format!("/runs?part=1&client={client}")).body);
        pages.map(|page| page.matches(&format!("plain:{tool}</bdi>")).count()).collect()
    };
    let (fails, echoes) = (counts("fail"), counts("echo"));
    assert_eq!((fails.iter().sum::<usize>(), echoes.iter().sum::<usize>()), (1, 1));
    assert_ne!(fails, echoes, "each is a run of another client");
    assert!(get(&address, "/runs?client=nobody").body.contains("No runs of this client"));
}

#[test]
fn the_page_of_a_skill_has_its_names_for_clients_and_who_used_it() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = listening(&scratch, &RUN);
    let page = get(&address, "/skill?name=plain").body;
    assert!(page.contains("skill://plain/SKILL.md") && page.contains("<code>plain__echo</code>"), "{page}");
    assert!(page.contains("Nobody has used this skill"), "{page}");
    let permissions = page.split("<h2>Permissions</h2>").nth(1).unwrap().split("</section>").next().unwrap();
    assert_eq!(permissions.matches("time limit").count(), 1, "what three tools share is said once: {permissions}");
    ask_new(&address, "tools/call", json!({ "name": "plain__echo", "arguments": {} }), &[]);
    ask_new(&address, "tools/call", json!({ "name": "load_skill", "arguments": { "name": "plain" } }), &[]);
    let used = || {
        let page = get(&address, "/skill?name=plain").body;
        (page.contains("run echo") && page.contains("load_skill plain")).then_some(page)
    };
    let page = poll_until(DEADLINE, used).unwrap_or_else(|| panic!("{}", get(&address, "/skill?name=plain").body));
    assert!(page.contains("2 uses recorded"), "{page}");
    let table = read_library(&address, "/?view=table&sort=used");
    assert_eq!(listed(&table), ["plain", "writer"], "{table}");
    assert!(table.contains("<time datetime=") && table.contains("never"), "{table}");
}

#[test]
fn the_graph_around_a_skill_has_its_neighbours_and_no_other() {
    let scratch = ScratchFolder::new();
    let skill = |name: &str, needs: &str| {
        let text = format!(
            "---\nname: {name}\ndescription: Needs others. Use when testing needs.\nspec_version: \"2.1\"\ndepends_on: [{needs}]\n---\n\n# Needy\n"
        );
        scratch.write_file(&format!("skills/{name}/SKILL.md"), text);
    };
    skill("first", "second");
    skill("second", "third, nobody");
    skill("third", "fourth");
    skill("fourth", "fifth");
    skill("fifth", "");
    skill("other", "fifth");
    let (_server, address) = listening(&scratch, &PATH);
    let around = get(&address, "/graph?name=first").body;
    for name in ["second", "third", "nobody: no skill has this name", "needs, but cannot get"] {
        assert!(around.contains(name), "{name}: {around}");
    }
    assert!(!around.contains("fifth") && !around.contains("other<"), "{around}");
    assert!(get(&address, "/skill?name=first").body.contains("Needs and needed by"));
    let whole = get(&address, "/graph").body;
    assert!(whole.contains("other: active") && whole.contains("first needs second: "), "{whole}");
    assert_eq!(get(&address, "/graph?name=nobody").status, 404);
}
