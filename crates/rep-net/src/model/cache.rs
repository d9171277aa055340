//! Answers of models, kept under a digest of the question, so that the same question is not paid for twice.
//!
//! One file each (version 1), readable by its owner only, written whole or not at all. Never trusted: what cannot be read is not
//! there, and what can is judged like any answer. The folder may be emptied at any time.

use std::path::{Path, PathBuf};

use rep_convert::convert::{Question, Usage};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Endpoint;
use rep_storage::files::{self, StorageError};

const VERSION: u64 = 1;
const FILE_BYTES_MAX: u64 = 8 << 20;
/// How many are kept; the oldest go first.
const ANSWERS_MAX: usize = 1000;

/// The kept answers of one folder.
pub struct Answers {
    folder: PathBuf,
}

/// A kept answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What the model said.
    pub text: String,
    /// What it cost.
    pub usage: Usage,
}

impl Answers {
    /// The answers kept in a folder.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The answer to a question; `None` where none is kept that can be read.
    pub fn get(&self, digest: &str) -> Option<Kept> {
        let bytes = files::read(&self.file(digest), FILE_BYTES_MAX).ok().flatten()?;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        let text = value["text"].as_str().filter(|_| value["version"] == VERSION && value["question"] == digest)?;
        let usage = Usage { input: value["input_tokens"].as_u64(), output: value["output_tokens"].as_u64() };
        Some(Kept { text: text.to_owned(), usage })
    }

    /// Keeps an answer.
    pub fn put(&self, digest: &str, kept: &Kept) -> Result<(), StorageError> {
        let value = json!({
            "version": VERSION,
            "question": digest,
            "text": kept.text,
            "input_tokens": kept.usage.input,
            "output_tokens": kept.usage.output,
        });
        files::replace(&self.file(digest), value.to_string().as_bytes())?;
        files::prune(&self.folder, ANSWERS_MAX)
    }

    fn file(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}.json"))
    }
}

/// The digest of a question to a model with its settings. The key is no part of it.
pub fn digest(endpoint: &Endpoint, question: &Question<'_>) -> String {
    let all = json!({
        "version": VERSION,
        "api": endpoint.api.name(),
        "url": endpoint.url,
        "model": endpoint.model,
        "tokens_max": endpoint.tokens_max,
        "temperature": endpoint.temperature,
        "prompt": question.prompt,
        "schema": question.schema,
    });
    hex::encode(Sha256::digest(all.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answers_go_when_there_are_too_many() {
        let folder = tempfile::tempdir().unwrap();
        let answers = Answers::at(folder.path());
        let kept = |text: &str| Kept { text: text.to_owned(), usage: Usage::default() };
        for number in 0..5_u32 {
            answers.put(&format!("q{number}"), &kept("x")).unwrap();
            let file = std::fs::File::open(answers.file(&format!("q{number}"))).unwrap();
            let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1000 + u64::from(number));
            file.set_modified(at).unwrap();
        }
        files::prune(folder.path(), 3).unwrap();
        let left: Vec<bool> = (0..5).map(|number| answers.get(&format!("q{number}")).is_some()).collect();
        assert_eq!(left, [false, false, true, true, true]);
    }
}
