//! What the first process of a sandbox is told to do, as bytes: paths and secrets need not be text.

use std::ffi::OsStr;
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rep_permissions::Limits;

/// Whose processes run the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// The caller's own user, seen as 1000 in a user namespace.
    Own,
    /// Started by root: a user who owns nothing, and to whom granted files are shown as his.
    Mapped,
}

/// One piece of the view, in the order of mounting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A folder with all that is in it.
    Folder { source: PathBuf, target: PathBuf, is_writable: bool, may_run: bool },
    /// One file, for reading.
    File { source: PathBuf, target: PathBuf, may_run: bool },
    /// A symbolic link.
    Link { target: PathBuf, to: PathBuf },
    /// A file that is not on disk.
    Text { target: PathBuf, bytes: Vec<u8> },
    /// An empty folder nobody writes to.
    Empty { target: PathBuf },
    /// Covers a folder that would be seen otherwise: empty but for what is put into it, and nobody writes to it.
    Cover { target: PathBuf },
    /// A folder whose content is judged after the run, with room for this much.
    Stage { target: PathBuf, bytes_max: u64 },
    /// A copy of a file, inside of a stage.
    Copy { source: PathBuf, target: PathBuf },
}

/// All the first process needs to know.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) identity: Identity,
    pub(super) steps: Vec<Step>,
    pub(super) temporary: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) program: PathBuf,
    pub(super) argv: Vec<Vec<u8>>,
    pub(super) env: Vec<Vec<u8>>,
    pub(super) allow_subprocess: bool,
    /// Whether the tool is given a channel to the runtime.
    pub(super) has_channel: bool,
    /// Where the network gateway listens; empty where there is no network.
    pub(super) ports: Vec<u16>,
    /// Addresses the gateway stands in for.
    pub(super) literals: Vec<IpAddr>,
    /// What a Landlock rule allows to be executed: folders, or single files.
    pub(super) runnable: Vec<PathBuf>,
    /// What may be read, besides what every tool may read.
    pub(super) readable: Vec<PathBuf>,
    /// What may be written.
    pub(super) writable: Vec<PathBuf>,
    pub(super) limits: Limits,
    /// Layers that are left out, to show that their tests can fail.
    pub(super) without: Vec<String>,
}

impl Order {
    pub(super) fn has(&self, layer: &str) -> bool {
        !self.without.iter().any(|name| name == layer)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Out(Vec::new());
        out.number(u64::from(self.identity == Identity::Mapped));
        out.number(self.steps.len() as u64);
        for step in &self.steps {
            out.step(step);
        }
        out.path(&self.temporary);
        out.path(&self.folder);
        out.path(&self.program);
        out.list(self.argv.iter().map(Vec::as_slice));
        out.list(self.env.iter().map(Vec::as_slice));
        out.number(u64::from(self.allow_subprocess));
        out.number(u64::from(self.has_channel));
        out.number(self.ports.len() as u64);
        for port in &self.ports {
            out.number(u64::from(*port));
        }
        let literals: Vec<String> = self.literals.iter().map(IpAddr::to_string).collect();
        out.list(literals.iter().map(String::as_bytes));
        for paths in [&self.runnable, &self.readable, &self.writable] {
            out.list(paths.iter().map(|path| path.as_os_str().as_bytes()));
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
            out.number(limit);
        }
        out.list(self.without.iter().map(String::as_bytes));
        out.0
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Order> {
        let mut from = From(bytes);
        let identity = if from.number()? == 1 { Identity::Mapped } else { Identity::Own };
        let steps = (0..from.number()?).map(|_| from.step()).collect::<Option<Vec<_>>>()?;
        Some(Order {
            identity,
            steps,
            temporary: from.path()?,
            folder: from.path()?,
            program: from.path()?,
            argv: from.list()?,
            env: from.list()?,
            allow_subprocess: from.number()? == 1,
            has_channel: from.number()? == 1,
            ports: (0..from.number()?)
                .map(|_| from.number().and_then(|port| u16::try_from(port).ok()))
                .collect::<Option<Vec<_>>>()?,
            literals: from
                .list()?
                .into_iter()
                .map(|text| String::from_utf8(text).ok()?.parse().ok())
                .collect::<Option<Vec<_>>>()?,
            runnable: from.paths()?,
            readable: from.paths()?,
            writable: from.paths()?,
            limits: Limits {
                timeout_ms: from.number()?,
                grace_ms: from.number()?,
                cpu_s: from.number()?,
                memory_bytes: from.number()?,
                processes: from.number()?,
                open_files: from.number()?,
                file_bytes: from.number()?,
                temporary_bytes: from.number()?,
                output_bytes: from.number()?,
            },
            without: from.list()?.into_iter().map(String::from_utf8).collect::<Result<_, _>>().ok()?,
        })
    }
}

struct Out(Vec<u8>);

impl Out {
    fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn path(&mut self, path: &Path) {
        self.bytes(path.as_os_str().as_bytes());
    }

    fn list<'a>(&mut self, items: impl ExactSizeIterator<Item = &'a [u8]>) {
        self.number(items.len() as u64);
        for item in items {
            self.bytes(item);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Folder { source, target, is_writable, may_run } => {
                self.number(0);
                self.path(source);
                self.path(target);
                self.number(u64::from(*is_writable));
                self.number(u64::from(*may_run));
            }
            Step::File { source, target, may_run } => {
                self.number(1);
                self.path(source);
                self.path(target);
                self.number(u64::from(*may_run));
            }
            Step::Link { target, to } => {
                self.number(2);
                self.path(target);
                self.path(to);
            }
            Step::Text { target, bytes } => {
                self.number(3);
                self.path(target);
                self.bytes(bytes);
            }
            Step::Empty { target } => {
                self.number(4);
                self.path(target);
            }
            Step::Stage { target, bytes_max } => {
                self.number(5);
                self.path(target);
                self.number(*bytes_max);
            }
            Step::Copy { source, target } => {
                self.number(6);
                self.path(source);
                self.path(target);
            }
            Step::Cover { target } => {
                self.number(7);
                self.path(target);
            }
        }
    }
}

struct From<'a>(&'a [u8]);

impl From<'_> {
    fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.number()?).ok()?;
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first.to_vec())
    }

    fn path(&mut self) -> Option<PathBuf> {
        self.bytes().map(|bytes| PathBuf::from(OsStr::from_bytes(&bytes)))
    }

    fn list(&mut self) -> Option<Vec<Vec<u8>>> {
        (0..self.number()?).map(|_| self.bytes()).collect()
    }

    fn paths(&mut self) -> Option<Vec<PathBuf>> {
        (0..self.number()?).map(|_| self.path()).collect()
    }

    fn step(&mut self) -> Option<Step> {
        Some(match self.number()? {
            0 => Step::Folder {
                source: self.path()?,
                target: self.path()?,
                is_writable: self.number()? == 1,
                may_run: self.number()? == 1,
            },
            1 => Step::File { source: self.path()?, target: self.path()?, may_run: self.number()? == 1 },
            2 => Step::Link { target: self.path()?, to: self.path()? },
            3 => Step::Text { target: self.path()?, bytes: self.bytes()? },
            4 => Step::Empty { target: self.path()? },
            5 => Step::Stage { target: self.path()?, bytes_max: self.number()? },
            6 => Step::Copy { source: self.path()?, target: self.path()? },
            7 => Step::Cover { target: self.path()? },
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
        let order = Order {
            identity: Identity::Mapped,
            steps: vec![
                Step::Folder { source: odd.clone(), target: odd.clone(), is_writable: true, may_run: false },
                Step::File { source: odd.clone(), target: odd.clone(), may_run: true },
                Step::Link { target: odd.clone(), to: odd.clone() },
                Step::Text { target: odd.clone(), bytes: vec![0, 1] },
                Step::Empty { target: odd.clone() },
                Step::Stage { target: odd.clone(), bytes_max: 7 },
                Step::Copy { source: odd.clone(), target: odd.clone() },
                Step::Cover { target: odd.clone() },
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
            limits: Limits::default(),
            without: vec!["x".into()],
        };
        let bytes = order.to_bytes();
        let read = Order::from_bytes(&bytes).unwrap();
        assert_eq!(format!("{read:?}"), format!("{order:?}"));
        for end in 0..bytes.len() {
            assert!(Order::from_bytes(&bytes[..end]).is_none(), "cut at {end}");
        }
    }
}
