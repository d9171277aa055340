//! Programs that talk to other machines: what they fetch, what they send, and what they connect to a shell.

use std::rc::Rc;

use crate::behaviour::{BehaviourKind, SignalKind, SignalOrigin};
use crate::programs::Call;
use crate::scanner::{Language, Scanner, quote};
use crate::shell_eval::ShellRun;
use crate::value::{HOLE, SharedValue, Source, Taint, Value, add_taints, merge_taints};

/// Follows a program that talks to other machines. Returns what it prints.
pub(crate) fn run_network_program(run: &mut ShellRun<'_, '_>, name: &str, call: &Call<'_>) -> Option<SharedValue> {
    match name {
        "curl" | "wget" | "http" | "https" | "xh" | "curlie" | "aria2c" | "fetch" => Some(fetch(run, name, call)),
        "iwr" | "irm" | "invoke-webrequest" | "invoke-restmethod" | "start-bitstransfer" | "certutil" | "bitsadmin"
        | "mshta" => Some(fetch_windows(run, name, call)),
        "git" | "gh" => {
            clone(run, call);
            None
        }
        "nc" | "ncat" | "netcat" | "socat" | "telnet" => Some(connect_raw(run, name, call)),
        "dig" | "nslookup" | "host" | "drill" => Some(query_names(run, name, call)),
        "ssh" | "sftp" | "ftp" => {
            if let Some(target) = call.operands(&["-i", "-p", "-o", "-L", "-R", "-D", "-F", "-l"]).first() {
                run.scanner.connect(&target.derived().with_text_of(target), call.place, call.span);
                if let Some(input) = &call.input {
                    run.scanner.send(target, &input.taints, &[], call.place, call.span);
                }
            }
            Some(call_output(call))
        }
        "mail" | "sendmail" | "mailx" | "mutt" => {
            let taints = call.taints();
            run.scanner.send(&Value::text("mail"), &taints, &[], call.place, call.span);
            judge_private(run.scanner, &taints, "by mail", call);
            Some(Value::unknown())
        }
        "aws" | "gsutil" | "gcloud" | "rclone" | "az" => {
            for word in call.arguments() {
                let Some(path) = word.first_text().filter(|text| crate::places::private_data(text).is_some()) else {
                    continue;
                };
                run.scanner.path(BehaviourKind::Read, &Value::text(path), call.place, call.span);
                run.scanner.signal(
                    SignalKind::PrivateFileSent,
                    format!("`{name}` uploads `{path}`"),
                    call.place,
                    call.span,
                );
            }
            Some(call_output(call))
        }
        _ => None,
    }
}

fn call_output(call: &Call<'_>) -> SharedValue {
    Value::unknown().with_taints(&call.taints())
}

fn judge_private(scanner: &mut Scanner<'_>, taints: &[Taint], how: &str, call: &Call<'_>) {
    for taint in taints {
        if let Source::PrivateFile(path) = &taint.source {
            let origin = Some(SignalOrigin::new(taint, "the file is read here"));
            scanner.signal_from(
                SignalKind::PrivateFileSent,
                format!("sends `{path}` {how}"),
                call.place,
                call.span,
                origin,
            );
        }
    }
}

const FETCH_OPTIONS: [&str; 44] = [
    "-X",
    "--request",
    "-H",
    "--header",
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--data-ascii",
    "-F",
    "--form",
    "-o",
    "--output",
    "-u",
    "--user",
    "-A",
    "--user-agent",
    "-T",
    "--upload-file",
    "-e",
    "--referer",
    "-b",
    "--cookie",
    "-c",
    "--cookie-jar",
    "-w",
    "--write-out",
    "-m",
    "--max-time",
    "--connect-timeout",
    "--retry",
    "--retry-delay",
    "-x",
    "--proxy",
    "--cacert",
    "--cert",
    "--key",
    "-K",
    "--post-data",
    "--post-file",
    "--json",
    "-P",
    "--max-filesize",
];

fn fetch(run: &mut ShellRun<'_, '_>, name: &str, call: &Call<'_>) -> SharedValue {
    let (place, span) = (call.place, call.span);
    let mut with_value = FETCH_OPTIONS.to_vec();
    if name == "wget" {
        with_value.retain(|option| !matches!(*option, "-c" | "-b" | "-x" | "-d" | "-F" | "-K" | "-m" | "-H"));
        with_value.extend(["-O", "--output-document", "-t", "--timeout", "--tries", "-i", "-U", "-Q"]);
    }
    let mut urls: Vec<SharedValue> = call.operands(&with_value);
    if let Some(url) = call.option(&["--url"]) {
        urls.push(url);
    }
    // Combined options such as `-sSLo file`.
    let combined = combined_output(name, call);
    if let Some(file) = &combined {
        urls.retain(|url| !Rc::ptr_eq(url, file));
    }
    let (body, headers) = fetch_payload(run, call);
    let mut fetched = Value::unknown();
    let mut is_fetched = false;
    for url in urls.iter().filter(|url| looks_like_url(url)) {
        let response = run.scanner.connect(url, place, span);
        run.scanner.send(url, &body, &headers, place, span);
        fetched = fetched.with_taints(&response.taints);
        is_fetched = true;
    }
    if !is_fetched && !urls.is_empty() {
        run.scanner.record(BehaviourKind::Connect, "*", place, span);
    }
    let names: &[&str] = if name == "wget" { &["-O", "--output-document"] } else { &["-o", "--output"] };
    if let Some(file) = call.option(names).or(combined) {
        run.scanner.path(BehaviourKind::Write, &file, place, span);
        if file.first_text() != Some("-") {
            run.scanner.fill_file(&file, &fetched);
        }
        return fetched;
    }
    if name == "wget"
        || call.has_flag(&["-O", "-OL", "-LO", "-fsSLO", "-sLO", "-sSLO", "--remote-name", "-fLO", "-LOs"])
    {
        for url in &urls {
            let file = url
                .first_text()
                .and_then(|url| url.split(['?', '#']).next())
                .and_then(|url| url.rsplit('/').next())
                .unwrap_or("");
            let file = Value::text(if file.is_empty() { "\u{fffc}" } else { file });
            run.scanner.path(BehaviourKind::Write, &file, place, span);
            run.scanner.fill_file(&file, &fetched);
        }
    }
    fetched
}

/// The file of combined options, such as `-sSLo file` of curl and `-qO file` of wget.
fn combined_output(name: &str, call: &Call<'_>) -> Option<SharedValue> {
    let letter = if name == "wget" { 'O' } else { 'o' };
    let words = call.arguments();
    let is_combined = |text: &str| {
        text.len() > 2
            && text.starts_with('-')
            && !text.starts_with("--")
            && text.ends_with(letter)
            && text[1..].bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let at = words.iter().position(|word| word.first_text().is_some_and(is_combined))?;
    words.get(at + 1).cloned()
}

/// The sources of what a request carries in its body and in its headers.
fn fetch_payload(run: &mut ShellRun<'_, '_>, call: &Call<'_>) -> (Vec<Taint>, Vec<Taint>) {
    let (mut body, mut headers) = (Vec::new(), Vec::new());
    let words = call.arguments();
    for (index, word) in words.iter().enumerate() {
        let text = word.first_text().unwrap_or("");
        let Some(value) = words.get(index + 1) else { continue };
        match text {
            "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-urlencode" | "--data-ascii" | "-F"
            | "--form" | "--post-data" | "--json" | "-T" | "--upload-file" | "--post-file" => {
                add_taints(&mut body, &value.taints);
                let written = value.first_text().unwrap_or("");
                let file = match text {
                    "-T" | "--upload-file" | "--post-file" => Some(written),
                    _ => written
                        .split_once('@')
                        .filter(|(before, _)| before.is_empty() || before.ends_with('='))
                        .map(|(_, file)| file),
                };
                match file {
                    Some("-") => add_taints(
                        &mut body,
                        &call.input.as_ref().map(|input| input.taints.clone()).unwrap_or_default(),
                    ),
                    Some(file) if !file.is_empty() => {
                        let file = Value::text(file.split(';').next().unwrap_or(file));
                        run.scanner.path(BehaviourKind::Read, &file, call.place, call.span);
                        let content = run.scanner.file_value(&file, call.place, call.span);
                        add_taints(&mut body, &content.taints);
                    }
                    _ => {}
                }
            }
            "-H" | "--header" | "-u" | "--user" | "-A" | "-b" => add_taints(&mut headers, &value.taints),
            _ => {}
        }
    }
    (body, headers)
}

fn looks_like_url(url: &SharedValue) -> bool {
    match url.first_text() {
        Some(text) => {
            text.contains("://")
                || text.contains(HOLE)
                || text.contains('.')
                || text.starts_with("localhost")
                || text.starts_with('<')
        }
        None => true,
    }
}

fn fetch_windows(run: &mut ShellRun<'_, '_>, name: &str, call: &Call<'_>) -> SharedValue {
    let mut fetched = Value::unknown();
    let mut urls = Vec::new();
    for word in call.arguments().iter().filter(|word| word.first_text().is_some_and(|text| text.contains("://"))) {
        fetched = fetched.with_taints(&run.scanner.connect(word, call.place, call.span).taints);
        urls.push(Rc::clone(word));
    }
    let body = call.option(&["-Body", "-InFile"]).map(|body| body.taints.clone()).unwrap_or_default();
    for url in &urls {
        run.scanner.send(url, &body, &[], call.place, call.span);
        if name == "mshta" {
            run.scanner.evaluate(&fetched, Language::Shell, name, call.place, call.span);
        }
    }
    if let Some(file) = call.option(&["-OutFile", "-Destination", "-o"]) {
        run.scanner.path(BehaviourKind::Write, &file, call.place, call.span);
        run.scanner.fill_file(&file, &fetched);
    }
    fetched
}

fn clone(run: &mut ShellRun<'_, '_>, call: &Call<'_>) {
    let words = call.arguments();
    let is_fetch = words.iter().any(|word| {
        word.first_text().is_some_and(|text| {
            matches!(text, "clone" | "ls-remote" | "remote" | "push" | "pull" | "fetch" | "submodule")
        })
    });
    for word in words.iter().filter(|_| is_fetch) {
        let Some(text) = word.first_text() else { continue };
        if text.contains("://") {
            run.scanner.connect(word, call.place, call.span);
        } else if let Some(rest) = text.strip_prefix("git@") {
            let host = rest.split(':').next().unwrap_or("");
            run.scanner.record(BehaviourKind::Connect, host, call.place, call.span);
        }
    }
}

fn connect_raw(run: &mut ShellRun<'_, '_>, name: &str, call: &Call<'_>) -> SharedValue {
    let words: Vec<&str> = call.arguments().iter().filter_map(|word| word.first_text()).collect();
    let lower = words.join(" ").to_ascii_lowercase();
    let is_shell = words.iter().any(|word| {
        matches!(*word, "-e" | "-c" | "--exec" | "--sh-exec")
            || word.starts_with("-e")
            || word.len() > 2 && word.starts_with('-') && word.ends_with('e')
    }) && (lower.contains("sh") || lower.contains("cmd"))
        || lower.contains("exec:") && lower.contains("sh");
    if is_shell {
        run.scanner.signal(
            SignalKind::ReverseShell,
            format!("`{name}` connects a shell to the network"),
            call.place,
            call.span,
        );
    }
    let came = [Taint::new(Source::Connection, call.place, call.span)];
    let operands = call.operands(&["-p", "-e", "-c", "-s", "-w", "-q", "-i"]);
    if let Some(host) = operands.first() {
        let port = operands.get(1).and_then(|port| port.first_text()).unwrap_or("");
        let address = host.first_text().map_or_else(
            || "*".to_owned(),
            |host| if port.is_empty() { host.to_owned() } else { format!("{host}:{port}") },
        );
        let target = Value::text(&address.replace("TCP:", "").replace("tcp:", ""));
        let response = run.scanner.connect(&target, call.place, call.span);
        let taints = call.input.as_ref().map(|input| input.taints.clone()).unwrap_or_default();
        run.scanner.send(&target, &taints, &[], call.place, call.span);
        return response.with_taints(&came);
    }
    Value::unknown().with_taints(&came)
}

fn query_names(run: &mut ShellRun<'_, '_>, name: &str, call: &Call<'_>) -> SharedValue {
    let taints = call.taints();
    judge_dns(run.scanner, &taints, name, call);
    call_output(call)
}

pub(crate) fn judge_dns(scanner: &mut Scanner<'_>, taints: &[Taint], by: &str, call: &Call<'_>) {
    for taint in taints {
        let what = match &taint.source {
            Source::Secret(name) => format!("`{name}`"),
            Source::Environment => "the environment".to_owned(),
            Source::PrivateFile(path) => format!("`{path}`"),
            Source::Encoded => "encoded data".to_owned(),
            Source::File(_) | Source::Remote(_) | Source::Connection | Source::Decoded | Source::Variable(_) => {
                continue;
            }
        };
        let origin = Some(SignalOrigin::new(taint, "the data is read here"));
        scanner.signal_from(
            SignalKind::DataInDnsQuery,
            format!("`{by}` asks for a name that contains {what}"),
            call.place,
            call.span,
            origin,
        );
    }
}

/// Judges `scp` and `rsync` to another machine.
pub(crate) fn judge_copy(scanner: &mut Scanner<'_>, sources: &[SharedValue], target: &SharedValue, call: &Call<'_>) {
    let Some(text) = target.first_text() else { return };
    let Some((address, _)) = text.split_once(':') else { return };
    let host = address.rsplit('@').next().unwrap_or(address);
    scanner.record(BehaviourKind::Connect, host, call.place, call.span);
    let taints = merge_taints(sources.iter());
    scanner.send(&Value::text(host), &taints, &[], call.place, call.span);
    for source in sources {
        let Some(path) = source.first_text() else { continue };
        if crate::places::private_data(path).is_some() {
            scanner.signal(SignalKind::PrivateFileSent, format!("copies `{path}` to `{host}`"), call.place, call.span);
        }
    }
}

/// One-line programs in languages that are not read: the marks of a shell over the network.
pub(crate) fn judge_foreign_one_liner(scanner: &mut Scanner<'_>, code: &SharedValue, by: &str, call: &Call<'_>) {
    let Some(text) = code.first_text() else { return };
    let has_socket = ["Socket", "TCPSocket", "fsockopen", "IO::Socket"].iter().any(|mark| text.contains(mark));
    if has_socket && text.contains("sh") && text.contains("exec") {
        scanner.signal(
            SignalKind::ReverseShell,
            format!("`{by}` connects a shell to the network: {}", quote(text)),
            call.place,
            call.span,
        );
    }
}

/// `do shell script "…"` runs a shell.
pub(crate) fn judge_apple_script(run: &mut ShellRun<'_, '_>, code: &SharedValue, call: &Call<'_>) {
    let Some(text) = code.first_text().map(str::to_owned) else { return };
    for mark in ["do shell script \"", "doShellScript(\"", "doShellScript('"] {
        let mut rest = text.as_str();
        while let Some(at) = rest.find(mark) {
            rest = &rest[at + mark.len()..];
            let quote = if mark.ends_with('\'') { '\'' } else { '"' };
            let end = rest.find(quote).unwrap_or(rest.len());
            run.scanner.read_code(&rest[..end], Language::Shell, &call.place.fixed_at(call.span, false));
            rest = &rest[end..];
        }
    }
    if text.contains("display dialog") && text.contains("hidden answer") {
        run.scanner.signal(
            SignalKind::CredentialsCollected,
            "asks for a password in a dialog of its own",
            call.place,
            call.span,
        );
    }
}
