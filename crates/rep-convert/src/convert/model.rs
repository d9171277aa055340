//! The interface to a language model: a server, a file, or the model of a client.

/// A question, with the earlier answers that were rejected.
#[derive(Clone, Copy, Debug)]
pub struct ModelQuestion<'a> {
    /// The text of the question.
    pub prompt: &'a str,
    /// The rejected answers so far, with the reasons.
    pub rejected_replies: &'a [RejectedReply],
    /// The JSON Schema of the answer, for models that support structured output.
    pub schema: &'a serde_json::Value,
}

/// A rejected answer, with the reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedReply {
    /// The text of the answer.
    pub answer: String,
    /// The message to the model about it.
    pub complaint: String,
}

/// The answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReply {
    /// The text; JSON if the model was given a schema.
    pub text: String,
    /// How the answer ended.
    pub ending: ReplyEnding,
    /// The tokens used.
    pub usage: TokenUsage,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyEnding {
    /// The model finished the answer.
    Complete,
    /// The answer was cut off at a limit.
    Truncated,
}

/// The tokens used for an answer, as far as the server reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Input tokens.
    pub input: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
}

impl TokenUsage {
    /// Adds two usages.
    #[must_use]
    pub fn saturating_add(self, other: TokenUsage) -> TokenUsage {
        let sum = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        TokenUsage { input: sum(self.input, other.input), output: sum(self.output, other.output) }
    }
}

/// The code of a model error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorCode {
    /// The address or the key of the server is invalid.
    InvalidConfiguration,
    /// The answer took too long.
    Timeout,
    /// The answer exceeds the size limit.
    AnswerTooLarge,
    /// The server could not be reached.
    Unreachable,
    /// The server rejected the key.
    Unauthorized,
    /// The server does not have the model, or is not at this address.
    NotFound,
    /// The server limits the rate of requests.
    RateLimited,
    /// The server failed with an internal error.
    Unavailable,
    /// The server rejected the question.
    Refused,
    /// The response of the server cannot be parsed.
    InvalidResponse,
}

impl ModelErrorCode {
    /// Returns the code used in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            ModelErrorCode::InvalidConfiguration => "MODEL_UNFIT",
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

    /// Returns whether every other question to the same server would fail as well.
    pub const fn is_permanent(self) -> bool {
        matches!(self, ModelErrorCode::InvalidConfiguration | ModelErrorCode::Unauthorized | ModelErrorCode::NotFound)
    }
}

/// The model did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    /// The code for programs.
    pub code: ModelErrorCode,
    /// The error message.
    pub message: String,
    /// A suggestion how to fix it.
    pub remedy: Option<String>,
    /// Whether the same question may succeed later.
    pub is_retriable: bool,
}

impl ModelError {
    /// Adds a suggestion how to fix the error.
    #[must_use]
    pub fn with_remedy(self, remedy: &str) -> Self {
        Self { remedy: Some(remedy.to_owned()), ..self }
    }

    /// Marks the error as temporary.
    #[must_use]
    pub fn as_retriable(self) -> Self {
        Self { is_retriable: true, ..self }
    }
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}

/// A language model that can be asked questions.
pub trait LanguageModel {
    /// Asks one question.
    fn ask(&mut self, question: &ModelQuestion<'_>) -> Result<ModelReply, ModelError>;
}
