//! `rep sign`: signs the directory of a skill.

use std::path::{Path, PathBuf};

use rep_package::signature::{FolderSigner, sign_folder};
use rep_signature::model_signing::SigningCertificates;
use rep_signature::{Certificate, PrivateKey, SignatureError};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, LibraryPlaces};
use crate::output::Output;

/// The maximum size of a file with keys or certificates.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// Sign the files of a skill
///
/// Writes `skill.oms.sig` into the skill's directory, by OpenSSF Model Signing: a statement with the digest of every
/// file, signed with your key. It travels with the skill through git, archives and registries. Sign again after a change.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep sign skills/glossary --key team.key
  rep sign skills/glossary --key team.key --json")]
pub(crate) struct Args {
    /// The skill: a name, `package:name`, or a path
    skill: String,
    /// The private key, in PEM
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The certificate of the key, in PEM
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Certificates that lead from it to a root, in PEM; repeatable
    #[arg(long, value_name = "FILE", requires = "certificate")]
    chain: Vec<PathBuf>,
    #[command(flatten)]
    places: LibraryPlaces,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    sign_skill(args, output).map_err(|failure| failure.json(args.json))
}

fn sign_skill(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let key = read_private_key(&args.key)?;
    let certificates = args.certificate.as_ref().map(|own| read_certificates(own, &args.chain)).transpose()?;
    let (catalog, index) = LibraryArgs::from_places(&args.places).find_skill(&args.skill, output)?;
    let entry = &catalog.entries[index];
    if !entry.folder.join("SKILL.md").exists() && !entry.folder.join("skill.md").exists() {
        let message = format!("`{}` is a single file, and signatures are of directories", args.skill);
        return Err(Failure::unable("NOT_A_SKILL", message).hint("move it into a directory with a SKILL.md"));
    }
    let signed = sign_folder(&entry.folder, &entry.name, &FolderSigner { key, certificates })?;
    if args.json {
        output.write_json(&json!({
            "name": entry.name,
            "signature": signed.file.to_string_lossy(),
            "files": signed.files,
        }));
        return Ok(Exit::Fine);
    }
    output.write_data(&format!("{}\n", signed.file.display()));
    output.print_message(&format!("{}: {} files signed", entry.name, signed.files));
    Ok(Exit::Fine)
}

fn read_certificates(own: &Path, chain: &[PathBuf]) -> Result<SigningCertificates, Failure> {
    let parse = |path: &Path| {
        Certificate::parse_pem(&read_pem(path)?).map_err(|error| signature_failure(&error, &path.display().to_string()))
    };
    let mut all = parse(own)?;
    for path in chain {
        all.extend(parse(path)?);
    }
    let own = all.remove(0);
    Ok(SigningCertificates { own, chain: all })
}

/// Reads a private key.
pub(super) fn read_private_key(path: &Path) -> Result<PrivateKey, Failure> {
    PrivateKey::parse_pem(&read_pem(path)?).map_err(|error| signature_failure(&error, &path.display().to_string()))
}

/// Reads a file with keys or certificates.
pub(super) fn read_pem(path: &Path) -> Result<String, Failure> {
    let failed = |reason: String| {
        Failure::unable("UNREADABLE", format!("could not read the key `{}`: {reason}", path.display()))
            .hint("pass a PEM file; `rep key new --out FILE` makes a key")
    };
    let bytes = rep_package::files::read_file(path, PEM_BYTES_MAX).map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| failed("it is not text".to_owned()))
}

/// Converts an error about a key or a certificate.
pub(super) fn signature_failure(error: &SignatureError, what: &str) -> Failure {
    Failure::unable("INVALID_SIGNER", format!("could not use `{what}`: {error}"))
}
