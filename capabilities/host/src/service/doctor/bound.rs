//! What the operator bound to handles: configured and readable, as far as can be told without asking anybody outside.

use capability_core::handle::BrokerFault;

use super::{failed, ok, weak};
use crate::broker::{EndpointSettings, authorities};
use crate::config::Bindings;
use crate::protocol::Probe;
use crate::secrets::private_text;
use crate::words::counted;

/// One row for each kind that is configured.
pub(super) fn probes(bindings: &Bindings) -> Vec<Probe> {
    let endpoints = (!bindings.endpoints.is_empty()).then(|| endpoints(bindings));
    let workspace = bindings.workspace.as_ref();
    let workspace = workspace.map(|root| ok("workspace", format!("`{}`, and nothing outside it", root.display())));
    let allowed = (!bindings.allowed.is_empty()).then(|| {
        let places: Vec<_> = bindings.allowed.iter().map(|place| format!("`{place}`")).collect();
        weak(
            "http allowances",
            format!("every capability that may use `Http` may connect to {}", places.join(", ")),
            "take out of `allow` under `[http]` what is no longer needed",
        )
    });
    let trusted = bindings.authorities.as_deref().map(|file| match authorities(file) {
        Ok(found) => ok(
            "http authorities",
            format!("{} beside the public ones", counted(found.len(), "authority", "authorities")),
        ),
        Err(_) => failed(
            "http authorities",
            "the `ca_file` under `[http]` cannot be read as certificates",
            "write the authority's certificate into it in PEM form",
        ),
    });
    [endpoints, workspace, allowed, trusted].into_iter().flatten().collect()
}

fn endpoints(bindings: &Bindings) -> Probe {
    const NAME: &str = "endpoints";
    for (name, settings) in &bindings.endpoints {
        if settings.ca_file.as_deref().is_some_and(|file| authorities(file).is_err()) {
            return failed(
                NAME,
                format!("the `ca_file` of `{name}` cannot be read as certificates"),
                "write the authority's certificate into it in PEM form",
            );
        }
        if let Some(fault) = settings.auth.file().and_then(|file| private_text(file).err()) {
            return match fault {
                BrokerFault::CredentialShort => failed(
                    NAME,
                    format!("the credential of `{name}` is shorter than 8 bytes, so it is not used"),
                    "give the service one of at least 8 bytes: a shorter one could not be kept out of what goes out",
                ),
                _ => failed(
                    NAME,
                    format!("the credential of `{name}` cannot be read"),
                    "write it into its file on one line, owned by the host's user with mode 0600",
                ),
            };
        }
    }
    if let Some((name, _)) = bindings.endpoints.iter().find(|(_, settings)| settings.tells_its_credential()) {
        return weak(
            NAME,
            format!("the credential of `{name}` crosses the network without encryption"),
            "use an `https` address; `ca_file` names an authority of your own",
        );
    }
    let told = |(name, settings): (&String, &EndpointSettings)| format!("`{name}` ({})", settings.reach.as_str());
    let names: Vec<_> = bindings.endpoints.iter().map(told).collect();
    ok(NAME, format!("{}: {}", counted(names.len(), "service", "services"), names.join(", ")))
}
