//! Collects the denials of a run, in terms that a tool's author can act on.

use std::collections::BTreeSet;

use super::Denial;
use rep_permissions::HostRule;

/// The maximum number of listed denials. Further ones are counted.
const LISTED_MAX: usize = 100;

/// The maximum number of different denials that are counted, so that a tool cannot fill the memory.
const COUNTED_MAX: usize = 20_000;

/// The denials of a run, each once.
#[derive(Debug, Default)]
pub(super) struct DenialLog {
    listed: Vec<Denial>,
    seen: BTreeSet<(&'static str, String)>,
    omitted: u64,
}

impl DenialLog {
    /// Adds a denial, unless it is already known.
    pub(super) fn add_denial(&mut self, mut denial: Denial) {
        denial.target = escape_target(&denial.target);
        if self.seen.len() == COUNTED_MAX || !self.seen.insert((denial.action, denial.target.clone())) {
            return;
        }
        if self.listed.len() == LISTED_MAX {
            self.omitted += 1;
        } else {
            self.listed.push(denial);
        }
    }

    /// Returns the listed denials, and the number of further ones.
    pub(super) fn into_parts(self) -> (Vec<Denial>, u64) {
        (self.listed, self.omitted)
    }
}

/// Converts a denial reported by the init process.
pub(super) fn denial_from_report(action: &str, target: String) -> Denial {
    match action {
        "connect" => Denial { action: "connect", suggestion: suggest_host(&target), target },
        "resolve" => Denial { action: "resolve", suggestion: suggest_host(&target), target },
        _ => Denial {
            action: "spawn",
            target,
            suggestion: Some("permissions.processes.allow_subprocess: true".to_owned()),
        },
    }
}

/// Returns the declaration that would allow a host, if it can be declared.
fn suggest_host(target: &str) -> Option<String> {
    let rule = HostRule::parse(target).ok()?;
    Some(format!("permissions.network.outbound: [\"{rule}\"]"))
}

/// Escapes a target for output. The tool chose its characters, so they must not look like our own text.
fn escape_target(target: &str) -> String {
    let is_plain = |letter: &char| {
        !letter.is_control() && !"\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}".contains(*letter)
    };
    target
        .chars()
        .map(|letter| if is_plain(&letter) { letter.to_string() } else { letter.escape_default().to_string() })
        .collect()
}
