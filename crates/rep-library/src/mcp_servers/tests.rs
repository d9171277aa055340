use super::*;

fn parse_text(text: &str, origin: &ServerOrigin) -> DeclarationResult<Vec<ServerDeclaration>> {
    parse_servers(&yaml::parse(text, 0).root.unwrap(), origin)
}

fn refuse(text: &str, origin: &ServerOrigin) -> String {
    parse_text(text, origin).expect_err(text).message
}

#[test]
fn an_entry_has_the_shape_of_other_hosts() {
    let servers = parse_text(
        "files:\n  command: files-server\n  args: [--root, .]\n  env: {TOKEN: '${TOKEN}'}\n  timeout: 5\n  \
         permissions: {filesystem: {read: ['docs/**']}, processes: {allow_subprocess: true}}\n\
         web: {type: http, url: 'https://example.org/mcp', headers: {Authorization: 'Bearer ${KEY}'}}\n",
        &ServerOrigin::Project,
    )
    .unwrap();
    let [files, web] = &servers[..] else { panic!("{servers:?}") };
    assert_eq!((files.transport_name(), web.transport_name()), ("stdio", "http"));
    assert_eq!((files.timeout_s, files.permissions.read.len(), files.permissions.allow_subprocess), (Some(5), 1, true));
    assert!(files.is_sandboxed && !files.is_trusted);
    assert_eq!(files.texts(), ["files-server", "--root", ".", "${TOKEN}"]);
}

#[test]
fn only_the_user_lifts_the_sandbox_or_trusts_a_server() {
    for key in ["sandbox: false", "trust: true", "readable: [/opt/x]"] {
        let text = format!("a: {{command: b, {key}}}");
        assert!(parse_text(&text, &ServerOrigin::User).is_ok(), "{text}");
        for origin in [ServerOrigin::Project, ServerOrigin::Skill("s".to_owned())] {
            assert!(refuse(&text, &origin).contains("only you can set"), "{text}");
        }
    }
}

#[test]
fn a_path_to_a_program_depends_on_who_writes_it() {
    let (user, project, skill) = (ServerOrigin::User, ServerOrigin::Project, ServerOrigin::Skill("s".to_owned()));
    for (command, origins) in [
        ("python3", vec![&user, &project, &skill]),
        ("/opt/bin/server", vec![&user]),
        ("${HOME}/bin/server", vec![&user]),
        ("scripts/server.py", vec![&skill]),
        ("../server", vec![&skill]),
    ] {
        for origin in [&user, &project, &skill] {
            let is_allowed = parse_text(&format!("a: {{command: '{command}'}}"), origin).is_ok();
            assert_eq!(is_allowed, origins.contains(&origin), "{command} {origin:?}");
        }
    }
}

#[test]
fn an_invalid_entry_is_an_error() {
    for (text, expected) in [
        ("a: {}", "no way to be reached"),
        ("a: {command: b, url: 'https://c'}", "no way to be reached"),
        ("a: {command: b, headers: {}}", "has no `headers`"),
        ("a: {url: 'https://c', args: []}", "has no `args`"),
        ("a: {type: sse, url: 'https://c'}", "has replaced"),
        ("a: {type: carrier-pigeon}", "unknown type"),
        ("a: {url: 'ftp://c'}", "not an address of HTTP"),
        ("a: {command: b, comand: c}", "unknown setting `comand`"),
        ("a: {command: b, args: c}", "not a list"),
        ("a: {command: b, timeout: 0}", "not a number of seconds"),
        ("a: {command: b, sandbox: maybe}", "not a boolean"),
        ("a: {command: b, readable: [x]}", "not an absolute path"),
        ("a: {command: b, permissions: {filesystem: {execute: []}}}", "unknown permission"),
        ("a: {command: b, permissions: {filesystem: {read: ['../x']}}}", "not valid"),
        ("a: {command: b, env: {X: [1]}}", "not one line of text"),
        ("'a:b': {command: c}", "cannot be the name"),
        ("a: {command: b}\na: {command: c}", "duplicate key"),
        ("[a]", "not a mapping"),
    ] {
        assert!(refuse(text, &ServerOrigin::User).contains(expected), "{text}: {}", refuse(text, &ServerOrigin::User));
    }
}

#[test]
fn a_requirement_names_a_server_or_one_of_its_tools() {
    let text =
        "---\nname: a\ndescription: b\nextensions:\n  requires_mcp: [files, 'search:find', ':x', 'x:', 7a/b]\n---\n";
    let tree = rep_model::SkillTree::from_texts("a", &[("SKILL.md", text)]);
    let (skill, _) = rep_model::Skill::parse(tree);
    let found = list_required_servers(skill.frontmatter().unwrap());
    let shown: Vec<(&str, Option<&str>)> = found.iter().map(|one| (one.server.as_str(), one.tool.as_deref())).collect();
    assert_eq!(shown, [("files", None), ("search", Some("find"))]);
    assert!(found[0].covers("files", "any") && found[1].covers("search", "find") && !found[1].covers("search", "drop"));
}
