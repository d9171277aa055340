//! A model as the engine: where it is, what it is asked, and what its answer costs.
//!
//! Settings come from flags, else from variables (`REP_LLM_URL`, …), else from `llm` in the user's own `rep.yaml`: never from a
//! project's, which could send the user's key to a server of its own. The key itself comes from the environment alone.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use rep_convert::convert::answer::ANSWER_BYTES_MAX;
use rep_library::{read, settings};
use rep_net::model::cache::Answers;
use rep_net::model::extraction::{AnswerCache, ModelEvent, ModelUsage};
use rep_net::model::settings::{ModelSetting, ModelSettings, SettingSource, SettingText};
use rep_permissions::Secret;

use super::engine::EngineError;
use crate::exit::Failure;
use crate::library;
use crate::output::Output;

/// How many reasons are told of why an answer cannot be used.
const REASONS_TOLD: usize = 3;

/// The options of the engines `llm` and `hybrid`.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "With a model")]
pub(crate) struct ModelArgs {
    /// The server's address, such as `http://127.0.0.1:8080/v1` [variable: `REP_LLM_URL`]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The model's name [variable: `REP_LLM_MODEL`]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The form of HTTP the server speaks: openai, anthropic [variable: `REP_LLM_API`]
    #[arg(long, value_name = "FORM")]
    api: Option<String>,
    /// The variable that holds the key [default: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`; variable: `REP_LLM_KEY_ENV`]
    #[arg(long, value_name = "NAME")]
    key_env: Option<String>,
    /// The most tokens of an answer [variable: `REP_LLM_MAX_TOKENS`]
    #[arg(long, value_name = "N")]
    max_tokens: Option<String>,
    /// How much chance there is in an answer [default: the server's own; variable: `REP_LLM_TEMPERATURE`]
    #[arg(long, value_name = "T")]
    temperature: Option<String>,
    /// How long one answer may take, in seconds [default: 300; variable: `REP_LLM_TIMEOUT`]
    #[arg(long, value_name = "S")]
    timeout: Option<String>,
    /// How often the model is told what is wrong with its answer [default: 2; variable: `REP_LLM_MENDS`]
    #[arg(long, value_name = "N")]
    mends: Option<String>,
    /// What a million tokens cost, of questions and of answers, such as 3/15; without it no cost is shown [variable: `REP_LLM_PRICE`]
    #[arg(long, value_name = "IN/OUT")]
    price: Option<String>,
    /// Ask again, even where the answer to the same question is kept
    #[arg(long)]
    no_cache: bool,
    /// Print what a model would be asked, and ask none
    #[arg(long, alias = "prompt", conflicts_with = "answer")]
    pub(super) prompt_only: bool,
    /// Take the answer from this file instead of asking (`-`: from stdin)
    #[arg(long, value_name = "FILE")]
    pub(super) answer: Option<PathBuf>,
}

impl ModelArgs {
    /// Whether the options name the engine by themselves.
    pub(super) fn is_wanted(&self) -> bool {
        self.prompt_only || self.answer.is_some()
    }

    /// Stored answers, and whether they are used.
    pub(super) fn cache<'a>(&self, answers: Option<&'a Answers>) -> AnswerCache<'a> {
        AnswerCache { answers, is_read: !self.no_cache }
    }

    fn flag(&self, setting: ModelSetting) -> Option<&String> {
        match setting {
            ModelSetting::Url => self.url.as_ref(),
            ModelSetting::Model => self.model.as_ref(),
            ModelSetting::Api => self.api.as_ref(),
            ModelSetting::KeyEnv => self.key_env.as_ref(),
            ModelSetting::MaxTokens => self.max_tokens.as_ref(),
            ModelSetting::Temperature => self.temperature.as_ref(),
            ModelSetting::Timeout => self.timeout.as_ref(),
            ModelSetting::Mends => self.mends.as_ref(),
            ModelSetting::Price => self.price.as_ref(),
        }
    }
}

/// Where the answers of models are stored.
pub(super) fn stored_answers() -> Option<Answers> {
    library::cache_folder().map(|folder| Answers::at(&folder.join("models")))
}

/// The settings of flags, variables and the user's file, the first of which counts.
pub(super) fn settings(args: &ModelArgs) -> Result<ModelSettings, EngineError> {
    let file = match library::user_settings_file() {
        Ok(path) => settings::llm(&path).map_err(EngineError::File)?,
        // Without a home there are no settings.
        Err(_) => BTreeMap::new(),
    };
    let text = |setting: ModelSetting| {
        let key = setting.as_str();
        if let Some(text) = args.flag(setting) {
            return Some(SettingText { text: text.clone(), place: format!("--{key}") });
        }
        let variable = format!("REP_LLM_{}", key.to_ascii_uppercase().replace('-', "_"));
        let value = std::env::var(&variable).ok().filter(|value| !value.is_empty());
        if let Some(text) = value {
            return Some(SettingText { text, place: format!("the variable {variable}") });
        }
        let text = file.get(key)?.clone();
        Some(SettingText { text, place: format!("`llm.{key}` in your rep.yaml") })
    };
    let key = |name: &str| std::env::var(name).ok().and_then(Secret::new);
    ModelSettings::resolve(&SettingSource { text: &text, key: &key }).map_err(EngineError::Settings)
}

/// Says what happens while a model is asked.
pub(super) fn report(event: &ModelEvent<'_>, output: &mut Output) {
    match event {
        ModelEvent::AnsweredBefore { model } => {
            output.say(&format!("`{model}` answered this before; --no-cache asks it again"));
        }
        ModelEvent::Asking { model } => output.say(&format!("asking `{model}`")),
        ModelEvent::AskingAgain { model, reasons } => {
            let wrong = reasons.iter().take(REASONS_TOLD).copied().collect::<Vec<_>>().join("; ");
            output.say(&format!("the answer cannot be used ({wrong}); asking `{model}` again"));
        }
        ModelEvent::Answered(usage) => output.say(&words(usage)),
        ModelEvent::NotStored(error) => output.warn(&format!("the answer was not kept: {error}")),
    }
}

/// What a model cost, in words.
fn words(usage: &ModelUsage) -> String {
    let count = |tokens: Option<u64>| tokens.map_or("an untold number of".to_owned(), |tokens| tokens.to_string());
    let cost = usage.cost().map(|cost| format!(", which cost {cost:.4}")).unwrap_or_default();
    let (input, output) = (count(usage.tokens.input), count(usage.tokens.output));
    format!("`{}` read {input} tokens and wrote {output}{cost}", usage.model)
}

/// The text of an answer that was produced elsewhere.
pub(super) fn given_answer(path: &Path) -> Result<String, Failure> {
    let most = ANSWER_BYTES_MAX as u64;
    if path != Path::new("-") {
        return Ok(read::text(path, most)?);
    }
    let unreadable = |why: String| Failure::unable("UNREADABLE", format!("the answer on stdin cannot be read: {why}"));
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > most {
        return Err(unreadable(format!("it is larger than {} MiB", most >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| unreadable("it is no UTF-8 text".to_owned()))
}
