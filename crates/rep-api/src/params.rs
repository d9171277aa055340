//! Reads the parameters of a method. Unknown ones are refused, so that a misspelled option is never ignored.

use serde_json::{Map, Value};

use crate::error::ApiError;

/// The parameters of one request.
pub(crate) struct Params {
    fields: Map<String, Value>,
    /// The names that the method knows.
    known: Vec<&'static str>,
}

impl Params {
    /// Wraps the parameters of a request.
    pub(crate) fn new(fields: Map<String, Value>) -> Self {
        Self { fields, known: Vec::new() }
    }

    /// Takes a parameter; `null` counts as absent.
    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.fields.remove(name).filter(|value| !value.is_null())
    }

    /// Takes any value.
    pub(crate) fn value(&mut self, name: &'static str) -> Option<Value> {
        self.take(name)
    }

    /// Takes an object with parameters of its own.
    pub(crate) fn object(&mut self, name: &'static str) -> Result<Option<Params>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(fields)) => Ok(Some(Params::new(fields))),
            Some(_) => Err(wrong_type(name, "an object")),
        }
    }

    /// Takes a text.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong_type(name, "a string")),
        }
    }

    /// Takes a text that must be there.
    pub(crate) fn required_text(&mut self, name: &'static str) -> Result<String, ApiError> {
        let text = self.text(name)?;
        text.ok_or_else(|| ApiError::invalid_params(format!("`{name}` is missing")))
    }

    /// Takes a list of texts.
    pub(crate) fn texts(&mut self, name: &'static str) -> Result<Vec<String>, ApiError> {
        let error = || wrong_type(name, "a list of strings");
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                let texts = items.into_iter().map(|item| match item {
                    Value::String(text) => Ok(text),
                    _ => Err(error()),
                });
                texts.collect()
            }
            Some(_) => Err(error()),
        }
    }

    /// Takes a switch, which is off by default.
    pub(crate) fn flag(&mut self, name: &'static str) -> Result<bool, ApiError> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(value),
            Some(_) => Err(wrong_type(name, "true or false")),
        }
    }

    /// Takes a whole number that is not negative.
    pub(crate) fn count(&mut self, name: &'static str) -> Result<Option<usize>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        number.map(Some).ok_or_else(|| wrong_type(name, "a whole number that is not negative"))
    }

    /// Takes a whole number.
    pub(crate) fn integer(&mut self, name: &'static str) -> Result<Option<i64>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        value.as_i64().map(Some).ok_or_else(|| wrong_type(name, "a whole number"))
    }

    /// Takes a number.
    pub(crate) fn number(&mut self, name: &'static str) -> Result<Option<f64>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        value.as_f64().map(Some).ok_or_else(|| wrong_type(name, "a number"))
    }

    /// Takes one of several words and returns its meaning.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
        usual: T,
    ) -> Result<T, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(usual) };
        let found = choices.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            ApiError::invalid_params(format!("`{name}` must be one of: {}", words.join(", ")))
        })
    }

    /// Refuses parameters that were not taken.
    pub(crate) fn finish(self) -> Result<(), ApiError> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(unknown) => {
                let error = ApiError::invalid_params(format!("unknown parameter `{unknown}`"));
                Err(error.hint(format!("the parameters are: {}", self.known.join(", "))))
            }
        }
    }
}

fn wrong_type(name: &str, wanted: &str) -> ApiError {
    ApiError::invalid_params(format!("`{name}` must be {wanted}"))
}
