//! Plans a script that a skill bundles: a file of the skill, and words.
//!
//! A script has no schema and no command definition, so nothing says what it needs besides the declarations of
//! its skill. It runs with exactly those: the permissions, the confirmations and the secrets. Without declarations
//! it gets nothing, and nothing needs confirmation.

use serde_json::json;

use super::command::DeclarationSource;
use super::{CommandProgram, Plan, PlanError, PlannedCommand, PlannedWork, StartFolder, declarations};

impl Plan {
    /// Plans a script. `path` is a file of the skill, relative to it; `files` are the visible files of a skill
    /// that is not a directory. Accesses no files.
    pub(crate) fn from_script(
        source: &DeclarationSource<'_>,
        path: &str,
        arguments: &[String],
        files: Option<Vec<String>>,
    ) -> Result<Plan, PlanError> {
        let work = PlannedWork::Script(PlannedCommand {
            program: CommandProgram::File(path.to_owned()),
            arguments: arguments.to_vec(),
            stdin: Vec::new(),
            variables: Vec::new(),
            start: StartFolder::Workspace,
            files,
        });
        let mut plan = source.build_plan(path.to_owned(), work, json!({ "args": arguments }));
        plan.secrets = source.front.map(declarations::parse_secrets_node).transpose()?.unwrap_or_default();
        Ok(plan)
    }
}
