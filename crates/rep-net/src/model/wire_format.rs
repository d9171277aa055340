//! The request and response formats of the two APIs. Pure conversions without I/O.

use crate::HttpOrigin;
use rep_convert::convert::answer::ANSWER_BYTES_MAX;
use rep_convert::convert::prompt::STRUCTURED_NOTE;
use rep_convert::convert::{ModelQuestion, ModelReply, ReplyEnding, TokenUsage};
use serde_json::{Value, json};

use super::{AskMode, ModelApi, ModelEndpoint};

/// The default for the maximum number of tokens, for servers that require it.
const TOKENS_MAX: u64 = 16_384;
/// The name of the answer, for servers that require one.
const ANSWER_NAME: &str = "uasp_skill";

/// Returns the URL for requests.
pub(super) fn build_url(api: ModelApi, base: &str) -> String {
    let base = base.trim();
    let (path, query) = base.split_at(base.find('?').unwrap_or(base.len()));
    let path = path.trim_end_matches('/');
    let own = match api {
        ModelApi::OpenAi if path.ends_with("/chat/completions") => "",
        ModelApi::OpenAi => "/chat/completions",
        ModelApi::Anthropic if path.ends_with("/messages") => "",
        ModelApi::Anthropic if path.ends_with("/v1") => "/messages",
        ModelApi::Anthropic => "/v1/messages",
    };
    format!("{path}{own}{query}")
}

/// Builds the request body.
pub(super) fn build_body(
    endpoint: &ModelEndpoint,
    origin: &HttpOrigin,
    question: &ModelQuestion<'_>,
    way: AskMode,
) -> Value {
    let mut body = json!({ "model": endpoint.model, "messages": build_messages(question, way) });
    if way != AskMode::PlainText {
        body["stream"] = true.into();
    }
    if let Some(temperature) = endpoint.temperature {
        body["temperature"] = temperature.into();
    }
    match endpoint.api {
        ModelApi::OpenAi => {
            if way != AskMode::PlainText {
                body["stream_options"] = json!({ "include_usage": true });
            }
            if let Some(most) = endpoint.tokens_max {
                // OpenAI's own models accept only the newer name, and most others only the older one.
                let is_own = origin.host.ends_with("openai.com");
                body[if is_own { "max_completion_tokens" } else { "max_tokens" }] = most.into();
            }
            if way == AskMode::Structured {
                // Not strict: strict schemas do not support arbitrary keys, which commands and workflows have.
                let schema = json!({ "name": ANSWER_NAME, "strict": false, "schema": question.schema });
                body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
            }
        }
        ModelApi::Anthropic => {
            body["max_tokens"] = endpoint.tokens_max.unwrap_or(TOKENS_MAX).into();
            if way == AskMode::Structured {
                let tool = json!({ "name": ANSWER_NAME, "description": "Takes the whole UASP document.", "input_schema": question.schema });
                body["tools"] = json!([tool]);
                body["tool_choice"] = json!({ "type": "tool", "name": ANSWER_NAME });
            }
        }
    }
    body
}

fn build_messages(question: &ModelQuestion<'_>, way: AskMode) -> Value {
    let note = if way == AskMode::Structured { STRUCTURED_NOTE } else { "" };
    let mut messages = vec![json!({ "role": "user", "content": format!("{}{note}", question.prompt) })];
    for turn in question.rejected_replies {
        // Servers reject messages without content.
        let answer = if turn.answer.trim().is_empty() { "(nothing)" } else { turn.answer.trim_end() };
        messages.push(json!({ "role": "assistant", "content": answer }));
        messages.push(json!({ "role": "user", "content": format!("{}{note}", turn.complaint) }));
    }
    messages.into()
}

/// Returns the error message in a response body, or the whole text.
pub(super) fn extract_error_message(body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let places = ["/error/message", "/error", "/message", "/detail"];
    let told = places.iter().find_map(|place| value.pointer(place)).and_then(Value::as_str);
    told.unwrap_or(body).to_owned()
}

/// Parses the answer in a response, or returns why there is none.
pub(super) fn parse_reply(api: ModelApi, kind: Option<&str>, bytes: &[u8]) -> Result<ModelReply, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "the response is not UTF-8".to_owned())?;
    let is_stream = kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"));
    let mut heard = PartialReply::default();
    if is_stream {
        for event in parse_events(text) {
            heard.add_event(api, &event)?;
        }
        if !heard.is_ended {
            return Err("the stream ended early".to_owned());
        }
    } else {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("the response is not JSON ({error})"))?;
        heard.add_complete_response(api, &value)?;
    }
    heard.into_reply()
}

/// Parses the data of server-sent events, without the end marker.
fn parse_events(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut data = String::new();
    for line in text.lines().chain([""]) {
        if let Some(rest) = line.strip_prefix("data:") {
            data.push_str(rest.strip_prefix(' ').unwrap_or(rest));
            data.push('\n');
        } else if line.is_empty() && !data.is_empty() {
            found.extend(serde_json::from_str::<Value>(&data).ok());
            data.clear();
        }
    }
    found
}

/// The parts of an answer received so far.
#[derive(Default)]
struct PartialReply {
    text: String,
    /// The arguments of a tool call as JSON, if there is one.
    input: Option<String>,
    ending: Option<ReplyEnding>,
    usage: TokenUsage,
    /// Whether the server marked the end of the answer.
    is_ended: bool,
}

impl PartialReply {
    fn add_complete_response(&mut self, api: ModelApi, value: &Value) -> Result<(), String> {
        check_for_error(value)?;
        match api {
            ModelApi::OpenAi => {
                let choice = &value["choices"][0];
                self.add_openai_message(&choice["message"], &choice["finish_reason"])?;
                self.add_openai_usage(&value["usage"]);
            }
            ModelApi::Anthropic => {
                for block in value["content"].as_array().into_iter().flatten() {
                    match block["type"].as_str() {
                        Some("text") => self.text.push_str(block["text"].as_str().unwrap_or_default()),
                        Some("tool_use") => self.input = Some(block["input"].to_string()),
                        Some(_) | None => {}
                    }
                }
                self.add_anthropic_usage(&value["usage"]);
                self.add_anthropic_stop(&value["stop_reason"])?;
            }
        }
        Ok(())
    }

    fn add_event(&mut self, api: ModelApi, value: &Value) -> Result<(), String> {
        check_for_error(value)?;
        match api {
            ModelApi::OpenAi => {
                let choice = &value["choices"][0];
                self.add_openai_message(&choice["delta"], &choice["finish_reason"])?;
                self.add_openai_usage(&value["usage"]);
            }
            ModelApi::Anthropic => match value["type"].as_str() {
                Some("message_start") => self.add_anthropic_usage(&value["message"]["usage"]),
                Some("content_block_start") if value["content_block"]["type"] == "tool_use" => {
                    self.input = Some(String::new());
                }
                Some("content_block_delta") => {
                    let delta = &value["delta"];
                    let (text, input) = (delta["text"].as_str(), delta["partial_json"].as_str());
                    self.text.push_str(text.unwrap_or_default());
                    if let Some(input) = input {
                        self.input.get_or_insert_default().push_str(input);
                    }
                }
                Some("message_delta") => {
                    self.add_anthropic_usage(&value["usage"]);
                    self.add_anthropic_stop(&value["delta"]["stop_reason"])?;
                }
                Some(_) | None => {}
            },
        }
        if self.text.len().max(self.input.as_ref().map_or(0, String::len)) > ANSWER_BYTES_MAX {
            return Err(format!("the answer is larger than {} MiB", ANSWER_BYTES_MAX >> 20));
        }
        Ok(())
    }

    fn add_openai_message(&mut self, message: &Value, finish: &Value) -> Result<(), String> {
        if let Some(refusal) = message["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
            return Err(format!("the model refused: {refusal}"));
        }
        match &message["content"] {
            Value::String(text) => self.text.push_str(text),
            Value::Array(parts) => {
                parts.iter().filter_map(|part| part["text"].as_str()).for_each(|text| self.text.push_str(text));
            }
            _ => {}
        }
        match finish.as_str() {
            None => return Ok(()),
            Some("length") => self.ending = Some(ReplyEnding::Truncated),
            Some("content_filter") => return Err("the server filtered the answer out".to_owned()),
            Some(_) => self.ending = Some(ReplyEnding::Complete),
        }
        self.is_ended = true;
        Ok(())
    }

    fn add_openai_usage(&mut self, usage: &Value) {
        self.usage.input = usage["prompt_tokens"].as_u64().or(self.usage.input);
        self.usage.output = usage["completion_tokens"].as_u64().or(self.usage.output);
    }

    /// Adds the token usage. Streams report the running total.
    fn add_anthropic_usage(&mut self, usage: &Value) {
        let kinds = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let input: Vec<u64> = kinds.iter().filter_map(|kind| usage[*kind].as_u64()).collect();
        if !input.is_empty() {
            self.usage.input = Some(input.iter().fold(0, |sum: u64, tokens| sum.saturating_add(*tokens)));
        }
        self.usage.output = usage["output_tokens"].as_u64().or(self.usage.output);
    }

    fn add_anthropic_stop(&mut self, reason: &Value) -> Result<(), String> {
        match reason.as_str() {
            None => return Ok(()),
            Some("max_tokens" | "model_context_window_exceeded") => self.ending = Some(ReplyEnding::Truncated),
            Some("refusal") => return Err("the model refused".to_owned()),
            Some(_) => self.ending = Some(ReplyEnding::Complete),
        }
        self.is_ended = true;
        Ok(())
    }

    fn into_reply(self) -> Result<ModelReply, String> {
        let text = self.input.filter(|input| !input.is_empty()).unwrap_or(self.text);
        match self.ending {
            Some(ending) => Ok(ModelReply { text, ending, usage: self.usage }),
            // Some servers omit the reason.
            None if !text.is_empty() => Ok(ModelReply { text, ending: ReplyEnding::Complete, usage: self.usage }),
            None => Err("the response contains no answer".to_owned()),
        }
    }
}

/// Returns the error that a response contains instead of an answer.
fn check_for_error(value: &Value) -> Result<(), String> {
    match value.get("error") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(extract_error_message(&value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_go_below_the_address_that_is_named() {
        for (api, base, whole) in [
            (ModelApi::OpenAi, "http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1/chat/completions"),
            (ModelApi::OpenAi, "https://a.example/chat/completions", "https://a.example/chat/completions"),
            (ModelApi::OpenAi, "https://a.example/x?version=2", "https://a.example/x/chat/completions?version=2"),
            (ModelApi::Anthropic, "https://a.example", "https://a.example/v1/messages"),
            (ModelApi::Anthropic, "https://a.example/v1", "https://a.example/v1/messages"),
            (ModelApi::Anthropic, "https://a.example/v1/messages/", "https://a.example/v1/messages"),
        ] {
            assert_eq!(build_url(api, base), whole);
        }
    }
}
