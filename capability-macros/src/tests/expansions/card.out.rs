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
    use ::capability_core::__private as __s;
    use __s::scope::*;
    const _: () = __SCOPE;
    #[derive(__s::serde::Deserialize, __s::schemars::JsonSchema)]
    #[serde(crate = "__s::serde", deny_unknown_fields)]
    #[schemars(crate = "__s::schemars", rename = "Arguments")]
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
    #[__s::linkme::distributed_slice(__s::CAPABILITIES)]
    #[linkme(crate = __s::linkme)]
    static __ENTRY: __s::Capability = {
        ::capability_core::__private::handle::<
            ::capability_core::__private::External,
            ::capability_core::__private::ReadOnly,
            ::capability_core::__private::NoTarget,
            Endpoint<Searxng>,
        >();
        __s::argument::<String>();
        __s::argument::<Option<TimeRange>>();
        __s::Capability::define(__s::Definition {
            name: "web.search",
            version: 1u32,
            description: "Search the web through the household's own instance.",
            side_effect: __s::SideEffect::ReadOnly,
            network: __s::Network::External,
            options: __s::Options::NONE,
            handles: &[<Endpoint<Searxng> as __s::Handle>::KIND],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: __s::SourceLocation::here(),
            code: __s::Code::of(
                |__generator| {
                    __s::Parsing::<__Arguments<String, Option<TimeRange>>>::new()
                        .schema(__generator)
                },
                |__generator| {
                    __s::error(
                        __s::Returned::<Result<SearchResults, Failure>>::new()
                            .answering(),
                    );
                    __s::answer_schema(
                        __s::Returned::<Result<SearchResults, Failure>>::new()
                            .answering(),
                        __generator,
                    )
                },
                |__bytes| {
                    __s::Parsing::<__Arguments<String, Option<TimeRange>>>::new()
                        .prepare(
                            __bytes,
                            __s::Body {
                                check: __s::unchecked,
                                run: __s::Run::Later(|__arguments, __lease| __s::boxed(async move {
                                    let __Arguments { query: __p1, time_range: __p2 } = __arguments;
                                    let __p0 = <Endpoint<
                                        Searxng,
                                    > as __s::Handle>::lend(&__lease);
                                    let __returned = __call(&__p0, __p1, __p2).await;
                                    __s::Returned::<Result<SearchResults, Failure>>::new()
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
