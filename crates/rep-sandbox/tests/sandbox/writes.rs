//! Writing by name: what fits is taken over, and one thing that does not fit leaves all as it was.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::scene::{Scene, everyone};

fn reports(change: Value) -> Value {
    let mut job = json!({ "write": ["reports/*.csv"], "read": ["reports/*.md"] });
    for (name, value) in change.as_object().cloned().into_iter().flatten() {
        job[name] = value;
    }
    job
}

fn scene_with_reports(who: crate::scene::Who) -> Scene {
    let scene = Scene::new(who);
    scene.put("reports/old.csv", "old\n");
    scene.put("reports/keep.txt", "hidden\n");
    scene.put("reports/info.md", "info\n");
    scene
}

#[test]
fn what_fits_is_taken_over() {
    for who in everyone() {
        let scene = scene_with_reports(who);
        let code = "import os\nprint(sorted(os.listdir('reports')))\nopen('reports/new.csv', 'w').write('new')\n\
                    open('reports/t.tmp', 'w').write('moved')\nos.replace('reports/t.tmp', 'reports/moved.csv')\n\
                    open('reports/old.csv', 'a').write('more\\n')";
        let result = scene.python(code, reports(json!({})));
        assert_eq!(result["stdout"], "['info.md', 'old.csv']\n", "{result:#}");
        assert_eq!(result["written"], json!(["reports/moved.csv", "reports/new.csv", "reports/old.csv"]), "{result:#}");
        assert_eq!(scene.text("reports/new.csv").as_deref(), Some("new"));
        assert_eq!(scene.text("reports/moved.csv").as_deref(), Some("moved"));
        assert_eq!(scene.text("reports/old.csv").as_deref(), Some("old\nmore\n"));
        assert_eq!(scene.text("reports/keep.txt").as_deref(), Some("hidden\n"));
        let result = scene.python("import os; os.remove('reports/old.csv')", reports(json!({})));
        assert_eq!(result["code"], 0, "{result:#}");
        assert_eq!(scene.text("reports/old.csv"), None);
    }
}

#[test]
fn one_thing_that_does_not_fit_leaves_all_as_it_was() {
    for who in everyone() {
        for (code, named) in [
            ("open('reports/evil.sh', 'w')", "reports/evil.sh"),
            ("import os; os.mkdir('reports/sub'); open('reports/sub/d.csv', 'w')", "reports/sub/d.csv"),
            ("import os; os.symlink('/etc/passwd', 'reports/l.csv')", "reports/l.csv"),
            ("import os; os.link('reports/x.csv', 'reports/y.csv')", "reports/x.csv"),
            ("import os; os.mkfifo('reports/p.csv')", "reports/p.csv"),
        ] {
            let scene = scene_with_reports(who);
            let before = scene.files();
            // Landlock would refuse the links and the pipe; here the second wall is tried alone.
            let code = format!("open('reports/x.csv', 'w').write('x')\nopen('reports/old.csv', 'w')\n{code}");
            let result = scene.python(&code, reports(json!({ "without": ["landlock"] })));
            assert!(result["rejected"].as_str().is_some_and(|text| text.contains(named)), "{code}: {result:#}");
            assert_eq!(scene.files(), before);
            assert_eq!(scene.text("reports/old.csv").as_deref(), Some("old\n"));
        }
        let scene = scene_with_reports(who);
        let result = scene.python("open('reports/evil.sh', 'w')", reports(json!({ "without": ["judge"] })));
        assert_eq!(result["written"], json!(["reports/evil.sh"]), "without the judge it is taken over: {result:#}");
    }
}

#[test]
fn what_is_only_read_is_not_written_and_what_is_neither_is_not_there() {
    for who in everyone() {
        let scene = scene_with_reports(who);
        let code = "for path, how in (('reports/info.md', 'w'), ('reports/keep.txt', 'r')):\n  try: open(path, how)\n\
                    \x20 except OSError as error: print(error.strerror)";
        let result = scene.python(code, reports(json!({})));
        assert_eq!(result["stdout"], "Read-only file system\nNo such file or directory\n", "{result:#}");
        assert_eq!(scene.text("reports/info.md").as_deref(), Some("info\n"));
    }
}

#[test]
fn names_others_trust_are_never_written() {
    for who in everyone() {
        for path in [
            ".git/hooks/pre-commit",
            ".git/config",
            "sub/.git/hooks/x",
            ".envrc",
            ".vscode/tasks.json",
            ".claude/settings.json",
            ".mcp.json",
            ".bashrc",
            "AGENTS.md",
            "skills/x/SKILL.md",
            ".agents/x",
            ".github/workflows/ci.yml",
            ".cargo/config.toml",
            ".config/systemd/user/x.service",
            ".ssh/authorized_keys",
            "rep.yaml",
        ] {
            let scene = Scene::new(who);
            let before = scene.files();
            let code = format!(
                "import os\nos.makedirs(os.path.dirname('{path}') or '.', exist_ok=True)\n\
                 open('{path}', 'w').write('x')\nopen('fine.txt', 'w').write('x')"
            );
            let result = scene.python(&code, json!({ "write": ["**"], "read": [] }));
            assert!(result["rejected"].as_str().is_some_and(|text| text.contains(path)), "{path}: {result:#}");
            assert_eq!(scene.files(), before);
        }
        let scene = Scene::new(who);
        scene.put(".git/config", "[core]\n");
        let code = "print(open('.git/config').read()); open('fine.txt', 'w').write('x')";
        let result = scene.python(code, json!({ "write": ["**"], "read": [] }));
        assert_eq!(result["written"], json!(["fine.txt"]), "{result:#}");
        let result = scene.python("import os; os.remove('.git/config')", json!({ "write": ["**"], "read": [] }));
        assert!(result["rejected"].as_str().is_some(), "{result:#}");
        assert_eq!(scene.text(".git/config").as_deref(), Some("[core]\n"));
    }
}

#[test]
fn names_others_trust_are_not_planted_in_folders_either() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("src/.envrc", "mine\n");
        let before = scene.files();
        let code = "import os\nos.makedirs('src/.git/hooks')\nopen('src/.git/hooks/pre-commit', 'w').write('x')";
        let result = scene.python(code, json!({ "write": ["src/**"] }));
        assert!(result["rejected"].as_str().is_some_and(|text| text.contains("src/.git.refused")), "{result:#}");
        assert_eq!(scene.text("src/.git/hooks/pre-commit"), None);
        assert_eq!(scene.text("src/.git.refused/hooks/pre-commit").as_deref(), Some("x"), "it is nobody's any more");
        let after: Vec<String> = scene.files().into_iter().filter(|path| !path.starts_with("src/.git")).collect();
        assert_eq!(after, before);
        let code = "import os\nfor act in (lambda: open('src/.envrc', 'w'), lambda: os.remove('src/.envrc')):\n\
                    \x20 try: act()\n  except OSError as error: print(error.strerror)\nopen('src/fine', 'w')";
        let result = scene.python(code, json!({ "write": ["src/**"] }));
        assert_eq!(result["stdout"], "Read-only file system\nDevice or resource busy\n", "{result:#}");
        assert_eq!(scene.text("src/.envrc").as_deref(), Some("mine\n"));
        let code = "open('src/.mcp.json', 'w').write('x')";
        let result = scene.python(code, json!({ "write": ["src/**"], "without": ["judge"] }));
        assert_eq!(result["code"], 0, "{result:#}");
        assert!(scene.text("src/.mcp.json").is_some(), "without the judge it stays");
    }
}

#[test]
fn a_tool_that_is_killed_changes_nothing_by_name() {
    for who in everyone() {
        let scene = scene_with_reports(who);
        let code = "import time\nopen('reports/new.csv', 'w').write('half')\ntime.sleep(60)";
        let job = reports(json!({ "limits": { "timeout_ms": 700, "grace_ms": 100 } }));
        assert_eq!(scene.python(code, job)["killed"], "Timeout");
        assert_eq!(scene.text("reports/new.csv"), None);
    }
}

#[test]
fn what_may_be_read_is_there_beside_what_may_be_written() {
    for who in everyone() {
        for (read, write, path) in [
            (json!(["**"]), json!(["*.csv"]), "a.csv"),
            (json!(["**"]), json!(["reports/*.csv"]), "reports/a.csv"),
            (json!(["reports/**"]), json!(["**/*.csv"]), "reports/a.csv"),
            (json!(["**"]), json!(["reports/*.csv", "*.csv", "reports/x/**"]), "a.csv"),
            (
                json!(["reports/info.md", "reports/keep.txt"]),
                json!(["reports/*.csv", "reports/old.csv"]),
                "reports/a.csv",
            ),
        ] {
            let scene = scene_with_reports(who);
            let code = "import sys\nfor path in ('reports/info.md', 'reports/keep.txt'):\n  print(open(path).read().strip())\n\
                        \x20 try: open(path, 'w')\n  except OSError as error: print(error.strerror)\n\
                        open(sys.stdin.read(), 'w').write('x')";
            let result = scene.python(code, json!({ "read": read, "write": write, "stdin": path }));
            let expected = "info\nRead-only file system\nhidden\nRead-only file system\n";
            assert_eq!(result["stdout"], expected, "{read} {write}: {result:#}");
            assert_eq!(result["written"], json!([path]), "{read} {write}: {result:#}");
        }
    }
}

#[test]
fn a_skill_that_is_its_own_workspace_keeps_its_files() {
    for who in everyone() {
        let scene = scene_with_reports(who);
        let code =
            "print(open('reports/info.md').read(), open('docs/b.txt').read()); open('reports/a.csv', 'w').write('x')";
        let job = json!({ "read": [], "write": ["reports/*.csv"], "readable": [scene.workspace()] });
        let result = scene.python(code, job);
        assert_eq!(result["written"], json!(["reports/a.csv"]), "{result:#}");
        assert_eq!(result["stdout"], "info\n text\n\n");
        let job = json!({ "read": [], "write": ["**"], "readable": [scene.workspace()] });
        let result = scene.python("open('docs/b.txt', 'w')", job);
        assert!(result["unstartable"].is_string(), "a tool does not rewrite its skill: {result:#}");
    }
}

#[test]
fn single_files_and_folders_can_be_granted_together() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("state.json", "{}");
        let code =
            "open('state.json', 'w').write('1'); open('output/x', 'w').write('2'); print(open('docs/a.pdf').read())";
        let job = json!({ "write": ["state.json", "output/**"], "read": ["docs/*.pdf"] });
        let result = scene.python(code, job);
        assert_eq!(result["written"], json!(["state.json"]), "{result:#}");
        assert_eq!(scene.text("state.json").as_deref(), Some("1"));
        assert_eq!(scene.text("output/x").as_deref(), Some("2"));
        assert_eq!(scene.text("docs/b.txt").as_deref(), Some("text\n"));
    }
}

#[test]
fn more_files_than_may_be_open_are_taken_over() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "for n in range(1500): open(f'reports/{n}.csv', 'w').write('x')";
        let result = scene.python(code, reports(json!({ "caller_files": 256 })));
        assert_eq!(result["written"].as_array().map(Vec::len), Some(1500), "{}", result["rejected"]);
        assert_eq!(scene.text("reports/1499.csv").as_deref(), Some("x"));
    }
}

#[test]
fn what_the_user_did_meanwhile_stays() {
    for who in everyone() {
        let scene = scene_with_reports(who);
        scene.put("reports/gone.csv", "old\n");
        let job = json!({ "write": ["reports/*.csv", "output/**"] });
        let child = scene.begin("a", "", "open('reports/new.csv', 'w').write('new')", job);
        scene.put("reports/old.csv", "saved by the user\n");
        std::fs::remove_file(scene.workspace().join("reports/gone.csv")).unwrap();
        let result = scene.end("a", child);
        assert_eq!(result["written"], json!(["reports/new.csv"]), "{result:#}");
        assert_eq!(result["conflicts"], json!([]), "{result:#}");
        assert_eq!(scene.text("reports/old.csv").as_deref(), Some("saved by the user\n"));
        assert_eq!(scene.text("reports/gone.csv"), None);
    }
}

#[test]
fn where_both_changed_a_file_neither_is_lost() {
    for who in everyone() {
        let scene = scene_with_reports(who);
        scene.put("reports/gone.csv", "old\n");
        let job = json!({ "write": ["reports/*.csv", "output/**"] });
        let code = "os.remove('reports/gone.csv')\n\
                    for name in ('old', 'new', 'folder', 'fine'): open(f'reports/{name}.csv', 'w').write('of the tool')";
        let child = scene.begin("a", "", code, job);
        for name in ["old", "gone", "new"] {
            scene.put(&format!("reports/{name}.csv"), "of the user");
        }
        scene.put("reports/folder.csv/x", "of the user");
        let result = scene.end("a", child);
        assert_eq!(result["written"], json!(["reports/fine.csv"]), "{result:#}");
        assert_eq!(result["conflicts"].as_array().map(Vec::len), Some(4), "{result:#}");
        for name in ["old", "gone", "new"] {
            let path = format!("reports/{name}.csv");
            assert_eq!(scene.text(&path).as_deref(), Some("of the user"), "{path}");
            assert!(result["conflicts"].to_string().contains(&path), "{result:#}");
        }
        for name in ["old", "new", "folder"] {
            let path = format!("reports/{name}.csv.rep-conflict");
            assert_eq!(scene.text(&path).as_deref(), Some("of the tool"), "{path}");
        }
        assert!(!scene.files().iter().any(|path| path.contains(".rep-") && !path.ends_with(".rep-conflict")));
    }
}

#[test]
fn holes_of_a_file_count_as_their_length() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "import os\nfor n in range(4):\n  with open(f'docs/{n}.csv', 'wb') as file: os.truncate(file.fileno(), 1 << 30)";
        let result = scene.python(code, json!({ "write": ["docs/*.csv"] }));
        assert!(result["rejected"].as_str().is_some_and(|why| why.contains("counting holes")), "{result:#}");
        assert_eq!(scene.text("docs/0.csv"), None);
        // A hole that fits is committed.
        let code = "import os\nwith open('docs/x.csv', 'wb') as file: os.truncate(file.fileno(), 1 << 20)";
        let result = scene.python(code, json!({ "write": ["docs/*.csv"] }));
        assert_eq!(result["written"], json!(["docs/x.csv"]), "{result:#}");
        assert_eq!(scene.text("docs/x.csv").map(|text| text.len()), Some(1 << 20));
    }
}

#[test]
fn taking_results_over_ends_with_the_time_of_the_run() {
    for who in everyone() {
        let scene = Scene::new(who);
        // The tool needs almost no time for holes, and reading them takes longer than there is.
        let code = "import os\nwith open('docs/x.csv', 'wb') as file: os.truncate(file.fileno(), 64 << 30)";
        let gib = 1_u64 << 30;
        let limits =
            json!({ "timeout_ms": 1500, "grace_ms": 100, "file_bytes": 100 * gib, "temporary_bytes": 100 * gib });
        let result = scene.python(code, json!({ "write": ["docs/*.csv"], "limits": limits }));
        assert_eq!(result["killed"], "Timeout", "{result:#}");
        assert_eq!(result["written"], json!([]), "{result:#}");
        assert!(
            scene.files().iter().all(|path| !path.contains("csv") && !path.contains(".rep-")),
            "{:?}",
            scene.files()
        );
    }
}

#[test]
fn no_file_becomes_writable_for_all_users() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("output/old", "x");
        fs::set_permissions(scene.workspace().join("output/old"), fs::Permissions::from_mode(0o600)).unwrap();
        let code = "import os, errno\n\
                    print(oct(os.umask(0)), oct(os.umask(0o077)), oct(os.umask(0o022)))\n\
                    open('output/f', 'w').close(); os.mkdir('output/d', 0o777); os.umask(0); open('output/g', 'w').close()\n\
                    f = os.open('output/f', os.O_RDONLY)\n\
                    acl = b'\\x02\\0\\0\\0'\n\
                    def attempt(action, *args):\n\
                    \x20 try: action(*args); print('done')\n\
                    \x20 except OSError as error: print(errno.errorcode[error.errno])\n\
                    attempt(os.chmod, 'output', 0o1777); attempt(os.chmod, 'output/old', 0o666)\n\
                    attempt(os.fchmod, f, 0o602); attempt(os.setxattr, 'output', 'system.posix_acl_default', acl)\n\
                    attempt(os.setxattr, f, 'user.note', b'x'); attempt(os.chmod, 'output/f', 0o755)";
        let result = scene.python(code, json!({}));
        let expected = "0o22 0o22 0o77\nEPERM\nEPERM\nEPERM\nENOTSUP\nENOTSUP\ndone\n";
        assert_eq!(result["stdout"], expected, "{who:?}: {result:#}");
        for name in ["output", "output/old", "output/f", "output/d", "output/g"] {
            let mode = fs::metadata(scene.workspace().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o002, 0, "{who:?} {name}: {mode:o}");
        }
    }
}
