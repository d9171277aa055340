//! The settings of a skill's cases: `tests/test-config.json`.

use std::time::Duration;

use rep_model::Source;
use rep_model::yaml::{self, Node};
use serde_json::{Map, Value};

use super::{CONFIG, Mistake};

/// How long a case may take where nothing is said, in milliseconds.
const TIMEOUT_MS: u64 = 30_000;
/// The longest a case may take, in seconds: a day.
const TIMEOUT_S_MAX: f64 = 86_400.0;
/// What may be set.
const FIELDS: &[&str] = &["version", "timeout", "env"];
/// Variables that are the runtime's to set.
const TAKEN: &[&str] = &["PATH", "HOME", "TMPDIR"];

/// The settings of a skill's cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How long each may take.
    pub timeout_ms: u64,
    /// Variables each gets.
    pub variables: Vec<(String, String)>,
}

impl Default for Config {
    fn default() -> Self {
        Self { timeout_ms: TIMEOUT_MS, variables: Vec::new() }
    }
}

/// Reads the settings, and says what was passed over.
pub fn read(text: &str) -> Result<(Config, Vec<String>), Vec<Mistake>> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let line = Some(error.line()).filter(|line| *line > 0);
        vec![Mistake { line, ..Mistake::new(CONFIG, format!("is no JSON: {error}"), "write `{\"version\": 1}`") }]
    })?;
    let Value::Object(fields) = &value else {
        return Err(vec![Mistake::new(CONFIG, "is no object", "write `{\"version\": 1}`")]);
    };
    let mut reader = Reader { source: Source::new(text.to_owned()), root: yaml::parse(text, 0).root, mistakes: vec![] };
    reader.version(fields);
    let config = Config { timeout_ms: reader.timeout(fields), variables: reader.variables(fields) };
    let unknown = fields.keys().filter(|field| !FIELDS.contains(&field.as_str()));
    let notes = unknown.map(|field| format!("`{CONFIG}` sets `{field}`, which this version does not know")).collect();
    if reader.mistakes.is_empty() { Ok((config, notes)) } else { Err(reader.mistakes) }
}

struct Reader {
    source: Source,
    /// The same text read as YAML, which JSON nearly is, for its places.
    root: Option<Node>,
    mistakes: Vec<Mistake>,
}

impl Reader {
    fn wrong(&mut self, path: &[&str], message: String, remedy: &str) {
        let entry = path.iter().try_fold(self.root.as_ref(), |node, key| node.map(|node| node.get(key)));
        let line = entry.flatten().map(|node| self.source.position(node.span.start).line);
        self.mistakes.push(Mistake { line, ..Mistake::new(CONFIG, message, remedy) });
    }

    fn version(&mut self, fields: &Map<String, Value>) {
        match fields.get("version") {
            None => self.wrong(&[], "has no `version`".to_owned(), "add `\"version\": 1`"),
            Some(version) if version.as_f64() == Some(1.0) => {}
            Some(version @ Value::Number(_)) => {
                let message = format!("`version` is {version}, and only 1 is known");
                self.wrong(&["version"], message, "write `\"version\": 1`, or use a newer rep");
            }
            Some(version) => self.wrong(&["version"], format!("`version` is {version}, which is no number"), "write 1"),
        }
    }

    fn timeout(&mut self, fields: &Map<String, Value>) -> u64 {
        let Some(value) = fields.get("timeout").filter(|value| !value.is_null()) else { return TIMEOUT_MS };
        let seconds = value.as_f64().filter(|seconds| *seconds > 0.0 && *seconds <= TIMEOUT_S_MAX);
        if let Some(time) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            return u64::try_from(time.as_millis()).unwrap_or(TIMEOUT_MS).max(1);
        }
        let remedy = "write a number of seconds above 0, at most a day";
        self.wrong(&["timeout"], format!("`timeout` is {value}"), remedy);
        TIMEOUT_MS
    }

    fn variables(&mut self, fields: &Map<String, Value>) -> Vec<(String, String)> {
        let env = match fields.get("env") {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Object(env)) => env,
            Some(_) => {
                self.wrong(&["env"], "`env` is no object".to_owned(), "write `{\"NAME\": \"value\"}`");
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
                    self.wrong(&at, format!("the variable `{name}` is no text"), "write it in quotes");
                    continue;
                }
            };
            if name.is_empty() || name.contains(['=', '\0']) || text.contains('\0') {
                let message = format!("`{}` can be no variable", name.escape_debug());
                self.wrong(&at, message, "use letters, digits and `_`, and no NUL");
            } else if TAKEN.contains(&name.as_str()) || name.starts_with("REP_") {
                let message = format!("the variable `{name}` is the runtime's to set");
                self.wrong(&at, message, "leave it out, or set it in the command itself");
            } else {
                variables.push((name.clone(), text));
            }
        }
        variables
    }
}
