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
    use ::facade::cap::__private as __s;
    use __s::scope::*;
    const _: () = __SCOPE;
    #[derive(__s::serde::Deserialize, __s::schemars::JsonSchema)]
    #[serde(crate = "__s::serde", deny_unknown_fields)]
    #[schemars(crate = "__s::schemars", rename = "Arguments")]
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
    #[__s::linkme::distributed_slice(__s::CAPABILITIES)]
    #[linkme(crate = __s::linkme)]
    static __ENTRY: __s::Capability = {
        ::facade::cap::__private::handle::<
            ::facade::cap::__private::External,
            ::facade::cap::__private::Mutating,
            ::facade::cap::__private::WithTarget,
            Http,
        >();
        __s::argument::<Url>();
        #[cfg(unix)]
        ::facade::cap::__private::handle::<
            ::facade::cap::__private::External,
            ::facade::cap::__private::Mutating,
            ::facade::cap::__private::WithTarget,
            Workspace<Write>,
        >();
        #[cfg(unix)] __s::other_kind::<Workspace<Write>>(&[<Http as __s::Handle>::KIND]);
        __s::argument::<Text>();
        __s::Capability::define(__s::Definition {
            name: "web.fetch",
            version: 2u32,
            description: "",
            side_effect: __s::SideEffect::Mutating,
            network: __s::Network::External,
            options: __s::Options {
                title: ::core::option::Option::Some("Fetch a page"),
                timeout_ms: ::core::option::Option::Some(10000u64),
                max_result: ::core::option::Option::Some(2097152u64),
                per_turn: ::core::option::Option::Some(3u32),
                target: __s::Target {
                    kind: __s::TargetKind::Url,
                    argument: ::core::option::Option::Some("url"),
                },
                scope: ::core::option::Option::Some("host"),
                risk: ::core::option::Option::Some(__s::Risk::High),
                default: __s::DefaultEffect::Deny,
                resident: true,
                idempotent: true,
                previews: true,
                ..__s::Options::NONE
            },
            handles: &[
                <Http as __s::Handle>::KIND,
                #[cfg(unix)]
                <Workspace<Write> as __s::Handle>::KIND,
            ],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: __s::SourceLocation::here(),
            code: __s::Code::of(
                |__generator| {
                    __s::Parsing::<__Arguments<Url>>::new().schema(__generator)
                },
                |__generator| {
                    __s::error(__s::Returned::<Answer>::new().answering());
                    __s::answer_schema(
                        __s::Returned::<Answer>::new().answering(),
                        __generator,
                    )
                },
                |__bytes| {
                    __s::Parsing::<__Arguments<Url>>::new()
                        .prepare_showing(
                            __bytes,
                            __s::Body {
                                check: |__arguments| __s::checked(
                                    sensible(&__arguments.url, &__arguments.server),
                                ),
                                run: __s::Run::Later(|__arguments, __lease| __s::boxed(async move {
                                    let __Arguments { url: __p1, server: __p3 } = __arguments;
                                    let __p0 = <Http as __s::Handle>::lend(&__lease);
                                    #[cfg(unix)]
                                    let __p2 = <Workspace<
                                        Write,
                                    > as __s::Handle>::lend(&__lease);
                                    let __returned = __call(
                                            &__p0,
                                            __p1,
                                            #[cfg(unix)]
                                            &__p2,
                                            __p3,
                                        )
                                        .await;
                                    __s::Returned::<Answer>::new()
                                        .answering()
                                        .finish(__returned, &__lease)
                                })),
                            },
                            |__owned, __lease| __s::boxed(async move {
                                let __p0 = <Http as __s::Handle>::lend(&__lease);
                                #[cfg(unix)]
                                let __p2 = <Workspace<
                                    Write,
                                > as __s::Handle>::lend(&__lease);
                                let __made = {
                                    let __arguments = &__owned;
                                    __s::previewed(
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
                            }),
                        )
                },
            ),
        })
    };
};
