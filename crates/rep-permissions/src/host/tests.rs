use super::*;

fn parse_rule(text: &str) -> HostRule {
    HostRule::parse(text).unwrap_or_else(|bad| panic!("{text}: {bad}"))
}

#[test]
fn a_host_is_read_into_one_form() {
    for (text, host, port) in [
        ("api.example.com", "api.example.com", None),
        ("API.Example.COM.", "api.example.com", None),
        ("api.example.com:8443", "api.example.com", Some(8443)),
        ("api.example.com.:8443", "api.example.com", Some(8443)),
        ("*.foo.dev:443", "*.foo.dev", Some(443)),
        ("*", "*", None),
        ("*:8443", "*", Some(8443)),
        ("https://api.example.com/", "api.example.com", Some(443)),
        ("http://api.example.com", "api.example.com", Some(80)),
        ("HTTPS://api.example.com:8443/", "api.example.com", Some(8443)),
        ("https://[2001:4860::8]/", "2001:4860::8", Some(443)),
        ("127.0.0.1:11434", "127.0.0.1", Some(11434)),
        ("10.0.0.5", "10.0.0.5", None),
        ("[::1]:80", "::1", Some(80)),
        ("::1", "::1", None),
        ("[0:0:0:0:0:0:0:1]", "::1", None),
        ("localhost:8080", "localhost", Some(8080)),
        ("xn--bcher-kva.example", "xn--bcher-kva.example", None),
        ("intranet", "intranet", None),
        ("wss://api.example.com", "api.example.com", Some(443)),
        ("ws://api.example.com/", "api.example.com", Some(80)),
        ("api.example.com:65535", "api.example.com", Some(65535)),
        ("[2001:4860::8]", "2001:4860::8", None),
        ("198.17.255.255", "198.17.255.255", None),
        ("198.20.0.0", "198.20.0.0", None),
        ("223.255.255.255", "223.255.255.255", None),
        ("1.example", "1.example", None),
        ("a.0xyz", "a.0xyz", None),
    ] {
        assert_eq!(parse_rule(text), HostRule { host: host.to_owned(), port }, "{text}");
        assert_eq!(
            HostRule::parse(&parse_rule(text).to_string()),
            Ok(parse_rule(text)),
            "{text} formatted and parsed again"
        );
    }
}

#[test]
fn what_is_no_host_is_refused_with_its_reason() {
    let long_label = format!("{}.example.com", "a".repeat(64));
    let long_name = format!("{}com", "abcdefghi.".repeat(26));
    for (text, bad) in [
        ("", HostRuleError::Empty),
        ("bücher.example", HostRuleError::NotAscii),
        ("api.example.com\u{3002}", HostRuleError::NotAscii),
        ("evil.com\0.example.com", HostRuleError::NotAName),
        ("evil.com%00.example.com", HostRuleError::NotAName),
        ("a_b.example.com", HostRuleError::NotAName),
        ("a b.example.com", HostRuleError::NotAName),
        ("api.example.com\n", HostRuleError::NotAName),
        (" api.example.com", HostRuleError::NotAName),
        ("-a.example.com", HostRuleError::NotAName),
        ("a-.example.com", HostRuleError::NotAName),
        ("a..example.com", HostRuleError::NotAName),
        (".example.com", HostRuleError::NotAName),
        ("example.com..", HostRuleError::NotAName),
        (".", HostRuleError::NotAName),
        (&long_label, HostRuleError::NotAName),
        (&long_name, HostRuleError::NotAName),
        ("api.example.com:", HostRuleError::Port),
        ("api.example.com:0", HostRuleError::Port),
        ("api.example.com:65536", HostRuleError::Port),
        ("api.example.com:+443", HostRuleError::Port),
        ("api.example.com:https", HostRuleError::Port),
        ("a:b:c", HostRuleError::Port),
        (":443", HostRuleError::NotAName),
        ("https://api.example.com/v1", HostRuleError::MoreThanAHost),
        ("api.example.com/", HostRuleError::MoreThanAHost),
        ("https://user@api.example.com/", HostRuleError::MoreThanAHost),
        ("https://api.example.com\\@evil.com/", HostRuleError::MoreThanAHost),
        ("https://api.example.com?x", HostRuleError::MoreThanAHost),
        ("ftp://api.example.com/", HostRuleError::Scheme),
        ("0.0.0.0/0", HostRuleError::Network),
        ("10.0.0.0/8", HostRuleError::Network),
        ("::/0", HostRuleError::Network),
        ("[::]/0", HostRuleError::Network),
        ("example.com/8", HostRuleError::MoreThanAHost),
        ("10.0.0.0/", HostRuleError::MoreThanAHost),
        ("10.0.0.0/8x", HostRuleError::MoreThanAHost),
        ("127.1", HostRuleError::OddAddress),
        ("a.1", HostRuleError::OddAddress),
        ("a.0x1F", HostRuleError::NotAName),
        ("a.0Xff", HostRuleError::NotAName),
        ("a.0x", HostRuleError::NotAName),
        ("[::1]x", HostRuleError::OddAddress),
        ("[::1]:", HostRuleError::Port),
        ("198.19.255.255", HostRuleError::NoHostAddress),
        ("0.255.255.255", HostRuleError::NoHostAddress),
        ("[ff02::1]", HostRuleError::NoHostAddress),
        ("2130706433", HostRuleError::OddAddress),
        ("0177.0.0.1", HostRuleError::OddAddress),
        ("0x7f.0x1", HostRuleError::NotAName),
        ("[::ffff:127.0.0.1]:80", HostRuleError::OddAddress),
        ("[fe80::1%lo]:80", HostRuleError::OddAddress),
        ("[::1", HostRuleError::OddAddress),
        ("0.0.0.0", HostRuleError::NoHostAddress),
        ("224.0.0.1:80", HostRuleError::NoHostAddress),
        ("255.255.255.255", HostRuleError::NoHostAddress),
        ("198.18.0.1:443", HostRuleError::NoHostAddress),
        ("[::]:80", HostRuleError::NoHostAddress),
        ("**", HostRuleError::Star),
        ("a*.example.com", HostRuleError::Star),
        ("*.*.example.com", HostRuleError::Star),
        ("*.com", HostRuleError::TopLevel),
        ("*.", HostRuleError::NotAName),
    ] {
        assert_eq!(HostRule::parse(text), Err(bad), "{text:?}");
    }
}

#[test]
fn only_whole_labels_fit() {
    for (declared, host, port, expected) in [
        ("api.example.com:443", "api.example.com", 443, true),
        ("api.example.com:443", "API.EXAMPLE.COM", 443, true),
        ("api.example.com:443", "api.example.com.", 443, true),
        ("api.example.com:443", "api.example.com..", 443, false),
        ("api.example.com:443", "api.example.com", 80, false),
        ("api.example.com:443", "api.example.com.evil.com", 443, false),
        ("api.example.com:443", "evil.com\0.api.example.com", 443, false),
        ("api.example.com", "api.example.com", 443, true),
        ("api.example.com", "api.example.com", 80, true),
        ("api.example.com", "api.example.com", 8080, false),
        ("*.foo.dev:443", "a.foo.dev", 443, true),
        ("*.foo.dev:443", "b.a.foo.dev", 443, true),
        ("*.foo.dev:443", "foo.dev", 443, false),
        ("*.foo.dev:443", ".foo.dev", 443, false),
        ("*.foo.dev:443", "evilfoo.dev", 443, false),
        ("*.foo.dev:443", "evil.com\0.foo.dev", 443, false),
        ("127.0.0.1:80", "127.0.0.1", 80, true),
        ("127.0.0.1:80", "localhost", 80, false),
        ("localhost:80", "127.0.0.1", 80, false),
        ("localhost:80", "localhost", 80, true),
        ("[::1]:80", "::1", 80, true),
        ("[::1]:80", "::ffff:127.0.0.1", 80, false),
        ("*", "any.example.com", 443, true),
        ("*", "any.example.com", 25, false),
        ("*", "1.1.1.1", 443, true),
        ("*", "127.0.0.1", 443, false),
        ("*", "10.0.0.1", 443, false),
        ("*", "169.254.169.254", 80, false),
        ("*", "2130706433", 443, false),
    ] {
        assert_eq!(parse_rule(declared).matches(host, port), expected, "{declared} and {host}:{port}");
    }
}

#[test]
fn names_may_be_as_long_as_names_are() {
    let name = |length: usize| {
        let name = format!("{}.{}", vec!["a".repeat(49); 4].join("."), "b".repeat(length - 200));
        assert_eq!(name.len(), length);
        name
    };
    assert_eq!(parse_rule(&name(253)).host, name(253));
    assert_eq!(HostRule::parse(&name(254)), Err(HostRuleError::NotAName));
    assert_eq!((canonicalise_host_name(&name(253)), canonicalise_host_name(&name(254))), (Some(name(253)), None));
    assert_eq!(parse_rule(&format!("{}.", name(253))).host, name(253), "the trailing dot does not count");
    assert_eq!(parse_rule(&format!("*.{}", name(251))).host.len(), 253);
    assert_eq!(
        HostRule::parse(&format!("*.{}", name(252))),
        Err(HostRuleError::NotAName),
        "every name below it is too long"
    );
    let label = "a".repeat(63);
    assert_eq!(parse_rule(&format!("{label}.example")).host, format!("{label}.example"));
}

#[test]
fn the_canonical_form_is_that_of_a_name_and_of_no_address() {
    for (text, expected) in [
        ("Api.Example.COM.", Some("api.example.com")),
        ("a", Some("a")),
        ("1a", Some("1a")),
        ("1.2.3.4.example", Some("1.2.3.4.example")),
        ("0x7f.example", Some("0x7f.example")),
        ("127.0.0.1", None),
        ("2130706433", None),
        ("0x7f", None),
        ("0X7F", None),
        ("a.0xg", Some("a.0xg")),
        ("", None),
        (".", None),
        ("a..", None),
        ("-a", None),
        ("a-", None),
        ("a-b", Some("a-b")),
        ("a_b", None),
    ] {
        assert_eq!(canonicalise_host_name(text).as_deref(), expected, "{text:?}");
    }
}
