//! The page and the operator's endpoints, over plain HTTP: what is shown, to whom, and what is refused.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use rep_test_support::{DEADLINE, ScratchFolder};
use serde_json::{Value, json};

use super::run;
use super::serve::{PATH, Server, library, start};
use super::serve_http::{Answer, ask_new, listening, request};
use super::serve_runs::{RUN, tools};

pub(super) fn get(address: &str, path: &str) -> Answer {
    request(address, "GET", path, &[("Accept", "text/html")], "")
}

pub(super) fn post(address: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut all = vec![("Content-Type", "application/x-www-form-urlencoded")];
    all.extend_from_slice(headers);
    request(address, "POST", path, &all, body)
}

/// A skill of somebody who wants to be markup.
pub(super) fn hostile(scratch: &ScratchFolder) {
    let text = "---\nname: \"<script>document.title='owned'</script>\"\ndescription: \"Evil. \\\"><img src=x onerror=alert(1)> Use when testing. \\u202egnp\"\nlicense: \"<b>free</b>\"\n---\n\n# <script>alert(1)</script>\n\n<script>document.title='owned'</script>\n\n[x](javascript:alert(1)) <img src=x onerror=alert(2)>\n";
    scratch.write_file("skills/hostile/SKILL.md", text);
    scratch.write_file("skills/hostile/references/<i>.md", "<script>x</script>");
}

#[test]
fn the_library_and_every_skill_have_a_page() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    let page = get(&address, "/");
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.body.len() < 100_000, "{}", page.body.len());
    assert!(page.body.contains("/skill?name=pdf"), "{}", page.body);
    let policy = page.header("content-security-policy").expect("every page has a policy");
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(!page.body.contains(" style=") && !page.body.contains(" onclick="));
    let asset = page.body.split("href=\"").find(|part| part.starts_with("/assets/style-")).expect("there is a style");
    let style = get(&address, asset.split('"').next().expect("there is a style"));
    assert!(style.status == 200 && style.header("cache-control").is_some_and(|rule| rule.contains("immutable")));
    let skill = get(&address, "/skill?name=pdf");
    assert!(skill.body.contains("<h1><bdi>pdf</bdi></h1>") && skill.body.contains("Fill the form."), "{}", skill.body);
    for part in ["Cost", "Permissions", "Provenance", "Files", "references/forms.md"] {
        assert!(skill.body.contains(part), "{part}");
    }
    let file = get(&address, "/skill?name=pdf&file=references/forms.md");
    assert!(file.body.contains("# Forms"), "{}", file.body);
    for astray in ["../../other/SKILL.md", "/etc/passwd", "node_modules/x/index.js", "nothing.md"] {
        assert_eq!(get(&address, &format!("/skill?name=pdf&file={astray}")).status, 404, "{astray}");
    }
    assert_eq!(get(&address, "/skill?name=nobody").status, 404);
    for page in ["/try", "/costs", "/graph", "/runs", "/tasks", "/audit", "/audit?calls=1"] {
        let answer = get(&address, page);
        assert_eq!((answer.status, answer.body.matches("<h1").count()), (200, 1), "{page}");
    }
}

#[test]
fn a_search_is_a_plain_form_and_answers_a_part_alone() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    let page = get(&address, "/?q=fill+in+forms");
    assert!(page.body.contains("value=\"fill in forms\"") && page.body.contains("/skill?name=pdf"), "{}", page.body);
    let part = get(&address, "/?q=pdf&part=1");
    assert!(!part.body.contains("<html") && part.body.contains("/skill?name=pdf"), "{}", part.body);
    let none = get(&address, "/?q=zzzzqqq&part=1");
    assert!(none.body.contains("No results for"), "{}", none.body);
    let other = get(&address, "/?scope=managed&part=1");
    assert!(!other.body.contains("/skill?name=pdf"), "{}", other.body);
}

#[test]
fn who_has_no_skills_yet_is_told_how_to_get_some() {
    let scratch = ScratchFolder::new();
    let (_server, address) = listening(&scratch, &[]);
    assert!(get(&address, "/").body.contains("rep install SOURCE"));
    for page in ["/try", "/costs", "/graph", "/runs", "/tasks", "/audit"] {
        assert_eq!(get(&address, page).status, 200, "{page}");
    }
    assert!(get(&address, "/audit").body.contains("No runs yet"));
    assert!(get(&address, "/audit?skill=x").body.contains("No matching runs"));
}

#[test]
fn what_skills_say_is_never_markup() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    hostile(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    let name = "%3Cscript%3Edocument.title%3D%27owned%27%3C%2Fscript%3E";
    for path in [
        "/",
        "/?q=evil",
        "/costs",
        "/graph",
        "/try?panel=search&text=evil",
        "/try?panel=query&text=%3Cscript%3Ealert(1)",
        &format!("/skill?name={name}"),
    ] {
        let page = get(&address, path);
        assert_eq!(page.status, 200, "{path}");
        let markup = page.body.replace("<script src=\"/assets/", "");
        for piece in ["<script", "<img", "<b>free", "<i>.md", "javascript:", "\u{202e}"] {
            assert!(!markup.to_lowercase().contains(&format!("\"{piece}")), "{piece} in {path}");
            assert!(piece == "javascript:" || !markup.contains(piece), "{piece} in {path}: {markup}");
        }
    }
    let page = get(&address, &format!("/skill?name={name}"));
    assert!(page.body.contains("<code>&lt;script&gt;document.title="), "{}", page.body);
}

#[test]
fn what_is_not_trusted_is_named_and_not_shown() {
    let scratch = ScratchFolder::new();
    scratch.write_file(".git/HEAD", "ref: x");
    scratch.write_file(
        ".claude/skills/secret-plan/SKILL.md",
        "---\nname: secret-plan\ndescription: Whispers. Use never.\n---\n\n# Plan\n\nThe hidden words.\n",
    );
    let (_server, address) = listening(&scratch, &[]);
    for path in ["/", "/skill?name=secret-plan"] {
        let page = get(&address, path);
        assert!(page.body.contains("secret-plan") && page.body.contains("untrusted"), "{}", page.body);
        assert!(!page.body.contains("hidden words") && !page.body.contains("Whispers"), "{}", page.body);
    }
    assert_eq!(get(&address, "/skill?name=secret-plan&file=SKILL.md").status, 404);
    let index = get(&address, "/.well-known/agent-skills/index.json");
    assert!(!index.body.contains("secret-plan"), "{}", index.body);
}

#[test]
fn forms_of_other_pages_change_nothing() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &["--path", "skills", "--allow-run"]);
    let (own, near) = (format!("http://{address}"), "http://localhost:9");
    for path in ["/run", "/answer", "/cancel", "/sign-out"] {
        for (headers, body) in [
            (vec![], "tool=x"),
            (vec![("Origin", own.as_str())], "key=0000&tool=x"),
            (vec![("Origin", near)], "tool=x"),
            (vec![("Origin", "https://evil.example")], "tool=x"),
        ] {
            assert_eq!(post(&address, path, &headers, body).status, 403, "{path} {headers:?} {body}");
        }
    }
    assert_eq!(request(&address, "GET", "/cancel", &[], "").status, 405);
    for headers in [[("Host", "evil.example")], [("Origin", "https://evil.example")]] {
        assert_eq!(request(&address, "GET", "/", &headers, "").status, 403, "{headers:?}");
    }
}

#[test]
fn a_tool_that_clients_are_not_offered_is_named_with_the_reason() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let odd = "---\nname: odd\ndescription: Is odd. Use when testing.\nspec_version: \"2.1\"\nversion: 1.0.0\ntools:\n  - name: list\n    description: Takes a list.\n    input_schema: {type: array}\n    implementation: {runtime: bash, entrypoint: scripts/x.sh}\n---\n\n# Odd\n";
    scratch.write_file("skills/odd/SKILL.md", odd);
    let arguments = ["--http", "127.0.0.1:0", "--path", "skills", "--allow-run", "--no-token"];
    let mut child = start(&scratch, &arguments).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let _server = Server { child };
    let mut address = None;
    let mut warning = None;
    while address.is_none() || warning.is_none() {
        let line = lines.next().expect("the server is there");
        if let Some((_, rest)) = line.split_once("listening on http://") {
            address = Some(rest.trim_end_matches("/mcp").to_owned());
        }
        if line.contains("odd:list") {
            warning = Some(line);
        }
    }
    let warning = warning.unwrap();
    assert!(warning.contains("not available") && warning.contains("object schema"), "{warning}");
    for path in ["/", "/skill?name=odd"] {
        let page = get(address.as_deref().unwrap(), path).body;
        assert!(page.contains("object schema"), "{path}: {page}");
    }
}

#[test]
fn what_cannot_be_is_told_on_a_page_with_a_way_back() {
    let scratch = ScratchFolder::new();
    tools(&scratch);
    let (_server, address) = listening(&scratch, &RUN);
    let key = get(&address, "/skill?name=plain").key();
    let person = [("Accept", "text/html")];
    let lost = get(&address, "/nowhere");
    assert!(lost.status == 404 && lost.body.contains("This page does not exist") && lost.body.contains("href=\"/\""));
    let astray = get(&address, "/run");
    assert!(
        astray.status == 405 && astray.header("allow") == Some("POST") && astray.body.contains("<h1"),
        "{astray:?}"
    );
    let none = post(&address, "/cancel", &person, &format!("key={key}&task=none"));
    assert!(none.status == 404 && none.body.contains("This task does not exist"), "{none:?}");
    let foreign = post(&address, "/run", &person, "key=x&tool=plain__echo");
    assert!(
        foreign.status == 403 && foreign.body.contains("<h1") && !foreign.body.contains(" active of "),
        "{foreign:?}"
    );
    // What was written is not lost.
    for (input, wrong) in [("%7B%22a%22%3A+1", "not valid JSON"), ("%5B1%5D", "must be a JSON object")] {
        let again = post(&address, "/run", &person, &format!("key={key}&tool=plain__echo&input={input}"));
        assert!(again.status == 400 && again.body.contains(wrong), "{again:?}");
        let written = if input.starts_with("%7B") { "{&quot;a&quot;: 1</textarea>" } else { "[1]</textarea>" };
        assert!(again.body.contains(written) && again.body.contains(&key), "{again:?}");
    }
    // Programs are told in words.
    let plain = request(&address, "GET", "/nowhere", &[], "");
    assert!(plain.status == 404 && !plain.body.contains('<'), "{plain:?}");
}

#[test]
fn who_has_a_token_signs_in_once() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    scratch.write_file("tokens.txt", "first-token-of-ours-1\n");
    let (_server, address) = listening(&scratch, &["--path", "skills", "--token-file", "tokens.txt"]);
    let refused = get(&address, "/");
    assert_eq!((refused.status, refused.header("location")), (303, Some("/sign-in")), "{refused:?}");
    for path in ["/", "/metrics", "/events", "/.well-known/agent-skills/index.json"] {
        assert_eq!(request(&address, "GET", path, &[], "").status, 401, "{path}");
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(request(&address, "GET", path, &[("Host", "10.0.0.1")], "").status, 200, "{path}");
    }
    assert_eq!(request(&address, "GET", "/", &[("Authorization", "Bearer first-token-of-ours-1")], "").status, 200);
    let page = get(&address, "/sign-in");
    let key = page.key();
    assert_eq!(post(&address, "/sign-in", &[], "token=first-token-of-ours-1").status, 403);
    let wrong = post(&address, "/sign-in", &[], &format!("key={key}&token=nearly"));
    assert!(wrong.status == 401 && wrong.header("set-cookie").is_none(), "{wrong:?}");
    let done = post(&address, "/sign-in", &[], &format!("key={key}&token=first-token-of-ours-1"));
    let cookie = done.header("set-cookie").expect("there is a cookie").to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains("token-of"),
        "{cookie}"
    );
    let pair = cookie.split(';').next().expect("there is a cookie");
    let with = [("Cookie", pair), ("Accept", "text/html")];
    let home = request(&address, "GET", "/", &with, "");
    assert!(home.status == 200 && home.body.contains("Sign out"), "{home:?}");
    // A cookie is for people: the protocol takes tokens alone.
    assert_eq!(request(&address, "POST", "/mcp", &with, "{}").status, 401);
    // The key of one who is not signed in is none for who is.
    assert_eq!(post(&address, "/sign-out", &with, &format!("key={key}")).status, 403);
    assert_eq!(post(&address, "/sign-out", &with, &format!("key={}", home.key())).status, 303);
    assert_eq!(request(&address, "GET", "/", &with, "").status, 303);
}

/// What every answer tells browsers, whatever it is.
fn is_fenced(answer: &Answer) -> bool {
    let says = |name: &str, words: &str| answer.header(name).is_some_and(|value| value.starts_with(words));
    says("content-security-policy", "default-src 'none'")
        && says("x-content-type-options", "nosniff")
        && says("referrer-policy", "same-origin")
        && says("x-frame-options", "DENY")
}

#[test]
fn every_answer_is_fenced_in() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    scratch.write_file("tokens.txt", "first-token-of-ours-1\n");
    let (_server, address) = listening(&scratch, &["--path", "skills", "--token-file", "tokens.txt"]);
    let token = ("Authorization", "Bearer first-token-of-ours-1");
    let large = "x".repeat(5 << 20);
    for (status, method, path, headers, body) in [
        (200, "GET", "/", vec![token], ""),
        (200, "GET", "/healthz", vec![], ""),
        (200, "GET", "/readyz", vec![], ""),
        (200, "GET", "/metrics", vec![token], ""),
        (200, "GET", "/.well-known/agent-skills/index.json", vec![token], ""),
        (200, "GET", "/sign-in", vec![], ""),
        (303, "GET", "/", vec![("Accept", "text/html")], ""),
        (401, "GET", "/", vec![], ""),
        (401, "POST", "/mcp", vec![], "{}"),
        (403, "GET", "/", vec![("Host", "evil.example")], ""),
        (403, "POST", "/cancel", vec![token], "task=x"),
        (404, "GET", "/nowhere", vec![token], ""),
        (404, "GET", "/assets/none.css", vec![], ""),
        (404, "GET", "/skill?name=nobody", vec![token], ""),
        (405, "GET", "/cancel", vec![token], ""),
        (405, "PUT", "/mcp", vec![token], ""),
        (413, "POST", "/cancel", vec![token], &large),
    ] {
        let answer = request(&address, method, path, &headers, body);
        assert_eq!(answer.status, status, "{method} {path} {headers:?}");
        assert!(is_fenced(&answer), "{method} {path}: {answer:?}");
    }
    let said = ask_new(&address, "skills/list", json!({}), &[token]);
    assert!(said.status == 200 && is_fenced(&said), "{said:?}");
}

#[test]
fn a_flood_does_not_make_it_look_dead() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &["--path", "skills", "--rate", "1"]);
    let refused = loop {
        let answer = get(&address, "/costs");
        if answer.status != 200 {
            break answer;
        }
    };
    assert!(refused.status == 429 && is_fenced(&refused), "{refused:?}");
    // Twice as many as there could be in any second.
    for path in ["/healthz", "/readyz"].repeat(20) {
        assert_eq!(get(&address, path).status, 200, "{path}");
    }
}

#[test]
fn two_servers_of_one_host_keep_their_sessions_apart() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    scratch.write_file("tokens.txt", "first-token-of-ours-1\n");
    let arguments = ["--path", "skills", "--token-file", "tokens.txt"];
    let (one, two) = (listening(&scratch, &arguments), listening(&scratch, &arguments));
    let signed_in = |address: &str| {
        let key = get(address, "/sign-in").key();
        let done = post(address, "/sign-in", &[], &format!("key={key}&token=first-token-of-ours-1"));
        done.header("set-cookie").expect("there is a cookie").split(';').next().unwrap().to_owned()
    };
    let (first, second) = (signed_in(&one.1), signed_in(&two.1));
    let name = |cookie: &str| cookie.split('=').next().unwrap().to_owned();
    assert_ne!(name(&first), name(&second));
    assert!(one.1.ends_with(name(&first).trim_start_matches("rep_session_")), "{first} at {}", one.1);
    // A browser sends both to both, in any order.
    for cookies in [format!("{first}; {second}"), format!("{second}; {first}")] {
        for (_, address) in [&one, &two] {
            let home = request(address, "GET", "/", &[("Cookie", &cookies), ("Accept", "text/html")], "");
            assert_eq!(home.status, 200, "{cookies}");
        }
    }
    let astray = request(&one.1, "GET", "/", &[("Cookie", &second)], "");
    assert_eq!(astray.status, 401, "{astray:?}");
}

#[test]
fn an_operator_sees_how_it_is() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    assert_eq!(get(&address, "/healthz").body, "ok\n");
    assert_eq!(get(&address, "/readyz").body, "ready\n", "who bears no token is told nothing else");
    let id = request(&address, "GET", "/", &[("X-Request-Id", "trace-7")], "");
    assert_eq!(id.header("x-request-id"), Some("trace-7"));
    let made = request(&address, "GET", "/", &[("X-Request-Id", "a b\"<")], "");
    assert_eq!(made.header("x-request-id").map(str::len), Some(16), "{made:?}");
    let metrics = get(&address, "/metrics").body;
    for line in [
        "# TYPE rep_http_requests_total counter",
        "rep_http_requests_total{route=\"/\",status=\"200\"} 2",
        "rep_http_request_seconds_bucket{le=\"+Inf\"} 4",
        "rep_skills{status=\"active\"}",
        "rep_questions_waiting 0",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}

#[test]
fn skills_at_the_well_known_address_install() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (_server, address) = listening(&scratch, &PATH);
    let index = get(&address, "/.well-known/agent-skills/index.json");
    assert!(index.body.contains("\"pdf.tar.gz\"") && index.body.contains("sha256:"), "{}", index.body);
    assert_eq!(get(&address, "/.well-known/agent-skills/nobody.tar.gz").status, 404);
    let done = run(&scratch, &["install", &format!("http://{address}"), "--skill", "pdf", "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
}

#[test]
fn the_log_names_every_request_as_its_answer_does() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let mut child = start(&scratch, &["--http", "127.0.0.1:0", "--path", "skills", "--log", "json"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let _server = Server { child };
    let ready = lines.find(|line| line.contains("listening on ")).unwrap();
    let address = ready.split("//").nth(1).unwrap().trim_end_matches("/mcp").to_owned();
    assert_eq!(request(&address, "GET", "/costs?budget=9", &[("X-Request-Id", "trace-8")], "").status, 200);
    let line: Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    let told = (&line["request"], &line["method"], &line["path"], &line["status"]);
    assert_eq!(told, (&json!("trace-8"), &json!("GET"), &json!("/costs"), &json!(200)), "{line}");
    assert!(line["at"].is_string() && line["ms"].is_number(), "{line}");
    ask_new(&address, "tools/list", json!({}), &[("X-Request-Id", "trace-9")]);
    let both: Vec<Value> = lines.by_ref().take(2).map(|line| serde_json::from_str(&line).unwrap()).collect();
    assert_eq!((&both[0]["mcp"], &both[0]["request"]), (&json!("tools/list"), &json!("trace-9")), "{both:?}");
    assert_eq!((&both[1]["path"], &both[1]["request"]), (&json!("/mcp"), &json!("trace-9")), "{both:?}");
}

#[test]
fn an_open_page_does_not_keep_the_server_from_ending() {
    let scratch = ScratchFolder::new();
    library(&scratch);
    let (mut server, address) = listening(&scratch, &PATH);
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(format!("GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while !line.contains("event: hello") {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "the stream ended");
    }
    // What changes is told.
    scratch.write_file("skills/later/SKILL.md", super::GOOD.replace("name: pdf", "name: later"));
    while !line.contains("event: library") {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "the stream ended");
    }
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(server.child.wait().unwrap().success());
}
