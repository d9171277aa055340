//! Asks a model until its answer can be used, a bounded number of times.

use serde_json::Value;

use super::{Ending, Model, ModelError, Question, Turn, Usage, answer, prompt};

/// The most reasons a model is told at once.
const REASONS_MAX: usize = 20;
/// The longest reason.
const REASON_CHARS_MAX: usize = 400;

/// An answer that can be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Usable<T> {
    /// What the judge made of it.
    pub judged: T,
    /// What the model said.
    pub text: String,
    /// What every answer before it was told, in order.
    pub complaints: Vec<Vec<String>>,
    /// What all answers cost together.
    pub usage: Usage,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Unusable {
    /// Nobody answered.
    Unanswered {
        /// Why not.
        error: ModelError,
        /// What earlier answers cost.
        usage: Usage,
    },
    /// The last answer was no better.
    Wrong {
        /// What is wrong with it.
        reasons: Vec<String>,
        /// How often was asked.
        times: usize,
        /// What all answers cost together.
        usage: Usage,
    },
}

/// Asks, and lets `judge` say what is wrong with the document in the answer; then asks again, at most `mends` times.
pub fn converse<T>(
    model: &mut dyn Model,
    asked: &str,
    mends: usize,
    mut judge: impl FnMut(Value) -> Result<T, Vec<String>>,
) -> Result<Usable<T>, Unusable> {
    let schema = super::schema();
    let mut usage = Usage::default();
    let mut complaints: Vec<Vec<String>> = Vec::new();
    let mut turns: Vec<Turn> = Vec::new();
    loop {
        let question = Question { prompt: asked, turns: &turns, schema: &schema };
        let reply = model.ask(&question).map_err(|error| Unusable::Unanswered { error, usage })?;
        usage = usage.and(reply.usage);
        let judged = match reply.ending {
            Ending::Whole => answer::read(&reply.text).map_err(|reason| vec![reason]).and_then(&mut judge),
            Ending::Cut => Err(vec![CUT.to_owned()]),
        };
        let reasons = match judged {
            Ok(judged) => return Ok(Usable { judged, text: reply.text, complaints, usage }),
            Err(reasons) => bounded(reasons),
        };
        if complaints.len() >= mends {
            return Err(Unusable::Wrong { reasons, times: complaints.len() + 1, usage });
        }
        // Only the last answer is shown again: what was wrong before is mended or stands in it too.
        turns = vec![Turn { answer: reply.text, complaint: prompt::complaint(&reasons) }];
        complaints.push(reasons);
    }
}

const CUT: &str = "the answer was cut off at the limit of tokens before its end; write it shorter: leave out examples and long descriptions";

fn bounded(reasons: Vec<String>) -> Vec<String> {
    let short = |reason: String| rep_model::truncate::ellipsize(&reason, REASON_CHARS_MAX).into_owned();
    let more = reasons.len().saturating_sub(REASONS_MAX);
    let mut told: Vec<String> = reasons.into_iter().take(REASONS_MAX).map(short).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}
