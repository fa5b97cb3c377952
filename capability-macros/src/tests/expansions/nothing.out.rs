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
    use ::capability_core::__private::scope::*;
    const _: () = __SCOPE;
    #[derive(
        ::capability_core::__private::serde::Deserialize,
        ::capability_core::__private::schemars::JsonSchema
    )]
    #[serde(crate = "::capability_core::__private::serde", deny_unknown_fields)]
    #[schemars(crate = "::capability_core::__private::schemars", rename = "Arguments")]
    struct __Arguments {}
    #[::capability_core::__private::linkme::distributed_slice(
        ::capability_core::__private::CAPABILITIES
    )]
    #[linkme(crate = ::capability_core::__private::linkme)]
    static __ENTRY: ::capability_core::__private::Capability = {
        ::capability_core::__private::Capability::define(::capability_core::__private::Definition {
            name: "home.ping",
            version: 1u32,
            description: "",
            side_effect: ::capability_core::__private::SideEffect::ReadOnly,
            network: ::capability_core::__private::Network::Local,
            options: ::capability_core::__private::Options::NONE,
            handles: &[],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: ::capability_core::__private::SourceLocation::here(),
            code: ::capability_core::__private::Code::of(
                |__generator| {
                    ::capability_core::__private::Parsing::<__Arguments>::new()
                        .schema(__generator)
                },
                |__generator| {
                    ::capability_core::__private::error(
                        ::capability_core::__private::Returned::<()>::new().answering(),
                    );
                    ::capability_core::__private::answer_schema(
                        ::capability_core::__private::Returned::<()>::new().answering(),
                        __generator,
                    )
                },
                |__bytes| {
                    ::capability_core::__private::Parsing::<__Arguments>::new()
                        .prepare(
                            __bytes,
                            ::capability_core::__private::Body {
                                check: ::capability_core::__private::unchecked,
                                preview: ::core::option::Option::None,
                                run: ::capability_core::__private::Run::Now(|
                                    __arguments,
                                    __lease|
                                {
                                    let __Arguments {} = __arguments;
                                    let __returned = ping();
                                    ::capability_core::__private::Returned::<()>::new()
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
