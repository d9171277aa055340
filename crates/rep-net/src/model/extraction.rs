//! Extracts the sections of a UASP document from a Markdown skill with a model: from the cache, or by asking until the
//! answer is valid.

use rep_convert::convert::dialogue::{DialogueError, UsableAnswer, ask_until_usable};
use rep_convert::convert::{
    AnswerError, ConversionEngine, LanguageModel, ModelError, ModelQuestion, ModelReply, TokenUsage, accept_answer,
    answer_schema, build_model_prompt, check_answer, locate_values,
};
use rep_model::{Skill, SkillDocument};
use rep_storage::StorageError;
use serde_json::Value;

use super::cache::{ModelAnswerStore, StoredAnswer, digest_question};
use super::settings::{ModelSettings, TokenPrice};
use super::{ModelApi, ModelServer};

/// An event during an extraction.
#[derive(Debug)]
pub enum ModelEvent<'a> {
    /// A stored answer is used, and the model is not asked.
    AnsweredBefore {
        /// The model.
        model: &'a str,
    },
    /// The model is asked.
    Asking {
        /// The model.
        model: &'a str,
    },
    /// The answer is not valid, and the model is asked for a correction.
    AskingAgain {
        /// The model.
        model: &'a str,
        /// Why the answer is not valid.
        reasons: Vec<&'a str>,
    },
    /// The model answered. Contains the total usage so far.
    Answered(&'a ModelUsage),
    /// The answer could not be stored.
    NotStored(&'a StorageError),
}

/// The cost of asking a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelUsage {
    /// The model.
    pub model: String,
    /// The HTTP API that was used.
    pub api: ModelApi,
    /// The tokens of all answers.
    pub tokens: TokenUsage,
    /// The number of requests; 0 if a stored answer was used.
    pub ask_count: usize,
    price: Option<TokenPrice>,
}

impl ModelUsage {
    /// Computes the price of the tokens, if both their number and their price are known.
    pub fn compute_cost(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let millions = |tokens: Option<u64>| tokens.map(|tokens| tokens as f64 / 1e6);
        let price = self.price?;
        Some(millions(self.tokens.input)? * price.input + millions(self.tokens.output)? * price.output)
    }
}

/// The result of an extraction.
#[derive(Debug)]
pub struct ModelExtraction {
    /// The document, with the source location of each value.
    pub document: SkillDocument,
    /// The cost.
    pub usage: ModelUsage,
}

/// Why a model could not extract a document.
#[derive(Debug, thiserror::Error)]
pub enum ExtractionError {
    /// The last answer is not valid.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// The cache of answers, and whether it is read.
pub struct AnswerCache<'a> {
    /// Where answers are stored; `None` disables storing.
    pub answers: Option<&'a ModelAnswerStore>,
    /// Whether a stored answer is used instead of asking.
    pub is_read: bool,
}

/// Extracts the sections of a skill's Markdown with a model. `report` is called for each event.
pub fn extract_with_model(
    skill: &Skill,
    engine: ConversionEngine,
    settings: ModelSettings,
    cache: &AnswerCache<'_>,
    report: &mut dyn FnMut(ModelEvent<'_>),
) -> Result<ModelExtraction, ExtractionError> {
    let ModelSettings { endpoint, corrections_max, price } = settings;
    let asked = build_model_prompt(skill, engine);
    let (model, api) = (endpoint.model.clone(), endpoint.api);
    let usage =
        |tokens: TokenUsage, asked: usize| ModelUsage { model: model.clone(), api, tokens, ask_count: asked, price };
    let key =
        digest_question(&endpoint, &ModelQuestion { prompt: &asked, rejected_replies: &[], schema: &answer_schema() });
    let stored = cache.answers.filter(|_| cache.is_read).and_then(|answers| answers.get(&key));
    if let Some(stored) = stored
        && let Ok(document) = accept_answer(skill, &stored.text)
    {
        report(ModelEvent::AnsweredBefore { model: &model });
        return Ok(ModelExtraction { document, usage: usage(stored.usage, 0) });
    }
    let mut server = ModelServer::new(endpoint)?;
    let judge = |answer: Value| check_answer(skill, answer);
    let mut reporting = ReportingModel { model: &mut server, name: &model, report };
    let ended = ask_until_usable(&mut reporting, &asked, corrections_max, judge);
    let (tokens, times) = match &ended {
        Ok(UsableAnswer { usage, complaints, .. }) => (*usage, complaints.len() + 1),
        Err(DialogueError::InvalidAnswer { usage, times, .. }) => (*usage, *times),
        Err(DialogueError::NoAnswer { usage, .. }) => (*usage, 0),
    };
    let usage = usage(tokens, times);
    if ended.is_ok() || tokens != TokenUsage::default() {
        report(ModelEvent::Answered(&usage));
    }
    let UsableAnswer { value: judged, text, .. } = ended.map_err(|why| match why {
        DialogueError::InvalidAnswer { reasons, .. } => ExtractionError::Answer(AnswerError { reasons }),
        DialogueError::NoAnswer { error, .. } => ExtractionError::Model(error),
    })?;
    if let Some(answers) = cache.answers
        && let Err(error) = answers.store_answer(&key, &StoredAnswer { text, usage: tokens })
    {
        report(ModelEvent::NotStored(&error));
    }
    Ok(ModelExtraction { document: locate_values(skill, judged), usage })
}

/// A model that reports its requests.
struct ReportingModel<'a> {
    model: &'a mut dyn LanguageModel,
    name: &'a str,
    report: &'a mut dyn FnMut(ModelEvent<'_>),
}

impl LanguageModel for ReportingModel<'_> {
    fn ask(&mut self, question: &ModelQuestion<'_>) -> Result<ModelReply, ModelError> {
        (self.report)(match question.rejected_replies.last() {
            None => ModelEvent::Asking { model: self.name },
            Some(turn) => {
                let reasons = turn.complaint.lines().filter_map(|line| line.strip_prefix("- ")).collect();
                ModelEvent::AskingAgain { model: self.name, reasons }
            }
        });
        self.model.ask(question)
    }
}
