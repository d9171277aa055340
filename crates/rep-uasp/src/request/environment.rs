//! The variables a skill declares in `environment`, as its requests see them.

use serde_json::Value;

use super::RequestError;

/// Words of a name that tell that its value is a credential.
const SECRET_WORDS: [&str; 8] = ["key", "token", "secret", "password", "passwd", "credential", "credentials", "apikey"];

/// What a variable stands for.
pub(super) enum Variable {
    /// Its value, or its default.
    Text(String),
    /// A secret: nobody sees it before the request is sent.
    Secret,
    /// Nothing.
    Unset,
}

/// The declared variables, and the caller's.
pub(super) struct Environment<'a> {
    entries: Vec<&'a Value>,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Environment<'a> {
    pub(super) fn new(document: &'a Value, variable: &'a dyn Fn(&str) -> Option<String>) -> Self {
        let entries = document.get("environment").and_then(Value::as_array);
        Self { entries: entries.into_iter().flatten().collect(), variable }
    }

    fn entry(&self, name: &str) -> Option<&'a Value> {
        self.entries.iter().copied().find(|entry| entry_name(entry) == Some(name))
    }

    /// What a variable stands for.
    pub(super) fn variable(&self, name: &str) -> Result<Variable, RequestError> {
        let Some(entry) = self.entry(name) else {
            let message = format!("`${{{name}}}` is no variable of `environment`");
            return Err(RequestError::command(message, format!("declare `{name}` in `environment`")));
        };
        if is_secret(entry) {
            return Ok(Variable::Secret);
        }
        Ok(self.text(entry).map_or(Variable::Unset, Variable::Text))
    }

    /// Whether its author says that nothing works without it.
    pub(super) fn is_required(&self, name: &str) -> bool {
        self.entry(name).and_then(|entry| entry.get("required")).and_then(Value::as_bool) == Some(true)
    }

    /// The base of all addresses: the first variable that is called like one and has a value, with its name.
    pub(super) fn base(&self) -> Option<(&'a str, String)> {
        let is_base = |name: &str| {
            let name = name.to_ascii_uppercase();
            ["BASE_URL", "API_URL"].iter().any(|end| name == *end || name.ends_with(&format!("_{end}")))
        };
        let named = self.entries.iter().filter_map(|entry| Some((entry_name(entry)?, *entry)));
        named.filter(|(name, _)| is_base(name)).find_map(|(name, entry)| Some((name, self.text(entry)?)))
    }

    /// The names a base could be given by.
    pub(super) fn base_name(&self) -> Option<&'a str> {
        let mut names = self.entries.iter().filter_map(|entry| entry_name(entry));
        names.find(|name| {
            name.to_ascii_uppercase().ends_with("BASE_URL") || name.to_ascii_uppercase().ends_with("API_URL")
        })
    }

    fn text(&self, entry: &Value) -> Option<String> {
        let own = entry_name(entry).and_then(|name| (self.variable)(name)).filter(|text| !text.is_empty());
        own.or_else(|| match entry.get("default")? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        })
    }
}

fn entry_name(entry: &Value) -> Option<&str> {
    entry.get("name").and_then(Value::as_str)
}

/// Whether a variable of `environment` is a secret: its author says so, or a word of its name does.
pub fn is_secret(entry: &Value) -> bool {
    if let Some(is_told) = entry.get("secret").and_then(Value::as_bool) {
        return is_told;
    }
    let name = entry_name(entry).unwrap_or_default().to_ascii_lowercase();
    name.split(['_', '-']).any(|word| SECRET_WORDS.contains(&word))
}
