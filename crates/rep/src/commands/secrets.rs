//! `rep secrets`: values for skills, kept outside of them.

use std::io::{self, BufRead, IsTerminal, Read};

use rep_check::render::visible;
use rep_runtime::secret::{Place, Secret, VALUE_BYTES_MAX};
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex};
use serde_json::json;
use zeroize::Zeroizing;

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal;

/// What ends a line typed without an echo besides its end: the interrupt key, as a letter.
const INTERRUPT: u8 = 3;

/// Keep secrets outside skills
#[derive(clap::Args)]
#[command(
    after_help = "A tool gets a secret only where its skill declares it, from the environment of the call, else from here. Values are typed without an echo or read from stdin, never from the command line, and never shown again. They are sealed (XChaCha20-Poly1305) in a file only you can read. The key is kept in the keyring of the desktop where there is one; else in a file beside it, which keeps them out of backups of the one file, of searches and of glances, not from somebody who can read your files. `rep secrets key` says where it is, and moves it.\n\nA secret is for every trusted skill that declares it, or with --for only for those named.\n\nExamples:\n  rep secrets set OCR_API_KEY\n  pass show ocr | rep secrets set OCR_API_KEY --for pdf-processing\n  rep secrets list\n  rep secrets key file"
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
        /// Give it to no other skill than this one; repeatable
        #[arg(long = "for", value_name = "SKILL")]
        skills: Vec<String>,
    },
    /// Show the names there are
    List,
    /// Show where the key is that seals them, or move it
    Key {
        /// Where to
        #[arg(value_enum)]
        to: Option<Where>,
    },
    /// Forget a value
    Rm {
        /// The variable
        name: String,
    },
}

/// Where a key can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Where {
    /// The keyring of the desktop
    Keyring,
    /// A file beside the secrets
    File,
}

const fn word(place: Place) -> &'static str {
    match place {
        Place::Keyring => "keyring",
        Place::File => "file",
    }
}

fn spoken(place: &str) -> &'static str {
    if place == "keyring" { "the keyring of the desktop" } else { "a file beside it" }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    secrets(args, output).map_err(|failure| failure.json(args.json))
}

fn secrets(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let secrets = terminal::stored().stored_secrets()?;
    let (exit, value, words) = match &args.action {
        Action::Set { name, skills } => {
            if let Some(bad) = skills.iter().find(|skill| skill.is_empty() || skill.chars().any(char::is_control)) {
                return Err(Failure::unable("USAGE", format!("`{}` is no name of a skill", visible(bad))));
            }
            let place = word(secrets.set(name, &value(name, output)?, skills)?);
            let whom = if skills.is_empty() { String::new() } else { format!(" for {}", skills.join(", ")) };
            let words = format!("`{name}` is kept{whom}, its key in {}", spoken(place));
            (Exit::Fine, json!({ "set": name, "for": skills, "key": place }), words)
        }
        Action::Key { to: None } => {
            let place = secrets.place()?.map(word);
            let words =
                place.map_or("there is no key yet".to_owned(), |place| format!("the key is in {}", spoken(place)));
            (Exit::Fine, json!({ "key": place }), words)
        }
        Action::Key { to: Some(to) } => {
            let (to, place) = match to {
                Where::Keyring => (Place::Keyring, word(Place::Keyring)),
                Where::File => (Place::File, word(Place::File)),
            };
            let is_moved = secrets.move_key(to)?;
            let words = match (is_moved, secrets.place()?) {
                (true, _) => format!("the key is now in {}", spoken(place)),
                (false, Some(_)) => format!("the key was in {} already", spoken(place)),
                (false, None) => "there is no key yet; the first secret makes it".to_owned(),
            };
            (Exit::Fine, json!({ "key": secrets.place()?.map(word), "moved": is_moved }), words)
        }
        Action::List => {
            let all = secrets.list()?;
            for one in all.iter().filter(|_| !args.json) {
                let whom =
                    if one.skills.is_empty() { String::new() } else { format!("  for {}", one.skills.join(", ")) };
                output.data(&format!("{}\n", visible(&format!("{}{whom}", one.name))));
            }
            let words = format!("{} {}", all.len(), if all.len() == 1 { "secret" } else { "secrets" });
            let listed = all.iter().map(|one| json!({ "name": one.name, "for": one.skills })).collect::<Vec<_>>();
            (Exit::Fine, json!({ "secrets": listed }), words)
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
