//! A model as the engine: where it is, what it is asked, and what its answer costs.
//!
//! Settings come from flags, else from variables (`REP_LLM_URL`, …), else from `llm` in the user's own `rep.yaml`: never from a
//! project's, which could send the user's key to a server of its own. The key itself comes from the environment alone.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rep_convert::convert::dialogue::{Unusable, Usable, converse};
use rep_convert::convert::{Model, ModelError, Question, Reply, Usage, answer, grounds, prompt, schema, write};
use rep_convert::extract;
use rep_library::read;
use rep_model::Skill;
use rep_model::{Document, Origin, Step};
use rep_net::model::cache::{Answers, Kept, digest};
use rep_net::model::{Api, Endpoint, Server};
use rep_runtime::secret::Secret;
use serde_json::{Value, json};

use super::Engine;
use crate::exit::Failure;
use crate::library;
use crate::output::Output;
use rep_library::settings;

/// How often a model is told what is wrong with its answer.
const MENDS: u64 = 2;
/// How long one answer may take, in seconds.
const TIMEOUT_SECONDS: u64 = 300;

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

/// The code of an answer that cannot be used; the hints say why.
pub(super) const INVALID_ANSWER: &str = "INVALID_ANSWER";

impl ModelArgs {
    /// Whether the options name the engine by themselves.
    pub(super) fn is_wanted(&self) -> bool {
        self.prompt_only || self.answer.is_some()
    }
}

/// What a model is asked about a skill.
pub(super) fn question(skill: &Skill, engine: Engine) -> String {
    let markdown = skill.manifest.as_ref().map_or("", |manifest| manifest.source.text());
    let found = (engine == Engine::Hybrid).then(|| write(&extract::extract(skill).value));
    prompt::prompt(markdown, found.as_deref())
}

/// Whether no other question would be answered either.
pub(super) fn is_hopeless(failure: &Failure) -> bool {
    let codes =
        ["BROKEN_SETTINGS", "MODEL_NOT_FOUND", "MODEL_UNAUTHORIZED", "MODEL_UNFIT", "NO_MODEL", "SECRET_MISSING"];
    codes.contains(&&*failure.code)
}

/// Lets a model read the sections out of a skill's Markdown, and tells of the model where one was asked. `errors` says what is
/// wrong with a document.
pub(super) fn extract(
    skill: &Skill,
    args: &ModelArgs,
    engine: Engine,
    errors: &dyn Fn(&Value) -> Vec<String>,
    output: &mut Output,
) -> Result<(Document, Option<Value>), Failure> {
    if let Some(path) = &args.answer {
        let value = answer::read(&given(path)?).map_err(|reason| unusable(vec![reason]))?;
        return Ok((grounded(skill, value), None));
    }
    let asked = question(skill, engine);
    let layers = Layers::new(args)?;
    let endpoint = layers.endpoint()?;
    let (mends, price) = (layers.mends()?, layers.price()?);
    let about = About { model: endpoint.model.clone(), api: endpoint.api, price };
    let key = digest(&endpoint, &Question { prompt: &asked, turns: &[], schema: &schema() });
    let answers = library::cache_folder().map(|folder| Answers::at(&folder.join("models")));
    let kept = answers.as_ref().filter(|_| !args.no_cache).and_then(|answers| answers.get(&key));
    if let Some((kept, value)) = kept.and_then(|kept| answer::read(&kept.text).ok().map(|value| (kept, value)))
        && errors(&value).is_empty()
    {
        output.say(&format!("`{}` answered this before; --no-cache asks it again", about.model));
        return Ok((grounded(skill, value), Some(about.told(kept.usage, 0))));
    }
    let mut server = Server::new(endpoint).map_err(failed)?;
    let mut talking = Talking { model: &mut server, name: &about.model, output };
    let judge = |value: Value| Some(errors(&value)).filter(|errors| !errors.is_empty()).map_or(Ok(value), Err);
    let ended = converse(&mut talking, &asked, mends, judge);
    let usage = match &ended {
        Ok(Usable { usage, .. }) | Err(Unusable::Wrong { usage, .. } | Unusable::Unanswered { usage, .. }) => *usage,
    };
    if ended.is_ok() || usage != Usage::default() {
        output.say(&about.words(usage));
    }
    let Usable { judged, text, complaints, .. } = ended.map_err(|why| match why {
        Unusable::Wrong { reasons, .. } => unusable(reasons),
        Unusable::Unanswered { error, .. } => failed(error),
    })?;
    if let Some(answers) = &answers
        && let Err(error) = answers.put(&key, &Kept { text, usage })
    {
        output.warn(&format!("the answer was not kept: {error}"));
    }
    Ok((grounded(skill, judged), Some(about.told(usage, complaints.len() + 1))))
}

fn unusable(reasons: Vec<String>) -> Failure {
    let failure = Failure::findings(INVALID_ANSWER, "the model's answer cannot be used");
    reasons.into_iter().fold(failure, Failure::hint)
}

/// A document with the place of each of its facts in the source, and a doubt where there is none.
pub(super) fn grounded(skill: &Skill, value: Value) -> Document {
    let source = skill.manifest.as_ref().map_or("", |manifest| manifest.source.text());
    let mut facts = grounds::facts(&value, source);
    let name = &extract::extract(skill).value["meta"]["name"];
    let is_name = |path: &[Step]| matches!(path, [Step::Key(meta), Step::Key(key)] if meta == "meta" && key == "name");
    if value["meta"]["name"] != *name
        && let Some(fact) = facts.iter_mut().find(|fact| is_name(&fact.path))
    {
        fact.doubt = Some(format!("the skill calls itself `{}`", name.as_str().unwrap_or_default()));
    }
    Document { value, origin: Origin::Extracted, facts }
}

/// The text of an answer that was produced elsewhere.
fn given(path: &Path) -> Result<String, Failure> {
    let most = answer::ANSWER_BYTES_MAX as u64;
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

fn failed(error: ModelError) -> Failure {
    let failure = Failure::unable(error.code, error.message).retriable(error.is_retriable);
    match error.remedy {
        Some(remedy) => failure.hint(remedy),
        None => failure,
    }
}

/// A model that tells when it is asked.
struct Talking<'a> {
    model: &'a mut dyn Model,
    name: &'a str,
    output: &'a mut Output,
}

impl Model for Talking<'_> {
    fn ask(&mut self, question: &Question<'_>) -> Result<Reply, ModelError> {
        match question.turns.last() {
            None => self.output.say(&format!("asking `{}`", self.name)),
            Some(turn) => {
                let wrong = turn.complaint.lines().filter_map(|line| line.strip_prefix("- "));
                let wrong = wrong.take(3).collect::<Vec<_>>().join("; ");
                self.output.say(&format!("the answer cannot be used ({wrong}); asking `{}` again", self.name));
            }
        }
        self.model.ask(question)
    }
}

/// What is told of a model that was asked.
struct About {
    model: String,
    api: Api,
    /// What a million tokens of questions and of answers cost.
    price: Option<(f64, f64)>,
}

impl About {
    fn cost(&self, usage: Usage) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "nobody pays for so many tokens")]
        let millions = |tokens: Option<u64>| tokens.map(|tokens| tokens as f64 / 1e6);
        let (input, output) = self.price?;
        Some(millions(usage.input)? * input + millions(usage.output)? * output)
    }

    fn words(&self, usage: Usage) -> String {
        let count = |tokens: Option<u64>| tokens.map_or("an untold number of".to_owned(), |tokens| tokens.to_string());
        let cost = self.cost(usage).map(|cost| format!(", which cost {cost:.4}")).unwrap_or_default();
        let (input, output) = (count(usage.input), count(usage.output));
        format!("`{}` read {input} tokens and wrote {output}{cost}", self.model)
    }

    /// The same for programs; `times` is how often it was asked.
    fn told(&self, usage: Usage, times: usize) -> Value {
        let mut told = json!({
            "name": self.model,
            "api": self.api.name(),
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "asked": times,
            "cached": times == 0,
        });
        if let Some(cost) = self.cost(usage) {
            told["cost"] = cost.into();
        }
        told
    }
}

/// The settings of flags, variables and the user's file, the first of which counts.
struct Layers<'a> {
    args: &'a ModelArgs,
    file: BTreeMap<&'static str, String>,
}

/// One setting, and where it stands.
struct Setting {
    text: String,
    place: String,
}

impl Setting {
    fn unfit(&self, wanted: &str) -> Failure {
        let message = format!("{} is `{}`, which is no {wanted}", self.place, self.text);
        Failure::unable("BROKEN_SETTINGS", message).hint("mend it, or leave it out")
    }

    fn number(&self, wanted: &str, most: u64) -> Result<u64, Failure> {
        let number = self.text.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| self.unfit(&format!("{wanted} up to {most}")))
    }
}

impl<'a> Layers<'a> {
    fn new(args: &'a ModelArgs) -> Result<Self, Failure> {
        let file = match library::user_settings_file() {
            Ok(path) => settings::llm(&path)?,
            // Without a home there are no settings.
            Err(_) => BTreeMap::new(),
        };
        Ok(Self { args, file })
    }

    fn get(&self, key: &'static str) -> Option<Setting> {
        let flag = match key {
            "url" => &self.args.url,
            "model" => &self.args.model,
            "api" => &self.args.api,
            "key-env" => &self.args.key_env,
            "max-tokens" => &self.args.max_tokens,
            "temperature" => &self.args.temperature,
            "timeout" => &self.args.timeout,
            "mends" => &self.args.mends,
            "price" => &self.args.price,
            _ => &None,
        };
        if let Some(text) = flag {
            return Some(Setting { text: text.clone(), place: format!("--{key}") });
        }
        let variable = format!("REP_LLM_{}", key.to_ascii_uppercase().replace('-', "_"));
        let value = std::env::var(&variable).ok().filter(|value| !value.is_empty());
        if let Some(text) = value {
            return Some(Setting { text, place: format!("the variable {variable}") });
        }
        let text = self.file.get(key)?;
        Some(Setting { text: text.clone(), place: format!("`llm.{key}` in your rep.yaml") })
    }

    fn endpoint(&self) -> Result<Endpoint, Failure> {
        let url = self.get("url").map(|url| url.text);
        let api = match self.get("api") {
            Some(setting) => Some(Api::named(&setting.text).ok_or_else(|| setting.unfit("`openai` or `anthropic`"))?),
            None => url.as_deref().map(spoken),
        };
        let Some(api) = api else {
            let failure = Failure::unable("NO_MODEL", "no server is named that has a model");
            return Err(failure
                .hint("REP_LLM_URL names an address, REP_LLM_API=openai or anthropic the company's own")
                .hint("--prompt-only and --answer convert with a model that is elsewhere"));
        };
        let Some(model) = self.get("model") else {
            return Err(Failure::unable("NO_MODEL", "no model is named").hint("REP_LLM_MODEL or --model names one"));
        };
        let temperature = self.get("temperature").map(|setting| {
            let number = setting.text.parse::<f64>().ok().filter(|number| (0.0..=2.0).contains(number));
            number.ok_or_else(|| setting.unfit("number from 0 to 2"))
        });
        let tokens = self.get("max-tokens").map(|setting| setting.number("number of tokens", 10_000_000));
        let timeout = self.get("timeout").map(|setting| setting.number("number of seconds", 3_600)).transpose()?;
        Ok(Endpoint {
            api,
            key: self.key(api, url.is_some())?,
            url: url.unwrap_or_else(|| api.usual_url().to_owned()),
            model: model.text,
            tokens_max: tokens.transpose()?,
            temperature: temperature.transpose()?,
            timeout: Duration::from_secs(timeout.unwrap_or(TIMEOUT_SECONDS).max(1)),
        })
    }

    /// The key. Whoever names a variable or asks a company needs one; other servers may want none.
    fn key(&self, api: Api, is_elsewhere: bool) -> Result<Option<(String, Secret)>, Failure> {
        let named = self.get("key-env");
        let is_needed = named.is_some() || !is_elsewhere;
        let name = named.map_or(api.usual_key().to_owned(), |setting| setting.text);
        match std::env::var(&name).ok().and_then(Secret::new) {
            Some(key) => Ok(Some((name, key))),
            None if !is_needed => Ok(None),
            None => {
                let failure = Failure::refused("SECRET_MISSING", format!("the key `{name}` is not set"));
                Err(failure.hint("set the variable; a key is never read from a file or a flag"))
            }
        }
    }

    fn mends(&self) -> Result<usize, Failure> {
        let number = self.get("mends").map(|setting| setting.number("number of times", 10)).transpose()?;
        Ok(usize::try_from(number.unwrap_or(MENDS)).unwrap_or(0))
    }

    fn price(&self) -> Result<Option<(f64, f64)>, Failure> {
        let Some(setting) = self.get("price") else { return Ok(None) };
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
        let both = setting.text.split_once('/').and_then(|(input, output)| number(input).zip(number(output)));
        both.map(Some).ok_or_else(|| setting.unfit("price of a million tokens in and out, such as `3/15`"))
    }
}

/// The form the server at an address is likeliest to speak.
fn spoken(url: &str) -> Api {
    let host = rep_runtime::request::Origin::split(url).map(|(origin, _)| origin.host).unwrap_or_default();
    if host == "anthropic.com" || host.ends_with(".anthropic.com") { Api::Anthropic } else { Api::OpenAi }
}
