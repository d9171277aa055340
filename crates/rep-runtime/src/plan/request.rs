//! Plans requests: the hosts that the skill declares, or the host of the request itself.

use crate::error::ErrorCode;
use crate::request::{BoundRequest, HttpOrigin, RequestInputs};
use rep_model::uasp::UaspCommand;

use super::command::{CommandError, CommandPlanInput};
use super::{HostRule, Plan, PlannedWork, Risk, SecretNeed};
use crate::grant::RunRefusal;

impl Plan {
    /// Plans a request. If its skill declares no hosts, the plan asks for the host of the request. Sending it
    /// needs confirmation in any case.
    pub(super) fn from_request(call: &CommandPlanInput<'_>, command: &UaspCommand) -> Result<Plan, CommandError> {
        let CommandPlanInput { document, arguments, variable, .. } = call;
        let request = BoundRequest::from_inputs(RequestInputs { document, command, arguments, variable })?;
        let own = origin_host_rule(&request.origin)?;
        let mut plan = call.build_plan(command.path.to_string(), PlannedWork::Request(Box::new(request.clone())));
        let declared = call
            .declarations()
            .find_section("permissions")
            .and_then(|root| root.get("permissions")?.get("network")?.get("outbound"));
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

    /// Returns the refusal if the server is not among the declared hosts. No confirmation can override it.
    pub(crate) fn refuse_unreachable_host(&self) -> Option<RunRefusal> {
        let PlannedWork::Request(request) = &self.work else { return None };
        let origin = &request.origin;
        if self.permissions.outbound.iter().any(|rule| rule.matches(&origin.host, origin.port)) {
            return None;
        }
        let declared = match self.permissions.outbound.as_slice() {
            [] => "no host".to_owned(),
            rules => rules.iter().map(|rule| format!("`{rule}`")).collect::<Vec<_>>().join(", "),
        };
        let rule = HostRule { host: origin.host.clone(), port: Some(origin.port) };
        Some(RunRefusal {
            code: ErrorCode::PermissionDenied,
            message: format!("`{}` may not reach `{origin}`: it declares {}", self.skill, declared),
            remedy: format!("its author can allow it with network.outbound: \"{rule}\""),
        })
    }
}

/// Returns the host of a request as a declaration.
fn origin_host_rule(origin: &HttpOrigin) -> Result<HostRule, CommandError> {
    let bare = HostRule { host: origin.host.clone(), port: Some(origin.port) };
    HostRule::parse(&bare.to_string()).map_err(|bad| {
        let message = format!("`{origin}` cannot be reached: {bad}");
        CommandError::new(ErrorCode::InvalidCommand, message, "name a host or its address in the usual form")
    })
}
