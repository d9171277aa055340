//! One case: `tests/cases/*.yaml`, a command and what is expected of it.

use rep_model::suggestion::{is_misspelling, nearest_name};
use rep_model::truncate::truncate_chars;
use rep_model::yaml::{self, Node, core};
use rep_model::{Resolved, SkillTree, Source, Span, resolve};

use super::Mistake;
use super::expect::Expected;

/// The longest name.
const NAME_CHARS_MAX: usize = 64;
/// The fields of a case, of its input, and of what is expected.
const FIELDS: &[&str] = &["name", "description", "input", "expected"];
const INPUT: &[&str] = &["command", "stdin", "files"];
const EXPECTED: &[&str] = &["exit-code", "stdout-contains", "stderr-contains", "not-contains", "stdout-json"];

/// A command, and what is expected of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What the shell runs, at the skill's root.
    pub command: String,
    /// What it reads; nothing where nothing is said.
    pub stdin: String,
    /// What is expected.
    pub expected: Expected,
}

/// A file as it was read.
#[derive(Debug, Default)]
pub struct CaseFile {
    /// The name, where it is a right one.
    pub name: Option<String>,
    /// The case, where nothing is wrong with it.
    pub case: Option<Case>,
    /// What is wrong.
    pub mistakes: Vec<Mistake>,
    /// What was passed over, in words.
    pub notes: Vec<String>,
}

/// Reads a case.
pub fn read(text: &str, file: &str, tree: &SkillTree) -> CaseFile {
    let document = yaml::parse(text, 0);
    let mut reader = Reader { file, source: Source::new(text.to_owned()), mistakes: Vec::new() };
    let failed = |mistakes: Vec<Mistake>| CaseFile { mistakes, ..CaseFile::default() };
    if let Some((trouble, span)) = document.fatal() {
        let what = match trouble {
            yaml::Trouble::Syntax(words) | yaml::Trouble::TooComplex(words) => words.clone(),
            _ => "it cannot be read".to_owned(),
        };
        reader.wrong(*span, format!("is no YAML: {what}"), "mend the syntax");
        return failed(reader.mistakes);
    }
    let Some(root) = document.root.filter(|root| root.entries().is_some()) else {
        reader.wrong(Span::default(), "is no mapping", "write `name:`, `input:` and `expected:`");
        return failed(reader.mistakes);
    };
    for (key, span) in yaml::duplicate_keys(&root) {
        reader.wrong(span, format!("`{key}` stands twice"), "leave one of them out");
    }
    let notes = reader.fields(&root);
    let name = reader.name(&root);
    let (command, stdin) = reader.input(&root, tree);
    let expected = reader.expected(&root);
    let case = command.filter(|_| reader.mistakes.is_empty()).map(|command| Case { command, stdin, expected });
    CaseFile { name, case, mistakes: reader.mistakes, notes }
}

struct Reader<'a> {
    file: &'a str,
    source: Source,
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    fn wrong(&mut self, span: Span, message: impl Into<String>, remedy: impl Into<String>) {
        let line = Some(self.source.position(span.start).line);
        self.mistakes.push(Mistake { line, ..Mistake::new(self.file, message, remedy) });
    }

    /// What stands beside the known fields may be of a later version, unless it looks like one of them written wrongly.
    fn fields(&mut self, root: &Node) -> Vec<String> {
        let mut notes = Vec::new();
        for entry in root.entries().unwrap_or_default() {
            let key = entry.key.text().unwrap_or("?");
            let near = FIELDS.iter().find(|field| is_misspelling(key, field));
            match near {
                _ if FIELDS.contains(&key) => {}
                Some(near) => {
                    let message = format!("`{key}` is no field of a case");
                    self.wrong(entry.key.span, message, format!("did you mean `{near}`?"));
                }
                None => notes.push(format!("`{}` has `{key}`, which this version does not know", self.file)),
            }
        }
        notes
    }

    /// A field nobody reads is an expectation nobody checks.
    fn known(&mut self, node: &Node, fields: &[&str], above: &str) {
        for entry in node.entries().unwrap_or_default() {
            let key = entry.key.text().unwrap_or("?");
            if fields.contains(&key) {
                continue;
            }
            let remedy = match nearest_name(key, fields.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its fields are {}", fields.join(", ")),
            };
            self.wrong(entry.key.span, format!("`{above}{key}` is no field of a case"), remedy);
        }
    }

    fn name(&mut self, root: &Node) -> Option<String> {
        let remedy = "use a-z, 0-9 and `-`, at most 64 of them";
        let Some(node) = root.get("name") else {
            self.wrong(root.span, "has no `name`", remedy);
            return None;
        };
        let name = node.text().unwrap_or_default();
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.bytes().all(is_letter) {
            let shown = truncate_chars(name, NAME_CHARS_MAX + 1);
            self.wrong(node.span, format!("`name` is `{shown}`, which is no name of a case"), remedy);
            return None;
        }
        Some(name.to_owned())
    }

    fn input(&mut self, root: &Node, tree: &SkillTree) -> (Option<String>, String) {
        const REMEDY: &str = "write the shell command to run at the skill's root";
        let Some(input) = root.get("input").filter(|input| input.entries().is_some()) else {
            let span = root.entry("input").map_or(root.span, |entry| entry.value.span);
            self.wrong(span, "has no `input` with a `command`", REMEDY);
            return (None, String::new());
        };
        self.known(input, INPUT, "input.");
        let command = self.text(input, "command", "input.command");
        if input.get("command").is_none() {
            self.wrong(input.span, "has no `input.command`", REMEDY);
        } else if command.as_ref().is_some_and(|command| command.trim().is_empty() || command.contains('\0')) {
            let span = input.get("command").map_or(input.span, |node| node.span);
            self.wrong(span, "`input.command` is empty or holds a NUL", REMEDY);
        }
        let stdin = self.text(input, "stdin", "input.stdin").unwrap_or_default();
        self.files(input, tree);
        (command, stdin)
    }

    /// The text of a scalar. `null` is nothing at all.
    fn text(&mut self, node: &Node, key: &str, shown: &str) -> Option<String> {
        let value = node.get(key)?;
        let text = value.text().map(str::to_owned);
        if text.is_none() {
            self.wrong(value.span, format!("`{shown}` is {}, and no text", value.kind()), "write it as text");
        }
        text
    }

    /// Fixtures are files of the skill, and are there.
    fn files(&mut self, input: &Node, tree: &SkillTree) {
        for (path, span) in self.list(input, "files", "input.files") {
            match resolve("", &path) {
                Resolved::Inside(inside) if tree.escapes(&inside) => {
                    self.wrong(span, format!("the fixture `{path}` leads out of the skill"), "copy it into the skill");
                }
                Resolved::Inside(inside) if tree.has(&inside) => {}
                Resolved::Inside(_) => {
                    let remedy = "add it to the skill, or correct its path, which is relative to the skill's root";
                    self.wrong(span, format!("the fixture `{path}` is missing"), remedy);
                }
                Resolved::Outside | Resolved::Absolute => {
                    let message = format!("the fixture `{path}` lies outside of the skill");
                    self.wrong(span, message, "copy it into the skill");
                }
            }
        }
    }

    /// The texts of a list.
    fn list(&mut self, node: &Node, key: &str, shown: &str) -> Vec<(String, Span)> {
        let Some(value) = node.get(key) else { return Vec::new() };
        let Some(items) = value.items() else {
            self.wrong(value.span, format!("`{shown}` is {}, and no list", value.kind()), "write `- …` for each");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match item.text().filter(|_| !item.is_null()) {
                Some(text) if !text.is_empty() => texts.push((text.to_owned(), item.span)),
                Some(_) => {
                    self.wrong(item.span, format!("`{shown}` holds an empty text"), "leave it out");
                }
                None => {
                    self.wrong(item.span, format!("`{shown}` holds {}, and no text", item.kind()), "put it in quotes");
                }
            }
        }
        texts
    }

    fn expected(&mut self, root: &Node) -> Expected {
        let mut expected = Expected::default();
        let Some(node) = root.get("expected") else { return expected };
        if node.entries().is_none() {
            let message = format!("`expected` is {}, and no mapping", node.kind());
            self.wrong(node.span, message, "write `exit-code:`, `stdout-contains:` and the like below it");
            return expected;
        }
        self.known(node, EXPECTED, "expected.");
        for entry in node.entries().unwrap_or_default().iter().filter(|entry| entry.value.is_null()) {
            let message = format!("`expected.{}` holds nothing", entry.key.text().unwrap_or("?"));
            self.wrong(entry.key.span, message, "say what is expected, or leave it out");
        }
        expected.exit_code = self.exit_code(node);
        let mut texts = |key: &str| -> Vec<String> {
            self.list(node, key, &format!("expected.{key}")).into_iter().map(|(text, _)| text).collect()
        };
        expected.stdout_contains = texts("stdout-contains");
        expected.stderr_contains = texts("stderr-contains");
        expected.not_contains = texts("not-contains");
        expected.stdout_json = node.get("stdout-json").map(core::json);
        expected
    }

    fn exit_code(&mut self, expected: &Node) -> i32 {
        let Some(node) = expected.get("exit-code") else { return 0 };
        if let Some(core::Scalar::Int(code @ 0..=255)) = core::scalar(node) {
            return i32::try_from(code).unwrap_or_default();
        }
        let message = format!("`expected.exit-code` is `{}`", node.text().unwrap_or(node.kind()));
        self.wrong(node.span, message, "write a whole number from 0 to 255, without quotes");
        0
    }
}
