//! Tests that need their own resolver: names that resolve to forbidden addresses.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::*;
use crate::exchange::HttpExchange;
use rep_permissions::resolver::HostResolver;

fn send_with_resolver(rules: &[&str], url: &str, found: &[SocketAddr]) -> (Result<HttpResponse, NetError>, usize) {
    let rules: Vec<HostRule> = rules.iter().map(|rule| HostRule::parse(rule).unwrap()).collect();
    let asked = Arc::new(AtomicUsize::new(0));
    let (count, found) = (asked.clone(), found.to_vec());
    let resolver = HostResolver::new(move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(found.clone())
    });
    let exchange = HttpExchange::new(&rules, resolver, 1 << 20, Instant::now() + Duration::from_secs(20));
    let sent = OutgoingRequest { method: HttpMethod::Post, is_idempotent: false, ..OutgoingRequest::get(url) };
    let (_stop, stopped) = channel();
    (exchange.send_and_follow(sent, &stopped), asked.load(Ordering::SeqCst))
}

#[test]
fn a_name_that_leads_to_this_machine_or_its_neighbours_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("http://api.example.org:{port}/");
    let rule = format!("api.example.org:{port}");
    for address in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "192.168.1.1", "0.0.0.0"] {
        let found = SocketAddr::new(address.parse().unwrap(), port);
        let (ended, asked) = send_with_resolver(&[&rule, "*"], &url, &[found]);
        let failure = ended.err().unwrap();
        assert_eq!((failure.code.as_str(), asked), ("PERMISSION_DENIED", 1), "{address}");
        assert!(failure.message.contains("not public") && failure.is_unsent, "{}", failure.message);
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "no connection was made");
}

#[test]
fn a_host_that_is_not_declared_is_not_even_looked_up() {
    let (ended, asked) = send_with_resolver(&["api.example.org"], "http://other.example.org/", &[]);
    let failure = ended.err().unwrap();
    assert_eq!((failure.code.as_str(), asked), ("PERMISSION_DENIED", 0));
    assert_eq!(failure.denied.unwrap().target, "other.example.org:80");
    let (ended, asked) = send_with_resolver(&["api.example.org:443"], "http://api.example.org/", &[]);
    assert_eq!((ended.err().unwrap().code.as_str(), asked), ("PERMISSION_DENIED", 0), "another port");
    let (ended, _) = send_with_resolver(&["*"], "http://127.0.0.1/", &[]);
    assert_eq!(ended.err().unwrap().code, NetErrorCode::PermissionDenied, "`*` means every public host");
    let (ended, _) = send_with_resolver(&["api.example.org"], "http://api.example.org/", &[]);
    assert_eq!(ended.err().unwrap().code, NetErrorCode::ConnectionFailed);
}

#[test]
fn this_machine_is_reached_by_its_name_only_where_that_is_declared() {
    let found = ["127.0.0.1:80".parse().unwrap()];
    let (ended, _) = send_with_resolver(&["*"], "http://localhost/", &found);
    assert_eq!(ended.err().unwrap().code, NetErrorCode::PermissionDenied);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (ended, asked) = send_with_resolver(&[&format!("localhost:{port}")], &format!("http://localhost:{port}/"), &[]);
    assert_eq!((ended.err().unwrap().code.as_str(), asked), ("CONNECTION_FAILED", 0), "`localhost` is not looked up");
}
