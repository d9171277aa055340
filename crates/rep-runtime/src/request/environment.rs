//! The variables that a skill declares in `environment`, for its requests.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rep_model::SkillDocument;

use super::RequestError;
use crate::command::{self, VariableLookup};

/// The value of a variable.
pub(super) enum VariableValue {
    /// Its value, or its default.
    Text(String),
    /// A secret: its value is inserted when the request is sent.
    Secret,
    /// No value.
    Unset,
}

/// The declared variables, and the caller's.
pub(super) struct RequestEnvironment<'a> {
    entries: Vec<command::DeclaredVariable>,
    variable: &'a VariableLookup<'a>,
    /// The variables whose values were used.
    used_names: RefCell<BTreeSet<String>>,
}

impl<'a> RequestEnvironment<'a> {
    pub(super) fn new(document: &SkillDocument, variable: &'a VariableLookup<'a>) -> Self {
        Self { entries: command::collect_variables(document), variable, used_names: RefCell::default() }
    }

    fn find_entry(&self, name: &str) -> Option<&command::DeclaredVariable> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Resolves a variable.
    pub(super) fn resolve_variable(&self, name: &str) -> Result<VariableValue, RequestError> {
        let Some(entry) = self.find_entry(name) else {
            let message = format!("`${{{name}}}` is not declared in `environment`");
            return Err(RequestError::invalid_command(message, format!("declare `{name}` in `environment`")));
        };
        let is_secret = || (self.variable)(name).is_some_and(|value| command::is_secret_value(&value));
        if entry.is_secret || is_secret() {
            return Ok(VariableValue::Secret);
        }
        Ok(self.resolve_text(entry).map_or(VariableValue::Unset, VariableValue::Text))
    }

    /// Returns whether the author marks it as required.
    pub(super) fn is_required(&self, name: &str) -> bool {
        self.find_entry(name).is_some_and(|entry| entry.is_required)
    }

    /// Finds the base of all addresses: the first variable with a base URL name and a value.
    pub(super) fn find_base_url(&self) -> Option<(&str, String)> {
        self.base_url_candidates().find_map(|entry| Some((entry.name.as_str(), self.resolve_text(entry)?)))
    }

    /// Returns the name of the variable that could set a base.
    pub(super) fn base_url_name(&self) -> Option<&str> {
        self.base_url_candidates().next().map(|entry| entry.name.as_str())
    }

    fn base_url_candidates(&self) -> impl Iterator<Item = &command::DeclaredVariable> {
        let is_base = |name: &str| {
            let name = name.to_ascii_uppercase();
            ["BASE_URL", "API_URL"].iter().any(|end| name == *end || name.ends_with(&format!("_{end}")))
        };
        self.entries.iter().filter(move |entry| !entry.is_secret && is_base(&entry.name))
    }

    fn resolve_text(&self, entry: &command::DeclaredVariable) -> Option<String> {
        let own = (self.variable)(&entry.name).filter(|text| !text.is_empty());
        if own.is_some() {
            self.used_names.borrow_mut().insert(entry.name.clone());
        }
        own.or_else(|| entry.default.clone())
    }

    /// Returns the caller's variables whose values were used, in order.
    pub(super) fn into_used_names(self) -> Vec<String> {
        self.used_names.into_inner().into_iter().collect()
    }
}
