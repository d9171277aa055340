//! For tests only: reads rule pages, makes scratch folders and whole libraries, drives the binary, serves HTTP.
//!
//! Deals in plain paths and strings and depends on no crate of ours, so that every crate can
//! use it in its own tests.
#![expect(clippy::disallowed_methods, reason = "tests touch the disk and start the binary")]

mod aloud;
pub mod library;
mod page;
mod scratch;
mod server;
mod wait;

pub use aloud::{is_installed, left_out, not_run};
pub use page::{Example, File, Kind, Page};
pub use scratch::{Run, Scratch};
pub use server::{Answer, Asked, Server, answer};
pub use wait::{DEADLINE, poll, wait_for, wait_until, with_growing_timeout};
