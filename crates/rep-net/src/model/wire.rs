//! The two forms a model is asked in over HTTP, and what their servers say. Values in, values out.

use crate::Origin;
use rep_convert::convert::answer::ANSWER_BYTES_MAX;
use rep_convert::convert::prompt::STRUCTURED_NOTE;
use rep_convert::convert::{Ending, Question, Reply, Usage};
use serde_json::{Value, json};

use super::{Api, Endpoint, Way};

/// The most tokens of an answer, where a server must be told.
const TOKENS_MAX: u64 = 16_384;
/// What the answer is called where a server wants a name for it.
const NAME: &str = "uasp_skill";

/// The address questions go to.
pub(super) fn address(api: Api, base: &str) -> String {
    let base = base.trim();
    let (path, query) = base.split_at(base.find('?').unwrap_or(base.len()));
    let path = path.trim_end_matches('/');
    let own = match api {
        Api::OpenAi if path.ends_with("/chat/completions") => "",
        Api::OpenAi => "/chat/completions",
        Api::Anthropic if path.ends_with("/messages") => "",
        Api::Anthropic if path.ends_with("/v1") => "/messages",
        Api::Anthropic => "/v1/messages",
    };
    format!("{path}{own}{query}")
}

/// What is sent.
pub(super) fn body(endpoint: &Endpoint, origin: &Origin, question: &Question<'_>, way: Way) -> Value {
    let mut body = json!({ "model": endpoint.model, "messages": messages(question, way) });
    if way != Way::Plain {
        body["stream"] = true.into();
    }
    if let Some(temperature) = endpoint.temperature {
        body["temperature"] = temperature.into();
    }
    match endpoint.api {
        Api::OpenAi => {
            if way != Way::Plain {
                body["stream_options"] = json!({ "include_usage": true });
            }
            if let Some(most) = endpoint.tokens_max {
                // The company's own models take only the newer name, most others only the older.
                let is_own = origin.host.ends_with("openai.com");
                body[if is_own { "max_completion_tokens" } else { "max_tokens" }] = most.into();
            }
            if way == Way::Structured {
                // Not strict: the keys of commands and workflows are the skill's own, which strict schemas cannot have.
                let schema = json!({ "name": NAME, "strict": false, "schema": question.schema });
                body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
            }
        }
        Api::Anthropic => {
            body["max_tokens"] = endpoint.tokens_max.unwrap_or(TOKENS_MAX).into();
            if way == Way::Structured {
                let tool = json!({ "name": NAME, "description": "Takes the whole UASP document.", "input_schema": question.schema });
                body["tools"] = json!([tool]);
                body["tool_choice"] = json!({ "type": "tool", "name": NAME });
            }
        }
    }
    body
}

fn messages(question: &Question<'_>, way: Way) -> Value {
    let note = if way == Way::Structured { STRUCTURED_NOTE } else { "" };
    let mut messages = vec![json!({ "role": "user", "content": format!("{}{note}", question.prompt) })];
    for turn in question.turns {
        // Servers refuse a turn that says nothing.
        let answer = if turn.answer.trim().is_empty() { "(nothing)" } else { turn.answer.trim_end() };
        messages.push(json!({ "role": "assistant", "content": answer }));
        messages.push(json!({ "role": "user", "content": format!("{}{note}", turn.complaint) }));
    }
    messages.into()
}

/// What a server says about an error: the message in it, else its text.
pub(super) fn complaint(body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let places = ["/error/message", "/error", "/message", "/detail"];
    let told = places.iter().find_map(|place| value.pointer(place)).and_then(Value::as_str);
    told.unwrap_or(body).to_owned()
}

/// The answer in what a server sent, or why there is none.
pub(super) fn read(api: Api, kind: Option<&str>, bytes: &[u8]) -> Result<Reply, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "what came is no text".to_owned())?;
    let is_stream = kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"));
    let mut heard = Heard::default();
    if is_stream {
        for event in events(text) {
            heard.event(api, &event)?;
        }
        if !heard.is_ended {
            return Err("the stream broke off before its end".to_owned());
        }
    } else {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("what came is no JSON ({error})"))?;
        heard.whole(api, &value)?;
    }
    heard.reply()
}

/// The data of the events of a stream, without its end mark.
fn events(text: &str) -> Vec<Value> {
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

/// What was heard of an answer so far.
#[derive(Default)]
struct Heard {
    text: String,
    /// What a tool is called with, as JSON, where one is.
    input: Option<String>,
    ending: Option<Ending>,
    usage: Usage,
    /// Whether the server said that this is all.
    is_ended: bool,
}

impl Heard {
    fn whole(&mut self, api: Api, value: &Value) -> Result<(), String> {
        failed(value)?;
        match api {
            Api::OpenAi => {
                let choice = &value["choices"][0];
                self.openai(&choice["message"], &choice["finish_reason"])?;
                self.openai_usage(&value["usage"]);
            }
            Api::Anthropic => {
                for block in value["content"].as_array().into_iter().flatten() {
                    match block["type"].as_str() {
                        Some("text") => self.text.push_str(block["text"].as_str().unwrap_or_default()),
                        Some("tool_use") => self.input = Some(block["input"].to_string()),
                        Some(_) | None => {}
                    }
                }
                self.anthropic_usage(&value["usage"]);
                self.anthropic_end(&value["stop_reason"])?;
            }
        }
        Ok(())
    }

    fn event(&mut self, api: Api, value: &Value) -> Result<(), String> {
        failed(value)?;
        match api {
            Api::OpenAi => {
                let choice = &value["choices"][0];
                self.openai(&choice["delta"], &choice["finish_reason"])?;
                self.openai_usage(&value["usage"]);
            }
            Api::Anthropic => match value["type"].as_str() {
                Some("message_start") => self.anthropic_usage(&value["message"]["usage"]),
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
                    self.anthropic_usage(&value["usage"]);
                    self.anthropic_end(&value["delta"]["stop_reason"])?;
                }
                Some(_) | None => {}
            },
        }
        if self.text.len().max(self.input.as_ref().map_or(0, String::len)) > ANSWER_BYTES_MAX {
            return Err(format!("the answer is larger than {} MiB", ANSWER_BYTES_MAX >> 20));
        }
        Ok(())
    }

    fn openai(&mut self, message: &Value, finish: &Value) -> Result<(), String> {
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
            Some("length") => self.ending = Some(Ending::Cut),
            Some("content_filter") => return Err("the server filtered the answer out".to_owned()),
            Some(_) => self.ending = Some(Ending::Whole),
        }
        self.is_ended = true;
        Ok(())
    }

    fn openai_usage(&mut self, usage: &Value) {
        self.usage.input = usage["prompt_tokens"].as_u64().or(self.usage.input);
        self.usage.output = usage["completion_tokens"].as_u64().or(self.usage.output);
    }

    /// What a stream tells of its cost is the sum so far.
    fn anthropic_usage(&mut self, usage: &Value) {
        let kinds = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let input: Vec<u64> = kinds.iter().filter_map(|kind| usage[*kind].as_u64()).collect();
        if !input.is_empty() {
            self.usage.input = Some(input.iter().fold(0, |sum: u64, tokens| sum.saturating_add(*tokens)));
        }
        self.usage.output = usage["output_tokens"].as_u64().or(self.usage.output);
    }

    fn anthropic_end(&mut self, reason: &Value) -> Result<(), String> {
        match reason.as_str() {
            None => return Ok(()),
            Some("max_tokens" | "model_context_window_exceeded") => self.ending = Some(Ending::Cut),
            Some("refusal") => return Err("the model refused".to_owned()),
            Some(_) => self.ending = Some(Ending::Whole),
        }
        self.is_ended = true;
        Ok(())
    }

    fn reply(self) -> Result<Reply, String> {
        let text = self.input.filter(|input| !input.is_empty()).unwrap_or(self.text);
        match self.ending {
            Some(ending) => Ok(Reply { text, ending, usage: self.usage }),
            // Some servers leave the reason out.
            None if !text.is_empty() => Ok(Reply { text, ending: Ending::Whole, usage: self.usage }),
            None => Err("there is no answer in what came".to_owned()),
        }
    }
}

/// An error in the place of an answer.
fn failed(value: &Value) -> Result<(), String> {
    match value.get("error") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(complaint(&value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_go_below_the_address_that_is_named() {
        for (api, base, whole) in [
            (Api::OpenAi, "http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1/chat/completions"),
            (Api::OpenAi, "https://a.example/chat/completions", "https://a.example/chat/completions"),
            (Api::OpenAi, "https://a.example/x?version=2", "https://a.example/x/chat/completions?version=2"),
            (Api::Anthropic, "https://a.example", "https://a.example/v1/messages"),
            (Api::Anthropic, "https://a.example/v1", "https://a.example/v1/messages"),
            (Api::Anthropic, "https://a.example/v1/messages/", "https://a.example/v1/messages"),
        ] {
            assert_eq!(address(api, base), whole);
        }
    }
}
