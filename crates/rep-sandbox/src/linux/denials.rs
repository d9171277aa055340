//! What a tool missed, told in words its author can act on.
//!
//! An undeclared file does not exist for a tool, so a tool says "no such file" about a file that is there. After a
//! failure the words of its complaint are compared with the workspace, and what was hidden is named.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Denial, walk};
use rep_permissions::Permissions;
use rep_permissions::glob::normalise;

/// The most words that are looked up, and the most denials that are told.
const WORDS_MAX: usize = 2000;
const TOLD_MAX: usize = 20;

/// How the kernel says that a place is not for writing.
const NOT_FOR_WRITING: &[&str] = &["Read-only file system", "EROFS"];

/// A refusal the first process of a sandbox told.
pub(super) fn told(action: &str, target: String) -> Denial {
    match action {
        "connect" => Denial {
            action: "connect",
            target,
            suggestion: Some("permissions.network.outbound: [\"HOST:PORT\"]".to_owned()),
        },
        _ => Denial {
            action: "spawn",
            target,
            suggestion: Some("permissions.processes.allow_subprocess: true".to_owned()),
        },
    }
}

/// A target as it is told: a tool chose its letters, so none of them may look like something we say.
pub(super) fn shown(target: &str) -> String {
    let is_plain = |letter: &char| {
        !letter.is_control() && !"\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}".contains(*letter)
    };
    target
        .chars()
        .map(|letter| if is_plain(&letter) { letter.to_string() } else { letter.escape_default().to_string() })
        .collect()
}

/// What the complaint of a failed tool names and its permissions hide.
pub(super) fn guessed(complaint: &[u8], workspace: &Path, permissions: &Permissions) -> Vec<Denial> {
    let complaint = String::from_utf8_lossy(complaint);
    let mut seen = BTreeSet::new();
    let mut denials = Vec::new();
    let mut words = 0;
    for line in complaint.lines() {
        let is_writing = NOT_FOR_WRITING.iter().any(|words| line.contains(words));
        for word in line.split(|letter: char| letter.is_whitespace() || "'\"`()[]{}<>,;=".contains(letter)) {
            words += 1;
            if words > WORDS_MAX || denials.len() == TOLD_MAX {
                return denials;
            }
            let Some(path) = path_in(word, workspace) else { continue };
            if !seen.insert(path.clone()) {
                continue;
            }
            denials.extend(judge(&path, is_writing, workspace, permissions));
        }
    }
    denials
}

/// The path relative to the workspace a word may stand for.
fn path_in(word: &str, workspace: &Path) -> Option<String> {
    let word = word.trim_end_matches([':', '.', '!']);
    let inside = Path::new(word).strip_prefix(workspace).ok().and_then(Path::to_str);
    let path = normalise(inside.unwrap_or(word))?;
    let is_like_a_path = !path.is_empty() && path.len() < 1024;
    is_like_a_path.then_some(path)
}

fn judge(path: &str, is_writing: bool, workspace: &Path, permissions: &Permissions) -> Option<Denial> {
    let may_write = permissions.write.iter().any(|glob| glob.fits(path));
    let may_read = may_write || permissions.read.iter().any(|glob| glob.fits(path));
    if is_writing {
        let parent = Path::new(path).parent().unwrap_or(Path::new(""));
        let is_place = path.contains(['/', '.']) && walk::open(workspace, parent).is_ok();
        return (!may_write && is_place).then(|| Denial {
            action: "write",
            target: path.to_owned(),
            suggestion: Some(format!("permissions.filesystem.write: [{}]", quoted(path))),
        });
    }
    if may_read {
        return None;
    }
    let opened = walk::open(workspace, Path::new(path)).ok()?;
    let stat = rustix::fs::fstat(&opened).ok()?;
    let is_folder = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
    // A folder that holds something declared is there; a plain word that happens to name one is no complaint.
    if is_folder && !path.contains('/') {
        return None;
    }
    let pattern = if is_folder { format!("{path}/**") } else { path.to_owned() };
    Some(Denial {
        action: "read",
        target: path.to_owned(),
        suggestion: Some(format!("permissions.filesystem.read: [{}]", quoted(&pattern))),
    })
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
