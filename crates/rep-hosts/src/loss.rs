//! The losses of a projection.

use std::fmt;

/// The severity of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossSeverity {
    /// The format has no place for it, but accepted inputs and behavior are unchanged.
    Note,
    /// The format accepts or states less than the skill.
    Narrowed,
    /// It cannot be expressed and was omitted completely.
    Refused,
}

impl LossSeverity {
    /// Returns the name in output, which is a level of findings.
    pub const fn level(self) -> &'static str {
        match self {
            LossSeverity::Note => "info",
            LossSeverity::Narrowed => "warning",
            LossSeverity::Refused => "error",
        }
    }
}

/// Something that a projection loses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The severity of the loss.
    pub weight: LossSeverity,
    /// The location in the source: a field, or a JSON pointer into a schema.
    pub at: String,
    /// What is lost, and why.
    pub message: String,
    /// The remedy, if there is one.
    pub help: Option<String>,
}

impl Loss {
    /// Creates a loss without a remedy.
    pub fn new(weight: LossSeverity, at: impl Into<String>, message: impl Into<String>) -> Self {
        Self { weight, at: at.into(), message: message.into(), help: None }
    }

    /// Adds a remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.is_empty() {
            return formatter.write_str(&self.message);
        }
        write!(formatter, "`{}`: {}", self.at, self.message)
    }
}
