///
/// # Contract
///
/// | capability | `home.ping`, version 1 |
/// | --- | --- |
/// | side effect | `read_only` |
/// | network | `local` |
/// | confirmation | automatic, computed from the two above |
/// | bounds | 5 s, 64 KiB, 16 per turn |
/// | handles | none |
///
/// # Arguments
///
/// None.
fn ping() {}
const _: () = {
    use ::capability_core::__private as __s;
    use __s::scope::*;
    const _: () = __SCOPE;
    #[derive(__s::serde::Deserialize, __s::schemars::JsonSchema)]
    #[serde(crate = "__s::serde", deny_unknown_fields)]
    #[schemars(crate = "__s::schemars", rename = "Arguments")]
    struct __Arguments {}
    #[__s::linkme::distributed_slice(__s::CAPABILITIES)]
    #[linkme(crate = __s::linkme)]
    static __ENTRY: __s::Capability = {
        __s::Capability::define(__s::Definition {
            name: "home.ping",
            version: 1u32,
            description: "",
            side_effect: __s::SideEffect::ReadOnly,
            network: __s::Network::Local,
            options: __s::Options::NONE,
            handles: &[],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: __s::SourceLocation::here(),
            code: __s::Code::of(
                |__generator| __s::Parsing::<__Arguments>::new().schema(__generator),
                |__generator| {
                    __s::error(__s::Returned::<()>::new().answering());
                    __s::answer_schema(
                        __s::Returned::<()>::new().answering(),
                        __generator,
                    )
                },
                |__bytes| {
                    __s::Parsing::<__Arguments>::new()
                        .prepare(
                            __bytes,
                            __s::Body {
                                check: __s::unchecked,
                                run: __s::Run::Now(|__arguments, __lease| {
                                    let __Arguments {} = __arguments;
                                    let __returned = ping();
                                    __s::Returned::<()>::new()
                                        .answering()
                                        .finish(__returned, &__lease)
                                }),
                            },
                        )
                },
            ),
        })
    };
};
