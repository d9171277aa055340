//! `rep key`, `rep sign`, `rep verify --signature` and `rep trust signer`, beside `model_signing` and cosign.

use std::process::Command;

use rep_test_support::{ProgramRun, Registry, ScratchFolder, is_oracle_installed};
use serde_json::json;

use crate::policy::typed;
use crate::registry::{lock, machine, write_skill};
use crate::{json as parsed, run};

const EC: &rcgen::SignatureAlgorithm = &rcgen::PKCS_ECDSA_P384_SHA384;

fn at_project(scratch: &ScratchFolder, words: &[&str]) -> ProgramRun {
    run(scratch, &[words, &["--project", "project", "--json"]].concat())
}

fn make_key(scratch: &ScratchFolder, name: &str) {
    let made = run(scratch, &["key", "new", "--out", name]);
    assert_eq!(made.code, 0, "{made:?}");
}

fn sign(scratch: &ScratchFolder, folder: &str, key: &str) {
    let signed = run(scratch, &["sign", folder, "--key", key, "--json"]);
    assert_eq!(signed.code, 0, "{signed:?}");
}

fn trust(scratch: &ScratchFolder, words: &[&str]) {
    let trusted = run(scratch, &[&["trust", "signer"], words].concat());
    assert_eq!(trusted.code, 0, "{trusted:?}");
}

/// The exit code and the verdict on a directory.
fn verdict(scratch: &ScratchFolder, folder: &str, more: &[&str]) -> (i32, String) {
    let verified = run(scratch, &[&["verify", "--signature", folder, "--json"], more].concat());
    let value = parsed(&verified);
    (verified.code, value["verdict"].as_str().unwrap_or("none").to_owned())
}

fn error_code(run: &ProgramRun) -> (i32, String) {
    (run.code, parsed(run)["error"]["code"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_signed_directory_is_verified_with_its_key_and_every_change_is_noticed() {
    let scratch = machine("1.0.0");
    make_key(&scratch, "team.key");
    make_key(&scratch, "other.key");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(scratch.work_folder().join("team.key")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    let again = run(&scratch, &["key", "new", "--out", "team.key", "--json"]);
    assert_eq!(error_code(&again), (2, "EXISTS".to_owned()), "a key is never replaced");
    assert_eq!(verdict(&scratch, "src/pdf", &["--key", "team.key.pub"]), (1, "none".to_owned()), "it is not signed");
    // Files of git and files that programs leave behind are not signed.
    scratch.write_file("src/pdf/.gitignore", "x\n");
    scratch.write_file("src/pdf/scripts/__pycache__/x.pyc", "x");
    sign(&scratch, "src/pdf", "team.key");
    let valid = (0, "valid".to_owned());
    let invalid = (1, "invalid".to_owned());
    assert_eq!(verdict(&scratch, "src/pdf", &["--key", "team.key.pub"]), valid);
    assert_eq!(verdict(&scratch, "src/pdf", &["--key", "other.key.pub", "--key", "team.key.pub"]), valid);
    assert_eq!(verdict(&scratch, "src/pdf", &["--key", "other.key.pub"]), invalid);
    let without = run(&scratch, &["verify", "--signature", "src/pdf", "--json"]);
    assert_eq!(error_code(&without), (2, "NO_SIGNER".to_owned()));
    let text = scratch.read_file("src/pdf/SKILL.md");
    for (path, content) in [("SKILL.md", format!("{text} ")), ("new.md", "new".to_owned())] {
        scratch.write_file(&format!("src/pdf/{path}"), content);
        assert_eq!(verdict(&scratch, "src/pdf", &["--key", "team.key.pub"]), invalid, "{path}");
        std::fs::remove_file(scratch.work_folder().join("src/pdf/new.md")).ok();
        scratch.write_file("src/pdf/SKILL.md", &text);
    }
    std::os::unix::fs::symlink("SKILL.md", scratch.work_folder().join("src/pdf/link.md")).unwrap();
    assert_eq!(verdict(&scratch, "src/pdf", &["--key", "team.key.pub"]), invalid, "links are not signed");
    std::fs::remove_file(scratch.work_folder().join("src/pdf/link.md")).unwrap();
    for bytes in ["", "{}", "{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\"}"] {
        scratch.write_file("src/pdf/skill.oms.sig", bytes);
        assert_eq!(verdict(&scratch, "src/pdf", &["--key", "team.key.pub"]).0, 1, "{bytes}");
    }
}

/// A root, and the certificate of a signer below it, written as PEM files.
fn write_certificates(scratch: &ScratchFolder) {
    let root_key = rcgen::KeyPair::generate_for(EC).expect("it is made");
    let mut root = rcgen::CertificateParams::new(Vec::new()).expect("it is made");
    root.distinguished_name.push(rcgen::DnType::CommonName, "Root of tests");
    root.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    root.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign];
    let root_certificate = root.self_signed(&root_key).expect("it is made");
    let issuer = rcgen::Issuer::new(root, root_key);
    let leaf = |name: &str, usages: Vec<rcgen::KeyUsagePurpose>| {
        let key = rcgen::KeyPair::generate_for(EC).expect("it is made");
        let mut params = rcgen::CertificateParams::new(Vec::new()).expect("it is made");
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.key_usages = usages;
        scratch.write_file(&format!("{name}.pem"), params.signed_by(&key, &issuer).expect("it is made").pem());
        scratch.write_file(&format!("{name}.key"), key.serialize_pem());
    };
    leaf("signer", vec![rcgen::KeyUsagePurpose::DigitalSignature]);
    leaf("agreement", vec![rcgen::KeyUsagePurpose::KeyAgreement]);
    scratch.write_file("root.pem", root_certificate.pem());
    let other_key = rcgen::KeyPair::generate_for(EC).expect("it is made");
    let mut other = rcgen::CertificateParams::new(Vec::new()).expect("it is made");
    other.distinguished_name.push(rcgen::DnType::CommonName, "Other root");
    other.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    scratch.write_file("other.pem", other.self_signed(&other_key).expect("it is made").pem());
}

#[test]
fn a_chain_of_certificates_leads_to_a_root() {
    let scratch = machine("1.0.0");
    write_certificates(&scratch);
    let sign = |name: &str| {
        let (key, certificate) = (format!("{name}.key"), format!("{name}.pem"));
        run(
            &scratch,
            &["sign", "src/pdf", "--key", &key, "--certificate", &certificate, "--chain", "root.pem", "--json"],
        )
    };
    assert_eq!(sign("signer").code, 0);
    assert_eq!(verdict(&scratch, "src/pdf", &["--key", "root.pem"]), (0, "valid".to_owned()));
    assert_eq!(verdict(&scratch, "src/pdf", &["--key", "other.pem"]), (1, "invalid".to_owned()));
    let shown = parsed(&run(&scratch, &["verify", "--signature", "src/pdf", "--key", "root.pem", "--json"]));
    assert_eq!(shown["subject"], "signer");
    compare_with_oracle(&scratch, &["certificate", "src/pdf", "--certificate_chain", "root.pem"], true);
    compare_with_oracle(&scratch, &["certificate", "src/pdf", "--certificate_chain", "other.pem"], false);
    assert_eq!(sign("agreement").code, 0);
    assert_eq!(verdict(&scratch, "src/pdf", &["--key", "root.pem"]).0, 1, "the certificate does not allow signatures");
    compare_with_oracle(&scratch, &["certificate", "src/pdf", "--certificate_chain", "root.pem"], false);
    let crossed = ["sign", "src/pdf", "--key", "agreement.key", "--certificate", "signer.pem", "--json"];
    assert_eq!(error_code(&run(&scratch, &crossed)), (2, "INVALID_SIGNER".to_owned()));
}

/// Whether `model_signing` is installed and its dependencies can be loaded.
fn has_oracle() -> bool {
    is_oracle_installed("model_signing")
}

fn oracle(scratch: &ScratchFolder, words: &[&str]) -> bool {
    let run = Command::new("model_signing").args(words).current_dir(scratch.work_folder()).output();
    run.expect("it can be started").status.success()
}

/// Checks that `model_signing verify` accepts a signature, or does not.
fn compare_with_oracle(scratch: &ScratchFolder, words: &[&str], expected: bool) {
    if has_oracle() {
        let all = [&["verify"], words, &["--signature", "src/pdf/skill.oms.sig"]].concat();
        assert_eq!(oracle(scratch, &all), expected, "{words:?}");
    }
}

#[test]
fn verdicts_are_those_of_model_signing() {
    if !has_oracle() {
        return;
    }
    let scratch = machine("1.0.0");
    make_key(&scratch, "team.key");
    make_key(&scratch, "other.key");
    let compare = |expected: bool, key: &str| {
        let ours = verdict(&scratch, "src/pdf", &["--key", key]).0 == 0;
        let theirs = oracle(
            &scratch,
            &["verify", "key", "src/pdf", "--signature", "src/pdf/skill.oms.sig", "--public_key", key],
        );
        assert_eq!((ours, theirs), (expected, expected));
    };
    sign(&scratch, "src/pdf", "team.key");
    compare(true, "team.key.pub");
    compare(false, "other.key.pub");
    std::fs::remove_file(scratch.work_folder().join("src/pdf/skill.oms.sig")).unwrap();
    let signed = ["sign", "key", "src/pdf", "--private_key", "team.key", "--signature", "src/pdf/skill.oms.sig"];
    assert!(oracle(&scratch, &signed));
    compare(true, "team.key.pub");
    scratch.write_file("src/pdf/.gitattributes", "x\n");
    compare(true, "team.key.pub");
    scratch.write_file("src/pdf/.hidden", "x\n");
    compare(false, "team.key.pub");
    std::fs::remove_file(scratch.work_folder().join("src/pdf/.hidden")).unwrap();
    let text = scratch.read_file("src/pdf/skill.oms.sig");
    scratch.write_file("src/pdf/skill.oms.sig", text.replace("\"publicKey\"", "\"publicKey2\""));
    compare(false, "team.key.pub");
}

#[test]
fn only_skills_that_the_required_signer_signed_are_installed() {
    let scratch = machine("1.0.0");
    make_key(&scratch, "team.key");
    make_key(&scratch, "other.key");
    trust(&scratch, &["team", "--key", "team.key.pub", "--for", "*src*", "--require"]);
    let required = (3, "SIGNATURE_REQUIRED".to_owned());
    assert_eq!(error_code(&at_project(&scratch, &["install", "src/pdf"])), required);
    sign(&scratch, "src/pdf", "other.key");
    assert_eq!(error_code(&at_project(&scratch, &["install", "src/pdf", "--force"])), required, "another key");
    assert!(!scratch.work_folder().join("project/.agents").exists(), "nothing was written");
    scratch.write_file("src/pdf/evals/evals.json", "{}");
    scratch.write_file("src/pdf/.gitignore", "x\n");
    sign(&scratch, "src/pdf", "team.key");
    let installed = at_project(&scratch, &["install", "src/pdf"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    assert_eq!(parsed(&installed)["skills"][0]["signature"]["signer"], "team");
    assert_eq!(lock(&scratch)["skills"]["pdf"]["rep"]["signature"]["signer"], "team");
    let placed = scratch.work_folder().join("project/.agents/skills/pdf");
    assert!(placed.join("evals/evals.json").exists(), "a signed skill is installed whole");
    assert!(!placed.join(".gitignore").exists(), "what the signature leaves out is not installed");
    let verified = at_project(&scratch, &["verify"]);
    assert_eq!((verified.code, &parsed(&verified)["skills"][0]["signature"]["verdict"]), (0, &json!("valid")));
    // A change without a new signature is refused, also without a trusted signer.
    scratch.write_file("src/pdf/SKILL.md", format!("{}More.\n", scratch.read_file("src/pdf/SKILL.md")));
    let bad = (3, "BAD_SIGNATURE".to_owned());
    assert_eq!(error_code(&at_project(&scratch, &["install", "src/pdf"])), bad);
    assert_eq!(error_code(&at_project(&scratch, &["update", "--yes"])), bad);
    trust(&scratch, &["--remove", "team"]);
    assert_eq!(error_code(&at_project(&scratch, &["install", "src/pdf", "--force"])), bad);
    // The lock file names the signer, and does not make it trusted.
    let verified = at_project(&scratch, &["verify"]);
    assert_eq!(parsed(&verified)["skills"][0]["signature"]["verdict"], "unknown-signer", "{verified:?}");
    scratch.write_file("project/.agents/skills/pdf/scripts/fill.sh", "changed\n");
    let verified = at_project(&scratch, &["verify"]);
    assert_eq!((verified.code, &parsed(&verified)["skills"][0]["signature"]["verdict"]), (1, &json!("refused")));
}

#[test]
fn another_signer_than_before_needs_consent() {
    let scratch = machine("1.0.0");
    make_key(&scratch, "team.key");
    make_key(&scratch, "other.key");
    sign(&scratch, "src/pdf", "team.key");
    assert_eq!(at_project(&scratch, &["install", "src/pdf"]).code, 0, "a signer need not be trusted");
    let changed = (3, "SIGNER_CHANGED".to_owned());
    write_skill(&scratch, "pdf", "1.1.0");
    sign(&scratch, "src/pdf", "other.key");
    assert_eq!(error_code(&at_project(&scratch, &["install", "src/pdf", "--yes"])), changed);
    assert_eq!(error_code(&at_project(&scratch, &["update", "--yes"])), changed);
    std::fs::remove_file(scratch.work_folder().join("src/pdf/skill.oms.sig")).unwrap();
    assert_eq!(error_code(&at_project(&scratch, &["update", "--yes"])), changed, "no signature is a change too");
    assert!(scratch.read_file("project/.agents/skills/pdf/SKILL.md").contains("version: 1.0.0"));
    sign(&scratch, "src/pdf", "other.key");
    let updated = at_project(&scratch, &["update", "--yes", "--accept-signer"]);
    assert_eq!(updated.code, 0, "{updated:?}");
    assert!(scratch.read_file("project/.agents/skills/pdf/SKILL.md").contains("version: 1.1.0"));
}

#[test]
fn a_change_of_the_signer_asks_on_a_terminal() {
    let scratch = machine("1.0.0");
    make_key(&scratch, "team.key");
    make_key(&scratch, "other.key");
    sign(&scratch, "src/pdf", "team.key");
    assert_eq!(at_project(&scratch, &["install", "src/pdf", "--host", "codex"]).code, 0);
    write_skill(&scratch, "pdf", "1.1.0");
    sign(&scratch, "src/pdf", "other.key");
    let words = ["install", "src/pdf", "--host", "codex", "--project", "project"];
    let installed = || scratch.read_file("project/.agents/skills/pdf/SKILL.md");
    let (code, seen) = typed(&scratch, &words, "Install it? [y/N]", b"n\n");
    assert!(code == 3 && installed().contains("version: 1.0.0"), "{seen}");
    let (code, seen) = typed(&scratch, &words, "Install it? [y/N]", b"y\n");
    assert!(code == 0 && installed().contains("version: 1.1.0"), "{seen}");
}

#[test]
fn signers_are_listed_and_removed_and_bad_ones_are_refused() {
    let scratch = machine("1.0.0");
    make_key(&scratch, "team.key");
    let list = || parsed(&run(&scratch, &["trust", "signer", "--list", "--json"]))["signers"].clone();
    assert_eq!(list(), json!([]));
    trust(&scratch, &["team", "--key", "team.key.pub", "--for", "github:acme/*", "--for", "oci://r.example/*"]);
    assert_eq!(list()[0]["for"], json!(["github:acme/*", "oci://r.example/*"]));
    let refused = |words: &[&str]| error_code(&run(&scratch, &[&["trust", "signer", "--json"], words].concat()));
    let invalid = (2, "INVALID_SIGNER".to_owned());
    assert_eq!(refused(&["x", "--key", "team.key", "--for", "*"]), invalid, "a private key");
    assert_eq!(refused(&["x", "--key", "src/pdf/SKILL.md", "--for", "*"]), invalid);
    assert_eq!(refused(&["x", "--key", "team.key.pub", "--for", "a b"]), invalid);
    assert_eq!(refused(&["--remove", "nobody"]), (1, "UNKNOWN_SIGNER".to_owned()));
    trust(&scratch, &["--remove", "team"]);
    assert_eq!(list(), json!([]));
}

#[test]
fn a_signed_skill_is_packed_whole() {
    let scratch = machine("1.0.0");
    make_key(&scratch, "team.key");
    scratch.write_file("src/pdf/evals/evals.json", "{}");
    sign(&scratch, "src/pdf", "team.key");
    trust(&scratch, &["team", "--key", "team.key.pub", "--for", "*", "--require"]);
    assert_eq!(run(&scratch, &["pack", "src/pdf", "--out", "pdf.skill"]).code, 0);
    let installed = at_project(&scratch, &["install", "pdf.skill"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    assert!(scratch.work_folder().join("project/.agents/skills/pdf/evals/evals.json").exists());
}

#[test]
fn a_declared_signature_is_verified() {
    let scratch = machine("1.0.0");
    make_key(&scratch, "team.key");
    trust(&scratch, &["team", "--key", "team.key.pub", "--for", "*"]);
    let text = scratch.read_file("src/pdf/SKILL.md");
    let declare = |value: &str| {
        let declared = text.replacen("---\n", &format!("---\nprovenance:\n  signature: {value}\n"), 1);
        scratch.write_file("src/pdf/SKILL.md", declared);
    };
    let installed_verdict = || {
        assert_eq!(at_project(&scratch, &["install", "src/pdf", "--accept-signer"]).code, 0);
        parsed(&at_project(&scratch, &["verify"]))["skills"][0]["signature"]["verdict"].clone()
    };
    declare("MEUCIQ");
    assert_eq!(installed_verdict(), "unchecked");
    declare("own.sig");
    let refused = at_project(&scratch, &["install", "src/pdf", "--accept-signer"]);
    assert_eq!(error_code(&refused), (3, "BAD_SIGNATURE".to_owned()), "it names a file that does not exist");
    declare("skill.oms.sig");
    sign(&scratch, "src/pdf", "team.key");
    assert_eq!(installed_verdict(), "valid");
    assert_eq!(verdict(&scratch, "src/pdf", &[]), (0, "valid".to_owned()));
}

/// Runs cosign without a network. Reports whether it succeeded.
fn cosign(scratch: &ScratchFolder, program: &str, words: &[&str]) -> bool {
    let run = Command::new(program)
        .args(words)
        .current_dir(scratch.work_folder())
        .env("HOME", scratch.work_folder())
        .env("COSIGN_PASSWORD", "")
        .output();
    run.expect("it can be started").status.success()
}

#[test]
fn pushed_signatures_are_accepted_by_cosign_and_required_at_installation() {
    let scratch = machine("1.0.0");
    write_skill(&scratch, "docx", "2.0.0");
    let Some(registry) = Registry::start(&scratch.work_folder().join("registry")) else { return };
    make_key(&scratch, "team.key");
    make_key(&scratch, "other.key");
    let repository = format!("oci://{}/team/pdf", registry.address);
    trust(
        &scratch,
        &["team", "--key", "team.key.pub", "--for", &format!("oci://{}/team/*", registry.address), "--require"],
    );
    let push = |words: &[&str]| {
        let pushed = run(&scratch, &[&["push"], words, &["--json"]].concat());
        assert_eq!(pushed.code, 0, "{pushed:?}");
        parsed(&pushed)["artifacts"][0].clone()
    };
    let required = (3, "SIGNATURE_REQUIRED".to_owned());
    push(&["src/pdf", &repository]);
    assert_eq!(error_code(&at_project(&scratch, &["install", &repository])), required);
    push(&["src/pdf", &repository, "--key", "other.key"]);
    assert_eq!(error_code(&at_project(&scratch, &["install", &repository])), required, "another key");
    let signed = push(&["src/pdf", &repository, "--key", "team.key"]);
    assert_eq!(signed["signed"], json!(true));
    push(&["src/pdf", &repository, "--key", "team.key"]);
    let installed = at_project(&scratch, &["install", &repository]);
    assert_eq!(installed.code, 0, "{installed:?}");
    assert_eq!(parsed(&installed)["skills"][0]["signature"]["kind"], "cosign");
    assert_eq!(at_project(&scratch, &["verify"]).code, 0);
    std::fs::remove_dir_all(scratch.work_folder().join("project/.agents")).unwrap();
    assert_eq!(at_project(&scratch, &["sync"]).code, 0);
    let all = format!("oci://{}/team/all:1", registry.address);
    push(&["src/pdf", "src/docx", &all, "--collection", "team", "--key", "team.key"]);
    let installed = at_project(&scratch, &["install", &all, "--skill", "docx"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    if is_oracle_installed("cosign") {
        let image = format!("{}/team/pdf@{}", registry.address, signed["digest"].as_str().unwrap());
        let verify = |key: &str| {
            let words = ["verify", "--key", key, "--insecure-ignore-tlog=true", "--allow-http-registry", &image];
            cosign(&scratch, "cosign", &words)
        };
        assert!(verify("team.key.pub"));
        make_key(&scratch, "third.key");
        assert!(!verify("third.key.pub"));
    }
}

#[test]
fn signatures_of_cosign_are_read_in_both_forms() {
    let scratch = machine("1.0.0");
    let Some(registry) = Registry::start(&scratch.work_folder().join("registry")) else { return };
    for program in ["cosign", "cosign2"] {
        if !is_oracle_installed(program) {
            continue;
        }
        let repository = format!("{}/{program}/pdf", registry.address);
        let pushed = run(&scratch, &["push", "src/pdf", &format!("oci://{repository}"), "--json"]);
        let digest = parsed(&pushed)["artifacts"][0]["digest"].as_str().unwrap().to_owned();
        assert!(cosign(&scratch, program, &["generate-key-pair", "--output-key-prefix", program]));
        let (key, public) = (format!("{program}.key"), format!("{program}.pub"));
        let image = format!("{repository}@{digest}");
        if program == "cosign" {
            assert!(cosign(&scratch, program, &["signing-config", "create", "--out", "empty.json"]));
            let words =
                ["sign", "--key", &key, "--signing-config", "empty.json", "--allow-http-registry", "-y", &image];
            assert!(cosign(&scratch, program, &words));
        } else {
            let words = ["sign", "--key", &key, "--tlog-upload=false", "--allow-http-registry", "-y", &image];
            assert!(cosign(&scratch, program, &words));
        }
        let pattern = format!("{}/{program}/*", registry.address);
        trust(&scratch, &[program, "--key", &public, "--for", &pattern, "--require"]);
        let installed = at_project(&scratch, &["install", &format!("oci://{repository}"), "--accept-signer"]);
        assert_eq!(installed.code, 0, "{installed:?}");
        assert_eq!(parsed(&installed)["skills"][0]["signature"]["signer"], program);
    }
}
