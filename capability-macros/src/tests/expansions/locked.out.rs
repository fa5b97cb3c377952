const _: () = {
    use ::capability_core::__private::scope::*;
    const _: () = __SCOPE;
    #[derive(
        ::capability_core::__private::serde::Deserialize,
        ::capability_core::__private::schemars::JsonSchema
    )]
    #[serde(crate = "::capability_core::__private::serde", deny_unknown_fields)]
    #[schemars(crate = "::capability_core::__private::schemars", rename = "Arguments")]
    struct __Arguments<__A0, __A1> {
        door: __A0,
        minutes: __A1,
    }
    #[::capability_core::__private::linkme::distributed_slice(
        ::capability_core::__private::CAPABILITIES
    )]
    #[linkme(crate = ::capability_core::__private::linkme)]
    static __ENTRY: ::capability_core::__private::Capability = {
        ::capability_core::__private::argument::<Door>();
        ::capability_core::__private::argument::<Option<u32>>();
        ::capability_core::__private::Capability::define(::capability_core::__private::Definition {
            name: "door.open",
            version: 1u32,
            description: "Opens the front door.",
            side_effect: ::capability_core::__private::SideEffect::Mutating,
            network: ::capability_core::__private::Network::Local,
            options: ::capability_core::__private::Options {
                locked: true,
                ..::capability_core::__private::Options::NONE
            },
            handles: &[],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: ::capability_core::__private::SourceLocation::here(),
            code: ::capability_core::__private::Code::locked::<
                __Arguments<Door, Option<u32>>,
            >(
                |__generator| {
                    ::capability_core::__private::Parsing::<
                        __Arguments<Door, Option<u32>>,
                    >::new()
                        .schema(__generator)
                },
                |__generator| {
                    ::capability_core::__private::error(
                        ::capability_core::__private::Returned::<
                            Result<(), Failure>,
                        >::new()
                            .answering(),
                    );
                    ::capability_core::__private::answer_schema(
                        ::capability_core::__private::Returned::<
                            Result<(), Failure>,
                        >::new()
                            .answering(),
                        __generator,
                    )
                },
                |__arguments| {
                    let __Arguments { door: __p0, minutes: __p1 } = __arguments;
                    ::capability_core::__private::ignore(__p0);
                    ::capability_core::__private::ignore(__p1);
                },
            ),
        })
    };
};
