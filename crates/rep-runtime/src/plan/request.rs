//! What a request needs: the hosts its skill declares, or the one it names.

use crate::error::ErrorCode;
use crate::request::{Origin, Request, Source};
use rep_model::uasp::Command;

use super::command::{CommandCall, CommandError};
use super::{HostRule, Plan, Risk, SecretNeed, Work};
use crate::grant::Refusal;

impl Plan {
    /// Works out what a request needs. Where its skill says nothing about hosts, the one it names is what is asked for; consent to
    /// reach it is wanted in any case.
    pub(super) fn of_request(call: &CommandCall<'_>, command: &Command) -> Result<Plan, CommandError> {
        let CommandCall { document, arguments, variable, .. } = call;
        let request = Request::bind(Source { document, command, arguments, variable })?;
        let own = host(&request.origin)?;
        let mut plan = call.declared(command.path.to_string(), Work::Request(Box::new(request.clone())));
        let declared =
            call.section("permissions").and_then(|root| root.get("permissions")?.get("network")?.get("outbound"));
        if declared.is_none() {
            plan.permissions.outbound = vec![own];
        }
        plan.confirm.insert(Risk::ExternalNetwork);
        let need = |(name, is_optional): (String, bool)| SecretNeed { name, is_optional };
        plan.secrets = request.secrets.into_iter().map(need).collect();
        if let Some(seconds) = request.timeout_seconds {
            plan.limits = plan.limits.with_timeout(seconds);
        }
        Ok(plan)
    }

    /// Why a request may not be sent, whoever agrees to it: its server is not among the hosts its skill declares.
    pub(crate) fn unreachable(&self) -> Option<Refusal> {
        let Work::Request(request) = &self.work else { return None };
        let origin = &request.origin;
        if self.permissions.outbound.iter().any(|rule| rule.fits(&origin.host, origin.port)) {
            return None;
        }
        let declared = match self.permissions.outbound.as_slice() {
            [] => "no host".to_owned(),
            rules => rules.iter().map(|rule| format!("`{rule}`")).collect::<Vec<_>>().join(", "),
        };
        let rule = HostRule { host: origin.host.clone(), port: Some(origin.port) };
        Some(Refusal {
            code: ErrorCode::PermissionDenied,
            message: format!("`{}` declares {} and may not reach `{origin}`", self.skill, declared),
            remedy: format!("its author can declare it: network.outbound: \"{rule}\""),
        })
    }
}

/// The host of a request, as a declaration.
fn host(origin: &Origin) -> Result<HostRule, CommandError> {
    let bare = HostRule { host: origin.host.clone(), port: Some(origin.port) };
    HostRule::parse(&bare.to_string()).map_err(|bad| {
        let message = format!("`{origin}` cannot be reached: {bad}");
        CommandError::new(ErrorCode::InvalidCommand, message, "name a host or its address in the usual form")
    })
}
