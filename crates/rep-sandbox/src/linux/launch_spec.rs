//! The instructions for the init process, encoded as bytes because paths and secrets may not be valid UTF-8.

use std::ffi::OsStr;
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rep_permissions::RunLimits;

/// The user that runs the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolIdentity {
    /// The caller's user, mapped to 1000 in a user namespace.
    Own,
    /// Used when started by root: an unprivileged user that granted files are mapped to.
    Mapped,
}

/// A step in building the view, in mount order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MountStep {
    /// A directory with its content.
    Folder { source: PathBuf, target: PathBuf, is_writable: bool, may_run: bool },
    /// A read-only file.
    File { source: PathBuf, target: PathBuf, may_run: bool },
    /// A symbolic link.
    Link { target: PathBuf, to: PathBuf },
    /// A file that does not exist on disk.
    Text { target: PathBuf, bytes: Vec<u8> },
    /// An empty read-only directory.
    Empty { target: PathBuf },
    /// A read-only directory that hides another one. It contains only what is mounted into it.
    Cover { target: PathBuf },
    /// A directory whose content is checked after the run, with a size limit.
    Stage { target: PathBuf, bytes_max: u64 },
    /// A copy of a file inside a stage.
    Copy { source: PathBuf, target: PathBuf },
}

impl MountStep {
    /// Returns the path where the step takes effect.
    pub(super) fn target(&self) -> &Path {
        match self {
            MountStep::Folder { target, .. }
            | MountStep::File { target, .. }
            | MountStep::Link { target, .. }
            | MountStep::Text { target, .. }
            | MountStep::Empty { target }
            | MountStep::Cover { target }
            | MountStep::Stage { target, .. }
            | MountStep::Copy { target, .. } => target,
        }
    }
}

/// The instructions for the init process.
#[derive(Clone, Debug)]
pub(super) struct LaunchSpec {
    pub(super) identity: ToolIdentity,
    pub(super) steps: Vec<MountStep>,
    pub(super) temporary: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) program: PathBuf,
    pub(super) argv: Vec<Vec<u8>>,
    pub(super) env: Vec<Vec<u8>>,
    pub(super) allow_subprocess: bool,
    /// Whether the tool gets a channel to the runtime.
    pub(super) has_channel: bool,
    /// The listening ports of the network gateway; empty without network access.
    pub(super) ports: Vec<u16>,
    /// The literal addresses that the gateway listens on.
    pub(super) literals: Vec<IpAddr>,
    /// The directories and files that Landlock allows to execute.
    pub(super) runnable: Vec<PathBuf>,
    /// Additional readable paths.
    pub(super) readable: Vec<PathBuf>,
    /// The writable paths.
    pub(super) writable: Vec<PathBuf>,
    pub(super) limits: RunLimits,
    /// Disabled layers, to show that their tests can fail.
    pub(super) disabled_layers: Vec<String>,
}

impl LaunchSpec {
    pub(super) fn has_layer(&self, layer: &str) -> bool {
        !self.disabled_layers.iter().any(|name| name == layer)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = SpecEncoder(Vec::new());
        out.write_number(u64::from(self.identity == ToolIdentity::Mapped));
        out.write_number(self.steps.len() as u64);
        for step in &self.steps {
            out.write_step(step);
        }
        out.write_path(&self.temporary);
        out.write_path(&self.folder);
        out.write_path(&self.program);
        out.write_list(self.argv.iter().map(Vec::as_slice));
        out.write_list(self.env.iter().map(Vec::as_slice));
        out.write_number(u64::from(self.allow_subprocess));
        out.write_number(u64::from(self.has_channel));
        out.write_number(self.ports.len() as u64);
        for port in &self.ports {
            out.write_number(u64::from(*port));
        }
        let literals: Vec<String> = self.literals.iter().map(IpAddr::to_string).collect();
        out.write_list(literals.iter().map(String::as_bytes));
        for paths in [&self.runnable, &self.readable, &self.writable] {
            out.write_list(paths.iter().map(|path| path.as_os_str().as_bytes()));
        }
        let limits = &self.limits;
        for limit in [
            limits.timeout_ms,
            limits.grace_ms,
            limits.cpu_s,
            limits.memory_bytes,
            limits.processes,
            limits.open_files,
            limits.file_bytes,
            limits.temporary_bytes,
            limits.output_bytes,
        ] {
            out.write_number(limit);
        }
        out.write_list(self.disabled_layers.iter().map(String::as_bytes));
        out.0
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<LaunchSpec> {
        let mut from = SpecDecoder(bytes);
        let identity = if from.read_number()? == 1 { ToolIdentity::Mapped } else { ToolIdentity::Own };
        let steps = (0..from.read_number()?).map(|_| from.read_step()).collect::<Option<Vec<_>>>()?;
        Some(LaunchSpec {
            identity,
            steps,
            temporary: from.read_path()?,
            folder: from.read_path()?,
            program: from.read_path()?,
            argv: from.read_list()?,
            env: from.read_list()?,
            allow_subprocess: from.read_number()? == 1,
            has_channel: from.read_number()? == 1,
            ports: (0..from.read_number()?)
                .map(|_| from.read_number().and_then(|port| u16::try_from(port).ok()))
                .collect::<Option<Vec<_>>>()?,
            literals: from
                .read_list()?
                .into_iter()
                .map(|text| String::from_utf8(text).ok()?.parse().ok())
                .collect::<Option<Vec<_>>>()?,
            runnable: from.read_paths()?,
            readable: from.read_paths()?,
            writable: from.read_paths()?,
            limits: RunLimits {
                timeout_ms: from.read_number()?,
                grace_ms: from.read_number()?,
                cpu_s: from.read_number()?,
                memory_bytes: from.read_number()?,
                processes: from.read_number()?,
                open_files: from.read_number()?,
                file_bytes: from.read_number()?,
                temporary_bytes: from.read_number()?,
                output_bytes: from.read_number()?,
            },
            disabled_layers: from.read_list()?.into_iter().map(String::from_utf8).collect::<Result<_, _>>().ok()?,
        })
    }
}

struct SpecEncoder(Vec<u8>);

impl SpecEncoder {
    fn write_number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn write_bytes(&mut self, bytes: &[u8]) {
        self.write_number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn write_path(&mut self, path: &Path) {
        self.write_bytes(path.as_os_str().as_bytes());
    }

    fn write_list<'a>(&mut self, items: impl ExactSizeIterator<Item = &'a [u8]>) {
        self.write_number(items.len() as u64);
        for item in items {
            self.write_bytes(item);
        }
    }

    fn write_step(&mut self, step: &MountStep) {
        match step {
            MountStep::Folder { source, target, is_writable, may_run } => {
                self.write_number(0);
                self.write_path(source);
                self.write_path(target);
                self.write_number(u64::from(*is_writable));
                self.write_number(u64::from(*may_run));
            }
            MountStep::File { source, target, may_run } => {
                self.write_number(1);
                self.write_path(source);
                self.write_path(target);
                self.write_number(u64::from(*may_run));
            }
            MountStep::Link { target, to } => {
                self.write_number(2);
                self.write_path(target);
                self.write_path(to);
            }
            MountStep::Text { target, bytes } => {
                self.write_number(3);
                self.write_path(target);
                self.write_bytes(bytes);
            }
            MountStep::Empty { target } => {
                self.write_number(4);
                self.write_path(target);
            }
            MountStep::Stage { target, bytes_max } => {
                self.write_number(5);
                self.write_path(target);
                self.write_number(*bytes_max);
            }
            MountStep::Copy { source, target } => {
                self.write_number(6);
                self.write_path(source);
                self.write_path(target);
            }
            MountStep::Cover { target } => {
                self.write_number(7);
                self.write_path(target);
            }
        }
    }
}

struct SpecDecoder<'a>(&'a [u8]);

impl SpecDecoder<'_> {
    fn read_number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    fn read_bytes(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.read_number()?).ok()?;
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first.to_vec())
    }

    fn read_path(&mut self) -> Option<PathBuf> {
        self.read_bytes().map(|bytes| PathBuf::from(OsStr::from_bytes(&bytes)))
    }

    fn read_list(&mut self) -> Option<Vec<Vec<u8>>> {
        (0..self.read_number()?).map(|_| self.read_bytes()).collect()
    }

    fn read_paths(&mut self) -> Option<Vec<PathBuf>> {
        (0..self.read_number()?).map(|_| self.read_path()).collect()
    }

    fn read_step(&mut self) -> Option<MountStep> {
        Some(match self.read_number()? {
            0 => MountStep::Folder {
                source: self.read_path()?,
                target: self.read_path()?,
                is_writable: self.read_number()? == 1,
                may_run: self.read_number()? == 1,
            },
            1 => MountStep::File {
                source: self.read_path()?,
                target: self.read_path()?,
                may_run: self.read_number()? == 1,
            },
            2 => MountStep::Link { target: self.read_path()?, to: self.read_path()? },
            3 => MountStep::Text { target: self.read_path()?, bytes: self.read_bytes()? },
            4 => MountStep::Empty { target: self.read_path()? },
            5 => MountStep::Stage { target: self.read_path()?, bytes_max: self.read_number()? },
            6 => MountStep::Copy { source: self.read_path()?, target: self.read_path()? },
            7 => MountStep::Cover { target: self.read_path()? },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_survives_its_way_with_names_that_are_not_text() {
        let odd = PathBuf::from(OsStr::from_bytes(b"/ws/\xff\xfe"));
        let order = LaunchSpec {
            identity: ToolIdentity::Mapped,
            steps: vec![
                MountStep::Folder { source: odd.clone(), target: odd.clone(), is_writable: true, may_run: false },
                MountStep::File { source: odd.clone(), target: odd.clone(), may_run: true },
                MountStep::Link { target: odd.clone(), to: odd.clone() },
                MountStep::Text { target: odd.clone(), bytes: vec![0, 1] },
                MountStep::Empty { target: odd.clone() },
                MountStep::Stage { target: odd.clone(), bytes_max: 7 },
                MountStep::Copy { source: odd.clone(), target: odd.clone() },
                MountStep::Cover { target: odd.clone() },
            ],
            temporary: odd.clone(),
            folder: odd.clone(),
            program: odd.clone(),
            argv: vec![b"a".to_vec(), vec![]],
            env: vec![b"A=\xff".to_vec()],
            allow_subprocess: true,
            has_channel: true,
            ports: vec![443],
            literals: vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()],
            runnable: vec![odd.clone()],
            readable: vec![],
            writable: vec![odd],
            limits: RunLimits::default(),
            disabled_layers: vec!["x".into()],
        };
        let bytes = order.to_bytes();
        let read = LaunchSpec::from_bytes(&bytes).unwrap();
        assert_eq!(format!("{read:?}"), format!("{order:?}"));
        for end in 0..bytes.len() {
            assert!(LaunchSpec::from_bytes(&bytes[..end]).is_none(), "cut at {end}");
        }
    }
}
