//! What other tools push, and what hostile registries send: answers that a test wrote.

use std::collections::BTreeMap;

use rep_test_support::{ReceivedRequest, ScratchFolder, TestResponse, TestServer, build_response};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::install_git::skill;
use crate::{json as parsed, run};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// A tar archive of files, as other tools write it: without directories.
pub(super) fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (path, text) in files {
        let mut block = [0_u8; 512];
        let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, path.as_bytes());
        put(100, b"0000644\0");
        put(124, format!("{:011o}\0", text.len()).as_bytes());
        put(136, b"00000000000\0");
        put(148, b"        ");
        put(156, b"0");
        put(257, b"ustar\x0000");
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.extend(block);
        out.extend(text.as_bytes());
        out.extend(vec![0; (512 - text.len() % 512) % 512]);
    }
    out.extend([0; 1024]);
    out
}

/// The content of a registry: the type and the bytes, by path below `/v2/team/pdf/`.
#[derive(Clone, Default)]
struct Content(BTreeMap<String, (String, Vec<u8>)>);

impl Content {
    fn blob(&mut self, bytes: &[u8], kind: &str) -> Value {
        self.0.insert(format!("blobs/{}", digest(bytes)), ("application/octet-stream".to_owned(), bytes.to_vec()));
        json!({ "mediaType": kind, "digest": digest(bytes), "size": bytes.len() })
    }

    fn manifest(&mut self, tag: &str, kind: &str, value: &Value) -> Value {
        let bytes = value.to_string().into_bytes();
        for reference in [tag.to_owned(), digest(&bytes)] {
            self.0.insert(format!("manifests/{reference}"), (kind.to_owned(), bytes.clone()));
        }
        json!({ "mediaType": kind, "digest": digest(&bytes), "size": bytes.len() })
    }

    /// Adds a manifest with layers, and returns its descriptor.
    fn image(&mut self, tag: &str, kind: &str, layers: &[&[u8]]) -> Value {
        let config = self.blob(b"{}", "application/vnd.oci.empty.v1+json");
        let layers: Vec<Value> = layers.iter().map(|layer| self.blob(layer, kind)).collect();
        let value = json!({ "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers });
        self.manifest(tag, MANIFEST, &value)
    }

    fn serve(self) -> TestServer {
        TestServer::start(move |asked, _| self.answer(asked))
    }

    fn answer(&self, asked: &ReceivedRequest) -> TestResponse {
        let path = asked.line.split(' ').nth(1).unwrap_or_default();
        let found = path.strip_prefix("/v2/team/pdf/").and_then(|path| self.0.get(path));
        match found {
            Some((kind, bytes)) => {
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    bytes.len()
                );
                TestResponse::Bytes([head.as_bytes(), bytes].concat())
            }
            None => build_response("404 Not Found", &["Connection: close"], "{}"),
        }
    }
}

struct Client(ScratchFolder);

impl Client {
    fn new() -> Self {
        let scratch = ScratchFolder::new();
        std::fs::create_dir_all(scratch.work_folder().join("project/.git")).expect("the folder can be made");
        Self(scratch)
    }

    /// Installs `oci://SERVER/team/pdf:TAG`, and returns the exit code, the error's code and what stderr says.
    fn install(&self, server: &TestServer, tag: &str) -> (i32, String, String) {
        let source = format!("oci://127.0.0.1:{}/team/pdf:{tag}", server.port);
        let done = run(&self.0, &["install", &source, "--project", "project", "--json"]);
        let code = parsed(&done)["error"]["code"].as_str().unwrap_or_default().to_owned();
        assert_eq!(done.code != 0, !self.has_skill(), "{done:?}");
        (done.code, code, done.stderr)
    }

    fn has_skill(&self) -> bool {
        self.0.work_folder().join("project/.agents/skills").exists()
    }
}

#[test]
fn every_layout_with_one_skill_in_one_layer_is_read() {
    let text = skill("pdf", "PDF");
    let layouts: [(&str, Vec<u8>); 3] = [
        ("application/vnd.agent.skill.content.v1.tar+gzip", tar(&[("SKILL.md", &text), ("scripts/a.sh", "echo")])),
        ("application/vnd.oci.image.layer.v1.tar", tar(&[("skills/pdf/SKILL.md", &text), ("etc/passwd", "x")])),
        ("application/vnd.cncf.skill.bundle.v1.tar+gzip", tar(&[("./pdf/SKILL.md", &text)])),
    ];
    for (kind, layer) in layouts {
        let mut content = Content::default();
        content.image("1", kind, &[&layer]);
        let client = Client::new();
        let done = client.install(&content.serve(), "1");
        assert_eq!(done.0, 0, "{kind}: {done:?}");
        assert!(client.0.read_file("project/.agents/skills/pdf/SKILL.md").contains("PDF"), "{kind}");
        assert!(!client.0.work_folder().join("project/.agents/skills/pdf/etc").exists());
    }
    // One manifest for each platform, with the same layer: ToolHive.
    let layer = tar(&[("SKILL.md", &text)]);
    let mut content = Content::default();
    let kind = "application/vnd.oci.image.layer.v1.tar+gzip";
    let one = content.image("amd64", kind, &[&layer]);
    let other =
        json!({ "schemaVersion": 2, "config": content.blob(b"[]", "x"), "layers": [content.blob(&layer, kind)] });
    let two = content.manifest("arm64", MANIFEST, &other);
    let index = json!({ "schemaVersion": 2, "artifactType": "dev.toolhive.skills.v1", "manifests": [one, two] });
    content.manifest("1", INDEX, &index);
    let client = Client::new();
    let done = client.install(&content.serve(), "1");
    assert_eq!(done.0, 0, "{done:?}");
}

#[test]
fn what_is_not_one_skill_or_is_hostile_is_refused_and_nothing_is_written() {
    let text = skill("pdf", "PDF");
    let good = tar(&[("SKILL.md", &text)]);
    let refuse = |content: Content, expected: (i32, &str), words: &str| {
        let client = Client::new();
        let done = client.install(&content.serve(), "1");
        assert_eq!((done.0, done.1.as_str()), expected, "{words}: {done:?}");
        assert!(done.2.contains(words), "{words}: {done:?}");
    };
    let image = |layers: &[&[u8]]| {
        let mut content = Content::default();
        content.image("1", "x", layers);
        content
    };
    refuse(image(&[&good, &good]), (2, "INVALID_ARTIFACT"), "has 2 layers");
    refuse(image(&[&tar(&[("a/SKILL.md", &text), ("b/SKILL.md", &text)])]), (2, "INVALID_ARTIFACT"), "2 skills");
    refuse(image(&[&tar(&[("README.md", "x")])]), (2, "NOT_A_SKILL"), "SKILL.md");
    refuse(image(&[&tar(&[("../SKILL.md", &text)])]), (2, "INVALID_ARTIFACT"), "..");
    refuse(image(&[b"\x28\xb5\x2f\xfdzstd"]), (2, "INVALID_ARTIFACT"), "zstd");
    // Two platforms with different content.
    let mut content = Content::default();
    let one = content.image("amd64", "x", &[&good]);
    let two = content.image("arm64", "x", &[&tar(&[("SKILL.md", &skill("pdf", "other"))])]);
    content.manifest("1", INDEX, &json!({ "schemaVersion": 2, "manifests": [one, two] }));
    refuse(content, (2, "INVALID_ARTIFACT"), "2 different manifests");
    for (bytes, words) in [
        ("[]".to_owned(), "schemaVersion"),
        ("{".to_owned(), "not JSON"),
        (json!({ "schemaVersion": 2, "layers": [{ "digest": "sha256:../../x", "size": 1 }] }).to_string(), "digest"),
    ] {
        let mut content = Content::default();
        content.0.insert("manifests/1".to_owned(), (MANIFEST.to_owned(), bytes.into_bytes()));
        refuse(content, (2, "INVALID_ARTIFACT"), words);
    }
}

#[test]
fn content_that_does_not_match_its_digest_or_size_is_refused() {
    let good = tar(&[("SKILL.md", &skill("pdf", "PDF"))]);
    let mut content = Content::default();
    let manifest = content.image("1", "x", &[&good]);
    let blob = format!("blobs/{}", digest(&good));
    // Other bytes of the same size, fewer bytes, and more.
    let mut changed = good.clone();
    changed[600] ^= 1;
    for bytes in [changed, good[..1024].to_vec(), [good.clone(), vec![0; 512]].concat()] {
        let mut bad = content.clone();
        bad.0.insert(blob.clone(), ("x".to_owned(), bytes));
        let done = Client::new().install(&bad.serve(), "1");
        assert_eq!((done.0, done.1.as_str()), (3, "DIGEST_MISMATCH"), "{done:?}");
    }
    // A manifest that was asked for by its digest.
    let wanted = manifest["digest"].as_str().unwrap().to_owned();
    let mut bad = content.clone();
    bad.0.insert(format!("manifests/{wanted}"), (MANIFEST.to_owned(), b"{\"schemaVersion\":2,\"layers\":[]}".to_vec()));
    let server = bad.serve();
    let client = Client::new();
    let source = format!("oci://127.0.0.1:{}/team/pdf@{wanted}", server.port);
    let done = run(&client.0, &["install", &source, "--project", "project", "--json"]);
    assert_eq!((done.code, &parsed(&done)["error"]["code"]), (3, &json!("DIGEST_MISMATCH")), "{done:?}");
}

#[test]
fn tokens_are_fetched_and_credentials_go_to_no_other_server() {
    let good = tar(&[("SKILL.md", &skill("pdf", "PDF"))]);
    let mut content = Content::default();
    content.image("1", "x", &[&good]);
    // Where the blobs are, as at a cloud registry: another server, which must not see the token.
    let blobs = content.clone();
    let storage = TestServer::start(move |asked, _| blobs.answer(asked));
    let elsewhere = storage.url();
    let server = TestServer::start(move |asked, _| {
        let own = asked.header("host").unwrap_or_default();
        let path = asked.line.split(' ').nth(1).unwrap_or_default();
        if path.starts_with("/token?") {
            let is_right = path.contains("scope=repository%3Ateam%2Fpdf%3Apull")
                && path.contains("service=skills")
                && asked.header("authorization") == Some("Basic bWU6d29yZA==");
            return if is_right {
                build_response("200 OK", &["Connection: close"], "{\"token\":\"abc\"}")
            } else {
                build_response("401 Unauthorized", &["Connection: close"], "{}")
            };
        }
        if asked.header("authorization") != Some("Bearer abc") {
            let wants = format!("WWW-Authenticate: Bearer realm=\"http://{own}/token\",service=\"skills\"");
            return build_response("401 Unauthorized", &[&wants, "Connection: close"], "{}");
        }
        match path.strip_prefix("/v2/team/pdf/blobs/") {
            Some(digest) => {
                let location = format!("Location: {elsewhere}/v2/team/pdf/blobs/{digest}");
                build_response("307 Temporary Redirect", &[&location, "Connection: close"], "")
            }
            None => content.answer(asked),
        }
    });
    let client = Client::new();
    let login = json!({ "auths": { format!("127.0.0.1:{}", server.port): { "auth": "bWU6d29yZA==" } } });
    std::fs::create_dir_all(client.0.work_folder().join("../home/.docker")).unwrap();
    std::fs::write(client.0.work_folder().join("../home/.docker/config.json"), login.to_string()).unwrap();
    let done = client.install(&server, "1");
    assert_eq!(done.0, 0, "{done:?}");
    let seen = storage.received_requests();
    assert!(!seen.is_empty() && seen.iter().all(|asked| asked.header("authorization").is_none()), "{seen:?}");
}

#[test]
fn a_realm_on_another_host_gets_no_credentials() {
    // `localhost` and `127.0.0.1` are different hosts, as far as credentials are concerned.
    let thief = TestServer::start(|_, _| build_response("200 OK", &["Connection: close"], "{\"token\":\"abc\"}"));
    let realm = format!("WWW-Authenticate: Bearer realm=\"http://localhost:{}/token\",service=\"x\"", thief.port);
    let server =
        TestServer::start(move |_, _| build_response("401 Unauthorized", &[&realm, "Connection: close"], "{}"));
    let client = Client::new();
    let login = json!({ "auths": { format!("127.0.0.1:{}", server.port): { "auth": "bWU6d29yZA==" } } });
    std::fs::create_dir_all(client.0.work_folder().join("../home/.docker")).unwrap();
    std::fs::write(client.0.work_folder().join("../home/.docker/config.json"), login.to_string()).unwrap();
    let done = client.install(&server, "1");
    assert_eq!((done.0, done.1.as_str()), (2, "INVALID_ARTIFACT"), "{done:?}");
    assert!(done.2.contains("were not sent") && thief.received_requests().is_empty(), "{done:?}");
}
