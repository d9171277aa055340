//! Lets a model read the sections of a UASP document out of a Markdown skill: from the cache, or by asking until the answer is valid.

use rep_convert::convert::dialogue::{Unusable, Usable, converse};
use rep_convert::convert::{
    AnswerError, Engine, Model, ModelError, Question, Reply, Usage, accept_answer, document_errors, locate,
    model_prompt, schema,
};
use rep_model::{Document, Skill};
use rep_storage::StorageError;
use serde_json::Value;

use super::cache::{Answers, Kept, digest};
use super::settings::{ModelSettings, TokenPrice};
use super::{Api, Server};

/// What happens while a model is asked.
#[derive(Debug)]
pub enum ModelEvent<'a> {
    /// The same question was answered before, and the model is not asked.
    AnsweredBefore {
        /// The model.
        model: &'a str,
    },
    /// The model is asked.
    Asking {
        /// The model.
        model: &'a str,
    },
    /// The answer is not valid, and the model is asked again.
    AskingAgain {
        /// The model.
        model: &'a str,
        /// What is wrong with the answer.
        reasons: Vec<&'a str>,
    },
    /// The model answered, and this is what it cost so far.
    Answered(&'a ModelUsage),
    /// The answer could not be stored for the next time.
    NotStored(&'a StorageError),
}

/// What asking a model cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelUsage {
    /// The model.
    pub model: String,
    /// The form of HTTP it was asked in.
    pub api: Api,
    /// The tokens of all answers.
    pub tokens: Usage,
    /// How often it was asked; 0 if the answer was stored.
    pub asked: usize,
    price: Option<TokenPrice>,
}

impl ModelUsage {
    /// What the tokens cost, if both their number and their price are known.
    pub fn cost(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "nobody pays for so many tokens")]
        let millions = |tokens: Option<u64>| tokens.map(|tokens| tokens as f64 / 1e6);
        let price = self.price?;
        Some(millions(self.tokens.input)? * price.input + millions(self.tokens.output)? * price.output)
    }
}

/// What a model read out of a skill.
#[derive(Debug)]
pub struct ModelExtraction {
    /// The document, with the place of each value.
    pub document: Document,
    /// What it cost.
    pub usage: ModelUsage,
}

/// Why a model read nothing out of a skill.
#[derive(Debug, thiserror::Error)]
pub enum ExtractionError {
    /// The last answer is not valid either.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// There is no answer.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Answers that are stored, and whether they are used.
pub struct AnswerCache<'a> {
    /// Where answers are stored; without it they are not.
    pub answers: Option<&'a Answers>,
    /// Whether a stored answer is used instead of asking.
    pub is_read: bool,
}

/// Lets a model read the sections out of a skill's Markdown. `report` hears what happens on the way.
pub fn extract_with_model(
    skill: &Skill,
    engine: Engine,
    settings: ModelSettings,
    cache: &AnswerCache<'_>,
    report: &mut dyn FnMut(ModelEvent<'_>),
) -> Result<ModelExtraction, ExtractionError> {
    let ModelSettings { endpoint, corrections_max, price } = settings;
    let asked = model_prompt(skill, engine);
    let (model, api) = (endpoint.model.clone(), endpoint.api);
    let usage = |tokens: Usage, asked: usize| ModelUsage { model: model.clone(), api, tokens, asked, price };
    let key = digest(&endpoint, &Question { prompt: &asked, turns: &[], schema: &schema() });
    let stored = cache.answers.filter(|_| cache.is_read).and_then(|answers| answers.get(&key));
    if let Some(stored) = stored
        && let Ok(document) = accept_answer(skill, &stored.text)
    {
        report(ModelEvent::AnsweredBefore { model: &model });
        return Ok(ModelExtraction { document, usage: usage(stored.usage, 0) });
    }
    let mut server = Server::new(endpoint)?;
    let judge = |value: Value| {
        let errors = document_errors(skill, &value);
        if errors.is_empty() { Ok(value) } else { Err(errors) }
    };
    let mut reporting = Reporting { model: &mut server, name: &model, report };
    let ended = converse(&mut reporting, &asked, corrections_max, judge);
    let (tokens, times) = match &ended {
        Ok(Usable { usage, complaints, .. }) => (*usage, complaints.len() + 1),
        Err(Unusable::Wrong { usage, times, .. }) => (*usage, *times),
        Err(Unusable::Unanswered { usage, .. }) => (*usage, 0),
    };
    let usage = usage(tokens, times);
    if ended.is_ok() || tokens != Usage::default() {
        report(ModelEvent::Answered(&usage));
    }
    let Usable { judged, text, .. } = ended.map_err(|why| match why {
        Unusable::Wrong { reasons, .. } => ExtractionError::Answer(AnswerError { reasons }),
        Unusable::Unanswered { error, .. } => ExtractionError::Model(error),
    })?;
    if let Some(answers) = cache.answers
        && let Err(error) = answers.put(&key, &Kept { text, usage: tokens })
    {
        report(ModelEvent::NotStored(&error));
    }
    Ok(ModelExtraction { document: locate(skill, judged), usage })
}

/// A model that reports when it is asked.
struct Reporting<'a> {
    model: &'a mut dyn Model,
    name: &'a str,
    report: &'a mut dyn FnMut(ModelEvent<'_>),
}

impl Model for Reporting<'_> {
    fn ask(&mut self, question: &Question<'_>) -> Result<Reply, ModelError> {
        (self.report)(match question.turns.last() {
            None => ModelEvent::Asking { model: self.name },
            Some(turn) => {
                let reasons = turn.complaint.lines().filter_map(|line| line.strip_prefix("- ")).collect();
                ModelEvent::AskingAgain { model: self.name, reasons }
            }
        });
        self.model.ask(question)
    }
}
