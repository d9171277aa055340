//! Explains denials in terms that a tool's author can act on.
//!
//! Undeclared files do not exist for a tool, so a tool reports "no such file" about files that exist. After a failure,
//! the words of its error output are compared with the workspace to name the hidden files.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Denial, walk};
use rep_permissions::RunPermissions;
use rep_permissions::glob::normalise_path;

/// The maximum number of words looked up, and the maximum number of reported denials.
const WORDS_MAX: usize = 2000;
const DENIALS_MAX: usize = 20;

/// How the kernel and programs report a read-only file system.
const NOT_FOR_WRITING: &[&str] = &["Read-only file system", "EROFS"];

/// Converts a denial reported by the init process.
pub(super) fn denial_from_report(action: &str, target: String) -> Denial {
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

/// Escapes a target for output. The tool chose its characters, so they must not look like our own text.
pub(super) fn escape_target(target: &str) -> String {
    let is_plain = |letter: &char| {
        !letter.is_control() && !"\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}".contains(*letter)
    };
    target
        .chars()
        .map(|letter| if is_plain(&letter) { letter.to_string() } else { letter.escape_default().to_string() })
        .collect()
}

/// Returns the hidden files that the error output of a failed tool mentions.
pub(super) fn guess_denials(complaint: &[u8], workspace: &Path, permissions: &RunPermissions) -> Vec<Denial> {
    let complaint = String::from_utf8_lossy(complaint);
    let mut seen = BTreeSet::new();
    let mut denials = Vec::new();
    let mut words = 0;
    for line in complaint.lines() {
        let is_writing = NOT_FOR_WRITING.iter().any(|words| line.contains(words));
        for word in line.split(|letter: char| letter.is_whitespace() || "'\"`()[]{}<>,;=".contains(letter)) {
            words += 1;
            if words > WORDS_MAX || denials.len() == DENIALS_MAX {
                return denials;
            }
            let Some(path) = parse_path_word(word, workspace) else { continue };
            if !seen.insert(path.clone()) {
                continue;
            }
            denials.extend(check_path(&path, is_writing, workspace, permissions));
        }
    }
    denials
}

/// Returns the path relative to the workspace that a word may refer to.
fn parse_path_word(word: &str, workspace: &Path) -> Option<String> {
    let word = word.trim_end_matches([':', '.', '!']);
    let inside = Path::new(word).strip_prefix(workspace).ok().and_then(Path::to_str);
    let path = normalise_path(inside.unwrap_or(word))?;
    let is_like_a_path = !path.is_empty() && path.len() < 1024;
    is_like_a_path.then_some(path)
}

fn check_path(path: &str, is_writing: bool, workspace: &Path, permissions: &RunPermissions) -> Option<Denial> {
    let may_write = permissions.write.iter().any(|glob| glob.matches(path));
    let may_read = may_write || permissions.read.iter().any(|glob| glob.matches(path));
    if is_writing {
        let parent = Path::new(path).parent().unwrap_or(Path::new(""));
        let is_place = path.contains(['/', '.']) && walk::open_without_links(workspace, parent).is_ok();
        return (!may_write && is_place).then(|| Denial {
            action: "write",
            target: path.to_owned(),
            suggestion: Some(format!("permissions.filesystem.write: [{}]", quote_json(path))),
        });
    }
    if may_read {
        return None;
    }
    let opened = walk::open_without_links(workspace, Path::new(path)).ok()?;
    let stat = rustix::fs::fstat(&opened).ok()?;
    let is_folder = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
    // A directory with declared files in it exists. A plain word that happens to name a directory is not an error.
    if is_folder && !path.contains('/') {
        return None;
    }
    let pattern = if is_folder { format!("{path}/**") } else { path.to_owned() };
    Some(Denial {
        action: "read",
        target: path.to_owned(),
        suggestion: Some(format!("permissions.filesystem.read: [{}]", quote_json(&pattern))),
    })
}

fn quote_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
