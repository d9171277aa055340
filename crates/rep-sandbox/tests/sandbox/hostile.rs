//! Tools that do their worst leave no process, no file and no hang.

use rep_test_support::{DEADLINE, wait_until};
use serde_json::{Value, json};

use crate::scene::{Scene, Who, bash, everyone, python};

#[test]
fn daemons_end_with_the_tool() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code =
            "(setsid sleep 600 &); (setsid bash -c \"trap '' TERM HUP; while :; do sleep 1; done\" &); echo done";
        let result = scene.bash(code, json!({}));
        assert_eq!((&result["code"], &result["stdout"]), (&json!(0), &json!("done\n")), "{result:#}");
        assert_eq!(scene.survivors(), Vec::<u32>::new());
    }
}

#[test]
fn a_fork_bomb_is_over_when_its_time_is() {
    for who in everyone() {
        let scene = Scene::new(who);
        let limits = json!({ "processes": 60, "timeout_ms": 1500, "grace_ms": 100 });
        let result = scene
            .bash("trap '' TERM; bomb() { bomb | bomb & }; bomb; while :; do :; done", json!({ "limits": limits }));
        assert_eq!(result["killed"], "Timeout", "{result:#}");
        assert_eq!(scene.survivors(), Vec::<u32>::new());
    }
}

#[test]
fn output_without_end_is_cut_and_read_on() {
    for who in everyone() {
        let scene = Scene::new(who);
        for stream in ["stdout", "stderr"] {
            let code = format!("import sys\nwhile True: sys.{stream}.write('x' * 65536)");
            let result = scene.python(&code, json!({ "limits": { "output_bytes": 200_000 } }));
            assert_eq!(result["killed"], "Output", "{}", result["signal"]);
            assert_eq!(result["is_truncated"], true);
            assert_eq!(result[stream].as_str().unwrap().len(), 200_000);
        }
        let result = scene.python("import sys; sys.stdout.write('x' * 3000000)", json!({}));
        assert_eq!(result["stdout_bytes"], 3_000_000);
        assert_eq!(result["is_truncated"], false);
    }
}

#[test]
fn bytes_that_are_no_text_come_through() {
    for who in everyone() {
        let code = "import os; os.write(1, bytes(range(256)))";
        let result = Scene::new(who).python(code, json!({}));
        assert_eq!(result["stdout_bytes"], 256);
    }
}

#[test]
fn closed_pipes_and_unread_input_hang_nobody() {
    for who in everyone() {
        let scene = Scene::new(who);
        let much = json!({ "stdin": "0123456789abcdef", "stdin_times": 400_000 });
        let mut job = much.clone();
        job["argv"] = json!([python(), "-c", "import os; os.close(0); os.close(1); os.close(2)"]);
        assert_eq!(scene.run(job)["code"], 0);
        let result = scene.python("print('not read')", much.clone());
        assert_eq!(result["stdout"], "not read\n");
        // More than a pipe holds in both directions at once.
        let echo = "import sys, shutil; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)";
        let result = scene.python(echo, much);
        assert_eq!((&result["stdout_bytes"], &result["code"]), (&json!(6_400_000), &json!(0)));
    }
}

#[test]
fn ten_gigabytes_do_not_fit() {
    let code = "import os\nwith open(os.environ['TMPDIR'] + '/x', 'wb') as file:\n  for _ in range(10240): file.write(b'x' * (1 << 20))";
    for who in everyone() {
        let scene = Scene::new(who);
        let before = scene.files();
        let result = scene.python(code, json!({ "limits": { "temporary_bytes": 32 << 20 } }));
        assert_eq!(result["code"], 1, "{result:#}");
        assert_eq!(scene.files(), before);
        let code = code.replace("os.environ['TMPDIR'] + '/x'", "'reports/x.csv'");
        let job = json!({ "write": ["reports/*.csv"], "limits": { "temporary_bytes": 32 << 20 } });
        let result = scene.python(&code, job);
        assert_eq!(result["code"], 1, "{result:#}");
    }
}

#[test]
fn when_the_runtime_is_killed_so_is_the_tool() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "trap '' TERM; (setsid sleep 600 &); echo > output/started; while :; do sleep 1; done";
        let job = scene.job(json!({ "argv": [bash(), "-c", code], "allow_subprocess": true }));
        let mut runtime = scene.start(&job);
        wait_until("the tool has started", DEADLINE, || scene.text("output/started").is_some());
        assert!(scene.survivors().len() >= 2, "it runs");
        runtime.kill().unwrap();
        runtime.wait().unwrap();
        wait_until("no process of the tool is left", DEADLINE, || scene.survivors().is_empty());
    }
}

#[test]
fn a_hundred_tools_at_once_do_not_meet() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "import os, sys; open('output/' + sys.argv[1], 'w').write(sys.stdin.read()); print(sys.argv[1])";
        let results = scene.run(json!({
            "argv": [python(), "-I", "-c", code, "{number}"],
            "stdin": "fed",
            "times": 100,
            "limits": { "timeout_ms": 120_000 },
        }));
        let results: Vec<Value> = results.as_array().unwrap().clone();
        assert_eq!(results.len(), 100);
        for (number, result) in results.iter().enumerate() {
            assert_eq!((&result["code"], &result["stdout"]), (&json!(0), &json!(format!("{number}\n"))), "{result:#}");
            assert_eq!(scene.text(&format!("output/{number}")).as_deref(), Some("fed"));
        }
        assert_eq!(scene.survivors(), Vec::<u32>::new());
    }
}

#[test]
fn a_set_user_id_program_is_nobody_else() {
    for who in everyone().into_iter().filter(|who| *who == Who::Root) {
        let scene = Scene::new(who);
        let program = scene.outside().join("skill/id");
        std::fs::copy("/usr/bin/id", &program).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o4755)).unwrap();
        let code = format!("{} -u", program.display());
        let result = scene.bash(&code, json!({ "readable": [scene.outside().join("skill")] }));
        assert_eq!(result["stdout"], "1000\n", "{result:#}");
    }
}

#[test]
fn calls_of_other_machines_are_deadly() {
    // `int 0x80` with the number of `getpid`, and a call in the numbers of x32.
    for machine_code in ["\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3", "\\xb8\\x27\\x00\\x00\\x40\\x0f\\x05\\xc3"] {
        let code = format!(
            "import ctypes, mmap\npage = mmap.mmap(-1, 4096, prot=7)\npage.write(b'{machine_code}')\n\
             ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()"
        );
        for who in everyone() {
            let scene = Scene::new(who);
            let result = scene.python(&code, json!({}));
            assert_eq!(result["signal"], 31, "{result:#}");
            let result = scene.python(&code, json!({ "without": ["seccomp"] }));
            assert_eq!(result["code"], 0, "without the filter they are calls: {result:#}");
        }
    }
}

#[test]
fn what_a_tool_wrote_is_not_executed() {
    let code = "for place in output $TMPDIR; do cp /bin/echo $place/e; $place/e ran; printf 'echo ran' > $place/s; \
                chmod +x $place/s; $place/s; /lib64/ld-linux-x86-64.so.2 $place/e ran; done; sh output/s";
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.bash(code, json!({}));
        assert_eq!(result["stdout"], "ran\n", "only as the script of a shell: {result:#}");
        let env = json!({ "PATH": "/usr/bin:/bin", "TMPDIR": scene.outside() });
        let result = scene.bash(code, json!({ "without": ["view", "landlock", "mapping"], "env": env }));
        assert!(result["stdout"].as_str().unwrap().lines().count() > 4, "otherwise it is: {result:#}");
    }
}

#[test]
fn what_a_tool_tried_is_told_in_one_line() {
    for who in everyone() {
        let code = "import os\ntry: os.execv('/x\\n\\x1b[2J allowed: all', ['x'])\nexcept OSError: pass";
        let result = Scene::new(who).python(code, json!({}));
        let told = result["denials"].to_string();
        assert!(told.contains("allowed: all"), "{result:#}");
        assert!(!told.contains("\\u001b") && !told.contains("x\\n"), "{told}");
    }
}

#[test]
fn nobody_is_made_to_wait_for_a_file() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "import fcntl\nfile = open('docs/a.pdf')\nfcntl.fcntl(file, fcntl.F_GETFL)\n\
                    try: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)\nexcept OSError as error: print(error.strerror)";
        let result = scene.python(code, json!({}));
        assert_eq!(result["stdout"], "Operation not permitted\n", "{result:#}");
    }
}

/// Lines of Python that make system calls and print the name of each error.
const CALLS: &str = "import ctypes, errno, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
    def call(*words):\n\
    \x20 done = libc.syscall(*[ctypes.c_long(word) if isinstance(word, int) else word for word in words])\n\
    \x20 print('done' if done >= 0 else errno.errorcode[ctypes.get_errno()])\n";

#[test]
fn nobody_is_watched() {
    // inotify_init, inotify_init1, fanotify_init, and dnotify, which is older: F_NOTIFY with DN_ACCESS.
    let code = format!("{CALLS}call(253)\ncall(294, 0)\ncall(300, 0, 0)\ncall(72, os.open('/usr/bin', 0), 1026, 1)");
    for who in everyone() {
        let result = Scene::new(who).python(&code, json!({}));
        assert_eq!(result["stdout"], "ENOSYS\nENOSYS\nEPERM\nEPERM\n", "{result:#}");
    }
}

#[test]
fn programs_that_watch_files_fall_back_or_say_so() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "timeout 0.5 tail -n +1 -f docs/a.pdf; true";
        let result = scene.bash(code, json!({}));
        assert_eq!(result["stdout"], "PDFDATA\n", "{result:#}");
        let Some(node) = crate::scene::node() else { continue };
        let code = "const fs = require('fs'); fs.watchFile('docs/a.pdf', () => {}); fs.unwatchFile('docs/a.pdf');\n\
                    try { fs.watch('docs'); console.log('watches'); } catch (error) { console.log(error.code); }";
        let result = scene.run(json!({ "argv": [node, "-e", code] }));
        assert_eq!(result["stdout"], "ENOSYS\n", "{result:#}");
    }
}

#[test]
fn no_device_is_left_where_others_see_it() {
    // renameat2 with RENAME_WHITEOUT, and mknodat of a whiteout and of a block device.
    let code = format!(
        "{CALLS}open('output/a', 'w')\nwords = [ctypes.c_char_p(b'output/' + name) for name in (b'a', b'b', b'c', b'd')]\n\
         call(316, -100, words[0], -100, words[1], 4)\ncall(316, -100, words[0], -100, words[1], 5)\n\
         call(259, -100, words[2], 0o020644, 0)\ncall(259, -100, words[3], 0o060644, 1 << 8)\n\
         call(316, -100, words[0], -100, words[1], 1)"
    );
    for who in everyone() {
        for without in [json!([]), json!(["landlock"])] {
            let scene = Scene::new(who);
            let result = scene.python(&code, json!({ "without": without }));
            assert_eq!(result["stdout"], "EPERM\nEPERM\nEPERM\nEPERM\ndone\n", "{result:#}");
            let left = scene.files().into_iter().filter(|path| path.starts_with("output/")).collect::<Vec<_>>();
            assert_eq!(left, ["output/b"]);
        }
    }
}
