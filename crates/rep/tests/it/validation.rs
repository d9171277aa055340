//! Skills that their dialect calls invalid are listed with the reason, and used by nothing.

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::serve_http::{listening, request};
use super::{GOOD, json as value_of, run};

/// A UASP file with two violations of the schema.
pub(super) const BAD_UASP: &str = "meta:\n  name: bad\n  version: \"12345678\"\n  type: frob\n  description: Opens quokka burrows.\ntriggers:\n  keywords: [quokka]\ncommands:\n  open:\n    description: Opens.\n";
/// A UASP file whose version is not the hash of its content.
pub(super) const STALE_UASP: &str = "meta:\n  name: stale\n  version: \"12345678\"\n  type: cli\n  description: Says words.\ncommands:\n  say:\n    syntax: echo <word>\n    args:\n      - {name: word, type: string, required: true}\n";

fn personal_skill(more: &str) -> String {
    format!(
        "---\nname: pm\ndescription: Feeds wombats. Use when a wombat is hungry.\nx-personal-mcp:\n  id: pm\n  version: 1.0.0\n{more}---\n\n# PM\n"
    )
}

fn library() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    scratch.write_file("lib/pdf/SKILL.md", GOOD);
    scratch.write_file("lib/bad.uasp.yaml", BAD_UASP);
    scratch.write_file("lib/stale.uasp.yaml", STALE_UASP);
    let missing =
        "  capabilities: [\"resource://skills/pm/document\"]\n  references:\n    g: {path: references/none.md}\n";
    scratch.write_file("lib/pm/SKILL.md", personal_skill(missing));
    scratch
}

fn find_skill(list: &Value, name: &str) -> Value {
    let skills = list["skills"].as_array().expect("a list has skills");
    skills.iter().find(|skill| skill["name"] == name).cloned().unwrap_or_else(|| panic!("no `{name}` in {list}"))
}

#[test]
fn an_invalid_skill_is_listed_with_reason_and_location() {
    let scratch = library();
    let list = value_of(&run(&scratch, &["list", "--path", "lib", "--json"]));
    let bad = find_skill(&list, "bad");
    assert_eq!(bad["status"], "invalid");
    assert_eq!(bad["reason"], "lib/bad.uasp.yaml:4: `meta.type` is `frob` (and 1 more violation)");
    let places: Vec<(&str, u64)> = bad["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["level"] == "error")
        .map(|finding| (finding["at"].as_str().unwrap(), finding["line"].as_u64().unwrap()))
        .collect();
    assert_eq!(places, [("meta.type", 4), ("commands.open.syntax", 10)]);
    let pm = find_skill(&list, "pm");
    assert_eq!(pm["status"], "invalid");
    assert!(pm["reason"].as_str().unwrap().starts_with("lib/pm/SKILL.md:9: "), "{pm}");
    assert_eq!(find_skill(&list, "stale")["status"], "active", "a stale version is a warning");
    assert_eq!(find_skill(&list, "pdf")["status"], "active");
}

#[test]
fn an_invalid_skill_is_neither_disclosed_nor_used() {
    let scratch = library();
    for command in [&["prompt"][..], &["search", "quokka wombat"], &["select", "quokka wombat", "--threshold", "1"]] {
        let told = run(&scratch, &[command, &["--path", "lib"]].concat());
        assert!(!told.stdout.contains("quokka") && !told.stdout.contains("wombat"), "{told:?}");
    }
    let input = "{}";
    for (code, command) in [
        (1, &["query", "bad:meta"][..]),
        (2, &["exec", "bad", "open", "--json"]),
        (2, &["exec", "bad", "open", "--dry-run"]),
        (2, &["run", "pm:x", "--input", input]),
        (2, &["state", "bad", "--json"]),
        (2, &["ask", "bad", "can", "open", "--json"]),
        (2, &["workflow", "bad", "--json"]),
        (2, &["policy", "pm", "--json"]),
    ] {
        let told = run(&scratch, &[command, &["--path", "lib"]].concat());
        let error = &value_of(&told)["error"];
        assert_eq!((told.code, &error["code"]), (code, &json!("VALIDATION_FAILED")), "{command:?}: {told:?}");
        assert_eq!(error["message"], "Skill definition failed schema validation");
        let details = error["details"].as_array().expect("it has details");
        assert!(details.iter().all(|one| one["line"].as_u64() > Some(3) && one["at"].is_string()), "{details:?}");
        assert!(told.stderr.contains("--lenient"), "{told:?}");
    }
    for skill in ["bad", "./lib/bad.uasp.yaml", "./lib/pm"] {
        let place: &[&str] = if skill == "bad" { &["--path", "lib"] } else { &[] };
        let told = run(&scratch, &[&["read", skill], place].concat());
        assert_eq!((told.code, told.stdout.as_str()), (2, ""), "{told:?}");
        assert!(told.stderr.contains("Skill definition failed schema validation"), "{told:?}");
    }
}

#[test]
fn a_lenient_author_uses_it_anyway() {
    let scratch = library();
    for command in [&["--lenient", "query", "bad:meta.type"][..], &["query", "bad:meta.type", "--lenient"]] {
        let told = run(&scratch, &[command, &["--path", "lib"]].concat());
        assert_eq!((told.code, &value_of(&told)["value"]), (0, &json!("frob")), "{told:?}");
    }
    let list = value_of(&run(&scratch, &["list", "--path", "lib", "--json", "--lenient"]));
    assert_eq!(find_skill(&list, "pm")["status"], "active");
    assert_eq!(find_skill(&list, "pm")["findings"][0]["level"], "error", "the violation is still reported");
    assert_eq!(run(&scratch, &["read", "pm", "--path", "lib", "--lenient"]).code, 0);
    // What cannot be loaded at all stays invalid.
    scratch.write_file("lib/pdf/SKILL.md", "---\nname: pdf\n---\n");
    let list = value_of(&run(&scratch, &["list", "--path", "lib", "--json", "--lenient"]));
    assert_eq!(find_skill(&list, "pdf")["status"], "invalid");
}

/// Each hard violation of the contract, and some that are not hard.
#[test]
fn the_contract_of_x_personal_mcp_is_validated_on_loading() {
    let capable = "  capabilities: [\"resource://skills/pm/document\"]\n";
    let valid = personal_skill(capable);
    for (text, status) in [
        (valid.clone(), "active"),
        (valid.replace("x-personal-mcp:", "license: MIT\nx-odd: 1\nx-personal-mcp:"), "active"),
        (personal_skill(""), "invalid"),
        (personal_skill("  capabilities: []\n"), "invalid"),
        (personal_skill("  capabilities: [\"resource://skills/other/document\"]\n"), "invalid"),
        (valid.replace("id: pm", "id: other"), "invalid"),
        (valid.replace("version: 1.0.0", "version: one"), "invalid"),
        (valid.replace("version: 1.0.0", "tags: [Not Kebab]\n  version: 1.0.0"), "active"),
        (valid.replace("version: 1.0.0", "depends_on: [\"No!\"]\n  version: 1.0.0"), "invalid"),
        (valid.replace("version: 1.0.0", "references: {g: {path: /etc/passwd}}\n  version: 1.0.0"), "invalid"),
        (valid.replace("name: pm\n", "name: PM\n"), "invalid"),
    ] {
        let scratch = ScratchFolder::new();
        scratch.write_file("lib/pm/SKILL.md", &text);
        let list = value_of(&run(&scratch, &["list", "--path", "lib", "--json"]));
        assert_eq!(list["skills"][0]["status"], status, "{text}{list}");
    }
}

/// Violations that the lenient reading of the specification accepts.
#[test]
fn the_examples_of_the_specification_are_valid() {
    let odd = "meta: {name: odd, version: \"12345678\", type: cli, author: someone}\nenvironment:\n  - {name: TOKEN, purpose: to sign in, default: null}\nreference:\n  a: {syntax: x, constraints: [one, two]}\n";
    let scratch = ScratchFolder::new();
    scratch.write_file("lib/odd.uasp.yaml", odd);
    let list = value_of(&run(&scratch, &["list", "--path", "lib", "--json"]));
    assert_eq!(list["skills"][0]["status"], "active", "{list}");
}

#[test]
fn an_invalid_uasp_file_next_to_a_skill_is_not_answered_from() {
    let scratch = ScratchFolder::new();
    scratch.write_file("lib/pdf/SKILL.md", GOOD);
    for text in [BAD_UASP.replace("name: bad", "name: pdf"), "meta: [\n".to_owned()] {
        scratch.write_file("lib/pdf/pdf.uasp.yaml", text);
        let told = run(&scratch, &["query", "pdf:meta", "--path", "lib"]);
        assert_eq!((told.code, &value_of(&told)["error"]["code"]), (1, &json!("VALIDATION_FAILED")), "{told:?}");
        let told = run(&scratch, &["exec", "pdf", "open", "--path", "lib", "--json", "--yes"]);
        assert_eq!((told.code, &value_of(&told)["error"]["code"]), (2, &json!("VALIDATION_FAILED")), "{told:?}");
        assert_eq!(run(&scratch, &["read", "pdf", "--path", "lib"]).code, 0, "its Markdown is valid");
    }
}

#[test]
fn a_version_that_is_not_the_hash_is_a_warning_everywhere() {
    let scratch = library();
    let warning = "version is `12345678` but the content hash is";
    for (command, findings) in [
        (&["list", "--json"][..], "/skills/3/findings/0"),
        (&["show", "stale", "--json"], "/findings/0"),
        (&["query", "stale:meta.name"], "/findings/0"),
        (&["exec", "stale", "say", "--args", "{\"word\": \"x\"}", "--yes", "--json"], "/findings/0"),
    ] {
        let told = run(&scratch, &[command, &["--path", "lib"]].concat());
        assert_eq!(told.code, 0, "{told:?}");
        assert!(told.stderr.contains("warning: ") && told.stderr.contains(warning), "{command:?}: {told:?}");
        assert_eq!(value_of(&told).pointer(findings).expect("a finding")["rule"], "uasp-version-stale", "{told:?}");
    }
    // Another warning is not made up for a version that matches.
    assert_eq!(run(&scratch, &["hash", "lib/stale.uasp.yaml", "--write"]).code, 0);
    assert_eq!(run(&scratch, &["query", "stale:meta.name", "--path", "lib"]).stderr, "");
}

#[test]
fn a_strict_server_does_not_start_with_an_invalid_skill() {
    let scratch = library();
    let told = run(&scratch, &["serve", "--strict", "--path", "lib"]);
    assert_eq!(told.code, 2, "{told:?}");
    for words in ["2 skills are invalid", "`bad`: lib/bad.uasp.yaml:4: ", "`pm`: lib/pm/SKILL.md:9: "] {
        assert!(told.stderr.contains(words), "{words}: {told:?}");
    }
    // A client that has nothing to say ends the server.
    let told = run(&scratch, &["serve", "--strict", "--path", "lib/pdf"]);
    assert_eq!(told.code, 0, "{told:?}");
}

#[test]
fn readiness_counts_invalid_skills_and_names_them_to_operators() {
    let scratch = library();
    scratch.write_file("tokens.txt", "first-token-of-ours-1\n");
    let (_server, address) = listening(&scratch, &["--path", "lib", "--token-file", "tokens.txt"]);
    assert_eq!(request(&address, "GET", "/readyz", &[], "").body, "ready\ninvalid skills: 2\nskills not listed: 1\n");
    let wrong = request(&address, "GET", "/readyz", &[("Authorization", "Bearer another-token-entirely")], "");
    assert_eq!(wrong.body, "ready\ninvalid skills: 2\nskills not listed: 1\n");
    let told = request(&address, "GET", "/readyz", &[("Authorization", "Bearer first-token-of-ours-1")], "").body;
    for words in ["bad: lib/bad.uasp.yaml:4: ", "bad: lib/bad.uasp.yaml:10: ", "pm: lib/pm/SKILL.md:9: "] {
        assert!(told.contains(words), "{words}: {told}");
    }
}
