//! Runs of the commands that export, install and serve skills.

use std::io::{BufRead, BufReader};
use std::process::Command;

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

use super::{check, examples, holds, home, prints};
use crate::serve::{PATH, Server, library, start};
use crate::serve_http::{ask_new, request};
use crate::{GOOD, serve_calls};

pub(super) const SCENARIOS: &[fn()] = &[exports, installs, signs, serves];

fn exports() {
    let scratch = ScratchFolder::new();
    let skill = |name: &str| format!("{}/{name}", examples());
    for host in ["openai", "anthropic", "gemini", "mcp", "openapi"] {
        for names in [["csv-profile", "json-patch"], ["glossary", "style-guide"]] {
            let skills = names.map(skill);
            let arguments = ["export", "--host", host, &skills[0], &skills[1], "--json"];
            let run = scratch.run_program(crate::rep(), &arguments);
            super::printed("export", run.code, &run);
        }
    }
    for host in ["openai", "anthropic", "gemini", "mcp", "openapi"] {
        let csv = skill("csv-profile");
        let plain =
            scratch.run_program(crate::rep(), &["export", "--host", host, &csv, "--loose", "--out", "tools.json"]);
        assert_eq!(plain.code, 0, "{plain:?}");
        holds("export", &scratch.work_folder().join("tools.json"));
    }
    prints(&scratch, "export", 0, &["export", "--host", "claude-api", &skill("slugify"), "--out", "dist", "--json"]);
    prints(&scratch, "export", 0, &["export", "--host", "codex", &skill("glossary"), "--out", "dist", "--json"]);
    prints(&scratch, "error", 2, &["export", "--host", "codex", &skill("glossary"), "--out", "dist", "--json"]);
    prints(&scratch, "error", 2, &["export", "--host", "none", &skill("glossary"), "--json"]);
    let refused = ["export", "--host", "claude-marketplace", &skill("glossary"), "--out", "m", "--json"];
    prints(&scratch, "export", 1, &refused);
    let (one, two) = (skill("glossary"), skill("csv-profile"));
    prints(&scratch, "export", 0, &["export", "--host", "well-known", &one, &two, "--out", "public", "--json"]);
    holds("index-file", &scratch.work_folder().join("public/.well-known/agent-skills/index.json"));
}

fn installs() {
    let scratch = ScratchFolder::new();
    scratch.write_file("src/pdf/SKILL.md", GOOD);
    scratch.write_file("src/pdf/scripts/fill.sh", "#!/bin/sh\necho filled\n");
    std::fs::create_dir_all(scratch.work_folder().join("project/.git")).expect("a folder can be made");
    let git = |words: &[&str]| {
        let name = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let done = Command::new("git").args(name).args(words).current_dir(scratch.work_folder().join("src")).output();
        assert!(done.is_ok_and(|done| done.status.success()), "git {words:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "skills"]);
    let lock = scratch.work_folder().join("project/skills-lock.json");
    let at = |name: &str, code: i32, words: &[&str]| {
        prints(&scratch, name, code, &[words, &["--project", "project", "--json"]].concat())
    };
    let hosts = ["--host", "claude-code", "--host", "codex"];
    at("install", 0, &[&["install", "src", "--dry-run"], &hosts[..]].concat());
    at("install", 0, &[&["install", "src"], &hosts[..]].concat());
    holds("lock-file", &lock);
    at("install", 0, &[&["install", "src"], &hosts[..]].concat());
    at("verify", 0, &["verify"]);
    at("outdated", 0, &["outdated"]);
    at("pin", 0, &["pin", "pdf"]);
    holds("lock-file", &lock);
    at("update", 0, &["update"]);
    at("pin", 0, &["unpin", "pdf"]);
    std::fs::remove_dir_all(scratch.work_folder().join("project/.agents/skills/pdf")).expect("it is installed");
    at("sync", 1, &["sync", "--check"]);
    at("sync", 0, &["sync"]);
    scratch.write_file("needs/a/SKILL.md", GOOD.replace("name: pdf", "name: a\nversion: 1.0.0\ndepends_on: [b]"));
    scratch.write_file("needs/b/SKILL.md", GOOD.replace("name: pdf", "name: b"));
    at("install", 0, &["install", "needs", "--skill", "a"]);
    holds("lock-file", &lock);
    at("remove", 0, &["remove", "a"]);
    scratch.write_file("src/pdf/SKILL.md", GOOD.replace("Fill the form.", "Fill the whole form."));
    let needs = "cat in.txt > out.txt\ncurl https://api.example.org/ -H \"X: $PDF_TOKEN\"\necho \"$PDF_MODE\"\n";
    scratch.write_file("src/pdf/scripts/fill.sh", needs);
    at("outdated", 1, &["outdated"]);
    at("update", 1, &["update", "--diff"]);
    at("error", 3, &["install", "src"]);
    at("install", 0, &["install", "src", "--yes"]);
    holds("lock-file", &lock);
    scratch.write_file("project/.agents/skills/pdf/scripts/fill.sh", "git push\n");
    scratch.write_file("project/.agents/skills/pdf/extra.md", "x");
    at("verify", 1, &["verify"]);
    at("error", 2, &["install", "src"]);
    at("remove", 0, &["remove", "pdf", "--force"]);
    at("error", 2, &["remove", "pdf"]);
    pushes(&scratch);
    // From an index: the lock file names the address and the digest.
    assert_eq!(
        scratch.run_program(crate::rep(), &["export", "--host", "well-known", "src/pdf", "--out", "public"]).code,
        0
    );
    let server = served(&scratch);
    at("install", 0, &["install", &server.url()]);
    holds("lock-file", &lock);
}

/// Pushes a skill, and installs it by a range of versions.
fn pushes(scratch: &ScratchFolder) {
    let Some(registry) = rep_test_support::Registry::start(&scratch.work_folder().join("registry")) else {
        super::skip_output("push", &["lock-file.skills.rep.manifest", "lock-file.skills.rep.wanted"]);
        super::skip_output("audit-sources", &["audit-record.revision"]);
        return;
    };
    scratch.write_file("pushed/forms/SKILL.md", GOOD.replace("name: pdf", "name: forms\nversion: 1.0.0"));
    let repository = format!("oci://{}/team/forms", registry.address);
    prints(scratch, "push", 0, &["push", "pushed/forms", &repository, "--json"]);
    let source = format!("{repository}:^1");
    prints(scratch, "install", 0, &["install", &source, "--project", "project", "--json"]);
    holds("lock-file", &scratch.work_folder().join("project/skills-lock.json"));
    prints(scratch, "audit-sources", 0, &["audit", "--sources", "--json"]);
    holds("audit-record", &home(scratch, ".local/share/repertoire/audit.jsonl"));
}

/// Signs a skill, trusts its signer, and installs it.
fn signs() {
    let scratch = ScratchFolder::new();
    scratch.write_file("src/pdf/SKILL.md", GOOD);
    std::fs::create_dir_all(scratch.work_folder().join("project/.git")).expect("a folder can be made");
    let at = |name: &str, code: i32, words: &[&str]| {
        prints(&scratch, name, code, &[words, &["--project", "project", "--json"]].concat())
    };
    prints(&scratch, "key", 0, &["key", "new", "--out", "team.key", "--json"]);
    prints(&scratch, "verify-signature", 1, &["verify", "--signature", "src/pdf", "--key", "team.key.pub", "--json"]);
    prints(&scratch, "sign", 0, &["sign", "src/pdf", "--key", "team.key", "--json"]);
    prints(&scratch, "verify-signature", 0, &["verify", "--signature", "src/pdf", "--key", "team.key.pub", "--json"]);
    let trusted = ["trust", "signer", "team", "--key", "team.key.pub", "--for", "*", "--require", "--json"];
    prints(&scratch, "trust-signer", 0, &trusted);
    holds("signers-file", &home(&scratch, ".config/repertoire/signers.json"));
    at("install", 0, &["install", "src"]);
    let lock = scratch.work_folder().join("project/skills-lock.json");
    holds("lock-file", &lock);
    at("verify", 0, &["verify"]);
    scratch.write_file("project/.agents/skills/pdf/SKILL.md", GOOD.replace("Fill the form.", "Fill another form."));
    at("verify", 1, &["verify"]);
    certificates(&scratch);
    prints(&scratch, "trust-signer", 0, &["trust", "signer", "--remove", "team", "--json"]);
    let signed = ["sign", "src/pdf", "--key", "signer.key", "--certificate", "signer.pem", "--json"];
    prints(&scratch, "sign", 0, &signed);
    at("install", 0, &["install", "src", "--force", "--accept-signer"]);
    holds("lock-file", &lock);
    prints(&scratch, "audit-sources", 0, &["audit", "--sources", "--json"]);
    holds("audit-record", &home(&scratch, ".local/share/repertoire/audit.jsonl"));
    at("sbom", 0, &["sbom"]);
    prints(&scratch, "cache", 0, &["cache", "list", "--json"]);
    prints(&scratch, "cache", 0, &["cache", "clean", "--json"]);
}

/// Writes a key with a certificate that is its own root.
fn certificates(scratch: &ScratchFolder) {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("a key can be made");
    let mut params = rcgen::CertificateParams::new(Vec::new()).expect("it needs none of the names");
    params.distinguished_name.push(rcgen::DnType::CommonName, "Signer");
    params.key_usages = vec![rcgen::KeyUsagePurpose::DigitalSignature];
    scratch.write_file("signer.pem", params.self_signed(&key).expect("it can be signed").pem());
    scratch.write_file("signer.key", key.serialize_pem());
}

/// A server of the files in `public`.
fn served(scratch: &ScratchFolder) -> rep_test_support::TestServer {
    let folder = scratch.work_folder().join("public");
    rep_test_support::TestServer::start(move |asked, _| {
        let path = asked.line.split_whitespace().nth(1).unwrap_or_default().trim_start_matches('/');
        match std::fs::read(folder.join(path)) {
            Ok(bytes) => {
                let mut all =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", bytes.len())
                        .into_bytes();
                all.extend(bytes);
                rep_test_support::TestResponse::Bytes(all)
            }
            Err(_) => rep_test_support::build_response("404 Not Found", &[], ""),
        }
    })
}

/// A server with a log, which records calls.
fn serves() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    scratch.write_file("tokens.txt", "a-token-that-nobody-can-guess-0123456789\n");
    let words = [&["--http", "127.0.0.1:0", "--log", "json", "--token-file", "tokens.txt"], &PATH[..]].concat();
    let mut child = start(&scratch, &words).spawn().expect("the binary can be started");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr is a pipe")).lines().map_while(Result::ok);
    let server = Server { child };
    let address = lines.find_map(|line| {
        let (_, address) = line.split_once("listening on ")?;
        Some(address.split_once("://")?.1.trim_end_matches("/mcp").to_owned())
    });
    let address = address.expect("the server says where it listens");
    let bearer = ("Authorization", "Bearer a-token-that-nobody-can-guess-0123456789");
    let call = json!({ "name": "load_skill", "arguments": { "name": "pdf" } });
    let answered = ask_new(&address, "tools/call", call, &[bearer]);
    assert_eq!(answered.status, 200, "{answered:?}");
    let wrong = ("Authorization", "Bearer a-token-that-somebody-guessed-0123456789");
    assert_eq!(ask_new(&address, "tools/list", json!({}), &[wrong]).status, 401);
    assert_eq!(request(&address, "GET", "/healthz", &[], "").status, 200);
    let mut logged = Vec::new();
    while logged.len() < 3 {
        let line = lines.next().expect("the server logs requests");
        if let Ok(value) = serde_json::from_str::<Value>(&line) {
            check("serve-log", &value);
            logged.push(value);
        }
        if logged.iter().any(|value| value["path"] == "/healthz") {
            break;
        }
    }
    rep_test_support::wait_until("the call is recorded", rep_test_support::DEADLINE, || {
        let calls = super::prints(&scratch, "audit-calls", 0, &["audit", "--calls", "--json"]);
        calls["calls"].as_array().is_some_and(|calls| calls.len() > 1)
    });
    drop(server);
    let file = home(&scratch, ".local/share/repertoire/calls.jsonl");
    holds("audit-record", &file);
    // A full file is continued by another one.
    serve_calls::fill_record(&scratch, &["--record-size", "1"], &file);
    holds("audit-record", &file);
    holds("audit-head", &home(&scratch, ".local/share/repertoire/calls.head"));
}
