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
                    open('src/repo/.git/index', 'w').write('fine'); open('src/repo/a.c', 'w').write('fine')\n\
                    os.mkdir('src/x'); os.rename('src/x', 'src/y')";
        let result = scene.python(code, src());
        let busy = "Device or resource busy\n".repeat(4);
        assert_eq!(result["stdout"], format!("{busy}Read-only file system\n"), "{result:#}");
        assert_eq!(result["code"], 0, "what is no business of others is written as before: {result:#}");
        assert_eq!(scene.text("src/repo/.git/index").as_deref(), Some("fine"));
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
            assert!(is_rejected(&result, "src/p/.git/config"), "{mode}: {result:#}");
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
        // So many files take a while; who made them makes no difference.
        if who == Who::User {
            let limits = json!({ "timeout_ms": 600_000, "cpu_s": 600 });
            let result = scene.python(code, json!({ "write": ["src/**"], "limits": limits }));
            assert!(is_rejected(&result, "src/many/.envrc"), "{result:#}");
        }
        assert_eq!(scene.text("src/many/.envrc"), None);
        let code = "import os\nos.chdir('src')\nfor n in range(200): os.mkdir('d'); os.chdir('d')\nopen('.envrc', 'w')";
        let result = scene.python(code, json!({ "write": ["src/**"] }));
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
        assert!(is_rejected(&result, "src/bare/hooks/post-update"), "{result:#}");
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
