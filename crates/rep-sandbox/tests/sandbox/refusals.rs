//! Where the kernel cannot hold a tool, nothing runs and it is said what is missing.

use std::process::Command;

use serde_json::{Value, json};

use crate::scene::{Scene, Who, everyone, is_root};

#[test]
fn a_machine_says_what_it_offers() {
    for who in everyone() {
        let result = Scene::new(who).run(json!({ "probe": true, "argv": [] }));
        let names: Vec<&Value> = result["layers"].as_array().unwrap().iter().map(|layer| &layer[0]).collect();
        assert_eq!(names, ["namespaces", "view", "user", "landlock", "seccomp", "network", "limits"], "{result:#}");
    }
}

#[test]
fn without_user_namespaces_nothing_runs() {
    let scene = Scene::new(if is_root() { Who::Root } else { Who::User });
    let job = scene.job(json!({ "argv": ["/usr/bin/touch", "output/ran"] }));
    let file = scene.outside().join("job.json");
    std::fs::write(&file, job.to_string()).unwrap();
    let script = format!(
        "echo 0 > /proc/sys/user/max_user_namespaces && exec {} < {}",
        env!("CARGO_BIN_EXE_sandbox-trial"),
        file.display()
    );
    let output = Command::new("unshare").args(["-Ur", "sh", "-c", &script]).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).expect("a refusal is told");
    let feature = result["unavailable"].as_str().unwrap_or_else(|| panic!("{result:#}"));
    assert!(feature.contains("user namespace"), "{result:#}");
    assert!(result["remedy"].as_str().unwrap().contains("user namespaces"), "{result:#}");
    assert_eq!(scene.text("output/ran"), None);
}

#[test]
fn behind_a_masked_proc_nothing_runs() {
    let scene = Scene::new(if is_root() { Who::Root } else { Who::User });
    let job = scene.job(json!({ "argv": ["/usr/bin/touch", "output/ran"], "without": ["mapping"] }));
    let file = scene.outside().join("job.json");
    std::fs::write(&file, job.to_string()).unwrap();
    let script =
        format!("mount -t tmpfs none /proc/sys && exec {} < {}", env!("CARGO_BIN_EXE_sandbox-trial"), file.display());
    let output = Command::new("unshare").args(["-Urm", "sh", "-c", &script]).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).expect("a refusal is told");
    assert!(result["unavailable"].as_str().is_some_and(|text| text.contains("/proc")), "{result:#}");
    assert_eq!(scene.text("output/ran"), None);
}

#[test]
fn root_of_a_user_namespace_runs_tools_too() {
    let scene = Scene::new(if is_root() { Who::Root } else { Who::User });
    let code = "cat docs/a.pdf; echo x > output/ran; id -u; cat secret/key.txt";
    let job = scene.job(json!({ "argv": [crate::scene::bash(), "-c", code], "allow_subprocess": true }));
    let file = scene.outside().join("job.json");
    std::fs::write(&file, job.to_string()).unwrap();
    let script = format!("exec {} < {}", env!("CARGO_BIN_EXE_sandbox-trial"), file.display());
    let output = Command::new("unshare").args(["-Ur", "sh", "-c", &script]).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert_eq!(result["stdout"], "PDFDATA\n1000\n", "{result:#}");
    assert!(result["layers"].to_string().contains("weaker: root"), "and it says so: {result:#}");
    assert_eq!(scene.text("output/ran").as_deref(), Some("x\n"));
}

#[test]
fn root_on_a_file_system_that_maps_no_owners_is_held_as_himself_and_told() {
    if !is_root() {
        return;
    }
    let scene = Scene::new(Who::Root);
    let job =
        scene.job(json!({ "argv": [crate::scene::bash(), "-c", "echo x > output/ran; read -r a < /etc/shadow"] }));
    let file = scene.outside().join("job.json");
    std::fs::write(&file, job.to_string()).unwrap();
    let workspace = scene.workspace().display().to_string();
    let script = format!(
        "mount -t ramfs none {workspace} && mkdir {workspace}/output && {} < {} && cat {workspace}/output/ran >&2",
        env!("CARGO_BIN_EXE_sandbox-trial"),
        file.display()
    );
    let output = Command::new("unshare").args(["-m", "sh", "-c", &script]).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert!(result["layers"].to_string().contains("weaker: root"), "{result:#}");
    assert!(result["stderr"].as_str().unwrap().contains("/etc/shadow: No such file"), "{result:#}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "x\n");
}

#[test]
fn what_cannot_be_started_is_told() {
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.run(json!({ "argv": ["/usr/bin/nothing-of-that-name"] }));
        assert!(result["unstartable"].is_string(), "{result:#}");
        let result = scene.run(json!({ "argv": ["/etc/passwd"] }));
        assert!(result["unstartable"].is_string(), "{result:#}");
        let result = scene.run(json!({ "argv": ["/usr/bin/true"], "workspace": "/nowhere" }));
        assert!(result["unstartable"].is_string(), "{result:#}");
        let result = scene.run(json!({ "argv": ["/usr/bin/true"], "workspace": "/" }));
        assert!(result["unstartable"].is_string(), "{result:#}");
        let result = scene.run(json!({ "argv": ["/usr/bin/true"], "readable": ["/"] }));
        assert!(result["unstartable"].is_string(), "{result:#}");
        let result = scene.run(json!({ "argv": ["/usr/bin/true", "a\0b"] }));
        assert!(result["unstartable"].is_string(), "{result:#}");
    }
}

#[test]
fn a_caller_who_ignores_the_ends_of_children_gets_results_too() {
    let scene = Scene::new(if is_root() { Who::Root } else { Who::User });
    let job = scene.job(json!({ "argv": ["/usr/bin/true"] }));
    let file = scene.outside().join("job.json");
    std::fs::write(&file, job.to_string()).unwrap();
    let output = Command::new("env")
        .args(["--ignore-signal=CHLD", "--ignore-signal=PIPE", env!("CARGO_BIN_EXE_sandbox-trial")])
        .stdin(std::fs::File::open(file).unwrap())
        .output()
        .unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert_eq!((&result["code"], &result["killed"]), (&json!(0), &json!(null)), "{result:#}");
}

#[test]
fn a_workspace_where_tools_have_their_own_is_refused_with_the_reason() {
    for who in everyone() {
        let scene = Scene::new(who);
        let folder = tempfile::Builder::new().tempdir_in("/dev/shm").unwrap();
        for workspace in [folder.path(), std::path::Path::new("/proc/self")] {
            let result = scene.run(json!({ "workspace": workspace, "write": [], "argv": ["/usr/bin/true"] }));
            assert!(result["unstartable"].as_str().is_some_and(|why| why.contains("its own")), "{result:#}");
        }
    }
}
