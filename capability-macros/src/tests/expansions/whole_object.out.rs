///
/// # Contract
///
/// | capability | `home.state`, version 1 |
/// | --- | --- |
/// | side effect | `read_only` |
/// | network | `local` |
/// | confirmation | automatic, computed from the two above |
/// | bounds | 5 s, 64 KiB, 16 per turn |
/// | handles | `Clock` |
///
/// # Arguments
///
/// The properties of `Query`.
fn state(query: Query, clock: &Clock) -> State {
    query.state(clock)
}
const _: () = {
    use ::capability_core::__private as __s;
    #[__s::linkme::distributed_slice(__s::CAPABILITIES)]
    #[linkme(crate = __s::linkme)]
    static __ENTRY: __s::Capability = {
        __s::argument::<Query>();
        use __s::Object as _;
        __s::object(<__s::Whole<Query>>::OBJECT, <__s::Whole<Query>>::ASKED);
        ::capability_core::__private::handle::<
            ::capability_core::__private::Local,
            ::capability_core::__private::ReadOnly,
            ::capability_core::__private::NoTarget,
            Clock,
        >();
        __s::Capability::define(__s::Definition {
            name: "home.state",
            version: 1u32,
            description: "",
            side_effect: __s::SideEffect::ReadOnly,
            network: __s::Network::Local,
            options: __s::Options::NONE,
            handles: &[<Clock as __s::Handle>::KIND],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: __s::SourceLocation::here(),
            code: __s::Code::of(
                |__generator| __s::Parsing::<Query>::new().schema(__generator),
                |__generator| {
                    __s::error(__s::Returned::<State>::new().answering());
                    __s::answer_schema(
                        __s::Returned::<State>::new().answering(),
                        __generator,
                    )
                },
                |__bytes| {
                    __s::Parsing::<Query>::new()
                        .prepare(
                            __bytes,
                            __s::Body {
                                check: |__arguments| __s::checked(sensible(__arguments)),
                                run: __s::Run::Now(|__arguments, __lease| {
                                    let __p0 = __arguments;
                                    let __p1 = <Clock as __s::Handle>::lend(&__lease);
                                    let __returned = state(__p0, &__p1);
                                    __s::Returned::<State>::new()
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
