//! What leaves the program: data on stdout, talk on stderr.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rep_check::render::{Paint, visible};

use crate::exit::Failure;

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The two streams and how to talk on them.
pub(crate) struct Output {
    stdout: Paint,
    stderr: Paint,
    pub(crate) is_quiet: bool,
    pub(crate) is_verbose: bool,
    /// Why data could not be written, where somebody was there to read it.
    pub(crate) failed: Option<io::Error>,
}

impl Output {
    pub(crate) fn new(choice: Choice, is_quiet: bool, is_verbose: bool) -> Self {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        let paint = |is_terminal: bool| match choice {
            Choice::Always => Paint::Colour,
            Choice::Auto if is_terminal && !no_colour => Paint::Colour,
            Choice::Auto | Choice::Never => Paint::Plain,
        };
        Self {
            stdout: paint(io::stdout().is_terminal()),
            stderr: paint(io::stderr().is_terminal()),
            is_quiet,
            is_verbose,
            failed: None,
        }
    }

    /// How to paint what goes to stdout.
    pub(crate) fn paint(&self) -> Paint {
        self.stdout
    }

    /// Styles a piece of stdout.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        match self.stdout {
            Paint::Colour => format!("{style}{text}{style:#}"),
            Paint::Plain => text.to_owned(),
        }
    }

    /// Writes data.
    pub(crate) fn data(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Writes text of strangers. On a terminal it cannot steer it; what is piped is as it is, to the byte.
    pub(crate) fn text(&mut self, text: &str) {
        if !io::stdout().is_terminal() {
            return self.data(text);
        }
        let harmless = |line: &str| line.split('\t').map(visible).collect::<Vec<_>>().join("\t");
        self.data(&text.split('\n').map(harmless).collect::<Vec<_>>().join("\n"));
    }

    /// Writes a JSON document. On a terminal, what could steer it or turn its text around is escaped, which is the same JSON.
    pub(crate) fn json(&mut self, value: &serde_json::Value) {
        let text = format!("{value:#}\n");
        self.data(&if io::stdout().is_terminal() { harmless(&text) } else { text });
    }

    /// Writes data that need not be text.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let mut stream = io::stdout().lock();
        if let Err(error) = stream.write_all(bytes).and_then(|()| stream.flush()) {
            // A reader that closed its end has seen enough; a full disk must be told.
            if error.kind() != io::ErrorKind::BrokenPipe {
                self.failed = Some(error);
            }
        }
    }

    /// Says something, unless asked to be quiet.
    pub(crate) fn say(&mut self, text: &str) {
        if !self.is_quiet {
            self.insist(text);
        }
    }

    /// Says something even when asked to be quiet. What skills and paths say cannot steer the terminal.
    #[expect(clippy::unused_self, reason = "whoever prints must hold the output")]
    pub(crate) fn insist(&mut self, text: &str) {
        write_lines("", text);
    }

    /// Says something with a coloured label in front.
    pub(crate) fn label(&mut self, label: &str, colour: AnsiColor, text: &str) {
        let label = match self.stderr {
            Paint::Colour => {
                let style = colour.on_default().bold();
                format!("{style}{label}{style:#}: ")
            }
            Paint::Plain => format!("{label}: "),
        };
        write_lines(&label, text);
    }

    /// Warns, unless asked to be quiet.
    pub(crate) fn warn(&mut self, text: &str) {
        if !self.is_quiet {
            self.label("warning", AnsiColor::Yellow, text);
        }
    }

    /// Warns of each of these, unless asked to be quiet.
    pub(crate) fn warn_all(&mut self, texts: &[String]) {
        for text in texts {
            self.warn(text);
        }
    }

    /// A bar on stderr that shows how many skills are done, hidden where nobody watches.
    pub(crate) fn progress(&self, verb: &str, count: usize) -> ProgressBar {
        if !self.is_watched() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr_with_hz(10));
        let style = ProgressStyle::with_template(&format!("{verb} {{bar:30}} {{pos}}/{{len}} skills"));
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar
    }

    /// Tells why a command gave up.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        if failure.is_json {
            let error = serde_json::json!({
                "status": "error",
                "error": { "code": failure.code, "message": failure.message, "retriable": failure.is_retriable },
            });
            self.json(&error);
        }
        self.label("error", AnsiColor::Red, &failure.message);
        for hint in &failure.hints {
            self.label("help", AnsiColor::Cyan, hint);
        }
    }

    /// Whether somebody watches stderr.
    pub(crate) fn is_watched(&self) -> bool {
        !self.is_quiet && io::stderr().is_terminal()
    }
}

/// JSON without characters that steer a terminal or turn text around: such stand in strings alone, and are escaped there.
fn harmless(json: &str) -> String {
    let is_harmful = |character: char| matches!(character, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if is_harmful(character) {
            out.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            out.push(character);
        }
    }
    out
}

/// Writes a label of ours as it is, and behind it text that is made harmless line by line.
fn write_lines(label: &str, text: &str) {
    let lines: Vec<std::borrow::Cow<'_, str>> = text.split('\n').map(visible).collect();
    // As for data: where nobody listens, nobody is left to tell.
    let _ = writeln!(io::stderr().lock(), "{label}{}", lines.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn what_steers_a_terminal_is_escaped_and_means_the_same() {
        let value = serde_json::json!({ "a\u{202e}b": "\u{9b}31m\u{7f}\u{2066}é\u{1b}" });
        let text = harmless(&value.to_string());
        assert_eq!(text, r#"{"a\u202eb":"\u009b31m\u007f\u2066é\u001b"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
