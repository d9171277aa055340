//! Addresses that are declared themselves, and the declaration of every host.

use std::net::{IpAddr, TcpListener};
use std::process::Stdio;

use rep_permissions::HostRule;
use rep_sandbox::gateway::{ConnectionRefusal, GatewayNeeds, RefusalReason, open_in_namespace};
use serde_json::json;

use crate::inside::{again, not_proved, run};
use crate::servers::{echo, echo_at};

const ELSEWHERE: &str = "REP_TEST_ELSEWHERE";

#[test]
fn a_declared_address_is_reached_at_that_address_and_port_only() {
    let (server, other) = (echo(), echo());
    let lines = [
        json!(["tcp", "127.0.0.1", server.address.port(), "hello"]),
        json!(["tcp", "127.0.0.2", server.address.port(), "hello"]),
        json!(["tcp", "127.0.0.1", other.address.port(), "hello"]),
        json!(["tcp", "localhost", 443, "hello"]),
    ];
    let (inside, results) = run(&[&server.declared()], &[], &lines);
    assert_eq!(results, [json!("hello"), json!("ECONNRESET"), json!("ECONNREFUSED"), json!("ECONNRESET")]);
    assert_eq!((server.visits(), other.visits()), (1, 0));
    assert_eq!(inside.asked.names(), Vec::<String>::new());
}

#[test]
fn localhost_is_this_machine_where_it_is_declared() {
    let server = echo();
    let port = server.address.port();
    let lines = [
        json!(["tcp", "localhost", port, "hello"]),
        json!(["tcp", "127.0.0.1", port, "hello"]),
        json!(["tcp", "::1", port, "hello"]),
        json!(["tcp", "127.0.0.1", 80, "hello"]),
    ];
    let (_, results) = run(&[&format!("localhost:{port}")], &[], &lines);
    assert_eq!(results, [json!("hello"), json!("hello"), json!("hello"), json!("ECONNRESET")]);
}

#[test]
fn an_address_of_ipv6_can_be_declared() {
    if TcpListener::bind("[::1]:0").is_err() {
        not_proved("this machine has no IPv6");
        return;
    }
    let server = echo_at("[::1]:0");
    let port = server.address.port();
    let lines = [json!(["tcp", "::1", port, "hello"]), json!(["tcp", "fd00::7", port, "hello"])];
    let (inside, results) = run(&[&server.declared(), &format!("[fd00::8]:{port}")], &[], &lines);
    assert_eq!(results, [json!("hello"), json!("ENETUNREACH")]);
    assert_eq!(inside.denied(), []);
}

/// Whether this is the process of a test that has a machine of its own: a network without any way out, where public
/// addresses can be had. The first call starts that process, and fails where it does.
fn is_elsewhere(test: &str) -> bool {
    if std::env::var_os(ELSEWHERE).is_some() {
        return true;
    }
    let mut command = again("unshare", &["--user", "--map-root-user", "--net"], test);
    let status = command.env(ELSEWHERE, "1").stdin(Stdio::null()).status().expect("`unshare` starts");
    assert!(status.success(), "{test} elsewhere: {status}");
    false
}

/// Gives this machine an address.
fn move_to(address: &str) {
    let literal: IpAddr = address.parse().unwrap();
    drop(open_in_namespace(&[], &[literal]).unwrap());
}

#[test]
fn a_private_address_is_there_inside_and_reached() {
    if !is_elsewhere("literals::a_private_address_is_there_inside_and_reached") {
        return;
    }
    move_to("10.77.77.77");
    let server = echo_at("10.77.77.77:8080");
    let lines = [json!(["tcp", "10.77.77.77", 8080, "x"]), json!(["tcp", "10.77.77.78", 8080, "x"])];
    let (inside, results) = run(&["10.77.77.77:8080"], &[], &lines);
    assert_eq!(results, [json!("x"), json!("ENETUNREACH")]);
    assert_eq!((inside.denied(), server.visits()), (vec![], 1));
}

#[test]
fn a_public_address_of_this_machine_is_not_reached_by_name() {
    if !is_elsewhere("literals::a_public_address_of_this_machine_is_not_reached_by_name") {
        return;
    }
    move_to("93.184.216.34");
    let server = echo_at("0.0.0.0:8080");
    let known = [("rebound.example.com", 8080, "93.184.216.34:8080".parse().unwrap())];
    let lines = [json!(["tcp", "rebound.example.com", 8080, "x"])];
    let (inside, results) = run(&["rebound.example.com:8080"], &known, &lines);
    assert_eq!(results, [json!("ECONNRESET")]);
    let suggestion = Some("network.outbound: \"93.184.216.34:8080\"".to_owned());
    assert_eq!(inside.denied(), [("rebound.example.com:8080".to_owned(), suggestion)]);
    let (_, results) = run(&["rebound.example.com:8080", "93.184.216.34:8080"], &known, &lines);
    assert_eq!(results, [json!("x")], "the control");
    assert!(server.visits() >= 1);
}

#[test]
fn every_host_is_every_public_one() {
    if !is_elsewhere("literals::every_host_is_every_public_one") {
        return;
    }
    move_to("10.77.77.77");
    let server = echo_at("0.0.0.0:8080");
    let known = [("any.example.org", 8080, "10.77.77.77:8080".parse().unwrap())];
    let lines = [
        json!(["tcp", "1.0.0.1", 8080, "x"]),
        json!(["tcp", "8.8.8.8", 8080, "x"]),
        json!(["tcp", "200.1.2.3", 8080, "x"]),
        json!(["tcp", "10.77.77.77", 8080, "x"]),
        json!(["tcp", "127.0.0.1", 8080, "x"]),
        json!(["tcp", "localhost", 8080, "x"]),
        json!(["tcp", "169.254.169.254", 80, "x"]),
        json!(["tcp", "any.example.org", 8080, "x"]),
        json!(["tcp", "8.8.8.8", 443, "x"]),
    ];
    let (inside, results) = run(&["*:8080"], &known, &lines);
    assert_eq!(results, vec![json!("ECONNRESET"); lines.len()]);
    assert_eq!(server.visits(), 0);
    // The public ones were granted; this machine has no way there.
    let unreachable = |refusal: &ConnectionRefusal| matches!(refusal.reason, RefusalReason::Unreachable(_));
    let tried: Vec<String> =
        inside.gateway.refusals().into_iter().filter(unreachable).map(|refusal| refusal.target).collect();
    assert_eq!(tried, ["1.0.0.1:8080", "8.8.8.8:8080", "200.1.2.3:8080"]);
    let denied: Vec<String> = inside.denied().into_iter().map(|(target, _)| target).collect();
    let expected = ["10.77.77.77:8080", "127.0.0.1:8080", "169.254.169.254:80", "any.example.org:8080", "8.8.8.8:443"];
    assert_eq!(denied, expected);
}

#[test]
fn what_a_declaration_needs_is_worked_out() {
    let rules: Vec<HostRule> = ["localhost:8080", "api.example.com", "[fd00::8]:9"]
        .iter()
        .map(|text| HostRule::parse(text).unwrap())
        .collect();
    let needs = GatewayNeeds::from_rules(&rules);
    assert_eq!(needs.ports, [9, 80, 443, 8080]);
    let literals: Vec<String> = needs.literals.iter().map(IpAddr::to_string).collect();
    assert_eq!(literals, ["127.0.0.1", "::1", "fd00::8"]);
    let many: Vec<u16> = (1..=65).collect();
    assert!(open_in_namespace(&many, &[]).is_err(), "before anything is changed");
}
