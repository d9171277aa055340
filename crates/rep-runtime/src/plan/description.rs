//! Describes a plan in plain words, for confirmations and `--dry-run`.

use rep_library::mcp_servers::ServerAddress;
use rep_model::truncate::truncate_with_ellipsis;

use super::{CommandProgram, Plan, PlannedCommand, PlannedWork, Redaction};

/// What a run may always read.
pub const OWN_FOLDER: &str = "its own directory";

impl Plan {
    /// Describes the effective policy, one line per item.
    pub fn describe_lines(&self) -> Vec<String> {
        let workspace = self.workspace.display().to_string();
        let mut lines = Vec::new();
        match &self.work {
            PlannedWork::Tool(_) => lines.extend(self.permissions.describe_lines(OWN_FOLDER, &workspace)),
            PlannedWork::Command(command) | PlannedWork::Script(command) => {
                lines.extend(command.describe_lines());
                lines.extend(self.permissions.describe_lines(&command.describe_own_files(), &workspace));
            }
            // A request does nothing besides what these lines say.
            PlannedWork::Request(request) => {
                lines.push(truncate_line(&format!("sends `{} {}`", request.method.name(), request.masked_url())));
                lines.push(self.permissions.describe_outbound());
                if !request.variables.is_empty() {
                    lines.push(format!("uses the variables {}", request.variables.join(", ")));
                }
            }
            PlannedWork::Server(call) => {
                lines.push(truncate_line(&call.describe_server()));
                match &call.server.address {
                    ServerAddress::Http { .. } => lines.push(self.permissions.describe_outbound()),
                    ServerAddress::Stdio { .. } => {
                        lines.extend(self.permissions.describe_lines(&call.describe_own_files(), &workspace));
                    }
                }
            }
        }
        if !self.secrets.is_empty() {
            let word = |is_optional| if is_optional { " (optional)" } else { "" };
            let names = self.secrets.iter().map(|need| format!("{}{}", need.name, word(need.is_optional)));
            lines.push(format!("uses the secrets {}", names.collect::<Vec<_>>().join(", ")));
        }
        lines.push(match &self.work {
            PlannedWork::Request(_) => format!("waits for at most {} s", self.limits.timeout_ms.div_ceil(1000)),
            PlannedWork::Tool(_) | PlannedWork::Command(_) | PlannedWork::Script(_) | PlannedWork::Server(_) => {
                self.limits.describe_line()
            }
        });
        lines.push(self.redaction.describe_rules().to_owned());
        lines.extend(self.callees.iter().map(|line| truncate_line(line)));
        if !self.confinement.is_sandboxed() {
            lines.push("runs WITHOUT a sandbox: none of this is enforced, and it can do whatever you can".to_owned());
        }
        lines
    }
}

impl PlannedCommand {
    /// Describes the program and the variables it receives.
    fn describe_lines(&self) -> Vec<String> {
        let what = match &self.program {
            CommandProgram::Named(name) => format!("starts the program `{name}` of this machine"),
            CommandProgram::File(path) => format!("starts its own file `{path}`"),
            CommandProgram::Inline(_) => "starts a script embedded in the skill".to_owned(),
        };
        // As JSON, so that the boundaries of each argument are visible.
        let arguments: Vec<String> = self.arguments.iter().map(|word| serde_json::json!(word).to_string()).collect();
        let words = if arguments.is_empty() {
            "no arguments".to_owned()
        } else {
            format!("the arguments {}", arguments.join(" "))
        };
        let mut lines = vec![format!("{what}, with {}", truncate_line(&words))];
        if !self.variables.is_empty() {
            let names: Vec<&str> = self.variables.iter().map(|(name, _)| name.as_str()).collect();
            lines.push(truncate_line(&format!("gets the variables {}", names.join(", "))));
        }
        lines
    }
}

impl PlannedCommand {
    /// Describes what it may always read.
    fn describe_own_files(&self) -> String {
        match self.files.as_deref() {
            None => OWN_FOLDER.to_owned(),
            Some([]) => "its own file".to_owned(),
            Some([own, beside @ ..]) => {
                let mut words = format!("its own file `{own}`");
                for file in beside {
                    words.push_str(&format!(" and `{file}` beside it"));
                }
                truncate_line(&words)
            }
        }
    }
}

/// Truncates a line for display.
fn truncate_line(line: &str) -> String {
    const LETTERS_MAX: usize = 2000;
    truncate_with_ellipsis(line, LETTERS_MAX).into_owned()
}

impl Redaction {
    fn describe_rules(self) -> &'static str {
        match (self.secrets, self.pii) {
            (true, true) => "redacts secrets and personal data from its output",
            (true, false) => "redacts secrets from its output, but not personal data",
            (false, true) => "redacts personal data from its output, but not secrets",
            (false, false) => "redacts nothing from its output, not even secrets",
        }
    }
}
