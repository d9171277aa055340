//! The line between the runtime and the first process of a sandbox. Its end is the end of the sandbox.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

use super::staging::Digest;

/// The most descriptors in one message; one per stage and one more, and one per declared port.
const DESCRIPTORS_MAX: usize = 200;

/// The longest message.
const MESSAGE_BYTES_MAX: usize = 16 << 10;

/// What the first process of a sandbox tells the runtime.
#[derive(Debug)]
pub(super) enum Message {
    /// It could not even become itself: the step, and the number of the error.
    Early(u8, i32),
    /// Something of the kernel is missing. Nothing ran.
    Unavailable { feature: String, remedy: String },
    /// Files cannot be shown to another user here. Nothing ran; the caller's own user may do.
    Unmappable(String),
    /// The program could not be started. Nothing ran.
    Unstartable(String),
    /// Open files: the folders to judge after the run and what was copied into them, or the listener of a filter.
    Descriptors(Vec<OwnedFd>),
    /// The sockets of the network gateway.
    Sockets(Vec<OwnedFd>),
    /// What holds the program: a layer and its state.
    Layer(String, String),
    /// The program runs.
    Started,
    /// It tried what it may not.
    Denied { action: String, target: String },
    /// It uses more memory than it may, and was ended.
    Memory,
    /// It ended, with this status of `wait`.
    Ended(i32),
}

/// Why a sandbox could not be made.
pub(super) enum Trouble {
    Unavailable { feature: String, remedy: String },
    Unmappable(String),
    Unstartable(String),
}

impl Trouble {
    pub(super) fn missing(feature: impl Into<String>, remedy: impl Into<String>) -> Trouble {
        Trouble::Unavailable { feature: feature.into(), remedy: remedy.into() }
    }

    pub(super) fn into_message(self) -> Message {
        match self {
            Trouble::Unavailable { feature, remedy } => Message::Unavailable { feature, remedy },
            Trouble::Unmappable(reason) => Message::Unmappable(reason),
            Trouble::Unstartable(reason) => Message::Unstartable(reason),
        }
    }
}

/// Sends a message. A failure means that the other side is gone.
pub(super) fn send(socket: impl AsFd, message: &Message) -> io::Result<()> {
    let (kind, parts, descriptors): (u8, Vec<&str>, &[OwnedFd]) = match message {
        Message::Early(..) | Message::Sockets(_) => return Err(io::ErrorKind::InvalidInput.into()),
        Message::Unavailable { feature, remedy } => (b'U', vec![feature, remedy], &[]),
        Message::Unmappable(reason) => (b'R', vec![reason], &[]),
        Message::Unstartable(reason) => (b'P', vec![reason], &[]),
        Message::Descriptors(descriptors) => (b'S', vec![], descriptors),
        Message::Layer(name, state) => (b'L', vec![name, state], &[]),
        Message::Started => (b'G', vec![], &[]),
        Message::Denied { action, target } => (b'D', vec![action, target], &[]),
        Message::Memory => (b'M', vec![], &[]),
        Message::Ended(status) => {
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

/// Sends the sockets of the network gateway: a message of its own, because its sender keeps them.
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

/// The next message; `None` where the other side is gone or makes no sense.
pub(super) fn receive(socket: impl AsFd) -> Option<Message> {
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
    parse(bytes.get(..length)?, descriptors)
}

fn parse(bytes: &[u8], descriptors: Vec<OwnedFd>) -> Option<Message> {
    let (kind, rest) = bytes.split_first()?;
    let text = String::from_utf8_lossy(rest).into_owned();
    let (first, second) = text.split_once('\0').unwrap_or((&text, ""));
    let (first, second) = (first.to_owned(), second.to_owned());
    Some(match kind {
        b'B' => {
            let [step, low, high] = *rest else { return None };
            Message::Early(step, i32::from(u16::from_le_bytes([low, high])))
        }
        b'U' => Message::Unavailable { feature: first, remedy: second },
        b'R' => Message::Unmappable(first),
        b'P' => Message::Unstartable(first),
        b'S' => Message::Descriptors(descriptors),
        b'N' => Message::Sockets(descriptors),
        b'L' => Message::Layer(first, second),
        b'G' => Message::Started,
        b'D' => Message::Denied { action: first, target: second },
        b'M' => Message::Memory,
        b'X' => Message::Ended(i32::from_le_bytes(rest.try_into().ok()?)),
        _ => return None,
    })
}

/// What was copied, one after the other, as a file that can be handed over: there may be more than fits a message.
pub(super) fn noted(copied: &[Option<Digest>]) -> io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create("copied", rustix::fs::MemfdFlags::CLOEXEC)?);
    for one in copied {
        file.write_all(&[u8::from(one.is_some())])?;
        file.write_all(&one.unwrap_or_default())?;
    }
    file.rewind()?;
    Ok(file.into())
}

/// Reads what was copied.
pub(super) fn copied(noted: OwnedFd) -> io::Result<Vec<Option<Digest>>> {
    let mut bytes = Vec::new();
    File::from(noted).read_to_end(&mut bytes)?;
    let one = |bytes: &[u8]| -> Option<Digest> {
        let (flag, digest) = bytes.split_first()?;
        (*flag == 1).then(|| digest.try_into().ok())?
    };
    Ok(bytes.chunks(33).map(one).collect())
}
