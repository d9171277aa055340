//! `rep trust signer`: the people and teams whose signatures the user trusts.

use std::path::PathBuf;

use rep_check::render::escape_invisible;
use rep_package::signers::{TrustedSigner, TrustedSigners};
use serde_json::{Value, json};

use super::sign::read_pem;
use crate::exit::{Exit, Failure};
use crate::library::signers_file;
use crate::output::Output;

/// Trust someone to sign the skills of a source
///
/// The key is a public key, or certificates of a root. In a pattern, `*` means any text: `github:NVIDIA/*`,
/// `oci://registry.example/team/*`, `*`. With `--require`, skills from these sources are installed only if a required
/// signer signed them. The list is yours: projects and lock files cannot change it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep trust signer team --key team.key.pub --for 'github:acme/*' --require
  rep trust signer --list
  rep trust signer --remove team")]
pub(crate) struct Args {
    /// The name for the signer
    #[arg(required_unless_present_any = ["list", "remove"])]
    name: Option<String>,
    /// A public key, or certificates of a root, in PEM; repeatable
    #[arg(long, value_name = "FILE", required_unless_present_any = ["list", "remove"])]
    key: Vec<PathBuf>,
    /// The sources; repeatable
    #[arg(long = "for", value_name = "PATTERN", required_unless_present_any = ["list", "remove"])]
    patterns: Vec<String>,
    /// Refuse skills from these sources without a signature
    #[arg(long)]
    require: bool,
    /// List the trusted signers
    #[arg(long, conflicts_with_all = ["name", "key", "patterns", "require"])]
    list: bool,
    /// Stop trusting a signer
    #[arg(long, value_name = "NAME", conflicts_with_all = ["name", "key", "patterns", "require", "list"])]
    remove: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    change_signers(args, output).map_err(|failure| failure.json(args.json))
}

fn change_signers(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let file = signers_file()?;
    // Two commands at once must not lose each other's change.
    let _turn = rep_storage::files::lock_file(&file.with_extension("lock"))?;
    let mut signers = TrustedSigners::read(&file)?;
    if let Some(name) = &args.remove {
        if !signers.remove(name) {
            let message = format!("no signer is named `{}`", name.escape_debug());
            return Err(Failure::findings("UNKNOWN_SIGNER", message).hint("`rep trust signer --list` lists them"));
        }
        signers.write(&file)?;
        report(args, &signers, &format!("removed the signer `{name}`"), output);
        return Ok(Exit::Fine);
    }
    if args.list {
        if !args.json {
            for one in signers.iter() {
                output.write_data(&format!("{}\n", escape_invisible(&describe(one))));
            }
        }
        let message = if signers.iter().next().is_none() { "no signer is trusted" } else { "" };
        report(args, &signers, message, output);
        return Ok(Exit::Fine);
    }
    let name = args.name.as_deref().unwrap_or_default();
    let mut pem = String::new();
    for path in &args.key {
        pem.push_str(&read_pem(path)?);
        pem.push('\n');
    }
    let signer = TrustedSigner::new(name, &pem, args.patterns.clone(), args.require)?;
    let line = describe(&signer);
    signers.insert(signer);
    signers.write(&file)?;
    report(args, &signers, &line, output);
    Ok(Exit::Fine)
}

fn describe(one: &TrustedSigner) -> String {
    let required = if one.is_required { ", required" } else { "" };
    format!("{}  {}  for {}{required}", one.name, one.describe_root(), one.patterns.join(", "))
}

fn report(args: &Args, signers: &TrustedSigners, message: &str, output: &mut Output) {
    if args.json {
        let one = |one: &TrustedSigner| json!({ "name": one.name, "root": one.describe_root(), "for": one.patterns, "require": one.is_required });
        output.write_json(&json!({ "signers": signers.iter().map(one).collect::<Vec<Value>>() }));
    } else if !message.is_empty() {
        output.print_message(&escape_invisible(message));
    }
}
