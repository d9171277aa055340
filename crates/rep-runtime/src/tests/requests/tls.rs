//! Tests of encrypted connections: which certificates are trusted.

use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rep_test_support::{ReceivedRequest, TestServer, build_response};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use super::{error, plan, result, run};

/// The variable that turns the test below into a client of the test before it.
const ASKS: &str = "REP_TEST_ASKS";

/// Starts a server for this name, and returns the certificate of its issuer.
fn server(name: &str) -> (TestServer, String) {
    let mut params = CertificateParams::new(Vec::new()).expect("certificates and directories can be created");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer =
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("certificates and directories can be created"))
            .expect("certificates and directories can be created");
    let key = KeyPair::generate().expect("certificates and directories can be created");
    let own = CertificateParams::new(vec![name.to_owned()])
        .expect("certificates and directories can be created")
        .signed_by(&key, &issuer)
        .expect("certificates and directories can be created");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("certificates and directories can be created")
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())))
        .expect("certificates and directories can be created");
    let config = Arc::new(config);
    let greeted = move |stream: TcpStream| {
        let connection = ServerConnection::new(config.clone()).ok()?;
        Some(StreamOwned::new(connection, stream))
    };
    let answered = |asked: &ReceivedRequest, _: usize| {
        let seen = asked.header("authorization").map(str::len);
        build_response("200 OK", &["Content-Type: application/json"], &json!({ "seen": seen }).to_string())
    };
    (TestServer::start_with_handshake(answered, greeted), issuer.pem())
}

/// Returns what a process that trusts these certificates reports about a server.
fn asked(server: &TestServer, trusted: &str) -> String {
    let folder = tempfile::tempdir().expect("certificates and directories can be created");
    let file = folder.path().join("trusted.pem");
    std::fs::write(&file, trusted).expect("certificates and directories can be created");
    let output = Command::new(std::env::current_exe().expect("certificates and directories can be created"))
        .args(["--exact", "tests::requests::tls::asks_as_it_is_told", "--nocapture"])
        .env(ASKS, format!("https://localhost:{}", server.port))
        .env("SSL_CERT_FILE", &file)
        .env_remove("SSL_CERT_DIR")
        .output()
        .expect("certificates and directories can be created");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_server_is_believed_where_the_system_trusts_who_signed_for_it() {
    let (server, trusted) = server("localhost");
    let (other, _) = self::server("localhost");
    assert!(asked(&server, &trusted).contains("came: {\"seen\":23}"), "{}", asked(&server, &trusted));
    assert!(asked(&other, &trusted).contains("came: TLS_FAILED"), "another issuer");
    let (server, trusted) = self::server("api.example.org");
    assert!(asked(&server, &trusted).contains("came: TLS_FAILED"), "another name");
    assert!(asked(&server, "").contains("came: TLS_FAILED"), "no certificate is trusted");
}

#[test]
fn asks_as_it_is_told() {
    let Ok(base) = std::env::var(ASKS) else { return };
    let command = json!({ "syntax": "GET /it", "headers": { "Authorization": "Bearer ${A_TOKEN}" } });
    let outcome = run(plan(&base, command, json!({})));
    match &outcome.reply {
        crate::RunReply::Result(_) => println!("came: {}", result(&outcome)["response"]["body"]),
        _ => println!("came: {} {}", error(&outcome).code, error(&outcome).message),
    }
}
