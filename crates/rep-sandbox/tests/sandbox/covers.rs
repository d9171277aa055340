//! What lies in a folder every tool sees is not seen for that: the workspace, and the runtime's own folders.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::scene::{Scene, everyone, is_root};

const LOOK: &str = "import os\nfor path in os.environ['LOOK'].split():\n\
                    \x20 try: print(open(path).read().strip())\n  except OSError as error: print(error.strerror)";

#[test]
fn a_workspace_in_a_folder_of_the_system_shows_what_is_granted() {
    if !is_root() {
        rep_test_support::report_skipped("only root writes to /usr/src");
        return;
    }
    for who in everyone() {
        let scene = Scene::new(who);
        let folder = tempfile::tempdir_in("/usr/src").unwrap();
        let moved = folder.path().join("ws");
        let copied = Command::new("cp").arg("-a").args([&*scene.workspace(), folder.path()]).status();
        assert!(copied.unwrap().success());
        let opened = Command::new("chmod").arg("755").arg(folder.path()).status().unwrap();
        assert!(opened.success());
        let code = format!(
            "{LOOK}\nopen('output/x', 'w').write('x')\ntry: open('new', 'w')\nexcept OSError as e: print(e.strerror)"
        );
        let env = json!({ "LOOK": "docs/a.pdf docs/b.txt secret/key.txt" });
        let result = scene.python(&code, json!({ "workspace": moved, "env": env }));
        let nothing = "No such file or directory\n";
        let expected = format!("PDFDATA\n{nothing}{nothing}Read-only file system\n");
        assert_eq!(result["stdout"], expected, "{result:#}");
        assert_eq!(fs::read_to_string(moved.join("output/x")).unwrap(), "x");
        let result =
            scene.python("print(open('secret/key.txt').read())", json!({ "workspace": moved, "read": ["**"] }));
        assert_eq!(result["stdout"], "SECRET\n\n", "{result:#}");
        let result = scene.python("open('a.csv', 'w')", json!({ "workspace": moved, "write": ["*.csv"] }));
        assert_eq!(result["written"], json!(["a.csv"]), "{result:#}");
    }
    let scene = Scene::new(everyone()[0]);
    for workspace in ["/usr", "/usr/bin"] {
        let result = scene.python("print(1)", json!({ "workspace": workspace, "read": [], "write": [] }));
        assert!(result["unstartable"].is_string(), "{workspace}: {result:#}");
    }
}

#[test]
fn a_skill_that_holds_the_workspace_does_not_show_it() {
    for who in everyone() {
        let scene = Scene::new(who);
        let env = json!({ "LOOK": "docs/a.pdf secret/key.txt ../skill/lib.txt" });
        let result = scene.python(LOOK, json!({ "readable": [scene.outside()], "env": env }));
        assert_eq!(result["stdout"], "PDFDATA\nNo such file or directory\nof the skill\n", "{result:#}");
        let job = json!({ "readable": [scene.outside()], "env": env, "write": ["secret/*.csv"] });
        let result = scene.python(LOOK, job);
        assert_eq!(result["stdout"], "PDFDATA\nNo such file or directory\nof the skill\n", "{result:#}");
    }
}

#[test]
fn folders_of_the_runtime_are_never_seen_and_never_written() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("data/rep/grants", "GRANTS\n");
        scene.put("data/rep/skills/a/lib", "of the skill\n");
        scene.put("data/other", "other\n");
        let hidden = json!([scene.workspace().join("data/rep"), scene.workspace().join("data/not-there")]);
        let own = json!([scene.workspace().join("data/rep/skills/a")]);
        let env = json!({ "LOOK": "data/rep/grants data/rep/skills/a/lib data/other" });
        let code = format!(
            "{LOOK}\nfor act in (lambda: open('data/rep/grants', 'w'), lambda: os.rename('data/rep', 'data/moved'),\n\
             \x20 lambda: os.rename('data', 'moved')):\n\x20 try: act()\n  except OSError: pass"
        );
        for (read, write) in [
            (json!(["**"]), json!([])),
            (json!(["data/**"]), json!(["output/**"])),
            (json!([]), json!(["data/**"])),
            (json!(["data/rep/grants", "data/other"]), json!([])),
            (json!(["**"]), json!(["data/*"])),
            (json!([]), json!(["**/other", "**/grants"])),
        ] {
            let job = json!({ "read": read, "write": write, "env": env, "hidden": hidden, "readable": own });
            let result = scene.python(&code, job);
            let expected = "No such file or directory\nof the skill\nother\n";
            assert_eq!(result["stdout"], expected, "{read} {write}: {result:#}");
            assert_eq!(scene.text("data/rep/grants").as_deref(), Some("GRANTS\n"), "{read} {write}");
            scene.put("data/other", "other\n");
        }
        for write in ["data/rep/**", "data/rep/*.csv"] {
            let result = scene.python("print(1)", json!({ "write": [write], "hidden": hidden }));
            assert!(result["unstartable"].is_string(), "{write}: {result:#}");
        }
    }
}

#[test]
fn a_folder_of_the_runtime_that_is_not_there_yet_is_hidden_under_its_real_name() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("src/x", "x");
        std::os::unix::fs::symlink(scene.workspace(), scene.outside().join("link")).unwrap();
        let hidden = json!([scene.outside().join("link/src/own/deep")]);
        let code = "import os\ntry:\n  os.makedirs('src/own/deep', exist_ok=True)\n  open('src/own/deep/x', 'w')\n\
                    except OSError as error: print(error.strerror)";
        let result = scene.python(code, json!({ "write": ["src/**"], "hidden": hidden }));
        assert_eq!(result["stdout"], "Read-only file system\n", "{result:#}");
        assert_eq!(scene.text("src/own/deep/x"), None);
    }
}

#[test]
fn folders_of_the_runtime_are_never_seen_by_another_path() {
    if !is_root() {
        rep_test_support::skip_unless_ci("only root makes bind mounts");
        return;
    }
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("local/data/rep/grants", "GRANTS\n");
        scene.put("local/other", "other\n");
        scene.put("config/rep.yaml", "POLICY\n");
        fs::create_dir_all(scene.outside().join("alias")).unwrap();
        fs::create_dir_all(scene.workspace().join("docs/inner")).unwrap();
        scene.own();
        let (workspace, alias) = (scene.workspace(), scene.outside().join("alias"));
        let hidden = json!([workspace.join("local/data/rep"), workspace.join("config"), workspace.join("local/cache")]);
        let bind = |from: &str, to: &str| format!("mount --bind {0}/{from} {0}/{to}", scene.outside().display());
        let code = format!(
            "{LOOK}\nfor path in os.environ['LOOK'].split() + ['local/cache/new', 'local/data/rep/new']:\n\
             \x20 try: open(path, 'a').write('x')\n  except OSError: pass"
        );
        let env = json!({ "LOOK": "local/data/rep/grants config/rep.yaml local/other" });
        let nothing = "No such file or directory\n";
        for (read, write) in [
            (json!(["**"]), json!([])),
            (json!(["**"]), json!(["**"])),
            (json!(["**"]), json!(["local/**"])),
            (json!(["local/**"]), json!(["local/data/*", "local/*"])),
            (json!(["**/grants", "**/rep.yaml", "**/other"]), json!(["**/grants", "**/rep.yaml"])),
        ] {
            let job = json!({ "workspace": alias, "read": read, "write": write, "env": env, "hidden": hidden });
            let result = scene.python_behind_mounts(&bind("ws", "alias"), &code, job);
            let expected = format!("{nothing}{nothing}other\n");
            assert_eq!(result["stdout"], expected, "{read} {write}: {result:#}");
            assert_eq!(scene.text("local/data/rep/grants").as_deref(), Some("GRANTS\n"), "{read} {write}");
            assert_eq!(scene.text("config/rep.yaml").as_deref(), Some("POLICY\n"), "{read} {write}");
            assert_eq!(scene.text("local/cache/new"), None, "{read} {write}");
            scene.put("local/other", "other\n");
        }
        // A hidden directory, and a part of one, mounted into a directory that is granted.
        for from in ["ws/local/data/rep", "ws/local/data"] {
            let look = json!({ "LOOK": "docs/inner/grants docs/inner/rep/grants" });
            for (read, write) in [(json!(["docs/**"]), json!([])), (json!([]), json!(["docs/**"]))] {
                let job = json!({ "read": read, "write": write, "env": look, "hidden": hidden });
                let result = scene.python_behind_mounts(&bind(from, "ws/docs/inner"), LOOK, job);
                assert_eq!(result["stdout"], format!("{nothing}{nothing}"), "{from} {read} {write}: {result:#}");
            }
        }
        let outer = json!([workspace.join("local")]);
        let job = json!({ "read": ["docs/**"], "env": { "LOOK": "docs/inner/grants" }, "hidden": outer });
        let result = scene.python_behind_mounts(&bind("ws/local/data/rep", "ws/docs/inner"), LOOK, job);
        assert_eq!(result["stdout"], nothing, "{result:#}");
        // A workspace inside a hidden directory, and a file of one by another name.
        let job = json!({ "workspace": alias, "read": ["**"], "hidden": hidden });
        let result = scene.python_behind_mounts(&bind("ws/local/data/rep", "alias"), LOOK, job);
        assert!(result["unstartable"].is_string(), "{result:#}");
        let job = json!({ "read": ["docs/**"], "hidden": hidden });
        let result = scene.python_behind_mounts(&bind("ws/local/data/rep/grants", "ws/docs/b.txt"), LOOK, job);
        assert!(result["unstartable"].as_str().is_some_and(|why| why.contains("docs/b.txt")), "{result:#}");
    }
}

#[test]
fn hard_links_to_files_of_the_runtime_are_not_granted() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("data/grants", "GRANTS\n");
        scene.put("docs/deep/x", "x\n");
        let hidden = json!([scene.workspace().join("data")]);
        let all = |read, write| json!({ "read": [read], "write": [write], "hidden": hidden });
        let result = scene.python("print(1)", all("docs/**", "docs/*.csv"));
        assert_eq!(result["stdout"], "1\n", "{result:#}");
        fs::hard_link(scene.workspace().join("data/grants"), scene.workspace().join("docs/deep/link.csv")).unwrap();
        for (read, write) in [("docs/**", "output/**"), ("**/*.csv", "output/**"), ("x", "docs/**"), ("x", "**/*.csv")]
        {
            let result = scene.python("print(1)", all(read, write));
            let why = result["unstartable"].as_str().unwrap_or_default();
            assert!(why.contains("docs/deep/link.csv"), "{read} {write}: {result:#}");
        }
        // Where the link is not granted, the tool runs.
        let result = scene.python("print(1)", all("docs/*.pdf", "output/**"));
        assert_eq!(result["stdout"], "1\n", "{result:#}");
    }
}

#[test]
fn a_weaker_user_is_always_reported() {
    if !is_root() {
        rep_test_support::skip_unless_ci("only root mounts an overlay");
        return;
    }
    for who in everyone() {
        let scene = Scene::new(who);
        for name in ["merged", "layers/upper", "layers/work"] {
            fs::create_dir_all(scene.outside().join(name)).unwrap();
        }
        scene.own();
        let outside = scene.outside().display();
        let overlay = format!(
            "mount -t overlay overlay -o lowerdir={outside}/ws,upperdir={outside}/layers/upper,workdir={outside}/layers/work {outside}/merged"
        );
        let job = json!({ "workspace": scene.outside().join("merged") });
        let result = scene.python_behind_mounts(&overlay, "print(open('docs/a.pdf').read())", job);
        assert_eq!(result["stdout"], "PDFDATA\n\n", "{result:#}");
        let is_weaker = result["layers"].to_string().contains("weaker");
        assert_eq!(result["notes"].to_string().contains("without capabilities"), is_weaker, "{result:#}");
        assert!(who == crate::scene::Who::Root || !is_weaker, "{result:#}");
        // On a file system that maps owners, there is nothing to report.
        assert_eq!(scene.python("print(1)", json!({}))["notes"], json!([]));
    }
}
