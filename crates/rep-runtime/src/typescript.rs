//! What runs TypeScript: a program by its name, never a line for a shell.

/// The runners that are known and are not used, with the reason.
const UNUSED: &[(&str, &str)] = &[
    ("tsx", "it starts a compiler beside itself, which a sandboxed tool may not"),
    ("deno", "calling handlers with it was never proven in the sandbox"),
    ("bun", "calling handlers with it was never proven in the sandbox"),
];

/// The words this node needs to run TypeScript, or why it cannot. `runner` is what the host override says: `true`, or a name.
pub(crate) fn words(runner: &str, version: &str) -> Result<&'static [&'static str], String> {
    const REMEDY: &str = "compile the entrypoint to `.js`, or use `node`";
    if !matches!(runner, "true" | "node") {
        let known = UNUSED.iter().find(|(name, _)| *name == runner);
        let reason = known.map_or("it is no runner this program knows", |(_, reason)| reason);
        return Err(format!("the `typescript_runner` is `{runner}`, and {reason}; {REMEDY}"));
    }
    let mut parts = version.trim_start_matches('v').split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    match (major, minor) {
        (22, 6..=17) | (23, 0..=5) => Ok(&["--experimental-strip-types"]),
        (22, 18..) | (23.., _) => Ok(&[]),
        _ => Err(format!("node strips types from 22.6 on, and this one is {version}; compile the entrypoint to `.js`")),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn node_is_asked_for_types_only_where_it_does_not_strip_them_by_itself() {
        for (version, expected) in [
            ("v20.20.2", None),
            ("v22.5.1", None),
            ("v22.6.0", Some(1)),
            ("v22.17.9", Some(1)),
            ("v22.18.0", Some(0)),
            ("v23.5.0", Some(1)),
            ("v23.6.0", Some(0)),
            ("v24.1.0", Some(0)),
            ("", None),
        ] {
            for runner in ["true", "node"] {
                assert_eq!(words(runner, version).ok().map(<[_]>::len), expected, "{version}");
            }
        }
    }

    #[test]
    fn a_runner_is_a_known_name_and_never_a_line_for_a_shell() {
        for runner in ["tsx", "deno", "bun", "node --eval 1", "sh -c 'node'", "/bin/node", "", "Node"] {
            let refused = words(runner, "v24.1.0").expect_err(runner);
            assert!(refused.contains(&format!("`{runner}`")), "{refused}");
        }
    }
}
