//! The gateway against the real kernel, with real clients in a real namespace. Nothing here needs the internet: names
//! are resolved by the tests, to servers of the tests.
#![expect(clippy::disallowed_methods, reason = "tests of the room that starts processes start processes")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bounds;
mod declared;
mod inside;
mod literals;
mod refused;
mod servers;
