//! Rules for sources, the record of what was done with them, `rep sbom` and `rep cache`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use rep_test_support::{ProgramRun, Registry, ScratchFolder, report_skipped};
use serde_json::{Value, json};

use crate::registry::{lock, machine};
use crate::{json as parsed, rep, run};

fn at_project(scratch: &ScratchFolder, words: &[&str]) -> ProgramRun {
    run(scratch, &[words, &["--project", "project", "--json"]].concat())
}

/// Writes the user's settings.
fn settings(scratch: &ScratchFolder, text: &str) {
    let home = scratch.work_folder().parent().expect("it has a home beside it").join("home/.config/repertoire");
    std::fs::create_dir_all(&home).expect("the folder can be made");
    std::fs::write(home.join("rep.yaml"), text).expect("the settings can be written");
}

fn error_code(run: &ProgramRun) -> (i32, String) {
    (run.code, parsed(run)["error"]["code"].as_str().unwrap_or_default().to_owned())
}

fn records(scratch: &ScratchFolder) -> Vec<Value> {
    let listed = parsed(&run(scratch, &["audit", "--sources", "--json"]));
    listed["sources"].as_array().expect("it is a list").clone()
}

/// A server that must not be asked.
fn silent_server() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.set_nonblocking(true).expect("it can be set");
    let address = listener.local_addr().expect("it has an address").to_string();
    (listener, address)
}

#[test]
fn a_source_that_is_not_allowed_is_refused_before_any_request() {
    let scratch = machine("1.0.0");
    let (listener, address) = silent_server();
    let denied = (3, "SOURCE_DENIED".to_owned());
    let oci = format!("oci://{address}/team/pdf:1.0.0");
    let sources = [oci.clone(), format!("http://{address}/repo.git"), format!("http://{address}/skills")];
    for rules in ["{deny: ['*127.0.0.1*']}", "{allow: ['github:acme/*']}", "{allow: []}"] {
        settings(&scratch, &format!("sources: {rules}\n"));
        for source in &sources {
            assert_eq!(error_code(&at_project(&scratch, &["install", source])), denied, "{rules} {source}");
        }
        let pushed = run(&scratch, &["push", "src/pdf", &oci, "--json"]);
        assert_eq!(error_code(&pushed), denied, "{rules}");
        let served = run(&scratch, &["serve", "--from", &oci, "--stdio"]);
        assert!(served.code == 3 && served.stderr.contains("is refused"), "{served:?}");
    }
    assert!(listener.accept().is_err(), "nothing was sent");
    settings(&scratch, "sources: {allow: ['github:acme/*']}\n");
    assert_eq!(error_code(&at_project(&scratch, &["install", "src/pdf"])), denied, "a directory is a source too");
    settings(&scratch, "sources: {allow: ['local:*']}\n");
    assert_eq!(at_project(&scratch, &["install", "src/pdf"]).code, 0);
    // What is installed is not restored from a source that was forbidden later.
    settings(&scratch, "sources: {deny: ['local:*']}\n");
    std::fs::remove_dir_all(scratch.work_folder().join("project/.agents")).unwrap();
    let synced = at_project(&scratch, &["sync", "--offline"]);
    assert_eq!((synced.code, &parsed(&synced)["skills"][0]["code"]), (3, &json!("SOURCE_DENIED")));
    let refusals = records(&scratch);
    assert!(refusals.len() >= 10 && refusals.iter().all(|one| one["action"] == "refuse"), "{refusals:?}");
    assert_eq!(run(&scratch, &["audit", "verify"]).code, 0);
}

#[test]
fn an_administrator_can_only_narrow_what_is_allowed() {
    let scratch = machine("1.0.0");
    scratch.write_file("system.yaml", "sources: {allow: ['oci://r.example/*']}\n");
    settings(&scratch, "sources: {allow: ['*']}\n");
    let system = scratch.work_folder().join("system.yaml");
    let variable = [("REP_SYSTEM_SETTINGS", system.to_str().expect("it is text"))];
    let install = || {
        let words = ["install", "src/pdf", "--project", "project", "--json"];
        scratch.run_with_environment(rep(), &words, &variable)
    };
    assert_eq!(error_code(&install()), (3, "SOURCE_DENIED".to_owned()));
    scratch.write_file("system.yaml", "sources: {allow: ['*']}\n");
    assert_eq!(install().code, 0);
    settings(&scratch, "sources: {allow: []}\n");
    assert_eq!(error_code(&install()), (3, "SOURCE_DENIED".to_owned()));
    scratch.write_file("system.yaml", "sources: {allows: ['*']}\n");
    assert_eq!(error_code(&install()), (2, "BROKEN_SETTINGS".to_owned()), "a typing error allows nothing");
}

#[test]
fn mirrors_are_fetched_from_and_the_lock_file_keeps_the_source() {
    let scratch = machine("1.0.0");
    let Some(registry) = Registry::start(&scratch.work_folder().join("registry")) else { return };
    let pushed = run(&scratch, &["push", "src/pdf", &format!("oci://{}/mirror/team/pdf", registry.address), "--json"]);
    assert_eq!(pushed.code, 0, "{pushed:?}");
    settings(
        &scratch,
        &format!("sources: {{mirrors: {{'oci://registry.example/': 'oci://{}/mirror/'}}}}\n", registry.address),
    );
    let installed = at_project(&scratch, &["install", "oci://registry.example/team/pdf:1.0.0"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    assert_eq!(lock(&scratch)["skills"]["pdf"]["sourceUrl"], "oci://registry.example/team/pdf");
    assert_eq!(at_project(&scratch, &["outdated"]).code, 0);
    let fetched = records(&scratch);
    let actions: Vec<&str> = fetched.iter().filter_map(|one| one["action"].as_str()).collect();
    assert!(actions.contains(&"push") && actions.contains(&"fetch"), "{fetched:?}");
    let one = fetched.iter().find(|one| one["action"] == "fetch").unwrap();
    assert_eq!(one["source"], "oci://registry.example/team/pdf");
    assert!(one["revision"].as_str().unwrap().starts_with("sha256:"));
}

#[test]
fn a_mirror_of_the_user_does_not_lead_to_what_the_administrator_forbids() {
    let scratch = machine("1.0.0");
    let (listener, address) = silent_server();
    scratch.write_file("system.yaml", format!("sources: {{deny: ['*{address}*']}}\n"));
    settings(
        &scratch,
        &format!(
            "sources: {{mirrors: {{'oci://r.example/': 'oci://{address}/', 'https://r.example/': 'http://{address}/'}}}}\n"
        ),
    );
    let system = scratch.work_folder().join("system.yaml");
    let variable = [("REP_SYSTEM_SETTINGS", system.to_str().expect("it is text"))];
    for source in ["oci://r.example/team/pdf:1", "https://r.example/team/skills.git", "https://r.example/"] {
        let words = ["install", source, "--project", "project", "--json"];
        let refused = scratch.run_with_environment(rep(), &words, &variable);
        assert_eq!(error_code(&refused), (3, "SOURCE_DENIED".to_owned()), "{source}: {refused:?}");
    }
    assert!(listener.accept().is_err(), "nothing was sent");
    assert!(records(&scratch).iter().all(|one| one["action"] == "refuse"));
}

#[test]
fn a_proxy_is_asked_for_a_tunnel() {
    let scratch = machine("1.0.0");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    let proxy = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("the proxy is asked");
        let mut bytes = [0; 512];
        let count = stream.read(&mut bytes).expect("a request comes");
        stream.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n").expect("it can be answered");
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    });
    settings(&scratch, &format!("sources: {{proxy: 'http://{address}'}}\n"));
    let failed = at_project(&scratch, &["install", "oci://registry.example/team/pdf:1.0.0"]);
    assert_eq!(error_code(&failed), (2, "FETCH_FAILED".to_owned()));
    assert!(failed.stdout.contains("the proxy did not connect"), "{failed:?}");
    let asked = proxy.join().expect("the proxy was asked");
    assert!(asked.starts_with("CONNECT registry.example:443 HTTP/1.1\r\n"), "{asked}");
}

#[test]
fn the_bill_of_materials_is_valid_and_always_the_same() {
    let scratch = machine("1.0.0");
    let text = crate::install_git::skill("forms", "all");
    scratch
        .write_file("src/forms/SKILL.md", text.replacen("---\n", "---\nversion: 2.0.0\ndepends_on: [\"pdf@^1\"]\n", 1));
    assert_eq!(at_project(&scratch, &["install", "src", "--skill", "forms"]).code, 0);
    let printed = at_project(&scratch, &["sbom"]);
    assert_eq!(printed.code, 0, "{printed:?}");
    assert_eq!(at_project(&scratch, &["sbom"]).stdout, printed.stdout);
    let document = parsed(&printed);
    assert_eq!((&document["bomFormat"], &document["specVersion"]), (&json!("CycloneDX"), &json!("1.6")));
    let forms = &document["components"][0];
    assert_eq!(
        (&forms["name"], &forms["version"], &forms["components"][0]["name"]),
        (&json!("forms"), &json!("2.0.0"), &json!("SKILL.md"))
    );
    assert_eq!(document["dependencies"][0]["dependsOn"], json!(["skill:pdf@1.0.0"]));
    assert_eq!(parsed(&at_project(&scratch, &["sbom", "pdf"]))["components"].as_array().map(Vec::len), Some(1));
    assert_eq!(at_project(&scratch, &["sbom", "nothing"]).code, 2);
    scratch.write_file("bom.json", &printed.stdout);
    let program = "import sys\nfrom cyclonedx.validation.json import JsonStrictValidator\nfrom cyclonedx.schema import \
                   SchemaVersion\nerror = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open('bom.json').read())\n\
                   sys.exit(str(error) if error else 0)\n";
    let has_validator = |python: &str| {
        let found = Command::new(python).args(["-c", "import cyclonedx.validation.json, jsonschema"]).output();
        found.is_ok_and(|found| found.status.success())
    };
    // `.ci/oracles` makes the first one.
    let Some(python) = ["oracle-python", "python3"].into_iter().find(|python| has_validator(python)) else {
        report_skipped("the validator of CycloneDX (`cyclonedx-python-lib[json-validation]`) is not installed");
        return;
    };
    let validate = || {
        let run = Command::new(python).args(["-c", program]).current_dir(scratch.work_folder()).output();
        run.expect("python can be started")
    };
    let validated = validate();
    assert!(validated.status.success(), "{}", String::from_utf8_lossy(&validated.stderr));
    // The validator notices what is wrong.
    scratch.write_file("bom.json", printed.stdout.replace("\"CycloneDX\"", "\"Other\""));
    assert!(!validate().status.success());
}

#[test]
fn the_cache_is_listed_and_cleaned_down_to_a_size() {
    let scratch = machine("1.0.0");
    let list = || parsed(&run(&scratch, &["cache", "list", "--json"]));
    assert_eq!(list()["entries"], json!([]));
    assert_eq!(at_project(&scratch, &["install", "src/pdf"]).code, 0);
    let listed = list();
    assert_eq!(listed["entries"][0]["kind"], "content");
    let bytes = listed["bytes"].as_u64().expect("it has a size");
    let kept = parsed(&run(&scratch, &["cache", "clean", "--max-size", "1G", "--json"]));
    assert_eq!((&kept["removed"], kept["bytes"].as_u64()), (&json!(0), Some(bytes)));
    // With the cache, a skill is restored without its source; without it, it is not.
    std::fs::rename(scratch.work_folder().join("src"), scratch.work_folder().join("away")).unwrap();
    let places = scratch.work_folder().join("project/.agents");
    std::fs::remove_dir_all(&places).unwrap();
    assert_eq!(at_project(&scratch, &["sync", "--offline"]).code, 0);
    let cleaned = parsed(&run(&scratch, &["cache", "clean", "--json"]));
    assert_eq!((cleaned["removed"].as_u64(), &cleaned["bytes"]), (Some(bytes), &json!(0)));
    std::fs::remove_dir_all(&places).unwrap();
    assert_eq!(at_project(&scratch, &["sync", "--offline"]).code, 2);
    assert_eq!(run(&scratch, &["cache", "clean", "--max-size", "much"]).code, 2);
}
