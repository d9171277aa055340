//! Model settings from flags, environment variables and files: validates and combines them.

use std::time::Duration;

use rep_permissions::SecretValue;

use super::{ModelApi, ModelEndpoint};
use crate::HttpOrigin;

/// The default number of corrections that a model may make to its answer.
const CORRECTIONS_DEFAULT: u64 = 2;
/// The default time limit for an answer, in seconds.
const TIMEOUT_SECONDS_DEFAULT: u64 = 300;

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelSetting {
    /// The URL of the server.
    Url,
    /// The model's name.
    Model,
    /// The HTTP API of the server.
    Api,
    /// The environment variable that contains the key.
    KeyEnv,
    /// The maximum number of tokens in an answer.
    MaxTokens,
    /// The temperature.
    Temperature,
    /// The time limit for an answer, in seconds.
    Timeout,
    /// The maximum number of corrections that the model may make to its answer.
    Corrections,
    /// The price of a million tokens.
    Price,
}

impl ModelSetting {
    /// Returns the name in settings files and flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            ModelSetting::Url => "url",
            ModelSetting::Model => "model",
            ModelSetting::Api => "api",
            ModelSetting::KeyEnv => "key-env",
            ModelSetting::MaxTokens => "max-tokens",
            ModelSetting::Temperature => "temperature",
            ModelSetting::Timeout => "timeout",
            ModelSetting::Corrections => "corrections",
            ModelSetting::Price => "price",
        }
    }
}

/// The text of a setting, and where it was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSettingText {
    /// The text.
    pub text: String,
    /// Where it was set: `--model`, the variable `REP_LLM_MODEL`, or `llm.model` in a file.
    pub place: String,
}

/// The source of settings.
pub struct ModelSettingSource<'a> {
    /// Returns the text of a setting.
    pub text: &'a dyn Fn(ModelSetting) -> Option<ModelSettingText>,
    /// Returns the key in an environment variable.
    pub key: &'a dyn Fn(&str) -> Option<SecretValue>,
}

/// The price of a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenPrice {
    /// The price of input tokens.
    pub input: f64,
    /// The price of output tokens.
    pub output: f64,
}

/// A model, and how it is used for extraction.
pub struct ModelSettings {
    /// The model, and where and how to reach it.
    pub endpoint: ModelEndpoint,
    /// The maximum number of corrections that it may make to its answer.
    pub corrections_max: usize,
    /// The price of its tokens, if known.
    pub price: Option<TokenPrice>,
}

/// Why the model settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelSettingsError {
    /// A setting has an invalid value.
    #[error("{place} is `{text}`; expected {expected}")]
    Invalid {
        /// Where it was set.
        place: String,
        /// The value.
        text: String,
        /// The expected value.
        expected: String,
    },
    /// Neither a URL nor an API is set.
    #[error("no model server is set")]
    NoServer,
    /// No model is set.
    #[error("no model is set")]
    NoModel,
    /// The variable of the key is not set.
    #[error("the key `{name}` is not set")]
    KeyMissing {
        /// The variable.
        name: String,
    },
}

impl ModelSettingText {
    fn invalid_error(&self, expected: &str) -> ModelSettingsError {
        let (place, text) = (self.place.clone(), self.text.clone());
        ModelSettingsError::Invalid { place, text, expected: expected.to_owned() }
    }

    fn parse_number(&self, expected: &str, most: u64) -> Result<u64, ModelSettingsError> {
        let number = self.text.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| self.invalid_error(&format!("{expected} up to {most}")))
    }
}

impl ModelSettings {
    /// Validates and combines settings.
    pub fn resolve(source: &ModelSettingSource<'_>) -> Result<Self, ModelSettingsError> {
        let endpoint = source.resolve_endpoint()?;
        Ok(Self { endpoint, corrections_max: source.resolve_corrections_max()?, price: source.resolve_price()? })
    }
}

impl ModelSettingSource<'_> {
    fn resolve_endpoint(&self) -> Result<ModelEndpoint, ModelSettingsError> {
        let get = self.text;
        let url = get(ModelSetting::Url).map(|url| url.text);
        let api = match get(ModelSetting::Api) {
            Some(text) => {
                Some(ModelApi::from_name(&text.text).ok_or_else(|| text.invalid_error("`openai` or `anthropic`"))?)
            }
            None => url.as_deref().map(guess_api),
        };
        let api = api.ok_or(ModelSettingsError::NoServer)?;
        let model = get(ModelSetting::Model).ok_or(ModelSettingsError::NoModel)?;
        let temperature = get(ModelSetting::Temperature).map(|text| {
            let number = text.text.parse::<f64>().ok().filter(|number| (0.0..=2.0).contains(number));
            number.ok_or_else(|| text.invalid_error("a number from 0 to 2"))
        });
        let tokens = get(ModelSetting::MaxTokens).map(|text| text.parse_number("a number of tokens", 10_000_000));
        let timeout =
            get(ModelSetting::Timeout).map(|text| text.parse_number("a number of seconds", 3_600)).transpose()?;
        Ok(ModelEndpoint {
            api,
            key: self.resolve_key(api, url.is_some())?,
            url: url.unwrap_or_else(|| api.default_url().to_owned()),
            model: model.text,
            tokens_max: tokens.transpose()?,
            temperature: temperature.transpose()?,
            timeout: Duration::from_secs(timeout.unwrap_or(TIMEOUT_SECONDS_DEFAULT).max(1)),
        })
    }

    /// Returns the key. It is required if its variable is set or the vendor's own server is used. Other servers may not
    /// need one.
    fn resolve_key(
        &self,
        api: ModelApi,
        is_elsewhere: bool,
    ) -> Result<Option<(String, SecretValue)>, ModelSettingsError> {
        let named = (self.text)(ModelSetting::KeyEnv);
        let is_needed = named.is_some() || !is_elsewhere;
        let name = named.map_or(api.default_key_variable().to_owned(), |text| text.text);
        match (self.key)(&name) {
            Some(key) => Ok(Some((name, key))),
            None if !is_needed => Ok(None),
            None => Err(ModelSettingsError::KeyMissing { name }),
        }
    }

    fn resolve_corrections_max(&self) -> Result<usize, ModelSettingsError> {
        let number = (self.text)(ModelSetting::Corrections)
            .map(|text| text.parse_number("a number of times", 10))
            .transpose()?;
        Ok(usize::try_from(number.unwrap_or(CORRECTIONS_DEFAULT)).unwrap_or(0))
    }

    fn resolve_price(&self) -> Result<Option<TokenPrice>, ModelSettingsError> {
        let Some(text) = (self.text)(ModelSetting::Price) else { return Ok(None) };
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
        let both = text.text.split_once('/').and_then(|(input, output)| number(input).zip(number(output)));
        let price = both.map(|(input, output)| TokenPrice { input, output });
        price.map(Some).ok_or_else(|| text.invalid_error("a price of a million tokens, in and out, such as `3/15`"))
    }
}

/// Guesses the API of a server by its URL.
fn guess_api(url: &str) -> ModelApi {
    let host = HttpOrigin::split_url(url).map(|(origin, _)| origin.host).unwrap_or_default();
    if host == "anthropic.com" || host.ends_with(".anthropic.com") { ModelApi::Anthropic } else { ModelApi::OpenAi }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve_settings(texts: &[(ModelSetting, &str)]) -> Result<ModelSettings, ModelSettingsError> {
        let text = |setting: ModelSetting| {
            let text = texts.iter().find(|(known, _)| *known == setting)?.1.to_owned();
            Some(ModelSettingText { text, place: format!("--{}", setting.as_str()) })
        };
        ModelSettings::resolve(&ModelSettingSource { text: &text, key: &|_| None })
    }

    #[test]
    fn a_local_server_needs_a_model_and_no_key() {
        let url = (ModelSetting::Url, "http://127.0.0.1:8080/v1");
        assert_eq!(resolve_settings(&[]).err(), Some(ModelSettingsError::NoServer));
        assert_eq!(resolve_settings(&[url]).err(), Some(ModelSettingsError::NoModel));
        let settings = resolve_settings(&[url, (ModelSetting::Model, "m"), (ModelSetting::Price, "3/15")]).unwrap();
        assert!(settings.endpoint.key.is_none() && settings.endpoint.api == ModelApi::OpenAi);
        assert_eq!(settings.price, Some(TokenPrice { input: 3.0, output: 15.0 }));
        let named = resolve_settings(&[url, (ModelSetting::Model, "m"), (ModelSetting::KeyEnv, "K")]);
        assert_eq!(named.err(), Some(ModelSettingsError::KeyMissing { name: "K".to_owned() }));
    }

    #[test]
    fn the_company_of_an_address_decides_the_form_and_its_own_server_needs_a_key() {
        assert_eq!(guess_api("https://api.anthropic.com/v1"), ModelApi::Anthropic);
        assert_eq!(guess_api("https://anthropic.com.example/v1"), ModelApi::OpenAi);
        let named = resolve_settings(&[(ModelSetting::Api, "anthropic"), (ModelSetting::Model, "m")]);
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
            (ModelSetting::Corrections, "11"),
            (ModelSetting::Price, "3"),
        ] {
            let error = resolve_settings(&[base[0], base[1], (setting, text)]).err().map(|error| error.to_string());
            let lead = format!("--{} is `{text}`; expected ", setting.as_str());
            assert!(error.as_ref().is_some_and(|error| error.starts_with(&lead)), "{error:?}");
        }
    }
}
