//! A model as the engine.

use rep_model::Skill;
use rep_uasp::Document;

use crate::exit::Failure;
use crate::output::Output;

/// The options of the engine `llm`.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ModelArgs {}

/// Lets a model read the sections out of a skill's Markdown.
pub(super) fn extract(_skill: &Skill, _args: &ModelArgs, _output: &mut Output) -> Result<Document, Failure> {
    let failure = Failure::unable("NOT_BUILT", "the engine `llm` is not built yet");
    Err(failure.hint("`--engine rules` converts without a model"))
}
