//! What the sandbox really stops: real kernel, real programs, as root and as an ordinary user.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the tests make workspaces and start programs")]

mod hostile;
mod limits;
mod probes;
mod programs;
mod refusals;
mod scene;
mod writes;
