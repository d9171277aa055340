//! `rep schema`: prints the JSON Schema of the frontmatter.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use rep_check::Profile;
use rep_check::frontmatter_schema::{SchemaSubject, build_frontmatter_schema};
use rep_library::hosts::KnownHost;

use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Print the JSON Schema of the frontmatter
///
/// The schema (draft 2020-12) describes the frontmatter of a SKILL.md for editors and other tools. It refuses what
/// `rep check` reports about fields as an error or a warning under the same profile. With --host, it describes the
/// fields that the host reads, with limits and sources.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep schema                        # the agentskills.io specification
  rep schema --profile universal
  rep schema --profile uasp         # a *.uasp.yaml file
  rep schema --host claude-code > skill.schema.json")]
pub(crate) struct Args {
    /// Describe what this profile accepts
    #[arg(long, value_name = "PROFILE", value_parser = profile_parser(), default_value = "agentskills")]
    profile: Profile,
    /// Describe what this host reads; `rep hosts` lists the hosts
    #[arg(long, value_name = "HOST", conflicts_with = "profile")]
    host: Option<String>,
}

/// Parses a profile that has fields.
fn profile_parser() -> impl TypedValueParser<Value = Profile> {
    let with_fields = Profile::all().iter().filter(|profile| **profile != Profile::Security);
    let names: Vec<&'static str> = with_fields.map(|profile| profile.name()).collect();
    PossibleValuesParser::new(names).map(|name| Profile::from_name(&name).expect("only profiles are possible values"))
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let schema = match &args.host {
        Some(name) => {
            let host = KnownHost::find(name).map_err(|error| Failure::from(error).json(true))?;
            build_frontmatter_schema(SchemaSubject::Host(host.id, host.name))
        }
        None => build_frontmatter_schema(SchemaSubject::Profile(args.profile)),
    };
    output.write_json(&schema.expect("only `security` has no schema"));
    Ok(Exit::Fine)
}
