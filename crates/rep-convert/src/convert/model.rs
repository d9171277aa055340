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

/// Why there is no answer, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorCode {
    /// The server cannot be asked: its address or its key makes no sense.
    Unfit,
    /// The answer took too long.
    Timeout,
    /// The answer is larger than it may be.
    AnswerTooLarge,
    /// The server could not be reached.
    Unreachable,
    /// The server wants another key.
    Unauthorized,
    /// The server does not know the model, or is not at this address.
    NotFound,
    /// The server is asked too often.
    RateLimited,
    /// The server failed.
    Unavailable,
    /// The server refused the question.
    Refused,
    /// What the server sent cannot be read.
    InvalidResponse,
}

impl ModelErrorCode {
    /// The word in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            ModelErrorCode::Unfit => "MODEL_UNFIT",
            ModelErrorCode::Timeout => "TIMEOUT",
            ModelErrorCode::AnswerTooLarge => "ANSWER_TOO_LARGE",
            ModelErrorCode::Unreachable => "MODEL_UNREACHABLE",
            ModelErrorCode::Unauthorized => "MODEL_UNAUTHORIZED",
            ModelErrorCode::NotFound => "MODEL_NOT_FOUND",
            ModelErrorCode::RateLimited => "RATE_LIMITED",
            ModelErrorCode::Unavailable => "MODEL_UNAVAILABLE",
            ModelErrorCode::Refused => "MODEL_REFUSED",
            ModelErrorCode::InvalidResponse => "INVALID_RESPONSE",
        }
    }

    /// Whether every other question to the same server would fail as well.
    pub const fn is_permanent(self) -> bool {
        matches!(self, ModelErrorCode::Unfit | ModelErrorCode::Unauthorized | ModelErrorCode::NotFound)
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    /// The code for programs.
    pub code: ModelErrorCode,
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
