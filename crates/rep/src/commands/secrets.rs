//! `rep secrets`: manages the values of secrets, which are stored outside of skills.

use std::io::{self, IsTerminal, Read};

use rep_check::render::escape_invisible;
use rep_runtime::secret::{KeyLocation, SecretValue, VALUE_BYTES_MAX};
use serde_json::json;
use zeroize::Zeroizing;

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal;

/// The interrupt key as a byte. It ends a line that is typed without echo.
const INTERRUPT: u8 = 3;

/// Manage the secrets that skills can use
///
/// A tool receives a secret only if its skill declares it. Values are typed without echo or read from stdin, and
/// are never shown. They are stored encrypted; the key is kept in the desktop keyring, or in a file if there is
/// none.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  printf %s \"$TOKEN\" | rep secrets set OCR_API_KEY
  printf %s \"$TOKEN\" | rep secrets set OCR_API_KEY --for csv-profile
  rep secrets list
  rep secrets rm OCR_API_KEY
  rep secrets key file                # keep the encryption key in a file")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: SecretsAction,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum SecretsAction {
    /// Store a secret, typed or read from stdin
    ///
    /// A tool that declares the secret can send it wherever it may write or connect. `rep` removes the value from
    /// results and logs, also in common encodings. It does not detect a value that a tool reverses, splits, encrypts or
    /// encodes in another way.
    #[command(after_help = "\
Example:
  printf %s \"$TOKEN\" | rep secrets set OCR_API_KEY --for csv-profile")]
    Set {
        /// The environment variable that skills declare
        name: String,
        /// Give the secret only to this skill; repeatable
        #[arg(long = "for", value_name = "SKILL")]
        skills: Vec<String>,
    },
    /// List the names of the stored secrets
    #[command(after_help = "\
Example:
  rep secrets list --json")]
    List,
    /// Show where the encryption key is stored, or move it
    #[command(after_help = "\
Examples:
  rep secrets key
  rep secrets key file")]
    Key {
        /// Where to move the key
        #[arg(value_enum)]
        to: Option<KeyPlaceChoice>,
    },
    /// Delete a secret
    #[command(after_help = "\
Example:
  rep secrets rm OCR_API_KEY")]
    Rm {
        /// The environment variable
        name: String,
    },
}

/// The places for the encryption key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum KeyPlaceChoice {
    /// The desktop keyring
    Keyring,
    /// A file next to the secrets
    File,
}

const fn key_place_name(place: KeyLocation) -> &'static str {
    match place {
        KeyLocation::Keyring => "keyring",
        KeyLocation::File => "file",
    }
}

fn describe_key_place(place: &str) -> &'static str {
    if place == "keyring" { "the desktop keyring" } else { "a file next to it" }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    manage_secrets(args, output).map_err(|failure| failure.json(args.json))
}

fn manage_secrets(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let secrets = terminal::open_stored_runtime().open_secret_store()?;
    let (exit, value, words) = match &args.action {
        SecretsAction::Set { name, skills } => {
            if let Some(bad) = skills.iter().find(|skill| skill.is_empty() || skill.chars().any(char::is_control)) {
                return Err(Failure::unable("USAGE", format!("`{}` is not a valid skill name", escape_invisible(bad))));
            }
            let place = key_place_name(secrets.set(name, &read_value(name, output)?, skills)?);
            let whom = if skills.is_empty() { String::new() } else { format!(" for {}", skills.join(", ")) };
            let words = format!("stored `{name}`{whom}; its key is in {}", describe_key_place(place));
            (Exit::Fine, json!({ "set": name, "for": skills, "key": place }), words)
        }
        SecretsAction::Key { to: None } => {
            let place = secrets.key_location()?.map(key_place_name);
            let words = place
                .map_or("no key exists yet".to_owned(), |place| format!("the key is in {}", describe_key_place(place)));
            (Exit::Fine, json!({ "key": place }), words)
        }
        SecretsAction::Key { to: Some(to) } => {
            let (to, place) = match to {
                KeyPlaceChoice::Keyring => (KeyLocation::Keyring, key_place_name(KeyLocation::Keyring)),
                KeyPlaceChoice::File => (KeyLocation::File, key_place_name(KeyLocation::File)),
            };
            let is_moved = secrets.move_key(to)?;
            let words = match (is_moved, secrets.key_location()?) {
                (true, _) => format!("the key is now in {}", describe_key_place(place)),
                (false, Some(_)) => format!("the key was already in {}", describe_key_place(place)),
                (false, None) => "no key exists yet; it is created with the first secret".to_owned(),
            };
            (Exit::Fine, json!({ "key": secrets.key_location()?.map(key_place_name), "moved": is_moved }), words)
        }
        SecretsAction::List => {
            let all = secrets.list()?;
            for one in all.iter().filter(|_| !args.json) {
                let whom =
                    if one.skills.is_empty() { String::new() } else { format!("  for {}", one.skills.join(", ")) };
                output.write_data(&format!("{}\n", escape_invisible(&format!("{}{whom}", one.name))));
            }
            let words = format!("{} {}", all.len(), if all.len() == 1 { "secret" } else { "secrets" });
            let listed = all.iter().map(|one| json!({ "name": one.name, "for": one.skills })).collect::<Vec<_>>();
            (Exit::Fine, json!({ "secrets": listed }), words)
        }
        SecretsAction::Rm { name } if secrets.remove(name)? => {
            (Exit::Fine, json!({ "removed": name }), format!("deleted `{name}`"))
        }
        SecretsAction::Rm { name } => {
            (Exit::Findings, json!({ "removed": null }), format!("secret `{name}` not found"))
        }
    };
    if args.json {
        output.write_json(&value);
    }
    output.print_message(&words);
    Ok(exit)
}

/// Reads a value: a line typed without echo on a terminal, otherwise all of stdin without the final line break.
fn read_value(name: &str, output: &mut Output) -> Result<SecretValue, Failure> {
    let mut bytes = Zeroizing::new(Vec::new());
    let stdin = io::stdin();
    let read = if stdin.is_terminal() {
        read_without_echo(&mut bytes, || output.print_always(&format!("value of {name} (hidden):")))
    } else {
        stdin.lock().take(VALUE_BYTES_MAX as u64 + 2).read_to_end(&mut bytes)
    };
    read.map_err(|error| Failure::unable("UNREADABLE", format!("could not read the value: {error}")))?;
    if bytes.last() == Some(&INTERRUPT) {
        return Err(Failure::unable("INTERRUPTED", "nothing was stored"));
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    let text = std::str::from_utf8(&bytes).ok().map(str::to_owned);
    text.and_then(SecretValue::new).ok_or_else(|| {
        let failure = Failure::unable("BAD_VALUE", "the value cannot be stored in an environment variable");
        failure.hint(format!("use 1 to {VALUE_BYTES_MAX} bytes of text without NUL"))
    })
}

/// Refuses to read a value that others could see on the screen.
#[cfg(windows)]
fn read_without_echo(_: &mut Vec<u8>, _: impl FnOnce()) -> io::Result<usize> {
    Err(io::Error::other("it cannot be typed without echo here; pass it on stdin"))
}

/// Calls `ask`, then reads a line without echo. The interrupt key ends the line instead of the program, so that the
/// terminal is always restored.
#[cfg(unix)]
fn read_without_echo(bytes: &mut Vec<u8>, ask: impl FnOnce()) -> io::Result<usize> {
    use std::io::BufRead as _;

    use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex};

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
