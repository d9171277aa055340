//! `rep secrets`: values for skills, kept outside of them.

use std::io::{self, BufRead, IsTerminal, Read};

use rep_check::render::visible;
use rep_runtime::secret::{Secret, Secrets, VALUE_BYTES_MAX};
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex};
use serde_json::json;
use zeroize::Zeroizing;

use crate::exit::{Exit, Failure};
use crate::library::data_folder;
use crate::output::Output;

/// What ends a line typed without an echo besides its end: the interrupt key, as a letter.
const INTERRUPT: u8 = 3;

/// Keep secrets outside skills
#[derive(clap::Args)]
#[command(
    after_help = "A tool gets a secret only where its skill declares it, from the environment of the call, else from here. Values are typed without an echo or read from stdin, never from the command line, and never shown again. They are sealed (XChaCha20-Poly1305) in a file only you can read, and the key lies in another beside it: this keeps them out of backups of the one file, of searches and of glances, not from somebody who can read your files.\n\nExamples:\n  rep secrets set OCR_API_KEY\n  pass show ocr | rep secrets set OCR_API_KEY\n  rep secrets list"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Keep a value, typed or from stdin
    Set {
        /// The variable skills declare
        name: String,
    },
    /// Show the names there are
    List,
    /// Forget a value
    Rm {
        /// The variable
        name: String,
    },
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    secrets(args, output).map_err(|failure| failure.json(args.json))
}

fn secrets(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let secrets = Secrets::at(&data_folder()?);
    let (exit, value, words) = match &args.action {
        Action::Set { name } => {
            secrets.set(name, &value(name, output)?)?;
            (Exit::Fine, json!({ "set": name }), format!("`{name}` is kept"))
        }
        Action::List => {
            let names = secrets.names()?;
            for name in names.iter().filter(|_| !args.json) {
                output.data(&format!("{}\n", visible(name)));
            }
            let words = format!("{} {}", names.len(), if names.len() == 1 { "secret" } else { "secrets" });
            (
                Exit::Fine,
                json!({ "secrets": names.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>() }),
                words,
            )
        }
        Action::Rm { name } if secrets.remove(name)? => {
            (Exit::Fine, json!({ "removed": name }), format!("`{name}` is forgotten"))
        }
        Action::Rm { name } => (Exit::Findings, json!({ "removed": null }), format!("no secret `{name}` is kept")),
    };
    if args.json {
        output.json(&value);
    }
    output.say(&words);
    Ok(exit)
}

/// Reads a value: typed without an echo where somebody types, else all of stdin but the end of its last line.
fn value(name: &str, output: &mut Output) -> Result<Secret, Failure> {
    let mut bytes = Zeroizing::new(Vec::new());
    let stdin = io::stdin();
    let read = if stdin.is_terminal() {
        typed(&mut bytes, || output.insist(&format!("value of {name} (it is not shown):")))
    } else {
        stdin.lock().take(VALUE_BYTES_MAX as u64 + 2).read_to_end(&mut bytes)
    };
    read.map_err(|error| Failure::unable("UNREADABLE", format!("no value was read: {error}")))?;
    if bytes.last() == Some(&INTERRUPT) {
        return Err(Failure::unable("INTERRUPTED", "nothing was kept"));
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    let text = std::str::from_utf8(&bytes).ok().map(str::to_owned);
    text.and_then(Secret::new).ok_or_else(|| {
        let failure = Failure::unable("BAD_VALUE", "that is no value a variable can hold");
        failure.hint(format!("text of 1 to {VALUE_BYTES_MAX} bytes without a NUL"))
    })
}

/// Reads a line without an echo, once asked for. The interrupt key ends the line instead of the program, so that the terminal
/// is always given back as it was.
fn typed(bytes: &mut Vec<u8>, ask: impl FnOnce()) -> io::Result<usize> {
    let stdin = io::stdin();
    let before = termios::tcgetattr(&stdin)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
    silent.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
    termios::tcsetattr(&stdin, OptionalActions::Flush, &silent)?;
    ask();
    let mut line = stdin.lock();
    let read = loop {
        let piece = match line.fill_buf() {
            Ok(piece) => piece,
            Err(error) => break Err(error),
        };
        let end = piece.iter().position(|byte| *byte == b'\n' || *byte == INTERRUPT);
        let taken = end.map_or(piece.len(), |end| end + 1);
        bytes.extend_from_slice(&piece[..taken]);
        line.consume(taken);
        if end.is_some() || taken == 0 || bytes.len() > VALUE_BYTES_MAX {
            break Ok(bytes.len());
        }
    };
    termios::tcsetattr(&stdin, OptionalActions::Now, &before)?;
    read
}
