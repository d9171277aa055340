//! `rep key`: makes keys for signatures.

use std::path::{Path, PathBuf};

use rep_signature::PrivateKey;
use serde_json::json;

use super::sign::signature_failure;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::write;

/// Make keys that sign skills
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  rep key new --out team.key")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(clap::Subcommand)]
enum KeyCommand {
    New(NewArgs),
}

/// Make a key pair
///
/// Writes the private key, which only you can read, and beside it `FILE.pub` with the public key. The key is on the curve
/// P-256, and tools such as `model_signing`, cosign and OpenSSL read it. It has no password: keep the file safe.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  rep key new --out team.key")]
struct NewArgs {
    /// The file for the private key
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let KeyCommand::New(args) = &args.command;
    make_key(args, output).map_err(|failure| failure.json(args.json))
}

fn make_key(args: &NewArgs, output: &mut Output) -> Result<Exit, Failure> {
    let public_file = public_key_file(&args.out);
    // Neither file is replaced: a key that is lost cannot be made again.
    if let Some(existing) = [&args.out, &public_file].into_iter().find(|file| file.symlink_metadata().is_ok()) {
        let message = format!("`{}` exists", existing.display());
        return Err(Failure::unable("EXISTS", message).hint("name another file with --out; keys are never replaced"));
    }
    let (key, text) = PrivateKey::generate().map_err(|error| signature_failure(&error, "the new key"))?;
    write::write_result(&public_file, key.public_key().to_pem().as_bytes(), false)?;
    rep_storage::files::replace_private(&args.out, text.as_bytes())?;
    let fingerprint = key.public_key().fingerprint();
    if args.json {
        output.write_json(&json!({
            "private": args.out.to_string_lossy(),
            "public": public_file.to_string_lossy(),
            "fingerprint": fingerprint,
        }));
        return Ok(Exit::Fine);
    }
    output.write_data(&format!("{}\n{}\n", args.out.display(), public_file.display()));
    output.print_message(&format!("{fingerprint}; keep `{}` secret", args.out.display()));
    Ok(Exit::Fine)
}

/// Returns the file of the public key beside a private one.
fn public_key_file(private: &Path) -> PathBuf {
    let mut name = private.as_os_str().to_owned();
    name.push(".pub");
    PathBuf::from(name)
}
