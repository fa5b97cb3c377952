//! Every registered capability, built in or fixture: what its shown schema says is what its calls get.
//!
//! No call is executed that the schema refuses, and none is refused once it is validated: typed parsing is part of
//! validate, and what leaves that stage holds parsed arguments.

#[cfg(test)]
#[expect(dead_code, unused_imports, reason = "each suite uses some of the laboratory")]
#[path = "../fixtures/mod.rs"]
mod fixtures;

#[cfg(test)]
#[path = "../support/sampler.rs"]
mod sampler;

#[cfg(test)]
#[expect(dead_code, reason = "each suite uses some of it")]
#[path = "../surface/tools.rs"]
mod tools;

#[cfg(test)]
mod budget;
#[cfg(test)]
mod meaning;

#[cfg(test)]
mod every_registered_capability {
    use std::sync::Arc;

    use capabilities as _;
    use capability_core::approval::DigestKey;
    use capability_core::audit::MemorySink;
    use capability_core::contract::Class;
    use capability_core::executor::{InlineRunner, Limits, Parts, Setup};
    use capability_core::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, HandleKind, Lease};
    use capability_core::session::{Declarations, Mode};
    use capability_core::store::{MemoryApprovals, MemoryOptIns, MemoryTurns};
    use capability_core::{__validation, BoxFuture, Code, Environment, Executor, Proposal, Registry, Stage, Timestamp};
    use serde_json::Value;

    use capability_core::session::Subject;

    use crate::fixtures::bench::identity;
    use crate::sampler::{Choices, instance, mutated};

    struct Still;

    impl Environment for Still {
        fn now(&self) -> Timestamp {
            Timestamp::from_micros(0)
        }

        fn fill_random(&self, bytes: &mut [u8]) {
            bytes.fill(1);
        }
    }

    struct Served;

    impl Broker for Served {
        fn serves(&self, _: HandleKind, _: Class) -> bool {
            true
        }

        fn serve(&self, _: &Lease, _: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
            Box::pin(core::future::ready(Err(BrokerFault::Unavailable)))
        }
    }

    fn parts() -> Parts {
        Executor::build(Setup {
            registry: Registry::collect(&["capabilities", "capability-tests"]).unwrap(),
            runner: Arc::new(InlineRunner),
            broker: Arc::new(Served),
            sink: Arc::new(MemorySink::new()),
            approvals: Arc::new(MemoryApprovals::new()),
            turns: Arc::new(MemoryTurns::new()),
            opt_ins: Arc::new(MemoryOptIns::new()),
            grants: Arc::new(capability_core::store::MemoryGrants::new()),
            grant_limits: capability_core::approval::GrantLimits::off(),
            history: Arc::new(capability_core::store::MemoryHistory::new()),
            policy: Arc::new(capability_core::policy::MemoryPolicy::new()),
            providers: Arc::new(capability_core::provider::NoProviders),
            environment: Arc::new(Still),
            key: DigestKey::new([7; 32]),
            limits: Limits::default(),
        })
    }

    /// Numbers so large that a double holds them only by rounding are refused where the schema wants an integer, whatever
    /// the schema's own arithmetic says of the rounded value.
    fn is_exact(value: &Value) -> bool {
        match value {
            Value::Number(number) => !number.is_f64() || number.as_f64().is_some_and(|float| float.abs() < 9e15),
            Value::Array(items) => items.iter().all(is_exact),
            Value::Object(fields) => fields.values().all(is_exact),
            Value::Null | Value::Bool(_) | Value::String(_) => true,
        }
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn gets_exactly_the_calls_that_its_schema_accepts() {
        const EACH: usize = 1_500;
        let Parts { executor, sessions, .. } = parts();
        let session = sessions.open(identity(&Subject::local(), 1, Mode::Live, 1), Declarations::everything());
        let (mut sent, mut accepted) = (0, 0);
        // Where calls go through to a provider's tool, the tool's own schema has a word as well: `tests/providers`.
        for held in executor.registry().iter().filter(|held| held.through().is_none()) {
            let Ok(schemas) = held.schemas() else { continue };
            let mut choices = Choices::new(held.entry().name().as_str().len() as u64 + 11);
            for at in 0..EACH {
                let document = schemas.arguments();
                let mut value = instance(document, &mut choices);
                if at % 3 == 0 {
                    value = mutated(value, &mut choices);
                }
                let oracle = __validation::oracle(document, &value).unwrap();
                let entry = held.entry();
                let proposal = Proposal::new(entry.name().as_str(), entry.version().get(), value.to_string());
                let Some(proposed) = executor.enter_for_measurement(&session, proposal) else { panic!("no entry") };
                let Ok(resolved) = proposed.resolve() else { panic!("`{entry}` resolves") };
                sent += 1;
                match resolved.validate().await {
                    Ok(_) => {
                        accepted += 1;
                        assert!(oracle, "`{entry}` would run what its schema refuses: {value}");
                    }
                    Err(stopped) => {
                        let outcome = stopped.audit().await;
                        assert_eq!(outcome.stage(), Stage::Validate, "`{entry}`: {value}");
                        let by_schema = outcome.code() == Some(Code::SchemaViolation);
                        assert!(
                            !(oracle && by_schema && is_exact(&value)),
                            "`{entry}` refuses what its schema accepts: {value}"
                        );
                    }
                }
            }
        }
        assert!(
            sent >= 20_000 && accepted * 4 >= sent,
            "{sent} calls sent, {accepted} accepted: the samples say little"
        );
    }
}
