//! Converts one skill with the requested engine.

use rep_convert::convert::{AnswerError, Conversion, convert_document, read_answer};
use rep_library::convert::{ConvertError, SkillSource};
use rep_library::discovery::SkillLocation;
use rep_library::settings::SettingsError;
use rep_net::model::extraction::{ExtractionError, ModelUsage, extract_with_model};
use rep_net::model::settings::ModelSettingsError;
use serde_json::{Value, json};

use super::{Args, EngineChoice, llm};
use crate::exit::Failure;
use crate::output::Output;

/// A converted skill.
pub(super) struct ConvertedSkill {
    pub(super) source: SkillSource,
    pub(super) conversion: Conversion,
    /// The model that was asked, if any, as JSON for programs.
    pub(super) model: Option<Value>,
}

/// The reason why a skill was not converted.
pub(super) enum EngineError {
    Convert(ConvertError),
    /// The user's settings file cannot be used.
    File(SettingsError),
    Settings(ModelSettingsError),
    Extraction(ExtractionError),
    Other(Failure),
}

impl EngineError {
    /// Whether the same error would occur for every other skill.
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

    /// Returns the error in a model's answer, if that is the reason.
    pub(super) fn answer_error(&self) -> Option<&AnswerError> {
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

/// Converts a skill with the requested engine.
pub(super) fn convert_skill(
    found: &SkillLocation,
    args: &Args,
    output: &mut Output,
) -> Result<ConvertedSkill, EngineError> {
    let engine = args.chosen_engine();
    let source = SkillSource::read_markdown(found).map_err(EngineError::Convert)?;
    if engine == EngineChoice::Rules {
        let conversion = source.convert_with(args.doubtful_handling());
        return Ok(ConvertedSkill { source, conversion, model: None });
    }
    let (document, model) = if let Some(path) = &args.model.answer {
        let text = llm::read_given_answer(path).map_err(EngineError::Other)?;
        let document = read_answer(&source.skill, &text);
        (document.map_err(|error| EngineError::Extraction(error.into()))?, None)
    } else {
        let settings = llm::resolve_model_settings(&args.model)?;
        let answers = llm::open_stored_answers();
        let cache = args.model.answer_cache(answers.as_ref());
        let mut report = |event: rep_net::model::extraction::ModelEvent<'_>| llm::report_model_event(&event, output);
        let extraction = extract_with_model(&source.skill, engine.into(), settings, &cache, &mut report);
        let extraction = extraction.map_err(EngineError::Extraction)?;
        (extraction.document, Some(model_usage_to_json(&extraction.usage)))
    };
    let conversion = convert_document(&source.skill, &source.faults, &document, engine.into());
    Ok(ConvertedSkill { source, conversion, model })
}

fn model_usage_to_json(usage: &ModelUsage) -> Value {
    let mut value = json!({
        "name": usage.model,
        "api": usage.api.name(),
        "input_tokens": usage.tokens.input,
        "output_tokens": usage.tokens.output,
        "asked": usage.ask_count,
        "cached": usage.ask_count == 0,
    });
    if let Some(cost) = usage.compute_cost() {
        value["cost"] = cost.into();
    }
    value
}
