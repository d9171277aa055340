//! Reads the first bytes of a TLS connection, with any content and any split into packets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_permissions::canonicalise_host_name;
use rep_sandbox::gateway::fuzzing::read_hello;

fuzz_target!(|bytes: &[u8]| {
    let (state, name) = read_hello(bytes);
    if let Some(name) = &name {
        assert_eq!(canonicalise_host_name(name).as_deref(), Some(name.as_str()), "a name is in its canonical form");
        let lower = bytes.to_ascii_lowercase();
        let is_spelled_out = lower.windows(name.len()).any(|window| window == name.as_bytes());
        assert!(is_spelled_out || name.contains(':') || name.parse::<std::net::IpAddr>().is_ok(), "{name:?}");
    }
    // The verdict does not depend on the size of the packets: with fewer bytes it is the same, or still pending.
    for end in (0..bytes.len()).rev().take(600) {
        let before = read_hello(&bytes[..end]);
        assert!(before.0 == "unfinished" || before == (state, name.clone()), "{before:?} at {end}, then {state}");
    }
});
