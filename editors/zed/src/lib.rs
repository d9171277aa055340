//! Starts `rep lsp` in Zed: the binary of the settings, or else the one in the `PATH`. Downloads nothing.

use zed_extension_api as zed;
use zed_extension_api::settings::LspSettings;

/// The id in `extension.toml` and in the settings.
const SERVER: &str = "repertoire";

struct RepertoireExtension;

impl zed::Extension for RepertoireExtension {
    fn new() -> Self {
        Self
    }

    fn language_server_command(
        &mut self,
        _server: &zed::LanguageServerId,
        worktree: &zed::Worktree,
    ) -> zed::Result<zed::Command> {
        let chosen = LspSettings::for_worktree(SERVER, worktree).ok().and_then(|settings| settings.binary?.path);
        let command = chosen
            .or_else(|| worktree.which("rep"))
            .ok_or("`rep` is not in the PATH; install it, or set `lsp.repertoire.binary.path`")?;
        Ok(zed::Command { command, args: vec!["lsp".to_owned()], env: Vec::new() })
    }

    fn language_server_workspace_configuration(
        &mut self,
        _server: &zed::LanguageServerId,
        worktree: &zed::Worktree,
    ) -> zed::Result<Option<zed::serde_json::Value>> {
        let settings = LspSettings::for_worktree(SERVER, worktree).ok().and_then(|settings| settings.settings);
        Ok(Some(zed::serde_json::json!({ SERVER: settings })))
    }
}

zed::register_extension!(RepertoireExtension);
