//! What the names of Python and JavaScript mean: members, calls of their libraries, and constants that they fold.

use std::rc::Rc;

use rep_model::Span;

use crate::behaviour::{BehaviourKind, SignalKind};
use crate::decode;
use crate::programs::{self, Call};
use crate::scanner::{Language, Scanner, normalize_path};
use crate::shell_eval::ShellRun;
use crate::source_eval::{Arguments, SourceRun, module_name};
use crate::source_files;
use crate::source_network;
use crate::value::{self, SharedValue, Source, Taint, Value, choice, concat, merge_taints};

/// The mark of a value that is an open file.
pub(crate) const FILE: &str = "\u{1}file";

pub(crate) fn is_environment(value: &SharedValue) -> bool {
    matches!(value.name.as_deref(), Some("os.environ" | "process.env" | "Deno.env" | "Bun.env" | "os.environb"))
}

pub(crate) fn whole_environment(run: &mut SourceRun<'_, '_>, span: Span) -> SharedValue {
    run.scanner.record(BehaviourKind::Env, "*", run.place, span);
    Scanner::environment(run.place, span)
}

/// What a name means that nothing in the text defines.
pub(crate) fn global(run: &SourceRun<'_, '_>, name: &str) -> SharedValue {
    match name {
        "__file__" | "__filename" => Value::text(&run.place.script_path()),
        "__dirname" => parent(&Value::text(&run.place.script_path()), 1),
        "True" | "False" | "None" | "null" | "true" | "false" | "undefined" | "this" | "self" => Value::unknown(),
        _ => Value::reference(name),
    }
}

pub(crate) fn parent(value: &SharedValue, levels: usize) -> SharedValue {
    let Some(text) = value.first_text().filter(|_| !value.is_open && value.texts.len() == 1) else {
        return value.derived();
    };
    let mut path = normalize_path(text);
    for _ in 0..levels.min(20) {
        path = match path.rsplit_once('/') {
            Some(("", _)) => "/".to_owned(),
            Some((above, last)) if last != ".." => above.to_owned(),
            Some(_) => format!("{path}/.."),
            None if path == "~" || path.starts_with("@skill") => format!("{path}/.."),
            None => ".".to_owned(),
        };
    }
    Value::text(&path.replace('*', "\u{fffc}")).with_taints(&value.taints)
}

/// The member of a value.
pub(crate) fn member(run: &mut SourceRun<'_, '_>, value: &SharedValue, name: &str, span: Span) -> SharedValue {
    if is_environment(value) {
        if matches!(
            name,
            "get" | "copy" | "items" | "keys" | "values" | "pop" | "setdefault" | "toObject" | "has" | "set" | "update"
        ) {
            return Value::reference(&format!("os.environ.{name}"));
        }
        return if run.is_python { Value::unknown() } else { run.scanner.variable(name, run.place, span) };
    }
    if let Some(item) = value.entry(name) {
        return Rc::clone(item);
    }
    if let Some(known) = value.name.as_deref()
        && let Some(member) = run.module_member(known, name)
    {
        return member;
    }
    match value.name.as_deref() {
        Some(FILE) => {
            return Rc::new(Value { name: Some(Rc::from(format!("{FILE}.{name}").as_str())), ..(**value).clone() });
        }
        Some("global" | "globalThis" | "window" | "self" | "__builtins__" | "builtins") => {
            return Value::reference(name);
        }
        Some("import") if matches!(name, "meta") => return Value::reference("import.meta"),
        Some("import.meta") => {
            return match name {
                "url" | "filename" | "path" => Value::text(&run.place.script_path()),
                "dirname" | "dir" => parent(&Value::text(&run.place.script_path()), 1),
                "env" => Value::reference("process.env"),
                _ => Value::unknown(),
            };
        }
        Some("sys") if name == "executable" => return Value::text("python3"),
        Some("process") if matches!(name, "execPath") => return Value::text("node"),
        Some(known) if known.len() < 200 => {
            let joined = format!("{known}.{name}");
            return Rc::new(Value {
                name: Some(Rc::from(joined.as_str())),
                taints: value.taints.clone(),
                is_open: true,
                ..Value::default()
            });
        }
        _ => {}
    }
    match name {
        "parent" if run.is_python => parent(value, 1),
        "parents" if run.is_python => Rc::new(Value { name: Some(Rc::from("\u{1}parents")), ..(**value).clone() }),
        "name" | "stem" if run.is_python && value.constant().is_some() => {
            let text = value.constant().unwrap_or("");
            let base = text.rsplit('/').next().unwrap_or(text);
            Value::text(if name == "stem" { base.split('.').next().unwrap_or(base) } else { base })
        }
        "href" | "pathname" => Rc::clone(value),
        _ => value.derived(),
    }
}

/// `value[index]`.
pub(crate) fn element(
    run: &mut SourceRun<'_, '_>,
    value: &SharedValue,
    index: &SharedValue,
    span: Span,
) -> SharedValue {
    if is_environment(value) {
        let name = index.constant().map_or_else(|| "\u{fffc}".to_owned(), str::to_owned);
        return run.scanner.variable(&name, run.place, span);
    }
    if value.is_name("\u{1}parents") {
        let levels = index.constant().and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
        let mut path = (**value).clone();
        path.name = None;
        return parent(&Rc::new(path), levels + 1);
    }
    let Some(text) = index.constant() else {
        return if value.items.is_empty() { value.derived() } else { opened(&choice(&value.items)) };
    };
    if let Some(item) = value.entry(text) {
        return Rc::clone(item);
    }
    if let Ok(number) = text.parse::<usize>()
        && value.keys.is_empty()
        && let Some(item) = value.items.get(number)
    {
        return Rc::clone(item);
    }
    if value.name.is_some()
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !text.as_bytes()[0].is_ascii_digit()
    {
        return member(run, value, text, span);
    }
    value.derived()
}

fn opened(value: &SharedValue) -> SharedValue {
    let mut value = (**value).clone();
    value.is_open = true;
    Rc::new(value)
}

/// A text backwards.
pub(crate) fn reversed(run: &SourceRun<'_, '_>, value: &SharedValue, span: Span) -> SharedValue {
    match value.constant().filter(|text| text.len() < 1 << 16) {
        Some(text) => Value::text(&text.chars().rev().collect::<String>()).with_taints(&[Taint::new(
            Source::Decoded,
            run.place,
            span,
        )]),
        None => value.derived(),
    }
}

/// `left % right` of Python.
pub(crate) fn format_percent(run: &mut SourceRun<'_, '_>, left: &SharedValue, right: &SharedValue) -> SharedValue {
    let Some(text) = left.first_text().filter(|text| text.contains('%')) else {
        return Value::unknown().with_taints(&merge_taints([left, right]));
    };
    let values: Vec<SharedValue> = if right.items.is_empty() { vec![Rc::clone(right)] } else { right.items.clone() };
    let mut parts = Vec::new();
    for (index, piece) in text.split("%s").enumerate() {
        if index > 0 {
            parts.push(values.get(index - 1).cloned().unwrap_or_else(Value::unknown));
        }
        parts.push(Value::text(&piece.replace("%d", "\u{fffc}")));
    }
    concat(&parts, &mut run.scanner.budget)
}

/// Joins paths: an absolute one starts again.
pub(crate) fn join_paths(run: &mut SourceRun<'_, '_>, values: &[SharedValue]) -> SharedValue {
    let start = values
        .iter()
        .rposition(|value| value.first_text().is_some_and(|text| text.starts_with('/') || text.starts_with('~')))
        .unwrap_or(0);
    let slash = Value::text("/");
    let mut parts: Vec<SharedValue> = Vec::new();
    for (index, value) in values[start..].iter().enumerate() {
        if value.constant() == Some(".") && index == 0 && values.len() > start + 1 {
            continue;
        }
        if !parts.is_empty() {
            parts.push(Rc::clone(&slash));
        }
        parts.push(Rc::clone(value));
    }
    if parts.is_empty() {
        return Value::text(".");
    }
    concat(&parts, &mut run.scanner.budget)
}

/// A template with the tag of a shell in JavaScript.
pub(crate) fn tagged_template(
    run: &mut SourceRun<'_, '_>,
    tag: &SharedValue,
    text: &SharedValue,
    span: Span,
) -> SharedValue {
    let is_shell = tag
        .name
        .as_deref()
        .is_some_and(|name| name == "$" || name.ends_with(".$") || name.ends_with("sh") || name.contains("execa"));
    if is_shell {
        run.scanner.evaluate(text, Language::Shell, "$", run.place, span);
        return Value::unknown();
    }
    if tag.is_name("String.raw") { Rc::clone(text) } else { text.derived() }
}

/// An assignment to a member or an element.
pub(crate) fn assigned(
    run: &mut SourceRun<'_, '_>,
    receiver: Option<&(SharedValue, String)>,
    value: &SharedValue,
    span: Span,
) {
    let Some((receiver, name)) = receiver else { return };
    if is_environment(receiver) && name == "PATH" {
        run.scanner.record(BehaviourKind::Env, "PATH", run.place, span);
    }
    // `x = process.env` and its like give the environment a second name; a member of something else is only filled.
    if is_environment(value) && !name.is_empty() {
        whole_environment(run, span);
    }
}

/// Follows a call. Returns what it gives.
pub(crate) fn call(
    run: &mut SourceRun<'_, '_>,
    callee: &SharedValue,
    receiver: Option<(SharedValue, String)>,
    arguments: &Arguments,
    span: Span,
) -> SharedValue {
    for value in arguments.all() {
        if is_environment(value) {
            whole_environment(run, span);
        }
    }
    let name = callee.name.clone();
    if let Some(name) = name.as_deref()
        && let Some(result) = call_named(run, name, arguments, span)
    {
        return result;
    }
    let receiver = receiver.unwrap_or_else(|| (Value::unknown(), String::new()));
    call_method(run, &receiver, name.as_deref(), arguments, span)
}

fn environment_argument(arguments: &Arguments, run: &SourceRun<'_, '_>, span: Span) -> Vec<Taint> {
    let has = arguments.all().any(is_environment);
    if has { vec![Taint::new(Source::Environment, run.place, span)] } else { Vec::new() }
}

fn call_named(run: &mut SourceRun<'_, '_>, name: &str, arguments: &Arguments, span: Span) -> Option<SharedValue> {
    if let Some(result) = call_environment(run, name, arguments, span) {
        return Some(result);
    }
    if let Some(result) = call_path(run, name, arguments, span) {
        return Some(result);
    }
    if let Some(result) = call_coding(run, name, arguments, span) {
        return Some(result);
    }
    if let Some(result) = call_process(run, name, arguments, span) {
        return Some(result);
    }
    if let Some(result) = source_files::call_files(run, name, arguments, span) {
        return Some(result);
    }
    source_network::call_network(run, name, arguments, span)
}

fn call_environment(run: &mut SourceRun<'_, '_>, name: &str, arguments: &Arguments, span: Span) -> Option<SharedValue> {
    match name {
        "os.getenv"
        | "os.environ.get"
        | "os.environ.pop"
        | "os.environ.setdefault"
        | "Deno.env.get"
        | "getenv"
        | "os.environ.has" => {
            let key = arguments.at(0);
            let key = key.constant().map_or_else(|| "\u{fffc}".to_owned(), str::to_owned);
            let value = run.scanner.variable(&key, run.place, span);
            match arguments.values.get(1) {
                Some(default) => Some(choice(&[value, opened(default)])),
                None => Some(value),
            }
        }
        "os.environ.copy" | "os.environ.items" | "os.environ.keys" | "os.environ.values" | "os.environ.toObject" => {
            Some(whole_environment(run, span))
        }
        "os.environ.update" | "os.environ.set" => Some(Value::unknown()),
        "dict" | "Object.entries" | "Object.keys" | "Object.values" | "Object.assign" | "str" | "json.dumps"
        | "JSON.stringify" => {
            let taints = environment_argument(arguments, run, span);
            let all: Vec<SharedValue> = arguments.all().cloned().collect();
            if matches!(name, "json.dumps" | "JSON.stringify") {
                judge_collected(run, &arguments.at(0), span);
            }
            match all.as_slice() {
                [one] if name == "str" => Some(Rc::clone(one).with_taints(&taints)),
                _ => Some(Value::unknown().with_taints(&merge_taints(&all)).with_taints(&taints)),
            }
        }
        "os.path.expandvars" => Some(arguments.at(0)),
        _ => None,
    }
}

/// Secrets of several services in one text.
fn judge_collected(run: &mut SourceRun<'_, '_>, value: &SharedValue, span: Span) {
    let names: Vec<&str> = value
        .taints
        .iter()
        .filter_map(|taint| match &taint.source {
            Source::Secret(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let owner = |name: &&str| match name.split('_').next().unwrap_or(name).to_ascii_lowercase() {
        owner if owner == "gh" => "github".to_owned(),
        owner if owner == "hf" => "huggingface".to_owned(),
        owner if owner == "gcp" => "google".to_owned(),
        owner => owner,
    };
    let mut owners: Vec<String> = names.iter().map(owner).collect();
    owners.sort_unstable();
    owners.dedup();
    if owners.len() >= 2 {
        let shown = names.join("`, `");
        run.scanner.signal(
            SignalKind::CredentialsCollected,
            format!("puts secrets of several services into one text: `{shown}`"),
            run.place,
            span,
        );
    }
}

fn call_path(run: &mut SourceRun<'_, '_>, name: &str, arguments: &Arguments, span: Span) -> Option<SharedValue> {
    let _ = span;
    Some(match name {
        "pathlib.Path" | "Path" | "pathlib.PurePath" | "os.path.join" | "path.join" | "path.posix.join" | "join"
        | "path.resolve" | "resolve" | "posixpath.join" | "pathlib.PosixPath" => {
            if arguments.values.is_empty() {
                Value::text(".")
            } else {
                join_paths(run, &arguments.values)
            }
        }
        "os.path.expanduser" | "os.path.abspath" | "os.path.realpath" | "os.path.normpath" | "path.normalize"
        | "url.fileURLToPath" | "fileURLToPath" | "url.pathToFileURL" | "os.fspath" | "promisify"
        | "util.promisify" | "fs.realpathSync" => arguments.at(0),
        "URL" if arguments.values.len() != 2 => arguments.at(0),
        "URL" => {
            let base = parent(&arguments.at(1), 1);
            if arguments.at(0).first_text().is_some_and(|text| text.contains("://")) {
                arguments.at(0)
            } else {
                join_paths(run, &[base, arguments.at(0)])
            }
        }
        "os.path.dirname" | "path.dirname" | "dirname" | "path.posix.dirname" => parent(&arguments.at(0), 1),
        "os.path.basename" | "path.basename" | "basename" => match arguments.at(0).constant() {
            Some(text) => {
                let base = text.trim_end_matches('/').rsplit('/').next().unwrap_or(text);
                let suffix = arguments.values.get(1).and_then(|value| value.constant()).unwrap_or("");
                Value::text(base.strip_suffix(suffix).unwrap_or(base))
            }
            None => arguments.at(0).derived(),
        },
        "pathlib.Path.home" | "Path.home" | "os.homedir" | "homedir" => Value::text("~"),
        "pathlib.Path.cwd" | "Path.cwd" | "os.getcwd" | "process.cwd" | "Deno.cwd" => Value::text("."),
        "os.tmpdir" | "tmpdir" | "tempfile.gettempdir" => Value::text("/tmp"),
        _ => return None,
    })
}

fn call_coding(run: &mut SourceRun<'_, '_>, name: &str, arguments: &Arguments, span: Span) -> Option<SharedValue> {
    let first = arguments.at(0);
    let place = run.place;
    Some(match name {
        "base64.b64decode"
        | "base64.urlsafe_b64decode"
        | "base64.standard_b64decode"
        | "base64.decodebytes"
        | "atob"
        | "binascii.a2b_base64"
        | "b64decode" => run.scanner.decoded(&first, decode::decode_base64, place, span),
        "base64.b32decode" | "base64.a85decode" | "base64.b85decode" | "marshal.loads" | "pickle.loads"
        | "zlib.decompress" | "gzip.decompress" | "zlib.inflateSync" | "zlib.gunzipSync" | "lzma.decompress"
        | "bz2.decompress" => first.derived().with_taints(&[Taint::new(Source::Decoded, place, span)]),
        "bytes.fromhex" | "bytearray.fromhex" | "binascii.unhexlify" => {
            run.scanner.decoded(&first, decode::decode_hex, place, span)
        }
        "codecs.decode" => match arguments.at(1).constant() {
            Some("rot13" | "rot_13") => run.scanner.decoded(
                &first,
                |text| Some(text.chars().map(rotate).collect::<String>().into_bytes()),
                place,
                span,
            ),
            Some("hex") => run.scanner.decoded(&first, decode::decode_hex, place, span),
            Some("base64") => run.scanner.decoded(&first, decode::decode_base64, place, span),
            _ => first.derived(),
        },
        "urllib.parse.unquote" | "decodeURIComponent" | "unescape" | "decodeURI" => {
            match first.constant().filter(|text| text.contains('%')) {
                Some(_) => run.scanner.decoded(&first, |text| Some(decode::decode_percent(text)), place, span),
                None => first,
            }
        }
        "Buffer.from" => match arguments.at(1).constant() {
            Some("base64" | "base64url") => run.scanner.decoded(&first, decode::decode_base64, place, span),
            Some("hex") => run.scanner.decoded(&first, decode::decode_hex, place, span),
            _ => first,
        },
        "base64.b64encode" | "base64.urlsafe_b64encode" | "btoa" | "binascii.hexlify" => {
            first.derived().with_taints(&[Taint::new(Source::Encoded, place, span)])
        }
        "String.fromCharCode" | "String.fromCodePoint" | "chr" => from_codes(&arguments.values, run, span),
        "bytes" | "bytearray" | "Uint8Array" | "Uint8Array.from" if !first.items.is_empty() => {
            from_codes(&first.items, run, span)
        }
        "int" | "float" | "len" | "round" | "Number" | "parseInt" => first.derived(),
        "require" | "__import__" | "importlib.import_module" => match first.constant() {
            Some(module) => run.imported_module(module, &module_name(module)),
            None => Value::unknown(),
        },
        "getattr" => match arguments.at(1).constant().map(str::to_owned) {
            Some(wanted) => member(run, &first, &wanted, span),
            None => Value::unknown(),
        },
        "globals" | "locals" | "vars" => Value::reference("globalThis"),
        "dotenv.config" | "dotenv.load_dotenv" | "load_dotenv" => {
            let path = arguments
                .values
                .first()
                .cloned()
                .or_else(|| arguments.named("dotenv_path").cloned())
                .or_else(|| first.entry("path").cloned());
            let path = path.filter(|path| path.first_text().is_some()).unwrap_or_else(|| Value::text(".env"));
            run.scanner.path(BehaviourKind::Read, &path, place, span);
            Value::unknown()
        }
        _ => return None,
    })
}

fn rotate(letter: char) -> char {
    match letter {
        'a'..='m' | 'A'..='M' => char::from_u32(u32::from(letter) + 13).unwrap_or(letter),
        'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(letter) - 13).unwrap_or(letter),
        _ => letter,
    }
}

fn from_codes(values: &[SharedValue], run: &SourceRun<'_, '_>, span: Span) -> SharedValue {
    let code = |value: &SharedValue| {
        let text = value.constant()?;
        let number =
            text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok())?;
        char::from_u32(number)
    };
    match values.iter().map(code).collect::<Option<String>>().filter(|text| !text.is_empty()) {
        Some(text) if text.chars().count() > 1 => {
            Value::text(&text).with_taints(&[Taint::new(Source::Decoded, run.place, span)])
        }
        Some(text) => Value::text(&text),
        None => Value::unknown().with_taints(&merge_taints(values)),
    }
}

#[expect(clippy::too_many_lines, reason = "a table of names, which formatting spreads over many lines")]
fn call_process(run: &mut SourceRun<'_, '_>, name: &str, arguments: &Arguments, span: Span) -> Option<SharedValue> {
    let first = arguments.at(0);
    match name {
        "eval" | "exec" | "execfile" | "runpy.run_path" if run.is_python => {
            run.scanner.evaluate(&first, Language::Python, name, run.place, span);
            Some(Value::unknown())
        }
        "compile" if run.is_python => Some(first),
        "eval" | "Function" | "vm.runInThisContext" | "vm.runInNewContext" | "vm.runInContext" | "vm.Script" => {
            let code = arguments.values.last().cloned().filter(|_| name == "Function").unwrap_or(first);
            run.scanner.evaluate(&code, Language::JavaScript, name, run.place, span);
            Some(Value::unknown())
        }
        "setTimeout" | "setInterval" if first.constant().is_some() => {
            run.scanner.evaluate(&first, Language::JavaScript, name, run.place, span);
            Some(Value::unknown())
        }
        "os.system"
        | "os.popen"
        | "subprocess.getoutput"
        | "subprocess.getstatusoutput"
        | "asyncio.create_subprocess_shell"
        | "commands.getoutput"
        | "child_process.execSync"
        | "child_process.exec"
        | "execSync"
        | "shelljs.exec"
        | "execaCommand"
        | "execa.command"
        | "popen" => Some(run_shell_text(run, &first, name, span)),
        "subprocess.run"
        | "subprocess.call"
        | "subprocess.check_call"
        | "subprocess.check_output"
        | "subprocess.Popen" => {
            let command = arguments.get(0, "args").unwrap_or_else(Value::unknown);
            Some(run_command(run, &command, arguments, name, span))
        }
        "asyncio.create_subprocess_exec"
        | "os.execvp"
        | "os.execlp"
        | "os.execv"
        | "os.execl"
        | "os.spawnlp"
        | "os.spawnvp"
        | "os.posix_spawn"
        | "pty.spawn" => {
            let values = match arguments.values.get(1) {
                Some(list) if !list.items.is_empty() && name.starts_with("os.") => list.items.clone(),
                _ if !first.items.is_empty() => first.items.clone(),
                _ => arguments.values.clone(),
            };
            if name == "pty.spawn" && first.constant().is_some_and(|text| text.ends_with("sh")) {
                run.scanner.signal(SignalKind::ReverseShell, "gives a shell a terminal of its own", run.place, span);
            }
            Some(run_words(run, values, span))
        }
        "child_process.spawn"
        | "child_process.spawnSync"
        | "child_process.execFile"
        | "child_process.execFileSync"
        | "execa"
        | "execa.execa"
        | "execaSync"
        | "cross-spawn"
        | "spawnSync"
        | "spawn"
        | "execFileSync"
        | "execFile"
        | "Bun.spawn"
        | "Bun.spawnSync"
        | "Deno.Command"
        | "cross-spawn.sync"
        | "child_process.fork" => Some(spawn(run, arguments, name, span)),
        _ if name.starts_with('.')
            && name.rsplit('.').next() == Some("exec")
            && arguments.values.get(1).is_some_and(|list| !list.items.is_empty()) =>
        {
            Some(spawn(run, arguments, name, span))
        }
        _ => None,
    }
}

fn spawn(run: &mut SourceRun<'_, '_>, arguments: &Arguments, name: &str, span: Span) -> SharedValue {
    let first = arguments.at(0);
    let options = arguments.values.last().cloned().unwrap_or_default();
    if !first.items.is_empty() {
        return run_words(run, first.items.clone(), span);
    }
    let mut values = vec![if name == "child_process.fork" { Value::text("node") } else { Rc::clone(&first) }];
    if let Some(list) = arguments.values.get(1).filter(|list| list.keys.is_empty()) {
        values.extend(list.items.iter().cloned());
    } else if let Some(list) = options.entry("args") {
        values.extend(list.items.iter().cloned());
    }
    if values.len() == 1 && first.constant().is_some_and(|text| text.contains(' ')) && options.entry("shell").is_some()
    {
        return run_shell_text(run, &first, name, span);
    }
    run_words(run, values, span)
}

fn run_command(
    run: &mut SourceRun<'_, '_>,
    command: &SharedValue,
    arguments: &Arguments,
    name: &str,
    span: Span,
) -> SharedValue {
    if !command.items.is_empty() {
        return run_words(run, command.items.clone(), span);
    }
    let has_shell = arguments.named("shell").is_some();
    if has_shell || command.first_text().is_some_and(|text| text.contains(' ')) {
        return run_shell_text(run, command, name, span);
    }
    run_words(run, vec![Rc::clone(command)], span)
}

fn run_shell_text(run: &mut SourceRun<'_, '_>, text: &SharedValue, name: &str, span: Span) -> SharedValue {
    if text.texts.is_empty() {
        run.scanner.record(BehaviourKind::Run, "*", run.place, span);
    }
    judge_tainted_query(run, text, span);
    run.scanner.evaluate(text, Language::Shell, name, run.place, span);
    text.derived()
}

/// A command for names that carries data.
fn judge_tainted_query(run: &mut SourceRun<'_, '_>, text: &SharedValue, span: Span) {
    let first = text.first_text().and_then(|text| text.split_whitespace().next()).unwrap_or("");
    if matches!(first, "dig" | "nslookup" | "host" | "ping" | "drill") && !text.taints.is_empty() {
        let call = Call { values: Vec::new(), span, place: run.place, input: None, is_conditional: false };
        crate::network_programs::judge_dns(run.scanner, &text.taints, first, &call);
    }
    let sends = text.first_text().is_some_and(|text| text.contains("curl ") || text.contains("wget "));
    if sends
        && let Some(url) = text.first_text().and_then(|text| text.split_whitespace().find(|word| word.contains("://")))
    {
        let url = Value::text(url.trim_matches(['\'', '"']));
        run.scanner.send(&url, &text.taints, &[], run.place, span);
    }
}

fn run_words(run: &mut SourceRun<'_, '_>, mut values: Vec<SharedValue>, span: Span) -> SharedValue {
    if values.len() == 1 && !values[0].items.is_empty() {
        values.clone_from(&Rc::clone(&values[0]).items);
    }
    let place = run.place;
    let mut shell = ShellRun::new(run.scanner);
    programs::run_program(&mut shell, &Call { values, span, place, input: None, is_conditional: true })
}

/// Follows a method of something whose type is not known, by its name alone.
fn call_method(
    run: &mut SourceRun<'_, '_>,
    receiver: &(SharedValue, String),
    name: Option<&str>,
    arguments: &Arguments,
    span: Span,
) -> SharedValue {
    let (value, method) = (&receiver.0, receiver.1.as_str());
    if let Some(member) = name.and_then(|name| name.strip_prefix("\u{1}file.")) {
        return source_files::file_method(run, value, member, arguments);
    }
    if let Some(result) = text_method(run, value, method, arguments, span) {
        return result;
    }
    if (value.name.is_none() || value.is_name("\u{1}path"))
        && let Some(result) = source_files::path_method(run, value, method, arguments, span)
    {
        return result;
    }
    if let Some(result) = source_network::call_network_method(run, value, method, arguments, span) {
        return result;
    }
    // A callback may run what it gets, and its result has the sources of everything that goes in.
    Value::unknown().with_taints(&merge_taints(arguments.all())).with_taints(&value.taints)
}

fn text_method(
    run: &mut SourceRun<'_, '_>,
    value: &SharedValue,
    method: &str,
    arguments: &Arguments,
    span: Span,
) -> Option<SharedValue> {
    let place = run.place;
    Some(match method {
        "encode" | "decode" | "strip" | "trim" | "lower" | "upper" | "toString" | "resolve" | "absolute"
        | "expanduser" | "as_posix" | "rstrip" | "lstrip" | "trimEnd" | "valueOf" | "toLowerCase" | "then"
            if method != "toString"
                || arguments.values.is_empty()
                || arguments.at(0).constant() == Some("utf8")
                || arguments.at(0).constant() == Some("utf-8") =>
        {
            if method == "then" {
                value.derived()
            } else {
                Rc::clone(value)
            }
        }
        "toString" | "hex" => value.derived().with_taints(&[Taint::new(Source::Encoded, place, span)]),
        "join" if !value.items.is_empty() => {
            let separator = arguments.values.first().and_then(|value| value.constant()).unwrap_or(",").to_owned();
            join_texts(run, &value.items, &separator)
        }
        "join" if run.is_python && value.constant().is_some() && arguments.values.len() == 1 => {
            let separator = value.constant().unwrap_or("").to_owned();
            let items = arguments.at(0);
            if items.items.is_empty() { items.derived() } else { join_texts(run, &items.items, &separator) }
        }
        "concat" if value.constant().is_some() => {
            let mut parts = vec![Rc::clone(value)];
            parts.extend(arguments.values.iter().cloned());
            concat(&parts, &mut run.scanner.budget)
        }
        "replace" | "replaceAll" if value.constant().is_some() && arguments.values.len() >= 2 => {
            replaced(value, arguments)
        }
        "format" if value.first_text().is_some_and(|text| text.contains('{')) => formatted(run, value, arguments),
        "reverse" if !value.items.is_empty() => Value::list(value.items.iter().rev().cloned().collect()),
        "split" if value.constant().is_some() => match (value.constant(), arguments.at(0).constant()) {
            (Some(text), Some("")) => Value::list(
                text.chars().take(value::ITEMS_MAX).map(|letter| Value::text(&letter.to_string())).collect(),
            ),
            (Some(text), Some(separator)) => {
                Value::list(text.split(separator).take(value::ITEMS_MAX).map(Value::text).collect())
            }
            (Some(text), None) if run.is_python && arguments.values.is_empty() => {
                Value::list(text.split_whitespace().take(value::ITEMS_MAX).map(Value::text).collect())
            }
            _ => value.derived(),
        },
        "startswith" | "endswith" | "includes" | "startsWith" | "test" | "exists" | "is_file" | "is_dir" => {
            Value::unknown()
        }
        _ => return None,
    })
}

fn replaced(value: &SharedValue, arguments: &Arguments) -> SharedValue {
    let (from, to) = (arguments.at(0), arguments.at(1));
    match (value.constant(), from.constant(), to.constant()) {
        (Some(text), Some(from), Some(to)) if !from.is_empty() && text.len() < 1 << 16 && to.len() < 64 => {
            Value::text(&text.replace(from, to)).with_taints(&value.taints)
        }
        _ => value.derived(),
    }
}

fn formatted(run: &mut SourceRun<'_, '_>, value: &SharedValue, arguments: &Arguments) -> SharedValue {
    let text = value.first_text().unwrap_or("").to_owned();
    let mut parts = Vec::new();
    let mut rest = text.as_str();
    let mut index = 0;
    while let Some((before, after)) = rest.split_once('{') {
        parts.push(Value::text(before));
        let (field, tail) = after.split_once('}').unwrap_or((after, ""));
        let key = field.split([':', '!']).next().unwrap_or("");
        let found = if key.is_empty() {
            index += 1;
            arguments.values.get(index - 1).cloned()
        } else {
            key.parse::<usize>()
                .ok()
                .and_then(|at| arguments.values.get(at).cloned())
                .or_else(|| arguments.named(key).cloned())
        };
        parts.push(found.unwrap_or_else(Value::unknown));
        rest = tail;
        if parts.len() > 200 {
            break;
        }
    }
    parts.push(Value::text(rest));
    concat(&parts, &mut run.scanner.budget)
}

fn join_texts(run: &mut SourceRun<'_, '_>, items: &[SharedValue], separator: &str) -> SharedValue {
    let separator = Value::text(separator);
    let mut parts = Vec::with_capacity(items.len() * 2);
    for item in items {
        if !parts.is_empty() {
            parts.push(Rc::clone(&separator));
        }
        parts.push(Rc::clone(item));
    }
    concat(&parts, &mut run.scanner.budget)
}
