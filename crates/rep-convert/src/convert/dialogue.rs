//! Asks a model until its answer can be used, up to a limit.

use serde_json::Value;

use super::{LanguageModel, ModelError, ModelQuestion, RejectedReply, ReplyEnding, TokenUsage, answer, prompt};

/// The maximum number of reasons in one message to the model.
const REASONS_MAX: usize = 20;
/// The maximum length of a reason.
const REASON_CHARS_MAX: usize = 400;

/// An answer that can be used.
#[derive(Clone, Debug, PartialEq)]
pub struct UsableAnswer<T> {
    /// The result of checking the answer.
    pub value: T,
    /// The text of the answer.
    pub text: String,
    /// The reasons for which earlier answers were rejected, in order.
    pub complaints: Vec<Vec<String>>,
    /// The total cost of all answers.
    pub usage: TokenUsage,
}

/// No usable answer was received.
#[derive(Clone, Debug, PartialEq)]
pub enum DialogueError {
    /// The model did not answer.
    NoAnswer {
        /// The error of the model.
        error: ModelError,
        /// The cost of earlier answers.
        usage: TokenUsage,
    },
    /// The last answer was still invalid.
    InvalidAnswer {
        /// The reasons why it is invalid.
        reasons: Vec<String>,
        /// The number of questions asked.
        times: usize,
        /// The total cost of all answers.
        usage: TokenUsage,
    },
}

/// Asks the model, and lets `judge` check the document in the answer. After a rejected answer it asks again, at most
/// `corrections` times.
pub fn ask_until_usable<T>(
    model: &mut dyn LanguageModel,
    asked: &str,
    corrections: usize,
    mut judge: impl FnMut(Value) -> Result<T, Vec<String>>,
) -> Result<UsableAnswer<T>, DialogueError> {
    let schema = super::answer_schema();
    let mut usage = TokenUsage::default();
    let mut complaints: Vec<Vec<String>> = Vec::new();
    let mut turns: Vec<RejectedReply> = Vec::new();
    loop {
        let question = ModelQuestion { prompt: asked, rejected_replies: &turns, schema: &schema };
        let reply = model.ask(&question).map_err(|error| DialogueError::NoAnswer { error, usage })?;
        usage = usage.saturating_add(reply.usage);
        let judged = match reply.ending {
            ReplyEnding::Complete => {
                answer::parse_document(&reply.text).map_err(|reason| vec![reason]).and_then(&mut judge)
            }
            ReplyEnding::Truncated => Err(vec![TRUNCATED_REASON.to_owned()]),
        };
        let reasons = match judged {
            Ok(judged) => return Ok(UsableAnswer { value: judged, text: reply.text, complaints, usage }),
            Err(reasons) => limit_reasons(reasons),
        };
        if complaints.len() >= corrections {
            return Err(DialogueError::InvalidAnswer { reasons, times: complaints.len() + 1, usage });
        }
        // Only the last answer is shown again: an earlier error is either fixed or still in it.
        turns = vec![RejectedReply { answer: reply.text, complaint: prompt::render_complaint(&reasons) }];
        complaints.push(reasons);
    }
}

const TRUNCATED_REASON: &str =
    "the answer was cut off at the token limit; write it shorter: leave out examples and long descriptions";

fn limit_reasons(reasons: Vec<String>) -> Vec<String> {
    let short = |reason: String| rep_model::truncate::truncate_with_ellipsis(&reason, REASON_CHARS_MAX).into_owned();
    let more = reasons.len().saturating_sub(REASONS_MAX);
    let mut told: Vec<String> = reasons.into_iter().take(REASONS_MAX).map(short).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}
