//! A plan in plain words, for whoever is asked or wants to know.

use rep_model::truncate::ellipsize;

use super::{Command, Plan, Program, Redaction, Work};

/// What a run may read in any case.
pub const OWN: &str = "its own folder";

impl Plan {
    /// The effective policy, a line each.
    pub fn in_words(&self) -> Vec<String> {
        let workspace = self.workspace.display().to_string();
        let mut lines = Vec::new();
        match &self.work {
            Work::Tool(_) => lines.extend(self.permissions.in_words(OWN, &workspace)),
            Work::Command(command) => {
                lines.extend(command.in_words());
                lines.extend(self.permissions.in_words(&command.own_in_words(), &workspace));
            }
            // What a request does is all there is to it.
            Work::Request(request) => {
                lines.push(cut(&format!("sends `{} {}`", request.method.name(), request.shown_url())));
                lines.push(self.permissions.outbound_in_words());
                if !request.variables.is_empty() {
                    lines.push(format!("uses the variables {}", request.variables.join(", ")));
                }
            }
        }
        if !self.secrets.is_empty() {
            let word = |is_optional| if is_optional { " (optional)" } else { "" };
            let names = self.secrets.iter().map(|need| format!("{}{}", need.name, word(need.is_optional)));
            lines.push(format!("gets the secrets {}", names.collect::<Vec<_>>().join(", ")));
        }
        lines.push(match &self.work {
            Work::Request(_) => format!("waits for {} s at most", self.limits.timeout_ms.div_ceil(1000)),
            Work::Tool(_) | Work::Command(_) => self.limits.in_words(),
        });
        lines.push(self.redaction.in_words().to_owned());
        if !self.confinement.is_sandboxed() {
            lines.push("runs WITHOUT a sandbox: none of this is enforced, and it can do whatever you can".to_owned());
        }
        lines
    }
}

impl Command {
    /// What is started, and what of the caller's environment it gets.
    fn in_words(&self) -> Vec<String> {
        let what = match &self.program {
            Program::Named(name) => format!("starts the program `{name}` of this machine"),
            Program::File(path) => format!("starts its own file `{path}`"),
            Program::Inline(_) => "starts a script that stands in its text".to_owned(),
        };
        // As JSON, so that where a word ends can be seen whatever it holds.
        let arguments: Vec<String> = self.arguments.iter().map(|word| serde_json::json!(word).to_string()).collect();
        let words =
            if arguments.is_empty() { "no words".to_owned() } else { format!("the words {}", arguments.join(" ")) };
        let mut lines = vec![format!("{what}, with {}", cut(&words))];
        if !self.variables.is_empty() {
            let names: Vec<&str> = self.variables.iter().map(|(name, _)| name.as_str()).collect();
            lines.push(cut(&format!("gets the variables {}", names.join(", "))));
        }
        lines
    }
}

impl Command {
    /// What it may read in any case.
    fn own_in_words(&self) -> String {
        match self.files.as_deref() {
            None => OWN.to_owned(),
            Some([]) => "its own file".to_owned(),
            Some([own, beside @ ..]) => {
                let mut words = format!("its own file `{own}`");
                for file in beside {
                    words.push_str(&format!(" and `{file}` beside it"));
                }
                cut(&words)
            }
        }
    }
}

/// A line as far as it is shown.
fn cut(line: &str) -> String {
    const LETTERS_MAX: usize = 2000;
    ellipsize(line, LETTERS_MAX).into_owned()
}

impl Redaction {
    fn in_words(self) -> &'static str {
        match (self.secrets, self.pii) {
            (true, true) => "keeps secrets and personal data out of what it says",
            (true, false) => "keeps secrets out of what it says, and personal data in",
            (false, true) => "keeps personal data out of what it says, and secrets in",
            (false, false) => "shows everything it says, secrets too",
        }
    }
}
