//! `rep push`: pushes skills to an OCI registry.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use rep_check::render::escape_invisible;
use rep_package::pack::read_skill_to_pack;
use rep_package::push::{PushOptions, PushedArtifact, build_artifact, push_skills};
use rep_package::source::parse_registry_reference;
use serde_json::{Value, json};

use super::sign::read_private_key;
use crate::exit::{Exit, Failure};
use crate::install_scope::open_source_client;
use crate::library::{LibraryArgs, LibraryPlaces};
use crate::output::Output;

/// Push skills to an OCI registry
///
/// The last argument is `oci://HOST/REPOSITORY[:TAG]`. Without a tag, the version of a skill is its tag. The same skill
/// always gets the same digest. Several skills get a repository below it each, or become one collection. Credentials
/// are those of `docker login`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep push glossary oci://127.0.0.1:1/team/glossary:1.0.0
  rep push glossary oci://127.0.0.1:1/team/glossary --key team.key
  rep push glossary slugify oci://127.0.0.1:1/team/all --collection team")]
pub(crate) struct Args {
    /// The skills, then where to push them
    #[arg(value_names = ["SKILL", "TARGET"], num_args = 2.., required = true)]
    words: Vec<String>,
    /// Push the skills as one collection with this name
    #[arg(long, value_name = "NAME")]
    collection: Option<String>,
    /// Sign what is pushed with this private key, as cosign does
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    places: LibraryPlaces,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    push_to_registry(args, output).map_err(|failure| failure.json(args.json))
}

fn push_to_registry(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let Some((target, names)) = args.words.split_last().filter(|(_, names)| !names.is_empty()) else {
        return Err(Failure::unable("USAGE", "name the skills, then where to push them"));
    };
    let target = parse_registry_reference(target)?;
    let created = created_time()?;
    let key = args.key.as_deref().map(read_private_key).transpose()?.map(Arc::new);
    let mut artifacts = Vec::new();
    for name in names {
        let (catalog, index) = LibraryArgs::from_places(&args.places).find_skill(name, output)?;
        let packed = read_skill_to_pack(&catalog.entries[index], name)?;
        artifacts.push(build_artifact(&packed, &created)?);
    }
    let client = open_source_client(false)?;
    let options = PushOptions { collection: args.collection.clone(), created, key };
    let pushed = push_skills(&artifacts, &target, &options, &client)?;
    if args.json {
        let one = |one: &PushedArtifact| json!({ "name": one.name, "reference": one.reference, "digest": one.digest, "signed": one.is_signed });
        output.write_json(&json!({ "artifacts": pushed.iter().map(one).collect::<Vec<Value>>() }));
        return Ok(Exit::Fine);
    }
    for one in &pushed {
        output.write_data(&format!("{}\n", escape_invisible(&format!("{}@{}", one.reference, one.digest))));
    }
    Ok(Exit::Fine)
}

/// Returns the time that artifacts show: that of `SOURCE_DATE_EPOCH`, or else a fixed one, so that digests can be
/// reproduced.
fn created_time() -> Result<String, Failure> {
    let seconds = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) if !text.is_empty() => text.parse::<u32>().map_err(|_| {
            Failure::unable("INVALID_ARGUMENT", "`SOURCE_DATE_EPOCH` is not a number of seconds since 1970")
        })?,
        _ => 0,
    };
    let time = rep_storage::time::format_timestamp(UNIX_EPOCH + Duration::from_secs(u64::from(seconds)));
    Ok(time.replace(".000Z", "Z"))
}
