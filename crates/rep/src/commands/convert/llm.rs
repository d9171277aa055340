//! Options and messages for conversions with a model.
//!
//! Settings come from flags, then environment variables (`REP_LLM_URL`, …), then `llm` in the user's own
//! `rep.yaml`. A project's `rep.yaml` is never used: it could send the user's key to another server. The key itself
//! comes from the environment only.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use rep_convert::convert::answer::ANSWER_BYTES_MAX;
use rep_library::{settings, skill_reader};
use rep_net::model::cache::ModelAnswerStore;
use rep_net::model::extraction::{AnswerCache, ModelEvent, ModelUsage};
use rep_net::model::settings::{ModelSetting, ModelSettingSource, ModelSettingText, ModelSettings};
use rep_permissions::SecretValue;

use super::engine::EngineError;
use crate::exit::Failure;
use crate::library;
use crate::output::Output;

/// The maximum number of reasons printed for an unusable answer.
const REASONS_SHOWN: usize = 3;

/// The options of the engines `llm` and `hybrid`.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Model options")]
pub(crate) struct ModelArgs {
    /// The base URL of the server, such as `http://127.0.0.1:8080/v1` [env: `REP_LLM_URL`]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The name of the model [env: `REP_LLM_MODEL`]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The API of the server: openai or anthropic [env: `REP_LLM_API`]
    #[arg(long, value_name = "API")]
    api: Option<String>,
    /// The environment variable with the API key [default: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`; env:
    /// `REP_LLM_KEY_ENV`]
    #[arg(long, value_name = "NAME")]
    key_env: Option<String>,
    /// The maximum number of tokens in an answer [env: `REP_LLM_MAX_TOKENS`]
    #[arg(long, value_name = "N")]
    max_tokens: Option<String>,
    /// The sampling temperature [default: the server's; env: `REP_LLM_TEMPERATURE`]
    #[arg(long, value_name = "NUMBER")]
    temperature: Option<String>,
    /// How long to wait for an answer, in seconds [default: 300; env: `REP_LLM_TIMEOUT`]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<String>,
    /// How often the model may correct an invalid answer [default: 2; env: `REP_LLM_CORRECTIONS`]
    #[arg(long, value_name = "N")]
    corrections: Option<String>,
    /// The price of a million input and output tokens, such as 3/15, to show the cost [env: `REP_LLM_PRICE`]
    #[arg(long, value_name = "IN/OUT")]
    price: Option<String>,
    /// Ask the model again, even if a stored answer exists
    #[arg(long)]
    no_cache: bool,
    /// Print the prompt for a model instead of sending it
    #[arg(long, alias = "prompt", conflicts_with = "answer")]
    pub(super) prompt_only: bool,
    /// Read the answer from this file instead of asking a model (`-` for stdin)
    #[arg(long, value_name = "FILE")]
    pub(super) answer: Option<PathBuf>,
}

impl ModelArgs {
    /// Whether the options imply a model.
    pub(super) fn wants_model(&self) -> bool {
        self.prompt_only || self.answer.is_some()
    }

    /// Returns the stored answers, and whether they are used.
    pub(super) fn answer_cache<'a>(&self, answers: Option<&'a ModelAnswerStore>) -> AnswerCache<'a> {
        AnswerCache { answers, is_read: !self.no_cache }
    }

    fn flag_value(&self, setting: ModelSetting) -> Option<&String> {
        match setting {
            ModelSetting::Url => self.url.as_ref(),
            ModelSetting::Model => self.model.as_ref(),
            ModelSetting::Api => self.api.as_ref(),
            ModelSetting::KeyEnv => self.key_env.as_ref(),
            ModelSetting::MaxTokens => self.max_tokens.as_ref(),
            ModelSetting::Temperature => self.temperature.as_ref(),
            ModelSetting::Timeout => self.timeout.as_ref(),
            ModelSetting::Corrections => self.corrections.as_ref(),
            ModelSetting::Price => self.price.as_ref(),
        }
    }
}

/// Opens the store of model answers.
pub(super) fn open_stored_answers() -> Option<ModelAnswerStore> {
    library::cache_folder().map(|folder| ModelAnswerStore::new(&folder.join("models")))
}

/// Resolves the settings from flags, variables and the user's file, in this order of precedence.
pub(super) fn resolve_model_settings(args: &ModelArgs) -> Result<ModelSettings, EngineError> {
    let file = match library::user_settings_file() {
        Ok(path) => settings::load_model_settings(&path).map_err(EngineError::File)?,
        // Without a home directory, no settings exist.
        Err(_) => BTreeMap::new(),
    };
    let text = |setting: ModelSetting| {
        let key = setting.as_str();
        if let Some(text) = args.flag_value(setting) {
            return Some(ModelSettingText { text: text.clone(), place: format!("--{key}") });
        }
        let variable = format!("REP_LLM_{}", key.to_ascii_uppercase().replace('-', "_"));
        let value = std::env::var(&variable).ok().filter(|value| !value.is_empty());
        if let Some(text) = value {
            return Some(ModelSettingText { text, place: format!("the variable {variable}") });
        }
        let text = file.get(key)?.clone();
        Some(ModelSettingText { text, place: format!("`llm.{key}` in your rep.yaml") })
    };
    let key = |name: &str| std::env::var(name).ok().and_then(SecretValue::new);
    ModelSettings::resolve(&ModelSettingSource { text: &text, key: &key }).map_err(EngineError::Settings)
}

/// Reports progress while a model is asked.
pub(super) fn report_model_event(event: &ModelEvent<'_>, output: &mut Output) {
    match event {
        ModelEvent::AnsweredBefore { model } => {
            output.print_message(&format!("using a stored answer of `{model}`; pass --no-cache to ask again"));
        }
        ModelEvent::Asking { model } => output.print_message(&format!("asking `{model}`")),
        ModelEvent::AskingAgain { model, reasons } => {
            let wrong = reasons.iter().take(REASONS_SHOWN).copied().collect::<Vec<_>>().join("; ");
            output.print_message(&format!("the answer cannot be used ({wrong}); asking `{model}` again"));
        }
        ModelEvent::Answered(usage) => output.print_message(&describe_usage(usage)),
        ModelEvent::NotStored(error) => output.warn(&format!("could not store the answer: {error}")),
    }
}

/// Describes the token usage and cost of a model.
fn describe_usage(usage: &ModelUsage) -> String {
    let count = |tokens: Option<u64>| tokens.map_or("an unknown number of".to_owned(), |tokens| tokens.to_string());
    let cost = usage.compute_cost().map(|cost| format!(", cost {cost:.4}")).unwrap_or_default();
    let (input, output) = (count(usage.tokens.input), count(usage.tokens.output));
    format!("`{}` read {input} tokens and wrote {output}{cost}", usage.model)
}

/// Reads an answer that was produced elsewhere.
pub(super) fn read_given_answer(path: &Path) -> Result<String, Failure> {
    let most = ANSWER_BYTES_MAX as u64;
    if path != Path::new("-") {
        return Ok(skill_reader::read_text(path, most)?);
    }
    let unreadable =
        |why: String| Failure::unable("UNREADABLE", format!("could not read the answer from stdin: {why}"));
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > most {
        return Err(unreadable(format!("it is larger than {} MiB", most >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))
}
