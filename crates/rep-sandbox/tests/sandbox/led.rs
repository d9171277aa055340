//! Ways round names that others trust: by git's own files, by what links and settings lead to, by two runs, and by plenty.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::scene::{Scene, Who, everyone};

fn is_rejected(result: &Value, named: &str) -> bool {
    result["rejected"].as_str().is_some_and(|text| text.contains(named))
}

fn is_there(scene: &Scene, path: &str) -> bool {
    fs::symlink_metadata(scene.workspace().join(path)).is_ok()
}

/// A folder git takes for a repository.
fn repository(scene: &Scene, folder: &str) {
    for (name, text) in [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n"), ("objects/a", ""), ("refs/a", "")]
    {
        scene.put(&format!("{folder}/{name}"), text);
    }
}

/// Lines that write to each path, and say what came of it.
fn writing(paths: &[&str]) -> String {
    format!(
        "import os\nfor path in {paths:?}:\n  try:\n    os.makedirs(os.path.dirname(path), exist_ok=True)\n\
         \x20   open(path, 'w').write('evil')\n  except OSError as error: print(error.strerror)"
    )
}

#[test]
fn nothing_that_git_keeps_is_written() {
    let paths = [
        "src/.git/index",
        "src/.git/refs/heads/main",
        "src/.git/objects/ab/cd",
        "src/.git/objects/info/alternates",
        "src/.git/rebase-merge/git-rebase-todo",
        "src/.git/sequencer/todo",
    ];
    for who in everyone() {
        for write in ["src/**", "**", "src/.git/**", "src/.git/objects/**"] {
            let scene = Scene::new(who);
            repository(&scene, "src/.git");
            let before = scene.files();
            for path in paths {
                let result = scene.python(&writing(&[path]), json!({ "write": [write] }));
                let is_held = result["stdout"] == "Read-only file system\n" || is_rejected(&result, path);
                assert!(is_held || result["stdout"] == "Permission denied\n", "{write} {path}: {result:#}");
                assert_eq!(scene.files(), before, "{write} {path}: {result:#}");
            }
        }
    }
}

#[test]
fn a_repository_of_any_name_is_held_by_every_grant() {
    for who in everyone() {
        for write in [".bare/hooks/**", ".bare/**", ".bare/refs/**", ".bare/*", "**"] {
            let scene = Scene::new(who);
            repository(&scene, ".bare");
            let before = scene.files();
            let path = if write == ".bare/*" { ".bare/packed-refs" } else { ".bare/hooks/post-checkout" };
            let path = if write == ".bare/refs/**" { ".bare/refs/main" } else { path };
            let result = scene.python(&writing(&[path]), json!({ "write": [write] }));
            assert!(is_rejected(&result, path), "{write}: {result:#}");
            assert_eq!(scene.files(), before, "{write}");
        }
        // What is removed from one is refused as well.
        let scene = Scene::new(who);
        repository(&scene, ".bare");
        let before = scene.files();
        for name in ["config", "HEAD", "refs/a"] {
            let result = scene.python(&format!("import os; os.remove('.bare/{name}')"), json!({ "write": ["**"] }));
            assert!(is_rejected(&result, ".bare/"), "{name}: {result:#}");
        }
        assert_eq!(scene.files(), before);
        // A checkout that lies in one is a project.
        scene.put(".bare/main/.git", "gitdir: ../worktrees/main\n");
        for write in [".bare/main/**", ".bare/main/*.c", "**"] {
            let result = scene.python("open('.bare/main/a.c', 'w').write('fine')", json!({ "write": [write] }));
            assert_eq!(result["code"], 0, "{write}: {result:#}");
            fs::remove_file(scene.workspace().join(".bare/main/a.c")).unwrap();
        }
        scene.put("src/in/.bare/x", "");
        repository(&scene, "src/in/.bare");
        scene.put("src/in/.bare/main/.git", "gitdir: ../worktrees/main\n");
        let code = writing(&["src/in/.bare/main/a.c", "src/in/.bare/refs/b"]);
        let result = scene.python(&code, json!({ "write": ["src/**"] }));
        assert_eq!(result["stdout"], "Read-only file system\n", "{result:#}");
        assert_eq!(scene.text("src/in/.bare/main/a.c").as_deref(), Some("evil"));
        // One that is planted is none.
        let code = "import os\nos.makedirs('src/in/.bare/hooks/.git'); open('src/in/.bare/hooks/post-checkout', 'w')";
        let result = scene.python(code, json!({ "write": ["**"] }));
        assert!(is_rejected(&result, "src/in/.bare/hooks/post-checkout"), "{result:#}");
        let code = writing(&["src/in/.bare/hooks/.git", "src/in/.bare/hooks/post-checkout"]);
        let result = scene.python(&code, json!({ "write": ["src/**"] }));
        assert!(is_rejected(&result, "src/in/.bare/hooks"), "{result:#}");
        assert!(!is_there(&scene, "src/in/.bare/hooks"));
    }
}

#[test]
fn a_repository_is_not_built_in_two_runs() {
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.python(&writing(&["x/HEAD", "x/config"]), json!({ "write": ["x/HEAD", "x/config"] }));
        assert_eq!(result["written"], json!(["x/HEAD", "x/config"]), "{result:#}");
        let result = scene.python("", json!({ "write": ["x/objects/**", "x/refs/**"] }));
        assert!(is_rejected(&result, "`x` became a repository"), "{result:#}");
        assert!(!is_there(&scene, "x/HEAD") && is_there(&scene, "x/HEAD.refused"));
    }
}

#[test]
fn what_trusted_links_and_settings_lead_to_is_held() {
    for who in everyone() {
        for write in ["proj/**", "**", "proj/docs/**", "proj/*/*"] {
            let scene = Scene::new(who);
            scene.put("proj/docs/guide.txt", "good\n");
            scene.put("proj/docs/other.txt", "good\n");
            scene.put("proj/docs/settings.inc", "[core]\n\thooksPath = proj/docs/more\n");
            scene.put(
                "proj/.git/config",
                "[include]\n\tpath = ../docs/settings.inc\n[core]\n\thooksPath = \"docs/hooks\" # ours\n",
            );
            scene.put("proj/.git/objects/info/alternates", "../../docs/store\n");
            fs::create_dir_all(scene.workspace().join("proj/.claude")).unwrap();
            let link = |target: &str, path: &str| symlink(target, scene.workspace().join(path)).unwrap();
            link("docs/again", "proj/CLAUDE.md");
            link("guide.txt", "proj/docs/again");
            link("../../docs/rules", "proj/.claude/rules");
            // What leads to where it lies holds nothing.
            link("..", "proj/.claude/all");
            scene.own();
            let before = scene.files();
            let paths = [
                "proj/docs/guide.txt",
                "proj/docs/settings.inc",
                "proj/docs/hooks/x",
                "proj/docs/again",
                "docs/rules/x",
                "proj/docs/store/ab/cd",
            ];
            for path in paths {
                let code = format!(
                    "import os\npath = {path:?}\nos.makedirs(os.path.dirname(path), exist_ok=True)\n\
                     if os.path.islink(path): os.unlink(path)\nopen(path, 'w').write('evil')"
                );
                let result = scene.python(&code, json!({ "write": [write, "docs/**"] }));
                let is_conflict = result["conflicts"].to_string().contains(path);
                assert!(
                    result["code"] == 1 || result["rejected"].is_string() || is_conflict,
                    "{write} {path}: {result:#}"
                );
                assert_eq!(scene.text("proj/CLAUDE.md").as_deref(), Some("good\n"), "{write} {path}: {result:#}");
                assert!(
                    !is_there(&scene, path) || scene.text(path).is_none_or(|text| text != "evil"),
                    "{write} {path}"
                );
            }
            let code = "open('proj/docs/other.txt', 'w').write('fine')";
            assert_eq!(scene.python(code, json!({ "write": [write] }))["code"], 0, "{write}");
            let after = scene.files();
            let lost: Vec<_> = before.iter().filter(|path| !after.contains(path)).collect();
            assert!(lost.is_empty(), "{write}: {lost:?}");
        }
    }
}

#[test]
fn a_home_is_held_at_its_top() {
    for who in everyone() {
        let scene = Scene::new(who);
        let home = scene.workspace();
        for path in [".anything/x", ".newrc", "bin/x"] {
            let result = scene.python(&writing(&[&format!("./{path}")]), json!({ "write": ["**"], "home": home }));
            assert!(is_rejected(&result, path), "{path}: {result:#}");
        }
        let result = scene.python(&writing(&["./a.txt"]), json!({ "write": ["**"], "home": home }));
        assert_eq!(result["written"], json!(["a.txt"]), "{result:#}");
    }
}

#[test]
fn plenty_of_names_does_not_fill_the_memory() {
    let scene = Scene::new(Who::User);
    let code = "import os\nos.chdir('src')\nfor n in range(14): os.mkdir('e' * 200); os.chdir('e' * 200)\n\
                for n in range(8000): os.mkdir(str(n)); open(f'{n}/.envrc', 'w').close()";
    scene.put("src/a", "");
    let limits = json!({ "timeout_ms": 600_000, "cpu_s": 600 });
    let result = scene.python(code, json!({ "write": ["src/**"], "limits": limits }));
    assert!(is_rejected(&result, "and 7980 more"), "{result:#}");
    assert!(result["peak_kib"].as_u64().is_some_and(|peak| peak < 40 << 10), "{}", result["peak_kib"]);
    assert!(!scene.files().iter().any(|path| path.ends_with("/.envrc")));
}

#[test]
fn what_is_too_deep_is_moved_up_and_does_not_stop_the_next_run() {
    for who in everyone() {
        for (count, name) in [(300, "'d'"), (40, "'d' * 250")] {
            let scene = Scene::new(who);
            scene.put("src/a", "");
            let code = format!(
                "import os\nos.chdir('src')\nfor n in range({count}): os.mkdir({name}); os.chdir({name})\n\
                 open('.envrc', 'w').write('evil'); open('AGENTS.md', 'w').write('evil')"
            );
            let result = scene.python(&code, json!({ "write": ["src/**"] }));
            assert!(is_rejected(&result, "too deep"), "{result:#}");
            let files = scene.files();
            assert!(files.iter().any(|path| path.ends_with("/.envrc.refused")), "{count}");
            assert!(!files.iter().any(|path| path.ends_with("/.envrc") || path.ends_with("/AGENTS.md")), "{count}");
            let result = scene.python("open('src/b', 'w')", json!({ "write": ["src/**"] }));
            assert_eq!(result["code"], 0, "{result:#}");
        }
    }
}

#[test]
fn what_a_killed_run_left_where_programs_are_looked_for_is_found() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("src/a", "");
        let register = scene.outside().join("own/running");
        let job = json!({
            "write": ["src/**", "output/**"], "register": register, "hidden": [scene.outside().join("own")],
            "held": [scene.workspace().join("src/newbin"), "src/relative"], "home": scene.workspace().join("src"),
        });
        let code =
            "for name in ('newbin', 'relative', '.anything'): os.makedirs('src/' + name); open(f'src/{name}/ls', 'w')";
        let mut child = scene.begin("a", code, "", job.clone());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_there(&scene, "src/newbin/ls"));
        // The next run has other folders on its path.
        let mut other = job;
        other["held"] = json!([]);
        let result = scene.python("", other.clone());
        let told = result["notes"].to_string();
        assert!(told.contains("`.refused`") && !told.contains("newbin"), "{result:#}");
        assert!(scene.files().contains(&"src/newbin.refused".to_owned()), "{:?}", scene.files());
        for path in ["src/newbin", "src/relative", "src/.anything"] {
            assert!(!is_there(&scene, path), "{path}: {result:#}");
        }
        assert_eq!(scene.python("", other)["notes"], json!([]));
    }
}

#[test]
fn what_cannot_be_looked_at_after_a_killed_run_is_told_until_it_can() {
    if !everyone().contains(&Who::Root) {
        return;
    }
    let scene = Scene::new(Who::User);
    let register = scene.outside().join("own/running");
    let job = json!({
        "write": ["src/**", "output/**"], "register": register, "hidden": [scene.outside().join("own")],
    });
    let mut child = scene.begin("a", "os.makedirs('src/in'); open('src/in/.envrc', 'w')", "", job.clone());
    child.kill().unwrap();
    child.wait().unwrap();
    // A folder of somebody else.
    let inner = scene.workspace().join("src/in");
    std::os::unix::fs::chown(&inner, Some(0), Some(0)).unwrap();
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o700)).unwrap();
    for _ in 0..2 {
        let told = scene.python("", job.clone())["notes"].to_string();
        assert!(told.contains("/src`") && told.contains("cannot be inspected"), "{told}");
    }
    scene.own();
    let told = scene.python("", job.clone())["notes"].to_string();
    assert!(told.contains("`.refused`"), "{told}");
    assert!(scene.files().contains(&"src/in/.envrc.refused".to_owned()), "{:?}", scene.files());
    assert_eq!(scene.python("", job)["notes"], json!([]));
}

#[test]
fn new_files_have_no_more_rights_than_the_user_gives() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "import os\nos.umask(0)\nos.close(os.open('a.sh', os.O_CREAT | os.O_WRONLY, 0o777))";
        let result = scene.python(code, json!({ "write": ["*.sh"] }));
        assert_eq!(result["written"], json!(["a.sh"]), "{result:#}");
        let mode = fs::metadata(scene.workspace().join("a.sh")).unwrap().permissions().mode() & 0o777;
        // A file of the test itself shows what the user's mask is.
        let own = scene.workspace().join("own");
        fs::write(&own, "").unwrap();
        let mask = !fs::metadata(&own).unwrap().permissions().mode() & 0o666;
        assert_eq!(mode & mask, 0, "{mode:o} {mask:o}");
        assert_eq!(mode & 0o700, 0o700, "{mode:o}");
    }
}
