//! The settings of a skill's test cases: `tests/test-config.json` (UAAPS chapter 4).
//!
//! ```
//! use rep_model::test_config::parse_test_config;
//!
//! assert_eq!(parse_test_config("{\"version\": 1}").unwrap().0.timeout_ms, 30_000);
//! assert_eq!(parse_test_config("{}").unwrap_err()[0].message, "has no `version`");
//! ```

use std::time::Duration;

use serde_json::{Map, Value};

use crate::Span;
use crate::yaml::{self, YamlNode};

/// The path of the settings in a skill.
pub const TEST_CONFIG_PATH: &str = "tests/test-config.json";
/// The directory of the cases, with a slash.
pub const TEST_CASES_PREFIX: &str = "tests/cases/";

/// The default time limit of a case, in milliseconds.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;
/// The maximum time limit of a case, in seconds: one day.
const TIMEOUT_S_MAX: f64 = 86_400.0;
/// The known fields.
const KNOWN_FIELDS: &[&str] = &["version", "timeout", "env"];
/// Variables that the runtime sets.
const RESERVED_VARIABLES: &[&str] = &["PATH", "HOME", "TMPDIR"];

/// The settings of a skill's cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestConfig {
    /// The time limit of each case.
    pub timeout_ms: u64,
    /// The variables of each case.
    pub variables: Vec<(String, String)>,
}

impl Default for TestConfig {
    fn default() -> Self {
        Self { timeout_ms: DEFAULT_TIMEOUT_MS, variables: Vec::new() }
    }
}

/// A mistake in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestConfigError {
    /// The value at fault, or `None` for the whole file.
    pub span: Option<Span>,
    /// The mistake.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

/// Parses the settings, and returns notes about ignored fields.
pub fn parse_test_config(text: &str) -> Result<(TestConfig, Vec<String>), Vec<TestConfigError>> {
    let remedy = "write `{\"version\": 1}`".to_owned();
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let span = Some(locate_json_error(text, &error));
        let message = format!("is not valid JSON: {error}");
        vec![TestConfigError { span, message, remedy: remedy.clone() }]
    })?;
    let Value::Object(fields) = &value else {
        return Err(vec![TestConfigError { span: None, message: "is not an object".to_owned(), remedy }]);
    };
    let mut reader = TestConfigParser { root: yaml::parse(text, 0).root, errors: vec![] };
    reader.check_version(fields);
    let config = TestConfig { timeout_ms: reader.parse_timeout(fields), variables: reader.parse_variables(fields) };
    let unknown = fields.keys().filter(|field| !KNOWN_FIELDS.contains(&field.as_str()));
    let notes = unknown
        .map(|field| format!("`{TEST_CONFIG_PATH}` has the unknown field `{field}`, which is ignored"))
        .collect();
    if reader.errors.is_empty() { Ok((config, notes)) } else { Err(reader.errors) }
}

/// Returns the place of a syntax error. The parser counts columns in bytes.
pub(crate) fn locate_json_error(text: &str, error: &serde_json::Error) -> Span {
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines.by_ref().take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = (before + error.column().saturating_sub(1)).min(text.len());
    Span::empty_at((0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0))
}

struct TestConfigParser {
    /// The same text parsed as YAML, a superset of JSON, for its positions.
    root: Option<YamlNode>,
    errors: Vec<TestConfigError>,
}

impl TestConfigParser {
    fn push_error(&mut self, path: &[&str], message: String, remedy: &str) {
        let entry = path.iter().try_fold(self.root.as_ref(), |node, key| node.map(|node| node.get(key)));
        let span = entry.flatten().filter(|_| !path.is_empty()).map(|node| node.span);
        self.errors.push(TestConfigError { span, message, remedy: remedy.to_owned() });
    }

    fn check_version(&mut self, fields: &Map<String, Value>) {
        match fields.get("version") {
            None => self.push_error(&[], "has no `version`".to_owned(), "add `\"version\": 1`"),
            Some(version) if version.as_f64() == Some(1.0) => {}
            Some(version @ Value::Number(_)) => {
                let message = format!("`version` is {version}, but only 1 is supported");
                self.push_error(&["version"], message, "write `\"version\": 1`, or use a newer rep");
            }
            Some(version) => {
                self.push_error(&["version"], format!("`version` is {version}, which is not a number"), "write 1");
            }
        }
    }

    fn parse_timeout(&mut self, fields: &Map<String, Value>) -> u64 {
        let Some(value) = fields.get("timeout").filter(|value| !value.is_null()) else { return DEFAULT_TIMEOUT_MS };
        let seconds = value.as_f64().filter(|seconds| *seconds > 0.0 && *seconds <= TIMEOUT_S_MAX);
        if let Some(time) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            return u64::try_from(time.as_millis()).unwrap_or(DEFAULT_TIMEOUT_MS).max(1);
        }
        let remedy = "write a number of seconds above 0, at most a day";
        self.push_error(&["timeout"], format!("`timeout` is {value}"), remedy);
        DEFAULT_TIMEOUT_MS
    }

    fn parse_variables(&mut self, fields: &Map<String, Value>) -> Vec<(String, String)> {
        let env = match fields.get("env") {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Object(env)) => env,
            Some(_) => {
                self.push_error(&["env"], "`env` is not an object".to_owned(), "write `{\"NAME\": \"value\"}`");
                return Vec::new();
            }
        };
        let mut variables = Vec::new();
        for (name, value) in env {
            let at = ["env", name.as_str()];
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    self.push_error(&at, format!("the variable `{name}` is not text"), "write it in quotes");
                    continue;
                }
            };
            if name.is_empty() || name.contains(['=', '\0']) || text.contains('\0') {
                let message = format!("`{}` is not a valid variable name", name.escape_debug());
                self.push_error(&at, message, "use letters, digits and `_`, and no NUL");
            } else if RESERVED_VARIABLES.contains(&name.as_str()) || name.starts_with("REP_") {
                let message = format!("the variable `{name}` is set by the runtime");
                self.push_error(&at, message, "remove it, or set it in the command itself");
            } else {
                variables.push((name.clone(), text));
            }
        }
        variables
    }
}
