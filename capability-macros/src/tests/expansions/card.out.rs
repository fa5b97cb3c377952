/// Search the web through
/// the household's own instance.
///
/// # Contract
///
/// | capability | `web.search`, version 1 |
/// | --- | --- |
/// | side effect | `read_only` |
/// | network | `external` |
/// | confirmation | required, computed from the two above |
/// | bounds | 15 s, 64 KiB, 4 per turn |
/// | handles | `Endpoint<Searxng>` |
///
/// # Arguments
///
/// - `query`: `String`. What to look for.
/// - `time_range`: `Option<TimeRange>`. Only results this recent.
async fn web_search(
    searxng: &Endpoint<Searxng>,
    query: String,
    time_range: Option<TimeRange>,
) -> Result<SearchResults, Failure> {
    search(searxng, query, time_range).await
}
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
        ///What to look for.
        #[schemars(length(min = 1, max = 500))]
        query: __A0,
        ///Only results this recent.
        time_range: __A1,
    }
    fn __call<'__call>(
        __p0: &'__call Endpoint<Searxng>,
        __p1: String,
        __p2: Option<TimeRange>,
    ) -> impl ::core::future::Future<
        Output = Result<SearchResults, Failure>,
    > + ::core::marker::Send + '__call {
        web_search(__p0, __p1, __p2)
    }
    #[::capability_core::__private::linkme::distributed_slice(
        ::capability_core::__private::CAPABILITIES
    )]
    #[linkme(crate = ::capability_core::__private::linkme)]
    static __ENTRY: ::capability_core::__private::Capability = {
        ::capability_core::__private::handle::<
            ::capability_core::__private::External,
            ::capability_core::__private::ReadOnly,
            ::capability_core::__private::NoTarget,
            Endpoint<Searxng>,
        >();
        ::capability_core::__private::argument::<String>();
        ::capability_core::__private::argument::<Option<TimeRange>>();
        ::capability_core::__private::Capability::define(::capability_core::__private::Definition {
            name: "web.search",
            version: 1u32,
            description: "Search the web through the household's own instance.",
            side_effect: ::capability_core::__private::SideEffect::ReadOnly,
            network: ::capability_core::__private::Network::External,
            options: ::capability_core::__private::Options::NONE,
            handles: &[
                <Endpoint<Searxng> as ::capability_core::__private::Handle>::KIND,
            ],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: ::capability_core::__private::SourceLocation::here(),
            code: ::capability_core::__private::Code::of(
                |__generator| {
                    ::capability_core::__private::Parsing::<
                        __Arguments<String, Option<TimeRange>>,
                    >::new()
                        .schema(__generator)
                },
                |__generator| {
                    ::capability_core::__private::error(
                        ::capability_core::__private::Returned::<
                            Result<SearchResults, Failure>,
                        >::new()
                            .answering(),
                    );
                    ::capability_core::__private::answer_schema(
                        ::capability_core::__private::Returned::<
                            Result<SearchResults, Failure>,
                        >::new()
                            .answering(),
                        __generator,
                    )
                },
                |__bytes| {
                    ::capability_core::__private::Parsing::<
                        __Arguments<String, Option<TimeRange>>,
                    >::new()
                        .prepare(
                            __bytes,
                            ::capability_core::__private::Body {
                                check: ::capability_core::__private::unchecked,
                                preview: ::core::option::Option::None,
                                run: ::capability_core::__private::Run::Later(|
                                    __arguments,
                                    __lease|
                                ::capability_core::__private::boxed(async move {
                                    let __Arguments { query: __p1, time_range: __p2 } = __arguments;
                                    let __p0 = <Endpoint<
                                        Searxng,
                                    > as ::capability_core::__private::Handle>::lend(&__lease);
                                    let __returned = __call(&__p0, __p1, __p2).await;
                                    ::capability_core::__private::Returned::<
                                        Result<SearchResults, Failure>,
                                    >::new()
                                        .answering()
                                        .finish(__returned, &__lease)
                                })),
                            },
                        )
                },
            ),
        })
    };
};
