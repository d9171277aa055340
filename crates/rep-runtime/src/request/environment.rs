//! The variables a skill declares in `environment`, as its requests see them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rep_model::Document;

use super::RequestError;
use crate::command::{self, Lookup};

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
    entries: Vec<command::Variable>,
    variable: &'a Lookup<'a>,
    /// The variables whose values were used.
    used: RefCell<BTreeSet<String>>,
}

impl<'a> Environment<'a> {
    pub(super) fn new(document: &Document, variable: &'a Lookup<'a>) -> Self {
        Self { entries: command::variables(document), variable, used: RefCell::default() }
    }

    fn entry(&self, name: &str) -> Option<&command::Variable> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// What a variable stands for.
    pub(super) fn variable(&self, name: &str) -> Result<Variable, RequestError> {
        let Some(entry) = self.entry(name) else {
            let message = format!("`${{{name}}}` is no variable of `environment`");
            return Err(RequestError::command(message, format!("declare `{name}` in `environment`")));
        };
        let is_secret = || (self.variable)(name).is_some_and(|value| command::is_secret_value(&value));
        if entry.is_secret || is_secret() {
            return Ok(Variable::Secret);
        }
        Ok(self.text(entry).map_or(Variable::Unset, Variable::Text))
    }

    /// Whether its author says that nothing works without it.
    pub(super) fn is_required(&self, name: &str) -> bool {
        self.entry(name).is_some_and(|entry| entry.is_required)
    }

    /// The base of all addresses: the first variable that is called like one and has a value, with its name.
    pub(super) fn base(&self) -> Option<(&str, String)> {
        self.bases().find_map(|entry| Some((entry.name.as_str(), self.text(entry)?)))
    }

    /// The name a base could be given by.
    pub(super) fn base_name(&self) -> Option<&str> {
        self.bases().next().map(|entry| entry.name.as_str())
    }

    fn bases(&self) -> impl Iterator<Item = &command::Variable> {
        let is_base = |name: &str| {
            let name = name.to_ascii_uppercase();
            ["BASE_URL", "API_URL"].iter().any(|end| name == *end || name.ends_with(&format!("_{end}")))
        };
        self.entries.iter().filter(move |entry| !entry.is_secret && is_base(&entry.name))
    }

    fn text(&self, entry: &command::Variable) -> Option<String> {
        let own = (self.variable)(&entry.name).filter(|text| !text.is_empty());
        if own.is_some() {
            self.used.borrow_mut().insert(entry.name.clone());
        }
        own.or_else(|| entry.default.clone())
    }

    /// The caller's variables whose values were used, in order.
    pub(super) fn used(self) -> Vec<String> {
        self.used.into_inner().into_iter().collect()
    }
}
