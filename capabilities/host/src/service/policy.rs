//! `policy`.

use capability_core::policy::MaxGrant;

use super::Service;
use crate::policy::Standing;
use crate::protocol::{PolicyShown, RuleShown};

impl Service {
    /// The rules in force, and how the file stands to them.
    pub(super) fn policy(&self) -> PolicyShown {
        let Standing { strange, problem, .. } = self.host.policy().standing();
        // With what skills require: that is what calls are judged by.
        let policy = self.host.executor().policy();
        let rules = policy
            .rules()
            .map(|(_, source, rule)| RuleShown {
                id: rule.id.to_string(),
                source: source.as_str().to_owned(),
                effect: rule.effect.as_str().to_owned(),
                about: rule.selector.to_string(),
                except: rule.except.iter().map(ToString::to_string).collect(),
                reason: rule.reason.as_ref().map(|reason| reason.as_str().to_owned()),
                max_grant: rule.max_grant.map(in_words),
            })
            .collect();
        PolicyShown { revision: policy.revision().to_string(), rules, strange, problem }
    }
}

fn in_words(limit: MaxGrant) -> String {
    match limit {
        MaxGrant::Never => "never".to_owned(),
        MaxGrant::Within { duration, uses } => {
            let duration = duration.map(|duration| format!("at most {} s", duration.as_secs()));
            let uses = uses.map(|uses| format!("at most {uses} times"));
            duration.into_iter().chain(uses).collect::<Vec<_>>().join(", ")
        }
    }
}
