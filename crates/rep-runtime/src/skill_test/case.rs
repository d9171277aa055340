//! A test case in `tests/cases/*.yaml`: a command and its expectations.

use rep_model::suggestion::{is_misspelling, nearest_name};
use rep_model::truncate::truncate_chars;
use rep_model::yaml::{self, YamlNode, core};
use rep_model::{ResolvedSkillPath, SkillTree, SourceText, Span, resolve_skill_path};

use super::CaseError;
use super::expectation::CaseExpectations;

/// The maximum length of a name.
const NAME_CHARS_MAX: usize = 64;
/// The fields of a case, of its input and of its expectations.
const CASE_FIELDS: &[&str] = &["name", "description", "input", "expected"];
const INPUT_FIELDS: &[&str] = &["command", "stdin", "files"];
const EXPECTED_FIELDS: &[&str] = &["exit-code", "stdout-contains", "stderr-contains", "not-contains", "stdout-json"];

/// A command and its expectations.
#[derive(Clone, Debug, PartialEq)]
pub struct TestCase {
    /// The shell command, run at the skill's root.
    pub command: String,
    /// The standard input; empty by default.
    pub stdin: String,
    /// The expectations.
    pub expected: CaseExpectations,
}

/// A parsed case file.
#[derive(Debug, Default)]
pub struct CaseFile {
    /// The name, if it is valid.
    pub name: Option<String>,
    /// The case, if it has no mistakes.
    pub case: Option<TestCase>,
    /// The mistakes.
    pub errors: Vec<CaseError>,
    /// Notes about skipped fields.
    pub notes: Vec<String>,
}

/// Parses a case.
pub fn parse_case(text: &str, file: &str, tree: &SkillTree) -> CaseFile {
    let document = yaml::parse(text, 0);
    let mut reader = CaseParser { file, source: SourceText::new(text.to_owned()), errors: Vec::new() };
    let failed = |mistakes: Vec<CaseError>| CaseFile { errors: mistakes, ..CaseFile::default() };
    if let Some((trouble, span)) = document.fatal_problem() {
        let what = match trouble {
            yaml::YamlProblem::Syntax(words) | yaml::YamlProblem::TooComplex(words) => words.clone(),
            yaml::YamlProblem::TabIndentation => "a tab in the indentation; use spaces".to_owned(),
            _ => "it cannot be read".to_owned(),
        };
        reader.push_error(*span, format!("is not valid YAML: {what}"), "fix the syntax");
        return failed(reader.errors);
    }
    let Some(root) = document.root.filter(|root| root.entries().is_some()) else {
        reader.push_error(Span::default(), "is not a mapping", "write `name:`, `input:` and `expected:`");
        return failed(reader.errors);
    };
    for (key, span) in yaml::find_duplicate_keys(&root) {
        reader.push_error(span, format!("duplicate key `{key}`"), "remove one of them");
    }
    let notes = reader.check_root_fields(&root);
    let name = reader.parse_name(&root);
    let (command, stdin) = reader.parse_input(&root, tree);
    let expected = reader.parse_expectations(&root);
    let case = command.filter(|_| reader.errors.is_empty()).map(|command| TestCase { command, stdin, expected });
    CaseFile { name, case, errors: reader.errors, notes }
}

struct CaseParser<'a> {
    file: &'a str,
    source: SourceText,
    errors: Vec<CaseError>,
}

impl CaseParser<'_> {
    fn push_error(&mut self, span: Span, message: impl Into<String>, remedy: impl Into<String>) {
        let line = Some(self.source.position_at(span.start).line);
        self.errors.push(CaseError { line, ..CaseError::new(self.file, message, remedy) });
    }

    /// Checks the top-level fields. An unknown field may belong to a later version, unless it looks like a
    /// misspelled known one.
    fn check_root_fields(&mut self, root: &YamlNode) -> Vec<String> {
        let mut notes = Vec::new();
        for entry in root.entries().unwrap_or_default() {
            let key = entry.key.text().unwrap_or("?");
            let near = CASE_FIELDS.iter().find(|field| is_misspelling(key, field));
            match near {
                _ if CASE_FIELDS.contains(&key) => {}
                Some(near) => {
                    let message = format!("`{key}` is not a field of a case");
                    self.push_error(entry.key.span, message, format!("did you mean `{near}`?"));
                }
                None => notes.push(format!("`{}` has the unknown field `{key}`, which is ignored", self.file)),
            }
        }
        notes
    }

    /// Rejects unknown fields: an expectation in an unknown field would never be checked.
    fn check_known_fields(&mut self, node: &YamlNode, fields: &[&str], above: &str) {
        for entry in node.entries().unwrap_or_default() {
            let key = entry.key.text().unwrap_or("?");
            if fields.contains(&key) {
                continue;
            }
            let remedy = match nearest_name(key, fields.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its fields are {}", fields.join(", ")),
            };
            self.push_error(entry.key.span, format!("`{above}{key}` is not a field of a case"), remedy);
        }
    }

    fn parse_name(&mut self, root: &YamlNode) -> Option<String> {
        let remedy = "use at most 64 characters from a-z, 0-9 and `-`";
        let Some(node) = root.get("name") else {
            self.push_error(root.span, "has no `name`", remedy);
            return None;
        };
        let name = node.text().unwrap_or_default();
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.bytes().all(is_letter) {
            let shown = truncate_chars(name, NAME_CHARS_MAX + 1);
            self.push_error(node.span, format!("`name` is `{shown}`, which is not a valid case name"), remedy);
            return None;
        }
        Some(name.to_owned())
    }

    fn parse_input(&mut self, root: &YamlNode, tree: &SkillTree) -> (Option<String>, String) {
        const REMEDY: &str = "write the shell command to run at the skill's root";
        let Some(input) = root.get("input").filter(|input| input.entries().is_some()) else {
            let span = root.find_entry("input").map_or(root.span, |entry| entry.value.span);
            self.push_error(span, "has no `input` with a `command`", REMEDY);
            return (None, String::new());
        };
        self.check_known_fields(input, INPUT_FIELDS, "input.");
        let command = self.parse_text(input, "command", "input.command");
        if input.get("command").is_none() {
            self.push_error(input.span, "has no `input.command`", REMEDY);
        } else if command.as_ref().is_some_and(|command| command.trim().is_empty() || command.contains('\0')) {
            let span = input.get("command").map_or(input.span, |node| node.span);
            self.push_error(span, "`input.command` is empty or contains a NUL", REMEDY);
        }
        let stdin = self.parse_text(input, "stdin", "input.stdin").unwrap_or_default();
        self.check_fixtures(input, tree);
        (command, stdin)
    }

    /// Parses the text of a scalar. `null` counts as absent.
    fn parse_text(&mut self, node: &YamlNode, key: &str, shown: &str) -> Option<String> {
        let value = node.get(key)?;
        let text = value.text().map(str::to_owned);
        if text.is_none() {
            self.push_error(
                value.span,
                format!("`{shown}` is {}, not text", value.describe_kind()),
                "write it as text",
            );
        }
        text
    }

    /// Checks that fixtures are existing files of the skill.
    fn check_fixtures(&mut self, input: &YamlNode, tree: &SkillTree) {
        for (path, span) in self.parse_text_list(input, "files", "input.files") {
            match resolve_skill_path("", &path) {
                ResolvedSkillPath::Inside(inside) if tree.has_outside_link(&inside) => {
                    self.push_error(
                        span,
                        format!("the fixture `{path}` links to a file outside the skill"),
                        "copy it into the skill",
                    );
                }
                ResolvedSkillPath::Inside(inside) if tree.has_path(&inside) => {}
                ResolvedSkillPath::Inside(_) => {
                    let remedy = "add it to the skill, or fix its path, which is relative to the skill's root";
                    self.push_error(span, format!("the fixture `{path}` is missing"), remedy);
                }
                ResolvedSkillPath::Outside | ResolvedSkillPath::Absolute => {
                    let message = format!("the fixture `{path}` is outside the skill");
                    self.push_error(span, message, "copy it into the skill");
                }
            }
        }
    }

    /// Parses a list of texts.
    fn parse_text_list(&mut self, node: &YamlNode, key: &str, shown: &str) -> Vec<(String, Span)> {
        let Some(value) = node.get(key) else { return Vec::new() };
        let Some(items) = value.items() else {
            self.push_error(
                value.span,
                format!("`{shown}` is {}, not a list", value.describe_kind()),
                "write `- …` for each",
            );
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match item.text().filter(|_| !item.is_null()) {
                Some(text) if !text.is_empty() => texts.push((text.to_owned(), item.span)),
                Some(_) => {
                    self.push_error(item.span, format!("`{shown}` contains an empty string"), "remove it");
                }
                None => {
                    self.push_error(
                        item.span,
                        format!("`{shown}` contains {}, not text", item.describe_kind()),
                        "put it in quotes",
                    );
                }
            }
        }
        texts
    }

    fn parse_expectations(&mut self, root: &YamlNode) -> CaseExpectations {
        let mut expected = CaseExpectations::default();
        let Some(node) = root.get("expected") else { return expected };
        if node.entries().is_none() {
            let message = format!("`expected` is {}, not a mapping", node.describe_kind());
            self.push_error(node.span, message, "write `exit-code:`, `stdout-contains:` and the like below it");
            return expected;
        }
        self.check_known_fields(node, EXPECTED_FIELDS, "expected.");
        for entry in node.entries().unwrap_or_default().iter().filter(|entry| entry.value.is_null()) {
            let message = format!("`expected.{}` is empty", entry.key.text().unwrap_or("?"));
            self.push_error(entry.key.span, message, "state what is expected, or remove it");
        }
        expected.exit_code = self.parse_exit_code(node);
        let mut texts = |key: &str| -> Vec<String> {
            self.parse_text_list(node, key, &format!("expected.{key}")).into_iter().map(|(text, _)| text).collect()
        };
        expected.stdout_contains = texts("stdout-contains");
        expected.stderr_contains = texts("stderr-contains");
        expected.not_contains = texts("not-contains");
        expected.stdout_json = node.get("stdout-json").map(core::to_json);
        expected
    }

    fn parse_exit_code(&mut self, expected: &YamlNode) -> i32 {
        let Some(node) = expected.get("exit-code") else { return 0 };
        if let Some(core::CoreScalar::Int(code @ 0..=255)) = core::classify_scalar(node) {
            return i32::try_from(code).unwrap_or_default();
        }
        let message = format!("`expected.exit-code` is `{}`", node.text().unwrap_or(node.describe_kind()));
        self.push_error(node.span, message, "write a whole number from 0 to 255, without quotes");
        0
    }
}
