//! Whoever answers a question: a server, a file, a client's own model.

/// A question, with what was said about earlier answers to it.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What is asked.
    pub prompt: &'a str,
    /// The answers so far, and what was wrong with them.
    pub turns: &'a [Turn],
    /// The JSON Schema of the answer, for those who can hold a model to it.
    pub schema: &'a serde_json::Value,
}

/// An answer, and what was wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// What the model said.
    pub answer: String,
    /// What it was told.
    pub complaint: String,
}

/// What a model said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its text; JSON where it was held to a schema.
    pub text: String,
    /// How it ended.
    pub ending: Ending,
    /// What it cost.
    pub usage: Usage,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Where the model wanted.
    Whole,
    /// At a limit, in the middle.
    Cut,
}

/// The tokens an answer cost, as far as its server told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the question.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
}

impl Usage {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Usage) -> Usage {
        let sum = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        Usage { input: sum(self.input, other.input), output: sum(self.output, other.output) }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    /// A stable word for programs.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub remedy: Option<String>,
    /// Whether the same question may be answered later.
    pub is_retriable: bool,
}

impl ModelError {
    /// With what to do about it.
    #[must_use]
    pub fn remedied(self, remedy: &str) -> Self {
        Self { remedy: Some(remedy.to_owned()), ..self }
    }

    /// As one that may pass.
    #[must_use]
    pub fn retriable(self) -> Self {
        Self { is_retriable: true, ..self }
    }
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}

/// Whoever answers a question.
pub trait Model {
    /// Asks once.
    fn ask(&mut self, question: &Question<'_>) -> Result<Reply, ModelError>;
}
