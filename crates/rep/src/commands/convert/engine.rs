//! Converts one skill with the engine that was asked for.

use rep_convert::convert::{AnswerError, Conversion, convert_document, read_answer};
use rep_library::convert::{ConvertError, SkillSource};
use rep_library::find::Found;
use rep_library::settings::SettingsError;
use rep_net::model::extraction::{ExtractionError, ModelUsage, extract_with_model};
use rep_net::model::settings::ModelSettingsError;
use serde_json::{Value, json};

use super::{Args, Engine, llm};
use crate::exit::Failure;
use crate::output::Output;

/// A skill that was converted.
pub(super) struct Converted {
    pub(super) source: SkillSource,
    pub(super) conversion: Conversion,
    /// The model that was asked, where one was, as it is reported to programs.
    pub(super) model: Option<Value>,
}

/// Why a skill was not converted.
pub(super) enum EngineError {
    Convert(ConvertError),
    /// The user's settings file cannot be used.
    File(SettingsError),
    Settings(ModelSettingsError),
    Extraction(ExtractionError),
    Other(Failure),
}

impl EngineError {
    /// Whether no other skill could be converted either.
    pub(super) fn is_permanent(&self) -> bool {
        match self {
            EngineError::File(error) => matches!(error, SettingsError::Invalid { .. }),
            EngineError::Settings(_) => true,
            EngineError::Extraction(ExtractionError::Model(error)) => error.code.is_permanent(),
            EngineError::Extraction(ExtractionError::Answer(_)) | EngineError::Convert(_) | EngineError::Other(_) => {
                false
            }
        }
    }

    /// What is wrong with a model's answer, where that is the reason.
    pub(super) fn answer(&self) -> Option<&AnswerError> {
        match self {
            EngineError::Extraction(ExtractionError::Answer(error)) => Some(error),
            _ => None,
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Convert(error) => error.into(),
            EngineError::File(error) => error.into(),
            EngineError::Settings(error) => error.into(),
            EngineError::Extraction(error) => error.into(),
            EngineError::Other(failure) => failure,
        }
    }
}

/// Converts a skill with the engine that was asked for.
pub(super) fn convert_one(found: &Found, args: &Args, output: &mut Output) -> Result<Converted, EngineError> {
    let engine = args.engine();
    let source = SkillSource::read_markdown(found).map_err(EngineError::Convert)?;
    if engine == Engine::Rules {
        let conversion = source.convert();
        return Ok(Converted { source, conversion, model: None });
    }
    let (document, model) = if let Some(path) = &args.model.answer {
        let text = llm::given_answer(path).map_err(EngineError::Other)?;
        let document = read_answer(&source.skill, &text);
        (document.map_err(|error| EngineError::Extraction(error.into()))?, None)
    } else {
        let settings = llm::settings(&args.model)?;
        let answers = llm::stored_answers();
        let cache = args.model.cache(answers.as_ref());
        let mut report = |event: rep_net::model::extraction::ModelEvent<'_>| llm::report(&event, output);
        let extraction = extract_with_model(&source.skill, engine.into(), settings, &cache, &mut report);
        let extraction = extraction.map_err(EngineError::Extraction)?;
        (extraction.document, Some(model_json(&extraction.usage)))
    };
    let conversion = convert_document(&source.skill, &source.faults, &document, engine.into());
    Ok(Converted { source, conversion, model })
}

fn model_json(usage: &ModelUsage) -> Value {
    let mut value = json!({
        "name": usage.model,
        "api": usage.api.name(),
        "input_tokens": usage.tokens.input,
        "output_tokens": usage.tokens.output,
        "asked": usage.asked,
        "cached": usage.asked == 0,
    });
    if let Some(cost) = usage.cost() {
        value["cost"] = cost.into();
    }
    value
}
