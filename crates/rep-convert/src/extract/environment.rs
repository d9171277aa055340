//! Environment variables a skill needs: UASP's `environment`, by UASP §7.1 rule 9.
//!
//! A variable a script sets for itself is not one, nor is what the host fills in (`$ARGUMENTS`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::blocks::{Block, Kind};
use super::commands::is_shell;
use super::constraints::tidy;
use super::draft::Draft;
use super::sections::Place;
use super::sentences::sentences;

/// Names every shell has, and names a host fills in.
const GIVEN: &[&str] = &[
    "ARGUMENTS",
    "PATH",
    "HOME",
    "PWD",
    "USER",
    "SHELL",
    "TMPDIR",
    "EDITOR",
    "LANG",
    "OLDPWD",
    "RANDOM",
    "HOSTNAME",
    "BASH_SOURCE",
    "PIPESTATUS",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_SKILL_DIR",
    "SKILL_DIR",
    "CLAUDE_SESSION_ID",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "BASE_DIR",
    "GIT_DIR",
    "SCRIPT_DIR",
    "USERPROFILE",
    "APPDATA",
    "TEMP",
    "TMP",
    "TERM",
    "IFS",
    "PYTHONPATH",
    "EOF",
    "LOGNAME",
    "UID",
    "EUID",
    "PPID",
    "SECONDS",
    "LINENO",
    "SHLVL",
    "OSTYPE",
    "REPLY",
    "OPTARG",
    "OPTIND",
    "FUNCNAME",
    "BASHPID",
    "BASH_VERSION",
    "BASH_REMATCH",
    "COLUMNS",
    "LINES",
    "NF",
    "NR",
    "FNR",
    "FS",
    "OFS",
];

/// Endings that say a name is configuration.
const ENDINGS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "URL",
    "HOST",
    "PORT",
    "REGION",
    "ENDPOINT",
    "CREDENTIALS",
    "PROXY",
    "PROFILE",
    "SID",
    "DSN",
    "WEBHOOK",
];

/// What is known of a variable.
struct Variable {
    line: usize,
    purpose: Option<String>,
    default: Option<String>,
}

/// Reads the environment variables of a skill.
pub(super) fn read(blocks: &[Block], places: &[Place], draft: &mut Draft) {
    let locals = Locals::of(blocks);
    let mut order: Vec<String> = Vec::new();
    let mut known: BTreeMap<String, Variable> = BTreeMap::new();
    let mut add = |name: &str, line: usize, purpose: Option<String>, default: Option<String>| {
        if !is_variable(name) || GIVEN.contains(&name) || locals.made.contains(name) {
            return;
        }
        let variable = known.entry(name.to_owned()).or_insert_with(|| {
            order.push(name.to_owned());
            Variable { line, purpose: None, default: None }
        });
        variable.purpose = variable.purpose.take().or(purpose);
        variable.default = variable.default.take().or(default);
    };
    for (index, block) in blocks.iter().enumerate() {
        let about = block.heading.map(|heading| blocks[heading].prose.text.to_lowercase()).unwrap_or_default();
        let is_named = about.contains("environment")
            || about.split(|letter: char| !letter.is_alphanumeric()).any(|word| matches!(word, "env" | "envs"));
        match &block.kind {
            Kind::Code(language) => code(block, language, is_named, &locals, &mut add),
            Kind::Table => table(block, is_named, &mut add),
            Kind::Paragraph | Kind::Item(_) if !places[index].is_forbidden => prose(block, is_named, &mut add),
            _ => {}
        }
    }
    for name in order {
        let Some(variable) = known.remove(&name) else { continue };
        let is_said = variable.purpose.is_some();
        let purpose = variable.purpose.unwrap_or_else(|| name.to_lowercase().replace('_', " "));
        let mut value = json!({ "name": name, "purpose": purpose });
        if let Some(default) = variable.default {
            value["default"] = json!(default);
        }
        draft.environment.add(variable.line, (!is_said).then_some("the text does not say what it is for"), value);
    }
}

/// Names that shell blocks set for themselves.
#[derive(Default)]
struct Locals {
    /// From commands, in loops, or as locals: never variables of the environment.
    made: BTreeSet<String>,
    /// Plainly, so that a later use is no use of the environment.
    set: BTreeSet<String>,
}

impl Locals {
    fn of(blocks: &[Block]) -> Self {
        let mut found = Self::default();
        for block in blocks {
            let Some(language) = block.language() else { continue };
            if !(is_shell(language) || language.is_empty()) {
                continue;
            }
            // A block of nothing but assignments lists what to set.
            let mut lines = block.prose.text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
            let is_list = lines.all(|line| line.split_once('=').is_some_and(|(name, _)| is_upper(name.trim())));
            for line in block.prose.text.lines().take(5_000) {
                match assigned(line) {
                    Some((name, true)) => drop(found.made.insert(name.to_owned())),
                    Some((name, false)) if !is_list => drop(found.set.insert(name.to_owned())),
                    _ => {}
                }
                found.made.extend(taken(line).map(str::to_owned));
            }
        }
        found
    }
}

/// The name a line sets for its own block, and whether it works out what to. `PORT=${PORT:-80}` takes it from outside.
fn assigned(line: &str) -> Option<(&str, bool)> {
    let bare = line.trim_start();
    let leads = ["local ", "readonly ", "declare -r ", "declare -a ", "declare "];
    let lead = leads.iter().find_map(|lead| bare.strip_prefix(lead));
    let (name, value) = lead.unwrap_or(bare).split_once('=')?;
    let is_made = lead.is_some() || value.starts_with(['$', '`', '(']) || value.starts_with("\"$");
    let is_own = value.contains(&format!("${name}")) || value.contains(&format!("${{{name}"));
    let is_whole = !value.trim_end().contains(' ') || value.starts_with(['"', '\'']) || value.contains(" #");
    (is_upper(name) && !is_own && (is_made || is_whole)).then_some((name, is_made))
}

/// The names a line takes from a loop or from what is typed: `for X in`, `while read -r X`.
fn taken(line: &str) -> impl Iterator<Item = &str> {
    let loops = line.split([';', '&', '|']).flat_map(|part| {
        let mut words =
            part.split_whitespace().skip_while(|word| matches!(*word, "while" | "do" | "then" | "if" | "!"));
        let first = words.next().unwrap_or_default();
        let count = if matches!(first, "for" | "select") { 1 } else { 20 };
        let is_taking = matches!(first, "for" | "select" | "read" | "mapfile" | "readarray" | "getopts");
        words.take(if is_taking { count } else { 0 })
    });
    loops.filter(|word| is_upper(word))
}

fn is_upper(text: &str) -> bool {
    text.len() >= 2
        && text.starts_with(|letter: char| letter.is_ascii_uppercase())
        && text.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
}

fn is_variable(name: &str) -> bool {
    is_upper(name) && name.len() >= 2 && name.len() <= 60 && !name.ends_with('_')
}

fn is_configuration(name: &str) -> bool {
    name.contains('_') && ENDINGS.iter().any(|ending| name.ends_with(ending))
}

type Add<'a> = dyn FnMut(&str, usize, Option<String>, Option<String>) + 'a;

fn code(block: &Block, language: &str, is_named: bool, locals: &Locals, add: &mut Add<'_>) {
    let is_file = matches!(language, "env" | "dotenv" | "ini" | "properties");
    let is_script = is_shell(language) || language.is_empty() || language == "text";
    for (number, line) in block.prose.text.lines().enumerate().take(5_000) {
        let at = block.line + 1 + number;
        let bare = line.trim_start();
        let (is_exported, assignment) = bare.strip_prefix("export ").map_or((false, bare), |rest| (true, rest));
        if let Some((name, rest)) = assignment.split_once('=')
            && (is_script || is_file)
            && !rest.starts_with("$(")
            && (is_exported || is_file || is_named || is_configuration(name) || is_before_command(rest))
        {
            let comment = rest.split_once(" #").map(|(_, comment)| tidy(comment)).filter(|text| !text.is_empty());
            add(name, at, comment, None);
        }
        if is_shell(language) && !matches!(language, "powershell" | "ps1" | "cmd" | "bat" | "fish") {
            uses(line, false, |used| {
                if !locals.set.contains(used.name) {
                    add(used.name, at, used.purpose, used.default);
                }
            });
        }
        if matches!(language, "yaml" | "yml" | "toml" | "json" | "docker-compose") {
            uses(line, true, |used| add(used.name, at, used.purpose, used.default));
        }
        for (lead, ends) in [
            ("process.env.", ""),
            ("os.environ[", "]"),
            ("os.getenv(", ")"),
            ("os.environ.get(", ")"),
            ("env::var(", ")"),
            ("ENV[", "]"),
            ("secrets.", ""),
            ("import.meta.env.", ""),
            ("$env:", ""),
        ] {
            for (found, _) in line.match_indices(lead).take(8) {
                let rest = line[found + lead.len()..].trim_start_matches(['"', '\'']);
                let name: String =
                    rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
                if !(ends.is_empty() && name == "NODE_ENV") {
                    add(&name, at, None, None);
                }
            }
        }
    }
}

/// Whether a command follows an assignment, which is then made for it: `DEBUG=1 tool run`.
fn is_before_command(rest: &str) -> bool {
    let is_quoted = rest.starts_with(['"', '\'', '$', '(']);
    let (value, command) = rest.split_once(' ').unwrap_or((rest, ""));
    !is_quoted && !value.is_empty() && command.starts_with(|letter: char| letter.is_ascii_lowercase())
}

/// A variable a line of shell uses.
struct Used<'a> {
    name: &'a str,
    purpose: Option<String>,
    default: Option<String>,
}

/// The variables a line of shell uses: `$TOKEN`, `${PORT:-80}`, `${KEY:?set a key}`; other files know braces only.
fn uses<'a>(line: &'a str, is_braced: bool, mut take: impl FnMut(Used<'a>)) {
    let mut is_single = false;
    let mut is_double = false;
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        match letter {
            '\'' if !is_double && before != '\\' => is_single = !is_single,
            '"' if !is_single && before != '\\' => is_double = !is_double,
            // What a comment says is not done.
            '#' if !is_single && !is_double && before.is_whitespace() => return,
            '$' if !is_single && before != '\\' => {
                let rest = &line[at + 1..];
                if let Some(used) = used(rest).filter(|_| !is_braced || rest.starts_with('{')) {
                    take(used);
                }
            }
            _ => {}
        }
        before = letter;
    }
}

fn used(rest: &str) -> Option<Used<'_>> {
    let (rest, is_braced) = rest.strip_prefix('{').map_or((rest, false), |rest| (rest, true));
    let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(rest.len());
    let name = &rest[..end];
    let mut used = Used { name, purpose: None, default: None };
    if is_braced {
        let inner = closed(&rest[end..])?;
        let value = |leads: &[&str]| leads.iter().find_map(|lead| inner.strip_prefix(lead));
        // A default that is worked out is no value.
        let plain = |text: &str| Some(text.trim_matches(['"', '\'']).to_owned()).filter(|text| !text.is_empty());
        used.default = value(&[":-", ":=", "-", "="]).filter(|text| !text.contains("$(")).and_then(plain);
        used.purpose = value(&[":?", "?"]).and_then(plain);
    }
    is_upper(name).then_some(used)
}

/// What stands before the brace that closes, where one does soon.
fn closed(text: &str) -> Option<&str> {
    let mut depth = 1_usize;
    for (at, letter) in text.char_indices().take(300) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[..at]);
        }
    }
    None
}

fn table(block: &Block, is_named: bool, add: &mut Add<'_>) {
    let Some((head, rows)) = block.rows.split_first() else { return };
    let header = head.first().map(|cell| cell.text.to_lowercase()).unwrap_or_default();
    let is_table = is_named || header.contains("variable") || header.starts_with("env");
    for row in rows {
        let Some(first) = row.first() else { continue };
        let name = first.text.trim_matches(['`', ' ', '$', '*']);
        if is_table && name.contains(['_']) || is_configuration(name) {
            let purpose =
                row.iter().skip(1).map(|cell| tidy(&cell.text)).max_by_key(String::len).filter(|text| !text.is_empty());
            let column = head.iter().position(|cell| cell.text.to_lowercase().contains("default"));
            let default = column
                .and_then(|column| row.get(column))
                .map(|cell| cell.text.trim_matches(['`', ' ', '"']).to_owned());
            let default = default
                .filter(|text| !text.is_empty() && !matches!(text.as_str(), "-" | "—" | "–" | "none" | "None" | "N/A"));
            add(name, first.line_at(0), purpose, default);
        }
    }
}

fn prose(block: &Block, is_named: bool, add: &mut Add<'_>) {
    for range in sentences(&block.prose) {
        let text = &block.prose.text[range.clone()];
        let lower = text.to_lowercase();
        let speaks = is_named
            || ["environment", "env var", "`.env`", ".env ", "export "].iter().any(|mark| lower.contains(mark));
        for code in block.prose.codes_in(range.clone()) {
            let used = code.strip_prefix('$').filter(|rest| rest.starts_with('{')).and_then(used);
            let is_example = |used: &Used<'_>| matches!(used.name, "VAR" | "VARIABLE" | "NAME" | "FOO" | "BAR");
            if let Some(used) = used.filter(|used| used.default.is_some() && !is_example(used)) {
                let purpose = Some(tidy(text)).filter(|text| text.len() <= 300);
                add(used.name, block.prose.line_at(range.start), purpose, used.default);
                continue;
            }
            let name = code.trim_start_matches("export ").trim_start_matches('$').trim_matches(['{', '}']);
            let name = name.split('=').next().unwrap_or_default();
            let is_dollar = code.starts_with('$') && name.contains('_');
            if name.contains('_') && (speaks || is_configuration(name)) || is_dollar && speaks {
                let clause = clause_of(text, name);
                let purpose = Some(tidy(clause)).filter(|text| text.len() <= 300);
                add(name, block.prose.line_at(range.start), purpose, default_in(clause));
            }
        }
    }
}

/// The part of a sentence that is about a variable.
fn clause_of<'a>(text: &'a str, name: &str) -> &'a str {
    text.split("; ").find(|part| part.contains(name)).unwrap_or(text)
}

/// The default a text names: `defaults to X`, `(default: X)`.
fn default_in(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let marks = ["defaults to ", "default: ", "default is ", "(default ", "default value: "];
    let at = marks.iter().find_map(|mark| lower.find(mark).map(|at| at + mark.len()))?;
    let rest = text.get(at..)?;
    let value = match rest.strip_prefix('`') {
        Some(code) => code.split('`').next()?,
        None => rest.split([' ', ',', ';', ')']).next()?.trim_end_matches('.'),
    };
    Some(value.trim_matches('"').to_owned()).filter(|value| !value.is_empty())
}
