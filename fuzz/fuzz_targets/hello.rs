//! The first bytes of a TLS connection are read, whatever they are and however they arrive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_permissions::canonical;
use rep_sandbox::gateway::fuzzing::read_hello;

fuzz_target!(|bytes: &[u8]| {
    let (state, name) = read_hello(bytes);
    if let Some(name) = &name {
        assert_eq!(canonical(name).as_deref(), Some(name.as_str()), "a name is in its canonical form");
        let lower = bytes.to_ascii_lowercase();
        let is_spelled_out = lower.windows(name.len()).any(|window| window == name.as_bytes());
        assert!(is_spelled_out || name.contains(':') || name.parse::<std::net::IpAddr>().is_ok(), "{name:?}");
    }
    // A verdict does not depend on the size of the packets: with fewer bytes it is the same, or there is none yet.
    for end in (0..bytes.len()).rev().take(600) {
        let before = read_hello(&bytes[..end]);
        assert!(before.0 == "unfinished" || before == (state, name.clone()), "{before:?} at {end}, then {state}");
    }
});
