//! Discovery, precedence, trust and disclosure through the binary.

use std::os::unix::fs::symlink;
use std::process::Command;

use insta::assert_snapshot;
use rep_test_support::ScratchFolder;
use serde_json::Value;

use super::{GOOD, json, run, transcript};

/// A scratch with a project, a home and an administrator's folder.
fn skill(scratch: &ScratchFolder, path: &str) {
    let name = path.rsplit('/').next().expect("a path has a last part");
    scratch.write_file(&format!("{path}/SKILL.md"), GOOD.replace("name: pdf\n", &format!("name: {name}\n")));
}

fn list(scratch: &ScratchFolder, more: &[&str]) -> Value {
    let mut arguments = vec!["list", "--project", "proj", "--home", "home", "--managed", "managed", "--json"];
    arguments.extend(more);
    json(&run(scratch, &arguments))
}

/// Status and scope of every copy of a name, in order.
fn copies(listing: &Value, name: &str) -> Vec<(String, String)> {
    let skills = listing["skills"].as_array().expect("a listing has skills");
    let word = |skill: &Value, field: &str| skill[field].as_str().unwrap_or_default().to_owned();
    skills
        .iter()
        .filter(|skill| skill["qualified_name"] == name)
        .map(|skill| (word(skill, "status"), word(skill, "scope")))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(status, scope)| ((*status).to_owned(), (*scope).to_owned())).collect()
}

#[test]
fn managed_wins_over_project_wins_over_personal() {
    let scratch = ScratchFolder::new();
    for path in [
        "home/.claude/skills/x",
        "proj/.claude/skills/x",
        "managed/x",
        "home/.agents/skills/y",
        "proj/.agents/skills/y",
    ] {
        skill(&scratch, path);
    }
    let listing = list(&scratch, &["--trust"]);
    assert_eq!(
        copies(&listing, "x"),
        pairs(&[("active", "managed"), ("shadowed", "project"), ("shadowed", "personal")])
    );
    assert_eq!(copies(&listing, "y"), pairs(&[("active", "project"), ("shadowed", "personal")]));
    let listing = list(&scratch, &["--trust", "--precedence", "claude-code"]);
    assert_eq!(copies(&listing, "y"), pairs(&[("active", "personal"), ("shadowed", "project")]));
    let shadowed =
        &listing["skills"].as_array().unwrap().iter().find(|skill| skill["status"] == "shadowed").unwrap().clone();
    assert!(
        shadowed["reason"].as_str().unwrap().contains("take precedence over") && shadowed["shadowed_by"].is_string(),
        "{shadowed}"
    );
}

#[test]
fn packages_are_namespaced_and_never_clash() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/.agent-packages/code-review/skills/x");
    skill(&scratch, "home/.claude/plugins/tidy/skills/x");
    scratch.write_file("home/.claude/plugins/tidy/.claude-plugin/plugin.json", "{\"name\": \"tidy-up\"}");
    skill(&scratch, "proj/skills/x");
    let listing = list(&scratch, &["--trust"]);
    for name in ["x", "code-review:x", "tidy-up:x"] {
        assert_eq!(copies(&listing, name).len(), 1, "{name} in {listing}");
        assert_eq!(copies(&listing, name)[0].0, "active");
    }
}

/// A manifest beside `skills/` makes a package, in the repository as well as where hosts install plugins.
#[test]
fn packages_are_found_wherever_they_are() {
    let scratch = ScratchFolder::new();
    for (package, manifest, text) in [
        ("proj/packages/one", ".claude-plugin/plugin.json", "{\"name\": \"one-pkg\"}"),
        ("proj/tools/two", "package.agent.json", "{\"name\": \"two-pkg\"}"),
        ("proj/three", "aam.yaml", "name: three-pkg\n"),
        ("proj/.cursor/plugins/four", ".cursor-plugin/plugin.json", "{\"name\": \"four-pkg\"}"),
        ("home/.cursor/plugins/local/five", ".cursor-plugin/plugin.json", "{}"),
        ("home/.claude/plugins/cache/market/six/1.0.0", ".claude-plugin/plugin.json", "{\"name\": \"six\"}"),
        ("home/.claude/plugins/marketplaces/market/seven", ".claude-plugin/plugin.json", "{\"name\": \"seven\"}"),
        ("proj/vendored/eight", "README.md", "no manifest"),
    ] {
        skill(&scratch, &format!("{package}/skills/x"));
        scratch.write_file(&format!("{package}/{manifest}"), text);
    }
    // The project's own skills are not those of a package, even if the project is one.
    skill(&scratch, "proj/skills/own");
    scratch.write_file("proj/.claude-plugin/plugin.json", "{\"name\": \"whole\"}");
    let names = |listing: &Value| -> Vec<String> {
        let skills = listing["skills"].as_array().expect("a listing has skills");
        skills.iter().map(|skill| skill["qualified_name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let listing = list(&scratch, &["--trust"]);
    let wanted = ["five:x", "four-pkg:x", "one-pkg:x", "own", "six:x", "three-pkg:x", "two-pkg:x"];
    assert_eq!(names(&listing), wanted, "{listing}");
    assert_eq!(copies(&listing, "one-pkg:x"), pairs(&[("active", "package")]));
    assert_eq!(copies(&listing, "own"), pairs(&[("active", "project")]));
    assert_eq!(copies(&list(&scratch, &[]), "one-pkg:x"), pairs(&[("untrusted", "package")]), "the project is foreign");

    let by_path = |path: &str| names(&json(&run(&scratch, &["list", "--project", "proj", "--path", path, "--json"])));
    assert_eq!(by_path("proj/packages/one"), ["one-pkg:x"]);
    assert_eq!(by_path("proj/packages/one/skills/x"), ["one-pkg:x"]);
    assert_eq!(by_path("proj/skills"), ["own"]);
    assert_eq!(by_path("proj/vendored"), ["x"]);
    assert_eq!(run(&scratch, &["read", "one-pkg:x", "--path", "proj/packages"]).code, 0);
    let cursor = list(&scratch, &["--host", "cursor", "--trust"]);
    assert_eq!(names(&cursor), ["five:x", "four-pkg:x"], "{cursor}");
}

#[test]
fn nested_folders_of_a_monorepo_are_found_and_ignored_trees_are_not() {
    let scratch = ScratchFolder::new();
    scratch.write_file("proj/.gitignore", "build/\n");
    for path in [
        "proj/packages/web/.claude/skills/web",
        "proj/build/x/.claude/skills/built",
        "proj/node_modules/p/.claude/skills/dep",
    ] {
        skill(&scratch, path);
    }
    let listing = list(&scratch, &["--trust"]);
    assert_eq!(copies(&listing, "web").len(), 1);
    assert_eq!(copies(&listing, "built").len() + copies(&listing, "dep").len(), 0, "{listing}");
}

#[test]
fn the_nested_search_reads_gitignore_as_git_does() {
    let scratch = ScratchFolder::new();
    scratch.write_file("proj/.gitignore", "/out\ngen-*/\n*.tmp\n!gen-kept/\nwhole/\n");
    scratch.write_file("proj/apps/.gitignore", "dist\n");
    scratch.write_file("proj/.git/info/exclude", "mine/\n");
    let seen = ["apps/out", "gen-kept", "dist", "apps/web"];
    let hidden = ["out", "gen-code", "apps/dist", "a.tmp", "apps/gen-x", "mine", "whole/inner"];
    for folder in seen.iter().chain(&hidden) {
        skill(&scratch, &format!("proj/{folder}/.claude/skills/{}", folder.replace(['/', '.'], "-")));
    }
    let listing = list(&scratch, &["--trust"]);
    for (folders, count) in [(&seen[..], 1), (&hidden[..], 0)] {
        for folder in folders {
            assert_eq!(copies(&listing, &folder.replace(['/', '.'], "-")).len(), count, "{folder} in {listing}");
        }
    }
}

#[test]
fn a_skill_reached_twice_does_not_collide_with_itself() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/.agents/skills/x");
    skill(&scratch, "proj/.agents/skills/y");
    // One root that is a link to another, one skill that is, and a link from the home into the project.
    scratch.write_file("proj/.claude/keep", "");
    symlink("../.agents/skills", scratch.work_folder().join("proj/.claude/skills")).unwrap();
    scratch.write_file("proj/.github/skills/keep", "");
    symlink("../../.agents/skills/x", scratch.work_folder().join("proj/.github/skills/x")).unwrap();
    scratch.write_file("home/.agents/skills/keep", "");
    symlink(scratch.work_folder().join("proj/.agents/skills/y"), scratch.work_folder().join("home/.agents/skills/y"))
        .unwrap();
    let listing = list(&scratch, &["--trust"]);
    assert_eq!(copies(&listing, "x"), pairs(&[("active", "project")]));
    assert_eq!(copies(&listing, "y"), pairs(&[("active", "project")]));
    // The user's own link is the user's word: what the project may not say alone, the home may.
    let listing = list(&scratch, &[]);
    assert_eq!(copies(&listing, "x"), pairs(&[("untrusted", "project")]));
    assert_eq!(copies(&listing, "y"), pairs(&[("active", "personal"), ("untrusted", "project")]));
}

#[test]
fn a_root_that_is_itself_a_skill_is_listed() {
    let scratch = ScratchFolder::new();
    scratch.write_file("proj/skills/SKILL.md", GOOD);
    assert_eq!(copies(&list(&scratch, &["--trust"]), "pdf"), pairs(&[("active", "project")]));
}

#[test]
fn a_project_is_untrusted_until_trusted_and_a_changed_skill_is_untrusted_again() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/.claude/skills/x");
    skill(&scratch, "proj/.claude/skills/y");
    skill(&scratch, "home/.claude/skills/z");
    let status = |name: &str| copies(&list(&scratch, &[]), name)[0].0.clone();
    assert_eq!((status("x"), status("z")), ("untrusted".to_owned(), "active".to_owned()));
    let told = run(&scratch, &["prompt", "--project", "proj", "--home", "home", "--managed", "managed"]);
    assert!(told.stdout.contains("<name>z</name>") && !told.stdout.contains("<name>x</name>"), "{told:?}");
    let read = run(&scratch, &["read", "x", "--project", "proj", "--home", "home", "--managed", "managed"]);
    assert_eq!(read.code, 2);
    assert!(read.stderr.contains("not trusted"), "{read:?}");
    let trusted = run(&scratch, &["trust", "proj"]);
    assert_eq!(trusted.code, 0, "{trusted:?}");
    assert_eq!((status("x"), status("y")), ("active".to_owned(), "active".to_owned()));
    scratch.write_file("proj/.claude/skills/x/scripts/new.sh", "#!/bin/sh\n");
    assert_eq!((status("x"), status("y")), ("untrusted".to_owned(), "active".to_owned()));
    skill(&scratch, "proj/.claude/skills/late");
    assert_eq!(status("late"), "untrusted");
    assert_eq!(run(&scratch, &["untrust", "proj"]).code, 0);
    assert_eq!(status("y"), "untrusted");
}

#[test]
fn an_untrusted_copy_does_not_shadow_a_trusted_one() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/.claude/skills/x");
    skill(&scratch, "home/.claude/skills/x");
    assert_eq!(copies(&list(&scratch, &[]), "x"), pairs(&[("active", "personal"), ("untrusted", "project")]));
}

#[test]
fn opted_out_skills_are_hidden_from_the_model_and_open_to_people() {
    let scratch = ScratchFolder::new();
    scratch.write_file("lib/h/SKILL.md", GOOD.replace("name: pdf\n", "name: h\ndisable-model-invocation: true\n"));
    let listing = json(&run(&scratch, &["list", "--path", "lib", "--json"]));
    assert_eq!(listing["skills"][0]["status"], "hidden");
    assert_eq!(run(&scratch, &["prompt", "--path", "lib"]).stdout, "");
    assert!(run(&scratch, &["read", "h", "--path", "lib"]).stdout.starts_with("<skill_content name=\"h\">\n# PDF"));
}

#[test]
fn the_catalogue_has_four_styles() {
    let scratch = ScratchFolder::new();
    scratch.write_file("lib/pdf/SKILL.md", GOOD.replace("Fills", "Fills <all> &"));
    let styled = |style: &str, more: &[&str]| {
        let mut arguments = vec!["prompt", "--path", "lib", "--style", style];
        arguments.extend(more);
        run(&scratch, &arguments).stdout
    };
    let xml = styled("xml", &["--no-location"]);
    let expected = "<available_skills>\n  <skill>\n    <name>pdf</name>\n    <description>Fills &lt;all&gt; &amp; PDF forms. Use when the user brings a form to fill in.</description>\n  </skill>\n</available_skills>\n";
    assert_eq!(xml, expected);
    assert!(styled("xml", &[]).contains("/lib/pdf/SKILL.md</location>"));
    assert!(styled("markdown", &["--no-location"]).starts_with("- **pdf**: Fills <all>"));
    let value: Value = serde_json::from_str(&styled("json", &[])).unwrap();
    assert_eq!(value["skills"][0]["name"], "pdf");
    let value: Value = serde_json::from_str(&styled("manifest", &[])).unwrap();
    assert_eq!(value["loaded_skills"][0]["query_endpoint"], "skill:pdf");
    assert_eq!(value["loaded_skills"][0]["version"], Value::Null);
    // Each dialect declares its version in its own place.
    for (declared, wanted) in [
        ("spec_version: '2.1'\nversion: 1.10\n", "1.10"),
        ("metadata: {version: '3.0'}\n", "3.0"),
        (
            "x-personal-mcp: {id: pdf, version: 2.1.0, tags: [pdf], capabilities: ['resource://skills/pdf/document']}\n",
            "2.1.0",
        ),
    ] {
        let text = GOOD.replacen("---\n", &format!("---\n{declared}"), 1);
        scratch.write_file("lib/pdf/SKILL.md", text);
        let value: Value = serde_json::from_str(&styled("manifest", &[])).unwrap();
        assert_eq!(value["loaded_skills"][0]["version"], wanted, "{declared}");
    }
}

#[test]
fn files_are_given_out_from_inside_the_skill_only() {
    let scratch = ScratchFolder::new();
    scratch.write_file("lib/pdf/SKILL.md", GOOD);
    scratch.write_file("lib/pdf/references/a.md", "inside\n");
    scratch.write_file("lib/secret.txt", "outside\n");
    symlink("../secret.txt", scratch.work_folder().join("lib/pdf/link.txt")).unwrap();
    let read = |file: &str| run(&scratch, &["read", "pdf", file, "--path", "lib"]);
    assert_eq!(read("references/a.md").stdout, "inside\n");
    assert_eq!(read("./references/../references/a.md").stdout, "inside\n");
    for outside in ["../secret.txt", "/etc/hostname", "link.txt", "references/../../secret.txt"] {
        let found = read(outside);
        assert_eq!((found.code, found.stdout.as_str()), (3, ""), "{outside}: {found:?}");
    }
    assert_eq!(read("nope.md").code, 2);
}

#[test]
fn a_miss_names_the_nearest_skill() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "lib/pdf-forms");
    let found = run(&scratch, &["read", "pdf-form", "--path", "lib"]);
    assert_eq!(found.code, 2);
    assert!(found.stderr.contains("did you mean `pdf-forms`?"), "{found:?}");
}

#[test]
fn why_explains_every_copy_and_what_to_do() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/.claude/skills/x");
    skill(&scratch, "home/.claude/skills/x");
    scratch.write_file("home/.claude/skills/bad/SKILL.md", "---\nname: bad\n---\n");
    let why = |name: &str| run(&scratch, &["why", name, "--project", "proj", "--home", "home", "--managed", "managed"]);
    assert_snapshot!(transcript(&scratch, &why("x")), @"
    exit code 0
    --- stdout ---
    x is active (personal)
      at      [WORK]/home/.claude/skills/x/SKILL.md
    x is untrusted (project)
      at      [WORK]/proj/.claude/skills/x/SKILL.md
      because this project is not trusted; review its skills, then run `rep trust`
      remedy  review the skill, then run `rep trust`
    searched proj/.claude/skills
    searched home/.claude/skills
    ");
    assert_snapshot!(transcript(&scratch, &why("bad")), @"
    exit code 0
    --- stdout ---
    bad is invalid (personal)
      at      [WORK]/home/.claude/skills/bad/SKILL.md
      because field `description` is missing
      error: field `description` is missing
      remedy  run `rep check [WORK]/home/.claude/skills/bad` to see what is wrong
    searched proj/.claude/skills
    searched home/.claude/skills
    ");
    assert_snapshot!(transcript(&scratch, &why("y")), @"
    exit code 1
    --- stdout ---
    skill `y` not found
      a skill is a directory with a file named exactly `SKILL.md` in one of the directories below
    searched proj/.claude/skills
    searched home/.claude/skills
    ");
    let listed = run(&scratch, &["list", "--project", "proj", "--home", "home", "--managed", "managed"]);
    assert_snapshot!(transcript(&scratch, &listed), @"
    exit code 0
    --- stdout ---
    bad  invalid    personal  field `description` is missing
    x    active     personal  Fills PDF forms. Use when the user brings a form to fill in.
    x    untrusted  project   this project is not trusted; review its skills, then run `rep trust`
    --- stderr ---
    1 active, 1 invalid, 1 untrusted
    ");
}

#[test]
fn a_disabled_skill_is_listed_and_not_told() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "home/.claude/skills/x");
    let scopes = ["--project", "proj", "--home", "home", "--managed", "managed"];
    let with = |words: &[&str]| run(&scratch, &[words, &scopes[..]].concat());
    assert_eq!(with(&["disable", "x"]).code, 0);
    assert_eq!(copies(&list(&scratch, &[]), "x"), pairs(&[("disabled", "personal")]));
    assert_eq!(with(&["prompt"]).stdout, "");
    assert!(with(&["why", "x"]).stdout.contains("switched off in this project"));
    assert_eq!(with(&["enable", "x"]).code, 0);
    assert_eq!(copies(&list(&scratch, &[]), "x"), pairs(&[("active", "personal")]));
    assert_eq!(with(&["disable", "x", "--user"]).code, 0);
    assert!(with(&["why", "x"]).stdout.contains("switched off for this user"));
    assert_eq!(with(&["enable", "x"]).code, 2);
    assert_eq!(with(&["disable", "nope"]).code, 2);
}

#[test]
fn a_library_can_be_listed_without_a_home() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "lib/x");
    let found = scratch.run_with_environment(super::rep(), &["list", "--path", "lib", "--json"], &[("HOME", "")]);
    assert_eq!((found.code, &json(&found)["skills"][0]["status"]), (0, &"active".into()), "{found:?}");
}

/// Traces every read the kernel serves while listing: of a SKILL.md only the beginning, of other files nothing.
#[test]
fn discovery_reads_only_frontmatter() {
    let scratch = ScratchFolder::new();
    let body = "A long body line.\n".repeat(20_000);
    scratch.write_file("lib/pdf/SKILL.md", format!("{GOOD}{body}"));
    scratch.write_file("lib/pdf/references/a.md", "never read\n");
    let log = scratch.work_folder().join("trace.log");
    let status = Command::new("strace")
        .args(["-f", "-y", "-e", "trace=read,pread64,openat,mmap", "-o"])
        .arg(&log)
        .arg(super::rep())
        .args(["list", "--path", "lib", "--json"])
        .current_dir(scratch.work_folder())
        .env("HOME", scratch.work_folder())
        .stdout(std::process::Stdio::null())
        .status();
    let Ok(status) = status else {
        rep_test_support::skip_unless_ci("strace is not installed, so reads were not traced");
        return;
    };
    assert!(status.success());
    let trace = std::fs::read_to_string(&log).unwrap();
    assert!(!trace.contains("references/a.md"), "a resource was opened");
    let bytes: u64 = trace
        .lines()
        .filter(|line| line.contains("read(") && line.contains("pdf/SKILL.md>"))
        .filter_map(|line| line.rsplit("= ").next()?.trim().parse::<u64>().ok())
        .sum();
    assert!(bytes > 0 && bytes <= 8192, "{bytes} bytes of a SKILL.md of {} were read", body.len());
}

#[test]
fn a_skill_that_changed_since_it_was_trusted_is_shown_as_a_diff() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/skills/x");
    scratch.write_file("proj/skills/x/scripts/run.sh", "#!/bin/sh\necho fine\n");
    scratch.write_file("proj/skills/x/blob.bin", [0, 159, 146, 150]);
    let never = run(&scratch, &["trust", "--diff", "proj"]);
    assert_eq!(never.code, 2, "{never:?}");
    assert_eq!(run(&scratch, &["trust", "proj"]).code, 0);
    let same = run(&scratch, &["trust", "--diff", "proj"]);
    assert_eq!((same.code, same.stdout.as_str()), (0, ""), "{same:?}");
    scratch.write_file("proj/skills/x/scripts/run.sh", "#!/bin/sh\ncurl \u{1b}[2Jevil\n");
    scratch.write_file("proj/skills/x/blob.bin", [0, 159, 146, 151]);
    scratch.write_file("proj/skills/x/extra.md", "more\n");
    let changed = run(&scratch, &["trust", "--diff", "proj"]);
    assert_snapshot!(transcript(&scratch, &changed), @r"
    exit code 1
    --- stdout ---
    --- a/x/blob.bin
    +++ b/x/blob.bin
    -file b02a591131217cb579165aeccf0d94569acffb9934c84d6c813d77e3abedd233
    +file 6526d4b290039cee5dfcf802e344879dd1a9a0fa28039e4bbea8c608a22bc9ea
    --- /dev/null
    +++ b/x/extra.md
    @@ -0,0 +1 @@
    +more
    --- a/x/scripts/run.sh
    +++ b/x/scripts/run.sh
    @@ -1,2 +1,2 @@
     #!/bin/sh
    -echo fine
    +curl \u{1b}[2Jevil
    --- stderr ---
    1 skill added or changed since the project was trusted; run `rep trust` to accept the changes
    ");
    let why = run(&scratch, &["why", "x", "--project", "proj"]);
    assert!(why.stdout.contains("x is untrusted") && why.stdout.contains("-echo fine"), "{why:?}");
    assert_eq!(run(&scratch, &["trust", "proj"]).code, 0);
    assert_eq!(run(&scratch, &["trust", "--diff", "proj"]).code, 0);
    // Only what is trusted is kept.
    let kept = || std::fs::read_dir(scratch.work_folder().join("../home/.config/repertoire/trusted")).unwrap().count();
    assert_eq!(kept(), 1);
    assert_eq!(run(&scratch, &["untrust", "proj"]).code, 0);
    assert_eq!(kept(), 0);
}

#[test]
fn a_mode_that_changed_is_a_change() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/skills/x");
    let script = scratch.write_file("proj/skills/x/run.sh", "#!/bin/sh\n");
    assert_eq!(run(&scratch, &["trust", "proj"]).code, 0);
    assert_eq!(copies(&list(&scratch, &[]), "x"), pairs(&[("active", "project")]));
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(copies(&list(&scratch, &[]), "x"), pairs(&[("untrusted", "project")]));
    assert!(run(&scratch, &["trust", "--diff", "proj"]).stdout.contains("not its text"));
}

#[test]
fn a_skill_too_deep_to_take_in_is_never_trusted() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/skills/x");
    scratch.write_file(&format!("proj/skills/x/{}late.sh", "d/".repeat(40)), "evil\n");
    let trusted = run(&scratch, &["trust", "proj"]);
    assert!(trusted.stderr.contains("directories deep"), "{trusted:?}");
    assert_eq!(copies(&list(&scratch, &[]), "x"), pairs(&[("untrusted", "project")]));
}

#[test]
fn settings_name_further_folders() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/vendor/acme/one");
    skill(&scratch, "team/two");
    scratch.write_file("proj/rep.yaml", "library:\n  paths: [vendor/acme, gone]\n");
    scratch.write_file(
        "../home/.config/repertoire/rep.yaml",
        format!("library:\n  paths: [{}, ~/own]\n", scratch.work_folder().join("team").display()),
    );
    skill(&scratch, "../home/own/three");
    let listing = list(&scratch, &[]);
    assert_eq!(copies(&listing, "one"), pairs(&[("untrusted", "project")]), "a project cannot widen its own trust");
    assert_eq!(copies(&listing, "two"), pairs(&[("active", "personal")]));
    assert_eq!(copies(&listing, "three"), pairs(&[("active", "personal")]));
    let missing = run(&scratch, &["list", "--project", "proj"]);
    assert!(missing.stderr.contains("gone` in the settings is not a directory"), "{missing:?}");
    assert_eq!(run(&scratch, &["trust", "proj"]).code, 0);
    assert_eq!(copies(&list(&scratch, &[]), "one"), pairs(&[("active", "project")]));
    scratch.write_file("proj/rep.yaml", "library:\n  path: [x]\n");
    let broken = run(&scratch, &["list", "--project", "proj"]);
    assert_eq!(broken.code, 2, "{broken:?}");
    assert!(broken.stderr.contains("rep.yaml:2:3: unknown setting `path`"), "{broken:?}");
}

#[test]
fn dependencies_are_followed_over_the_whole_library() {
    let scratch = ScratchFolder::new();
    let with = |path: &str, more: &str| {
        let name = path.rsplit('/').next().unwrap();
        let front = format!("name: {name}\ndescription: Does it. Use it for it.\n{more}\n");
        scratch.write_file(&format!("{path}/SKILL.md"), format!("---\n{front}---\nBody.\n"));
    };
    with("home/.claude/skills/a", "depends_on: [b, nowhere, quiet, mine, pkg:inner, b:act]");
    with("proj/.claude/skills/mine", "");
    with("managed/b", "depends_on: [c]\ntools: [{name: act}]");
    with(
        "managed/c",
        "x-personal-mcp: {id: c, version: 1.0.0, capabilities: [\"resource://skills/c/document\"], depends_on: [b]}",
    );
    with("managed/quiet", "disable-model-invocation: true");
    with("home/.agent-packages/pkg/skills/inner", "depends_on: [sibling]");
    with("home/.agent-packages/pkg/skills/sibling", "");
    let listing = list(&scratch, &[]);
    let of = |name: &str| -> Vec<(String, String)> {
        let skills = listing["skills"].as_array().unwrap();
        let found = skills.iter().find(|skill| skill["qualified_name"] == name).unwrap();
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        found["dependencies"].as_array().unwrap().iter().map(|one| (word(&one["id"]), word(&one["status"]))).collect()
    };
    let expected = [("b", "met"), ("nowhere", "unknown"), ("quiet", "hidden"), ("mine", "untrusted")];
    assert_eq!(of("a"), pairs(&[expected.as_slice(), &[("pkg:inner", "met"), ("b:act", "met")]].concat()));
    assert_eq!(of("pkg:inner"), pairs(&[("sibling", "met")]));
    let shown = run(&scratch, &["list", "--project", "proj", "--home", "home", "--managed", "managed"]);
    for words in [
        "`a` depends on `nowhere`, which is not in the library",
        "`a` depends on `quiet`, which is hidden",
        "`c` depends on itself: b → c → b",
    ] {
        assert!(shown.stderr.contains(words), "{words}: {shown:?}");
    }
    let why = run(&scratch, &["why", "a", "--project", "proj", "--home", "home", "--managed", "managed"]);
    assert!(why.stdout.contains("warning: depends on `nowhere`"), "{why:?}");
}

#[test]
fn a_folder_called_like_a_skill_does_not_stand_in_for_it() {
    let scratch = ScratchFolder::new();
    scratch.write_file("x/SKILL.md", "---\nname: x\ndescription: The wrong one.\n---\nWRONG\n");
    scratch.write_file("home/.claude/skills/x/SKILL.md", "---\nname: x\ndescription: The right one.\n---\nRIGHT\n");
    let read = run(&scratch, &["read", "x", "--home", "home"]);
    assert!(read.stdout.contains("RIGHT"), "{read:?}");
    assert!(run(&scratch, &["read", "./x", "--home", "home"]).stdout.contains("WRONG"));
    skill(&scratch, "other");
    assert_eq!(run(&scratch, &["read", "other"]).code, 0, "a path, where no skill bears the name");
}

#[test]
fn why_tells_what_was_passed_over_and_where_was_looked() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "home/.claude/skills/x");
    scratch.write_file("home/.claude/skills/lower/skill.md", GOOD);
    scratch.write_file("home/.agents/skills/empty/README.md", "no skill");
    scratch.write_file("home/.agents/skills/flat", "a file");
    symlink("/nowhere", scratch.work_folder().join("home/.agents/skills/astray")).unwrap();
    let why = |name: &str| run(&scratch, &["why", name, "--project", "proj", "--home", "home", "--managed", "managed"]);
    for (name, words) in [
        ("lower", "lower: its file is named `skill.md`, but hosts look for `SKILL.md`"),
        ("empty", "empty: it has no `SKILL.md`"),
        ("flat", "flat: it is not a directory"),
        ("astray", "astray: it is a broken link"),
    ] {
        let found = why(name);
        assert!(found.code == 1 && found.stdout.contains(words), "{name}: {found:?}");
        assert!(found.stdout.contains("skipped") && found.stdout.contains("searched"), "{found:?}");
    }
    let present = why("x");
    assert!(present.stdout.contains("searched") && !present.stdout.contains("skipped"), "{present:?}");
    assert!(!why("../skills/x").stdout.contains("skipped"), "a name is not a path");
    let value = json(&run(&scratch, &["why", "empty", "--project", "proj", "--home", "home", "--json"]));
    assert_eq!(value["skipped"][0]["reason"], "it has no `SKILL.md`");
}

#[test]
fn list_mentions_main_files_whose_names_hosts_do_not_accept() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "home/.claude/skills/x");
    scratch.write_file("home/.claude/skills/lower/skill.md", GOOD);
    let list = |more: &[&str]| {
        let places = ["--project", "proj", "--home", "home", "--managed", "managed"];
        run(&scratch, &[&["list"], &places[..], more].concat())
    };
    let found = list(&[]);
    assert!(!found.stdout.contains("lower"), "it is not a skill for hosts: {found:?}");
    assert!(found.stderr.contains("hosts look for `SKILL.md`"), "{found:?}");
    assert!(found.stderr.contains("lower/skill.md`; rename the file"), "{found:?}");
    let skills = json(&list(&["--json"]));
    assert_eq!(skills["skills"].as_array().map(Vec::len), Some(1), "{skills}");
    scratch.write_file("home/.claude/skills/lower/SKILL.md", GOOD);
    assert!(!list(&[]).stderr.contains("rename"), "both names: the right one counts");
}

#[test]
fn why_cannot_be_steered_by_a_name() {
    let scratch = ScratchFolder::new();
    scratch.write_file("home/.claude/skills/x/SKILL.md", "---\nname: \"x\\e[2J\"\ndescription: Does it.\n---\n");
    let found = run(&scratch, &["why", "x", "--project", "proj", "--home", "home", "--managed", "managed"]);
    assert!(found.stdout.contains("is active") && !found.stdout.contains('\u{1b}'), "{found:?}");
}
