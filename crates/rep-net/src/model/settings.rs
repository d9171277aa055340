//! Which model is asked and how: texts of flags, variables and files, checked and put together.

use std::time::Duration;

use rep_permissions::Secret;

use super::{Api, Endpoint};
use crate::Origin;

/// How often a model is told what is wrong with its answer, unless the settings say otherwise.
const CORRECTIONS: u64 = 2;
/// How long one answer may take, in seconds, unless the settings say otherwise.
const TIMEOUT_SECONDS: u64 = 300;

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelSetting {
    /// The server's address.
    Url,
    /// The model's name.
    Model,
    /// The form of HTTP the server speaks.
    Api,
    /// The variable that holds the key.
    KeyEnv,
    /// The most tokens of an answer.
    MaxTokens,
    /// How much chance there is in an answer.
    Temperature,
    /// How long one answer may take, in seconds.
    Timeout,
    /// How often the model is told what is wrong with its answer.
    Mends,
    /// What a million tokens cost.
    Price,
}

impl ModelSetting {
    /// The word in settings files and flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            ModelSetting::Url => "url",
            ModelSetting::Model => "model",
            ModelSetting::Api => "api",
            ModelSetting::KeyEnv => "key-env",
            ModelSetting::MaxTokens => "max-tokens",
            ModelSetting::Temperature => "temperature",
            ModelSetting::Timeout => "timeout",
            ModelSetting::Mends => "mends",
            ModelSetting::Price => "price",
        }
    }
}

/// The text of a setting, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingText {
    /// The text.
    pub text: String,
    /// Where it is written: `--model`, the variable `REP_LLM_MODEL`, `llm.model` in a file.
    pub place: String,
}

/// Where settings come from.
pub struct SettingSource<'a> {
    /// The text of a setting.
    pub text: &'a dyn Fn(ModelSetting) -> Option<SettingText>,
    /// The key in a variable.
    pub key: &'a dyn Fn(&str) -> Option<Secret>,
}

/// What a million tokens of questions and of answers cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenPrice {
    /// Of questions.
    pub input: f64,
    /// Of answers.
    pub output: f64,
}

/// A model, and how it is asked about skills.
pub struct ModelSettings {
    /// The model, and where and how it is asked.
    pub endpoint: Endpoint,
    /// How often it is told what is wrong with its answer.
    pub corrections_max: usize,
    /// What its tokens cost, if that is known.
    pub price: Option<TokenPrice>,
}

/// Why no model can be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelSettingsError {
    /// A setting has no meaning.
    #[error("{place} is `{text}`, which is no {expected}")]
    Invalid {
        /// Where it is written.
        place: String,
        /// What is written there.
        text: String,
        /// What should be.
        expected: String,
    },
    /// Neither an address nor a form of HTTP is set.
    #[error("no server is named that has a model")]
    NoServer,
    /// No model is set.
    #[error("no model is named")]
    NoModel,
    /// The variable that should hold the key does not.
    #[error("the key `{name}` is not set")]
    KeyMissing {
        /// The variable.
        name: String,
    },
}

impl SettingText {
    fn invalid(&self, expected: &str) -> ModelSettingsError {
        let (place, text) = (self.place.clone(), self.text.clone());
        ModelSettingsError::Invalid { place, text, expected: expected.to_owned() }
    }

    fn number(&self, expected: &str, most: u64) -> Result<u64, ModelSettingsError> {
        let number = self.text.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| self.invalid(&format!("{expected} up to {most}")))
    }
}

impl ModelSettings {
    /// Checks settings and puts them together.
    pub fn resolve(source: &SettingSource<'_>) -> Result<Self, ModelSettingsError> {
        let endpoint = source.endpoint()?;
        Ok(Self { endpoint, corrections_max: source.corrections_max()?, price: source.price()? })
    }
}

impl SettingSource<'_> {
    fn endpoint(&self) -> Result<Endpoint, ModelSettingsError> {
        let get = self.text;
        let url = get(ModelSetting::Url).map(|url| url.text);
        let api = match get(ModelSetting::Api) {
            Some(text) => Some(Api::named(&text.text).ok_or_else(|| text.invalid("`openai` or `anthropic`"))?),
            None => url.as_deref().map(usual_api),
        };
        let api = api.ok_or(ModelSettingsError::NoServer)?;
        let model = get(ModelSetting::Model).ok_or(ModelSettingsError::NoModel)?;
        let temperature = get(ModelSetting::Temperature).map(|text| {
            let number = text.text.parse::<f64>().ok().filter(|number| (0.0..=2.0).contains(number));
            number.ok_or_else(|| text.invalid("number from 0 to 2"))
        });
        let tokens = get(ModelSetting::MaxTokens).map(|text| text.number("number of tokens", 10_000_000));
        let timeout = get(ModelSetting::Timeout).map(|text| text.number("number of seconds", 3_600)).transpose()?;
        Ok(Endpoint {
            api,
            key: self.endpoint_key(api, url.is_some())?,
            url: url.unwrap_or_else(|| api.usual_url().to_owned()),
            model: model.text,
            tokens_max: tokens.transpose()?,
            temperature: temperature.transpose()?,
            timeout: Duration::from_secs(timeout.unwrap_or(TIMEOUT_SECONDS).max(1)),
        })
    }

    /// The key. It is required if its variable is set, or if the company's own server is asked; other servers may need none.
    fn endpoint_key(&self, api: Api, is_elsewhere: bool) -> Result<Option<(String, Secret)>, ModelSettingsError> {
        let named = (self.text)(ModelSetting::KeyEnv);
        let is_needed = named.is_some() || !is_elsewhere;
        let name = named.map_or(api.usual_key().to_owned(), |text| text.text);
        match (self.key)(&name) {
            Some(key) => Ok(Some((name, key))),
            None if !is_needed => Ok(None),
            None => Err(ModelSettingsError::KeyMissing { name }),
        }
    }

    fn corrections_max(&self) -> Result<usize, ModelSettingsError> {
        let number = (self.text)(ModelSetting::Mends).map(|text| text.number("number of times", 10)).transpose()?;
        Ok(usize::try_from(number.unwrap_or(CORRECTIONS)).unwrap_or(0))
    }

    fn price(&self) -> Result<Option<TokenPrice>, ModelSettingsError> {
        let Some(text) = (self.text)(ModelSetting::Price) else { return Ok(None) };
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
        let both = text.text.split_once('/').and_then(|(input, output)| number(input).zip(number(output)));
        let price = both.map(|(input, output)| TokenPrice { input, output });
        price.map(Some).ok_or_else(|| text.invalid("price of a million tokens in and out, such as `3/15`"))
    }
}

/// The form that the server at an address is most likely to speak.
fn usual_api(url: &str) -> Api {
    let host = Origin::split(url).map(|(origin, _)| origin.host).unwrap_or_default();
    if host == "anthropic.com" || host.ends_with(".anthropic.com") { Api::Anthropic } else { Api::OpenAi }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(texts: &[(ModelSetting, &str)]) -> Result<ModelSettings, ModelSettingsError> {
        let text = |setting: ModelSetting| {
            let text = texts.iter().find(|(known, _)| *known == setting)?.1.to_owned();
            Some(SettingText { text, place: format!("--{}", setting.as_str()) })
        };
        ModelSettings::resolve(&SettingSource { text: &text, key: &|_| None })
    }

    #[test]
    fn a_local_server_needs_a_model_and_no_key() {
        let url = (ModelSetting::Url, "http://127.0.0.1:8080/v1");
        assert_eq!(resolve(&[]).err(), Some(ModelSettingsError::NoServer));
        assert_eq!(resolve(&[url]).err(), Some(ModelSettingsError::NoModel));
        let settings = resolve(&[url, (ModelSetting::Model, "m"), (ModelSetting::Price, "3/15")]).unwrap();
        assert!(settings.endpoint.key.is_none() && settings.endpoint.api == Api::OpenAi);
        assert_eq!(settings.price, Some(TokenPrice { input: 3.0, output: 15.0 }));
        let named = resolve(&[url, (ModelSetting::Model, "m"), (ModelSetting::KeyEnv, "K")]);
        assert_eq!(named.err(), Some(ModelSettingsError::KeyMissing { name: "K".to_owned() }));
    }

    #[test]
    fn the_company_of_an_address_decides_the_form_and_its_own_server_needs_a_key() {
        assert_eq!(usual_api("https://api.anthropic.com/v1"), Api::Anthropic);
        assert_eq!(usual_api("https://anthropic.com.example/v1"), Api::OpenAi);
        let named = resolve(&[(ModelSetting::Api, "anthropic"), (ModelSetting::Model, "m")]);
        assert_eq!(named.err(), Some(ModelSettingsError::KeyMissing { name: "ANTHROPIC_API_KEY".to_owned() }));
    }

    #[test]
    fn what_has_no_meaning_is_named_with_its_place() {
        let base = [(ModelSetting::Url, "http://127.0.0.1/"), (ModelSetting::Model, "m")];
        for (setting, text) in [
            (ModelSetting::Api, "grpc"),
            (ModelSetting::Temperature, "3"),
            (ModelSetting::MaxTokens, "many"),
            (ModelSetting::Timeout, "3601"),
            (ModelSetting::Mends, "11"),
            (ModelSetting::Price, "3"),
        ] {
            let error = resolve(&[base[0], base[1], (setting, text)]).err().map(|error| error.to_string());
            let lead = format!("--{} is `{text}`, which is no ", setting.as_str());
            assert!(error.as_ref().is_some_and(|error| error.starts_with(&lead)), "{error:?}");
        }
    }
}
