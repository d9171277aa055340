//! What a change of shape loses.

use std::fmt;

/// How much a loss matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Something the shape has no place for, and that changes nothing of what is accepted or done.
    Note,
    /// The shape accepts less, or says less, than the skill.
    Narrowed,
    /// It cannot be expressed, and was left out as a whole.
    Refused,
}

impl Weight {
    /// The word in output: the levels of findings.
    pub const fn level(self) -> &'static str {
        match self {
            Weight::Note => "info",
            Weight::Narrowed => "warning",
            Weight::Refused => "error",
        }
    }
}

/// One thing that a change of shape loses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// How much it matters.
    pub weight: Weight,
    /// Where it stands in the source: a field, or a place in a schema as a JSON pointer.
    pub at: String,
    /// What is lost, and why.
    pub message: String,
    /// What to do about it, where something can be done.
    pub help: Option<String>,
}

impl Loss {
    /// A loss.
    pub fn new(weight: Weight, at: impl Into<String>, message: impl Into<String>) -> Self {
        Self { weight, at: at.into(), message: message.into(), help: None }
    }

    /// The same with what to do about it.
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
