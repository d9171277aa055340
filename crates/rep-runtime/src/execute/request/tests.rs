//! What only a resolver of our own can show: names that lead where they may not.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use rep_permissions::resolver::Resolver;

fn opened(rules: &[&str], url: &str, found: &[SocketAddr]) -> (Result<Answer, Trouble>, usize) {
    let rules: Vec<HostRule> = rules.iter().map(|rule| HostRule::parse(rule).unwrap()).collect();
    let asked = Arc::new(AtomicUsize::new(0));
    let (count, found) = (asked.clone(), found.to_vec());
    let resolver = Resolver::new(move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(found.clone())
    });
    let exchange = Exchange::new(&rules, resolver, 1 << 20, Instant::now() + Duration::from_secs(20));
    let sent = Sent {
        method: rep_uasp::request::Method::Post,
        url: url.to_owned(),
        headers: Vec::new(),
        body: None,
        has_secret_body: false,
        is_idempotent: false,
    };
    let (_stop, stopped) = channel();
    (exchange.run(sent, &stopped), asked.load(Ordering::SeqCst))
}

#[test]
fn a_name_that_leads_to_this_machine_or_its_neighbours_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("http://api.example.org:{port}/");
    let rule = format!("api.example.org:{port}");
    for address in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "192.168.1.1", "0.0.0.0"] {
        let found = SocketAddr::new(address.parse().unwrap(), port);
        let (ended, asked) = opened(&[&rule, "*"], &url, &[found]);
        let trouble = ended.err().unwrap();
        assert_eq!((trouble.error.code.as_str(), asked), ("PERMISSION_DENIED", 1), "{address}");
        assert!(trouble.error.message.contains("not public") && trouble.is_unsent, "{}", trouble.error.message);
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nobody knocked");
}

#[test]
fn a_host_that_is_not_declared_is_not_even_looked_up() {
    let (ended, asked) = opened(&["api.example.org"], "http://other.example.org/", &[]);
    let trouble = ended.err().unwrap();
    assert_eq!((trouble.error.code.as_str(), asked), ("PERMISSION_DENIED", 0));
    assert_eq!(trouble.denial.unwrap().target, "other.example.org:80");
    let (ended, asked) = opened(&["api.example.org:443"], "http://api.example.org/", &[]);
    assert_eq!((ended.err().unwrap().error.code.as_str(), asked), ("PERMISSION_DENIED", 0), "another port");
    let (ended, _) = opened(&["*"], "http://127.0.0.1/", &[]);
    assert_eq!(ended.err().unwrap().error.code, "PERMISSION_DENIED", "every host is every public one");
    let (ended, _) = opened(&["api.example.org"], "http://api.example.org/", &[]);
    assert_eq!(ended.err().unwrap().error.code, "CONNECTION_FAILED");
}

#[test]
fn this_machine_is_reached_by_its_name_only_where_that_is_declared() {
    let found = ["127.0.0.1:80".parse().unwrap()];
    let (ended, _) = opened(&["*"], "http://localhost/", &found);
    assert_eq!(ended.err().unwrap().error.code, "PERMISSION_DENIED");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (ended, asked) = opened(&[&format!("localhost:{port}")], &format!("http://localhost:{port}/"), &[]);
    assert_eq!(
        (ended.err().unwrap().error.code.as_str(), asked),
        ("CONNECTION_FAILED", 0),
        "nobody is asked who that is"
    );
}
