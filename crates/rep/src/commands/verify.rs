//! `rep verify`: verifies installed skills against the lock file, and signatures.

use std::path::{Path, PathBuf};

use rep_check::render::escape_invisible;
use rep_package::PackageError;
use rep_package::capabilities::AddedCapability;
use rep_package::scope::InstallProblem;
use rep_package::signature::{
    InstalledSignature, SignatureKind, SignatureVerdict, SkillSignature, verify_folder, verify_installed_signatures,
};
use rep_package::signers::{TrustedSigners, parse_trust_root};
use rep_signature::model_signing::SIGNATURE_FILE;
use rep_signature::{Certificate, TrustRoot};
use serde_json::{Value, json};

use super::sign::read_pem;
use crate::exit::{Exit, Failure};
use crate::install_scope::{ScopeArgs, open_source_client};
use crate::library::signers_file;
use crate::output::Output;

/// Verify installed skills, or the signature of a directory
///
/// Compares skills with the lock file: changed files, broken links, what changed code needs in addition, and signatures
/// that are wrong or missing. With `--signature`, verifies one directory by OpenSSF Model Signing, with the given keys
/// or those of your trusted signers. Exits with 1 if anything differs.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep verify
  rep verify glossary --json
  rep verify --signature skills/glossary")]
pub(crate) struct Args {
    /// Verify only these skills
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Verify the signature of this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["names", "scope", "project"])]
    signature: Option<PathBuf>,
    /// The file with the signature [default: skill.oms.sig in the directory]
    #[arg(long, value_name = "FILE", requires = "signature")]
    signature_file: Option<PathBuf>,
    /// A public key, or certificates that lead to a root, in PEM; repeatable [default: your trusted signers]
    #[arg(long, value_name = "FILE", requires = "signature")]
    key: Vec<PathBuf>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let result = match &args.signature {
        Some(folder) => verify_directory(folder, args, output),
        None => verify_installed(args, output),
    };
    result.map_err(|failure| failure.json(args.json))
}

/// Verifies the signature of one directory.
fn verify_directory(folder: &Path, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    if !folder.is_dir() {
        return Err(Failure::unable("UNREADABLE", format!("`{}` is not a directory", folder.display())));
    }
    let file = match &args.signature_file {
        Some(file) => file.clone(),
        None => declared_signature_file(folder),
    };
    let found = if file.symlink_metadata().is_err() {
        None
    } else {
        Some(verify_with_roots(folder, &file, &list_roots(args)?)?)
    };
    let is_valid = found.as_ref().is_some_and(|one| one.verdict == SignatureVerdict::Valid);
    if args.json {
        let mut document = json!({ "path": folder.to_string_lossy(), "signed": found.is_some(), "ok": is_valid });
        if let (Some(fields), Value::Object(more)) = (document.as_object_mut(), signature_json(found.as_ref())) {
            fields.extend(more);
        }
        output.write_json(&document);
    } else {
        let words =
            found.map_or_else(|| format!("not signed: `{}` does not exist", file.display()), |one| one.describe());
        output.write_data(&format!("{}\n", escape_invisible(&format!("{}  {words}", folder.display()))));
    }
    Ok(if is_valid { Exit::Fine } else { Exit::Findings })
}

/// Returns the file that a skill declares as its signature, or else the usual one.
fn declared_signature_file(folder: &Path) -> PathBuf {
    let usual = folder.join(SIGNATURE_FILE);
    if usual.symlink_metadata().is_ok() {
        return usual;
    }
    let declared = rep_package::signature::read_declared_signature(folder);
    declared.map_or(usual, |path| folder.join(path))
}

/// Returns the keys to verify with: each with the name of its signer, if it has one.
fn list_roots(args: &Args) -> Result<Vec<(Option<String>, TrustRoot)>, Failure> {
    if args.key.is_empty() {
        let signers = TrustedSigners::read(&signers_file()?)?;
        let roots: Vec<_> = signers.iter().map(|one| (Some(one.name.clone()), one.root.clone())).collect();
        if roots.is_empty() {
            return Err(Failure::unable("NO_SIGNER", "a key is needed to verify the signature")
                .hint("pass --key FILE, or trust a signer with `rep trust signer NAME --key FILE --for PATTERN`"));
        }
        return Ok(roots);
    }
    let (mut roots, mut certificates): (Vec<(Option<String>, TrustRoot)>, Vec<Certificate>) = (Vec::new(), Vec::new());
    for path in &args.key {
        match parse_trust_root(&read_pem(path)?)? {
            TrustRoot::Certificates(more) => certificates.extend(more),
            key @ TrustRoot::Key(_) => roots.push((None, key)),
        }
    }
    if !certificates.is_empty() {
        roots.push((None, TrustRoot::Certificates(certificates)));
    }
    Ok(roots)
}

/// Verifies with each key until one fits. Otherwise returns the most telling result.
fn verify_with_roots(
    folder: &Path,
    file: &Path,
    roots: &[(Option<String>, TrustRoot)],
) -> Result<SkillSignature, PackageError> {
    let mut last = SkillSignature {
        kind: SignatureKind::ModelSigning,
        verdict: SignatureVerdict::UnknownSigner,
        key: None,
        subject: None,
        signer: None,
    };
    for (name, root) in roots {
        let mut found = verify_folder(folder, file, root)?;
        if found.verdict == SignatureVerdict::Valid {
            found.signer.clone_from(name);
            return Ok(found);
        }
        last = found;
    }
    Ok(last)
}

fn signature_json(signature: Option<&SkillSignature>) -> Value {
    let Some(one) = signature else { return Value::Null };
    let reason = match &one.verdict {
        SignatureVerdict::Unchecked(reason) | SignatureVerdict::Invalid(reason) => Some(reason),
        SignatureVerdict::Valid | SignatureVerdict::UnknownSigner => None,
    };
    json!({
        "kind": one.kind.as_str(),
        "verdict": one.verdict.as_str(),
        "signer": one.signer,
        "subject": one.subject,
        "key": one.key,
        "reason": reason,
    })
}

fn verify_installed(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let all = scope.verify_skills(&args.names)?;
    let signatures = verify_installed_signatures(&args.names, &scope, &open_source_client(false)?)?;
    let all: Vec<VerifiedSkill> = all
        .into_iter()
        .zip(signatures)
        .map(|((name, problems), InstalledSignature { signature, .. })| {
            let added = if problems.is_empty() { Vec::new() } else { scope.find_added_capabilities(&name)? };
            Ok(VerifiedSkill { name, problems, added, signature })
        })
        .collect::<Result<_, PackageError>>()?;
    let is_fine = all.iter().all(VerifiedSkill::is_fine);
    if args.json {
        let skills: Vec<Value> = all.iter().map(VerifiedSkill::to_json).collect();
        output.write_json(&json!({ "scope": scope.name(), "skills": skills }));
        return Ok(if is_fine { Exit::Fine } else { Exit::Findings });
    }
    for one in &all {
        for line in one.lines() {
            output.write_data(&format!("{}\n", escape_invisible(&line)));
        }
    }
    if all.is_empty() {
        output.print_message(&format!("nothing is installed: `{}` lists no skills", scope.lock_file.display()));
    } else if !is_fine {
        output
            .print_message("restore it with `rep install SOURCE --force`, or remove it with `rep remove NAME --force`");
    }
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}

/// An installed skill that was verified.
struct VerifiedSkill {
    name: String,
    problems: Vec<InstallProblem>,
    added: Vec<AddedCapability>,
    signature: Result<Option<SkillSignature>, PackageError>,
}

impl VerifiedSkill {
    fn is_fine(&self) -> bool {
        self.problems.is_empty() && self.signature.is_ok()
    }

    fn to_json(&self) -> Value {
        let problem = |problem: &InstallProblem| json!({ "kind": problem.kind.as_str(), "path": problem.path, "message": problem.message });
        let mut problems: Vec<Value> = self.problems.iter().map(problem).collect();
        let signature = match &self.signature {
            Ok(signature) => signature_json(signature.as_ref()),
            Err(error) => {
                problems.push(json!({ "kind": "signature", "path": "", "message": error.message }));
                json!({ "verdict": "refused", "code": error.code.as_str(), "reason": error.message })
            }
        };
        let added: Vec<Value> = self.added.iter().map(AddedCapability::to_json).collect();
        json!({
            "name": self.name,
            "ok": self.is_fine(),
            "problems": problems,
            "capabilities_added": added,
            "signature": signature,
        })
    }

    fn lines(&self) -> Vec<String> {
        let name = &self.name;
        let mut lines: Vec<String> = self
            .problems
            .iter()
            .map(|problem| format!("{name}  {}  {}: {}", problem.kind.as_str(), problem.path, problem.message))
            .collect();
        lines.extend(self.added.iter().map(|added| format!("{name}  new  {}", added.describe())));
        match &self.signature {
            Err(error) => lines.push(format!("{name}  signature  {}", error.message)),
            Ok(_) if !lines.is_empty() => {}
            Ok(None) => lines.push(format!("{name}  as installed")),
            Ok(Some(signature)) => lines.push(format!("{name}  as installed, {}", signature.describe())),
        }
        lines
    }
}
