//! Stores model answers under a digest of the question, so that the same question is not paid for twice.
//!
//! Each answer is a file (format version 1) that only its owner can read and that is written atomically. Stored answers
//! are not trusted: unreadable files are ignored, and the others are validated like any answer. The directory can be
//! emptied at any time.

use std::path::{Path, PathBuf};

use rep_convert::convert::{ModelQuestion, TokenUsage};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::ModelEndpoint;
use rep_storage::files::{self, StorageError};

const VERSION: u64 = 1;
const FILE_BYTES_MAX: u64 = 8 << 20;
/// The maximum number of stored answers. The oldest are removed first.
const ANSWERS_MAX: usize = 1000;

/// The answers stored in a directory.
pub struct ModelAnswerStore {
    folder: PathBuf,
}

/// A stored answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The text of the answer.
    pub text: String,
    /// The tokens used.
    pub usage: TokenUsage,
}

impl ModelAnswerStore {
    /// Opens the answers stored in a directory.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Returns the answer to a question, or `None` if none is stored or it cannot be read.
    pub fn get(&self, digest: &str) -> Option<StoredAnswer> {
        let bytes = files::read_private(&self.answer_path(digest), FILE_BYTES_MAX).ok().flatten()?;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        let text = value["text"].as_str().filter(|_| value["version"] == VERSION && value["question"] == digest)?;
        let usage = TokenUsage { input: value["input_tokens"].as_u64(), output: value["output_tokens"].as_u64() };
        Some(StoredAnswer { text: text.to_owned(), usage })
    }

    /// Stores an answer.
    pub fn store_answer(&self, digest: &str, kept: &StoredAnswer) -> Result<(), StorageError> {
        let value = json!({
            "version": VERSION,
            "question": digest,
            "text": kept.text,
            "input_tokens": kept.usage.input,
            "output_tokens": kept.usage.output,
        });
        files::replace_private(&self.answer_path(digest), value.to_string().as_bytes())?;
        files::prune_oldest(&self.folder, ANSWERS_MAX)
    }

    fn answer_path(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}.json"))
    }
}

/// Computes the digest of a question with the settings of the model. The key is not included.
pub fn digest_question(endpoint: &ModelEndpoint, question: &ModelQuestion<'_>) -> String {
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
        let answers = ModelAnswerStore::new(folder.path());
        let kept = |text: &str| StoredAnswer { text: text.to_owned(), usage: TokenUsage::default() };
        for number in 0..5_u32 {
            answers.store_answer(&format!("q{number}"), &kept("x")).unwrap();
            let file = std::fs::File::open(answers.answer_path(&format!("q{number}"))).unwrap();
            let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1000 + u64::from(number));
            file.set_modified(at).unwrap();
        }
        files::prune_oldest(folder.path(), 3).unwrap();
        let left: Vec<bool> = (0..5).map(|number| answers.get(&format!("q{number}")).is_some()).collect();
        assert_eq!(left, [false, false, true, true, true]);
    }
}
