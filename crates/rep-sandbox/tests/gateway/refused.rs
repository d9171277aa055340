//! What is not declared fails, where the program sees it, and is recorded, where people do.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::inside::{run, script, start, steps};
use crate::servers::{echo, https};

const DECLARED: [&str; 3] = ["api.example.com:443", "*.foo.dev:443", "plain.example.com:80"];

fn with_home(at_home: &str) -> Vec<&str> {
    DECLARED.into_iter().chain([at_home]).collect()
}

/// A question as a resolver sends it.
fn question(labels: &[&[u8]]) -> String {
    let mut packet = vec![0x51, 0x52, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in labels {
        packet.push(u8::try_from(label.len()).unwrap());
        packet.extend_from_slice(label);
    }
    packet.extend_from_slice(&[0, 0, 1, 0, 1]);
    hex(&packet)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn names_that_are_not_declared_do_not_exist_and_are_asked_nowhere() {
    let server = echo();
    let names = [
        "foo.dev",
        "evilfoo.dev",
        "other.example.com",
        "api.example.com.evil.com",
        "secret-0123456789abcdef.evil.com",
        "secret.api.example.com",
        "localhost.localdomain",
    ];
    // Were any of them looked up, this resolver would answer.
    let known: Vec<(&str, u16, SocketAddr)> = names.iter().map(|name| (*name, 443, server.address)).collect();
    let lines: Vec<Value> = names.iter().map(|name| json!(["tcp", name, 443, "x"])).collect();
    let (inside, results) = run(&with_home(&server.declared()), &known, &lines);
    assert_eq!(results, vec![json!("no such name"); names.len()]);
    assert_eq!(inside.asked.names(), Vec::<String>::new(), "no question left the run");
    assert_eq!(server.visits(), 0);
    let expected = names.map(|name| (name.to_owned(), Some(format!("network.outbound: \"{name}\""))));
    assert_eq!(inside.denied(), expected);
    assert!(inside.gateway.denials().iter().all(|denial| denial.action == "resolve"));
}

#[test]
fn names_in_disguise_are_no_names() {
    let server = echo();
    let code = |answer: &Value| answer.as_str().unwrap()[7..8].to_owned();
    let long = [b'a'; 63];
    let lines = [
        json!(["ask", question(&[b"api", b"example", b"com"])]),
        json!(["ask", question(&[b"API", b"EXAMPLE", b"COM"])]),
        json!(["ask", question(&[b"evil.com\0", b"foo", b"dev"])]),
        json!(["ask", question(&[b"evil%00", b"foo", b"dev"])]),
        json!(["ask", question(&[b"a.foo", b"dev"])]),
        json!(["ask", question(&[b"api.example.com"])]),
        json!(["ask", question(&[b"_sip", b"foo", b"dev"])]),
        json!(["ask", question(&[b"-a", b"foo", b"dev"])]),
        json!(["ask", question(&[&long, b"foo", b"dev"])]),
        json!(["ask", question(&[&long, &long, &long, b"foo", b"dev"])]),
        json!(["ask", question(&[&long, &long, &long, &long, b"foo", b"dev"])]),
        json!(["tcp", "a".repeat(64) + ".foo.dev", 443, "x"]),
        json!(["tcp", "evil.com\0.foo.dev", 443, "x"]),
    ];
    let (inside, results) = run(&with_home(&server.declared()), &[], &lines);
    let codes: Vec<String> = results[..11].iter().map(code).collect();
    // 0 exists, 3 does not, 1 is not a question at all.
    assert_eq!(codes, ["0", "0", "3", "3", "3", "3", "3", "3", "0", "0", "1"]);
    assert!(results[0].as_str().unwrap().ends_with("c6120002") && results[1].as_str().unwrap().ends_with("c6120002"));
    assert!(results[11..].iter().all(|result| result != "x"), "{:?}", &results[11..]);
    assert_eq!(inside.asked.names(), Vec::<String>::new());
    let denied: Vec<String> = inside.denied().into_iter().map(|(target, _)| target).collect();
    assert!(denied.contains(&"evil\\x2ecom\\x00.foo.dev".to_owned()), "{denied:?}");
}

#[test]
fn a_port_that_is_not_declared_for_a_host_is_reset() {
    let server = echo();
    let known = [("api.example.com", 80, server.address), ("plain.example.com", 443, server.address)];
    let lines = [json!(["get", "http://api.example.com/"]), json!(["tcp", "plain.example.com", 443, "x"])];
    let (inside, results) = run(&with_home(&server.declared()), &known, &lines);
    assert_eq!(results, [json!("ECONNRESET"), json!("ECONNRESET")]);
    assert_eq!((server.visits(), inside.asked.names().len()), (0, 0));
    let told = |host: &str| (host.to_owned(), Some(format!("network.outbound: \"{host}\"")));
    assert_eq!(inside.denied(), [told("api.example.com:80"), told("plain.example.com:443")]);
    assert!(inside.gateway.denials().iter().all(|denial| denial.action == "connect"));
}

#[test]
fn tls_must_ask_for_the_name_it_connected_to() {
    let Some(secure) = https() else { return };
    let at_home = secure.address.to_string();
    let lines = [
        json!(["tls", "api.example.com", 443, "other.example.com"]),
        json!(["tls", "api.example.com", 443, null]),
        json!(["raw", "api.example.com", 443, hex(b"GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n")]),
        json!(["raw", "api.example.com", 443, hex(&with_encrypted_hello())]),
        json!(["tls", "a.foo.dev", 443, "b.foo.dev"]),
        json!(["tls", "api.example.com", 443, "api.example.com"]),
    ];
    let client = script(&lines, &secure.certificate);
    let [sh, option, line] = client.program();
    let known = [("api.example.com", 443, secure.address), ("a.foo.dev", 443, secure.address)];
    let mut inside = start(&with_home(&at_home), &known, &[&sh, &option, &line]);
    let results = steps(&mut inside);
    assert_eq!(results[..5], vec![json!("ECONNRESET"); 5]);
    assert_eq!(results[5], "HTTP/1.0 200 OK", "the control");
    assert_eq!(inside.asked.names(), ["api.example.com"], "only the control was looked up");
    let reasons: Vec<String> = inside.gateway.refusals().iter().map(|refusal| refusal.reason.to_string()).collect();
    assert_eq!(
        reasons,
        [
            "the TLS client hello names `other.example.com`",
            "the TLS client hello has no server name",
            "the client does not use TLS",
            "the TLS client hello encrypts the server name (ECH)",
            "the TLS client hello names `b.foo.dev`",
        ]
    );
}

/// A greeting whose open name is right, with an encrypted one beside it.
fn with_encrypted_hello() -> Vec<u8> {
    let name = b"api.example.com";
    let length = u8::try_from(name.len()).unwrap();
    let mut extensions = vec![0, 0, 0, length + 5, 0, length + 3, 0, 0, length];
    extensions.extend_from_slice(name);
    extensions.extend_from_slice(&[0xfe, 0x0d, 0, 8, 0, 0, 1, 0, 1, 7, 0, 0]);
    let mut body = vec![3, 3];
    body.extend_from_slice(&[7; 32]);
    body.extend_from_slice(&[0, 0, 2, 0x13, 1, 1, 0, 0, u8::try_from(extensions.len()).unwrap()]);
    body.extend_from_slice(&extensions);
    let length = u8::try_from(body.len()).unwrap();
    [&[22, 3, 1, 0, length + 4, 1, 0, 0, length][..], &body].concat()
}

#[test]
fn addresses_without_a_declaration_lead_nowhere() {
    let server = echo();
    let lines = [
        json!(["tcp", "127.0.0.1", server.address.port(), "x"]),
        json!(["tcp", "1.1.1.1", 443, "x"]),
        json!(["tcp", "127.0.0.1", 443, "x"]),
        json!(["tcp", "198.18.0.1", 443, "x"]),
        json!(["tcp", "198.18.77.7", 443, "x"]),
        json!(["tcp", "0.0.0.0", 443, "x"]),
        json!(["tcp", "::1", 443, "x"]),
        json!(["tcp", "2606:4700::1111", 443, "x"]),
        json!(["udp", "1.1.1.1", 53]),
        json!(["udp", "198.18.0.1", 443]),
    ];
    let (inside, results) = run(&DECLARED, &[], &lines);
    let expected = [
        "ECONNREFUSED",
        "ENETUNREACH",
        "ECONNRESET",
        "ECONNRESET",
        "ECONNRESET",
        "ECONNRESET",
        "ECONNREFUSED",
        "ENETUNREACH",
        "ENETUNREACH",
        "ECONNREFUSED",
    ];
    assert_eq!(results, expected);
    assert_eq!(server.visits(), 0);
    let denied: Vec<String> = inside.denied().into_iter().map(|(target, _)| target).collect();
    assert_eq!(denied, ["127.0.0.1:443", "198.18.0.1:443", "198.18.77.7:443"]);
}

#[test]
fn a_declared_name_does_not_lead_to_what_is_not_public() {
    let server = echo();
    let port = server.address.port();
    let text = |address: &str| -> SocketAddr { format!("{address}:{port}").parse().unwrap() };
    let addresses = [
        "127.0.0.1",
        "127.9.9.9",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "198.18.0.1",
        "168.63.129.16",
        "224.0.0.1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fd00::1]",
        "[fe80::1]",
    ];
    let names: Vec<String> = (0..addresses.len()).map(|number| format!("n{number}.example.com")).collect();
    let known: Vec<(&str, u16, SocketAddr)> =
        names.iter().zip(addresses).map(|(name, address)| (name.as_str(), port, text(address))).collect();
    let lines: Vec<Value> = names.iter().map(|name| json!(["tcp", name, port, "x"])).collect();
    let declared = [format!("*.example.com:{port}"), format!("*:{port}"), format!("10.9.9.9:{port}")];
    let declared: Vec<&str> = declared.iter().map(String::as_str).collect();
    let (inside, results) = run(&declared, &known, &lines);
    assert_eq!(results, vec![json!("ECONNRESET"); names.len()]);
    assert_eq!(server.visits(), 0, "the canary saw nobody");
    assert_eq!(inside.asked.names(), names, "each was looked up, and then judged");
    for ((target, suggestion), address) in inside.denied().into_iter().zip(addresses) {
        let declarable = rep_permissions::HostRule::parse(&format!("{address}:{port}")).is_ok();
        assert_eq!(suggestion.is_some(), declarable, "{target} at {address}");
    }
    assert_eq!(inside.denied().len(), names.len());
}

#[test]
fn a_name_may_lead_home_where_that_address_is_declared_too() {
    let server = echo();
    let known = [("intern.example.com", 8080, server.address)];
    let lines = [json!(["tcp", "intern.example.com", 8080, "hello"])];
    let (_, results) = run(&["intern.example.com:8080", &server.declared()], &known, &lines);
    assert_eq!(results, [json!("hello")]);
    let (inside, results) = run(&["intern.example.com:8080", "127.0.0.1:1"], &known, &lines);
    assert_eq!(results, [json!("ECONNRESET")], "the address on another port is another declaration");
    let suggestion = format!("network.outbound: \"{}\"", server.declared());
    assert_eq!(inside.denied(), [("intern.example.com:8080".to_owned(), Some(suggestion))]);
}

#[test]
fn what_cannot_be_reached_is_told_and_is_no_denial() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let known = [("down.example.com", 8080, nobody)];
    let lines = [json!(["tcp", "down.example.com", 8080, "x"]), json!(["tcp", "none.example.com", 8080, "x"])];
    let declared = ["down.example.com:8080", "none.example.com:8080", &nobody.to_string()];
    let (inside, results) = run(&declared, &known, &lines);
    assert_eq!(results, [json!("ECONNRESET"), json!("ECONNRESET")]);
    assert_eq!(inside.denied(), []);
    let told: Vec<String> =
        inside.gateway.refusals().iter().map(|refusal| format!("{}: {}", refusal.target, refusal.reason)).collect();
    assert_eq!(told.len(), 2);
    assert!(told[0].starts_with("down.example.com:8080: the host could not be reached"), "{told:?}");
    assert!(told[1].starts_with("none.example.com:8080: the name could not be resolved"), "{told:?}");
}
