//! What came of a conversion, value by value: where it was read, and whether a person should look at it.

use rep_model::hash;
use serde_json::{Value, json};

use super::Finished;
use super::checklist::{self, Point};
use crate::extract::language;
use rep_model::{Document, Fact, Step};

/// The longest excerpt of a source line.
const EXCERPT_MAX: usize = 300;

/// One extracted value.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Where it stands in the document: `constraints.never[2]`.
    pub path: String,
    /// The value.
    pub value: Value,
    /// The line of the Markdown it was read from; none where the engine names none.
    pub line: Option<usize>,
    /// That line.
    pub text: String,
    /// Why a person should look at it, where one should.
    pub doubt: Option<String>,
}

/// Something the linter says of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The data path it is about.
    pub at: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// All there is to say of one conversion.
#[derive(Clone, Debug)]
pub struct Report {
    /// The Markdown's path, as the user knows it.
    pub file: String,
    /// The Markdown.
    pub source: String,
    /// What read it.
    pub engine: String,
    /// The result.
    pub finished: Finished,
    /// What makes it no valid file; empty where it is valid.
    pub errors: Vec<Notice>,
    /// What is odd about it.
    pub warnings: Vec<Notice>,
    /// Every value, in the document's order.
    pub items: Vec<Item>,
    /// The specification's list of what a conversion should have done.
    pub checklist: Vec<Point>,
}

impl Report {
    /// Puts together what is known of a conversion.
    pub fn new(
        (file, source, engine): (&str, &str, &str),
        document: &Document,
        finished: Finished,
        (errors, warnings): (Vec<Notice>, Vec<Notice>),
    ) -> Self {
        let lines: Vec<&str> = source.lines().collect();
        let items: Vec<Item> = document.facts.iter().filter_map(|fact| item(fact, document.raw(), &lines)).collect();
        let checklist = checklist::fill(&finished.document, &items, errors.len(), language::foreign_file(source));
        let (file, source, engine) = (file.to_owned(), source.to_owned(), engine.to_owned());
        Self { file, source, engine, finished, errors, warnings, items, checklist }
    }

    /// Whether the result is a valid file.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// How many values a person should look at.
    pub fn doubts(&self) -> usize {
        self.items.iter().filter(|item| item.doubt.is_some()).count()
    }

    /// The result object of UASP §7.1.5, with what it came from.
    pub fn json(&self) -> Value {
        let mut object = if self.is_valid() {
            json!({ "valid": true, "skill": self.finished.document.raw() })
        } else {
            let lines = self.errors.iter().map(Notice::line).collect::<Vec<_>>();
            json!({ "valid": false, "error": lines.join("\n"), "errors": notices(&self.errors) })
        };
        object["warnings"] = json!(notices(&self.warnings));
        object["engine"] = json!(self.engine);
        object["source"] = json!({ "file": self.file, "sha256": hash::digest(self.source.as_bytes()) });
        object["items"] = self.items.iter().map(Item::json).collect();
        object["checklist"] = self.checklist.iter().map(Point::json).collect();
        object["summary"] = json!({ "items": self.items.len(), "needs_review": self.doubts() });
        object
    }
}

impl Item {
    fn json(&self) -> Value {
        let mut object = json!({
            "path": self.path,
            "value": self.value,
            "line": self.line,
            "text": self.text,
            "needs_review": self.doubt.is_some(),
        });
        if let Some(doubt) = &self.doubt {
            object["why"] = json!(doubt);
        }
        object
    }

    /// The section it stands in.
    pub fn section(&self) -> &str {
        self.path.split(['.', '[']).next().unwrap_or_default()
    }
}

impl Notice {
    /// In one line.
    pub fn line(&self) -> String {
        match &self.at {
            Some(at) => format!("{at}: {}", self.message),
            None => self.message.clone(),
        }
    }
}

fn notices(notices: &[Notice]) -> Vec<Value> {
    notices.iter().map(|one| json!({ "at": one.at, "message": one.message, "help": one.help })).collect()
}

fn item(fact: &Fact, document: &Value, lines: &[&str]) -> Option<Item> {
    let mut value = document;
    let mut path = String::new();
    for step in &fact.path {
        match step {
            Step::Key(key) => {
                value = value.get(key)?;
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(key);
            }
            Step::Item(number) => {
                value = value.get(number)?;
                path.push_str(&format!("[{number}]"));
            }
        }
    }
    let line = (fact.line > 0).then_some(fact.line);
    let text = line.and_then(|line| lines.get(line - 1)).map(|text| text.trim().chars().take(EXCERPT_MAX).collect());
    Some(Item { path, value: value.clone(), line, text: text.unwrap_or_default(), doubt: fact.doubt.clone() })
}
