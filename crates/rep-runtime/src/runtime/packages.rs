//! Installing the packages that a skill's tools declare: asked, recorded, and confined.

use std::collections::BTreeSet;

use rep_audit::Audit;
use rep_permissions::HostRule;
use rep_sandbox::Cancel;
use serde_json::{Value, json};

use super::{Runtime, now};
use crate::environment::{self, InstallError, Order, Prepared};
use crate::error::{CallError, ErrorCode};
use crate::executable_skill::{ExecutableSkill, tool_name};
use crate::grant::Trust;
use crate::interpreter::{self, Search};
use crate::plan::{ToolRuntime, declared};

/// What to install, and from where.
#[derive(Clone, Debug, Default)]
pub struct PackageRequest {
    /// The tool, by its position; all tools if none is named.
    pub tool: Option<usize>,
    /// Indexes to use instead of the configured ones.
    pub indexes: Vec<String>,
    /// Further hosts that the installer may reach.
    pub hosts: Vec<HostRule>,
    /// Whether packages that come as source may be built, which runs their code in the sandbox.
    pub allow_build: bool,
}

/// Packages of one runtime that are to be installed, or that are installed already.
pub struct PackageInstall {
    /// The skill's qualified name.
    pub skill: String,
    /// What the packages are for.
    pub runtime: ToolRuntime,
    /// The packages.
    pub packages: Vec<String>,
    prepared: Prepared,
}

/// Why packages were not installed.
#[derive(Debug, thiserror::Error)]
pub enum PackageInstallError {
    /// The call could not be made.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The installation failed.
    #[error(transparent)]
    Install(#[from] InstallError),
}

/// What a tool says it needs to have installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDependencies {
    /// The tool's name.
    pub tool: String,
    /// Packages of pip.
    pub pip: Vec<String>,
    /// Packages of npm.
    pub npm: Vec<String>,
    /// What else must be on the machine.
    pub system: Vec<String>,
    /// What its author says about them.
    pub notes: Option<String>,
}

impl ToolDependencies {
    /// What a tool declares. What is not in the shape of the specification is left out.
    fn declared(tool: &Value) -> Self {
        let declared = |kind: &str| tool.pointer(&format!("/implementation/dependencies/{kind}"));
        let list = |kind: &str| -> Vec<String> {
            let items = declared(kind).and_then(Value::as_array).into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self {
            tool: tool_name(tool).to_owned(),
            pip: list("pip"),
            npm: list("npm"),
            system: list("system"),
            notes: declared("notes").and_then(Value::as_str).map(str::to_owned),
        }
    }

    /// The declaration as JSON.
    pub fn to_json(&self) -> Value {
        json!({ "name": self.tool, "pip": self.pip, "npm": self.npm, "system": self.system, "notes": self.notes })
    }
}

impl ExecutableSkill {
    /// What its tools declare, or the one at a position.
    pub fn dependencies(&self, tool: Option<usize>) -> Result<Vec<ToolDependencies>, CallError> {
        let (_, tools) = self.tools()?;
        let is_wanted = |index: usize| tool.is_none_or(|tool| tool == index);
        let wanted = tools.iter().enumerate().filter(|(index, _)| is_wanted(*index));
        Ok(wanted.map(|(_, tool)| ToolDependencies::declared(tool)).collect())
    }
}

impl PackageInstall {
    /// Where the packages are installed, if they are.
    pub fn installed_folder(&self) -> Option<String> {
        self.prepared.whole().map(|environment| environment.folder.display().to_string())
    }

    /// The hosts that the installer reaches.
    pub fn hosts(&self) -> Vec<String> {
        self.prepared.permissions().outbound.iter().map(ToString::to_string).collect()
    }
}

impl Runtime {
    /// What would be installed for a skill, each runtime apart. Nothing is installed.
    pub fn plan_packages(
        &self,
        skill: &ExecutableSkill,
        request: &PackageRequest,
    ) -> Result<Vec<PackageInstall>, PackageInstallError> {
        if let Trust::Untrusted(reason) = &skill.trust {
            let error = CallError::refused(ErrorCode::Untrusted, format!("`{}` is not trusted: {reason}", skill.name));
            return Err(error.with_remedy("read it, then `rep trust` it").into());
        }
        let root = self.environments_folder()?;
        let (_, tools) = skill.tools()?;
        // What is in the workspace, where tools write, is not run.
        let search = Search { env: self.environment_outside_workspace(), cache: self.search.cache.clone() };
        let mut installs = Vec::new();
        for (runtime, packages) in declared_packages(tools, request.tool) {
            let interpreter = interpreter::find(runtime, &self.options.workspace, &search)
                .map_err(|error| CallError::unable(ErrorCode::RuntimeUnavailable, error.to_string()))?;
            environment::judge(runtime, &packages).map_err(InstallError::from)?;
            let source = environment::configured(runtime, &interpreter, &search, &request.indexes, &request.hosts)?;
            let order =
                Order { root: &root, skill: &skill.name, runtime, packages: &packages, may_build: request.allow_build };
            let prepared = environment::prepare(order, interpreter, source)?;
            installs.push(PackageInstall { skill: skill.name.clone(), runtime, packages, prepared });
        }
        Ok(installs)
    }

    /// What the operator's policy says against an installation.
    pub fn package_objection(&self, install: &PackageInstall) -> Result<Option<String>, CallError> {
        Ok(self.policy()?.objection(&install.skill, &install.prepared.permissions()))
    }

    /// Installs packages in the sandbox, and records it before. The caller has asked. Returns the directory.
    pub fn install_packages(&self, install: &PackageInstall, cancel: &Cancel) -> Result<String, PackageInstallError> {
        if let Some(objection) = self.package_objection(install)? {
            let error = CallError::refused(ErrorCode::PolicyDenied, objection);
            return Err(error.with_remedy("`policy.deny` in your rep.yaml says so").into());
        }
        let audit = Audit::at(self.paths.data()?);
        let recorded = audit.install(&install.skill, &install.packages, &install.hosts(), &self.options.user, now());
        recorded.map_err(CallError::from)?;
        let environment = environment::install(&install.prepared, cancel, rep_sandbox::run)?;
        Ok(environment.folder.display().to_string())
    }

    /// The caller's environment, with the search path less directories in the workspace.
    #[expect(clippy::disallowed_methods, reason = "links of the search path are resolved")]
    fn environment_outside_workspace(&self) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
        let workspace = &self.options.workspace;
        let outside = |(name, value): &(std::ffi::OsString, std::ffi::OsString)| {
            if name != "PATH" {
                return (name.clone(), value.clone());
            }
            let is_outside = |folder: &std::path::PathBuf| {
                let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
                !real.starts_with(workspace) || real.starts_with("/usr")
            };
            let kept = std::env::join_paths(std::env::split_paths(value).filter(is_outside));
            (name.clone(), kept.unwrap_or_default())
        };
        self.options.environment.iter().map(outside).collect()
    }
}

/// The packages that tools declare, by what runs them.
fn declared_packages(tools: &[Value], only: Option<usize>) -> Vec<(ToolRuntime, Vec<String>)> {
    let indexes = only.map_or_else(|| (0..tools.len()).collect(), |tool| vec![tool]);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for tool in indexes.into_iter().map(|index| &tools[index]) {
        let runtime = match tool.pointer("/implementation/runtime").and_then(Value::as_str) {
            Some("python") => ToolRuntime::Python,
            Some("node") => ToolRuntime::Node,
            _ => continue,
        };
        let packages = declared::dependencies(tool, runtime);
        if !packages.is_empty() && seen.insert((runtime.name(), packages.clone())) {
            found.push((runtime, packages));
        }
    }
    found
}
