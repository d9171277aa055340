//! The table of hosts: every fact has a source and a date, and every directory in it works with `list` and `install`.

use rep_library::hosts::{FactSource, FolderBase, HOSTS, HostFolder, HostFolderTarget};
use rep_library::{PERSONAL_FOLDERS, PROJECT_FOLDERS};
use rep_test_support::ScratchFolder;
use serde_json::Value;

use super::{GOOD, json, run};

/// Whether a text is a date of the form `2026-11-18`.
pub(super) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [4, 2, 2] && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The statuses of the copies of the skill `pdf` that a host lists.
fn statuses(listing: &Value) -> Vec<&str> {
    let skills = listing["skills"].as_array().expect("a listing has skills");
    skills.iter().filter(|skill| skill["name"] == "pdf").filter_map(|skill| skill["status"].as_str()).collect()
}

#[test]
fn every_fact_has_a_source_and_a_date() {
    for host in &HOSTS {
        let mut sources: Vec<&FactSource> = host.folders.iter().map(|folder| folder.source).collect();
        sources.extend([
            host.walk.source,
            host.outside.source,
            host.collisions.source,
            host.naming.source,
            host.description.source,
            host.file.source,
            host.honours_opt_out.source,
            host.asks_for_trust.source,
        ]);
        for source in sources {
            assert!(!source.text.is_empty() && is_date(source.checked), "{}: {source:?}", host.id);
        }
    }
    let ids: Vec<&str> = HOSTS.iter().map(|host| host.id).collect();
    assert!(ids.is_sorted(), "the table is ordered by id: {ids:?}");
}

#[test]
fn a_skill_installed_for_a_host_is_listed_as_that_host_lists_it() {
    let none = std::collections::BTreeMap::new();
    for host in &HOSTS {
        for (scope, is_personal) in [("project", false), ("personal", true)] {
            let scratch = ScratchFolder::new();
            scratch.write_file("src/pdf/SKILL.md", GOOD);
            scratch.write_file("proj/.git/HEAD", "ref: refs/heads/main\n");
            let project = scratch.work_folder().join("proj");
            let project = project.to_str().expect("the path is text");
            let mut install = vec!["install", "src/pdf", "--host", host.id, "--scope", scope, "--json"];
            if !is_personal {
                install.extend(["--project", project]);
            }
            let installed = run(&scratch, &install);
            let target = HostFolderTarget { base: std::path::Path::new("/base"), is_personal, variables: &none };
            if target.skills_folder(host).is_none() {
                assert_eq!(installed.code, 2, "{} {scope}: {installed:?}", host.id);
                assert!(installed.stdout.contains("no skill directory in the"), "{installed:?}");
                assert!(installed.stderr.contains("use `--scope"), "{installed:?}");
                continue;
            }
            assert_eq!(installed.code, 0, "{} {scope}: {installed:?}", host.id);
            let listed = json(&run(&scratch, &["list", "--host", host.id, "--project", project, "--trust", "--json"]));
            assert_eq!(statuses(&listed), ["active"], "{} {scope}: {listed}", host.id);
            // Without a host, every directory of every host is searched.
            let listed = json(&run(&scratch, &["list", "--project", project, "--trust", "--json"]));
            assert!(statuses(&listed).contains(&"active"), "{} {scope}: {listed}", host.id);
        }
    }
}

#[test]
fn the_library_searches_every_directory_of_the_table() {
    for (host, folder) in HOSTS.iter().flat_map(|host| host.folders.iter().map(move |folder| (host.id, folder))) {
        let HostFolder { at, path, .. } = folder;
        let known = match at {
            FolderBase::Here | FolderBase::Upward => PROJECT_FOLDERS.contains(path),
            FolderBase::Home | FolderBase::HomeWithout(_) => PERSONAL_FOLDERS.contains(path),
            _ => true,
        };
        assert!(known, "{host}: `{path}` is not searched without `--host`");
    }
}

#[test]
fn a_program_and_an_api_with_similar_names_are_two_hosts() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    scratch.write_file("proj/.gemini/skills/pdf/SKILL.md", GOOD);
    let program = json(&run(&scratch, &["hosts", "gemini-cli", "--json"]));
    let api = json(&run(&scratch, &["hosts", "gemini", "--json"]));
    assert_eq!((&program["id"], &api["id"]), (&"gemini-cli".into(), &"gemini".into()));
    assert_eq!((&program["export"]["takes"], &api["export"]["takes"]), (&"folders".into(), &"tools".into()));
    assert!(program["folders"].is_array() && api.get("folders").is_none(), "{api}");
    let listed = json(&run(&scratch, &["list", "--host", "gemini-cli", "--project", "proj", "--trust", "--json"]));
    assert_eq!((&listed["host"]["id"], statuses(&listed)), (&"gemini-cli".into(), vec!["active"]));
    for command in [
        &["list", "--host", "gemini"][..],
        &["install", "pdf", "--host", "gemini"],
        &["serve", "--print-config", "gemini"],
    ] {
        let refused = run(&scratch, command);
        assert_eq!(refused.code, 2, "{command:?}: {refused:?}");
        assert!(refused.stderr.contains("gemini-cli"), "{command:?}: {refused:?}");
    }
    let exported = run(&scratch, &["export", "--host", "gemini-cli", "./pdf", "--out", "dist"]);
    assert_eq!(exported.code, 0, "{exported:?}");
    assert_eq!(scratch.read_file("dist/pdf/SKILL.md"), GOOD);
    let document = json(&run(&scratch, &["export", "--host", "gemini", "./pdf"]));
    assert!(document["tools"].is_array(), "{document}");
}

#[test]
fn plugins_of_cursor_lend_their_skills_under_their_own_name() {
    let scratch = ScratchFolder::new();
    for (plugin, manifest) in
        [("local/team", ".cursor-plugin/plugin.json"), ("open", "plugin.json"), ("none", "x.json")]
    {
        scratch.write_file(&format!("home/.cursor/plugins/{plugin}/skills/pdf/SKILL.md"), GOOD);
        let name = plugin.rsplit('/').next().unwrap_or_default();
        scratch
            .write_file(&format!("home/.cursor/plugins/{plugin}/{manifest}"), format!("{{\"name\": \"{name}-kit\"}}"));
    }
    let names = |arguments: &[&str]| {
        let listing = json(&run(&scratch, &[arguments, &["--project", ".", "--home", "home", "--json"]].concat()));
        let skills = listing["skills"].as_array().expect("a listing has skills").clone();
        skills.iter().map(|skill| skill["qualified_name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["list", "--host", "cursor"]), ["open-kit:pdf", "team-kit:pdf"]);
    let all = names(&["list"]);
    assert!(all.contains(&"team-kit:pdf".to_owned()) && all.contains(&"open-kit:pdf".to_owned()), "{all:?}");
}

#[test]
fn every_host_says_its_level_and_every_fact_where_it_is_from() {
    let scratch = ScratchFolder::new();
    let all = json(&run(&scratch, &["hosts", "--json"]));
    let is_dated = |fact: &Value| {
        fact["source"].as_str().is_some_and(|text| !text.is_empty()) && fact["checked"].as_str().is_some_and(is_date)
    };
    for host in all["hosts"].as_array().expect("there are hosts") {
        let level = host["level"]["value"].as_str().unwrap_or_default();
        assert!(["L0", "L1", "L2", "L3"].contains(&level) && is_dated(&host["level"]), "{host}");
        assert!(host.get("mcp").is_none_or(is_dated) && is_dated(&host["export"]), "{host}");
        for list in ["limits", "facts", "folders"] {
            assert!(host[list].as_array().into_iter().flatten().all(is_dated), "{host}");
        }
        // The page for people shows the same.
        let id = host["id"].as_str().expect("an id is text");
        let page = run(&scratch, &["hosts", id]).stdout;
        assert!(page.contains(&format!("level       {level}: ")), "{page}");
        for fact in host["facts"].as_array().into_iter().flatten() {
            assert!(page.contains(fact["text"].as_str().expect("a fact is text")), "{page}");
        }
    }
    let level = |id: &str| json(&run(&scratch, &["hosts", id, "--json"]))["level"]["value"].clone();
    let expected = [("claude-api", "L3"), ("codex", "L3"), ("roo", "L2"), ("well-known", "L1"), ("openai", "L0")];
    for (id, value) in expected {
        assert_eq!(level(id), value, "{id}");
    }
}

#[test]
fn the_claude_api_is_described_as_it_was_and_as_it_is() {
    let scratch = ScratchFolder::new();
    let host = json(&run(&scratch, &["hosts", "claude-api", "--json"]));
    let limits: Vec<(u64, bool)> = host["limits"]
        .as_array()
        .expect("it has limits")
        .iter()
        .filter(|limit| limit["subject"] == "skills per request")
        .map(|limit| (limit["value"].as_u64().unwrap_or_default(), limit["is_current"] == true))
        .collect();
    assert_eq!(limits, [(20, true), (8, false)]);
    let facts = host["facts"].to_string();
    for word in [
        "code-execution-2025-08-25",
        "skills-2025-10-02",
        "files-api-2025-04-14",
        "/skills/{directory}/",
        "pause_turn",
        "/v1/files/{file_id}/content",
        "2026-08-20",
    ] {
        assert!(facts.contains(word), "{word}: {facts}");
    }
    let beta =
        host["facts"].as_array().into_iter().flatten().find(|fact| fact["text"].to_string().contains("skills-2025"));
    assert_eq!(beta.expect("the seed's headers are there")["is_current"], false);
}
