//! What a request needs: the hosts its skill declares, or the one it names.

use rep_uasp::request::{Origin, Request};

use super::{BadHost, HostRule, Limits, Plan, Risk, SecretNeed, Work};
use crate::grant::Refusal;

/// The host of a request, as a declaration.
fn host(origin: &Origin) -> Result<HostRule, BadHost> {
    let bare = HostRule { host: origin.host.clone(), port: Some(origin.port) };
    HostRule::parse(&bare.to_string())
}

impl Plan {
    /// The same plan for a request in place of what it did. Where its skill says nothing about hosts, the one it names is what is
    /// asked for; consent to reach it is wanted in any case.
    pub fn with_request(mut self, request: Request, has_hosts: bool) -> Result<Plan, BadHost> {
        let own = host(&request.origin)?;
        if !has_hosts {
            self.permissions.outbound = vec![own];
        }
        self.confirm.insert(Risk::ExternalNetwork);
        self.secrets = request
            .secrets
            .iter()
            .map(|(name, is_optional)| SecretNeed { name: name.clone(), is_optional: *is_optional })
            .collect();
        if let Some(seconds) = request.timeout_seconds {
            self.limits = Limits::default().with_timeout(seconds);
        }
        self.work = Work::Request(Box::new(request));
        Ok(self)
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
            code: "PERMISSION_DENIED",
            message: format!("`{}` declares {} and may not reach `{origin}`", self.skill, declared),
            remedy: format!("its author can declare it: network.outbound: \"{rule}\""),
        })
    }
}
