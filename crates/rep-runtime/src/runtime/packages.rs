//! Installs the packages that a skill's tools declare. Installation is confirmed, recorded and confined.

use std::collections::BTreeSet;

use rep_audit::AuditLog;
use rep_permissions::HostRule;
use rep_sandbox::Cancel;
use serde_json::{Value, json};

use super::{Runtime, current_time};
use crate::environment::{self, EnvironmentInstallSpec, InstallError, PreparedInstallation};
use crate::error::{CallError, ErrorCode};
use crate::executable_skill::{ExecutableSkill, tool_name};
use crate::grant::ExecutionTrust;
use crate::interpreter::{self, InterpreterSearch};
use crate::plan::{ToolRuntime, declarations};

/// What to install, and from where.
#[derive(Clone, Debug, Default)]
pub struct PackageRequest {
    /// The tool by its index; all tools if `None`.
    pub tool: Option<usize>,
    /// Indexes to use instead of the configured ones.
    pub indexes: Vec<String>,
    /// Further hosts that the installer may reach.
    pub hosts: Vec<HostRule>,
    /// Whether packages may be built from source, which runs their code in the sandbox.
    pub allow_build: bool,
}

/// Packages of one runtime, installed or to be installed.
pub struct PackageInstall {
    /// The skill's qualified name.
    pub skill: String,
    /// The runtime of the packages.
    pub runtime: ToolRuntime,
    /// The packages.
    pub packages: Vec<String>,
    prepared: PreparedInstallation,
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

/// The dependencies that a tool declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDependencies {
    /// The tool's name.
    pub tool: String,
    /// Packages from pip.
    pub pip: Vec<String>,
    /// Packages from npm.
    pub npm: Vec<String>,
    /// Other software that must be installed.
    pub system: Vec<String>,
    /// The author's notes.
    pub notes: Option<String>,
}

impl ToolDependencies {
    /// Reads the dependencies of a tool. Malformed declarations are ignored.
    fn from_tool(tool: &Value) -> Self {
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

    /// Renders the declaration as JSON.
    pub fn to_json(&self) -> Value {
        json!({ "name": self.tool, "pip": self.pip, "npm": self.npm, "system": self.system, "notes": self.notes })
    }
}

impl ExecutableSkill {
    /// Lists the dependencies of its tools, or of a single tool by its index.
    pub fn list_dependencies(&self, tool: Option<usize>) -> Result<Vec<ToolDependencies>, CallError> {
        let (_, tools) = self.require_tools()?;
        let is_wanted = |index: usize| tool.is_none_or(|tool| tool == index);
        let wanted = tools.iter().enumerate().filter(|(index, _)| is_wanted(*index));
        Ok(wanted.map(|(_, tool)| ToolDependencies::from_tool(tool)).collect())
    }
}

impl PackageInstall {
    /// Returns the directory of the installed packages, if they are installed.
    pub fn installed_folder(&self) -> Option<String> {
        self.prepared.find_installed().map(|environment| environment.folder.display().to_string())
    }

    /// Returns the hosts that the installer may reach.
    pub fn installer_hosts(&self) -> Vec<String> {
        self.prepared.installer_permissions().outbound.iter().map(ToString::to_string).collect()
    }
}

impl Runtime {
    /// Plans the installation of a skill's packages, per runtime. Installs nothing.
    pub fn plan_packages(
        &self,
        skill: &ExecutableSkill,
        request: &PackageRequest,
    ) -> Result<Vec<PackageInstall>, PackageInstallError> {
        if let ExecutionTrust::Untrusted(reason) = &skill.trust {
            let error = CallError::refused(ErrorCode::Untrusted, format!("`{}` is not trusted: {reason}", skill.name));
            return Err(error.with_remedy("review it, then run `rep trust`").into());
        }
        let root = self.environments_folder()?;
        let (_, tools) = skill.require_tools()?;
        // Programs in the workspace are not run, because tools can write there.
        let search = InterpreterSearch { env: self.environment_outside_workspace(), cache: self.search.cache.clone() };
        let mut installs = Vec::new();
        for (runtime, packages) in collect_packages(tools, request.tool) {
            let interpreter = interpreter::find_interpreter(runtime, &self.options.workspace, &search)
                .map_err(|error| CallError::unable(ErrorCode::RuntimeUnavailable, error.to_string()))?;
            environment::check_package_names(runtime, &packages).map_err(InstallError::from)?;
            let source =
                environment::load_index_source(runtime, &interpreter, &search, &request.indexes, &request.hosts)?;
            let order = EnvironmentInstallSpec {
                root: &root,
                skill: &skill.name,
                runtime,
                packages: &packages,
                may_build: request.allow_build,
            };
            let prepared = environment::prepare_installation(order, interpreter, source)?;
            installs.push(PackageInstall { skill: skill.name.clone(), runtime, packages, prepared });
        }
        Ok(installs)
    }

    /// Returns the operator policy's objection to an installation, if there is one.
    pub fn package_objection(&self, install: &PackageInstall) -> Result<Option<String>, CallError> {
        Ok(self.load_policy()?.find_objection(&install.skill, &install.prepared.installer_permissions()))
    }

    /// Installs packages in the sandbox, after recording it. The caller has already asked for confirmation.
    /// Returns the directory.
    pub fn install_packages(&self, install: &PackageInstall, cancel: &Cancel) -> Result<String, PackageInstallError> {
        if let Some(objection) = self.package_objection(install)? {
            let error = CallError::refused(ErrorCode::PolicyDenied, objection);
            return Err(error.with_remedy("to allow it, change `policy.deny` in rep.yaml").into());
        }
        let audit = AuditLog::for_runs(self.paths.data_folder()?);
        let recorded = audit.record_install(
            &install.skill,
            &install.packages,
            &install.installer_hosts(),
            &self.options.user,
            current_time(),
        );
        recorded.map_err(CallError::from)?;
        let environment = environment::install_environment(&install.prepared, cancel, rep_sandbox::run_confined)?;
        Ok(environment.folder.display().to_string())
    }

    /// Returns the caller's environment, with workspace directories removed from the search path.
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

/// Collects the packages that tools declare, by runtime.
fn collect_packages(tools: &[Value], only: Option<usize>) -> Vec<(ToolRuntime, Vec<String>)> {
    let indexes = only.map_or_else(|| (0..tools.len()).collect(), |tool| vec![tool]);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for tool in indexes.into_iter().map(|index| &tools[index]) {
        let runtime = match tool.pointer("/implementation/runtime").and_then(Value::as_str) {
            Some("python") => ToolRuntime::Python,
            Some("node") => ToolRuntime::Node,
            _ => continue,
        };
        let packages = declarations::parse_dependencies(tool, runtime);
        if !packages.is_empty() && seen.insert((runtime.name(), packages.clone())) {
            found.push((runtime, packages));
        }
    }
    found
}
