//! `rep sync`, `rep update`, `rep pin`, and the skills that other skills require.

use std::path::Path;

use rep_test_support::{ProgramRun, Registry, ScratchFolder, TestRepository, is_program_installed};
use serde_json::{Value, json};

use crate::install_git::{GitWorld, skill};
use crate::{json as parsed, rep, run};

fn states(run: &ProgramRun) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = parsed(run)["skills"].as_array().cloned().unwrap_or_default();
    all.iter().map(|one| (text(&one["name"]), text(&one["state"]))).collect()
}

fn pair(name: &str, state: &str) -> (String, String) {
    (name.to_owned(), state.to_owned())
}

/// A project on another machine: with the lock file, and nothing else.
fn clone_project(world: &GitWorld) -> ScratchFolder {
    let other = ScratchFolder::new();
    other.write_file("project/skills-lock.json", world.scratch.read_file("project/skills-lock.json"));
    std::fs::create_dir_all(other.work_folder().join("project/.git")).expect("the folder can be made");
    other
}

#[test]
fn a_clone_on_an_empty_machine_is_restored_exactly_even_after_the_tag_moved() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    assert_eq!(world.run(&["install", &format!("{}#v1.0.0", world.url()), "--host", "claude-code"]).code, 0);
    world.repository.write_file("tools/pdf/SKILL.md", skill("pdf", "changed"));
    world.repository.commit_all("second");
    world.repository.run_git(&["tag", "--force", "v1.0.0"]);
    let other = clone_project(&world);
    let before = other.read_file("project/skills-lock.json");
    let at = |words: &[&str]| run(&other, &[words, &["--project", "project"]].concat());
    let missing = at(&["sync", "--check", "--json"]);
    assert_eq!((missing.code, states(&missing)), (1, vec![pair("docx", "restored"), pair("pdf", "restored")]));
    assert!(!other.work_folder().join("project/.claude").exists(), "a comparison writes nothing");
    let offline = at(&["sync", "--offline", "--json"]);
    assert_eq!((offline.code, &parsed(&offline)["skills"][0]["code"]), (2, &json!("OFFLINE")), "{offline:?}");
    let synced = at(&["sync", "--json"]);
    assert_eq!((synced.code, states(&synced)), (0, vec![pair("docx", "restored"), pair("pdf", "restored")]));
    assert!(other.read_file("project/.claude/skills/pdf/SKILL.md").contains("PDF"), "the recorded commit is restored");
    assert_eq!(at(&["verify"]).code, 0);
    assert_eq!(other.read_file("project/skills-lock.json"), before);
    // What was fetched once is restored without the server.
    std::fs::remove_dir_all(other.work_folder().join("project/.claude")).unwrap();
    let cached = at(&["sync", "--offline"]);
    assert_eq!(cached.code, 0, "{cached:?}");
    assert_eq!(states(&at(&["sync", "--check", "--json"])), vec![pair("docx", "current"), pair("pdf", "current")]);
}

/// What a new colleague or a build machine does, word by word.
#[test]
fn a_cloned_project_is_restored_and_verified_by_two_commands() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    let project = TestRepository::create(&world.scratch.work_folder().join("srv/project"));
    project.write_file(".gitignore", ".agents/\n.claude/\n");
    project.write_file("skills/letters/SKILL.md", skill("letters", "letter"));
    let registry = Registry::start(&world.scratch.work_folder().join("registry"));
    let mut sources = vec![format!("{}#v1.0.0", world.url()), "srv/project/skills/letters".to_owned()];
    if let Some(registry) = &registry {
        world.scratch.write_file("src/xlsx/SKILL.md", skill("xlsx", "XLSX"));
        let target = format!("oci://{}/team/xlsx:1.0.0", registry.address);
        assert_eq!(run(&world.scratch, &["push", "src/xlsx", &target]).code, 0);
        sources.push(target);
    }
    for source in &sources {
        let words = ["install", source, "--project", "srv/project", "--host", "claude-code", "--host", "codex"];
        let installed = run(&world.scratch, &words);
        assert_eq!(installed.code, 0, "{installed:?}");
    }
    project.commit_all("skills of the project");
    let machine = ScratchFolder::new();
    let script =
        format!("git clone --quiet {} clone && cd clone && rep sync && rep verify", world.server.url("project"));
    let path =
        format!("{}:{}", rep().parent().expect("it is in a directory").display(), std::env::var("PATH").unwrap());
    let done = machine.run_with_environment(Path::new("sh"), &["-c", &script], &[("PATH", &path)]);
    assert_eq!(done.code, 0, "{done:?}");
    for name in ["docx", "letters", "pdf"].into_iter().chain(registry.is_some().then_some("xlsx")) {
        for host in [".agents", ".claude"] {
            let file = machine.work_folder().join("clone").join(host).join("skills").join(name).join("SKILL.md");
            assert!(file.is_file(), "{}", file.display());
        }
    }
    let status = machine.run_program(Path::new("git"), &["-C", "clone", "status", "--porcelain"]);
    assert_eq!(status.stdout, "", "nothing of the repository changed");
}

#[test]
fn content_that_differs_from_the_lock_file_is_refused_and_nothing_of_it_is_written() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    assert_eq!(world.run(&["install", &format!("{}#v1.0.0", world.url()), "--host", "claude-code"]).code, 0);
    world.repository.write_file("tools/pdf/SKILL.md", skill("pdf", "changed"));
    world.repository.commit_all("second");
    world.repository.run_git(&["tag", "--force", "v1.0.0"]);
    // As the npm tool writes entries: with the tag, without the commit. And an entry of `rep` whose commit was removed.
    let mut lock = world.lock();
    lock["skills"]["docx"].as_object_mut().unwrap().remove("rep");
    lock["skills"]["pdf"]["rep"].as_object_mut().unwrap().remove("commit");
    for (name, is_foreign) in [("pdf", false), ("pdf", true)] {
        if is_foreign {
            lock["skills"]["pdf"].as_object_mut().unwrap().remove("rep");
        }
        let other = ScratchFolder::new();
        std::fs::create_dir_all(other.work_folder().join("project/.git")).unwrap();
        other.write_file("project/skills-lock.json", lock.to_string());
        let synced = run(&other, &["sync", "--json", "--project", "project"]);
        assert_eq!(synced.code, 3, "{synced:?}");
        let all = parsed(&synced)["skills"].clone();
        let failed = all.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
        assert_eq!((&failed["state"], &failed["code"]), (&json!("failed"), &json!("DIGEST_MISMATCH")), "{failed}");
        assert!(synced.stderr.contains("v1.0.0"), "{synced:?}");
        let project = other.work_folder().join("project");
        assert!(!project.join(".agents/skills/pdf").exists() && !project.join(".claude/skills/pdf").exists());
        // The other skill did not change, and the npm tool's entry is restored where hosts look.
        assert!(project.join(".agents/skills/docx/SKILL.md").is_file());
        assert_eq!(other.read_file("project/skills-lock.json"), lock.to_string());
    }
}

#[test]
fn local_changes_survive_and_only_what_rep_placed_is_pruned() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    assert_eq!(world.run(&["install", &world.url(), "--host", "claude-code", "--host", "codex"]).code, 0);
    let scratch = &world.scratch;
    scratch.write_file("project/.agents/skills/pdf/notes.md", "mine");
    let kept = world.run(&["sync", "--json"]);
    assert_eq!((kept.code, &parsed(&kept)["skills"][1]["code"]), (2, &json!("CHANGED")), "{kept:?}");
    assert_eq!(scratch.read_file("project/.agents/skills/pdf/notes.md"), "mine");
    assert_eq!(world.run(&["sync", "--force"]).code, 0);
    assert!(!world.installed("pdf/notes.md").exists());
    // Somebody else removed `docx` from the lock file, and a skill of the project is not in it.
    let mut lock = world.lock();
    lock["skills"].as_object_mut().unwrap().remove("docx");
    scratch.write_file("project/skills-lock.json", format!("{lock:#}\n"));
    scratch.write_file("project/.agents/skills/own/SKILL.md", skill("own", "own"));
    let check = world.run(&["sync", "--check", "--prune", "--json"]);
    assert_eq!(check.code, 1);
    assert!(states(&check).contains(&pair("docx", "pruned")), "{check:?}");
    assert!(world.installed("docx/SKILL.md").exists());
    assert_eq!(world.run(&["sync"]).code, 0);
    assert!(world.installed("docx/SKILL.md").exists(), "without --prune, nothing is removed");
    let pruned = world.run(&["sync", "--prune"]);
    assert_eq!(pruned.code, 0, "{pruned:?}");
    assert!(!world.installed("docx").exists() && !scratch.work_folder().join("project/.claude/skills/docx").exists());
    assert!(world.installed("own/SKILL.md").exists() && world.installed("pdf/SKILL.md").exists());
}

#[test]
fn a_lock_file_cannot_make_sync_write_elsewhere() {
    let scratch = ScratchFolder::new();
    std::fs::create_dir_all(scratch.work_folder().join("project/.git")).unwrap();
    scratch.write_file("src/pdf/SKILL.md", skill("pdf", "PDF"));
    let at = |words: &[&str]| run(&scratch, &[words, &["--project", "project"]].concat());
    assert_eq!(at(&["install", "src", "--host", "claude-code", "--host", "codex"]).code, 0);
    let lock: Value = serde_json::from_str(&scratch.read_file("project/skills-lock.json")).unwrap();
    std::fs::remove_dir_all(scratch.work_folder().join("project/.agents")).unwrap();
    std::fs::remove_dir_all(scratch.work_folder().join("project/.claude")).unwrap();
    for places in [
        json!([{ "path": "../outside/pdf" }]),
        json!([{ "path": ".git/pdf" }]),
        json!([{ "path": ".agents/skills/pdf" }, { "path": ".claude/skills/pdf", "link": "../../../../etc" }]),
        json!([{ "path": ".claude/skills/pdf", "link": "/etc" }]),
    ] {
        let mut bad = lock.clone();
        bad["skills"]["pdf"]["rep"]["places"] = places;
        scratch.write_file("project/skills-lock.json", bad.to_string());
        let synced = at(&["sync", "--json"]);
        assert_eq!((synced.code, &parsed(&synced)["skills"][0]["code"]), (2, &json!("BROKEN_LOCK")), "{synced:?}");
        assert!(
            !scratch.work_folder().join("project/.claude").exists() && !scratch.work_folder().join("outside").exists()
        );
    }
}

#[test]
fn an_update_shows_the_difference_asks_and_keeps_hosts_and_copies() {
    if !is_program_installed("git") {
        return;
    }
    let world = GitWorld::new(None);
    let install = ["install", &world.url(), "--host", "claude-code", "--host", "codex", "--copy"];
    assert_eq!(world.run(&install).code, 0);
    world.repository.write_file("tools/pdf/SKILL.md", skill("pdf", "newer"));
    world.repository.write_file("tools/pdf/more.md", "more\n");
    world.repository.write_file("tools/docx/SKILL.md", skill("docx", "newer"));
    world.repository.commit_all("second");
    assert_eq!(world.run(&["pin", "docx"]).code, 0);
    let diff = world.run(&["update", "--diff"]);
    assert_eq!(diff.code, 1, "{diff:?}");
    for part in
        ["docx  pinned", "pdf  available", "-description: Fills PDF forms", "+description: Fills newer forms", "+more"]
    {
        assert!(diff.stdout.contains(part), "{part}: {diff:?}");
    }
    let asked = world.run(&["update", "--json"]);
    assert_eq!((asked.code, &parsed(&asked)["error"]["code"]), (3, &json!("CONFIRMATION_REQUIRED")), "{asked:?}");
    let updated = world.run(&["update", "--yes", "--json"]);
    assert_eq!(
        (updated.code, states(&updated)),
        (0, vec![pair("docx", "pinned"), pair("pdf", "updated")]),
        "{updated:?}"
    );
    let entry = world.lock()["skills"]["pdf"]["rep"].clone();
    assert_eq!((&entry["mode"], &entry["hosts"]), (&json!("copy"), &json!(["claude-code", "codex"])));
    assert!(world.scratch.read_file("project/.claude/skills/pdf/more.md").contains("more"));
    assert!(world.scratch.read_file("project/.agents/skills/docx/SKILL.md").contains("DOCX"));
    // Changes of the user are not overwritten.
    assert_eq!(world.run(&["unpin", "docx"]).code, 0);
    world.scratch.write_file("project/.agents/skills/docx/SKILL.md", skill("docx", "mine"));
    let changed = world.run(&["update", "docx", "--yes", "--json"]);
    assert_eq!((changed.code, &parsed(&changed)["error"]["code"]), (2, &json!("CHANGED")), "{changed:?}");
    assert_eq!(world.run(&["update", "docx", "--yes", "--force"]).code, 0);
    assert_eq!(states(&world.run(&["update", "--json"])), vec![pair("docx", "current"), pair("pdf", "current")]);
}

fn versioned(name: &str, version: &str, needs: &str) -> String {
    skill(name, name).replacen("---\n", &format!("---\nversion: {version}\ndepends_on: [{needs}]\n"), 1)
}

#[test]
fn required_skills_come_along_and_go_when_nothing_requires_them() {
    let scratch = ScratchFolder::new();
    std::fs::create_dir_all(scratch.work_folder().join("project/.git")).unwrap();
    scratch.write_file("src/a/SKILL.md", versioned("a", "1.0.0", "\"b@^1.2\""));
    scratch.write_file("src/b/SKILL.md", versioned("b", "1.4.0", "c"));
    scratch.write_file("src/c/SKILL.md", versioned("c", "3.0.0", ""));
    scratch.write_file("src/d/SKILL.md", versioned("d", "1.0.0", "c"));
    let at = |words: &[&str]| run(&scratch, &[words, &["--project", "project", "--json"]].concat());
    let lock = || serde_json::from_str::<Value>(&scratch.read_file("project/skills-lock.json")).unwrap();
    let names = |lock: &Value| lock["skills"].as_object().unwrap().keys().cloned().collect::<Vec<String>>();
    assert_eq!(at(&["install", "src", "--skill", "a"]).code, 0);
    let first = lock();
    assert_eq!(names(&first), ["a", "b", "c"]);
    let own = |name: &str| first["skills"][name]["rep"].clone();
    assert_eq!((&own("b")["requiredBy"], &own("b")["dependency"]), (&json!(["a"]), &json!(true)));
    assert_eq!((&own("c")["requiredBy"], &own("a")["dependency"]), (&json!(["b"]), &Value::Null));
    assert_eq!(own("b")["version"], "1.4.0");
    assert_eq!(at(&["install", "src/d"]).code, 0);
    let needed = at(&["remove", "b"]);
    assert_eq!((needed.code, &parsed(&needed)["error"]["code"]), (2, &json!("REQUIRED")), "{needed:?}");
    assert_eq!(at(&["remove", "a"]).code, 0);
    assert_eq!(names(&lock()), ["c", "d"], "c is still required by d");
    assert!(!scratch.work_folder().join("project/.agents/skills/b").exists());
    // What the user asked for stays.
    assert_eq!(at(&["install", "src/c"]).code, 0);
    assert_eq!(at(&["remove", "d"]).code, 0);
    assert_eq!(names(&lock()), ["c"]);
    assert_eq!(at(&["verify"]).code, 0);
}

#[test]
fn a_conflict_of_versions_shows_both_chains_and_installs_nothing() {
    let scratch = ScratchFolder::new();
    std::fs::create_dir_all(scratch.work_folder().join("project/.git")).unwrap();
    scratch.write_file("src/a/SKILL.md", versioned("a", "1.0.0", "b, \"c@^2\""));
    scratch.write_file("src/b/SKILL.md", versioned("b", "1.0.0", "\"c@>=2.1 <2.5\""));
    scratch.write_file("src/c/SKILL.md", versioned("c", "2.6.0", ""));
    let conflict = run(&scratch, &["install", "src", "--skill", "a", "--project", "project", "--json"]);
    assert_eq!((conflict.code, &parsed(&conflict)["error"]["code"]), (2, &json!("VERSION_CONFLICT")), "{conflict:?}");
    for part in ["`a` → `b` requires `c@>=2.1 <2.5`", "`a` → `c` takes `c` `2.6.0`"] {
        assert!(conflict.stderr.contains(part), "{part}: {conflict:?}");
    }
    assert!(!scratch.work_folder().join("project/skills-lock.json").exists());
    // An installed skill holds a version, too.
    scratch.write_file("src/b/SKILL.md", versioned("b", "1.0.0", "\"c@~2.6.0\""));
    assert_eq!(run(&scratch, &["install", "src", "--skill", "b", "--project", "project"]).code, 0);
    scratch.write_file("src/c/SKILL.md", versioned("c", "3.0.0", ""));
    scratch.write_file("src/e/SKILL.md", versioned("e", "1.0.0", "\"c@3\""));
    let held = run(&scratch, &["install", "src", "--skill", "e", "--project", "project", "--json"]);
    assert_eq!(held.code, 2, "{held:?}");
    for part in ["`e` requires `c@3`", "`c` `2.6.0` is installed for `b`, which requires `c@~2.6.0`"] {
        assert!(held.stderr.contains(part), "{part}: {held:?}");
    }
}
