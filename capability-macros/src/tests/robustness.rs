//! Whatever is written, the macro answers with the function and errors, never with a panic and never with an entry.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::quote;

use super::{errors, expand};
use crate::paths::Found;

/// A small generator of numbers: the same ones in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

const WORDS: &[&str] = &[
    "name",
    "version",
    "side_effect",
    "network",
    "bounds",
    "timeout",
    "target",
    "url",
    "scope",
    "locked",
    "read_only",
    "local",
    "confirm",
    "crate",
    "check",
    "default",
    "fn",
    "async",
    "impl",
    "self",
    "struct",
    "query",
];

fn garbage(numbers: &mut Numbers, depth: usize) -> TokenStream {
    (0..numbers.below(7))
        .map(|_| match numbers.below(if depth == 0 { 4 } else { 5 }) {
            0 | 1 => TokenTree::Ident(Ident::new(WORDS[numbers.below(WORDS.len())], Span::call_site())),
            2 => {
                let mark = ['=', ',', ':', '-', '#', '&', '<', '!'][numbers.below(8)];
                TokenTree::Punct(Punct::new(mark, if numbers.below(2) == 0 { Spacing::Joint } else { Spacing::Alone }))
            }
            3 => TokenTree::Literal(match numbers.below(3) {
                0 => Literal::u32_unsuffixed(7),
                1 => Literal::string("10s"),
                _ => Literal::f64_unsuffixed(1.5),
            }),
            _ => {
                let delimiter = [Delimiter::Parenthesis, Delimiter::Brace, Delimiter::Bracket, Delimiter::None];
                TokenTree::Group(Group::new(delimiter[numbers.below(4)], garbage(numbers, depth - 1)))
            }
        })
        .collect()
}

#[test]
fn no_input_makes_it_panic() {
    let mut numbers = Numbers(1);
    let function = quote!(
        async fn search(query: Text, handle: &Lent) -> Answer {
            body
        }
    );
    for _ in 0..3_000 {
        let list = garbage(&mut numbers, 2);
        let expanded = crate::define(list.clone(), function.clone(), || Found::At(quote!(::capability_core)));
        let text = expanded.to_string();
        assert!(text.contains("async fn search (query : Text , handle : & Lent) -> Answer { body }"), "{list}");
        assert!(text.contains("compile_error") != text.contains("distributed_slice"), "{list}");
        let item = garbage(&mut numbers, 2);
        crate::define(list, item, || Found::Nowhere);
    }
}

/// Every part of a function that can be wrong at once is reported at once, and nothing is registered.
#[test]
fn all_mistakes_at_once() {
    let expanded = expand(quote! {
        #[capability(name = "Web", version = 0, side_effect = sideways, bounds(timeout = "0s"), colour = 1, confirm = false)]
        #[auto_approve]
        unsafe fn search<T>(query: &str, (a, b): (u8, u8)) -> impl Sized { body }
    });
    let found = errors(&expanded);
    let starts: Vec<_> = found.iter().map(|error| error.split(':').next().unwrap_or_default()).collect();
    assert_eq!(
        starts,
        [
            "`colour` is not a key of `#[capability]`",
            "`confirm` cannot be written for a `#[capability]`",
            "`auto_approve` cannot be written for a `#[capability]`",
            "`#[capability]` lacks `network`",
            "`#[capability]` is on an `unsafe fn`",
            "`#[capability]` has generic parameters",
            "the result of this `#[capability]` is `impl Trait`",
            "`&str` is a borrowed argument of a `#[capability]`",
            "a parameter of a `#[capability]` has no name",
            "`name` has an upper-case letter",
            "`version` is zero",
            "`side_effect` has no value `sideways`",
            "`timeout` is zero",
        ]
    );
    let text = expanded.to_string();
    assert!(!text.contains("distributed_slice") && !text.contains("auto_approve ]"));
}
