//! What is declared works, with clients that were never told of a gateway.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::inside::{not_proved, run, script, start, steps};
use crate::servers::{echo, http, https, late};

fn has_node() -> bool {
    let is_there = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        not_proved("node is missing, so `fetch` was not tried");
    }
    is_there
}

#[test]
fn clients_that_know_no_proxy_reach_declared_hosts() {
    let Some(secure) = https() else { return };
    let plain = http();
    let declared = ["api.example.com:443", "*.foo.dev:443", "plain.example.com:80"];
    let at_home = [secure.address.to_string(), plain.declared()];
    let declared: Vec<&str> = declared.into_iter().chain(at_home.iter().map(String::as_str)).collect();
    let known = [
        ("api.example.com", 443, secure.address),
        ("a.foo.dev", 443, secure.address),
        ("b.a.foo.dev", 443, secure.address),
        ("plain.example.com", 80, plain.address),
    ];
    let urls = ["https://api.example.com/", "https://a.foo.dev/", "http://plain.example.com/"];

    let lines: Vec<_> = urls.iter().map(|url| json!(["get", url])).collect();
    let client = script(&lines, &secure.certificate);
    let [sh, option, line] = client.program();
    let mut inside = start(&declared, &known, &[&sh, &option, &line]);
    let expected = [json!([200, "secure"]), json!([200, "secure"]), json!([200, "plain"])];
    assert_eq!(steps(&mut inside), expected, "urllib");
    assert_eq!(inside.denied(), []);

    let certificate = secure.certificate.to_str().unwrap();
    let curl = ["curl", "--silent", "--show-error", "--max-time", "20", "--cacert", certificate];
    let mut inside = start(&declared, &known, &[&curl[..], &urls].concat());
    assert_eq!(inside.finish(), "securesecureplain", "curl");

    if has_node() {
        let fetch = "for (const url of process.argv.slice(1)) {
            const answer = await fetch(url); process.stdout.write(answer.status + await answer.text() + ' '); }";
        let line = format!("NODE_EXTRA_CA_CERTS={certificate} exec node --input-type=module -e \"$0\" \"$@\"");
        let mut inside = start(&declared, &known, &[&["sh", "-c", &line, fetch][..], &urls].concat());
        assert_eq!(inside.finish(), "200secure 200secure 200plain ", "node");
    }
}

#[test]
fn case_and_a_dot_at_the_end_change_nothing() {
    let Some(secure) = https() else { return };
    let at_home = secure.address.to_string();
    let lines = [
        json!(["tls", "API.EXAMPLE.COM", 443, "api.example.com"]),
        json!(["tls", "api.example.com.", 443, "api.example.com"]),
        json!(["tls", "api.example.com", 443, "API.example.COM"]),
    ];
    let client = script(&lines, &secure.certificate);
    let [sh, option, line] = client.program();
    let known = [("api.example.com", 443, secure.address)];
    let mut inside = start(&["API.Example.com.:443", &at_home], &known, &[&sh, &option, &line]);
    assert_eq!(steps(&mut inside), [json!("HTTP/1.0 200 OK"), json!("HTTP/1.0 200 OK"), json!("HTTP/1.0 200 OK")]);
    assert!(inside.asked.names().iter().all(|name| name == "api.example.com"), "{:?}", inside.asked.names());
}

#[test]
fn bytes_arrive_whole_in_both_directions_at_once() {
    let server = echo();
    let known = [("bulk.example.com", 8080, server.address)];
    let size = 48 << 20;
    let (_, results) = run(
        &["bulk.example.com:8080", &server.declared()],
        &known,
        &[json!(["bulk", "bulk.example.com", 8080, size]), json!(["bulk", "bulk.example.com", 8080, 0])],
    );
    assert_eq!(results, [json!([size, true]), json!([0, true])]);
}

#[test]
fn one_side_may_finish_while_the_other_goes_on() {
    let server = late();
    let known = [("late.example.com", 8080, server.address)];
    let declared = ["late.example.com:8080", &server.declared()];
    let (_, results) = run(&declared, &known, &[json!(["tcp", "late.example.com", 8080, "12345"])]);
    assert_eq!(results, [json!("got 5 bytes")]);
}

#[test]
fn two_runs_see_nothing_of_each_other() {
    let (one, two) = (echo(), echo());
    let lines = [
        json!(["tcp", "one.example.com", 8080, "hello"]),
        json!(["tcp", "two.example.com", 8080, "hello"]),
        // The stand-in of the other's name, whatever that is.
        json!(["resolve", "one.example.com"]),
        json!(["resolve", "two.example.com"]),
    ];
    let first = script(&lines, Path::new("/nonexistent"));
    let [sh, option, line] = first.program();
    let known = [("one.example.com", 8080, one.address), ("two.example.com", 8080, two.address)];
    let mut a = start(&["one.example.com:8080", &one.declared()], &known, &[&sh, &option, &line]);
    let mut b = start(&["two.example.com:8080", &two.declared()], &known, &[&sh, &option, &line]);
    let (of_a, of_b) = (steps(&mut a), steps(&mut b));
    assert_eq!(of_a, [json!("hello"), json!("no such name"), json!(["198.18.0.2"]), json!("no such name")]);
    assert_eq!(of_b, [json!("no such name"), json!("hello"), json!("no such name"), json!(["198.18.0.2"])]);
    assert_eq!((a.asked.names(), b.asked.names()), (vec!["one.example.com".into()], vec!["two.example.com".into()]));
    assert_eq!((one.visits(), two.visits()), (1, 1));
}
