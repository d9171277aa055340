//! What programs do with their words: which are files to read or write, which are URLs, and which run other code.

use std::rc::Rc;

use rep_model::Span;

use crate::behaviour::{BehaviourKind, SignalKind};
use crate::decode;
use crate::interpreters::{judge_run_file, judge_started_file, run_interpreter};
use crate::network_programs;
use crate::packages;
use crate::places;
use crate::scanner::{Language, Place, Scanner};
use crate::shell_eval::ShellRun;
use crate::value::{HOLE, SharedValue, Source, Taint, Value, concat, merge_taints};

/// A program with the values of its words.
pub(crate) struct Call<'p> {
    pub(crate) values: Vec<SharedValue>,
    pub(crate) span: Span,
    pub(crate) place: &'p Place,
    pub(crate) input: Option<SharedValue>,
    pub(crate) is_conditional: bool,
}

impl Call<'_> {
    fn name(&self) -> String {
        let Some(text) = self.values.first().and_then(|value| value.first_text()) else { return "*".to_owned() };
        if self.values[0].is_open {
            return "*".to_owned();
        }
        let base = text.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(text);
        base.trim_end_matches(".exe").replace(HOLE, "*")
    }

    pub(crate) fn arguments(&self) -> &[SharedValue] {
        self.values.get(1..).unwrap_or(&[])
    }

    /// The words that are neither options nor their values. `with_value` names the options that take one.
    pub(crate) fn operands(&self, with_value: &[&str]) -> Vec<SharedValue> {
        let mut operands = Vec::new();
        let mut words = self.arguments().iter();
        let mut are_options_over = false;
        while let Some(word) = words.next() {
            let text = word.first_text().unwrap_or("");
            if !are_options_over && text.len() > 1 && text.starts_with('-') && !word.is_open {
                are_options_over = text == "--";
                if with_value.contains(&text) {
                    words.next();
                }
            } else {
                operands.push(Rc::clone(word));
            }
        }
        operands
    }

    pub(crate) fn option(&self, names: &[&str]) -> Option<SharedValue> {
        let words = self.arguments();
        for (index, word) in words.iter().enumerate() {
            let Some(text) = word.first_text() else { continue };
            if names.contains(&text) {
                return words.get(index + 1).cloned();
            }
            let joined = names.iter().find_map(|name| match name.strip_prefix("--") {
                Some(_) => text.strip_prefix(name)?.strip_prefix('='),
                None => text
                    .strip_prefix(name)
                    .filter(|rest| !rest.is_empty() && name.len() == 2 && !text.starts_with("--")),
            });
            if let Some(rest) = joined {
                return Some(Value::text(rest).with_taints(&word.taints));
            }
        }
        None
    }

    pub(crate) fn has_flag(&self, names: &[&str]) -> bool {
        self.arguments().iter().any(|word| word.first_text().is_some_and(|text| names.contains(&text)))
    }

    pub(crate) fn taints(&self) -> Vec<Taint> {
        merge_taints(self.arguments().iter().chain(self.input.iter()))
    }

    /// What the program prints when it passes on its input or its files.
    pub(crate) fn passed_on(&self) -> SharedValue {
        Value::unknown().with_taints(&self.taints())
    }

    fn shifted(&self, by: usize) -> Call<'_> {
        Call {
            values: self.values.get(by..).unwrap_or(&[]).to_vec(),
            span: self.span,
            place: self.place,
            input: self.input.clone(),
            is_conditional: self.is_conditional,
        }
    }
}

const BUILTINS: [&str; 62] = [
    ":",
    ".",
    "[",
    "[[",
    "]]",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Follows one program. Returns what it prints.
pub(crate) fn run_program(run: &mut ShellRun<'_, '_>, call: &Call<'_>) -> SharedValue {
    let name = call.name();
    if name.is_empty() || call.values.is_empty() || name.starts_with('-') || name.starts_with('<') {
        return call.passed_on();
    }
    // Functions may come from a file that the script reads first.
    if run.is_function(&name) {
        return run.call_function(&name, call).unwrap_or_else(|| call.passed_on());
    }
    if run.has_sourced && name.contains('_') && !name.contains('.') || name == "deactivate" {
        return call.passed_on();
    }
    if BUILTINS.contains(&name.as_str()) {
        return run_builtin(run, &name, call);
    }
    if !is_program_name(&name) {
        return call.passed_on();
    }
    if !is_cmdlet(&name) {
        run.scanner.record(BehaviourKind::Run, &name, call.place, call.span);
    }
    judge_started_file(run, call);
    let lower = name.to_ascii_lowercase();
    if let Some(rest) = wrapped(run, &lower, call) {
        return run_program(run, &rest);
    }
    packages::judge_program(run.scanner, &lower, call);
    if let Some(printed) = network_programs::run_network_program(run, &lower, call) {
        return printed;
    }
    if let Some(printed) = run_interpreter(run, &lower, call) {
        return printed;
    }
    run_file_program(run, &lower, call)
}

/// Whether a name is that of a command of PowerShell, such as `Get-Item`.
fn is_cmdlet(name: &str) -> bool {
    let starts_upper = |part: &str| part.starts_with(|letter: char| letter.is_ascii_uppercase());
    name.split_once('-').is_some_and(|(verb, noun)| starts_upper(verb) && starts_upper(noun))
}

fn is_program_name(name: &str) -> bool {
    name.len() <= 80
        && name.chars().all(|letter| letter.is_alphanumeric() || "._-+@*".contains(letter))
        && name.chars().any(|letter| letter.is_alphanumeric() || letter == '*')
}

/// The call inside of a program that starts another.
fn wrapped<'c>(run: &mut ShellRun<'_, '_>, name: &str, call: &'c Call<'_>) -> Option<Call<'c>> {
    let takes: &[&str] = match name {
        "sudo" | "doas" => &["-u", "-g", "-h", "-p", "-C"],
        "env" => &["-u", "-C", "-S"],
        "timeout" | "gtimeout" => &["-s", "-k", "--signal", "--kill-after"],
        "nice" | "ionice" => &["-n", "-c"],
        "xargs" => &["-n", "-I", "-P", "-L", "-d", "-s", "-a", "-E", "-J", "-R"],
        "nohup" | "setsid" | "stdbuf" | "caffeinate" | "unbuffer" | "watch" | "time" | "chronic" | "proxychains"
        | "busybox" | "rtk" => &["-n"],
        _ => return None,
    };
    if matches!(name, "sudo" | "doas") {
        run.scanner.record(BehaviourKind::Privilege, name, call.place, call.span);
    }
    if name == "env" && call.values.len() == 1 {
        return None;
    }
    let mut index = 1;
    let mut has_duration = !matches!(name, "timeout" | "gtimeout");
    while let Some(value) = call.values.get(index) {
        let text = value.first_text().unwrap_or("");
        if text.starts_with('-') {
            index += if takes.contains(&text) { 2 } else { 1 };
        } else if name == "env" && text.contains('=') {
            index += 1;
        } else if !has_duration {
            has_duration = true;
            index += 1;
        } else {
            break;
        }
    }
    let mut inner = call.shifted(index);
    if inner.values.is_empty() {
        return None;
    }
    if name == "xargs" {
        // What comes in becomes words of the program.
        inner.values.push(call.input.clone().unwrap_or_else(Value::unknown));
    }
    Some(inner)
}

fn run_builtin(run: &mut ShellRun<'_, '_>, name: &str, call: &Call<'_>) -> SharedValue {
    let place = call.place;
    match name {
        "echo" | "printf" => echo(run, name, call),
        "eval" => {
            let code = concat(&spaced(call.arguments()), &mut run.scanner.budget);
            run.scanner.evaluate(&code, Language::Shell, "eval", place, call.span);
            Value::unknown()
        }
        "source" | "." => {
            let path = call.arguments().first().and_then(|file| file.first_text());
            if path.is_none_or(|path| !run.run_sourced(path, place)) {
                run.has_sourced = true;
            }
            if let Some(file) = call.arguments().first() {
                if file.has_source(|source| matches!(source, Source::Remote(_) | Source::Decoded)) {
                    run.scanner.evaluate(file, Language::Shell, "source", place, call.span);
                } else {
                    run.scanner.path(BehaviourKind::Read, file, place, call.span);
                    if let Some(path) = file.first_text() {
                        run.scanner.start_file(path, Some(Language::Shell), place);
                        judge_run_file(run, &crate::scanner::normalize_path(path), "source", call);
                    }
                }
            }
            Value::unknown()
        }
        "cd" | "pushd" => {
            // `$(cd X && pwd)` is X: the next `pwd` of the same text prints it.
            let target = call.operands(&[]).first().cloned().unwrap_or_else(|| Value::text("~"));
            run.assign("\u{1}directory", target, false);
            Value::unknown()
        }
        "pwd" => run.take_directory(),
        "shift" => {
            let by = call.arguments().first().and_then(|by| by.constant()?.parse().ok());
            run.shift(by.unwrap_or(1));
            Value::unknown()
        }
        "exec" | "command" | "builtin" => {
            if call.has_flag(&["-v", "-V"]) {
                return Value::unknown();
            }
            let skip = 1 + call
                .arguments()
                .iter()
                .take_while(|word| word.first_text().is_some_and(|text| text.starts_with('-')))
                .count();
            let inner = call.shifted(skip);
            if inner.values.is_empty() { Value::unknown() } else { run_program(run, &inner) }
        }
        "export" | "local" | "declare" | "readonly" | "typeset" | "read" | "mapfile" | "readarray" => {
            declare(run, name, call);
            call.passed_on()
        }
        "getopts" => {
            if let Some(name) = call.arguments().get(1).and_then(|word| word.constant()) {
                run.assign(name, Value::unknown(), false);
            }
            Value::unknown()
        }
        "trap" => {
            if let Some(code) =
                call.arguments().first().and_then(|code| code.constant()).filter(|code| code.contains(' '))
            {
                run.run_text(code, &place.fixed_at(call.span, false));
            }
            Value::unknown()
        }
        _ => call.passed_on(),
    }
}

/// Gives variables their values.
fn declare(run: &mut ShellRun<'_, '_>, name: &str, call: &Call<'_>) {
    if matches!(name, "read" | "mapfile" | "readarray") {
        let with_value: &[&str] = if name == "read" {
            &["-p", "-d", "-t", "-n", "-u", "-N"]
        } else {
            &["-d", "-n", "-O", "-s", "-u", "-C", "-c"]
        };
        for word in call.operands(with_value) {
            if let Some(name) = word.constant() {
                let value = call.input.as_ref().map_or_else(Value::unknown, Value::derived);
                run.assign(name, value, false);
            }
        }
        return;
    }
    for word in call.arguments() {
        if let Some((name, rest)) = word.first_text().and_then(|text| text.split_once('=')) {
            let is_known = !rest.starts_with(HOLE) && !word.is_open;
            let rest = if is_known { Value::text(rest).with_taints(&word.taints) } else { word.derived() };
            run.assign(name, rest, call.is_conditional);
        } else if let Some(name) = word.constant().filter(|name| !name.starts_with('-') && !run.is_assigned(name)) {
            run.assign(name, Value::unknown(), false);
        }
    }
}

fn spaced(values: &[SharedValue]) -> Vec<SharedValue> {
    let space = Value::text(" ");
    let mut all = Vec::with_capacity(values.len() * 2);
    for value in values {
        if !all.is_empty() {
            all.push(Rc::clone(&space));
        }
        all.push(Rc::clone(value));
    }
    all
}

fn echo(run: &mut ShellRun<'_, '_>, name: &str, call: &Call<'_>) -> SharedValue {
    let is_escaped = name == "printf" || call.has_flag(&["-e", "-ne", "-en"]);
    let words: Vec<SharedValue> = call
        .arguments()
        .iter()
        .filter(|word| !word.first_text().is_some_and(|text| matches!(text, "-n" | "-e" | "-ne" | "-en" | "--")))
        .cloned()
        .collect();
    let words = if name == "printf" && words.len() > 1 && words[0].first_text().is_some_and(|text| text.contains("%s"))
    {
        words[1..].to_vec()
    } else {
        words
    };
    let printed = if words.is_empty() { Value::text("") } else { concat(&spaced(&words), &mut run.scanner.budget) };
    match printed.constant() {
        Some(text) if is_escaped && text.contains('\\') => {
            Value::text(&crate::shell::decode_ansi(text)).with_taints(&printed.taints)
        }
        _ => printed,
    }
}

/// Options with a value, by program.
fn options_with_value(name: &str) -> &'static [&'static str] {
    match name {
        "head" | "tail" => &["-n", "-c", "--lines", "--bytes"],
        "grep" | "egrep" | "fgrep" | "zgrep" => {
            &["-m", "-A", "-B", "-C", "-e", "-f", "--include", "--exclude", "--exclude-dir"]
        }
        "rg" => &["-m", "-A", "-B", "-C", "-e", "-g", "-t", "--glob", "--type"],
        "sort" => &["-k", "-t", "-o", "-S", "-T"],
        "cut" => &["-d", "-f", "-c", "-b"],
        "sed" => &["-e", "-f", "--expression"],
        "awk" | "gawk" | "mawk" => &["-F", "-v", "-f"],
        "jq" | "yq" => &["--indent", "-L"],
        "cp" | "mv" | "ln" | "install" => &["-m", "-o", "-g", "-t", "-S"],
        "touch" => &["-d", "-t", "-r"],
        "mkdir" => &["-m"],
        "tree" | "ls" => &["-L", "-I", "-P"],
        "unzip" => &["-d", "-P", "-x"],
        "split" => &["-b", "-l", "-a"],
        "shasum" => &["-a"],
        "column" => &["-s", "-t", "-c"],
        "paste" | "xxd" | "od" => &["-d", "-l", "-s", "-N", "-A", "-t"],
        _ => &[],
    }
}

fn run_file_program(run: &mut ShellRun<'_, '_>, name: &str, call: &Call<'_>) -> SharedValue {
    let operands = call.operands(options_with_value(name));
    match name {
        "cat" | "head" | "tail" | "sort" | "wc" | "uniq" | "cut" | "less" | "more" | "nl" | "od" | "hexdump"
        | "strings" | "sha256sum" | "sha1sum" | "sha512sum" | "md5sum" | "md5" | "shasum" | "cksum" | "diff"
        | "cmp" | "comm" | "paste" | "join" | "tac" | "rev" | "column" | "fold" | "bat" | "zcat" | "gzcat"
        | "get-content" | "type" | "base32" | "split" | "iconv" | "csvlook" | "pdftotext" | "gunzip" | "xxd"
        | "base64" => read_and_pass(run, name, &operands, call),
        "ls" | "tree" | "dir" => {
            read_all(run, &operands, call);
            if operands.is_empty() {
                run.scanner.path(BehaviourKind::Read, &Value::text("."), call.place, call.span);
            }
            call.passed_on()
        }
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "sed" | "gsed" | "awk" | "gawk" | "mawk" | "jq" | "yq" => {
            filter_program(run, name, operands, call)
        }
        "find" | "fd" => find(run, call),
        "env" | "printenv" => environment(run, name, call),
        "set" => Scanner::environment(call.place, call.span),
        "dirname" => {
            let first = operands.first().cloned().unwrap_or_else(Value::unknown);
            ShellRun::directory_of(&first)
        }
        "basename" => base_name(&operands),
        "realpath" | "readlink" | "cygpath" => operands.first().map_or_else(Value::unknown, Rc::clone),
        "mktemp" => {
            run.scanner.record(BehaviourKind::Write, "/tmp/*", call.place, call.span);
            Value::text("/tmp/\u{fffc}")
        }
        _ => write_program(run, name, &operands, call),
    }
}

fn base_name(operands: &[SharedValue]) -> SharedValue {
    let Some(path) = operands.first().and_then(|value| value.constant()) else { return Value::unknown() };
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or("");
    let suffix = operands.get(1).and_then(|value| value.constant()).unwrap_or("");
    Value::text(name.strip_suffix(suffix).unwrap_or(name))
}

fn environment(run: &mut ShellRun<'_, '_>, name: &str, call: &Call<'_>) -> SharedValue {
    match call.operands(&[]).first().and_then(|word| word.constant()) {
        Some(wanted) if name == "printenv" => run.scanner.variable(wanted, call.place, call.span),
        _ => {
            run.scanner.record(BehaviourKind::Env, "*", call.place, call.span);
            Scanner::environment(call.place, call.span)
        }
    }
}

fn read_all(run: &mut ShellRun<'_, '_>, operands: &[SharedValue], call: &Call<'_>) -> Vec<Taint> {
    let mut taints = Vec::new();
    for operand in operands {
        // A process substitution does not name a file.
        if operand.has_source(|source| matches!(source, Source::Remote(_))) {
            crate::value::add_taints(&mut taints, &operand.taints);
            continue;
        }
        run.scanner.path(BehaviourKind::Read, operand, call.place, call.span);
        let value = run.scanner.file_value(operand, call.place, call.span);
        crate::value::add_taints(&mut taints, &value.taints);
    }
    taints
}

fn read_and_pass(run: &mut ShellRun<'_, '_>, name: &str, operands: &[SharedValue], call: &Call<'_>) -> SharedValue {
    let operands: Vec<SharedValue> =
        operands.iter().filter(|operand| operand.first_text() != Some("-")).cloned().collect();
    let files = read_all(run, &operands, call);
    let input = match &call.input {
        Some(input) if operands.is_empty() => Rc::clone(input),
        _ => Value::unknown(),
    };
    let input = input.with_taints(&files);
    let is_decoding = call.has_flag(&["-d", "-D", "--decode", "-di", "-r"]);
    match name {
        "base64" | "base32" if is_decoding => run.scanner.decoded(&input, decode::decode_base64, call.place, call.span),
        "base64" => input.derived().with_taints(&[Taint::new(Source::Encoded, call.place, call.span)]),
        "xxd"
            if call
                .arguments()
                .iter()
                .any(|word| word.first_text().is_some_and(|text| text.contains('r') && text.starts_with('-'))) =>
        {
            run.scanner.decoded(&input, decode::decode_hex, call.place, call.span)
        }
        "rev" => match input.constant() {
            Some(text) => Value::text(&text.chars().rev().collect::<String>()).with_taints(&[Taint::new(
                Source::Decoded,
                call.place,
                call.span,
            )]),
            None => input.derived(),
        },
        "cat" => input,
        _ => input.derived(),
    }
}

/// A program whose first operand is a pattern or a program and whose others are files.
fn filter_program(
    run: &mut ShellRun<'_, '_>,
    name: &str,
    mut operands: Vec<SharedValue>,
    call: &Call<'_>,
) -> SharedValue {
    let has_script = call.option(&["-e", "-f", "--expression", "--from-file"]).is_some();
    if let Some(file) = call.option(&["-f", "--from-file"]).filter(|_| name != "rg") {
        run.scanner.path(BehaviourKind::Read, &file, call.place, call.span);
    }
    if !has_script && !operands.is_empty() {
        operands.remove(0);
    }
    if matches!(name, "jq" | "yq") {
        // `--arg name value` and its like have two words each.
        let extra: usize = call
            .arguments()
            .iter()
            .filter(|word| word.first_text().is_some_and(|text| matches!(text, "--arg" | "--argjson")))
            .count();
        operands = operands.into_iter().skip(extra * 2).collect();
        if call.has_flag(&["-n", "--null-input"]) {
            operands.clear();
        }
    }
    if matches!(name, "awk" | "gawk" | "mawk") {
        operands.retain(|operand| !operand.first_text().is_some_and(|text| text.contains('=')));
    }
    let is_changed = matches!(name, "sed" | "gsed")
        && call.arguments().iter().any(|word| {
            word.first_text()
                .is_some_and(|text| text == "--in-place" || text.starts_with("-i") || text.starts_with("-Ei"))
        });
    if is_changed {
        for operand in operands.iter().filter(|operand| operand.first_text() != Some("")) {
            run.scanner.path(BehaviourKind::Write, operand, call.place, call.span);
        }
        return Value::unknown();
    }
    let files = read_all(run, &operands, call);
    Value::unknown()
        .with_taints(&files)
        .with_taints(&call.input.as_ref().map(|input| input.taints.clone()).unwrap_or_default())
}

fn find(run: &mut ShellRun<'_, '_>, call: &Call<'_>) -> SharedValue {
    let is_path = |word: &&SharedValue| !word.first_text().is_some_and(|text| text.starts_with(['-', '(', '!']));
    let skip = call
        .arguments()
        .iter()
        .take_while(|word| word.first_text().is_some_and(|text| matches!(text, "-L" | "-H" | "-P" | "-E")))
        .count();
    let paths: Vec<SharedValue> = call.arguments()[skip..].iter().take_while(is_path).cloned().collect();
    let paths = if paths.is_empty() { vec![Value::text(".")] } else { paths };
    read_all(run, &paths, call);
    if call.has_flag(&["-delete"]) {
        for path in &paths {
            run.scanner.path(BehaviourKind::Delete, path, call.place, call.span);
        }
    }
    let at = call
        .arguments()
        .iter()
        .position(|word| word.first_text().is_some_and(|text| matches!(text, "-exec" | "-execdir" | "-ok")));
    if let Some(at) = at {
        let is_end = |word: &&SharedValue| !word.first_text().is_some_and(|text| matches!(text, ";" | "+" | "\\;"));
        let words: Vec<SharedValue> = call.arguments()[at + 1..]
            .iter()
            .take_while(is_end)
            .map(|word| if word.first_text() == Some("{}") { Value::unknown() } else { Rc::clone(word) })
            .collect();
        if !words.is_empty() {
            run_program(
                run,
                &Call { values: words, span: call.span, place: call.place, input: None, is_conditional: true },
            );
        }
    }
    call.passed_on()
}

fn write_program(run: &mut ShellRun<'_, '_>, name: &str, operands: &[SharedValue], call: &Call<'_>) -> SharedValue {
    let (place, span) = (call.place, call.span);
    match name {
        "mkdir" | "touch" | "rmdir" | "truncate" | "tee" | "mkfifo" | "chmod" | "chown" | "chgrp" | "set-content"
        | "add-content" | "out-file" => {
            let files =
                if matches!(name, "chmod" | "chown" | "chgrp") { operands.get(1..).unwrap_or(&[]) } else { operands };
            for file in files {
                run.scanner.path(BehaviourKind::Write, file, place, span);
                if let Some(input) = &call.input {
                    run.scanner.fill_file(file, input);
                }
            }
            packages::judge_permissions(run.scanner, name, operands, call);
            call.passed_on()
        }
        "rm" | "unlink" | "shred" | "remove-item" | "del" => {
            for file in operands {
                run.scanner.path(BehaviourKind::Delete, file, place, span);
                let is_deep = call.arguments().iter().any(|word| {
                    word.first_text().is_some_and(|text| text.starts_with('-') && text.contains(['r', 'R']))
                });
                let path = file.constant().unwrap_or("");
                if let Some(what) = places::destroyed(path)
                    .filter(|what| is_deep || name == "shred" || what.contains("history") || *what == "logs")
                {
                    run.scanner.signal(SignalKind::Destruction, format!("deletes {what}: `{path}`"), place, span);
                }
            }
            Value::unknown()
        }
        "mv" | "cp" | "install" | "ln" | "rsync" | "scp" | "copy" | "move" => copy_program(run, name, operands, call),
        "tar" | "zip" | "unzip" | "7z" => archive_program(run, name, operands, call),
        "dd" => {
            for word in call.arguments() {
                let Some((key, path)) = word.first_text().and_then(|text| text.split_once('=')) else { continue };
                match key {
                    "of" => run.scanner.path(BehaviourKind::Write, &Value::text(path), place, span),
                    "if" => run.scanner.path(BehaviourKind::Read, &Value::text(path), place, span),
                    _ => {}
                }
            }
            Value::unknown()
        }
        _ => {
            packages::judge_system_program(run.scanner, name, call);
            call.passed_on()
        }
    }
}

fn copy_program(run: &mut ShellRun<'_, '_>, name: &str, operands: &[SharedValue], call: &Call<'_>) -> SharedValue {
    let Some((target, sources)) = operands.split_last() else { return Value::unknown() };
    let is_remote = |value: &SharedValue| {
        value
            .first_text()
            .is_some_and(|text| text.contains(':') && !text.starts_with(['/', '.']) && !text.contains("://"))
    };
    for source in sources {
        let kind = if matches!(name, "mv" | "move") { BehaviourKind::Write } else { BehaviourKind::Read };
        if name == "ln" || is_remote(source) {
            continue;
        }
        run.scanner.path(kind, source, call.place, call.span);
        let content = run.scanner.file_value(source, call.place, call.span);
        run.scanner.fill_file(target, &content);
    }
    if matches!(name, "scp" | "rsync") {
        network_programs::judge_copy(run.scanner, sources, target, call);
        if is_remote(target) {
            return Value::unknown();
        }
    }
    run.scanner.path(BehaviourKind::Write, target, call.place, call.span);
    Value::unknown()
}

fn archive_program(run: &mut ShellRun<'_, '_>, name: &str, operands: &[SharedValue], call: &Call<'_>) -> SharedValue {
    let flags = call.arguments().first().and_then(|word| word.first_text()).unwrap_or("").to_owned();
    let mut files: Vec<SharedValue> = operands.to_vec();
    let mut is_made = name == "zip";
    let archive = if name == "tar" {
        is_made = flags.trim_start_matches('-').starts_with('c')
            || call.has_flag(&["-c", "--create"])
            || flags.starts_with("-c");
        if !flags.starts_with('-') && !files.is_empty() {
            files.remove(0);
        }
        if let Some(folder) = call.option(&["-C", "--directory"]).filter(|_| !is_made) {
            run.scanner.path(BehaviourKind::Write, &folder, call.place, call.span);
        }
        let has_file = flags.trim_start_matches('-').contains('f');
        if has_file && !files.is_empty() { Some(files.remove(0)) } else { None }
    } else {
        if let Some(folder) = call.option(&["-d"]).filter(|_| name == "unzip") {
            run.scanner.path(BehaviourKind::Write, &folder, call.place, call.span);
        }
        (!files.is_empty()).then(|| files.remove(0))
    };
    if is_made {
        let taints = read_all(run, &files, call);
        if let Some(archive) = archive {
            run.scanner.path(BehaviourKind::Write, &archive, call.place, call.span);
            run.scanner.fill_file(&archive, &Value::unknown().with_taints(&taints));
        }
        return Value::unknown().with_taints(&taints);
    }
    if let Some(archive) = archive {
        run.scanner.path(BehaviourKind::Read, &archive, call.place, call.span);
    }
    call.passed_on()
}
