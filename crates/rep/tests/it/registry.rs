//! `rep push` and `rep install oci://…` with the registry of the distribution project, and with `oras`.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use rep_test_support::{ProgramRun, Registry, RegistryProtection, ScratchFolder, report_skipped};
use serde_json::{Value, json};

use crate::install_git::skill;
use crate::{json as parsed, rep, run};

/// What `htpasswd -B` writes for the password `word`.
const PASSWORDS: &str = "me:$2b$04$YB0Ou4gqhk5veSSHr89wbu5G7eA9NbBAljdXF7oEGGMtUHVi9Qc/y\n";

/// A machine with a skill and a project.
pub(super) fn machine(version: &str) -> ScratchFolder {
    let scratch = ScratchFolder::new();
    write_skill(&scratch, "pdf", version);
    std::fs::create_dir_all(scratch.work_folder().join("project/.git")).expect("the folder can be made");
    scratch
}

pub(super) fn write_skill(scratch: &ScratchFolder, name: &str, version: &str) {
    let text = skill(name, version).replacen("---\n", &format!("---\nversion: {version}\n"), 1);
    scratch.write_file(&format!("src/{name}/SKILL.md"), text);
    let script = scratch.write_file(&format!("src/{name}/scripts/fill.sh"), "#!/bin/sh\necho filled\n");
    std::fs::set_permissions(script, PermissionsExt::from_mode(0o755)).expect("the mode can be set");
}

fn at_project(scratch: &ScratchFolder, words: &[&str]) -> ProgramRun {
    run(scratch, &[words, &["--project", "project", "--json"]].concat())
}

fn push(scratch: &ScratchFolder, words: &[&str]) -> Value {
    let pushed = run(scratch, &[&["push"], words, &["--json"]].concat());
    assert_eq!(pushed.code, 0, "{pushed:?}");
    parsed(&pushed)["artifacts"].clone()
}

pub(super) fn lock(scratch: &ScratchFolder) -> Value {
    serde_json::from_str(&scratch.read_file("project/skills-lock.json")).expect("the lock file is JSON")
}

#[test]
fn a_skill_that_is_pushed_is_installed_by_tag_digest_and_range() {
    let scratch = machine("1.2.0");
    let Some(registry) = Registry::start(&scratch.work_folder().join("registry")) else { return };
    let repository = format!("oci://{}/team/pdf", registry.address);
    let first = push(&scratch, &["src/pdf", &repository]);
    assert_eq!(first[0]["reference"], json!(format!("{repository}:1.2.0")), "the version is the tag");
    let digest = first[0]["digest"].as_str().unwrap().to_owned();
    // The same skill on another machine has the same digest.
    let other = machine("1.2.0");
    let script = other.work_folder().join("src/pdf/scripts/fill.sh");
    std::fs::set_permissions(script, PermissionsExt::from_mode(0o700)).unwrap();
    assert_eq!(push(&other, &["src/pdf", &format!("{repository}:again")])[0]["digest"], json!(digest));
    let installed = at_project(&other, &["install", &format!("{repository}:1.2.0")]);
    assert_eq!(installed.code, 0, "{installed:?}");
    let mode = |path: &str| std::fs::metadata(other.work_folder().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("project/.agents/skills/pdf/scripts/fill.sh"), 0o755);
    assert_eq!(mode("project/.agents/skills/pdf/SKILL.md"), 0o644);
    let entry = lock(&other)["skills"]["pdf"].clone();
    assert_eq!((&entry["sourceType"], &entry["sourceUrl"]), (&json!("oci"), &json!(repository)));
    assert_eq!(entry["source"], json!(repository.strip_prefix("oci://").unwrap()));
    assert_eq!((&entry["ref"], &entry["rep"]["manifest"]), (&json!("1.2.0"), &json!(digest)));
    // Newer versions: a range takes the highest that fits, and no pre-release.
    for version in ["1.3.0", "1.9.0-rc.1", "2.0.0"] {
        write_skill(&scratch, "pdf", version);
        push(&scratch, &["src/pdf", &repository]);
    }
    assert_eq!(at_project(&other, &["install", &format!("{repository}:^1.2")]).code, 0);
    let entry = lock(&other)["skills"]["pdf"].clone();
    assert_eq!((&entry["ref"], &entry["rep"]["wanted"]), (&json!("1.3.0"), &json!("^1.2")));
    assert_eq!(at_project(&other, &["install", &format!("{repository}@{digest}")]).code, 0);
    assert!(other.read_file("project/.agents/skills/pdf/SKILL.md").contains("version: 1.2.0"));
    assert_eq!(at_project(&other, &["outdated"]).code, 0, "a digest is never outdated");
    assert_eq!(at_project(&other, &["install", &repository]).code, 0);
    assert_eq!(lock(&other)["skills"]["pdf"]["ref"], "2.0.0", "without `latest`, the newest version is meant");
    for (source, code, exit) in [
        (format!("{repository}:^3"), "UNKNOWN_SOURCE", 2),
        (format!("{repository}:nothing"), "UNKNOWN_SOURCE", 2),
        (format!("{repository}:^x.y"), "REFUSED_SOURCE", 2),
        (format!("oci://{}/Team/pdf", registry.address), "REFUSED_SOURCE", 2),
    ] {
        let missing = at_project(&other, &["install", &source]);
        assert_eq!((missing.code, &parsed(&missing)["error"]["code"]), (exit, &json!(code)), "{missing:?}");
    }
}

#[test]
fn a_tag_that_moved_is_updated_when_asked_and_otherwise_restored_as_it_was() {
    let scratch = machine("1.0.0");
    let Some(registry) = Registry::start(&scratch.work_folder().join("registry")) else { return };
    let tagged = format!("oci://{}/team/pdf:stable", registry.address);
    push(&scratch, &["src/pdf", &tagged]);
    assert_eq!(at_project(&scratch, &["install", &tagged]).code, 0);
    write_skill(&scratch, "pdf", "1.1.0");
    push(&scratch, &["src/pdf", &tagged]);
    let other = ScratchFolder::new();
    other.write_file("project/skills-lock.json", scratch.read_file("project/skills-lock.json"));
    std::fs::create_dir_all(other.work_folder().join("project/.git")).unwrap();
    let synced = at_project(&other, &["sync"]);
    assert_eq!(synced.code, 0, "{synced:?}");
    assert!(other.read_file("project/.agents/skills/pdf/SKILL.md").contains("version: 1.0.0"));
    assert_eq!(at_project(&other, &["verify"]).code, 0);
    let outdated = at_project(&other, &["outdated"]);
    assert_eq!((outdated.code, &parsed(&outdated)["skills"][0]["state"]), (1, &json!("outdated")), "{outdated:?}");
    let updated = at_project(&other, &["update", "--yes"]);
    assert_eq!((updated.code, &parsed(&updated)["skills"][0]["state"]), (0, &json!("updated")), "{updated:?}");
    assert!(other.read_file("project/.agents/skills/pdf/SKILL.md").contains("version: 1.1.0"));
}

#[test]
fn a_collection_is_accepted_and_its_skills_are_installed_by_name() {
    let scratch = machine("1.0.0");
    write_skill(&scratch, "docx", "2.0.0");
    let Some(registry) = Registry::start(&scratch.work_folder().join("registry")) else { return };
    let target = format!("oci://{}/team/all:7", registry.address);
    let pushed = push(&scratch, &["src/pdf", "src/docx", &target, "--collection", "team"]);
    assert_eq!((pushed[0]["name"].as_str(), pushed.as_array().map(Vec::len)), (Some("team"), Some(1)));
    assert_eq!(at_project(&scratch, &["install", &target, "--skill", "docx"]).code, 0);
    let names = |lock: Value| lock["skills"].as_object().unwrap().keys().cloned().collect::<Vec<String>>();
    assert_eq!(names(lock(&scratch)), ["docx"]);
    assert_eq!(at_project(&scratch, &["install", &target]).code, 0);
    assert_eq!(names(lock(&scratch)), ["docx", "pdf"]);
    std::fs::remove_dir_all(scratch.work_folder().join("project/.agents")).unwrap();
    assert_eq!(at_project(&scratch, &["sync"]).code, 0);
    assert_eq!(at_project(&scratch, &["outdated"]).code, 0);
    // Without a collection, each gets a repository of its own, where its dependents find it.
    let text = skill("forms", "all").replacen("---\n", "---\nversion: 1.0.0\ndepends_on: [\"pdf@^1\"]\n", 1);
    scratch.write_file("src/forms/SKILL.md", text);
    let apart = format!("oci://{}/apart", registry.address);
    push(&scratch, &["src/forms", "src/pdf", &apart]);
    assert_eq!(at_project(&scratch, &["remove", "pdf"]).code, 0);
    let with = at_project(&scratch, &["install", &format!("{apart}/forms")]);
    assert_eq!(with.code, 0, "{with:?}");
    assert_eq!(lock(&scratch)["skills"]["pdf"]["rep"]["requiredBy"], json!(["forms"]));
}

#[test]
fn oras_lays_down_a_ready_folder() {
    if Command::new("oras").arg("version").output().is_err() {
        report_skipped("oras is not installed");
        return;
    }
    let scratch = machine("1.0.0");
    let Some(registry) = Registry::start(&scratch.work_folder().join("registry")) else { return };
    push(&scratch, &["src/pdf", &format!("oci://{}/team/pdf", registry.address)]);
    let out = scratch.work_folder().join("pulled");
    let pulled = Command::new("oras")
        .args(["pull", "--plain-http", &format!("{}/team/pdf:1.0.0", registry.address), "-o"])
        .arg(&out)
        .output()
        .expect("oras can be started");
    assert!(pulled.status.success(), "{}", String::from_utf8_lossy(&pulled.stderr));
    let script = std::fs::metadata(out.join("pdf/scripts/fill.sh")).expect("the script is there");
    assert_eq!(script.permissions().mode() & 0o111, 0o111);
    let checked = scratch.run_program(rep(), &["check", "pulled/pdf"]);
    assert_eq!(checked.code, 0, "{checked:?}");
}

#[test]
fn a_registry_with_tls_and_passwords_gets_the_credentials_of_docker() {
    let scratch = machine("1.0.0");
    let folder = scratch.work_folder().join("registry");
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate can be made");
    let certificate = scratch.write_file("tls.crt", made.cert.pem());
    let key = scratch.write_file("tls.key", made.signing_key.serialize_pem());
    let passwords = scratch.write_file("passwords", PASSWORDS);
    let protection = RegistryProtection { tls: Some((certificate.clone(), key)), passwords: Some(passwords) };
    let Some(registry) = Registry::start_protected(&folder, &protection) else { return };
    let target = format!("oci://{}/team/pdf:1", registry.address);
    let trust = [("SSL_CERT_FILE", certificate.to_str().unwrap())];
    let push = |more: &[(&str, &str)]| {
        scratch.run_with_environment(rep(), &["push", "src/pdf", &target, "--json"], &[&trust[..], more].concat())
    };
    let refused = push(&[]);
    assert_eq!((refused.code, &parsed(&refused)["error"]["code"]), (3, &json!("UNAUTHORIZED")), "{refused:?}");
    assert!(refused.stderr.contains("docker login"), "{refused:?}");
    // A file of credentials: wrong, then right.
    let config = |auth: &str| json!({ "auths": { registry.address.as_str(): { "auth": auth } } }).to_string();
    scratch.write_file("docker/config.json", config("bWU6d3Jvbmc="));
    let docker = scratch.work_folder().join("docker");
    let docker = [("DOCKER_CONFIG", docker.to_str().unwrap())];
    assert_eq!(push(&docker).code, 3);
    scratch.write_file("docker/config.json", config("bWU6d29yZA=="));
    let pushed = push(&docker);
    assert_eq!(pushed.code, 0, "{pushed:?}");
    assert!(!pushed.stderr.contains("word"));
    // A helper program, which gets the host on stdin.
    let helper = scratch.write_file(
        "bin/docker-credential-test",
        "#!/bin/sh\nread host\n[ \"$1 $host\" = \"get $EXPECTED\" ] || exit 1\necho '{\"ServerURL\":\"\",\"Username\":\"me\",\"Secret\":\"word\"}'\n",
    );
    std::fs::set_permissions(&helper, PermissionsExt::from_mode(0o755)).unwrap();
    scratch
        .write_file("docker/config.json", json!({ "credHelpers": { registry.address.as_str(): "test" } }).to_string());
    let path = format!("{}:{}", helper.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let with_helper = [docker[0], ("PATH", path.as_str()), ("EXPECTED", registry.address.as_str()), trust[0]];
    let installed = scratch.run_with_environment(rep(), &["install", &target, "--project", "project"], &with_helper);
    assert_eq!(installed.code, 0, "{installed:?}");
    // Without the certificate, nothing is sent.
    let untrusted = scratch.run_with_environment(rep(), &["push", "src/pdf", &target], &docker);
    assert_eq!(untrusted.code, 2, "{untrusted:?}");
}
