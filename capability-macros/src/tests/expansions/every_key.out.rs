#[cfg(feature = "web")]
#[inline]
///
/// # Contract
///
/// | capability | `web.fetch`, version 2 |
/// | --- | --- |
/// | title | Fetch a page |
/// | side effect | `mutating` |
/// | network | `external` |
/// | confirmation | required, computed from the two above |
/// | bounds | 10 s, 2 MiB, 3 per turn |
/// | handles | `Http`, `Workspace<Write>` |
/// | target | url in `url` |
/// | scope | `host` |
/// | risk | high |
/// | default | deny |
/// | idempotent | doing it twice is doing it once |
/// | resident | among the tools a model always sees |
///
/// # Arguments
///
/// - `url`: `Url`
/// - `host`: `Text`
pub async fn fetch(
    http: &Http,
    url: Url,
    #[cfg(unix)]
    workspace: &Workspace<Write>,
    mut server: Text,
) -> Answer {
    server.clear();
    get(http, url, server).await
}
#[cfg(feature = "web")]
const _: () = {
    use ::facade::cap::__private::scope::*;
    const _: () = __SCOPE;
    #[derive(
        ::facade::cap::__private::serde::Deserialize,
        ::facade::cap::__private::schemars::JsonSchema
    )]
    #[serde(crate = "::facade::cap::__private::serde", deny_unknown_fields)]
    #[schemars(crate = "::facade::cap::__private::schemars", rename = "Arguments")]
    struct __Arguments<__A0> {
        url: __A0,
        #[serde(rename = "host", default = "home")]
        server: Text,
    }
    fn __call<'__call>(
        __p0: &'__call Http,
        __p1: Url,
        #[cfg(unix)]
        __p2: &'__call Workspace<Write>,
        __p3: Text,
    ) -> impl ::core::future::Future<Output = Answer> + ::core::marker::Send + '__call {
        fetch(__p0, __p1, #[cfg(unix)] __p2, __p3)
    }
    #[::facade::cap::__private::linkme::distributed_slice(
        ::facade::cap::__private::CAPABILITIES
    )]
    #[linkme(crate = ::facade::cap::__private::linkme)]
    static __ENTRY: ::facade::cap::__private::Capability = {
        ::facade::cap::__private::handle::<
            ::facade::cap::__private::External,
            ::facade::cap::__private::Mutating,
            ::facade::cap::__private::WithTarget,
            Http,
        >();
        ::facade::cap::__private::argument::<Url>();
        #[cfg(unix)]
        ::facade::cap::__private::handle::<
            ::facade::cap::__private::External,
            ::facade::cap::__private::Mutating,
            ::facade::cap::__private::WithTarget,
            Workspace<Write>,
        >();
        #[cfg(unix)]
        ::facade::cap::__private::other_kind::<
            Workspace<Write>,
        >(&[<Http as ::facade::cap::__private::Handle>::KIND]);
        ::facade::cap::__private::argument::<Text>();
        ::facade::cap::__private::Capability::define(::facade::cap::__private::Definition {
            name: "web.fetch",
            version: 2u32,
            description: "",
            side_effect: ::facade::cap::__private::SideEffect::Mutating,
            network: ::facade::cap::__private::Network::External,
            options: ::facade::cap::__private::Options {
                title: ::core::option::Option::Some("Fetch a page"),
                timeout_ms: ::core::option::Option::Some(10000u64),
                max_result: ::core::option::Option::Some(2097152u64),
                per_turn: ::core::option::Option::Some(3u32),
                target: ::facade::cap::__private::Target {
                    kind: ::facade::cap::__private::TargetKind::Url,
                    argument: ::core::option::Option::Some("url"),
                },
                scope: ::core::option::Option::Some("host"),
                risk: ::core::option::Option::Some(::facade::cap::__private::Risk::High),
                default: ::facade::cap::__private::DefaultEffect::Deny,
                resident: true,
                idempotent: true,
                ..::facade::cap::__private::Options::NONE
            },
            handles: &[
                <Http as ::facade::cap::__private::Handle>::KIND,
                #[cfg(unix)]
                <Workspace<Write> as ::facade::cap::__private::Handle>::KIND,
            ],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: ::facade::cap::__private::SourceLocation::here(),
            code: ::facade::cap::__private::Code::of(
                |__generator| {
                    ::facade::cap::__private::Parsing::<__Arguments<Url>>::new()
                        .schema(__generator)
                },
                |__generator| {
                    ::facade::cap::__private::error(
                        ::facade::cap::__private::Returned::<Answer>::new().answering(),
                    );
                    ::facade::cap::__private::answer_schema(
                        ::facade::cap::__private::Returned::<Answer>::new().answering(),
                        __generator,
                    )
                },
                |__bytes| {
                    ::facade::cap::__private::Parsing::<__Arguments<Url>>::new()
                        .prepare(
                            __bytes,
                            ::facade::cap::__private::Body {
                                check: |__arguments| ::facade::cap::__private::checked(
                                    sensible(&__arguments.url, &__arguments.server),
                                ),
                                preview: ::core::option::Option::Some(|__owned, __lease| ::facade::cap::__private::boxed(async move {
                                    let __p0 = <Http as ::facade::cap::__private::Handle>::lend(
                                        &__lease,
                                    );
                                    #[cfg(unix)]
                                    let __p2 = <Workspace<
                                        Write,
                                    > as ::facade::cap::__private::Handle>::lend(&__lease);
                                    let __made = {
                                        let __arguments = &__owned;
                                        ::facade::cap::__private::previewed(
                                                previews::fetch(
                                                    &__p0,
                                                    #[cfg(unix)]
                                                    &__p2,
                                                    &__arguments.url,
                                                    &__arguments.server,
                                                ),
                                            )
                                            .await
                                    };
                                    (__owned, __made)
                                })),
                                run: ::facade::cap::__private::Run::Later(|
                                    __arguments,
                                    __lease|
                                ::facade::cap::__private::boxed(async move {
                                    let __Arguments { url: __p1, server: __p3 } = __arguments;
                                    let __p0 = <Http as ::facade::cap::__private::Handle>::lend(
                                        &__lease,
                                    );
                                    #[cfg(unix)]
                                    let __p2 = <Workspace<
                                        Write,
                                    > as ::facade::cap::__private::Handle>::lend(&__lease);
                                    let __returned = __call(
                                            &__p0,
                                            __p1,
                                            #[cfg(unix)]
                                            &__p2,
                                            __p3,
                                        )
                                        .await;
                                    ::facade::cap::__private::Returned::<Answer>::new()
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
