const _: () = {
    use ::capability_core::__private as __s;
    use __s::scope::*;
    const _: () = __SCOPE;
    #[derive(__s::serde::Deserialize, __s::schemars::JsonSchema)]
    #[serde(crate = "__s::serde", deny_unknown_fields)]
    #[schemars(crate = "__s::schemars", rename = "Arguments")]
    struct __Arguments<__A0, __A1> {
        door: __A0,
        minutes: __A1,
    }
    #[__s::linkme::distributed_slice(__s::CAPABILITIES)]
    #[linkme(crate = __s::linkme)]
    static __ENTRY: __s::Capability = {
        __s::argument::<Door>();
        __s::argument::<Option<u32>>();
        __s::Capability::define(__s::Definition {
            name: "door.open",
            version: 1u32,
            description: "Opens the front door.",
            side_effect: __s::SideEffect::Mutating,
            network: __s::Network::Local,
            options: __s::Options {
                locked: true,
                ..__s::Options::NONE
            },
            handles: &[],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: __s::SourceLocation::here(),
            code: __s::Code::locked::<
                __Arguments<Door, Option<u32>>,
            >(
                |__generator| {
                    __s::Parsing::<__Arguments<Door, Option<u32>>>::new()
                        .schema(__generator)
                },
                |__generator| {
                    __s::error(__s::Returned::<Result<(), Failure>>::new().answering());
                    __s::answer_schema(
                        __s::Returned::<Result<(), Failure>>::new().answering(),
                        __generator,
                    )
                },
                |__arguments| {
                    let __Arguments { door: __p0, minutes: __p1 } = __arguments;
                    __s::ignore(__p0);
                    __s::ignore(__p1);
                },
            ),
        })
    };
};
