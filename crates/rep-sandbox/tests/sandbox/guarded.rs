//! Names others trust in a folder a tool may write: whatever it does around them, they stay as they were.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::scene::{Scene, Who, everyone};

const EVIL: &str = "evil\n";

fn src() -> Value {
    json!({ "write": ["src/**"] })
}

/// A scene with a repository and a file of a shell in a folder that may be written.
fn repository(who: Who) -> Scene {
    let scene = Scene::new(who);
    scene.put("src/repo/.git/config", "[core]\n");
    scene.put("src/repo/.git/HEAD", "ref: refs/heads/main\n");
    scene.put("src/repo/.git/hooks/old", "old\n");
    scene.put("src/sub/.envrc", "mine\n");
    scene
}

fn is_rejected(result: &Value, named: &str) -> bool {
    result["rejected"].as_str().is_some_and(|text| text.contains(named))
}

#[test]
fn folders_on_the_way_to_a_trusted_name_are_not_renamed() {
    for who in everyone() {
        let scene = repository(who);
        let code = "import os\nfor old in ('src/sub', 'src/repo', 'src/repo/.git', 'src/repo/.git/hooks'):\n\
                    \x20 try: os.rename(old, old + '2'); print(old)\n  except OSError as error: print(error.strerror)\n\
                    try: open('src/repo/.git/hooks/new', 'w')\nexcept OSError as error: print(error.strerror)\n\
                    open('src/repo/a.c', 'w').write('fine')\n\
                    os.mkdir('src/x'); os.rename('src/x', 'src/y')";
        let result = scene.python(code, src());
        let busy = "Device or resource busy\n".repeat(3);
        let held = "Read-only file system\n".repeat(2);
        assert_eq!(result["stdout"], format!("{busy}{held}"), "{result:#}");
        assert_eq!(result["code"], 0, "files that nobody else uses are written as before: {result:#}");
        assert_eq!(scene.text("src/repo/a.c").as_deref(), Some("fine"));
        assert_eq!(scene.text("src/sub/.envrc").as_deref(), Some("mine\n"));
        assert_eq!(scene.text("src/repo/.git/config").as_deref(), Some("[core]\n"));
    }
}

#[test]
fn the_skills_own_folder_in_a_grant_stays_where_it_is() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("src/deep/skill/SKILL.md", "of the skill\n");
        scene.put("src/deep/skill/.envrc", "of the skill\n");
        let code = "import os\nfor act in (lambda: os.rename('src/deep', 'src/d2'), lambda: open('src/deep/skill/x', 'w')):\n\
                    \x20 try: act()\n  except OSError as error: print(error.strerror)";
        let readable = json!([scene.workspace().join("src/deep/skill")]);
        let result = scene.python(code, json!({ "write": ["src/**"], "readable": readable }));
        assert_eq!(result["stdout"], "Device or resource busy\nRead-only file system\n", "{result:#}");
        assert_eq!(scene.text("src/deep/skill/SKILL.md").as_deref(), Some("of the skill\n"));
    }
}

#[test]
fn a_trusted_link_that_was_replaced_is_put_back() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("src/a/plain", "plain\n");
        let link = scene.workspace().join("src/a/.envrc");
        symlink("plain", &link).unwrap();
        scene.own();
        let code = format!("import os\nos.unlink('src/a/.envrc')\nopen('src/a/.envrc', 'w').write({EVIL:?})");
        let result = scene.python(&code, src());
        assert!(is_rejected(&result, "src/a/.envrc"), "{result:#}");
        assert_eq!(fs::read_link(&link).unwrap().to_str(), Some("plain"));
        let code = "import os\nos.unlink('src/a/.envrc')\nos.makedirs('src/a/.envrc/x')";
        let result = scene.python(code, src());
        assert!(is_rejected(&result, "src/a/.envrc"), "{result:#}");
        assert_eq!(fs::read_link(&link).unwrap().to_str(), Some("plain"));
        let result = scene.python("import os\nos.unlink('src/a/.envrc')", src());
        assert!(is_rejected(&result, "was removed"), "{result:#}");
        assert_eq!(fs::read_link(&link).unwrap().to_str(), Some("plain"));
    }
}

#[test]
fn a_trusted_file_with_a_second_name_is_put_back() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("src/.envrc", "mine\n");
        fs::hard_link(scene.workspace().join("src/.envrc"), scene.workspace().join("src/other")).unwrap();
        let result = scene.python("open('src/other', 'w').write('evil')", src());
        assert!(is_rejected(&result, "src/.envrc"), "{result:#}");
        assert_eq!(scene.text("src/.envrc").as_deref(), Some("mine\n"));
    }
}

#[test]
fn folders_that_were_closed_hide_nothing() {
    for who in everyone() {
        for mode in ["0o311", "0o555", "0o000"] {
            let scene = repository(who);
            let code = format!(
                "import os\nos.makedirs('src/p/.git/hooks')\nopen('src/p/.git/config', 'w').write({EVIL:?})\n\
                 open('src/.mcp.json', 'w').write({EVIL:?})\n\
                 for path in ('src/p/.git/hooks', 'src/p/.git', 'src/p', 'src'): os.chmod(path, {mode})"
            );
            let result = scene.python(&code, src());
            assert!(is_rejected(&result, "src/p/.git"), "{mode}: {result:#}");
            assert!(is_rejected(&result, "src/.mcp.json"), "{mode}: {result:#}");
            assert_eq!(scene.text("src/p/.git/config"), None, "{mode}");
            assert_eq!(scene.text("src/.mcp.json"), None, "{mode}");
        }
        // One that was closed before is nobody's way in, and one for reading only stays so.
        let scene = Scene::new(who);
        scene.put("src/still/a", "a\n");
        let still = scene.workspace().join("src/still");
        fs::set_permissions(&still, fs::Permissions::from_mode(0o555)).unwrap();
        scene.put("src/closed/in/a", "a\n");
        let closed = scene.workspace().join("src/closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o311)).unwrap();
        let code = "import os\nos.chmod('src', 0o755)\ntry: os.chmod('src/closed', 0o755); open('src/closed/in/.envrc', 'w')\n\
                    except OSError as error: print(error.strerror)";
        let result = scene.python(code, src());
        assert!(result["stdout"] == "Read-only file system\n" || is_rejected(&result, ".envrc"), "{result:#}");
        assert_eq!(scene.text("src/closed/in/.envrc"), None);
        assert_eq!(fs::metadata(&still).unwrap().permissions().mode() & 0o777, 0o555);
    }
}

#[test]
fn many_files_and_deep_folders_hide_nothing() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "import os\nos.mkdir('src/many')\nhere = os.open('src/many', os.O_RDONLY)\n\
                    for n in range(210000): os.mknod('f%d' % n, dir_fd=here)\nopen('src/many/.envrc', 'w')";
        // So many files take a while, also to look through before the next run; who made them makes no difference.
        let job = json!({ "write": ["src/**"], "limits": { "timeout_ms": 600_000, "cpu_s": 600 } });
        if who == Who::User {
            let result = scene.python(code, job.clone());
            assert!(is_rejected(&result, "src/many/.envrc"), "{result:#}");
        }
        assert_eq!(scene.text("src/many/.envrc"), None);
        let code = "import os\nos.chdir('src')\nfor n in range(200): os.mkdir('d'); os.chdir('d')\nopen('.envrc', 'w')";
        let result = scene.python(code, job);
        assert!(is_rejected(&result, "too deep"), "{result:#}");
    }
}

#[test]
fn a_repository_of_any_name_is_one() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("src/bare/config", "[core]\n");
        scene.put("src/bare/HEAD", "ref: refs/heads/main\n");
        scene.put("src/bare/objects/a", "a\n");
        scene.put("src/bare/refs/a", "a\n");
        scene.put("src/plain/config", "of nobody\n");
        let code = "import os\nfor act in (lambda: open('src/bare/config', 'w'), lambda: os.rename('src/bare', 'src/b')):\n\
                    \x20 try: act()\n  except OSError as error: print(error.strerror)\n\
                    open('src/plain/config', 'w').write('changed')";
        let result = scene.python(code, src());
        assert_eq!(result["stdout"], "Read-only file system\nDevice or resource busy\n", "{result:#}");
        assert_eq!(scene.text("src/plain/config").as_deref(), Some("changed"));
        let code = "import os\nos.mkdir('src/plain/objects'); os.mkdir('src/plain/refs'); open('src/plain/HEAD', 'w')";
        let result = scene.python(code, src());
        assert!(is_rejected(&result, "src/plain"), "{result:#}");
        assert_eq!(scene.text("src/plain/HEAD"), None);
        assert_eq!(scene.text("src/plain/config").as_deref(), Some("changed"));
        let code = "import os\nos.mkdir('src/bare/hooks'); open('src/bare/hooks/post-update', 'w')";
        let result = scene.python(code, src());
        assert!(is_rejected(&result, "src/bare/hooks"), "{result:#}");
        assert_eq!(scene.text("src/bare/hooks/post-update"), None);
    }
}

#[test]
fn a_repository_of_any_name_is_not_made_by_name_either() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "import os\nfor name in ('objects', 'refs'): os.makedirs('bare/' + name); open(f'bare/{name}/x', 'w')\n\
                    open('bare/HEAD', 'w'); open('bare/config', 'w')";
        let before = scene.files();
        let result = scene.python(code, json!({ "write": ["**"] }));
        assert!(is_rejected(&result, "bare/config"), "{result:#}");
        assert_eq!(scene.files(), before);
        let result = scene.python("open('config', 'w')", json!({ "write": ["**"] }));
        assert_eq!(result["written"], json!(["config"]), "{result:#}");
    }
}

/// A grant of two folders, with a register of what goes on.
fn noted(scene: &Scene) -> Value {
    let register = scene.outside().join("own/running");
    json!({ "write": ["src/**", "output/**"], "register": register, "hidden": [scene.outside().join("own")] })
}

fn is_there(scene: &Scene, path: &str) -> bool {
    fs::symlink_metadata(scene.workspace().join(path)).is_ok()
}

#[test]
fn what_one_run_planted_is_not_put_back_by_another() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("src/plain", "mine\n");
        scene.put("src/a/x", "mine\n");
        symlink("plain", scene.workspace().join("src/a/.envrc")).unwrap();
        scene.own();
        // Links cannot be made inside, so that one is made here in the tool's name.
        let child = scene.begin(
            "a",
            &format!("os.makedirs('src/.git/hooks')\nfor path in ('src/.git/hooks/x', 'src/.bashrc'): open(path, 'w').write({EVIL:?})"),
            "import shutil\nshutil.rmtree('src/.git'); os.unlink('src/.bashrc'); os.unlink('src/.envrc')",
            noted(&scene),
        );
        symlink("plain", scene.workspace().join("src/.envrc")).unwrap();
        scene.own();
        let other = scene.begin("b", "", "", noted(&scene));
        let first = scene.end("a", child);
        assert_eq!(first["code"], 0, "{first:#}");
        let second = scene.end("b", other);
        for path in ["src/.git", "src/.bashrc", "src/.envrc"] {
            assert!(!is_there(&scene, path), "{path}: {second:#}");
        }
        assert!(is_there(&scene, "src/a/.envrc"), "what was there before both of them stays");
        assert_eq!(
            fs::read_dir(scene.outside().join("own/running"))
                .unwrap()
                .flatten()
                .filter(|file| { file.path().extension().is_some_and(|ending| ending == "json") })
                .count(),
            0,
            "no run goes on"
        );
    }
}

#[test]
fn what_the_user_does_to_trusted_names_meanwhile_is_his() {
    for who in everyone() {
        let scene = repository(who);
        scene.put("src/.vscode/settings.json", "{}\n");
        scene.put("src/AGENTS.md", "mine\n");
        scene.put("src/CLAUDE.md", "mine\n");
        let child = scene.begin("a", "", "", noted(&scene));
        scene.put("src/sub/.envrc", "changed by the user\n");
        scene.put("src/.vscode/tasks.json", "made by the user\n");
        fs::remove_file(scene.workspace().join("src/AGENTS.md")).unwrap();
        let result = scene.end("a", child);
        assert_eq!((&result["code"], &result["conflicts"]), (&json!(0), &json!([])), "{result:#}");
        assert_eq!(scene.text("src/sub/.envrc").as_deref(), Some("changed by the user\n"));
        assert_eq!(scene.text("src/.vscode/tasks.json").as_deref(), Some("made by the user\n"));
        assert!(!is_there(&scene, "src/AGENTS.md"));
        // What is replaced is not bound any more, so it stays and is told.
        let child = scene.begin("b", "", "", noted(&scene));
        scene.put("new", "replaced by the user\n");
        fs::rename(scene.workspace().join("new"), scene.workspace().join("src/CLAUDE.md")).unwrap();
        // What is new cannot be told from what the tool makes: it is moved, and not lost.
        let result = scene.end("b", child);
        assert!(result["conflicts"].to_string().contains("src/CLAUDE.md"), "{result:#}");
        assert_eq!(scene.text("src/CLAUDE.md").as_deref(), Some("replaced by the user\n"));
        let child = scene.begin("c", "", "", noted(&scene));
        scene.put("src/.mcp.json", "made by the user\n");
        let result = scene.end("c", child);
        assert!(is_rejected(&result, "src/.mcp.json.refused"), "{result:#}");
        assert_eq!(scene.text("src/.mcp.json.refused").as_deref(), Some("made by the user\n"));
    }
}

#[test]
fn a_repository_that_is_split_or_has_a_refused_head_is_none() {
    for who in everyone() {
        let scene = Scene::new(who);
        let split = "import os\nfor name in ('x', 'y/objects', 'y/refs'): os.makedirs('src/' + name)\n\
                     for name in ('x/HEAD', 'x/commondir', 'x/config.worktree', 'y/config', 'y/objects/a', 'y/refs/a'): open('src/' + name, 'w')";
        let result = scene.python(split, src());
        assert!(is_rejected(&result, "src/x"), "{result:#}");
        assert!(!is_there(&scene, "src/x/HEAD"));
        let scene = Scene::new(who);
        let before = scene.files();
        let result = scene.python(split, json!({ "write": ["**"] }));
        assert!(is_rejected(&result, "src/x/"), "{result:#}");
        assert_eq!(scene.files(), before);
        let code = "import os\nos.makedirs('src/r/objects'); os.makedirs('src/r/refs')\n\
                    for name in ('HEAD', 'HEAD.refused', 'head', 'config'): open('src/r/' + name, 'w')";
        let result = scene.python(code, src());
        assert!(is_rejected(&result, "src/r"), "{result:#}");
        assert!(!is_there(&scene, "src/r/HEAD") && !is_there(&scene, "src/r/head"), "{result:#}");
    }
}

#[test]
fn a_virtual_environment_is_not_changed() {
    for who in everyone() {
        let scene = Scene::new(who);
        for file in ["lib/python3/site-packages/a.py", "pyvenv.cfg", "bin/activate"] {
            scene.put(&format!("src/.env/{file}"), "mine\n");
        }
        symlink("/usr/bin/python3", scene.workspace().join("src/.env/bin/python3")).unwrap();
        scene.own();
        let before = scene.files();
        let paths = ["bin/python3", "bin/new", "lib/python3/site-packages/a.pth", "lib/new.py", "pyvenv.cfg"];
        for path in paths {
            let code = format!(
                "import os\npath = 'src/.env/{path}'\nos.makedirs(os.path.dirname(path), exist_ok=True)\n\
                 if os.path.lexists(path) and os.path.islink(path): os.unlink(path)\nopen(path, 'w').write({EVIL:?})"
            );
            for write in ["**", "src/**", "src/.env/**", "src/.env/bin/**", "src/.env/lib/python3/site-packages/**"] {
                let result = scene.python(&code, json!({ "write": [write] }));
                assert!(result["code"] != 0 || result["rejected"].is_string(), "{write} {path}: {result:#}");
                assert_eq!(scene.files(), before, "{write} {path}: {result:#}");
            }
        }
        let result = scene.python("open('src/.env/notes', 'w'); open('src/model.pth', 'w')", src());
        assert_eq!(result["code"], 0, "{result:#}");
        // One that is made is none.
        let code =
            "import os\nos.makedirs('src/new/bin'); open('src/new/pyvenv.cfg', 'w'); open('src/new/bin/python', 'w')";
        let result = scene.python(code, src());
        assert!(is_rejected(&result, "src/new/pyvenv.cfg"), "{result:#}");
        assert!(!is_there(&scene, "src/new/pyvenv.cfg"));
    }
}

#[test]
fn a_workspace_that_is_trusted_itself_is_held() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put(".config/fish/config.fish", "mine\n");
        let workspace = scene.workspace().join(".config");
        for write in ["**", "fish/**"] {
            let result =
                scene.python("open('fish/conf.fish', 'w')", json!({ "workspace": workspace, "write": [write] }));
            assert!(result["code"] == 1 || is_rejected(&result, "fish"), "{write}: {result:#}");
            assert!(!is_there(&scene, ".config/fish/conf.fish"));
        }
        let result = scene.python("open('x', 'w')", json!({ "workspace": workspace, "write": ["**"] }));
        assert_eq!(result["written"], json!(["x"]), "{result:#}");
        // Where the caller's programs are looked for, nothing is written.
        scene.put("src/bin/x", "mine\n");
        for write in ["**", "src/**"] {
            let job = json!({ "write": [write], "held": [scene.workspace().join("src/bin")] });
            let result = scene.python("open('src/bin/ls', 'w')", job);
            assert!(result["code"] == 1 || is_rejected(&result, "src/bin"), "{write}: {result:#}");
            assert!(!is_there(&scene, "src/bin/ls"));
        }
    }
}

#[test]
fn what_a_run_that_was_ended_by_force_left_is_found_by_the_next() {
    for who in everyone() {
        let scene = repository(who);
        scene.put("src/bare/HEAD", "ref: refs/heads/main\n");
        scene.put("src/bare/objects/a", "a\n");
        scene.put("src/bare/refs/a", "a\n");
        let code = format!(
            "os.makedirs('src/p/.git/hooks'); os.makedirs('src/lib/site-packages')\n\
             for path in ('p/.git/hooks/x', '.bashrc', 'bare/.envrc', 'lib/site-packages/a.pth'):\n\
             \x20 open('src/' + path, 'w').write({EVIL:?})"
        );
        let mut child = scene.begin("a", &code, "", noted(&scene));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_there(&scene, "src/.bashrc"));
        let result = scene.python("", noted(&scene));
        let told = result["notes"].to_string();
        // The name may contain a secret of the killed run.
        assert!(told.contains("`.refused`") && !told.contains(".bashrc"), "{result:#}");
        assert!(scene.text("src/.bashrc.refused").is_some(), "{:?}", scene.files());
        for path in ["src/.bashrc", "src/p/.git/hooks/x", "src/bare/.envrc", "src/lib/site-packages/a.pth"] {
            assert!(!is_there(&scene, path), "{path}: {result:#}");
        }
        assert!(is_there(&scene, "src/bare/HEAD"), "what was a repository before is one");
        assert_eq!(scene.text("src/sub/.envrc").as_deref(), Some("mine\n"), "what was there before stays");
        assert_eq!(scene.python("", noted(&scene))["notes"], json!([]));
        // A run that is rejected itself tells it all the same.
        let mut child = scene.begin("b", &format!("open('src/.zshrc', 'w').write({EVIL:?})"), "", noted(&scene));
        child.kill().unwrap();
        child.wait().unwrap();
        let result = scene.python("open('src/.mcp.json', 'w')", noted(&scene));
        assert!(
            is_rejected(&result, "a protected path in") && is_rejected(&result, "src/.mcp.json.refused"),
            "{result:#}"
        );
        assert!(!result.to_string().contains(".zshrc"), "the tool chose the name: {result:#}");
        assert!(scene.text("src/.zshrc.refused").is_some(), "{:?}", scene.files());
    }
}

#[test]
fn no_name_is_in_the_way_of_moving_something_aside() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "import os\nopen('src/.envrc', 'w'); open('src/.envrc.refused', 'w')\n\
                    for n in range(1200): open(f'src/.envrc.refused-{n}', 'w')\n\
                    open('src/' + 'x' * 240 + '.code-workspace', 'w')\n\
                    os.makedirs('src/' + '.claude/' * 12); open('src/' + '.claude/' * 12 + 'CLAUDE.md', 'w')\n\
                    os.makedirs('src/lib/site-packages'); open('src/lib/site-packages/a.pth', 'w')";
        let result = scene.python(code, src());
        assert!(is_rejected(&result, ".envrc"), "{result:#}");
        let is_believed = |path: &String| {
            let parts: Vec<&str> = path.split('/').collect();
            parts.iter().any(|part| [".envrc", ".claude", "CLAUDE.md", "site-packages"].contains(part))
                || path.ends_with(".code-workspace")
        };
        let left: Vec<String> = scene.files().into_iter().filter(is_believed).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
