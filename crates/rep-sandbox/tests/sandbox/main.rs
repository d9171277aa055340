//! What the sandbox really stops: real kernel, real programs, as root and as an ordinary user.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::disallowed_methods, reason = "the tests make workspaces and start programs")]
#![expect(clippy::unwrap_used, reason = "a scene that cannot be made is a failed test")]
#![expect(clippy::needless_pass_by_value, reason = "jobs are written in place")]

mod covers;
mod denials;
mod guarded;
mod hostile;
mod led;
mod limits;
mod network;
mod own;
mod probes;
mod programs;
mod refusals;
mod scene;
mod writes;
