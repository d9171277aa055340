//! What tools are for still works: Python, Node and Bash with their libraries, as everybody.

use serde_json::json;

use crate::scene::{Scene, everyone, node};

#[test]
fn python_works_with_its_libraries() {
    let code = "import asyncio, os, sqlite3, ssl, tempfile, threading\n\
                assert open('docs/a.pdf').read() == 'PDFDATA\\n'\n\
                os.makedirs('output/d/e'); open('output/d/t', 'w').write('1')\n\
                os.replace('output/d/t', 'output/d/e/t'); os.unlink('output/d/e/t'); os.rmdir('output/d/e')\n\
                with tempfile.NamedTemporaryFile() as file: file.write(b'x')\n\
                base = sqlite3.connect('output/base.db'); base.execute('create table t (a)'); base.commit()\n\
                asyncio.run(asyncio.sleep(0)); ssl.create_default_context()\n\
                seen = []; thread = threading.Thread(target=lambda: seen.append(1)); thread.start(); thread.join()\n\
                assert seen and os.urandom(8) and os.path.expanduser('~') == os.environ['HOME']\n\
                open('/dev/null', 'w').write('x'); open('/dev/stdout', 'w').write('fine\\n')";
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.python(code, json!({}));
        assert_eq!(result["stdout"], "fine\n", "{result:#}");
        assert_eq!(result["denials"], json!([]), "{result:#}");
        let pool = "import multiprocessing, subprocess\nif __name__ == '__main__':\n\
                    \x20 with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))\n\
                    \x20 print(subprocess.run(['/bin/echo', 'x'], capture_output=True).stdout)";
        let result = scene.python(pool, json!({ "allow_subprocess": true }));
        assert_eq!(result["stdout"], "[1, 2]\nb'x\\n'\n", "{result:#}");
    }
}

#[test]
fn bash_works_with_and_without_other_programs() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "sort <<< $'b\\na' | sed s/a/A/ | awk '{print NR $1}'; cat docs/a.pdf > output/copy; echo $(id -un)";
        let result = scene.bash(code, json!({}));
        assert_eq!(result["stdout"], "1A\n2b\ntool\n", "{result:#}");
        assert_eq!(scene.text("output/copy").as_deref(), Some("PDFDATA\n"));
        let code = "read -r line < docs/a.pdf; echo \"$line\" > output/builtin; ls";
        let result = scene.bash(code, json!({ "allow_subprocess": false }));
        assert_eq!(scene.text("output/builtin").as_deref(), Some("PDFDATA\n"));
        assert_ne!(result["code"], 0, "{result:#}");
        let denials = result["denials"].as_array().unwrap();
        assert!(denials.iter().any(|denial| denial[0] == "spawn"), "{result:#}");
    }
}

#[test]
fn node_works_and_starts_nothing() {
    let Some(node) = node() else { return };
    let code = "const fs = require('fs'); const { Worker } = require('worker_threads');\n\
                fs.writeFileSync('output/n', fs.readFileSync('docs/a.pdf'));\n\
                const worker = new Worker('require(\"worker_threads\").parentPort.postMessage(require(\"os\").cpus().length > 0)', { eval: true });\n\
                worker.on('message', (has) => { console.log(has);\n\
                try { require('child_process').execSync('true'); console.log('ran'); } catch (error) { console.log(error.code); } });";
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.run(json!({ "argv": [node, "-e", code] }));
        assert_eq!(result["stdout"], "true\nEPERM\n", "{result:#}");
        assert_eq!(scene.text("output/n").as_deref(), Some("PDFDATA\n"));
    }
}

#[test]
fn a_channel_is_descriptor_three_and_the_only_one() {
    let code = "import os, socket\none = socket.socket(fileno=3)\none.sendall(b'ping')\nprint(one.recv(4).decode())\n\
                print(sorted(int(fd) for fd in os.listdir('/proc/self/fd'))[:-1])";
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.python(code, json!({ "channel": true }));
        assert_eq!(result["stdout"], "pong\n[0, 1, 2, 3]\n", "{result:#}");
        assert_eq!(result["heard"], "ping");
        let result = scene.python("import os; os.close(3)", json!({ "channel": true, "without": ["mapping"] }));
        assert_eq!((&result["code"], &result["heard"]), (&json!(0), &json!("")), "{result:#}");
        let result = scene.python("import os; os.write(3, b'x')", json!({}));
        assert!(result["stderr"].as_str().unwrap().contains("Bad file descriptor"), "{result:#}");
    }
}

#[test]
fn a_program_converses_over_stdin_and_stdout() {
    let code = "import os, sys\nos.write(1, b'ping')\nassert os.read(0, 4) == b'pong'\n\
                sys.stderr.write(str(sorted(int(fd) for fd in os.listdir('/proc/self/fd'))[:-1]))";
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.python(code, json!({ "channel": "stdio" }));
        assert_eq!((&result["code"], &result["heard"]), (&json!(0), &json!("ping")), "{result:#}");
        assert_eq!((&result["stdout"], &result["stderr"]), (&json!(""), &json!("[0, 1, 2]")), "{result:#}");
        let closed = scene.python("import os; os.close(0); os.close(1)", json!({ "channel": "stdio" }));
        assert_eq!((&closed["code"], &closed["heard"]), (&json!(0), &json!("")), "{closed:#}");
    }
}

#[test]
fn what_was_hidden_is_named_with_what_would_show_it() {
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.python("open('secret/key.txt')", json!({}));
        let expected = json!([["read", "secret/key.txt", "permissions.filesystem.read: [\"secret/key.txt\"]"]]);
        assert_eq!(result["denials"], expected, "{result:#}");
        let result = scene.python("open('new.txt', 'w')", json!({}));
        let expected = json!([["write", "new.txt", "permissions.filesystem.write: [\"new.txt\"]"]]);
        assert_eq!(result["denials"], expected, "{result:#}");
        let result = scene.python("open('nowhere.txt')", json!({}));
        assert_eq!(result["denials"], json!([]), "what is not there was not hidden: {result:#}");
        let result = scene.python("print(open('secret/key.txt').read())", json!({ "read": ["secret/key.txt"] }));
        assert_eq!(result["stdout"], "SECRET\n\n", "{result:#}");
    }
}

#[test]
fn names_that_are_no_text_are_seen() {
    use std::os::unix::ffi::OsStrExt;
    for who in everyone() {
        let scene = Scene::new(who);
        let name = std::ffi::OsStr::from_bytes(b"docs/\xff.pdf");
        std::fs::write(scene.workspace().join(name), "odd").unwrap();
        scene.own();
        let result =
            scene.python("import os; print(open(os.listdir(b'docs')[0] and b'docs/\\xff.pdf').read())", json!({}));
        assert_eq!(result["stdout"], "odd\n", "{result:#}");
    }
}

#[test]
fn a_link_in_the_workspace_shows_nothing_of_what_it_leads_to() {
    for who in everyone() {
        let scene = Scene::new(who);
        std::os::unix::fs::symlink(scene.outside().join("home"), scene.workspace().join("linked")).unwrap();
        std::os::unix::fs::symlink("../secret/key.txt", scene.workspace().join("docs/link.pdf")).unwrap();
        std::os::unix::fs::symlink("../home", scene.workspace().join("out")).unwrap();
        scene.own();
        let code = "import os; print(os.path.exists('linked/.ssh'), os.path.exists('docs/link.pdf'))";
        let result = scene.python(code, json!({ "read": ["linked/**", "docs/*.pdf", "linked/.ssh/id_canary"] }));
        assert_eq!(result["stdout"], "False False\n", "{result:#}");
        let result = scene.python("open('out/x', 'w')", json!({ "write": ["out/**"] }));
        assert!(result["unstartable"].is_string(), "a folder for writing is not a link: {result:#}");
        assert!(!scene.outside().join("home/x").exists());
    }
}

#[test]
fn tools_run_with_any_umask_of_the_caller() {
    for who in everyone() {
        for umask in ["022", "027", "077", "777"] {
            let scene = Scene::new(who);
            let code = "import os, tempfile\nos.makedirs('output/d')\nopen('output/d/x', 'w').write('x')\n\
                        with tempfile.NamedTemporaryFile() as file: file.write(b'x')\nos.listdir('/usr/bin')\n\
                        print(open('docs/a.pdf').read(), os.umask(0o022) == 0o022)";
            let job = json!({ "argv": [crate::scene::python(), "-I", "-c", code] });
            let result = scene.run_after(&format!("umask {umask}; exec \"$@\""), job);
            assert_eq!(result["stdout"], "PDFDATA\n True\n", "{who:?} {umask}: {result:#}");
        }
    }
}
