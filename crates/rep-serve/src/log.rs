//! What is told of every request: a line for people, or one JSON object.

use serde_json::{Map, Value};

use crate::server::Talk;

/// How requests are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogForm {
    /// A line for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Tells of every request.
#[derive(Clone)]
pub struct Log {
    /// Takes the lines.
    pub talk: Talk,
    /// How they are written.
    pub form: LogForm,
    /// The time, as it is written.
    pub now: fn() -> String,
}

impl Log {
    /// Tells of something about a request. `line` is for people, the fields are for programs.
    pub(crate) fn tell(&self, request: &str, line: &str, fields: &[(&str, Value)]) {
        if self.form == LogForm::Text {
            // A line stays one line, whatever a client calls things.
            let letter = |letter: char| {
                if letter.is_control() { letter.escape_default().collect() } else { String::from(letter) }
            };
            let line: String = line.chars().map(letter).collect();
            (self.talk)(&format!("request {request}: {line}"));
            return;
        }
        let mut object = Map::new();
        object.insert("at".to_owned(), (self.now)().into());
        object.insert("request".to_owned(), request.into());
        object.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        (self.talk)(&Value::Object(object).to_string());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn a_line_stays_one_line() {
        let heard = Arc::new(Mutex::new(String::new()));
        let inside = Arc::clone(&heard);
        let talk: Talk = Arc::new(move |text: &str| inside.lock().unwrap().push_str(text));
        let log = Log { talk, form: LogForm::Text, now: String::new };
        log.tell("1", "resources/read skill://x\nrequest 2: POST /mcp 200", &[]);
        assert_eq!(*heard.lock().unwrap(), "request 1: resources/read skill://x\\nrequest 2: POST /mcp 200");
    }
}
