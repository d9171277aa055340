//! Output: data on stdout, messages on stderr.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rep_check::render::{ColourMode, escape_invisible};

use crate::exit::Failure;

/// When to use color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMode {
    /// In a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The two output streams and their settings.
pub(crate) struct Output {
    stdout: ColourMode,
    stderr: ColourMode,
    pub(crate) is_quiet: bool,
    pub(crate) is_verbose: bool,
    /// The first error while writing to stdout, unless the reader closed it.
    pub(crate) write_error: Option<io::Error>,
}

impl Output {
    pub(crate) fn new(choice: ColorMode, is_quiet: bool, is_verbose: bool) -> Self {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        let paint = |is_terminal: bool| match choice {
            ColorMode::Always => ColourMode::Colour,
            ColorMode::Auto if is_terminal && !no_colour => ColourMode::Colour,
            ColorMode::Auto | ColorMode::Never => ColourMode::Plain,
        };
        Self {
            stdout: paint(io::stdout().is_terminal()),
            stderr: paint(io::stderr().is_terminal()),
            is_quiet,
            is_verbose,
            write_error: None,
        }
    }

    /// Returns the color mode of stdout.
    pub(crate) fn paint(&self) -> ColourMode {
        self.stdout
    }

    /// Styles text for stdout.
    pub(crate) fn style_text(&self, style: Style, text: &str) -> String {
        match self.stdout {
            ColourMode::Colour => format!("{style}{text}{style:#}"),
            ColourMode::Plain => text.to_owned(),
        }
    }

    /// Renders help text, with styles if stdout shows them.
    pub(crate) fn render_help(&self, text: &clap::builder::StyledStr) -> String {
        match self.stdout {
            ColourMode::Colour => text.ansi().to_string(),
            ColourMode::Plain => text.to_string(),
        }
    }

    /// Writes data.
    pub(crate) fn write_data(&mut self, text: &str) {
        self.write_bytes(text.as_bytes());
    }

    /// Writes untrusted text. On a terminal, control characters are replaced; piped output stays byte-identical.
    pub(crate) fn write_text(&mut self, text: &str) {
        if !io::stdout().is_terminal() {
            return self.write_data(text);
        }
        let harmless = |line: &str| line.split('\t').map(escape_invisible).collect::<Vec<_>>().join("\t");
        self.write_data(&text.split('\n').map(harmless).collect::<Vec<_>>().join("\n"));
    }

    /// Writes a JSON document. On a terminal, control and bidirectional characters are escaped, which does not
    /// change the JSON's meaning.
    pub(crate) fn write_json(&mut self, value: &serde_json::Value) {
        let text = format!("{value:#}\n");
        self.write_data(&if io::stdout().is_terminal() { escape_controls(&text) } else { text });
    }

    /// Writes data that may not be text.
    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        let mut stream = io::stdout().lock();
        if let Err(error) = stream.write_all(bytes).and_then(|()| stream.flush()) {
            // A reader that closed the pipe is not an error; a full disk is.
            if error.kind() != io::ErrorKind::BrokenPipe {
                self.write_error = Some(error);
            }
        }
    }

    /// Prints a message, unless `--quiet` is given.
    pub(crate) fn print_message(&mut self, text: &str) {
        if !self.is_quiet {
            self.print_always(text);
        }
    }

    /// Prints a message even with `--quiet`. Text of skills and paths cannot control the terminal.
    #[expect(clippy::unused_self, reason = "callers that print must hold the output")]
    pub(crate) fn print_always(&mut self, text: &str) {
        write_lines("", text);
    }

    /// Prints a message with a colored label in front.
    pub(crate) fn print_labelled(&mut self, label: &str, colour: AnsiColor, text: &str) {
        let label = match self.stderr {
            ColourMode::Colour => {
                let style = colour.on_default().bold();
                format!("{style}{label}{style:#}: ")
            }
            ColourMode::Plain => format!("{label}: "),
        };
        write_lines(&label, text);
    }

    /// Prints a warning, unless `--quiet` is given.
    pub(crate) fn warn(&mut self, text: &str) {
        if !self.is_quiet {
            self.print_labelled("warning", AnsiColor::Yellow, text);
        }
    }

    /// Prints each text as a warning, unless `--quiet` is given.
    pub(crate) fn warn_all(&mut self, texts: &[String]) {
        for text in texts {
            self.warn(text);
        }
    }

    /// Returns a progress bar on stderr that counts skills. It is hidden if stderr is not a terminal.
    pub(crate) fn progress_bar(&self, verb: &str, count: usize) -> ProgressBar {
        if !self.is_watched() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr_with_hz(10));
        let style = ProgressStyle::with_template(&format!("{verb} {{bar:30}} {{pos}}/{{len}} skills"));
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar
    }

    /// Prints a failure and its hints.
    pub(crate) fn print_failure(&mut self, failure: &Failure) {
        if failure.is_json {
            let mut error = serde_json::json!({
                "status": "error",
                "error": { "code": failure.code, "message": failure.message, "retriable": failure.is_retriable },
            });
            if !failure.details.is_empty() {
                error["error"]["details"] = serde_json::json!(failure.details);
            }
            self.write_json(&error);
        }
        self.print_labelled("error", AnsiColor::Red, &failure.message);
        for hint in &failure.hints {
            self.print_labelled("help", AnsiColor::Cyan, hint);
        }
    }

    /// Whether stderr is a terminal.
    pub(crate) fn is_watched(&self) -> bool {
        !self.is_quiet && io::stderr().is_terminal()
    }
}

/// Escapes control and bidirectional characters in JSON text. They occur only inside strings, so the result is the
/// same JSON.
fn escape_controls(json: &str) -> String {
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

/// Writes a trusted label, followed by text that is sanitized line by line.
fn write_lines(label: &str, text: &str) {
    let lines: Vec<std::borrow::Cow<'_, str>> = text.split('\n').map(escape_invisible).collect();
    // As for data: if stderr is closed, the error cannot be reported.
    let _ = writeln!(io::stderr().lock(), "{label}{}", lines.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::escape_controls;

    #[test]
    fn what_steers_a_terminal_is_escaped_and_means_the_same() {
        let value = serde_json::json!({ "a\u{202e}b": "\u{9b}31m\u{7f}\u{2066}é\u{1b}" });
        let text = escape_controls(&value.to_string());
        assert_eq!(text, r#"{"a\u202eb":"\u009b31m\u007f\u2066é\u001b"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
