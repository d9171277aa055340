//! The control socket between the runtime and the init process. When it closes, the sandbox ends.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

use super::observer::{AccessKind, DeniedAccess};
use super::staging::FileDigest;

/// The maximum number of descriptors in a message: one per stage and one more, and one per declared port.
const DESCRIPTORS_MAX: usize = 200;

/// The maximum message length.
const MESSAGE_BYTES_MAX: usize = 16 << 10;

/// A message from the init process to the runtime.
#[derive(Debug)]
pub(super) enum ControlMessage {
    /// The init process could not start: the failed step and the error number.
    LaunchFailed(u8, i32),
    /// A kernel feature is missing. Nothing ran.
    Unavailable { feature: String, remedy: String },
    /// Files cannot be mapped to another user here. Nothing ran; running as the caller's user may work.
    Unmappable(String),
    /// The program could not be started. Nothing ran.
    Unstartable(String),
    /// Open files: the stages with the list of copied files, or the notification descriptor of the seccomp filter.
    Descriptors(Vec<OwnedFd>),
    /// The sockets of the network gateway.
    Sockets(Vec<OwnedFd>),
    /// A layer that restricts the program, and its state.
    Layer(String, String),
    /// The program is running.
    Started,
    /// The view denies an access. Whether the path exists on the host is unknown here.
    DeniedAccess(DeniedAccess),
    /// An operation was denied.
    Denied { action: String, target: String },
    /// The program exceeded the memory limit and was killed.
    MemoryExceeded,
    /// The program ended with this `wait` status.
    Ended(i32),
}

/// Why a sandbox could not be set up.
pub(super) enum StartupError {
    Unavailable { feature: String, remedy: String },
    Unmappable(String),
    Unstartable(String),
}

impl StartupError {
    pub(super) fn unavailable(feature: impl Into<String>, remedy: impl Into<String>) -> StartupError {
        StartupError::Unavailable { feature: feature.into(), remedy: remedy.into() }
    }

    pub(super) fn into_message(self) -> ControlMessage {
        match self {
            StartupError::Unavailable { feature, remedy } => ControlMessage::Unavailable { feature, remedy },
            StartupError::Unmappable(reason) => ControlMessage::Unmappable(reason),
            StartupError::Unstartable(reason) => ControlMessage::Unstartable(reason),
        }
    }
}

/// Sends a message. An error means that the other side is gone.
pub(super) fn send_message(socket: impl AsFd, message: &ControlMessage) -> io::Result<()> {
    let (kind, parts, descriptors): (u8, Vec<&str>, &[OwnedFd]) = match message {
        ControlMessage::LaunchFailed(..) | ControlMessage::Sockets(_) => return Err(io::ErrorKind::InvalidInput.into()),
        ControlMessage::Unavailable { feature, remedy } => (b'U', vec![feature, remedy], &[]),
        ControlMessage::Unmappable(reason) => (b'R', vec![reason], &[]),
        ControlMessage::Unstartable(reason) => (b'P', vec![reason], &[]),
        ControlMessage::Descriptors(descriptors) => (b'S', vec![], descriptors),
        ControlMessage::Layer(name, state) => (b'L', vec![name, state], &[]),
        ControlMessage::Started => (b'G', vec![], &[]),
        ControlMessage::Denied { action, target } => (b'D', vec![action, target], &[]),
        ControlMessage::MemoryExceeded => (b'M', vec![], &[]),
        ControlMessage::DeniedAccess(access) => {
            let mut bytes = vec![b'A', access.kind.to_byte()];
            bytes.extend(access.path.as_os_str().as_bytes());
            return send_bytes(socket, &bytes, &[]);
        }
        ControlMessage::Ended(status) => {
            let mut bytes = vec![b'X'];
            bytes.extend(status.to_le_bytes());
            return send_bytes(socket, &bytes, &[]);
        }
    };
    let mut bytes = vec![kind];
    bytes.extend(parts.join("\0").as_bytes());
    bytes.truncate(MESSAGE_BYTES_MAX);
    send_bytes(socket, &bytes, &descriptors.iter().map(AsFd::as_fd).collect::<Vec<_>>())
}

/// Sends the sockets of the network gateway. This is a separate function because the sender keeps the sockets.
pub(super) fn send_sockets(socket: impl AsFd, sockets: &[BorrowedFd<'_>]) -> io::Result<()> {
    send_bytes(socket, b"N", sockets)
}

fn send_bytes(socket: impl AsFd, bytes: &[u8], borrowed: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !borrowed.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(borrowed)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives the next message. Returns `None` if the other side is gone or sent an invalid message.
pub(super) fn receive_message(socket: impl AsFd) -> Option<ControlMessage> {
    let mut bytes = vec![0; MESSAGE_BYTES_MAX];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(&mut bytes)];
    let received = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(&socket, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    });
    let length = received.ok()?.bytes;
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            descriptors.extend(fds);
        }
    }
    parse_message(bytes.get(..length)?, descriptors)
}

fn parse_message(bytes: &[u8], descriptors: Vec<OwnedFd>) -> Option<ControlMessage> {
    let (kind, rest) = bytes.split_first()?;
    let text = String::from_utf8_lossy(rest).into_owned();
    let (first, second) = text.split_once('\0').unwrap_or((&text, ""));
    let (first, second) = (first.to_owned(), second.to_owned());
    Some(match kind {
        b'B' => {
            let [step, low, high] = *rest else { return None };
            ControlMessage::LaunchFailed(step, i32::from(u16::from_le_bytes([low, high])))
        }
        b'U' => ControlMessage::Unavailable { feature: first, remedy: second },
        b'R' => ControlMessage::Unmappable(first),
        b'P' => ControlMessage::Unstartable(first),
        b'S' => ControlMessage::Descriptors(descriptors),
        b'N' => ControlMessage::Sockets(descriptors),
        b'L' => ControlMessage::Layer(first, second),
        b'G' => ControlMessage::Started,
        b'D' => ControlMessage::Denied { action: first, target: second },
        b'A' => {
            let (kind, path) = rest.split_first()?;
            let path = PathBuf::from(OsStr::from_bytes(path));
            ControlMessage::DeniedAccess(DeniedAccess { kind: AccessKind::from_byte(*kind)?, path })
        }
        b'M' => ControlMessage::MemoryExceeded,
        b'X' => ControlMessage::Ended(i32::from_le_bytes(rest.try_into().ok()?)),
        _ => return None,
    })
}

/// Writes the digests of copied files to a memory file that can be passed on. They may exceed the message limit.
pub(super) fn write_copy_digests(copied: &[Option<FileDigest>]) -> io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create("copied", rustix::fs::MemfdFlags::CLOEXEC)?);
    for one in copied {
        file.write_all(&[u8::from(one.is_some())])?;
        file.write_all(&one.unwrap_or_default())?;
    }
    file.rewind()?;
    Ok(file.into())
}

/// Reads the digests of copied files.
pub(super) fn read_copy_digests(noted: OwnedFd) -> io::Result<Vec<Option<FileDigest>>> {
    let mut bytes = Vec::new();
    File::from(noted).read_to_end(&mut bytes)?;
    let one = |bytes: &[u8]| -> Option<FileDigest> {
        let (flag, digest) = bytes.split_first()?;
        (*flag == 1).then(|| digest.try_into().ok())?
    };
    Ok(bytes.chunks(33).map(one).collect())
}
