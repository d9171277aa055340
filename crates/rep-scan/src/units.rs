//! Finds what there is to read in a skill: scripts, fences and commands in Markdown, comments, hooks, manifests, archives.

use std::borrow::Cow;

use rep_model::markdown::{self, MarkdownOutline};
use rep_model::{FileContent, Skill, Span, SymlinkTarget, TreeEntry};

use crate::behaviour::SignalKind;
use crate::hosts::{self, HostClass};
use crate::links;
use crate::opaque;
use crate::prose;
use crate::scanner::{Language, Place, Scanner, UnreadKind, quote};

/// The maximum size of a file that is read.
const FILE_BYTES_MAX: usize = 8 << 20;

/// Reads every file of a skill.
pub(crate) fn read_skill(scanner: &mut Scanner<'_>, skill: &Skill) {
    links::link_scripts(scanner, skill);
    for (path, entry) in &skill.tree.entries {
        let place = Place::of_file(path);
        match entry {
            TreeEntry::File { content, .. } => read_content(scanner, path, content, &place),
            TreeEntry::Link { destination: SymlinkTarget::Inside(target), .. } => {
                // The target is read where it is, unless the directory around it was not read.
                if !skill.tree.has_path(target) {
                    not_looked_at(scanner, &format!("the link points to `{target}`, which is not read"), &place);
                }
            }
            TreeEntry::Link { content, .. } => match content {
                FileContent::Bytes(bytes) => read_file(scanner, path, bytes, &place, 0),
                _ => not_looked_at(scanner, "the link points to a file outside of the skill", &place),
            },
            TreeEntry::Directory if path == ".git" || path.ends_with("/.git") => {
                scanner.count_unread(UnreadKind::Git, path);
            }
            TreeEntry::Directory => {}
            TreeEntry::Other(what) => not_looked_at(scanner, &format!("it is {what}"), &place),
        }
    }
    read_started_files(scanner, skill);
    report_unread(scanner);
    if !skill.tree.omissions.is_empty() {
        let why = format!("the directory was not read completely: {}", skill.tree.omissions);
        not_looked_at(scanner, &why, &Place::of_file(""));
    }
}

fn read_content(scanner: &mut Scanner<'_>, path: &str, content: &FileContent, place: &Place) {
    match content {
        FileContent::Bytes(bytes) => read_file(scanner, path, bytes, place, 0),
        FileContent::NotRead if path.split('/').any(|part| part == "node_modules") => {
            scanner.count_unread(UnreadKind::NodeModules, path);
        }
        FileContent::NotRead if opaque::has_media_name(path) => scanner.count_unread(UnreadKind::Media, path),
        FileContent::NotRead => not_looked_at(scanner, "the file was not read", place),
        FileContent::TooLarge(limit) if *limit < FILE_BYTES_MAX as u64 => {
            scanner.count_unread(UnreadKind::SkillTooLarge, path);
        }
        FileContent::TooLarge(_) => not_looked_at(scanner, "the file is larger than 8 MiB", place),
        FileContent::Unreadable(why) => not_looked_at(scanner, &format!("the file cannot be read: {why}"), place),
    }
}

/// Reads the files that other code starts, whatever they are called.
fn read_started_files(scanner: &mut Scanner<'_>, skill: &Skill) {
    let mut index = 0;
    while let Some((from, path, language)) = scanner.started.get(index).cloned() {
        index += 1;
        let Some(file) = scanner.find_file(&from, &path) else { continue };
        let Some(bytes) = skill.tree.file_bytes(&file) else { continue };
        if opaque::find_archive(bytes).is_some() || !scanner.read_as_code.insert(file.clone()) {
            continue;
        }
        let Some(language) = language else {
            if !is_unread_language(&extension(&file)) {
                not_looked_at(scanner, "code in this language is not read", &Place::of_file(&file));
            }
            continue;
        };
        let (text, is_exact) = decode_text(bytes);
        let place = Place::of_file(&file);
        let place = if is_exact { place } else { Place { fixed: Some(Span::default()), ..place } };
        scanner.read_code(&text, language, &place);
    }
}

/// Reports what was counted and not read.
fn report_unread(scanner: &mut Scanner<'_>) {
    for (kind, (first, count)) in std::mem::take(&mut scanner.unread) {
        let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        let message = match kind {
            UnreadKind::Media => format!("`{first}`{more} with images, sound, video or fonts are not looked into"),
            UnreadKind::Git => format!("`{first}`{more} with the history of the files is not read"),
            UnreadKind::NodeModules => format!("`{first}`{more} in `node_modules` are not read"),
            UnreadKind::SkillTooLarge => format!("`{first}`{more} are not read: the skill is larger than 32 MiB"),
            UnreadKind::TooDeep => "code that is nested or encoded too deeply is not read".to_owned(),
            UnreadKind::TooMuch => "it does more than is reported".to_owned(),
        };
        let signal = match kind {
            UnreadKind::Media | UnreadKind::Git => SignalKind::DataNotRead,
            _ => SignalKind::NotLookedAt,
        };
        scanner.signal(signal, message, &Place::of_file(&first), Span::default());
    }
}

fn not_looked_at(scanner: &mut Scanner<'_>, why: &str, place: &Place) {
    scanner.signal(SignalKind::NotLookedAt, why, place, Span::default());
}

fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or_else(String::new, |(_, end)| end.to_ascii_lowercase())
}

pub(crate) fn read_file(scanner: &mut Scanner<'_>, path: &str, bytes: &[u8], place: &Place, archives: u8) {
    if opaque::judge_bytes(scanner, path, bytes, place) {
        return;
    }
    if let Some(archive) = opaque::find_archive(bytes) {
        return read_archive(scanner, path, archive, place, archives);
    }
    if bytes.len() > FILE_BYTES_MAX {
        return not_looked_at(scanner, "the file is larger than 8 MiB", place);
    }
    let is_known = is_text_name(path);
    if !is_known && opaque::is_media(&bytes[..bytes.len().min(4096)]) {
        return scanner.count_unread(UnreadKind::Media, path);
    }
    if !is_known && opaque::is_binary(bytes) {
        return not_looked_at(scanner, &format!("`{path}` is data of a kind that is not read"), place);
    }
    let (text, is_exact) = decode_text(bytes);
    // Replacements would move the spans.
    let place = &if is_exact { place.clone() } else { Place { fixed: Some(Span::default()), ..place.clone() } };
    prose::find_hidden(scanner, &text, place);
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    match extension(path).as_str() {
        _ if is_document_name(path) => return read_markdown(scanner, &text, place),
        "json" | "yaml" | "yml" | "toml" | "cfg" | "ini" | "env" | "conf" | "plist" | "xml" => {
            judge_agent_hooks(scanner, &text, place);
            return read_settings(scanner, &name, &text, place);
        }
        _ => {}
    }
    if let Some(language) = script_language(path, &text).or_else(|| guess_language(path, &text)) {
        if archives == 0 {
            scanner.read_as_code.insert(path.to_owned());
        }
        return scanner.read_code(&text, language, place);
    }
    if is_recipe_name(&name) {
        return read_recipes(scanner, &text, place);
    }
    if is_unread_language(&extension(path)) {
        not_looked_at(scanner, &format!("code in this language is not read: `.{}`", extension(path)), place);
    } else if text.starts_with("#!") {
        let line = text.lines().next().unwrap_or("");
        not_looked_at(scanner, &format!("code for this interpreter is not read: {}", quote(line)), place);
    }
}

/// The text of a file, and whether its offsets are those of the bytes.
fn decode_text(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    if let Some(text) = opaque::decode_utf16(bytes) {
        return (Cow::Owned(text), false);
    }
    let text = String::from_utf8_lossy(bytes);
    let is_exact = matches!(text, Cow::Borrowed(_));
    (text, is_exact)
}

/// Whether the name of a file says that it is text that is read.
fn is_text_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    is_document_name(path)
        || is_recipe_name(&name)
        || is_code_name(path)
        || matches!(extension(path).as_str(), "json" | "yaml" | "yml" | "toml" | "cfg" | "ini" | "env" | "conf" | "xml")
}

/// Whether a file is read as a document: by its ending, or by a name in capitals such as `LICENSE`.
fn is_document_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_title = name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-'));
    is_title || matches!(extension(path).as_str(), "md" | "markdown" | "mdx" | "mdc" | "txt" | "rst")
}

fn is_recipe_name(name: &str) -> bool {
    matches!(name, "makefile" | "justfile") || name.starts_with("dockerfile") || name.ends_with(".mk")
}

/// The language of a file whose name says nothing, by its first lines.
fn guess_language(path: &str, text: &str) -> Option<Language> {
    let extension = extension(path);
    let is_vague = extension.is_empty()
        || extension.len() > 8
        || matches!(
            extension.as_str(),
            "bak"
                | "bin"
                | "dat"
                | "data"
                | "inc"
                | "lib"
                | "log"
                | "old"
                | "orig"
                | "out"
                | "run"
                | "script"
                | "tmp"
                | "x"
        );
    if !is_vague {
        return None;
    }
    let lines = || text.lines().take(40).map(str::trim);
    let is_python = |line: &str| {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("from"), Some(_), Some("import")) => true,
            (Some("import"), Some(module), None | Some("as")) => !module.starts_with(['"', '\'', '{']),
            (Some("def"), Some(_), _) => line.ends_with(':'),
            _ => false,
        }
    };
    let is_script = |line: &str| {
        line.contains("require(")
            || line.starts_with("import ") && line.contains(" from ")
            || line.starts_with("const ") && line.contains('=')
    };
    if lines().any(is_python) {
        Some(Language::Python)
    } else if lines().any(is_script) {
        Some(Language::JavaScript)
    } else {
        looks_like_shell(text).then_some(Language::Shell)
    }
}

pub(crate) fn script_language(path: &str, text: &str) -> Option<Language> {
    let by_name = match extension(path).as_str() {
        "sh" | "bash" | "zsh" | "ksh" | "command" | "ps1" | "psm1" | "fish" | "bats" => Some(Language::Shell),
        "py" | "pyw" | "pyi" => Some(Language::Python),
        "js" | "mjs" | "cjs" | "ts" | "tsx" | "jsx" | "mts" | "cts" => Some(Language::JavaScript),
        _ => None,
    };
    let by_line = || {
        let first = text.lines().next().filter(|line| line.starts_with("#!"))?;
        let has = |word: &str| first.contains(word);
        if has("python") || has("uv run") {
            Some(Language::Python)
        } else if has("node") || has("deno") || has("bun") || has("tsx") {
            Some(Language::JavaScript)
        } else if has("sh") {
            Some(Language::Shell)
        } else {
            None
        }
    };
    by_name.or_else(by_line)
}

/// Returns whether the name of a file says that it is code.
fn is_code_name(path: &str) -> bool {
    script_language(path, "").is_some() || is_unread_language(&extension(path))
}

fn is_unread_language(extension: &str) -> bool {
    matches!(
        extension,
        "rb" | "pl"
            | "pm"
            | "php"
            | "go"
            | "rs"
            | "java"
            | "kt"
            | "scala"
            | "c"
            | "cc"
            | "cpp"
            | "cs"
            | "swift"
            | "m"
            | "lua"
            | "r"
            | "jl"
            | "bat"
            | "cmd"
            | "vbs"
            | "wsf"
            | "hta"
            | "applescript"
            | "scpt"
            | "tcl"
            | "awk"
            | "nim"
            | "zig"
            | "ex"
            | "exs"
            | "clj"
            | "dart"
            | "vue"
            | "svelte"
            | "ipynb"
    )
}

fn read_archive(scanner: &mut Scanner<'_>, path: &str, bytes: &[u8], place: &Place, archives: u8) {
    if archives >= 2 {
        return not_looked_at(scanner, "an archive in an archive in an archive is not opened", place);
    }
    let inside = Place { fixed: Some(Span::default()), ..place.clone() };
    match rep_archive::open_to_inspect(bytes, scanner.unpacked_bytes_left) {
        Ok(entries) => {
            let size: u64 = entries.iter().map(|entry| entry.bytes.len() as u64).sum();
            scanner.unpacked_bytes_left = scanner.unpacked_bytes_left.saturating_sub(size);
            for entry in entries {
                read_file(scanner, &entry.path, &entry.bytes, &inside, archives + 1);
            }
        }
        Err(_) if opaque::is_encrypted_zip(bytes) => {
            scanner.signal(SignalKind::OpaqueFile, format!("`{path}` is an encrypted archive"), place, Span::default());
        }
        // A single compressed file.
        Err(error) => match opaque::gunzip(bytes, scanner.unpacked_bytes_left.min(FILE_BYTES_MAX as u64)) {
            Some(unpacked) => {
                scanner.unpacked_bytes_left = scanner.unpacked_bytes_left.saturating_sub(unpacked.len() as u64);
                let name = path.strip_suffix(".gz").unwrap_or(path);
                read_file(scanner, name, &unpacked, &inside, archives + 1);
            }
            None => not_looked_at(scanner, &format!("the archive cannot be opened: {error}"), place),
        },
    }
}

// Markdown.

pub(crate) fn read_markdown(scanner: &mut Scanner<'_>, text: &str, place: &Place) {
    let place = &Place { is_shown: true, ..place.clone() };
    let body = rep_model::skill_md::split_frontmatter(text).map_or(Span::new(0, text.len()), |parts| parts.body);
    if body.start > 0 {
        read_frontmatter(scanner, &text[..body.start], place);
    }
    let outline = markdown::parse_outline(&text[body.range()], body.start);
    read_fences(scanner, text, &outline, place);
    read_comments(scanner, text, &outline, place);
    read_commands_in_prose(scanner, text, body, &outline, place);
    match prose::without_invisible(text) {
        Some(clean) => {
            prose::read_prose(scanner, &clean, &Place { fixed: Some(Span::new(0, 0)), ..place.clone() }, false);
        }
        None => prose::read_prose(scanner, text, place, false),
    }
}

/// Commands in the fields of hosts, such as `install` and `hooks`.
fn read_frontmatter(scanner: &mut Scanner<'_>, front: &str, place: &Place) {
    for mark in ["\"command\":\"", "\"command\": \"", "command: "] {
        let mut from = 0;
        while let Some(found) = front[from..].find(mark) {
            let start = from + found + mark.len();
            let end = json_text_end(front, start, mark.ends_with('"'));
            let command = front[start..end].replace("\\\"", "\"").trim_matches(['\'', '"']).to_owned();
            scanner.read_code(&command, Language::Shell, &place.fixed_at(Span::new(start, end), false));
            from = end;
        }
    }
}

fn json_text_end(text: &str, start: usize, is_quoted: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if is_quoted => at += 1,
            b'"' if is_quoted => break,
            b'\n' => break,
            _ => {}
        }
        at += 1;
    }
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

fn fence_language(info: &str, code: &str) -> Option<Language> {
    let name = info
        .split(|letter: char| letter.is_whitespace() || letter == ',' || letter == '{')
        .next()
        .unwrap_or("")
        .to_ascii_lowercase();
    match name.as_str() {
        "bash" | "sh" | "shell" | "zsh" | "console" | "shell-session" | "shellsession" | "terminal" | "powershell"
        | "ps1" | "pwsh" | "cmd" | "batch" | "bat" | "fish" => Some(Language::Shell),
        "python" | "py" | "python3" => Some(Language::Python),
        "javascript" | "js" | "typescript" | "ts" | "jsx" | "tsx" | "mjs" | "node" => Some(Language::JavaScript),
        "" | "text" | "plaintext" | "txt" => looks_like_shell(code).then_some(Language::Shell),
        _ => None,
    }
}

fn looks_like_shell(code: &str) -> bool {
    code.lines().take(40).any(|line| {
        let line = line.trim_start().trim_start_matches(['$', '>', '#']).trim_start();
        let first = line.split_whitespace().next().unwrap_or("");
        matches!(
            first,
            "curl"
                | "wget"
                | "sudo"
                | "bash"
                | "sh"
                | "pip"
                | "pip3"
                | "npm"
                | "npx"
                | "git"
                | "chmod"
                | "rm"
                | "echo"
                | "python"
                | "python3"
                | "node"
                | "cat"
                | "export"
                | "eval"
                | "nc"
                | "ssh"
                | "uvx"
                | "brew"
        ) && line.len() > first.len() + 1
    })
}

fn read_fences(scanner: &mut Scanner<'_>, text: &str, outline: &MarkdownOutline, place: &Place) {
    for fence in &outline.fences {
        let Some(block) = text.get(fence.span.range()) else { continue };
        let start = block.find('\n').map_or(block.len(), |at| at + 1);
        let end = if fence.is_closed {
            block.trim_end().rfind('\n').map_or(block.len(), |at| at + 1).max(start)
        } else {
            block.len()
        };
        let code = blank_prefixes(&block[start..end]);
        let offset = fence.span.start + start;
        let inner = Place { base: place.base + offset, ..place.clone() };
        match fence_language(&fence.info, &code) {
            Some(Language::Shell) => scanner.read_code(&blank_prompts(&code), Language::Shell, &inner),
            Some(language) => {
                scanner.read_code(&code, language, &inner);
                read_commands_in_code(scanner, &code, &inner);
            }
            None if matches!(
                fence.info.trim().to_ascii_lowercase().as_str(),
                "json" | "jsonc" | "yaml" | "yml" | "toml"
            ) =>
            {
                read_settings(scanner, "", &code, &inner);
            }
            None => {}
        }
    }
}

/// Lines of a fence that are commands, although the fence names another language.
fn read_commands_in_code(scanner: &mut Scanner<'_>, code: &str, place: &Place) {
    let mut start = 0;
    for line in code.split_inclusive('\n') {
        let first = line.split_whitespace().next().unwrap_or("");
        if matches!(first, "curl" | "wget" | "bash" | "nc" | "iwr" | "irm" | "powershell") && is_command(line) {
            scanner.read_code(line, Language::Shell, &place.at_offset(start));
        }
        start += line.len();
    }
}

/// Replaces the marks of block quotes with spaces, so that offsets stay the same.
fn blank_prefixes(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    for line in code.split_inclusive('\n') {
        let body = line.trim_start_matches([' ', '>']);
        if line.len() > body.len() && line[..line.len() - body.len()].contains('>') {
            out.push_str(&" ".repeat(line.len() - body.len()));
            out.push_str(body);
        } else {
            out.push_str(line);
        }
    }
    out
}

/// Replaces the prompts of transcripts with spaces.
fn blank_prompts(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    for line in code.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let rest = &line[indent..];
        if rest.starts_with("$ ") || rest.starts_with("% ") {
            out.push_str(&line[..indent]);
            out.push_str("  ");
            out.push_str(&rest[2..]);
        } else {
            out.push_str(line);
        }
    }
    out
}

fn read_comments(scanner: &mut Scanner<'_>, text: &str, outline: &MarkdownOutline, place: &Place) {
    for span in &outline.html {
        let Some(comment) = text.get(span.range()).filter(|html| html.trim_start().starts_with("<!--")) else {
            continue;
        };
        let inner = Place { base: place.base + span.start, ..place.clone() };
        prose::read_prose(scanner, comment, &inner, true);
        let lower = comment.to_lowercase();
        let demands = [
            "you must",
            "assistant",
            "the agent",
            "ai:",
            "system:",
            "when you read",
            "execute the following",
            "run the following",
        ]
        .iter()
        .any(|word| lower.contains(word));
        let acts =
            ["curl ", "send ", "upload", "exfil", "base64", "http://", "https://", "read ~", "do not tell", "secretly"]
                .iter()
                .any(|word| lower.contains(word));
        if demands && acts {
            scanner.signal(
                SignalKind::HiddenText,
                format!("a comment gives instructions: {}", quote(comment)),
                &inner,
                Span::new(0, comment.len()),
            );
        }
        if is_command(&lower) {
            read_line(
                scanner,
                comment.trim_start().trim_start_matches("<!--").trim_end().trim_end_matches("-->"),
                &inner.fixed_at(Span::new(0, comment.len()), false),
            );
        }
    }
}

/// Whether a line of prose is worth reading as a command.
fn is_command(line: &str) -> bool {
    line.contains('|')
        && ["| bash", "|bash", "| sh", "|sh", "| zsh", "| python", "| iex", "|iex", "| node", "| sudo"]
            .iter()
            .any(|end| line.contains(end))
        || line.contains("$(curl")
        || line.contains("<(curl")
        || line.contains("/dev/tcp/")
        || line.contains("base64 -d")
        || line.contains("base64 -D")
        || line.contains("iex (")
        || line.contains("nc -e")
        || line.contains("rm -rf /")
        || line.contains("rm -rf ~")
        || line.contains("powershell -")
}

/// Whether a line outside of a fence is a command and nothing else.
fn is_command_line(line: &str) -> bool {
    let line =
        line.trim_start_matches(|letter: char| letter.is_whitespace() || matches!(letter, '$' | '>' | '-' | '*'));
    let mut words = line.split_whitespace();
    let (Some(program), Some(operand)) = (words.next(), words.next()) else { return false };
    let has_url = line.contains("://");
    let is_option = operand.len() > 1 && operand.starts_with('-');
    match program {
        "curl" | "wget" | "iwr" | "irm" => has_url && (is_option || operand.contains("://")),
        "git" => operand == "clone" && has_url,
        "nc" | "ncat" | "socat" | "powershell" | "pwsh" | "powershell.exe" => is_option,
        "nslookup" | "dig" => operand.contains('.') && operand.contains('$'),
        _ => false,
    }
}

fn read_commands_in_prose(scanner: &mut Scanner<'_>, text: &str, body: Span, outline: &MarkdownOutline, place: &Place) {
    let mut fences = outline.fences.iter().map(|fence| fence.span).peekable();
    let mut start = body.start;
    for line in text[body.range()].split_inclusive('\n') {
        let end = start + line.len();
        while fences.peek().is_some_and(|fence| fence.end <= start) {
            fences.next();
        }
        let is_fenced = fences.peek().is_some_and(|fence| fence.start < end && fence.end > start);
        if !is_fenced && line.len() < 8192 && line.contains("://") {
            scanner.judge_url_in_text(line, place, Span::new(start, end - (line.len() - line.trim_end().len())));
        }
        if !is_fenced && line.len() < 8192 && (is_command(line) || is_command_line(line)) {
            let clean = unescape_markdown(line);
            let inner = place.fixed_at(Span::new(start, end - (line.len() - line.trim_end().len())), false);
            // In inline code, only the code is the command.
            let codes: Vec<&str> = clean.split('`').skip(1).step_by(2).filter(|code| is_command(code)).collect();
            if codes.is_empty() {
                read_line(scanner, &clean, &inner);
            }
            for code in codes {
                read_line(scanner, code, &inner);
            }
        }
        start = end;
    }
}

fn read_line(scanner: &mut Scanner<'_>, line: &str, place: &Place) {
    let line =
        line.trim_start_matches(|letter: char| letter.is_whitespace() || matches!(letter, '>' | '-' | '*' | '|' | '$'));
    // Prose before the command does not belong to it.
    let start = [
        "curl ",
        "wget ",
        "echo ",
        "powershell",
        "bash ",
        "sh -c",
        "iwr ",
        "irm ",
        "nc ",
        "rm -rf",
        "python",
        "base64 ",
    ]
    .iter()
    .filter_map(|word| line.find(word))
    .min()
    .unwrap_or(0);
    scanner.read_code(line[start..].trim_end_matches(['*', '.']), Language::Shell, place);
}

fn unescape_markdown(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_escape = letter == '\\'
            && letters.peek().is_some_and(|next| {
                matches!(next, '&' | '_' | '[' | ']' | '*' | '|' | '<' | '>' | '#' | '(' | ')' | '!' | '~' | '`' | '-')
            });
        if !is_escape {
            out.push(letter);
        }
    }
    out
}

// Settings.

/// Reads commands and hosts of settings files.
fn read_settings(scanner: &mut Scanner<'_>, name: &str, text: &str, place: &Place) {
    let is_package = name == "package.json";
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = Span::new(start, start + line.trim_end().len());
        start += line.len();
        if line.len() > 16_384 {
            continue;
        }
        let trimmed = line.trim();
        if let Some((key, value)) = trimmed.split_once(':').or_else(|| trimmed.split_once('=')) {
            let key = key.trim().trim_matches(['"', '\'', '-', ' ']);
            let value = value.trim().trim_end_matches(',').trim_matches(['"', '\'']).replace("\\\"", "\"");
            let is_hook = is_package
                && matches!(
                    key,
                    "preinstall" | "install" | "postinstall" | "prepare" | "preuninstall" | "postuninstall"
                );
            if is_hook {
                judge_install_hook(scanner, key, &value, place, span);
            }
            if is_hook || key == "command" && value.contains(' ') || key == "run" && name.ends_with("ml") {
                scanner.read_code(&value, Language::Shell, &place.fixed_at(span, false));
            }
        }
        judge_settings_host(scanner, trimmed, place, span);
    }
}

/// Events on which hosts start the commands of their settings.
const AGENT_EVENTS: [&str; 10] = [
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "SubagentStop",
    "PreCompact",
    "Notification",
    "beforeShellExecution",
    "afterFileEdit",
];

/// Reports commands of a host's settings that start without the user: a file that hosts read, in the skill itself.
fn judge_agent_hooks(scanner: &mut Scanner<'_>, text: &str, place: &Place) {
    let path = place.file.to_ascii_lowercase();
    let is_settings = ["settings.json", "settings.local.json", "hooks.json", "hooks/hooks.json"]
        .iter()
        .any(|name| path == *name || path.ends_with(&format!("/{name}")));
    if !is_settings || !text.contains("\"command\"") {
        return;
    }
    for event in AGENT_EVENTS {
        if let Some(at) = text.find(&format!("\"{event}\"")) {
            let message = format!("on `{event}`, hosts start a command of this file");
            scanner.signal(SignalKind::AgentHook, message, place, Span::new(at, at + event.len() + 2));
        }
    }
}

fn judge_install_hook(scanner: &mut Scanner<'_>, key: &str, value: &str, place: &Place, span: Span) {
    let is_usual = [
        "husky",
        "tsc",
        "node-gyp",
        "npm run build",
        "patch-package",
        "prisma generate",
        "playwright install",
        "electron-builder",
        "is-ci",
        "lefthook",
        "ngcc",
        "simple-git-hooks",
        "yarn build",
        "pnpm build",
        "bun run build",
        "vite build",
        "rollup",
    ]
    .iter()
    .any(|known| value.contains(known));
    if !is_usual && key != "prepare" && !value.is_empty() {
        scanner.signal(
            SignalKind::InstallHook,
            format!("`{key}` runs {} when the package is installed", quote(value)),
            place,
            span,
        );
    }
}

fn judge_settings_host(scanner: &mut Scanner<'_>, line: &str, place: &Place, span: Span) {
    for scheme in ["http://", "https://"] {
        let Some(at) = line.find(scheme) else { continue };
        let url = line[at..]
            .split(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | ',' | ')'))
            .next()
            .unwrap_or("");
        if matches!(hosts::classify_url(url), HostClass::Drop | HostClass::Address) {
            let host = hosts::parse_url(url).map_or_else(String::new, |(host, _)| host);
            scanner.signal(SignalKind::DropHost, format!("names `{host}`, which anybody can have"), place, span);
        }
    }
}

fn read_recipes(scanner: &mut Scanner<'_>, text: &str, place: &Place) {
    // Every line is blanked up to its command, so that offsets stay the same.
    let mut shell = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        let skip = if body.starts_with("RUN ") {
            indent + 4
        } else if line.starts_with('\t') || line.starts_with("    ") {
            indent + usize::from(body.starts_with(['@', '-']))
        } else {
            shell.push_str(&" ".repeat(line.trim_end_matches(['\n', '\\']).len()));
            shell.push_str(&line[line.trim_end_matches(['\n', '\\']).len()..].replace('\\', " "));
            continue;
        };
        shell.push_str(&" ".repeat(skip));
        shell.push_str(&line[skip..]);
    }
    scanner.read_code(&shell, Language::Shell, place);
}
