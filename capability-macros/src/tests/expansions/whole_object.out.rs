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
    #[::capability_core::__private::linkme::distributed_slice(
        ::capability_core::__private::CAPABILITIES
    )]
    #[linkme(crate = ::capability_core::__private::linkme)]
    static __ENTRY: ::capability_core::__private::Capability = {
        ::capability_core::__private::argument::<Query>();
        use ::capability_core::__private::Object as _;
        ::capability_core::__private::object(
            <::capability_core::__private::Whole<Query>>::OBJECT,
            <::capability_core::__private::Whole<Query>>::ASKED,
        );
        ::capability_core::__private::handle::<
            ::capability_core::__private::Local,
            ::capability_core::__private::ReadOnly,
            ::capability_core::__private::NoTarget,
            Clock,
        >();
        ::capability_core::__private::Capability::define(::capability_core::__private::Definition {
            name: "home.state",
            version: 1u32,
            description: "",
            side_effect: ::capability_core::__private::SideEffect::ReadOnly,
            network: ::capability_core::__private::Network::Local,
            options: ::capability_core::__private::Options::NONE,
            handles: &[<Clock as ::capability_core::__private::Handle>::KIND],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: ::capability_core::__private::SourceLocation::here(),
            code: ::capability_core::__private::Code::of(
                |__generator| {
                    ::capability_core::__private::Parsing::<Query>::new()
                        .schema(__generator)
                },
                |__generator| {
                    ::capability_core::__private::error(
                        ::capability_core::__private::Returned::<State>::new()
                            .answering(),
                    );
                    ::capability_core::__private::answer_schema(
                        ::capability_core::__private::Returned::<State>::new()
                            .answering(),
                        __generator,
                    )
                },
                |__bytes| {
                    ::capability_core::__private::Parsing::<Query>::new()
                        .prepare(
                            __bytes,
                            ::capability_core::__private::Body {
                                check: |__arguments| ::capability_core::__private::checked(
                                    sensible(__arguments),
                                ),
                                preview: ::core::option::Option::None,
                                run: ::capability_core::__private::Run::Now(|
                                    __arguments,
                                    __lease|
                                {
                                    let __p0 = __arguments;
                                    let __p1 = <Clock as ::capability_core::__private::Handle>::lend(
                                        &__lease,
                                    );
                                    let __returned = state(__p0, &__p1);
                                    ::capability_core::__private::Returned::<State>::new()
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
