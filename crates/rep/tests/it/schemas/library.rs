//! Runs of the commands that find, show and ask skills.

use rep_test_support::ScratchFolder;
use serde_json::json;

use super::authoring::MARKDOWN;
use super::{examples, holds, home, prints};

pub(super) const SCENARIOS: &[fn()] = &[lists, shows, prompts, searches, queries, asks, reasons, hosts];

/// A project with a skill that is shadowed, one that is invalid, one with dependencies, and one without trust.
fn project() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    std::fs::create_dir_all(scratch.work_folder().join(".git")).expect("a folder can be made");
    let skill = |name: &str, more: &str| {
        format!(
            "---\nname: {name}\ndescription: Does {name}. Use when testing {name}.\n{more}---\n\n# {name}\n\nNever do it twice.\n"
        )
    };
    scratch.write_file(".agents/skills/one/SKILL.md", skill("one", ""));
    scratch.write_file(".claude/skills/one/SKILL.md", skill("one", ""));
    scratch.write_file(".agents/skills/two/SKILL.md", skill("two", "disable-model-invocation: true\nlicense: MIT\n"));
    scratch.write_file(".agents/skills/bad/SKILL.md", "---\nname: [\n---\n");
    scratch.write_file(".agents/skills/notes/readme.md", "not a skill");
    let block = |id: &str, needs: &str| {
        format!(
            "x-personal-mcp: {{id: {id}, version: 1.0.0, capabilities: [\"resource://skills/{id}/document\"], depends_on: [{needs}]}}\n"
        )
    };
    scratch.write_file(".agents/skills/three/SKILL.md", skill("three", &block("three", "four, nothing")));
    scratch.write_file(".agents/skills/four/SKILL.md", skill("four", &block("four", "")));
    scratch
}

fn lists() {
    let scratch = project();
    prints(&scratch, "list", 0, &["list", "--path", &examples(), "--json"]);
    prints(&scratch, "list", 0, &["list", "--json"]);
    prints(&scratch, "list", 0, &["list", "--json", "--trust"]);
    for host in ["codex", "claude-code", "goose", "gemini-cli"] {
        prints(&scratch, "list", 0, &["list", "--json", "--host", host]);
    }
    prints(&scratch, "error", 2, &["list", "--json", "--host", "no-such-host"]);
    prints(&scratch, "error", 2, &["list", "--json", "--path", "nowhere"]);
    assert_eq!(scratch.run_program(crate::rep(), &["trust"]).code, 0);
    assert_eq!(scratch.run_program(crate::rep(), &["disable", "one"]).code, 0);
    holds("decisions-file", &home(&scratch, ".config/repertoire/decisions.json"));
    prints(&scratch, "list", 0, &["list", "--json"]);
}

fn shows() {
    let scratch = project();
    for name in ["csv-profile", "slugify", "http-status", "git-worktrees", "glossary", "changelog-notes"] {
        prints(&scratch, "show", 0, &["show", &format!("{}/{name}", examples()), "--json"]);
    }
    for name in ["one", "two", "three"] {
        prints(&scratch, "show", 0, &["show", name, "--json"]);
    }
    prints(&scratch, "show", 0, &["show", ".agents/skills/bad", "--json"]);
    prints(&scratch, "error", 2, &["show", "nothing", "--json"]);
}

fn prompts() {
    let scratch = ScratchFolder::new();
    let path = examples();
    prints(&scratch, "prompt", 0, &["prompt", "--style", "json", "--path", &path]);
    prints(&scratch, "prompt", 0, &["prompt", "--style", "json", "--path", &path, "--no-location"]);
    prints(&scratch, "prompt", 0, &["prompt", "--style", "json", "--path", &path, "--budget", "900"]);
    prints(&scratch, "prompt", 0, &["prompt", "--style", "json", "--path", &path, "--budget", "300"]);
    prints(&scratch, "prompt-manifest", 0, &["prompt", "--style", "manifest", "--path", &path]);
}

fn searches() {
    let scratch = ScratchFolder::new();
    let path = examples();
    prints(&scratch, "search", 0, &["search", "profile a csv file", "--json", "--path", &path]);
    prints(&scratch, "search", 1, &["search", "zzzzqqqq", "--json", "--path", &path]);
    prints(&scratch, "select", 0, &["select", "profile data.csv", "--file", "data.csv", "--json", "--path", &path]);
    prints(&scratch, "select", 0, &["select", "x", "--skill", "csv-profile", "--json", "--path", &path]);
    prints(&scratch, "select", 1, &["select", "zzzz", "--json", "--path", &path]);
    let words = "empty cells and distinct values of columns";
    prints(&scratch, "select", 0, &["select", words, "--fallback", "search", "--json", "--path", &path]);
    prints(&scratch, "error", 2, &["select", "x", "--skill", "nothing", "--json", "--path", &path]);
    let line =
        |query: &str, is_meant: bool| json!({ "query": query, "skills": ["csv-profile"], "should_trigger": is_meant });
    scratch.write_file("q.jsonl", format!("{}\n{}\n", line("profile the csv", true), line("write a poem", false)));
    prints(&scratch, "eval-triggers", 0, &["eval-triggers", "q.jsonl", "--json", "--path", &path]);
    scratch.write_file("none.jsonl", "");
    let none = scratch.run_program(crate::rep(), &["eval-triggers", "none.jsonl", "--json", "--path", &path]);
    super::printed(if none.code == 0 { "eval-triggers" } else { "error" }, none.code, &none);
    prints(&scratch, "error", 2, &["eval-triggers", "nowhere.jsonl", "--json", "--path", &path]);
}

fn queries() {
    let scratch = ScratchFolder::new();
    let path = examples();
    scratch.write_file("web-browser/SKILL.md", MARKDOWN);
    prints(&scratch, "query", 0, &["query", "http-status:reference", "--path", &path]);
    prints(&scratch, "query", 0, &["query", "http-status:", "--path", &path, "--tokens", "--json"]);
    prints(&scratch, "query", 0, &["query", "web-browser:", "--path", "web-browser"]);
    prints(&scratch, "query", 1, &["query", "http-status:nothing.there", "--path", &path]);
    prints(&scratch, "query", 1, &["query", "web-browser:nothing.there", "--path", "web-browser"]);
    prints(&scratch, "query", 1, &["query", "nothing:x", "--path", &path]);
    prints(&scratch, "query", 1, &["query", "????", "--path", &path]);
    prints(&scratch, "error", 2, &["query", "a:b", "--path", "nowhere"]);
    scratch.write_file("lib/bad.uasp.yaml", crate::validation::BAD_UASP);
    scratch.write_file("lib/stale.uasp.yaml", crate::validation::STALE_UASP);
    prints(&scratch, "query", 0, &["query", "stale:meta", "--path", "lib"]);
    prints(&scratch, "query", 1, &["query", "bad:meta", "--path", "lib"]);
    prints(&scratch, "error", 2, &["state", "bad", "--path", "lib", "--json"]);
    // A filter has no effect here, and the answer says so.
    prints(&scratch, "query", 0, &["query", "http-status:meta?name=x", "--path", &path]);
}

fn asks() {
    let scratch = ScratchFolder::new();
    scratch.write_file("web-browser/SKILL.md", MARKDOWN);
    for (word, about) in [("can", "click"), ("how", "click"), ("when", "a page"), ("syntax", "open")] {
        for skill in ["web-browser", &format!("{}/git-worktrees", examples())] {
            let run = scratch.run_program(crate::rep(), &["ask", skill, word, about, "--json"]);
            super::printed("ask", run.code, &run);
        }
    }
    prints(&scratch, "ask", 1, &["ask", "web-browser", "can", "zzzz", "--json"]);
    prints(&scratch, "error", 2, &["ask", "nothing", "can", "x", "--json"]);
}

fn reasons() {
    let scratch = project();
    for name in ["one", "two", "three", "bad"] {
        prints(&scratch, "why", 0, &["why", name, "--json"]);
        prints(&scratch, "why", 0, &["why", name, "--json", "--trust", "--budget", "60"]);
    }
    prints(&scratch, "why", 1, &["why", "notes", "--json"]);
    prints(&scratch, "error", 2, &["why", "one", "--json", "--host", "no-such-host"]);
}

fn hosts() {
    let scratch = ScratchFolder::new();
    let all = prints(&scratch, "hosts", 0, &["hosts", "--json"]);
    for host in all["hosts"].as_array().into_iter().flatten() {
        prints(&scratch, "hosts", 0, &["hosts", host["id"].as_str().unwrap_or_default(), "--json"]);
    }
    prints(&scratch, "error", 2, &["hosts", "no-such-host", "--json"]);
}
