//! Selects the runner of TypeScript: a program name, never a shell command.

/// Known runners that are not supported, with the reason.
const UNSUPPORTED_RUNNERS: &[(&str, &str)] = &[
    ("tsx", "it starts a separate compiler process, which a sandboxed tool may not do"),
    ("deno", "it is not supported in the sandbox"),
    ("bun", "it is not supported in the sandbox"),
];

/// Returns the arguments that this node needs to run TypeScript, or why it cannot. `runner` is the value of
/// the host override: `true`, or a name.
pub(crate) fn resolve_node_arguments(runner: &str, version: &str) -> Result<&'static [&'static str], String> {
    const REMEDY: &str = "compile the entrypoint to `.js`, or use `node`";
    if !matches!(runner, "true" | "node") {
        let known = UNSUPPORTED_RUNNERS.iter().find(|(name, _)| *name == runner);
        let reason = known.map_or("it is not a known runner", |(_, reason)| reason);
        return Err(format!("`typescript_runner` is `{runner}`: {reason}; {REMEDY}"));
    }
    let mut parts = version.trim_start_matches('v').split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    match (major, minor) {
        (22, 6..=17) | (23, 0..=5) => Ok(&["--experimental-strip-types"]),
        (22, 18..) | (23.., _) => Ok(&[]),
        _ => Err(format!("node strips types since 22.6, but this is {version}; compile the entrypoint to `.js`")),
    }
}

#[cfg(test)]
mod tests {
    use super::resolve_node_arguments;

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
                assert_eq!(resolve_node_arguments(runner, version).ok().map(<[_]>::len), expected, "{version}");
            }
        }
    }

    #[test]
    fn a_runner_is_a_known_name_and_never_a_line_for_a_shell() {
        for runner in ["tsx", "deno", "bun", "node --eval 1", "sh -c 'node'", "/bin/node", "", "Node"] {
            let refused = resolve_node_arguments(runner, "v24.1.0").expect_err(runner);
            assert!(refused.contains(&format!("`{runner}`")), "{refused}");
        }
    }
}
