//! `--host`: what the table says a host would list. `bench/hosts.sh` asks the hosts themselves.

use std::os::unix::fs::symlink;

use rep_test_support::ScratchFolder;
use serde_json::Value;

use super::{json, rep, run};

fn skill(scratch: &ScratchFolder, path: &str, description: &str) {
    let name = path.rsplit('/').next().expect("a path has a last part");
    scratch.write_file(
        &format!("{path}/SKILL.md"),
        format!("---\nname: {name}\ndescription: {description}\n---\n\nBody.\n"),
    );
}

fn text(scratch: &ScratchFolder, path: &str, head: &str) {
    scratch.write_file(&format!("{path}/SKILL.md"), format!("---\n{head}---\n\n# Heading\n\nParagraph.\n"));
}

fn list(scratch: &ScratchFolder, host: &str, more: &[&str]) -> Value {
    let mut arguments =
        vec!["list", "--project", "proj", "--home", "home", "--managed", "managed", "--json", "--host", host];
    arguments.extend(more);
    json(&run(scratch, &arguments))
}

/// Name, status and description of everything listed.
fn rows(listing: &Value) -> Vec<(String, String, String)> {
    let word = |skill: &Value, field: &str| skill[field].as_str().unwrap_or_default().to_owned();
    let skills = listing["skills"].as_array().expect("a listing has skills");
    skills.iter().map(|skill| (word(skill, "name"), word(skill, "status"), word(skill, "description"))).collect()
}

/// Descriptions of the copies of a name the host would list.
fn listed(listing: &Value, name: &str) -> Vec<String> {
    let rows = rows(listing).into_iter();
    rows.filter(|row| row.0 == name && row.1 == "active").map(|row| row.2).collect()
}

#[test]
fn each_host_has_its_own_folders_and_order() {
    let scratch = ScratchFolder::new();
    for (path, description) in [
        ("managed/x", "managed"),
        ("proj/.agents/skills/x", "project agents"),
        ("proj/.claude/skills/x", "project claude"),
        ("proj/.github/skills/x", "project github"),
        ("proj/.gemini/skills/x", "project gemini"),
        ("home/.agents/skills/x", "home agents"),
        ("home/.claude/skills/x", "home claude"),
        ("proj/.claude/skills/y", "project claude"),
        ("home/.claude/skills/y", "home claude"),
        ("home/.config/agents/skills/x", "home config"),
    ] {
        skill(&scratch, path, description);
    }
    assert_eq!(listed(&list(&scratch, "claude-code", &[]), "x"), ["managed"]);
    assert_eq!(listed(&list(&scratch, "claude-code", &[]), "y"), ["home claude"]);
    assert_eq!(listed(&list(&scratch, "copilot", &[]), "x"), ["project github"]);
    assert_eq!(listed(&list(&scratch, "gemini-cli", &["--trust"]), "x"), ["project agents"]);
    assert_eq!(listed(&list(&scratch, "amp", &[]), "x"), ["home config"]);
    assert_eq!(listed(&list(&scratch, "codex", &[]), "x"), ["project agents", "home agents", "managed"]);
    assert!(listed(&list(&scratch, "codex", &[]), "y").is_empty(), "Codex does not read .claude");
    assert_eq!(listed(&list(&scratch, "opencode", &[]), "y").len(), 1);
}

#[test]
fn plugins_count_where_they_are_installed_and_enabled() {
    let scratch = ScratchFolder::new();
    for name in ["on", "off"] {
        skill(&scratch, &format!("store/{name}/skills/x"), name);
    }
    let place = |name: &str| {
        format!("[{{\"scope\":\"user\",\"installPath\":\"{}/{name}\"}}]", scratch.work_folder().join("store").display())
    };
    let installed = format!("{{\"plugins\":{{\"on@m\":{},\"off@m\":{}}}}}", place("on"), place("off"));
    scratch.write_file("home/.claude/plugins/installed_plugins.json", installed);
    scratch.write_file("home/.claude/settings.json", "{\"enabledPlugins\":{\"on@m\":true,\"off@m\":false}}");
    let listing = list(&scratch, "claude-code", &[]);
    let names: Vec<&Value> =
        listing["skills"].as_array().unwrap().iter().map(|skill| &skill["qualified_name"]).collect();
    assert_eq!(names, ["on:x"]);
    // An extension of Gemini CLI lends its skills without a prefix, and loses against all others.
    skill(&scratch, "home/.gemini/extensions/pack/skills/y", "of the extension");
    skill(&scratch, "home/.gemini/extensions/pack/skills/z", "of the extension");
    skill(&scratch, "home/.gemini/skills/z", "of the home");
    let listing = list(&scratch, "gemini-cli", &[]);
    assert_eq!(listed(&listing, "y"), ["of the extension"]);
    assert_eq!(listed(&listing, "z"), ["of the home"]);
}

#[test]
fn hosts_read_faulty_skills_each_in_their_own_way() {
    let scratch = ScratchFolder::new();
    for folder in ["proj/.agents/skills", "proj/.claude/skills"] {
        text(&scratch, &format!("{folder}/nameless"), "description: no name\n");
        text(&scratch, &format!("{folder}/blank"), "name: blank\n");
        text(&scratch, &format!("{folder}/colon"), "name: colon\ndescription: Use: with colons\n");
        text(&scratch, &format!("{folder}/folder"), "name: other\ndescription: two names\n");
        text(&scratch, &format!("{folder}/long"), &format!("name: long\ndescription: {}\n", "L".repeat(1600)));
        text(&scratch, &format!("{folder}/out"), "name: out\ndescription: opted out\ndisable-model-invocation: true\n");
    }
    // Each host's description of: nameless, blank, colon, folder, other, long (its length), out; `-` is not listed.
    for (host, expected) in [
        ("claude-code", "no name|Heading|Use: with colons|two names|-|1536|-"),
        ("codex", "no name|-|Use: with colons|-|two names|1024|opted out"),
        ("copilot", "no name|Paragraph.|-|-|two names|-|opted out"),
        ("gemini-cli", "-|-|Use: with colons|-|two names|1600|opted out"),
        ("opencode", "-|-|Use: with colons|-|two names|1600|opted out"),
        ("vscode", "-|-|Use: with colons|-|-|1600|-"),
    ] {
        let listing = list(&scratch, host, &["--trust"]);
        let shown = ["nameless", "blank", "colon", "folder", "other", "long", "out"].map(|name| {
            let one = listed(&listing, name).pop().unwrap_or_else(|| "-".to_owned());
            if name == "long" && one != "-" { one.chars().count().to_string() } else { one }
        });
        assert_eq!(shown.join("|"), expected, "{host}: {listing}");
    }
    let hidden =
        rows(&list(&scratch, "claude-code", &[])).into_iter().find(|row| row.0 == "out").expect("it is listed");
    assert_eq!(hidden.1, "hidden");
}

#[test]
fn hosts_search_as_deep_as_they_do_and_follow_links_once() {
    let scratch = ScratchFolder::new();
    for folder in ["proj/.agents/skills", "proj/.claude/skills"] {
        skill(&scratch, &format!("{folder}/flat"), "flat");
        skill(&scratch, &format!("{folder}/flat/inner"), "inside a skill");
        skill(&scratch, &format!("{folder}/a/b/c/d/e/six"), "six");
        skill(&scratch, &format!("{folder}/a/b/c/d/e/f/seven"), "seven");
        skill(&scratch, &format!("{folder}/.dotted"), "dotted");
        symlink(scratch.work_folder().join(folder), scratch.work_folder().join(folder).join("loop")).unwrap();
    }
    for (host, expected) in [
        ("claude-code", ".dotted flat"),
        ("codex", "flat inner six"),
        ("copilot", "flat seven six"),
        ("gemini-cli", "flat"),
        ("opencode", ".dotted flat inner seven six"),
    ] {
        let listing = list(&scratch, host, &["--trust"]);
        let names: Vec<String> = rows(&listing).into_iter().filter(|row| row.1 == "active").map(|row| row.0).collect();
        assert_eq!(names.join(" "), expected, "{host}: {listing}");
    }
}

#[test]
fn ancestors_and_variables_count_where_the_host_says_so() {
    let scratch = ScratchFolder::new();
    scratch.write_file("proj/.git/HEAD", "ref: refs/heads/main\n");
    skill(&scratch, "proj/.agents/skills/top", "top");
    skill(&scratch, "proj/apps/web/.agents/skills/web", "web");
    skill(&scratch, "elsewhere/skills/moved", "moved");
    skill(&scratch, "home/.codex/skills/usual", "usual");
    let here = scratch.work_folder().join("proj/apps/web");
    let names = |host: &str| {
        let output = std::process::Command::new(rep())
            .args(["list", "--trust", "--json", "--host", host])
            .current_dir(&here)
            .env_clear()
            .env("HOME", scratch.work_folder().join("home"))
            .env("CODEX_HOME", scratch.work_folder().join("elsewhere"))
            .output()
            .unwrap();
        let listing: Value = serde_json::from_slice(&output.stdout).unwrap();
        rows(&listing).into_iter().map(|row| row.0).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("codex"), "moved top web");
    assert_eq!(names("gemini-cli"), "web");
}

#[test]
fn trust_is_the_hosts_where_it_is_looked_at_and_ours_where_a_model_is_told() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/.agents/skills/x", "of the project");
    assert_eq!(listed(&list(&scratch, "codex", &[]), "x").len(), 1, "Codex asks for no trust");
    assert_eq!(rows(&list(&scratch, "gemini-cli", &[]))[0].1, "untrusted");
    let prompt = ["prompt", "--project", "proj", "--home", "home", "--managed", "managed", "--host", "codex"];
    assert!(!run(&scratch, &prompt).stdout.contains("of the project"));
    assert_eq!(run(&scratch, &["trust", "proj"]).code, 0);
    assert!(run(&scratch, &prompt).stdout.contains("of the project"));
}

#[test]
fn a_host_is_named_with_its_sources_and_an_unknown_one_gets_the_nearest() {
    let scratch = ScratchFolder::new();
    let listing = list(&scratch, "gemini-cli", &[]);
    assert_eq!(listing["host"]["id"], "gemini-cli");
    for field in ["source", "checked"] {
        assert!(listing["host"]["folders"][0][field].as_str().is_some_and(|text| !text.is_empty()), "{listing}");
    }
    let unknown = run(&scratch, &["list", "--host", "claud-code"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("did you mean `claude-code`?"), "{unknown:?}");
    let both = run(&scratch, &["list", "--host", "codex", "--precedence", "claude-code"]);
    assert_eq!(both.code, 2, "{both:?}");
}

#[test]
fn why_speaks_of_the_host() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/.claude/skills/x", "project");
    skill(&scratch, "home/.claude/skills/x", "home");
    let why =
        run(&scratch, &["why", "x", "--project", "proj", "--home", "home", "--managed", "m", "--host", "claude-code"]);
    assert!(why.stdout.contains("Claude Code reads that directory first"), "{why:?}");
    assert!(!why.stdout.contains("rep disable"), "{why:?}");
}
